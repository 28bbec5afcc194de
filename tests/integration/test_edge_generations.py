"""The embedded generations on the disk: their folders, crashes, damage, the former layout."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from support.disk_crashes import Killed, killed_at
from support.folder_copies import copied
from support.tier_samples import DIMENSIONS, NOW, entry_of, query_of, record_id, scope_of

from tiers.errors import ConfigError, TierUnavailable
from tiers.records import Scope
from tiers.upkeep import Generation
from tiers.warm import EdgeGenerations, edge_generations, edge_warm_store
from tiers.warm.edge_layout import slug_of

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


async def _former(warm: Path, indexed: Mapping[str, str | None] | str, *scopes: Scope) -> None:
    """Make an index of the former layout with one entry for each scope."""
    async with edge_warm_store(warm, dimensions=DIMENSIONS) as store:
        for scope in scopes:
            await store.upsert(scope, [entry_of(scope, 1)])
    text = indexed if isinstance(indexed, str) else json.dumps(indexed)
    (warm / "indexed.json").write_text(text)


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


async def test_former_entries_are_built_from_the_start(tmp_path: Path) -> None:
    """They lack what is found by now. They go on to answer, and are marked anew as they come."""
    async with edge_generations(tmp_path) as engine:
        await _fill(engine, "m", SCOPE)
        path = tmp_path / slug_of("m") / "marks.json"
        former = {key: said for key, said in json.loads(path.read_text()).items() if key != "forms"}
        path.write_text(json.dumps(former))
        (found,) = await engine.generations("acme")
        assert (found.state, found.done, found.cursor) == ("building", 0, "")
        assert await _held(engine, "m") == [record_id(1)]
        await engine.mark("acme", marked("m"))
        assert await engine.generations("acme") == (marked("m"),)


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


async def test_a_former_index_is_moved_into_place(tmp_path: Path) -> None:
    """Nothing is lost: it is its model's generation, to be built anew over what it holds."""
    await _former(tmp_path, {"acme": "m"}, SCOPE)
    async with edge_generations(tmp_path) as engine:
        assert _names(tmp_path) == {slug_of("m")}
        (found,) = await engine.generations("acme")
        assert (found.model_id, found.state, found.dimensions) == ("m", "building", DIMENSIONS)
        assert await _held(engine, "m") == [record_id(1)]
    async with edge_generations(tmp_path) as engine:
        assert await engine.generations("acme") == (found,)


async def test_a_former_index_of_words_is_moved_into_place(tmp_path: Path) -> None:
    """No model had indexed it."""
    await _former(tmp_path, {"acme": None}, SCOPE)
    async with edge_generations(tmp_path) as engine:
        assert [one.model_id for one in await engine.generations("acme")] == [None]
        assert await _held(engine, None) == [record_id(1)]


async def test_tenants_of_other_models_leave_a_former_index(tmp_path: Path) -> None:
    """Vectors of two models were in one index: those of the rarer one are made anew."""
    third = scope_of(tenant="third")
    indexed = {"acme": "m", "acm": "other", "third": "m"}
    await _former(tmp_path, indexed, SCOPE, OTHER_TENANT, third)
    async with edge_generations(tmp_path) as engine:
        assert await engine.generations("acm") == ()
        assert len(await engine.generations("acme")) == len(await engine.generations("third")) == 1
        assert await _held(engine, "m", OTHER_TENANT) == []
        assert await _held(engine, "m") == await _held(engine, "m", third) == [record_id(1)]


@pytest.mark.parametrize("indexed", ["", "{", "[]", "{}", '{"acme": 5}'])
async def test_a_former_index_of_unknown_models_is_removed(tmp_path: Path, indexed: str) -> None:
    """Whose vectors it holds cannot be told; it is built from cold."""
    await _former(tmp_path, indexed, SCOPE)
    async with edge_generations(tmp_path) as engine:
        assert await engine.generations("acme") == ()
        assert _names(tmp_path) == set()


async def test_a_former_index_comes_back_after_a_downgrade(tmp_path: Path) -> None:
    """What an older version has indexed since takes the place of what was moved before."""
    await _former(tmp_path, {"acme": "m"}, SCOPE)
    async with edge_generations(tmp_path):
        pass
    await _former(tmp_path, {"acme": "m"}, SCOPE, scope_of(graph_id="newer"))
    async with edge_generations(tmp_path) as engine:
        assert await _held(engine, "m", scope_of(graph_id="newer")) == [record_id(1)]
        assert _names(tmp_path) == {slug_of("m")}


async def test_a_move_that_is_killed_is_finished_later(tmp_path: Path) -> None:
    """At every step: the next opening finds everything in place."""
    await _former(tmp_path / "made", {"acme": "m"}, SCOPE)
    for step in range(STEPS_MAX):
        home = tmp_path / str(step)
        copied(tmp_path / "made", home)
        with killed_at(step) as countdown, suppress(Killed):
            async with edge_generations(home):
                pass
        async with edge_generations(home) as engine:
            assert len(await engine.generations("acme")) == 1
            assert await _held(engine, "m") == [record_id(1)]
        # A lock that nobody holds may be left over, and harms nobody.
        assert _names(home) - {"owner.lock"} == {slug_of("m")}
        if countdown.left is not None and countdown.left >= 0:
            return
    pytest.fail("the move took more steps than expected")


async def test_a_former_index_that_is_open_is_not_moved(tmp_path: Path) -> None:
    """Its owner goes on unharmed; the error names the folder."""
    await _former(tmp_path, {"acme": "m"}, SCOPE)
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        with pytest.raises(ConfigError, match="already open"):
            async with edge_generations(tmp_path):
                pass
        assert await store.count(SCOPE) == 1


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """As a setting that is wrong, not as the operating system's exception."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file"):
        async with edge_generations(tmp_path / "file" / "warm"):
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
