"""One run, from the setup to the report."""

import ast
import json
import os
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

from _countersign import (
    analysis,
    check,
    display,
    errors,
    facts,
    hold,
    inputs,
    mangle,
    names,
    rewrite,
    spec,
)
from _countersign.gates import Gates
from _countersign.rules import Rules

REPORT_MAX = 900_000
# Deeply nested code is refused by a clear error of the compiler, not by our own walk before it.
DEPTH = 20_000


def main() -> None:
    setup = spec.read_setup()
    sys.path[:] = setup.sys_path
    sys.argv = [""]
    sys.dont_write_bytecode = True
    libraries = {name: __import__(name) for name in setup.preload}
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    warnings.showwarning = errors.show_warning  # type: ignore[assignment]
    hold.confine(setup)
    hold.wait(setup)
    # From here on everything is the snippet's doing.
    pid = os.getpid()
    report: dict[str, Any] = {"error": None, "result": None}
    status = 0
    try:
        report["result"] = run(setup, libraries)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is reported
        status = failed(error, report)
    if os.getpid() != pid:
        # A fork of the snippet's that came out at its end: only the first process reports.
        leave(status)
    finish()
    send(setup.fd_report, report)
    leave(status)


def run(setup: spec.Setup, libraries: dict[str, ModuleType]) -> Any:
    """Runs the snippet. Its result, as the contract has it."""
    try:
        source = spec.read_code(setup)
        job = spec.read_job(setup)
    except (spec.Mismatch, UnicodeDecodeError, ValueError) as error:
        raise errors.Refused("SandboxError", str(error)) from None
    tree = ast.parse(source, errors.SNIPPET)
    guarded = bool(setup.policy["guard"])
    notebook = setup.policy["contract"] == "analysis"
    pandas = libraries.get("pandas")
    given: dict[str, Any] = {"__name__": "__main__"}
    if "pandas" in libraries:
        given["pd"] = pandas
    if "numpy" in libraries:
        given["np"] = libraries["numpy"]
    given |= dict.fromkeys(one.name for one in job.inputs)
    show = display.Display()
    gates = None
    if guarded:
        rules = Rules(setup.policy)
        facts.compare(tree, job.facts)
        check.check(deeply(mangle.mangle, tree), rules, given)
        gates = Gates(rules)
    try:
        given |= inputs.load(job.inputs, pandas)
    except spec.Mismatch as error:
        raise errors.Refused("SandboxError", str(error)) from None
    display.widen(pandas)
    code = prepare(tree, guarded, notebook)
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
    return analysis.result(show.value, pandas) if notebook else None


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


def failed(error: BaseException, report: dict[str, Any]) -> int:
    """Puts the error into the report. The exit status."""
    if isinstance(error, SystemExit) and error.code in (None, 0):
        return 0
    if isinstance(error, MemoryError):
        hold.relax()
    errors.show(error)
    report["error"] = errors.as_report(error)
    if isinstance(error, SystemExit) and isinstance(error.code, int):
        return (error.code & 0xFF) or 1
    return 1


def finish() -> None:
    """What the interpreter's own end would do for the snippet: threads end, handlers run."""
    import atexit
    import threading

    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    except BaseException:  # noqa: BLE001 - the snippet's own handlers
        pass


def send(fd: int, report: dict[str, Any]) -> None:
    text = json.dumps(report)
    if len(text) > REPORT_MAX:
        error = errors.Refused("ContractViolation", "the result is too large")
        text = json.dumps({"error": errors.as_report(error), "result": None})
    data = memoryview(text.encode() + b"\n")
    while data:
        data = data[os.write(fd, data) :]


def leave(status: int) -> None:
    """Ends at once: finalisers of the snippet must not run where nothing guards them."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass
    os._exit(status)
