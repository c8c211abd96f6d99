"""Who reports only upon leaving its safe region holds what it would by reporting every step."""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from contract.variants import EXAMPLES, moving_variants, name_of
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from oracle.events import decide, read_message, read_subscription

import nearcast as nc
from nearcast.bench.workloads.moving.log import opening_lines, step_lines
from nearcast.bench.workloads.moving.town import make_town
from nearcast.bench.workloads.moving.workload import MovingPlan, MovingWorkload
from nearcast.bench.workloads.presets import find_preset
from nearcast.bench.workloads.scenario import PresetSource
from nearcast.safe_region import SafeRegion

if TYPE_CHECKING:
    from collections.abc import Callable

# Halves, so that borders meet points and each other; on both sides of the antimeridian.
_grid = st.integers(0, 16).map(lambda i: i / 2)
_steps = st.sampled_from((-1, -0.5, -0.3, -0.25, 0, 0, 0.01, 0.25, 0.5, 1, 3))
_texts = st.sampled_from(("a", "b", "a b", "c", ""))
_keywords = st.sampled_from((["a"], ["b"], "a OR b", "a -b", None))


def _lon(x: float) -> float:
    """Return 4 as the antimeridian's east, and beyond it as its west."""
    return 176 + x if x <= 4 else x - 184


def _box(x: float, y: float, width: float, height: float) -> list[float]:
    return [_lon(x), y, _lon(x + width), y + height]


def _circle(x: float, y: float, size: float, _: float) -> dict[str, Any]:
    return {"type": "Circle", "center": [_lon(x), y], "radius_m": size * 80_000}


def _triangle(x: float, y: float, width: float, height: float) -> dict[str, Any]:
    corners = [(x, y), (x + width + 0.25, y), (x, y + height + 0.25), (x, y)]
    ring = [[lon - 20, lat] for lon, lat in corners]  # where no antimeridian is
    return {"type": "Polygon", "coordinates": [ring]}


_SHAPES: tuple[Callable[..., Any], ...] = (_box, _box, _circle, _triangle)
_sizes = st.sampled_from((0, 0.5, 1, 2))
_travellers = st.tuples(st.sampled_from(_SHAPES), _grid, _grid, _sizes, _sizes)


class _Traveller:
    """A client: knows its place, what it was sent, and nothing else."""

    def __init__(self, hub: nc.Hub, id_: str, start: tuple[Any, ...], keywords: Any) -> None:
        self.id, self.keywords = id_, keywords
        self.shape, self.x, self.y, self.width, self.height = start
        self.held: set[str] = set()
        fields = {"keywords": keywords, "area": self.area, "live": True}
        self.hear(hub.subscribe(id_, **{k: v for k, v in fields.items() if v is not None}))
        self.region = SafeRegion(self.area, hub.safe_distance(id_))

    @property
    def area(self) -> Any:
        return self.shape(self.x, self.y, self.width, self.height)

    def hear(self, changes: list[nc.Change]) -> None:
        for change in changes:
            if change.subscription == self.id:
                assert (change.message in self.held) == (change.change == "removed"), change
                self.held ^= {change.message}

    def go(self, hub: nc.Hub, dx: float, dy: float) -> None:
        self.x = min(max(self.x + dx, 0), 10)
        self.y = min(max(self.y + dy, 0), 80)
        if self.region.step(self.area):
            self.report(hub)

    def report(self, hub: nc.Hub) -> None:
        self.hear(hub.move(self.id, area=self.area))
        self.region.reported(hub.safe_distance(self.id))


