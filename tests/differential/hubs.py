"""Hubs against the reference: every change of every event, rejected events, and what is held."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from differential.cases import Case, Difference, difference
from differential.reference import FastHub
from oracle.fields import OracleRejects

import nearcast as nc

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMES = ("event", "subscription", "message", "change", "reason")
_SAME_SCORE = 6e-10  # scores are compared in units of 1e-9, and may be given in these
Truth = tuple[list[dict[str, Any]], list[int]]


def expect(case: Case) -> list[Truth]:
    """Return changes and rejected events of each step."""
    hub = FastHub(**case["settings"]["hub"])
    truths: list[Truth] = []
    for step in case["steps"]:
        changes: list[dict[str, Any]] = []
        rejected: list[int] = []
        if step["do"] == "weights":
            changes = hub.reweigh(1, step["weights"])
        elif step["do"] == "apply":
            for number, event in enumerate(step["rows"], start=1):
                try:
                    changes += hub.apply(number, event)
                except OracleRejects:  # noqa: PERF203 — one bad event spares the others
                    rejected.append(number)
        truths.append((sorted(changes, key=_key), rejected))
    return truths


def make_hub(case: Case, settings: dict[str, Any]) -> nc.Hub:
    """Return a hub with the settings of the case, and these of its kinds."""
    own = case["settings"]["hub"]
    sizes = {
        name: own[f"window_{name}"] for name in ("count", "seconds") if f"window_{name}" in own
    }
    weights = own["weights"]
    return nc.Hub(
        window=nc.Window(**sizes) if sizes else None,
        weights=weights and nc.Weights(weights["documents"], weights["df"]),
        space=own["space"],
        **settings,
    )


def run(case: Case, expected: list[Truth], settings: dict[str, Any]) -> None:
    """Take all steps with these kinds; raise `Difference`."""
    hub = make_hub(case, settings)
    with tempfile.TemporaryDirectory() as folder:
        for number, (step, (truth, refused)) in enumerate(
            zip(case["steps"], expected, strict=True)
        ):
            where = f"{settings} step {number}"
            rejected: list[int] = []
            changes: list[dict[str, Any]] = []
            if step["do"] == "save":
                path = Path(folder) / f"hub{number}"
                hub.save(path)
                hub = nc.Hub.open(path, verify=step["verify"])
            elif step["do"] == "weights":
                given = step["weights"]
                weights = given and nc.Weights(given["documents"], given["df"])
                changes = [asdict(change) for change in hub.set_weights(weights)]
            elif step["do"] == "check":
                hub.check_invariants()
            else:
                changes = hub.apply(step["rows"], on_error=_noted_in(rejected)).to_pylist()
            if rejected != refused:
                raise difference(f"{where}, rejected", rejected, refused)
            _compare(where, changes, truth)
        hub.check_invariants()


def _noted_in(rejected: list[int]) -> Callable[[int, nc.NearcastError], None]:
    return lambda number, _: rejected.append(number)


def _key(change: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(change[name] for name in _NAMES)


def _compare(where: str, changes: list[dict[str, Any]], truth: list[dict[str, Any]]) -> None:
    changes.sort(key=_key)
    found, expected = [_key(change) for change in changes], [_key(change) for change in truth]
    if found != expected:
        raise difference(where, found, expected)
    for one, other in zip(changes, truth, strict=True):
        given, right = one.get("score"), other["score"]
        if (given is None) != (right is None) or (
            given is not None and abs(given - right) > _SAME_SCORE
        ):
            raise Difference(f"{where}: {one}, expected {other}")
