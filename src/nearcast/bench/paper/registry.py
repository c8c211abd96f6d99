"""All experiments, in the order of the papers, and our own behind them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from nearcast.bench.paper import growth, p0, p1, p2, p2_moving, p4, p4_parted
from nearcast.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nearcast.bench.paper.experiment import Experiment

PAPERS: Mapping[str, str] = MappingProxyType(
    {
        "P0": "[LFilter] A Cost-based Method for Location-Aware Publish/Subscribe Services",
        "P1": "[Rt] Efficient Filtering Algorithms for Location-Aware Publish/Subscribe",
        "P2": "[AP] AP-Tree: efficiently support location-aware Publish/Subscribe",
        "P4": "[Skype] Top-k Spatial-keyword Publish/Subscribe Over Sliding Window",
        "G": "How it grows: our own",
    }
)
GROWTH = "G"

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        experiment.name: experiment
        for part in (p0, p1, p2, p2_moving, p4, p4_parted, growth)
        for experiment in part.EXPERIMENTS
    }
)


def find_experiments(names: Sequence[str] | None) -> list[Experiment]:
    """Return experiments by name, a paper's by its key, all of the papers' without names.

    Raises
    ------
    InvalidParameterError
        If there is none of that name.

    Examples
    --------
    >>> [experiment.figure for experiment in find_experiments(["P0-7", "p1-t1"])]
    ['Fig. 7', 'Table 1']
    """
    if not names:
        return [each for each in EXPERIMENTS.values() if each.paper != GROWTH]
    found = []
    for name in names:
        wanted = name.upper()
        chosen = [e for e in EXPERIMENTS.values() if wanted in (e.name, e.paper)]
        if not chosen:
            what = "no experiment has this name"
            wanted = "one of " + ", ".join([*PAPERS, *EXPERIMENTS])
            raise InvalidParameterError(what, got=name, wanted=wanted)
        found += chosen
    return list(dict.fromkeys(found))
