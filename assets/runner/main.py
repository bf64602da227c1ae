"""One process, from the setup to the report."""

import json
import os
import sys
import warnings
from typing import Any

from _countersign import certify, errors, files, hold, job, spec


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
        report["result"] = (certify if setup.certify else job).run(setup, libraries)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is reported
        status = failed(error, report)
    if os.getpid() != pid:
        # A fork of the snippet's that came out at its end: only the first process reports.
        leave(status)
    finish()
    if report["error"] is None:
        report["manifest"] = files.manifest()
    send(setup, report)
    leave(status)


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


def send(setup: spec.Setup, report: dict[str, Any]) -> None:
    text = json.dumps(report)
    # What the broker takes, less the line's end and some room.
    if len(text) > setup.report * 0.9:
        error = errors.Refused("ContractViolation", "the result is too large")
        text = json.dumps({"error": errors.as_report(error), "result": None})
    data = memoryview(text.encode() + b"\n")
    while data:
        data = data[os.write(setup.fd_report, data) :]


def leave(status: int) -> None:
    """Ends at once: finalisers of the snippet must not run where nothing guards them."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass
    os._exit(status)
