"""`open` as the snippet has it: plain names in the output folder, nothing else."""

from __future__ import annotations

import os
import re
import stat

from _countersign import opened
from _countersign.events import Events, importing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)

KEPT = (
    "files are kept in the output folder: use a plain file name of letters, digits, '.', '_' "
    "and '-', at most 100"
)

_folder = -1


def hold_folder() -> None:
    """Holds the working directory as the output folder: a later chdir of a library changes nothing."""
    global _folder
    _folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def move_folder(fd: int) -> None:
    """Holds it under this number; the old one is the caller's to close."""
    global _folder
    os.dup2(_folder, fd, inheritable=False)
    _folder = fd


hold_folder()

# How many files the policy has collected.
most = 0

# Whether the contract vouches for what is left, so that the broker compares.
_listed = False

# Who hears of a refusal, under the guard.
_events: Events | None = None


def told_to(events: Events) -> None:
    """From here on what is refused is an event of the run."""
    global _events
    _events = events


def refused(path: Any, message: str = KEPT) -> PermissionError:
    """The error for a path that is not to be had."""
    if _events is not None and not importing():
        shown = path if type(path) in (str, bytes) else type(path).__name__
        _events.add("files", f"the file {shown!r:.100} was refused")
    return PermissionError(message)


def refused_call(event: str) -> PermissionError:
    """The error for what no library does for an honest snippet, by its audit event."""
    if _events is not None and not importing():
        _events.add("system", f"{event} by a library was refused")
    return PermissionError(f"{event} is not allowed")


def is_plain(name: str) -> bool:
    """Whether a file of the output folder may be called so."""
    return NAME.fullmatch(name) is not None and name not in (".", "..")


def open_output(
    file: str,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
) -> Any:
    """Opens a file of the output folder."""
    if type(file) is not str or not is_plain(file):
        raise refused(file)
    if encoding is None and "b" not in mode:
        encoding = "utf-8"
    return opened.open_(file, mode, buffering, encoding, errors, newline, opener=_beneath)


def _beneath(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=_folder)


def leave(name: str, content: bytes) -> None:
    """Writes a whole file of the runner's own into the output folder."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with open(_beneath(name, flags), "wb") as file:
        file.write(content)


def keep_list(limit: int) -> None:
    """From here on what is in the folder is vouched for: at most `limit` files."""
    global _listed, most
    _listed, most = True, limit


def manifest() -> list[dict[str, Any]] | None:
    """Name and size of every file that was left, as the broker has to find them; None where the
    contract keeps no list."""
    if not _listed:
        return None
    try:
        # Listing takes a descriptor, and the snippet may hold all that there are.
        os.close(0)
    except OSError:
        pass
    found = []
    for name in sorted(os.listdir(_folder)):
        about = os.stat(name, dir_fd=_folder, follow_symlinks=False)
        if stat.S_ISREG(about.st_mode) and about.st_nlink == 1 and is_plain(name):
            found.append({"name": name, "bytes": about.st_size})
    return found


def names() -> set[str]:
    """What is in the folder."""
    return set(os.listdir(_folder))
