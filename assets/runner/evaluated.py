"""Puts the gates into text that libraries evaluate for a snippet: annotations and model formulas.

Such text reads attributes and members of modules as the snippet's own code does, so it goes through the same
gates. Without them the text would reach the originals of what the snippet gets only as a stand-in: `np.ndarray` over
any memory, `operator.attrgetter`, `functools.update_wrapper`.
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
    """The `compile` to put into these modules."""

    def compile(source: Any, filename: str, mode: str, flags: int = 0, *args: Any, **kwargs: Any) -> Any:
        if mode != "eval" or narrow.importing():
            return builtins.compile(source, filename, mode, flags, *args, **kwargs)
        if isinstance(source, ast.AST):
            tree: Any = copy.deepcopy(source)
        else:
            tree = builtins.compile(source, filename, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        # Compiled once without gates, so that the audit hook judges the names of the original text.
        builtins.compile(tree, filename, mode, flags, dont_inherit=True)
        rewriter = rewrite.Rewriter(gates.rules, (), False)
        tree = ast.fix_missing_locations(rewriter.visit(tree))
        with warnings.catch_warnings():
            # As in `guard`: the called constants are gates by the time they run, no longer strings.
            warnings.filterwarnings("ignore", "'str' object is not callable", SyntaxWarning)
            code = builtins.compile(tree, filename, mode, flags, dont_inherit=True)
        return rewrite.installed(code, rewriter, lambda name: gates.of(name.removeprefix("read ")))

    return compile


# The audit hook skips frames of this file and judges the caller instead.
FILE = compiler.__code__.co_filename
