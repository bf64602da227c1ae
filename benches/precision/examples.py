"""Prints the examples in the docstrings of installed libraries, one JSON object a line.

    python examples.py PACKAGE... [--gallery ARCHIVE] > examples.jsonl

One docstring is one example: its `>>>` lines without what they print, and each indented block
after `::` that is Python and calls something. The libraries are imported, since many docstrings
are put together only then; nothing of an example is run. What is not Python (IPython's `%`, a
sketch) or refused by CPython's compiler is left out and counted in the last line. ARCHIVE is the source archive of matplotlib:
each script of its gallery is one example, but for those that embed a figure in a GUI toolkit.
"""

import ast
import doctest
import importlib
import inspect
import json
import pkgutil
import re
import sys
import tarfile
import textwrap
import warnings

from touches import name_is_private, touches

warnings.simplefilter("ignore")

# What is for the libraries' own developers, or opens a window, or runs on import.
SKIPPED = re.compile(r"(^|\.)(tests?|testing|conftest|setup|_distributor_init|f2py|distutils|backends|externals|__main__|_pyinstaller|pyinstaller)(\.|$)")
BLOCK = re.compile(r"^( *)(?:\.\. (?:plot|code-block|sourcecode|ipython)::(?: python3?)?|(?!\.\. ).*::)$")


def modules(package):
    top = importlib.import_module(package)
    yield top
    for info in sorted(pkgutil.walk_packages(top.__path__, package + ".", lambda name: None), key=lambda i: i.name):
        if SKIPPED.search(info.name):
            continue
        try:
            yield importlib.import_module(info.name)
        except BaseException:
            continue


def documented(package):
    """Every docstring of a package with the name it is found under: a public one, and the shortest."""
    found = {}

    def order(name):
        return name_is_private(name), len(name), name

    def take(name, value):
        doc = getattr(value, "__doc__", None)
        if isinstance(doc, str) and doc.strip():
            old = found.get(doc)
            if old is None or order(name) < order(old):
                found[doc] = name

    for module in modules(package):
        take(module.__name__, module)
        for name, value in sorted(vars(module).items()):
            if not callable(value) and not inspect.ismodule(value):
                continue
            home = getattr(value, "__module__", None) or module.__name__
            if not isinstance(home, str) or home.split(".")[0] != package:
                continue
            full = f"{module.__name__}.{name}"
            take(full, value)
            if inspect.isclass(value):
                for member in sorted(dir(value)):
                    take(f"{full}.{member}", inspect.getattr_static(value, member, None))
    return sorted((name, doc) for doc, name in found.items())


def blocks(doc):
    """The indented blocks after a line that ends in `::`."""
    lines = doc.expandtabs().splitlines()
    at = 0
    while at < len(lines):
        opened = BLOCK.match(lines[at].rstrip())
        at += 1
        if not opened:
            continue
        margin = len(lines[at - 1]) - len(lines[at - 1].lstrip())
        body = []
        while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) > margin):
            body.append(lines[at])
            at += 1
        text = textwrap.dedent("\n".join(body)).strip("\n")
        # Options of a directive stand before its content.
        text = re.sub(r"\A(?::[\w-]+:.*\n)+", "", text).strip("\n")
        if text and ">>>" not in text:
            yield text + "\n"


def calls(text):
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    return any(isinstance(node, ast.Call) for node in ast.walk(tree))


def examples(doc):
    doc = inspect.cleandoc(doc)
    try:
        prompts = "".join(example.source for example in doctest.DocTestParser().get_examples(doc))
    except ValueError:
        prompts = ""
    if prompts.strip():
        yield prompts
    for text in blocks(doc):
        if calls(text):
            yield text


def gallery(archive):
    with tarfile.open(archive) as files:
        for entry in sorted(files.getmembers(), key=lambda e: e.name):
            name = entry.name.partition("/galleries/")[2]
            if name.endswith(".py") and "/user_interfaces/" not in name:
                yield name, files.extractfile(entry).read().decode()


def collected(arguments):
    """(set, name, code) of everything asked for."""
    arguments = iter(arguments)
    for package in arguments:
        if package == "--gallery":
            for name, code in gallery(next(arguments)):
                yield "matplotlib's gallery", name, code
            continue
        for name, doc in documented(package):
            for code in examples(doc):
                yield package, name, code


def main():
    # Some modules print when they are imported.
    out, sys.stdout = sys.stdout, sys.stderr
    seen = set()
    left_out = 0
    for source, name, code in collected(sys.argv[1:]):
        if code in seen:
            continue
        seen.add(code)
        try:
            found = touches(name, code)
        except (SyntaxError, ValueError):
            left_out += 1
            continue
        print(json.dumps({"set": source, "name": name, "code": code, "touches": found}), file=out)
    print(json.dumps({"left_out": left_out}), file=out)


main()
