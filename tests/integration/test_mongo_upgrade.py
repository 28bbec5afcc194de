"""Opening a MongoDB database that an older ezra has written."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest
from support.belief_replay import assert_chained
from support.cold_samples import asked, belief_by, fact_by, graph_of, rule_by
from support.mongo_cuts import cut_at
from support.mongo_deployments import REFUSED, Deployment, deployed
from support.mongo_versions import lay_out
from support.tier_samples import NOW, scope_of

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.mongo.health import mongo_health
from tiers.cold.mongo.schema import VERSION
from tiers.cold.stores import ColdStores
from tiers.errors import ConfigError, TierError
from tiers.history.fold import Fold
from tiers.records import Ancestor, LoggedBelief, Parent, Scope, Span

HOUR = timedelta(hours=1)
NOBODY = scope_of("acme", "race", "strategist", ("tyres",))
TEAM = NOBODY.model_copy(update={"user_id": "team"})
COMMANDS_MAX = 400
MADE = {"beliefs", "belief_spans", "belief_trust", "work"}
"""Collections in which an upgrade makes documents: what beliefs had become was not all kept."""

TOUCHED = {
    1: {"for_user", "position"},
    2: {"mentions", "changed_seq"},
    3: {"prompts", "rules", "loose_for", "fact_type", "former"},
    4: {"also", "said_by", "ends"},
    5: set(),
}
"""Fields that no document of a version has."""


@pytest.fixture(scope="module", params=["standalone", "replica_set"])
def deployment(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    """A server of each kind."""
    with deployed(request.param) as found:
        yield found


@pytest.fixture
def older(deployment: Deployment) -> str:
    """The name of a database of version 1."""
    name = deployment.server.fresh_database()
    lay_out(deployment.server.uri, name, 1)
    return name


def _stored(deployment: Deployment, database: str) -> dict[str, list[dict[str, Any]]]:
    """Return every document, without what depends on how an upgrade was cut into pages.

    Nor on how often the same work was queued.
    """
    raw = deployment.server.client[database]
    found = {name: list(raw[name].find().sort("_id", 1)) for name in raw.list_collection_names()}
    for document in found.get("work", ()):
        document.pop("asked", None)
    for name in MADE & found.keys():
        for document in found[name]:
            for field in ("_id", "queued_at", "due_at"):
                document.pop(field, None)
        found[name].sort(key=str)
    return found


async def _upgraded(deployment: Deployment, version: int) -> dict[str, list[dict[str, Any]]]:
    """Return what is stored after an upgrade that nothing disturbed."""
    name = deployment.server.fresh_database()
    lay_out(deployment.server.uri, name, version)
    async with deployment.opened(name):
        return _stored(deployment, name)


async def test_graphs_agents_and_events_are_brought_up_to_date(
    deployment: Deployment, older: str
) -> None:
    """Links in their order, members last seen when they came, and one feed of the whole tenant."""
    async with deployment.opened(older) as cold:
        expected = graph_of("child", minute=2)
        made = expected.created_at
        links = tuple(Parent(id=one, linked_at=made) for one in ("monza", "race"))
        standing = await cold.graphs.standing(scope_of("acme", "child"))
        assert standing.graph == expected.model_copy(update={"parents": links})
        assert standing.lineage == (
            Ancestor(graph_id="monza", path=("monza",)),
            Ancestor(graph_id="race", path=("race",)),
        )
        await cold.graphs.link(scope_of("acme", "monza"), Parent(id="race", linked_at=NOW))
        present, gone = await cold.fleet.agents(NOBODY)
        assert (present.seen_at, gone.seen_at) == (NOW, NOW + HOUR)
        assert await cold.fleet.silent("acme", NOW, 9) == (present,)
        for tenant in ("acme", "acm"):
            feed = await cold.log.tenant_audit(tenant)
            assert [event.position for event in feed] == [1, 2, 3, 4, 5, 6]
            order = [(event.recorded_at, event.graph_id, event.seq) for event in feed]
            assert order == sorted(order)
            await cold.log.append_audit(scope_of(tenant, "monza"), "k", (), "", NOW)
            (last,) = await cold.log.tenant_audit(tenant, after=6)
            assert (last.position, last.seq) == (7, 1)
    assert (await mongo_health(deployment.server.uri, older)).problems == ()


async def test_upgrading_sends_what_it_says_and_no_more(deployment: Deployment, older: str) -> None:
    """The commands that the database's own description lists."""
    deployment.server.clear_commands()
    async with deployment.opened(older):
        sent = {command["name"] for command in deployment.server.commands}
    making = {"listCollections", "create", "collMod", "createIndexes", "dropIndexes"}
    known = making | {"buildInfo", "find", "aggregate", "ping", "endSessions"}
    assert sent - {"killCursors"} <= known | {"update", "insert", "delete"}


