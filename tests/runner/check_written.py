"""Tests of the source text of the runner's files.

Part of `check_files.py`.
"""

import ast
import sys
from collections.abc import Iterator
from typing import Any, TypeGuard

from harness import test
from own import FILES

# Installed libraries that the runner may import: at module level only in a file that the library itself loads,
# elsewhere only in functions that run where the library is installed.
INSTALLED = set("matplotlib numpy pandas pyarrow sklearn".split())
LOADED_BY_LIBRARY = {"canvas": "matplotlib"}

# Modules that the standard library has in some versions only: up to 3.11, and from 3.12 on.
VERSIONS = {"_sha256", "_sha2"}


def functions(tree: ast.AST, method: bool = False) -> Iterator[tuple[Any, bool]]:
    """Every function, and whether it is in a class."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node, method
        yield from functions(node, isinstance(node, ast.ClassDef))


@test
def every_function_is_annotated() -> None:
    wrong, seen = [], 0
    for name, path in FILES.items():
        for node, method in functions(ast.parse(path.read_text())):
            seen += 1
            args = node.args
            named = [*args.posonlyargs, *args.args]
            plain = method and not any(
                isinstance(one, ast.Name) and one.id == "staticmethod" for one in node.decorator_list
            )
            asked = [*named[1 if plain else 0 :], *args.kwonlyargs, args.vararg, args.kwarg]
            lacks = [one.arg for one in asked if one is not None and one.annotation is None]
            if lacks or node.returns is None:
                wrong.append(f"{name}:{node.lineno} {node.name}: {lacks or 'what it returns'}")
    assert not wrong and seen > 300, "\n".join(wrong)


@test
def only_the_standard_library_is_imported_by_itself() -> None:
    wrong = []
    for name, path in FILES.items():
        tree = ast.parse(path.read_text())
        node: Any
        for node in ast.walk(tree):
            roots = []
            if isinstance(node, ast.Import):
                roots = [one.name.partition(".")[0] for one in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.module and not node.level, (name, node.lineno)
                roots = [node.module.partition(".")[0]]
            for root in roots:
                if root in sys.stdlib_module_names | VERSIONS or root == "_countersign":
                    continue
                begins = node in tree.body
                if LOADED_BY_LIBRARY.get(name) != root and (begins or root not in INSTALLED):
                    wrong.append(f"{name}:{node.lineno} {root}")
    assert not wrong, "\n".join(wrong)


@test
def what_is_imported_for_annotations_is_used_in_nothing_else() -> None:
    wrong, seen = [], 0
    for name, path in FILES.items():
        tree = ast.parse(path.read_text())
        for block in [node for node in tree.body if is_for_annotations(node)]:
            bound = [one for line in block.body for one in names_bound(line)]
            seen += len(bound)
            # As at run time: without the `TYPE_CHECKING` block and without annotations that are never evaluated.
            block.body = [ast.Pass()]
            left = {one.id for one in ast.walk(without_annotations(tree)) if isinstance(one, ast.Name)}
            otherwise = {one for line in block.orelse for one in names_bound(line)}
            wrong += [f"{name}: {one}" for one in bound if one in left - otherwise]
    assert not wrong and seen > 50, wrong


def is_for_annotations(node: ast.AST) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def names_bound(line: ast.stmt) -> list[str]:
    if isinstance(line, (ast.Import, ast.ImportFrom)):
        return [one.asname or one.name for one in line.names]
    return [ast.unparse(one) for one in getattr(line, "targets", [])]


def without_annotations(tree: ast.Module) -> ast.Module:
    """The tree without annotations, if the file says that they are never evaluated (PEP 563)."""
    if not any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in tree.body):
        return tree
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            if getattr(node, field, None) is not None:
                setattr(node, field, ast.Constant(None))
    return tree
