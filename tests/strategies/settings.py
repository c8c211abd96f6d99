"""Windows and weights of a hub."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import nearcast as nc

Json = dict[str, Any]
Strategy = st.SearchStrategy

windows: Strategy[Json] = st.one_of(
    st.just({}),
    st.builds(lambda n: {"window_count": n}, st.integers(1, 4)),
    st.builds(lambda t: {"window_seconds": t}, st.sampled_from((1, 2, 5))),
)
weights: Strategy[Json | None] = st.one_of(
    st.none(),
    st.builds(
        lambda df: {"documents": 9, "df": df},
        st.dictionaries(st.sampled_from(("a", "b", "c", "coffee", "fire")), st.integers(0, 9)),
    ),
)


def window_of(drawn: Json) -> nc.Window | None:
    """Return drawn settings as a hub takes them."""
    sizes = {name.removeprefix("window_"): size for name, size in drawn.items()}
    return nc.Window(**sizes) if sizes else None


def weights_of(drawn: Json | None) -> nc.Weights | None:
    """Return drawn weights as a hub takes them."""
    return None if drawn is None else nc.Weights(**drawn)


def analyzer_of(stop_words: tuple[str, ...]) -> nc.Analyzer:
    """Return an analyzer that drops these words."""
    return nc.Analyzer(stop_words=frozenset(stop_words))
