"""Is the answer right? A sample of messages, compared with brute force in the same run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.bench.workloads.streams import Stream, random_stream
from nearcast.bench.workloads.tables import compact
from nearcast.errors import InternalError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nearcast.bench.contenders import Contender


class WrongAnswerError(InternalError):
    """A contender disagrees with brute force; none of its numbers mean anything."""


def sample_messages(messages: pa.Table, count: int, seed: int) -> pa.Table:
    """Return `count` of the messages, chosen at random, or all if there are fewer."""
    count = min(count, messages.num_rows)
    rows = random_stream(seed, Stream.HARNESS).choice(messages.num_rows, count, replace=False)
    return compact(messages.take(pa.array(np.sort(rows))), "tokens")


def sorted_pairs(contender: Contender, messages: pa.Table) -> NDArray[np.int64]:
    """Return rows (message, subscription, score) in order; a pair found twice is twice.

    The score is in units of 1e-9, and 0 where nothing is scored.
    """
    pairs = contender.match(messages)
    columns = [pairs.column(name).to_numpy() for name in ("message", "subscription")]
    is_scored = "score" in pairs.schema.names
    scores = pairs.column("score").to_numpy() if is_scored else np.zeros(pairs.num_rows)
    rows = np.column_stack([*columns, np.rint(scores * 1e9)]).astype(np.int64)
    return rows[np.lexsort((rows[:, 1], rows[:, 0]))]


def require_equal(name: str, found: NDArray[np.int64], truth: NDArray[np.int64]) -> None:
    """Compare sorted pairs and their scores.

    Raises
    ------
    WrongAnswerError
        If they differ; the message names the first message concerned.
    """
    if np.array_equal(found, truth):
        return
    row = _first_difference(found, truth)
    got = found[found[:, 0] == row, 1].tolist()
    wanted = truth[truth[:, 0] == row, 1].tolist()
    what = f"{name} gives a wrong answer for message {row} of the sample"
    if got == wanted:
        scores = [rows[rows[:, 0] == row, 2].tolist() for rows in (found, truth)]
        what += ": the scores differ"
        raise WrongAnswerError(what, got=scores[0], wanted=str(scores[1]))
    raise WrongAnswerError(what, got=got, wanted=_difference(got, wanted))


def require_equal_counts(counts: dict[str, int]) -> None:
    """Compare how many pairs the contenders found over all messages.

    Raises
    ------
    WrongAnswerError
        If they differ.
    """
    if len(set(counts.values())) > 1:
        what = "contenders disagree about the number of matches over all messages"
        raise WrongAnswerError(what, got=counts, wanted="the same number from each")


def _first_difference(found: NDArray[np.int64], truth: NDArray[np.int64]) -> int:
    """Return the message row where two sorted lists of pairs part."""
    shared = min(len(found), len(truth))
    differs = (found[:shared] != truth[:shared]).any(axis=1)
    if differs.any():
        place = int(differs.argmax())
        return int(min(found[place, 0], truth[place, 0]))
    return int((found if len(found) > shared else truth)[shared, 0])


def _difference(got: list[int], wanted: list[int]) -> str:
    missing = sorted(set(wanted) - set(got))
    surplus = sorted(set(got) - set(wanted))
    repeated = sorted({one for one in got if got.count(one) > 1})
    parts = {"missing": missing, "surplus": surplus, "repeated": repeated}
    named = [f"{part} {ids[:5]}" for part, ids in parts.items() if ids]
    return f"the {len(wanted)} of brute force; {', '.join(named)}"
