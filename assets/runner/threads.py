"""Makes libraries use threads instead of further processes: a run is one process."""

from __future__ import annotations

import os

from _countersign import loaded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

# joblib's backends that start processes.
PROCESSES = ("loky", "multiprocessing")


def instead() -> None:
    """From now on joblib works in threads, whatever backend is asked for, whether or not it is loaded yet."""
    loaded.change(["joblib.parallel"], by_threads)
    loaded.change(["joblib.externals.loky.backend.context"], counted)


def by_threads(module: ModuleType) -> None:
    """Replaces the process backends and the default by threads."""
    threads = module.BACKENDS["threading"]
    for name in PROCESSES:
        module.BACKENDS[name] = threads
    module.DEFAULT_BACKEND = "threading"  # type: ignore[attr-defined]  # a module's own name
    module.DEFAULT_PROCESS_BACKEND = "threading"  # type: ignore[attr-defined]  # a module's own name


def counted(module: ModuleType) -> None:
    """Fills loky's cache of the core count: counting would start a program."""
    module.physical_cores_cache = os.cpu_count()  # type: ignore[attr-defined]  # a module's own name
