"""The snippet's `open`: relative names in the output folder, and temporary files."""

from __future__ import annotations

import os
import re
import stat

from _countersign import mapped, opened
from _countersign.events import Events, importing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Maximum characters of a name.
LENGTH = 100
# The broker keeps such files under plain names (`file_name.rs`, which has the same rule).
NAME = re.compile(rf"[^\x00-\x1f\x7f-\x9f/\\\ud800-\udfff]{{1,{LENGTH}}}")

# Maximum segments of a path in the output folder: its folders and the file name.
SEGMENTS = 4

RULE = (
    "a name has at most 100 characters, without control characters and backslashes, and stands behind at most three "
    "folders of such names"
)

# Messages do not repeat longer paths.
SHOWN = 300

# Names under which the broker keeps a run's result and output: files of the output folder with these names are not
# collected.
OWN = ("result", "stdout")

_folder = -1


def hold_folder() -> None:
    """Holds the working directory open as the output folder, so that a later chdir by a library changes nothing."""
    global _folder
    _folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def move_folder(fd: int) -> None:
    """Moves the output folder's descriptor to this number; the caller closes the old one."""
    global _folder
    os.dup2(_folder, fd, inheritable=False)
    _folder = fd


hold_folder()

# The maximum number of files that the policy collects.
most = 0

# Whether the contract lists the files that were left, so that the broker can compare.
_listed = False

# Where refusals are recorded under the guard.
_events: Events | None = None


# Whether file names may contain private values. Then no better name is proposed: redaction would not recognise a
# private value with a changed character.
_private = False


def hide() -> None:
    """From now on errors do not propose a variant of a refused name."""
    global _private
    _private = True


def told_to(events: Events) -> None:
    """From now on every refusal is an event of the run."""
    global _events
    _events = events


def refused(path: Any, message: str | None = None) -> PermissionError:
    """The error for a refused path. The default message says what is wrong with the name."""
    if _events is not None and not importing():
        shown = path if type(path) in (str, bytes) else type(path).__name__
        _events.add("files", f"the file {shown!r:.100} was refused")
    if message is not None:
        return PermissionError(message)
    return PermissionError(f"files are kept in the output folder, and {fault(path)}")


def fault(path: Any) -> str:
    """What is wrong with a path, and a path that would be right."""
    if type(path) is bytes:
        path = os.fsdecode(path)
    if type(path) is not str:
        return f"a file is named by a text, not by a {type(path).__name__:.100}"
    shown = repr(path) if len(path) <= SHOWN else f"a path of {len(path)} characters"
    parts = path.removeprefix("./").split("/")
    names = [part for part in parts if part]
    if "://" in path:
        return f"{shown} is an address: there is no network"
    if path.startswith("/"):
        return f"{shown} is an absolute path: use a plain file name, such as {better(names[-1:])!r}"
    if ".." in parts:
        return f"{shown} has '..' in it: give the name without it"
    if len(parts) > SEGMENTS:
        return f"{shown} has {len(parts) - 1} folders: {RULE}"
    if odd := sorted({char for part in parts for char in part if not NAME.fullmatch(char)}):
        said = " ".join(map(repr, odd[:10]))
        return f"{shown} has {said} in it: {RULE}, such as {better(names)!r}"
    if long := max(map(len, parts), default=0):
        if long > LENGTH:
            return f"{shown} has a name of {long} characters: {RULE}"
    return f"{shown} is no name of a file: {RULE}"


def better(names: list[str]) -> str:
    """The nearest path that the output folder accepts."""
    if _private:
        return "out.csv"
    usable = [re.sub(r"[^A-Za-z0-9._ -]+", "_", name, flags=re.ASCII)[:LENGTH] for name in names]
    return "/".join(usable) or "out.csv"


def refused_call(event: str) -> PermissionError:
    """The error for an audit event that no library causes for an honest snippet."""
    if _events is not None and not importing():
        _events.add("system", f"{event} by a library was refused")
    return PermissionError(f"{event} is not allowed")


