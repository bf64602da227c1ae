"""Restrictions that a payload of the warm start puts on itself, as the helper does for a cold start.

The helper computed the programs, rights and numbers; this file only applies them and checks each call's result.
"""

import json
import os
import resource
import stat
from typing import NamedTuple

from _countersign import spec, syscalls


class Rules(NamedTuple):
    """Made by the helper for every run of one zygote."""

    # struct landlock_ruleset_attr, and its name in the list of layers.
    handled: bytes
    layer: str
    # Path and rights; a file gets only those in `file_rights`.
    paths: list[tuple[str, int]]
    file_rights: int
    # An array of struct sock_filter.
    filter: bytes
    # Resource, soft and hard limit.
    limits: list[tuple[int, int, int]]
    # Mount options of /scratch and /dev/shm, and the folders in /scratch.
    scratch: str
    shared: str
    output: str
    home: str


def read(fd: int) -> Rules:
    raw = json.loads(spec.read_all(fd))
    for name in ("handled", "filter"):
        raw[name] = bytes.fromhex(raw[name])
    return Rules(**raw)


def limit(rules: Rules) -> None:
    """Sets the limits that count from the fork on, or would have limited the zygote itself."""
    for number, soft, hard in rules.limits:
        if number != resource.RLIMIT_NOFILE:
            at_most(number, soft, hard)


def files(rules: Rules) -> int:
    """The maximum number of descriptors of a run."""
    return next(soft for number, soft, _ in rules.limits if number == resource.RLIMIT_NOFILE)


def processor_time(rules: Rules) -> int:
    """Seconds of processor time for each process."""
    return next(soft for number, soft, _ in rules.limits if number == resource.RLIMIT_CPU)


def limit_files(rules: Rules) -> None:
    """Sets the descriptor limit, once the descriptors handed over have their places below it."""
    for number, soft, hard in rules.limits:
        if number == resource.RLIMIT_NOFILE:
            at_most(number, soft, hard)


def at_most(number: int, soft: int, hard: int) -> None:
    _, ceiling = resource.getrlimit(number)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(number, (soft, hard))


def first_to_go() -> None:
    """Makes the kernel kill this process first when memory runs out. The file belongs to root while the process
    is not dumpable."""
    syscalls.dumpable(True)
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")
    syscalls.dumpable(False)


def close_in(rules: Rules) -> None:
    """Applies Landlock with this process's own ruleset, and seccomp last."""
    ruleset = syscalls.create_ruleset(rules.handled)
    for path, rights in rules.paths:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= rules.file_rights
        syscalls.add_rule(ruleset, place, rights)
        os.close(place)
    syscalls.restrict_self(ruleset)
    os.close(ruleset)
    syscalls.install_filter(rules.filter)
