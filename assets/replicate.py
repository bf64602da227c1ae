"""Runs the code of a kept run for its user: nothing here confines or filters anything.

Started with `-c` by `countersign replicate`, in the user's own Python; the argument is the job.
"""

import ast
import json
import sys
from pprint import pprint
from typing import Any


def load(one: dict[str, str]) -> Any:
    """An input's content: tables as DataFrames, the rest as plain data."""
    path, form = one["path"], one["format"]
    if form in ("csv", "tsv", "parquet", "arrow"):
        return table(path, form)
    if form == "bytes":
        with open(path, "rb") as raw:
            return raw.read()
    with open(path, encoding="utf-8") as file:
        if form == "text":
            return file.read()
        if form == "jsonl":
            return [json.loads(line) for line in file if line.strip()]
        return json.load(file)


def table(path: str, form: str) -> Any:
    import pandas

    if form == "parquet":
        return pandas.read_parquet(path)
    if form == "arrow":
        import pyarrow

        try:
            return pyarrow.ipc.open_file(path).read_pandas()
        except pyarrow.ArrowInvalid:
            return pyarrow.ipc.open_stream(path).read_pandas()
    return pandas.read_csv(path, sep="\t" if form == "tsv" else ",")


def given(job: dict[str, Any]) -> dict[str, Any]:
    """The names the contract promises, as far as they make sense outside it."""
    values = {one["name"]: load(one) for one in job["inputs"]}
    names: dict[str, Any] = {"__name__": "__main__", "__file__": job["file"]}
    for module, short in (("pandas", "pd"), ("numpy", "np")):
        try:
            names[short] = __import__(module)
        except ImportError:
            pass
    if job["contract"] == "chart":
        return names | {"data": values}
    if job["contract"] == "scoped":
        from types import SimpleNamespace

        scopes = ("private", "public", "system", "local")
        made: dict[str, Any] = {name: SimpleNamespace() for name in scopes}
        vars(made["private"]).update(values)

        def log(message: object, level: str = "info") -> None:
            print(f"{level}: {message}", file=sys.stderr)

        return names | made | {"log": log}
    return names | values


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    sys.argv = [job["file"]]
    names = given(job)
    tree = ast.parse(job["code"], job["file"])
    last = None
    if job["contract"] == "analysis" and tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    exec(compile(tree, job["file"], "exec"), names)
    if last is not None:
        value = eval(compile(last, job["file"], "eval"), names)
        if value is not None:
            print(repr(value))
    if job["contract"] == "chart" and "result" in names:
        pprint(names["result"])


main()
