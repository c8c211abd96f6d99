"""Any interleaving of subscribing, unsubscribing and matching gives the oracle's answer."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import strategies as some
from contract.variants import EXAMPLES, name_of, variants
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from oracle import matches

import nearcast as nc

_boxes = some.bboxes.filter(lambda box: box[1] <= box[3])
_rows = st.lists(
    st.tuples(
        st.one_of(st.none(), st.lists(some.tokens, min_size=1, max_size=4)),
        st.one_of(st.none(), _boxes),
    ).filter(lambda row: row != (None, None)),
    min_size=1,
    max_size=30,
)


def _table(
    rows: list[tuple[str, list[str] | None, list[float] | None]], *, coded: bool
) -> pa.Table:
    words = pa.array([row[1] for row in rows], pa.list_(pa.string()))
    if coded:
        words = pa.ListArray.from_arrays(
            words.offsets, words.values.dictionary_encode(), mask=words.is_null()
        )
    boxes = {
        side: pa.array([None if row[2] is None else float(row[2][i]) for row in rows], pa.float64())
        for i, side in enumerate(("west", "south", "east", "north"))
    }
    return pa.table({"id": [row[0] for row in rows], "keywords": words, **boxes})


def _terms(event: dict[str, Any]) -> dict[str, Any]:
    """Return what a matcher is told of a subscription."""
    terms: dict[str, Any] = {
        name: event[name] for name in ("keywords", "area", "where") if name in event
    }
    return {**terms, **({"except_": event["except"]} if "except" in event else {})}


class MatchesLikeTheOracle(RuleBasedStateMachine):
    """Subscriptions come and go, singly and in bulk, through snapshots, and stay exact."""

    kind: str
    parameters: dict[str, Any]

    def __init__(self) -> None:
        super().__init__()
        self.matcher = nc.Matcher(self.kind, index_parameters=self.parameters)
        self.oracle: dict[str, dict[str, Any]] = {}
        self.folder = Path(tempfile.mkdtemp())
        self.count = 0

    def _new_id(self) -> str:
        self.count += 1
        return f"s{self.count}"

    @rule(event=some.subscribe_events())
    def subscribe(self, event: dict[str, Any]) -> None:
        id_ = self._new_id()
        self.matcher.subscribe(id_, **_terms(event))
        self.oracle[id_] = {**event, "id": id_}

    @rule(event=some.subscribe_events(), data=st.data())
    def replace(self, event: dict[str, Any], data: st.DataObject) -> None:
        if self.oracle:
            id_ = data.draw(st.sampled_from(sorted(self.oracle, key=str)))
            self.matcher.subscribe(id_, **_terms(event), replace=True)
            self.oracle[id_] = {**event, "id": id_}

    @rule(rows=_rows, coded=st.booleans())
    def subscribe_table(self, rows: list[Any], coded: bool) -> None:
        named = [(self._new_id(), *row) for row in rows]
        self.matcher.subscribe_table(_table(named, coded=coded))
        for id_, words, box in named:
            event = {"op": "subscribe", "id": id_, "keywords": words, "area": box}
            self.oracle[id_] = {key: value for key, value in event.items() if value is not None}

    @rule(data=st.data())
    def unsubscribe(self, data: st.DataObject) -> None:
        if self.oracle:
            id_ = data.draw(st.sampled_from(sorted(self.oracle)))
            self.matcher.unsubscribe(id_)
            del self.oracle[id_]

    @rule(data=st.data())
    def unsubscribe_table(self, data: st.DataObject) -> None:
        if self.oracle:
            chosen = st.lists(st.sampled_from(sorted(self.oracle)), unique=True, max_size=8)
            ids = data.draw(chosen)
            self.matcher.unsubscribe_table(ids)
            for id_ in ids:
                del self.oracle[id_]

    @rule(events=st.lists(some.publish_events(), max_size=10))
    def learn(self, events: list[dict[str, Any]]) -> None:
        self.matcher.learn_table(_messages(events))

    @rule()
    def save_and_open(self) -> None:
        path = self.folder / "snapshot"
        self.matcher.save(path)
        self.matcher = nc.Matcher.open(path)

    @rule(message=some.publish_events())
    def match(self, message: dict[str, Any]) -> None:
        asked = {key: message[key] for key in ("at", "bbox", "attributes") if key in message}
        found = self.matcher.match(message["text"], **asked)
        assert sorted(found) == self._expected(message)  # lists: a duplicate fails

    @rule(messages=st.lists(some.publish_events(), min_size=1, max_size=5))
    def match_table(self, messages: list[dict[str, Any]]) -> None:
        messages = [{**message, "attributes": {}} for message in messages]  # a table has none
        pairs = self.matcher.match_table(_messages(messages)).to_pylist()
        found = sorted((pair["message"], pair["subscription"]) for pair in pairs)
        expected = [(row, id_) for row, m in enumerate(messages) for id_ in self._expected(m)]
        assert found == expected

    def _expected(self, message: dict[str, Any]) -> list[str]:
        return sorted(id_ for id_, event in self.oracle.items() if matches(event, message))

    @invariant()
    def structure_is_sound(self) -> None:
        self.matcher.check_invariants()
        assert len(self.matcher) == len(self.oracle)

    def teardown(self) -> None:
        shutil.rmtree(self.folder)


def _messages(events: list[dict[str, Any]]) -> pa.Table:
    """Return messages as boxes: a point is a box of zero size."""
    boxes = [event["bbox"] if "bbox" in event else event["at"] * 2 for event in events]
    sides = {
        side: pa.array([float(box[i]) for box in boxes], pa.float64())
        for i, side in enumerate(("west", "south", "east", "north"))
    }
    return pa.table({"text": pa.array([event["text"] for event in events], pa.string()), **sides})


@pytest.mark.parametrize("variant", variants(), ids=name_of)
def test_index_matches_like_the_oracle(variant: tuple[str, dict[str, Any]]) -> None:
    kind, parameters = variant
    machine = type("Machine", (MatchesLikeTheOracle,), {"kind": kind, "parameters": parameters})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
