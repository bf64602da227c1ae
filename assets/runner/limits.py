"""Limits of the process: meeting one is an event, even where the error is caught.

Three places notice it: every `except`, `finally` and `__exit__` of the snippet (`watch`); every file that Python code
opens or writes (`opened`); and SIGXFSZ, which the kernel sends when any writer would make a file too large. Other
limits that compiled code of a library meets and does not report, such as a full folder, go unnoticed.
"""

from __future__ import annotations

import errno
import os
import signal
from types import CodeType, FrameType, FunctionType

from _countersign import errors
from _countersign.events import Events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# How many causes of an error are inspected.
DEEP = 20

# Types of errors that name a limit or hold an error that does.
KINDS = (OSError, RuntimeError, MemoryError, BaseExceptionGroup)

# Where limits are recorded under the guard.
_events: Events | None = None

# Code of methods that report limits themselves.
_tell: set[CodeType] = set()


def told_to(events: Events) -> None:
    """From now on a limit that is met is an event of the run."""
    global _events
    _events = events
    signal.signal(signal.SIGXFSZ, too_large)


def met(error: BaseException) -> None:
    """Reports the limits that an error and its causes name."""
    if _events is None:
        return
    line = errors.snippet_line(error)
    for one in behind(error):
        if isinstance(one, KINDS) and (limit := errors.classify(one)[1]):
            _events.limit(limit, errors.snippet_line(one) or line, reason(one))


def reached(limit: str, reason: str) -> None:
    """Reports a limit that the runner itself counts."""
    if _events is not None:
        _events.limit(limit, None, reason)


def lost_figure(reason: str) -> None:
    """Counts a figure that is not kept, and reports the limit."""
    reached("files", reason)
    if _events is not None:
        _events.figures_unkept += 1


def behind(error: BaseException) -> Iterator[BaseException]:
    """The error, the errors that it was raised from or while handling, and the members of groups."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting and len(seen) < DEEP:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            waiting += BaseExceptionGroup.exceptions.__get__(one)


def reason(error: BaseException) -> str:
    """The system's own description of the error, without any text of the snippet."""
    number = errors.number_of(error)
    return "" if number is None else os.strerror(number)


def tell_themselves(*functions: FunctionType) -> None:
    """Registers methods that report every limit they meet."""
    _tell.update(function.__code__ for function in functions)


def too_large(number: int, frame: FrameType | None) -> None:
    """Handles SIGXFSZ, which arrives with the error or soon after. Reports it unless a method on the stack
    does so itself."""
    while frame is not None and frame.f_code not in _tell:
        frame = frame.f_back
    if frame is None and _events is not None:
        error = errors.current()
        line = errors.snippet_line(error) if isinstance(error, OSError) else None
        _events.limit("files", line, os.strerror(errno.EFBIG))
