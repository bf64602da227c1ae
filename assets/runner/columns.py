"""New columns of a table: what makes them acceptable, and their form as Arrow bytes.

Used twice: by the child that ran the snippet, which nobody trusts, and by the fresh process that certifies the
bytes which that child handed over.
"""

from __future__ import annotations

from types import ModuleType

from _countersign import files
from _countersign.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Agents may rely on the exact wording of these messages.
NO_FRAME = "`df` must be a pandas DataFrame"
NO_COLUMN = "`df` has no new column"
NOT_NUMERIC = "the new column `{}` is not numeric"
TWICE = "the new column `{}` is there twice"
UNREADABLE = "the new columns cannot be read back"
TOO_LARGE = (
    "the new columns have {} bytes as Arrow, and at most {} are handed back: leave fewer columns "
    "or rows, or a smaller type such as float32"
)

# The file in the output folder in which columns are handed over, and its maximum size: the log keeps no more bytes.
FILE = "columns.arrow"
BYTES_MAX = 64 << 20


def violation(message: str) -> Refused:
    return Refused("ContractViolation", message)


def to_arrow(frame: Any, known: list[str], pandas: ModuleType, arrow: ModuleType) -> bytes:
    """The new columns of the table that the snippet left, as an Arrow stream."""
    if not isinstance(frame, pandas.DataFrame):
        raise violation(NO_FRAME)
    names = [str(name) for name in frame.columns]
    places = [at for at, name in enumerate(names) if name not in known]
    if not places:
        raise violation(NO_COLUMN)
    arrays = []
    for at in places:
        series = frame.iloc[:, at]
        if not pandas.api.types.is_numeric_dtype(series.dtype):
            raise violation(NOT_NUMERIC.format(names[at]))
        try:
            # Arrow tells null from NaN; here both mean missing.
            arrays.append(arrow.array(series, from_pandas=True))
        except (arrow.ArrowException, TypeError, ValueError):
            raise violation(NOT_NUMERIC.format(names[at])) from None
    table = arrow.Table.from_arrays(arrays, names=[names[at] for at in places])
    return stream(table, arrow)


def stream(table: Any, arrow: ModuleType) -> bytes:
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def hand_over(raw: bytes, most: int) -> None:
    """Writes the columns into their file; `most` is the policy's limit for a file, in bytes."""
    most = min(most, BYTES_MAX)
    if len(raw) > most:
        raise violation(TOO_LARGE.format(len(raw), most))
    files.leave(FILE, raw)


def certified(raw: bytes, known: list[str], numpy: ModuleType, arrow: ModuleType) -> Any:
    """The table in the bytes of an untrusted process, if it keeps the contract.

    Checked in this order: a table, a new column, each numeric, each finite. Finite means: ±inf
    becomes missing, so that every value is a finite number or missing.
    """
    try:
        with arrow.ipc.open_stream(raw) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (arrow.ArrowException, ValueError, OSError, TypeError):
        raise violation(UNREADABLE) from None
    names = table.column_names
    places = [at for at, name in enumerate(names) if name not in known]
    if not places:
        raise violation(NO_COLUMN)
    for at in places:
        if names.count(names[at]) > 1:
            raise violation(TWICE.format(names[at]))
    numeric = arrow.types
    arrays = []
    for at in places:
        column = table.column(at).combine_chunks()
        kind = column.type
        if numeric.is_floating(kind):
            arrays.append(finite(column, numpy, arrow))
        elif numeric.is_integer(kind) or numeric.is_boolean(kind) or numeric.is_decimal(kind):
            arrays.append(column)
        else:
            raise violation(NOT_NUMERIC.format(names[at]))
    return arrow.Table.from_arrays(arrays, names=[names[at] for at in places])


def finite(column: Any, numpy: ModuleType, arrow: ModuleType) -> Any:
    """The column, with every value that is not a finite number turned into missing."""
    values = column.to_numpy(zero_copy_only=False)
    return arrow.array(values, type=column.type, mask=~numpy.isfinite(values))


def described(table: Any) -> list[dict[str, Any]]:
    """The description of each column in the result."""
    return [
        {"name": name, "dtype": str(column.type), "missing": column.null_count}
        for name, column in zip(table.column_names, table.columns)
    ]
