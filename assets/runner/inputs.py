"""Inputs under their names: tables as DataFrames, everything else as plain data, text or bytes."""

from __future__ import annotations

import json

from _countersign import frames
from _countersign.errors import Refused
from _countersign.spec import Input, Mismatch, digest_of, read_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load(inputs: list[Input], pandas: Any) -> dict[str, Any]:
    """Every input by its name. `pandas` is None where the environment has none."""
    return {one.name: load_one(one, pandas) for one in inputs}


def load_one(one: Input, pandas: Any) -> Any:
    if one.kind == "frame":
        # The converter made it from the content that was shown, and it is sealed since: no digest to compare.
        return frames.mapped(one.fd, pandas)
    if one.kind == "table":
        check(one)
        return table(one, pandas)
    if one.kind == "bytes":
        check(one)
        return read_all(one.fd)
    return data(one, text(one))


def check(one: Input) -> None:
    """Raises if the content is not the content that was shown."""
    if digest_of(one.fd) != one.sha256:
        raise Mismatch(f"input {one.name} is not what was shown")


def text(one: Input) -> str:
    """The whole content as text. Raises if it is not the content that was shown."""
    check(one)
    return read_all(one.fd).decode("utf-8", "strict")


def data(one: Input, text: str) -> Any:
    """Plain data parsed from JSON; other text unchanged."""
    if one.kind == "text":
        return text
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
    with open(one.fd, "rb") as file:
        try:
            return read_table(file, one.format, pandas)
        except ImportError:
            raise Refused(
                "SandboxError",
                f"input {one.name} is {one.format}, and the Python environment has no pyarrow",
            ) from None
        except (ValueError, OSError, pandas.errors.ParserError) as error:
            raise Refused("SnippetError", f"input {one.name} is no {one.format}: {error}") from None


def read_table(file: Any, format_: str, pandas: Any) -> Any:
    if format_ == "parquet":
        return pandas.read_parquet(file)
    if format_ == "arrow":
        import pyarrow

        start = file.read(6)
        file.seek(0)
        opener = pyarrow.ipc.open_file if start == b"ARROW1" else pyarrow.ipc.open_stream
        return opener(file).read_pandas()
    return pandas.read_csv(file, sep="\t" if format_ == "tsv" else ",")
