"""Retention in MongoDB, done by several at once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from support.cold_samples import (
    draft,
    episode_by,
    fact_by,
    graph_of,
    summary_by,
    turn_by,
)
from support.mongo_deployments import Deployment
from support.tier_samples import NOW, scope_of

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.stores import ColdStores
from tiers.grains import RETIRED
from tiers.records import AuditFilter, Fact, Scope

LATER = NOW + timedelta(days=9)
SECRETS = ("quincunx", "zeppelin", "obsidian", "marzipan")
"""Words that nothing but what is retired says; each is its own stem."""


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


async def _retire(cold: ColdStores, life: Life) -> tuple[str, ...]:
    work = [draft("again", kind="retain")]
    return await cold.grains.retire(life.runtime, life.ids, "old", LATER, work)


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
