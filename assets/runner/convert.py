"""Describes one data set and turns it into Arrow. Runs no snippet: only the file is untrusted.

The report gets the description; standard output gets the Arrow bytes.
"""

import os
import re
from types import ModuleType
from typing import Any

from _countersign import errors, frames, inputs, spec, summary

# A person cannot judge a table with more columns.
COLUMNS_MAX = 10_000
# Rows of plain data that are read for names and types.
LOOKED_AT = 1_000
# Cells of a table that are looked at for text. Nothing is said about the texts of a larger one.
CELLS_MAX = 3_000_000
# What no number, also no complex one, `nan` or `infinity`, can have in it, however many texts are put together: other
# letters and signs, or a date. `float` reads digits of all scripts.
WORD = re.compile(r"[^\W\d_eEnNaAiIfFtTyYjJ]|[!-'*,/:-@\[-^`{-~]|\d-\d+-\d")


def run(setup: spec.Setup, libraries: dict[str, ModuleType]) -> dict[str, Any]:
    """`{columns: [{name, dtype}], texts, rows, frame, summary}`; `frame` says whether Arrow was written."""
    one = spec.read_job(setup).inputs[0]
    pandas: Any = libraries.get("pandas")
    value = inputs.load_one(one, pandas)
    if one.kind != "table":
        columns, rows = plain(value)
        names = [name for name, _ in columns]
        records = value if isinstance(value, list) else [value]
        said = summary.of_records(records, names, one.private)
        return {"columns": limited(columns), "rows": rows, "frame": False, "summary": said}
    columns = [(str(name), str(dtype)) for name, dtype in value.dtypes.items()]
    written = write(value, pandas, one.format in ("csv", "tsv"), setup.convert)
    return {
        "columns": limited(columns),
        "texts": texts(value),
        "rows": len(value),
        "frame": written,
        "summary": summary.of_table(value, one.private),
    }


def texts(frame: Any) -> list[str]:
    """The columns in which more than three quarters of the rows have a text that no number can be part of."""
    objects = [at for at, dtype in enumerate(frame.dtypes) if str(dtype) == "object"]
    if len(frame) * len(objects) > CELLS_MAX:
        return []

    def wordy(cells: Any) -> bool:
        known: dict[str, bool] = {}
        found = 0
        for cell in cells:
            if isinstance(cell, str):
                if cell not in known:
                    known[cell] = WORD.search(cell) is not None
                found += known[cell]
        return found * 4 > len(cells) * 3

    return [str(frame.columns[at]) for at in objects if wordy(frame.iloc[:, at].tolist())]


def limited(columns: list[tuple[str, str]]) -> list[dict[str, str]]:
    if len(columns) > COLUMNS_MAX:
        raise errors.Refused("SnippetError", f"it has more than {COLUMNS_MAX} columns")
    return [{"name": name, "dtype": dtype} for name, dtype in columns]


def write(frame: Any, pandas: Any, nan: bool, most: int) -> bool:
    """Writes the frame as Arrow. False if it cannot, so that each run reads the file itself."""
    try:
        import pyarrow
    except ImportError:
        return False
    table = frames.to_arrow(frame, pandas, nan)
    if table is None or size(table) > most:
        return False
    with os.fdopen(os.dup(1), "wb") as sink, pyarrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return True


def size(table: Any) -> int:
    """Size of the table as a file, in bytes."""
    import pyarrow

    counted = pyarrow.MockOutputStream()
    with pyarrow.ipc.new_file(counted, table.schema) as writer:
        writer.write_table(table)
    written: int = counted.size()
    return written


def plain(value: Any) -> tuple[list[tuple[str, str]], int]:
    """Names and types of the fields of plain data: a list of objects, or one object."""
    records = value if isinstance(value, list) else [value]
    seen: dict[str, set[str]] = {}
    for record in records[:LOOKED_AT]:
        if isinstance(record, dict):
            for name, cell in record.items():
                seen.setdefault(name, set()).add(kind(cell))
    return [(name, dtype(kinds)) for name, kinds in seen.items()], len(records)


def kind(cell: Any) -> str:
    names = {bool: "bool", int: "int64", float: "float64", type(None): "null"}
    return names.get(type(cell), "object")


def dtype(kinds: set[str]) -> str:
    known = kinds - {"null"}
    if (known == {"int64"} and "null" in kinds) or known == {"int64", "float64"}:
        return "float64"
    if len(known) == 1 and not ("null" in kinds and known == {"bool"}):
        return known.pop()
    return "object"