async def test_records_are_their_users_and_said_once(deployment: Deployment, older: str) -> None:
    """What is said again is known, by whom it was said for; core facts are core since ever."""
    async with deployment.opened(older) as cold:
        nobodys, (teams,) = await cold.semantic.core(NOBODY), (await cold.semantic.core(TEAM))[1:]
        assert [fact.text for fact in (*nobodys, teams)] == ["Core, nobody's.", "Core, the team's."]
        assert teams.core_spans == (Span(since=teams.recorded_at),)
        assert len(await cold.turns.recent_turns(NOBODY, 9)) == 1
        assert len(await cold.turns.recent_turns(TEAM, 9)) == 2
        for scope, whose in ((NOBODY, None), (TEAM, "team")):
            text = "Archival." if whose is None else "Archival, the team's."
            fact = fact_by(scope, text).model_copy(update={"id": f"fact of {whose}"})
            rule = rule_by(scope, f"tyres of {whose}").model_copy(update={"id": f"rule of {whose}"})
            for stored, is_new in (
                await cold.semantic.put_fact(scope, fact),
                await cold.procedural.put_rule(scope, rule),
            ):
                assert not is_new
                assert stored.id not in {fact.id, rule.id}
            belief = belief_by(scope, "Another.", key=("start", str(whose)))
            belief = belief.model_copy(update={"id": f"belief of {whose}"})
            (rival,) = (await cold.beliefs.commit(scope, belief)).unsettled
            assert rival.belief.claim == f"Belief of {whose}"


async def test_history_is_made_of_the_log_that_was_there(deployment: Deployment) -> None:
    """Events keep their hashes; what became of beliefs, and when they were active, is new.

    So is their work for the warm index; and what was said for an event that never came is gone.
    """
    name = deployment.server.fresh_database()
    lay_out(deployment.server.uri, name, 2)
    before = [event for one in _stored(deployment, name)["belief_log"] for event in one["events"]]
    async with deployment.opened(name) as cold:
        for graph_id, count in (("race", 8), ("monza", 3)):
            scope = Scope.of_graph("acme", graph_id)
            entries = await cold.history.logged(scope)
            events = [entry.event for entry in entries]
            assert_chained(events, scope)
            assert len(events) == count
            assert {event.hash for event in events} <= {event["hash"] for event in before}
            fold = Fold()
            assert not any(map(fold.apply, entries))
            rows = await cold.history.projected(scope)
            assert [row.belief.id for row in rows] == list(fold.beliefs)
            for row in rows:
                folded = fold.beliefs[row.belief.id]
                assert row.spans == tuple(folded.spans)
                became = (folded.status, folded.ended_seq, folded.superseded_by, folded.pinned)
                belief = row.belief
                assert became == (
                    *(belief.status, belief.ended_seq, belief.superseded_by),
                    belief.pinned,
                )
                about = [one.event.seq for one in await cold.history.naming(scope, belief.id)]
                assert about == [
                    one.event.seq
                    for one in entries
                    if belief.id in (one.event.belief_id, _successor(one))
                ]
            assert await cold.history.seq_at(scope, time=NOW) == 1
            for one in (row.belief for row in rows):
                alike = await cold.rivals.worded_like(scope, one, 99)
                assert (one.id in {other.id for other in alike}) == (one.status == "active")
            then = await cold.history.as_of(scope, 2)
            assert [one.id for one in then] == [one.id for one in fold.active_at(2)]
        assert (await cold.queue.waiting())["index"] == 7
    texts = [one["content"] for one in _stored(deployment, name)["belief_contents"]]
    assert not any("Three stops." in text for text in texts)


