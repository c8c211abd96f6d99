"""Wrong usage that argparse cannot see: options that do not fit together. Exit code 2."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from nearcast.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator


class UsageError(InvalidParameterError):
    """Options or arguments that cannot be, or not together."""


@contextmanager
def options_as_parameters() -> Iterator[None]:
    """Turn a complaint about parameters, which are options here, into one about usage."""
    try:
        yield
    except InvalidParameterError as error:
        raise UsageError(
            error.what, got=error.got, wanted=error.wanted, hint=error.hint, field=error.field
        ) from None
