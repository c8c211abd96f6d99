"""The OpenAPI 3.1 document, made of the list of routes and the schemas."""

from __future__ import annotations

import re
from inspect import getdoc
from typing import TYPE_CHECKING, Any

from nearcast.service.http.schemas import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearcast.service.http.routes import Entry

_PARAMETERS: dict[str, dict[str, Any]] = {
    "owner": {"type": "string", "pattern": "^[A-Za-z0-9._@:-]{1,64}$"},
    "bbox": {"type": "string", "description": "west,south,east,north"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
    "after": {"type": "string", "description": "Where the page or the reader before ended."},
    "wait": {"type": "integer", "minimum": 0, "maximum": 60, "default": 0},
}
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_OPEN = frozenset({"/healthz", "/readyz"})


def document(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return the document."""
    paths: dict[str, Any] = {}
    for entry in entries:
        path = entry.path.replace(":path", "")
        paths.setdefault(path, {})[entry.method.lower()] = _operation(entry)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "nearcast",
            "version": "1",
            "description": "Saved searches with a place, matched the moment something happens. "
            "A WebSocket at /v1/socket delivers the stream of a subscriber with acknowledgements.",
        },
        "paths": paths,
        "components": {
            "schemas": {**SCHEMAS, "Text": {"type": "string"}},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(entry: Entry) -> dict[str, Any]:
    text = (getdoc(entry.handler) or "").replace("\n", " ")
    summary = text.partition(": ")[2] or text
    operation: dict[str, Any] = {
        "operationId": f"{entry.handler.__module__.rpartition('.')[2]}_{entry.handler.__name__}",
        "summary": summary[:1].upper() + summary[1:],
        "tags": [entry.path.strip("/").removeprefix("v1/").split("/")[0]],
        "parameters": _parameters(entry),
        "responses": _responses(entry),
    }
    if entry.body is not None:
        operation["requestBody"] = _body(entry.body)
    if entry.path not in _OPEN:
        operation["security"] = [{"key": []}, {}]
    return operation


def _parameters(entry: Entry) -> list[dict[str, Any]]:
    found = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in re.findall(r"{(\w+)", entry.path)
    ]
    found += [{"name": name, "in": "query", "schema": _PARAMETERS[name]} for name in entry.query]
    if entry.method in _WRITES and entry.path != "/v1/match":
        schema = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"}
        found.append({"name": "Idempotency-Key", "in": "header", "schema": schema})
    if entry.path == "/v1/stream":
        cursor = {"type": "string", "pattern": "^[0-9]{1,18}$"}
        found.append({"name": "Last-Event-ID", "in": "header", "schema": cursor})
    return found


def _body(name: str) -> dict[str, Any]:
    single = {"schema": {"$ref": f"#/components/schemas/{name.removesuffix('*')}"}}
    content: dict[str, Any] = {"application/json": single}
    if name.endswith("*"):
        lines = {"schema": {"$ref": "#/components/schemas/Lines"}}
        content["application/x-ndjson"] = lines
    return {"required": True, "content": content}


def _responses(entry: Entry) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for status, name in entry.answers.items():
        content = {entry.kind: {"schema": {"$ref": f"#/components/schemas/{name}"}}}
        answers[str(status)] = {"description": name, "content": content}
    if entry.body is not None and entry.body.endswith("*"):
        schema = {"schema": {"$ref": "#/components/schemas/Lines"}}
        answers["200"] = {"description": "Lines", "content": {"application/x-ndjson": schema}}
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    answers["default"] = {
        "description": "Problem details as in RFC 9457.",
        "content": {"application/problem+json": problem},
    }
    return answers
