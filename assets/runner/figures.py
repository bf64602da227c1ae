"""Figures that a snippet shows become files of the output folder: names and count of them, and
plotly's `show`, which elsewhere opens a browser. matplotlib's are in `canvas`."""

import importlib.abc
import json
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from _countersign import files, limits
from _countersign.errors import Refused
from _countersign.plain import Plain

# Where plotly's `show` is; `plotly.io` has the same function under the same name.
HOME = "plotly.io._renderers"

_kept = 0


def next_name(extension: str) -> str:
    """A free name for one more figure, of whichever library.

    Raises `Refused` with `ContractViolation` over as many as the policy collects files.
    """
    global _kept
    _kept += 1
    most = files.most
    if _kept > most:
        limits.reached("files", f"more than {most} figures")
        raise Refused("ContractViolation", f"more than {most} figures; at most {most} are kept")
    taken = {name.partition(".")[0] for name in files.names() if name.endswith((".png", ".json"))}
    number = next(n for n in range(1, len(taken) + 2) if f"fig{n}" not in taken)
    return f"fig{number}{extension}"


def show(figure: Any, *args: Any, **kwargs: Any) -> None:
    """In the place of plotly's: the figure as JSON, as `plotly.io.from_json` reads it."""
    plain = Plain(sys.modules.get("numpy"), sys.modules.get("pandas"))
    text = json.dumps(plain.of(figure, "the figure"), allow_nan=False)
    files.leave(next_name(".json"), text.encode())


def watch() -> None:
    """Puts `show` into plotly, loaded or not."""
    sys.meta_path.insert(0, Finder())  # type: ignore[arg-type]
    for name in (HOME, "plotly.io"):
        module = sys.modules.get(name)
        if module is not None and (name == HOME or "show" in vars(module)):
            module.show = show  # type: ignore[attr-defined]


class Finder:
    """Finds the module as usual and changes it once it is loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != HOME:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = Loader(spec.loader)  # type: ignore[arg-type]
                return spec
        return None


class Loader(importlib.abc.Loader):
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self.inner.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self.inner.exec_module(module)
        module.show = show  # type: ignore[attr-defined]
