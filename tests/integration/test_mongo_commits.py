"""Changes of many in MongoDB, cut off and at once; and the scope as MongoDB gets it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.belief_replay import replayed
from support.cold_estate import exported, fill, read_out
from support.cold_samples import (
    LONE_SURROGATE,
    OTHER_AGENT,
    SCOPE,
    belief_by,
    draft,
    episode_by,
    fact_by,
    graph_of,
    heir_of,
    rule_by,
    summary_by,
    turn_by,
)
from support.mongo_cuts import cut_at
from support.mongo_deployments import REFUSED, Deployment
from support.tier_samples import NOW, scope_of

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.sqlite import sqlite_cold_store
from tiers.cold.stores import ColdStores
from tiers.errors import Conflict, TierError, UsageError
from tiers.grains import RETIRED
from tiers.records import Ancestor, AuditFilter, Commitment, Fact, Scope, Settlement
from tiers.upkeep import ARCHIVE_ROWS

# Changes of many in MongoDB: commits that wait, imports that are cut off, retention by several.

# Commits that wait for one graph in MongoDB: each is a change of its own.

GRAPH = Scope.of_graph(SCOPE.tenant, SCOPE.graph_id)
TOGETHER = 32


def _over(rival: Commitment, winner: Any = "new") -> list[Settlement]:
    return [Settlement(rival_id=rival.id, winner=winner, strategy="last_write_wins", decided=True)]


async def test_commits_that_wait_together_are_as_many_changes(deployment: Deployment) -> None:
    """Thirty-two at once: none is lost, none is doubled, and nothing is tried in vain."""
    name = deployment.fresh_database()
    async with deployment.opened(name) as cold:
        beliefs = [belief_by(claim=f"{number}", key=None) for number in range(TOGETHER)]
        deployment.server.clear_commands()
        answers = await asyncio.gather(*(cold.beliefs.commit(SCOPE, one) for one in beliefs))
        sent = [one for one in deployment.server.commands if one["name"] != "ping"]
        assert sum(one["name"] == "commitTransaction" for one in sent) == TOGETHER
        assert not any(one["name"] == "abortTransaction" for one in sent)
        assert all(answer.is_new and answer.active for answer in answers)
        await replayed(cold.history, GRAPH)
        assert {one.id for one in await cold.beliefs.active(SCOPE)} == {one.id for one in beliefs}
    assert deployment.server.client[name]["belief_events"].count_documents({}) == TOGETHER


async def test_each_is_decided_from_what_the_one_before_has_left(deployment: Deployment) -> None:
    """Of one key, of one id, over a rival that is just gone, and with the trust that has moved."""
    async with deployment.opened(deployment.fresh_database()) as cold:
        rival = belief_by(claim="rival")
        await cold.beliefs.commit(SCOPE, rival)
        first, late = belief_by(OTHER_AGENT, claim="first"), belief_by(claim="late")
        other = belief_by(claim="other", key=("pit", "lap"))
        again = belief_by(OTHER_AGENT, claim="again", key=("pit", "lap"))
        answers = await asyncio.gather(
            cold.beliefs.commit(SCOPE, belief_by(claim="begins", key=None)),
            cold.beliefs.commit(OTHER_AGENT, first, _over(rival)),
            cold.beliefs.commit(OTHER_AGENT, first, _over(rival)),
            cold.beliefs.commit(SCOPE, late, _over(rival)),
            cold.beliefs.commit(SCOPE, other),
            cold.beliefs.commit(OTHER_AGENT, again),
        )
        _, won, same, stale, own, unsettled = answers
        assert won.is_new
        assert [one.id for one in won.superseded] == [rival.id]
        assert (same.is_new, same.active, stale.is_stale) == (False, True, True)
        assert own.belief.trust == 0.8, "its agent was held to be wrong by the first"
        assert [one.belief for one in unsettled.unsettled] == [own.belief]
        await replayed(cold.history, GRAPH)


async def test_what_is_refused_is_refused_alone(deployment: Deployment) -> None:
    """Whether it cannot be decided, or cannot even be asked about: the others are kept."""
    async with deployment.opened(deployment.fresh_database()) as cold:
        rival = belief_by(claim="rival")
        await cold.beliefs.commit(SCOPE, rival)
        both, broken = belief_by(claim="both"), belief_by(claim="broken")
        unsaid = belief_by(key=None).model_copy(update={"claim": LONE_SURROGATE})
        strange = rival.model_copy(update={"id": LONE_SURROGATE})
        good = [belief_by(claim=f"{number}", key=None) for number in range(6)]
        answers = await asyncio.gather(
            *(cold.beliefs.commit(SCOPE, one) for one in good[:3]),
            cold.beliefs.commit(SCOPE, both, _over(rival, "both")),
            cold.beliefs.commit(SCOPE, unsaid),
            cold.beliefs.commit(SCOPE, broken, _over(strange)),
            *(cold.beliefs.commit(SCOPE, one) for one in good[3:]),
            return_exceptions=True,
        )
        assert [type(one) for one in answers[3:6]] == [Conflict, UsageError, UsageError]
        assert all(one.is_new for one in (*answers[:3], *answers[6:]))
        fold = await replayed(cold.history, GRAPH)
        assert set(fold.beliefs) == {rival.id, *(one.id for one in good)}


async def test_a_step_that_fails_in_passing_is_tried_again(deployment: Deployment) -> None:
    """Nobody is told, nobody is lost, nobody is doubled."""
    async with deployment.opened(deployment.fresh_database()) as cold:
        beliefs = [belief_by(claim=f"{number}", key=None) for number in range(5)]
        deployment.server.fail_next("insert", code=91, collection="belief_events", error_labels=())
        answers = await asyncio.gather(*(cold.beliefs.commit(SCOPE, one) for one in beliefs))
        assert all(one.is_new for one in answers)
        await asyncio.gather(*(cold.beliefs.commit(SCOPE, one) for one in beliefs))
        fold = await replayed(cold.history, GRAPH)
        assert set(fold.beliefs) == {one.id for one in beliefs}


# Importing into MongoDB: cut off anywhere, and repeated.

SOME = (1, 2, 5, *range(16, 400, 60))
MANY = (*range(1, 12), *range(13, 400, 9))
"""Numbers of commands, the last of them more than an import of a table sends."""


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[Any]:
    """A SQLite tier with something of everything."""
    async with sqlite_cold_store(tmp_path) as cold:
        await fill(cold, "acme")
        yield cold


@pytest.mark.parametrize(
    "numbers", [SOME, pytest.param(MANY, marks=pytest.mark.slow)], ids=["some", "many"]
)
@pytest.mark.parametrize("after", [False, True], ids=["undone", "unanswered"])
async def test_an_import_that_is_cut_off_is_completed_by_repeating(
    deployment: Deployment, source: Any, numbers: tuple[int, ...], *, after: bool
) -> None:
    """At commands of every table; in the end everything is there once, with what follows."""
    async with deployment.opened(deployment.fresh_database()) as target:
        felt = 0
        for table in ARCHIVE_ROWS:
            rows = await read_out(source.archive, "acme", table)
            for number in numbers:
                with cut_at(deployment.server, number, code=REFUSED, after=after) as cut:
                    try:
                        await target.archive.import_rows("acme", table, rows)
                    except TierError:
                        felt += 1
                if not cut.happened:
                    break
        assert felt > len(ARCHIVE_ROWS)
        assert await exported(target.archive, "acme") == await exported(source.archive, "acme")
        for graph in await source.graphs.graphs("acme"):
            scope = Scope.of_graph("acme", graph.id)
            assert await target.graphs.standing(scope) == await source.graphs.standing(scope)


async def test_an_import_that_an_index_refuses_is_taken_back(
    deployment: Deployment, source: Any
) -> None:
    """Nothing stays of the rows before the one that contradicts."""
    async with deployment.opened(deployment.fresh_database()) as target:
        rows = await read_out(source.archive, "acme", "turns")
        twin = rows[-1].model_copy(update={"id": "another of the same number"})
        with pytest.raises(Conflict) as refused:
            await target.archive.import_rows("acme", "turns", [*rows, twin])
        assert "another of the same number" in str(refused.value)
        assert await target.archive.count_rows("acme", "turns") == 0
        assert await target.archive.import_rows("acme", "turns", rows) == len(rows)


# Retention in MongoDB, done by several at once.

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


# The scope as MongoDB gets it: one question for a whole family, and names as they are.


@pytest.fixture
async def database(deployment: Deployment) -> str:
    """The name of a database that is new."""
    return deployment.fresh_database()


@pytest.fixture
async def cold(deployment: Deployment, database: str) -> AsyncIterator[Any]:
    """A cold tier in it."""
    async with deployment.opened(database) as stores:
        deployment.server.clear_commands()
        yield stores


async def test_the_core_of_a_family_is_one_question(deployment: Deployment, cold: Any) -> None:
    """However many ancestors there are, and at however many moments they are read."""
    lineage = tuple(
        Ancestor(
            graph_id=f"g{n}", path=(f"g{n}",), as_of=NOW - timedelta(hours=n) if n % 2 else None
        )
        for n in range(60)
    )
    stored = []
    for n in (3, 40, 20, 1):
        fact = fact_by(scope_of(graph_id=f"g{n}"), f"{n}", tier="core", topics=(), minute=-90)
        stored.append((await cold.semantic.put_fact(scope_of(graph_id=f"g{n}"), fact))[0])
    deployment.server.clear_commands()
    found = await cold.semantic.core(SCOPE.model_copy(update={"lineage": lineage}))
    assert [fact.text for fact in found] == ["1", "20", "40"], "what g3 has came later"
    assert [one["name"] for one in deployment.server.commands] == ["aggregate"]


async def test_names_of_graphs_are_no_expressions(cold: Any) -> None:
    """A graph called like a field is as far away as it is, and not everywhere."""
    names = ("$graph_id", "$id", "$$ROOT")
    for name in reversed(names):
        above = scope_of(graph_id=name)
        await cold.procedural.put_rule(above, rule_by(above, topics=()))
    heir = heir_of(*names, scope=scope_of(graph_id="imola"))
    found = await cold.procedural.match_rules(heir, "tyre change", 9)
    assert [rule.graph_id for rule in found] == list(names)
