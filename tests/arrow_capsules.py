"""Arrow's C structs made by hand, so that any damage can be tried."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Next = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
LastError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)

Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", Release),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", Release),
    ("private_data", ctypes.c_void_p),
]
Stream._fields_ = [
    ("get_schema", Next),
    ("get_next", Next),
    ("get_last_error", LastError),
    ("release", Release),
    ("private_data", ctypes.c_void_p),
]

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


@dataclass(frozen=True)
class Column:
    """What the structs of one column say; None in buffers: a null pointer."""

    format: str
    length: int
    buffers: tuple[bytes | None, ...]
    name: str | None = ""
    null_count: int = 0
    offset: int = 0
    children: tuple[Column, ...] = ()
    dictionary: Column | None = None
    n_buffers: int | None = None
    n_children: int | None = None
    is_there: bool = True
    """Whether the array of it is; a dictionary may have a schema and no array."""

    def but(self, **parts: object) -> Column:
        return replace(self, **parts)  # type: ignore[arg-type]


def numbers(values: list[float], kind: type = np.float64, **parts: object) -> Column:
    format_ = {"float64": "g", "int64": "l", "int32": "i", "uint64": "L"}[np.dtype(kind).name]
    data = np.array(values, kind).tobytes()
    return Column(format_, len(values), (None, data)).but(**parts)


def strings(*words: str | bytes, **parts: object) -> Column:
    letters = [word if isinstance(word, bytes) else word.encode() for word in words]
    ends = np.cumsum([0, *map(len, letters)]).astype(np.int32)
    return Column("u", len(words), (None, ends.tobytes(), b"".join(letters))).but(**parts)


def lists(ends: list[int], items: Column, **parts: object) -> Column:
    offsets = np.array(ends, np.int32).tobytes()
    return Column("+l", len(ends) - 1, (None, offsets), children=(items,)).but(**parts)


def codes(values: list[int], *words: str, **parts: object) -> Column:
    data = np.array(values, np.int32).tobytes()
    return Column("i", len(values), (None, data), dictionary=strings(*words)).but(**parts)


_ALIVE: list[object] = []  # structs may outlive the tables that made them: nothing is freed


@dataclass
class Table:
    """A table of one batch. `released` counts the structs that were given back."""

    columns: Mapping[Any, Column]  # by name, or None
    parts: dict[str, object] = field(default_factory=dict)
    released: int = 0
    made: int = 0
    _kept: list[object] = field(default_factory=list)

    def _release(self, kind: type[Schema | Array], children: int) -> object:
        self.made += 1

        def release(address: int, *, at: Any = ctypes.addressof, none: Any = Release) -> None:
            given = kind.from_address(address)  # defaults: modules may be gone at exit
            for i in range(children):  # whatever it says
                if given.children[i].contents.release:
                    given.children[i].contents.release(at(given.children[i].contents))
            if given.dictionary and given.dictionary.contents.release:
                given.dictionary.contents.release(at(given.dictionary.contents))
            given.release = none()
            self.released += 1

        callback = Release(release)
        self._kept.append(callback)
        return callback

    def _pointers(self, kind: Any, made: list[Any]) -> Any:
        pointers = (ctypes.POINTER(kind) * len(made))(*map(ctypes.pointer, made))
        self._kept += [made, pointers]
        return ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(kind)))

    def schema(self, column: Column) -> Schema:
        made = Schema(
            format=column.format.encode(), release=self._release(Schema, len(column.children))
        )
        if column.name is not None:
            made.name = column.name.encode()
        made.n_children = len(column.children)
        made.children = self._pointers(Schema, [self.schema(child) for child in column.children])
        if column.dictionary is not None:
            made.dictionary = ctypes.pointer(self.schema(column.dictionary))
        self._kept.append(made)
        return made

    def array(self, column: Column) -> Array:
        buffers = [
            None if data is None else ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)
            for data in column.buffers
        ]
        pointers = (ctypes.c_void_p * len(buffers))(*buffers)
        made = Array(
            length=column.length,
            null_count=column.null_count,
            offset=column.offset,
            n_buffers=len(buffers) if column.n_buffers is None else column.n_buffers,
            n_children=len(column.children) if column.n_children is None else column.n_children,
            buffers=ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p)),
            release=self._release(Array, len(column.children)),
        )
        made.children = self._pointers(Array, [self.array(child) for child in column.children])
        if column.dictionary is not None and column.dictionary.is_there:
            made.dictionary = ctypes.pointer(self.array(column.dictionary))
        self._kept += [column, pointers, made]
        return made

    def __post_init__(self) -> None:
        _ALIVE.append(self)

    def root(self) -> Column:
        named = tuple(column.but(name=name) for name, column in self.columns.items())
        rows = max((column.length for column in named), default=0)
        return Column("+s", rows, (None,), children=named).but(**self.parts)

    def structs(self) -> tuple[Schema, Array]:
        root = self.root()
        return self.schema(root), self.array(root)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        schema, array = self.structs()
        return capsule(schema, b"arrow_schema"), capsule(array, b"arrow_array")


def capsule(struct: ctypes.Structure, name: bytes) -> object:
    """Return a capsule without a destructor: what is not taken stays, and tests see it."""
    return _new_capsule(ctypes.addressof(struct), name, None)


class Streamed:
    """A table whose batches come one by one; `fails_at` is the batch that is an error instead."""

    def __init__(self, *batches: Table, fails_at: int | None = None) -> None:
        self.batches, self.fails_at = batches, fails_at
        self.is_released = False
        self._kept: list[object] = []

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        rest = list(enumerate(self.batches))
        text = ctypes.c_char_p(b"the disk is gone")

        def get_schema(_: int, out: int) -> int:
            ctypes.memmove(
                out, ctypes.addressof(self.batches[0].structs()[0]), ctypes.sizeof(Schema)
            )
            return 0

        def get_next(_: int, out: int) -> int:
            if not rest:
                ctypes.memset(out, 0, ctypes.sizeof(Array))
                return 0
            number, batch = rest.pop(0)
            if number == self.fails_at:
                return 5
            ctypes.memmove(out, ctypes.addressof(batch.structs()[1]), ctypes.sizeof(Array))
            return 0

        def get_last_error(_: int) -> int | None:
            return ctypes.cast(text, ctypes.c_void_p).value

        def release(address: int) -> None:
            Stream.from_address(address).release = Release()
            self.is_released = True

        made = Stream(Next(get_schema), Next(get_next), LastError(get_last_error), Release(release))
        self._kept += [made, text]
        return capsule(made, b"arrow_array_stream")
