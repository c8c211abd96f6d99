"""`nearcast bench paper` and `nearcast bench growth`: the papers' experiments, and how it grows."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.paper.kinds.study import Lab
from nearcast.bench.paper.registry import GROWTH, find_experiments
from nearcast.bench.paper.running import Done, identity_of, run_experiments, verdict_of
from nearcast.bench.paper.scales import GROWTH_SCALE, SCALES
from nearcast.bench.paper.sources import Shelf
from nearcast.cli.option_types import at_least_one, at_least_zero

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from nearcast.bench.paper.experiment import Experiment

PUBLIC_SCALES = tuple(name for name in SCALES if name != "tiny")
MOST_TEXTS = {"tiny": 2_000, "small": 100_000, "medium": 500_000, "full": None}
"""Real texts that are read, by scale: to analyse a million takes longer than a small run."""
RESULTS = Path("results")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `paper` and `growth`."""
    paper = commands.add_parser(
        "paper",
        help="the experiments of all four papers, figure by figure",
        description="Run the experiments of the papers and say of each claim whether it holds. A "
        "run that was stopped goes on where it was. `nearcast bench report` shows the results.",
    )
    add = paper.add_argument
    add("--figure", nargs="+", metavar="ID", help="as P0-7 or P4-T5, or a paper's key (P2)")
    add("--scale", default="small", choices=SCALES, metavar="|".join(PUBLIC_SCALES))
    add("--list", action="store_true", help="only list the experiments and their claims")
    _add_options(paper)
    paper.set_defaults(run=run_paper)
    growth = commands.add_parser(
        "growth",
        help="time, memory and build from ten thousand subscriptions to millions",
        description="Measure how matching, top lists and partitions grow with the number of "
        "subscriptions, the words of a message, the window, k and the number of partitions.",
    )
    add = growth.add_argument
    add("--figure", nargs="+", metavar="ID", help="as G-1 (default: all)")
    add("--most", type=at_least_one, default=5_000_000, metavar="N", help="subscriptions")
    _add_options(growth)
    growth.set_defaults(run=run_growth)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--data", type=Path, metavar="DIR", help="folder of real texts (or NEARCAST_DATA)")
    add("--prepared", type=Path, metavar="DIR", help="what `nearcast spark prepare` wrote")
    add("--out", type=Path, metavar="FILE", help="lines of JSON (default: results/NAME.jsonl)")
    add("--seed", type=at_least_zero, default=1, metavar="S")


def run_paper(args: argparse.Namespace) -> int:
    """Run experiments of the papers."""
    chosen = find_experiments(args.figure)
    if args.list:
        for experiment in chosen:
            print(f"{experiment.name:<6} {experiment.title}: {experiment.claim}")
        return 0
    shelf = Shelf(args.data, args.prepared, args.seed, MOST_TEXTS[args.scale])
    out = args.out or RESULTS / f"paper-{args.scale}.jsonl"
    return _run(chosen, Lab(SCALES[args.scale], shelf, lambda _: None), out)


def run_growth(args: argparse.Namespace) -> int:
    """Run our own curves."""
    chosen = find_experiments(args.figure or [GROWTH])
    shelf = Shelf(args.data, args.prepared, args.seed)
    out = args.out or RESULTS / "growth.jsonl"
    return _run(chosen, Lab(GROWTH_SCALE, shelf, lambda _: None, args.most), out)


def _run(experiments: Sequence[Experiment], lab: Lab, out: Path) -> int:
    told = _Told(experiments, lab, Done(out))
    try:
        results = run_experiments(experiments, replace(lab, step=told.step), told.done)
        for experiment, outcome, is_old in results:
            verdict = verdict_of(experiment, outcome)
            told.end(experiment, f"{verdict.word}", is_old=is_old)
    except WrongAnswerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"results are in {out}", file=sys.stderr)
    return 0


class _Told:
    """Says on stderr what was done and how much time is left; on a terminal also each step."""

    def __init__(self, experiments: Sequence[Experiment], lab: Lab, done: Done) -> None:
        self.done = done
        self._count = len(experiments)
        self._ended = 0
        waiting = [e for e in experiments if done.find(e, identity_of(e, lab)) is None]
        self._waiting = sum(map(_weight, waiting))
        self._run = 0
        self._start = monotonic()
        self._is_terminal = sys.stderr.isatty()

    def step(self, description: str) -> None:
        """Show what begins."""
        if self._is_terminal:
            print(f"\r\033[K  {description}"[:110], end="", file=sys.stderr, flush=True)

    def end(self, experiment: Experiment, verdict: str, *, is_old: bool) -> None:
        """Show what has ended."""
        self._ended += 1
        self._run += 0 if is_old else _weight(experiment)
        when = "known" if is_old else f"{_duration(self._left())} left"
        clear = "\r\033[K" if self._is_terminal else ""
        line = f"{self._ended} of {self._count}: {experiment.name} {experiment.title}: {verdict}"
        print(f"{clear}{line} ({when})", file=sys.stderr, flush=True)

    def _left(self) -> float:
        """Return the seconds left, if what is to come takes as long as what was."""
        spent = monotonic() - self._start
        return spent / max(self._run, 1) * max(self._waiting - self._run, 0)


def _weight(experiment: Experiment) -> int:
    """Return how much there is to measure: points times contenders."""
    return sum(len(study.values) * len(study.contenders) for study in experiment.studies())


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
