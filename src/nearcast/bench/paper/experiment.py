"""What is an experiment? Panels of a figure, each a measure of a study, and what the paper claims.

Sizes in an entry are those of the paper; `scales` makes them fit a machine and a time. Studies that
several panels share are run once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from nearcast.bench.paper.claims import Claim

Extent: TypeAlias = Literal["point", "range"]
PARAMETER = "parameter"
"""The axis of a study that varies a parameter of its contenders, where their names have `{x}`."""

M, K = 1_000_000, 1_000


@dataclass(frozen=True, slots=True)
class Matching:
    """Subscriptions that match or rank, and messages of one kind."""

    data: str = "TWEETS"
    words: int | None = None
    """Distinct words in a message; None leaves it to the data."""
    extent: Extent = "point"
    subscriptions: int = 10 * M
    keywords: tuple[int, int] = (1, 5)
    area: float | None = None
    """Share of the space that a subscription's area has; None leaves it to the data."""
    expressions: bool = False
    """Keywords are joined by AND and OR."""
    alpha: float | None = None
    threshold: float = 0.6
    built: float = 1.0
    """Share of the subscriptions that are there before the others are inserted one by one."""
    mixed: bool = False
    """Also 80 % messages, 10 % inserts, 10 % deletes."""


@dataclass(frozen=True, slots=True)
class Moving:
    """Live subscriptions that move on roads among live messages; [AP Table 3] has the defaults."""

    data: str = "TWEETS-ODB"
    objects: int = M
    messages: int = M
    area: float = 1e-4
    mobility: float = 0.2
    speed: float = 1.0
    """As a multiple of the generator's medium."""


@dataclass(frozen=True, slots=True)
class Safety:
    """Subscriptions that report every step, or only when they leave a safe region."""

    data: str = "TWEETS-ODB"
    objects: int = 10 * K
    messages: int = M
    arrivals: int = 10 * K
    """Messages that come in a step."""


@dataclass(frozen=True, slots=True)
class Tops:
    """Top lists over a full window; [Skype §8.1] has the defaults."""

    data: str = "TWEETS"
    subscriptions: int = M
    window: int = M
    k: int = 20
    keywords: tuple[int, int] = (1, 5)
    law: Literal["messages", "zipf"] = "messages"


@dataclass(frozen=True, slots=True)
class Timed:
    """Top lists over a window of time: events of a hub, messages at irregular times."""

    data: str = "TWEETS"
    subscriptions: int = M
    window: int = M
    """Messages that live at a time, on average."""
    k: int = 20


@dataclass(frozen=True, slots=True)
class Parted:
    """Top lists in partitions, each run by itself; [Skype §8.2] has the defaults."""

    data: str = "TWEETS"
    subscriptions: int = 5 * M
    window: int = M
    k: int = 20
    partitions: int = 32
    first_level: int | None = None
    """Of hybrids: into how many parts the first level cuts."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Subscriptions that match, in partitions, each run by itself."""

    data: str = "TWEETS"
    subscriptions: int = M
    partitions: int = 8


Setup: TypeAlias = Matching | Moving | Safety | Tops | Timed | Parted | Spread


@dataclass(frozen=True, slots=True)
class Study:
    """One workload along an axis: a field of the setup, or a parameter of the contenders."""

    setup: Setup
    axis: str
    values: tuple[float | str, ...]
    contenders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """One panel: what of a study is shown."""

    title: str
    measure: str
    study: Study


@dataclass(frozen=True, slots=True)
class Experiment:
    """A figure or table of a paper."""

    paper: str
    figure: str
    """As `Fig. 7` or `Table 1`."""
    title: str
    claim: str
    """What the paper says, in one sentence."""
    plots: tuple[Plot, ...]
    claims: tuple[Claim, ...]
    """What must be seen in the numbers for the sentence to hold."""
    because: str = ""
    """Why it does not hold here, where that is known."""
    lost: bool = False
    """The figure is not in the text at hand: this is what the text says of it."""
    name: str = field(init=False)
    """As `P0-7` or `P1-T1`: what the command line takes."""

    def __post_init__(self) -> None:
        """Derive the name."""
        kind, _, number = self.figure.partition(" ")
        mark = "T" if kind.startswith("Table") else ""
        object.__setattr__(self, "name", f"{self.paper}-{mark}{number}")

    def studies(self) -> tuple[Study, ...]:
        """Return the studies that the panels need, each once."""
        return tuple(dict.fromkeys(plot.study for plot in self.plots))


MEASURES = {
    "match_us": "µs of CPU a message",
    "candidates": "candidates a message",
    "matches": "matches a message",
    "build_s": "seconds to build",
    "bytes": "bytes a subscription",
    "index_bytes": "bytes of the index a subscription",
    "p99_us": "µs, 99 of 100 messages",
    "event_us": "µs of CPU a message",
    "insert_us": "µs an insert",
    "operations_per_s": "operations a second",
    "publish_us": "µs of CPU a kept message",
    "pass_us": "µs of CPU a message",
    "keep_us": "µs of CPU to keep a message",
    "move_us": "µs of CPU a move",
    "step_ms": "ms of CPU a step of all",
    "step_reports": "messages sent a step",
    "arrival_us": "µs an arrival",
    "expiry_us": "µs an expiry",
    "step_us": "µs of CPU a message",
    "buffer": "messages held a subscription",
    "messages_per_s": "messages a second",
    "communication": "partitions that see a message",
    "replication": "copies of a subscription",
}
"""What a panel can show, with the title of its axis."""
BIGGER_IS_BETTER = frozenset({"operations_per_s", "messages_per_s"})
AXES = {
    "words": "words in a message",
    "subscriptions": "subscriptions",
    "keywords": "keywords of a subscription",
    "area": "area of a subscription, share of the space",
    "alpha": "α",
    "threshold": "θ",
    "data": "",
    "built": "share built before the inserts",
    "objects": "subscriptions that move",
    "mobility": "share that moves in a step",
    "speed": "speed, times medium",
    "arrivals": "messages that come in a step",
    "window": "messages in the window",
    "k": "k",
    "partitions": "partitions",
    "first_level": "parts of the first level",
    "law": "",
}
