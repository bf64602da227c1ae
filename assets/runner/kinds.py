"""What a value really is, asked of its type and its own memory: no method is called that a class of the snippet could
have replaced."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

# Exact types whose values never change and contain nothing.
ATOMS = frozenset([type(None), bool, int, float, complex, str, bytes])

_module = type.__dict__["__module__"]
_offset = type.__dict__["__dictoffset__"]
_mro = type.__dict__["__mro__"]
_name = type.__dict__["__name__"]

TABLES = ("DataFrame", "Series")
# Levels of pandas objects in each other that are looked at: a table, its index, a level of it, its categories.
DEEP = 6


def is_own(kind: type) -> bool:
    """Whether the class, or one that it inherits from, is the snippet's: no snippet can set a class's module."""
    return any(_module.__get__(one) == "__main__" for one in _mro.__get__(kind))


def name_of(value: Any) -> str:
    """The name of the value's class, cut."""
    return str(_name.__get__(type(value)))[:100]


def found(module: str, *names: str) -> tuple[type, ...]:
    """Classes of a module; none while it is not loaded, since no value is of them then."""
    loaded = sys.modules.get(module)
    return tuple(getattr(loaded, name) for name in names) if loaded is not None else ()


def has_attributes(kind: type) -> bool:
    """Whether objects of the class can have attributes that the class does not list."""
    return bool(_offset.__get__(kind))


def attributes(value: Any) -> dict[str, Any]:
    """The object's own attributes, whatever its class makes of reading them. Empty where it has none."""
    for one in reversed(_mro.__get__(type(value))):
        found = one.__dict__.get("__dict__")
        if type(found).__name__ == "getset_descriptor":
            made: dict[str, Any] = found.__get__(value)
            return made
    return {}


def table_kind(value: Any) -> str | None:
    """`DataFrame` or `Series`, if it is one or inherits from it."""
    of = (name for name, kind in zip(TABLES, found("pandas", *TABLES)) if issubclass(type(value), kind))
    return next(of, None)


def table(value: Any, kind: str, pandas: ModuleType) -> Any:
    """A copy of a table, of pandas' own class and without attributes. Raises ValueError if it has parts that the
    snippet's code computes."""
    own = attributes(value)
    manager = own.get("_mgr")
    arrays = [block.values for block in getattr(manager, "blocks", ())]
    if manager is None or not all(is_sound(one, pandas) for one in (*manager.axes, *arrays)):
        raise ValueError("a table of the snippet's own making")
    made: Any = object.__new__(getattr(pandas, kind))
    pandas.core.generic.NDFrame.__init__(made, manager.copy(deep=True))
    if kind == "Series":
        object.__setattr__(made, "_name", own.get("_name"))
    return made


def object_cells(table: Any, rows: int) -> Iterator[Any]:
    """The first cells of each column of objects, as arrays over the table's own memory."""
    for block in table._mgr.blocks:
        if getattr(block.values.dtype, "kind", "") == "O" and type(block.values).__name__ == "ndarray":
            yield from block.values[:, :rows] if block.values.ndim > 1 else [block.values[:rows]]


def is_sound(value: Any, pandas: ModuleType, deep: int = DEEP) -> bool:
    """Whether an index or a column, and all it is made of, is a library's and has no method that the snippet set on
    the object."""
    kind = type(value)
    parts = (pandas.Index, pandas.api.extensions.ExtensionArray, pandas.api.extensions.ExtensionDtype)
    if not issubclass(kind, parts):
        return not is_own(kind) or issubclass(kind, str)
    if is_own(kind) or deep == 0:
        return False
    for name, one in attributes(value).items():
        if not name.startswith("_") and callable(one):
            return False
        listed = one if issubclass(type(one), list) else [one]
        if not all(is_sound(part, pandas, deep - 1) for part in listed):
            return False
    return issubclass(kind, pandas.api.extensions.ExtensionDtype) or is_sound(value.dtype, pandas, deep - 1)
