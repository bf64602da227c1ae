"""The import of installed libraries, with half of the questions to the file system.

For modules that are source with byte code beside it, in packages with an `__init__.py`: they are found
by one listing of each folder, and their code is read in one piece. What is anything else, or not as
expected, is left to the interpreter's own finders, which find the same files. The byte code is held
against its source's time and size as PEP 3147's is.
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
# What a file begins with that is checked by time and size (importlib's `_classify_pyc`).
TIMED = MAGIC_NUMBER + bytes(4)
HEADER = 16
WORD = 0xFFFF_FFFF


def load(names: list[str]) -> dict[str, ModuleType]:
    """Imports them, and is gone: what a snippet imports is the interpreter's own business."""
    sys.meta_path.insert(sys.meta_path.index(PathFinder), Finder)
    try:
        return {name: import_module(name) for name in names}
    finally:
        sys.meta_path.remove(Finder)
        Finder.listings.clear()


class Loader(SourceFileLoader):
    """Reads the byte code where it is that of its source, and is its base class otherwise."""

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
        _imp._fix_co_filename(code, self.path)
        return code


class Finder:
    # Folder → the names in it, or None where it is no folder.
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
        # The zip of the standard library that most installations lack.
        return frozenset()
    except OSError:
        return None


def found(name: str, file: str, inside: list[str] | None) -> ModuleSpec | None:
    spec = spec_from_file_location(name, file, loader=Loader(name, file), submodule_search_locations=inside)
    if spec is not None:
        # Worked out anew otherwise, and told to the module as `__cached__`.
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
