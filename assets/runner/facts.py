"""What CPython's parser sees of the code, as two digests that the analyser can compute too.

Where the two parsers see different identifiers or constants, one of them is being fooled.
"""

import ast
import hashlib
import struct
from collections.abc import Iterable, Iterator

from _countersign.errors import PolicyViolation
from _countersign.events import Events


def compare(tree: ast.Module, expected: dict[str, str] | None, events: Events) -> None:
    """Raises when the analyser saw other code than CPython does. Without facts: no check."""
    if expected is None:
        return
    seen = {"identifiers": digest(identifiers(tree)), "constants": digest(constants(tree))}
    for name, value in seen.items():
        if expected.get(name) != value:
            message = f"the analyser saw other {name} than Python does"
            events.add("facts", message)
            raise PolicyViolation(message)


def digest(items: Iterable[bytes]) -> str:
    """SHA-256 over the sorted, distinct items, each with its length before it."""
    total = hashlib.sha256()
    for item in sorted(set(items)):
        total.update(len(item).to_bytes(8, "little") + item)
    return "sha256:" + total.hexdigest()


def identifiers(tree: ast.AST) -> Iterator[bytes]:
    """Every identifier, NFKC-folded by the parser, dotted module names in one piece."""
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if field in ("value", "s", "kind", "type_comment"):
                continue
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, str):
                    yield item.encode()


def constants(tree: ast.AST) -> Iterator[bytes]:
    """Every literal but None, True, False, `...` and the pieces of f-strings, which parsers cut
    differently; tagged with its type."""
    pieces = {
        id(piece)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for piece in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in pieces:
            match node.value:
                case bool() | None:
                    pass
                case str(text):
                    yield b"s" + text.encode("utf-8", "surrogatepass")
                case bytes(data):
                    yield b"b" + data
                case int(number):
                    yield b"i%x" % number
                case float(number):
                    yield b"f" + struct.pack("<d", number)
                case complex() as number:
                    yield b"c" + struct.pack("<d", number.imag)
