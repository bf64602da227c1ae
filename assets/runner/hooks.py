"""Judges what libraries do on the snippet's behalf: text that becomes code, processes, sockets, pickles.

An audit hook (PEP 578) sees these from any caller and cannot be removed. It is a safety net below the gates, not a
boundary: the process is confined from outside.
"""

from __future__ import annotations

import ast
import collections
import opcode
import os
import sys
from types import CodeType, ModuleType

from _countersign import errors, evaluated, narrow
from _countersign.gates import Gates
from _countersign.rules import NEVER, UNDERSCORED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

# Code that does not act for the snippet: imports, and the runner itself.
IMPORTS = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
RUNNER = errors.as_report.__code__.co_filename.rpartition("/")[0] + "/"

# Files that make classes from text with checked names, and the dunder names in that text. `dataclasses` is given by
# path: importing it would load `inspect`.
LIBRARY = os.path.dirname(os.__file__)
MAKERS = (collections.__file__, os.path.join(LIBRARY, "dataclasses.py"))
MADE = frozenset(
    "__class__ __create_fn__ __qualname__ __init__ __new__ __setattr__ __delattr__ __hash__ __eq__ "
    "__repr__ __lt__ __le__ __gt__ __ge__ __getstate__ __setstate__ __post_init__ __annotations__ "
    "__builtins__ __replace__".split()
)
MADE_PREFIX = "__dataclass"
# The prefix that pandas writes for the `@` of its queries.
LOCAL = "__pd_eval_local_"

# Files that evaluate text of the snippet. The modules are given by path, so that they are not loaded just for their
# names. Since Python 3.14 annotations are evaluated in `annotationlib`.
TYPING = tuple(os.path.join(LIBRARY, name) for name in ("typing.py", "annotationlib.py"))
EVALUATORS = ("/pandas/core/computation/", "/patsy/", "/formulaic/")

# Builtins for which the snippet has a guarded version.
GUARDED = frozenset("delattr getattr hasattr locals open setattr type".split())

REFUSED = {
    "os.exec": "starting a program",
    "os.posix_spawn": "starting a program",
    "os.spawn": "starting a program",
    "os.system": "starting a program",
    "pickle.find_class": "reading a pickle",
    "pty.spawn": "starting a program",
    "socket.bind": "a network connection",
    "socket.connect": "a network connection",
    "socket.getaddrinfo": "a network connection",
    "socket.gethostbyname": "a network connection",
    "socket.sendto": "a network connection",
    "subprocess.Popen": "starting a program",
    "urllib.Request": "a network connection",
    "ftplib.connect": "a network connection",
    "http.client.connect": "a network connection",
    "webbrowser.open": "starting a program",
    "sys.setprofile": "tracing",
    "sys.settrace": "tracing",
}


