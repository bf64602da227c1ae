"""Imports installed libraries with half of the usual system calls.

Handles modules that have source and byte code, in packages with an `__init__.py`: it finds them by listing each
folder once, and reads their code in one piece. Anything else is left to the interpreter's own finders, which find the
same files. Byte code is checked against the time and size of its source, as PEP 3147 says.
"""

from __future__ import annotations

import _imp
import marshal
import os
import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER, spec_from_file_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType

INIT = "__init__.py"
BYTE_CODE = f".{sys.implementation.cache_tag}.pyc"
# Header of byte code files that are validated by time and size (importlib's `_classify_pyc`).
TIMED = MAGIC_NUMBER + bytes(4)
HEADER = 16
WORD = 0xFFFF_FFFF


def load(names: list[str]) -> dict[str, ModuleType]:
    """Imports the libraries and removes the finder again: a snippet's imports use the interpreter's own."""
    sys.meta_path.insert(sys.meta_path.index(PathFinder), Finder)
    try:
        return {name: import_module(name) for name in names}
    finally:
        sys.meta_path.remove(Finder)
        Finder.listings.clear()


class Loader(SourceFileLoader):
    """Reads byte code that matches its source; leaves everything else to its base class."""

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            data = read(cached(self.path))
            about = os.stat(self.path)
        except OSError:
            return super().get_code(fullname)
        time, size = int(about.st_mtime) & WORD, about.st_size & WORD
        if data[:HEADER] != TIMED + time.to_bytes(4, "little") + size.to_bytes(4, "little"):
            return super().get_code(fullname)
        code: CodeType = marshal.loads(memoryview(data)[HEADER:])  # noqa: S302 - as importing does
        # Compiled where the environment was made; whoever asks a frame for its file is told where it is now.
        _imp._fix_co_filename(code, self.path)  # type: ignore[attr-defined]  # importlib calls it, typeshed lacks it
        return code


class Finder:
    # Folder → the names in it, or None if it is not a folder.
    listings: dict[str, frozenset[str] | None] = {}

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        last = name.rpartition(".")[2]
        for folder in sys.path if path is None else path:
            names = cls.names(folder)
            if names is None:
                return None
            if last in names:
                package = f"{folder}/{last}"
                inside = cls.names(package)
                if inside is None or INIT not in inside:
                    return None
                return found(name, f"{package}/{INIT}", [package])
            for suffix in EXTENSION_SUFFIXES:
                if last + suffix in names:
                    return None
            if last + ".py" in names:
                return found(name, f"{folder}/{last}.py", None)
        return None

    @classmethod
    def names(cls, folder: str) -> frozenset[str] | None:
        if folder not in cls.listings:
            cls.listings[folder] = listed(folder)
        return cls.listings[folder]


def listed(folder: str) -> frozenset[str] | None:
    try:
        return frozenset(os.listdir(folder))
    except FileNotFoundError:
        # Usually the zip of the standard library, which most installations lack.
        return frozenset()
    except OSError:
        return None


def found(name: str, file: str, inside: list[str] | None) -> ModuleSpec | None:
    spec = spec_from_file_location(name, file, loader=Loader(name, file), submodule_search_locations=inside)
    if spec is not None:
        # Becomes the module's `__cached__`; without it importlib would compute it again.
        spec.cached = cached(file)
    return spec


def cached(file: str) -> str:
    """Where the byte code of a source file is (PEP 3147)."""
    folder, _, name = file.rpartition("/")
    return f"{folder}/__pycache__/{name.removesuffix('.py')}{BYTE_CODE}"


def read(file: str) -> bytes:
    fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(fd).st_size
        data = os.read(fd, size + 1)
    finally:
        os.close(fd)
    if len(data) != size:
        raise OSError(f"{file} was not read in one piece")
    return data
