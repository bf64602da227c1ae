"""An `open` whose files report when they meet a limit, whoever writes them and even if the error is caught.

Otherwise the same as the built-in. When an open file is garbage-collected, the interpreter itself drops the error of
the last write.
"""

from __future__ import annotations

import gc
import io
import os

from _countersign import limits, mapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_open = io.open

# Modes that write, without their `b` or `t`.
WRITES = frozenset(("w", "a", "x", "r+", "w+", "a+", "x+", "+r", "+w", "+a", "+x"))


class File(io.FileIO):
    """The raw file below the buffers of a file that is written. It reports a limit once, because the buffers retry
    the rest when they are closed or collected."""

    _said = False

    def write(self, data: Any) -> int | None:  # type: ignore[override]  # takes any buffer, as its base class does
        try:
            return super().write(data)
        except OSError as error:
            self._say(error)
            raise

    def truncate(self, size: int | None = None) -> int:
        mapped.keep(os.fstat(self.fileno()))
        try:
            return super().truncate(size)
        except OSError as error:
            self._say(error)
            raise

    def _say(self, error: OSError) -> None:
        if not self._said:
            self._said = True
            limits.met(error)


limits.tell_themselves(File.write, File.truncate)  # type: ignore[arg-type]  # both are functions


def open_(
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: Callable[[Any, int], int] | None = None,
) -> Any:
    """As `io.open`, which also reports wrong arguments."""
    try:
        binary = "b" in mode
        way = mode.replace("b" if binary else "t", "", 1)
        if binary:
            usual = buffering != 1 and encoding is errors is newline is None
        else:
            usual = buffering != 0
        if way not in WRITES or not usual:
            return _open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        raw = File(file, way, closefd, opener)
    except OSError as error:
        limits.met(error)
        raise
    if buffering == 0:
        return raw
    try:
        size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
        both = "+" in way
        buffer = io.BufferedRandom(raw, size) if both else io.BufferedWriter(raw, size)
        if binary:
            return buffer
        text = io.TextIOWrapper(buffer, encoding, errors, newline, line_buffering=buffering == 1)
        text.mode = mode  # type: ignore[misc]  # as `io.open` sets it
        return text
    except BaseException:
        raw.close()
        raise


def flush() -> None:
    """Flushes the buffers of open files, as the interpreter's own shutdown would. Only objects of exactly
    these classes:
    methods of the snippet must not run any more."""
    for kind in (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom):
        for file in gc.get_objects():
            if type(file) is kind:
                try:
                    kind.flush(file)
                except (OSError, ValueError) as error:
                    # The file is closed, or the rest does not fit.
                    limits.met(error)
