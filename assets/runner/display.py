"""The bare last expression, shown as a notebook would show it."""

from __future__ import annotations

import sys

from _countersign import figures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# Bytes of one value, half of what a run may print: one that is longer would end it.
MOST = 100_000


class Display:
    """Remembers the value for the result. `whole`: nothing of it is cut."""

    def __init__(self, whole: bool = False) -> None:
        self.value: Any = None
        self.whole = whole

    def __call__(self, value: Any) -> None:
        if value is None or figures.is_shown(value):
            # A figure is a file.
            return
        self.value = value
        text = repr(value)
        if len(text) > MOST // 4 and not self.whole:
            from _countersign.plain import cut

            text, was_cut = cut(text, MOST)
            text += " … (cut)" if was_cut else ""
        sys.stdout.write(text + "\n")


def widen(pandas: Any) -> None:
    """A table is read in a wide window and by programs, not on 80 columns: each row is one line, and
    what makes it long is cut."""
    if pandas is not None:
        pandas.set_option("display.width", 160)
        pandas.set_option("display.expand_frame_repr", False)
        pandas.set_option("display.max_columns", 50)
        pandas.set_option("display.max_colwidth", 50)


def uncut(pandas: Any) -> None:
    """The beginning of a text that is hidden as a whole would be told."""
    if pandas is not None:
        pandas.set_option("display.max_colwidth", None)
