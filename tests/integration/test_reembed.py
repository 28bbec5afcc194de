"""Changing the embedding model: everything is embedded anew while recall goes on."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import closing
from pathlib import Path
from typing import Self

import pytest
from support.cold_backends import raw_sqlite
from support.reembedding import (
    SCOPE,
    TEXTS,
    ScriptedEmbedder,
    filled_store,
    house,
    index_work_of,
    retire,
    vector_by,
)
from support.tier_samples import query_of

from metaagents.reindex.rules import Reembedding
from tiers.errors import TierUnavailable, UsageError
from tiers.records import SearchQuery
from tiers.warm.edge_layout import slug_of


async def test_an_empty_store_is_complete_at_once(tmp_path: Path) -> None:
    """Nothing to build: the first model serves from the start, and so does the next."""
    for model_id in (None, "old", "new"):
        embedder = ScriptedEmbedder(model_id) if model_id else None
        async with house(tmp_path, embedder) as built:
            assert built.reembedder.progress is None
            assert built.index.serving.model_id == model_id
            assert not built.index.serving.partial
            assert (await built.marks())[model_id][0] == "complete"


async def test_the_old_model_answers_until_the_new_one_is_complete(tmp_path: Path) -> None:
    """Bounded passes, visible progress, one switch; then the old index is gone."""
    facts = await filled_store(tmp_path)
    old, new = ScriptedEmbedder("old"), ScriptedEmbedder("new")
    async with house(tmp_path, new, old, batch_records=1) as built:
        assert built.reembedder.progress == Reembedding("old", "new", 0, 30)
        assert (await built.ask(TEXTS[3]))[0].id == facts[3].id
        report = await built.reembedder.run_pass()
        assert (report.records, report.completed, report.problems) == (16, False, [])
        assert built.reembedder.progress == Reembedding("old", "new", 16, 30)
        assert await built.marks() == {"new": ("building", 16, 30), "old": ("complete", 0, 0)}
        assert built.index.serving.model_id == "old"
        await built.check_by_meaning(facts)
        report = await built.reembedder.run_pass()
        assert (report.records, report.completed) == (14, True)
        assert built.reembedder.progress is None
        assert built.index.serving.model_id == "new"
        await built.check_by_meaning(facts)
        assert sorted(new.asked) == sorted(TEXTS)
        assert (await built.reembedder.run_pass()).records == 0
        assert (tmp_path / "warm" / slug_of("old")).exists()
    async with house(tmp_path, ScriptedEmbedder("new")) as built:
        assert built.engine.dropped == ["old"]
        assert await built.marks() == {"new": ("complete", 30, 30)}
        assert not (tmp_path / "warm" / slug_of("old")).exists()
        await built.check_by_meaning(facts)


async def test_recall_under_load_never_compares_vectors_of_two_models(tmp_path: Path) -> None:
    """Questions and writes hammer the index through the switch; the watched stores are strict."""
    facts = await filled_store(tmp_path)
    old, new = ScriptedEmbedder("old"), ScriptedEmbedder("new")
    async with house(tmp_path, new, old, batch_records=3) as built:
        stores = built.engine.stores
        numbers = itertools.count()

        async def ask() -> None:
            while stores["new"].searches < 50:
                fact = facts[next(numbers) % len(TEXTS)]
                assert (await built.ask(fact.text))[0].id == fact.id

        async def write() -> None:
            while built.index.serving.model_id == "old":
                facts.append(await built.remember(f"said meanwhile: {next(numbers)}"))
                await built.worker.drain()

        async with asyncio.TaskGroup() as tasks:
            for _ in range(4):
                tasks.create_task(ask())
            tasks.create_task(write())
            tasks.create_task(built.reembedder.run_to_end())
        assert len(facts) > len(TEXTS)
        assert stores["old"].searches > 0
        await built.worker.drain()
        await built.check_by_meaning(facts)


async def test_a_question_of_before_the_switch_is_answered_after_it(tmp_path: Path) -> None:
    """By the index of the model that made its vector, which knows what was removed since."""
    facts = await filled_store(tmp_path)
    async with house(tmp_path, ScriptedEmbedder("new"), ScriptedEmbedder("old")) as built:
        query = SearchQuery(
            text=TEXTS[5],
            vector=vector_by("old", TEXTS[5]),
            model_id="old",
            kinds=("fact",),
            now=built.clock(),
        )
        await built.reembedder.run_to_end()
        assert built.index.serving.model_id == "new"
        before = built.engine.stores["old"].searches
        assert (await built.index.search(SCOPE, query))[0].id == facts[5].id
        assert built.engine.stores["old"].searches == before + 1
        await built.index.delete(SCOPE, [facts[5].id])
        assert facts[5].id not in {hit.id for hit in await built.index.search(SCOPE, query)}


async def test_a_vector_of_a_model_that_is_not_there_is_left_out(tmp_path: Path) -> None:
    """Its question is answered by words."""
    facts = await filled_store(tmp_path)
    async with house(tmp_path, ScriptedEmbedder("old")) as built:
        vector = vector_by("gone", "?")
        query = SearchQuery(
            text=TEXTS[5], vector=vector, model_id="gone", kinds=("fact",), now=built.clock()
        )
        assert (await built.index.search(SCOPE, query))[0].id == facts[5].id
        assert built.engine.stores["old"].searches == 0


async def test_building_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """A model that fails leaves everything as it was; nothing is embedded twice, also reopened."""
    facts = await filled_store(tmp_path)
    new = ScriptedEmbedder("new")
    async with house(tmp_path, new, ScriptedEmbedder("old"), batch_records=4) as built:

        def fail_later() -> None:
            new.is_down = len(new.asked) >= 12

        new.before = fail_later
        report = await built.reembedder.run_to_end()
        assert report.problems == ["TierUnavailable: embedding tier, embed: new is down"]
        assert (report.records, report.completed) == (12, False)
        assert built.index.serving.model_id == "old"
        assert (await built.marks())["new"] == ("building", 12, 30)
        await built.check_by_meaning(facts)
    new = ScriptedEmbedder("new")
    async with house(tmp_path, new, ScriptedEmbedder("old"), batch_records=4) as built:
        assert built.reembedder.progress == Reembedding("old", "new", 12, 30)
        assert (await built.reembedder.run_to_end()).completed
        assert sorted(new.asked) == sorted(TEXTS[12:])
        await built.check_by_meaning(facts)


async def test_a_failing_model_is_not_asked_at_every_tick(tmp_path: Path) -> None:
    """The passes of the clock wait longer and longer; who drives it by hand need not wait."""
    await filled_store(tmp_path)
    new = ScriptedEmbedder("new")
    async with house(tmp_path, new, ScriptedEmbedder("old")) as built:
        new.is_down = True
        assert (await built.reembedder.run_pass()).problems
        assert not (await built.reembedder.run_pass()).problems
        built.clock.move(seconds=2)
        assert (await built.reembedder.run_pass()).problems
        built.clock.move(seconds=3)
        assert not (await built.reembedder.run_pass()).problems
        new.is_down = False
        assert (await built.reembedder.run_to_end()).completed


async def test_a_poisonous_record_stops_no_other(tmp_path: Path) -> None:
    """It is found by its words and counted; the index becomes complete."""
    facts = await filled_store(tmp_path)
    new = ScriptedEmbedder("new")
    new.refused = {TEXTS[4]}
    async with house(tmp_path, new, ScriptedEmbedder("old"), batch_records=8) as built:
        report = await built.reembedder.run_to_end()
        assert (report.completed, report.records, report.words_only) == (True, 30, 1)
        await built.check_by_meaning([fact for fact in facts if fact is not facts[4]])
        assert await built.by_meaning(TEXTS[4]) != facts[4].id
        assert facts[4].id in {hit.id for hit in await built.ask("sector4x")}
        poison = await built.remember("poison at once")
        new.refused = {"poison at once"}
        report = await built.worker.drain()
        assert report.completed == {"index": 1}
        new.refused = set()
        assert poison.id in {hit.id for hit in await built.ask("poison")}


async def test_what_is_stored_and_removed_meanwhile_is_so_in_both(tmp_path: Path) -> None:
    """A write reaches the index that serves and the one that is built."""
    facts = await filled_store(tmp_path)
    async with house(
        tmp_path, ScriptedEmbedder("new"), ScriptedEmbedder("old"), batch_records=1
    ) as built:
        await built.reembedder.run_pass()
        facts += await built.remembered(["said meanwhile"])
        assert await built.by_meaning("said meanwhile") == facts[-1].id
        for walked in (facts[0], facts[29]):
            retire(tmp_path, walked)
            await built.cold.queue.enqueue(SCOPE, [index_work_of(walked)], built.clock())
        await built.worker.drain()
        assert await built.index.count(SCOPE) == 29
        await built.reembedder.run_to_end()
        assert await built.index.count(SCOPE) == 29
        await built.check_by_meaning([*facts[1:29], facts[30]])


async def test_a_record_retired_while_it_is_embedded_does_not_come_back(tmp_path: Path) -> None:
    """Read, then superseded and taken out of the index, then written: no."""
    facts = await filled_store(tmp_path)
    new = ScriptedEmbedder("new")
    async with house(tmp_path, new, ScriptedEmbedder("old"), batch_records=8) as built:

        async def retire_meanwhile() -> None:
            new.before = lambda: None
            retire(tmp_path, facts[2])
            await built.cold.queue.enqueue(SCOPE, [index_work_of(facts[2])], built.clock())
            await built.worker.drain()

        new.before = retire_meanwhile
        assert (await built.reembedder.run_to_end()).completed
        assert await built.index.count(SCOPE) == 29
        assert facts[2].id not in {hit.id for hit in await built.ask(TEXTS[2], limit=50)}
        # Not for a moment, in which a crash would have left it there.
        assert facts[2].id not in built.engine.stores["new"].ever


async def test_a_record_retired_by_another_runtime_does_not_come_back(tmp_path: Path) -> None:
    """Between the last reading and the writing, by somebody whom no lock of ours keeps out."""
    facts = await filled_store(tmp_path)
    async with house(
        tmp_path, ScriptedEmbedder("new"), ScriptedEmbedder("old"), batch_records=8
    ) as built:
        store = built.engine.stores["new"]
        write = store.upsert

        async def retired_before(scope, entries) -> None:  # noqa: ANN001
            store.upsert = write  # type: ignore[method-assign]
            retire(tmp_path, facts[2])
            await store.delete(scope, [facts[2].id])
            await write(scope, entries)

        store.upsert = retired_before  # type: ignore[method-assign]
        assert (await built.reembedder.run_to_end()).completed
        assert facts[2].id not in store.stored
        assert await built.index.count(SCOPE) == 29


async def test_a_record_that_changes_while_it_is_embedded_is_as_it_was_last(tmp_path: Path) -> None:
    """The entry's tier is the new one in the new index, whoever wrote it last."""
    facts = await filled_store(tmp_path)
    new = ScriptedEmbedder("new")
    async with house(tmp_path, new, ScriptedEmbedder("old"), batch_records=8) as built:

        async def promote() -> None:
            new.before = lambda: None
            now = built.clock()
            again = [index_work_of(facts[2])]
            await built.cold.semantic.set_tier(SCOPE, facts[2], "core", "used", now, again)
            await built.worker.drain()

        new.before = promote
        await built.reembedder.run_to_end()
        assert built.engine.stores["new"].stored[facts[2].id].tier == "core"


