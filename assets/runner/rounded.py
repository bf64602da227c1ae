"""Numbers that programs print in place of a private one: rounded, without its fraction, as a percentage, and the edges
that pandas gives the outermost bins of `cut` and `qcut`.

Rounding to few decimals may make a number that could be anybody's, so it is hidden only where it tells values apart:
where the column's numbers are few for the range they lie in.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# The largest number of rows that are few.
SMALL = 4
# Columns with more distinct numbers are left out.
KINDS = 10_000
DECIMALS = (0, 1, 2, 3, 4)
# A rounded number is hidden if at most one in so many of the numbers with as many decimals, between the column's least
# and greatest, is one.
SPARSE = 100
# Digits that a rounded number needs: as a whole number, which years and counts are too, and without zeros at its ends.
WHOLE = 5
TELLING = 4


def of_frame(frame: Any, pandas: Any) -> Iterator[float]:
    """The numbers made of the values of each numeric column."""
    for at in range(frame.shape[1]):
        column = frame.iloc[:, at]
        kind = pandas.api.types
        if kind.is_numeric_dtype(column.dtype) and not kind.is_bool_dtype(column.dtype):
            if not kind.is_complex_dtype(column.dtype):
                counted = column.dropna().value_counts()
                yield from of_numbers({float(number): int(rows) for number, rows in counted.items()})


def of_numbers(counted: dict[float, int]) -> Iterator[float]:
    """`counted`: the distinct numbers of a column with their rows."""
    rows = {number: count for number, count in counted.items() if math.isfinite(number)}
    rare = [number for number, count in rows.items() if count <= SMALL]
    if not rare or len(rows) > KINDS:
        return
    least, most = min(rows), max(rows)
    span = (most - least) or abs(most)
    scales = (1, 100) if max(-least, most) <= 1 else (1,)
    made: set[float] = set()
    for scale in scales:
        for decimals in DECIMALS:
            if len(rows) * SPARSE <= span * scale * 10**decimals:
                made.update(forms(rare, scale, decimals))
    for edge in edges(least, most, set(rare)):
        made.add(edge)
    yield from (number for number in made if number not in rows and tells(number))


def forms(numbers: list[float], scale: int, decimals: int) -> Iterator[float]:
    for number in numbers:
        yield round(number * scale, decimals)
        if decimals == 0:
            yield from (float(math.floor(number * scale)), float(math.ceil(number * scale)))
    if scale != 1:
        # As `{x:%}` writes them.
        yield from (round(number * scale, 6) for number in numbers)


def edges(least: float, most: float, rare: set[float]) -> Iterator[float]:
    """The outer edges of bins: `qcut` moves the least number down by one in the last decimal it prints; `cut` moves it
    down by a thousandth of the range, `value_counts` by both, and the greatest goes up."""
    by = (most - least) * 0.001
    if least in rare:
        yield from (round(round(least, decimals) - 10**-decimals, decimals) for decimals in DECIMALS)
        yield from (round(least - by, decimals) for decimals in (*DECIMALS, 6, 8))
        yield round(round(least - by, 3) - 0.001, 3)
    if most in rare:
        yield from (round(most + by, decimals) for decimals in (*DECIMALS, 6, 8))


def tells(number: float) -> bool:
    """Whether the number has enough digits to be somebody's."""
    whole = number == math.trunc(number)
    text = str(abs(int(number))) if whole else repr(number).partition("e")[0].replace(".", "")
    return len(text.strip("-0")) >= TELLING and (not whole or len(text) >= WHOLE)
