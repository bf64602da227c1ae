"""Text that libraries evaluate for a snippet: annotations and model formulas, with the gates in it.

Such text reads attributes and members of modules as the snippet's own code does, so it goes through the same
gates. Without them it would have what the snippet is given in another way: `np.ndarray` over any memory,
`operator.attrgetter`, `functools.update_wrapper`.
"""

from __future__ import annotations

import ast
import builtins
import copy
import warnings

from _countersign import loaded, narrow, rewrite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from _countersign.gates import Gates

# Modules that compile such text themselves.
COMPILING = ("typing", "patsy.eval", "formulaic.utils.stateful_transforms", "formulaic.utils.variables")


def close(gates: Gates) -> None:
    own = compiler(gates)

    def change(module: ModuleType) -> None:
        module.__dict__["compile"] = own

    loaded.change(COMPILING, change)


def compiler(gates: Gates) -> Callable[..., Any]:
    """`compile` as these modules have it."""

    def compile(source: Any, filename: str, mode: str, flags: int = 0, *args: Any, **kwargs: Any) -> Any:
        if mode != "eval" or narrow.importing():
            return builtins.compile(source, filename, mode, flags, *args, **kwargs)
        if isinstance(source, ast.AST):
            tree: Any = copy.deepcopy(source)
        else:
            tree = builtins.compile(source, filename, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        # Once more as it was written: the hook on text knows its names.
        builtins.compile(tree, filename, mode, flags, dont_inherit=True)
        rewriter = rewrite.Rewriter(gates.rules, (), False)
        tree = ast.fix_missing_locations(rewriter.visit(tree))
        with warnings.catch_warnings():
            # As in `guard`: the constants that are called are no texts any more by then.
            warnings.filterwarnings("ignore", "'str' object is not callable", SyntaxWarning)
            code = builtins.compile(tree, filename, mode, flags, dont_inherit=True)
        return rewrite.installed(code, rewriter, lambda name: gates.of(name.removeprefix("read ")))

    return compile


# By this name the hook on text knows that another asked.
FILE = compiler.__code__.co_filename
