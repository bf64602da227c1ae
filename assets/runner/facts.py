"""Two digests of what CPython's parser sees in the code. The analyser computes the same two.

If the two parsers see different identifiers or constants, the code fools one of them.
"""

from __future__ import annotations

import ast
import struct

from _countersign.errors import PolicyViolation
from _countersign.events import Events
from _countersign.spec import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def compare(tree: ast.Module, expected: dict[str, str] | None, events: Events) -> None:
    """Raises if the analyser saw other code than CPython does. Without facts there is no check."""
    if expected is None:
        return
    for name, value in seen(tree).items():
        if expected.get(name) != value:
            message = f"the analyser saw other {name} than Python does"
            events.add("facts", message)
            raise PolicyViolation(message)


def seen(tree: ast.AST) -> dict[str, str]:
    """The two digests by their names."""
    return {"identifiers": digest(identifiers(tree)), "constants": digest(constants(tree))}


def digest(items: Iterable[bytes]) -> str:
    """SHA-256 over the sorted, distinct items, each preceded by its length."""
    total = sha256()
    for item in sorted(set(items)):
        total.update(len(item).to_bytes(8, "little") + item)
    return f"sha256:{total.hexdigest()}"


# Halves of surrogate pairs → the characters that stand for them in the analyser, whose strings cannot hold
# surrogates (`analysis::halves`).
HALVES = {half: half + 0x1000 for half in range(0xD800, 0xE000)}


def tagged(text: str) -> bytes:
    try:
        return b"s" + text.encode()
    except UnicodeEncodeError:
        return b"u" + text.translate(HALVES).encode()


SKIPPED = ("value", "s", "kind", "type_comment")


def identifiers(tree: ast.AST) -> Iterator[bytes]:
    """Every identifier, NFKC-folded by the parser, dotted module names in one piece."""
    for node in ast.walk(tree):
        for field in node._fields:
            value = getattr(node, field, None)
            if type(value) is str:
                if field not in SKIPPED:
                    yield value.encode()
            elif type(value) is list and value and type(value[0]) is str:
                for item in value:
                    yield item.encode()


def constants(tree: ast.AST) -> Iterator[bytes]:
    """Every literal, tagged with its type, except None, True, False, `...` and the pieces of f-strings, which parsers
    split differently."""
    literals: list[ast.Constant] = []
    pieces: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            literals.append(node)
        elif isinstance(node, ast.JoinedStr):
            pieces.update(map(id, node.values))
    for node in literals:
        if id(node) not in pieces:
            match node.value:
                case bool() | None:
                    pass
                case str(text):
                    yield tagged(text)
                case bytes(data):
                    yield b"b" + data
                case int(number):
                    yield b"i%x" % number
                case float(number):
                    yield b"f" + struct.pack("<d", number)
                case complex() as number:
                    yield b"c" + struct.pack("<d", number.imag)
