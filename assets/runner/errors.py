"""Typed errors: what went wrong and in which line of the snippet, without details of this machine."""

from __future__ import annotations

import errno
import opcode
import sys
from types import TracebackType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SNIPPET = "<snippet>"
RAISE = opcode.opmap["RAISE_VARARGS"]
MESSAGE_MAX = 2000


class PolicyViolation(BaseException):
    """The snippet did what its policy forbids. Not an `Exception`, so that `except Exception` does not catch it."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class TickLimit(BaseException):
    """The snippet used up its ticks."""


class Refused(Exception):
    """The run cannot go on; the outcome has its own type for the reason."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


def as_report(error: BaseException) -> dict[str, Any]:
    """The error as the outcome reports it."""
    kind, limit = classify(error)
    line = getattr(error, "line", None) if isinstance(error, PolicyViolation) else None
    if line is None:
        line = snippet_line(error)
    name: str | None = type(error).__name__
    if isinstance(error, (PolicyViolation, Refused, TickLimit)):
        name = None
    return {
        "type": kind,
        "message": text_of(error) + hint(error),
        "line": line,
        "exception": name,
        "limit": limit,
        "errno": number_of(error) if limit else None,
    }


def classify(error: BaseException) -> tuple[str, str | None]:
    """The outcome's type and limit for an exception. The broker treats both as claims."""
    if isinstance(error, PolicyViolation):
        return "PolicyViolation", None
    if isinstance(error, Refused):
        return error.kind, None
    if isinstance(error, TickLimit):
        return "TickLimit", "ticks"
    if isinstance(error, MemoryError) and not is_raised(error):
        return "MemoryLimit", "memory"
    number = number_of(error)
    if number in (errno.EFBIG, errno.EMFILE, errno.ENOSPC):
        return "SnippetError", "files"
    if number == errno.EAGAIN:
        return "SnippetError", "processes"
    if isinstance(error, RuntimeError) and "can't start new thread" in text_of(error):
        return "SnippetError", "processes"
    return "SnippetError", None


def is_raised(error: BaseException) -> bool:
    """Whether a statement of the snippet raised the error, and no allocation that failed."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or last.tb_frame.f_code.co_filename != SNIPPET:
        return False
    try:
        return last.tb_frame.f_code.co_code[last.tb_lasti] == RAISE
    except MemoryError:
        return False


def number_of(error: BaseException) -> int | None:
    """The system's error number (errno(3)), read through the base class: a class of the snippet's may define its own
    `errno`."""
    number = OSError.errno.__get__(error) if isinstance(error, OSError) else None  # type: ignore[union-attr]  # the descriptor, which the class's own type hides
    return number if isinstance(number, int) else None


def current() -> BaseException | None:
    """The exception that is being handled."""
    return sys.exc_info()[1]


def whole() -> None:
    """From now on no message is cut: redaction hides whole values only, so a cut would reveal the beginning
    of one."""
    global _whole
    _whole = True


def cut(text: str) -> str:
    """The message, cut to a bounded length."""
    if len(text) <= MESSAGE_MAX:
        return text
    return f"[{len(text)} characters left out]" if _whole else text[:MESSAGE_MAX]


_whole = False


def text_of(error: BaseException) -> str:
    """The error's own message. Code of the snippet may produce it, and may raise again."""
    if isinstance(error, MemoryError) and not is_raised(error):
        said = "the memory limit is reached"
        try:
            # numpy names the array that did not fit.
            own = str(error)
        except BaseException:  # noqa: BLE001 - there may be no room for that either
            own = ""
        return cut(f"{said}: {own}") if own else said
    if isinstance(error, SystemExit):
        # `sys.exit("why")`: the interpreter would print this text.
        if type(error.code) is str:
            return cut(error.code)
        return cut(f"the snippet ended itself with status {error.code!r}")
    if isinstance(error, SyntaxError):
        return cut(str(error.msg))
    try:
        return cut(str(error))
    except BaseException:  # noqa: BLE001 - a hostile __str__ must not end the runner
        return ""


def hint(error: BaseException) -> str:
    """The hint that ends the message of an error about a missing name."""
    if not isinstance(error, (KeyError, AttributeError, NameError)):
        return ""
    from _countersign import nearest

    return nearest.hint(error)


def snippet_lines(trace: TracebackType | None) -> list[tuple[int, str]]:
    """Line and function of each of the snippet's frames."""
    lines = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == SNIPPET:
            lines.append((trace.tb_lineno, code.co_qualname))
        trace = trace.tb_next
    return lines


def snippet_line(error: BaseException) -> int | None:
    """The innermost line of the snippet."""
    if isinstance(error, SyntaxError) and error.filename == SNIPPET:
        return error.lineno
    lines = snippet_lines(error.__traceback__)
    return lines[-1][0] if lines else None


def last_line(error: Any) -> str:
    """The error's type and message, as in the last line of a traceback."""
    text = text_of(error) if isinstance(error, BaseException) else str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# How many causes of an error are shown.
BEHIND = 5
CAUSED = "The above exception was the direct cause of the following exception:"
MEANWHILE = "During handling of the above exception, another exception occurred:"


def lines_of(error: BaseException, chain: bool = True) -> list[str]:
    """A traceback of the snippet's own frames, after those of the error's causes."""
    parts: list[str] = []
    for one, joint in behind(error) if chain else []:
        parts += [*frames_of(one), "", joint, ""]
    return parts + frames_of(error)


def behind(error: BaseException) -> list[tuple[BaseException, str]]:
    """The errors that it was raised from or while handling, the earliest first."""
    found: list[tuple[BaseException, str]] = []
    seen = {id(error)}
    while len(found) < BEHIND:
        cause, context = error.__cause__, error.__context__
        before = cause if cause is not None else None if error.__suppress_context__ else context
        if before is None or id(before) in seen:
            break
        seen.add(id(before))
        found.append((before, CAUSED if cause is not None else MEANWHILE))
        error = before
    return found[::-1]


def frames_of(error: BaseException) -> list[str]:
    parts = ["Traceback (most recent call last):"]
    lines = snippet_lines(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename == SNIPPET:
        lines.append((error.lineno or 0, "<module>"))
    if len(lines) > 20:
        parts += [f'  File "{SNIPPET}", line {n}, in {where}' for n, where in lines[:10]]
        parts.append(f"  … {len(lines) - 20} more frames …")
        lines = lines[-10:]
    parts += [f'  File "{SNIPPET}", line {n}, in {where}' for n, where in lines]
    return [*parts, last_line(error)]


def show(error: BaseException) -> None:
    """Prints a traceback of the snippet's own frames to stderr."""
    if isinstance(error, (PolicyViolation, Refused, TickLimit, SystemExit)):
        return
    parts = lines_of(error)
    parts[-1] += hint(error)
    try:
        print("\n".join(parts), file=sys.stderr, flush=True)  # noqa: T201 - as Python does
    except (OSError, ValueError, AttributeError, TypeError):
        # The snippet closed or replaced its stderr; the report says the same.
        pass


def show_unraisable(told: Any) -> None:
    """Prints an error that the interpreter drops, without frames of libraries. `told`: the argument of
    `sys.unraisablehook`."""
    show(told.exc_value or told.exc_type())


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: str | None = None,
) -> None:
    """Prints a warning without the path and source line of the library that issued it."""
    where = f"{SNIPPET}:{lineno}: " if filename == SNIPPET else ""
    try:
        print(cut(f"{where}{category.__name__}: {message}"), file=sys.stderr)  # noqa: T201 - as Python does
    except (OSError, ValueError, AttributeError, TypeError):
        pass
