"""The container files say what the documentation promises of them.

No container engine is needed: what can go wrong quietly is read from the files themselves.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from support.processes import PATIENCE_SECONDS, succeeded
from support.warm_command import warm_command

from ezra import Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The parsed compose file."""
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


def test_every_port_is_published_on_loopback_only(compose: dict[str, Any]) -> None:
    """No server without a password can be reached from another machine."""
    ports = [port for service in compose["services"].values() for port in service.get("ports", ())]
    assert len(ports) == 4
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_every_server_keeps_its_data_in_a_named_volume(compose: dict[str, Any]) -> None:
    """So that removing the containers removes nothing else."""
    for name in ("redis", "qdrant", "mongodb"):
        volumes = compose["services"][name]["volumes"]
        assert volumes
        assert {volume.split(":")[0] for volume in volumes} <= set(compose["volumes"])
    command = compose["services"]["redis"]["command"]
    assert command[command.index("--appendonly") + 1] == "yes"


def test_the_service_runs_alone_or_waits_until_its_servers_are_healthy(
    compose: dict[str, Any],
) -> None:
    """The servers are a profile of their own; whoever starts it waits for each of them."""
    services = compose["services"]
    assert "profiles" not in services["ezra"]
    waits = services["ezra"]["depends_on"]
    assert waits == {
        name: {"condition": "service_healthy", "required": False}
        for name in ("redis", "qdrant", "mongodb")
    }
    for name in waits:
        assert services[name]["profiles"] == ["servers"]
    variables = env_file()
    assert variables.pop("COMPOSE_PROFILES") == "servers"
    for name, url in variables.items():
        assert urlsplit(url).hostname in waits
        assert services["ezra"]["environment"][name] == f"${{{name}:-}}"


