"""Limits of the process: one that is met is an event, also where somebody catches the error.

Seen from three places: every `except`, `finally` and `__exit__` of the snippet (`watch`); every file
that Python code opens or writes (`opened`); and SIGXFSZ, which the kernel sends with every file that
would grow too large, whoever writes it. What else compiled code of a library meets and keeps to itself,
a full folder say, is not seen.
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

# Errors behind an error that are looked at.
DEEP = 20

# What an error that names a limit is, or holds.
KINDS = (OSError, RuntimeError, MemoryError, BaseExceptionGroup)

# Who hears of it, under the guard.
_events: Events | None = None

# The code of what tells by itself.
_tell: set[CodeType] = set()


def told_to(events: Events) -> None:
    """From here on a limit that is met is an event of the run."""
    global _events
    _events = events
    signal.signal(signal.SIGXFSZ, too_large)


def met(error: BaseException) -> None:
    """Tells of the limits in an error and behind it."""
    if _events is None:
        return
    line = errors.snippet_line(error)
    for one in behind(error):
        if isinstance(one, KINDS) and (limit := errors.classify(one)[1]):
            _events.limit(limit, errors.snippet_line(one) or line, reason(one))


def reached(limit: str, reason: str) -> None:
    """Tells of one that the runner itself counts."""
    if _events is not None:
        _events.limit(limit, None, reason)


def behind(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was raised from or in the handling of, and the members of groups."""
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
    """The system's own words for what was met, and nothing of the snippet's."""
    number = errors.number_of(error)
    return "" if number is None else os.strerror(number)


def tell_themselves(*functions: FunctionType) -> None:
    """Methods that tell of every limit they meet."""
    _tell.update(function.__code__ for function in functions)


def too_large(number: int, frame: FrameType | None) -> None:
    """Comes with the error, or soon after: that is then the one that is handled."""
    while frame is not None and frame.f_code not in _tell:
        frame = frame.f_back
    if frame is None and _events is not None:
        error = errors.current()
        line = errors.snippet_line(error) if isinstance(error, OSError) else None
        _events.limit("files", line, os.strerror(errno.EFBIG))
