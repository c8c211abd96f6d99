"""Any interleaving of events, expiries and epochs gives the oracle's changes, in every kind."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
import strategies as some
from contract.changes import rows
from contract.variants import EXAMPLES, TOP_EXAMPLES, name_of, top_name, top_variants, variants
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from oracle import Oracle, OracleRejects

import nearcast as nc

# Logs are drawn with and without a window, which a hub without one warns of.
pytestmark = pytest.mark.filterwarnings("ignore::nearcast.KeepsNothingWarning")


class ChangesLikeTheOracle(RuleBasedStateMachine):
    """Subscriptions and messages come, change, move and go; time passes."""

    settings: dict[str, Any]  # of the hub
    modes_drawn = ("match", "rank", "top")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())

    @initialize(window=some.windows, weights=some.weights, stop_words=some.stop_words)
    def start(
        self,
        window: dict[str, Any],
        weights: dict[str, Any] | None,
        stop_words: tuple[str, ...],
    ) -> None:
        self.oracle = Oracle(**window, weights=weights, stop_words=stop_words)
        self.analyzer = some.analyzer_of(stop_words)
        self.hub = nc.Hub(
            window=some.window_of(window),
            weights=some.weights_of(weights),
            analyzer=self.analyzer,
            **self.settings,
        )
        self.modes: dict[str, str] = {}
        self.messages: list[str] = []
        self.count = 0

    def _apply(self, event: dict[str, Any]) -> None:
        try:
            expected = self.oracle.apply(1, event)
        except OracleRejects:
            with pytest.raises(nc.NearcastError):
                self.hub.apply([event])
        else:
            assert rows(self.hub.apply([event]).to_pylist()) == rows(expected)
        self.modes = self.oracle.modes()

    def _next(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    @rule(data=st.data(), life=st.one_of(st.none(), st.integers(1, 9)))
    def subscribe(self, data: st.DataObject, life: int | None) -> None:
        event = data.draw(some.subscribe_events(self.modes_drawn))
        event = {**event, "id": self._next("s")}
        if life is not None:
            event["expires"] = self.oracle.clock + life
        self._apply(event)

    @rule(data=st.data(), life=st.one_of(st.none(), st.none(), st.integers(0, 9)))
    def subscribe_again(self, data: st.DataObject, life: int | None) -> None:
        if self.modes:
            event = data.draw(some.subscribe_events(self.modes_drawn))
            event |= {"id": data.draw(st.sampled_from(sorted(self.modes))), "replace": True}
            if life is not None:
                event["expires"] = self.oracle.clock + life
            self._apply(event)

    @rule(
        data=st.data(),
        event=some.publish_events(),
        life=st.one_of(st.none(), st.none(), st.integers(0, 9)),
        seconds=st.sampled_from((0, 0, 0, 1, 3)),
    )
    def publish_again(
        self, data: st.DataObject, event: dict[str, Any], life: int | None, seconds: int
    ) -> None:
        if self.messages:
            id_ = data.draw(st.sampled_from(self.messages[-4:]))
            event = {**event, "id": id_, "replace": True}
            if life is not None:
                event["expires"] = self.oracle.clock + life
            if seconds:
                event["time"] = self.oracle.clock + seconds
            self._apply(event)

    @rule(event=some.publish_events(), life=st.one_of(st.none(), st.integers(0, 9)))
    def publish(self, event: dict[str, Any], life: int | None) -> None:
        event = {**event, "id": self._next("m")}
        if life is not None:
            event["expires"] = self.oracle.clock + life
        self.messages.append(event["id"])
        self._apply(event)

    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        if self.modes:
            id_ = data.draw(st.sampled_from(sorted(self.modes)))
            name, places = some.PLACES_OF_MODE[self.modes[id_]]
            self._apply({"op": "move", "id": id_, name: data.draw(places)})

    @rule(data=st.data())
    def unsubscribe(self, data: st.DataObject) -> None:
        if self.modes:
            id_ = data.draw(st.sampled_from(sorted(self.modes)))
            self._apply({"op": "unsubscribe", "id": id_})

    @rule(data=st.data())
    def retract(self, data: st.DataObject) -> None:
        if self.messages:
            id_ = data.draw(st.sampled_from(self.messages))
            self._apply({"op": "retract", "id": id_})

    @rule(seconds=st.integers(1, 5))
    def time_passes(self, seconds: int) -> None:
        self._apply({"op": "advance", "time": self.oracle.clock + seconds})

    @rule(weights=some.weights)
    def reweigh(self, weights: dict[str, Any] | None) -> None:
        changes = self.hub.set_weights(some.weights_of(weights))
        expected = self.oracle.reweigh(1, weights)
        assert rows([asdict(change) for change in changes]) == rows(expected)

    @rule(message=some.publish_events())
    def ask(self, message: dict[str, Any]) -> None:
        asked = {name: message[name] for name in ("at", "bbox", "attributes") if name in message}
        expected = self.oracle.reached(message)
        assert sorted(self.hub.match(message["text"], **asked)) == expected
        for id_ in self.modes:
            explained = self.hub.explain(id_, message["text"], **asked)
            assert explained.matches == (id_ in expected)
            assert str(explained).startswith("match" if explained.matches else "no match")

    @rule(data=st.data())
    def look(self, data: st.DataObject) -> None:
        holding = [id_ for id_ in self.modes if self.oracle.holds_set(id_)]
        if holding:
            id_ = data.draw(st.sampled_from(sorted(holding)))
            found = sorted(name for name, _ in self.hub.results(id_))
            assert found == sorted(self.oracle.held(id_))

    @rule(data=st.data())
    def say_again(self, data: st.DataObject) -> None:
        """A definition that is given back, subscribed in its own place, changes nothing."""
        if self.modes:
            id_ = data.draw(st.sampled_from(sorted(self.modes)))
            definition = self.hub.subscription(id_)
            assert definition.mode == self.modes[id_]
            said = {part.name: getattr(definition, part.name) for part in fields(definition)}
            assert self.hub.subscribe(**said, replace=True) == []
            assert {held.id for held in self.hub.subscriptions()} == set(self.modes)

    @rule()
    def save_and_open(self) -> None:
        path = self.folder / "hub"
        self.hub.save(path)
        self.hub = nc.Hub.open(path, analyzer=self.analyzer)

    @invariant()
    def structure_is_sound(self) -> None:
        if hasattr(self, "hub"):
            self.hub.check_invariants()
            assert len(self.hub) == len(self.oracle.modes())
            assert self.hub.clock == self.oracle.clock

    def teardown(self) -> None:
        shutil.rmtree(self.folder)


def _run(name: str, examples: int, **claims: Any) -> None:
    run_state_machine_as_test(
        type(name, (ChangesLikeTheOracle,), claims),
        settings=settings(
            max_examples=examples,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("variant", variants(), ids=name_of)
def test_hub_changes_like_the_oracle(variant: tuple[str, dict[str, Any]]) -> None:
    kind, parameters = variant
    _run("Machine", (EXAMPLES + 1) // 2, settings={"index": kind, "index_parameters": parameters})


@pytest.mark.parametrize("hub_settings", top_variants(), ids=top_name)
def test_top_lists_change_like_the_oracle(hub_settings: dict[str, Any]) -> None:
    _run("TopMachine", TOP_EXAMPLES, settings=hub_settings, modes_drawn=("top",))
