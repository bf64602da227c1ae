"""The contract `chart`: the snippet reads `data["key"]` and leaves `result = {"output", "chart"}` or stdout."""

from __future__ import annotations

from _countersign.contracts.base import Contract
from _countersign.display import Display
from _countersign.errors import Refused
from _countersign.plain import Plain, cut
from _countersign.spec import Input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHAPE = '`result` must be a dict with "output" (text), "chart" (one or a list), or both'


class Chart(Contract):
    """Gives all inputs as plain JSON in `data`; the snippet leaves a text and charts."""

    def libraries(self) -> dict[str, Any]:
        return {}

    def names(self, inputs: list[Input]) -> list[str]:
        return ["data"]

    def given(self, values: dict[str, Any]) -> dict[str, Any]:
        plain = self.plain()
        return {"data": {name: plain.of(one, f"input {name}") for name, one in values.items()}}

    def result(self, left: dict[str, Any], show: Display) -> Any:
        """`output` is null where stdout is the output: the process that captured stdout fills it in."""
        found = left.get("result")
        if found is None:
            return {"output": None, "chart": None}
        if not isinstance(found, dict) or not found.keys() & {"output", "chart"}:
            raise Refused("ContractViolation", SHAPE)
        plain = self.plain()
        output = found.get("output")
        if output is not None and not isinstance(output, str):
            output = str(plain.of(output, 'result["output"]'))
        result: dict[str, Any] = {
            "output": output,
            "chart": charts(plain.of(found.get("chart"), 'result["chart"]')),
        }
        if output is not None:
            result["output"], was_cut = cut(output, self.setup.policy["limits"]["output_bytes"])
            if was_cut:
                result["output_truncated"] = True
        return result

    def plain(self) -> Plain:
        return Plain(self.loaded.get("numpy"), self.loaded.get("pandas"))


def charts(chart: Any) -> Any:
    """The chart or charts. Raises where one lacks the data to draw."""
    for one in chart if isinstance(chart, list) else [chart]:
        if one is None and chart is None:
            continue
        if not isinstance(one, dict) or "data" not in one:
            raise Refused("ContractViolation", 'a chart must have "data"')
    return chart


CONTRACT = Chart
