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
    receipt_by,
)
from support.tier_samples import HOSTILE_TEXT, NOW, TWIN_SCOPES, scope_of

from tiers.errors import Conflict, UsageError


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


async def test_racing_audit_events_have_no_gaps(cold: Cold) -> None:
    """Fifty racing writers, fifty numbers."""
    await asyncio.gather(
        *(cold.log.append_audit(SCOPE, "denied", (), f"{n}", NOW) for n in range(50))
    )
    events = await cold.log.audit(SCOPE)
    assert [event.seq for event in events] == list(range(1, 51))
    assert {event.reason for event in events} == {f"{n}" for n in range(50)}


async def test_runtime_events_name_no_agent(cold: Cold) -> None:
    """What the runtime does for a whole graph is nobody's."""
    await cold.log.append_audit(OPERATOR, "closed", (), "", NOW)
    assert (await cold.log.audit(SCOPE))[0].agent_id is None


@pytest.mark.parametrize("stranger", [OTHER_GRAPH, OTHER_TENANT], ids=["graph", "tenant"])
async def test_log_is_not_seen_outside_its_graph(cold: Cold, stranger: object) -> None:
    """Neither by id nor by reading the feed."""
    receipt = receipt_by()
    await cold.log.put_receipt(SCOPE, receipt)
    await cold.log.append_audit(SCOPE, "spawned", (), "", NOW)
    assert await cold.log.receipt(stranger, receipt.id) is None
    assert await cold.log.audit(stranger) == ()


@pytest.mark.parametrize(("one", "other"), TWIN_SCOPES)
async def test_names_that_look_alike_have_feeds_of_their_own(
    cold: Cold, one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    """Prefixes, separators and case do not mix graphs up."""
    scopes = {names[:2]: scope_of(*names) for names in (one, other)}
    for scope in scopes.values():
        await cold.log.append_audit(scope, "spawned", (), "", NOW)
    for scope in scopes.values():
        assert [event.seq for event in await cold.log.audit(scope)] == [1]


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, HOSTILE_TEXT])
async def test_hostile_reasons_are_just_text(cold: Cold, name: str) -> None:
    """Kinds, ids and reasons come back as they were."""
    await cold.log.append_audit(SCOPE, name, [name, name], name, NOW)
    (event,) = await cold.log.audit(SCOPE)
    assert (event.kind, event.record_ids, event.reason) == (name, (name, name), name)
    with pytest.raises(UsageError):
        await cold.log.append_audit(SCOPE, "denied", [], LONE_SURROGATE, NOW)
