"""What ``Ezra.open`` and ``Ezra.connect`` refuse before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ezra import Ezra, Settings
from tiers.errors import ConfigError, UsageError


@pytest.mark.parametrize(
    ("given", "field", "accepted"),
    [
        ({"settings": "memory"}, "settings", "Settings(home="),
        ({"settings": {"home": "memory"}}, "settings", "Settings(home="),
        ({"model": "gpt"}, "model", "complete"),
        ({"embedder": "off"}, "embedder", "embed"),
        ({"connectors": ["crm"]}, "connectors", "by their names"),
        ({"connectors": {"crm": 3}}, "connectors.crm", "function"),
        ({"connectors": {"": print}}, "connectors", "at least one character"),
        ({"clock": datetime.now(UTC)}, "clock", "function"),
        ({"clock": datetime.now}, "clock", "with its zone"),
    ],
)
async def test_what_is_no_part_of_a_runtime_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: Mapping[str, Any],
    field: str,
    accepted: str,
) -> None:
    """And no folder is made."""
    home = tmp_path / "memory"
    monkeypatch.setenv("EZRA_HOME", str(home))
    with pytest.raises(UsageError) as told:
        async with Ezra.open(**given):
            pass
    assert told.value.field == field
    assert accepted in told.value.accepted
    assert not home.exists()


async def test_a_folder_that_has_no_path_is_refused() -> None:
    """Python says so of a path with a NUL in an error that is none of ours."""
    with pytest.raises(ConfigError, match="EZRA_HOME: cannot make"):
        async with Ezra.open(Settings(home=Path("a\0b"))):
            pass


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": 8765}, "url"),
        ({"token": 5}, "token"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"timeout_seconds": float("nan")}, "timeout_seconds"),
        ({"timeout_seconds": "2"}, "timeout_seconds"),
    ],
)
async def test_what_is_no_way_to_a_server_is_named(given: dict[str, Any], field: str) -> None:
    """The token's value is not repeated."""
    with pytest.raises(UsageError) as told:
        async with Ezra.connect(**{"url": "http://127.0.0.1:8765", **given}):
            pass
    assert told.value.field == field
