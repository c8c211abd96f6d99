"""`nearcast completion`: a script that completes commands and options in a shell.

It is generated from the parser, so it knows what the parser knows, and the shell needs no Python
to complete. Zsh reads the script for Bash.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class _Command:
    """One command: its path of names, and the words that may follow."""

    path: tuple[str, ...]
    parser: argparse.ArgumentParser
    subcommands: dict[str, str]
    """Names with their help."""

    @property
    def options(self) -> list[argparse.Action]:
        return [action for action in self.parser._actions if action.option_strings]

    @property
    def words(self) -> list[str]:
        """All words that a position may have, if there are only some: choices of arguments."""
        if self.subcommands:
            return []
        positional = [action for action in self.parser._actions if not action.option_strings]
        return [str(word) for action in positional for word in action.choices or ()]


def add_parser(commands: Any) -> None:  # noqa: ANN401 — argparse hides the type
    """Add the command."""
    command = commands.add_parser(
        "completion",
        help="print a script that completes commands in a shell",
        description="For Bash: source <(nearcast completion bash). For Zsh: the same with zsh. For "
        "fish: nearcast completion fish | source.",
    )
    command.add_argument("shell", choices=sorted(_SCRIPTS))
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from nearcast.cli.__main__ import parser  # which imports this module

    print(script(parser(), args.shell), end="")
    return 0


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script for a shell."""
    return _SCRIPTS[shell](list(_commands(parser, ())))


def _commands(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> Iterator[_Command]:
    nested = next((a for a in parser._actions if isinstance(a, argparse._SubParsersAction)), None)
    if nested is None:
        yield _Command(path, parser, {})
        return
    helps = {choice.dest: choice.help or "" for choice in nested._choices_actions}
    yield _Command(path, parser, {name: helps.get(name, "") for name in nested.choices})
    for name, child in nested.choices.items():
        yield from _commands(child, (*path, name))


# ---- Bash and Zsh ---------------------------------------------------------------------------

_BASH = """\
_nearcast() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} path= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$path ${{COMP_WORDS[i]}}" in
{paths}
        esac
    done
    local words= files=yes
    case "$path $before" in
{choices}
        *" --"*) COMPREPLY=($(compgen -f -- "$word")); return ;;
    esac
    case "$path" in
{words}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [[ $word == -* || -z $files ]] || COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -o filenames -F _nearcast nearcast
"""


def _bash(commands: list[_Command]) -> str:
    paths = [f"            {_key(c)!r}) path={_key(c)!r} ;;" for c in commands if c.path]
    return _BASH.format(
        paths="\n".join(paths),
        choices="\n".join(line for command in commands for line in _bash_choices(command)),
        words="\n".join(_bash_words(command) for command in commands),
    )


def _zsh(commands: list[_Command]) -> str:
    return "autoload -U +X bashcompinit && bashcompinit\n" + _bash(commands)


def _key(command: _Command) -> str:
    """Return the path as the script holds it: each name after a space."""
    return "".join(f" {name}" for name in command.path)


def _bash_choices(command: _Command) -> Iterator[str]:
    """Yield what may follow an option: its choices, or, after a flag, what may follow anyway."""
    for action in command.options:
        patterns = "|".join(repr(f"{_key(command)} {name}") for name in action.option_strings)
        if action.nargs == 0:
            yield f"        {patterns}) ;;"
        elif action.choices:
            listed = quote(" ".join(map(str, action.choices)))
            reply = f'COMPREPLY=($(compgen -W {listed} -- "$word")); return'
            yield f"        {patterns}) {reply} ;;"


def _bash_words(command: _Command) -> str:
    options = [name for action in command.options for name in action.option_strings]
    words = " ".join([*command.subcommands, *command.words, *options])
    files = " files=" if command.subcommands or command.words else ""
    return f"        {_key(command)!r}) words={quote(words)}{files} ;;"


# ---- fish -----------------------------------------------------------------------------------

_FISH = """\
function __nearcast_at
    set -l path
    for word in (commandline -opc)[2..]
        set -l next $path $word
        if contains -- "$next" $__nearcast_paths
            set path $next
        end
    end
    test "$path" = "$argv"
end
set -g __nearcast_paths {paths}
"""


def _fish(commands: list[_Command]) -> str:
    paths = " ".join(quote(" ".join(command.path)) for command in commands if command.path)
    lines = [line for command in commands for line in _fish_lines(command)]
    return _FISH.format(paths=paths) + "\n".join(lines) + "\n"


def _fish_lines(command: _Command) -> Iterator[str]:
    start = f"complete -c nearcast -n {quote(' '.join(['__nearcast_at', *command.path]))}"
    for name, text in command.subcommands.items():
        yield f"{start} -f -a {quote(name)} -d {quote(text)}"
    if command.words:
        yield f"{start} -f -a {quote(' '.join(command.words))}"
    for action in command.options:
        names = " ".join(
            f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
            for name in action.option_strings
        )
        takes = "" if action.nargs == 0 else " -r"
        listed = f" -f -a {quote(' '.join(map(str, action.choices)))}" if action.choices else ""
        text = (action.help or "").replace("%%", "%")
        yield f"{start} {names}{takes}{listed} -d {quote(text)}"


_SCRIPTS: dict[str, Callable[[list[_Command]], str]] = {"bash": _bash, "fish": _fish, "zsh": _zsh}
