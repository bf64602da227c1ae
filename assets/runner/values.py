"""Lists the values of a private data set and the number of rows with each: what the broker hides.

Runs no snippet, in a jail of its own. Writes one JSON line `[text, rows]` for each value of each column to standard
output; numbers are written as text. A row is a record: a table's row, or an element of JSON's outermost list, so that
a value repeated within one person's record still counts as one row.

Sums, means, medians and spreads over a few rows that share a value of one or two columns reveal about as much as
single values, so they are listed too, with the number of those rows. If a bound ended the search for them, the report
says so, and the broker tells the person who watches the run.
"""

import datetime
import json
import math
import os
import time
from collections.abc import Iterable, Iterator
from itertools import chain, combinations
from types import ModuleType
from typing import Any

from _countersign import errors, inputs, plain, rounded, spec

# The largest group that counts as few rows: one less than what the broker counts as many.
SMALL = rounded.SMALL
# Columns with more distinct values are not grouped by.
KINDS = 10_000
# How many columns, those with the fewest values first, are grouped by in pairs.
PAIRED = 8
# Maximum count of numbers over groups, the most natural groups first, and seconds for finding them: of
# processor time, so that other load on the machine does not reduce the count.
NUMBERS = 1_000_000
SECONDS = 40
# Decimals to which programs commonly round printed numbers.
ROUNDED = (1, 2, 3, 4)


# A list of `{"bound": …}` with its numbers, as the broker's `executor::bounds` reads it.
Bounds = list[dict[str, Any]]


def run(setup: spec.Setup, libraries: dict[str, ModuleType]) -> dict[str, Any]:
    """Returns the converter's report, with the bounds that were met; `rows` counts the lines."""
    one = spec.read_job(setup).inputs[0]
    pandas: Any = libraries.get("pandas")
    value = inputs.load_one(one, pandas)
    lines = 0
    bounds: Bounds = []
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as sink:
        try:
            if one.kind == "table":
                found, frames = of_table(value, pandas), [value]
            else:
                found, frames = of_plain(value), records(value, pandas)
            made = ((repr(number), SMALL) for frame in frames for number in rounded.of_frame(frame, pandas))
            found = chain(found, made, aggregates(frames, pandas, bounds))
            for text, rows in found:
                sink.write(json.dumps([text, rows]) + "\n")
                lines += 1
        except RecursionError:
            raise errors.Refused("SnippetError", "it is nested too deeply") from None
    return {"columns": [], "rows": lines, "frame": True, "bounds": bounds}


def of_table(frame: Any, pandas: Any) -> Iterator[tuple[str, int]]:
    columns = [frame.iloc[:, at] for at in range(frame.shape[1])]
    if not isinstance(frame.index, pandas.RangeIndex):
        # The index is printed beside the columns.
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
        # Iterating would turn short floats into Python floats, whose digits nobody prints.
        short = counted.index.dtype in ("float16", "float32")
        found = counted.index.to_numpy() if short else counted.index
        return list(zip(found, (int(rows) for rows in counted)))
    except TypeError:
        # Unhashable cells, such as lists, cannot be counted by value.
        return ((cell, 1) for cell in column)


def records(value: Any, pandas: Any) -> list[Any]:
    """The lists of records in plain data, each as a table."""
    lists = [value]
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list)]
    return [
        pandas.DataFrame(rows)
        for rows in lists
        if pandas is not None and isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)
    ]


def aggregates(frames: list[Any], pandas: Any, bounds: Bounds) -> Iterator[tuple[str, int]]:
    """The usual statistics of groups of 2 to 4 rows."""
    if not frames:
        met(bounds, bound="shape")
    until = time.process_time() + SECONDS
    count = 0
    for frame in frames:
        frame = with_index(frame, pandas)
        numeric = [
            at
            for at, dtype in enumerate(frame.dtypes)
            if pandas.api.types.is_numeric_dtype(dtype) and not pandas.api.types.is_bool_dtype(dtype)
        ]
        for group in groups(frame, numeric, until, bounds):
            for number in of_groups(frame, group, [at for at in numeric if at not in group]):
                if count >= NUMBERS:
                    met(bounds, bound="numbers", most=NUMBERS)
                    return
                count += 1
                forms = {number, *(round(number, decimals) for decimals in ROUNDED)}
                yield from ((repr(form), SMALL) for form in forms)


def met(bounds: Bounds, **bound: Any) -> None:
    """Notes once that a bound was met."""
    if bound not in bounds:
        bounds.append(bound)


def with_index(frame: Any, pandas: Any) -> Any:
    """The table with numbered columns, including those of its index."""
    frame = frame.set_axis(range(frame.shape[1]), axis=1)
    if isinstance(frame.index, pandas.RangeIndex):
        return frame.reset_index(drop=True)
    levels = [str(level) for level in range(frame.index.nlevels)]
    frame = frame.rename_axis(index=levels).reset_index()
    return frame.set_axis(range(frame.shape[1]), axis=1)


def groups(frame: Any, numeric: list[int], until: float, bounds: Bounds) -> Iterator[list[int]]:
    """The columns to group by, one and two at a time, those with the fewest values first."""
    keys = []
    many = lists = 0
    for at in frame.columns if numeric else ():
        if late(until, bounds):
            return
        try:
            kinds = frame[at].nunique()
        except TypeError:
            lists += 1
            continue
        if 0 < kinds < len(frame) and kinds > KINDS:
            many += 1
        elif 0 < kinds < len(frame):
            keys.append((kinds, at))
    ordered = [at for _, at in sorted(keys)]
    if many:
        met(bounds, bound="kinds", columns=many, most=KINDS)
    if lists:
        met(bounds, bound="lists", columns=lists)
    for group in [*([at] for at in ordered), *map(list, combinations(ordered[:PAIRED], 2))]:
        if late(until, bounds):
            return
        yield group


def late(until: float, bounds: Bounds) -> bool:
    if time.process_time() <= until:
        return False
    met(bounds, bound="seconds", most=SECONDS)
    return True


def of_groups(frame: Any, group: list[int], rest: list[int]) -> Iterator[float]:
    """Statistics of the columns in `rest`, over groups of few rows."""
    if not rest:
        return
    sizes = frame.groupby(group, observed=True, dropna=False)[group[0]].transform("size")
    small = frame[(sizes >= 2) & (sizes <= SMALL)]
    if small.empty:
        return
    grouped = small.groupby(group, observed=True, dropna=False)
    for name in ("sum", "mean", "median", "std", "var"):
        found = getattr(grouped[rest], name)().to_numpy(dtype=float, na_value=float("nan"))
        yield from (number for number in set(found.ravel().tolist()) if math.isfinite(number))


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
                    # First-level keys are column names; deeper keys may be data.
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
    """The texts by which libraries write a single value."""
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
        # Dates without time are printed without hours.
        yield text.removesuffix("T00:00:00")
        # Fractions of a second as tables print them, and as numpy's times are in JSON.
        yield plain.brief(str(cell))
        yield plain.brief(text)
    elif hasattr(cell, "tolist"):
        # A numpy array, or a numpy number, whose short text may have fewer digits than its value.
        yield str(cell)
        if not isinstance(listed := cell.tolist(), type(cell)):
            yield from texts(listed)
    else:
        yield str(cell)
        if isinstance(cell, datetime.timedelta) and hasattr(cell, "isoformat"):
            # The form of pandas' time spans in JSON.
            yield cell.isoformat()
