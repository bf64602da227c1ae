"""The value that a run shows last, as plain JSON of bounded size.

A table becomes its first rows with their labels; other values become their JSON form. Anything without a JSON form or
beyond a bound is left out and named beside the value: no value ends a run.
"""

from __future__ import annotations

import json
import math
import sys
from collections import ChainMap, OrderedDict, UserDict, deque
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from _countersign import kinds, once
from _countersign.kinds import is_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType
    from typing import Any

# Size of one value as JSON, as much as a frame carries of stdout. The last text may exceed it.
BYTES = once.BYTES
ROWS = once.ROWS
COLUMNS = 200
LEVELS = 10
# Maximum characters of a text, of a text in a table cell, and of a column's name.
TEXT = 10_000
CELL = 1000
NAME = 200
# JSON readers, including ours, refuse deeper nesting.
DEPTH = 100
# Maximum number of reasons named for what was left out.
NAMED = 10

VIEWS = (*once.VIEWS, *map(type, (OrderedDict().keys(), OrderedDict().values(), OrderedDict().items())))
# Each is read with its own method, which a class that inherits from it may have replaced.
LISTS = (list, tuple, set, frozenset, range, deque, *VIEWS)
# Of the module `datetime`, each before what it inherits from.
TIMES = ("datetime", "date", "time")

CHANGING = "a table or an array that could not be copied before it was printed"


def taken(value: Any, private: bool) -> tuple[Any, dict[str, Any]]:
    """What to print in the value's place, and the result made of the same: `{"value": …}`, and `value_left_out` if
    something is missing. `private`: the value may contain private values; redaction recognises them only whole, so no
    text is cut in the middle."""
    try:
        copy = once.copied(value)
    except Exception:  # noqa: BLE001 - no room for a copy, or a table of parts that cannot be copied
        shown = Shown(private)
        return value, shown.told(shown.without(value, CHANGING))
    return copy, result(copy, private)


def result(value: Any, private: bool) -> dict[str, Any]:
    """The result made of a value that nothing changes any more. No code of the snippet's classes runs."""
    shown = Shown(private)
    try:
        made = shown.of(value)
    except Exception as error:  # noqa: BLE001 - whatever a library's object raises
        made = shown.without(value, f"what could not be read ({type(error).__name__:.100})")
    return shown.told(made)


