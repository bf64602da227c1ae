"""Changes modules of libraries: at once where they are loaded, the others as soon as they are."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    Change = Callable[[ModuleType], None]

_changes: dict[str, list[Change]] = {}
_under: dict[str, Change] = {}


def change(names: Iterable[str], how: Change) -> None:
    """Applies `how` to each of these modules: now if it is loaded, else as soon as it is."""
    watch()
    for name in names:
        _changes.setdefault(name, []).append(how)
        if name in sys.modules:
            how(sys.modules[name])


def under(packages: Iterable[str], how: Change) -> None:
    """Applies `how` to every module of these packages, now or as soon as it is loaded."""
    watch()
    _under.update(dict.fromkeys(packages, how))
    for name, module in list(sys.modules.items()):
        if top(name) in _under and module is not None:
            how(module)


def watch() -> None:
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())


def top(name: str) -> str:
    return name.partition(".")[0]


class Finder:
    """Finds the modules as usual and arranges for their change."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        how = _under.get(top(name))
        if name not in _changes and how is None:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                if how is not None:
                    afterwards(spec.loader, how)
                if name in _changes:
                    spec.loader = Loader(spec.loader)  # type: ignore[assignment]  # loads as a loader does, without its base class
                return spec
        return None


def afterwards(loader: Any, how: Change) -> None:
    """Makes the loader apply `how` after it ran the module. The loader object stays, because packages ask it
    for their data."""
    plain = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        plain(module)
        how(module)

    try:
        loader.exec_module = exec_module
    except AttributeError:
        # Loaders of frozen and built-in modules take no attribute; such modules need no change.
        pass


class Loader:
    """Loads the module as its own loader does, then applies the changes. Not a subclass of `importlib.abc.Loader`:
    importing that loads half of the standard library."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self.inner.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self.inner.exec_module(module)
        for how in _changes[module.__name__]:
            how(module)
