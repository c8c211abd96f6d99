"""Commands called in this process, which saves a second each time."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, NamedTuple

from nearcast.cli.__main__ import main

if TYPE_CHECKING:
    import pytest


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, object]]:
        """Lines of JSON of what must have gone well."""
        assert self.code == 0, self.err
        return [json.loads(line) for line in self.out.splitlines()]


class Caller:
    """Calls commands as a terminal would."""

    def __init__(
        self, capture: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._capture = capture
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: object, stdin: bytes = b"") -> Outcome:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        out, err = self._capture.readouterr()
        return Outcome(code, out.decode(), err.decode())


def ndjson(*events: dict[str, object] | str) -> bytes:
    """Return events, and lines as they are, as a file."""
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return "".join(f"{line}\n" for line in lines).encode()


def subscribe(id_: str, **fields: object) -> dict[str, object]:
    return {"op": "subscribe", "id": id_, **fields}


def publish(id_: str, text: str, **fields: object) -> dict[str, object]:
    place = {} if "bbox" in fields else {"at": [0, 0]}
    return {"op": "publish", "id": id_, "text": text, **place, **fields}
