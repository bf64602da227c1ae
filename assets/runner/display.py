"""The bare last expression, shown as a notebook would show it."""

from __future__ import annotations

import sys

from _countersign import figures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Display:
    """Remembers the value for the result."""

    def __init__(self) -> None:
        self.value: Any = None

    def __call__(self, value: Any) -> None:
        self.value = value
        if value is not None and not figures.is_shown(value):
            sys.stdout.write(repr(value) + "\n")


def widen(pandas: Any) -> None:
    """A table is read in a wide window and by programs, not on 80 columns."""
    if pandas is not None:
        pandas.set_option("display.width", 160)
        pandas.set_option("display.max_columns", 50)
