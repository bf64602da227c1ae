"""The contract `scoped`: four scopes, `log` with its level, and `SecurityError`, the error of its refusals.

`private` is redacted from everything that leaves the process, `public` goes back to the broker,
which keeps it for the agent's session, `system` is read-only, and each function call has its own `local`.
"""

from __future__ import annotations

import ast
import json
import sys

from _countersign import check
from _countersign.accesses import Accesses
from _countersign.contracts.base import Contract
from _countersign.display import Display
from _countersign.errors import PolicyViolation, Refused
from _countersign.plain import text
from _countersign.redact import Redacting, Secrets
from _countersign.scopes import PUBLIC_BYTES, Local, Private, Public, SecurityError, System
from _countersign.spec import Input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from _countersign.events import Events

NAMES = ["private", "public", "system", "local", "log", "log_level", "reason", "SecurityError"]
# In ascending order; `warn` is another name for `warning`.
LEVELS = ("debug", "info", "warn", "warning", "error")
NO_REASON = (
    "reason() would ask a language model, and a run reaches none: work it out in code, or leave what is to "
    "be reasoned about in `public` and reason outside"
)
LOGGED_MAX = 1000
LOGGED_TEXT = 2000


def rank(level: str) -> int:
    """The rank of a level among the others.

    Raises ValueError for an unknown level.
    """
    if level not in LEVELS:
        raise ValueError(f"log takes the levels {', '.join(LEVELS)}")
    return LEVELS.index("warning" if level == "warn" else level)


class Scoped(Contract):
    """Gives the scopes with the inputs in them: `private` and private data sets in `private`, what the session kept
    in `public`, everything else in `system.inputs`."""

    private = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.secrets = Secrets()
        self.seen = Accesses()
        self.logged: list[dict[str, str]] = []
        self.least = "debug"
        self.redacting: tuple[Redacting, Redacting] | None = None

    def libraries(self) -> dict[str, Any]:
        return {}

    def guarded(self, ends: Callable[[str], NoReturn], events: Events) -> None:
        super().guarded(ends, events)
        self.seen.to(events)

    def names(self, inputs: list[Input]) -> list[str]:
        # `refuse` handles later refusals; the static check has passed by then.
        self.private_inputs = {one.name for one in inputs if one.private}
        return NAMES

    def check(self, tree: ast.Module) -> None:
        """Refuses every other name than the snippet's own, the core functions and the allowed builtins."""
        known = {name for node in ast.walk(tree) for name in check.bound_names(node)}
        known |= {*NAMES, *self.setup.policy["builtins"], "__name__"}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id not in known:
                raise PolicyViolation(
                    f"{node.id} is not the snippet's own, nor a core function, nor an allowed builtin",
                    node.lineno,
                )

    def given(self, values: dict[str, Any]) -> dict[str, Any]:
        hidden = values.pop("private", {})
        if not isinstance(hidden, dict):
            raise Refused("ContractViolation", "the input `private` must be a JSON object")
        datasets = self.private_inputs & values.keys()
        hidden |= {name: values.pop(name) for name in datasets}
        shared = values.pop("public", {})
        policy = self.setup.policy
        facts = {
            "profile": policy["name"],
            "limits": dict(policy["limits"]),
            "inputs": values,
        }
        self.public = Public(shared, self.refuse, self.secrets, self.seen)
        scopes = {
            "private": Private(hidden, datasets, self.refuse, self.secrets, self.seen),
            "public": self.public,
            "system": System(facts, self.refuse, self.seen),
            "local": Local(self.refuse, self.seen),
            "log": self.log,
            "log_level": self.log_level,
            "reason": self.reason,
            "SecurityError": SecurityError,
        }
        self.redacting = (
            Redacting(sys.stdout, self.secrets),
            Redacting(sys.stderr, self.secrets),
        )
        sys.stdout, sys.stderr = self.redacting
        return scopes

    def refuse(self, message: str) -> BaseException:
        # `super().refuse` may end the process: printed text goes out first, cleaned of private values.
        self.end()
        return super().refuse(self.secrets.clean(message))

    def log(self, message: Any, level: str = "info") -> None:
        """Adds a line to the run's log, without private values. Messages below the set level are dropped."""
        self.seen.allowed("functions")
        if rank(level) < rank(self.least):
            return
        # Cleaned before it is cut: the first half of a private value would not be recognised.
        line = self.clean(text(str(message)))[:LOGGED_TEXT]
        if len(self.logged) < LOGGED_MAX:
            self.logged.append({"level": level, "message": line})
        print(f"{level}: {line}", file=sys.stderr)  # noqa: T201 - the snippet asked for it

    def log_level(self, level: str | None = None) -> str:
        """Sets the least level that is logged from now on; without an argument, returns the current one."""
        self.seen.allowed("functions")
        if level is not None:
            rank(level)
            self.least = level
        return self.least

    def reason(self, *args: Any, **kwargs: Any) -> NoReturn:
        self.seen.blocked("functions")
        self.seen.tell("refused", "functions", NO_REASON)
        raise SecurityError(NO_REASON)

    def result(self, left: dict[str, Any], show: Display) -> Any:
        try:
            public = self.public._left()
        except TypeError as error:
            raise Refused("ContractViolation", str(error)) from None
        if len(json.dumps(public)) > PUBLIC_BYTES:
            raise Refused("ContractViolation", f"the scope `public` has more than {PUBLIC_BYTES} bytes")
        return {"public": public, "log": self.logged}

    def told(self, report: dict[str, Any]) -> dict[str, Any]:
        cleaned = dict(report)
        if left := report["result"]:
            # Only the values are cleaned: the result's own keys are fixed names.
            log = [one | {"message": self.clean(one["message"])} for one in left["log"]]
            cleaned["result"] = {"public": self.secrets.clean_all(left["public"]), "log": log}
        if error := report["error"]:
            words = {key: self.secrets.clean_all(error[key]) for key in ("message", "exception")}
            cleaned["error"] = error | words
        return cleaned

    def streams(self) -> tuple[Any, Any]:
        return self.redacting or super().streams()

    def clean(self, text: str) -> str:
        return self.secrets.clean(text)

    def end(self) -> None:
        for stream in self.redacting or ():
            stream.finish()


CONTRACT = Scoped