class HoldsWhatItWould(RuleBasedStateMachine):
    """Travellers move silently, messages come and go, and what each holds is always exact."""

    kind: str
    parameters: ClassVar[dict[str, Any]]

    def __init__(self) -> None:
        super().__init__()
        self.hub = nc.Hub(
            index=self.kind,
            index_parameters=self.parameters,
            window=nc.Window(count=12),
            safe_region=True,
        )
        self.travellers: dict[str, _Traveller] = {}
        self.messages: dict[str, Any] = {}
        self.folder = Path(tempfile.mkdtemp())
        self.clock = 0.0
        self.count = 0

    def _deliver(self, changes: list[nc.Change]) -> None:
        for traveller in self.travellers.values():
            traveller.hear(changes)
        for promise in self.hub.take_promises():
            told = self.travellers.get(promise.subscription)
            if told and told.region.told(promise.safe_distance):
                told.report(self.hub)

    @rule(start=_travellers, keywords=_keywords)
    def subscribe(self, start: tuple[Any, ...], keywords: Any) -> None:
        self.count += 1
        id_ = f"s{self.count}"
        self.travellers[id_] = _Traveller(self.hub, id_, start, keywords)
        self.hub.take_promises()

    @rule(data=st.data())
    def unsubscribe(self, data: st.DataObject) -> None:
        if self.travellers:
            id_ = data.draw(st.sampled_from(sorted(self.travellers)))
            del self.travellers[id_]
            assert self.hub.unsubscribe(id_) == []

    @rule(data=st.data(), dx=_steps, dy=_steps)
    def go(self, data: st.DataObject, dx: float, dy: float) -> None:
        if self.travellers:
            id_ = data.draw(st.sampled_from(sorted(self.travellers)))
            self.travellers[id_].go(self.hub, dx, dy)
            self.hub.take_promises()

    @rule(dx=_steps, dy=_steps)
    def all_go(self, dx: float, dy: float) -> None:
        for traveller in self.travellers.values():
            traveller.go(self.hub, dx / 4, dy / 4)
        self.hub.take_promises()

    @rule(data=st.data())
    def change_shape(self, data: st.DataObject) -> None:
        if self.travellers:
            traveller = self.travellers[data.draw(st.sampled_from(sorted(self.travellers)))]
            start = data.draw(_travellers)
            traveller.shape, traveller.x, traveller.y, traveller.width, traveller.height = start
            traveller.go(self.hub, 0, 0)
            self.hub.take_promises()

    @rule(text=_texts, x=_grid, y=_grid, size=_sizes, life=st.sampled_from((None, 1, 5)))
    def publish(self, text: str, x: float, y: float, size: float, life: float | None) -> None:
        self.count += 1
        event: dict[str, Any] = {"op": "publish", "id": f"m{self.count}", "text": text}
        lon = _lon(x) if self.count % 3 else x - 20
        if size and self.count % 2:
            event["bbox"] = [lon, y, lon + size, y + size] if lon < 178 else [lon, y, 180, y]
        else:
            event["at"] = [lon, y]
        if life is not None:
            event["expires"] = self.clock + life
        self.messages[event["id"]] = read_message(event)
        if len(self.messages) > 12:
            del self.messages[next(iter(self.messages))]
        self._deliver(self.hub.publish(**{k: v for k, v in event.items() if k != "op"}))

    @rule(data=st.data())
    def retract(self, data: st.DataObject) -> None:
        if self.messages:
            id_ = data.draw(st.sampled_from(sorted(self.messages)))
            del self.messages[id_]
            self._deliver(self.hub.retract(id_))

    @rule(seconds=st.sampled_from((0.5, 1, 3)))
    def tick(self, seconds: float) -> None:
        self.clock += seconds
        kept = self.messages.items()
        self.messages = {k: m for k, m in kept if m.expires is None or m.expires > self.clock}
        self._deliver(self.hub.retract("nothing", time=self.clock))

    @rule()
    def save_and_open(self) -> None:
        self.hub.save(self.folder / "snapshot")
        self.hub = nc.Hub.open(self.folder / "snapshot")

    @invariant()
    def all_hold_what_is_true(self) -> None:
        for traveller in self.travellers.values():
            fields = {"keywords": traveller.keywords, "area": traveller.area}
            event = {"op": "subscribe", "id": traveller.id, "live": True}
            given = {k: v for k, v in fields.items() if v is not None}
            wanted = read_subscription({**event, **given})
            messages = self.messages.values()
            assert traveller.held == {m.id for m in messages if decide(wanted, m, None)[0]}

    @invariant()
    def promises_are_true(self) -> None:
        self.hub.check_invariants()
        assert len(self.hub) == self.hub.stats()["subscriptions"] == len(self.travellers)

    def teardown(self) -> None:
        shutil.rmtree(self.folder)


