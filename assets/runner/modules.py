"""Stand-ins for members of modules that everyday code uses but that reach further than it needs.

The policy lists the allowed members; the few with a stand-in are here: a copy of the environment, tracebacks of the
snippet's own frames only, a command line parser that sets attributes of its own objects only, templates that do not
read attributes. `IPython.display` is ours: a run is no notebook.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType, SimpleNamespace

from _countersign import errors, figures, loaded, reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from _countersign.gates import Gates
    from _countersign.narrow import Narrow

NOTEBOOK = "IPython.display"


def give(narrow: Narrow) -> None:
    """Puts the stand-ins in place of the members, once their modules are loaded."""
    gates = narrow.gates
    environ = dict(os.environ)
    narrow.instead[id(os.environ)] = environ
    narrow.instead[id(os.getenv)] = lambda key, default=None: environ.get(key, default)

    def tracebacks(module: ModuleType) -> None:
        for name, own in TRACEBACKS.items():
            narrow.instead[id(getattr(module, name))] = own

    def parsers(module: ModuleType) -> None:
        narrow.instead[id(module.ArgumentParser)] = parser(module, gates)

    def zones(module: ModuleType) -> None:
        narrow.instead[id(module.gettz)] = by_name(module.gettz)

    def specs(module: ModuleType) -> None:
        narrow.instead[id(module.find_spec)] = seeker(module.find_spec, gates)

    loaded.change(["traceback"], tracebacks)
    loaded.change(["dateutil.tz"], zones)
    loaded.change(["importlib.util"], specs)
    loaded.change(["argparse"], parsers)
    loaded.change(["logging"], lambda module: templates(module, gates))
    loaded.change(["tempfile"], own_folder)


# -- traceback


def format_exception(
    exc: Any, /, value: Any = None, tb: Any = None, limit: Any = None, chain: bool = True
) -> list[str]:
    error = value if isinstance(value, BaseException) else exc
    if not isinstance(error, BaseException):
        return ["NoneType: None\n"]
    return [line + "\n" for line in errors.lines_of(error, chain)]


def format_exception_only(exc: Any, /, value: Any = None) -> list[str]:
    error = value if isinstance(value, BaseException) else exc
    return [f"{errors.last_line(error)}\n"]


def format_exc(limit: Any = None, chain: bool = True) -> str:
    return "".join(format_exception(errors.current(), chain=chain))


def print_exception(
    exc: Any,
    /,
    value: Any = None,
    tb: Any = None,
    limit: Any = None,
    file: Any = None,
    chain: bool = True,
) -> None:
    text = "".join(format_exception(exc, value, chain=chain))
    print(text, end="", file=sys.stderr if file is None else file)


def print_exc(limit: Any = None, file: Any = None, chain: bool = True) -> None:
    print_exception(errors.current(), file=file, chain=chain)


TRACEBACKS = {
    function.__name__: function
    for function in (
        format_exc,
        format_exception,
        format_exception_only,
        print_exc,
        print_exception,
    )
}


# -- argparse


def parser(argparse: ModuleType, gates: Gates) -> type:
    """An `ArgumentParser` that stores results only on its own kind of namespace, and under no special names."""

    class ArgumentParser(argparse.ArgumentParser):  # type: ignore[name-defined,misc]  # a module that is an argument
        def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
            if self.fromfile_prefix_chars is not None:
                gates.refuse("arguments come from no file: give parse_args a list")
            if namespace is not None and type(namespace) is not argparse.Namespace:
                gates.refuse("parsing arguments into an object that is no Namespace is not allowed")
            for name in (*self._defaults, *(one.dest for one in self._actions)):
                gates.check_name(name, gates.rules.defined)
            return super().parse_known_args(args, namespace)

    return ArgumentParser


# -- logging


def templates(logging: ModuleType, gates: Gates) -> None:
    """Makes `style="{"` unable to read attributes."""
    formatter = gates.formatter

    def _format(self: Any, record: Any) -> str:
        values: Mapping[str, Any] = record.__dict__
        if defaults := getattr(self, "_defaults", None):
            values = {**defaults, **values}
        return formatter.vformat(str.__str__(self._fmt), (), values)

    logging.StrFormatStyle._format = _format
    # `extra` can store attributes of any name on the record.
    reach.without_address(logging.LogRecord)
    # Tracebacks in log messages, too, have the snippet's own frames only.
    logging.traceback = SimpleNamespace(  # type: ignore[attr-defined]  # a module's own name
        print_exception=print_exception, print_stack=lambda *args, **kwargs: None
    )


# -- dateutil.tz


def by_name(gettz: Any) -> Any:
    """Finds time zones by name and refuses anything that looks like a file path."""

    def named(name: Any = None) -> Any:
        if name is not None:
            parts = str.split(name, "/")
            if not all(part.translate(IN_ZONES).isalnum() for part in parts):
                return None
        return gettz(name)

    return named


IN_ZONES = str.maketrans("", "", "_+-")


# -- members of importlib


class Found:
    """Stands for the spec of an installed package, without its location."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"ModuleSpec(name={self.name!r})"


def seeker(find_spec: Any, gates: Gates) -> Any:
    """Answers whether a package may be imported, without loading anything."""

    def seek(name: Any, package: Any = None) -> Found | None:
        name = str.__str__(name)
        top = name.partition(".")[0]
        listed = top in gates.rules.imports or top in gates.rules.packages
        return Found(name) if listed and find_spec(top) else None

    return seek


# -- tempfile


def own_folder(tempfile: ModuleType) -> None:
    """Puts temporary files where libraries keep their caches: they are not output."""
    tempfile.tempdir = os.environ.get("HOME") or None  # type: ignore[attr-defined]  # a module's own name


# -- IPython.display


class Shown:
    """Text in a markup language, shown as its source: a run has no browser."""

    def __init__(self, data: Any = None) -> None:
        self.data = data

    def __repr__(self) -> str:
        return str(self.data)


class HTML(Shown):
    pass


class Markdown(Shown):
    pass


def display(*values: Any, **kwargs: Any) -> None:
    """Shows each value as a notebook shows the last line of a cell."""
    for value in values:
        if not figures.is_shown(value):
            print(repr(value))  # noqa: T201 - the snippet asked for it


def notebook() -> ModuleType:
    """The parts of `IPython.display` that make sense in a run."""
    package, module = ModuleType("IPython"), ModuleType(NOTEBOOK)
    for one in (HTML, Markdown, display):
        setattr(module, one.__name__, one)
    package.display = module  # type: ignore[attr-defined]  # a module's own name
    package.__path__ = []
    # Libraries call this to learn whether they run in a notebook: they do not.
    package.get_ipython = lambda: None  # type: ignore[attr-defined]  # a module's own name
    package.version_info = (9, 0, 0)  # type: ignore[attr-defined]  # a module's own name
    sys.modules["IPython"] = package
    sys.modules[NOTEBOOK] = module
    return module
