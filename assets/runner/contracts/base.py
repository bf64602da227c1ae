"""What every contract answers."""

from __future__ import annotations

import ast
import sys
from types import ModuleType

from _countersign import display, errors, files, inputs, limits, nearest
from _countersign.errors import PolicyViolation
from _countersign.events import Events
from _countersign.spec import Input, Setup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

# The names under which libraries are given.
SHORT = {"pandas": "pd", "numpy": "np"}


class Contract:
    """Given libraries and every input under its name; nothing has to be left."""

    # Whether a bare last expression is shown, as in a notebook.
    notebook = False
    # Whether there are values among the inputs that are not to be told.
    private = False

    def __init__(self, setup: Setup, loaded: dict[str, ModuleType]) -> None:
        self.setup = setup
        self.loaded = loaded
        self._ends: Callable[[str], NoReturn] | None = None

    @classmethod
    def ahead(cls, setup: Setup) -> None:
        """Closes what no run of this policy is to find open, before there is anything of a run."""

    def guarded(self, ends: Callable[[str], NoReturn], events: Events) -> None:
        """What the guard is told by: `ends` ends the run at once."""
        self._ends = ends
        self._events = events
        files.told_to(events)
        limits.told_to(events)

    def refuse(self, message: str) -> BaseException:
        """The error of what the contract forbids; under the guard it ends the run where it is."""
        if self._ends is not None:
            self._events.add("scope", message)
            self._ends(message)
        return PolicyViolation(message)

    def check(self, tree: ast.Module) -> None:
        """What the contract has to say against the code before it runs, beside the policy."""

    def libraries(self) -> dict[str, Any]:
        """Modules under their short names, where the environment has them."""
        return {short: self.loaded[name] for name, short in SHORT.items() if name in self.loaded}

    def names(self, inputs: list[Input]) -> list[str]:
        """The names that `given` binds, known before anything is loaded."""
        return [one.name for one in inputs]

    def load(self, bound: list[Input]) -> dict[str, Any]:
        """The inputs' values by their names."""
        pandas = self.loaded.get("pandas")
        values = inputs.load(bound, pandas)
        self.private |= any(one.private for one in bound)
        if self.private:
            files.hide()
            display.uncut(pandas)
            errors.whole()
        nearest.begin(values, self.private, self.names(bound))
        return values

    def opener(self) -> Callable[..., Any]:
        """`open` as the snippet has it, where its policy lists it."""
        return files.open_output

    def served(self, name: str) -> ModuleType | None:
        """The module that the snippet gets where it imports this one; None for the interpreter's own."""
        return None

    def given(self, values: dict[str, Any]) -> dict[str, Any]:
        """The snippet's names, from the inputs' values. The same names as `names` says."""
        return values

    def result(self, left: dict[str, Any], show: display.Display) -> Any:
        """What goes into `run.result`, from the names that are left.

        Raises `errors.Refused` with `ContractViolation` where it is not what was agreed.
        """
        return None

    def streams(self) -> tuple[Any, Any]:
        """Standard output and error as they were before the snippet could replace them."""
        return sys.__stdout__, sys.__stderr__

    def clean(self, text: str) -> str:
        """The text of an event as it may leave the process."""
        return text

    def end(self) -> None:
        """The snippet is over, however it ended; what it prints has ended too."""

    def told(self, report: dict[str, Any]) -> dict[str, Any]:
        """The report as it may leave the process."""
        return report

    def certify(self, values: dict[str, Any], handed: bytes) -> Any:
        """The result that a fresh process makes of what the snippet's handed over.

        Only of contracts that promise something about the result itself.
        """
        raise NotImplementedError
