"""Which files exist for libraries that run for a snippet: the output folder, and what they need.

`open` of the snippet knows relative names only; this is about the paths that it hands to libraries
(`to_csv`, `savefig`, `read_parquet`). Python code opens files through `open`, which goes to the
output folder by its descriptor for relative names; an audit hook, which nothing can take off, refuses
every other place. pyarrow opens files in C++ where no hook sees it: what takes a path there
is wrapped when its module is loaded, and methods of its objects that do (`make_fragment`,
`from_paths`, everything of a `filesystem`) are denied by the policy's attributes.
"""

from __future__ import annotations

import builtins
import functools
import io
import os
import sys
from types import ModuleType

from _countersign import files, loaded, opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

# What libraries read besides their own files: time zones, fonts, how large the machine is, and which
# libraries are loaded (threadpoolctl, whom half of scikit-learn asks).
READABLE = (
    "/usr/share/zoneinfo",
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/dev/null",
    "/dev/urandom",
    "/dev/random",
    "/dev/zero",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/self/maps",
    "/proc/self/status",
    "/proc/self/statm",
    "/proc/self/cgroup",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
)

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

# Changes to the file system, with how many of their arguments are paths.
CHANGES = {
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.mkdir": 1,
    "os.truncate": 1,
    "os.chmod": 1,
    "os.utime": 1,
    "shutil.rmtree": 1,
    "shutil.copyfile": 2,
    "shutil.move": 2,
}

# What no library does for an honest snippet.
NEVER = frozenset(
    "os.chdir os.link os.symlink os.chown os.setxattr os.removexattr os.system os.exec "
    "os.posix_spawn os.spawn subprocess.Popen pty.spawn socket.connect socket.bind "
    "socket.sendto socket.getaddrinfo webbrowser.open ctypes.dlsym/handle".split()
)


class Zone:
    """The places, fixed when it is made."""

    def __init__(self, own: Sequence[str]) -> None:
        home = os.environ.get("HOME", "")
        # Caches of libraries and temporary files; no output.
        self.writable = tuple(inside(path) for path in (home,) if path)
        self.output = inside(os.getcwd())
        roots = [*own, sys.base_prefix, sys.prefix, *READABLE]
        self.readable = self.writable + tuple(inside(path) for path in roots if path)
        self.whole = frozenset(READABLE)

    def may(self, path: Any, writes: bool) -> bool:
        if isinstance(path, int):
            # A descriptor: whoever opened it was asked.
            return True
        text = os.fsdecode(path)
        if files.segments(text.rstrip("/")) is not None:
            return True
        full = os.path.abspath(text)
        if full.startswith(self.output):
            return files.segments(full.removeprefix(self.output)) is not None
        if full in self.whole and not writes:
            return True
        return inside(full).startswith(self.writable if writes else self.readable)

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = args
            writes = isinstance(flags, int) and flags & WRITES != 0
            if not self.may(path, writes):
                raise files.refused(path)
        elif event in CHANGES:
            for path in args[: CHANGES[event]]:
                if not self.may(path, True):
                    raise files.refused(path)
        elif event in NEVER:
            raise files.refused_call(event)


def inside(path: str) -> str:
    return os.path.join(os.path.abspath(path), "")


_zone: Zone | None = None


def ready(own: Sequence[str]) -> Zone:
    """Everything that closing takes but the closing, once in a process and its forks. `own`: where
    the libraries' own files are."""
    global _zone
    if _zone is None:
        _zone = Zone(own)
        loaded.change(PATHS, wrap)
        loaded.change(["mimetypes"], without_lists)
    return _zone


def without_lists(module: ModuleType) -> None:
    """The kinds of files that Python itself knows; who asks for them, as openpyxl does, reads none of
    the machine's own lists."""
    module.knownfiles.clear()


def close(own: Sequence[str]) -> None:
    """Closes the zone for the rest of the process."""
    zone = ready(own)
    sys.addaudithook(zone.hook)
    builtins.open = io.open = by_descriptor(opened.open_)


