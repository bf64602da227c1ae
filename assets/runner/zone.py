"""Which files libraries may use on the snippet's behalf: the output folder, and what the libraries need.

The snippet's `open` knows relative names only; this file guards paths that the snippet passes to libraries
(`to_csv`, `savefig`, `read_parquet`). Python code opens files through `open`, which opens relative names through the
output folder's descriptor; an audit hook, which cannot be removed, refuses every other place. pyarrow opens files in
C++, where no hook sees it: its functions that take a path are wrapped when their module is loaded, and the policy's
denied attributes cover methods of its objects that do (`make_fragment`, `from_paths`, everything of a `filesystem`).
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

# Files that libraries read besides their own: time zones, fonts, the size of the machine, and the list of loaded
# libraries (for threadpoolctl, which half of scikit-learn uses).
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

# Audit events that change the file system → how many of their arguments are paths.
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

# Audit events that read the names in a folder.
LISTS = frozenset(("os.listdir", "os.scandir"))

# Audit events that no library causes for an honest snippet.
NEVER = frozenset(
    "os.chdir os.link os.symlink os.chown os.setxattr os.removexattr os.system os.exec "
    "os.posix_spawn os.spawn subprocess.Popen pty.spawn socket.connect socket.bind "
    "socket.sendto socket.getaddrinfo webbrowser.open ctypes.dlsym/handle".split()
)


class Zone:
    """The allowed places, fixed when it is made."""

    def __init__(self, own: Sequence[str]) -> None:
        home = os.environ.get("HOME", "")
        # Caches of libraries and temporary files, which are not output.
        self.writable = tuple(inside(path) for path in (home,) if path)
        self.output = inside(os.getcwd())
        roots = [*own, sys.base_prefix, sys.prefix, *READABLE]
        self.readable = self.writable + tuple(inside(path) for path in roots if path)
        self.whole = frozenset(READABLE)

    def may(self, path: Any, writes: bool) -> bool:
        if isinstance(path, int):
            # A descriptor: opening it was checked then, but the runner's own are off limits.
            return not is_held(int.__add__(path, 0))
        text = plain(path)
        if files.segments(text.rstrip("/")) is not None:
            return True
        full = os.path.abspath(text)
        if full.startswith(self.output):
            return files.segments(full.removeprefix(self.output)) is not None
        if full in self.whole and not writes:
            return True
        return inside(full).startswith(self.writable if writes else self.readable)

    def lists(self, path: Any) -> bool:
        """Whether the names in a folder may be read."""
        if path is None or isinstance(path, int):
            # The output folder is the only folder that the runner holds open.
            return True
        full = inside(plain(path) or ".")
        return full.startswith(self.output) or self.may(path, False)

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = args
            writes = isinstance(flags, int) and flags & WRITES != 0
            if not self.may(path, writes):
                raise files.refused(path)
        elif event in LISTS:
            if not self.lists(args[0] if args else "."):
                raise files.refused(args[0])
        elif event in CHANGES:
            for path in args[: CHANGES[event]]:
                if not self.may(path, True):
                    raise files.refused(path)
        elif event in NEVER:
            raise files.refused_call(event)


def plain(path: Any) -> str:
    """The path that compiled code will see, read once: a subclass could answer differently each time."""
    path = os.fspath(path)
    if isinstance(path, bytes):
        return os.fsdecode(bytes.__getitem__(path, slice(None)))
    return str.__str__(path)[:]


# Modules whose path objects always return the same path.
PLAIN = ("builtins", "pathlib", "pathlib._local")

# Descriptors that were open before the snippet ran → the identity of their files.
_held: dict[int, tuple[int, int]] = {}


def hold() -> None:
    """From now on no library may make a file object from a descriptor that is open now."""
    _held.clear()
    for fd in range(256):
        if (what := opened_as(fd)) is not None:
            _held[fd] = what


def is_held(fd: int) -> bool:
    """Whether it is still one of the held descriptors: a number may have been closed and reused since."""
    return fd in _held and opened_as(fd) == _held[fd]


def opened_as(fd: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(fd)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def inside(path: str) -> str:
    return os.path.join(os.path.abspath(path), "")


_zone: Zone | None = None


def ready(own: Sequence[str]) -> Zone:
    """Makes the zone without closing it, once for a process and its forks. `own`: folders with the libraries' own
    files."""
    global _zone
    if _zone is None:
        _zone = Zone(own)
        loaded.change(PATHS, wrap)
        loaded.change(["mimetypes"], without_lists)
    return _zone


def without_lists(module: ModuleType) -> None:
    """Limits `mimetypes` to the types that Python itself knows, so that libraries such as openpyxl do not read the
    machine's own lists."""
    module.knownfiles.clear()


