"""The value that a run shows last, as plain JSON of bounded size.

A table becomes its first rows with their labels; other values become their JSON form. Anything without a JSON form or
beyond a bound is left out and named beside the value: no value ends a run.
"""

from __future__ import annotations

import json
import math
import sys
from collections import OrderedDict, deque
from collections.abc import Mapping, MappingView
from collections.abc import Set as AnySet
from enum import Enum

from _countersign.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType
    from typing import Any

# Size of one value as JSON, as much as a frame carries of stdout. The last text may exceed it.
BYTES = 200_000
ROWS = 50
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

LISTS = (list, tuple, AnySet, MappingView, range, deque)
TABLES = ("DataFrame", "Series")


def result(value: Any, private: bool) -> dict[str, Any]:
    """`{"value": …}`, and `value_left_out` if something is missing. `private`: the value may contain private values;
    redaction recognises them only whole, so no text is cut in the middle."""
    shown = Shown(private)
    try:
        made = shown.of(value)
    except Exception as error:  # noqa: BLE001 - the snippet's own code, in classes of its own
        made = shown.without(value, f"what could not be read ({type(error).__name__})")
    told: dict[str, Any] = {"value": made}
    if shown.left_out:
        told["value_left_out"] = shown.left_out
    return told


class Shown:
    """Makes the JSON of one value, as far as there is room."""

    def __init__(self, private: bool) -> None:
        self.private = private
        self.room = BYTES
        self.left_out: list[str] = []
        self._plain: Any = None

    def of(self, value: Any, depth: int = 0, cell: bool = False) -> Any:
        """`cell`: the value is in a table, where values that JSON lacks become text."""
        if depth > DEPTH:
            return self.without(value, f"what is nested deeper than {DEPTH}")
        match value:
            case None | bool():
                self.room -= 6
                return value
            case Enum():
                return self.of(value.value, depth + 1, cell)
            case str():
                return self.text(value, CELL if cell else TEXT)
            case int() if -(2**63) <= value < 2**64:
                self.room -= 20
                return int.__int__(value)
            case int():
                return self.text(int.__repr__(value), CELL)
            case float():
                self.room -= 20
                return float.__float__(value) if math.isfinite(value) else None
            case Mapping():
                return self.mapping(value, depth, cell)
            case _ if isinstance(value, LISTS):
                return self.items(value, depth, cell)  # type: ignore[arg-type]  # every view of a mapping is iterable
        if (kind := table_kind(value)) is not None:
            return self.table(value, kind, depth)
        if is_array(value):
            return self.items(value, depth, cell)
        return self.other(value, depth, cell)

    def items(self, values: Iterable[Any], depth: int, cell: bool = False) -> list[Any]:
        self.room -= 2
        made = []
        # A subclass's own methods could iterate over something else.
        plain: Any = next((kind for kind in (list, tuple) if isinstance(values, kind)), None)
        for one in values if plain is None else plain.__iter__(values):
            if self.full():
                break
            made.append(self.of(one, depth + 1, cell))
        return made

    def mapping(self, values: Mapping[Any, Any], depth: int, cell: bool) -> dict[str, Any]:
        self.room -= 2
        made: dict[str, Any] = {}
        plain: Any = next((kind for kind in (OrderedDict, dict) if isinstance(values, kind)), None)
        for key, one in values.items() if plain is None else plain.items(values):
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
        if isinstance(key, tuple):
            return self.text(str(tuple(self.items(key, 0, cell=True))), CELL)
        name = self.of(key, 0, cell=True)
        return name if isinstance(name, str) else self.text(str(key), CELL)

    def table(self, value: Any, kind: str, depth: int) -> dict[str, Any]:
        """The first rows of a table, as many as fit."""
        plain = getattr(loaded("pandas"), kind)
        if type(value) is not plain:
            # A subclass's own methods could describe another table.
            value = plain(value)
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
        if isinstance(name, tuple):
            return [self.column(level) for level in name[:LEVELS]]
        return self.text(str(name), NAME)

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

    def other(self, value: Any, depth: int, cell: bool) -> Any:
        """Numbers, dates and other values of libraries."""
        if self._plain is None:
            # Imported here: it loads half a dozen modules that few values need.
            from _countersign.plain import Plain

            self._plain = Plain(loaded("numpy"), loaded("pandas"))
        # A plotly value is a figure, which is in a file.
        if home(value) != "plotly":
            try:
                plain = self._plain.of(value, "it")
            except Refused:
                pass
            else:
                return self.of(plain, depth, cell)
        if cell:
            return self.text(str(value), CELL)
        return self.without(value, f"{type(value).__name__:.100}, which has no plain JSON form")

    def without(self, value: Any, why: str) -> str:
        """The placeholder for a value that is left out."""
        self.leave(why)
        return self.text(f"[{type(value).__name__:.100} left out]", TEXT)

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


def home(value: Any) -> str:
    """The package of the value's class."""
    return str(type(value).__module__).partition(".")[0]


def table_kind(value: Any) -> str | None:
    pandas = loaded("pandas")
    found = (name for name in TABLES if isinstance(value, getattr(pandas, name, ())))
    return next(found, None)


def is_array(value: Any) -> bool:
    """Whether it is a library's array, which is read item by item: a long one is never turned into a list."""
    numpy, pandas = loaded("numpy"), loaded("pandas")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return bool(value.ndim)
    kinds = (pandas.Index, pandas.api.extensions.ExtensionArray) if pandas is not None else ()
    return isinstance(value, kinds)
