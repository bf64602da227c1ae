"""The second check: compares CPython's own syntax tree with the policy before anything runs.

Independent of the analyser that checked the code before the grant: another parser and another language, so that
one mistake is unlikely to be in both.
"""

from __future__ import annotations

import ast

from _countersign.errors import PolicyViolation
from _countersign.events import Events
from _countersign.rules import ADDRESSES, THERE, Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

SHOWN = 5
METACLASSES = ("ABCMeta", "EnumMeta", "EnumType")

Problem = tuple[int | None, str]


def check(tree: ast.Module, rules: Rules, given: Iterable[str], events: Events) -> frozenset[str]:
    """Raises for the first problem by line and names a few more. `given`: names bound beforehand. Returns the modules
    that the snippet can do without.

    Every problem is an event of the run.
    """
    nodes = list(ast.walk(tree))
    bound = {*given, *(name for node in nodes for name in bound_names(node))}
    kinds = {type(node) for node in nodes}
    attempts = attempted(nodes)
    plain = {id(one) for node in nodes for one in plain_reads(node, rules)}
    refused = {kind: rules.node_problem(kind.__name__) for kind in kinds}
    problems: list[Problem] = []
    left: set[str] = set()
    for node in nodes:
        kind = type(node)
        texts = [refused[kind]] if refused[kind] else []
        if kind in JUDGED and node not in attempts and id(node) not in plain:
            texts += [text for text in node_problems(node, rules, bound) if text]
        problems += [(getattr(node, "lineno", None), text) for text in texts if text]
    for node in attempts:
        without = optional(node, rules)
        left |= without
        problems += [(node.lineno, text) for text in import_problems(node, rules, without) if text]
    if not problems:
        return frozenset(left)
    problems.sort(key=lambda problem: problem[0] or 0)
    for line, text in problems:
        events.add("refused", text, line)
    said = list(dict.fromkeys(text for _, text in problems))
    message = "; ".join(said[:SHOWN])
    if len(said) > SHOWN:
        message += f"; and {len(said) - SHOWN} more"
    raise PolicyViolation(message, problems[0][0])


def plain_reads(node: ast.AST, rules: Rules) -> Iterator[ast.AST]:
    """Nodes that are refused elsewhere but here only do what the policy allows under another name: `raise SystemExit`
    is `sys.exit`; `x.__class__` is `type(x)` where its name is read, where it is compared, and where calling it makes
    another object."""
    classes: list[ast.expr] = []
    match node:
        case (
            ast.Raise(exc=ast.Name(id="SystemExit") as name)
            | ast.Raise(exc=ast.Call(func=ast.Name(id="SystemExit") as name))
        ):
            if rules.exits:
                yield name
        case ast.Attribute(value=value, attr="__name__", ctx=ast.Load()):
            classes = [value]
        case ast.Compare(left=left, comparators=others):
            classes = [left, *others]
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]):
            classes = [kind]
        case ast.Call(func=ast.Attribute(value=ast.Name()) as made):
            classes = [made]
    if "type" in rules.builtins and "__name__" in rules.read:
        for one in classes:
            if isinstance(one, ast.Attribute) and one.attr == "__class__":
                yield one


ABSENCE = frozenset(("ImportError", "ModuleNotFoundError", "Exception"))


def attempted(nodes: Iterable[ast.AST]) -> set[ast.Import | ast.ImportFrom]:
    """Imports that may fail: in a `try` or a `suppress` that catches the error, under `TYPE_CHECKING`, and imports of
    packages that the snippet looks up with `find_spec`."""
    sought = {top for node in nodes for top in asked_for(node)}
    inside = {
        inner
        for node in nodes
        if does_without(node)
        for statement in node.body  # type: ignore[attr-defined]  # what does without has a body
        for inner in ast.walk(statement)
        if isinstance(inner, (ast.Import, ast.ImportFrom))
    }
    if not sought:
        return inside
    imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    return inside | {one for one in imports if sought.intersection(tops(one))}


def does_without(node: ast.AST) -> bool:
    """Whether imports in the statement's body may fail."""
    match node:
        case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
            return any(takes_absence(one.type) for one in handlers)
        case ast.With(items=items):
            return any(suppresses(item.context_expr) for item in items)
        case ast.If(test=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name == "TYPE_CHECKING"
    return False


def suppresses(context: ast.expr) -> bool:
    match context:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=kinds):
            return name == "suppress" and any(map(takes_absence, kinds))
    return False


