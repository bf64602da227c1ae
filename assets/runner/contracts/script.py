"""The contract `script`: plain Python; stdout and files are all it leaves."""

from __future__ import annotations

from _countersign.contracts.base import Contract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Script(Contract):
    """Gives inputs under their names and imports nothing beforehand."""

    def libraries(self) -> dict[str, Any]:
        return {}


CONTRACT = Script
