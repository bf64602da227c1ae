"""Finds the runner's other files in the bundle and hands over to `main`.

Executed by `first`, which has read the bundle (module name to source, or to byte code) into
`bundle`.
"""

from __future__ import annotations

import gc
import marshal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
else:
    # The class that `importlib.machinery` exports, without the imports of that module.
    ModuleSpec = type(sys.__spec__)

PACKAGE = "_countersign"


class Bundle:
    """Imports `_countersign` and its modules from memory; everything else is imported as usual."""

    def __init__(self, sources: dict[str, str | bytes]) -> None:
        self.sources = sources

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(PACKAGE):
            # The common case: this runs for every module of every library.
            return None
        if name == PACKAGE:
            return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]  # loads as a loader does, without its base class
        for key in (name, f"{name}.__init__"):
            if key.removeprefix(PACKAGE + ".") in self.sources and key.startswith(PACKAGE + "."):
                return ModuleSpec(name, self, is_package=key != name)  # type: ignore[arg-type]  # loads as a loader does, without its base class
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        for suffix in ("", ".__init__"):
            name = module.__name__.removeprefix(PACKAGE + ".") + suffix
            if name in self.sources:
                kept = self.sources[name]
                if isinstance(kept, bytes):
                    code = marshal.loads(kept)  # noqa: S302 - the environment compiled it
                else:
                    code = compile(kept, f"<runner>/{name}.py", "exec", dont_inherit=True)
                exec(code, module.__dict__)  # noqa: S102 - as importing does


# Objects made while modules load stay alive, so collecting garbage among them only takes time.
gc.disable()
sys.meta_path.insert(0, Bundle(globals().pop("bundle")))

from _countersign.main import main  # noqa: E402 - found by what stands above

main()
