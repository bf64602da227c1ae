"""Sends the single report of a run and ends the process."""

from __future__ import annotations

import json
import os
import sys

from _countersign import errors, spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_begun = False


def begun() -> bool:
    """Whether sending the report has begun."""
    return _begun


def send(setup: spec.Setup, report: dict[str, Any]) -> None:
    global _begun
    _begun = True
    text = json.dumps(report)
    # The broker's limit, less room for the newline and the events before the report.
    most = setup.report // 10 * 9
    if len(text) > most:
        said = f"the result has {len(text)} bytes as JSON, and at most {most} come back: leave less"
        error = errors.Refused("ContractViolation", said)
        text = json.dumps(report | {"error": errors.as_report(error), "result": None})
    data = memoryview(text.encode() + b"\n")
    while data:
        data = data[os.write(setup.fd_report, data) :]


def leave(status: int) -> NoReturn:
    """Ends the process at once: finalisers of the snippet must not run unguarded."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()  # type: ignore[union-attr]  # None has no `flush`, which is caught
        except BaseException:  # noqa: BLE001, S110 - whatever the snippet left there, the process ends as reported
            pass
    os._exit(status)
