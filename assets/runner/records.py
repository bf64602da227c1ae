"""A `csv.reader` that is not entered while it reads a row.

CPython's reader holds the fields of the row that it reads. An iterator of the snippet that asks the same reader for a
row meanwhile takes them away (a null pointer afterwards).
"""

from __future__ import annotations

import io

from _countersign import loaded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Sources that run no code of the snippet.
PLAIN = (list, tuple, str, io.StringIO, io.TextIOWrapper)


def close() -> None:
    loaded.change(["csv"], readers)


def readers(csv: Any) -> None:
    plain = csv.reader

    def reader(csvfile: Any, *args: Any, **kwargs: Any) -> Any:
        found = plain(csvfile, *args, **kwargs)
        return found if type(csvfile) in PLAIN else Reader(found)

    reader.__doc__ = plain.__doc__
    csv.reader = reader


class Reader:
    """Stands for a reader whose lines come from an iterator."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self._reads = False

    def __iter__(self) -> Reader:
        return self

    def __next__(self) -> list[Any]:
        if self._reads:
            raise ValueError("the reader is reading a row already")
        self._reads = True
        try:
            row: list[Any] = next(self._real)
        finally:
            self._reads = False
        return row

    @property
    def dialect(self) -> Any:
        return self._real.dialect

    @property
    def line_num(self) -> int:
        return int(self._real.line_num)
