"""`nearcast match`, `explain` and `validate` as a user calls them."""

from __future__ import annotations

import gzip
import json
import re

import pyarrow as pa
import pytest
from cli.calls import Caller, ndjson, publish, subscribe

import nearcast as nc

NEAR, FAR = [-1, -1, 1, 1], [50, 50, 60, 60]


@pytest.fixture
def call(capsysbinary, monkeypatch):
    return Caller(capsysbinary, monkeypatch)


@pytest.fixture
def files(tmp_path):
    """Return what writes a file of subscriptions and a file of messages."""

    def write(subscriptions, messages):
        paths = tmp_path / "subscriptions.ndjson", tmp_path / "messages.ndjson"
        for path, events in zip(paths, (subscriptions, messages), strict=True):
            path.write_bytes(ndjson(*events))
        return paths

    return write


def pairs(outcome):
    return [(row["message"], row["subscription"]) for row in outcome.rows]


# ---- match ----------------------------------------------------------------------------------


def test_pairs_come_in_the_order_of_messages(call, files) -> None:
    paths = files(
        [subscribe("b", keywords="coffee"), subscribe("a", area=NEAR), subscribe("c", area=FAR)],
        [publish("m2", "Free coffee"), publish("m1", "tea"), publish("m0", "x", at=[5, 5])],
    )
    done = call("match", *paths)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == '{"message":"m2","subscription":"a"}'
    assert pairs(done) == [("m2", "a"), ("m2", "b"), ("m1", "a")]


def test_every_index_kind_gives_the_same_pairs(call, files) -> None:
    words = ["coffee", "tea", "coffee -tea", "coffee OR milk"]
    paths = files(
        [subscribe(f"s{i}", keywords=word, area=NEAR) for i, word in enumerate(words)],
        [publish("m0", "coffee"), publish("m1", "tea and coffee"), publish("m2", "milk")],
    )
    expected = call("match", *paths).out
    assert expected.count("\n") == 7
    for kind in nc.indexes():
        assert call("match", *paths, "--index", kind.name).out == expected, kind.name


def test_subscriptions_are_what_their_file_leaves(call, files) -> None:
    paths = files(
        [
            subscribe("moved", keywords="x", area=FAR),
            subscribe("gone", keywords="x"),
            {"op": "move", "id": "moved", "area": NEAR},
            {"op": "unsubscribe", "id": "gone"},
            subscribe("changed", keywords="y"),
            subscribe("changed", keywords="x", replace=True),
        ],
        [publish("m", "x")],
    )
    assert pairs(call("match", *paths)) == [("m", "changed"), ("m", "moved")]


def test_times_do_not_count(call, files) -> None:
    paths = files(
        [subscribe("old", keywords="x", time=1, expires=2), subscribe("new", keywords="x", time=9)],
        [publish("m", "x", time=5, expires=6), publish("m", "x", time=5, expires=6)],
    )
    assert pairs(call("match", *paths)) == 2 * [("m", "new"), ("m", "old")]


def test_ranked_pairs_have_a_score(call, files, tmp_path) -> None:
    weights = tmp_path / "weights.json"
    weights.write_text('{"documents": 10, "df": {"river": 9}}')
    terms = {"mode": "rank", "alpha": 0.4, "threshold": 0.1}
    paths = files(
        [subscribe("s", keywords="flood river", area=NEAR, **terms)], [publish("m", "a river")]
    )
    score = call("match", *paths).rows[0]["score"]
    assert score == pytest.approx(0.7)
    assert call("match", *paths, "--weights", weights).rows[0]["score"] < score


def test_top_subscriptions_are_left_out_and_counted(call, files) -> None:
    top = {"mode": "top", "k": 1, "alpha": 0.5, "at": [0, 0]}
    paths = files(
        [subscribe("t", keywords="x", **top), subscribe("s", keywords="x")], [publish("m", "x")]
    )
    done = call("match", *paths)
    assert pairs(done) == [("m", "s")]
    assert done.err.startswith("1 top subscriptions left out: ")


def test_one_of_the_files_may_be_stdin(call, files) -> None:
    subscriptions, messages = files([subscribe("s", keywords="x")], [publish("m", "x")])
    for arguments, given in (((subscriptions, "-"), messages), (("-", messages), subscriptions)):
        assert pairs(call("match", *arguments, stdin=given.read_bytes())) == [("m", "s")]
    assert call("match", "-", "-").code == 2


@pytest.mark.parametrize(
    ("subscriptions", "messages", "said"),
    [
        (['{"op": "subscribe"}'], [], "subscriptions.ndjson:2: subscription: id is missing"),
        ([subscribe("s", keywords="y")], [], "subscriptions.ndjson:2: .*'s'"),
        ([publish("m", "x")], [], "subscriptions.ndjson:2: a file of subscriptions .* 'publish'"),
        ([], [subscribe("s", keywords="x")], "messages.ndjson:2: a file of messages has another"),
        ([], ["", "{"], "messages.ndjson:3: line is not JSON"),
    ],
)
def test_bad_lines_have_file_and_number(call, files, subscriptions, messages, said) -> None:
    paths = files(
        [subscribe("s", keywords="x"), *subscriptions],
        [publish("m", "x"), *messages, publish("n", "x")],
    )
    done = call("match", *paths)
    assert done.code == 1
    assert re.search(said, done.err)
    skipping = call("match", *paths, "--on-error", "skip")
    assert pairs(skipping) == [("m", "s"), ("n", "s")]
    assert skipping.err.splitlines()[-1] == "1 bad lines skipped"


