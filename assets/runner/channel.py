"""Messages of whole packets with descriptors, on sockets given by number.

Numbers instead of socket objects: after a fork descriptors are closed by number, and a socket object that outlives
its descriptor would later close somebody else's.
"""

import os
import socket
import struct


def receive(fd: int, length: int, most: int) -> tuple[bytes, list[int]]:
    """One message of exactly `length` bytes with at most `most` descriptors; empty at the end."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, fd)
    try:
        room = socket.CMSG_SPACE(most * 4)
        text, control, flags, _ = sock.recvmsg(length + 1, room, socket.MSG_CMSG_CLOEXEC)
    finally:
        sock.detach()
    fds: list[int] = []
    for level, kind, data in control:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.extend(struct.unpack(f"={len(data) // 4}i", data[: len(data) // 4 * 4]))
    if text and (len(text) != length or flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC)):
        for one in fds:
            os.close(one)
        raise OSError("a message of the wrong size")
    return text, fds


def send(fd: int, text: bytes, *fds: int) -> None:
    if not fds:
        os.write(fd, text)
        return
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, fd)
    try:
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"={len(fds)}i", *fds))
        sock.sendmsg([text], [rights])
    finally:
        sock.detach()
