"""The contract of ``RecordLog``."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import (
    HOSTILE_NAMES,
    LONE_SURROGATE,
    OPERATOR,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    draft,
    graph_of,
    receipt_by,
)
from support.processes import PATIENCE_SECONDS
from support.redactions import words_in
from support.tier_samples import HOSTILE_TEXT, NOW, TWIN_GRAPHS, scope_of

from tiers.errors import Conflict, UsageError
from tiers.history.audit_chain import REASONS_ERASED, AuditCheck
from tiers.history.findings import Problems
from tiers.records import AuditFilter


async def test_nothing_is_an_empty_answer(cold: Cold) -> None:
    """An unknown receipt is ``None``, an unused feed is empty."""
    assert await cold.log.receipt(SCOPE, "unknown") is None
    assert await cold.log.audit(SCOPE) == ()


async def test_receipt_comes_back_with_its_work_queued(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Every field survives; receipt and work are one write, and a repeat adds nothing."""
    body = {"text": HOSTILE_TEXT, "numbers": [1, 2.5, None, True], "deep": {"é": [{}]}}
    receipt = receipt_by(query=HOSTILE_TEXT, body=body, kind="recall")
    await cold.log.put_receipt(SCOPE, receipt, [draft("uses", "learn")])
    await cold.log.put_receipt(SCOPE, receipt, [draft("again", "learn")])
    assert await cold.log.receipt(SCOPE, receipt.id) == receipt
    assert [row["key"] for row in backend.rows(tmp_path, "work")] == ["uses"]


async def test_other_receipt_under_a_known_id_is_a_conflict(cold: Cold) -> None:
    """What a turn saw is never rewritten."""
    receipt = receipt_by()
    await cold.log.put_receipt(SCOPE, receipt)
    with pytest.raises(Conflict, match="receipt"):
        await cold.log.put_receipt(SCOPE, receipt.model_copy(update={"query": "else"}))
    assert await cold.log.receipt(SCOPE, receipt.id) == receipt


async def test_receipt_that_cannot_be_stored_queues_nothing(cold: Cold) -> None:
    """All or nothing, both ways."""
    receipt = receipt_by()
    with pytest.raises(UsageError, match="surrogates"):
        await cold.log.put_receipt(SCOPE, receipt, [draft(LONE_SURROGATE)])
    assert await cold.log.receipt(SCOPE, receipt.id) is None
    broken = receipt_by(body={"text": LONE_SURROGATE})
    with pytest.raises(UsageError, match="surrogates"):
        await cold.log.put_receipt(SCOPE, broken, [draft()])
    with pytest.raises(UsageError, match="owner"):
        await cold.log.put_receipt(SCOPE, receipt_by(OTHER_GRAPH), [draft()])
    assert sum((await cold.queue.waiting()).values()) == 0


async def test_audit_is_numbered_per_graph_and_paged(cold: Cold) -> None:
    """From 1 without gaps, in order; ``after`` and ``limit`` cut it without loss."""
    for number in range(7):
        at = NOW + timedelta(seconds=number)
        await cold.log.append_audit(SCOPE, "spawned", [f"r{number}"], f"reason {number}", at)
    await cold.log.append_audit(OTHER_GRAPH, "spawned", [], "", NOW)
    events = await cold.log.audit(SCOPE)
    assert [event.seq for event in events] == list(range(1, 8))
    assert events[3].record_ids == ("r3",)
    assert (events[3].kind, events[3].reason, events[3].agent_id) == (
        *("spawned", "reason 3"),
        "strategist",
    )
    assert events[3].recorded_at == NOW + timedelta(seconds=3)
    pages = [await cold.log.audit(SCOPE, after, 3) for after in (0, 3, 6, 7)]
    assert pages == [events[:3], events[3:6], events[6:], ()]
    with pytest.raises(UsageError, match="limit"):
        await cold.log.audit(SCOPE, limit=0)


async def test_racing_audit_events_have_no_gaps(processes: Cold) -> None:
    """Fifty racing writers, fifty numbers."""
    await asyncio.gather(
        *(processes.log.append_audit(SCOPE, "denied", (), f"{n}", NOW) for n in range(50))
    )
    events = await processes.log.audit(SCOPE)
    assert [event.seq for event in events] == list(range(1, 51))
    assert {event.reason for event in events} == {f"{n}" for n in range(50)}