class Hooks:
    def __init__(self, gates: Gates) -> None:
        self.gates = gates
        self.inside = False

    def install(self) -> None:
        see, refused = self.see, REFUSED

        def hook(event: str, args: tuple[Any, ...]) -> None:
            if event == "compile" or event == "exec" or event in refused:
                see(event, args)

        sys.addaudithook(hook)

    def see(self, event: str, args: tuple[Any, ...]) -> None:
        # Frame 2 caused the event: frames 0 and 1 are the hook's.
        frame = sys._getframe(2)
        if frame.f_code.co_filename == evaluated.FILE and frame.f_back is not None:
            frame = frame.f_back
        by = frame.f_code.co_filename
        if self.inside or by.startswith(RUNNER):
            return
        if event in REFUSED:
            what = REFUSED[event]
            self.gates.watch.events.add("system", f"{what} by a library was refused ({event})")
            raise PermissionError(f"{what} is not allowed here")
        # Code that a library compiles while it is imported is its own.
        if by in IMPORTS or narrow.importing():
            return
        self.inside = True
        try:
            names = names_of_code(args[0]) if event == "exec" else names_of_text(args[0])
            problem = self.problem(names, by in MAKERS)
            if problem is None and by not in (*MAKERS, *TYPING) and not is_evaluator(by):
                problem = self.builtin_problem(args[0])
            if problem is None and event == "compile" and is_evaluator(by):
                problem = self.text_problem(args[0])
        finally:
            self.inside = False
        if problem:
            message = f"text that is evaluated: {problem}"
            self.gates.watch.events.add("text", message)
            self.gates.watch.end(errors.PolicyViolation(message))

    def problem(self, names: Iterable[str], makers: bool) -> str | None:
        """The first name that no snippet may read."""
        rules = self.gates.rules
        for name in names:
            if makers and (name in MADE or name.startswith(MADE_PREFIX)):
                continue
            name = name.removeprefix(LOCAL)
            if problem := rules.attribute_problem(name, rules.read):
                return problem
        return None

    def builtin_problem(self, found: Any) -> str | None:
        """The first builtin that the text may not use: text that a library evaluates gets the interpreter's builtins,
        not the guarded ones."""
        is_code = isinstance(found, CodeType)
        for name in names_loaded(found) if is_code else names_bare(found):
            if name in NEVER or name in GUARDED:
                return f"the name {name} is not allowed"
        return None

    def text_problem(self, text: Any) -> str | None:
        """The first problem of an annotation, a query or a formula: no gate checks the attributes that it reads."""
        carried = self.carried()
        for node in ast.walk(tree_of(text) or ast.Module([], [])):
            if isinstance(node, ast.Attribute):
                if node.attr.startswith("_") and node.attr not in UNDERSCORED:
                    return f"the attribute {node.attr} is not allowed"
                if node.attr in carried or node.attr in ("format", "format_map"):
                    return f"the attribute {node.attr} is not allowed"
        return None

    def carried(self) -> set[str]:
        """Names of members under which allowed modules contain modules that are not allowed."""
        rules = self.gates.rules
        return {
            name
            for module in rules.imports
            for name, found in vars(sys.modules.get(module, ast)).items()
            if isinstance(found, ModuleType)
            and module in sys.modules
            and rules.submodule_problem(module, name, found.__name__)
        }


def is_evaluator(file: str) -> bool:
    """Whether code of this file evaluates text for a snippet."""
    return file in TYPING or any(part in file for part in EVALUATORS)


def tree_of(text: Any) -> ast.AST | None:
    """The syntax tree of a text; a tree is returned unchanged."""
    if isinstance(text, (str, bytes)):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return text if isinstance(text, ast.AST) else None


def names_of_text(text: Any) -> Iterator[str]:
    """Names in text that will be parsed, or in a tree that will be compiled."""
    for node in ast.walk(tree_of(text) or ast.Module([], [])):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name):
                yield name


def names_bare(text: Any) -> Iterator[str]:
    """Bare names in the text, not attributes."""
    for node in ast.walk(tree_of(text) or ast.Module([], [])):
        if isinstance(node, ast.Name):
            yield node.id


# Opcodes that read a bare name, and how many flag bits to shift out of their argument.
LOADS = {
    opcode.opmap[name]: shift
    for name, shift in (("LOAD_NAME", 0), ("LOAD_GLOBAL", 1), ("LOAD_FROM_DICT_OR_GLOBALS", 0))
    if name in opcode.opmap
}


def names_loaded(code: CodeType) -> Iterator[str]:
    """Names that code reads as bare names, not as attributes: `context.vars` in code that jinja makes of a template
    does not count."""
    extended = 0
    for op, number in zip(code.co_code[::2], code.co_code[1::2]):
        number |= extended
        extended = number << 8 if op == opcode.EXTENDED_ARG else 0
        if op in LOADS:
            yield code.co_names[number >> LOADS[op]]
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from names_loaded(one)


def names_of_code(code: Any) -> Iterator[str]:
    """Names in code that will run."""
    if isinstance(code, CodeType):
        yield from code.co_names
        for one in code.co_consts:
            yield from names_of_code(one)
