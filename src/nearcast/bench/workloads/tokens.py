"""Which words does a message contain? Token ranks by a Zipf-like law, distinct in each message.

Ragged rows are two flat arrays, `rows` (ascending) and `tokens`; a token is its rank, 0 the most
frequent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from nearcast.bench.workloads.streams import Stream, random_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nearcast.bench.workloads.groups import Group
    from nearcast.bench.workloads.presets import Preset, Topics


@dataclass(frozen=True, slots=True)
class Ragged:
    """Rows of tokens, flat: token i belongs to row `rows[i]`, and rows ascend."""

    rows: NDArray[np.int64]
    tokens: NDArray[np.int64]
    row_count: int

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of tokens in each row."""
        return np.bincount(self.rows, minlength=self.row_count)

    def places(self) -> NDArray[np.int64]:
        """Return the place of each token in its row, from 0."""
        ends = np.cumsum(self.lengths())
        return np.arange(len(self.rows)) - (ends - self.lengths())[self.rows]

    def join(self, other: Ragged) -> Ragged:
        """Return rows with the tokens of both, the other's behind."""
        rows = np.concatenate([self.rows, other.rows])
        tokens = np.concatenate([self.tokens, other.tokens])
        order = np.argsort(rows, kind="stable")
        return Ragged(rows[order], tokens[order], self.row_count)

    def first_occurrences(self) -> Ragged:
        """Return the same rows without repetitions, otherwise in the same order."""
        vocabulary = int(self.tokens.max(initial=0)) + 1
        _, first = np.unique(self.rows * vocabulary + self.tokens, return_index=True)
        first.sort()
        return Ragged(self.rows[first], self.tokens[first], self.row_count)

    def cut(self, lengths: NDArray[np.int64]) -> Ragged:
        """Return the same rows with at most `lengths[row]` tokens each."""
        wanted = self.places() < lengths[self.rows]
        return Ragged(self.rows[wanted], self.tokens[wanted], self.row_count)

    def shuffled(self, rng: np.random.Generator) -> Ragged:
        """Return the same rows with their tokens in random order."""
        order = np.argsort(self.rows + rng.random(len(self.rows)))
        return Ragged(self.rows[order], self.tokens[order], self.row_count)

    def select(self, wanted: slice) -> Ragged:
        """Return rows `wanted.start` to `wanted.stop`, renumbered from 0."""
        low, high = np.searchsorted(self.rows, [wanted.start, wanted.stop])
        rows = self.rows[low:high] - wanted.start
        return Ragged(rows, self.tokens[low:high], wanted.stop - wanted.start)


@dataclass(frozen=True, slots=True)
class TopicLaw:
    """Draws tokens of topics; a few topics are popular, and so are a few tokens of each."""

    tokens: NDArray[np.int64]
    cumulative_topics: NDArray[np.float64]
    cumulative_in_topic: NDArray[np.float64]
    share: float

    def draw_topics(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        """Return `count` topics."""
        return _draw_ranks(rng, self.cumulative_topics, count)

    def overlay(
        self, rng: np.random.Generator, topics: NDArray[np.int64], tokens: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return `tokens` with the topics' share of them replaced by tokens of `topics`."""
        places = _draw_ranks(rng, self.cumulative_in_topic, len(tokens))
        is_topical = rng.random(len(tokens)) < self.share
        return np.where(is_topical, self.tokens[topics, places], tokens)


@dataclass(frozen=True, slots=True)
class TokenLaw:
    """How the tokens of a preset are distributed, for one seed."""

    vocabulary: int
    cumulative: NDArray[np.float64]
    topics: TopicLaw | None


class RowSampler:
    """Draws tokens for rows; a row keeps its topic however often it draws."""

    def __init__(self, rng: np.random.Generator, law: TokenLaw, row_count: int) -> None:
        self._rng = rng
        self._law = law
        self._row_count = row_count
        self._topic_of_row = law.topics.draw_topics(rng, row_count) if law.topics else None

    def draw(self, repeats: NDArray[np.int64]) -> Ragged:
        """Draw `repeats[row]` tokens for each row."""
        rows = np.repeat(np.arange(self._row_count), repeats)
        tokens = _draw_ranks(self._rng, self._law.cumulative, len(rows))
        if self._law.topics is not None and self._topic_of_row is not None:
            tokens = self._law.topics.overlay(self._rng, self._topic_of_row[rows], tokens)
        return Ragged(rows, tokens, self._row_count)

    def without_repetitions(self, drawn: Ragged) -> Ragged:
        """Make rows sets; rows come out ascending, their tokens in random order."""
        keys = np.unique(drawn.rows * self._law.vocabulary + drawn.tokens)
        rows, tokens = np.divmod(keys, self._law.vocabulary)
        return Ragged(rows, tokens, drawn.row_count).shuffled(self._rng)


@lru_cache(maxsize=8)
def token_law(preset: Preset, seed: int) -> TokenLaw:
    """Return the law of a preset; its topics belong to the seed."""
    cumulative = _cumulative_law(preset.vocabulary, preset.rank_shift)
    topics = None if preset.topics is None else _topic_law(preset.topics, cumulative, seed)
    return TokenLaw(preset.vocabulary, cumulative, topics)


def draw_token_sets(
    rng: np.random.Generator, preset: Preset, seed: int, group: Group, row_count: int
) -> Ragged:
    """Draw the distinct tokens of `row_count` messages, in random order in each."""
    sampler = RowSampler(rng, token_law(preset, seed), row_count)
    if group.tokens is None:
        repeats = np.full(row_count, preset.draws_per_message)
        return sampler.without_repetitions(sampler.draw(repeats))
    low, high = group.tokens
    return _draw_exactly(sampler, rng.integers(low, high + 1, row_count))


def _draw_exactly(sampler: RowSampler, lengths: NDArray[np.int64]) -> Ragged:
    """Draw until each row has as many distinct tokens as asked; the first ones drawn stay."""
    drawn = sampler.draw(lengths)
    while True:
        drawn = drawn.first_occurrences()
        missing = np.maximum(lengths - drawn.lengths(), 0)
        if not missing.any():
            return drawn.cut(lengths)
        # Far more than missing: frequent tokens are taken already, and a round costs a sort.
        drawn = drawn.join(sampler.draw(np.where(missing > 0, 4 * missing + 16, 0)))


def _topic_law(topics: Topics, cumulative: NDArray[np.float64], seed: int) -> TopicLaw:
    """Fill the topics of a seed with tokens, by the law of the whole vocabulary."""
    rng = random_stream(seed, Stream.TOPICS)
    tokens = _draw_ranks(rng, cumulative, topics.count * topics.tokens_per_topic)
    return TopicLaw(
        tokens=tokens.reshape(topics.count, topics.tokens_per_topic),
        cumulative_topics=_cumulative_law(topics.count, 0),
        cumulative_in_topic=_cumulative_law(topics.tokens_per_topic, 0),
        share=topics.share,
    )


def _draw_ranks(
    rng: np.random.Generator, cumulative: NDArray[np.float64], count: int
) -> NDArray[np.int64]:
    """Draw ranks, from 0, by their cumulative probabilities."""
    return np.searchsorted(cumulative, rng.random(count), side="right")


@lru_cache(maxsize=8)
def _cumulative_law(size: int, rank_shift: int) -> NDArray[np.float64]:
    """Return the cumulative probabilities of ranks 1 to `size` under 1 / (rank + shift)."""
    weights = 1.0 / (np.arange(1, size + 1) + rank_shift)
    cumulative = np.cumsum(weights / weights.sum())
    cumulative[-1] = 1.0
    return cumulative
