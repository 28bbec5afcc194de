"""The embedded index on the disk: folders, crashes, damage, and files written anew."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from support.disk_crashes import Killed, killed_at
from support.folder_copies import copied
from support.raw_stores import files_with
from support.tier_samples import DIMENSIONS, NOW, entry_of, query_of, record_id, scope_of

from tiers.errors import ConfigError, TierUnavailable
from tiers.records import Scope
from tiers.upkeep import Generation
from tiers.warm import EdgeGenerations, edge_generations, edge_warm_store
from tiers.warm.edge_layout import slug_of

# The embedded generations on the disk: their folders, crashes, damage.

SCOPE = scope_of()
OTHER_TENANT = scope_of(tenant="acm")
STEPS_MAX = 60


def marked(model_id: str | None, **fields: object) -> Generation:
    """Return a mark that says complete unless fields say otherwise."""
    known = {"dimensions": DIMENSIONS, "state": "complete", "marked_at": NOW, **fields}
    return Generation(model_id=model_id, **known)


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def _fill(engine: EdgeGenerations, model_id: str | None, *scopes: Scope) -> None:
    """Write one entry for each scope and mark the generation as complete for its tenant."""
    async with engine.opened(model_id, DIMENSIONS) as store:
        for scope in scopes:
            await store.upsert(scope, [entry_of(scope, 1)])
    for scope in scopes:
        await engine.mark(scope.tenant, marked(model_id))


async def _held(engine: EdgeGenerations, model_id: str | None, scope: Scope = SCOPE) -> list[str]:
    async with engine.opened(model_id, DIMENSIONS) as store:
        return [hit.id for hit in await store.search(scope, query_of("entry"))]


async def test_a_generation_is_one_folder(tmp_path: Path) -> None:
    """Index and marks lie together, under a name that can be read; none is left of a drop."""
    async with edge_generations(tmp_path) as engine:
        await _fill(engine, "all-MiniLM-L6-v2/int8", SCOPE)
        await _fill(engine, None, SCOPE)
        folder = tmp_path / slug_of("all-MiniLM-L6-v2/int8")
        assert folder.name.startswith("all-MiniLM-L6-v2-int8-")
        assert _names(folder) == {"owner.lock", "manifest.json", "shard", "marks.json"}
        await engine.drop("acme", "all-MiniLM-L6-v2/int8")
        assert _names(tmp_path) == {"words"}


@pytest.mark.parametrize("model_id", ["..", "/", "a/../../b", "\ud800", "con", "m" * 999, "é\n"])
def test_a_slug_is_one_harmless_name(model_id: str) -> None:
    """Whatever the id: one part of a path, short, never the folder without a model."""
    slug = slug_of(model_id)
    assert Path(slug).name == slug
    assert slug.isascii()
    assert slug.isprintable()
    assert len(slug) < 100
    assert slug not in (slug_of(None), ".", "..")


async def test_removing_the_folder_removes_the_mark(tmp_path: Path) -> None:
    """What is gone is not remembered as complete."""
    async with edge_generations(tmp_path) as engine:
        await _fill(engine, "m", SCOPE)
    shutil.rmtree(tmp_path / slug_of("m"))
    async with edge_generations(tmp_path) as engine:
        assert await engine.generations("acme") == ()


async def test_marks_do_not_speak_for_another_index(tmp_path: Path) -> None:
    """Without its shard a generation is none, also once an empty one is made in its place."""
    async with edge_generations(tmp_path) as engine:
        await _fill(engine, "m", SCOPE)
        shutil.rmtree(tmp_path / slug_of("m") / "shard")
        assert await engine.generations("acme") == ()
        assert await _held(engine, "m") == []
        assert await engine.generations("acme") == ()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"model_id": 1}', '{"tenants": {"acme": {}}}'])
async def test_marks_that_cannot_be_read_are_none(tmp_path: Path, content: str) -> None:
    """Building starts over, over the entries that are there."""
    async with edge_generations(tmp_path) as engine:
        await _fill(engine, "m", SCOPE)
        (tmp_path / slug_of("m") / "marks.json").write_text(content)
        assert await engine.generations("acme") == ()
        assert await _held(engine, "m") == [record_id(1)]
        await engine.mark("acme", marked("m"))
        assert await engine.generations("acme") == (marked("m"),)


async def test_a_failing_disk_is_a_tier_error(tmp_path: Path) -> None:
    """The operating system's exception is the cause, and the marks are as they were."""
    async with edge_generations(tmp_path) as engine:
        await _fill(engine, "m", SCOPE)
        obstacle = tmp_path / slug_of("m") / "marks.json.new"
        obstacle.mkdir()
        with pytest.raises(TierUnavailable, match="mark") as caught:
            await engine.mark("acme", marked("m", state="building"))
        assert isinstance(caught.value.__cause__, OSError)
        assert await engine.generations("acme") == (marked("m"),)


