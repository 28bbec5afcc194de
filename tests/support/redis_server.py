"""A real Redis for tests: a child process on a Unix socket, gone with the block."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .processes import wait_until


class RedisServer:
    """One ``redis-server``; may be stopped, frozen and started again.

    It keeps nothing unless the options say so, and listens on a socket, besides what they say.
    """

    def __init__(self, folder: Path, *options: str) -> None:
        self.socket = folder / "redis.sock"
        self._folder = folder
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address for clients."""
        return f"unix://{self.socket}"

    def start(self) -> None:
        """Start the server and wait until it listens."""
        program = shutil.which("redis-server")
        if program is None:
            message = "redis-server 7.0 or later is needed: apt-get install redis-server"
            raise RuntimeError(message)
        log = self._folder / "redis.log"
        listen = ("--port", "0", "--unixsocket", str(self.socket))
        files = ("--dir", str(self._folder), "--logfile", str(log))
        self._process = subprocess.Popen([program, *self._mode(), *listen, *files, *self._options])
        wait_until(lambda: self._listens() or self._has_ended(), "redis-server")
        if self._has_ended():
            raise RuntimeError(f"redis-server did not start:\n{log.read_text()}")

    def _has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def _mode(self) -> tuple[str, ...]:
        return ("--save", "", "--appendonly", "no")

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self.socket)) == 0

    def kill(self) -> None:
        """End the server as a crash would; what it had not written is lost."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        self.socket.unlink(missing_ok=True)

    def restart(self, *options: str) -> None:
        """End the server and start it with other options; its files stay."""
        self.kill()
        self._options = options
        self.start()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop the process for the block: it accepts connections and never answers."""
        if self._process is None:
            message = "the server is not running"
            raise RuntimeError(message)
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)


@contextmanager
def running_redis(*options: str) -> Iterator[RedisServer]:
    """Run a server for the block."""
    # Not pytest's folder: the path of a Unix socket has at most 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="ezra-redis-"))
    server = RedisServer(folder, *options)
    try:
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder)