async def test_tenant_feed_is_every_graphs_in_the_order_of_recording(cold: Cold) -> None:
    """From 1 without gaps, over all graphs of the tenant and no other; paged without loss."""
    graphs = ("race", "race/2", "race", "rac", "race/2")
    for number, graph_id in enumerate(graphs):
        at = NOW - timedelta(seconds=number)
        scope = scope_of(graph_id=graph_id)
        await cold.log.append_audit(scope, "spawned", (), f"{number}", at)
    await cold.log.append_audit(OTHER_TENANT, "spawned", (), "theirs", NOW)
    feed = await cold.log.tenant_audit("acme")
    assert [(event.position, event.graph_id, event.seq, event.reason) for event in feed] == [
        (1, "race", 1, "0"),
        (2, "race/2", 1, "1"),
        (3, "race", 2, "2"),
        (4, "rac", 1, "3"),
        (5, "race/2", 2, "4"),
    ]
    pages = [await cold.log.tenant_audit("acme", after, 2) for after in (0, 2, 4, 5)]
    assert pages == [feed[:2], feed[2:4], feed[4:], ()]
    assert await cold.log.audit(scope_of(graph_id="race/2")) == (feed[1], feed[4])
    (theirs,) = await cold.log.tenant_audit("acm")
    assert (theirs.position, theirs.reason) == (1, "theirs")
    for limit in (0, 10_001):
        with pytest.raises(UsageError, match="limit"):
            await cold.log.tenant_audit("acme", limit=limit)
    with pytest.raises(UsageError, match="tenant"):
        await cold.log.tenant_audit("")


async def test_racing_writers_of_several_graphs_make_one_feed(processes: Cold) -> None:
    """Sixty events in four graphs: no place empty or taken twice, and each graph in its order.

    A reader that pages while they write sees no event before one that it has seen.
    """
    scopes = [scope_of(graph_id=f"g{number % 4}") for number in range(60)]
    read: list[int] = []

    async def follow() -> None:
        while len(read) < 60:
            page = await processes.log.tenant_audit("acme", len(read), 7)
            read.extend(event.position for event in page)
            await asyncio.sleep(0)  # the engine in memory answers without waiting for anything

    await asyncio.gather(
        asyncio.wait_for(follow(), PATIENCE_SECONDS),
        *(
            processes.log.append_audit(scope, "denied", (), f"{number}", NOW)
            for number, scope in enumerate(scopes)
        ),
    )
    assert read == list(range(1, 61))
    feed = await processes.log.tenant_audit("acme")
    assert {event.reason for event in feed} == {f"{number}" for number in range(60)}
    for graph_id in {scope.graph_id for scope in scopes}:
        own = [event for event in feed if event.graph_id == graph_id]
        assert [event.seq for event in own] == list(range(1, 16))
        assert await processes.log.audit(scope_of(graph_id=graph_id)) == tuple(own)


FILTERS = [
    ({}, "abcdefg"),
    ({"kinds": ("denied",)}, "bdg"),
    ({"kinds": ("denied", "left", "erased")}, "bcdg"),
    ({"graph_id": "race"}, "abce"),
    ({"graph_id": "rac"}, ""),
    ({"agent_id": "engineer"}, "bf"),
    ({"record_id": "r1"}, "acf"),
    ({"record_id": "r"}, ""),
    ({"since": NOW + timedelta(seconds=2)}, "cdefg"),
    ({"until": NOW + timedelta(seconds=2)}, "ab"),
    ({"since": NOW + timedelta(seconds=1), "until": NOW + timedelta(seconds=5)}, "bcde"),
    ({"kinds": ("spawned",), "agent_id": "strategist", "record_id": "r1"}, "a"),
    ({"kinds": ("left",), "graph_id": "race/2"}, ""),
]


