"""Where the tiers of an integration test are."""

from __future__ import annotations

import pytest
from support.servers import server_variables


@pytest.fixture(params=("embedded", "servers"))
def tiers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the tiers are; settings take it from the environment."""
    if request.param == "servers":
        for name, value in server_variables().items():
            monkeypatch.setenv(name, value)
    return str(request.param)