async def test_what_keeps_changing_is_left_for_a_later_pass(tmp_path: Path) -> None:
    """The place is not saved beyond it, and nothing is switched."""
    facts = await filled_store(tmp_path)
    tiers = itertools.cycle(("core", "archival"))
    async with house(tmp_path, ScriptedEmbedder("new"), ScriptedEmbedder("old")) as built:
        store = built.engine.stores["new"]
        write = store.upsert

        async def changed_after(scope, entries) -> None:  # noqa: ANN001
            await write(scope, entries)
            with closing(raw_sqlite(tmp_path)) as connection:
                connection.execute(
                    "UPDATE facts SET tier = ?1, body = json_set(body, '$.tier', ?1) WHERE id = ?2",
                    (next(tiers), facts[2].id),
                )

        store.upsert = changed_after  # type: ignore[method-assign]
        report = await built.reembedder.run_to_end()
        assert report.problems == ["TierUnavailable: warm tier, re-embed: 1 records keep changing"]
        assert (await built.marks())["new"] == ("building", 0, 30)
        store.upsert = write  # type: ignore[method-assign]
        assert (await built.reembedder.run_to_end()).completed


async def test_a_lost_index_is_built_in_place(tmp_path: Path) -> None:
    """It serves while it is built; what it lacks is found by its words, and then by meaning."""
    facts = await filled_store(tmp_path)
    for path in (tmp_path / "warm" / slug_of("old")).iterdir():
        if path.name == "marks.json":
            path.unlink()
    async with house(tmp_path, ScriptedEmbedder("old"), batch_records=1) as built:
        assert built.reembedder.progress == Reembedding(None, "old", 0, 30)
        assert built.index.serving.partial
        await built.engine.stores["old"].delete(SCOPE, [fact.id for fact in facts])
        assert (await built.ask(TEXTS[20]))[0].id == facts[20].id
        dense = query_of(TEXTS[20], vector=None, kinds=("fact",), mode="dense")
        assert await built.index.search(SCOPE, dense) == ()
        await built.reembedder.run_pass()
        assert await built.index.count(SCOPE) == 16
        for fact in facts:
            assert fact.id in {hit.id for hit in await built.ask(fact.text)}
        await built.reembedder.run_to_end()
        assert not built.index.serving.partial
        await built.check_by_meaning(facts)


