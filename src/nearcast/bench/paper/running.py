"""Runs experiments one after the other; a run that was stopped goes on where it was.

Results are lines of a file, one for each experiment, written when it ends. A line counts as done if
it has the same settings: the experiment's definition, the scale, the data and the seed.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from time import perf_counter
from typing import TYPE_CHECKING

from nearcast.bench.paper.claims import judge
from nearcast.bench.paper.experiment import (
    AXES,
    MEASURES,
    PARAMETER,
    Matching,
    Moving,
    Parted,
    Safety,
    Spread,
    Timed,
    Tops,
)
from nearcast.bench.paper.kinds.matching import run_matching
from nearcast.bench.paper.kinds.moving import run_moving
from nearcast.bench.paper.kinds.parted import run_parted
from nearcast.bench.paper.kinds.safety import run_safety
from nearcast.bench.paper.kinds.spread import run_spread
from nearcast.bench.paper.kinds.timed import run_timed
from nearcast.bench.paper.kinds.tops import run_tops
from nearcast.bench.paper.outcome import FORMAT, Outcome, round4
from nearcast.bench.plots import Line, Panel
from nearcast.bench.provenance import find_provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from nearcast.bench.paper.claims import Verdict
    from nearcast.bench.paper.experiment import Experiment, Plot, Study
    from nearcast.bench.paper.kinds.study import Found, Lab

RUNNERS: Mapping[type, Callable[[Study, Lab], Found]] = {
    Matching: run_matching,
    Moving: run_moving,
    Safety: run_safety,
    Tops: run_tops,
    Timed: run_timed,
    Parted: run_parted,
    Spread: run_spread,
}


@dataclass(slots=True)
class Done:
    """What a file of results has."""

    path: Path | None
    outcomes: dict[tuple[str, str], Outcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the file, if there is one; a line that was cut off does not count."""
        if self.path is not None and self.path.is_file():
            for outcome in read_outcomes(self.path):
                self.outcomes[outcome.name, outcome.identity] = outcome

    def find(self, experiment: Experiment, identity: str) -> Outcome | None:
        """Return the result of an experiment with these settings."""
        return self.outcomes.get((experiment.name, identity))

    def add(self, outcome: Outcome) -> None:
        """Write a result behind the others."""
        self.outcomes[outcome.name, outcome.identity] = outcome
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            is_cut = self.path.is_file() and not self.path.read_bytes().endswith(b"\n")
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" * is_cut + outcome.to_line() + "\n")


def read_outcomes(path: Path) -> Iterator[Outcome]:
    """Return the results in a file; what is not a whole line of this format is left out."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return (outcome for outcome in map(_read_line, lines) if outcome is not None)


def _read_line(line: str) -> Outcome | None:
    try:
        return Outcome.from_line(line)
    except (ValueError, KeyError, TypeError):
        return None


def identity_of(experiment: Experiment, lab: Lab) -> str:
    """Return what tells results with other settings apart."""
    settings = {
        "format": FORMAT,
        "plots": [asdict(plot) for plot in experiment.plots],
        "scale": asdict(lab.scale),
        "largest": lab.largest,
        **lab.shelf.identity(),
    }
    text = json.dumps(settings, sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:16]


def run_experiments(
    experiments: Sequence[Experiment], lab: Lab, done: Done
) -> Iterator[tuple[Experiment, Outcome, bool]]:
    """Yield each experiment with its result, and whether it was there already."""
    memory: dict[Study, Found] = {}
    for experiment in experiments:
        identity = identity_of(experiment, lab)
        found = done.find(experiment, identity)
        if found is not None:
            yield experiment, found, True
            continue
        outcome = run_experiment(experiment, lab, memory)
        done.add(outcome)
        yield experiment, outcome, False


def run_experiment(
    experiment: Experiment, lab: Lab, memory: dict[Study, Found] | None = None
) -> Outcome:
    """Measure an experiment; studies that `memory` has are not run again."""
    known = {} if memory is None else memory
    start = perf_counter()
    for study in experiment.studies():
        if study not in known:
            known[study] = RUNNERS[type(study.setup)](study, lab)
    panels = tuple(_panel(plot, known[plot.study]) for plot in experiment.plots)
    return Outcome(
        name=experiment.name,
        scale=lab.scale.name,
        identity=identity_of(experiment, lab),
        seconds=round4(perf_counter() - start),
        facts={"studies": [known[study].facts for study in experiment.studies()]},
        provenance=asdict(find_provenance()),
        panels=panels,
    )


def verdict_of(experiment: Experiment, outcome: Outcome) -> Verdict:
    """Return what the numbers say of the paper's claim."""
    return judge(experiment.claims, outcome.panels, experiment.because)


def _panel(plot: Plot, found: Found) -> Panel:
    names = list(dict.fromkeys(name for point in found.points for name in point))
    lines = tuple(
        Line(name, tuple(point.get(name, {}).get(plot.measure) for point in found.points))
        for name in names
    )
    return Panel(plot.title, axis_title(plot.study), MEASURES[plot.measure], found.xs, lines)


def axis_title(study: Study) -> str:
    """Return what is along the axis of a study; of a parameter its name."""
    if study.axis != PARAMETER:
        return AXES[study.axis]
    template = next(name for name in study.contenders if "{x}" in name)
    return next(part for part in template.split(":") if "{x}" in part).partition("=")[0]
