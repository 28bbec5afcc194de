"""The container files say what the documentation promises of them.

No container engine is needed: what can go wrong quietly is read from the files themselves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ezra import Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The parsed compose file."""
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


def test_every_port_is_published_on_loopback_only(compose: dict[str, Any]) -> None:
    """No server without a password can be reached from another machine."""
    ports = [port for service in compose["services"].values() for port in service.get("ports", ())]
    assert len(ports) == 3
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_every_server_keeps_its_data_in_a_named_volume(compose: dict[str, Any]) -> None:
    """So that removing the containers removes nothing else."""
    for name in ("redis", "qdrant", "mongodb"):
        volumes = compose["services"][name]["volumes"]
        assert volumes
        assert {volume.split(":")[0] for volume in volumes} <= set(compose["volumes"])
    command = compose["services"]["redis"]["command"]
    assert command[command.index("--appendonly") + 1] == "yes"


def test_the_service_waits_until_its_servers_are_healthy(compose: dict[str, Any]) -> None:
    """Each of them says when it is, MongoDB's image by itself."""
    waits = compose["services"]["ezra"]["depends_on"]
    assert {name: how["condition"] for name, how in waits.items()} == dict.fromkeys(
        ("redis", "qdrant", "mongodb"), "service_healthy"
    )
    for name in ("redis", "qdrant", "ezra"):
        assert compose["services"][name]["healthcheck"]["test"]


def test_every_variable_of_the_service_is_a_setting(
    compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And every value is one that it accepts, the empty ones included."""
    variables: dict[str, str] = compose["services"]["ezra"]["environment"]
    fields = {f"EZRA_{name.upper()}" for name in Settings.model_fields}
    assert set(variables) <= fields
    for name, value in variables.items():
        default = value.partition(":-")[2].rstrip("}") if value.startswith("${") else value
        monkeypatch.setenv(name, default)
    settings = Settings()
    assert not settings.needs_home
    assert settings.gemini_api_key is None


def test_the_image_holds_the_three_packages_and_runs_a_command_that_exists() -> None:
    """What the Dockerfile copies is in the repository and let through by .dockerignore."""
    copied = [
        line.split()[1:-1]
        for line in (ROOT / "Dockerfile").read_text().splitlines()
        if line.startswith("COPY")
    ]
    sources = {source for sources in copied for source in sources}
    assert {"ezra", "metaagents", "tiers"} <= sources
    allowed = set((ROOT / ".dockerignore").read_text().split())
    for source in sources:
        assert (ROOT / source).exists()
        assert f"!{source}" in allowed
