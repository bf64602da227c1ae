"""Checks what pyarrow would trust a file or a caller for, before compiled code uses it: offsets of texts and lists
in its buffers, positions to take, and foreign memory below a buffer.
"""

from __future__ import annotations

import functools
from types import FunctionType

from _countersign import loaded, memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from _countersign.gates import Gates


# Module → functions and classes that read a file. The snippet may have written that file itself.
READS = {
    "pyarrow": ("CompressedInputStream", "PythonFile", "input_stream"),
    "pyarrow.csv": ("open_csv", "read_csv"),
    "pyarrow.feather": ("_read_table_internal",),
    "pyarrow.ipc": ("RecordBatchFileReader", "RecordBatchStreamReader"),
    "pyarrow.json": ("open_json", "read_json"),
    "pyarrow.orc": ("ORCFile",),
    "pyarrow.parquet.core": ("ParquetDataset", "ParquetFile"),
}


def close(gates: Gates) -> None:
    loaded.change(["pyarrow.compute"], bounds)
    loaded.change(["pyarrow"], lambda module: streams(module, gates))
    loaded.change(READS, lambda module: sources(module, gates))
    loaded.change(["pyarrow.feather"], whole)
    loaded.change(["pyarrow.dataset"], lambda module: formats(module, gates))


def bounds(compute: Any) -> None:
    """`take` with bounds checks always on: pyarrow lets its caller switch them off."""
    found = compute.TakeOptions

    class TakeOptions(found):  # type: ignore[misc,valid-type]  # a class of whatever pyarrow has there
        def __init__(self, *, boundscheck: bool = True) -> None:
            super().__init__(boundscheck=True)

    handle = compute._handle_options

    @functools.wraps(handle)
    def handled(name: Any, options_class: Any, options: Any, args: Any, kwargs: Any) -> Any:
        made = handle(name, options_class, options, args, kwargs)
        return TakeOptions() if isinstance(made, found) else made

    compute.TakeOptions, compute._handle_options = TakeOptions, handled


def whole(feather: Any) -> None:
    """Validates tables read from feather files: pyarrow trusts the text offsets in the file."""
    # All readers go through this function: `read_table`, `read_feather` and pandas' wrappers of both.
    plain = feather._read_table_internal

    @functools.wraps(plain)
    def _read_table_internal(*args: Any, **kwargs: Any) -> Any:
        table = plain(*args, **kwargs)
        table.validate(full=True)
        return table

    feather._read_table_internal = _read_table_internal


def sources(module: Any, gates: Gates) -> None:
    for name in READS[module.__name__]:
        found = getattr(module, name)
        if isinstance(found, type) and isinstance(found.__init__, FunctionType):  # type: ignore[misc]  # it is asked what it is
            # Subclasses exist already and inherit this `__init__`, so it is wrapped in place.
            owner: Any = next(one for one in found.__mro__ if "__init__" in vars(one))
            owner.__init__ = memory.sourced(owner.__init__, 1)
            continue
        own = memory.sourced(found)
        gates.narrow.instead[id(found)] = own
        # pyarrow itself keeps its compiled classes.
        if not isinstance(found, type):
            setattr(module, name, own)


def streams(module: Any, gates: Gates) -> None:
    """Guards buffers over foreign memory, and writes to buffers below arrays."""
    given = gates.narrow.instead
    py_buffer, output_stream = module.py_buffer, module.output_stream
    given[id(py_buffer)] = lambda obj: py_buffer(memory.seen(obj))

    @functools.wraps(output_stream)
    def stream(source: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(source, (module.Buffer, memoryview)):
            raise ValueError("a buffer of pyarrow stays what it is: use BufferOutputStream")
        return output_stream(source, *args, **kwargs)

    given[id(output_stream)] = stream
    given[id(module.RecordBatchStreamReader)] = lambda *args, **kwargs: checked(
        module, module.RecordBatchStreamReader(*args, **kwargs)
    )
    for reader in (module.RecordBatchFileReader, module.RecordBatchStreamReader):
        for name in ("get_batch", "get_batch_with_custom_metadata", "get_record_batch", "read_all"):
            if hasattr(reader, name):
                setattr(reader, name, complete(getattr(reader, name)))


def checked(module: Any, reader: Any) -> Any:
    """A reader whose batches are validated, also when C++ pulls them by itself."""

    def batches() -> Any:
        for batch in reader:
            batch.validate(full=True)
            yield batch

    return module.RecordBatchReader.from_batches(reader.schema, batches())


def complete(plain: Any) -> Any:
    """The read function, with its result validated."""

    @functools.wraps(plain)
    def read(*args: Any, **kwargs: Any) -> Any:
        found = plain(*args, **kwargs)
        (found[0] if isinstance(found, tuple) else found).validate(full=True)
        return found

    return read


def formats(module: Any, gates: Gates) -> None:
    """Refuses data sets of feather files: C++ alone reads, filters and joins them, so nothing could validate them."""

    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        raise ValueError("nobody checks a data set of feather files: use pyarrow.feather.read_table")

    plain = module._ensure_format

    def _ensure_format(found: Any) -> Any:
        made = plain(found)
        return refused() if isinstance(made, module.IpcFileFormat) else made

    module._ensure_format = _ensure_format
    gates.narrow.instead[id(module.IpcFileFormat)] = refused
