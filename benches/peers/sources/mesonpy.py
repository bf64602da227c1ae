"""Stands for a package's build backend, so that pip hands over a source archive unbuilt.

pip asks a source package for its metadata, which needs its build tools and minutes; name and
version, which the archive itself states, are all that pip reads of the answer here.
"""

import pathlib
import re


def prepare_metadata_for_build_wheel(folder, config_settings=None):
    info = pathlib.Path("PKG-INFO").read_text(encoding="utf-8")
    name, version = (re.search(rf"^{field}: (.*)$", info, re.M)[1] for field in ("Name", "Version"))
    made = pathlib.Path(folder) / f"{name}-{version}.dist-info"
    made.mkdir()
    (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (made / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: none\nRoot-Is-Purelib: false\nTag: py3-none-any\n")
    return made.name


def build_wheel(folder, config_settings=None, metadata_directory=None):
    raise SystemExit("this stand-in builds nothing")
