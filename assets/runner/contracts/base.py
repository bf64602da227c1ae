"""The interface and defaults of every contract."""

from __future__ import annotations

import ast
import sys
from types import ModuleType

from _countersign import display, errors, figures, files, inputs, limits, nearest
from _countersign.errors import PolicyViolation
from _countersign.events import Events
from _countersign.spec import Input, Setup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

# Library → the name under which the snippet gets it.
SHORT = {"pandas": "pd", "numpy": "np"}


class Contract:
    """Gives the libraries and every input under its name; the snippet has to leave nothing."""

    # Whether a bare last expression is shown, as in a notebook.
    notebook = False
    # Whether the inputs contain values that must not leave the run.
    private = False

    def __init__(self, setup: Setup, loaded: dict[str, ModuleType]) -> None:
        self.setup = setup
        self.loaded = loaded
        self._ends: Callable[[str], NoReturn] | None = None

    @classmethod
    def ahead(cls, setup: Setup) -> None:
        """Closes, before any run exists, what no run under this policy may find open."""

    def guarded(self, ends: Callable[[str], NoReturn], events: Events) -> None:
        """Switches to refusing under the guard: `ends` ends the run at once, `events` records refusals."""
        self._ends = ends
        self._events = events
        files.told_to(events)
        limits.told_to(events)

    def refuse(self, message: str) -> BaseException:
        """The error for an action that the contract forbids; under the guard, ends the run at once instead."""
        if self._ends is not None:
            self._events.add("scope", message)
            self._ends(message)
        return PolicyViolation(message)

    def check(self, tree: ast.Module) -> None:
        """Raises where the code breaks a rule of the contract itself. Runs before the snippet, in addition to
        the policy."""

    def libraries(self) -> dict[str, Any]:
        """Installed libraries under their short names."""
        return {short: self.loaded[name] for name, short in SHORT.items() if name in self.loaded}

    def names(self, inputs: list[Input]) -> list[str]:
        """The names that `given` will bind, known before anything is loaded."""
        return [one.name for one in inputs]

    def load(self, bound: list[Input]) -> dict[str, Any]:
        """The inputs' values by their names."""
        pandas = self.loaded.get("pandas")
        values = inputs.load(bound, pandas)
        self.private |= any(one.private for one in bound)
        if self.private:
            files.hide()
            display.uncut(pandas)
            figures.unpacked()
            errors.whole()
        nearest.begin(values, self.private, self.names(bound))
        return values

    def opener(self) -> Callable[..., Any]:
        """The snippet's `open`, where its policy lists it."""
        return files.open_output

    def served(self, name: str) -> ModuleType | None:
        """The module to give the snippet when it imports `name`; None for the interpreter's own."""
        return None

    def given(self, values: dict[str, Any]) -> dict[str, Any]:
        """The snippet's names and values, made from the inputs' values. Has the names that `names` lists."""
        return values

    def result(self, left: dict[str, Any], show: display.Display) -> Any:
        """The value for `run.result`, from the names that the snippet left.

        Raises `errors.Refused` with `ContractViolation` where the snippet did not keep the contract.
        """
        return None

    def streams(self) -> tuple[Any, Any]:
        """Standard output and error as they were before the snippet could replace them."""
        return sys.__stdout__, sys.__stderr__

    def own_streams(self) -> None:
        """Puts them back: what the snippet left in their place must not run any more."""
        sys.stdout, sys.stderr = self.streams()

    def clean(self, text: str) -> str:
        """The text of an event as it may leave the process."""
        return text

    def end(self) -> None:
        """Called when the snippet is over, however it ended: nothing more is printed."""

    def told(self, report: dict[str, Any]) -> dict[str, Any]:
        """The report as it may leave the process."""
        return report

    def certify(self, values: dict[str, Any], handed: bytes) -> Any:
        """The result that a fresh process makes of the bytes that the snippet's process handed over.

        Only for contracts that promise something about the result itself.
        """
        raise NotImplementedError
