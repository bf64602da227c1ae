"""Guards shared state that a library would let a snippet write: `sys` through a redirection, any object through an
argparse action, the registry of types by name, the converters of plots, attributes through a cached property."""

from __future__ import annotations

import functools

from _countersign import loaded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from _countersign.gates import Gates

STREAMS = ("stdout", "stderr")


def close(gates: Gates) -> None:
    properties(gates)
    loaded.change(["contextlib"], lambda module: streams(module, gates))
    loaded.change(["argparse"], lambda module: actions(module, gates))
    loaded.change(["pandas.core.dtypes.base"], types_by_name)
    loaded.change(["matplotlib.units"], lambda module: converters(module, gates))
    loaded.change(["sklearn.utils._repr_html.base"], links)


def streams(contextlib: Any, gates: Gates) -> None:
    """Checks which attribute of `sys` a redirection sets: the class names it, and a snippet could subclass."""
    kind = contextlib._RedirectStream

    def checked(plain: Any) -> Any:
        @functools.wraps(plain)
        def step(self: Any, *args: Any) -> Any:
            owner: Any = next(one for one in type(self).__mro__ if "_stream" in one.__dict__)
            own = "_stream" in getattr(self, "__dict__", {})
            if own or owner.__module__ != "contextlib" or owner._stream not in STREAMS:
                gates.refuse("redirecting anything but stdout and stderr is not allowed")
            return plain(self, *args)

        return step

    kind.__enter__, kind.__exit__ = checked(kind.__enter__), checked(kind.__exit__)


def actions(argparse: Any, gates: Gates) -> None:
    """Checks argparse actions, which set attributes on the object they are called with: it must be a namespace."""

    def setattr_(value: Any, name: str, new: Any) -> None:
        gates.check_name(name, gates.rules.defined)
        if not isinstance(value, argparse.Namespace):
            gates.refuse("storing an argument on anything but a Namespace is not allowed")
        setattr(value, name, new)

    argparse.setattr = setattr_


def types_by_name(module: Any) -> None:
    """Lets text find a type of the snippet only under names that no other type has."""
    kind = module.Registry
    plain = kind.find

    def among(dtypes: list[Any], dtype: Any) -> Any:
        some = kind()
        some.dtypes = dtypes
        return plain(some, dtype)

    @functools.wraps(plain)
    def find(self: Any, dtype: Any) -> Any:
        own = [one for one in self.dtypes if one.__module__ == "__main__"]
        if not own or not isinstance(dtype, str):
            return plain(self, dtype)
        found = among([one for one in self.dtypes if one.__module__ != "__main__"], dtype)
        if found is not None:
            return found
        try:
            module.np.dtype(dtype)
        except TypeError:
            return among(own, dtype)
        return None

    kind.find = find


class Converters:
    """The snippet's `matplotlib.units.registry`: for dates and for its own classes."""

    def __init__(self, real: Any, gates: Gates) -> None:
        self._real = real
        self._gates = gates

    def __getitem__(self, kind: Any) -> Any:
        return self._real[kind]

    def __contains__(self, kind: Any) -> bool:
        return kind in self._real

    def __iter__(self) -> Any:
        return iter(list(self._real))

    def __len__(self) -> int:
        return len(self._real)

    def __setitem__(self, kind: Any, converter: Any) -> None:
        home = type.__dict__["__module__"].__get__(kind) if isinstance(kind, type) else None
        if home not in ("__main__", "datetime") and getattr(kind, "__name__", "") != "datetime64":
            self._gates.refuse("converters are for dates and the snippet's own classes")
        self._real[kind] = converter

    def get(self, kind: Any, default: Any = None) -> Any:
        return self._real.get(kind, default)

    def get_converter(self, values: Any) -> Any:
        return self._real.get_converter(values)


def converters(module: Any, gates: Gates) -> None:
    gates.narrow.instead[id(module.registry)] = Converters(module.registry, gates)


def links(module: Any) -> None:
    """Gives the snippet's estimators no documentation link: filling its template would format objects of the
    snippet."""
    kind = module._HTMLDocumentationLinkMixin
    plain = kind._get_doc_link

    @functools.wraps(plain)
    def link(self: Any) -> Any:
        return "" if any(one.__module__ == "__main__" for one in type(self).__mro__) else plain(self)

    kind._get_doc_link = link


def properties(gates: Gates) -> None:
    """Checks the name under which a cached property stores: not a special name, because libraries trust an object's
    special attributes."""
    kind = functools.cached_property
    plain = kind.__get__

    @functools.wraps(plain)
    def __get__(self: Any, instance: Any, owner: Any = None) -> Any:
        name = vars(self).get("attrname")
        in_class = any("attrname" in one.__dict__ for one in type(self).__mro__)
        if instance is not None and (in_class or type(name) is not str or name.startswith("__")):
            gates.refuse(f"a cached property called {name!s:.50} is not allowed")
        return plain(self, instance, owner)

    kind.__get__ = __get__  # type: ignore[method-assign]  # in the place of the library's own
