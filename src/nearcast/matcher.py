"""Which subscriptions does each message match, or reach? Tables in, tables out, and single calls.

`Matcher` holds subscriptions of one mode and answers for messages; it knows no clock and keeps no
messages. In mode "match" keywords and area decide; in mode "rank" a score does.
Everything that happens per message happens in the extension, one call per batch, without the GIL.
Any number of threads may match at once; changes wait for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from numbers import Real
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import numpy as np

from nearcast import _core, columns
from nearcast.arguments import (
    check_analyzer,
    check_parameters,
    check_same_analyzer,
    check_word,
    checked_path,
)
from nearcast.attributes import Attributes
from nearcast.errors import (
    InvalidMessageError,
    InvalidParameterError,
    InvalidSubscriptionError,
    NearcastError,
    SnapshotError,
    UnknownIdError,
    Verbatim,
    shown,
)
from nearcast.expressions import holds_without_words
from nearcast.in_process import InProcess
from nearcast.keywords import needs_a_place, parse, plain
from nearcast.model import Bbox, area_from, bbox_from, is_encodable, point_from
from nearcast.sizes import Sizes
from nearcast.text import DEFAULT_ANALYZER, Analyzer
from nearcast.weights import Weights
from nearcast.where import parse as parse_where

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    import pyarrow as pa

    from nearcast.accepted import AreaLike, AttributesLike, BoxLike, KeywordsLike, PointLike
    from nearcast.arguments import Parameter
    from nearcast.columns import ArrowTable


Id: TypeAlias = int | str
MatcherMode: TypeAlias = Literal["match", "rank"]

DEFAULT_INDEX = "auto"


def indexes() -> list[_core.IndexKind]:
    """Return the index kinds with their parameters and capabilities.

    Examples
    --------
    >>> "brute-force" in [kind.name for kind in indexes()]
    True
    """
    return list(_core.index_kinds())


def build_info() -> dict[str, str]:
    """Return how the extension was built."""
    return dict(_core.build_info())


def read_place(at: object, bbox: object) -> tuple[float, ...]:
    """Return the place of a message that is given by exactly one of the two."""
    if (at is None) == (bbox is None):
        what = "message has no place" if at is None else "message has two places"
        raise InvalidMessageError(what, wanted="exactly one of at and bbox")
    if at is not None:
        return point_from(at, error=InvalidMessageError)
    return columns.core_place(bbox_from(bbox, error=InvalidMessageError))


def read_tokens(message: object, analyzer: Analyzer) -> list[str | None]:
    """Return the tokens of a text, or of a list of tokens that are taken as they are.

    None is the place of a stop word.
    """
    if isinstance(message, str):
        return analyzer.places(message)
    given = list(message) if isinstance(message, Iterable) else [message]
    tokens: list[str | None] = [
        token for token in given if isinstance(token, str) and is_encodable(token)
    ]
    if len(tokens) < len(given):
        what = "message is neither a text nor tokens"
        raise InvalidMessageError(what, got=message, wanted="a string or a list of strings")
    return tokens


class Matcher(InProcess):
    """Subscriptions behind one index.

    Parameters
    ----------
    index
        One of `nearcast.indexes`; `auto` is the kind that the library chooses. A kind that has no
        rank index of its own is served by that of `auto` in mode "rank".
    mode
        "match": keywords and area decide. "rank": a message is delivered if its score, of text and
        place together, reaches the subscription's threshold.
    index_parameters
        Of the index kind, by name: `nearcast.indexes` lists them.
    analyzer
        Reads keywords and texts; tables with tokens are taken as they are.

    Examples
    --------
    >>> matcher = Matcher()
    >>> matcher.subscribe("s1", keywords="coffee AND (free OR sale)", area=[-74, 40, -73, 41])
    >>> matcher.match("Free coffee!", at=(-73.98, 40.75))
    ['s1']

    >>> ranker = Matcher(mode="rank")
    >>> ranker.subscribe("s2", keywords="flood river", area=[0, 0, 1, 1], alpha=0.4, threshold=0.6)
    >>> ranker.rank("The river rises", at=(0.5, 0.5))
    [('s2', 0.7)]
    """

    def __init__(
        self,
        index: str = DEFAULT_INDEX,
        *,
        mode: MatcherMode = "match",
        index_parameters: Mapping[str, Parameter] | None = None,
        analyzer: Analyzer = DEFAULT_ANALYZER,
    ) -> None:
        check_word("index", index)
        check_analyzer(analyzer)
        if not isinstance(mode, str) or mode not in ("match", "rank"):
            what = "mode is not one of a matcher"
            raise InvalidParameterError(what, got=mode, wanted="'match' or 'rank'")
        make = _core.RankMatcher if mode == "rank" else _core.Matcher
        self._adopt(make(index, check_parameters(index_parameters)), analyzer)

    def _adopt(self, engine: _core.Matcher | _core.RankMatcher, analyzer: Analyzer) -> None:
        self._engine = engine
        self._analyzer = analyzer
        self._may_split = analyzer.is_plain
        self._cache = _core.TokenCache()

    @property
    def mode(self) -> MatcherMode:
        """Whether it matches or ranks."""
        return "rank" if isinstance(self._engine, _core.RankMatcher) else "match"

    def _matching(self, call: str) -> _core.Matcher:
        if isinstance(self._engine, _core.RankMatcher):
            raise _wrong_mode(call, self.mode, "Matcher(mode='match')")
        return self._engine

    def _ranking(self, call: str) -> _core.RankMatcher:
        if isinstance(self._engine, _core.Matcher):
            raise _wrong_mode(call, self.mode, "Matcher(mode='rank')")
        return self._engine

    # ---- subscriptions ----------------------------------------------------------------------

    def subscribe(
        self,
        id: Id,
        *,
        keywords: KeywordsLike | None = None,
        area: AreaLike | None = None,
        except_: AreaLike | None = None,
        where: str | None = None,
        alpha: float | None = None,
        threshold: float | None = None,
        replace: bool = False,
    ) -> None:
        """Add one subscription, or put another definition in its place.

        Parameters
        ----------
        id
            New, unless `replace` is given.
        keywords, area, where
            To match, at least one of the three. To rank, plain keywords and a box.
        except_
            To match only: an area. A message that touches it does not match.
        alpha, threshold
            To rank only: how much space counts against text, from 0 to 1; and the score that a
            message must reach, above 0.
        replace
            If the id is in use, this definition takes the place of the old one.

        Raises
        ------
        InvalidSubscriptionError, DuplicateIdError
            And nothing has changed: what was to be replaced is still there.
        """
        if not isinstance(replace, bool):
            what = "replace is not a truth value"
            wanted = "true or false"
            raise InvalidSubscriptionError(what, got=replace, wanted=wanted, field="replace")
        if isinstance(self._engine, _core.RankMatcher):
            words, box = _rank_keywords(keywords, self._analyzer), _rank_box(area)
            terms = _rank_term("alpha", alpha), _rank_term("threshold", threshold)
            if except_ is not None:
                what = "except has no meaning in mode 'rank'"
                raise InvalidSubscriptionError(what, got=except_, wanted="nothing", field="except")
            self._engine.subscribe(_checked_id(id), words, box, *terms, _core_where(where), replace)
            return
        for name, term in (("alpha", alpha), ("threshold", threshold)):
            if term is not None:
                what = f"{name} has no meaning in mode 'match'"
                raise InvalidSubscriptionError(what, got=term, wanted="nothing", field=name)
        if keywords is None and area is None and where is None:
            what = f"subscription {shown(id)}: neither keywords nor area nor where is there"
            raise InvalidSubscriptionError(what, wanted="at least one of them")
        tree = None if keywords is None else parse(keywords, self._analyzer)
        if tree is not None and area is None and where is None and holds_without_words(tree):
            raise needs_a_place(keywords)
        place = None if area is None else columns.core_area(area_from(area))
        outside = None if except_ is None else columns.core_area(area_from(except_))
        tokens, compared = columns.core_keywords(tree), _core_where(where)
        self._engine.subscribe(_checked_id(id), tokens, place, compared, outside, replace)

    def subscribe_table(self, table: ArrowTable) -> None:
        """Add many subscriptions; all of them or, on an error, none.

        Parameters
        ----------
        table
            Of pyarrow, Polars, DuckDB, pandas or any other library that speaks Arrow's capsules.
            Columns `id` (int64 or string); `keywords` (list<string>, plain or as a dictionary;
            tokens as given, all required) or `expression` (string, as `subscribe` reads keywords);
            `where` (string); and the area: `west`, `south`, `east`, `north`; or `lon`, `lat`,
            `radius_m`, a circle; or `geometry`, polygons, multipolygons and collections of them as
            WKB, or polygons as GeoArrow has them. To match, each may be missing, or null in all
            its columns, as long as a row has keywords, an area or a `where`. To rank, there are
            plain keywords and a box in each row, and columns `alpha` and `threshold` (double).
            Another column is an error that names it.
        """
        wrong = InvalidSubscriptionError
        whole = columns.one_batch(table, "subscriptions", wrong)
        columns.validate_own(whole, wrong)
        batch = _core.SubscriptionBatch(whole)
        batch.put_expressions([self._made(row, text) for row, text in batch.expressions()])
        batch.put_wheres([_made_where(row, text) for row, text in batch.wheres()])
        self._engine.subscribe_rows(batch)

    def _made(self, row: int, text: str) -> tuple[object, bool]:
        """Return an expression as the core reads it, and whether it needs no word."""
        try:
            tree = parse(text, self._analyzer)
        except NearcastError as error:
            error.locate(f"row {row}")
            raise
        return columns.core_keywords(tree), holds_without_words(tree)

    def set_weights(self, weights: Weights | None) -> None:
        """Weigh words by this epoch from now on, in mode "rank"; None: each counts 1."""
        engine = self._ranking("set_weights")
        if weights is None:
            engine.end_epoch()
            return
        if not isinstance(weights, Weights):
            what = "weights are not weights"
            raise InvalidParameterError(what, got=weights, wanted="Weights(documents, df) or None")
        engine.start_epoch(weights.documents, dict(weights.df))

    def unsubscribe(self, id: Id) -> None:
        """Remove one subscription; `UnknownIdError` if it is not there."""
        self._engine.unsubscribe(_checked_id(id))

    def unsubscribe_table(self, ids: ArrowTable | Sequence[Id] | np.ndarray) -> None:
        """Remove many subscriptions; all of them or, on an error, none."""
        array = columns.id_array(ids, UnknownIdError)
        if len(array):
            self._engine.unsubscribe_rows(array)

    def __contains__(self, id: object) -> bool:
        """Whether this id is subscribed."""
        known = _known_id(id)
        return known is not None and bool(self._engine.has(known))

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return int(self._engine.stats()["subscriptions"])

    def learn_table(self, messages: ArrowTable) -> None:
        """Give kinds whose cost model can use it a sample of messages; before subscribing."""
        engine = self._matching("learn_table")
        engine.learn(columns.one_message_batch(messages, self._analyzer))

    # ---- messages ---------------------------------------------------------------------------

    def match(
        self,
        message: str | Sequence[str],
        *,
        at: PointLike | None = None,
        bbox: BoxLike | None = None,
        attributes: AttributesLike | None = None,
    ) -> list[Id]:
        """Return the ids of the subscriptions that a text, or a list of tokens, matches."""
        engine = self._engine
        if isinstance(engine, _core.RankMatcher):
            engine = self._matching("match")
        # What is plain crosses as it is: looking at each value here would cost more than matching.
        if bbox is None and attributes is None:
            found = engine.match_plain(message, at, self._may_split)
            if found is not None:
                return cast("list[Id]", found)
        tokens, said = read_tokens(message, self._analyzer), _core_attributes(attributes)
        return engine.match_one(tokens, read_place(at, bbox), said)

    def rank(
        self,
        message: str | Sequence[str],
        *,
        at: PointLike | None = None,
        bbox: BoxLike | None = None,
        attributes: AttributesLike | None = None,
    ) -> list[tuple[Id, float]]:
        """Return the subscriptions whose threshold a message reaches, with its scores."""
        engine = self._ranking("rank")
        tokens, said = read_tokens(message, self._analyzer), _core_attributes(attributes)
        return list(zip(*engine.rank_one(tokens, read_place(at, bbox), said), strict=True))

    def match_table(self, messages: ArrowTable) -> pa.Table:
        """Match many messages.

        Parameters
        ----------
        messages
            Of any library, as for `subscribe_table`. Columns `tokens` (list<string>, as given) or
            `text` (analysed); `lon`, `lat` or `west`, `south`, `east`, `north`; and, where there
            are some, `id` (int64 or string) and `attributes`: a struct or a map, whose nulls are
            attributes that a message does not have, or a string with a JSON object. Another column
            is an error that names it.

        Returns
        -------
        pyarrow.Table
            `message` (its id, or its row if messages have none) and `subscription` (id), in the
            order of the messages.
        """
        engine = self._matching("match_table")
        return self._answered(messages, engine.match)

    def rank_table(self, messages: ArrowTable) -> pa.Table:
        """Rank many messages.

        Parameters
        ----------
        messages
            As for `match_table`.

        Returns
        -------
        pyarrow.Table
            `message` (id or row), `subscription` (id) and `score`, in the order of the messages;
            only where the score reaches the subscription's threshold.
        """
        engine = self._ranking("rank_table")
        return self._answered(messages, engine.rank)

    def _answered(
        self,
        messages: ArrowTable,
        answer: Callable[[_core.MessageBatch, _core.TokenCache, int], _core.Answer],
    ) -> pa.Table:
        """Return the answers for all batches as one table; rows count through."""
        cache = self._cache
        return columns.match_table(
            columns.by_batch(
                messages, self._analyzer, lambda batch, start: answer(batch, cache, start)
            )
        )

    # ---- the whole --------------------------------------------------------------------------

    @property
    def index(self) -> str:
        """Name of the index kind; for `auto`, of the kind that it stands for."""
        return str(self._engine.index_name)

    def __repr__(self) -> str:
        """Return how large it is, and its kind."""
        return f"<Matcher: {len(self):,} subscriptions, mode {self.mode}, index {self.index}>"

    def stats(self) -> Sizes:
        """Return sizes: subscriptions, words, and bytes of memory by part.

        `memory_bytes` is what subscriptions need: `store_bytes`, `id_bytes` and `index_bytes`.
        Together with the words, `vocabulary_bytes`, that is `total_bytes`.
        """
        return Sizes(self._engine.stats())

    def check_invariants(self) -> None:
        """Check the structure; `InternalError` names what is broken. Takes long; for tests."""
        self._engine.check_invariants()

    def save(self, path: str | PathLike[str]) -> None:
        """Write a snapshot, whole or not at all. A file that is there is replaced."""
        self._engine.save(checked_path(path), self._analyzer.saved())

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        analyzer: Analyzer = DEFAULT_ANALYZER,
        verify: bool | None = None,
    ) -> Matcher:
        """Open a snapshot, which answers as the matcher that wrote it and can be changed.

        One of kind `sized-lists`, which `auto` stands for, in mode `match` is mapped: beyond the
        size that is checked, the time does not depend on its size. Other indexes are built again.

        Parameters
        ----------
        path
            Written by `save`.
        analyzer
            The one that the snapshot was made with: another is an error.
        verify
            Check the contents before believing them: always, never, or if the file has at most
            64 MiB (None). What is not checked is trusted: see "What may be trusted" in the guide
            to snapshots.
        """
        check_analyzer(analyzer)
        saved, read_by = _core.open_snapshot(checked_path(path), verify)
        if not isinstance(saved, (_core.Matcher, _core.RankMatcher)):
            what, got = f"snapshot {str(path)!r} is of another kind", Verbatim("a hub or its life")
            raise SnapshotError(what, got=got, wanted="a matcher", hint="Hub.open")
        check_same_analyzer(read_by, analyzer, path)
        matcher = cls.__new__(cls)
        matcher._adopt(saved, analyzer)
        return matcher


def _made_where(row: int, text: str) -> object:
    try:
        return _core_where(text)
    except NearcastError as error:
        error.locate(f"row {row}")
        raise


def _wrong_mode(call: str, mode: str, made: str) -> InvalidParameterError:
    what = f"{call} has no answer in mode {mode!r}"
    return InvalidParameterError(what, wanted="a matcher of the other mode", hint=f"make a {made}")


def _core_where(where: str | None) -> tuple[columns.CoreNode, ...] | None:
    return None if where is None else columns.core_expression(parse_where(where))


def _core_attributes(attributes: Mapping[str, object] | None) -> Attributes | None:
    return None if attributes is None else Attributes(attributes)


def _rank_keywords(keywords: str | Sequence[str] | None, analyzer: Analyzer) -> list[str]:
    if keywords is None:
        what = "keywords are missing, which mode 'rank' needs"
        raise InvalidSubscriptionError(what, wanted="plain keywords", field="keywords")
    return sorted(plain(keywords, analyzer))


def _rank_box(area: object) -> tuple[float, ...]:
    read = None if area is None else area_from(area)
    if not isinstance(read, Bbox):
        what = "area is not a box, which mode 'rank' needs"
        wanted = "[west, south, east, north]"
        raise InvalidSubscriptionError(what, got=area, wanted=wanted, field="area")
    return columns.core_place(read)


def _rank_term(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        what = f"{name} is not a number, which mode 'rank' needs"
        raise InvalidSubscriptionError(what, got=value, wanted="a number", field=name)
    try:
        return float(value)
    except OverflowError:  # the core refuses it by its range, as it does NaN
        return inf


def _known_id(id: object) -> Id | None:
    if isinstance(id, str) and id and is_encodable(id):
        return id
    if isinstance(id, (int, np.integer)) and not isinstance(id, bool) and -(2**63) <= id < 2**63:
        return int(id)
    return None


def _checked_id(id: object) -> Id:
    known = _known_id(id)
    if known is None:
        what = "id is not an id"
        wanted = "an int64, or a string that is not empty and has no lone surrogates"
        raise InvalidSubscriptionError(what, got=id, wanted=wanted)
    return known