async def test_without_a_model_any_complete_index_serves_by_words(tmp_path: Path) -> None:
    """Reading changes nothing: with the model back, nothing has to be embedded."""
    facts = await filled_store(tmp_path)
    async with house(tmp_path, None) as built:
        assert built.reembedder.progress is None
        assert built.index.serving.embedder is None
        assert (await built.ask("sector7x"))[0].id == facts[7].id
        assert (await built.reembedder.run_to_end()).records == 0
    old = ScriptedEmbedder("old")
    async with house(tmp_path, old) as built:
        assert built.reembedder.progress is None
        await built.check_by_meaning(facts)
        assert old.asked == []


async def test_what_is_written_without_a_model_gets_its_vector_later(tmp_path: Path) -> None:
    """The first such write marks the index; with the model back it is built from the start."""
    facts = await filled_store(tmp_path)
    async with house(tmp_path, None) as built:
        facts += await built.remembered(["said without a model"])
        assert (await built.ask("said without"))[0].id == facts[-1].id
        assert await built.marks() == {"old": ("building", 0, 0)}
    async with house(tmp_path, ScriptedEmbedder("old")) as built:
        assert built.reembedder.progress == Reembedding(None, "old", 0, 31)
        await built.reembedder.run_to_end()
        await built.check_by_meaning(facts)


