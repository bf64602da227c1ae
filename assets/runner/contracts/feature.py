"""The contract `feature`: a copy of one table in, new numeric columns out.

The snippet's own process cannot be trusted about its columns: the snippet could have patched the libraries that
check them. That process only hands the columns over as Arrow bytes, in a file; `certify`, in a fresh process without
any snippet, checks them, measures what they are worth, and writes the same file again.
"""

from __future__ import annotations

from _countersign import columns, lift
from _countersign.contracts.base import Contract
from _countersign.display import Display
from _countersign.errors import Refused
from _countersign.spec import Input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The input that asks for a measured lift; the snippet does not see it.
LIFT = "lift"


class Feature(Contract):
    """Gives `df`, `pd` and `np`; the snippet leaves `df` with at least one new column."""

    def names(self, inputs: list[Input]) -> list[str]:
        return ["df"]

    def given(self, values: dict[str, Any]) -> dict[str, Any]:
        frame, asked = self.frame(values)
        self.known = [str(name) for name in frame.columns]
        frame = frame.copy()
        if asked is not None:
            # The target is hidden: a column made from it would predict it trivially.
            frame = frame.drop(columns=[asked.target])
        self.index = frame.index
        return {"df": frame}

    def result(self, left: dict[str, Any], show: Display) -> Any:
        frame = left.get("df")
        pandas, arrow = self.loaded["pandas"], self.arrow()
        if isinstance(frame, pandas.DataFrame):
            frame = aligned(frame, self.index)
        raw = columns.to_arrow(frame, self.known, pandas, arrow)
        self.hand_over(raw)
        return None

    def hand_over(self, raw: bytes) -> None:
        columns.hand_over(raw, int(self.setup.policy["limits"]["file_size_mb"]) << 20)

    def certify(self, values: dict[str, Any], handed: bytes) -> Any:
        """Certifies bytes that another process handed over. Runs in a process that never ran a snippet."""
        frame, asked = self.frame(values)
        known = [str(name) for name in frame.columns]
        arrow = self.arrow()
        table = columns.certified(handed, known, self.loaded["numpy"], arrow)
        result: dict[str, Any] = {
            "columns": columns.described(table),
            "rows": table.num_rows,
        }
        adopted = True
        if asked is not None:
            if table.num_rows != len(frame):
                raise columns.violation("the rows of `df` changed, and a lift is measured on the same rows")
            result["lift"] = asked.measured(frame, table.to_pandas())
            adopted = result["lift"]["adopted"]
        if adopted:
            self.hand_over(columns.stream(table, arrow))
        return result

    def frame(self, values: dict[str, Any]) -> tuple[Any, lift.Lift | None]:
        """The single input table, and the lift to measure, if any."""
        pandas = self.loaded.get("pandas")
        if pandas is None:
            raise Refused("SandboxError", "the Python environment has no pandas")
        rest = {name: value for name, value in values.items() if name != LIFT}
        found = rest.get("df") if "df" in rest else next(iter(rest.values()), None)
        if len(rest) == 1 and not isinstance(found, pandas.DataFrame):
            try:
                found = pandas.DataFrame(found)
            except (ValueError, TypeError):
                found = None
        if len(rest) != 1 or found is None:
            raise columns.violation("the profile takes one table, as the input `df`")
        asked = lift.Lift(values[LIFT], found) if LIFT in values else None
        return found, asked

    def arrow(self) -> Any:
        if "pyarrow" not in self.loaded:
            raise Refused("SandboxError", "the Python environment has no pyarrow")
        return self.loaded["pyarrow"]


def aligned(frame: Any, index: Any) -> Any:
    """The rows in their original order, where the snippet kept the same rows."""
    if len(frame) == len(index) and not frame.index.equals(index) and frame.index.is_unique:
        if index.isin(frame.index).all():
            return frame.loc[index]
    return frame


CONTRACT = Feature
