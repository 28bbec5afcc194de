"""The contract of ``WarmArchive``: every index can be read out, and written into another."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from support.generation_backends import GENERATION_BACKENDS, GenerationBackend
from support.houses import DIMENSIONS, MODEL, entries_of
from support.records import every_row
from support.tier_samples import entry_of, scope_of

from tiers.errors import TierUnavailable, UsageError
from tiers.records import IndexEntry
from tiers.upkeep import PAGE_ROWS_MAX

ARCHIVES = tuple(backend for backend in GENERATION_BACKENDS if backend.name != "reference")


@pytest.fixture(params=ARCHIVES, ids=lambda backend: backend.name)
def backend(request: pytest.FixtureRequest) -> GenerationBackend:
    """Each engine."""
    return request.param


@pytest.fixture
async def index(backend: GenerationBackend, tmp_path: Path) -> AsyncIterator[Any]:
    """An index with entries of two tenants, whose names begin alike."""
    async with (
        backend.opened(tmp_path) as generations,
        generations.opened(MODEL, DIMENSIONS) as opened,
    ):
        for seed, tenant in enumerate(("acme", "acm")):
            for scope, entry in entries_of(tenant, seed):
                await opened.upsert(scope, [entry])
        yield opened


async def _read_out(index: Any, tenant: str, limit: int) -> list[IndexEntry]:
    return await every_row(lambda cursor: index.export_entries(tenant, cursor, limit), limit)


async def test_every_entry_comes_out_as_it_went_in(index: Any) -> None:
    """All graphs of the tenant and nothing else; every field, and the vector's direction."""
    found = {entry.id: entry for entry in await _read_out(index, "acme", 1_000)}
    written = {entry.id: entry for _, entry in entries_of("acme", 0)}
    assert found.keys() == written.keys()
    for record_id, entry in written.items():
        out = found[record_id]
        assert out.model_copy(update={"vector": None}) == entry.model_copy(update={"vector": None})
        assert (out.vector is None) == (entry.vector is None)
        if entry.vector is not None and out.vector is not None:
            assert math.hypot(*out.vector) == pytest.approx(1, abs=1e-6)
            length = math.hypot(*entry.vector)
            assert out.vector == pytest.approx([n / length for n in entry.vector], abs=1e-6)


async def test_pages_of_any_size_are_one_big_page(index: Any) -> None:
    """The same entries in the same order, none twice."""
    whole = await _read_out(index, "acme", PAGE_ROWS_MAX)
    for limit in (1, 7, len(whole) - 1, len(whole)):
        assert await _read_out(index, "acme", limit) == whole


async def test_what_came_out_goes_in_without_changing(
    backend: GenerationBackend, index: Any, tmp_path: Path
) -> None:
    """Written into another index and read out again, it is the same to a bit of a float or so."""
    rows = await _read_out(index, "acme", 1_000)
    async with (
        backend.opened(tmp_path / "other") as generations,
        generations.opened(MODEL, DIMENSIONS) as other,
    ):
        for entry in rows:
            await other.upsert(scope_of("acme", entry.graph_id), [entry])
        for before, after in zip(rows, await _read_out(other, "acme", 9), strict=True):
            assert after.id == before.id
            assert after.vector == (before.vector and pytest.approx(before.vector, rel=1e-6))


async def test_nobody_has_nothing(index: Any) -> None:
    """An unknown tenant is an empty page."""
    page = await index.export_entries("nobody", "", 10)
    assert (page.rows, page.cursor) == ((), None)


async def test_what_cannot_be_is_refused(index: Any) -> None:
    """Limits out of range, and cursors that no page gave."""
    for cursor, limit in (("", 0), ("", PAGE_ROWS_MAX + 1), ("what?", 1)):
        with pytest.raises(UsageError):
            await index.export_entries("acme", cursor, limit)


async def test_a_closed_index_is_unavailable(backend: GenerationBackend, tmp_path: Path) -> None:
    """As every other method is."""
    async with (
        backend.opened(tmp_path) as generations,
        generations.opened(MODEL, DIMENSIONS) as opened,
    ):
        await opened.upsert(scope_of(), [entry_of(scope_of(), 1, vector=None)])
    with pytest.raises(TierUnavailable):
        await opened.export_entries("acme", "", 1)
