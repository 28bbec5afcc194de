"""The backends of the cold and the warm tier, for every contract test: none chooses its judge."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from support.cold_backends import COLD_BACKENDS, Cold, ColdBackend
from support.warm_backends import WARM_BACKENDS, WarmBackend

from tiers.ports import WarmStore

MUCH = frozenset(("test_long_lineage_is_whole_and_bounded", "test_a_hub_costs_one_look"))
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


class _InTurn:
    """The stores of several processes, of which each port that is asked is the next one's."""

    def __init__(self, *stores: Cold) -> None:
        self._next = cycle(stores)

    def __getattr__(self, port: str) -> Any:
        return getattr(next(self._next), port)


@pytest.fixture
async def processes(cold: Cold, backend: ColdBackend, tmp_path: Path) -> AsyncIterator[_InTurn]:
    """The tier as racing processes have it: two of them in turn, where an engine lets two in."""
    if not backend.is_shared:
        yield _InTurn(cold)
        return
    async with backend.opened(tmp_path) as other:
        yield _InTurn(cold, other)


@pytest.fixture
async def cold(backend: ColdBackend, tmp_path: Path) -> AsyncIterator[Cold]:
    """An empty cold tier of each backend."""
    async with backend.opened(tmp_path) as stores:
        yield stores


# The warm tier.


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=WARM_BACKENDS, ids=lambda backend: backend.name
)
async def shared_warm(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[WarmBackend, WarmStore]]:
    """One warm store of each backend, for all tests of a file."""
    async with request.param.opened(tmp_path_factory.mktemp("warm")) as opened:
        yield request.param, opened


@pytest.fixture
def store(shared_warm: tuple[WarmBackend, WarmStore]) -> Iterator[WarmStore]:
    """An empty warm store of each backend."""
    backend, opened = shared_warm
    yield opened
    backend.emptied(opened)
