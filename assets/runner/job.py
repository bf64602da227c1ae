"""One job after its release: runs the snippet under its guard, and lets the contract make the result."""

from __future__ import annotations

import ast
import sys
from types import CodeType, ModuleType

from _countersign import check, display, errors, facts, guard, mangle, nearest, rewrite, rules, spec
from _countersign.contracts import Contract
from _countersign.events import Events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Recursion limit for walking the tree: high enough that the compiler, with its clear error, refuses nested
# code first.
DEPTH = 20_000
DISPLAY = "<display>"


def ready(setup: spec.Setup) -> None:
    """Prepares what depends on the policy alone, before there is a snippet. All runs of a zygote share it."""
    if setup.policy["guard"]:
        guard.ready(rules.of(setup.policy))


def run(setup: spec.Setup, libraries: dict[str, ModuleType], contract: Contract, events: Events) -> Any:
    """Runs the snippet and returns its result, as the contract defines it."""
    try:
        source = spec.read_code(setup)
        job = spec.read_job(setup)
    except (spec.Mismatch, UnicodeDecodeError, ValueError) as error:
        raise errors.Refused("SandboxError", str(error)) from None
    tree = ast.parse(source, errors.SNIPPET)
    names_given = {"__name__", *contract.libraries(), *contract.names(job.inputs)}
    allowed = None
    optional: frozenset[str] = frozenset()
    if setup.policy["guard"]:
        allowed = rules.of(setup.policy)
        facts.compare(tree, job.facts, events)
        optional = check.check(deeply(mangle.mangle, tree), allowed, names_given, events)
        try:
            contract.check(tree)
        except errors.PolicyViolation as error:
            events.add("refused", error.message, error.line)
            raise
    try:
        values = contract.load(job.inputs)
    except spec.Mismatch as error:
        raise errors.Refused("SandboxError", str(error)) from None
    given = {"__name__": "__main__"} | contract.libraries() | contract.given(values)
    own = contract.own_streams if setup.policy["guard"] else lambda: None
    show = display.Display(whole=contract.private, own=own)
    # The snippet gets its own module, so that code looking up a class's module finds the snippet.
    module = ModuleType("__main__")
    if allowed is None:
        code = plain(tree, contract)
        module.__dict__[DISPLAY] = show
        run_code: Callable[[CodeType, dict[str, Any]], None] = exec
    else:
        kept = guard.Guard(setup, allowed, events, contract)
        kept.gates.optional = optional
        contract.guarded(kept.end, events)
        nearest.under(allowed)
        code = kept.prepare(tree, show, deeply)
        module.__dict__["__builtins__"] = kept.builtins
        run_code = kept.run
    module.__dict__.update(given)
    sys.modules["__main__"] = module
    run_code(code, module.__dict__)
    return contract.result(module.__dict__, show)


def plain(tree: ast.Module, contract: Contract) -> CodeType:
    """The code without the guard: no gates between snippet and interpreter."""
    if contract.notebook:
        tree = rewrite.show_last(tree, ast.Name(DISPLAY, ast.Load()))
    tree = deeply(ast.fix_missing_locations, tree)
    code: CodeType = deeply(lambda tree: compile(tree, errors.SNIPPET, "exec", dont_inherit=True), tree)
    return code


def deeply(walk: Callable[[ast.Module], Any], tree: ast.Module) -> Any:
    """Walks a tree that may be as deep as the parser allows."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(DEPTH)
    try:
        return walk(tree)
    finally:
        sys.setrecursionlimit(before)