async def test_an_index_whose_model_is_gone_is_kept_until_it_is_behind(tmp_path: Path) -> None:
    """Opening with another model by mistake costs nothing; the first write settles it."""
    facts = await filled_store(tmp_path)
    async with house(tmp_path, ScriptedEmbedder("new")) as built:
        assert built.index.serving.model_id == "new"
        assert (await built.ask(TEXTS[9]))[0].id == facts[9].id
        assert built.engine.dropped == []
    old = ScriptedEmbedder("old")
    async with house(tmp_path, old) as built:
        assert old.asked == []
        await built.check_by_meaning(facts)
    async with house(tmp_path, ScriptedEmbedder("new")) as built:
        facts += await built.remembered(["said meanwhile"])
        assert built.engine.dropped == ["old"]
        assert built.index.serving.partial
        await built.reembedder.run_to_end()
        await built.check_by_meaning(facts)


async def test_an_index_that_is_no_longer_needed_goes_with_the_switch(tmp_path: Path) -> None:
    """Not before, and without any write."""
    await filled_store(tmp_path)
    async with house(tmp_path, ScriptedEmbedder("new"), batch_records=1) as built:
        await built.reembedder.run_pass()
        assert built.engine.dropped == []
        report = await built.reembedder.run_pass()
        assert (report.completed, report.dropped) == (True, ("old",))
        assert await built.marks() == {"new": ("complete", 30, 30)}