@pytest.mark.parametrize("tenants", [(SCOPE,), (SCOPE, OTHER_TENANT)], ids=["last", "one of two"])
async def test_a_drop_that_is_killed_is_finished_later(
    tmp_path: Path, tenants: tuple[Scope, ...]
) -> None:
    """At every step: the generation is whole with its mark, or has no mark and no entries."""
    async with edge_generations(tmp_path / "made") as engine:
        await _fill(engine, "m", *tenants)
    for step in range(STEPS_MAX):
        home = tmp_path / str(step)
        copied(tmp_path / "made", home)
        async with edge_generations(home) as engine:
            with killed_at(step) as countdown, suppress(Killed):
                await engine.drop("acme", "m")
            was_killed = countdown.left is not None and countdown.left < 0
        async with edge_generations(home) as engine:
            is_marked = bool(await engine.generations("acme"))
            async with engine.opened("m", DIMENSIONS) as store:
                assert await store.count(SCOPE) == int(is_marked)
                for other in tenants[1:]:
                    assert await store.count(other) == 1
                    assert await engine.generations(other.tenant) == (marked("m"),)
        assert list(home.glob("*.dropped")) == []
        if not was_killed:
            assert not is_marked
            return
    pytest.fail("the drop took more steps than expected")


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """As a setting that is wrong, not as the operating system's exception."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file"):
        async with edge_generations(tmp_path / "file" / "warm"):
            pass


async def test_a_file_in_the_place_of_an_index_is_named(tmp_path: Path) -> None:
    """In plain words, whoever asks: that no index is there would be told to a move as the truth."""
    plainly = "words cannot be used: something that is no folder is in its place"
    (tmp_path / "words").write_text("")
    (tmp_path / "README").write_text("what is none of ours is no obstacle")
    async with edge_generations(tmp_path) as engine:
        with pytest.raises(ConfigError, match=plainly):
            await engine.generations("acme")
        with pytest.raises(ConfigError, match=plainly):
            async with engine.opened(None, DIMENSIONS):
                pass


async def test_the_last_marked_comes_first_whatever_the_folders_are_called(tmp_path: Path) -> None:
    """Order is by time, not by name."""
    async with edge_generations(tmp_path) as engine:
        for minute, model_id in enumerate(("z", "a", "m")):
            async with engine.opened(model_id, DIMENSIONS):
                pass
            when = NOW + timedelta(minutes=minute)
            await engine.mark("acme", marked(model_id, marked_at=when))
        assert [one.model_id for one in await engine.generations("acme")] == ["m", "a", "z"]


# Files of an embedded index, written anew: nothing deleted is left, nothing kept is lost.

OTHER = scope_of(tenant="another")
SAID = "Quillon Varnhagen 7349"


def _left_in(folder: Path) -> set[str]:
    """Return the files in whose bytes the secret stands."""
    return files_with(folder, ["varnhagen"])


def _listed(folder: Path) -> list[str]:
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
    assert _listed(tmp_path) == ["manifest.json", "owner.lock", "shard"]


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
    assert _listed(tmp_path) == ["manifest.json", "owner.lock", "shard"]
