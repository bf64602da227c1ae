"""What this Python's compiler says of many snippets: a JSON list of codes on stdin, a list of messages or nulls on
stdout."""

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
