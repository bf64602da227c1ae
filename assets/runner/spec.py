"""What the runner is told: the setup before its release, the job and the code after it.

Everything comes in sealed memory files by descriptor number; nothing has a path.
"""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

try:
    # What `hashlib` has it from where there is no OpenSSL, whose loading takes long.
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

# Bytes from which on OpenSSL is so much faster that loading it pays.
LARGE = 1 << 20


class Mismatch(Exception):
    """A file is not the one that was shown."""


class Setup(SimpleNamespace):
    """From the user's own policy and environment; no byte of it comes from an agent."""

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
    # Of the converter of a data set, which has no code: the bytes of Arrow it may write.
    convert: int = 0
    # Whether this is the one that counts a private data set's values.
    values: bool = False
    # In a jail, hex digits: the seccomp program after which no program is started any more.
    filter: str | None = None
    # What a zygote imports beside `preload`; None where this process is one run's.
    warm: list[str] | None = None

    def but(self, **other: Any) -> Setup:
        """The same with these values changed."""
        return Setup(**(vars(self) | other))


class Input(SimpleNamespace):
    name: str
    kind: str
    format: str
    fd: int
    sha256: str
    # A data set whose values are not to be told.
    private: bool


class Job(SimpleNamespace):
    inputs: list[Input]
    facts: dict[str, str] | None


def read_all(fd: int) -> bytes:
    """The whole content, whatever the position was, and the descriptor closed."""
    pieces = []
    at = 0
    while piece := os.pread(fd, max(os.fstat(fd).st_size - at, 1), at):
        pieces.append(piece)
        at += len(piece)
    os.close(fd)
    return b"".join(pieces)


def digest_of(fd: int) -> str:
    """`sha256:` and hex digits over the content, in pieces; the position is at the start after."""
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
    """The snippet as text, if it is the one that was shown.

    From `str` and never from bytes: a coding cookie must not change what is read.
    """
    raw = read_all(setup.fd_code)
    if "sha256:" + sha256(raw).hexdigest() != setup.code:
        raise Mismatch("the code is not the code that was shown: the child read other code")
    return raw.decode("utf-8", "strict")
