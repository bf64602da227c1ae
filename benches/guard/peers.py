"""What the snippets take under the guards of others, and under none, in nanoseconds.

Prints {guard: {snippet: {"best": …, "answer": …}}} as JSON. Arguments: the folder of numpy and
pandas, then the snippets' files, each complete. Run by the Python that has the peers.
"""

import importlib
import json
import operator
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

MODULES = ("collections", "numpy", "pandas", "time")
# Never reached: what is measured is that it is looked at.
FAR = 10**15
INPLACE = {"+=": operator.iadd, "-=": operator.isub, "*=": operator.imul}

Left = dict[str, Any]


def plain(code: str) -> Left:
    left: Left = {"__name__": "__main__"}
    exec(compile(code, "<snippet>", "exec", dont_inherit=True), left)
    return left


def sandtrap(code: str) -> Left:
    """In this process, with the limits that its checkpoints look at by default."""
    from sandtrap import Policy
    from sandtrap import sandbox

    policy = Policy(timeout=600.0, tick_limit=FAR)
    for name in MODULES:
        policy.module(importlib.import_module(name), recursive=True)
    with sandbox(policy, isolation="none") as kept:
        answer = kept.exec(code)
    if answer.error is not None:
        raise SystemExit(f"sandtrap: {answer.error}")
    left: Left = answer.namespace
    return left


def restricted(code: str) -> Left:
    """With the guards that its documentation names: for attributes, items, iteration and writing."""
    from RestrictedPython import Eval, Guards, compile_restricted, limited_builtins, utility_builtins

    names = Guards.safe_builtins | limited_builtins | utility_builtins
    names |= {"__import__": listed, "list": list, "max": max, "min": min, "sum": sum, "range": range}
    left: Left = {
        "__name__": "__main__",
        "__metaclass__": type,
        "__builtins__": names,
        "_getattr_": Guards.safer_getattr,
        "_getitem_": Eval.default_guarded_getitem,
        "_getiter_": Eval.default_guarded_getiter,
        "_iter_unpack_sequence_": Guards.guarded_iter_unpack_sequence,
        "_unpack_sequence_": Guards.guarded_unpack_sequence,
        "_write_": Guards.full_write_guard,
        "_inplacevar_": lambda how, one, other: INPLACE[how](one, other),
    }
    exec(compile_restricted(code, "<snippet>", "exec"), left)
    return left


def listed(name: str, *rest: Any) -> Any:
    if name not in MODULES:
        raise ImportError(name)
    return __import__(name, *rest)


GUARDS: dict[str, Callable[[str], Left]] = {
    "python": plain,
    "sandtrap": sandtrap,
    "RestrictedPython": restricted,
}


def main() -> None:
    warnings.simplefilter("ignore")
    sys.path.append(sys.argv[1])
    found: dict[str, dict[str, Any]] = {name: {} for name in GUARDS}
    for file in map(Path, sys.argv[2:]):
        for name, guard in GUARDS.items():
            left = guard(file.read_text(encoding="utf-8"))
            found[name][file.stem] = {"best": left["best"], "answer": left["answer"]}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
