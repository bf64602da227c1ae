"""System calls of the warm start that the standard library lacks, each as one function.

Only the zygote imports this: a Python without ctypes always starts cold.
"""

import ctypes
import os
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SECCOMP_MODE_FILTER = 2
_LINUX_CAPABILITY_VERSION_3 = 0x20080522
_LANDLOCK_RULE_PATH_BENEATH = 1

# All numbers from 424 on are the same on every architecture.
_SYS_CLOSE_RANGE = 436
_SYS_LANDLOCK_CREATE_RULESET = 444
_SYS_LANDLOCK_ADD_RULE = 445
_SYS_LANDLOCK_RESTRICT_SELF = 446

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _call(number: int, what: str, *args: int | bytes) -> int:
    # Passed as long, to fill whole registers: the upper half after a plain int is undefined.
    whole = [arg if isinstance(arg, bytes) else ctypes.c_long(arg) for arg in args]
    return _check(_libc.syscall(ctypes.c_long(number), *whole), what)


def _prctl(what: str, *args: int) -> None:
    whole = [ctypes.c_ulong(arg) for arg in (*args, 0, 0, 0, 0)[:5]]
    _check(_libc.prctl(*whole), what)


def unshare(flags: int) -> None:
    """Enters new namespaces; a new pid namespace applies to children only."""
    _check(_libc.unshare(flags), "unshare")


def mount(kind: str, target: str, options: str) -> None:
    """Mounts a file system of this kind, without exec, setuid and devices."""
    flags = ctypes.c_ulong(MS_NOSUID | MS_NODEV | MS_NOEXEC)
    name = kind.encode()
    result = _libc.mount(name, target.encode(), name, flags, options.encode() or None)
    _check(result, f"mount {target}")


def dumpable(yes: bool) -> None:
    """Sets whether other processes of this user may read this one, and this one its own maps."""
    _prctl("dumpable", _PR_SET_DUMPABLE, int(yes))


def die_with_parent() -> None:
    _prctl("pdeathsig", _PR_SET_PDEATHSIG, 9)


def drop_capabilities() -> None:
    """Drops all capabilities for good, in every set including the bounding one."""
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, *map(ctypes.c_ulong, (capability, 0, 0, 0))) < 0:
            # One past the kernel's last capability.
            break
    _prctl("ambient", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = struct.pack("=Ii", _LINUX_CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(header, bytes(24)), "capset")


def close_all_but(kept: set[int]) -> None:
    """Closes every descriptor that is not listed."""
    first = 0
    for fd in sorted(kept):
        if first < fd:
            _call(_SYS_CLOSE_RANGE, "close_range", first, fd - 1, 0)
        first = fd + 1
    _call(_SYS_CLOSE_RANGE, "close_range", first, 0xFFFFFFFF, 0)


def create_ruleset(attributes: bytes) -> int:
    """Makes a Landlock ruleset that handles these rights, and returns its descriptor."""
    return _call(_SYS_LANDLOCK_CREATE_RULESET, "landlock", attributes, len(attributes), 0)


def add_rule(ruleset: int, place: int, rights: int) -> None:
    beneath = struct.pack("=Qi", rights, place)
    _call(_SYS_LANDLOCK_ADD_RULE, "landlock rule", ruleset, _LANDLOCK_RULE_PATH_BENEATH, beneath, 0)


def restrict_self(ruleset: int) -> None:
    _call(_SYS_LANDLOCK_RESTRICT_SELF, "landlock", ruleset, 0)


def install_filter(program: bytes) -> None:
    """Installs a seccomp program; `no_new_privs` must be on."""
    text = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("@HP", len(program) // 8, ctypes.addressof(text))
    kept = ctypes.create_string_buffer(head, len(head))
    _prctl("seccomp", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(kept))
