"""Runs a command that is killed the moment it opens a socket to anything but this machine's kernel.

    python tests/support/no_sockets.py COMMAND [ARGUMENT ...]

The filter stands in the kernel (seccomp), so compiled libraries are under it as well, and so is
every process that the command starts. Sockets between processes of this machine stay allowed.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from socket import AddressFamily

_SOCKET_CALL = {"x86_64": 41, "aarch64": 198}[platform.machine()]

_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_NUMBER, _FAMILY = 0, 16  # offsets into what a filter sees of a call: its number, first argument
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def refuse_sockets() -> None:
    """Let this process and its children die of any socket but those inside this machine.

    Raises:
        OSError: The kernel takes no filter.
    """
    steps = (
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_IF_EQUAL, 0, 3, _SOCKET_CALL),
        (_LOAD, 0, 0, _FAMILY),
        (_JUMP_IF_EQUAL, 1, 0, AddressFamily.AF_UNIX),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_RETURN, 0, 0, _ALLOW),
    )
    packed = b"".join(struct.pack("HBBI", *step) for step in steps)
    program = _Program(len(steps), packed)
    call = ctypes.CDLL(None, use_errno=True).prctl
    for arguments in (
        (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0),
    ):
        if call(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "the kernel takes no filter of calls")


if __name__ == "__main__":
    refuse_sockets()
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 - the command under test
