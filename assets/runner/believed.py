"""Keeps the methods of library classes whose answers compiled code uses without a check.

pandas asks an index for positions (`get_indexer`, `factorize`) and hands them to compiled functions that read and
write there. A class of the snippet that answers with other positions, or an attribute that hides the method of one
object, would choose the address. So such classes may get new names and not replace those that they have.
"""

from __future__ import annotations

from _countersign import memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from _countersign.gates import Gates

# Packages whose classes answer to compiled code.
PACKAGES = (
    "numpy",
    "pandas._libs",
    "pandas.core.arrays",
    "pandas.core.dtypes",
    "pandas.core.frame",
    "pandas.core.groupby",
    "pandas.core.indexes",
    "pandas.core.internals",
    "pandas.core.series",
    "pyarrow",
    "scipy.interpolate",
    "scipy.sparse",
    "scipy.spatial",
)
# Special methods that answer to compiled code.
SPECIAL = frozenset("__contains__ __getattribute__ __getitem__ __iter__ __len__".split())
# numpy documents how its arrays are subclassed, and reads their memory without asking them.
ARRAYS = frozenset(("__contains__", "__getitem__", "__iter__"))
# Names that subclasses of tables replace by design, or that only a reader of the table uses.
MEANT = frozenset(
    "_constructor _constructor_expanddim _constructor_sliced _internal_names _internal_names_set _metadata "
    "_repr_html_ describe info plot".split()
)
# Classes of numpy without memory: errors, and policies of printing.
LOOSE = ("numpy.exceptions", "numpy.polynomial")


def is_believed(kind: type) -> bool:
    place = memory.home(kind)
    return bool(memory.within(place, PACKAGES)) and not memory.within(place, LOOSE)


def replaces(name: str, above: type) -> bool:
    """Whether an attribute of this name would stand in for one that the library's class has."""
    if name.startswith("__"):
        free = ARRAYS if memory.within(memory.home(above), ("numpy",)) else ()
        return name in SPECIAL and name not in free
    if name in MEANT or name.startswith("to_"):
        return False
    # Arrays of positions are attributes of objects, which a property of the class would hide.
    for held in (memory.HELD, memory.TOGETHER):
        place = memory.within(memory.home(above), held)
        if place is not None and name in held[place]:
            return True
    return any(name in vars(one) for one in lineage(above))


def lineage(kind: type) -> Iterator[type]:
    """The class and its bases."""
    return iter(type.__dict__["__mro__"].__get__(kind))


def built(kind: type, gates: Gates) -> None:
    """Checks a class of the snippet when it was made."""
    above = first_believed(kind)
    if above is None:
        return
    for one in lineage(kind):
        if one is above:
            return
        for name in tuple(vars(one)):
            if memory.home(one) == "__main__" and replaces(name, above):
                refuse(name, above, gates)


def stored(value: Any, name: str, gates: Gates) -> None:
    """Checks an attribute before it is set on an object or a class of the snippet."""
    if isinstance(value, type):
        for kind in (value, *descendants(value)):
            above = first_believed(kind)
            if above is not None and replaces(name, above):
                refuse(name, above, gates)
        return
    above = first_believed(type(value))
    if above is None or not replaces(name, above):
        return
    # A property sets what the library keeps; anything else would be hidden by the new attribute. An attribute of
    # the object itself is `memory.target`'s to judge.
    held = next((vars(one)[name] for one in lineage(type(value)) if name in vars(one)), None)
    if held is not None and not hasattr(type(held), "__set__"):
        refuse(name, above, gates)


def first_believed(kind: type) -> type | None:
    if kind not in _above:
        _above[kind] = next((one for one in lineage(kind) if is_believed(one)), None)
    return _above[kind]


# Class → the first believed class in its lineage. Lineages do not change.
_above: dict[type, type | None] = {}


def descendants(kind: type) -> list[type]:
    found = []
    one: type
    for one in type.__subclasses__(kind):
        found += [one, *descendants(one)]
    return found


def refuse(name: str, kind: type, gates: Gates) -> None:
    gates.refuse(
        f"replacing {name} of {kind.__name__} is not allowed: compiled code relies on it; use a name of your own"
    )
