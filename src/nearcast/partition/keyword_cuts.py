"""Which words go together? Consecutive ranges of the words by frequency [Skype §7.3.3, Alg. 4].

A range W costs C(W) = N(W) · p(W): subscriptions that have a word of it, times the chance that a
message has one [Eq. 16]. The words are cut in two where both sides cost alike, and these again.

Departs from the paper: the number of partitions need not be a power of two; a side that becomes
more partitions may cost proportionally more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def cut_words(
    subscription_words: tuple[NDArray[np.int64], NDArray[np.int64]],
    message_words: tuple[NDArray[np.int64], NDArray[np.int64]],
    vocabulary: int,
    parts: int,
) -> NDArray[np.int32]:
    """Return the part of each word.

    Parameters
    ----------
    subscription_words, message_words
        Rows and words: the word of rank `words[i]` is in row `rows[i]`. Words are numbered by
        frequency.
    vocabulary
        How many words there are.
    parts
        Into how many parts they are cut.
    """
    homes = np.zeros(vocabulary, np.int32)
    _cut(_by_row(*subscription_words), _by_row(*message_words), (0, vocabulary), (0, parts), homes)
    return homes


def range_cost(
    subscription_words: tuple[NDArray[np.int64], NDArray[np.int64]],
    message_words: tuple[NDArray[np.int64], NDArray[np.int64]],
    homes: NDArray[np.int32],
    parts: int,
) -> NDArray[np.float64]:
    """Return C(W), up to the number of messages, of each part."""
    counts = [
        np.bincount(np.unique(np.stack([homes[words], rows]), axis=1)[0], minlength=parts)
        for rows, words in (subscription_words, message_words)
    ]
    return (counts[0] * counts[1]).astype(np.float64)


_Pairs = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


def _by_row(rows: NDArray[np.int64], words: NDArray[np.int64]) -> _Pairs:
    order = np.lexsort((words, rows))
    return rows[order], words[order]


def _cut(
    subscriptions: _Pairs,
    messages: _Pairs,
    words: tuple[int, int],
    parts: tuple[int, int],
    homes: NDArray[np.int32],
) -> None:
    low, high = words
    first, count = parts
    if count == 1 or high - low < 1:
        homes[low:high] = first
        return
    left = count // 2
    cut = _best_cut(subscriptions, messages, words, left / count)
    halves = ((low, cut), (cut, high)), ((first, left), (first + left, count - left))
    for side, share in zip(*halves, strict=True):
        _cut(_inside(subscriptions, side), _inside(messages, side), side, share, homes)


def _inside(pairs: _Pairs, words: tuple[int, int]) -> _Pairs:
    wanted = (pairs[1] >= words[0]) & (pairs[1] < words[1])
    return pairs[0][wanted], pairs[1][wanted]


def _best_cut(
    subscriptions: _Pairs, messages: _Pairs, words: tuple[int, int], left_share: float
) -> int:
    """Return where to cut so that both sides cost alike, for as many parts as they become."""
    low, high = words
    left = _rows_left_of(subscriptions, words) * _rows_left_of(messages, words)
    right = _rows_right_of(subscriptions, words) * _rows_right_of(messages, words)
    difference = np.abs(left / left_share - right / (1 - left_share))
    # Position i cuts before word low + i; both sides keep a word where there are two.
    inner = difference[1:-1] if high - low > 1 else difference[1:]
    # Of equal cuts the middle one: words that occur nowhere divide evenly.
    best = np.flatnonzero(inner == inner.min())
    return low + 1 + int(best[len(best) // 2])


def _rows_left_of(pairs: _Pairs, words: tuple[int, int]) -> NDArray[np.float64]:
    """Return for each cut how many rows have a word before it."""
    return _counts_at(pairs[1][_starts(pairs[0])], words, is_left=True)


def _rows_right_of(pairs: _Pairs, words: tuple[int, int]) -> NDArray[np.float64]:
    """Return for each cut how many rows have a word behind it."""
    starts = _starts(pairs[0])
    ends = np.append(starts[1:], len(pairs[0])) - 1 if len(starts) else starts
    return _counts_at(pairs[1][ends], words, is_left=False)


def _starts(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.flatnonzero(np.diff(rows, prepend=-1)) if len(rows) else np.zeros(0, np.int64)


def _counts_at(
    extremes: NDArray[np.int64], words: tuple[int, int], *, is_left: bool
) -> NDArray[np.float64]:
    low, high = words
    counts = np.bincount(extremes - low, minlength=high - low)
    before = np.concatenate([[0], np.cumsum(counts)]).astype(np.float64)
    return before if is_left else before[-1] - before
