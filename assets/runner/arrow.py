"""What pyarrow takes at a file's or a caller's word, looked at before compiled code goes by it: where texts
and lists lie in its buffers, positions that are taken, memory of others that a buffer stands on.
"""

from __future__ import annotations

import functools
from types import FunctionType

from _countersign import loaded, memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from _countersign.gates import Gates


# Module → what reads a file that the snippet may have written itself.
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
    """pyarrow takes what it is told to, or looks whether it is there: here it looks."""
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
    """A file says where its texts lie, and pyarrow believes it."""
    # All of them read through this one: `read_table`, `read_feather` and what pandas has of both.
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
            # Whoever made a class of it already has its way of making objects.
            owner: Any = next(one for one in found.__mro__ if "__init__" in vars(one))
            owner.__init__ = memory.sourced(owner.__init__, 1)
            continue
        own = memory.sourced(found)
        gates.narrow.instead[id(found)] = own
        # Compiled classes stay what they are for pyarrow itself.
        if not isinstance(found, type):
            setattr(module, name, own)


def streams(module: Any, gates: Gates) -> None:
    """Buffers over memory of others, and writing to buffers that arrays stand on."""
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
    """What C++ reads from it by itself is whole too."""

    def batches() -> Any:
        for batch in reader:
            batch.validate(full=True)
            yield batch

    return module.RecordBatchReader.from_batches(reader.schema, batches())


def complete(plain: Any) -> Any:
    """A way to read, which gives what is whole."""

    @functools.wraps(plain)
    def read(*args: Any, **kwargs: Any) -> Any:
        found = plain(*args, **kwargs)
        (found[0] if isinstance(found, tuple) else found).validate(full=True)
        return found

    return read


def formats(module: Any, gates: Gates) -> None:
    """A data set of feather files is read, filtered and joined by C++ alone."""

    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        raise ValueError("nobody checks a data set of feather files: use pyarrow.feather.read_table")

    plain = module._ensure_format

    def _ensure_format(found: Any) -> Any:
        made = plain(found)
        return refused() if isinstance(made, module.IpcFileFormat) else made

    module._ensure_format = _ensure_format
    gates.narrow.instead[id(module.IpcFileFormat)] = refused
