"""Every acceptance test runs twice: with all tiers embedded, and with all of them on servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.servers import server_variables


@pytest.fixture(params=("embedded", "servers"), autouse=True)
def tiers(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[str]:
    """Where the tiers are; settings take it from the environment, so no test knows."""
    if request.param == "embedded":
        yield "embedded"
        return
    for name, value in server_variables().items():
        monkeypatch.setenv(name, value)
    yield "servers"
    assert not [*tmp_path.rglob("ezra.db"), *tmp_path.rglob("shard")], "a tier was embedded"
