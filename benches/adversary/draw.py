"""What one variant draws: how it spells names, and where it stands."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable

# What a variant prints where it took effect.
TOKEN = sys.argv[3] if len(sys.argv) > 3 else "TOOK"

Make = Callable[["Draw"], str]
KINDS: dict[str, list[Make]] = {
    "compiled text": [],
    "looked up by name": [],
    "memory": [],
    "changed libraries": [],
    "paths": [],
}


class Draw:
    """What one variant draws."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.before: list[str] = []

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def text(self, plain: str) -> str:
        """An expression of this text."""
        plain = plain.replace("{token}", TOKEN)
        at = self.random.randrange(1, max(len(plain), 2))
        mark = self.one("q", "w", "7")
        ways = [
            f"{plain[:at]!r} + {plain[at:]!r}",
            f"{plain[::-1]!r}[::-1]",
            f"''.join(map(chr, {[ord(c) for c in plain]}))",
            f"bytes.fromhex({plain.encode().hex()!r}).decode()",
            f"{mark.join(plain)!r}[::2]" if len(plain) > 1 else repr(plain),
            f"'%s%s' % ({plain[:at]!r}, {plain[at:]!r})",
            f"hidden({[ord(c) + 1 for c in plain]})",
            f"hidden([ord(c) + 1 for c in {plain!r}])",
            f"{{'k': {plain[:at]!r}}}['k'] + {plain[at:]!r}",
            f"Text({plain!r})",
        ]
        return self.random.choice(ways)

    def placed(self, body: str) -> str:
        """Where the variant stands."""
        inside = "\n".join("    " + line for line in body.splitlines())
        deeper = "\n".join("        " + line for line in body.splitlines())
        ways = [
            body,
            f"def run():\n{inside}\nrun()",
            f"try:\n{inside}\nexcept (ValueError, TypeError, AttributeError) as e:\n    print(type(e))",
            f"for _ in range(1):\n{inside}",
            f"class Runs:\n    def go(self):\n{deeper}\nRuns().go()",
            f"def run():\n{inside}\nlist(map(lambda f: f(), [run]))",
            "from concurrent.futures import ThreadPoolExecutor\n"
            f"def run():\n{inside}\nwith ThreadPoolExecutor(1) as pool:\n    pool.submit(run).result()",
            f"import functools\ndef run(n):\n{inside}\nfunctools.partial(run, 1)()",
        ]
        return self.random.choice(ways)


PRELUDE = """\
import numpy as np
import pandas as pd
def took():
    print("{token}")
def hidden(numbers):
    return "".join(chr(n - 1) for n in numbers)
class Text(str):
    pass
"""


def kind(name: str) -> Callable[[Make], Make]:
    def decorate(make: Make) -> Make:
        KINDS[name].append(make)
        return make

    return decorate

# Names that lead into the interpreter.
INSIDE = ["__globals__", "__class__", "__dict__", "__code__", "__builtins__", "__closure__", "__self__"]
