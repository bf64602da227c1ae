"""The snippet's `array` and `bytearray`.

Python's own first read their address or length and then ask an argument for its number. An argument that shrinks the
sequence meanwhile makes them access freed memory. These classes get the number first.
"""

from __future__ import annotations

import operator

from _countersign import loaded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from _countersign.gates import Gates


def close(gates: Gates) -> None:
    gates.narrow.instead[id(bytearray)] = Bytes

    def numbers(module: ModuleType) -> None:
        real = module.array
        gates.narrow.instead[id(real)] = array_of(real)

    loaded.change(["array"], numbers)


# -- array


def array_of(real: Any) -> type:
    """The class that stands for `array.array`. Numbers are converted in a new array, which nobody else can shrink."""

    class array(real):  # type: ignore[misc]  # a class that is an argument
        # No instance dict, like the C class.
        __slots__ = ()

        def __setitem__(self, at: Any, new: Any) -> None:
            if type(at) is not slice:
                new = real(self.typecode, (new,))[0]
            real.__setitem__(self, at, new)

        def append(self, new: Any, /) -> None:
            real.extend(self, real(self.typecode, (new,)))

        def insert(self, at: Any, new: Any, /) -> None:
            real.insert(self, at, real(self.typecode, (new,))[0])

        def extend(self, items: Any, /) -> None:
            if not issubclass(type(items), real):
                found = real(self.typecode)
                found.extend(items)
                items = found
            real.extend(self, items)

        def fromlist(self, items: Any, /) -> None:
            found = real(self.typecode)
            found.fromlist(items)
            real.extend(self, found)

        def tofile(self, file: Any, /) -> None:
            file.write(self.tobytes())

        def __deepcopy__(self, memo: Any, /) -> Any:
            return own(real.__copy__(self))

    def own(found: Any) -> Any:
        return array(found.typecode, found) if type(found) is real else found

    for name in ("__add__", "__copy__", "__getitem__", "__mul__", "__rmul__"):
        setattr(array, name, giving(getattr(real, name), own))
    return presented(array, real)


# -- bytearray


class Kind(type):
    """Makes `isinstance` accept Python's own `bytearray`, which libraries make."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, bytearray) if cls is Bytes else super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        return issubclass(subclass, bytearray) if cls is Bytes else super().__subclasscheck__(subclass)


class Bytes(bytearray, metaclass=Kind):
    __slots__ = ()

    def __contains__(self, item: Any) -> bool:
        return bytearray.__contains__(self, number(item))

    def __mod__(self, values: Any) -> Any:
        return Bytes(bytes(self) % values)


# Search methods: they take positions, which the original converts after it read its memory address.
SEARCHING = "count endswith find index rfind rindex startswith".split()
# Methods that return a new object.
MAKING = (
    "__add__ __getitem__ __mul__ __rmul__ capitalize center copy expandtabs join ljust lower "
    "lstrip partition removeprefix removesuffix replace rjust rpartition rsplit rstrip split splitlines strip "
    "swapcase title translate upper zfill"
).split()


def bytes_own(found: Any) -> Any:
    if type(found) is bytearray:
        return Bytes(found)
    if type(found) in (list, tuple):
        return type(found)(map(bytes_own, found))
    return found


def searching(plain: Callable[..., Any]) -> Callable[..., Any]:
    def search(self: Any, *args: Any) -> Any:
        return plain(self, *map(number, args))

    return search


def giving(plain: Callable[..., Any], own: Callable[[Any], Any]) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return own(plain(self, *args, **kwargs))

    call.__name__ = plain.__name__
    return call


def number(found: Any) -> Any:
    """The integer that an object stands for; anything else unchanged."""
    if issubclass(type(found), int) or not hasattr(type(found), "__index__"):
        return found
    return int.__add__(operator.index(found), 0)


def presented(made: type, real: type) -> type:
    made.__name__ = made.__qualname__ = real.__name__
    made.__module__ = real.__module__
    made.__doc__ = real.__doc__
    return made


for _name in SEARCHING:
    setattr(Bytes, _name, searching(getattr(bytearray, _name)))
for _name in MAKING:
    setattr(Bytes, _name, giving(getattr(bytearray, _name), bytes_own))
presented(Bytes, bytearray)
