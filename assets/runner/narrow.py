"""What is given in place of some members of libraries, because the member itself reads or sets
attributes that its caller names, or makes classes out of mappings."""

from __future__ import annotations

import _thread
import abc
import builtins
import collections
import contextlib
import enum
import functools
import io
import keyword
import sys
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, GenericAlias, MethodType

from _countersign import errors, loaded, modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any, NoReturn

    from _countersign.gates import Gates


class StandIn:
    """In place of a class of classes: it may stand after `metaclass=`, and is nothing else."""

    def __init__(self, real: type, refuse: Callable[[str], NoReturn]) -> None:
        self._real = real
        self._refuse = refuse

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse(f"making classes with {self._real.__name__} is not allowed")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> NoReturn:
        self._refuse("a class of classes is not allowed")

    def __repr__(self) -> str:
        return repr(self._real)


class Kind:
    """In place of a type that makes what the rules keep away (functions, code, modules): it tells its name, is
    compared and tested against, and makes nothing."""

    __slots__ = ("__name__", "_real", "_refuse")

    def __init__(self, real: type, refuse: Callable[[str], NoReturn]) -> None:
        self.__name__ = real.__name__
        self._real = real
        self._refuse = refuse

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse(f"making an object of the type {self.__name__} is not allowed")

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self._real)

    def __repr__(self) -> str:
        return repr(self._real)


# The thread that everything before and after the snippet runs in; a fork keeps its number.
MAIN = _thread.get_ident()

BUILT_IN = frozenset(dir(builtins))
# Types that make nothing but their own, and have no name.
HARMLESS = frozenset(map(type, (None, ..., NotImplemented, {}.keys(), {}.values(), {}.items())))
# Files of `io` that are in memory.
MEMORY = (io.BytesIO, io.StringIO)


class TypeMeta(type):
    """`type` as the snippet has it: one argument, and never a class of classes."""

    # A name that no snippet may read.
    __gates__: Gates

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 3:
            cls.__gates__.refuse("type() with three arguments is not allowed")
        if len(args) != 1 or kwargs:
            raise TypeError("type() takes 1 argument")
        found = type(args[0])
        if found in (StandIn, Kind):
            # Each stands for a class.
            return cls
        if found.__module__ == "builtins" and found.__name__ not in BUILT_IN and found not in HARMLESS:
            # Functions, code, frames, modules: types that make what the rules keep away.
            return cls.__gates__.narrow.kind(found)
        if issubclass(found, io.IOBase) and found.__module__ != "__main__" and found not in MEMORY:
            # Made with a number, a file is that descriptor.
            cls.__gates__.refuse(f"the type {found.__name__} is not allowed")
        if found.__module__ in ("_countersign.memory", "_countersign.shared") and not issubclass(found, type):
            # What stands in for something of a library is made for that alone.
            cls.__gates__.refuse(f"the type {found.__name__} is not allowed")
        return cls.__gates__.narrow.give(found)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, type)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        return subclass is cls

    def __getitem__(cls, item: Any) -> GenericAlias:
        return GenericAlias(cls, item)

    def __mro_entries__(cls, bases: tuple[Any, ...]) -> NoReturn:
        cls.__gates__.refuse("a class of classes is not allowed")


class Narrow:
    """The members and what is given for each, made once a run."""

    def __init__(self, gates: Gates) -> None:
        self.gates = gates
        self.type = TypeMeta("type", (), {"__gates__": gates, "__module__": "builtins"})
        self.instead: dict[int, Any] = {
            id(functools.wraps): wraps(gates),
            id(contextlib.suppress): suppress(gates),
            id(enum.global_enum): self.refused("enum.global_enum"),
            id(collections.namedtuple): namedtuple,
            id(functools.total_ordering): own_only(functools.total_ordering, gates.refuse),
            id(abc.abstractmethod): own_only(abc.abstractmethod, gates.refuse),
        }
        self.kept: dict[type, StandIn] = {}
        self.kinds: dict[type, Kind] = {}
        loaded.change(["typing"], self.questions)
        loaded.change(["dataclasses"], self.fields)
        loaded.change(["types"], self.bags)
        modules.give(self)

    def fields(self, module: ModuleType) -> None:
        dataclasses_of_names(module, self.gates.refuse)

    def bags(self, module: ModuleType) -> None:
        """Sets attributes of any name, wherever a library has it from."""
        self.instead[id(module.SimpleNamespace)] = self.refused("types.SimpleNamespace")

    def questions(self, typing: ModuleType) -> None:
        """What an annotation is made of may be a class of classes."""
        self.instead |= {
            id(typing.get_origin): lambda kind: self.give(typing.get_origin(kind)),
            id(typing.get_args): lambda kind: tuple(map(self.give, typing.get_args(kind))),
        }
        for mark in ("final", "no_type_check", "override", "runtime_checkable"):
            if found := getattr(typing, mark, None):
                self.instead[id(found)] = own_only(found, self.gates.refuse)

    def give(self, found: Any) -> Any:
        """What the snippet gets where a library has `found`."""
        if isinstance(found, type) and issubclass(found, type):
            if found is type or found is TypeMeta:
                return self.type
            if found is self.type or type(found) is TypeMeta:
                return found
            if found not in self.kept:
                self.kept[found] = StandIn(found, self.gates.refuse)
            return self.kept[found]
        return self.instead.get(id(found), found)

    def kind(self, found: type) -> Kind:
        """One for each type: `type(f) is type(g)`."""
        return self.kinds.setdefault(found, Kind(found, self.gates.refuse))

    def member(self, found: Any) -> Any:
        """What the snippet gets of a module: of its tables a copy, for the library goes by its own."""
        if type(found) in (dict, list, set):
            return found.copy()
        return self.give(found)

    def refused(self, name: str) -> Callable[..., NoReturn]:
        def refused(*args: Any, **kwargs: Any) -> NoReturn:
            self.gates.refuse(f"{name} is not allowed")

        return refused


