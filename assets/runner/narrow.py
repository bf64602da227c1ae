"""Stand-ins for members of libraries that read or set attributes which their caller names, or that make classes
out of mappings."""

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
    """Stands for a metaclass: usable after `metaclass=` and for nothing else."""

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
    """Stands for a type that makes objects which the rules forbid (functions, code, modules): it has a name, can be
    compared and used in `isinstance`, and makes nothing."""

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


# The main thread, which runs everything before and after the snippet; a fork keeps its number.
MAIN = _thread.get_ident()

BUILT_IN = frozenset(dir(builtins))
# Harmless types without a builtin name.
HARMLESS = frozenset(map(type, (None, ..., NotImplemented, {}.keys(), {}.values(), {}.items())))
# In-memory files of `io`.
MEMORY = (io.BytesIO, io.StringIO)


class TypeMeta(type):
    """The snippet's `type`: takes one argument and never returns a metaclass."""

    # No snippet may read this name.
    __gates__: Gates

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 3:
            cls.__gates__.refuse("type() with three arguments is not allowed")
        if len(args) != 1 or kwargs:
            raise TypeError("type() takes 1 argument")
        found = type(args[0])
        if found in (StandIn, Kind):
            # Both stand for classes.
            return cls
        if found.__module__ == "builtins" and found.__name__ not in BUILT_IN and found not in HARMLESS:
            # Functions, code, frames, modules: their types could make objects that the rules forbid.
            return cls.__gates__.narrow.kind(found)
        if issubclass(found, io.IOBase) and found.__module__ != "__main__" and found not in MEMORY:
            # A file type called with a number opens that descriptor.
            cls.__gates__.refuse(f"the type {found.__name__} is not allowed")
        if found.__module__ in ("_countersign.memory", "_countersign.shared") and not issubclass(found, type):
            # The snippet must not make stand-ins itself.
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
    """The members of libraries and what is given for each, made once a run."""

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
        loaded.change(["annotationlib"], self.references)
        modules.give(self)

    def fields(self, module: ModuleType) -> None:
        dataclasses_of_names(module, self.gates.refuse)

    def bags(self, module: ModuleType) -> None:
        """Refuses `SimpleNamespace`, which sets attributes of any name, wherever a library imports it from."""
        self.instead[id(module.SimpleNamespace)] = self.refused("types.SimpleNamespace")

    def references(self, module: ModuleType) -> None:
        """Lets only the library evaluate a forward reference: since Python 3.14 `evaluate` is a public method, and it
        finds builtins that the snippet does not have."""
        kind: Any = vars(module)["ForwardRef"]
        plain = kind.evaluate

        def evaluate(reference: Any, **kwargs: Any) -> Any:
            if sys._getframe(1).f_globals.get("__name__") not in ("annotationlib", "typing") and not importing():
                self.gates.refuse("evaluating a forward reference is not allowed")
            return plain(reference, **kwargs)

        kind.evaluate = evaluate

    def questions(self, typing: ModuleType) -> None:
        """Replaces metaclasses in what `typing` returns about an annotation."""
        self.instead |= {
            id(typing.get_origin): lambda kind: self.give(typing.get_origin(kind)),
            id(typing.get_args): lambda kind: tuple(map(self.give, typing.get_args(kind))),
        }
        for mark in ("final", "no_type_check", "override", "runtime_checkable"):
            if found := getattr(typing, mark, None):
                self.instead[id(found)] = own_only(found, self.gates.refuse)

    def give(self, found: Any) -> Any:
        """What the snippet gets in place of `found`."""
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
        """The one stand-in for this type, so that `type(f) is type(g)` holds."""
        return self.kinds.setdefault(found, Kind(found, self.gates.refuse))

    def member(self, found: Any) -> Any:
        """What the snippet gets for a module's member: tables are copied, because the library uses its own."""
        if type(found) in (dict, list, set):
            return found.copy()
        return self.give(found)

    def refused(self, name: str) -> Callable[..., NoReturn]:
        def refused(*args: Any, **kwargs: Any) -> NoReturn:
            self.gates.refuse(f"{name} is not allowed")

        return refused


# Types of functions: everybody shares the same function objects.
SHARED = (FunctionType, BuiltinFunctionType, MethodType)


