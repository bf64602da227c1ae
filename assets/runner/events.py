"""Monitoring events for the run's record: refusals, crossings and limits that the guard saw.

Each goes to the report pipe when it happens, so that the events of a killed run are known too. Their number is
bounded, so that a snippet cannot fill the report: events beyond the bound are only counted.
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

# The file name of the frames that perform an import.
IMPORTS = "<frozen importlib._bootstrap>"


class Events:
    """The events of one run, in order. `tell` takes one line for each; `clean` removes from a message what must not
    leave the process."""

    def __init__(self, tell: Tell, clean: Callable[[str], str] = str) -> None:
        self._tell = tell
        self._clean = clean
        self._first = os.getpid()
        self._told = 0
        # The limits that were reported, each with its line.
        self._limits: set[tuple[str, int | None]] = set()
        # Figures that were shown and not kept.
        self.figures_unkept = 0
        # The number of events over the bound.
        self.more = 0
        # The contract's counts of the snippet's accesses, if the contract counts them.
        self.accesses: dict[str, dict[str, int]] | None = None

    def add(self, kind: str, message: str, line: int | None = None) -> None:
        """`kind` is one of `refused`, `text`, `system`, `files`, `scope`, `crossing`, `limit`, `facts`.

        `line` defaults to the line of the snippet that is running now.
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
        """Fields for the last line of the report."""
        return {"more": self.more, "accesses": self.accesses, "figures_unkept": self.figures_unkept}

    def limit(self, name: str, line: int | None = None, reason: str = "") -> None:
        """Reports that a limit is met, once for each line. `reason`: which limit of this kind."""
        if line is None:
            line = running_line()
        if (name, line) not in self._limits:
            self._limits.add((name, line))
            words = f"the {name} limit is reached"
            self.add("limit", f"{words}: {reason}" if reason else words, line)


def importing() -> bool:
    """Whether a library is being imported for the snippet. What its code tries meanwhile is not the snippet's
    doing."""
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
