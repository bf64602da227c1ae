"""What is given of modules that serve everyday code and reach further than it needs.

The policy lists their members; here are the few that are given another way: a copy of the environment,
tracebacks of the snippet's own frames, a command line that sets attributes of its own objects only,
templates that do not reach into attributes. `IPython.display` is ours: a run is no notebook.
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
    """Puts what is given in place of the members, once their modules are loaded."""
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
    """Sets what it parses on a namespace of its own only, under names that are no special ones."""

    class ArgumentParser(argparse.ArgumentParser):  # type: ignore[name-defined,misc]  # a module that is an argument
        def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
            if namespace is not None and type(namespace) is not argparse.Namespace:
                gates.refuse("parsing arguments into an object that is no Namespace is not allowed")
            for name in (*self._defaults, *(one.dest for one in self._actions)):
                gates.check_name(name, gates.rules.defined)
            return super().parse_known_args(args, namespace)

    return ArgumentParser


# -- logging


def templates(logging: ModuleType, gates: Gates) -> None:
    """`style="{"` without its way into attributes."""
    formatter = gates.formatter

    def _format(self: Any, record: Any) -> str:
        values: Mapping[str, Any] = record.__dict__
        if defaults := getattr(self, "_defaults", None):
            values = {**defaults, **values}
        return formatter.vformat(str.__str__(self._fmt), (), values)

    logging.StrFormatStyle._format = _format
    # `extra` is stored on the record under any name.
    reach.without_address(logging.LogRecord)
    # What it shows of errors has the snippet's own frames too.
    logging.traceback = SimpleNamespace(  # type: ignore[attr-defined]  # a module's own name
        print_exception=print_exception, print_stack=lambda *args, **kwargs: None
    )


# -- dateutil.tz


def by_name(gettz: Any) -> Any:
    """Zones by their names: what looks like a path to a file is none."""

    def named(name: Any = None) -> Any:
        if name is not None:
            parts = str.split(name, "/")
            if not all(part.translate(IN_ZONES).isalnum() for part in parts):
                return None
        return gettz(name)

    return named


IN_ZONES = str.maketrans("", "", "_+-")


# -- what importlib has


class Found:
    """A package that is there, and nothing of where it is."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"ModuleSpec(name={self.name!r})"


def seeker(find_spec: Any, gates: Gates) -> Any:
    """Whether a package may be imported; nothing is loaded for the answer."""

    def seek(name: Any, package: Any = None) -> Found | None:
        name = str.__str__(name)
        top = name.partition(".")[0]
        listed = top in gates.rules.imports or top in gates.rules.packages
        return Found(name) if listed and find_spec(top) else None

    return seek


# -- tempfile


def own_folder(tempfile: ModuleType) -> None:
    """Temporary files lie where libraries keep their caches, and are no output."""
    tempfile.tempdir = os.environ.get("HOME") or None  # type: ignore[attr-defined]  # a module's own name


# -- IPython.display


class Shown:
    """Text in a language that a browser would draw; a terminal has its source."""

    def __init__(self, data: Any = None) -> None:
        self.data = data

    def __repr__(self) -> str:
        return str(self.data)


class HTML(Shown):
    pass


class Markdown(Shown):
    pass


def display(*values: Any, **kwargs: Any) -> None:
    """Shows each as the last line of a notebook's cell would be shown."""
    for value in values:
        if not figures.is_shown(value):
            print(repr(value))  # noqa: T201 - the snippet asked for it


def notebook() -> ModuleType:
    """`IPython.display`, as far as it means anything here."""
    package, module = ModuleType("IPython"), ModuleType(NOTEBOOK)
    for one in (HTML, Markdown, display):
        setattr(module, one.__name__, one)
    package.display = module  # type: ignore[attr-defined]  # a module's own name
    package.__path__ = []
    # What libraries ask to know whether they are in a notebook: they are not.
    package.get_ipython = lambda: None  # type: ignore[attr-defined]  # a module's own name
    package.version_info = (9, 0, 0)  # type: ignore[attr-defined]  # a module's own name
    sys.modules["IPython"] = package
    sys.modules[NOTEBOOK] = module
    return module
