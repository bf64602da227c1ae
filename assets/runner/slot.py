"""A run's own slot, made before its grant: namespaces, a pid 1, `/proc`, `/scratch`, and a payload.

Three forks: the spawner enters the namespaces and exits; its child is pid 1 of the run; the child of pid 1 is
the payload, which confines itself, rehearses, and waits for one message. Until the grant the run is only a
confined process that waits. A slot serves one run.
"""

import fcntl
import os
import signal
import struct
import sys
import time
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from _countersign import channel, files, restrict, syscalls

# A magic word, the code's SHA-256, the number of inputs, and how many bytes of them are mapped.
GRANT = struct.Struct("=8s32sIQ")
MAGIC = b"csgrant1"
# stdout, stderr, gate, report, job, code.
FIXED = 6
INPUTS_MAX = 245
# Their descriptor numbers, as in a cold start, where 5 and 6 are the setup and the bundle.
TARGETS = (1, 2, 3, 4, 7, 8)
FIRST_INPUT = 9


class Granted(NamedTuple):
    """What a payload learns about its run."""

    code: str
    mapped: int


def make(door: int, rules: restrict.Rules, rehearse: Callable[[], None]) -> Granted | None:
    """Makes a slot. Returns None in the zygote, and the run in the payload.

    The payload calls `rehearse` once it is confined, before it has anything of its run.

    Raises `OSError` in the zygote if the spawner failed.
    """
    flush()
    spawner = os.fork()
    if spawner:
        os.close(door)
        _, status = os.waitpid(spawner, 0)
        if status:
            raise OSError(f"the spawner ended with status {status}")
        return None
    try:
        syscalls.close_all_but({0, 1, 2, door})
        enter()
        flush()
        if os.fork():
            os._exit(0)
        return reside(door, rules, rehearse)
    except BaseException as error:  # noqa: BLE001 - for the local log, whatever it is
        complain(error)
        os._exit(1)


def flush() -> None:
    """Flushes the streams before a fork, since buffered text would be written twice."""
    sys.stdout.flush()
    sys.stderr.flush()


def complain(error: BaseException) -> None:
    os.write(2, f"{type(error).__name__}: {error}\n".encode("utf-8", "backslashreplace"))


def enter() -> None:
    """Enters new namespaces for the run, with this user as the only one."""
    user, group = os.getuid(), os.getgid()
    syscalls.dumpable(True)
    syscalls.unshare(
        syscalls.CLONE_NEWUSER
        | syscalls.CLONE_NEWPID
        | syscalls.CLONE_NEWNS
        | syscalls.CLONE_NEWIPC
        | syscalls.CLONE_NEWNET
    )
    for name, text in (
        # Otherwise a process could drop a group whose members are denied access.
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def reside(door: int, rules: restrict.Rules, rehearse: Callable[[], None]) -> Granted:
    """As pid 1: prepares the slot, makes the payload when told to, and reaps processes."""
    os.setsid()
    # Shows processes only, and nothing of the machine, as in a cold start.
    syscalls.mount("proc", "/proc", "subset=pid")
    syscalls.mount("tmpfs", "/scratch", rules.scratch)
    os.mkdir(rules.output, 0o700)
    os.mkdir(rules.home, 0o700)
    syscalls.mount("tmpfs", "/dev/shm", rules.shared)  # noqa: S108 - a mount of its own
    syscalls.drop_capabilities()
    syscalls.dumpable(False)
    null = os.open("/dev/null", os.O_RDWR)
    for target in (0, 1, 2):
        os.dup2(null, target)
    syscalls.close_all_but({0, 1, 2, door})
    # The broker collects the run's files through it, when all processes of the run have ended.
    folder = os.open(rules.output, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    channel.send(door, b"ready", folder)
    os.close(folder)
    # By the time of this message the process is in its control group, so its children will be too.
    text, _ = channel.receive(door, 1, 0)
    if not text:
        os._exit(0)
    flush()
    payload = os.fork()
    if payload:
        reap(payload, door, restrict.processor_time(rules))
    return become_payload(door, rules, rehearse)


def reap(payload: int, door: int, cpu_s: int) -> NoReturn:
    """Reports how the payload ended; pid 1 then exits, which kills all other processes of the run.

    The report also counts other processes that a limit of their own ended (`handover::Lost`).
    """
    lost_cpu = lost_files = 0
    ended: tuple[int, int, int] | None = None
    while True:
        try:
            # After the payload's end, children that it never waited for become children of this process.
            pid, status, usage = os.wait4(-1, os.WNOHANG if ended else 0)
        except ChildProcessError:
            pid = 0
        if pid == 0:
            break
        used = usage.ru_utime + usage.ru_stime
        if pid == payload:
            ended = (status, int(used * 1_000_000), usage.ru_maxrss)
            continue
        by = status & 0x7F
        lost_cpu += by == signal.SIGXCPU and used >= cpu_s // 2
        lost_files += by == signal.SIGXFSZ
    if ended:
        channel.send(door, struct.pack("=iQQII", *ended, lost_cpu, lost_files))
    os._exit(0)


def become_payload(door: int, rules: restrict.Rules, rehearse: Callable[[], None]) -> Granted:
    """Confines this process, waits for its run, and returns it."""
    os.setsid()
    try:
        restrict.limit(rules)
        restrict.first_to_go()
        syscalls.die_with_parent()
        os.chdir(rules.output)
        restrict.close_in(rules)
        files.hold_folder()
        rehearse()
    except BaseException as error:  # noqa: BLE001 - told to the helper, which gives this slot up
        channel.send(door, f"-{type(error).__name__}: {error}".encode("utf-8", "replace")[:900])
        os._exit(127)
    # Sends the Landlock layer, which nobody can read from outside, and the processor time that does not count as
    # the run's.
    channel.send(door, b"+" + struct.pack("=Q", spent()) + rules.layer.encode())
    text, fds = channel.receive(door, GRANT.size, FIXED + INPUTS_MAX)
    if not text:
        os._exit(0)
    magic, digest, inputs, mapped = GRANT.unpack(text)
    if magic != MAGIC or len(fds) != FIXED + inputs:
        os._exit(1)
    if restrict.files(rules) <= FIRST_INPUT + inputs:
        # The policy allows fewer descriptors than needed; the cold start that follows reports it.
        os._exit(1)
    place(fds)
    restrict.limit_files(rules)
    return Granted("sha256:" + digest.hex(), mapped)


def spent() -> int:
    """Processor time of this process, in microseconds."""
    return time.process_time_ns() // 1000


def place(fds: list[int]) -> None:
    """Puts the descriptors where a cold start has them and closes all others, the door among them."""
    targets = [*TARGETS, *range(FIRST_INPUT, FIRST_INPUT + len(fds) - FIXED)]
    folder = targets[-1] + 1
    # First moved above all target numbers: a descriptor may occupy another one's target.
    fds = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, folder + 1) for fd in fds]
    files.move_folder(folder)
    for target, fd in zip(targets, fds, strict=True):
        os.dup2(fd, target, inheritable=target <= 2)
    syscalls.close_all_but({0, *targets, folder})


def quiet() -> None:
    """Removes Python's SIGINT handler: pid 1 ignores signals without a handler."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
