"""The values of a private data set and in how many rows each stands: what the broker hides.

Runs no snippet, in a jail of its own. One JSON line `[text, rows]` for each value of each column to
standard output; a number is the text of a number. A row is a record: of a table its row, of JSON an
element of the outermost list, so that what one person has often is still in one row.

Sums, means, medians and spreads over the few rows that share a value of one column, or of two, tell
about as much: they are values too, of as many rows. How far these were looked for goes into the report,
where it was not all the way: the broker tells the person who watches the run.
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

from _countersign import errors, inputs, plain, spec

# Rows that are few: one less than what the broker takes for many.
SMALL = 4
# A column of more different values is not grouped by.
KINDS = 10_000
# Of the columns with the fewest values so many are looked at by two.
PAIRED = 8
# Numbers over groups, the natural groups first, and seconds of processor time that finding them may
# take: what else the machine does must not make it fewer.
NUMBERS = 1_000_000
SECONDS = 40
# Decimals to which they are rounded by who prints them.
ROUNDED = (1, 2, 3, 4)


# Each `{"bound": …}` with its numbers, as the broker's `executor::bounds` reads it.
Bounds = list[dict[str, Any]]


def run(setup: spec.Setup, libraries: dict[str, ModuleType]) -> dict[str, Any]:
    """The converter's report, with the bounds that were met; `rows` counts the lines."""
    one = spec.read_job(setup).inputs[0]
    pandas: Any = libraries.get("pandas")
    value = inputs.load_one(one, pandas)
    lines = 0
    bounds: Bounds = []
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as sink:
        try:
            if one.kind == "table":
                found = chain(of_table(value, pandas), aggregates([value], pandas, bounds))
            else:
                found = chain(of_plain(value), aggregates(records(value, pandas), pandas, bounds))
            for text, rows in found:
                sink.write(json.dumps([text, rows]) + "\n")
                lines += 1
        except RecursionError:
            raise errors.Refused("SnippetError", "it is nested too deeply") from None
    return {"columns": [], "rows": lines, "frame": True, "bounds": bounds}


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


def records(value: Any, pandas: Any) -> list[Any]:
    """The lists of records of plain data, each as a table."""
    lists = [value]
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list)]
    return [
        pandas.DataFrame(rows)
        for rows in lists
        if pandas is not None and isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)
    ]


def aggregates(frames: list[Any], pandas: Any, bounds: Bounds) -> Iterator[tuple[str, int]]:
    """What is computed most of groups of 2 to 4 rows."""
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
    """Notes a bound, once."""
    if bound not in bounds:
        bounds.append(bound)


def with_index(frame: Any, pandas: Any) -> Any:
    """The table with numbered columns, what stands beside its rows among them."""
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
    if len(ordered) > PAIRED:
        met(bounds, bound="pairs", most=PAIRED)
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
    """Numbers over the few rows of a group, of the columns in `rest`."""
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
        # As tables print a fraction of a second, and numpy's are in JSON.
        yield plain.brief(str(cell))
        yield plain.brief(text)
    elif hasattr(cell, "tolist"):
        # Of numpy: an array, or one number whose short text may be of fewer digits than its value.
        yield str(cell)
        if not isinstance(listed := cell.tolist(), type(cell)):
            yield from texts(listed)
    else:
        yield str(cell)
        if isinstance(cell, datetime.timedelta) and hasattr(cell, "isoformat"):
            # As pandas' are in JSON.
            yield cell.isoformat()
