"""Opening database files of every version."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.belief_replay import expected_hash, replayed_log, standing
from support.cold_backends import raw_sqlite
from support.cold_beliefs import replacing
from support.cold_calls import AGENT
from support.cold_samples import (
    OPERATOR,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    asked,
    belief_by,
    draft,
    episode_by,
    fact_by,
    graph_of,
    rule_by,
    summary_by,
    turn_by,
)
from support.cold_versions import as_version
from support.tier_samples import NOW

from tiers.cold.sqlite import ColdStores, sqlite_cold_store
from tiers.cold.sqlite.schema import APPLICATION_ID, MIGRATIONS, Migration, migrate
from tiers.errors import ConfigError
from tiers.grains import MADE_OF
from tiers.moments import microseconds, moment
from tiers.records import (
    EXTRACTED,
    BeliefEvent,
    BeliefQuery,
    Budget,
    Parent,
    Retention,
    Scope,
    Span,
)

NEWEST = MIGRATIONS[-1].version


async def _filled(cold: ColdStores) -> None:
    """Store something of every kind, in three graphs, superseded and private ones among it."""
    await cold.graphs.create_graph(graph_of("race"))
    await cold.graphs.create_graph(graph_of("race/2", "race"))
    await cold.fleet.spawn(AGENT)
    for scope in (SCOPE, OTHER_GRAPH, OTHER_TENANT):
        turns = [
            (await cold.turns.append_turn(scope, turn_by(scope, f"Tyre lap {n}"), [draft(f"{n}")]))[
                0
            ]
            for n in range(5)
        ]
        summary = summary_by(scope, turns[:3], private=True)
        await cold.episodic.put_summary(scope, summary)
        await cold.episodic.put_episode(scope, episode_by(scope, [summary.id]))
        await cold.semantic.put_fact(scope, fact_by(scope, "Tyres are round.", tier="core"))
        await cold.semantic.put_fact(scope, fact_by(scope, "Tyres are square.", superseded_by="x"))
        await cold.procedural.put_rule(scope, rule_by(scope))
        for claim in ("Hard tyres.", "Soft tyres."):
            await replacing(cold, scope, belief_by(scope, claim))
        await cold.log.append_audit(scope, "spawned", ("a",), "", NOW)


async def _answers(cold: ColdStores) -> list[object]:
    """Return what the file tells, in every way that depends on the newest version."""
    answers: list[object] = []
    for scope in (SCOPE, OPERATOR, OTHER_GRAPH, OTHER_TENANT):
        hits = await cold.words.search_words(scope, asked("tyres laps day soft hard medium"))
        answers += [
            await cold.graphs.standing(scope),
            await cold.fleet.agents(scope),
            hits,
            await cold.words.entries(scope, [hit.id for hit in hits]),
            await cold.words.census(scope),
            await _believed(cold, scope),
            await cold.semantic.core(scope),
            await cold.semantic.recall_archival(scope, asked("tyres")),
            await cold.procedural.match_rules(scope, "tyre change", 4),
            await cold.log.tenant_audit(scope.tenant),
        ]
    return answers


async def _believed(cold: ColdStores, scope: Scope) -> list[object]:
    """Return what was believed at each event; before version 4 no event had a turn."""
    events = await cold.history.events(scope)
    return [
        [(event.kind, event.belief_id) for event in events],
        [await cold.history.as_of(scope, event.seq) for event in events],
        await cold.history.query(scope, BeliefQuery(topic="tyres")),
        await cold.history.projected(scope.for_graph()),
    ]


def _version(folder: Path) -> int:
    with closing(raw_sqlite(folder)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


async def test_new_file_is_at_the_newest_version(tmp_path: Path) -> None:
    """And marked as ezra's."""
    async with sqlite_cold_store(tmp_path):
        pass
    assert _version(tmp_path) == MIGRATIONS[-1].version
    with closing(raw_sqlite(tmp_path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        assert migrate(connection) == 0, "nothing is left to do the second time"


def test_migrations_count_from_one_without_gaps() -> None:
    """Each has a script of its own."""
    assert [step.version for step in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
    assert all(step.script().strip() for step in MIGRATIONS)


@pytest.mark.parametrize("version", range(1, NEWEST))
async def test_every_version_with_data_is_carried_forward(version: int, tmp_path: Path) -> None:
    """A file from before answers exactly as one that was of the newest version from the start."""
    newest, old = tmp_path / "newest", tmp_path / "old"
    old.mkdir()
    async with sqlite_cold_store(newest) as cold:
        await _filled(cold)
        expected = await _answers(cold)
    as_version(version, newest, old)
    assert _version(old) == version
    async with sqlite_cold_store(old) as cold:
        assert await _answers(cold) == expected
        # And it goes on from there.
        turn, _ = await cold.turns.append_turn(SCOPE, turn_by(text="Undercut now?"))
        assert turn.seq == 6
        (hit,) = await cold.words.search_words(SCOPE, asked("undercut"))
        assert hit.id == turn.id
    assert _version(old) == NEWEST


_BEFORE_FLEETS = """
INSERT INTO graphs (tenant, id, state, inherits_from, merge_strategy, created_at) VALUES
    ('acme', 'p', 'closed', '[]', 'manual', 1), ('acme', 'q', 'active', '[]', 'manual', 2),
    ('acme', 'race', 'active', '["q", "p", "q"]', 'manual', 3), ('acm', 'race', 'active', '[]',
    'manual', 4);
INSERT INTO topic_sets VALUES (1, '[]');
INSERT INTO topic_members VALUES (1, '');
INSERT INTO facts (tenant, graph_id, id, agent_id, user_id, topic_set, private_to, recorded_at,
    text, digest, tier, confidence, superseded_by, source_ids, uses) VALUES
    ('acme', 'race', 'old', 'strategist', 'ann', 1, '', 5, 'Dry.', :digest, 'core', 1, NULL, '[]',
    0), ('acme', 'race', 'gone', 'strategist', NULL, 1, '', 6, 'Wet.', x'01', 'core', 1, 'old',
    '[]', 0), ('acme', 'race', 'plain', 'strategist', NULL, 1, '', 7, 'Mild.', x'02', 'archival', 1,
    NULL, '[]', 0);
INSERT INTO audit (tenant, graph_id, seq, agent_id, kind, record_ids, reason, recorded_at) VALUES
    ('acme', 'race', 1, NULL, 'k', '[]', 'first', 10), ('acme', 'race', 2, NULL, 'k', '[]',
    'fourth, by a clock that went back', 8), ('acme', 'p', 1, NULL, 'k', '[]', 'zeroth', 9),
    ('acm', 'race', 1, NULL, 'k', '[]', 'theirs', 1);
INSERT INTO agents (tenant, graph_id, id, role, topics, sources, spawned_at) VALUES
    ('acme', 'race', 'strategist', '', '[]', '["*"]', 11)
"""


async def test_what_came_before_fleets_is_understood(tmp_path: Path) -> None:
    """Parents become links, spawns signs of life, and the feeds of graphs one of their tenant.

    A fact that is core was so from when it was recorded, and its user's statement it remains.
    """
    with closing(raw_sqlite(tmp_path)) as connection:
        migrate(connection, MIGRATIONS[:2])
        for statement in _BEFORE_FLEETS.split(";\n"):
            connection.execute(statement, {"digest": hashlib.sha256(b"Dry.").digest()})
    async with sqlite_cold_store(tmp_path) as cold:
        standing = await cold.graphs.standing(SCOPE)
        assert standing is not None
        assert standing.graph.parents == tuple(
            Parent(id=name, linked_at=moment(3)) for name in ("q", "p")
        )
        assert [one.graph_id for one in standing.lineage] == ["q", "p"]
        assert (standing.graph.budget, standing.graph.retention) == (Budget(), Retention())
        assert standing.agent is not None
        assert (standing.agent.seen_at, standing.agent.released) == (moment(11), False)
        runtime = SCOPE.for_graph()
        known = {fact.id: fact for fact in await cold.semantic.facts(runtime, ["old", "plain"])}
        assert known["old"].core_spans == (Span(since=moment(5)),)
        assert known["plain"].core_spans == ()
        for user, is_new in (("ann", False), ("ben", True)):
            fact = fact_by(SCOPE, "Dry.", topics=()).model_copy(update={"user_id": user})
            assert (await cold.semantic.put_fact(runtime, fact))[1] is is_new
        await cold.log.append_audit(SCOPE, "k", (), "fifth", NOW)
        feed = await cold.log.tenant_audit("acme")
        assert [event.position for event in feed] == [1, 2, 3, 4]
        assert [event.reason.partition(",")[0] for event in feed] == [
            *("zeroth", "first", "fourth", "fifth")
        ]


_TOPICS = """
INSERT INTO topic_sets VALUES (1, '["tyres"]');
INSERT INTO topic_members VALUES (1, 'tyres')
"""
_OLD_LOG = (
    ("committed", "a", {"id": "a", "claim": "Mediums."}),
    ("pinned", "a", {"pinned": True}),
    ("committed", "b", {"id": "b", "claim": "Hards."}),
    ("superseded", "a", {"superseded_by": "b"}),
    ("committed", "c", {"id": "c", "claim": "Rain."}),
)


def _write_old_log(connection: sqlite3.Connection) -> None:
    """Write a log as version 3 did: events of the first form, beliefs without what became of them.

    ``b`` took the place of ``a``, which was pinned; ``c`` stands by itself.
    """
    previous = "0" * 64
    for seq, (kind, belief_id, content) in enumerate(_OLD_LOG, 1):
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        salt = bytes([seq]) * 16
        event = BeliefEvent(
            id=f"event {seq}",
            tenant="acme",
            graph_id="race",
            seq=seq,
            kind=kind,
            belief_id=belief_id,
            agent_id="strategist",
            recorded_at=NOW,
            content_digest=hashlib.sha256(salt + text.encode()).hexdigest(),
            previous_hash=previous,
            hash="",
        )
        previous = expected_hash(event)
        fields = event.model_dump(exclude={"turn", "version"})
        row = fields | {"hash": previous, "recorded_at": microseconds(NOW)}
        _insert(connection, "belief_events", row)
        owner = {"tenant": "acme", "graph_id": "race", "event_id": event.id}
        _insert(connection, "belief_contents", owner | {"salt": salt, "content": text})
    for belief_id, claim, key, active, pinned, seq in (
        ("a", "Mediums.", "start", 0, 1, 1),
        ("b", "Hards.", "start", 1, 0, 3),
        ("c", "Rain.", None, 1, 0, 5),
    ):
        belief = {"id": belief_id, "claim": claim, "key_subject": key, "key_attribute": key}
        belief |= {"active": active, "pinned": pinned, "committed_seq": seq}
        owner = {"tenant": "acme", "graph_id": "race", "agent_id": "strategist", "topic_set": 1}
        told = {"private_to": "", "recorded_at": microseconds(NOW), "topic": "tyres", "trust": 1.0}
        _insert(connection, "beliefs", belief | owner | told)


def _insert(connection: sqlite3.Connection, table: str, row: dict[str, object]) -> None:
    marks = ", ".join(f":{name}" for name in row)
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", row)  # noqa: S608


async def test_beliefs_from_before_history_have_one(tmp_path: Path) -> None:
    """Their log keeps its hashes, tells what was believed when, and goes on; words wait."""
    with closing(raw_sqlite(tmp_path)) as connection:
        migrate(connection, MIGRATIONS[:3])
        for statement in _TOPICS.split(";\n"):
            connection.execute(statement)
        _write_old_log(connection)
    async with sqlite_cold_store(tmp_path) as cold:
        history = cold.history
        fold = await replayed_log(history, OPERATOR)
        held = [{one.id: one.pinned for one in await history.as_of(SCOPE, n)} for n in range(6)]
        assert held == [
            *({}, {"a": False}, {"a": True}, {"a": True, "b": False}, {"b": False}),
            {"b": False, "c": False},
        ]
        rows = {row.belief.id: row for row in await history.projected(OPERATOR)}
        for belief_id, row in rows.items():
            folded = fold.beliefs[belief_id]
            assert row.spans == tuple(folded.spans)
            became = (folded.status, folded.committed_seq, folded.ended_seq, folded.superseded_by)
            assert standing(row.belief) == (*became, folded.pinned)
        assert [one.event.seq for one in await history.naming(OPERATOR, "b")] == [3, 4]
        assert len(await history.query(SCOPE, BeliefQuery(topic="tyres"))) == 3
        waiting = await cold.queue.claim(("index",), "me", 10, 10, NOW)
        assert [(work.key, work.payload) for work in waiting] == [
            *(("b", {"id": "b"}), ("c", {"id": "c"}))
        ]
        alike = belief_by(claim="Rain on mediums or hards", key=None)
        assert [one.id for one in await cold.rivals.worded_like(SCOPE, alike, 9)] == ["c", "b"]
        done = await cold.beliefs.revert(SCOPE, "b", "no", NOW)
        assert (done.ended, done.restored) == (("b",), ("a",))
        assert [one.id for one in await cold.rivals.worded_like(SCOPE, alike, 9)] == ["c", "a"]
        fold = await replayed_log(history, OPERATOR)
        assert [one.id for one in fold.active()] == ["a", "c"]
        assert [event.version for event in await history.events(OPERATOR)] == [1] * 5 + [2] * 3


_BEFORE_GRAINS = """
INSERT INTO graphs (tenant, id, state, merge_strategy, created_at) VALUES
    ('acme', 'race', 'active', 'manual', 3);
INSERT INTO topic_sets VALUES (1, '[]');
INSERT INTO topic_members VALUES (1, '');
INSERT INTO agents (tenant, graph_id, id, role, topics, sources, spawned_at, seen_at) VALUES
    ('acme', 'race', 'strategist', '', '[]', '["*"]', 11, 11);
INSERT INTO facts (tenant, graph_id, id, agent_id, topic_set, private_to, recorded_at, text, digest,
    subject, predicate, object, tier, confidence, superseded_by, superseded_at, redacted_at,
    source_ids, uses) VALUES
    ('acme', 'race', 'keyed', 'strategist', 1, '', 5, 'a', x'01', 'The  Car', 'top_speed', '9',
    'core', 1, NULL, NULL, NULL, '[]', 4), ('acme', 'race', 'gone', 'strategist', 1, '', 6, 'b',
    x'02', 'the car', 'top speed', '8', 'archival', 1, 'keyed', 7, NULL, '[]', 0), ('acme', 'race',
    'silent', 'strategist', 1, '', 7, '[redacted]', x'03', NULL, NULL, NULL, 'archival', 1, NULL,
    NULL, 8, '[]', 0);
INSERT INTO summaries (tenant, graph_id, id, agent_id, topic_set, private_to, recorded_at, level,
    text, covers, tokens, starts_at, ends_at, episode_id) VALUES
    ('acme', 'race', 's1', 'strategist', 1, '', 5, 0, 'a', '["t"]', 1, 5, 6, 'e'),
    ('acme', 'race', 's2', 'strategist', 1, '', 5, 0, 'a', '["t"]', 1, 7, 8, NULL);
INSERT INTO consolidation VALUES ('acme', 'race', 'daily', 's1', 'e');
INSERT INTO episodes (tenant, graph_id, id, agent_id, topic_set, private_to, recorded_at, grain,
    text, children, starts_at, ends_at) VALUES
    ('acme', 'race', 'e', 'strategist', 1, '', 5, 'daily', 'a', '["s1"]', 1772366399999999,
    1772366399999999)
"""


async def test_what_came_before_grains_is_understood(tmp_path: Path) -> None:
    """Days have their label, facts the address and the ends by which they are found.

    Nothing of it is retired, forgotten or judged.
    """
    with closing(raw_sqlite(tmp_path)) as connection:
        migrate(connection, MIGRATIONS[:4])
        for statement in _BEFORE_GRAINS.split(";\n"):
            connection.execute(statement)
    async with sqlite_cold_store(tmp_path) as cold:
        (day,) = await cold.episodic.episodes(OPERATOR)
        assert (day.period, day.made_by, day.lost) == ("2026-03-01", EXTRACTED, 0)
        loose = {grain: await cold.grains.loose(OPERATOR, grain, NOW, 9) for grain in MADE_OF}
        found = {grain: [one.id for one in some] for grain, some in loose.items() if some}
        assert found == {"daily": ["s2"], "weekly": ["e"], "monthly": ["e"]}
        asked_for = fact_by(SCOPE, "", subject="the car", predicate="TOP SPEED", object="7")
        (keyed,) = await cold.review.keyed(OPERATOR, asked_for, 9)
        assert (keyed.id, keyed.fact_type, keyed.earned_from) == ("keyed", "world", 0)
        (car,) = await cold.knowledge.entities(OPERATOR, ["the_car", "8"], 9)
        assert (car.name, car.facts) == ("The  Car", 1)
        stated = await cold.knowledge.statements(OPERATOR, "THE CAR", "top speed")
        assert [one.id for one in stated] == ["keyed", "gone"]
        (gone,) = await cold.semantic.facts(OPERATOR, ["gone"])
        assert (gone.superseded_as, gone.superseded_at) == ("natural", moment(7))
        assert [one.id for one in await cold.review.unjudged(OPERATOR, 9)] == ["keyed"]
        standing = await cold.graphs.standing(SCOPE)
        assert standing is not None
        assert standing.agent is not None
        assert standing.agent.prompts == {}


async def test_file_of_a_newer_ezra_is_refused_with_both_versions(tmp_path: Path) -> None:
    """And left as it is."""
    async with sqlite_cold_store(tmp_path):
        pass
    with closing(raw_sqlite(tmp_path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ConfigError, match=rf"version 99.*version {NEWEST}.*upgrade"):
        async with sqlite_cold_store(tmp_path):
            pass
    assert _version(tmp_path) == 99


@pytest.mark.parametrize("version", [0, 1])
async def test_somebody_elses_database_is_refused(tmp_path: Path, version: int) -> None:
    """A SQLite file that ezra did not make is not taken over."""
    with closing(raw_sqlite(tmp_path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(ConfigError, match="not written by ezra"):
        async with sqlite_cold_store(tmp_path):
            pass
    with closing(raw_sqlite(tmp_path)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_schema").fetchall()
    assert [row[0] for row in tables] == ["theirs"]


class _FailingMigration(Migration):
    """Makes and changes tables, then fails."""

    def apply(self, connection: sqlite3.Connection) -> None:
        """Leave something behind, were it not for the transaction."""
        connection.execute("CREATE TABLE half (x)")
        connection.execute("DROP TABLE leases")
        raise sqlite3.OperationalError("the third step failed")


class _GoodMigration(Migration):
    """What the failed one becomes once it is repaired."""

    def apply(self, connection: sqlite3.Connection) -> None:
        """Make one table."""
        connection.execute("CREATE TABLE whole (x)")


async def test_failed_migration_leaves_the_version_before_it(tmp_path: Path) -> None:
    """Its transaction takes everything back; repaired, it runs."""
    async with sqlite_cold_store(tmp_path) as cold:
        await cold.turns.append_turn(SCOPE, turn_by())
    with closing(raw_sqlite(tmp_path)) as connection:
        before = connection.execute("SELECT sql FROM sqlite_schema").fetchall()
        with pytest.raises(sqlite3.OperationalError, match="third step"):
            migrate(connection, (*MIGRATIONS, _FailingMigration(NEWEST + 1, "failing")))
        assert not connection.in_transaction
        assert connection.execute("SELECT sql FROM sqlite_schema").fetchall() == before
    assert _version(tmp_path) == NEWEST
    async with sqlite_cold_store(tmp_path) as cold:
        assert len(await cold.turns.recent_turns(SCOPE, 8)) == 1
    with closing(raw_sqlite(tmp_path)) as connection:
        assert migrate(connection, (*MIGRATIONS, _GoodMigration(NEWEST + 1, "good"))) == 1
    assert _version(tmp_path) == NEWEST + 1


async def test_later_failure_keeps_the_migrations_before_it(tmp_path: Path) -> None:
    """Each step is a transaction of its own: of two, the first stays."""
    with closing(raw_sqlite(tmp_path)) as connection:
        migrate(connection, MIGRATIONS[:1])
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, (*MIGRATIONS, _FailingMigration(NEWEST + 1, "failing")))
    assert _version(tmp_path) == NEWEST
