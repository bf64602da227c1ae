"""`os`, `os.path` and `pathlib` over files in memory only.

Each has the members that a policy may list and that make sense there; nothing in them touches the machine.
"""

from __future__ import annotations

import os
import posixpath
from types import ModuleType

from _countersign import virtual

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# Members that do not depend on a machine: constants, and functions of a path's text.
OS = "curdir extsep fspath linesep pardir sep".split()
PATHS = (
    "altsep basename commonpath commonprefix curdir dirname extsep isabs join normcase normpath pardir sep "
    "split splitext"
).split()


def modules(files: virtual.Files) -> dict[str, ModuleType]:
    """The modules by name, except `pathlib`, which is made on import."""
    # The interpreter's name for it; policies say `os.path`.
    path = ModuleType("posixpath")
    path.__dict__.update({name: getattr(posixpath, name) for name in PATHS})
    path.__dict__.update(
        abspath=virtual.shown,
        exists=files.exists,
        getsize=files.getsize,
        isdir=files.isdir,
        isfile=files.isfile,
        relpath=relative,
    )
    module = ModuleType("os")
    module.__dict__.update({name: getattr(os, name) for name in OS})
    module.__dict__.update(
        getcwd=lambda: os.curdir,
        listdir=files.listdir,
        makedirs=files.makedirs,
        mkdir=files.mkdir,
        path=path,
        remove=files.remove,
        rename=files.rename,
        replace=files.rename,
        rmdir=files.rmdir,
        unlink=files.remove,
        walk=files.walk,
    )
    return {"os": module, "os.path": path}


def relative(path: Any, start: Any = os.curdir) -> str:
    """`os.path.relpath` without the machine's working directory."""
    return posixpath.relpath("/" + virtual.place(path), "/" + virtual.place(start))


def paths(files: virtual.Files) -> ModuleType:
    """`pathlib` with a `Path` over these files."""
    import fnmatch
    import pathlib

    class Path(pathlib.PurePosixPath):
        def exists(self) -> bool:
            return files.exists(self)

        def is_file(self) -> bool:
            return files.isfile(self)

        def is_dir(self) -> bool:
            return files.isdir(self)

        def open(self, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            return files.open(self, mode, *args, **kwargs)

        def read_text(self, encoding: str | None = None, errors: str | None = None) -> str:
            with files.open(self, "r", -1, encoding, errors) as file:
                return str(file.read())

        def read_bytes(self) -> bytes:
            with files.open(self, "rb") as file:
                return bytes(file.read())

        def write_text(self, data: str, encoding: str | None = None, errors: str | None = None) -> int:
            with files.open(self, "w", -1, encoding, errors) as file:
                return int(file.write(data))

        def write_bytes(self, data: Any) -> int:
            with files.open(self, "wb") as file:
                return int(file.write(data))

        def touch(self, mode: int = 0o666, exist_ok: bool = True) -> None:
            files.open(self, "a" if exist_ok else "x").close()

        def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
            if exist_ok and files.isdir(self):
                return
            (files.makedirs if parents else files.mkdir)(self)

        def iterdir(self) -> Iterator[Path]:
            return iter([self / name for name in files.listdir(self)])

        def glob(self, pattern: str) -> Iterator[Path]:
            """As in `pathlib`; `**` stands for any folders."""
            parts = tuple(pattern.split("/"))
            found = {str(one): one for one in below(self, parts)}
            return iter([found[name] for name in sorted(found)])

        def rglob(self, pattern: str) -> Iterator[Path]:
            return self.glob(f"**/{pattern}")

        def unlink(self, missing_ok: bool = False) -> None:
            if not missing_ok or files.exists(self):
                files.remove(self)

        def rmdir(self) -> None:
            files.rmdir(self)

        def rename(self, target: Any) -> Path:
            files.rename(self, target)
            return type(self)(target)

        replace = rename

    def below(folder: Path, parts: tuple[str, ...]) -> Iterator[Path]:
        first, rest = parts[0], parts[1:]
        if first == "**":
            if rest:
                yield from below(folder, rest)
            else:
                yield folder
            for one in folder.iterdir():
                if one.is_dir():
                    yield from below(one, parts)
        elif folder.is_dir():
            for one in folder.iterdir():
                if fnmatch.fnmatchcase(one.name, first):
                    yield from below(one, rest) if rest else iter([one])

    Path.__module__ = "pathlib"
    Path.__qualname__ = "Path"
    module = ModuleType("pathlib")
    module.__dict__.update(
        Path=Path,
        PosixPath=Path,
        PurePath=pathlib.PurePosixPath,
        PurePosixPath=pathlib.PurePosixPath,
    )
    return module
