"""Puts the gates into the tree: attribute reads and targets, bare `except`, the last expression.

The gates' names are no identifiers, so no source text can name them.
"""

import ast

READ = "<read>"
TARGET = "<target>"
EXCEPTION = "<Exception>"
DISPLAY = "<display>"


class Rewriter(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            new: ast.expr = call(READ, [value, ast.Constant(node.attr)], node)
        else:
            # Whatever kind of target it is, the object is judged before its attribute is set.
            judged = call(TARGET, [value, ast.Constant(node.attr)], node)
            new = ast.Attribute(judged, node.attr, node.ctx)
        return ast.copy_location(new, node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.type is None:
            # A bare `except` would catch what must not be caught.
            node.type = ast.copy_location(ast.Name(EXCEPTION, ast.Load()), node)
        return self.generic_visit(node)

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        # A pattern only compares: no call may stand there, and none is needed.
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        node.patterns = [self.visit(pattern) for pattern in node.patterns]
        node.kwd_patterns = [self.visit(pattern) for pattern in node.kwd_patterns]
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:
        node.patterns = [self.visit(pattern) for pattern in node.patterns]
        return node


def call(name: str, args: list[ast.expr], where: ast.AST) -> ast.Call:
    function = ast.copy_location(ast.Name(name, ast.Load()), where)
    for arg in args:
        if not hasattr(arg, "lineno"):
            ast.copy_location(arg, where)
    return ast.copy_location(ast.Call(function, args, []), where)  # type: ignore[type-var]


def guard(tree: ast.Module) -> ast.Module:
    return ast.fix_missing_locations(Rewriter().visit(tree))


def show_last(tree: ast.Module) -> ast.Module:
    """A bare last expression is displayed, as in a notebook."""
    if tree.body and isinstance(last := tree.body[-1], ast.Expr):
        last.value = call(DISPLAY, [last.value], last.value)
    return tree