async def test_filters_are_part_of_the_question(cold: Cold) -> None:
    """Every one, alone and together, in the feed of a tenant and of a graph; pages are full."""
    events = [
        ("race", "strategist", "spawned", ("r1",)),
        ("race", "engineer", "denied", ()),
        ("race", "strategist", "left", ("r2", "r1")),
        ("race/2", "strategist", "denied", ("r10",)),
        ("race", None, "closed", ()),
        ("race/2", "engineer", "spawned", ("r1", "r1")),
        ("race/2", None, "denied", ("r2",)),
    ]
    for number, (graph_id, agent_id, kind, ids) in enumerate(events):
        scope = scope_of(graph_id=graph_id, agent_id=agent_id)
        at = NOW + timedelta(seconds=number)
        await cold.log.append_audit(scope, kind, ids, "abcdefg"[number], at)
    for only, expected in FILTERS:
        wanted = AuditFilter(**only)
        found = await cold.log.tenant_audit("acme", only=wanted)
        assert "".join(event.reason for event in found) == expected, only
        first = await cold.log.tenant_audit("acme", 0, 2, wanted)
        assert first == found[:2], only
        if first:
            behind = await cold.log.tenant_audit("acme", first[-1].position, 2, wanted)
            assert behind == found[2:4], only
        of_race = [event.reason for event in await cold.log.audit(SCOPE, only=wanted)]
        assert "".join(of_race) == "".join(one for one in expected if one in "abce"), only
        assert await cold.log.tenant_audit("acm", only=wanted) == ()


async def test_runtime_events_name_no_agent(cold: Cold) -> None:
    """What the runtime does for a whole graph is nobody's."""
    await cold.log.append_audit(OPERATOR, "closed", (), "", NOW)
    assert (await cold.log.audit(SCOPE))[0].agent_id is None


