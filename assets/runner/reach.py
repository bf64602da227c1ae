"""Closes ways in which libraries would reach, for the snippet, what the gates keep away. The libraries themselves are
changed once they are loaded.

- numpy takes an address from the attribute `__array_interface__`, and some classes answer any
  attribute with the label or key of that name.
- pandas' evaluator reads attributes by itself, and calls what it read.
- pandas', patsy's and formulaic's evaluators read names from any frame up the stack that their caller asks for.
- A model formula finds Python's own builtins besides the names it is given.
"""

from __future__ import annotations

import functools
import operator
import sys
from types import FrameType

from _countersign import computes, errors
from _countersign.rules import ADDRESSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from _countersign.gates import Gates

# Classes that look up any attribute among their labels or keys.
ANSWERING = {
    "pandas.core.generic": ("NDFrame",),
    "sklearn.utils._bunch": ("Bunch",),
    "scipy._lib._util": ("_RichResult",),
}

# Classes whose callers choose the names of attributes.
FILLED = {
    "statsmodels.base.data": ("ModelData",),
    "statsmodels.base.model": ("Model", "Results"),
    "statsmodels.datasets.utils": ("Dataset",),
    "statsmodels.tools.testing": ("Holder",),
    "statsmodels.tools.tools": ("Bunch",),
}

# Files through which an evaluator's call passes on its way up to the requested frame.
EVALUATING = (
    "pandas/core/computation/eval.py",
    "pandas/core/computation/expr.py",
    "pandas/core/computation/scope.py",
    "pandas/core/frame.py",
    "patsy/eval.py",
    "patsy/highlevel.py",
    "formulaic/utils/context.py",
    "formulaic/sugar.py",
    "statsmodels/formula/_manager.py",
    "statsmodels/base/model.py",
)

_closed: set[str] = set()


def close(gates: Gates) -> None:
    """Changes the libraries that are loaded by now; called again after every import."""
    for module, change in CHANGES.items():
        if module not in _closed and module in sys.modules:
            _closed.add(module)
            change(sys.modules[module], gates)


def answering(module: Any, gates: Gates) -> None:
    for name in ANSWERING[module.__name__]:
        kind = getattr(module, name, None)
        if kind is not None and "__getattr__" in kind.__dict__:
            kind.__getattr__ = without_dunders(kind.__getattr__)


