"""Confines the process and waits for its release."""

import json
import os
import resource
import struct

from _countersign.spec import Setup

# Bytes above the snippet's allowance, for reporting a memory error.
HEADROOM = 32 << 20
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2


# Bytes of address space, if they were counted before the run.
_used: int | None = None


def count() -> int:
    """Bytes of address space of this process, remembered for `confine`."""
    global _used
    with open("/proc/self/statm", encoding="ascii") as file:
        _used = int(file.read().split()[0]) * resource.getpagesize()
    return _used


def confine(setup: Setup) -> None:
    """Sets the memory limit. The snippet's memory counts from now on: interpreter and libraries do not use it up."""
    used = count() if _used is None else _used
    _, ceiling = resource.getrlimit(resource.RLIMIT_AS)
    hard = used + setup.memory + HEADROOM
    if ceiling != resource.RLIM_INFINITY:
        hard = min(hard, ceiling)
    resource.setrlimit(resource.RLIMIT_AS, (hard - HEADROOM, hard))
    if setup.warm is None:
        # A fork of a zygote did this when it confined itself.
        undumpable()
    if setup.filter is not None and is_filtered():
        start_nothing(bytes.fromhex(setup.filter))


def is_filtered() -> bool:
    """Whether the helper has installed its seccomp programs. The broker notices from outside if it has not."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return "Seccomp:\t2\n" in file


def start_nothing(program: bytes) -> None:
    """Forbids exec, which was needed to start this interpreter, and installing further seccomp programs.

    A Python without ctypes skips this: the broker lists only confinement that it reads from outside.
    """
    try:
        import ctypes
    except ImportError:
        return
    text = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("@HP", len(program) // 8, ctypes.addressof(text))
    kept = ctypes.create_string_buffer(head, len(head))
    args = (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(kept), 0, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(*map(ctypes.c_ulong, args)) != 0:
        raise OSError(ctypes.get_errno(), "the last system call filter is refused")


def undumpable() -> None:
    """Keeps other processes of this user from reading this one's memory.

    Only the runner itself can do this, because an exec resets it. A Python without ctypes skips this: the broker
    lists only confinement that it reads from outside.
    """
    try:
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def wait(setup: Setup) -> None:
    """Reports that everything is ready and waits for the release, one byte."""
    os.write(setup.fd_report, json.dumps({"ready": True}).encode() + b"\n")
    if os.read(setup.fd_gate, 1) != b"r":
        os._exit(0)
    os.close(setup.fd_gate)


def relax() -> None:
    """Frees the headroom, so that a memory error can be reported."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    except (OSError, ValueError):
        pass
