"""The snippet's builtins: an allow-list, some of them guarded.

They are a plain dict, because any other mapping makes the interpreter many times slower. No gate gives access to it,
and the guard checks after the run that it is unchanged.
"""

from __future__ import annotations

import builtins
import sys

from _countersign import believed, errors, imports, memory, reach, sequences
from _countersign.gates import Gates
from _countersign.narrow import StandIn, TypeMeta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any


def allowed(gates: Gates) -> dict[str, Any]:
    """All names that the policy lists, and what statements need. Without `open`, which each contract provides."""
    guarded = {
        "getattr": gates.getattr,
        "hasattr": gates.hasattr,
        "locals": bound_here,
        "setattr": gates.setattr,
        "delattr": gates.delattr,
        "type": gates.narrow.type,
        "bytearray": sequences.Bytes,
        "memoryview": memory.Views("memoryview", (), {"__module__": "builtins"}),
    }
    names = {
        name: guarded.get(name, getattr(builtins, name, None))
        for name in gates.rules.builtins
        if name != "open" and hasattr(builtins, name)
    }
    if gates.rules.exits:
        # The static check allows it after `raise` only.
        names["SystemExit"] = SystemExit
    names["__build_class__"] = build_class(gates)
    names["__import__"] = imports.guarded(gates)
    return names


def bound_here() -> dict[str, Any]:
    """`locals`: a copy of what the snippet bound in the calling scope, without Python's own names: at module level
    the namespace contains the guarded builtins too."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != errors.SNIPPET:
        frame = frame.f_back
    if frame is None:
        # A library called it in its own thread, which has no frame of the snippet.
        return {}
    return {name: value for name, value in frame.f_locals.items() if name.isidentifier() and not name.startswith("__")}


def build_class(gates: Gates) -> Callable[..., Any]:
    """The `class` statement. The static check has judged what its body binds."""

    def build(body: Any, name: str, /, *bases: Any, **keywords: Any) -> Any:
        metaclass = keywords.get("metaclass")
        if isinstance(metaclass, StandIn):
            keywords["metaclass"] = metaclass._real
        elif metaclass is not None:
            gates.refuse("a metaclass other than a library's own is not allowed")
        if any(isinstance(base, (StandIn, TypeMeta)) for base in bases):
            gates.refuse("a class of classes is not allowed")
        made = builtins.__build_class__(body, name, *bases, **keywords)
        if isinstance(made, type) and issubclass(made, type):
            gates.refuse("a class of classes is not allowed")
        if isinstance(made, type) and not made.__dict__.get("_is_protocol"):
            reach.without_address(made)
            believed.built(made, gates)
        return made

    return build