# ---- explain --------------------------------------------------------------------------------


def test_a_pair_is_explained(call, files) -> None:
    paths = files(
        [subscribe("s", keywords="coffee", area=NEAR)],
        [publish("yes", "coffee"), publish("no", "coffee", at=[2, 0])],
    )
    ask = ("explain", *paths, "--subscription", "s", "--message")
    assert call(*ask, "yes").out.startswith("yes: match: ")
    assert "km outside the area" in call(*ask, "no").out
    told = call(*ask, "no", "--json").rows[0]
    assert (told["message"], told["subscription"], told["matches"]) == ("no", "s", False)


def test_what_is_explained_is_what_the_file_leaves(call, files) -> None:
    paths = files(
        [
            subscribe("s", keywords="coffee", area=FAR),
            subscribe("other", keywords="tea"),
            {"op": "move", "id": "s", "area": NEAR},
        ],
        [publish("m", "coffee")],
    )
    ask = ("explain", *paths, "--subscription", "s", "--message", "m")
    assert call(*ask).out.startswith("m: match")


def test_near_misses_lack_one_thing(call, files) -> None:
    paths = files(
        [subscribe("s", keywords="coffee free -decaf", area=NEAR)],
        [
            publish("match", "free coffee"),
            publish("no-word", "coffee"),
            publish("excluded", "free decaf coffee"),
            publish("outside", "free coffee", at=[9, 9]),
            publish("two", "coffee", at=[9, 9]),
            publish("box", "free coffee", bbox=[3, 3, 4, 4]),
        ],
    )
    done = call("explain", *paths, "--subscription", "s")
    assert done.code == 0
    assert [line.split(":")[0] for line in done.out.splitlines()] == [
        *("no-word", "excluded", "outside", "box"),
    ]
    assert "no match" in done.out.splitlines()[0]


def test_a_subscription_that_asks_for_one_thing_has_no_near_misses(call, files) -> None:
    paths = files([subscribe("s", keywords="coffee")], [publish("m", "tea")])
    done = call("explain", *paths, "--subscription", "s")
    assert (done.code, done.out) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--subscription", "none"], "subscription 'none': got no such id in "),
        (["--subscription", "s", "--message", "none"], "message 'none': got no such id in "),
        (["--subscription", "t"], "subscription 't': a top list has no near misses"),
    ],
)
def test_what_cannot_be_explained_is_said(call, files, arguments, said) -> None:
    top = {"mode": "top", "k": 1, "alpha": 0.5, "at": [0, 0]}
    subscriptions = [subscribe("s", keywords="x"), subscribe("t", keywords="x", **top)]
    paths = files(subscriptions, [publish("m", "x")])
    done = call("explain", *paths, *arguments)
    assert (done.code, done.out) == (1, "")
    assert f"error: {said}" in done.err


# ---- validate -------------------------------------------------------------------------------


def test_all_bad_lines_are_reported(call, tmp_path) -> None:
    path = tmp_path / "events.ndjson"
    path.write_bytes(ndjson(publish("m", "x"), "{", "", '{"op": "publsh"}', publish("m", "x")))
    done = call("validate", path)
    assert (done.code, done.out) == (1, "")
    first, second, hint, last = done.err.splitlines()
    assert first.startswith(f"{path}:2: line is not JSON")
    assert second.startswith(f"{path}:4: op is unknown")
    assert hint == "hint: did you mean 'publish' instead of 'publsh'?"
    assert last == "4 events, 2 of them bad"


def test_good_files_are_told_to_be(call, tmp_path) -> None:
    path = tmp_path / "events.ndjson"
    path.write_bytes(ndjson(publish("m", "x")))
    done = call("validate", path, "-", stdin=path.read_bytes())
    assert (done.code, done.err) == (0, "2 events, 0 of them bad\n")


# ---- compressed -----------------------------------------------------------------------------


def compressed(suffix, lines):
    if suffix == ".gz":  # in two members, as `cat a.gz b.gz` makes them
        half = len(lines) // 2
        return gzip.compress(lines[:half]) + gzip.compress(lines[half:])
    return pa.Codec("zstd").compress(lines, asbytes=True)


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".GZ"])
def test_names_say_how_files_are_compressed(call, tmp_path, suffix) -> None:
    events = [subscribe("s", keywords="x"), *(publish(f"m{i}", "x") for i in range(20_000))]
    plain, packed = tmp_path / "events.ndjson", tmp_path / f"events.ndjson{suffix}"
    plain.write_bytes(ndjson(*events))
    packed.write_bytes(compressed(suffix.lower(), plain.read_bytes()))
    assert call("replay", packed).out == call("replay", plain).out
    assert call("validate", packed).err == "20001 events, 0 of them bad\n"
    told = call("match", packed, plain, "--on-error", "skip")
    assert len(told.rows) == 20_000


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("damage", ["cut", "not compressed"])
def test_a_damaged_file_is_named(call, tmp_path, suffix, damage) -> None:
    path = tmp_path / f"events.ndjson{suffix}"
    lines = ndjson(*(publish(f"m{i}", "x") for i in range(10)))
    path.write_bytes(lines if damage != "cut" else compressed(suffix, lines)[:-8])
    done = call("validate", path)
    assert done.code == 1
    assert f"error: {path} cannot be read: " in done.err


def test_the_lines_are_json_as_ever(call, files) -> None:
    paths = files([subscribe("ü", keywords="x")], [publish("m\n", "x")])
    line = call("match", *paths).out
    assert line.isascii()
    assert json.loads(line) == {"message": "m\n", "subscription": "ü"}