def is_plain(name: str) -> bool:
    """Whether a file or folder of the output folder may have this name."""
    return NAME.fullmatch(name) is not None and name not in (".", "..")


def segments(path: str) -> list[str] | None:
    """The folders and the file name of a path in the output folder; None where the path leads elsewhere."""
    while path.startswith("./"):
        path = path[2:]
    parts = path.split("/")
    if len(parts) > SEGMENTS or not all(map(is_plain, parts)):
        return None
    return parts


def is_temporary(path: str) -> bool:
    """Whether the path lies in the folder of temporary files (see `modules`)."""
    home = os.environ.get("HOME")
    return bool(home) and os.path.abspath(path).startswith(os.path.join(home, ""))  # type: ignore[arg-type]  # asked for by `bool(home)`


def open_output(
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
) -> Any:
    """Opens a file of the output folder."""
    path = str(file) if type(file).__module__.partition(".")[0] == "pathlib" else file
    if encoding is None and type(mode) is str and "b" not in mode:
        encoding = "utf-8"
    if type(path) is str and path.startswith("/") and is_temporary(path):
        return opened.open_(path, mode, buffering, encoding, errors, newline)
    if type(path) is not str or segments(path) is None:
        raise refused(path)
    return opened.open_(path, mode, buffering, encoding, errors, newline, opener=_beneath)


def _beneath(path: Any, flags: int) -> int:
    """Opens a file of the output folder and follows no link. `path`: as `segments` takes it."""
    parts = segments(os.fsdecode(path))
    if parts is None:
        raise refused(path)
    at = _folder
    try:
        for part in parts[:-1]:
            above, at = at, os.open(part, _FOLDER, dir_fd=at)
            if above != _folder:
                os.close(above)
        if flags & os.O_TRUNC:
            _keep_mapped(parts[-1], at)
        return os.open(parts[-1], flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=at)
    except OSError as error:
        # The path as the snippet wrote it, instead of the folder at which opening failed. A refusal has no number.
        if error.errno is not None:
            error.filename = path
        raise
    finally:
        if at != _folder:
            os.close(at)


def _keep_mapped(name: str, folder: int) -> None:
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return
    mapped.keep(status)


_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def leave(name: str, content: bytes) -> None:
    """Writes a file of the runner's own into the output folder, and makes its folders."""
    above = name.split("/")[:-1]
    for end in range(1, len(above) + 1):
        try:
            os.mkdir("/".join(above[:end]), 0o700, dir_fd=_folder)
        except FileExistsError:
            pass
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with open(_beneath(name, flags), "wb") as file:
        file.write(content)


def keep_list(limit: int) -> None:
    """From now on `manifest` lists the folder's files: at most `limit`."""
    global _listed, most
    _listed, most = True, limit


def manifest() -> list[dict[str, Any]] | None:
    """Name and size of every file that was left, for the broker to compare with what it finds; None where the
    contract keeps no list."""
    if not _listed:
        return None
    try:
        # Listing needs a descriptor, and the snippet may have used up all of them.
        os.close(0)
    except OSError:
        pass
    return sorted(listed(_folder, ""), key=lambda one: one["name"])


def listed(folder: int, prefix: str) -> list[dict[str, Any]]:
    found = []
    for name in os.listdir(folder):
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not is_plain(name) or (not prefix and name in OWN):
            continue
        if stat.S_ISREG(about.st_mode) and about.st_nlink == 1:
            found.append({"name": prefix + name, "bytes": about.st_size})
        elif stat.S_ISDIR(about.st_mode) and prefix.count("/") < SEGMENTS - 1:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            try:
                found += listed(inner, f"{prefix}{name}/")
            finally:
                os.close(inner)
    return found


def names() -> set[str]:
    """Names in the output folder."""
    return set(os.listdir(_folder))
