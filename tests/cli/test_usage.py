"""Wrong usage is exit code 2 in every command; what a shell completes is what the parser knows."""

from __future__ import annotations

import argparse
import shutil
import subprocess

import pytest
from cli.calls import Caller

from nearcast.cli import completion
from nearcast.cli.__main__ import main, parser


@pytest.fixture
def call(capsysbinary, monkeypatch):
    return Caller(capsysbinary, monkeypatch)


def nested(parser):
    return next((a for a in parser._actions if isinstance(a, argparse._SubParsersAction)), None)


def commands(parser, path=()):
    """Yield all commands: their paths and parsers."""
    yield path, parser
    below = nested(parser)
    for name, child in below.choices.items() if below else ():
        yield from commands(child, (*path, name))


ALL = list(commands(parser()))
LEAVES = [(path, each) for path, each in ALL if nested(each) is None]


def required(parser):
    """Return the least that a command must be told, with a word of no meaning for each value."""
    words = []
    for action in parser._actions:
        if action.required:
            value = str(next(iter(action.choices))) if action.choices else "x"
            words += [*action.option_strings[-1:], value]
    return words


def options(parser, wrong):
    """Yield each option that takes a value of which `wrong` says a wrong one."""
    for action in parser._actions:
        value = wrong(action)
        if action.option_strings and action.nargs != 0 and value is not None:
            yield [action.option_strings[-1], value]


def wrong_choice(action):
    return "no-such-choice" if action.choices else None


def wrong_number(action):
    is_number = action.type is not None and action.type.__module__ == "nearcast.cli.option_types"
    return "many" if is_number else None


def number_out_of_range(action):
    return "-1" if wrong_number(action) else None


@pytest.mark.parametrize(("path", "parser"), ALL, ids=[" ".join(path) or "top" for path, _ in ALL])
def test_unknown_words_are_wrong_usage(call, path, parser) -> None:
    wrong = [["--no-such-option"], ["no", "such", "words", "at", "all"]]
    takes_any = any(a.nargs in ("+", "*") and not a.option_strings for a in parser._actions)
    for words in wrong[: 1 if takes_any else 2]:
        done = call(*path, *required(parser), *words)
        assert (done.code, done.out) == (2, ""), words
        assert "usage: nearcast" in done.err


@pytest.mark.parametrize(("path", "parser"), LEAVES, ids=[" ".join(path) for path, _ in LEAVES])
def test_wrong_values_are_wrong_usage(call, path, parser) -> None:
    for wrong in (wrong_choice, wrong_number, number_out_of_range):
        for words in options(parser, wrong):
            done = call(*path, *required(parser), *words)
            assert (done.code, done.out) == (2, ""), words
            assert f"argument {words[0]}" in done.err


@pytest.mark.parametrize(
    ("path", "parser"),
    [(path, each) for path, each in LEAVES if required(each)],
    ids=[" ".join(path) for path, each in LEAVES if required(each)],
)
def test_what_is_missing_is_wrong_usage(call, path, parser) -> None:
    done = call(*path)
    assert (done.code, done.out) == (2, "")
    assert "required" in done.err


def test_a_number_has_a_type_that_knows_its_range() -> None:
    for path, each in LEAVES:
        bare = [a.option_strings for a in each._actions if a.type in (int, float)]
        assert not bare, f"{' '.join(path)}: {bare}"


@pytest.mark.parametrize(
    "arguments",
    [
        ["replay", "-", "--space", "1,2,3"],
        ["generate", "events", "--format", "parquet"],
        ["generate", "moving", "--nodes", "n.csv"],
        ["bench", "match", "--index", "none"],
        ["bench", "spark", "part"],
        ["match", "-", "-"],
    ],
    ids=" ".join,
)
def test_values_that_contradict_are_wrong_usage(call, arguments) -> None:
    done = call(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")


# ---- completion -----------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_scripts_know_every_command_and_option(shell) -> None:
    script = completion.script(parser(), shell)
    for path, each in ALL:
        assert " ".join(path) in script
        for action in each._actions:
            for name in action.option_strings:
                assert (name if shell != "fish" else name.lstrip("-")) in script


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_shells_can_read_their_scripts(shell, tmp_path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not on this machine")
    path = tmp_path / "script"
    path.write_text(completion.script(parser(), shell))
    subprocess.run([shell, "-n", path], check=True, timeout=60)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("nearcast val", ["validate"]),
        ("nearcast generate ev", ["events"]),
        ("nearcast replay --ind", ["--index"]),
        ("nearcast replay --index ap-", ["ap-tree"]),
        ("nearcast replay events --on-error ", ["skip", "stop"]),
        ("nearcast spark --master x build --mech", ["--mechanism"]),
        ("nearcast completion z", ["zsh"]),
        ("nearcast replay ev", ["events.ndjson"]),
        ("nearcast replay --out ev", ["events.ndjson"]),
    ],
)
def test_bash_completes(tmp_path, typed, offered) -> None:
    (tmp_path / "events.ndjson").touch()
    words = typed.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    script = completion.script(parser(), "bash").replace("complete -o", ": complete -o")
    asked = f"{script}\nCOMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}\n_nearcast\n"
    asked += 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", asked], cwd=tmp_path, capture_output=True, check=True, timeout=60
    )
    assert sorted(done.stdout.decode().split()) == offered


def test_the_command_prints_the_script(capsys) -> None:
    assert main(["completion", "bash"]) == 0
    assert "complete -o filenames -F _nearcast nearcast" in capsys.readouterr().out
