"""Times the peers that live in CPython, on the files of slice.py: prints JSON.

    python time_peers.py FOLDER ROUNDS

For each peer the least of ROUNDS times in nanoseconds for every function, in the order of their
names, and for the large file. Reading the files is not counted. What a peer fails on is counted.
"""

import ast
import io
import json
import logging
import pathlib
import sys
import time
import warnings

from bandit.core import config, manager
from RestrictedPython import compile_restricted_exec

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")


def parse_and_walk(code):
    count = 0
    for _ in ast.walk(ast.parse(code)):
        count += 1
    return count


def restricted(code):
    # Refusals come back as a list; only the work counts here.
    compile_restricted_exec(code)


SETTINGS = config.BanditConfig()


def bandit(code):
    run = manager.BanditManager(SETTINGS, "file")
    run._parse_file("snippet.py", io.BytesIO(code), ["snippet.py"])
    if run.skipped:
        raise ValueError(run.skipped[0][1])


def least(peer, code, rounds):
    best = None
    for _ in range(rounds):
        start = time.perf_counter_ns()
        peer(code)
        took = time.perf_counter_ns() - start
        best = took if best is None or took < best else best
    return best


def main():
    folder, rounds = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    codes = [path.read_bytes() for path in sorted((folder / "functions").glob("*.py"))]
    large = (folder / "large.py").read_bytes()
    out = {"python": sys.version.split()[0], "peers": {}}
    for name, peer, prepare in (
        ("ast.parse + walk", parse_and_walk, bytes.decode),
        ("RestrictedPython", restricted, bytes.decode),
        ("bandit", bandit, bytes),
    ):
        times, failed = [], 0
        for code in map(prepare, codes):
            try:
                times.append(least(peer, code, rounds))
            except Exception:
                failed += 1
        try:
            whole = least(peer, prepare(large), 2)
        except Exception:
            whole = None
        out["peers"][name] = {"times_ns": times, "failed": failed, "large_ns": whole}
    print(json.dumps(out))


main()
