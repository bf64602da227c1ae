"""The snippet's `import`. Libraries import freely with the interpreter's own."""

from __future__ import annotations

import builtins
import sys
from types import ModuleType

from _countersign import modules, reach
from _countersign.gates import Gates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_import = builtins.__import__
MISSING = object()


def guarded(gates: Gates) -> Callable[..., ModuleType]:
    rules = gates.rules

    def import_(
        name: str,
        globals_: Any = None,
        locals_: Any = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if type(fromlist) is list:
            # An import statement passes a tuple or None. A list comes from a library's compiled code, which imports
            # for itself but finds the snippet's `__import__`.
            return _import(name)
        if level or type(name) is not str:
            gates.refuse("relative imports are not allowed")
        if name in gates.optional:
            # The error is the same whether or not the module is installed: nobody looks.
            top = name.partition(".")[0]
            lacks = name if top in rules.imports or top in rules.packages else top
            raise ModuleNotFoundError(f"No module named {lacks!r}", name=lacks)
        named = [member for member in fromlist or () if member != "*"]
        for member in named:
            if problem := rules.member_problem(name, member):
                gates.refuse(problem)
        if not named:
            if problem := rules.module_problem(name):
                gates.refuse(problem)
            module = load(name)
            return public(loaded(name)) if fromlist else module
        load(name)
        module = loaded(name)
        stand_in = ModuleType(name)
        for member in named:
            # Only listed submodules are loaded: loading runs their code before the member can be judged.
            path = f"{name}.{member}"
            if not hasattr(module, member) and rules.module_problem(path) is None:
                load(path)
            # For a missing member the import statement itself raises the error.
            if (found := getattr(module, member, MISSING)) is not MISSING:
                gates.check_member(module, member, found)
                stand_in.__dict__[member] = gates.named(member, gates.narrow.member(found))
        # The statement takes its names from the stand-in, which holds only judged members, so nothing is
        # looked up again.
        return stand_in

    def load(name: str) -> ModuleType:
        if served := gates.served(name):
            # As the statement does: `import os.path` binds `os`.
            return gates.served(name.partition(".")[0]) or served
        try:
            if name == modules.NOTEBOOK and name not in sys.modules:
                modules.notebook()
            return _import(name)
        finally:
            reach.close(gates)

    def loaded(name: str) -> ModuleType:
        return gates.served(name) or sys.modules[name]

    def public(module: ModuleType) -> ModuleType:
        """A stand-in for the module with the members that `import *` may take."""
        stand_in = ModuleType(module.__name__)
        names = getattr(module, "__all__", None) or [n for n in dir(module) if n[:1] != "_"]
        for name in names:
            found = getattr(module, name, None)
            if isinstance(found, ModuleType) or rules.member_problem(module.__name__, name):
                continue
            stand_in.__dict__[name] = gates.named(name, gates.narrow.member(found))
        stand_in.__dict__["__all__"] = [n for n in names if n in stand_in.__dict__]
        return stand_in

    return import_
