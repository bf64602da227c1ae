"""Cuts functions out of the standard library and pandas, the same ones each time.

    python slice.py FOLDER COUNT BYTES

Half of COUNT come from each; every n-th function in the order of paths and lines, dedented, if it
is Python by itself. FOLDER/functions/ gets a file for each, FOLDER/large.py further ones one after
another, BYTES in all.
"""

import ast
import json
import pathlib
import sys
import sysconfig
import textwrap

SKIPPED = {"test", "tests", "idlelib", "lib2to3", "site-packages", "__pycache__", "ensurepip", "turtledemo"}


def functions(root):
    found = []
    for path in sorted(root.rglob("*.py")):
        if SKIPPED & set(path.relative_to(root).parts):
            continue
        try:
            source = path.read_bytes().decode()
            tree = ast.parse(source)
        except (SyntaxError, UnicodeDecodeError):
            continue
        lines = source.splitlines(keepends=True)
        for node in ast.walk(tree):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found.append((str(path.relative_to(root)), first, lines, node.end_lineno))
    found.sort(key=lambda f: f[:2])
    return found


def text(function):
    _, first, lines, last = function
    code = textwrap.dedent("".join(lines[first - 1 : last])).rstrip() + "\n"
    try:
        ast.parse(code)
    except SyntaxError:
        return None
    return code


def every(found, count):
    """`count` of them that stand alone, evenly spread."""
    kept = [code for code in map(text, found) if code]
    return [kept[i * len(kept) // count] for i in range(count)], kept


def main():
    folder, count, size = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    paths = sysconfig.get_paths()
    standard, standard_all = every(functions(pathlib.Path(paths["stdlib"])), count // 2)
    pandas, pandas_all = every(functions(pathlib.Path(paths["purelib"]) / "pandas"), count - count // 2)
    (folder / "functions").mkdir(parents=True)
    for number, code in enumerate(standard + pandas):
        (folder / "functions" / f"f{number:04}.py").write_text(code, encoding="utf-8", newline="")
    large, length = [], 0
    for code in standard_all + pandas_all:
        if length + len(code.encode()) + 1 > size:
            break
        large.append(code)
        length += len(code.encode()) + 1
    (folder / "large.py").write_text("\n".join(large), encoding="utf-8", newline="")
    print(json.dumps({"standard": len(standard_all), "pandas": len(pandas_all)}))


main()
