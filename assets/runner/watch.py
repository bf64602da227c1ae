"""Checkpoints: ticks, memory, and the one way in which a run is ended from inside.

A typed error of the guard is never raised through the snippet, which could catch it, hold it up in
a `finally` or turn it into something else: it is reported, and the process ends where it stands.
Cancel and the wall clock have their own: see `stop`.
"""

from __future__ import annotations

import itertools
import os
import sys

from _countersign import errors, hold, limits, report, spec
from _countersign.contracts import Contract
from _countersign.events import Events, running_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, NoReturn

    End = Callable[[BaseException], NoReturn]

# Ticks that are counted by the interpreter's own iterators between two looks of ours.
BLOCK = 4096


class Watch:
    """One run's counter and its end. `ticks`: 0 for no limit."""

    def __init__(self, ticks: int, events: Events, end: End) -> None:
        self.limit = ticks
        self.events = events
        self._end = end
        # A chain of C iterators: a checkpoint costs one call and no Python frame.
        self._ticks = itertools.chain.from_iterable(self._blocks())
        self.tick = self._ticks.__next__

    def stepped(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items, each after a checkpoint: a loop over them then needs none of its own."""
        return itertools.compress(items, self._ticks)

    def _blocks(self) -> Iterator[Iterator[bool]]:
        left = self.limit
        while left > 0:
            yield itertools.repeat(True, min(BLOCK, left))
            left -= BLOCK
        self.over("ticks", errors.TickLimit(f"more than {self.limit} ticks"))

    def caught(self, error: BaseException | None = None) -> None:
        """Stands first in every `except`, `finally` and `__exit__`: what must not be caught ends the
        run there, and a limit that may be caught is told."""
        error = error or errors.current()
        if isinstance(error, MemoryError):
            self.over("memory", error)
        if error is not None and (isinstance(error, limits.KINDS) or error.__context__):
            limits.met(error)

    def over(self, limit: str, error: BaseException) -> NoReturn:
        self.events.limit(limit, errors.snippet_line(error))
        self._end(error)

    def end(self, error: BaseException) -> NoReturn:
        self._end(error)

    def ends(self, end: End) -> None:
        """How a run is ended from here on."""
        self._end = end


def ends_process(setup: spec.Setup, events: Events, contract: Contract) -> End:
    """Reports the error and leaves. Forks of the snippet's leave without a word."""
    first = os.getpid()

    def end(error: BaseException) -> NoReturn:
        # What the snippet put in their place is not to run any more.
        sys.stdout, sys.stderr = contract.streams()
        if os.getpid() == first:
            if isinstance(error, MemoryError):
                hold.relax()
            errors.show(error)
            said: dict[str, Any] = errors.as_report(error)
            if said["line"] is None:
                said["line"] = running_line()
            contract.end()
            told = contract.told({"error": said, "result": None})
            report.send(setup, told | events.closing())
        report.leave(1)

    return end
