"""Tables as Arrow: converted once, mapped by every run that reads them.

A reader must get exactly the frame that pandas made of the file: same dtypes, same index, same kind of every missing
value. A frame that Arrow cannot carry so exactly is not handed over.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Schema key: missing values are `nan` even in text columns, where Arrow knows only null.
NAN = b"countersign.nan"

# With more columns, working on a frame of separate columns costs more than copying them into one block.
SEPARATE_MAX = 90

# Bytes below which starting threads takes longer than their work.
THREADS_FROM = 64 << 20


def to_arrow(frame: Any, pandas: Any, nan: bool) -> Any:
    """A table of one batch, or None for a frame that Arrow cannot hold exactly."""
    import pyarrow

    try:
        table = pyarrow.Table.from_pandas(frame, preserve_index=None, nthreads=1)
        for at, (name, dtype) in enumerate(frame.dtypes.items()):
            if dtype.kind == "f" and hasattr(dtype, "isnative"):
                # nan stays nan instead of null: only a column without nulls can be read in place.
                values = pyarrow.array(frame[name].to_numpy(), from_pandas=False)
                table = table.set_column(at, table.schema.field(at), values)
        if nan:
            table = table.replace_schema_metadata({**(table.schema.metadata or {}), NAN: b"1"})
        table = table.combine_chunks()
        return table if is_same(from_arrow(table, None), frame) else None
    except (pyarrow.ArrowException, ValueError, TypeError, KeyError, AttributeError):
        return None


def is_same(one: Any, other: Any) -> bool:
    """Stricter than `equals`, which treats None and nan as the same."""
    if not (one.dtypes.equals(other.dtypes) and one.index.equals(other.index)):
        return False
    if type(one.index) is not type(other.index) or not one.equals(other):
        return False
    if list(map(type, one.columns)) != list(map(type, other.columns)):
        return False
    objects = [name for name, dtype in other.dtypes.items() if dtype == object]  # noqa: E721 - a dtype
    return all((one[name].map(type) == other[name].map(type)).all() for name in objects)


def mapped(fd: int, pandas: Any) -> Any:
    """The frame in a sealed memory file. Processes share its pages until one writes to them: a written page becomes
    that process's own copy, so the frame can be changed."""
    import mmap

    return opened(mmap.mmap(fd, 0, access=mmap.ACCESS_COPY))


def opened(mapping: Any) -> Any:
    """The frame in a mapping."""
    import pyarrow

    options = pyarrow.ipc.IpcReadOptions(use_threads=len(mapping) >= THREADS_FROM)
    table = pyarrow.ipc.open_file(pyarrow.py_buffer(mapping), options=options).read_all()
    return from_arrow(table, mapping)


def from_arrow(table: Any, mapping: Any) -> Any:
    """The frame of a table. Numeric columns without nulls stay in place in `mapping`."""
    import pandas

    threads = table.nbytes >= THREADS_FROM
    metadata = table.schema.metadata or {}
    about = table.schema.pandas_metadata or {}
    index = about.get("index_columns", [])
    plain = len(index) == 1 and isinstance(index[0], dict) and index[0].get("kind") == "range"
    names = table.column_names
    if mapping is None or not plain or len(names) > SEPARATE_MAX or len(set(names)) < len(names):
        frame = table.to_pandas(use_threads=threads)
    else:
        columns = {}
        for at, name in enumerate(names):
            column = table.column(at)
            found = in_place(column, mapping)
            columns[name] = column.to_pandas(use_threads=threads) if found is None else found
        first = index[0]
        rows = pandas.RangeIndex(first["start"], first["stop"], first["step"], name=first["name"])
        for column in columns.values():
            if isinstance(column, pandas.Series):
                column.index = rows
        frame = pandas.DataFrame(columns, index=rows, copy=False)
    if NAN in metadata:
        for name, dtype in frame.dtypes.items():
            if dtype == object and missing(table, name):  # noqa: E721 - a dtype
                values = frame[name].to_numpy(copy=True)
                values[frame[name].isna().to_numpy()] = float("nan")
                frame[name] = values
    return frame


def missing(table: Any, name: Any) -> bool:
    """Whether the column may have missing values, by its null count: inspecting every value takes long."""
    at = table.schema.get_all_field_indices(str(name))
    return len(at) != 1 or table.column(at[0]).null_count > 0


def in_place(column: Any, mapping: Any) -> Any:
    """A numeric column without nulls as an array on the mapping itself, else None. pyarrow's own array would be
    read-only, and a snippet may change its frame."""
    import numpy
    import pyarrow

    kind = column.type
    numeric = pyarrow.types.is_integer(kind) or kind in (pyarrow.float32(), pyarrow.float64())
    if not numeric or column.null_count or column.num_chunks != 1:
        return None
    chunk = column.chunk(0)
    buffer = chunk.buffers()[1]
    if buffer is None or len(chunk) == 0:
        return None
    dtype = numpy.dtype(kind.to_pandas_dtype())
    start = buffer.address - pyarrow.py_buffer(mapping).address + chunk.offset * dtype.itemsize
    return numpy.frombuffer(mapping, dtype, len(chunk), start)
