"""The generator's presets, as data.

A preset fixes everything about a workload except its size and its seed: the token law, the length
of a message, how points cluster and how large the areas of subscriptions are. `tweets` and `places`
resemble the TWEETS and GN data sets of [AP §5.1.1]; `zipf` and `topics` are stress tests.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

WORLD = (-180.0, -90.0, 180.0, 90.0)
"""The space of every preset: west, south, east, north in degrees."""


@dataclass(frozen=True, slots=True)
class Topics:
    """Tokens that occur together: a message takes a share of its tokens from one topic.

    Topics have Zipf weights, the tokens of a topic too.
    """

    count: int
    tokens_per_topic: int
    share: float


@dataclass(frozen=True, slots=True)
class Clusters:
    """Points gather in Gaussian clusters with Zipf weights; a few lie anywhere.

    Deviations are shares of the side of the space, so a cluster is as wide in the space as high.
    """

    count: int = 2_000
    deviation: tuple[float, float] = (0.002, 0.02)
    uniform_share: float = 0.1


@dataclass(frozen=True, slots=True)
class Preset:
    """One workload, up to size and seed.

    `draws_per_message` tokens are drawn for a message of its own length, by the law
    1 / (rank + `rank_shift`), and repetitions dropped; `area_share` is the range of a
    subscription's area as a share of the space.
    """

    name: str
    vocabulary: int
    rank_shift: int
    draws_per_message: int
    area_share: tuple[float, float]
    clusters: Clusters = field(default_factory=Clusters)
    topics: Topics | None = None


_TWEETS = Preset(
    name="tweets",
    vocabulary=1_000_000,
    rank_shift=20,
    draws_per_message=9,
    area_share=(1e-4, 1e-2),
)

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        preset.name: preset
        for preset in (
            _TWEETS,
            Preset(
                name="places",
                vocabulary=200_000,
                rank_shift=20,
                draws_per_message=7,
                area_share=(1e-8, 1e-4),
            ),
            replace(_TWEETS, name="zipf", rank_shift=0),
            replace(
                _TWEETS,
                name="topics",
                topics=Topics(count=5_000, tokens_per_topic=40, share=0.4),
            ),
        )
    }
)


def find_preset(name: str) -> Preset:
    """Return the preset called `name`.

    Raises
    ------
    ValueError
        If there is none; the message lists those that exist.

    Examples
    --------
    >>> find_preset("places").vocabulary
    200000
    """
    try:
        return PRESETS[name]
    except KeyError:
        msg = f"no preset is called {name!r}; there are {', '.join(PRESETS)}"
        raise ValueError(msg) from None