def without_dunders(found: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """The class's `__getattr__`, without special names."""

    @functools.wraps(found)
    def __getattr__(self: Any, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return found(self, name)

    return __getattr__


def filled(module: Any, gates: Gates) -> None:
    for name in FILLED[module.__name__]:
        kind = getattr(module, name, None)
        if kind is not None:
            without_address(kind)


def without_address(kind: type) -> None:
    """Hides names that numpy would read an address from, even if a library stored them on an object of the class."""
    for name in ADDRESSES:
        if not hasattr(kind, name):
            type.__setattr__(kind, name, property(missing))


def missing(self: Any) -> Any:
    raise AttributeError("there is no address")


def accessors(module: Any, gates: Gates) -> None:
    """Checks names of accessors: an accessor becomes an attribute of every table."""
    register = module._register_accessor

    @functools.wraps(register)
    def register_accessor(name: Any, *args: Any, **kwargs: Any) -> Any:
        if type(name) is not str or name.startswith("_"):
            gates.refuse(f"an accessor called {name!s:.50} is not allowed")
        for cls in (*args, *kwargs.values()):
            if hasattr(cls, name) and not is_registered(cls, name):
                gates.refuse(f"an accessor called {name} in the place of pandas' own is not allowed")
        return register(name, *args, **kwargs)

    module._register_accessor = register_accessor


def is_registered(cls: Any, name: str) -> bool:
    """Whether the attribute is an accessor that the snippet registered before."""
    made = getattr(cls.__dict__.get(name), "_accessor", None)
    return getattr(made, "__module__", None) == "__main__"


def evaluator(module: Any, gates: Gates) -> None:
    """Makes the module use the snippet's guarded `getattr`, and checks what its texts read and call."""
    module.getattr = gates.getattr
    visitor = module.BaseExprVisitor
    for name in ("visit_Name", "visit_Attribute", "visit_Subscript"):
        setattr(visitor, name, judging(getattr(visitor, name), gates))


def judging(visit: Callable[..., Any], gates: Gates) -> Callable[..., Any]:
    @functools.wraps(visit)
    def judged(self: Any, node: Any, *args: Any, **kwargs: Any) -> Any:
        term = visit(self, node, *args, **kwargs)
        found = getattr(term, "value", None)
        if callable(found) and (given := computes.checked(found, gates.refuse)) is not found:
            return self.term_type(self.env.add_tmp(given), self.env)
        return term

    return judged


def scopes(module: Any, gates: Gates) -> None:
    ensure_scope = module.ensure_scope

    @functools.wraps(ensure_scope)
    def ensure(level: int, *args: Any, **kwargs: Any) -> Any:
        # Plus one for this frame.
        return ensure_scope(depth_of(exact(level) + 1, gates), *args, **kwargs)

    module.ensure_scope = ensure


def subscripts(module: Any, gates: Gates) -> None:
    """Leaves out the names of the library's own frames, which pandas adds where a text has a subscript. The names
    that the text may use are in the scope already."""
    module.Scope._update = lambda self, level: None


def environments(module: Any, gates: Gates) -> None:
    formulas(module, gates)
    capture = module.EvalEnvironment.capture

    def guarded(cls: Any, eval_env: Any = 0, reference: int = 0) -> Any:
        if isinstance(eval_env, int):
            eval_env, reference = exact(eval_env), exact(reference)
            # Plus one for this frame.
            eval_env = depth_of(eval_env + reference + 1, gates) - reference
        return capture(eval_env, reference)

    module.EvalEnvironment.capture = classmethod(guarded)


def formulas(module: Any, gates: Gates) -> None:
    """Makes the module's `eval` use the snippet's builtins and no others."""
    from _countersign import names

    builtins = names.allowed(gates)

    def evaluate(code: Any, space: dict[str, Any], found: Any) -> Any:
        return eval(code, {**space, "__builtins__": builtins}, found)  # noqa: S307 - a formula, whose text was judged

    module.eval = evaluate


def contexts(module: Any, gates: Gates) -> None:
    """Replaces the module's `sys`: importers of its function still look up `sys` in this module."""
    module.sys = Frames(gates)


class Frames:
    """Stands for `sys` with its one function that capturing a context needs."""

    def __init__(self, gates: Gates) -> None:
        self._gates = gates

    def _getframe(self, depth: int) -> FrameType:
        # Plus one for this frame.
        return sys._getframe(depth_of(exact(depth) + 1, self._gates))


def exact(number: Any) -> int:
    """A plain int of the same value: a subclass could add and compare as it likes."""
    return int.__add__(operator.index(number), 0)


def depth_of(level: int, gates: Gates) -> int:
    """The depth of the frame whose names an evaluator gets, counted from the caller's: never a frame below the
    snippet's, where the names are the runner's. If an evaluator asks for its own frame, as `predict` of a
    formula does, it gets the snippet's calling frame: text of the snippet must not use a library's
    variables."""
    frame: FrameType | None = sys._getframe(1)
    nearest = last = None
    at = 0
    inside = False
    while frame is not None:
        file = frame.f_code.co_filename
        if file == errors.SNIPPET:
            last = at
            nearest = at if nearest is None else nearest
        inside = inside or (at == level and (file == FILE or file.endswith(EVALUATING)))
        frame, at = frame.f_back, at + 1
    if last is None or nearest is None or level > last:
        gates.refuse("names of frames below the snippet's are not allowed")
    if level < 0:
        gates.refuse("names of a library's own frames are not allowed")
    return nearest if inside else level


FILE = depth_of.__code__.co_filename

CHANGES: dict[str, Callable[[Any, Gates], None]] = {
    **dict.fromkeys(ANSWERING, answering),
    **dict.fromkeys(FILLED, filled),
    "pandas.core.accessor": accessors,
    "pandas.core.computation.expr": evaluator,
    "pandas.core.computation.eval": scopes,
    "pandas.core.computation.scope": subscripts,
    "patsy.eval": environments,
    "formulaic.utils.stateful_transforms": formulas,
    "formulaic.utils.variables": formulas,
    "formulaic.utils.context": contexts,
}
