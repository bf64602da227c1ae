"""`import` as the snippet has it. Libraries import freely: theirs is the interpreter's own."""

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
            # Not a statement, which brings a tuple or None: a library's compiled code imports for
            # itself what it needs, and looks for `__import__` where the snippet's is.
            return _import(name)
        if level or type(name) is not str:
            gates.refuse("relative imports are not allowed")
        if name in gates.optional:
            # Nobody looks whether it is there: what is raised is the same for every module.
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
            # A submodule is loaded only if it is listed: its code would run before it is judged.
            path = f"{name}.{member}"
            if not hasattr(module, member) and rules.module_problem(path) is None:
                load(path)
            # A member that is missing is the import statement's own error.
            if (found := getattr(module, member, MISSING)) is not MISSING:
                gates.check_member(module, member, found)
                stand_in.__dict__[member] = gates.named(member, gates.narrow.member(found))
        # The statement takes from here: what was judged, and nothing that is looked up anew.
        return stand_in

    def load(name: str) -> ModuleType:
        if served := gates.served(name):
            # As the statement has it: `import os.path` binds `os`.
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
        """What `import *` may take of a module: a stand-in with the allowed members only."""
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
