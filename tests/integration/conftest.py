"""Where the tiers of an integration test are."""

from __future__ import annotations

import pytest
from support.servers import on_servers


@pytest.fixture(params=("embedded", "servers"))
def tiers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the tiers are; settings take it from the environment."""
    if request.param == "servers":
        on_servers(monkeypatch)
    return str(request.param)
