"""The quick starts of the README for the shell, REST and MCP, run as they are shown."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from support.mcp_client import told
from support.model_providers import free_port

README = Path(__file__).parents[2] / "README.md"
SHOWN_PORT = "8765"


@pytest.fixture(scope="module")
def shell_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a shell has in which somebody tries the page: an empty folder, no model."""
    home = tmp_path_factory.mktemp("memory")
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "EZRA_HOME": str(home / "memory"),
        "EZRA_EMBEDDER": "off",
        "EZRA_SERVE_PORT": str(free_port()),
    }


@pytest.fixture(scope="module")
def begun(shell_environment: dict[str, str]) -> str:
    """What the block about the command line printed; what follows on the page builds on it."""
    (block,) = [one for one in blocks() if "ezra init" in one]
    return shell(block, shell_environment)


def blocks() -> list[str]:
    """Return the shell of the page, block by block."""
    return re.findall(r"```bash\n(.*?)```", README.read_text(), re.DOTALL)


def shell(block: str, shell_environment: dict[str, str]) -> str:
    """Run a block until something fails, and end what it left running; return what it printed."""
    script = f"set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n{block}"
    done = subprocess.run(
        ["bash", "-c", script.replace(SHOWN_PORT, shell_environment["EZRA_SERVE_PORT"])],
        env=shell_environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_commands_are_as_shown(begun: str) -> None:
    """From an empty folder to an answer that says where it is from."""
    assert "Mediums last about 18 laps." in begun
    assert "Start on mediums." in begun


def test_the_requests_are_as_shown(begun: str, shell_environment: dict[str, str]) -> None:
    """The service answers over HTTP what was said on the command line."""
    assert begun
    (block,) = [one for one in blocks() if "ezra serve &" in one]
    said = shell(block, shell_environment)
    assert '"status":"ok"' in said
    assert said.count("Mediums last about 18 laps.") >= 2  # by curl, and by the command line
    assert "Start on mediums." in said


async def test_the_configuration_for_mcp_works_as_it_is(
    begun: str, shell_environment: dict[str, str]
) -> None:
    """What a client would paste starts a server that knows what was remembered."""
    assert begun
    (command,) = re.findall(r"`(ezra mcp config [^`]+)`", README.read_text())
    pasted = json.loads(shell(command, shell_environment))
    (entry,) = pasted["mcpServers"].values()
    server = StdioServerParameters(
        command=entry["command"], args=entry["args"], env=shell_environment
    )
    async with Client(stdio_client(server)) as client:
        found = await told(client, "recall", query="medium tyre life")
    assert "Mediums last about 18 laps." in json.dumps(found)
