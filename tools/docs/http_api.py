"""The HTTP interface, from the OpenAPI document that the service gives out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nearcast.service.http.openapi import document
from nearcast.service.http.routes import ENTRIES
from tools.docs.tables import code, table

if TYPE_CHECKING:
    from collections.abc import Mapping


def page() -> str:
    """Return the page."""
    found = document(ENTRIES)
    intro = (
        f"# HTTP\n\n{found['info']['description']} The service gives out the same as OpenAPI "
        f"{found['openapi']} at `/openapi.json`. How to use it: "
        "[Running the service](../docs/guides/running-the-service.md).\n"
    )
    operations = [
        _operation(method.upper(), path, operation)
        for path, methods in found["paths"].items()
        for method, operation in methods.items()
    ]
    schemas = [_schema(*each) for each in sorted(found["components"]["schemas"].items())]
    return "\n".join([intro, *operations, "## Bodies\n", *schemas])


def _operation(method: str, path: str, found: Mapping[str, Any]) -> str:
    rows = [
        (code(p["name"]), p["in"], code(json.dumps(p["schema"], ensure_ascii=False)))
        for p in found["parameters"]
    ]
    parameters = table(("parameter", "in", "schema"), rows) if rows else ""
    bodies = found.get("requestBody", {}).get("content", {})
    lines = [f"- body: {_content(bodies)}"] if bodies else []
    lines += [f"- {status}: {_content(a['content'])}" for status, a in found["responses"].items()]
    told = found["summary"].rstrip(".") + "."
    listed = "\n".join(lines)
    return f"## {method} {path}\n\n{told}\n\n{listed}\n\n{parameters}"


def _content(content: Mapping[str, Any]) -> str:
    return ", ".join(f"{_shown(body['schema'])} as `{kind}`" for kind, body in content.items())


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    rows = [
        (code(field), _shown(found), "yes" if field in schema.get("required", ()) else "")
        for field, found in schema.get("properties", {}).items()
    ]
    fields = table(("field", "value", "needed"), rows) if rows else f"{_shown(schema)}\n"
    return f"### {name}\n\n{fields}"


def _shown(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "description" in schema:
        return str(schema["description"])
    return code(json.dumps(schema, ensure_ascii=False))
