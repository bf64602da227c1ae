"""Handles cancel and wall clock inside the process: signals, which the interpreter checks at each loop iteration,
function call and return of a builtin.

They cost the snippet nothing and raise no exception in it. The handler reports the line that was running. The process
then stops itself and waits for the kill, which comes from outside, where the clock is. A process that reaches no
checkpoint in time is killed without a report.
"""

from __future__ import annotations

import os
import signal
import time
from types import FrameType

from _countersign import report
from _countersign.events import Events, running_line
from _countersign.spec import Setup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Handler = Callable[[int, FrameType | None], None]

# If both are pending, the lower number is handled first: cancel before the wall clock.
CANCEL = signal.SIGUSR1
WALL = signal.SIGALRM

# Seconds before the wall limit at which the alarm fires, to leave time for the report.
LEAD = 0.05
# The longest timer, in seconds.
LONGEST = 10**8


def ready() -> None:
    """Ignores cancel signals until `arm`: before the snippet there is nothing to report."""
    signal.signal(CANCEL, signal.SIG_IGN)


def arm(setup: Setup, events: Events, released: float) -> None:
    """Starts handling both. `released`: when the wall clock began, as `time.monotonic` counts."""
    wall = min(int(setup.policy["limits"]["wall_s"]), LONGEST)
    signal.signal(CANCEL, stops(setup, events, cancelled))
    signal.signal(WALL, stops(setup, events, overdue))
    # Zero would disable the timer.
    left = max(released + wall - LEAD - time.monotonic(), 0.001)
    signal.setitimer(signal.ITIMER_REAL, left)


def cancelled(events: Events) -> dict[str, Any]:
    return {"type": "Cancelled", "message": "killed by the reviewer", "limit": None}


def overdue(events: Events) -> dict[str, Any]:
    events.limit("wall")
    return {"type": "Timeout", "message": "the wall limit is reached", "limit": "wall"}


def stops(setup: Setup, events: Events, what: Callable[[Events], dict[str, Any]]) -> Handler:
    """A signal handler that reports and never returns."""
    first = os.getpid()

    def stop(number: int, frame: FrameType | None) -> None:
        # The snippet's forks report nothing, and a report that has begun must not be followed by another.
        if os.getpid() != first or report.begun():
            return
        error = {**what(events), "line": running_line(), "exception": None}
        report.send(setup, {"error": error, "result": None, **events.closing()})
        while True:
            os.kill(first, signal.SIGSTOP)

    return stop
