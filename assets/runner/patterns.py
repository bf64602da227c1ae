"""Gates for class patterns: `case A(x=p)` reads the attribute `x` without an attribute node.

Before the `match` statement, the class in each such pattern is replaced by one of ours, whose instance check asks the
gates about the attributes that the pattern will read. No rule sees what is done with a value that a pattern binds, so
patterns bind data alone, except for the snippet's own attributes.
"""

from __future__ import annotations

from _thread import _local

from _countersign.gates import Gates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Classes whose single positional pattern matches the object itself.
THEMSELVES = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)

MISSING = object()
# The positional names of this thread's last check.
judged = _local()


class Checked(type):
    """A class that stands for `real` in one pattern with the attributes `names` and `count` positional patterns."""

    # No snippet may read these names.
    __gates__: Gates
    __real__: Callable[[], Any]
    __names__: tuple[str, ...]
    __count__: int

    def __instancecheck__(cls, instance: Any) -> bool:
        real = cls.__real__()
        if not isinstance(real, type) and not isinstance(real, Checked):
            raise TypeError("called match pattern must be a class")
        if not isinstance(instance, real):
            return False
        positions = getattr(real, "__match_args__", MISSING)
        # The interpreter refuses all but plain tuples itself.
        known = positions if type(positions) is tuple else ()
        for name in (*known[: cls.__count__], *cls.__names__):
            cls.__gates__.matched(instance, name)
        judged.positions = positions
        return True

    @property
    def __match_args__(cls) -> Any:
        """The names that were judged: asking the real class again could give others. The interpreter asks right after
        the instance check."""
        if judged.positions is MISSING:
            # As of classes that match themselves.
            raise AttributeError("__match_args__")
        return judged.positions


def maker(gates: Gates) -> Callable[..., type]:
    """`make(get, names, count)`: a stand-in for the class that `get` finds when it is needed."""

    def make(get: Callable[[], Any], names: tuple[str, ...], count: int) -> type:
        try:
            real = get()
        except Exception:  # noqa: BLE001 - a name that is missing is missing when it is asked for
            real = None
        if real in THEMSELVES and not names:
            return real  # type: ignore[no-any-return]  # one of three classes
        base = object
        if isinstance(real, type):
            base = next((one for one in THEMSELVES if issubclass(real, one)), object)
            if base is bool:
                base = int
        inside = {
            "__gates__": gates,
            "__real__": staticmethod(get),
            "__names__": names,
            "__count__": count,
        }
        return Checked(getattr(real, "__name__", "pattern"), (base,), inside)

    return make


class Box:
    """Holds a value for a pattern to compare with: the syntax allows only an attribute there."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value
