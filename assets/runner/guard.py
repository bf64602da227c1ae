"""The guard of one run: puts the gates into the tree, prepares the builtins, and runs the code under both."""

from __future__ import annotations

import ast
import warnings
from types import CodeType

from _countersign import (
    arrow,
    copies,
    errors,
    evaluated,
    hooks,
    layout,
    lent,
    lookups,
    memory,
    names,
    narrow,
    patterns,
    positions,
    reach,
    records,
    rewrite,
    sequences,
    shared,
    watch,
    zone,
)
from _countersign.check import bound_in
from _countersign.contracts import Contract
from _countersign.events import Events
from _countersign.gates import Gates
from _countersign.rules import Rules
from _countersign.spec import Setup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    Deeply = Callable[[Callable[[ast.Module], Any], ast.Module], Any]

_made: tuple[Rules, Gates, dict[str, Any]] | None = None


def ready(rules: Rules) -> tuple[Gates, dict[str, Any]]:
    """Gates and builtins, made once for a process and its forks: they hold nothing of a run."""
    global _made
    if _made is None or _made[0] is not rules:
        gates = Gates(rules)
        _made = rules, gates, names.allowed(gates)
        lookups.close(gates)
        memory.close(gates)
        arrow.close(gates)
        lent.close(gates)
        evaluated.close(gates)
        positions.close(gates)
        shared.close(gates)
        sequences.close(gates)
        records.close()
        copies.close()
    reach.close(_made[1])
    return _made[1:]


class Guard:
    def __init__(self, setup: Setup, rules: Rules, events: Events, contract: Contract) -> None:
        self.rules = rules
        self.contract = contract
        ticks = int(setup.policy["limits"]["ticks"])
        self.watch = watch.Watch(ticks, events, watch.ends_process(setup, events, contract))
        self.gates, builtins = ready(rules)
        self.gates.watch = self.watch
        self.gates.served = contract.served
        self.builtins = dict(builtins)
        if "open" in rules.builtins:
            self.builtins["open"] = contract.opener()
        self.hooks = hooks.Hooks(self.gates)

    def prepare(self, tree: ast.Module, show: Any, deeply: Deeply) -> CodeType:
        """The code with every gate in its place. `show` is called with the bare last expression."""
        counts = self.watch.limit > 0
        rewriter = rewrite.Rewriter(self.rules, bound_in(tree) if counts else (), counts)
        tree = deeply(rewriter.visit, tree)
        if self.contract.notebook:
            tree = rewrite.show_last(tree, rewriter.gate("display", [], tree).func)
        with warnings.catch_warnings():
            # The compiler warns about our own constants, which are gates and not strings when they are called.
            warnings.filterwarnings("ignore", "'str' object is not callable", SyntaxWarning)
            code: CodeType = deeply(lambda tree: compile(tree, errors.SNIPPET, "exec", dont_inherit=True), tree)
        return rewrite.installed(code, rewriter, lambda name: self.gate(name, show))

    def gate(self, name: str, show: Any) -> Any:
        """The object to put into the code for a gate of this name."""
        if name.startswith("read "):
            return self.gates.of(name.removeprefix("read "))
        return {
            "target": self.gates.target,
            "laid": layout.gate(self.gates.target),
            "augmented": self.gates.augmented,
            "caught": self.watch.caught,
            "tick": self.watch.tick,
            "stepped": self.watch.stepped,
            "Exception": Exception,
            "pattern": patterns.maker(self.gates),
            "box": patterns.Box,
            "display": show,
        }[name]

    def end(self, message: str) -> NoReturn:
        """Ends the run for a refusal that its contract has reported already."""
        self.watch.end(errors.PolicyViolation(message))

    def run(self, code: CodeType, space: dict[str, Any]) -> None:
        """Runs the code, and refuses the run if it changed the builtins."""
        before = dict(self.builtins)
        narrow.enumerations(self.gates.refuse)
        self.hooks.install()
        zone.hold()
        try:
            exec(code, space)  # noqa: S102 - the snippet, which was granted
        finally:
            self.contract.own_streams()
        if self.builtins != before:
            self.gates.refuse("changing the builtins is not allowed")
