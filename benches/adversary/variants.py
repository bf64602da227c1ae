"""Variants of attacks by class, one JSON object a line: `variants.py COUNT SEED TOKEN`.

A variant prints the token where it got what it is after: an object of the interpreter, memory that is not
its own, a library that says something else from then on, a file outside of the run. How it spells names, where
it stands and what it goes through is drawn; the same seed draws the same variants.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import held  # noqa: F401 - each adds its kinds
import memory  # noqa: F401
import named  # noqa: F401
import paths  # noqa: F401
import shared  # noqa: F401
import texts  # noqa: F401
from draw import KINDS, PRELUDE, TOKEN, Draw


def variants(count: int, seed: str) -> Iterator[dict[str, str]]:
    each = count // len(KINDS)
    for name, makers in KINDS.items():
        seen: set[str] = set()
        at = 0
        while len(seen) < each:
            make = makers[at % len(makers)]
            d = Draw(f"{seed} {name} {at}")
            at += 1
            code = (PRELUDE + d.placed(make(d)) + "\n").replace("{token}", TOKEN)
            if code not in seen:
                seen.add(code)
                yield {"kind": name, "name": make.__name__, "code": code}


if __name__ == "__main__":
    for one in variants(int(sys.argv[1]), sys.argv[2]):
        print(json.dumps(one))
