"""The warm start: one process with the libraries loaded, of which every run is a fork.

It never reads a byte that came from an agent: it is only told to make a slot, and a run's files go directly to that
slot's pid 1.
"""

import gc
import os
from types import ModuleType

from _countersign import channel, contracts, fresh, hold, job, rehearse, restrict, slot, syscalls, warmup
from _countersign.spec import Setup

FD_CONTROL = 3
FD_RULES = 4


# Read once, when pandas loads pyarrow's allocator, which would otherwise start a thread.
ALLOCATOR = "JE_ARROW_MALLOC_CONF"


def keep_to_one_thread() -> None:
    """Stops pyarrow from starting a thread; call before importing libraries. The environment limits the other
    thread pools."""
    os.environ[ALLOCATOR] = "background_thread:false"


def serve(setup: Setup, libraries: dict[str, ModuleType]) -> Setup:
    """Makes slots as long as requests come. Only a payload returns, with its run's setup."""
    rules = restrict.read(FD_RULES)
    contract = contracts.of(setup.policy["contract"])
    warmup.warm(setup.warm or [])
    job.ready(setup)
    rehearsal = rehearse.Rehearsal(setup, libraries)
    rehearsal.in_zygote()
    del os.environ[ALLOCATOR]
    if threads() != 1:
        # A fork copies one thread only, so locks held by the others would stay locked forever.
        raise RuntimeError("a library started a thread")
    slot.quiet()
    os.chdir("/")
    gc.collect()
    gc.disable()
    gc.freeze()
    syscalls.dumpable(False)
    syscalls.close_all_but({0, 1, 2, FD_CONTROL})
    channel.send(FD_CONTROL, b"r")

    def alone() -> None:
        fresh.start()
        contract.ahead(setup)
        rehearsal.once()
        hold.count()

    while True:
        text, fds = channel.receive(FD_CONTROL, 1, 1)
        if not text:
            os._exit(0)
        granted = slot.make(fds[0], rules, alone)
        if granted is not None:
            return setup.but(code=granted.code, memory=setup.memory + granted.mapped)


def threads() -> int:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Threads:"))
