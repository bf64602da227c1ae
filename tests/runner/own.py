"""For tests of named files of the runner: records the files, and checks that the test really called them."""

import importlib
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

import child
from harness import LIBRARIES, test

FOLDER = child.ASSETS / "runner"
FILES = {".".join(path.relative_to(FOLDER).with_suffix("").parts): path for path in sorted(FOLDER.rglob("*.py"))}

TESTED: set[str] = set()

# Processes forked here write into this file which runner files they called.
SAID = os.memfd_create("said")


def profile(frame: FrameType, event: str, arg: Any) -> None:
    name = frame.f_code.co_filename
    if event == "call" and frame.f_code.co_name != "<module>" and name in UNSEEN:
        UNSEEN.remove(name)
        os.write(SAID, name.encode() + b"\n")


# Files none of whose functions was called yet in this process.
UNSEEN: set[str] = set()


def of(*names: str, needs: str = "") -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Marks a test of these files. `needs`: the test is skipped without this library."""
    TESTED.update(names)

    def decorate(function: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            if needs and not LIBRARIES:
                return
            UNSEEN.update(map(str, FILES.values()))
            os.ftruncate(SAID, 0)
            os.lseek(SAID, 0, os.SEEK_SET)
            sys.setprofile(profile)
            try:
                function()
            finally:
                sys.setprofile(None)
            said = os.pread(SAID, 1 << 20, 0).decode().splitlines()
            missed = [name for name in names if str(FILES[name]) not in said]
            assert not missed, f"nothing of {missed} was called"

        run.__name__ = function.__name__
        return test(run)

    return decorate


def module(name: str) -> Any:
    return importlib.import_module(f"_countersign.{name}")


def forked(function: Callable[[], None]) -> None:
    """Runs the function in its own process and folder, so that its changes have no effect elsewhere."""
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as folder:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                signal.alarm(300)
                os.chdir(folder)
                module("files").hold_folder()
                function()
                status = 0
            except BaseException:  # noqa: BLE001 - told, whatever it is
                print(traceback.format_exc())
                sys.stdout.flush()
            os._exit(status)
        _, status = os.waitpid(pid, 0)
    assert status == 0, "the fork failed"


def raises(
    kind: type[BaseException] | tuple[type[BaseException], ...], function: Callable[..., Any], *args: Any
) -> BaseException:
    try:
        found = function(*args)
    except kind as error:
        return error
    raise AssertionError(f"{kind} was not raised, but {found!r} returned")
