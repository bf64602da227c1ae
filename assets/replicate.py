"""Runs the code of a kept run again for its user. Nothing here confines or filters the code.

Started with `-c` by `countersign replicate`, in the user's own Python; the argument is the job.
"""

import ast
import csv
import json
import sys
from pprint import pprint
from typing import Any, NoReturn

# Libraries that are bound for the snippet beforehand.
SHORT = {"pd": "pandas", "np": "numpy"}


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


def rows(one: dict[str, str]) -> Any:
    """An input as the contract `walled` gives it: a table is a list of rows, all cells text."""
    if one["format"] not in ("csv", "tsv"):
        return load(one)
    with open(one["path"], encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if one["format"] == "tsv" else ","))


def plain(value: Any) -> Any:
    """An input as the contract `chart` gives it: a table is a list of rows."""
    to_json = getattr(value, "to_json", None)
    return value if to_json is None else json.loads(to_json(orient="records", date_format="iso"))


def table(path: str, form: str) -> Any:
    try:
        import pandas
    except ImportError as error:
        leave(f"it was given a table, and this Python cannot import pandas ({error})")

    if form == "parquet":
        return pandas.read_parquet(path)
    if form == "arrow":
        import pyarrow

        try:
            return pyarrow.ipc.open_file(path).read_pandas()
        except pyarrow.ArrowInvalid:
            return pyarrow.ipc.open_stream(path).read_pandas()
    return pandas.read_csv(path, sep="\t" if form == "tsv" else ",")


def leave(why: str) -> NoReturn:
    sys.exit(f"error: {why}\n{sys.executable} ran it; name a Python that has the libraries with `--python PATH`")


def given(job: dict[str, Any]) -> dict[str, Any]:
    """The names that the contract gives, as far as they make sense outside a run."""
    reader = rows if job["contract"] == "walled" else load
    values = {one["name"]: reader(one) for one in job["inputs"]}
    names: dict[str, Any] = {"__name__": "__main__", "__file__": job["file"]}
    for short, module in SHORT.items():
        try:
            names[short] = __import__(module)
        except ImportError:
            pass
    if job["contract"] == "chart":
        return names | {"data": {name: plain(value) for name, value in values.items()}}
    if job["contract"] == "scoped":
        return names | scopes(job, values) | core()
    if job["contract"] == "feature":
        lift = values.pop("lift", {})
        (df,) = values.values()
        return names | {"df": df.drop(columns=lift.get("target", []))}
    return names | values


def core() -> dict[str, Any]:
    """The core functions of the contract `scoped`, without redaction: the user owns the data."""
    levels = ("debug", "info", "warn", "warning", "error")
    least = ["debug"]

    class SecurityError(Exception):
        pass

    def rank(level: str) -> int:
        return levels.index("warning" if level == "warn" else level)

    def log(message: object, level: str = "info") -> None:
        if rank(level) >= rank(least[0]):
            print(f"{level}: {message}", file=sys.stderr)

    def log_level(level: str | None = None) -> str:
        least[0] = level or least[0]
        return least[0]

    def reason(*args: object, **kwargs: object) -> NoReturn:
        raise SecurityError("reason() would ask a language model, and a run reaches none")

    return {"log": log, "log_level": log_level, "reason": reason, "SecurityError": SecurityError}


def scopes(job: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """The scopes of the contract `scoped`, with the inputs in them."""
    hidden = values.pop("private", {})
    shared = values.pop("public", {})
    for one in job["inputs"]:
        if one["private"] and one["name"] in values:
            hidden[one["name"]] = values.pop(one["name"])
    facts = {"profile": job["profile"], "inputs": values}
    made = {"private": hidden, "public": shared, "system": facts, "local": {}}
    return {name: scope(held) for name, held in made.items()}


def scope(values: dict[str, Any]) -> Any:
    """A scope, whose names are attributes and items."""

    class Scope(dict[str, Any]):
        def __getattr__(self, name: str) -> Any:
            try:
                return self[name]
            except KeyError:
                raise AttributeError(name) from None

        def __setattr__(self, name: str, value: Any) -> None:
            self[name] = value

        def __delattr__(self, name: str) -> None:
            try:
                del self[name]
            except KeyError:
                raise AttributeError(name) from None

    return Scope(values)


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    sys.argv = [job["file"]]
    names = given(job)
    before = list(names["df"].columns) if job["contract"] == "feature" else []
    tree = ast.parse(job["code"], job["file"])
    last = None
    if job["contract"] == "analysis" and tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    try:
        exec(compile(tree, job["file"], "exec"), names)  # noqa: S102 - what its user asked to have run
        value = last and eval(compile(last, job["file"], "eval"), names)  # noqa: S307 - the same
    except ModuleNotFoundError as error:
        leave(f"it needs {error.name}, which this Python does not have")
    except NameError as error:
        if error.name not in SHORT or error.name in names:
            raise
        leave(f"it needs {SHORT[error.name]}, which this Python does not have")
    if last is not None and value is not None:
        print(repr(value))
    if job["contract"] == "feature":
        print(names["df"].drop(columns=before, errors="ignore").describe().to_string())
    if job["contract"] == "chart" and "result" in names:
        pprint(names["result"])


main()
