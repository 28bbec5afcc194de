"""The folder of an embedded index: crashes, a second owner, other settings, damage."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from qdrant_edge import EdgeShard, SparseVector, UpdateOperation
from support.processes import PATIENCE_SECONDS, running_process
from support.tier_samples import DIMENSIONS, NOW, entry_of, query_of, record_id, scope_of
from support.warm_writer import BATCH, DELETED

from tiers.errors import ConfigError, CorruptRecord, TierRejected, UsageError
from tiers.upkeep import Generation
from tiers.warm import edge_generations, edge_store, edge_warm_store
from tiers.warm.edge_folder import INDEXED_FROM, SHARD_FORMAT, SHARD_KEYWORD_KEYS
from tiers.warm.edge_layout import WORDS_FOLDER
from tiers.warm.payload import INTEGER_KEYS, NEVER, payload_of, point_id

SCOPE = scope_of()
TESTS = Path(__file__).parents[1]


async def _filled(folder: Path, numbers: range) -> None:
    async with edge_warm_store(folder, dimensions=DIMENSIONS) as store:
        await store.upsert(SCOPE, [entry_of(SCOPE, number) for number in numbers])


async def _count(folder: Path) -> int:
    async with edge_warm_store(folder, dimensions=DIMENSIONS) as store:
        return await store.count(SCOPE)


def _killed_writer(folder: Path, acknowledged: int) -> int:
    """Run the writer until it owes us so many entries, kill it, return what it owes."""
    owed = 0
    with running_process("warm_writer", folder) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            owed = int(line)
            if owed >= acknowledged:
                writer.kill()
    assert writer.returncode == -signal.SIGKILL, "the writer ended by itself"
    return owed


async def test_killed_process_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """After SIGKILL, without a flush, every acknowledged write and delete is there."""
    owed = _killed_writer(tmp_path, 2000)
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS, overfetch=200) as store:
        removed = owed // BATCH * DELETED
        # The batch under way when the process died may be there, whole or not yet thinned out.
        assert owed - removed <= await store.count(SCOPE) <= owed - removed + BATCH
        shard = store._points._shard.engine
        kept = [n for n in range(owed) if n % BATCH >= DELETED]
        gone = [n for n in range(owed) if n % BATCH < DELETED]
        for numbers, expected in ((kept, len(kept)), (gone, 0)):
            ids: list[int | UUID | str] = [point_id(SCOPE, record_id(n)) for n in numbers]
            assert len(shard.retrieve(ids, with_payload=False, with_vector=False)) == expected
        hits = await store.search(SCOPE, query_of(f"number{owed - 1}", vector=None))
        assert [hit.id for hit in hits] == [record_id(owed - 1)]


async def test_index_survives_being_killed_again_and_again(tmp_path: Path) -> None:
    """A crash after a crash: the second writer starts from what the first one left."""
    for _ in range(3):
        _killed_writer(tmp_path, 200)
    assert await _count(tmp_path) >= 160


async def test_second_owner_gets_a_clear_error(tmp_path: Path) -> None:
    """In the same process; the error names the folder and the first owner stays unharmed."""
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        with pytest.raises(ConfigError, match="already open") as caught:
            await _count(tmp_path)
        assert str(tmp_path) in str(caught.value)
        await store.upsert(SCOPE, [entry_of(SCOPE, 1)])
    assert await _count(tmp_path) == 1


async def test_owner_in_another_process_gets_a_clear_error(tmp_path: Path) -> None:
    """While a process holds the folder another cannot open it, and can once it has died."""
    with running_process("warm_writer", tmp_path) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline()
        with pytest.raises(ConfigError, match="already open"):
            await _count(tmp_path)
    assert await _count(tmp_path) >= BATCH - DELETED


async def test_shard_held_without_our_lock_is_named_too(tmp_path: Path) -> None:
    """Somebody who opened the engine's folder directly is found out by the engine's own lock."""
    await _filled(tmp_path, range(3))
    shard = EdgeShard.load(str(tmp_path / "shard"))
    with pytest.raises(ConfigError, match=r"owner\.lock"):
        await _count(tmp_path)
    shard.close()
    assert await _count(tmp_path) == 3


async def test_other_dimensions_are_refused(tmp_path: Path) -> None:
    """The error says both lengths and what can be done; nothing in the folder changes."""
    await _filled(tmp_path, range(3))
    with pytest.raises(ConfigError) as caught:
        async with edge_warm_store(tmp_path, dimensions=384):
            pass
    assert "4 dimensions" in str(caught.value)
    assert "384" in str(caught.value)
    assert await _count(tmp_path) == 3


async def test_other_format_is_refused(tmp_path: Path) -> None:
    """A folder of a later version is not touched."""
    await _filled(tmp_path, range(3))
    later = json.dumps({"format": SHARD_FORMAT + 1, "dimensions": 4})
    (tmp_path / "manifest.json").write_text(later)
    with pytest.raises(ConfigError, match=f"format {SHARD_FORMAT + 1}"):
        await _count(tmp_path)
    assert (tmp_path / "manifest.json").read_text() == later


@pytest.mark.parametrize("is_cut_off", [False, True])
async def test_index_of_a_former_version_makes_room(tmp_path: Path, *, is_cut_off: bool) -> None:
    """It is made anew, and what was written down about it speaks for it no more."""
    complete = Generation(model_id=None, dimensions=4, marked_at=NOW, state="complete")
    async with edge_generations(tmp_path) as engine:
        async with engine.opened(None, 4) as store:
            await store.upsert(SCOPE, [entry_of(SCOPE, 1)])
            await engine.mark("acme", complete)
        assert await engine.generations("acme") == (complete,)
        manifest = tmp_path / WORDS_FOLDER / "manifest.json"
        manifest.write_text(json.dumps({"format": SHARD_FORMAT - 1, "dimensions": 4}))
        if is_cut_off:
            shutil.rmtree(manifest.parent / "shard")
        assert await engine.generations("acme") == ()
        async with engine.opened(None, 4) as store:
            assert await engine.generations("acme") == ()
            assert await store.count(SCOPE) == 0
            await store.upsert(SCOPE, [entry_of(SCOPE, 1)])
    assert json.loads(manifest.read_text())["format"] == SHARD_FORMAT
    assert await _count(manifest.parent) == 1


async def test_lost_manifest_is_refused(tmp_path: Path) -> None:
    """A shard of unknown origin is neither used nor overwritten."""
    await _filled(tmp_path, range(3))
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(CorruptRecord, match="no manifest"):
        await _count(tmp_path)
    assert (tmp_path / "shard").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '"x"', f'{{"format": {SHARD_FORMAT}}}'])
async def test_unreadable_manifest_is_corrupt(tmp_path: Path, content: str) -> None:
    """Whatever is wrong with it, the error names the file and the cause is chained."""
    await _filled(tmp_path, range(1))
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(CorruptRecord, match=r"manifest\.json") as caught:
        await _count(tmp_path)
    assert caught.value.__cause__ is not None


def _garble(pattern: str) -> Callable[[Path], None]:
    def damage(shard: Path) -> None:
        files = list(shard.glob(pattern))
        assert files, f"the engine has no {pattern} any more"
        for file in files:
            file.write_bytes(b"garbage " * 10)

    return damage


def _emptied(shard: Path) -> None:
    shutil.rmtree(shard)
    shard.mkdir()


@pytest.mark.parametrize(
    "damage",
    [
        _garble("edge_config.json"),
        _garble("wal/open-*"),
        _garble("segments/*/segment.json"),
        _garble("segments/*/*id_tracker*"),
        _emptied,
    ],
    ids=["config", "log", "segment", "ids", "empty"],
)
async def test_damaged_shard_is_corrupt(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    """Damage is reported with what to do, the folder is free again, and a rebuild works."""
    await _filled(tmp_path, range(3))
    damage(tmp_path / "shard")
    for _ in range(2):
        with pytest.raises(CorruptRecord, match="rebuilt from the cold tier") as caught:
            await _count(tmp_path)
        assert caught.value.__cause__ is not None
    shutil.rmtree(tmp_path)
    await _filled(tmp_path, range(2))
    assert await _count(tmp_path) == 2


async def test_crash_while_building_is_repaired(tmp_path: Path) -> None:
    """What a crash leaves before the last rename is thrown away and built again."""
    await _filled(tmp_path, range(3))
    (tmp_path / "shard").rename(tmp_path / "shard.new")
    assert await _count(tmp_path) == 0
    (tmp_path / "shard").rename(tmp_path / "shard.new")
    (tmp_path / "manifest.json").unlink()
    assert await _count(tmp_path) == 0
    assert not (tmp_path / "shard.new").exists()


async def test_path_that_cannot_be_a_folder_is_a_config_error(tmp_path: Path) -> None:
    """A file in the way is named."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigError, match="file"):
        await _count(tmp_path / "file")
    with pytest.raises(ConfigError, match="file"):
        await _count(tmp_path / "file" / "below")