def by_descriptor(plain_open: Callable[..., Any]) -> Callable[..., Any]:
    """`open` for libraries: relative names are opened in the output folder, whatever the working
    directory is, and never through a link."""

    @functools.wraps(plain_open)
    def open_(file: Any, *args: Any, **kwargs: Any) -> Any:
        if "opener" not in kwargs and len(args) < 7 and not isinstance(file, int):
            try:
                name = os.fsdecode(file)
            except TypeError:
                name = ""
            if files.segments(name) is not None:
                return plain_open(file, *args, opener=files._beneath, **kwargs)
        return plain_open(file, *args, **kwargs)

    return open_


# Module → what takes a path there, at which place and by which name. None: a folder, always.
PATHS: dict[str, dict[str, tuple[int, str] | None]] = {
    "pyarrow": {
        "OSFile": (0, "path"),
        "memory_map": (0, "path"),
        "create_memory_map": (0, "path"),
        "input_stream": (0, "source"),
        "output_stream": (0, "source"),
        "RecordBatchFileReader": (0, "source"),
        "RecordBatchStreamReader": (0, "source"),
        "RecordBatchFileWriter": (0, "sink"),
        "RecordBatchStreamWriter": (0, "sink"),
    },
    "pyarrow.csv": {
        "read_csv": (0, "input_file"),
        "open_csv": (0, "input_file"),
        "write_csv": (1, "output_file"),
        "CSVWriter": (0, "sink"),
    },
    "pyarrow.json": {"read_json": (0, "input_file"), "open_json": (0, "input_file")},
    "pyarrow.feather": {
        "write_feather": (1, "dest"),
        "read_feather": (0, "source"),
        "read_table": (0, "source"),
    },
    "pyarrow.orc": {
        "write_table": (1, "where"),
        "read_table": (0, "source"),
        "ORCFile": (0, "source"),
        "ORCWriter": (0, "where"),
    },
    "pyarrow.parquet": {
        "write_table": (1, "where"),
        "write_metadata": (1, "where"),
        "ParquetWriter": (0, "where"),
        "read_table": (0, "source"),
        "read_pandas": (0, "source"),
        "read_schema": (0, "where"),
        "read_metadata": (0, "where"),
        "ParquetFile": (0, "source"),
        "ParquetDataset": (0, "path_or_paths"),
        "write_to_dataset": None,
    },
    "pyarrow.dataset": {
        "dataset": (0, "source"),
        "parquet_dataset": None,
        "write_dataset": None,
        "FileSystemDatasetFactory": None,
        "ParquetDatasetFactory": None,
    },
}


def wrap(module: ModuleType) -> None:
    """Puts the check before everything of the module that takes a path."""
    for name, place in PATHS[module.__name__].items():
        found = getattr(module, name, None)
        if found is None or getattr(found, "zoned", False):
            continue
        setattr(module, name, checked(found, place))


def checked(found: Any, place: tuple[int, str] | None) -> Any:
    def check(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if place is None:
            raise files.refused(args[0] if args else found.__name__)
        at, name = place
        value = kwargs.get(name, args[at] if len(args) > at else None)
        for path in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(path, (str, bytes, os.PathLike)):
                if files.segments(os.fsdecode(path)) is None:
                    raise files.refused(path)

    if isinstance(found, type):
        plain = found.__new__ is object.__new__

        def new(cls: type, *args: Any, **kwargs: Any) -> Any:
            check(args, kwargs)
            return found.__new__(cls) if plain else found.__new__(cls, *args, **kwargs)

        try:
            return type(found)(
                found.__name__, (found,), {"__new__": new, "__module__": found.__module__, "zoned": True}
            )
        except TypeError:
            # A class that takes no subclasses; its name then stands for a function.
            pass

    @functools.wraps(found)
    def call(*args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        return found(*args, **kwargs)

    call.zoned = True  # type: ignore[attr-defined]
    return call
