"""Shared by the guard's own tests: the list of tests, and the code that runs all of them."""

import sys
import traceback
from collections.abc import Callable
from typing import Any

if len(sys.argv) > 1:
    sys.path.insert(0, sys.argv[1])

TESTS: list[Callable[[], None]] = []


def libraries() -> dict[str, Any]:
    """The libraries that the runner would give, if a folder of installed packages is given."""
    if len(sys.argv) < 2:
        return {}
    import numpy
    import pandas

    return {"pandas": pandas, "numpy": numpy}


LIBRARIES = libraries()


def test(function: Callable[[], None]) -> Callable[[], None]:
    TESTS.append(function)
    return function


def main() -> None:
    """Prints one line for each test and exits with 1 if one failed."""
    failed = 0
    for one in TESTS:
        try:
            one()
            print(f"ok {one.__name__}")
        except Exception:  # noqa: BLE001 - every test gets its line
            failed += 1
            print(f"FAILED {one.__name__}\n{traceback.format_exc(limit=-2)}")
    print(f"{len(TESTS) - failed} of {len(TESTS)} passed")
    sys.exit(1 if failed else 0)
