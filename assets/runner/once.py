"""A copy of the last value, from which both its text and its JSON are made.

Other threads of the snippet, and the code of its own classes that printing runs, may change the value meanwhile. What
they reach is the value and not its copy: tables, arrays and the containers of plain Python are copied, each as often
as it is one object. Objects of the snippet's own classes stay themselves, and so does what stands under them as keys,
and what the JSON does not show: table cells after the first rows, and items after the most that fit.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict, defaultdict, deque

from _countersign import kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# Bytes of JSON, as many as one value may take: what lies beyond them is not looked into. Counted are the least that a
# container and its items take there.
BYTES = 200_000
CONTAINER = 2
ITEM = 3
NUMBER = 20
# Further levels are not in the JSON.
DEPTH = 102
# Rows of a table whose cells may be containers that are copied, as many as the JSON has.
ROWS = 50
# The same for the items of an array, each at least `ITEM` bytes.
CELLS = BYTES // ITEM

DICTS = (dict, OrderedDict, defaultdict, Counter)
EMPTY: dict[Any, Any] = {}
VIEWS = (type(EMPTY.keys()), type(EMPTY.values()), type(EMPTY.items()))


def copied(value: Any) -> Any:
    """The value as it is now. Raises MemoryError if there is no room for a copy, and ValueError for a table or an array
    that the snippet's code computes."""
    return Copier().of(value)


class Copier:
    def __init__(self) -> None:
        # The copies by the identity of their originals, which are kept so that no identity is used again.
        self.made: dict[int, tuple[Any, Any]] = {}
        self.left = BYTES

    def of(self, value: Any, depth: int = 0) -> Any:
        kind = type(value)
        if kind in kinds.ATOMS:
            self.left -= NUMBER if kind is int or kind is float else ITEM
            return value
        if depth > DEPTH or self.left < 0:
            return value
        if (known := self.made.get(id(value))) is not None:
            return known[1]
        self.left -= CONTAINER
        made = self.container(value, kind, depth + 1)
        self.made[id(value)] = value, made
        return made

    def container(self, value: Any, kind: Any, depth: int) -> Any:
        if issubclass(kind, list) and kind.__repr__ is list.__repr__:
            return self.of_list(value, depth)
        if issubclass(kind, tuple):
            return self.of_tuple(value, kind, depth)
        if issubclass(kind, dict) and (kind in DICTS or kind.__repr__ is dict.__repr__):
            return self.of_dict(value, kind, depth)
        if kind is set:
            return set.copy(value)
        if kind is deque:
            return deque(self.all(deque.__iter__(value), depth), value.maxlen)
        if kind in VIEWS:
            return self.of_view(value, kind, depth)
        return self.of_library(value, kind, depth)

    def of_list(self, value: Any, depth: int) -> Any:
        # A list may contain itself.
        made = list.copy(value)
        self.made[id(value)] = value, made
        for at, one in enumerate(made):
            if self.left < 0:
                break
            if (other := self.of(one, depth)) is not one:
                made[at] = other
        return made

    def of_tuple(self, value: Any, kind: Any, depth: int) -> Any:
        items = list(tuple.__iter__(value))
        made = self.all(items, depth)
        if all(one is other for one, other in zip(items, made)):
            return value
        if kind.__repr__ is tuple.__repr__:
            return tuple(made)
        # A named tuple, mostly. What else its objects have would be lost.
        return value if kinds.has_attributes(kind) else tuple.__new__(kind, made)

    def all(self, items: Iterable[Any], depth: int) -> list[Any]:
        return [self.of(one, depth) if self.left >= 0 else one for one in items]

    def of_dict(self, value: Any, kind: Any, depth: int) -> Any:
        # Copying the whole asks no key for its hash.
        made: Any = dict(dict.items(value)) if kind not in DICTS else kind.copy(value)
        self.made[id(value)] = value, made
        for key, one in list(dict.items(made)):
            if self.left < 0:
                break
            self.left -= ITEM
            if (other := self.of(one, depth)) is not one and keeps_place(key):
                made[key] = other
        return made

    def of_view(self, value: Any, kind: type, depth: int) -> Any:
        if kind is VIEWS[1]:
            return dict(enumerate(self.all(value, depth))).values()
        if kind is VIEWS[0]:
            return dict.fromkeys(value).keys()
        return {key: self.of(one, depth) for key, one in value}.items()

    def of_library(self, value: Any, kind: Any, depth: int) -> Any:
        """Tables and arrays of libraries; everything else is itself."""
        numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
        if numpy is not None and kind is numpy.ndarray:
            made = numpy.ndarray.copy(value, "C")
            self.cells(made.reshape(-1)[:CELLS] if made.dtype.kind == "O" else (), depth)
            return made
        if kind in kinds.found("numpy.ma", "MaskedArray"):
            return kind.copy(value)
        if pandas is None:
            return value
        if (table := kinds.table_kind(value)) is not None:
            if kind.__repr__ is not getattr(pandas, table).__repr__:
                return value
            whole = kinds.table(value, table, pandas)
            for cells in kinds.object_cells(whole, ROWS):
                self.cells(cells, depth)
            return whole
        if issubclass(kind, (pandas.Index, pandas.api.extensions.ExtensionArray)):
            if not kinds.is_sound(value, pandas):
                raise ValueError("an array of the snippet's own making")
            return kind.copy(value, deep=True) if issubclass(kind, pandas.Index) else kind.copy(value)
        return value

    def cells(self, cells: Any, depth: int) -> None:
        """Copies what stands in the cells of an array of objects, in place."""
        for at in range(len(cells)):
            one = cells[at]
            if type(one) not in kinds.ATOMS and (other := self.of(one, depth)) is not one:
                cells[at] = other


def keeps_place(key: Any) -> bool:
    """Whether setting a value under the key replaces the one that is there: what the snippet's own code computes for a
    key may be another place each time."""
    if issubclass(type(key), tuple):
        return all(keeps_place(one) for one in tuple.__iter__(key))
    return type(key) in kinds.ATOMS or not kinds.is_own(type(key))
