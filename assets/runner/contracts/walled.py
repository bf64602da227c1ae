"""The contract `walled`: plain Python, its inputs as plain data, and stdout.

No library is given. Where the policy lists `open`, it opens files that are in memory only: the
inputs are there under their names, and what is written is gone with the run.
"""

from __future__ import annotations

import csv

from _countersign import inputs, virtual
from _countersign.contracts.base import Contract
from _countersign.spec import Input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Walled(Contract):
    """Each input under its name, tables as lists of rows; nothing has to be left."""

    def libraries(self) -> dict[str, Any]:
        return {}

    def load(self, bound: list[Input]) -> dict[str, Any]:
        texts = {one.name: inputs.text(one) for one in bound}
        limits = self.setup.policy["limits"]
        room = int(limits["file_size_mb"]) << 20
        self.files = virtual.Files(texts, room, int(limits["open_files"]))
        return {one.name: value(one, texts[one.name]) for one in bound}

    def opener(self) -> Callable[..., Any]:
        return self.files.open


def value(one: Input, text: str) -> Any:
    """A table as a list of dictionaries, a row each, all cells as text."""
    if one.kind != "table":
        return inputs.data(one, text)
    separator = "\t" if one.format == "tsv" else ","
    return list(csv.DictReader(text.splitlines(keepends=True), delimiter=separator))


CONTRACT = Walled
