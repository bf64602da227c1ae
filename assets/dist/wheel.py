"""The wheel `countersign-tui`: what is in it, and whether a finished one has all of it.

maturin makes the wheel that is published (`build wheel`). `lay_out` packs a program that exists already, without a compiler;
`check` compares either with the same list, so that what is tested is what is published.
"""

import base64
import functools
import hashlib
import os
import re
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The oldest C library that manylinux2014 knows.
MANYLINUX2014 = (2, 17)

Source = Path | bytes


class Fault(Exception):
    """What went wrong, and what would be right, in one sentence."""


def version() -> str:
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]["version"]


def project() -> dict:
    return tomllib.loads((ROOT / "assets/dist/pyproject.toml").read_text())


def module() -> dict[str, Source]:
    """The module that agents import, as a package with the mark of types (PEP 561)."""
    return {
        "countersign/__init__.py": ROOT / "assets/clients/countersign.py",
        "countersign/py.typed": b"",
    }


@functools.cache
def c_library(binary: Path) -> tuple[int, int]:
    """The newest version of the C library that the program asks for."""
    asked = re.findall(rb"GLIBC_(\d+)\.(\d+)", binary.read_bytes())
    return max(((int(a), int(b)) for a, b in asked), default=(0, 0))


def tag(binary: Path) -> str:
    """Where the wheel may be installed: everywhere if an old C library suffices, else on systems like this one."""
    machine = os.uname().machine
    if c_library(binary) <= MANYLINUX2014:
        return f"py3-none-manylinux_2_17_{machine}.manylinux2014_{machine}"
    return f"py3-none-linux_{machine}"


def names() -> tuple[str, str]:
    """The beginnings of the names of the folders in the wheel: data and information."""
    stem = f"{project()['project']['name'].replace('-', '_')}-{version()}"
    return f"{stem}.data", f"{stem}.dist-info"


def contents(binary: Path) -> dict[str, Source]:
    """All files of the wheel but its own descriptions."""
    data, info = names()
    licences = project()["project"]["license-files"]
    return {
        **module(),
        f"{data}/scripts/countersign": binary,
        **{f"{info}/licenses/{name}": ROOT / name for name in licences},
    }


def metadata() -> bytes:
    about = project()["project"]
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {about['name']}",
        f"Version: {version()}",
        f"Summary: {about['description']}",
        f"Keywords: {','.join(about['keywords'])}",
        *(f"Classifier: {one}" for one in about["classifiers"]),
        f"License-Expression: {about['license']}",
        *(f"License-File: {one}" for one in about["license-files"]),
        f"Requires-Python: {about['requires-python']}",
        "Description-Content-Type: text/markdown; charset=UTF-8; variant=GFM",
    ]
    return ("\n".join(lines) + "\n\n").encode() + (ROOT / about["readme"]).read_bytes()


def digest(source: Source) -> tuple[str, int]:
    """A file's entry in RECORD: digest and size."""
    if isinstance(source, bytes):
        raw, size = hashlib.sha256(source).digest(), len(source)
    else:
        with source.open("rb") as file:
            raw = hashlib.file_digest(file, "sha256").digest()
        size = source.stat().st_size
    return "sha256=" + base64.urlsafe_b64encode(raw).rstrip(b"=").decode(), size


def lay_out(binary: Path, folder: Path) -> Path:
    """Packs the program and the module. The same files give the same bytes."""
    _, info = names()
    platform = tag(binary)
    described = f"Wheel-Version: 1.0\nGenerator: countersign {version()}\nRoot-Is-Purelib: false\n"
    python, abi, systems = platform.split("-")
    described += "".join(f"Tag: {python}-{abi}-{system}\n" for system in systems.split("."))
    files = contents(binary)
    files[f"{info}/METADATA"] = metadata()
    files[f"{info}/WHEEL"] = described.encode()
    record = "".join(f"{name},{value},{size}\n" for name, (value, size) in ((n, digest(s)) for n, s in files.items()))
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{info.removesuffix('.dist-info')}-{platform}.whl"
    # Level 1: a program with debug symbols packs in a second.
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, source in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            if isinstance(source, bytes):
                archive.writestr(entry, source)
            else:
                entry.file_size = source.stat().st_size
                with source.open("rb") as file, archive.open(entry, "w") as packed:
                    while part := file.read(1 << 20):
                        packed.write(part)
    return wheel


def check(wheel: Path, binary: Path) -> None:
    """Fails if the wheel lacks a file, has another in its place, or is tagged for systems it does not run on."""
    data, info = names()
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: digest(archive.read(name))[0] for name in archive.namelist()}
        for name, source in contents(binary).items():
            if name not in packed:
                raise Fault(f"{wheel.name} lacks {name}; it has {', '.join(sorted(packed))}")
            if packed[name] != digest(source)[0]:
                raise Fault(f"{wheel.name}: {name} is not the file it is made of")
        script = archive.getinfo(f"{data}/scripts/countersign")
        if not (script.external_attr >> 16) & 0o111:
            raise Fault(f"{wheel.name}: {script.filename} cannot be executed")
        head = archive.read(f"{info}/METADATA").decode().split("\n\n")[0]
        for line in metadata().decode().split("\n\n")[0].splitlines()[1:]:
            if not line.startswith("Keywords") and line not in head.splitlines():
                raise Fault(f"{wheel.name}: METADATA does not say {line!r}:\n{head}")
        for line in archive.read(f"{info}/RECORD").decode().splitlines():
            name, value, _ = line.rsplit(",", 2)
            if value and packed.get(name) != value:
                raise Fault(f"{wheel.name}: RECORD does not fit {name}")
    if "manylinux" in wheel.name and c_library(binary) > MANYLINUX2014:
        raise Fault(f"{wheel.name} says manylinux2014, but the program needs glibc {c_library(binary)}")


def program(wheel: Path, folder: Path) -> Path:
    """Takes the program out of a finished wheel."""
    data, _ = names()
    folder.mkdir(parents=True, exist_ok=True)
    binary = folder / "countersign"
    with zipfile.ZipFile(wheel) as archive:
        binary.write_bytes(archive.read(f"{data}/scripts/countersign"))
    binary.chmod(0o755)
    return binary