class Shown:
    """Makes the JSON of one value, as far as there is room."""

    def __init__(self, private: bool) -> None:
        self.private = private
        self.room = BYTES
        self.left_out: list[str] = []

    def told(self, made: Any) -> dict[str, Any]:
        told: dict[str, Any] = {"value": made}
        if self.left_out:
            told["value_left_out"] = self.left_out
        return told

    def of(self, value: Any, depth: int = 0, cell: bool = False) -> Any:
        """`cell`: the value is in a table, where values that JSON lacks become text."""
        if depth > DEPTH:
            return self.without(value, f"what is nested deeper than {DEPTH}")
        kind = type(value)
        if kind is type(None) or kind is bool:
            self.room -= 6
            return value
        if issubclass(kind, Enum):
            return self.of(kinds.attributes(value).get("_value_"), depth + 1, cell)
        if issubclass(kind, str):
            return self.text(value, CELL if cell else TEXT)
        if issubclass(kind, int):
            return self.integer(int.__int__(value))
        if issubclass(kind, (float, *kinds.found("decimal", "Decimal"), *kinds.found("fractions", "Fraction"))):
            self.room -= 20
            return number(value, kind)
        if issubclass(kind, kinds.found("datetime", *TIMES, "timedelta")):
            return self.time(value, kind)
        if issubclass(kind, dict) or (not is_own(kind) and issubclass(kind, Mapping)):
            return self.mapping(value, kind, depth, cell)
        if (plain := next((one for one in LISTS if issubclass(kind, one)), None)) is not None:
            return self.items(plain.__iter__(value), depth, cell)  # type: ignore[attr-defined]  # each of them is iterable
        if kinds.table_kind(value) is not None:
            return self.table(value, depth)
        return self.of_library(value, kind, depth, cell)

    def integer(self, value: int) -> int | str:
        if -(2**63) <= value < 2**64:
            self.room -= 20
            return value
        return self.text(int.__repr__(value), CELL)

    def time(self, value: Any, kind: type) -> Any:
        """A time or a span in ISO 8601; Python's own spans as Python writes them."""
        if value is getattr(loaded("pandas"), "NaT", None):
            return None
        stamps = kinds.found("pandas", "Timestamp", "Timedelta")
        plain = next(one for one in kinds.found("datetime", *TIMES, "timedelta") if issubclass(kind, one))
        zone: Any = plain.__dict__.get("tzinfo")
        if (issubclass(kind, stamps) and is_own(kind)) or (zone and is_own(type(zone.__get__(value)))):
            return self.without(value, f"{kinds.name_of(value)}, which the snippet's own code writes")
        if issubclass(kind, stamps):
            return self.text(value.isoformat(), CELL)
        write: Any = getattr(plain, "isoformat", plain.__str__)
        return self.text(write(value), CELL)

    def items(self, values: Iterable[Any], depth: int, cell: bool = False) -> list[Any]:
        self.room -= 2
        made = []
        for one in values:
            if self.full():
                break
            made.append(self.of(one, depth + 1, cell))
        return made

    def mapping(self, value: Any, kind: type, depth: int, cell: bool) -> Any:
        if (pairs := pairs_of(value, kind)) is None:
            return self.without(value, f"{kinds.name_of(value)}, which has no plain JSON form")
        self.room -= 2
        made: dict[str, Any] = {}
        for key, one in pairs:
            if self.full():
                break
            name = self.key(key)
            if name in made:
                # `1` and `"1"`, or two nan keys.
                self.leave("the values of keys that are the same text as an earlier one")
                continue
            made[name] = self.of(one, depth + 1, cell)
        return made

    def key(self, key: Any) -> str:
        """The key as text, which JSON requires."""
        kind = type(key)
        if issubclass(kind, tuple):
            return self.text(str(tuple(self.items(tuple.__iter__(key), 0, cell=True))), CELL)
        name = self.of(key, 0, cell=True)
        if issubclass(kind, float):
            name = float.__repr__(float.__float__(key))
        return name if isinstance(name, str) else self.text(str(name if is_own(kind) else key), CELL)

    def table(self, value: Any, depth: int) -> Any:
        """The first rows of a table, as many as fit."""
        kind = kinds.table_kind(value) or ""
        pandas: Any = loaded("pandas")
        if type(value) is not getattr(pandas, kind):
            # A subclass's own methods could describe another table.
            value = kinds.table(value, kind, pandas)
        if kind == "DataFrame":
            head = value.iloc[:ROWS, :COLUMNS]
            columns = [self.column(name) for name in head.columns]
            rows = head.itertuples(index=False, name=None)
            if value.shape[1] > COLUMNS:
                self.leave(f"columns after the first {COLUMNS}")
        else:
            head = value.iloc[:ROWS]
            columns = [None if value.name is None else self.column(value.name)]
            rows = ((one,) for one in head)
        made: dict[str, Any] = {
            "kind": kind,
            "shape": [int(size) for size in value.shape],
            "index": [],
            "index_names": self.items(value.index.names, depth, cell=True),
            "columns": columns,
            "rows": [],
        }
        for label, row in zip(head.index, rows):
            shown_label = self.of(label, depth + 1, cell=True)
            shown_row = self.items(row, depth + 1, cell=True)
            if len(shown_row) < len(row):
                break
            made["index"].append(shown_label)
            made["rows"].append(shown_row)
        return made

    def column(self, name: Any) -> Any:
        """A column's name: one text, or a list with a text for each level."""
        if issubclass(type(name), tuple):
            return [self.column(level) for level in list(tuple.__iter__(name))[:LEVELS]]
        if is_own(type(name)):
            name = self.of(name, 0, cell=True)
        return self.text(name if isinstance(name, str) else str(name), NAME)

    def text(self, value: str, most: int) -> str:
        # The real characters: a subclass of str could override methods.
        value = str.__str__(value)
        # UTF-8 cannot encode half of a surrogate pair.
        made = value[:most].encode("utf-8", "replace").decode()
        if len(value) > most:
            self.leave(f"what a text has after {most} characters")
            made = "[text left out]" if self.private else made + "…"
        self.room -= len(json.dumps(made)) + 1
        return made

    def of_library(self, value: Any, kind: type, depth: int, cell: bool) -> Any:
        """Numbers, arrays and other values of libraries."""
        if (numpy := loaded("numpy")) is not None:
            if issubclass(kind, numpy.ndarray):
                return self.array(value, kind, numpy, depth, cell)
            if issubclass(kind, numpy.generic):
                return self.scalar(value, kind, numpy, depth, cell)
        if (pandas := loaded("pandas")) is not None:
            if value is pandas.NA:
                return None
            if issubclass(kind, (pandas.Index, pandas.api.extensions.ExtensionArray)):
                if not kinds.is_sound(value, pandas):
                    return self.without(value, f"{kinds.name_of(value)}, whose items the snippet's own code makes")
                return self.items(value, depth, cell)
            if kind is pandas.Interval and not (is_own(type(value.left)) or is_own(type(value.right))):
                return self.text(str(value), CELL)
            if kind is pandas.Period:
                return self.text(str(value), CELL)
        # A plotly value is a figure, which is in a file.
        if cell and not is_own(kind) and kind is not getattr(pandas, "Interval", None):
            return self.text(str(value), CELL)
        return self.without(value, f"{kinds.name_of(value)}, which has no plain JSON form")

    def array(self, value: Any, kind: type, numpy: ModuleType, depth: int, cell: bool) -> Any:
        """An array, read item by item: a long one is never turned into a list."""
        if value is numpy.ma.masked:
            return None
        if issubclass(kind, numpy.ma.MaskedArray):
            if is_own(kind):
                return self.without(value, f"{kinds.name_of(value)}, whose items the snippet's own code makes")
            return self.items(value, depth, cell) if value.ndim else self.of(value[()], depth + 1, cell)
        plain = numpy.ndarray.view(value, numpy.ndarray)
        return self.items(plain, depth, cell) if plain.ndim else self.of(plain[()], depth + 1, cell)

    def scalar(self, value: Any, kind: type, numpy: ModuleType, depth: int, cell: bool) -> Any:
        for one in (numpy.datetime64, numpy.timedelta64):
            if issubclass(kind, one):
                time = one.__str__(value)
                return None if time == "NaT" else self.text(brief(time), CELL)
        if issubclass(kind, numpy.longdouble):
            self.room -= 20
            return finite(numpy.longdouble.__float__(value))
        plain = numpy.generic.item(value)
        if issubclass(type(plain), numpy.generic):
            return self.without(value, f"{kinds.name_of(value)}, which has no plain JSON form")
        return self.of(plain, depth + 1, cell)

    def without(self, value: Any, why: str) -> str:
        """The placeholder for a value that is left out."""
        self.leave(why)
        return self.text(f"[{kinds.name_of(value)} left out]", TEXT)

    def full(self) -> bool:
        if self.room > 0:
            return False
        self.leave(f"what is beyond {BYTES} bytes of JSON")
        return True

    def leave(self, what: str) -> None:
        if what not in self.left_out and len(self.left_out) < NAMED:
            self.left_out.append(what)