def _successor(entry: LoggedBelief) -> str | None:
    return json.loads(entry.content or "{}").get("superseded_by")


async def test_days_get_their_label_and_facts_their_address(deployment: Deployment) -> None:
    """Nothing that is in a daily episode is loose for one, and a fact is found by its key."""
    name = deployment.server.fresh_database()
    lay_out(deployment.server.uri, name, 3)
    runtime = NOBODY.for_graph()
    async with deployment.opened(name) as cold:
        first, second = await cold.episodic.episodes(runtime.for_agent("strategist"))
        assert [(one.period, one.made_by, one.lost) for one in (first, second)] == [
            ("2026-03-01", "extract", 0),
            ("2026-03-02", "extract", 0),
        ]
        (left,) = await cold.grains.loose(runtime, "daily", NOW + 99 * HOUR, 9)
        assert left.text == "Summary of lap 3."
        for grain in ("weekly", "monthly"):
            loose = await cold.grains.loose(runtime, grain, NOW + 99 * HOUR, 9)
            assert [one.id for one in loose] == [first.id, second.id]
        due = await cold.grains.retirable(runtime, "working", NOW + HOUR, 9)
        assert {one.replaced_by for one in due} == {(first.id,), (second.id,)}
        assert [one.kind for one in due].count("turn") == len(due) / 2 == 3
        asked = fact_by(NOBODY, "", subject="MEDIUM  tyres", predicate="last", object="9 laps")
        # Ids of samples are made alike, then and now: this is another fact.
        asked = asked.model_copy(update={"id": "asked"})
        (keyed,) = await cold.review.keyed(runtime, asked, 9)
        assert keyed.object == "18 laps"
        (old,) = await cold.semantic.facts(NOBODY, await _superseded(cold))
        assert (old.superseded_by, old.superseded_as) == (keyed.id, "natural")
        assert (await cold.fleet.agents(NOBODY))[0].prompts == {}


async def test_facts_get_the_ends_by_which_the_knowledge_graph_finds_them(
    deployment: Deployment,
) -> None:
    """Those of version 4, which lack nothing else, as those of older ones; a redacted one none."""
    name = deployment.server.fresh_database()
    lay_out(deployment.server.uri, name, 3)
    async with deployment.opened(name) as cold:
        spoken = fact_by(NOBODY, "", subject="Max", predicate="Alias", object="Mad Max")
        hidden = fact_by(NOBODY, "", subject="Niki", predicate="is", object="fast")
        for fact in (spoken, hidden):
            await cold.semantic.put_fact(NOBODY, fact)
        await cold.redactor.redact(NOBODY.for_graph(), [hidden.id], "asked to", NOW)
    expected = _stored(deployment, name)["facts"]
    raw = deployment.server.client[name]
    ends = ("ends", "joins", "subject_key", "predicate_key", "object_key")
    raw["facts"].update_many({}, {"$unset": dict.fromkeys(ends, "")})
    raw["meta"].update_one({"_id": "schema"}, {"$set": {"version": 4}, "$unset": {"digest": ""}})
    async with deployment.opened(name) as cold:
        assert _stored(deployment, name)["facts"] == expected
        names = ["MEDIUM tyres", "mad max", "niki"]
        found = await cold.knowledge.entities(NOBODY, names, 9)
        assert [one.facts for one in found] == [1, 0]


async def _superseded(cold: ColdStores) -> tuple[str, ...]:
    return await cold.review.ended(NOBODY.for_graph(), NOW + 2 * HOUR, NOW, 9)


