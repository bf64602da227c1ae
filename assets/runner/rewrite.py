"""Puts gates into the tree, and the gate objects into the compiled code.

In the tree a gate is a string constant of random text, which no source can contain; in the compiled code the gate
object replaces that constant. It has no name, so no snippet can name, replace or shadow it.
"""

from __future__ import annotations

import ast
import os
from types import CodeType

from _countersign import layout
from _countersign.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Make = Callable[[str], Any]

EXITS = ("__exit__", "__aexit__")
# Nodes with names of their own.
INNER = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)  # fmt: skip
LEAVES = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)


class Rewriter(ast.NodeTransformer):
    """Puts calls of gates into the tree. With `ticks`, also checkpoints."""

    def __init__(self, rules: Rules, bound: Iterable[str], ticks: bool) -> None:
        self.builtins = rules.builtins - frozenset(bound)
        self.ticks = ticks
        self.token = os.urandom(16).hex()
        self.used: dict[str, str] = {}
        self.patterns = 0
        # The function or class around the visited node, with its own around it.
        self.scopes: list[ast.AST] = []

    def gate(self, name: str, args: list[ast.expr], where: ast.AST) -> ast.Call:
        text = self.used.setdefault(name, f"{self.token} {name}")
        return call(ast.Constant(text), args, where)

    def visit(self, node: ast.AST) -> Any:
        # Half of a tree's nodes are leaves, which need no gate.
        return node if isinstance(node, LEAVES) else super().visit(node)

    # -- attributes

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.visit(node.value)
        name = ast.Constant(node.attr)
        if isinstance(node.ctx, ast.Load):
            return self.gate(f"read {node.attr}", [value, name], node)
        # For every kind of target the object is judged before its attribute is set.
        judged = self.gate("target", [value, name], node)
        return ast.copy_location(ast.Attribute(judged, node.attr, node.ctx), node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Attribute) or target.attr not in layout.NAMES:
            return self.generic_visit(node)
        if not isinstance(target.value, ast.Name) or not self.binds(target.value.id):
            return self.generic_visit(node)
        name = target.value
        args = [self.visit(node.value), name, ast.Constant(target.attr)]
        node.value = self.gate("laid", args, target)
        node.targets = [ast.copy_location(ast.Name(name.id, ast.Store()), target)]
        return node

    def binds(self, name: str) -> bool:
        """Whether a name in this place is a variable of this scope, or declared, so that binding it again changes
        no scope."""
        return not self.scopes or name in own_names(self.scopes[-1])

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.scopes.append(node)
        self.generic_visit(node)
        self.scopes.pop()
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not isinstance(node.target, ast.Attribute):
            return self.generic_visit(node)
        target = node.target
        args = [self.visit(target.value), ast.Constant(target.attr)]
        target.value = self.gate("augmented", args, target)
        node.value = self.visit(node.value)
        return node

    # -- errors that must not be caught

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.type is None:
            # A bare `except` would catch errors that must not be caught, so it becomes `except Exception`.
            node.type = constant(self.used.setdefault("Exception", f"{self.token} Exception"), node)
        else:
            node.type = self.visit(node.type)
        node.body = [self.caught(node), *self.block(node.body)]
        return node

    def visit_Try(self, node: ast.Try) -> ast.AST:
        self.generic_visit(node)
        if node.finalbody:
            node.finalbody.insert(0, self.caught(node.finalbody[0]))
        return node

    def visit_TryStar(self, node: ast.AST) -> ast.AST:
        return self.visit_Try(node)  # type: ignore[arg-type]  # `TryStar` has the same fields

    def caught(self, where: ast.AST) -> ast.stmt:
        return ast.copy_location(ast.Expr(self.gate("caught", [], where)), where)

    # -- checkpoints

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = self.stepped(node.iter)
        return node

    def stepped(self, items: ast.expr) -> ast.expr:
        """The items of a loop, with a checkpoint at each step."""
        return self.gate("stepped", [items], items) if self.ticks else items

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.AST:
        return self.loop(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self.loop(node)

    def loop(self, node: ast.AsyncFor | ast.While) -> ast.AST:
        self.generic_visit(node)
        if self.ticks:
            node.body.insert(0, self.checkpoint(node))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self.function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self.function(node)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self.scopes.append(node)
        self.generic_visit(node)
        self.scopes.pop()
        first = [self.checkpoint(node)] if self.ticks else []
        if node.name in EXITS:
            first.append(self.caught(node))
        # The docstring stays first, where the compiler looks for it.
        at = 1 if ast.get_docstring(node, clean=False) is not None else 0
        node.body[at:at] = first
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.generic_visit(node)
        node.body = self.counted(node.body)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        if not node.is_async:
            node.iter = self.stepped(node.iter)
        elif self.ticks:
            node.ifs.insert(0, self.gate("tick", [], node.iter))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.builtins:
            return self.counted(node)
        return node

    def counted(self, node: ast.expr) -> ast.expr:
        if not self.ticks:
            return node
        # A tick is true, so the value of `tick and node` is the node's.
        both = ast.BoolOp(ast.And(), [self.gate("tick", [], node), node])
        return ast.copy_location(both, node)

    def checkpoint(self, where: ast.stmt) -> ast.stmt:
        return ast.copy_location(ast.Expr(self.gate("tick", [], where)), where)

    # -- patterns

    def visit_Match(self, node: ast.Match) -> Any:
        node.subject = self.visit(node.subject)
        before: list[ast.stmt] = []
        for case in node.cases:
            case.pattern = Patterns(self, before).visit(case.pattern)
            if case.guard is not None:
                case.guard = self.visit(case.guard)
            case.body = self.block(case.body)
        return [*before, node]

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        new: list[ast.stmt] = []
        for statement in body:
            visited = self.visit(statement)
            new += visited if isinstance(visited, list) else [visited]
        return new


class Patterns(ast.NodeTransformer):
    """Rewrites the parts of one pattern. `before` collects statements to put before its `match`."""

    def __init__(self, rewriter: Rewriter, before: list[ast.stmt]) -> None:
        self.rewriter = rewriter
        self.before = before

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        node.value = self.value(node.value)
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:
        node.keys = [self.value(key) for key in node.keys]
        node.patterns = [self.visit(pattern) for pattern in node.patterns]
        return node

    def value(self, node: ast.expr) -> ast.expr:
        """Rewrites a value pattern: an attribute gets its gate, since the matched object's own `==` would
        receive it."""
        if not isinstance(node, ast.Attribute):
            return node
        # The syntax allows only an attribute here, but of any object.
        boxed = self.rewriter.gate("box", [self.rewriter.visit(node)], node)
        return ast.copy_location(ast.Attribute(boxed, "value", ast.Load()), node)

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        node.patterns = [self.visit(pattern) for pattern in node.patterns]
        node.kwd_patterns = [self.visit(pattern) for pattern in node.kwd_patterns]
        rewriter = self.rewriter
        # Not an identifier, so no source can name it.
        name = f"<class {rewriter.patterns}>"
        rewriter.patterns += 1
        nothing = ast.arguments([], [], None, [], [], None, [])
        cls = rewriter.visit(node.cls)
        names = ast.Tuple([ast.Constant(one) for one in node.kwd_attrs], ast.Load())
        args = [ast.Lambda(nothing, cls), names, ast.Constant(len(node.patterns))]
        made = rewriter.gate("pattern", args, node)
        target = ast.Name(name, ast.Store())
        bound = ast.copy_location(ast.Assign([target], made), node)
        self.before.append(ast.fix_missing_locations(bound))
        node.cls = ast.copy_location(ast.Name(name, ast.Load()), node.cls)
        return node


def own_names(scope: ast.AST) -> set[str]:
    """Parameters of a function, and names that the function or class itself binds or declares. Names bound by other
    means than an assignment or a loop are left out."""
    found: set[str] = set()
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        given = scope.args
        found.update(one.arg for one in [*given.posonlyargs, *given.args, *given.kwonlyargs])
    open_nodes: list[ast.AST] = list(getattr(scope, "body", ()))
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
        elif not isinstance(node, INNER):
            open_nodes += ast.iter_child_nodes(node)
    return found


def constant(text: str, where: ast.AST) -> ast.Constant:
    return ast.copy_location(ast.Constant(text), where)


def call(function: ast.expr, args: list[ast.expr], where: ast.AST) -> ast.Call:
    for arg in (function, *args):
        if not hasattr(arg, "lineno"):
            ast.copy_location(arg, where)
    return ast.copy_location(ast.Call(function, args, []), where)


def show_last(tree: ast.Module, function: ast.expr) -> ast.Module:
    """The tree with a bare last expression passed to `function`, as in a notebook."""
    if tree.body and isinstance(last := tree.body[-1], ast.Expr):
        last.value = call(function, [last.value], last.value)
    return tree


def install(code: CodeType, table: dict[str, Any]) -> CodeType:
    """The code with the gate objects in place of their texts."""
    new: list[Any] = []
    for one in code.co_consts:
        if isinstance(one, CodeType):
            one = install(one, table)
        elif type(one) is str:
            one = table.get(one, one)
        new.append(one)
    return code.replace(co_consts=tuple(new))


def installed(code: CodeType, rewriter: Rewriter, make: Make) -> CodeType:
    """The code with its gates; `make` returns the gate for a name."""
    table = {text: make(name) for name, text in rewriter.used.items()}
    return install(code, table)
