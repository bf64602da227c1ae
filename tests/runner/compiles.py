"""Compiles many snippets with this Python: reads a JSON list of codes on stdin and prints a list of error messages or
nulls."""

import json
import sys
import warnings


def refused(code: str) -> str | None:
    try:
        compile(code, "<snippet>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return str(error)
    return None


warnings.simplefilter("ignore")
print(json.dumps([refused(code) for code in json.load(sys.stdin)]))
