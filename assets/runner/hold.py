"""Closing in before release, and waiting for it."""

import json
import os
import resource

from _countersign.spec import Setup

# What stays above the snippet's allowance, to report a memory error with.
HEADROOM = 32 << 20
PR_SET_DUMPABLE = 4


def confine(setup: Setup) -> None:
    """Counts the snippet's memory from here: what interpreter and libraries took is not its."""
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    _, ceiling = resource.getrlimit(resource.RLIMIT_AS)
    hard = used + setup.memory + HEADROOM
    if ceiling != resource.RLIM_INFINITY:
        hard = min(hard, ceiling)
    resource.setrlimit(resource.RLIMIT_AS, (hard - HEADROOM, hard))
    undumpable()


def undumpable() -> None:
    """Keeps other processes of this user from reading this one's memory.

    An exec resets it, so only the runner itself can. A Python without ctypes goes without: the
    broker lists only what it reads from outside.
    """
    try:
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def wait(setup: Setup) -> None:
    """Says that everything is ready and waits for the one byte that means go."""
    os.write(setup.fd_report, json.dumps({"ready": True}).encode() + b"\n")
    if os.read(setup.fd_gate, 1) != b"r":
        os._exit(0)
    os.close(setup.fd_gate)


def relax() -> None:
    """Gives the headroom free, so that a memory error can be reported."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    except (OSError, ValueError):
        pass
