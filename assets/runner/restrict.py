"""What a payload of the warm start takes from itself, as the helper does for a cold one.

Programs, rights and numbers were worked out by the helper; here they are only applied, and every
call's result is checked.
"""

import json
import os
import resource
import stat
from typing import NamedTuple

from _countersign import spec, syscalls


class Rules(NamedTuple):
    """Made by the helper for every run of one zygote."""

    # struct landlock_ruleset_attr, and what it is called among the layers.
    handled: bytes
    layer: str
    # Path and rights; of a file only those in `file_rights`.
    paths: list[tuple[str, int]]
    file_rights: int
    # struct sock_filter, one after the other.
    filter: bytes
    # Resource, soft and hard limit.
    limits: list[tuple[int, int, int]]
    # Mount options of /scratch and /dev/shm, and the folders in the first.
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
    """What counts from the fork on, or would have been in the zygote's own way."""
    for number, soft, hard in rules.limits:
        if number != resource.RLIMIT_NOFILE:
            at_most(number, soft, hard)


def files(rules: Rules) -> int:
    """How many descriptors a run may have."""
    return next(soft for number, soft, _ in rules.limits if number == resource.RLIMIT_NOFILE)


def processor_time(rules: Rules) -> int:
    """How many seconds of it each process has."""
    return next(soft for number, soft, _ in rules.limits if number == resource.RLIMIT_CPU)


def limit_files(rules: Rules) -> None:
    """The limit of descriptors, once what is handed over has its place below it."""
    for number, soft, hard in rules.limits:
        if number == resource.RLIMIT_NOFILE:
            at_most(number, soft, hard)


def at_most(number: int, soft: int, hard: int) -> None:
    _, ceiling = resource.getrlimit(number)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(number, (soft, hard))


def first_to_go() -> None:
    """First in line when memory runs out; the file is root's while nobody may read the process."""
    syscalls.dumpable(True)
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")
    syscalls.dumpable(False)


def close_in(rules: Rules) -> None:
    """Landlock by a ruleset of this process's own, then seccomp, last."""
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
