"""Inputs under their names: tables as DataFrames, everything else as plain data."""

import io
import json
from typing import Any

from _countersign.errors import Refused
from _countersign.spec import Input, Mismatch, digest_of, read_all


def load(inputs: list[Input], pandas: Any) -> dict[str, Any]:
    """Every input by its name. `pandas` is None where the environment has none."""
    return {one.name: load_one(one, pandas) for one in inputs}


def load_one(one: Input, pandas: Any) -> Any:
    if digest_of(one.fd) != one.sha256:
        raise Mismatch(f"input {one.name} is not what was shown")
    if one.kind == "table":
        return table(one, pandas)
    text = read_all(one.fd).decode("utf-8", "strict")
    try:
        if one.format == "jsonl":
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused("SnippetError", f"input {one.name} is no {one.format}: {error}") from None


def table(one: Input, pandas: Any) -> Any:
    if pandas is None:
        raise Refused(
            "SandboxError",
            f"input {one.name} is a table, and the Python environment has no pandas",
        )
    separator = "\t" if one.format == "tsv" else ","
    with io.open(one.fd, "rb") as file:
        try:
            return pandas.read_csv(file, sep=separator)
        except (ValueError, pandas.errors.ParserError) as error:
            raise Refused("SnippetError", f"input {one.name} is no {one.format}: {error}") from None
