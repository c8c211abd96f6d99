"""Broken copies of good input: reproducible from a seed, small changes first.

``NEARCAST_FUZZ_ROUNDS`` sets how many, ``NEARCAST_FUZZ_SEED`` which; both are in the message of a
test that fails.
"""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING, AnyStr, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Result = TypeVar("Result")

ROUNDS = int(os.environ.get("NEARCAST_FUZZ_ROUNDS", "2000"))
SEED = int(os.environ.get("NEARCAST_FUZZ_SEED", "20260101"))

# Python checks nothing of a regular expression or a product while it runs, so that a test can
# only see afterwards that it took too long. Far above what a slow machine needs.
MAX_SECONDS = 10.0


def mutations(seed: int, corpus: Sequence[AnyStr], rounds: int) -> Iterator[AnyStr]:
    """Yield the corpus, then `rounds` copies with one to eight changes each."""
    rng = random.Random(seed)
    yield from corpus
    for _ in range(rounds):
        item = rng.choice(corpus)
        for _ in range(min(8, 1 + int(rng.expovariate(0.7)))):
            item = rng.choice(_CHANGES)(rng, item, rng.choice(corpus))
        yield item[:5000]


def survives(
    attempt: Callable[[AnyStr], Result], item: AnyStr, allowed: type[Exception]
) -> Result | None:
    """Return what `attempt` makes of the item, or None if it refuses with an allowed error."""
    started = time.perf_counter()
    result = None
    try:
        result = attempt(item)
    except allowed as error:
        str(error).encode()  # must be printable
    except BaseException as error:
        msg = f"{item!r} gave {error!r}; NEARCAST_FUZZ_SEED={SEED} NEARCAST_FUZZ_ROUNDS={ROUNDS}"
        raise AssertionError(msg) from error
    seconds = time.perf_counter() - started
    assert seconds < MAX_SECONDS, f"{item!r} took {seconds:.1f} s; NEARCAST_FUZZ_SEED={SEED}"
    return result


_CHARS = "\"'()-[]{}:,. \t\n\\/&_0123456789eE+aAé\u0301ß漢\u2028\u00a0\ud800🎉\x00"
_WORDS = [
    " AND ", " OR ", " NOT ", " -", "((", "))", '""', "null", "true", "NaN", "-Infinity", "1e999",
    "-0", "9" * 500, "[" * 50, "]" * 50, "{", '{"type":', "\\ud800", "\\u0000", '"id":', '"at":',
    '"op":"move"', '"mode":"top"', '"k":1', "2026-02-30T00:00:00Z", "23:59:60",
]  # fmt: skip


def _alien(rng: random.Random, like: AnyStr) -> AnyStr:
    """Return a character or word that means something somewhere, or any byte."""
    if isinstance(like, bytes) and rng.random() < 0.2:
        return bytes([rng.randrange(256)])
    text = rng.choice(_CHARS) if rng.random() < 0.6 else rng.choice(_WORDS)
    return text.encode("utf-8", "surrogatepass") if isinstance(like, bytes) else text


def _cut(rng: random.Random, item: AnyStr) -> tuple[AnyStr, AnyStr, AnyStr]:
    """Cut into three; the middle is usually short."""
    start = rng.randrange(len(item) + 1)
    end = min(len(item), start + int(rng.expovariate(0.2)))
    return item[:start], item[start:end], item[end:]


def _insert(rng: random.Random, item: AnyStr, _other: AnyStr) -> AnyStr:
    before, middle, after = _cut(rng, item)
    return before + _alien(rng, item) + middle + after


def _replace(rng: random.Random, item: AnyStr, _other: AnyStr) -> AnyStr:
    before, _, after = _cut(rng, item)
    return before + _alien(rng, item) + after


def _remove(rng: random.Random, item: AnyStr, _other: AnyStr) -> AnyStr:
    before, _, after = _cut(rng, item)
    return before + after


def _repeat(rng: random.Random, item: AnyStr, _other: AnyStr) -> AnyStr:
    before, middle, after = _cut(rng, item)
    return before + middle * rng.choice((2, 3, 40)) + after


def _splice(rng: random.Random, item: AnyStr, other: AnyStr) -> AnyStr:
    return _cut(rng, item)[0] + _cut(rng, other)[2]


def _transplant(rng: random.Random, item: AnyStr, other: AnyStr) -> AnyStr:
    before, _, after = _cut(rng, item)
    return before + _cut(rng, other)[1] + after


_CHANGES = (_insert, _replace, _remove, _repeat, _splice, _transplant)
