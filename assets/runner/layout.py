"""Shape, dtype and strides of arrays, set by the snippet.

Whoever holds the array would get the new layout too, and compiled code of that holder goes by the old one: it would
read or write outside the array. So the snippet's variable gets a new array over the same values instead. Where that
would show, because somebody else holds the array, the store is refused.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

# Attribute → how a snippet gets a new array with another layout, as the error proposes it.
NAMES = {
    "dtype": "a = a.view(…)",
    "shape": "a = a.reshape(…)",
    "strides": "a = a.T or a slice",
}


def is_kept(value: Any, name: str) -> bool:
    """Whether the attribute is a part of an array's layout."""
    numpy = sys.modules.get("numpy") if name in NAMES else None
    return numpy is not None and issubclass(type(value), numpy.ndarray)


def refuse(name: str) -> NoReturn:
    raise ValueError(f"an array keeps its {name} where others may hold it: use {NAMES[name]}, which makes a new one")


def gate(target: Callable[[Any, str], Any]) -> Callable[[Any, Any, str], Any]:
    """The gate of the statement `a.shape = new`: returns the object that the variable `a` names from then on."""

    def laid(new: Any, value: Any, name: str) -> Any:
        if not is_kept(value, name):
            setattr(target(value, name), name, new)
            return value
        if type(value) is not sys.modules["numpy"].ndarray or sys.getrefcount(value) > ALONE:
            refuse(name)
        made = value.view()
        setattr(made, name, new)
        return made

    return laid


def counted(_new: Any, value: Any, _name: str) -> int:
    return sys.getrefcount(value)


def alone() -> int:
    """The references that the gate sees to an object that one variable names."""
    value = object()
    return counted(None, value, "")


ALONE = alone()
