"""The contract of ``ColdArchive``: everything out of one cold tier and into another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from support.belief_replay import replayed
from support.cold_backends import COLD_BACKENDS, Cold, ColdBackend
from support.cold_beliefs import replacing
from support.cold_estate import TENANTS, answers, claimed, copy, exported, fill, read_out, unordered
from support.cold_samples import (
    OPERATOR,
    SCOPE,
    belief_by,
    draft,
    episode_by,
    fact_by,
    graph_of,
    rule_by,
    summary_by,
    turn_by,
)
from support.folder_copies import copied
from support.tier_samples import NOW

from tiers.cold.port import Find
from tiers.cold.stores import COLLECTIONS, unfinished_imports
from tiers.cold.stores.archive_tables import graph_of as owner_of
from tiers.cold.stores.questions import numbers
from tiers.errors import Conflict, UsageError
from tiers.evidence import ChainedAudit
from tiers.records import AgentRecord, BeliefSpan, HistoricBelief, ProjectedBelief, Scope, Usage
from tiers.upkeep import ARCHIVE_ROWS, PAGE_ROWS_MAX, DiscardedRows, Table

EVERY_TABLE: tuple[Table, ...] = tuple(ARCHIVE_ROWS)


@dataclass(frozen=True)
class Move:
    """A filled cold tier and an empty one."""

    source: Any
    target: Any


EVERY_PAIR = [
    pytest.param((one, other), id=f"{one.name}-{other.name}")
    for one, other in product(COLD_BACKENDS, COLD_BACKENDS)
]
NAMED = {one.name: one for one in COLD_BACKENDS}
ASKED_ALWAYS = [
    pytest.param([NAMED[name] for name in way], id="-".join(way))
    for way in (
        ("memory", "memory"),
        ("sqlite", "mongo", "sqlite"),
        ("sqlite", "mongo-live", "sqlite"),
    )
    if NAMED.keys() >= {*way}
]
"""Every engine of the product takes, and gives what it took; and the one that is asked quickest
with itself, whose answers have to be the same to the last figure."""


@asynccontextmanager
async def _opened(source: ColdBackend, target: ColdBackend, folder: Path) -> AsyncIterator[Move]:
    async with source.opened(folder / "one") as one, target.opened(folder / "other") as other:
        yield Move(one, other)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the first backend with something of everything; nobody writes into it."""
    folder = tmp_path_factory.mktemp("filled") / "one"
    folder.mkdir()

    async def make() -> None:
        async with COLD_BACKENDS[0].opened(folder) as cold:
            await fill(cold, "acme", hostile=False)

    asyncio.run(make())
    return folder


@pytest.fixture
async def move(backend: ColdBackend, filled: Path, tmp_path: Path) -> AsyncIterator[Move]:
    """A target of each backend, empty, and a source with something of everything."""
    copied(filled, tmp_path / "one")
    async with _opened(COLD_BACKENDS[0], backend, tmp_path) as move:
        yield move


@pytest.mark.parametrize("way", ASKED_ALWAYS)
async def test_everything_moves_and_every_port_answers_as_before(
    way: Sequence[ColdBackend], tmp_path: Path
) -> None:
    """Equal exports in equal order, and no port can tell the tiers apart."""
    await _everything_moves(way, tmp_path, asked=["acme"])


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("pair", EVERY_PAIR)
async def test_everything_of_every_tenant_moves_between_any_two(
    pair: tuple[ColdBackend, ColdBackend], tmp_path: Path
) -> None:
    """So it is for every pair, drivers included, whichever tenant asks."""
    await _everything_moves(pair, tmp_path, asked=TENANTS)


async def _everything_moves(
    way: Sequence[ColdBackend], tmp_path: Path, asked: Sequence[str]
) -> None:
    same_engine = len({one.name for one in way}) == 1
    async with AsyncExitStack() as stack:
        opened = [one.opened(tmp_path / f"{place}") for place, one in enumerate(way)]
        source, *targets = [await stack.enter_async_context(one) for one in opened]
        for tenant in TENANTS:
            await fill(source, tenant, hostile=tenant == "acme")
        assert await source.archive.tenants() == TENANTS
        before = {tenant: await exported(source.archive, tenant) for tenant in TENANTS}
        expected = {one: await answers(source, one, same_engine=same_engine) for one in asked}
        for giving, taking in pairwise([source, *targets]):
            for tenant, rows in before.items():
                assert all(rows.values()), "a table without rows would not be tested"
                assert await copy(giving.archive, taking.archive, tenant) >= 90
                assert await exported(giving.archive, tenant) == rows, "it is only read"
                assert await exported(taking.archive, tenant) == rows
            for tenant in asked:
                told = await answers(taking, tenant, same_engine=same_engine)
                assert told == expected[tenant]
            assert await taking.archive.tenants() == TENANTS
        work = await claimed(source)
        for target in targets:
            assert await claimed(target) == work


