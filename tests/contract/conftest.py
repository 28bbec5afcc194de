"""The cold tier's backends, for every contract test: no backend can choose its own judge."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.cold_backends import COLD_BACKENDS, Cold, ColdBackend


@pytest.fixture(params=COLD_BACKENDS, ids=lambda backend: backend.name)
def backend(request: pytest.FixtureRequest) -> ColdBackend:
    """Each backend."""
    return request.param


@pytest.fixture
async def cold(backend: ColdBackend, tmp_path: Path) -> AsyncIterator[Cold]:
    """An empty cold tier of each backend."""
    async with backend.opened(tmp_path) as stores:
        yield stores