@pytest.mark.parametrize("name", ["dimensions", "rrf_k", "overfetch", "flush_seconds"])
async def test_settings_below_one_are_refused(tmp_path: Path, name: str) -> None:
    """The error names the setting."""
    with pytest.raises(UsageError, match=name):
        async with edge_warm_store(tmp_path, **{name: 0}):
            pass


async def test_raw_engine_holds_what_was_written(tmp_path: Path) -> None:
    """Opened without the store, the shard holds the documented payload and both vectors."""
    entry = entry_of(SCOPE, 7, "undercut window", vector=(0.0, 3.0, 0.0, 4.0))
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        await store.upsert(SCOPE, [entry])
    shard = EdgeShard.load(str(tmp_path / "shard"))
    try:
        (point,) = shard.retrieve([point_id(SCOPE, entry.id)], with_payload=True, with_vector=True)
        names = [name + '["", "", ""]' for name in payload_of(entry)["owner"]]
        assert point.payload == {**payload_of(entry), "readers": names}
        assert point.payload["topics"] == [""]
        assert (point.payload["private_to"], point.payload["expires_at"]) == ("", NEVER)
        assert isinstance(point.vector, dict)
        assert point.vector["dense"] == pytest.approx([0.0, 0.6, 0.0, 0.8])
        assert isinstance(point.vector["bm25"], SparseVector)
        assert len(point.vector["bm25"].indices) == 2
        assert shard.info().points_count == 1
    finally:
        shard.close()