async def test_what_an_import_left_is_discarded(
    move: Move, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it and nothing else, by steps; the very same rows can be put in afterwards."""
    monkeypatch.setattr(unfinished_imports, "ROWS_PER_STEP", 5)
    archive = move.target.archive
    scope, before = Scope.of_graph("acme", "race"), await exported(move.source.archive, "acme")
    await _put_in_but(move, "race")
    standing = Scope.of_graph("acme", "closed")
    theirs = await exported(archive, "acme")
    left = await archive.rows_left(scope)
    assert set(left) == set(EVERY_TABLE) - {"graphs"}, "a table without rows would not be tested"
    assert await archive.rows_left(standing) == {}
    with pytest.raises(Conflict):
        await archive.discard(standing, NOW)
    done, ids = DiscardedRows(), set[str]()
    while not done.is_all:
        done = await archive.discard(scope, NOW, done)
        ids.update(done.ids)
    assert done.rows == left
    assert {one.id for one in await move.source.turns.turns_from(scope, 1, 100)} <= ids
    assert await archive.rows_left(scope) == {}
    assert await _kept_of(move.target, scope) == {"work"}, "by which the warm index is told"
    now = await exported(archive, "acme")
    for table in set(EVERY_TABLE) - {"audit", "work"}:
        others = _without(theirs[table], "race")
        assert _without(now[table], "race") == others == now[table], table
    await move.target.queue.complete_all(
        await move.target.queue.claim(("index",), "somebody", 10_000, 60, NOW)
    )
    await copy(move.source.archive, archive, "acme")
    after = unordered(await exported(archive, "acme"))
    assert {**after, "audit": ()} == {**unordered(before), "audit": ()}


async def _put_in_but(move: Move, graph_id: str) -> None:
    """Put everything of the source into the target, and let one graph not come to be."""
    for table in EVERY_TABLE:
        rows = await read_out(move.source.archive, "acme", table)
        kept = [row for row in rows if table != "graphs" or row.id != graph_id]  # type: ignore[attr-defined]
        await move.target.archive.import_rows("acme", table, kept)


async def _kept_of(cold: Any, scope: Scope) -> set[str]:
    """Return which collections still have something of a graph."""
    finds = {
        one.name: Find(one, scope, limit=1, reach="own")
        for one in COLLECTIONS
        if one.extent == "graph"
    }
    counts = await cold.archive._store.read("look", lambda: numbers(*finds.values()))
    return {name for name, found in zip(finds, counts, strict=True) if found}


def _without(rows: Any, graph_id: str) -> Any:
    """Return exported rows without those of a graph."""
    if isinstance(rows, dict):
        return {name: some for name, some in rows.items() if name != graph_id}
    named = f'"graph_id":"{graph_id}"'
    return [
        row
        for row in rows
        if not (named in row if isinstance(row, str) else owner_of(row) == graph_id)
    ]


async def test_nothing_is_an_empty_answer(cold: Cold) -> None:
    """An empty tier has no tenants, no rows, and takes nothing without complaint."""
    assert await cold.archive.tenants() == ()
    for table in EVERY_TABLE:
        page = await cold.archive.export_rows("acme", table, "", 10)
        assert (page.rows, page.cursor) == ((), None)
        assert await cold.archive.count_rows("acme", table) == 0
        assert await cold.archive.import_rows("acme", table, ()) == 0


async def test_only_the_tenant_that_is_moved_arrives(move: Move) -> None:
    """Tenants whose names begin alike are different tenants."""
    await fill(move.source, "acm", hostile=False)
    await copy(move.source.archive, move.target.archive, "acme")
    assert await move.target.archive.tenants() == ("acme",)
    for table in EVERY_TABLE:
        assert await move.target.archive.count_rows("acm", table) == 0


async def test_importing_again_changes_nothing(move: Move) -> None:
    """Rows that are there are passed over: no use is counted, no word, no event twice."""
    await copy(move.source.archive, move.target.archive, "acme")
    expected = await answers(move.target, "acme", same_engine=True)
    assert await copy(move.source.archive, move.target.archive, "acme", 7) == 0
    assert await answers(move.target, "acme", same_engine=True) == expected


async def test_the_belief_log_verifies_as_before(move: Move) -> None:
    """Hashes and salts are what they were, and the projection is what the log comes to."""
    await copy(move.source.archive, move.target.archive, "acme")
    for graph_id in ("race", "child"):
        fold = await replayed(move.target.history, Scope.of_graph("acme", graph_id))
        assert len(fold.beliefs) > 2


async def test_life_goes_on_at_the_target(move: Move) -> None:
    """New turns, events and beliefs follow those that moved, as they would have at the source."""
    await copy(move.source.archive, move.target.archive, "acme")
    turn, belief, fact = turn_by(SCOPE), belief_by(SCOPE), fact_by(SCOPE, "New.")
    said = []
    for cold in (move.source, move.target):
        stored, _ = await cold.turns.append_turn(SCOPE, turn, [draft("new")])
        superseded = (await replacing(cold, SCOPE, belief)).superseded
        await cold.semantic.put_fact(SCOPE, fact)
        await cold.semantic.add_uses({SCOPE: {"turn 1": [fact.id]}}, NOW)
        await cold.log.append_audit(SCOPE, "new", (), "", NOW)
        events = await cold.history.events(SCOPE)
        audit = await cold.log.audit(SCOPE)
        said.append((stored.seq, superseded, len(events), audit, await cold.words.census(SCOPE)))
    assert said[0] == said[1]
    for cold in (move.source, move.target):
        await replayed(cold.history, SCOPE.for_graph())


async def test_destroyed_content_stays_destroyed(move: Move) -> None:
    """An event without content and salt moves as one, and the chain around it holds."""
    for table in ("graphs", "agents"):
        rows = await read_out(move.source.archive, "acme", table)
        await move.target.archive.import_rows("acme", table, rows)
    rows = await read_out(move.source.archive, "acme", "belief_events")
    gone = [rows[0].model_copy(update={"salt": None, "content": None}), *rows[1:]]
    assert await move.target.archive.import_rows("acme", "belief_events", gone) == len(gone)
    assert await read_out(move.target.archive, "acme", "belief_events") == gone
    with pytest.raises(Conflict):
        await move.target.archive.import_rows("acme", "belief_events", rows)


async def test_what_is_redacted_moves_without_its_content(move: Move) -> None:
    """Rows, ids and coverage arrive; nothing is found at the target that is gone at the source."""
    source = move.source
    race = [row for row in await _of_race(source, "turns") if row.seq in (2, 7, 12)]
    asked = [row.id for row in race]
    asked += [(await _of_race(source, table))[-1].id for table in ("facts", "rules")]
    redacted = await source.redactor.redact(SCOPE, asked, "asked to", NOW)
    assert set(redacted.ids) >= {"turn", "summary", "episode", "fact", "rule"}
    await copy(source.archive, move.target.archive, "acme")
    arrived = await exported(move.target.archive, "acme")
    assert unordered(arrived) == unordered(await exported(source.archive, "acme"))
    expected = await answers(source, "acme", same_engine=False)
    assert await answers(move.target, "acme", same_engine=False) == expected
    # What was said once can be said again, and is something new.
    for cold in (source, move.target):
        _, is_new = await cold.procedural.put_rule(SCOPE, rule_by(SCOPE, private=True))
        assert is_new


async def test_what_is_retired_moves_and_still_stands_for_what_it_did(move: Move) -> None:
    """Its links hold at the target: nothing waits, becomes loose or due there that did not.

    And redacting it reaches what was made of it.
    """
    source, target = move.source, move.target
    (turn,) = [row for row in await _of_race(source, "turns") if row.retired_at]
    (day,) = [row for row in await _of_race(source, "episodes") if row.retired_at]
    (summary,) = [row for row in await _of_race(source, "summaries") if row.id in day.children]
    await source.grains.retire(OPERATOR, [summary.id], "old", NOW)
    await copy(source.archive, target.archive, "acme")
    expected = await answers(source, "acme", same_engine=False)
    assert await answers(target, "acme", same_engine=False) == expected
    with pytest.raises(Conflict, match=summary.id):
        await target.episodic.put_summary(SCOPE, summary_by(SCOPE, [turn]))
    with pytest.raises(Conflict, match="daily episode"):
        await target.episodic.put_episode(SCOPE, episode_by(SCOPE, [summary.id]))
    reached = [
        (await cold.redactor.redact(OPERATOR, [turn.id], "asked to", NOW)).ids
        for cold in (source, target)
    ]
    assert reached[0] == reached[1]
    assert len(reached[0]["episode"]) == 3


async def _of_race(cold: Any, table: Table) -> list[Any]:
    return [row for row in await read_out(cold.archive, "acme", table) if row.graph_id == "race"]


async def test_pages_of_one_row_are_one_big_page(cold: Cold) -> None:
    """Every page size gives the same rows in the same order, none twice; the end is marked."""
    await fill(cold, "acme", hostile=False)
    for table in EVERY_TABLE:
        whole = await cold.archive.export_rows("acme", table, "", PAGE_ROWS_MAX)
        assert whole.cursor is None
        for limit in (1, 2, max(1, len(whole.rows) - 1), len(whole.rows)):
            assert await read_out(cold.archive, "acme", table, limit) == list(whole.rows)


def _another_claim(row: Any) -> object:
    return row.belief.model_copy(update={"claim": "another"}) if hasattr(row, "belief") else None


async def _differing(cold: Any, table: Table) -> tuple[list[Any], Any]:
    """Return a table's rows, and the first of them with something in it changed."""
    rows = await read_out(cold.archive, "acme", table)
    changes: dict[str, dict[str, Any]] = {
        "graphs": {"state": "archived"},
        "agents": {"role": "another"},
        "usage": {"used": Usage(tokens=999)},
        "turns": {"tokens": 999},
        "summaries": {"text": "another"},
        "episodes": {"text": "another"},
        "facts": {"uses": 999},
        "fact_uses": {"used_at": NOW.replace(year=2001)},
        "rules": {"successes": 999},
        "rule_outcomes": {"is_success": not getattr(rows[0], "is_success", False)},
        "watermarks": {"seq": 999},
        "documents": {"title": "another"},
        "document_revisions": {"title": "another"},
        "passages": {"text": "another"},
        "cards": {"title": "another"},
        "quarantined": {"reason": "another"},
        "belief_events": {"content": "another"},
        "beliefs": {"belief": _another_claim(rows[0])},
        "trust": {"trust": 0.123},
        "heads": {"signature": "another"},
        "receipts": {"query": "another"},
        "audit": {"reason": "another"},
        "work": {"attempts": 999},
    }
    return rows, rows[0].model_copy(update=changes[table])


async def test_a_row_that_differs_is_a_conflict_and_nothing_stays(move: Move) -> None:
    """All of the call is undone; the error names the row and shows nothing of what it says."""
    source, target = move.source.archive, move.target.archive
    for table in EVERY_TABLE:
        rows, changed = await _differing(move.source, table)
        await target.import_rows("acme", table, rows[:1])
        with pytest.raises(Conflict) as error:
            await target.import_rows("acme", table, [*rows[1:], changed])
        assert await target.count_rows("acme", table) == 1, "half of the call was kept"
        assert "another" not in str(error.value).replace("another row", "")
        await target.import_rows("acme", table, rows)
    assert unordered(await exported(target, "acme")) == unordered(await exported(source, "acme"))


async def test_a_belief_log_with_a_gap_is_a_conflict(move: Move) -> None:
    """Events come in the order of their ``seq`` or not at all."""
    rows = await read_out(move.source.archive, "acme", "belief_events")
    race = [row for row in rows if row.event.graph_id == "race"]
    with pytest.raises(Conflict):
        await move.target.archive.import_rows("acme", "belief_events", [race[0], *race[2:]])
    assert await move.target.archive.count_rows("acme", "belief_events") == 0


async def test_a_row_that_contradicts_what_is_there_is_a_conflict(cold: Cold) -> None:
    """Another fact of the same content, or a use of a fact that is not there."""
    await cold.archive.import_rows("acme", "graphs", [graph_of("race")])
    fact = fact_by(SCOPE, "Mediums last.")
    await cold.archive.import_rows("acme", "facts", [fact])
    with pytest.raises(Conflict):
        await cold.archive.import_rows("acme", "facts", [fact_by(SCOPE, "Mediums last.")])
    assert await cold.semantic.facts(SCOPE, [fact.id]) == (fact,)


async def test_audit_events_keep_their_places_or_take_the_next(cold: Cold) -> None:
    """A place that is taken, or none, becomes the next free one; importing again is harmless."""
    seqs = {"race": (1, 5), "rac": (1, 5), "race/2": (1, 0), "child": (1, 2)}
    events = [
        ChainedAudit(
            seq=seq,
            position=place,
            tenant="acme",
            graph_id=graph_id,
            agent_id=None,
            kind="k",
            recorded_at=NOW,
        )
        for graph_id, (seq, place) in seqs.items()
    ]
    for new in (4, 0):
        assert await cold.archive.import_rows("acme", "audit", events) == new
        feed = await cold.log.tenant_audit("acme")
        assert [(one.graph_id, one.position) for one in feed] == [
            *(("child", 2), ("race", 5), ("rac", 6), ("race/2", 7))
        ]
    await cold.log.append_audit(SCOPE, "k", (), "", NOW)
    assert [(one.seq, one.position) for one in await cold.log.audit(SCOPE)] == [(1, 5), (2, 8)]


async def test_what_was_made_at_one_moment_stays_in_its_order(
    backend: ColdBackend, tmp_path: Path
) -> None:
    """Graphs, and members of several of them, as they came, whatever they are called."""
    async with _opened(backend, backend, tmp_path) as move:
        for graph_id in ("z", "a", "m"):
            await move.source.graphs.create_graph(graph_of(graph_id))
        for agent_id, graph_id in (("y", "z"), ("x", "z"), ("w", "a"), ("v", "z")):
            await move.source.fleet.spawn(
                AgentRecord(tenant="acme", graph_id=graph_id, id=agent_id, spawned_at=NOW)
            )
        await copy(move.source.archive, move.target.archive, "acme", 1)
        for cold in (move.source, move.target):
            assert [one.id for one in await cold.graphs.graphs("acme")] == ["z", "a", "m"]
            members = await cold.fleet.agents(Scope.of_graph("acme", "z"))
            assert [one.id for one in members] == ["y", "x", "v"]
            silent = await cold.fleet.silent("acme", NOW, 9)
            assert [one.id for one in silent] == ["y", "x", "w", "v"]


async def test_claimed_work_moves_as_due_at_once(cold: Cold) -> None:
    """A claim belongs to a process of the source; the item runs at the target from the start."""
    await cold.queue.enqueue(SCOPE, [draft("a")], NOW)
    await cold.queue.claim(("index",), "somebody", 1, 3600, NOW)
    (item,) = await read_out(cold.archive, "acme", "work")
    assert (item.due_at, item.queued_at, item.parked) == (NOW, NOW, False)


def _impossible_spans() -> list[ProjectedBelief]:
    """Return beliefs that were active at times at which they cannot have been."""
    belief = HistoricBelief.model_validate(belief_by().model_dump() | {"committed_seq": 1})
    ended = belief.model_copy(update={"status": "reverted", "ended_seq": 5})
    wrong = [
        (belief, ()),
        (belief, ((1, 5),)),
        (ended, ((1, None),)),
        (ended, ((5, 5),)),
        (belief, ((1, None), (5, None))),
        (belief, ((1, 5), (4, None))),
    ]
    return [
        ProjectedBelief(
            belief=one, spans=tuple(BeliefSpan(since_seq=a, until_seq=b) for a, b in spans)
        )
        for one, spans in wrong
    ]


async def test_what_cannot_be_is_refused(cold: Cold) -> None:
    """Unknown tables, limits, cursors of other tables, rows of other types and tenants."""
    archive = cold.archive
    await cold.graphs.create_graph(graph_of("race"))
    await cold.turns.append_turn(SCOPE, turn_by(SCOPE))
    for kind in ("spawned", "left"):
        await cold.log.append_audit(SCOPE, kind, (), "", NOW)
    page = await archive.export_rows("acme", "audit", "", 1)
    assert page.cursor, "a cursor of another table would not be tested"
    row = (await archive.export_rows("acme", "turns", "", 1)).rows[0]
    refused = [
        archive.export_rows("acme", "nothing", "", 1),
        archive.count_rows("acme", "nothing"),
        archive.import_rows("acme", "nothing", [row]),
        archive.export_rows("acme", "turns", "", 0),
        archive.export_rows("acme", "turns", "", PAGE_ROWS_MAX + 1),
        archive.export_rows("acme", "turns", "what?", 1),
        archive.export_rows("acme", "turns", page.cursor, 1),
        archive.import_rows("acme", "facts", [row]),
        archive.import_rows("acm", "turns", [row]),
        *(archive.import_rows("acme", "beliefs", [row]) for row in _impossible_spans()),
    ]
    for call in refused:
        with pytest.raises(UsageError):
            await call
    assert await archive.tenants() == ("acme",)


async def test_a_private_row_needs_its_agent(cold: Cold) -> None:
    """A private record without a writer would be shared; it is refused, whatever exported it."""
    nobody = Scope(tenant="acme", graph_id="race")
    fact = fact_by(nobody, "Mine.", private=True)
    with pytest.raises(UsageError):
        await cold.archive.import_rows("acme", "facts", [fact])
