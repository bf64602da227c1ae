"""The main program of one process, from the setup to the report."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import time
import warnings

from _countersign import (
    contracts,
    display,
    errors,
    failure,
    files,
    hold,
    job,
    limits,
    opened,
    spec,
    stop,
)
from _countersign.events import Events
from _countersign.report import leave, send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Read when pyarrow is loaded. Its other allocators reserve a gigabyte of address space at once, and many runs have no
# more than that.
POOL = "ARROW_DEFAULT_MEMORY_POOL"


def main() -> None:
    setup = spec.read_setup()
    sys.path[:] = setup.sys_path
    sys.argv = [""]
    sys.dont_write_bytecode = True
    os.environ[POOL] = "system"
    if setup.warm is not None:
        from _countersign import zygote

        zygote.keep_to_one_thread()
    libraries = {}
    if setup.preload:
        from _countersign import quick

        libraries = quick.load(setup.preload)
    display.widen(libraries.get("pandas"))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]  # nothing has put another stream there yet
    warnings.showwarning = errors.show_warning
    sys.unraisablehook = errors.show_unraisable
    if setup.warm is not None:
        setup = zygote.serve(setup, libraries)
        # Only a fork returns from `serve`, made for one run.
    elif setup.policy is not None and not setup.certify:
        contracts.of(setup.policy["contract"]).ahead(setup)
    del os.environ[POOL]
    gc.freeze()
    gc.enable()
    if setup.policy is None:
        from _countersign import task

        task.run(setup, libraries)
    if setup.policy["guard"]:
        # Without the guard the snippet keeps its signals, and only the outside stops it.
        stop.ready()
    hold.confine(setup)
    hold.wait(setup)
    released = time.monotonic()
    # From now on the snippet may be responsible for anything that happens.
    pid = os.getpid()
    report: dict[str, Any] = {"error": None, "result": None}
    status = 0
    contract = contracts.of(setup.policy["contract"])(setup, libraries)
    events = Events(lambda line: os.write(setup.fd_report, line), contract.clean)
    if setup.policy["guard"] and not setup.certify:
        stop.arm(setup, events, released)
    try:
        if setup.certify:
            from _countersign import certify

            report["result"] = certify.run(setup, libraries, contract)
        else:
            report["result"] = job.run(setup, libraries, contract, events)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is reported
        status = failure.put(error, report)
        limits.met(error)
        if limit := report["error"] and report["error"]["limit"]:
            events.limit(limit, report["error"]["line"], limits.reason(error))
    if os.getpid() != pid:
        # A fork that the snippet made has reached this point: only the first process reports.
        leave(status)
    finish()
    if setup.policy["guard"]:
        # A thread or a handler at the end may have left a redirection open.
        contract.own_streams()
    contract.end()
    report = contract.told(report)
    if report["error"] is None:
        report["manifest"] = files.manifest()
    send(setup, report | events.closing())
    leave(status)


def finish() -> None:
    """Does what the interpreter's own shutdown would do for the snippet: joins threads, runs handlers,
    flushes files."""
    # If `threading` is not loaded, there are no threads. Importing it here could fail for lack of descriptors.
    threading = sys.modules.get("threading")
    try:
        if threading is not None:
            threading._shutdown()
        atexit._run_exitfuncs()
    except BaseException:  # noqa: BLE001, S110 - the snippet's own handlers
        pass
    try:
        opened.flush()
    except MemoryError:
        pass
