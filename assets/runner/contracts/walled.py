"""The contract `walled`: plain Python, its inputs as plain data, and stdout.

No library is given. `open` and functions of `os` and `pathlib`, where the policy lists them, work on files and
folders in memory only: the inputs are there under their names, and written files are gone with the run, unless the
policy collects files.
"""

from __future__ import annotations

import csv
from types import ModuleType

from _countersign import errors, files, inputs, served, virtual
from _countersign.contracts.base import Contract
from _countersign.spec import Input, Setup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Walled(Contract):
    """Gives each input under its name, tables as lists of rows; the snippet has to leave nothing."""

    memory: virtual.Files | None = None

    @classmethod
    def ahead(cls, setup: Setup) -> None:
        if collects(setup):
            files.keep_list(int(setup.policy["limits"]["artifacts"]))

    def libraries(self) -> dict[str, Any]:
        return {}

    def load(self, bound: list[Input]) -> dict[str, Any]:
        texts = {one.name: text_of(one) for one in bound}
        limits = self.setup.policy["limits"]
        room = int(limits["file_size_mb"]) << 20
        self.memory = virtual.Files(texts, room, int(limits["open_files"]))
        self.modules = served.modules(self.memory)
        return {one.name: value(one, texts[one.name]) for one in bound}

    def opener(self) -> Callable[..., Any]:
        return self.memory.open if self.memory else super().opener()

    def served(self, name: str) -> ModuleType | None:
        if self.memory is None:
            return None
        if name == "pathlib" and name not in self.modules:
            self.modules[name] = served.paths(self.memory)
        return self.modules.get(name)

    def told(self, report: dict[str, Any]) -> dict[str, Any]:
        """Writes the files in memory into the output folder, if the policy collects files."""
        if self.memory is not None and collects(self.setup):
            try:
                self.memory.leave()
            except OSError as error:
                said = f"the files in memory cannot be kept: {error.strerror}"
                report["error"] = report["error"] or errors.as_report(errors.Refused("SnippetError", said))
        return report


def collects(setup: Setup) -> bool:
    return bool(setup.policy["guard"] and setup.policy["limits"]["artifacts"])


def text_of(one: Input) -> str:
    """The content of an input. All inputs are text here."""
    try:
        return inputs.text(one)
    except UnicodeDecodeError:
        raise errors.Refused(
            "ContractViolation",
            f"input {one.name} is {one.format}, which is no text: walled takes csv, tsv, json, jsonl and text",
        ) from None


def value(one: Input, text: str) -> Any:
    """A table as a list of dictionaries, a row each, all cells as text."""
    if one.kind != "table":
        return inputs.data(one, text)
    separator = "\t" if one.format == "tsv" else ","
    return list(csv.DictReader(text.splitlines(keepends=True), delimiter=separator))


CONTRACT = Walled