# Functions are everybody's who has them.
SHARED = (FunctionType, BuiltinFunctionType, MethodType)


def wraps(gates: Gates) -> Callable[..., Any]:
    """Which attributes are copied is not for the caller to say, and only what a function says of itself is
    taken: libraries make code of annotations, and find globals through `__wrapped__`."""

    def wraps(wrapped: Any) -> Any:
        def decorate(wrapper: Any) -> Any:
            gates.target(wrapper, "wraps")
            for name in ("__name__", "__qualname__", "__doc__"):
                text = getattr(wrapped, name, None)
                if type(text) is str:
                    setattr(wrapper, name, text)
            if type(wrapped) is FunctionType and type(wrapper) is FunctionType:
                wrapper.__annotations__ = dict(wrapped.__annotations__)
                wrapper.__dict__.update(wrapped.__dict__)
                if wrapped.__module__ == "__main__":
                    wrapper.__wrapped__ = wrapped  # type: ignore[attr-defined]  # as `functools.wraps` does
            return wrapper

        return decorate

    return wraps


def register(value: Any, found: Any, refuse: Callable[[str], NoReturn]) -> Any:
    """A library's abstract class, or function of many classes, is everybody's: what is registered there is
    the snippet's own."""
    owner = value if isinstance(value, (type, FunctionType)) else None
    if owner is None or getattr(owner, "__module__", None) == "__main__":
        return found

    def register(cls: Any, *args: Any) -> Any:
        if not isinstance(cls, type) or type.__dict__["__module__"].__get__(cls) != "__main__":
            refuse("registering what is not the snippet's own with a library is not allowed")
        return found(cls, *args)

    return register


def own_only(decorator: Any, refuse: Callable[[str], NoReturn]) -> Any:
    """A decorator that writes on what it is given: never on a library's own."""

    def decorate(found: Any) -> Any:
        inner = getattr(found, "__func__", found)
        home = type.__dict__["__module__"].__get__(inner) if isinstance(inner, type) else None
        if not isinstance(inner, type):
            home = getattr(inner, "__module__", None)
        if isinstance(inner, (type, *SHARED)) and home != "__main__":
            refuse("changing a function or a class of a library is not allowed")
        return decorator(found)

    return decorate


def dataclasses_of_names(module: Any, refuse: Callable[[str], NoReturn]) -> None:
    """A data class is made of text, and the text of the names of its fields; and it is the class that was
    given, which is the snippet's own or made by the library that asks."""
    process = module._process_class

    def asks() -> Any:
        frame: Any = sys._getframe(2)
        while frame is not None and frame.f_globals.get("__name__") == module.__name__:
            frame = frame.f_back
        return frame and frame.f_globals.get("__name__")

    def _process_class(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if not importing():
            if type.__dict__["__module__"].__get__(cls) not in ("__main__", asks()):
                refuse("making a data class of a library's class is not allowed")
            for one in type.mro(cls):
                for name in tuple(one.__dict__.get("__annotations__", ())):  # noqa: RUF063 - evaluates nothing
                    if type(name) is not str or not name.isidentifier() or keyword.iskeyword(name):
                        refuse(f"a field called {name!s:.50} is not allowed")
        return process(cls, *args, **kwargs)

    module._process_class = _process_class


def suppress(gates: Gates) -> type:
    """As `except`: what must not be caught is not."""

    class suppress(contextlib.suppress):
        def __exit__(self, *args: Any) -> Any:
            gates.watch.caught(args[1])
            return super().__exit__(*args)

    return suppress


def namedtuple(typename: Any, field_names: Any, *, rename: bool = False, defaults: Any = None) -> Any:
    """Without `module`, which would make the class another module's."""
    return collections.namedtuple(typename, field_names, rename=rename, defaults=defaults, module="__main__")


def enumerations(refuse: Callable[[str], NoReturn]) -> None:
    """`Enum("Name", members)` makes a class: not with names of the language, and not in the name
    of another module. What a library does while it is imported is the library's."""
    make = enum.EnumMeta.__dict__["_create_"]

    def create(cls: Any, class_name: Any, names: Any = None, **kwargs: Any) -> Any:
        if importing():
            return make(cls, class_name, names, **kwargs)
        if kwargs.get("module") not in (None, "__main__"):
            refuse("an enumeration in the name of another module is not allowed")
        if isinstance(names, str):
            names = names.replace(",", " ").split()
        elif isinstance(names, Mapping):
            names = list(names.items())
        names = [one if type(one) is str else tuple(one) for one in names or ()]
        for one in names:
            label = one if type(one) is str else one[0]
            if type(label) is not str or label.startswith("_"):
                refuse(f"an enumeration with the name {label!s:.50} is not allowed")
        return make(cls, class_name, names, **{**kwargs, "module": "__main__"})

    type.__setattr__(enum.EnumMeta, "_create_", create)


def importing() -> bool:
    """Whether a library is being imported: its code then stands above the snippet's."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name == errors.SNIPPET:
            return False
        if name == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back  # type: ignore[assignment]  # the loop's condition asks for None
    # A thread that the snippet had made may have no frame of the snippet's below a library's.
    return _thread.get_ident() == MAIN
