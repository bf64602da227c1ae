# Tries each of ROWS in a fork of its own; prints what they met as one JSON list.
import ctypes
import errno
import json
import os
import resource
import signal
import socket
import sys
import time

C = ctypes.CDLL(None, use_errno=True)


def call(name, *args):
    args = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    result = C.syscall(ctypes.c_long(H["calls"][name]), *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def vector():
    """One iovec of eight bytes: the address is this process's, and as good as any."""
    space = ctypes.create_string_buffer(8)
    return (ctypes.c_ulong * 2)(ctypes.addressof(space), 8)


def timespec():
    return (ctypes.c_long * 2)(int(time.time()), 0)


def met(code):
    lines = "".join(f"    {line}\n" for line in code.strip().splitlines())
    space = dict(globals())
    try:
        exec("def attack():\n" + lines, space)
        space["attack"]()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    except BaseException as error:
        return type(error).__name__
    return "DONE"


def tried(code):
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        os.write(theirs, met(code).encode())
        os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as said:
        word = said.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return signal.Signals(-status).name if status < 0 else word


print(json.dumps([tried(code) for code in ROWS]))
