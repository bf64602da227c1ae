"""Starts the dashboard in a terminal on a log and measures it: PROGRAM FOLDER. A row for the socket, one for the check."""

import fcntl
import os
import pty
import struct
import sys
import termios
import threading
import time

program, folder = sys.argv[1:]
state = os.path.join(folder, "state")
socket = os.path.join(state, "run", "agent.sock")
env = {
    "HOME": folder,
    "PATH": os.environ["PATH"],
    "LANG": "C.UTF-8",
    "TERM": "xterm",
    "COUNTERSIGN_TIER": "process",
    "COUNTERSIGN_CHARSET": "utf-8",
}


def row(what, since, memory):
    print(f"{what:58} {(time.perf_counter() - since) * 1e3:9.1f} {memory / 1024:8.0f}", flush=True)


def resident(pid, which):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(which + ":"))


begun = time.perf_counter()
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
    os.execve(program, [program, "--state-dir", state, "--socket", socket], env)
drawn = bytearray()


def read():
    try:
        while part := os.read(terminal, 65536):
            drawn.extend(part)
            if b"\x1b[6n" in part:
                os.write(terminal, b"\x1b[1;1R")
            if b"\x1b[c" in part:
                os.write(terminal, b"\x1b[?62c")
    except OSError:
        pass


threading.Thread(target=read, daemon=True).start()


def wait(what, done, longest):
    until = time.monotonic() + longest
    while not done():
        if time.monotonic() > until or os.waitpid(pid, os.WNOHANG)[0]:
            sys.exit(f"{what} did not come:\n{bytes(drawn[-4000:])}")
        time.sleep(0.002)


wait("the socket", lambda: os.path.exists(socket), 60)
row("the dashboard's socket", begun, resident(pid, "VmRSS"))
wait("the check", lambda: "log ✓".encode() in drawn or "log ✗".encode() in drawn, 300)
row("  and the log read behind its screen", begun, resident(pid, "VmHWM"))
os.write(terminal, b"q")
time.sleep(0.5)
os.write(terminal, b"y")
closing = time.perf_counter()
wait_until = time.monotonic() + 30
while not os.waitpid(pid, os.WNOHANG)[0]:
    if time.monotonic() > wait_until:
        os.kill(pid, 9)
        sys.exit("it did not end")
    time.sleep(0.01)
