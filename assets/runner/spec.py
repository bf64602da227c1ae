"""Reads what the runner is given: the setup before its release, the job and the code after it.

Everything comes in sealed memory files given by descriptor number; nothing has a path.
"""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

try:
    # The module that `hashlib` uses without OpenSSL, which takes long to load.
    from _sha2 import sha256
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FD_SETUP = 5

# Size in bytes from which OpenSSL is worth its loading time.
LARGE = 1 << 20


class Mismatch(Exception):
    """A file's content is not the content that was shown."""


class Setup(SimpleNamespace):
    """The setup, made from the user's own policy and environment; no byte of it comes from an agent."""

    # None where no snippet runs: `convert` or `values` is set then.
    policy: Any
    code: str
    sys_path: list[str]
    preload: list[str]
    memory: int
    report: int
    certify: bool
    fd_gate: int
    fd_report: int
    fd_job: int
    fd_code: int
    # For the converter of a data set, which runs no code: how many bytes of Arrow it may write.
    convert: int = 0
    # Whether this process counts a private data set's values.
    values: bool = False
    # In a jail: the seccomp program that forbids starting programs, as hex digits.
    filter: str | None = None
    # Modules that a zygote imports besides `preload`; None if this process serves one run.
    warm: list[str] | None = None

    def but(self, **other: Any) -> Setup:
        """A copy with these values changed."""
        return Setup(**(vars(self) | other))


class Input(SimpleNamespace):
    name: str
    kind: str
    format: str
    fd: int
    sha256: str
    # Whether this is a data set whose values must not leave the run.
    private: bool


class Job(SimpleNamespace):
    inputs: list[Input]
    facts: dict[str, str] | None


def read_all(fd: int) -> bytes:
    """The whole content, from any file position. Closes the descriptor."""
    pieces = []
    at = 0
    while piece := os.pread(fd, max(os.fstat(fd).st_size - at, 1), at):
        pieces.append(piece)
        at += len(piece)
    os.close(fd)
    return b"".join(pieces)


def digest_of(fd: int) -> str:
    """`sha256:` and hex digits over the content, read in pieces. Leaves the file position at the start."""
    os.lseek(fd, 0, os.SEEK_SET)
    digest = sha256()
    if os.fstat(fd).st_size >= LARGE:
        import hashlib

        digest = hashlib.sha256()
    while piece := os.read(fd, 1 << 20):
        digest.update(piece)
    os.lseek(fd, 0, os.SEEK_SET)
    return f"sha256:{digest.hexdigest()}"


def read_setup() -> Setup:
    raw = json.loads(read_all(FD_SETUP))
    fds = raw.pop("fds")
    return Setup(**raw, **{f"fd_{name}": fd for name, fd in fds.items()})


def read_job(setup: Setup) -> Job:
    raw = json.loads(read_all(setup.fd_job))
    return Job(inputs=[Input(**one) for one in raw["inputs"]], facts=raw["facts"])


def read_code(setup: Setup) -> str:
    """The snippet as text. Raises if it is not the code that was shown.

    Decoded here, so that Python never reads bytes: a coding cookie must not change the code.
    """
    raw = read_all(setup.fd_code)
    if "sha256:" + sha256(raw).hexdigest() != setup.code:
        raise Mismatch("the code is not the code that was shown: the child read other code")
    return raw.decode("utf-8", "strict")
