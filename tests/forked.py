"""What children do, in tests of fork: ask, change, save and open; 0 says that all was right."""

from __future__ import annotations

import os
import signal
import time
import traceback
from typing import TYPE_CHECKING

import nearcast as nc

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GUARD_S = 60.0
HUNG = "the child hung"


def in_child(task: Callable[[], None]) -> int:
    """Fork, run a task in the child, and return the child's number."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        task()
        status = 0
    except BaseException:  # a child must not run on into the parent's tests
        traceback.print_exc()
    finally:
        os._exit(status)


def ended(child: int) -> int | str:
    """Return how a child ended; one that hangs is killed."""
    end = time.monotonic() + GUARD_S
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return HUNG


def use_hub(hub: nc.Hub, path: Path) -> None:
    """Do one of each with a hub to which `publish` events are applied, one a second."""
    now = hub.clock
    assert hub.stats()["live_messages"] == now, "the state is not one between two events"
    hub.check_invariants()
    assert len(hub) == 1
    assert "s" in hub
    assert hub.match("x", at=(0, 0)) == ["s"]
    assert len(hub.results("s")) == now
    assert hub.explain("s", "x", at=(0, 0)).matches
    hub.publish("of the child", "x", at=(0, 0), time=now + 1)
    hub.subscribe("t", keywords="x")
    hub.save(path)
    assert len(nc.Hub.open(path)) == len(hub) == 2


def use_matcher(matcher: nc.Matcher, path: Path) -> None:
    """Do one of each with a matcher that has 's' for 'x'."""
    assert "s" in matcher.match("x", at=(0, 0))
    matcher.subscribe("of the child", keywords="x")
    assert "of the child" in matcher.match("x", at=(0, 0))
    matcher.check_invariants()
    matcher.save(path)
    assert len(nc.Matcher.open(path)) == len(matcher)


def answer_from_file(path: str, answers: object) -> None:
    """Open a hub and send what it answers."""
    hub = nc.Hub.open(path)
    hub.subscribe("t", keywords="x")
    answers.put(sorted(hub.match("x", at=(0, 0))))  # type: ignore[attr-defined]


def answer(hub: nc.Hub, answers: object) -> None:
    """Send what a hub of the parent answers here."""
    answers.put(hub.match("x", at=(0, 0)))  # type: ignore[attr-defined]
