"""A `copy` that takes special methods from classes alone.

`copy.copy` asks the object itself for `__reduce_ex__`, and libraries store attributes under computed names (the `extra`
of a log record). Such an attribute would choose what is called, and which attributes of which object are set.
"""

from __future__ import annotations

from _countersign import loaded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MISSING = object()


def close() -> None:
    loaded.change(["copy"], narrow)


def narrow(copy: Any) -> None:
    # The module's own names stand before the built-in ones.
    copy.getattr = special
    copy.hasattr = has_special


def special(value: Any, name: str, default: Any = MISSING, /) -> Any:
    """As `getattr`, but for a special name as the interpreter looks methods up: past the object."""
    if not name.startswith("__") or isinstance(value, type):
        return getattr(value, name) if default is MISSING else getattr(value, name, default)
    kind = type(value)
    for one in type.__dict__["__mro__"].__get__(kind):
        if name in vars(one):
            found = vars(one)[name]
            bind = getattr(type(found), "__get__", None)
            return found if bind is None else bind(found, value, kind)
    if default is MISSING:
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
    return default


def has_special(value: Any, name: str, /) -> bool:
    return special(value, name, None) is not None