def asked_for(node: ast.AST) -> Iterator[str]:
    """The package that a call of `find_spec` asks for."""
    match node:
        case ast.Call(
            func=ast.Name(id="find_spec") | ast.Attribute(attr="find_spec"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield name.partition(".")[0]


def tops(node: ast.Import | ast.ImportFrom) -> list[str]:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return [name.partition(".")[0] for name in names]


def optional(node: ast.Import | ast.ImportFrom, rules: Rules) -> set[str]:
    """The modules of an import that may fail and that the policy does not list: the import gate raises the error and
    loads nothing. Only the analyser knows what each module is for; it refuses those that reach outside."""
    match node:
        case ast.ImportFrom(module=str(name), level=0):
            names = [name]
        case ast.Import(names=aliases):
            names = [alias.name for alias in aliases]
        case _:
            names = []
    return {name for name in names if rules.module_problem(name) and name not in rules.packages and is_public(name)}


def is_public(module: str) -> bool:
    return not any(part.startswith("_") for part in module.split("."))


def takes_absence(kind: ast.expr | None) -> bool:
    """Whether a handler catches the error of a failed import."""
    match kind:
        case ast.Name(id=name):
            return name in ABSENCE
        case ast.Tuple(elts=kinds):
            return any(map(takes_absence, kinds))
    return kind is None


def bound_in(tree: ast.Module) -> set[str]:
    """All names that the snippet binds anywhere."""
    return {name for node in ast.walk(tree) for name in bound_names(node)}


# Type parameters exist since Python 3.12.
PARAMETERS = tuple(getattr(ast, name) for name in ("TypeVar", "ParamSpec", "TypeVarTuple") if hasattr(ast, name))

# Node types that bind a name, and those with anything to judge. Most nodes are neither and are skipped by type.
BINDING = frozenset(
    {ast.Name, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.arg, ast.alias}
    | {ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.ExceptHandler, *PARAMETERS}
)
JUDGED = BINDING | frozenset(
    {ast.Attribute, ast.Constant, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.keyword} | {ast.MatchClass}
)


def bound_names(node: ast.AST) -> Iterable[str]:
    """Names that a node binds, in any scope: a name that is bound anywhere is the snippet's own. Where it turns out
    to be unbound, the frozen builtins do not have it either."""
    return bindings(node) if type(node) in BINDING else ()


def bindings(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ClassDef(name=name) | ast.arg(arg=name):
            yield name
        case ast.alias(name=name, asname=asname):
            yield asname or name.partition(".")[0]
        case ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case _ if isinstance(node, PARAMETERS):
            yield node.name


def node_problems(node: ast.AST, rules: Rules, bound: set[str]) -> Iterator[str | None]:
    for name in bound_names(node):
        yield rules.name_problem(name, rules.defined)
    match node:
        case ast.Name(id=name):
            reads = isinstance(node.ctx, ast.Load)
            # The snippet may read what it defined: `__radd__ = __add__`.
            own = not reads or (name in bound and name not in THERE)
            yield rules.name_problem(name, rules.defined if own else rules.read)
            if reads and name not in bound:
                yield rules.unbound_problem(name)
        case ast.Attribute(attr=name):
            reads = isinstance(node.ctx, ast.Load)
            yield rules.attribute_problem(name, rules.read if reads else rules.defined)
        case ast.Constant(value=str(text)):
            if any(name in text for name in ADDRESSES):
                yield "an address by the name of an attribute is not allowed"
        case ast.Import() | ast.ImportFrom():
            yield from import_problems(node, rules, ())
        case ast.Global(names=listed) | ast.Nonlocal(names=listed):
            for name in listed:
                yield rules.name_problem(name, rules.defined)
        case ast.keyword(arg=str(name)):
            yield rules.name_problem(name, rules.defined)
        case ast.ClassDef(keywords=keywords):
            for keyword in keywords:
                if keyword.arg == "metaclass" and not is_abstract(keyword.value):
                    yield "a metaclass other than ABCMeta and EnumMeta is not allowed"
                elif keyword.arg is None:
                    yield "class keywords from a mapping are not allowed"
        case ast.MatchClass(kwd_attrs=attributes):
            # A class pattern reads attributes without an attribute node. The gates see what its positional
            # patterns read.
            for name in attributes:
                yield rules.attribute_problem(name, rules.read)


def is_abstract(node: ast.expr) -> bool:
    """Whether the expression names a library's metaclass, alone or as a module's member; its import decides what the
    name is bound to."""
    match node:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name):
            return name in METACLASSES
    return False


def import_problems(node: ast.Import | ast.ImportFrom, rules: Rules, without: Container[str]) -> Iterator[str | None]:
    """`without`: modules that may be missing."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name not in without:
                yield rules.module_problem(alias.name)
        return
    if node.module in without:
        return
    if node.level or not node.module:
        yield "relative imports are not allowed"
        return
    for alias in node.names:
        if alias.name == "*":
            # The import gate decides which names the star brings: it hands over allowed ones only.
            yield rules.module_problem(node.module)
        else:
            yield rules.member_problem(node.module, alias.name)
