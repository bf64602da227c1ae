"""One job, after the release: the snippet under its guard, and what its contract makes of it."""

import ast
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from _countersign import check, contracts, display, errors, facts, inputs, mangle, names, rewrite, spec
from _countersign.gates import Gates
from _countersign.rules import Rules

# Deeply nested code is refused by a clear error of the compiler, not by our own walk before it.
DEPTH = 20_000


def run(setup: spec.Setup, libraries: dict[str, ModuleType]) -> Any:
    """Runs the snippet. Its result, as the contract has it."""
    try:
        source = spec.read_code(setup)
        job = spec.read_job(setup)
    except (spec.Mismatch, UnicodeDecodeError, ValueError) as error:
        raise errors.Refused("SandboxError", str(error)) from None
    contract = contracts.of(setup.policy["contract"])(setup, libraries)
    tree = ast.parse(source, errors.SNIPPET)
    guarded = bool(setup.policy["guard"])
    names_given = {"__name__", *contract.libraries(), *contract.names(job.inputs)}
    show = display.Display()
    gates = None
    if guarded:
        rules = Rules(setup.policy)
        facts.compare(tree, job.facts)
        check.check(deeply(mangle.mangle, tree), rules, dict.fromkeys(names_given))
        gates = Gates(rules)
    try:
        values = inputs.load(job.inputs, libraries.get("pandas"))
    except spec.Mismatch as error:
        raise errors.Refused("SandboxError", str(error)) from None
    given = {"__name__": "__main__"} | contract.libraries() | contract.given(values)
    display.widen(libraries.get("pandas"))
    code = prepare(tree, guarded, contract.notebook)
    # A module of its own, so that what looks a class's module up finds the snippet.
    module = ModuleType("__main__")
    if gates is not None:
        module.__dict__["__builtins__"] = names.frozen(gates, show)
    else:
        module.__dict__[rewrite.DISPLAY] = show
    module.__dict__.update(given)
    sys.modules["__main__"] = module
    try:
        exec(code, module.__dict__)
    finally:
        if gates is not None and gates.violation is not None:
            raise gates.violation
    return contract.result(module.__dict__, show)


def prepare(tree: ast.Module, guarded: bool, notebook: bool) -> Any:
    if guarded:
        tree = deeply(rewrite.guard, tree)
    if notebook:
        tree = rewrite.show_last(tree)
    return deeply(
        lambda tree: compile(tree, errors.SNIPPET, "exec", dont_inherit=True),
        tree,
    )


def deeply(walk: Callable[[ast.Module], Any], tree: ast.Module) -> Any:
    """Walks a tree that may be as deep as the parser allows."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(DEPTH)
    try:
        return walk(tree)
    finally:
        sys.setrecursionlimit(before)
