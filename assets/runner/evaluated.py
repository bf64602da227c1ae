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

from _countersign import computes, loaded, narrow, rewrite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from _countersign.gates import Gates

# Modules that compile such text themselves.
COMPILING = ("typing", "patsy.eval", "formulaic.utils.stateful_transforms", "formulaic.utils.variables")

# Nodes whose value a formula may call.
READS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
LOAD = ast.Load()


def close(gates: Gates) -> None:
    def change(module: ModuleType) -> None:
        module.__dict__["compile"] = compiler(gates, formulas=module.__name__ != "typing")

    loaded.change(COMPILING, change)


def compiler(gates: Gates, formulas: bool = True) -> Callable[..., Any]:
    """The `compile` to put into these modules. `formulas`: what the text calls is checked too."""

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
        if formulas:
            tree = Calls(rewriter).visit(tree)
        tree = ast.fix_missing_locations(rewriter.visit(tree))
        with warnings.catch_warnings():
            # As in `guard`: the called constants are gates by the time they run, no longer strings.
            warnings.filterwarnings("ignore", "'str' object is not callable", SyntaxWarning)
            code = builtins.compile(tree, filename, mode, flags, dont_inherit=True)
        return rewrite.installed(code, rewriter, lambda name: gate(name, gates))

    return compile


class Calls(ast.NodeTransformer):
    """Puts a gate around whatever a formula may call: what it reads, and what its calls return."""

    def __init__(self, rewriter: rewrite.Rewriter) -> None:
        self.rewriter = rewriter

    def visit(self, node: ast.AST) -> Any:
        found = super().visit(node)
        if isinstance(found, READS) and isinstance(getattr(found, "ctx", LOAD), ast.Load):
            return self.rewriter.gate("computes", [found], found)
        return found

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        node.value = self.rewriter.gate("spreads", [node.value], node)
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        self.generic_visit(node)
        if node.arg is None:
            node.value = self.rewriter.gate("spreads", [node.value], node.value)
        return node


def gate(name: str, gates: Gates) -> Any:
    if name == "computes":
        return lambda value: computes.checked(value, gates.refuse)
    if name == "spreads":
        return lambda values: computes.spread(values, gates.refuse)
    return gates.of(name.removeprefix("read "))


# The audit hook skips frames of this file and judges the caller instead.
FILE = compiler.__code__.co_filename
