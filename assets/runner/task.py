"""A process that runs no snippet and has no policy: it reads one data set for the broker.

Only the data file is untrusted. The setup says what to do: `convert` or `values`.
"""

from __future__ import annotations

from _countersign import convert, failure, hold, values
from _countersign.report import leave, send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, NoReturn

    from _countersign.spec import Setup


def run(setup: Setup, libraries: dict[str, ModuleType]) -> NoReturn:
    """Confines the process, waits for the release, does the work and reports it."""
    hold.confine(setup)
    hold.wait(setup)
    report: dict[str, Any] = {"error": None, "result": None}
    status = 0
    try:
        work = convert.run if setup.convert else values.run
        report["result"] = work(setup, libraries)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is reported
        status = failure.put(error, report)
    send(setup, report)
    leave(status)
