"""What a person is shown of a data set: missing, distinct, least and greatest values of its columns, and first rows.

Values of a private data set do not leave this process: only counts do.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# What is summarised: so many columns, first rows, and characters of a value.
COLUMNS = 60
ROWS = 5
CHARACTERS = 40
# Cells whose distinct values are counted; those of a larger data set are not.
CELLS_MAX = 3_000_000

# A column: missing, distinct, least, greatest.
Column = tuple[int, "int | None", "str | None", "str | None"]


def of_table(frame: Any, private: bool) -> dict[str, Any]:
    shown = min(frame.shape[1], COLUMNS)
    counted = len(frame) * shown <= CELLS_MAX
    columns = [series(frame.iloc[:, at], counted) for at in range(shown)]
    head = frame.iloc[:ROWS, :shown]
    empty = head.isna()
    rows = [[cell(head.iat[row, at], empty.iat[row, at]) for at in range(shown)] for row in range(len(head))]
    return made(columns, rows, private)


def of_records(records: list[Any], names: list[str], private: bool) -> dict[str, Any]:
    """Of plain data: a list of objects."""
    shown = names[:COLUMNS]
    tables = [one for one in records if isinstance(one, dict)]
    counted = len(tables) * len(shown) <= CELLS_MAX
    columns = [values([one.get(name) for one in tables], counted) for name in shown]
    rows = [[cell(one.get(name), one.get(name) is None) for name in shown] for one in tables[:ROWS]]
    return made(columns, rows, private)


def made(columns: list[Column], rows: list[list[str | None]], private: bool) -> dict[str, Any]:
    keys = ("missing", "distinct", "least", "greatest")
    if private:
        columns = [(missing, distinct, None, None) for missing, distinct, _, _ in columns]
        rows = []
    return {"columns": [dict(zip(keys, one)) for one in columns], "head": rows}


def series(column: Any, counted: bool) -> Column:
    missing = int(column.isna().sum())
    distinct = tried(lambda: int(column.nunique())) if counted else None
    if column.dtype.kind not in "iufbmM" or missing == len(column):
        return missing, distinct, None, None
    return missing, distinct, tried(lambda: cell(column.min(), False)), tried(lambda: cell(column.max(), False))


def values(cells: list[Any], counted: bool) -> Column:
    there = [one for one in cells if one is not None]
    missing = len(cells) - len(there)
    distinct = tried(lambda: len(set(there))) if counted else None
    if not there or any(type(one) not in (int, float) for one in there):
        return missing, distinct, None, None
    return missing, distinct, cell(min(there), False), cell(max(there), False)


def tried(work: Callable[[], Any]) -> Any:
    """What cannot be counted or compared, such as lists, is unknown."""
    try:
        return work()
    except (TypeError, ValueError, OverflowError):
        return None


def cell(value: Any, missing: bool) -> str | None:
    """The value as a short text."""
    if missing:
        return None
    if isinstance(value, str):
        return cut(value[: CHARACTERS + 1])
    length = tried(lambda: len(value))
    return cut(str(value) if length is None else f"{type(value).__name__} of {length}")


def cut(text: str) -> str:
    # JSON may have half a character, which no UTF-8 has.
    whole = text.encode("utf-8", "replace").decode()
    return whole if len(whole) <= CHARACTERS else whole[: CHARACTERS - 1] + "…"
