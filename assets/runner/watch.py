"""Checkpoints: ticks, memory, and how a run is ended from inside.

A typed error of the guard is never raised through the snippet, which could catch it, delay it in a `finally` or
replace it: the error is reported, and the process ends at once. Cancel and the wall clock end a run in `stop`.
"""

from __future__ import annotations

import itertools
import os

from _countersign import errors, hold, limits, report, spec
from _countersign.contracts import Contract
from _countersign.events import Events, running_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, NoReturn

    End = Callable[[BaseException], NoReturn]

# Ticks that C iterators count between two calls of our code.
BLOCK = 4096


class Watch:
    """One run's counter and its end. `ticks`: 0 for no limit."""

    def __init__(self, ticks: int, events: Events, end: End) -> None:
        self.limit = ticks
        self.events = events
        self._end = end
        # A chain of C iterators, so that a checkpoint costs one call and no Python frame.
        self._ticks = itertools.chain.from_iterable(self._blocks())
        self.tick = self._ticks.__next__

    def stepped(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items, each after a checkpoint, so that a loop over them needs none of its own."""
        return itertools.compress(items, self._ticks)

    def _blocks(self) -> Iterator[Iterator[bool]]:
        left = self.limit
        while left > 0:
            yield itertools.repeat(True, min(BLOCK, left))
            left -= BLOCK
        self.over("ticks", errors.TickLimit(f"more than {self.limit} ticks"))

    def caught(self, error: BaseException | None = None) -> None:
        """Called first in every `except`, `finally` and `__exit__`: ends the run for errors that must not be
        caught, and reports limits that may be caught."""
        error = error or errors.current()
        if isinstance(error, MemoryError) and not errors.is_raised(error):
            self.over("memory", error)
        if error is not None and (isinstance(error, limits.KINDS) or error.__context__):
            limits.met(error)

    def over(self, limit: str, error: BaseException) -> NoReturn:
        self.events.limit(limit, errors.snippet_line(error))
        self._end(error)

    def end(self, error: BaseException) -> NoReturn:
        self._end(error)

    def ends(self, end: End) -> None:
        """Sets how the run is ended from now on."""
        self._end = end


def ends_process(setup: spec.Setup, events: Events, contract: Contract) -> End:
    """Returns a function that reports an error and ends the process. In the snippet's forks it reports nothing."""
    first = os.getpid()

    def end(error: BaseException) -> NoReturn:
        contract.own_streams()
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
