"""Threads that work at the same time, in tests: none is waited for in vain, no error is lost.

Each thread repeats one step until all of them have done what is wanted of each. So a test never
ends before every side has made the progress that it is about, however fast the machine is, and a
thread that does not get its turn is seen: by the guard, the only thing here that counts seconds.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

GUARD_S = 120.0


class StuckError(AssertionError):
    """Some thread did not get on."""


@dataclass
class Member:
    """One thread: its step, and what it has to have done."""

    step: Callable[[], Any]
    wanted: int | Callable[[list[Any]], bool]
    answers: list[Any] = field(default_factory=list)

    def is_done(self) -> bool:
        """Whether it may stop."""
        if isinstance(self.wanted, int):
            return len(self.answers) >= self.wanted
        return self.wanted(self.answers)


def together(
    *steps: tuple[Callable[[], Any], int | Callable[[list[Any]], bool]], guard_s: float = GUARD_S
) -> list[list[Any]]:
    """Repeat all steps at the same time until each has been done often enough.

    Parameters
    ----------
    steps
        A function, and how often it is to be done, or a function of its answers so far that says
        whether that was enough.
    guard_s
        When to give up, if something hangs.

    Returns
    -------
    list
        For each step, what it returned each time.
    """
    members = [Member(step, wanted) for step, wanted in steps]
    errors: list[BaseException] = []
    start = threading.Barrier(len(members))

    def work(member: Member) -> None:
        try:
            start.wait(guard_s)
            while not errors and not all(other.is_done() for other in members):
                member.answers.append(member.step())
        except BaseException as error:  # raised again below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(member,), daemon=True) for member in members]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(guard_s)
        if thread.is_alive():
            errors.append(StuckError(f"stuck; steps done: {[len(m.answers) for m in members]}"))
            break
    if errors:
        raise errors[0]
    return [member.answers for member in members]


class HastySwitching:
    """Let Python change threads as often as it can."""

    def __enter__(self) -> None:
        self._before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)

    def __exit__(self, *_: object) -> None:
        sys.setswitchinterval(self._before)
