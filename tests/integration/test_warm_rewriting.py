"""Files of an embedded index, written anew: nothing deleted is left, nothing kept is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.folder_copies import copied
from support.raw_stores import files_with
from support.tier_samples import DIMENSIONS, entry_of, query_of, record_id, scope_of

from tiers.warm import edge_warm_store

SCOPE = scope_of()
OTHER = scope_of(tenant="another")
SAID = "Quillon Varnhagen 7349"


def _left_in(folder: Path) -> set[str]:
    """Return the files in whose bytes the secret stands."""
    return files_with(folder, ["varnhagen"])


def _names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


async def _filled(folder: Path, count: int) -> None:
    async with edge_warm_store(folder, dimensions=DIMENSIONS) as store:
        await store.upsert(SCOPE, [entry_of(SCOPE, number) for number in range(count)])
        await store.upsert(SCOPE, [entry_of(SCOPE, count, text=SAID)])
        await store.upsert(OTHER, [entry_of(OTHER, 1)])


async def test_nothing_of_what_was_deleted_is_left(tmp_path: Path) -> None:
    """Deleting alone leaves it in files; after rewriting every other entry is what it was."""
    await _filled(tmp_path, 600)
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        await store.delete(SCOPE, [record_id(600)])
        await store.flush()
        assert _left_in(tmp_path), "otherwise this test proves nothing"
        before = [await store.export_entries(tenant, "", 1000) for tenant in ("acme", "another")]
        await store.rewrite_files()
        assert not _left_in(tmp_path)
        after = [await store.export_entries(tenant, "", 1000) for tenant in ("acme", "another")]
        assert after == before
        await store.upsert(SCOPE, [entry_of(SCOPE, 601)])
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        assert await store.count(SCOPE) == 601
    assert _names(tmp_path) == ["manifest.json", "owner.lock", "shard"]


async def test_searches_go_on_and_writes_wait(tmp_path: Path) -> None:
    """Nobody is refused meanwhile, and what was written meanwhile is there in the end."""
    await _filled(tmp_path, 1500)
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        rewriting = asyncio.create_task(store.rewrite_files())
        await asyncio.sleep(0)
        writing = asyncio.create_task(store.upsert(SCOPE, [entry_of(SCOPE, 1501)]))
        assert await store.search(SCOPE, query_of("lap"))
        assert not rewriting.done()
        await asyncio.gather(rewriting, writing)
        assert await store.count(SCOPE) == 1502


@pytest.mark.parametrize("cut", ["before", "between", "after"])
async def test_a_crash_leaves_the_former_files_or_the_new_ones(tmp_path: Path, cut: str) -> None:
    """Whatever the crash has left is brought to an end when the folder is opened again."""
    await _filled(tmp_path, 5)
    shard = tmp_path / "shard"
    if cut == "before":
        copied(shard, tmp_path / "shard.rewritten")
        (tmp_path / "shard.rewritten" / "edge_config.json").unlink()
    else:
        copied(shard, tmp_path / "shard.former")
    if cut == "between":
        shard.rename(tmp_path / "shard.rewritten")
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        assert await store.count(SCOPE) == 6
    assert _names(tmp_path) == ["manifest.json", "owner.lock", "shard"]
