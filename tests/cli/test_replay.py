"""`nearcast replay` and its neighbours as a user runs them: files, pipes and exit codes."""

from __future__ import annotations

import io
import json
import os
import re
import select
import subprocess
import sys
from typing import NamedTuple

import pytest

import nearcast as nc
from nearcast.cli.__main__ import main

COMMAND = (sys.executable, "-m", "nearcast.cli")
SUBSCRIBE = (
    '{"op": "subscribe", "id": "s1", "keywords": "coffee AND (free OR sale) -decaf", "area":'
    ' {"type": "Circle", "center": [-73.98, 40.75], "radius_m": 800}}'
)
PUBLISH = (
    '{"op": "publish", "id": "m1", "text": "Free coffee at Bryant Park!",'
    ' "at": [-73.9836, 40.7536], "time": 12.5, "expires": 3600}'
)
ADDED = '"subscription":"s1","message":"m1","change":"added","reason":"published"}'


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


def run(*arguments, stdin=b""):
    """Run the command as a process of its own."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], input=stdin, capture_output=True, check=False, timeout=120
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def call(capsysbinary, monkeypatch):
    """Return what runs the command in this process, which saves a second each time."""

    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        out, err = capsysbinary.readouterr()
        return Outcome(code, out.decode(), err.decode())

    return call


def events_of(outcome):
    """Return the numbers of the events that caused changes, of what must have gone well."""
    assert (outcome.code, outcome.err) == (0, "")
    return [json.loads(line)["event"] for line in outcome.out.splitlines()]


def publish(id_, text="x", **fields):
    return json.dumps({"op": "publish", "id": id_, "text": text, "at": [0, 0], **fields})


def log(*lines):
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events.ndjson"


# ---- what comes out -------------------------------------------------------------------------


def test_a_change_is_one_line_of_json_with_the_number_of_its_event(path) -> None:
    path.write_bytes(
        log(
            SUBSCRIBE,
            '{"op": "subscribe", "id": "é\\n", "keywords": ["free"]}',
            "",
            PUBLISH,
            '{"op": "move", "id": "s1", "area": [-73.99, 40.7, -73.95, 40.76]}',
            '{"op": "retract", "id": "m1"}',
            PUBLISH,
            '{"op": "unsubscribe", "id": "s1"}',
            '{"op": "unsubscribe", "id": "é\\n"}',
        )
    )
    done = run("replay", path)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    accented = ADDED.replace("s1", "\\u00e9\\n")
    assert sorted(lines) == sorted(
        f'{{"event":{number},{rest}' for number in (4, 7) for rest in (ADDED, accented)
    )
    assert done.out.endswith("\n")
    assert done.out.isascii()


def test_changes_can_go_to_a_file(call, path, tmp_path) -> None:
    path.write_bytes(log(SUBSCRIBE, PUBLISH))
    out = tmp_path / "changes.ndjson"
    out.write_text("old\n" * 100)
    done = call("replay", path, "--out", out)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert out.read_text() == f'{{"event":2,{ADDED}\n'


@pytest.mark.parametrize("empty", [b"", b"\n", b"\xef\xbb\xbf", b"\r\n \n\n"])
def test_a_file_without_events_gives_nothing(call, path, empty) -> None:
    path.write_bytes(empty)
    done = call("replay", path)
    assert (done.code, done.out, done.err) == (0, "", "")


def test_the_shape_of_lines_does_not_matter() -> None:
    """A byte order mark, CRLF, blank lines, U+2028 in a string, and no end of the last line."""
    crlf = f"\ufeff\r\n{SUBSCRIBE}\r\n  \r\n".encode()
    last = (
        publish("m1", "free\u2028coffee")
        .replace("\\u2028", "\u2028")
        .replace("[0, 0]", "[-73.98, 40.75]")
    )
    assert "\u2028" in last
    assert events_of(run("replay", "-", stdin=crlf + last.encode())) == [4]


def test_every_index_kind_gives_the_same(call, path) -> None:
    lines = [SUBSCRIBE.replace('"s1"', f'"s{i}"').replace("40.75", f"40.7{i}") for i in range(9)]
    path.write_bytes(log(*lines, PUBLISH))
    answers = set()
    for kind in nc.indexes():
        done = call("replay", path, "--index", kind.name)
        assert done.code == 0, kind.name
        answers.add(tuple(sorted(done.out.splitlines())))
    assert len(answers) == 1
    assert answers.pop()


def test_a_window_decides_how_long_ids_are_in_use(call, path) -> None:
    path.write_bytes(
        log(*(publish(id_, time=time) for id_, time in [("a", 1), ("b", 2), ("c", 8), ("a", 9)]))
    )
    assert call("replay", path).code == 0
    assert call("replay", path, "--window-count", 2).code == 0
    for option in (("--window-count", 3), ("--window-seconds", 9)):
        done = call("replay", path, *option)
        assert done.code == 1
        assert done.err.startswith(f"{path}:4: message 'a': got the id of a live message")
    assert call("replay", path, "--window-seconds", 8).code == 0


def test_a_huge_line_is_a_line() -> None:
    text = "hay " * 1_000_000 + "needle"
    lines = log(
        json.dumps({"op": "subscribe", "id": "s", "keywords": "needle"}), publish("m", text)
    )
    assert events_of(run("replay", "-", stdin=lines + log(publish("n", "needle")))) == [2, 3]


def test_numbers_continue_over_blocks_of_the_file(call, path) -> None:
    """A block is a mebibyte; these lines fill several and do not end where a block ends."""
    lines = [json.dumps({"op": "subscribe", "id": "s", "keywords": "needle"})]
    lines += [
        publish(f"m{i}", "needle" if i % 5000 == 0 else f"hay {i}" * 9) for i in range(30_000)
    ]
    path.write_bytes(log(*lines))
    assert path.stat().st_size > 3 << 20
    assert events_of(call("replay", path)) == [i + 2 for i in range(0, 30_000, 5000)]


# ---- bad lines ------------------------------------------------------------------------------

BAD = (
    log(
        SUBSCRIBE,
        PUBLISH,
        '{"op": "publish", "id": "m2", "text": "x", "at": [0, 91]}',
        '{"op": "explode", "id": "m2"}',
        "{",
        '{"op": "unsubscribe", "id": "none"}',
        PUBLISH.replace("m1", "m7"),
    )
    + b'{"op": "retract", "id": "\xff"}\n'
)
COMPLAINTS = [
    (3, "message 'm2': at: latitude of point is out of range: got 91, wanted -90 to 90"),
    (4, "op is unknown: got 'explode', wanted one of 'subscribe', "),
    (5, "line is not JSON: "),
    (6, "subscription 'none': got an id that is not subscribed, wanted an id in use"),
    (8, "line is not UTF-8: byte 25 cannot be read: got "),
]


def test_a_bad_line_stops_with_its_number_after_what_came_before(path) -> None:
    path.write_bytes(BAD)
    done = run("replay", path)
    assert done.code == 1
    assert done.out == f'{{"event":2,{ADDED}\n'
    number, what = COMPLAINTS[0]
    assert done.err.startswith(f"{path}:{number}: {what}\n")
    assert "Traceback" not in done.err


def test_bad_lines_that_are_skipped_are_reported_and_counted(path) -> None:
    path.write_bytes(BAD)
    done = run("replay", path, "--on-error", "skip")
    assert done.code == 0
    assert [json.loads(line)["event"] for line in done.out.splitlines()] == [2, 7]
    said = done.err
    *complaints, count = [line for line in said.splitlines() if not line.startswith("hint: ")]
    assert count == "5 bad lines skipped"
    for complaint, (number, what) in zip(complaints, COMPLAINTS, strict=True):
        assert complaint.startswith(f"{path}:{number}: {what}")


def test_a_bad_line_of_stdin_says_so(call) -> None:
    done = call("replay", "-", stdin=log(SUBSCRIBE, "", "[]"))
    assert done.code == 1
    assert done.err.startswith("<stdin>:3: event is not an object: got [], wanted ")


def test_a_bad_line_in_a_later_block_has_the_number_of_the_file(call, path) -> None:
    lines = [publish(f"m{i}", "hay " * 20) for i in range(30_000)]
    lines[29_000] = "{}"
    path.write_bytes(log(*lines))
    done = call("replay", path)
    assert done.code == 1
    assert done.err.startswith(f"{path}:29001: event has no op")


def test_a_hint_follows_the_complaint(call) -> None:
    done = call("replay", "-", stdin=log('{"op": "publsh", "id": "m"}'))
    assert re.search(r"^hint: did you mean 'publish' instead of 'publsh'\?$", done.err, re.M)


# ---- wrong usage ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.ndjson"], r"No such file or directory: 'missing.ndjson'"),
        (["."], r"Is a directory"),
        (["-", "--out", "missing/out"], r"No such file or directory: 'missing/out'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_fails_with_one_line(call, arguments, said) -> None:
    done = call("replay", *arguments)
    assert (done.code, done.out) == (1, "")
    assert re.match(f"error: .*{said}", done.err)
    assert done.err.count("\n") == 1


def test_failure_and_wrong_usage_are_exit_codes_of_the_process() -> None:
    assert run("replay", "missing.ndjson").code == 1
    assert run("replay", "-", "--indx", "auto").code == 2
    for arguments, said in (
        (["--index", "fast"], "got 'fast', wanted one of .*brute-force"),
        (["--topk", "fast"], "got 'fast', wanted one of .*auto"),
        (["--index", "ap-tree:max_leaf_size"], "wanted parameter=value"),
    ):
        done = run("replay", "-", *arguments)
        assert done.code == 2
        assert re.search(said, done.err)


def test_a_file_that_cannot_be_read_does_not_cost_the_old_output(call, tmp_path) -> None:
    out = tmp_path / "out"
    out.write_text("old")
    assert call("replay", tmp_path / "missing", "--out", out).code == 1
    assert out.read_text() == "old"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["replay"],
        ["replay", "-", "--indx", "auto"],
        ["replay", "-", "--on-error", "ignore"],
        ["replay", "-", "--window-count", "2", "--window-seconds", "2"],
        ["replay", "-", "--window-count", "many"],
        ["replay", "-", "--window-count", "0"],
        ["replay", "-", "--window-seconds", "nan"],
        ["replay", "-", "--index", "fast"],
        ["fly"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_exit_code_two(call, arguments) -> None:
    done = call(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "usage: nearcast" in done.err


# ---- pipes ----------------------------------------------------------------------------------


def test_a_reader_that_has_seen_enough_is_no_failure(path) -> None:
    lines = [json.dumps({"op": "subscribe", "id": "s" * 500, "keywords": "x"})]
    path.write_bytes(log(*lines, *(publish(f"m{i}") for i in range(20_000))))
    process = subprocess.Popen(
        [*COMMAND, "replay", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stderr
    first = process.stdout.readline()
    process.stdout.close()
    assert json.loads(first)["event"] == 2
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=120) == 0


def test_changes_come_before_the_input_ends() -> None:
    process = subprocess.Popen(
        [*COMMAND, "replay", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )
    assert process.stdin
    assert process.stdout
    try:
        for line in (SUBSCRIBE, PUBLISH):
            process.stdin.write(log(line))
            process.stdin.flush()
        assert select.select([process.stdout], [], [], 60)[0]
        assert json.loads(process.stdout.readline())["event"] == 2
        assert process.poll() is None
    finally:
        process.stdin.close()
        process.stdout.close()
        assert process.wait(timeout=120) == 0


# ---- the neighbours -------------------------------------------------------------------------


def test_the_version_is_that_of_the_package() -> None:
    done = run("--version")
    assert (done.code, done.out) == (0, f"nearcast {nc.__version__}\n")


def test_index_list_names_every_kind_with_its_parameters(call) -> None:
    lines = call("index", "list").out.splitlines()
    for kind in nc.indexes():
        assert [line for line in lines if line.split()[0] == kind.name]
        for spec in kind.parameters:
            assert [
                line for line in lines if line.strip().startswith(f"{spec.name}={spec.default}: ")
            ]
    done = call("index", "list", "--json")
    listed = [json.loads(line) for line in done.out.splitlines()]
    assert [kind["name"] for kind in listed] == [kind.name for kind in nc.indexes()]
    assert all({"summary", "capabilities", "parameters"} < set(kind) for kind in listed)


def test_the_demo_shows_deliveries_and_figures() -> None:
    done = run("demo", "--subscriptions", 2000, "--messages", 300, "--seed", 3)
    assert (done.code, done.err) == (0, "")
    shown = done.out
    assert "2,000 saved searches" in shown
    assert re.search(r"messages published\W+300", shown)
    found = re.search(r"deliveries\W+([\d,]+)", shown)
    assert found
    assert int(found[1].replace(",", "")) > 0
    assert re.search(r"memory per saved search\W+\d+ bytes", shown)
    assert "Would 'Sunny flat, balcony to the yard' for 1350" in shown
    assert re.search(r"[+] demo-\d+ .*flat", shown), "the driver gains messages"
    assert len(re.findall(r"0\.\d{6} .* demo-\d+ ", shown)) == 3, "the three best are shown"


@pytest.mark.parametrize("option", ["--subscriptions", "--messages"])
def test_the_demo_needs_something_to_show(call, option) -> None:
    done = call("demo", option, 0)
    assert done.code == 2
    assert f"argument {option}: got '0', wanted a whole number, 1 or more" in done.err


# ---- replacing, and a hub without a window --------------------------------------------------


def test_new_versions_and_time_that_passes_are_replayed(call, path) -> None:
    live = {"op": "subscribe", "id": "s", "keywords": "x", "live": True}
    path.write_bytes(
        log(
            json.dumps(live),
            json.dumps({"op": "publish", "id": "m", "text": "x", "at": [0, 0], "expires": 5}),
            json.dumps(
                {
                    "op": "publish",
                    "id": "m",
                    "text": "x",
                    "at": [1, 0],
                    "expires": 9,
                    "replace": True,
                }
            ),
            json.dumps({"op": "advance", "time": 9}),
        )
    )
    done = call("replay", path, "--index", "ap-tree:max_leaf_size=4", "--topk", "igpt")
    changes = [json.loads(line) for line in done.out.splitlines()]
    assert [(c["event"], c["change"], c["reason"]) for c in changes] == [
        (2, "added", "published"),
        (3, "updated", "changed"),
        (4, "removed", "expired"),
    ]
    warning, hint = done.err.splitlines()
    assert warning.startswith("warning: subscription 's' is live, and the hub has no window")
    assert hint == "hint: --window-count and --window-seconds give it one"
    assert call("replay", path, "--window-count", 5).err == ""


def test_a_parameter_that_a_kind_does_not_have_is_wrong_usage(call) -> None:
    done = call("replay", "-", "--index", "ap-tree:depth=4")
    assert done.code == 2
    assert "depth" in done.err
