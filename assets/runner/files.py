"""`open` as the snippet has it: plain names in the output folder, nothing else."""

import io
import os
import re
from typing import Any

NAME = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)

# The working directory at the start, held: a later chdir of a library changes nothing.
_folder = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def open_output(
    file: str,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
) -> Any:
    """Opens a file of the output folder."""
    if type(file) is not str or not NAME.fullmatch(file) or file in (".", ".."):
        raise PermissionError(
            "open takes a plain file name of letters, digits, '.', '_' and '-': files are kept "
            "in the output folder"
        )
    if encoding is None and "b" not in mode:
        encoding = "utf-8"
    return io.open(file, mode, buffering, encoding, errors, newline, opener=_beneath)


def _beneath(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=_folder)
