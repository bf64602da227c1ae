"""Monitoring events: what the guard refused, saw crossed, or ended, for the run's record.

Each is told when it happens, on the report pipe, so that it is known of a run that is killed too.
Bounded, so that a snippet cannot fill the report with them: after the last one only a count.
"""

from __future__ import annotations

import json
import os
import sys

from _countersign import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Tell = Callable[[bytes], object]

EVENTS_MAX = 50
TEXT_MAX = 300

# Stands on the stack above an import.
IMPORTS = "<frozen importlib._bootstrap>"


class Events:
    """The events of one run, in order. `tell` takes one line for each; `clean` takes out of a
    message what must not leave the process."""

    def __init__(self, tell: Tell, clean: Callable[[str], str] = str) -> None:
        self._tell = tell
        self._clean = clean
        self._first = os.getpid()
        self._told = 0
        # Which limits were told of, and where.
        self._limits: set[tuple[str, int | None]] = set()
        # How many there were over the bound.
        self.more = 0
        # What the contract counted of the snippet's accesses, where it counts them.
        self.accesses: dict[str, dict[str, int]] | None = None

    def add(self, kind: str, message: str, line: int | None = None) -> None:
        """`kind` is one of `refused`, `text`, `system`, `files`, `scope`, `crossing`, `limit`, `facts`.

        Without a line, the snippet's own line that is running now.
        """
        if os.getpid() != self._first:
            return
        if self._told >= EVENTS_MAX:
            self.more += 1
            return
        self._told += 1
        if line is None:
            line = running_line()
        event = {"kind": kind, "message": self._clean(message)[:TEXT_MAX], "line": line}
        self._tell(json.dumps({"event": event}).encode() + b"\n")

    def closing(self) -> dict[str, Any]:
        """What belongs into the last line of the report."""
        return {"more": self.more, "accesses": self.accesses}

    def limit(self, name: str, line: int | None = None, reason: str = "") -> None:
        """A limit that is met, told once for each line. `reason`: which one of its kind it was."""
        if line is None:
            line = running_line()
        if (name, line) not in self._limits:
            self._limits.add((name, line))
            words = f"the {name} limit is reached"
            self.add("limit", f"{words}: {reason}" if reason else words, line)


def importing() -> bool:
    """Whether a library is being imported for the snippet: what its code tries then is its own."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != errors.SNIPPET:
        if frame.f_code.co_filename == IMPORTS:
            return True
        frame = frame.f_back  # type: ignore[assignment]  # the loop's condition asks for None
    return False


def running_line() -> int | None:
    """The innermost line of the snippet on the stack of this thread."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == errors.SNIPPET:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]  # the loop's condition asks for None
    return None
