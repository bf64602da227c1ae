"""Rehearses what every run does, with a snippet of our own, before there is a run.

In the zygote this lets the interpreter specialise its code and libraries load their late parts. In a waiting
payload it copies the memory pages that a run writes to: a fork shares them until then, and copying them is most
of the cost of a first run.
"""

import ast
import contextlib
import io
import mmap
from types import ModuleType
from typing import Any, NoReturn

from _countersign import check, contracts, display, errors, facts, frames, guard, job, mangle, rules
from _countersign.events import Events
from _countersign.spec import Setup

PLAIN = "number = 6 * 7\n"
TABLE = """means = table.groupby('name')['value'].mean()
table['more'] = table['value'] * 2
"""
# Additional lines where the policy allows printing.
SHOWN = {PLAIN: "print(number)\n", TABLE: "print(means)\ntable[table['more'] > 1].head()\n"}
# The interpreter specialises code only after some rounds.
ROUNDS = 10
ROWS = 10_000


class Rehearsal:
    """Made in the zygote; its forks inherit it."""

    def __init__(self, setup: Setup, libraries: dict[str, ModuleType]) -> None:
        self.setup = setup
        self.libraries = libraries
        self.events = Events(nothing)
        pandas = libraries.get("pandas")
        self.arrow = None if pandas is None else arrow_of(pandas)

    def in_zygote(self) -> None:
        # In the zygote printed text would go to the local log; in a payload it goes nowhere.
        with open("/dev/null", "w", encoding="utf-8") as null, contextlib.redirect_stdout(null):
            for _ in range(ROUNDS):
                self.once()

    def once(self) -> None:
        try:
            self.whole()
        except Exception:  # noqa: BLE001, S110 - a policy may forbid what is done here; no run depends on it
            pass

    def whole(self) -> None:
        self.perform(PLAIN, {})
        if self.arrow is not None:
            mapping = mmap.mmap(-1, len(self.arrow))
            mapping.write(self.arrow)
            self.perform(TABLE, {"table": frames.opened(mapping)})

    def perform(self, source: str, values: dict[str, Any]) -> None:
        """As `job.run`, but without lasting changes: no hooks, and the contract closes nothing."""
        contract = contracts.of(self.setup.policy["contract"])(self.setup, self.libraries)
        contract.load([])
        allowed = rules.of(self.setup.policy)
        if "print" in allowed.builtins:
            source += SHOWN[source]
        tree = ast.parse(source, errors.SNIPPET)
        show = display.Display()
        module = ModuleType("__main__")
        if self.setup.policy["guard"]:
            facts.seen(tree)
            names = {"__name__", *contract.libraries(), *values}
            check.check(job.deeply(mangle.mangle, tree), allowed, names, self.events)
            kept = guard.Guard(self.setup, allowed, self.events, contract)
            kept.watch.ends(stop)
            code = kept.prepare(tree, show, job.deeply)
            module.__dict__["__builtins__"] = kept.builtins
        else:
            code = job.plain(tree, contract)
            module.__dict__[job.DISPLAY] = show
        module.__dict__.update({"__name__": "__main__"} | contract.libraries() | values)
        exec(code, module.__dict__)  # noqa: S102 - the rehearsal, which is the runner's own


def arrow_of(pandas: Any) -> bytes | None:
    """A table in the form of a data set, if the environment has pyarrow."""
    try:
        import pyarrow
    except ImportError:
        return None
    names = ["north", "south", "east", "west"]
    frame = pandas.DataFrame(
        {
            "name": [names[row % 4] for row in range(ROWS)],
            "value": [row / 8 for row in range(ROWS)],
        }
    )
    table = frames.to_arrow(frame, pandas, False)
    if table is None:
        return None
    made = io.BytesIO()
    with pyarrow.ipc.new_file(made, table.schema) as writer:
        writer.write_table(table)
    return made.getvalue()


def nothing(_: bytes) -> None:
    pass


def stop(error: BaseException) -> NoReturn:
    raise error
