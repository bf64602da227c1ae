"""Spells out private names of classes: `self.__x` in class `A` becomes `self._A__x`.

The compiler would do so later; doing it first shows rules and gates the name that is really read. A class whose name
has only underscores has no private names: `__x` stays as it is there, and is refused.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FIELDS = ("id", "attr", "arg", "name", "asname", "rest")
LISTS = ("names", "kwd_attrs")
LEAVES = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)


class Mangler(ast.NodeTransformer):
    def __init__(self) -> None:
        self.owner = ""

    def visit(self, node: ast.AST) -> Any:
        # Names change only inside classes, and half of a tree's nodes have no children.
        return node if not self.owner and isinstance(node, LEAVES) else super().visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        outer = self.owner
        name = self.mangled(node.name)
        # Everything before the body is mangled for the enclosing class.
        for field in ("decorator_list", "bases", "keywords", "type_params"):
            if children := getattr(node, field, None):
                setattr(node, field, [self.visit(child) for child in children])
        self.owner = node.name.lstrip("_")
        node.body = [self.visit(child) for child in node.body]
        self.owner = outer
        node.name = name
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not self.owner:
            return super().generic_visit(node)
        for field in FIELDS:
            if isinstance(name := getattr(node, field, None), str):
                setattr(node, field, self.mangled(name))
        for field in LISTS:
            names = getattr(node, field, None)
            if isinstance(names, list) and names and isinstance(names[0], str):
                setattr(node, field, [self.mangled(name) for name in names])
        return super().generic_visit(node)

    def mangled(self, name: str) -> str:
        if not self.owner or not name.startswith("__") or name.endswith("__") or "." in name:
            return name
        return f"_{self.owner}{name}"


def mangle(tree: ast.Module) -> ast.Module:
    if any(isinstance(node, ast.ClassDef) for node in ast.walk(tree)):
        Mangler().visit(tree)
    return tree
