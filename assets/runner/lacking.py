"""Names the columns of the table in which a missing key was sought, for the end of the error's message.

The table is the one that the library was working on; where the key was sought in the labels of an index or of a row,
the labels must be those of a table's columns, or else a list of columns would mislead.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

# How many columns are named, and how many characters of a name.
NAMED = 20
LENGTH = 60


def of(beyond: list[FrameType], own: list[FrameType]) -> list[Any] | None:
    """The columns of the table that the innermost frames of the library work on. `own`: the snippet's frames."""
    tables = [table for frame in reversed(beyond) for table in tables_in(frame.f_locals)]
    labels = sought_in(beyond)
    if labels is None:
        return list(tables[0].columns) if tables else None
    mine = [own[0].f_locals, own[0].f_globals] if own else []
    tables += [table for names in mine for table in tables_in(names)]
    return next((list(table.columns) for table in tables if labels.equals(table.columns)), None)


def row(value: Any, own: list[FrameType]) -> list[Any] | None:
    """The columns of the snippet's table of which this is a row."""
    series: Any = getattr(sys.modules.get("pandas"), "Series", ())
    if not isinstance(value, series):
        return None
    mine = [own[0].f_locals, own[0].f_globals] if own else []
    tables = [table for names in mine for table in tables_in(names)]
    return next((list(table.columns) for table in tables if value.index.equals(table.columns)), None)


def tables_in(names: dict[str, Any]) -> Iterator[Any]:
    """The tables among the variables, and those that a grouping or an indexer among them works on."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    for _, value in sorted(names.items(), key=lambda pair: pair[0] != "self"):
        if isinstance(value, pandas.DataFrame):
            yield value
        elif str(type(value).__module__).startswith("pandas."):
            inner = getattr(value, "__dict__", {}).get("obj")
            if isinstance(inner, pandas.DataFrame):
                yield inner


def sought_in(beyond: list[FrameType]) -> Any:
    """The index whose method found no such label; None if the error comes from elsewhere."""
    index = getattr(sys.modules.get("pandas"), "Index", ())
    selves = (frame.f_locals.get("self") for frame in reversed(beyond))
    return next((one for one in selves if isinstance(one, index)), None)


def listed(names: list[Any]) -> str:
    """`; the columns are `a`, `b` and 3 more`, to end the error's message with."""
    shown = [f"`{name[:LENGTH]}`" if type(name) is str else f"`{repr(name)[:LENGTH]}`" for name in names[:NAMED]]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"; the columns are {', '.join(shown)}{more}"