async def test_outputs_of_tools_are_found_in_turns_that_were_there(deployment: Deployment) -> None:
    """With their words, as what they are, in the totals of their graph, and soon by meaning.

    A turn that was redacted gains neither a speaker nor work.
    """
    name = deployment.server.fresh_database()
    lay_out(deployment.server.uri, name, 4)
    raw = deployment.server.client[name]
    async with deployment.opened(name) as cold:
        for graph_id, speakers in (("race", ("Ada", "engineer", "strategist")), ("monza", ())):
            scope = scope_of("acme", graph_id, "strategist", ("tyres",))
            hits = await cold.words.search_words(scope, asked("graining", kinds=("tool_output",)))
            turns = [one for one in raw["turns"].find() if one["graph_id"] == graph_id]
            kept = {one["id"] for one in turns if one["also"] and "redacted_at" not in one}
            assert {hit.id for hit in hits} == kept
            assert all(hit.words_only and "telemetry: Graining" in hit.text for hit in hits)
            found = await cold.recollection.speakers(scope, 9)
            assert found == (speakers or ("strategist",))
            lengths = {"records": len(turns), "length": sum(one["length"] for one in turns)}
            totals = raw["word_totals"].find_one({"graph_id": graph_id, "kind": "turn"})
            assert lengths.items() <= totals.items()
        assert (await cold.queue.waiting())["index"] == 3
    assert raw["word_totals"].find_one({"tenant": " "}) is None


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
async def test_many_may_open_an_older_database_at_once(
    deployment: Deployment, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six processes with either driver that start together come to the same as one."""
    expected = await _upgraded(deployment, version)
    older = deployment.server.fresh_database()
    lay_out(deployment.server.uri, older, version)
    for module in ("renewal", "upgrade", "belief_backfill", "word_backfill"):
        monkeypatch.setattr(f"tiers.cold.mongo.{module}.PAGE_ROWS", 2)
    monkeypatch.setattr("tiers.cold.mongo.belief_log.EVENTS_PER_PAGE", 2)
    drivers: tuple[Any, ...] = ("pymongo", "motor") * 3
    async with AsyncExitStack() as stack:
        openers = (
            mongo_cold_store(deployment.server.uri, database=older, driver=driver)
            for driver in drivers
        )
        await asyncio.gather(*map(stack.enter_async_context, openers))
        assert _stored(deployment, older) == expected


@pytest.mark.parametrize("after", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("step", [41, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
async def test_an_upgrade_that_is_cut_off_is_finished_by_the_next_opening(
    deployment: Deployment, version: int, step: int, *, after: bool
) -> None:
    """At any command. Nobody but this version can open it in between."""
    expected, cuts = await _upgraded(deployment, version), 0
    for number in range(3, COMMANDS_MAX, step):
        name = deployment.server.fresh_database()
        lay_out(deployment.server.uri, name, version)
        with cut_at(deployment.server, number, code=REFUSED, after=after) as cut:
            try:
                async with deployment.opened(name):
                    pass
            except TierError:
                cuts += 1
        if not cut.happened:
            break
        found = _stored(deployment, name)
        (mark,) = found["meta"]
        is_touched = any(TOUCHED[version] & one.keys() for one in _all_of(found))
        assert mark["version"] == VERSION or not is_touched
        async with deployment.opened(name):
            assert _stored(deployment, name) == expected
        deployment.server.reset()
    assert cuts >= 3


def _all_of(found: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [document for documents in found.values() for document in documents]


async def test_an_older_ezra_can_neither_open_nor_write(
    deployment: Deployment, older: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that comes later is refused by the mark, one that is open by the validators."""
    async with deployment.opened(older):
        pass
    monkeypatch.setattr("tiers.cold.mongo.schema.VERSION", 1)
    with pytest.raises(ConfigError, match="newer ezra"):
        async with mongo_cold_store(deployment.server.uri, database=older):
            pass
    old = {"tenant": "acme", "graph_id": "race", "seq": 99, "kind": "k", "recorded_at": 0}
    scope = Scope(tenant="acme", graph_id="race")
    monkeypatch.undo()
    async with deployment.opened(older) as cold:
        with pytest.raises(TierError, match="schema"):
            await cold.log._database.write(
                "old", lambda session: session.collection("audit").insert([old])
            )
        assert len(await cold.log.audit(scope)) == 3
