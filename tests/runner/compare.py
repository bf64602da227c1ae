"""Gives the runner's reading of many snippets, for comparison with the analyser's.

`compare.py examples SITE` prints the examples in the docstrings of pandas and numpy as a JSON list.
`compare.py read` takes `[[profile, code], …]` on stdin and prints `[[refused or null, facts], …]`: the result of the
check before the run, and the digests to compare with the analyser's; no digests for code that Python cannot parse, or
not in time.
"""

import ast
import doctest
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import child


def examples(site: Path) -> Iterator[str]:
    head = "import pandas as pd\nimport numpy as np\n"
    for library in ("pandas", "numpy"):
        for file in sorted((site / library).rglob("*.py")):
            if "tests" not in file.parts:
                for text in docstrings(file):
                    yield head + text


def docstrings(file: Path) -> Iterator[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        text = ast.get_docstring(node) if isinstance(node, kinds) else None
        if text and ">>>" in text:
            try:
                parts = doctest.DocTestParser().get_examples(text)
            except ValueError:
                continue
            yield "".join(part.source for part in parts)


# Names that some contract gives.
GIVEN = [
    "__name__",
    "df",
    "pd",
    "np",
    "data",
    "private",
    "public",
    "system",
    "local",
    "log",
    "log_level",
    "reason",
    "SecurityError",
]

# Seconds to parse one text.
PATIENCE = 120


class Late(Exception):
    pass


def late(signal: int, frame: Any) -> None:
    raise Late


def in_time(code: str, rules: Any) -> list[Any]:
    signal.alarm(PATIENCE)
    try:
        return read(code, rules)
    except Late:
        return [None, None]
    finally:
        signal.alarm(0)


def read(code: str, rules: Any) -> list[Any]:
    from _countersign import check, errors, events, facts, mangle

    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [None, None]
    seen = facts.seen(tree)
    try:
        check.check(mangle.mangle(tree), rules, GIVEN, events.Events(lambda line: None))
    except errors.PolicyViolation as error:
        return [error.message, seen]
    except RecursionError:
        return [None, seen]
    return [None, seen]


def main() -> None:
    from _countersign.rules import Rules

    if sys.argv[1] == "examples":
        print(json.dumps(list(examples(Path(sys.argv[2])))))
    else:
        signal.signal(signal.SIGALRM, late)
        asked = json.load(sys.stdin)
        rules = {name: Rules(child.policy(name)) for name in {name for name, _ in asked}}
        print(json.dumps([in_time(code, rules[name]) for name, code in asked]))


main()