@pytest.mark.parametrize("rewritten", [False, True])
async def test_payload_indexes_are_there_after_opening_again(
    tmp_path: Path, *, rewritten: bool
) -> None:
    """Every key that predicates use, also when the files were written anew."""
    await _filled(tmp_path, range(INDEXED_FROM))
    if rewritten:
        async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
            await store.rewrite_files()
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        assert {*SHARD_KEYWORD_KEYS, *INTEGER_KEYS} == set(
            store._points._shard.engine.info().payload_schema
        )
        assert await store.count(SCOPE) == INDEXED_FROM


@pytest.mark.parametrize("rewritten", [False, True])
async def test_few_entries_are_indexed_with_the_one_that_makes_them_many(
    tmp_path: Path, *, rewritten: bool
) -> None:
    """Not before, which spares a small memory a hundred files; then all that is there is found."""
    await _filled(tmp_path, range(INDEXED_FROM - 1))
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        if rewritten:
            await store.rewrite_files()
        assert not store._points._shard.engine.info().payload_schema
        await store.upsert(SCOPE, [entry_of(SCOPE, INDEXED_FROM)])
        assert {*SHARD_KEYWORD_KEYS, *INTEGER_KEYS} == set(
            store._points._shard.engine.info().payload_schema
        )
        assert await store.count(SCOPE) == INDEXED_FROM