async def test_a_model_that_cannot_be_opened_after_all_is_done_without(tmp_path: Path) -> None:
    """The store opens, and builds in place."""

    class Damaged(ScriptedEmbedder):
        async def __aenter__(self) -> Self:
            raise TierUnavailable("embedding", "open", "damaged")

    facts = await filled_store(tmp_path)
    async with house(tmp_path, ScriptedEmbedder("new"), Damaged("old")) as built:
        assert built.index.serving.model_id == "new"
        await built.reembedder.run_to_end()
        await built.check_by_meaning(facts)


async def test_an_embedder_opened_for_the_old_index_is_closed(tmp_path: Path) -> None:
    """Whoever opens closes."""
    await filled_store(tmp_path)
    old = ScriptedEmbedder("old")
    async with house(tmp_path, ScriptedEmbedder("new"), old):
        assert old.is_open
    assert not old.is_open


async def test_changing_back_in_between_loses_nothing(tmp_path: Path) -> None:
    """Half built, then the old model again, with writes: the half is dropped, not trusted."""
    facts = await filled_store(tmp_path)
    async with house(
        tmp_path, ScriptedEmbedder("new"), ScriptedEmbedder("old"), batch_records=1
    ) as built:
        await built.reembedder.run_pass()
    async with house(tmp_path, ScriptedEmbedder("old")) as built:
        assert built.engine.dropped == ["new"]
        facts += await built.remembered(["said in between"])
        retire(tmp_path, facts[0])
        await built.cold.queue.enqueue(SCOPE, [index_work_of(facts[0])], built.clock())
        await built.worker.drain()
    async with house(tmp_path, ScriptedEmbedder("new"), ScriptedEmbedder("old")) as built:
        assert built.reembedder.progress == Reembedding("old", "new", 0, 30)
        await built.reembedder.run_to_end()
        assert await built.index.count(SCOPE) == 30
        await built.check_by_meaning(facts[1:])


async def test_active_beliefs_are_embedded_and_others_are_not(tmp_path: Path) -> None:
    """A new model's index gets what is believed now, private beliefs included."""
    async with house(tmp_path, None) as built:
        former = await built.believe("Start on mediums.")
        await built.believe("Start on softs.", former)
        await built.believe("Hidden.", private=True)
        await built.remembered(TEXTS[:2])
        assert await built.index.count(SCOPE, "belief") == 2
    async with house(tmp_path, ScriptedEmbedder("new")) as built:
        assert built.reembedder.progress == Reembedding(None, "new", 0, 4)
        report = await built.reembedder.run_to_end()
        assert (report.records, report.completed) == (4, True)
        assert await built.index.count(SCOPE) == 4
        assert await built.by_meaning("Hidden.", "belief")
        assert await built.by_meaning("Start on mediums.", "belief") != former


async def test_the_index_follows_what_becomes_of_a_belief(tmp_path: Path) -> None:
    """In when it begins or is active again, out when it ends, whichever way it does."""
    async with house(tmp_path, ScriptedEmbedder("model")) as built:

        async def indexed() -> set[str]:
            await built.worker.drain()
            return set(built.engine.stores["model"].stored)

        first = await built.believe("Start on mediums.")
        assert await built.by_meaning("Start on mediums.", "belief") == first
        second = await built.believe("Start on softs.", first)
        assert await indexed() == {second}
        await built.cold.beliefs.revert(SCOPE, second, "it will rain", built.clock())
        assert await indexed() == {first}
        await built.cold.beliefs.rewind(SCOPE.for_graph(), 0, "from the start", built.clock())
        assert await indexed() == set()
        await built.cold.beliefs.rewind(SCOPE.for_graph(), 1, "not quite", built.clock())
        assert await indexed() == {first}
        graph = SCOPE.for_graph()
        await built.cold.redactor.redact(graph, [first], "asked to", built.clock())
        assert await indexed() == set()


async def test_an_index_is_its_tenants_alone(tmp_path: Path) -> None:
    """Another tenant's entries belong into that tenant's generations."""
    stranger = SCOPE.model_copy(update={"tenant": "acm"})
    await filled_store(tmp_path)
    async with house(tmp_path, ScriptedEmbedder("old")) as built:
        with pytest.raises(UsageError, match="acm"):
            await built.index.delete(stranger, ["x"])
        await built.index.delete(stranger, [])
        await built.index.upsert(stranger, [])
