"""The contract `analysis`: besides stdout, a shown value, files and figures.

The value shown last is also the result, cut to fit a message. Files lie in the output folder, and so do figures
that were saved, shown or left open.
"""

from __future__ import annotations

import os
import sys

from _countersign import figures, files, modules, threads, zone
from _countersign.contracts.base import Contract
from _countersign.display import Display
from _countersign.spec import Input, Setup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHOW = "display"

# The name under which matplotlib loads `canvas`.
BACKEND = "module://_countersign.canvas"


class Analysis(Contract):
    """Each input is given under its name; the last value is shown and is the result."""

    notebook = True

    @classmethod
    def ahead(cls, setup: Setup) -> None:
        if setup.policy["guard"]:
            os.environ["MPLBACKEND"] = BACKEND
            figures.watch(BACKEND)
            threads.instead()
            zone.close(setup.sys_path)
            files.keep_list(setup.policy["limits"]["artifacts"])

    def names(self, inputs: list[Input]) -> list[str]:
        return [SHOW, *super().names(inputs)]

    def given(self, values: dict[str, Any]) -> dict[str, Any]:
        # Notebooks have `display` built in; an input of that name replaces it.
        return {SHOW: modules.display} | values

    def result(self, left: dict[str, Any], show: Display) -> Any:
        if (canvas := sys.modules.get("_countersign.canvas")) is not None:
            canvas.finish()
        return show.told


CONTRACT = Analysis