@pytest.mark.parametrize("variant", moving_variants(), ids=name_of)
def test_silence_loses_nothing(variant: tuple[str, dict[str, Any]]) -> None:
    class Machine(HoldsWhatItWould):
        kind, parameters = variant

    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=max(4, EXAMPLES // 6),
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=checks,
        ),
    )


@pytest.mark.parametrize("kind", ["auto", "ap+-tree"])
@pytest.mark.parametrize("seed", range(2))
def test_a_long_way_in_small_steps_loses_nothing(kind: str, seed: int) -> None:
    class Machine(HoldsWhatItWould):
        parameters: ClassVar[dict[str, Any]] = {}

    Machine.kind = kind
    chance = random.Random(seed)
    world = Machine()
    for shape in _SHAPES * 2:
        corner = (chance.randint(2, 10) / 2, chance.randint(2, 10) / 2)
        size = (chance.choice((0.5, 1, 2)), chance.choice((1, 2)))
        world.subscribe((shape, *corner, *size), chance.choice((["a"], ["b"], "a -b")))
    for _ in range(60):
        for traveller in world.travellers.values():
            # Quarters and eighths, so that borders come to lie on messages.
            dx, dy = (chance.choice((-1, 0, 1)) / chance.choice((4, 8, 100)) for _ in "xy")
            traveller.go(world.hub, dx, dy)
        world.hub.take_promises()
        x, y = (chance.randint(0, 16) / 2 for _ in "xy")
        world.publish(chance.choice(("a", "b", "a b")), x, y, chance.choice((0, 0, 1)), None)
        world.all_hold_what_is_true()
    world.promises_are_true()
    world.teardown()


@pytest.mark.filterwarnings("ignore::nearcast.KeepsNothingWarning")  # messages have expiries
@pytest.mark.parametrize("kind", ["auto", "ap+-tree"])
def test_most_steps_on_a_road_stay_unsaid(kind: str) -> None:
    plan = MovingPlan(objects=60, messages=400, steps=20, destinations=8)
    source = PresetSource(find_preset("places"), 2)
    workload = MovingWorkload(source, make_town(2, side=12), plan)
    eager, silent = nc.Hub(index=kind), nc.Hub(index=kind, safe_region=True)
    opening = b"".join(opening_lines(workload))
    eager.apply(opening)
    silent.apply(opening)
    silent.take_promises()
    boxes = {f"s{row['id']}": _sides(row) for row in workload.subscriptions().to_pylist()}
    regions = {id_: SafeRegion(box, silent.safe_distance(id_)) for id_, box in boxes.items()}

    def report(id_: str) -> None:
        silent.move(id_, area=regions[id_].area)
        regions[id_].reported(silent.safe_distance(id_))

    for step in workload.steps():
        *published, moved = step_lines(step)
        for hub in (eager, silent):
            hub.apply(b"".join(published))
        for promise in silent.take_promises():
            if regions[promise.subscription].told(promise.safe_distance):
                report(promise.subscription)
        eager.apply(moved)
        for row in step.moved.to_pylist():
            if regions[f"s{row['id']}"].step([round(side, 6) for side in _sides(row)]):
                report(f"s{row['id']}")
        silent.take_promises()
        for id_ in regions:
            assert sorted(eager.results(id_)) == sorted(silent.results(id_)), (step.number, id_)
    sent = sum(region.reports + region.notices for region in regions.values())
    assert sent < 0.5 * sum(region.steps for region in regions.values())


def _sides(row: dict[str, Any]) -> list[float]:
    return [row["west"], row["south"], row["east"], row["north"]]
