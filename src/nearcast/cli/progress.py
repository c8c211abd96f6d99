"""A progress bar on a terminal's stderr; nothing where stderr is not a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console
    from rich.progress import Progress


@contextmanager
def byte_progress(title: str, size: int | None) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how many bytes were done."""
    with _progress(title, size, is_bytes=True) as advance:
        yield advance


@contextmanager
def step_progress(title: str, steps: int) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how many steps were done."""
    with _progress(title, steps, is_bytes=False) as advance:
        yield advance


@contextmanager
def _progress(title: str, total: int | None, *, is_bytes: bool) -> Iterator[Callable[[int], None]]:
    if not sys.stderr.isatty() or not total:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import DownloadColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    bar = Progress(
        *Progress.get_default_columns()[:3],
        DownloadColumn() if is_bytes else MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.advance(task, done)


class NamedSteps:
    """A bar that says what is being done."""

    def __init__(self, bar: Progress, steps: int) -> None:
        self._bar = bar
        self._task = bar.add_task("prepare", total=steps)
        self._begun = 0

    def step(self, description: str) -> None:
        """One more step begins, so all before it are done."""
        self._bar.update(self._task, description=description, completed=self._begun)
        self._begun += 1


@contextmanager
def named_steps(console: Console, steps: int) -> Iterator[NamedSteps]:
    """Give something that is told which step begins."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        yield NamedSteps(bar, steps)
