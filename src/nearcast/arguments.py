"""Arguments that several rooms take alike: names of kinds, their parameters, analyzers, paths."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from nearcast.errors import InvalidParameterError, SnapshotError, Verbatim, shown
from nearcast.model import is_encodable, number
from nearcast.text import Analyzer

Parameter: TypeAlias = bool | int | float | str


def read_kind(text: str) -> tuple[str, dict[str, Parameter]]:
    """Read ``kind`` or ``kind:parameter=value:…``, as commands take it.

    Raises
    ------
    InvalidParameterError
        If a parameter has no value.

    Examples
    --------
    >>> read_kind("ap-tree:max_leaf_size=40")
    ('ap-tree', {'max_leaf_size': 40})
    """
    kind, *settings = text.split(":")
    parameters: dict[str, Parameter] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not (name and equals and value):
            what = f"kind {text!r}"
            raise InvalidParameterError(what, got=setting, wanted="parameter=value")
        parameters[name] = _read_value(value)
    return kind, parameters


def _read_value(text: str) -> Parameter:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value if isinstance(value, (bool, int, float)) else text


def check_word(name: str, value: object) -> None:
    """Refuse a name that is not a string."""
    if not isinstance(value, str) or not is_encodable(value):
        what = f"{name} is not a name"
        raise InvalidParameterError(what, got=value, wanted="a string", field=name)


def check_analyzer(analyzer: object) -> None:
    """Refuse what is not an analyzer."""
    if not isinstance(analyzer, Analyzer):
        what = "analyzer is not an analyzer"
        raise InvalidParameterError(what, got=analyzer, wanted="Analyzer(…)", field="analyzer")


def check_same_analyzer(saved: str, analyzer: Analyzer, path: object) -> None:
    """Refuse an analyzer that reads texts otherwise than the one that a snapshot was made with.

    Files of earlier versions do not say what theirs was.
    """
    if not saved or saved == analyzer.saved():
        return
    try:
        before = dict(json.loads(saved))
    except (TypeError, ValueError):
        before = {"name": saved}
    now = analyzer.parameters
    differing = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    what = f"snapshot {str(path)!r} was made with another analyzer"
    raise SnapshotError(
        what,
        got=Verbatim(_listed(now, differing)),
        wanted=_listed(before, differing),
        hint="open it with the analyzer that it was made with",
        field="analyzer",
    )


def _listed(parameters: Mapping[str, object], names: list[str]) -> str:
    return ", ".join(f"{name} {shown(parameters.get(name))}" for name in names)


def checked_path(path: object) -> str:
    """Return the name of a file as the core takes it."""
    try:
        name = str(Path(path))  # type: ignore[arg-type]
    except TypeError:
        what = "path is not the name of a file"
        raise InvalidParameterError(what, got=path, wanted="a string or a Path") from None
    if not is_encodable(name):
        what = "path cannot be written as UTF-8"
        raise InvalidParameterError(what, got=path, wanted="a name in UTF-8")
    return name


def check_parameters(parameters: object) -> dict[str, Parameter]:
    """Return parameters of a kind as the core takes them; None: it has its own."""
    checked: dict[str, Parameter] = {}
    if parameters is None:
        return checked
    if not isinstance(parameters, Mapping):
        what = "parameters are not a mapping"
        raise InvalidParameterError(what, got=parameters, wanted="names and values")
    for name, value in parameters.items():
        check_word("a parameter", name)
        if not isinstance(value, (bool, int, float, str)):
            what = f"parameter {name} has the wrong type"
            raise InvalidParameterError(what, got=value, wanted="a number, a word or a bool")
        if isinstance(value, str):
            check_word(f"parameter {name}", value)
        checked[name] = value if isinstance(value, (bool, str)) else number(value, name)
    return checked
