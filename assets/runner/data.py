"""What counts as data: what a class pattern may bind, since no rule sees what is done with it later."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCALARS = (bytes, complex, float, int, range, slice, str, type(None))
# Module → its classes of data. Looked up when they are needed, for most runs import none of them.
CLASSES = {
    "datetime": "date time timedelta tzinfo".split(),
    "decimal": ["Decimal"],
    "enum": ["Enum"],
    "fractions": ["Fraction"],
    "numpy": "dtype generic ndarray".split(),
    "pandas": "DataFrame Index Interval Period Series".split(),
    "pandas.api.extensions": ["ExtensionDtype"],
    "uuid": ["UUID"],
}
# How deep collections of collections are looked through.
DEPTH = 4


def is_data(value: Any, depth: int = DEPTH) -> bool:
    """Whether the value is a scalar, a date, an array, a table, an object of the snippet's own, or a collection
    of these."""
    kind = type(value)
    if issubclass(kind, SCALARS) or type.__dict__["__module__"].__get__(kind) == "__main__":
        return True
    if kind in (frozenset, list, set, tuple):
        return depth > 0 and all(is_data(one, depth - 1) for one in tuple(value))
    if kind is dict:
        return depth > 0 and all(is_data(one, depth - 1) for one in (*value, *value.values()))
    return any(is_of(value, module, names) for module, names in CLASSES.items())


def is_of(value: Any, module: str, names: list[str]) -> bool:
    """Whether the value is of one of these classes of a loaded module."""
    loaded = sys.modules.get(module)
    found = (getattr(loaded, name, None) for name in names)
    return any(isinstance(one, type) and issubclass(type(value), one) for one in found)