def close(own: Sequence[str]) -> None:
    """Enforces the zone for the rest of the process."""
    zone = ready(own)
    sys.addaudithook(zone.hook)
    builtins.open = io.open = by_descriptor(opened.open_)


def by_descriptor(plain_open: Callable[..., Any]) -> Callable[..., Any]:
    """`open` for libraries: opens relative names in the output folder, whatever the working directory is, and
    follows no links."""

    @functools.wraps(plain_open)
    def open_(file: Any, *args: Any, **kwargs: Any) -> Any:
        if "opener" not in kwargs and len(args) < 7 and not isinstance(file, int):
            try:
                name = plain(file)
                if type(file).__module__ not in PLAIN:
                    file = name
            except TypeError:
                name = ""
            if files.segments(name) is not None:
                return plain_open(file, *args, opener=files._beneath, **kwargs)
        # A closed number is refused, because it may become one of the runner's descriptors a moment later.
        if isinstance(file, int) and opened_as(int.__add__(file, 0)) is None:
            raise files.refused(file)
        return plain_open(file, *args, **kwargs)

    return open_


# Module → functions and classes that take a path: its position and its name. None: always writes a folder of files.
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
    "scipy.io._fast_matrix_market._fmm_core": {
        "open_read_file": (0, "filename"),
        "open_write_file": (0, "filename"),
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
        "ParquetDatasetFactory": None,
    },
}


def wrap(module: ModuleType) -> None:
    """Adds the check to everything in the module that takes a path."""
    for name, place in PATHS[module.__name__].items():
        found = getattr(module, name, None)
        if found is None or getattr(found, "zoned", False):
            continue
        setattr(module, name, checked(found, place))
    if module.__name__ == "pyarrow.dataset":
        module.FileSystemDatasetFactory = factory(module.FileSystemDatasetFactory)  # type: ignore[attr-defined]  # its own


def paths(value: Any) -> Any:
    """A path in the output folder, or several, as they were checked; everything else unchanged."""
    if isinstance(value, (list, tuple)):
        return [paths(one) for one in tuple(value)]
    if not isinstance(value, (str, bytes, os.PathLike)):
        return value
    path = plain(value)
    # Arrow reads a name with a colon as an address of another file system.
    if files.segments(path) is None or ":" in path:
        raise files.refused(path)
    return path


def factory(found: Any) -> Any:
    """Checks the paths that `dataset` was given: files, or a folder to search."""
    if getattr(found, "zoned", False):
        return found

    def init(self: Any, filesystem: Any, paths_or_selector: Any, *args: Any, **kwargs: Any) -> None:
        # With another root, the same names would mean other files.
        if type(filesystem) is not sys.modules["pyarrow._fs"].LocalFileSystem:
            raise files.refused(filesystem, "a data set has the output folder's files: leave the file system out")
        if isinstance(paths_or_selector, (list, tuple, str)):
            paths_or_selector = paths(paths_or_selector)
        elif type(paths_or_selector) is sys.modules["pyarrow._fs"].FileSelector:
            paths(paths_or_selector.base_dir)
        else:
            raise files.refused(paths_or_selector)
        found.__init__(self, filesystem, paths_or_selector, *args, **kwargs)

    return type(found)(found.__name__, (found,), {"__init__": init, "__module__": found.__module__, "zoned": True})


def checked(found: Any, place: tuple[int, str] | None) -> Any:
    def check(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with their paths checked."""
        if place is None:
            message = f"{found.__name__} gives its files names of its own: write each file by its name"
            raise files.refused(found.__name__, message)
        at, name = place
        if name in kwargs:
            return args, {**kwargs, name: paths(kwargs[name])}
        if len(args) > at:
            return (*args[:at], paths(args[at]), *args[at + 1 :]), kwargs
        return args, kwargs

    if isinstance(found, type):
        bare = found.__new__ is object.__new__  # type: ignore[comparison-overlap]  # it may inherit it

        def new(cls: type, *args: Any, **kwargs: Any) -> Any:
            args, kwargs = check(args, kwargs)
            return found.__new__(cls) if bare else found.__new__(cls, *args, **kwargs)  # type: ignore[call-overload]  # `found` is no class of classes

        try:
            return type(found)(
                found.__name__, (found,), {"__new__": new, "__module__": found.__module__, "zoned": True}
            )
        except TypeError:
            # The class allows no subclasses, so a function takes its place.
            pass

    @functools.wraps(found)
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = check(args, kwargs)
        return found(*args, **kwargs)

    call.zoned = True  # type: ignore[attr-defined]  # a mark on the function
    return call
