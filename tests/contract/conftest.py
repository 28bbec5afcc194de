"""The cold tier's backends, for every contract test: no backend can choose its own judge."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.cold_backends import COLD_BACKENDS, Cold, ColdBackend

SAMPLED = {"motor": 8, "mongo-standalone": 4}
"""Rows that are another row's code through another client, or without its transactions: the normal
run takes every so many-th of their tests, chosen by name, and ``-m slow`` the others."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what the normal run leaves to the slow one."""
    for item in items:
        spec = getattr(item, "callspec", None)
        row = getattr(spec.params.get("backend"), "name", "") if spec else ""
        if zlib.crc32(item.nodeid.rpartition("/")[2].encode()) % SAMPLED.get(row, 1):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(params=COLD_BACKENDS, ids=lambda backend: backend.name)
def backend(request: pytest.FixtureRequest) -> ColdBackend:
    """Each backend."""
    return request.param


@pytest.fixture
async def cold(backend: ColdBackend, tmp_path: Path) -> AsyncIterator[Cold]:
    """An empty cold tier of each backend."""
    async with backend.opened(tmp_path) as stores:
        yield stores
