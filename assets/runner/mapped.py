"""Keeps files that are mapped into memory from being cut off: reading an array over a missing part ends the process
(mmap(2), SIGBUS)."""

from __future__ import annotations

import os
import sys

# Modules that map files.
MAPPING = ("mmap", "pyarrow")


def keep(status: os.stat_result) -> None:
    """Raises PermissionError if the file of this status is mapped."""
    if not any(name in sys.modules for name in MAPPING):
        return
    if _is_mapped(status):
        raise PermissionError("an array is mapped over this file, which therefore keeps its length")


def _is_mapped(status: os.stat_result) -> bool:
    wanted = f" {os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x} {status.st_ino} "
    try:
        descriptor = os.open("/proc/self/maps", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        # No descriptor is left, or there is no /proc.
        return False
    try:
        text = b""
        while part := os.read(descriptor, 1 << 20):
            text += part
    finally:
        os.close(descriptor)
    return wanted.encode() in text
