"""The cold tier's backends, for every contract test: no backend can choose its own judge."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.cold_backends import COLD_BACKENDS, Cold, ColdBackend

MUCH = frozenset(
    (
        "test_long_lineage_is_whole_and_bounded",
        "test_a_hub_costs_one_look",
    )
)
"""Tests of so many records that an engine which looks at each of them is not asked."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Ask every backend. Who has a table of its own may."""
    if "backend" not in metafunc.fixturenames or _has_its_own(metafunc):
        return
    is_much = metafunc.function.__name__ in MUCH
    backends = [one for one in COLD_BACKENDS if not is_much or one.name != "memory"]
    metafunc.parametrize("backend", backends, ids=lambda backend: backend.name)


def _has_its_own(metafunc: pytest.Metafunc) -> bool:
    """Whether the module or the test says itself whom it asks."""
    named = (mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    return hasattr(metafunc.module, "backend") or any("backend" in names for names in named)


@pytest.fixture
async def cold(backend: ColdBackend, tmp_path: Path) -> AsyncIterator[Cold]:
    """An empty cold tier of each backend."""
    async with backend.opened(tmp_path) as stores:
        yield stores
