"""The contract `analysis`: what is left behind besides stdout.

A DataFrame shown last is also the result, cut to what fits a message. Files and figures lie in the
output folder: saved, shown, or left open.
"""

from __future__ import annotations

import math
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
ROWS = 50
COLUMNS = 200
TEXT = 1000

# How matplotlib finds `canvas`.
BACKEND = "module://_countersign.canvas"


class Analysis(Contract):
    """Each input under its name; the last value is shown, and is the result if it is a table."""

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
        # A built-in of notebooks; an input may have the name.
        return {SHOW: modules.display} | values

    def result(self, left: dict[str, Any], show: Display) -> Any:
        if (canvas := sys.modules.get("_countersign.canvas")) is not None:
            canvas.finish()
        return table(show.value, self.loaded.get("pandas"))


def table(value: Any, pandas: Any) -> dict[str, Any] | None:
    """`{"value": {shape, columns, rows}}`, or None where the last value is no DataFrame."""
    if pandas is None or not isinstance(value, pandas.DataFrame):
        return None
    head = value.iloc[:ROWS, :COLUMNS]
    return {
        "value": {
            "shape": [int(value.shape[0]), int(value.shape[1])],
            "columns": [str(name)[:TEXT] for name in head.columns],
            "rows": [[cell(one) for one in row] for row in head.itertuples(index=False, name=None)],
        }
    }


def cell(value: Any) -> Any:
    """A cell as JSON has it: missing values become null, what JSON lacks becomes text."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else str(value)[:TEXT]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    text = str(value)
    return None if text in ("NaT", "<NA>") else text[:TEXT]


CONTRACT = Analysis
