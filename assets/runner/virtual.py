"""Files that are in memory only: `open` for snippets that are given no folder."""

from __future__ import annotations

import errno
import io
import re

from _countersign import files, limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)
MODES = frozenset("r w a x r+ w+ a+ x+".split())


class Files:
    """Contents by name. `room`: bytes of all of them together. `most`: how many there may be."""

    def __init__(self, given: dict[str, str], room: int, most: int) -> None:
        self._contents = {name: text.encode() for name, text in given.items()}
        self._given = frozenset(given)
        self._room = room
        self._most = most

    def open(
        self,
        file: str,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> Any:
        """As the built-in, on these files alone. What the agent or the data set brought is not
        written over."""
        if type(file) is not str or not NAME.fullmatch(file):
            raise files.refused(
                file,
                "open takes a plain file name of letters, digits, '.', '_' and '-': there are "
                "files in memory only",
            )
        if type(mode) is not str or (plain := mode.replace("b", "").replace("t", "")) not in MODES:
            raise ValueError(f"invalid mode: {mode!r:.20}")
        writes = plain != "r"
        if writes and file in self._given:
            raise files.refused(file, f"{file} is an input and cannot be written")
        if plain[0] == "r" and file not in self._contents:
            raise FileNotFoundError(f"no file of this name in memory: {file}")
        if plain[0] == "x" and file in self._contents:
            raise FileExistsError(f"there is a file of this name in memory: {file}")
        if file not in self._contents and len(self._contents) >= self._most:
            many = f"more than {self._most} files in memory"
            limits.reached("files", many)
            raise PermissionError(many)
        if plain[0] in "wx":
            self._contents[file] = b""
        raw = Open(self, file, plain)
        if "b" in mode:
            return raw
        return io.TextIOWrapper(raw, encoding or "utf-8", errors, newline)

    def content(self, name: str) -> bytes:
        return self._contents.get(name, b"")

    def keep(self, name: str, content: bytes) -> None:
        """Raises where it would be more than there is room for."""
        others = sum(len(one) for key, one in self._contents.items() if key != name)
        if others + len(content) > self._room:
            error = OSError(errno.EFBIG, "the files in memory are too large")
            limits.met(error)
            raise error
        self._contents[name] = content


class Open(io.BytesIO):
    """One open file; what was written is kept when it is flushed or closed."""

    def __init__(self, held: Files, name: str, mode: str) -> None:
        super().__init__(held.content(name))
        self._files = held
        self._mode = mode
        self.name = name
        if mode[0] == "a":
            self.seek(0, io.SEEK_END)

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
        if self.writable():
            self._files.keep(self.name, self.getvalue())

    def close(self) -> None:
        if not self.closed:
            try:
                self.flush()
            finally:
                super().close()
