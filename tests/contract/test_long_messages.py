"""Messages that meet many lists at once, at and around the sizes at which an index changes its way.

`auto` reads lists in portions of 128, of up to 16 parts of messages together; a message meets as
many lists as it has words, and one more: that of the subscriptions without keywords.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from contract.variants import name_of, variants
from match_tables import boxes, pairs
from oracle.events import decide, read_message, read_subscription

import nearcast as nc

WORDS = [14, 15, 16, 17, 30, 31, 32, 33, 63, 64, 126, 127, 128, 129, 255, 257]
ACROSS = [170.0, -10.0, -170.0, 10.0]  # across the antimeridian: two parts
POINT = [1.0, 2.0, 1.0, 2.0]


def _subscriptions(words: int) -> list[dict[str, Any]]:
    """Return one per word, one per pair of neighbours, and two of an area only."""
    every: list[dict[str, Any]] = [{"id": f"s{i}", "keywords": [f"w{i}"]} for i in range(words)]
    every += [{"id": f"p{i}", "keywords": [f"w{i - 1}", f"w{i}"]} for i in range(1, words, 7)]
    every += [{"id": "area", "area": [-180, -90, 180, 90]}, {"id": "far", "area": [5, 80, 6, 81]}]
    return [{"op": "subscribe", **event} for event in every]


def _terms(event: dict[str, Any]) -> dict[str, Any]:
    return {name: event[name] for name in ("keywords", "area") if name in event}


def _messages(words: int) -> list[tuple[str, list[float]]]:
    """Return 19 messages: more than two groups of eight, most with all words, some with fewer."""
    rows = []
    for row in range(19):
        used = range(words) if row % 5 else range(row % 3, words, 1 + row // 5)
        rows.append((" ".join(f"w{i}" for i in used), ACROSS if row % 4 == 3 else POINT))
    return rows


@cache
def _expected(words: int) -> list[tuple[int, str]]:
    subscriptions = [read_subscription(event) for event in _subscriptions(words)]
    found = []
    for row, (text, box) in enumerate(_messages(words)):
        message = read_message({"op": "publish", "id": "m", "text": text, "bbox": box})
        found += [(row, s.id) for s in subscriptions if decide(s, message, None)[0]]
    return sorted(found)


@pytest.mark.parametrize("variant", variants(), ids=name_of)
def test_messages_of_any_length_match_like_the_oracle(variant: tuple[str, dict[str, Any]]) -> None:
    kind, parameters = variant
    for words in WORDS:
        matcher = nc.Matcher(kind, index_parameters=parameters)
        for event in _subscriptions(words):
            matcher.subscribe(event["id"], **_terms(event))
        messages = _messages(words)
        table = pa.table(
            {"text": [text for text, _ in messages], **boxes([box for _, box in messages])}
        )
        assert pairs(matcher.match_table(table)) == _expected(words), words


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("box", [POINT, ACROSS], ids=["point", "across"])
def test_a_hub_delivers_a_message_of_any_length(words: int, box: list[float]) -> None:
    hub = nc.Hub()
    for event in _subscriptions(words):
        hub.subscribe(event["id"], **_terms(event))
    text = " ".join(f"w{i}" for i in range(words))
    message = read_message({"op": "publish", "id": "m", "text": text, "bbox": box})
    read = [read_subscription(event) for event in _subscriptions(words)]
    changes = hub.publish("m", text, bbox=box)
    assert sorted(change.subscription for change in changes) == sorted(
        s.id for s in read if decide(s, message, None)[0]
    )


@pytest.mark.parametrize("kind", [kind.name for kind in nc.indexes()])
def test_thousands_of_keywords_do_not_need_a_deep_stack(kind: str) -> None:
    """A trie has a node for each keyword: a walk that recurses ends the process in a thread."""
    words = [f"w{i}" for i in range(8191)]  # the most that a clause may have
    table = pa.table(
        {
            "id": [1, 2, 3],
            "keywords": [words, words[:4000], words[::2]],
            **{side: [at] * 3 for side, at in zip(("west", "south"), (0.0, 0.0), strict=True)},
            **{side: [at] * 3 for side, at in zip(("east", "north"), (1.0, 1.0), strict=True)},
        }
    )
    found: list[list[nc.matcher.Id]] = []

    def run() -> None:
        matcher = nc.Matcher(kind)
        matcher.subscribe_table(table)
        matcher.check_invariants()
        found.append(sorted(matcher.match(words, at=(0.5, 0.5))))
        found.append(sorted(matcher.match(words[:6000], at=(0.5, 0.5))))
        matcher.unsubscribe(1)
        found.append(sorted(matcher.match(words, at=(0.5, 0.5))))

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert found == [[1, 2, 3], [2], [2, 3]]
