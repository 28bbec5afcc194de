"""Retention in MongoDB, cut off at every command and done by several at once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from support.cold_samples import (
    draft,
    episode_by,
    fact_by,
    graph_of,
    summary_by,
    turn_by,
)
from support.mongo_cuts import cut_at
from support.mongo_deployments import REFUSED, Deployment, deployed
from support.tier_samples import NOW, scope_of

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.stores import ColdStores
from tiers.errors import TierError
from tiers.grains import RETIRED
from tiers.records import AuditFilter, Fact, Scope

EVERY, SOME = range(1, 80), range(3, 80, 7)
"""Numbers of commands; a retirement sends fewer."""

LATER = NOW + timedelta(days=9)
SECRETS = ("quincunx", "zeppelin", "obsidian", "marzipan")
"""Words that nothing but what is retired says; each is its own stem."""


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    """A server for all tests of this file."""
    with deployed() as found:
        yield found


@dataclass(frozen=True)
class Life:
    """A graph of which something is to be retired."""

    runtime: Scope
    ids: tuple[str, ...]


async def _lived(cold: ColdStores, graph_id: str) -> Life:
    """Store two turns, their summary and their day, and a fact; all but the day are to go."""
    scope = scope_of(graph_id=graph_id, user_id="team")
    await cold.graphs.create_graph(graph_of(graph_id))
    turns = [
        (await cold.turns.append_turn(scope, turn_by(scope, f"A {word}.", speaker=SECRETS[0])))[0]
        for word in SECRETS[:2]
    ]
    summary = summary_by(scope, turns, text=f"Of {SECRETS[2]}.")
    await cold.episodic.put_summary(scope, summary)
    await cold.episodic.put_episode(scope, episode_by(scope, [summary.id], text="A day."))
    fact = fact_by(scope, "", subject=SECRETS[3], predicate="is", object="gone")
    await cold.semantic.put_fact(scope, fact)
    ids = (*(turn.id for turn in turns), summary.id, fact.id)
    return Life(scope.for_graph(), ids)


async def _retired(cold: ColdStores, life: Life) -> list[str]:
    """Return which of the records say that they are retired."""
    turns = await cold.turns.turns(life.runtime, life.ids)
    found = [one.id for one in turns if one.input == RETIRED]
    made = (await cold.grains.made(life.runtime, "", 9)).rows
    found += [one.id for one in made if one.retired]
    facts = await cold.archive.export_rows("acme", "facts", "", 1_000)
    mine = [one for one in facts.rows if isinstance(one, Fact) and one.id in life.ids]
    found += [one.id for one in mine if one.retired_at is not None]
    return found


async def _check_done(cold: ColdStores, life: Life) -> None:
    """Check that all of it is gone, told once, and that its work waits."""
    assert sorted(await _retired(cold, life)) == sorted(life.ids)
    told = await cold.log.audit(life.runtime, only=AuditFilter(kinds=("retired",)))
    assert [(event.record_ids, event.reason) for event in told] == [(life.ids, "old")]
    kinds = ("index", "retain")
    work = await cold.queue.claim(kinds, "me", 100, 60, LATER, scope=life.runtime)
    assert sorted(one.key for one in work) == sorted((*life.ids, "again"))
    assert await cold.grains.retirable(life.runtime, "working", LATER, 9) == ()


async def _cut(deployment: Deployment, name: str, number: int, *, after: bool) -> bool:
    """Retire, cut off at a command, then again; ``False`` when there was no such command.

    By another process the second time: what the first had open is over.
    """
    async with deployment.opened(name) as cold:
        life = await _lived(cold, f"graph {number} {after}")
        with cut_at(deployment.server, number, code=REFUSED, after=after) as cut:
            try:
                await _retire(cold, life)
            except TierError:
                assert cut.happened
    async with deployment.opened(name) as cold:
        begun = await _retired(cold, life)
        assert sorted(begun) in ([], sorted(life.ids))
        if begun and after:
            assert await cold.grains.retirable(life.runtime, "working", LATER, 9) == ()
        else:
            await _retire(cold, life)
        await _check_done(cold, life)
    return cut.happened


async def _retire(cold: ColdStores, life: Life) -> tuple[str, ...]:
    work = [draft("again", kind="retain")]
    return await cold.grains.retire(life.runtime, life.ids, "old", LATER, work)


async def _cut_everywhere(deployment: Deployment, numbers: range) -> int:
    name = deployment.fresh_database()
    cuts = 0
    for number in numbers:
        happened = [await _cut(deployment, name, number, after=after) for after in (False, True)]
        cuts += sum(happened)
        if not any(happened):
            break
    else:
        pytest.fail("there were more commands")
    raw = deployment.server.client[name]
    for collection in raw.list_collection_names():
        text = "\n".join(map(repr, raw[collection].find()))
        assert [word for word in SECRETS if word in text] == []
    return cuts


async def test_a_retirement_that_was_cut_off_is_finished(deployment: Deployment) -> None:
    """Whatever the command: repeating it leaves no word, one event, and all that follows."""
    assert await _cut_everywhere(deployment, SOME) >= 3


@pytest.mark.slow
async def test_a_retirement_is_finished_from_every_command(deployment: Deployment) -> None:
    """The same for each command there is."""
    assert await _cut_everywhere(deployment, EVERY) >= 20


async def test_many_retire_the_same_at_once(deployment: Deployment) -> None:
    """Six processes with either driver: each record is emptied, counted and told once."""
    name = deployment.fresh_database()
    async with AsyncExitStack() as stack:
        drivers: tuple[Any, ...] = ("pymongo", "motor") * 3
        opened = [
            await stack.enter_async_context(
                mongo_cold_store(deployment.server.uri, database=name, driver=driver)
            )
            for driver in drivers
        ]
        life = await _lived(opened[0], "race")
        await asyncio.gather(*(_retire(cold, life) for cold in opened))
        await _check_done(opened[0], life)
    raw = deployment.server.client[name]
    lengths = Counter[str]()
    for one in raw["searchable"].find():
        lengths[one["kind"]] += one["length"]
    totals = [json.loads(one["body"]) for one in raw["word_totals"].find()]
    assert {one["kind"]: one["words"] for one in totals if "words" in one} == lengths


async def test_what_has_no_stand_in_does_not_hide_what_has_one(deployment: Deployment) -> None:
    """However many older records nothing stands for, those with a stand-in are found."""
    scope = scope_of()
    runtime = scope.for_graph()
    async with deployment.opened(deployment.fresh_database()) as cold:
        for number in range(7):
            turn = turn_by(scope, f"turn {number}", recorded_at=NOW)
            await cold.turns.append_turn(scope, turn)
            summary = summary_by(scope, [turn])
            await cold.episodic.put_summary(scope, summary)
        day = episode_by(scope, [summary.id])
        await cold.episodic.put_episode(scope, day)
        due = await cold.grains.retirable(runtime, "working", LATER, 2)
        assert {(one.id, one.replaced_by) for one in due} == {
            (turn.id, (day.id,)),
            (summary.id, (day.id,)),
        }
