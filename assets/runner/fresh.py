"""Resets state that must differ from run to run although all runs are forks of one process.

The seed of `hash()` and the memory layout cannot be reset: every fork has the zygote's, so the zygote is replaced
after a number of runs.
"""

import gc
import random
import signal
import sys


def start() -> None:
    """Makes a fork of the zygote look like an interpreter that has just started."""
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()
    temporary = sys.modules.get("tempfile")
    if temporary is not None:
        # `tempfile` draws new names when the process id changes, but every run has the same process id.
        temporary._name_sequence = None  # type: ignore[attr-defined]  # a private name of `tempfile`
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.enable()
