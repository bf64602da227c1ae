"""Files and folders in memory only, and an `open` for snippets that get no folder.

Paths are relative to the single root. `.` and `..` are resolved in the path's text, because there are no links; paths
that lead above the root are refused.
"""

from __future__ import annotations

import errno
import io
import os
import weakref

from _countersign import files, limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MODES = frozenset("r w a x r+ w+ a+ x+".split())

KEPT = "there are files in memory only: use a relative path of at most four names, which '..' does not lead out of"


class Files:
    """Contents by path, and folders. `room`: maximum bytes of all files together. `most`: maximum number of files and
    folders. Files given as inputs can be neither overwritten nor removed."""

    def __init__(self, given: dict[str, str], room: int, most: int) -> None:
        self._contents = {name: text.encode() for name, text in given.items()}
        self._folders: set[str] = set()
        self._given = frozenset(given)
        self._room = room
        self._most = most
        self._open: weakref.WeakSet[Open] = weakref.WeakSet()

    def open(
        self,
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> Any:
        """As the built-in `open`, on these files only."""
        path = place(file)
        if type(mode) is not str or (plain := mode.replace("b", "").replace("t", "")) not in MODES:
            raise ValueError(f"invalid mode: {mode!r:.20}")
        if self._is_folder(path):
            raise folder_there(path)
        if plain != "r":
            self._writable(path)
        if plain[0] == "r" and path not in self._contents:
            raise missing(path)
        if plain[0] == "x" and path in self._contents:
            raise there(path)
        if path not in self._contents:
            self._folder_of(path)
            self._one_more()
        if plain[0] in "wx":
            self._contents[path] = b""
        raw = Open(self, path, plain)
        if "b" in mode:
            return raw
        # Written through: the wrapper buffers nothing, so `raw` has all that was written.
        return io.TextIOWrapper(raw, encoding or "utf-8", errors, newline, write_through=True)

    # -- members of `os` and `os.path`

    def listdir(self, path: Any = ".") -> list[str]:
        return sorted(name for name, _ in self._inside(self._folder(path)))

    def mkdir(self, path: Any, mode: int = 0o777) -> None:
        at = place(path)
        if self._is_there(at):
            raise there(at)
        self._folder_of(at)
        self._one_more()
        self._folders.add(at)

    def makedirs(self, name: Any, mode: int = 0o777, exist_ok: bool = False) -> None:
        at = place(name)
        if self._is_there(at):
            if exist_ok and self._is_folder(at):
                return
            raise there(at)
        parts = at.split("/")
        for end in range(1, len(parts) + 1):
            if not self._is_there("/".join(parts[:end])):
                self.mkdir("/".join(parts[:end]))

    def remove(self, path: Any) -> None:
        at = place(path)
        if self._is_folder(at):
            raise folder_there(at)
        if at not in self._contents:
            raise missing(at)
        self._writable(at)
        del self._contents[at]
        self._moved(at, None)

    def rmdir(self, path: Any) -> None:
        at = self._folder(path)
        if not at or any(self._inside(at)):
            raise OSError(errno.ENOTEMPTY, "the folder in memory is not empty", at or ".")
        self._folders.remove(at)

    def rename(self, src: Any, dst: Any) -> None:
        """Renames a file, which may replace another, or a folder with its contents."""
        old, new = place(src), place(dst)
        if not old or not self._is_there(old):
            raise missing(old)
        if old == new:
            return
        if self._is_folder(new) or (self._is_folder(old) and self._is_there(new)):
            raise there(new)
        if new.startswith(f"{old}/"):
            raise OSError(errno.EINVAL, "a folder does not go into itself", new)
        self._folder_of(new)
        every = (*self._contents, *self._folders)
        moved = [one for one in every if one == old or one.startswith(f"{old}/")]
        # All are checked first, so that either all are moved or none.
        for one in moved:
            self._writable(one)
            self._writable(place(new + one.removeprefix(old)))
        for one in moved:
            to = new + one.removeprefix(old)
            if one in self._folders:
                self._folders.remove(one)
                self._folders.add(to)
            else:
                self._moved(to, None)
                self._contents[to] = self._contents.pop(one)
                self._moved(one, to)

    def walk(self, top: Any = ".", topdown: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
        at = place(top)
        if not self._is_folder(at):
            return
        shown = text_of(top)
        inside = sorted(self._inside(at))
        folders = [name for name, path in inside if self._is_folder(path)]
        level = shown, folders, [name for name, path in inside if path in self._contents]
        if topdown:
            yield level
        for name in list(folders):
            yield from self.walk(f"{shown.rstrip('/')}/{name}", topdown)
        if not topdown:
            yield level

    def exists(self, path: Any) -> bool:
        return self.isfile(path) or self.isdir(path)

    def isfile(self, path: Any) -> bool:
        return reached(path) in self._contents

    def isdir(self, path: Any) -> bool:
        at = reached(path)
        return at is not None and self._is_folder(at)

    def getsize(self, filename: Any) -> int:
        at = place(filename)
        if not self._is_there(at):
            raise missing(at)
        return len(self._contents.get(at, b""))

    # -- for open files, and for the end

    def content(self, path: str) -> bytes:
        return self._contents.get(path, b"")

    def keep(self, path: str, content: bytes) -> None:
        """Stores the content. Raises if there is not enough room."""
        others = sum(len(one) for key, one in self._contents.items() if key != path)
        if others + len(content) > self._room:
            error = OSError(errno.EFBIG, "the files in memory are too large")
            limits.met(error)
            raise error
        self._contents[path] = content

    def opened(self, file: Open) -> None:
        self._open.add(file)

    def leave(self) -> None:
        """Writes the snippet's files into the output folder, also those still open, without calling the
        snippet's methods.

        Raises OSError if something does not fit.
        """
        for file in list(self._open):
            file.settle()
        for path, content in self._contents.items():
            if path not in self._given:
                files.leave(path, content)

    # -- helpers

    def _is_folder(self, at: str) -> bool:
        return not at or at in self._folders

    def _is_there(self, at: str) -> bool:
        return self._is_folder(at) or at in self._contents

    def _moved(self, path: str, to: str | None) -> None:
        """Makes open files follow their moved file; an open file of a removed one does not restore it."""
        for file in list(self._open):
            file.moved(path, to)

    def _folder(self, path: Any) -> str:
        at = place(path)
        if at in self._contents:
            raise NotADirectoryError(errno.ENOTDIR, "it is a file in memory", at)
        if not self._is_folder(at):
            raise missing(at)
        return at

    def _folder_of(self, path: str) -> None:
        """Raises if the parent folder of the path does not exist."""
        self._folder(path.rpartition("/")[0] or ".")

    def _inside(self, folder: str) -> Iterator[tuple[str, str]]:
        """Names and paths of the folder's direct entries."""
        for path in (*self._contents, *self._folders):
            above, _, name = path.rpartition("/")
            if above == folder:
                yield name, path

    def _writable(self, path: str) -> None:
        if path in self._given:
            raise files.refused(path, f"{path} is an input and cannot be written")

    def _one_more(self) -> None:
        if len(self._contents) + len(self._folders) >= self._most:
            many = f"more than {self._most} files in memory"
            limits.reached("files", many)
            raise PermissionError(many)


def text_of(path: Any) -> str:
    """A path as text, from a string or a `pathlib` object."""
    if type(path) is not str and type(path).__module__.partition(".")[0] == "pathlib":
        path = os.fspath(path)
    if type(path) is not str:
        raise files.refused(path, KEPT)
    return path


def resolved(path: str) -> str | None:
    """The path without `.` and `..`, "" for the root; None if it leads out of the root or is not plain."""
    parts: list[str] = []
    if path.startswith("/") or not path:
        return None
    for part in path.removesuffix("/").split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    if len(parts) > files.SEGMENTS or not all(map(files.is_plain, parts)):
        return None
    return "/".join(parts)


def place(path: Any) -> str:
    """The resolved path. Raises PermissionError if it leads out of the root."""
    text = text_of(path)
    if not text:
        raise missing(text)
    at = resolved(text)
    if at is None:
        raise files.refused(text, KEPT)
    return at


def shown(path: Any) -> str:
    """The resolved path as shown to a snippet."""
    return place(path) or os.curdir


def reached(path: Any) -> str | None:
    """As `place`, for functions that only ask whether a file exists: None for paths that lead out of the root."""
    return resolved(text_of(path))


def missing(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "no such file or folder in memory", path)


def there(path: str) -> FileExistsError:
    return FileExistsError(errno.EEXIST, "there is one of this name in memory", path or ".")


def folder_there(path: str) -> IsADirectoryError:
    return IsADirectoryError(errno.EISDIR, "it is a folder in memory", path or ".")


class Open(io.BytesIO):
    """One open file; flushing or closing it stores what was written."""

    def __init__(self, held: Files, path: str, mode: str) -> None:
        super().__init__(held.content(path))
        self._files = held
        self._mode = mode
        self._path: str | None = path
        self.name = path
        if mode[0] == "a":
            self.seek(0, io.SEEK_END)
        held.opened(self)

    def readable(self) -> bool:
        return self._mode[0] == "r" or "+" in self._mode

    def writable(self) -> bool:
        return self._mode != "r"

    def write(self, data: Any) -> int:
        if not self.writable():
            raise io.UnsupportedOperation("not writable")
        if self._mode[0] == "a":
            self.seek(0, io.SEEK_END)
        return super().write(data)

    def read(self, size: int | None = -1) -> bytes:
        if not self.readable():
            raise io.UnsupportedOperation("not readable")
        return super().read(size)

    def read1(self, size: int | None = -1) -> bytes:
        if not self.readable():
            raise io.UnsupportedOperation("not readable")
        return super().read1(size)

    def flush(self) -> None:
        super().flush()
        self.settle()

    def settle(self) -> None:
        """Stores what was written, if the file is open and still has its name."""
        if self._mode != "r" and self._path is not None and not io.BytesIO.closed.__get__(self):
            self._files.keep(self._path, io.BytesIO.getvalue(self))

    def moved(self, path: str, to: str | None) -> None:
        if self._path == path:
            self._path = to

    def close(self) -> None:
        if not self.closed:
            try:
                self.flush()
            finally:
                super().close()
