"""What must differ from run to run although all of them come from one process.

The seed of `hash()` and the layout of memory cannot: they are the zygote's, which is why it is
replaced after a number of runs.
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
        # It draws new names by the process's number, which is the same in every run.
        temporary._name_sequence = None  # type: ignore[attr-defined]  # a private name of `tempfile`
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.enable()
