"""Threads in place of processes: a run is one process, and a library that would start others works with
threads instead."""

from __future__ import annotations

import os

from _countersign import loaded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

# Names under which joblib has ways to work in processes.
PROCESSES = ("loky", "multiprocessing")


def instead() -> None:
    """From here on joblib works in threads, whatever it is asked for, loaded or not."""
    loaded.change(["joblib.parallel"], by_threads)
    loaded.change(["joblib.externals.loky.backend.context"], counted)


def by_threads(module: ModuleType) -> None:
    """What each name makes, and what is made where none is named."""
    threads = module.BACKENDS["threading"]
    for name in PROCESSES:
        module.BACKENDS[name] = threads
    module.DEFAULT_BACKEND = "threading"  # type: ignore[attr-defined]  # a module's own name
    module.DEFAULT_PROCESS_BACKEND = "threading"  # type: ignore[attr-defined]  # a module's own name


def counted(module: ModuleType) -> None:
    """Its own way of counting cores starts a program; what it counted is kept here."""
    module.physical_cores_cache = os.cpu_count()  # type: ignore[attr-defined]  # a module's own name
