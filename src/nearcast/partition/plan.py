"""A plan: which partitions hold a subscription, which must see a message [Skype §7.3].

Every mechanism is words, space, or one inside the other. Words are cut into parts (`homes`), space
into leaves; a partition is a pair of both. With `location-prefix` each leaf cuts the words by
itself, with `prefix-location` each part of the words cuts space by itself, and `hash` has neither.

What holds in every plan, and is all that correctness needs: if a message can matter to a
subscription, one of the subscription's partitions sees the message. If several do, the first of
them answers (`is_first`), so no step has to look for duplicates afterwards.

Departs from the paper: areas are known here, so in the modes "match" and "rank" a message goes only
to the leaves that it touches, and a subscription is copied into the leaves that its area touches.
Top subscriptions are as in the paper: each lives in one leaf and all leaves see every message.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.errors import InvalidParameterError
from nearcast.partition.ragged import list_parts, rows_of
from nearcast.partition.space_cuts import centres, leaf_of, touches
from nearcast.partition.wants import prefix_mask
from nearcast.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from nearcast.partition.wants import Mode, Wants

Mechanism: TypeAlias = Literal[
    "hash", "location", "keyword", "prefix", "location-prefix", "prefix-location"
]
MECHANISMS: tuple[Mechanism, ...] = get_args(Mechanism)
MAX_PARTITIONS = 4096

_Hits: TypeAlias = "Callable[[int], NDArray[np.bool_]]"


@dataclass(frozen=True)
class Plan:
    """How subscriptions and messages are distributed.

    Parameters
    ----------
    mechanism, mode, partitions
        One of `MECHANISMS`; which subscriptions; how many partitions.
    words
        The words that were planned for, the most frequent first.
    homes
        The part of each word, shape (cuts, words): one cut, or one per leaf.
    leaves
        Boxes, shape (cuts, leaves, 4): one cut, or one per part of the words.
    weights
        The epoch that decides which words of a subscription are enough.
    """

    mechanism: Mechanism
    mode: Mode
    partitions: int
    words: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))
    homes: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    leaves: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0, 4)))
    weights: Weights | None = None

    def __post_init__(self) -> None:
        """Refuse what no plan can be."""
        if self.mechanism not in MECHANISMS:
            what = "mechanism is not one of a plan"
            raise InvalidParameterError(
                what, got=self.mechanism, wanted="one of " + ", ".join(MECHANISMS)
            )
        if not 1 <= self.partitions <= MAX_PARTITIONS:
            what = "partitions are out of range"
            raise InvalidParameterError(
                what, got=self.partitions, wanted=f"from 1 to {MAX_PARTITIONS}"
            )

    # ---- subscriptions ----------------------------------------------------------------------

    def place(self, wants: Wants, ids: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
        """Say which subscriptions live in which partitions, shape (subscriptions, partitions)."""
        if self.mechanism == "hash":
            return self._scattered(ids)
        words = self._needed_words(wants)
        placed = self._join(
            lambda cut: self._text_hits(words, cut, len(wants)) | wants.is_open[:, None],
            lambda cut: self._homes_in_space(wants, cut),
        )
        # A subscription that no message can reach still has a partition, to be read and removed.
        lost = ~placed.any(axis=1)
        placed[lost] = self._scattered(ids)[lost] if lost.any() else False
        return placed

    def prefixes(self, wants: Wants) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return rows and codes of the words by which subscriptions are found."""
        return self._needed_words(wants)

    def _scattered(self, ids: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
        """Each in one partition, by its id [Skype §7.3.1, Eq. 14]."""
        only = np.zeros((len(ids), self.partitions), bool)
        only[np.arange(len(ids)), hashed_ids(ids) % self.partitions] = True
        return only

    def _homes_in_space(self, wants: Wants, cut: int) -> NDArray[np.bool_]:
        if self.mode == "top":
            return leaf_of(centres(wants.boxes), self.leaves[cut])
        return touches(wants.boxes, self.leaves[cut]) | ~wants.is_local[:, None]

    def _needed_words(self, wants: Wants) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        codes = self.codes(wants.words)
        groups = rows_of(wants.offsets)
        if self.mechanism == "keyword":
            return wants.group_rows[groups], codes
        # Rarest first: they are met least often, and weigh most. Words unplanned for are rarest.
        order = np.lexsort((-codes, groups))
        in_prefix = prefix_mask(
            self._word_weights(wants.words)[order],
            wants.offsets,
            wants.shares,
            is_norm=self.mode == "top",
        )
        chosen = order[in_prefix]
        return wants.group_rows[groups[chosen]], codes[chosen]

    def _word_weights(self, words: pa.Array) -> NDArray[np.float64]:
        if self.weights is None or self.mode == "match":
            return np.ones(len(words))
        encoded = _encoded(words)
        idf = np.array([self.weights.idf(word) for word in encoded.dictionary.to_pylist()])
        return idf[encoded.indices.to_numpy()] if len(words) else np.zeros(0)

    # ---- messages ---------------------------------------------------------------------------

    def route(
        self, messages: pa.Table | pa.RecordBatch, *, may_stay: bool = False
    ) -> NDArray[np.bool_]:
        """Say which partitions must see which messages, shape (messages, partitions).

        Parameters
        ----------
        messages
            `tokens` (list<string>) and `lon`, `lat` or `west`, `south`, `east`, `north`.
        may_stay
            Whether subscriptions that come later can ask for them, with words unplanned for.
        """
        count = messages.num_rows
        if self.mechanism == "hash":
            return np.ones((count, self.partitions), bool)
        is_whole = may_stay or self.mode == "top"
        words = self._message_words(messages, is_whole=is_whole) if self.homes.size else None
        boxes = message_boxes(messages)
        return self._join(
            lambda cut: self._seen_by_text(words, cut, boxes),
            lambda cut: (
                np.ones((count, self.leaves.shape[1]), bool)
                if self.mode == "top"
                else touches(boxes, self.leaves[cut])
            ),
        )

    def reach(self, boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say which partitions can hold subscriptions with these areas, whatever their words are.

        None of them where space is not cut: there an area decides nothing.
        """
        if not self.leaves.size:
            return np.zeros((len(boxes), self.partitions), bool)
        parts = self.shape[0]
        return self._join(
            lambda _: np.ones((len(boxes), parts), bool),
            lambda cut: touches(boxes, self.leaves[cut]),
        )

    def _message_words(
        self, messages: pa.Table | pa.RecordBatch, *, is_whole: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        offsets, tokens = list_parts(messages.column("tokens"))
        rows = rows_of(offsets)
        if is_whole:  # a later subscription may ask for any word of a live message
            return rows, self.codes(tokens)
        encoded = _encoded(tokens)
        ranks = self._ranks_of(encoded.dictionary)[encoded.indices.to_numpy()]
        planned = ranks >= 0
        return rows[planned], ranks[planned]

    def _seen_by_text(
        self,
        words: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
        cut: int,
        boxes: NDArray[np.float64],
    ) -> NDArray[np.bool_]:
        if words is None:
            return np.ones((len(boxes), 1), bool)
        hits = self._text_hits(words, cut, len(boxes))
        if self.mode != "top":
            # Subscriptions that need no text are in every part; one of them must see the message.
            lost = np.flatnonzero(~hits.any(axis=1))
            spread = np.abs(boxes[lost] * 1e4).sum(axis=1).astype(np.int64)
            hits[lost, spread % hits.shape[1]] = True
        return hits

    # ---- both -------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """Into how many parts words and space are cut; their product is `partitions`."""
        if self.mechanism == "hash":
            return 1, self.partitions
        leaves = self.leaves.shape[1] if self.leaves.size else 1
        return self.partitions // leaves, leaves

    def codes(self, words: pa.Array) -> NDArray[np.int64]:
        """Return the number of each word; words that were not planned for follow the others.

        What it exceeds the planned words by says, by its remainder, which part they belong to.
        """
        encoded = _encoded(words)
        found = self._ranks_of(encoded.dictionary)
        lost = np.flatnonzero(found < 0)
        unplanned = encoded.dictionary.take(pa.array(lost)).to_pylist()
        found[lost] = [len(self.words) + crc32(word.encode()) for word in unplanned]
        return found[encoded.indices.to_numpy()] if len(words) else np.zeros(0, np.int64)

    def _ranks_of(self, words: pa.Array) -> NDArray[np.int64]:
        """Return the number of each planned word, and -1 of the others."""
        places = pc.index_in(words, value_set=self.words.cast(words.type))
        ranks: NDArray[np.int64] = np.array(pc.fill_null(places, -1).to_numpy(), np.int64)
        return ranks

    def learn(self, words: pa.Array) -> Plan:
        """Return the same plan when subscriptions use further words: messages follow them.

        Words keep the home that `place` gave them before they were learned.
        """
        if not self.homes.size or len(words) == 0:
            return self
        unique = _encoded(words).dictionary.to_pylist()
        known = self._ranks_of(pa.array(unique, pa.string())) >= 0
        new = [word for word, is_known in zip(unique, known, strict=True) if not is_known]
        if not new:
            return self
        homes = np.array([crc32(word.encode()) for word in new]) % self.shape[0]
        joined = np.hstack([self.homes, np.tile(homes.astype(np.int32), (len(self.homes), 1))])
        added = pa.array([*self.words.to_pylist(), *new], pa.string())
        return replace(self, words=added, homes=joined)

    def _text_hits(
        self, words: tuple[NDArray[np.int64], NDArray[np.int64]], cut: int, rows: int
    ) -> NDArray[np.bool_]:
        """Say which rows have a word of which part."""
        if not self.homes.size:
            return np.ones((rows, 1), bool)
        parts = self.shape[0]
        row, code = words
        planned = code < len(self.words)
        unplanned_home = (code - len(self.words)) % parts
        home = np.where(planned, self.homes[cut][np.where(planned, code, 0)], unplanned_home)
        hits = np.zeros((rows, parts), bool)
        hits[row, home] = True
        return hits

    def _join(self, text: _Hits, space: _Hits) -> NDArray[np.bool_]:
        """Make partitions of parts and leaves; whichever was cut first counts coarsely."""
        if not self.leaves.size:
            return np.asarray(text(0))
        if not self.homes.size:
            return np.asarray(space(0))
        if self.mechanism == "location-prefix":
            outer = space(0)
            inner = [text(leaf) for leaf in range(outer.shape[1])]
        else:
            outer = text(0)
            inner = [space(part) for part in range(outer.shape[1])]
        return np.hstack([outer[:, i, None] & block for i, block in enumerate(inner)])

    # ---- as a file --------------------------------------------------------------------------

    def to_buffer(self) -> pa.Buffer:
        """Return the plan as bytes: an Arrow table of words, everything else in its metadata."""
        facts = {
            "mechanism": self.mechanism,
            "mode": self.mode,
            "partitions": self.partitions,
            "leaves": self.leaves.tolist(),
            "weights": None
            if self.weights is None
            else {"documents": self.weights.documents, "df": dict(self.weights.df)},
        }
        table = pa.table({"word": self.words, **{str(i): h for i, h in enumerate(self.homes)}})
        table = table.replace_schema_metadata({"nearcast.plan": json.dumps(facts)})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue()

    @classmethod
    def from_buffer(cls, data: bytes | pa.Buffer) -> Plan:
        """Read what `to_buffer` wrote."""
        table = pa.ipc.open_file(pa.py_buffer(data)).read_all()
        facts = json.loads(table.schema.metadata[b"nearcast.plan"])
        words = table.column("word").combine_chunks()
        homes = [table.column(name).to_numpy() for name in table.column_names[1:]]
        leaves = np.array(facts["leaves"], np.float64)
        epoch = facts["weights"]
        return cls(
            facts["mechanism"],
            facts["mode"],
            facts["partitions"],
            words if isinstance(words, pa.Array) else pa.array([], pa.string()),
            np.array(homes, np.int32).reshape(len(homes), -1 if homes else 0),
            leaves if leaves.size else np.zeros((0, 0, 4)),
            None if epoch is None else Weights(epoch["documents"], epoch["df"]),
        )


def is_first(
    partition: int, subscriptions: NDArray[np.uint8], messages: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Say which pairs this partition is the first to have; rows are bits as `pack` gives them."""
    byte, bit = divmod(partition, 8)
    common = subscriptions[:, : byte + 1] & messages[:, : byte + 1]
    common[:, byte] &= 0xFF00 >> bit & 0xFF  # bits of lower partitions are the higher ones
    return np.asarray(~common.any(axis=1))


def pack(hits: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return rows of truth values as bits, eight partitions to a byte."""
    return np.packbits(hits, axis=1)


def hashed_ids(ids: pa.Array | pa.ChunkedArray) -> NDArray[np.int64]:
    """Return a number of each id that is the same everywhere."""
    if pa.types.is_integer(ids.type):
        return np.asarray(ids.to_numpy(), np.int64)
    return np.array([crc32(word.encode()) for word in ids.to_pylist()], np.int64)


def message_boxes(messages: pa.Table | pa.RecordBatch) -> NDArray[np.float64]:
    """Return the places of messages as boxes; a point is a box without extent."""
    names = messages.schema.names
    sides = ("west", "south", "east", "north") if "west" in names else ("lon", "lat") * 2
    return np.column_stack(
        [messages.column(side).to_numpy(zero_copy_only=False) for side in sides]
    ).reshape(-1, 4)


def _encoded(words: pa.Array) -> pa.DictionaryArray:
    if isinstance(words, pa.ChunkedArray):
        words = pa.concat_arrays(words.chunks)
    return words if pa.types.is_dictionary(words.type) else words.dictionary_encode()