async def test_a_reason_that_names_somebody_is_destroyed_and_the_chain_stays(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """In the graph alone; an event says so, once, and what anybody else was told stays."""
    for scope in (OPERATOR, OTHER_GRAPH.for_graph()):
        for reason in ("xylograph asked", "", "somebody asked"):
            await cold.log.append_audit(scope, "redacted", ("x",), reason, NOW)
    before = await cold.evidence.audited(OPERATOR)
    assert await cold.redactor.erase_reasons(OPERATOR, "Xylograph", NOW) == ("audit:1",)
    assert await cold.redactor.erase_reasons(OPERATOR, "Xylograph", NOW) == ()
    after = await cold.evidence.audited(OPERATOR)
    assert [one.reason for one in after] == ["[redacted]", "", "somebody asked", ""]
    assert (after[3].kind, after[3].record_ids) == (REASONS_ERASED, ("audit:1",))
    assert [one.hash for one in after[:3]] == [one.hash for one in before]
    problems = Problems()
    check = AuditCheck((OPERATOR.tenant, OPERATOR.graph_id), problems)
    for event in after:
        check.add(event)
    check.conclude()
    assert problems.count == 0
    (theirs, *_) = await cold.log.audit(OTHER_GRAPH)
    assert theirs.reason == "xylograph asked"
    await cold.redactor.erase_reasons(OTHER_GRAPH.for_graph(), "Xylograph", NOW)
    assert words_in(backend.whole(tmp_path), ("xylograph",)) == {}
    with pytest.raises(UsageError, match="subject"):
        await cold.redactor.erase_reasons(OPERATOR, " \u200b", NOW)


async def test_log_is_not_seen_outside_its_graph(cold: Cold) -> None:
    """Neither by id nor by reading the feed."""
    receipt = receipt_by()
    await cold.log.put_receipt(SCOPE, receipt)
    await cold.log.append_audit(SCOPE, "spawned", (), "", NOW)
    for stranger in (OTHER_GRAPH, OTHER_TENANT):
        assert await cold.log.receipt(stranger, receipt.id) is None
        assert await cold.log.audit(stranger) == ()


async def test_receipt_is_found_in_its_tenant_by_its_id_alone(cold: Cold) -> None:
    """In any graph of the tenant, of several the oldest; never in another tenant."""
    for tenant, names in (("acme", ("race/2", "race")), ("acm", ("race",))):
        for minute, name in enumerate(names):
            await cold.graphs.create_graph(graph_of(name, tenant=tenant, minute=minute))
    mine = receipt_by()
    older = receipt_by(OTHER_GRAPH, id=mine.id, query="older")
    theirs = receipt_by(OTHER_TENANT)
    for scope, receipt in ((SCOPE, mine), (OTHER_TENANT, theirs)):
        await cold.log.put_receipt(scope, receipt)
    assert await cold.log.find_receipt("acme", mine.id) == mine
    assert await cold.log.find_receipt("acme", theirs.id) is None
    assert await cold.log.find_receipt("acm", theirs.id) == theirs
    assert await cold.log.find_receipt("acme", "") is None
    await cold.log.put_receipt(OTHER_GRAPH, older)
    assert await cold.log.find_receipt("acme", mine.id) == older
    with pytest.raises(UsageError, match="tenant"):
        await cold.log.find_receipt("", mine.id)


async def test_names_that_look_alike_have_feeds_of_their_own(cold: Cold) -> None:
    """Prefixes, separators and case do not mix graphs up."""
    scopes = [scope_of(*names) for names in TWIN_GRAPHS]
    for scope in scopes:
        await cold.log.append_audit(scope, "spawned", (), "", NOW)
    for scope in scopes:
        assert [event.seq for event in await cold.log.audit(scope)] == [1]


async def test_hostile_reasons_are_just_text(cold: Cold) -> None:
    """Kinds, ids and reasons come back as they were."""
    names = [*HOSTILE_NAMES, HOSTILE_TEXT]
    for name in names:
        await cold.log.append_audit(SCOPE, name, [name, name], name, NOW)
    events = await cold.log.audit(SCOPE)
    assert [(event.kind, event.record_ids, event.reason) for event in events] == [
        (name, (name, name), name) for name in names
    ]
    with pytest.raises(UsageError):
        await cold.log.append_audit(SCOPE, "denied", [], LONE_SURROGATE, NOW)


async def test_hostile_filters_are_just_names(cold: Cold) -> None:
    """What is asked for is found as it is, and as nothing else."""
    for name in HOSTILE_NAMES:
        scope = scope_of(name, name, name)
        await cold.log.append_audit(scope, name, [name], "", NOW)
        whole = {"kinds": (name,), "graph_id": name, "agent_id": name, "record_id": name}
        assert len(await cold.log.tenant_audit(name, only=AuditFilter.known(whole))) == 1
        assert len(await cold.log.audit(scope, only=AuditFilter.known(whole))) == 1
        for field in whole:
            other = ("x",) if field == "kinds" else "x"
            wrong = AuditFilter.known(whole | {field: other})
            assert await cold.log.tenant_audit(name, only=wrong) == ()


async def test_feed_is_read_backwards_from_its_end(cold: Cold) -> None:
    """With ``before`` the last events come first; pages of both feeds meet without loss."""
    for number in range(7):
        kind = "denied" if number % 3 == 0 else "spawned"
        await cold.log.append_audit(SCOPE, kind, (), f"{number}", NOW)
        await cold.log.append_audit(OTHER_GRAPH, kind, (), "theirs", NOW)
    events = await cold.log.audit(SCOPE)
    pages = [
        await cold.log.audit(SCOPE, 0, 3, AuditFilter(before=number)) for number in (99, 5, 2, 1)
    ]
    backwards = events[::-1]
    assert pages == [backwards[:3], backwards[3:6], backwards[6:], ()]
    assert await cold.log.audit(SCOPE, 5, 9, AuditFilter(before=7)) == (events[5],)
    denied = AuditFilter(kinds=("denied",), before=99)
    assert [one.seq for one in await cold.log.audit(SCOPE, 0, 2, denied)] == [7, 4]
    feed = await cold.log.tenant_audit("acme")
    ours = AuditFilter(graph_id=SCOPE.graph_id, before=feed[-2].position)
    found = await cold.log.tenant_audit("acme", 0, 2, ours)
    assert [one.seq for one in found] == [6, 5]
    assert await cold.log.tenant_audit("acme", 0, 99, AuditFilter(before=99)) == feed[::-1]


async def test_receipts_are_paged_by_id(cold: Cold) -> None:
    """Every agent's, in the order of their ids, of this graph alone; an agent may not ask."""
    graph = SCOPE.for_graph()
    receipts = sorted((receipt_by() for _ in range(5)), key=lambda one: one.id)
    for receipt in receipts[::-1]:
        await cold.log.put_receipt(SCOPE, receipt)
    await cold.log.put_receipt(OTHER_GRAPH, receipt_by(OTHER_GRAPH))
    assert await cold.log.receipts(graph) == tuple(receipts)
    first = await cold.log.receipts(graph, limit=2)
    assert first == tuple(receipts[:2])
    assert await cold.log.receipts(graph, first[-1].id, 2) == tuple(receipts[2:4])
    assert await cold.log.receipts(graph, receipts[-1].id) == ()
    with pytest.raises(UsageError, match="limit"):
        await cold.log.receipts(graph, limit=0)
    with pytest.raises(UsageError):
        await cold.log.receipts(SCOPE)