def test_images_are_pinned_and_health_is_asked_cheaply(compose: dict[str, Any]) -> None:
    """A version to the minor at least, never the latest; no check starts an interpreter."""
    from_ = re.findall(r"^FROM (\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    images = [one["image"] for one in compose["services"].values() if "image" in one]
    assert len(images) == 3
    for image in (*from_, *images):
        assert re.search(r":v?\d+\.\d+", image), image
    for name in ("redis", "qdrant", "ezra"):
        command = compose["services"][name]["healthcheck"]["test"]
        assert command[0] == "CMD"
        assert command[1] in {"bash", "redis-cli"}


def test_every_variable_of_the_service_is_a_setting(
    compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every value is one that it accepts, the empty ones included; keys of providers go through."""
    variables: dict[str, str] = compose["services"]["ezra"]["environment"]
    fields = {f"EZRA_{name.upper()}" for name in Settings.model_fields}
    assert set(variables) <= fields
    assert {"EZRA_GEMINI_API_KEY", "EZRA_OPENAI_API_KEY", "EZRA_OPENAI_BASE_URL"} <= set(variables)
    for name, value in variables.items():
        default = value.partition(":-")[2].rstrip("}") if value.startswith("${") else value
        monkeypatch.setenv(name, default)
    settings = Settings()
    assert settings.needs_home
    assert settings.gemini_api_key is None
    for name, value in env_file().items():
        monkeypatch.setenv(name, value)
    assert not Settings().needs_home


def test_the_image_holds_the_three_packages_and_runs_a_command_that_exists() -> None:
    """What the Dockerfile copies is in the repository and let through by .dockerignore."""
    copied = [
        line.split()[1:-1]
        for line in (ROOT / "Dockerfile").read_text().splitlines()
        if line.startswith("COPY")
    ]
    sources = {source for sources in copied for source in sources}
    assert {"ezra", "metaagents", "tiers"} <= sources
    start, command = dockerfile("ENTRYPOINT"), dockerfile("CMD")
    assert start == ["/opt/ezra/scripts/container"]
    assert os.access(ROOT / "scripts" / "container", os.X_OK)
    assert (
        command
        == yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["ezra"]["command"]
    )
    allowed = set((ROOT / ".dockerignore").read_text().split())
    for source in sources:
        assert (ROOT / source).exists()
        assert f"!{source}" in allowed


def test_the_first_start_makes_what_a_server_needs_and_later_ones_keep_it(tmp_path: Path) -> None:
    """The image's own command, as a process with a clean home: console, REST, MCP and /docs answer.

    Tokens and key are only their owner's to read, printed nowhere, and the same after a restart.
    """
    home = tmp_path / "data"
    (tmp_path / "ezra").symlink_to(warm_command())
    kept: dict[str, bytes] = {}
    for start in range(2):
        with started(home, tmp_path) as (url, said):
            token = (home / "operator.token").read_text().strip()
            assert ("first start" in said()) == (start == 0)
            assert token not in said()
            asked = {"/console/sign-in": 200, "/docs": 200, "/v1/graphs": 401}
            assert {path: status_of(url + path) for path in asked} == asked
            assert status_of(f"{url}/v1/graphs", token) == 200
            agents = (home / "agents.token").read_text().strip()
            assert status_of(f"{url}/v1/graphs/none/agents/none", agents) == 404
            assert status_of(f"{url}/mcp", agents, b"{}") == 406  # no client of MCP, but let in
            assert status_of(f"{url}/mcp", None, b"{}") == 401
        names = ("operator.token", "agents.token", "signing-key.pem", "tokens.json")
        now = {name: (home / name).read_bytes() for name in names}
        assert start == 0 or now == kept
        kept = now
        for name in names:
            assert stat.S_IMODE((home / name).stat().st_mode) == 0o600, name


def test_any_other_command_is_ezras(tmp_path: Path) -> None:
    """Nothing is made for it: ``docker compose run --rm ezra --version``."""
    variables = environment(tmp_path / "data", tmp_path)
    done = succeeded(ROOT / "scripts" / "container", "--version", env=variables)
    assert done.stdout.strip() == version("ezra")
    assert not (tmp_path / "data").exists()


def env_file() -> dict[str, str]:
    """Return the variables of the file that starts the servers too."""
    lines = (ROOT / "compose.servers.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def dockerfile(word: str) -> list[str]:
    """Return what an instruction of the image says in its list form."""
    (line,) = re.findall(rf"^{word} (.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    found: list[str] = json.loads(line)
    return found


def environment(home: Path, user: Path) -> dict[str, str]:
    """Return what the image sets, with a free port in the place of the one that is published."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "HOME": str(user),
        "EZRA_HOME": str(home),
        "EZRA_SERVE_HOST": "0.0.0.0",  # noqa: S104 - as in the container, where a token is needed
        "EZRA_SERVE_PORT": "0",
        "EZRA_EMBEDDER": "off",
    }


@contextmanager
def started(home: Path, user: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    """Run the image's command for a user; yields where it answers, and what it has said so far."""
    output = user / "output"
    variables = environment(home, user)
    variables["PATH"] = f"{user}:{variables['PATH']}"  # where ``ezra`` starts faster
    with output.open("wb") as told:
        process = subprocess.Popen(
            [str(ROOT / "scripts" / "container"), *dockerfile("CMD")],
            env=variables,
            stdout=told,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (found := re.search(r"http://0\.0\.0\.0:(\d+)", output.read_text())):
            assert process.poll() is None, output.read_text()
            assert time.monotonic() < deadline, output.read_text()
            time.sleep(0.05)
        yield f"http://127.0.0.1:{found[1]}", output.read_text
    finally:
        process.terminate()
        assert process.wait(60) == 0


def status_of(url: str, token: str | None = None, body: bytes | None = None) -> int:
    """Return the status of an answer."""
    request = urllib.request.Request(url, body)  # noqa: S310 - an address of this machine
    request.add_header("content-type", "application/json")
    if token is not None:
        request.add_header("authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - likewise
            found: int = answer.status
    except urllib.error.HTTPError as error:
        found = error.code
    return found
