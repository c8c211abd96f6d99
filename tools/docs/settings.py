"""The settings of the service, from the definitions that check them."""

from __future__ import annotations

import ast
from inspect import getdoc, getsource
from typing import TYPE_CHECKING

import msgspec

from nearcast.service.settings import PREFIX, Section, Settings
from tools.docs.tables import code, table

if TYPE_CHECKING:
    from collections.abc import Iterator


def page() -> str:
    """Return the page."""
    intro = (
        "# Settings\n\nOf `nearcast serve` and its companions: first a TOML file (`--config`), "
        "then the environment, then options; the later wins. `nearcast config check` prints what "
        "they come to.\n"
    )
    return "\n".join([intro, *(_part(name, section) for name, section in sections())])


def sections() -> Iterator[tuple[str, type[Section]]]:
    """Yield the sections by the names they have in the file; the first has none."""
    yield "", Settings
    for field in msgspec.structs.fields(Settings):
        if isinstance(field.type, type) and issubclass(field.type, Section):
            yield field.name, field.type


def _part(name: str, section: type[Section]) -> str:
    own = _written(section)
    rows = []
    for field in msgspec.structs.fields(section):
        if isinstance(field.type, type) and issubclass(field.type, Section):
            continue
        kind, told = own[field.name]
        inner = f"{name}__{field.name}" if name else field.name
        shown = (code(field.name), code(kind), code(_default(field)), code(PREFIX + inner.upper()))
        rows.append((*shown, told))
    title = f"`[{name}]`" if name else "At the top"
    columns = ("setting", "type", "default", "in the environment", "meaning")
    return f"## {title}\n\n{getdoc(section)}\n\n{table(columns, rows)}"


def _written(section: type) -> dict[str, tuple[str, str]]:
    """Return type and explanation of each field, as they are written in the source."""
    body = ast.parse(getsource(section)).body[0]
    found: dict[str, tuple[str, str]] = {}
    last = ""
    for node in body.body if isinstance(body, ast.ClassDef) else ():
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            last = node.target.id
            found[last] = (ast.unparse(node.annotation), "")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and last:
            found[last] = (found[last][0], str(node.value.value))
    return found


def _default(field: msgspec.structs.FieldInfo) -> str:
    value = field.default if field.default is not msgspec.NODEFAULT else None
    if field.default_factory is not msgspec.NODEFAULT:
        value = field.default_factory()
    return "" if value is None else msgspec.json.encode(value).decode()
