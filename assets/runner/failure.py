"""Turns the error that ended a process's work into its report and exit status."""

from __future__ import annotations

from _countersign import errors, hold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def put(error: BaseException, report: dict[str, Any]) -> int:
    """Puts the error into the report and returns the exit status."""
    if isinstance(error, SystemExit) and error.code in (None, 0):
        return 0
    if isinstance(error, MemoryError):
        hold.relax()
    errors.show(error)
    report["error"] = errors.as_report(error)
    if isinstance(error, SystemExit) and isinstance(error.code, int):
        return (error.code & 0xFF) or 1
    return 1