def loaded(name: str) -> ModuleType | None:
    return sys.modules.get(name)


def pairs_of(value: Any, kind: type) -> Iterable[tuple[Any, Any]] | None:
    """The keys and values of a mapping; None if only the snippet's code knows them."""
    for plain in (OrderedDict, dict):
        if issubclass(kind, plain):
            return plain.items(value)
    if kind is UserDict:
        data = kinds.attributes(value).get("data")
        return pairs_of(data, type(data)) if issubclass(type(data), dict) else None
    if kind is ChainMap:
        maps = kinds.attributes(value).get("maps", [])
        if not all(issubclass(type(one), dict) for one in maps):
            return None
        return {key: one for single in reversed(maps) for key, one in dict.items(single)}.items()
    if kind is MappingProxyType:
        # Its items are those of a dict that nobody sees, of whatever class.
        return None
    pairs: Iterable[tuple[Any, Any]] = value.items()
    return pairs


def number(value: Any, kind: type) -> float | None:
    """A number as a float; None if it is not finite. Raises OverflowError for a fraction beyond all floats."""
    if issubclass(kind, float):
        return finite(float.__float__(value))
    if issubclass(kind, kinds.found("decimal", "Decimal")):
        plain: Any = kinds.found("decimal", "Decimal")[0]
        return None if plain.is_nan(value) else finite(plain.__float__(value))
    slots: Any = kinds.found("fractions", "Fraction")[0]
    above, below = slots._numerator.__get__(value), slots._denominator.__get__(value)
    return finite(int.__truediv__(int.__int__(above), int.__int__(below)))


def finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def brief(time: str) -> str:
    """The time without the trailing zeros that numpy always writes."""
    return time.rstrip("0").rstrip(".") if "." in time else time