async def test_indexing_that_was_cut_off_is_finished_with_the_next_entry(tmp_path: Path) -> None:
    """What a crash left out is made; what is there stays."""
    await _filled(tmp_path, range(INDEXED_FROM))
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        shard = store._points._shard.engine
        for key in ("agent_id", "occurred_at"):
            shard.update(UpdateOperation.delete_field_index(key))
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        await store.upsert(SCOPE, [entry_of(SCOPE, INDEXED_FROM)])
        assert {*SHARD_KEYWORD_KEYS, *INTEGER_KEYS} == set(
            store._points._shard.engine.info().payload_schema
        )


async def test_quiet_index_is_flushed_in_the_background(tmp_path: Path) -> None:
    """A write is flushed once nobody has used the index for a moment."""
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS, flush_seconds=0.01) as store:
        await store.upsert(SCOPE, [entry_of(SCOPE, 1)])
        assert store._unflushed == 1
        async with asyncio.timeout(PATIENCE_SECONDS):
            while store._unflushed:  # noqa: ASYNC110 - no event tells when the engine is idle
                await asyncio.sleep(0.01)


async def test_failed_flush_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A flush that fails is logged, leaves the flusher alive, and is reported at the end."""

    async def lose_the_shard() -> None:
        async with edge_warm_store(tmp_path, dimensions=DIMENSIONS, flush_seconds=0.01) as store:
            await store.upsert(SCOPE, [entry_of(SCOPE, 1)])
            store._points._shard.engine.close()
            async with asyncio.timeout(PATIENCE_SECONDS):
                while len(caplog.records) < 2:  # noqa: ASYNC110 - the log is what we wait for
                    await asyncio.sleep(0.01)

    with pytest.raises(TierRejected, match="flush"):
        await lose_the_shard()
    assert {record.levelname for record in caplog.records} == {"WARNING"}
    assert await _count(tmp_path) == 1


async def test_nothing_is_left_running(tmp_path: Path) -> None:
    """After the block no task of ours exists, also when the block was left by an error."""
    with pytest.raises(ZeroDivisionError):
        async with edge_warm_store(tmp_path, dimensions=DIMENSIONS):
            raise ZeroDivisionError
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert await _count(tmp_path) == 0


async def test_cancelled_batch_keeps_whole_steps_and_may_be_repeated(tmp_path: Path) -> None:
    """Cancellation passes through; repeating the batch completes it."""
    entries = [entry_of(SCOPE, number, expires_at=NOW) for number in range(1000)]
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        task = asyncio.create_task(store.upsert(SCOPE, entries))
        while not await store.count(SCOPE):  # noqa: ASYNC110 - steps come without an event
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        written = await store.count(SCOPE)
        assert 0 < written < 1000
        assert written % edge_store.STEP_POINTS == 0
        await store.upsert(SCOPE, entries)
        assert await store.count(SCOPE) == 1000


async def test_long_batches_let_the_event_loop_run(tmp_path: Path) -> None:
    """During a write, a delete and a sweep of thousands, others get their turn many times."""
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        other = asyncio.create_task(count_turns())
        entries = [entry_of(SCOPE, number, expires_at=NOW) for number in range(2000)]
        await store.upsert(SCOPE, entries)
        after_upsert, turns = turns, 0
        await store.delete(SCOPE, [entry.id for entry in entries[:1000]])
        after_delete, turns = turns, 0
        assert len(await store.delete_expired(SCOPE, NOW)) == 1000
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
    assert after_upsert >= 2 * (2000 // edge_store.STEP_POINTS)
    assert min(after_delete, turns) >= 1000 // edge_store.STEP_POINTS
