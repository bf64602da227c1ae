"""Cancel and wall clock as they are met inside: signals, which the interpreter looks at whenever a
loop turns, a function begins or a built-in comes back.

They cost a snippet nothing, and no exception goes through it. What is reported is where it was; that
its time is over is known from outside, where the clock and the kill are, and the process waits for
that stopped. One that does not come to a checkpoint in time is killed where it is.
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

# Where both have come, the lower number is looked at first: cancel goes before the wall clock.
CANCEL = signal.SIGUSR1
WALL = signal.SIGALRM

# Seconds before the end of the wall clock: there has to be time to report.
LEAD = 0.05
# Seconds that a timer takes at most.
LONGEST = 10**8


def ready() -> None:
    """Before the release: a cancel that comes before anything of the snippet's is not answered."""
    signal.signal(CANCEL, signal.SIG_IGN)


def arm(setup: Setup, events: Events, released: float) -> None:
    """From here on both are answered. `released`: when the wall clock began, as `time.monotonic`
    has it."""
    wall = min(int(setup.policy["limits"]["wall_s"]), LONGEST)
    signal.signal(CANCEL, stops(setup, events, cancelled))
    signal.signal(WALL, stops(setup, events, overdue))
    # Zero would be no timer.
    left = max(released + wall - LEAD - time.monotonic(), 0.001)
    signal.setitimer(signal.ITIMER_REAL, left)


def cancelled(events: Events) -> dict[str, Any]:
    return {"type": "Cancelled", "message": "killed by the reviewer", "limit": None}


def overdue(events: Events) -> dict[str, Any]:
    events.limit("wall")
    return {"type": "Timeout", "message": "the wall limit is reached", "limit": "wall"}


def stops(setup: Setup, events: Events, what: Callable[[Events], dict[str, Any]]) -> Handler:
    """A handler that reports and never comes back."""
    first = os.getpid()

    def stop(number: int, frame: FrameType | None) -> None:
        # A fork of the snippet's has nothing to report, and a report that is begun is the last word.
        if os.getpid() != first or report.begun():
            return
        error = {**what(events), "line": running_line(), "exception": None}
        report.send(setup, {"error": error, "result": None, **events.closing()})
        while True:
            os.kill(first, signal.SIGSTOP)

    return stop
