"""``ezra`` in processes that are forked from one which has imported everything already.

Starting Python and importing ezra takes most of a command's time, and tests run hundreds of them.
So a run of tests starts one process that imports, and waits. The program that ``warm_command``
returns hands it the arguments, environment, folder and open files of a command, and stands for it:
it passes signals on, and ends as the command ends. The command is a process of its own, with its
own locks and files, whose ``main`` is called as the installed one calls it. The program that
``warm_python`` returns stands for ``python -m MODULE`` and ``python -c PROGRAM`` in the same way,
also where ``-P`` is before that.
"""

from __future__ import annotations

import array
import atexit
import gc
import json
import os
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from .session import SESSION

TESTS = Path(__file__).parent.parent
REQUEST_BYTES_MAX = 1_000_000
SIGNALS = "SIGTERM", "SIGINT"
IMPORTED = (
    *("ezra.app", "ezra.remote", "ezra.service.app", "ezra.service.listening", "ezra.service.mcp"),
    *("ezra.assembly.assembler", "tiers.warm", "tiers.cold.sqlite", "ezra.documents.markdown"),
)
"""What most commands need; whatever else one needs it imports by itself."""

PYTHON = "python"
WORK = "from support.warm_command import work; work()"

PROGRAM = """#!{python} -IS
import array, json, os, signal, socket, sys
way = socket.socket(socket.AF_UNIX)
way.connect({address!r})
for name in {signals!r}:
    number = getattr(signal, name)
    signal.signal(number, lambda number, _: way.send(bytes([number])))
asked = json.dumps([sys.argv, dict(os.environ), os.getcwd()]).encode()
files = array.array("i", [0, 1, 2])
way.sendmsg([len(asked).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
way.sendall(asked)
code = int.from_bytes(way.recv(2), "big", signed=True)
if code >= 0:
    os._exit(code)
signal.signal(-code, signal.SIG_DFL)
os.kill(os.getpid(), -code)
"""
"""It imports next to nothing, and so starts in a few hundredths of a second."""


def warm_command() -> Path:
    """Return a program that is ``ezra``, but for where its process comes from."""
    return _programs() / "ezra"


def warm_python() -> Path:
    """Return a program that is ``python -m`` or ``-c``, but for where its process comes from."""
    return _programs() / PYTHON


@cache
def _programs() -> Path:
    """Start the process that imports, and return the folder of the programs that ask it."""
    folder = Path(tempfile.mkdtemp(prefix="ezra-"))  # the path of a socket must be short
    SESSION.callback(shutil.rmtree, folder)
    address = str(folder / "way")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    with listener:
        process = subprocess.Popen(
            [sys.executable, "-c", WORK, str(listener.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{TESTS}:{TESTS.parent}"},
        )
    SESSION.callback(process.wait)
    SESSION.callback(process.kill)
    for name in ("ezra", PYTHON):
        program = folder / name
        program.write_text(PROGRAM.format(python=sys.executable, address=address, signals=SIGNALS))
        program.chmod(0o755)
    return folder


@dataclass(frozen=True)
class Request:
    """A command that somebody wants to run, and the way to whoever does."""

    way: socket.socket
    arguments: list[str]
    environment: dict[str, str]
    folder: str
    files: list[int]

    @classmethod
    def received(cls, way: socket.socket) -> Request:
        """Read it from a connection."""
        files = array.array("i")
        head, carried, *_ = way.recvmsg(4, socket.CMSG_SPACE(3 * files.itemsize))
        for *_, data in carried:
            files.frombytes(data)
        size = int.from_bytes(head, "big")
        assert 0 < size <= REQUEST_BYTES_MAX, size
        asked = way.recv(size, socket.MSG_WAITALL)
        return cls(way, *json.loads(asked), files.tolist())

    def entered(self) -> None:
        """Become the process of the command, in which everything else is closed."""
        for target, file in enumerate(self.files):
            os.dup2(file, target)
        os.closerange(3, max(self.files) + 100)
        os.chdir(self.folder)
        # What importing ezra has set, which the command would set anew.
        set_by_us = {"ORT_DISABLE_TELEMETRY": os.environ["ORT_DISABLE_TELEMETRY"]}
        os.environ.clear()
        os.environ.update(set_by_us | self.environment)
        sys.argv = self.arguments


def served(listener: socket.socket) -> None:
    """Fork a process for each command that is wanted. Returns in those, and never in this one."""
    with selectors.DefaultSelector() as waited:
        waited.register(listener, selectors.EVENT_READ)
        while True:
            for key, _ in waited.select():
                if key.fileobj is not listener:
                    _passed_on(waited, key)
                    continue
                request = Request.received(listener.accept()[0])
                child = os.fork()
                if child == 0:
                    return request.entered()
                for file in request.files:
                    os.close(file)
                end = os.pidfd_open(child)
                waited.register(request.way, selectors.EVENT_READ, (child, end, request.way))
                waited.register(end, selectors.EVENT_READ, (child, end, request.way))


def _passed_on(waited: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    """Pass on a signal, or the end of either side: who is killed takes its command along."""
    if waited.get_map().get(key.fd) is not key:
        return  # both sides ended at one time, and the other was seen first
    child, end, way = key.data
    if key.fileobj is way:
        sent = way.recv(1)
        if sent:
            signal.pidfd_send_signal(end, sent[0])
            return
        waited.unregister(way)
        signal.pidfd_send_signal(end, signal.SIGKILL)
        return
    _, status = os.waitpid(child, 0)
    waited.unregister(end)
    os.close(end)
    if way in waited.get_map():
        waited.unregister(way)
        code = os.waitstatus_to_exitcode(status)
        with suppress(ConnectionError):  # it was killed at that moment, and asks no more
            way.sendall(code.to_bytes(2, "big", signed=True))
    way.close()


def work() -> None:
    """Import everything, and wait; in a process of a command, be that command."""
    for module in IMPORTED:
        import_module(module)
    import_module("ezra.cli.app").app_of()  # which imports every command
    # What every server would make anew.
    import_module("ezra.service.app").openapi_document()
    import_module("ezra.service.mcp_tools")._described()
    import_module("tiers.provider_clients").trusted_certificates()
    import_module("metaagents.learning.regexes").compile_all()  # and whatever reads a text
    gc.freeze()  # looked through for garbage, shared memory is copied
    served(socket.socket(fileno=int(sys.argv[1])))
    try:
        _command()
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise  # Python says it
        _left(ended.code or 0)
    _left(0)


def _command() -> None:
    if Path(sys.argv[0]).name != PYTHON:
        sys.exit(import_module("ezra.cli").main())
    del sys.argv[: 2 if sys.argv[1] == "-P" else 1]
    if sys.argv[0] == "-c":
        exec(sys.argv.pop(1), {"__name__": "__main__"})  # noqa: S102 - as asked
        return
    del sys.argv[0]  # ``-m``
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _left(code: int) -> None:
    """End as Python does, but do not take apart what was imported: that takes a tenth of a second.

    What is not as it should be at the end, output that nobody takes for one, ends as ever.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)
    os._exit(code)
