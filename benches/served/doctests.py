"""The examples of a library's docstrings, one script each, with what plain Python prints for them.

    doctests.py LIBRARY SEED MOST EVERY

Each script runs in a process of its own, forked from this one, which has the libraries loaded, and in an
empty folder. Written are those that succeed there and reach nothing else: no network, no program, no file
written elsewhere. With MOST above 0 at most so many are written, drawn with the seed; otherwise each EVERYth
is tried. One JSON object a line: {"name", "code", "printed"}.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import os
import pkgutil
import random
import re
import signal
import sys
import tempfile
import warnings

# What docstrings take for granted.
GIVEN = {
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "plt": "import matplotlib.pyplot as plt",
    "sns": "import seaborn as sns",
    "sm": "import statsmodels.api as sm",
    "px": "import plotly.express as px",
    "go": "import plotly.graph_objects as go",
}
# Where each begins that is walked; modules below are imported as they are met.
ROOTS = {"sklearn": "sklearn", "scikit-learn": "sklearn"}
SECONDS = 20
OUTSIDE = {
    "socket.connect",
    "socket.getaddrinfo",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "webbrowser.open",
    "urllib.Request",
}
SKIPPED = ("tests", "testing", "conftest", "__main__", "_build_utils", "sandbox", "examples", "setup")


def modules(root: str):
    package = importlib.import_module(root)
    yield package
    for found in pkgutil.walk_packages(package.__path__, root + ".", onerror=lambda _: None):
        parts = found.name.split(".")
        if any(part.startswith("_") or part in SKIPPED or part.startswith("test_") for part in parts):
            continue
        try:
            yield importlib.import_module(found.name)
        except BaseException:
            continue


def documented(root: str):
    """Each docstring with examples once, under the first name that it is met by."""
    seen: set[str] = set()
    for module in modules(root):
        for name in sorted(vars(module)):
            if name.startswith("_"):
                continue
            thing = vars(module)[name]
            if inspect.ismodule(thing):
                continue
            owner = getattr(thing, "__module__", None) or root
            if isinstance(owner, str) and owner.split(".")[0] != root:
                continue
            path = f"{module.__name__}.{name}"
            things = [(path, thing)]
            if inspect.isclass(thing):
                for member in sorted(dir(thing)):
                    if not member.startswith("_"):
                        things.append((f"{path}.{member}", inspect.getattr_static(thing, member)))
            for path, thing in things:
                text = getattr(thing, "__doc__", None)
                if isinstance(text, str) and ">>>" in text and text not in seen:
                    seen.add(text)
                    yield path, text


def printed(source: str) -> str:
    """An expression as a doctest shows it: through `repr`."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return source
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        return source
    value = body[0].value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print":
        return source
    text = ast.get_source_segment(source, value)
    if isinstance(value, (ast.Tuple, ast.GeneratorExp, ast.NamedExpr)):
        text = f"({text})"
    return f"print(repr({text}))\n"


def script(text: str) -> str | None:
    """One script of all its examples: those that a doctest skips, or that are to fail, are left out."""
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return None
    run = [e for e in examples if not e.options.get(doctest.SKIP) and not e.exc_msg]
    if not run:
        return None
    code = "".join(printed(e.source) for e in run)
    given = [line for name, line in GIVEN.items() if re.search(rf"\b{name}\.", code) and line not in code]
    return "".join(f"{line}\n" for line in given) + code


def plainly(code: str) -> str | None:
    """What it prints, in a process and a folder of its own; none where it fails or reaches elsewhere."""
    with tempfile.TemporaryDirectory() as root:
        out, work = os.path.join(root, "out"), os.path.join(root, "work")
        os.mkdir(work)
        child = os.fork()
        if child == 0:
            run(code, root, work, out)
        _, status = os.waitpid(child, 0)
        if status != 0:
            return None
        with open(out, encoding="utf-8", errors="replace") as file:
            return file.read()


def run(code: str, root: str, work: str, out: str) -> None:
    signal.alarm(SECONDS)
    written = os.open(out, os.O_WRONLY | os.O_CREAT, 0o600)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(written, 1)
    os.dup2(nothing, 2)
    os.chdir(work)
    tempfile.tempdir = root

    def hook(event: str, args: tuple) -> None:
        if event in OUTSIDE:
            os._exit(3)
        if event == "open" and isinstance(args[0], (str, bytes)) and isinstance(args[2], int):
            path = os.fsdecode(args[0])
            writes = args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if writes and path != os.devnull and not os.path.abspath(path).startswith(root):
                os._exit(3)

    sys.addaudithook(hook)
    status = 1
    try:
        exec(compile(code, "snippet.py", "exec"), {"__name__": "__main__"})
        status = 0
    except SystemExit as end:
        status = 0 if not end.code else 1
    except BaseException:
        pass
    sys.stdout.flush()
    os._exit(status)


def main(library: str, seed: str, most: int, every: int) -> None:
    warnings.simplefilter("ignore")
    import pandas

    # Tables are as wide as in a run.
    wide = {"width": 160, "max_columns": 50, "max_colwidth": 50, "expand_frame_repr": False}
    for name, value in wide.items():
        pandas.set_option("display." + name, value)
    found = [(name, script(text)) for name, text in documented(ROOTS.get(library, library))]
    found = sorted((name, code) for name, code in found if code)
    if most:
        random.Random(seed).shuffle(found)
    else:
        found = found[::every]
    written = 0
    for name, code in found:
        if most and written == most:
            break
        if (output := plainly(code)) is not None:
            written += 1
            print(json.dumps({"name": name, "code": code, "printed": output}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
