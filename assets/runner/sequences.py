"""`array` and `bytearray` as the snippet has them.

Python's own take the address of their memory, or look at their length, and ask the object they are given for
its number only then: one that shrinks them in between is written to, or searched in, what they no longer have.
Here the number is there before.
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
    """The class that stands for `array.array`. A new array, which nobody has yet, asks for the numbers."""

    class array(real):  # type: ignore[misc]  # a class that is an argument
        # Nothing of a C array's is its own, so neither is of this one.
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
    """A library makes Python's own, which is one of these too."""

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


# What searches takes where, which is asked for after the memory.
SEARCHING = "count endswith find index rfind rindex startswith".split()
# What makes another one.
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
    """The number that an object stands for; anything else is what it was."""
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
