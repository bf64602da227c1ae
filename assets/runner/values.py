"""The values of a private data set and in how many rows each stands: what the broker hides.

Runs no snippet, in a jail of its own. One JSON line `[text, rows]` for each value of each column to
standard output; a number is the text of a number. A row is a record: of a table its row, of JSON an
element of the outermost list, so that what one person has often is still in one row.
"""

import datetime
import json
import os
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from _countersign import errors, inputs, spec


def run(setup: spec.Setup, libraries: dict[str, ModuleType]) -> dict[str, Any]:
    """The same report as the converter's; `rows` counts the lines."""
    one = spec.read_job(setup).inputs[0]
    pandas: Any = libraries.get("pandas")
    value = inputs.load_one(one, pandas)
    lines = 0
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as sink:
        try:
            found = of_table(value, pandas) if one.kind == "table" else of_plain(value)
            for text, rows in found:
                sink.write(json.dumps([text, rows]) + "\n")
                lines += 1
        except RecursionError:
            raise errors.Refused("SnippetError", "it is nested too deeply") from None
    return {"columns": [], "rows": lines, "frame": True}


def of_table(frame: Any, pandas: Any) -> Iterator[tuple[str, int]]:
    columns = [frame.iloc[:, at] for at in range(frame.shape[1])]
    if not isinstance(frame.index, pandas.RangeIndex):
        # It is printed beside the columns.
        levels = range(frame.index.nlevels)
        columns += [pandas.Series(frame.index.get_level_values(at)) for at in levels]
    for column in columns:
        counts: dict[str, int] = {}
        for cell, rows in cells(column):
            for text in set(texts(cell)):
                counts[text] = counts.get(text, 0) + rows
        yield from counts.items()


def cells(column: Any) -> Iterable[tuple[Any, int]]:
    try:
        counted = column.value_counts()
        # Iterated, short floats would become long ones, which nobody prints.
        short = counted.index.dtype in ("float16", "float32")
        found = counted.index.to_numpy() if short else counted.index
        return list(zip(found, (int(rows) for rows in counted)))
    except TypeError:
        # Lists and the like cannot be counted at once.
        return ((cell, 1) for cell in column)


def of_plain(value: Any) -> Iterator[tuple[str, int]]:
    seen: dict[tuple[str, ...], dict[str, list[int]]] = {}
    rows = 0

    def see(path: tuple[str, ...], text: str, row: int) -> None:
        known = seen.setdefault(path, {}).setdefault(text, [0, -1])
        if known[1] != row:
            known[0], known[1] = known[0] + 1, row

    def walk(value: Any, path: tuple[str, ...], row: int | None) -> None:
        nonlocal rows
        if isinstance(value, dict):
            for key, one in value.items():
                if path:
                    # Of the first level they are the columns' names; deeper ones may be data.
                    see(path, key, row or 0)
                walk(one, (*path, key), row)
        elif isinstance(value, list):
            for one in value:
                if row is None:
                    rows += 1
                    walk(one, path, rows)
                else:
                    walk(one, path, row)
        else:
            for text in texts(value):
                see((*path, ""), text, row or 0)

    walk(value, (), None)
    for column in seen.values():
        for text, (count, _) in column.items():
            yield text, count


def texts(cell: Any) -> Iterator[str]:
    """How a value is written by itself, in the ways that libraries write it."""
    if isinstance(cell, str):
        yield cell
    elif cell is None or isinstance(cell, bool):
        return
    elif isinstance(cell, (int, float)):
        yield int.__repr__(cell) if isinstance(cell, int) else float.__repr__(cell)
    elif isinstance(cell, (bytes, bytearray)):
        yield bytes(cell).decode("utf-8", "replace")
    elif isinstance(cell, dict):
        for key, one in cell.items():
            yield str(key)
            yield from texts(one)
    elif isinstance(cell, (list, tuple, set, frozenset)):
        for one in cell:
            yield from texts(one)
    elif isinstance(cell, (datetime.date, datetime.time)):
        text = cell.isoformat()
        yield text
        yield str(cell)
        # A column of days is printed without its hours.
        yield text.removesuffix("T00:00:00")
    elif hasattr(cell, "tolist"):
        # Of numpy: an array, or one number whose short text may be of fewer digits than its value.
        yield str(cell)
        if not isinstance(plain := cell.tolist(), type(cell)):
            yield from texts(plain)
    else:
        yield str(cell)
