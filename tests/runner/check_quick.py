"""Compares the runner's own import of libraries with the interpreter's.

Part of `check_files.py`.
"""

import importlib.machinery
import importlib.util
import os
import py_compile
import sys
import zipfile
from pathlib import Path
from typing import Any

from own import forked, module, of, raises


@of("quick")
def libraries_are_the_files_that_the_interpreter_would_have_loaded() -> None:
    def inside() -> None:
        quick = module("quick")

        def write(name: str, value: str) -> Path:
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"VALUE = {value!r}\n")
            return path

        def compiled(path: Path, mode: Any) -> Path:
            return Path(py_compile.compile(str(path), doraise=True, invalidation_mode=mode) or "")

        modes = py_compile.PycInvalidationMode
        moved = compiled(write("site/qplain/__init__.py", "kept"), modes.TIMESTAMP)
        moved.write_bytes(moved.read_bytes().replace(b"site/qplain", b"made/qplain"))
        compiled(write("site/qplain/below.py", "below"), modes.TIMESTAMP)
        write("site/qsource.py", "source")
        compiled(old := write("site/qstale.py", "old"), modes.TIMESTAMP)
        old.write_text("VALUE = 'newer'\n")
        compiled(write("site/qhash.py", "hash"), modes.CHECKED_HASH)
        broken = compiled(write("site/qbroken.py", "broken"), modes.TIMESTAMP)
        broken.write_bytes(broken.read_bytes()[:10])
        write("site/qspace/inner.py", "inner")
        Path("site/qlibrary.py").write_text("VALUE = 'the source beside it'\n")
        Path("site/qlibrary" + importlib.machinery.EXTENSION_SUFFIXES[-1]).write_bytes(b"no library")
        with zipfile.ZipFile("first.zip", "w") as packed:
            packed.writestr("qzipped.py", "VALUE = 'from the archive'\n")
        write("site/qzipped.py", "from the folder")
        sys.dont_write_bytecode = True
        sys.path[:0] = [os.path.abspath("missing"), os.path.abspath("first.zip"), os.path.abspath("site")]
        importlib.invalidate_caches()
        finders = list(sys.meta_path)
        expected = {
            "qzipped": "from the archive",
            "qspace.inner": "inner",
        }
        found = quick.load(list(expected))
        assert {name: one.VALUE for name, one in found.items()} == expected, found
        # With an archive on the path, everything is left to the interpreter.
        del sys.path[1]
        expected = {
            "qplain": "kept",
            "qplain.below": "below",
            "qsource": "source",
            "qstale": "newer",
            "qhash": "hash",
            "qbroken": "broken",
        }
        found = quick.load(list(expected))
        assert {name: one.VALUE for name, one in found.items()} == expected, found
        # Byte code that was compiled elsewhere says where its source is now.
        plain = os.path.abspath("site/qplain/__init__.py")
        assert found["qplain"].__loader__.get_code("qplain").co_filename == plain
        below = found["qplain.below"]
        assert type(below.__loader__) is quick.Loader, below.__loader__
        assert below.__file__ == os.path.abspath("site/qplain/below.py"), below.__file__
        usual = importlib.util.cache_from_source(below.__file__)
        assert below.__cached__ == below.__spec__.cached == usual, below.__cached__
        assert list(found["qplain"].__path__) == [os.path.abspath("site/qplain")]
        raises(ImportError, quick.load, ["qlibrary"])
        raises(ModuleNotFoundError, quick.load, ["qnowhere"])
        assert sys.meta_path == finders and not quick.Finder.listings

    forked(inside)
