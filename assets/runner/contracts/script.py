"""The contract `script`: plain Python; stdout and files are all it leaves."""

from typing import Any

from _countersign.contracts.base import Contract


class Script(Contract):
    """Inputs under their names, and nothing imported beforehand."""

    def libraries(self) -> dict[str, Any]:
        return {}


CONTRACT = Script
