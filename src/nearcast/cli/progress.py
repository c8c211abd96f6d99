"""A progress bar on a terminal's stderr; nothing where stderr is not a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def byte_progress(title: str, size: int | None) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how many bytes were done."""
    if not sys.stderr.isatty() or not size:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import DownloadColumn, Progress, TimeRemainingColumn

    bar = Progress(
        *Progress.get_default_columns()[:3],
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(title, total=size)
        yield lambda done: bar.advance(task, done)