def wraps(gates: Gates) -> Callable[..., Any]:
    """A `functools.wraps` whose caller cannot choose the attributes: only descriptive ones are copied, because
    libraries make code from annotations and find globals through `__wrapped__`."""

    def wraps(wrapped: Any) -> Any:
        def decorate(wrapper: Any) -> Any:
            gates.target(wrapper, "wraps")
            for name in ("__name__", "__qualname__", "__doc__"):
                text = getattr(wrapped, name, None)
                if type(text) is str:
                    setattr(wrapper, name, text)
            if type(wrapped) is FunctionType and type(wrapper) is FunctionType:
                annotate(wrapped, wrapper)
                wrapper.__dict__.update(wrapped.__dict__)
                if wrapped.__module__ == "__main__":
                    wrapper.__wrapped__ = wrapped  # type: ignore[attr-defined]  # as `functools.wraps` does
            return wrapper

        return decorate

    return wraps


def annotate(wrapped: Any, wrapper: Any) -> None:
    """Copies the annotations and evaluates none: since Python 3.14 a function has a function that makes them."""
    made_by = getattr(wrapped, "__annotate__", None)
    if made_by is None:
        wrapper.__annotations__ = dict(wrapped.__annotations__)
    else:
        wrapper.__annotate__ = made_by


def register(value: Any, found: Any, refuse: Callable[[str], NoReturn]) -> Any:
    """Allows registering only the snippet's own classes with a library's abstract class or generic function, which
    everybody shares."""
    owner = value if isinstance(value, (type, FunctionType)) else None
    if owner is None or getattr(owner, "__module__", None) == "__main__":
        return found

    def register(cls: Any, *args: Any) -> Any:
        if not isinstance(cls, type) or type.__dict__["__module__"].__get__(cls) != "__main__":
            refuse("registering what is not the snippet's own with a library is not allowed")
        return found(cls, *args)

    return register


def own_only(decorator: Any, refuse: Callable[[str], NoReturn]) -> Any:
    """A decorator that sets attributes on its argument, which must not be a library's own."""

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
    """Checks data classes: they are generated from text that contains the field names, and the decorator changes the
    class that it is given, so that class must be the snippet's or the calling library's own."""
    process, get_field = module._process_class, module._get_field

    def asks() -> Any:
        frame: Any = sys._getframe(2)
        while frame is not None and frame.f_globals.get("__name__") == module.__name__:
            frame = frame.f_back
        return frame and frame.f_globals.get("__name__")

    def _process_class(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if not importing() and type.__dict__["__module__"].__get__(cls) not in ("__main__", asks()):
            refuse("making a data class of a library's class is not allowed")
        return process(cls, *args, **kwargs)

    # Every field passes here before the text is made. `__annotations__` may have to be evaluated to be read (PEP 649).
    def _get_field(cls: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
        if (type(name) is not str or not name.isidentifier() or keyword.iskeyword(name)) and not importing():
            refuse(f"a field called {name!s:.50} is not allowed")
        return get_field(cls, name, *args, **kwargs)

    module._process_class, module._get_field = _process_class, _get_field


def suppress(gates: Gates) -> type:
    """A `contextlib.suppress` that, like `except`, ends the run for errors that must not be caught."""

    class suppress(contextlib.suppress):
        def __exit__(self, *args: Any) -> Any:
            gates.watch.caught(args[1])
            return super().__exit__(*args)

    return suppress


def namedtuple(typename: Any, field_names: Any, *, rename: bool = False, defaults: Any = None) -> Any:
    """A `namedtuple` without `module`, which could claim that another module made the class."""
    return collections.namedtuple(typename, field_names, rename=rename, defaults=defaults, module="__main__")


def enumerations(refuse: Callable[[str], NoReturn]) -> None:
    """Checks `Enum("Name", members)`, which makes a class: it must not define special names or claim another module.
    Libraries may do so while they are imported."""
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
    """Whether a library is being imported: its frames are then above the snippet's."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name == errors.SNIPPET:
            return False
        if name == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back  # type: ignore[assignment]  # the loop's condition asks for None
    # Another thread that the snippet started may have only a library's frames, so it counts as the snippet's.
    return _thread.get_ident() == MAIN
