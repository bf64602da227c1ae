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


def change(names: Iterable[str], how: Change) -> None:
    """From here on `how` is done to each of these modules, once it is loaded."""
    if not _changes:
        sys.meta_path.insert(0, Finder())  # type: ignore[arg-type]
    for name in names:
        _changes.setdefault(name, []).append(how)
        if name in sys.modules:
            how(sys.modules[name])


class Finder:
    """Finds the modules as usual and has them changed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in _changes:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = Loader(spec.loader)  # type: ignore[arg-type]
                return spec
        return None


class Loader:
    """Loads the module as its own loader does; `importlib.abc`, whose `Loader` this is not, loads half
    of the standard library along."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self.inner.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self.inner.exec_module(module)
        for how in _changes[module.__name__]:
            how(module)
