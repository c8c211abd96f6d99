"""Where do the papers' data sets come from here?

Real texts where a folder has them, the generator otherwise, or tables that `nearcast spark prepare`
wrote. What the papers call TWEETS, GN, USA, CARS, AIS and YELP keeps these names; the facts of a
result say what stood in. CARS and AIS are places of vehicles with words from newsgroups in the
paper, and always generated here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from nearcast.bench.workloads.expressions import ExpressionSource
from nearcast.bench.workloads.moving.files import TOWN, find_network
from nearcast.bench.workloads.prepared import PreparedSource, open_prepared
from nearcast.bench.workloads.presets import Preset, find_preset
from nearcast.bench.workloads.real import FOLDER_VARIABLE, RealSource, open_source
from nearcast.bench.workloads.scenario import PresetSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from nearcast.bench.paper.experiment import Matching
    from nearcast.bench.workloads.groups import Group
    from nearcast.bench.workloads.moving.network import Network
    from nearcast.bench.workloads.scenario import Source

_TWEETS, _PLACES = find_preset("tweets"), find_preset("places")


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set of the papers: a file of real texts, if one is like it, and a preset."""

    file: str | None
    preset: Preset


DATA: Mapping[str, DataSet] = MappingProxyType(
    {
        "TWEETS": DataSet("tweets_geo", _TWEETS),
        "GN": DataSet("geonames_cities500", _PLACES),
        # Words of USA are spread evenly [Rt Table 1]: the first is twice as frequent as the last.
        "USA": DataSet("poi_wof_us", replace(_PLACES, name="usa", rank_shift=200_000)),
        "CARS": DataSet(
            None, replace(_TWEETS, name="cars", vocabulary=81_000, draws_per_message=32)
        ),
        "AIS": DataSet(None, replace(_TWEETS, name="ais", vocabulary=81_000, draws_per_message=56)),
        "YELP": DataSet(
            "airbnb_descriptions",
            replace(_TWEETS, name="yelp", vocabulary=82_000, draws_per_message=75),
        ),
    }
)
ROADS = MappingProxyType({"ODB": "oldenburg", "SAN": "sanjoaquin"})
MOST_TABLES = 64


@dataclass(frozen=True, slots=True)
class WithKeywords:
    """A source whose subscriptions have another number of keywords."""

    source: Source
    keywords: tuple[int, int]

    @property
    def name(self) -> str:
        """Name of the source."""
        return self.source.name

    @property
    def seed(self) -> int:
        """Seed of the source."""
        return self.source.seed

    def messages(self, count: int, group: Group, *, first: int = 0) -> pa.Table:
        """Return messages `first` to `first + count`."""
        return self.source.messages(count, group, first=first)

    def subscriptions(
        self, count: int, keywords: tuple[int, int] | None = None, *, first: int = 0
    ) -> pa.Table:
        """Return subscriptions `first` to `first + count`."""
        return self.source.subscriptions(count, keywords or self.keywords, first=first)


@dataclass(slots=True)
class Shelf:
    """Opens data sets and keeps them open: to read texts takes longer than to measure."""

    folder: Path | None = None
    prepared: Path | None = None
    seed: int = 1
    most_texts: int | None = None
    _open: dict[str, Source] = field(default_factory=dict)
    _roads: dict[str, tuple[str, Network]] = field(default_factory=dict)
    _messages: dict[tuple[str, Group, int, int], pa.Table] = field(default_factory=dict)
    _subscriptions: dict[tuple[object, ...], pa.Table] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take the folder from the environment if none is given."""
        named = os.environ.get(FOLDER_VARIABLE)
        if self.folder is None and named:
            self.folder = Path(named)

    def identity(self) -> dict[str, object]:
        """Return what results depend on."""
        prepared = None if self.prepared is None else str(self.prepared)
        return {"real": self.folder is not None, "prepared": prepared, "seed": self.seed}

    def source(self, name: str, area: float | None = None) -> Source:
        """Return a data set; with an area, all subscriptions have that share of the space."""
        if name not in self._open:
            self._open[name] = self._find(name)
        found = self._open[name]
        if area is None:
            return found
        if isinstance(found, PresetSource):
            return PresetSource(replace(found.preset, area_share=(area, area)), found.seed)
        if isinstance(found, PreparedSource):
            return found.with_areas((area, area))
        if isinstance(found, RealSource):
            return replace(found, area_share=(area, area))
        return found

    def for_matching(self, setup: Matching) -> Source:
        """Return the source of a setup, with its keywords and areas."""
        source = self.source(setup.data, setup.area)
        if setup.expressions:
            return WithKeywords(ExpressionSource(source), setup.keywords)
        return source if setup.keywords == (1, 5) else WithKeywords(source, setup.keywords)

    def subscriptions(self, setup: Matching) -> pa.Table:
        """Return the subscriptions of a setup; the last table is kept, for panels share it."""
        key = (setup.data, setup.area, setup.keywords, setup.expressions, setup.subscriptions)
        if key not in self._subscriptions:
            self._subscriptions.clear()
            self._subscriptions[key] = self.for_matching(setup).subscriptions(setup.subscriptions)
        return self._subscriptions[key]

    def zipf_pool(self, name: str) -> Source:
        """Return a source whose keywords follow Zipf's law; always generated [Skype §8.1.3]."""
        preset = replace(DATA[name].preset, rank_shift=0, topics=None)
        return PresetSource(preset, self.seed)

    def roads(self, name: str) -> tuple[str, Network]:
        """Return a network and what it is called; the made-up town where there is no file."""
        if name not in self._roads:
            self._roads[name] = self._find_roads(name)
        return self._roads[name]

    def messages(self, data: str, group: Group, count: int, first: int = 0) -> pa.Table:
        """Return messages of a data set; the last tables are kept, for they are asked for again."""
        key = (data, group, count, first)
        if key not in self._messages:
            while len(self._messages) >= MOST_TABLES:
                self._messages.pop(next(iter(self._messages)))
            self._messages[key] = self.source(data).messages(count, group, first=first)
        return self._messages[key]

    def _find_roads(self, name: str) -> tuple[str, Network]:
        wanted = ROADS[name]
        if self.folder is not None and (self.folder / f"road_{wanted}_nodes.parquet").is_file():
            return wanted, find_network(wanted, self.folder, self.seed)
        return TOWN, find_network(TOWN, None, self.seed + list(ROADS).index(name))

    def _find(self, name: str) -> Source:
        if self.prepared is not None:
            return open_prepared(self.prepared, self.seed)
        data = DATA[name]
        if (
            data.file is not None
            and self.folder is not None
            and (self.folder / f"{data.file}.parquet").is_file()
        ):
            return open_source(data.file, self.folder, self.seed, most=self.most_texts)
        return PresetSource(data.preset, self.seed)
