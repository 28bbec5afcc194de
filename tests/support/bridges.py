"""Machines of coding agents, and the server that they share, which can be killed."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any

from ezra import Ezra
from ezra.bridge.client import Bridge, bridged
from ezra.bridge.config import BridgeConfig

from .command import started
from .model_providers import free_port
from .processes import PATIENCE_SECONDS, wait_until


class Server:
    """``ezra serve`` on a folder, at one address for its life, whatever is done to it.

    Args:
        home: Its folder.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._port = free_port()
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start it, and wait until it takes requests."""
        told = ("--json", "--no-access-log")
        variables = {"EZRA_HOME": str(self._home), "EZRA_EMBEDDER": "off"}
        self._process = started("serve", "--port", self._port, *told, **variables)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        first = self._process.stdout.readline()
        assert first, self._process.stderr.read()
        assert json.loads(first)["url"] == self.url
        wait_until(self._listens, self.url)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0

    def kill(self) -> None:
        """Kill it where it stands."""
        if self._process is not None:
            with self._process as process:
                process.kill()
                process.communicate(timeout=PATIENCE_SECONDS)
            self._process = None


@contextmanager
def server(home: Path) -> Iterator[Server]:
    """Run a server for the length of the block; it may be killed and started in between."""
    made = Server(home)
    made.start()
    try:
        yield made
    finally:
        made.kill()


def machine(state: Path, agent: str, url: str | None = None, **given: Any) -> BridgeConfig:
    """Return the configuration of an agent on a machine of its own."""
    values: dict[str, Any] = {"machine": state.name, "timeout_seconds": 30.0, **given}
    return BridgeConfig(state=state, agent=agent, url=url, **values)


def at(config: BridgeConfig) -> AbstractAsyncContextManager[Bridge]:
    """Open the bridge of a machine to its server."""
    assert config.url is not None
    url, seconds = config.url, config.timeout_seconds
    return bridged(config, lambda: Ezra.connect(url, timeout_seconds=seconds))
