"""Opening, closing and reopening the cold tier, for every method of every port."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import get_type_hints

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import (
    SCOPE,
    asked,
    belief_by,
    draft,
    episode_by,
    fact_by,
    graph_of,
    receipt_by,
    rule_by,
    summary_by,
    turn_by,
)
from support.tier_samples import NOW

from tiers.errors import TierUnavailable
from tiers.records import AgentRecord, GraphState, Lease, Work

AGENT = AgentRecord(tenant="acme", graph_id="race", id="a", spawned_at=NOW)
LEASE = Lease(name="tick", owner="a", token=1, expires_at=NOW)
WORK = Work(
    id="1",
    tenant="acme",
    graph_id="race",
    agent_id=None,
    kind="index",
    key="k",
    payload={},
    attempts=1,
    token=1,
    queued_at=NOW,
)

CALLS: dict[str, Callable[[Cold], Awaitable[object]]] = {
    "create_graph": lambda cold: cold.graphs.create_graph(graph_of("race")),
    "graph": lambda cold: cold.graphs.graph("acme", "race"),
    "graphs": lambda cold: cold.graphs.graphs("acme"),
    "set_state": lambda cold: cold.graphs.set_state(SCOPE, GraphState.CLOSED, NOW),
    "lineage": lambda cold: cold.graphs.lineage("acme", "race"),
    "spawn": lambda cold: cold.graphs.spawn(AGENT),
    "leave": lambda cold: cold.graphs.leave(SCOPE, NOW),
    "agents": lambda cold: cold.graphs.agents(SCOPE),
    "append_turn": lambda cold: cold.turns.append_turn(SCOPE, turn_by()),
    "recent_turns": lambda cold: cold.turns.recent_turns(SCOPE, 8),
    "turns": lambda cold: cold.turns.turns(SCOPE, []),
    "known_refs": lambda cold: cold.turns.known_refs(SCOPE, []),
    "waiting_turns": lambda cold: cold.turns.waiting_turns(SCOPE, 8, 8),
    "put_summary": lambda cold: cold.episodic.put_summary(SCOPE, summary_by(SCOPE, [turn_by()])),
    "summaries": lambda cold: cold.episodic.summaries(SCOPE),
    "put_episode": lambda cold: cold.episodic.put_episode(SCOPE, episode_by(SCOPE, [])),
    "due_summaries": lambda cold: cold.episodic.due_summaries(SCOPE, NOW, 8),
    "episodes": lambda cold: cold.episodic.episodes(SCOPE),
    "put_fact": lambda cold: cold.semantic.put_fact(SCOPE, fact_by()),
    "core": lambda cold: cold.semantic.core(SCOPE),
    "facts": lambda cold: cold.semantic.facts(SCOPE, []),
    "recall_archival": lambda cold: cold.semantic.recall_archival(SCOPE, asked()),
    "add_uses": lambda cold: cold.semantic.add_uses(SCOPE, "cause", ["x"], NOW),
    "set_tier": lambda cold: cold.semantic.set_tier(SCOPE, fact_by(), "core", "r", NOW),
    "put_rule": lambda cold: cold.procedural.put_rule(SCOPE, rule_by()),
    "match_rules": lambda cold: cold.procedural.match_rules(SCOPE, "tyre", 8),
    "commit": lambda cold: cold.beliefs.commit(SCOPE, belief_by()),
    "pin": lambda cold: cold.beliefs.pin(SCOPE, "x", NOW),
    "active": lambda cold: cold.beliefs.active(SCOPE),
    "events": lambda cold: cold.beliefs.events(SCOPE),
    "enqueue": lambda cold: cold.queue.enqueue(SCOPE, [draft()], NOW),
    "claim": lambda cold: cold.queue.claim(["index"], "a", 1, 1, NOW),
    "complete": lambda cold: cold.queue.complete(WORK),
    "fail": lambda cold: cold.queue.fail(WORK, "p", None),
    "defer": lambda cold: cold.queue.defer(WORK, NOW),
    "waiting": lambda cold: cold.queue.waiting(),
    "parked": lambda cold: cold.queue.parked(),
    "rerun": lambda cold: cold.queue.rerun(["1"]),
    "acquire": lambda cold: cold.leases.acquire("tick", "a", 1, NOW),
    "release": lambda cold: cold.leases.release(LEASE),
    "put_receipt": lambda cold: cold.log.put_receipt(SCOPE, receipt_by()),
    "receipt": lambda cold: cold.log.receipt(SCOPE, "x"),
    "append_audit": lambda cold: cold.log.append_audit(SCOPE, "k", (), "", NOW),
    "audit": lambda cold: cold.log.audit(SCOPE),
    "search_words": lambda cold: cold.words.search_words(SCOPE, asked()),
    "entries": lambda cold: cold.words.entries(SCOPE, ["x"]),
    "census": lambda cold: cold.words.census(SCOPE),
}


@pytest.mark.parametrize("method", CALLS)
async def test_closed_tier_is_unavailable(
    backend: ColdBackend, tmp_path: Path, method: str
) -> None:
    """After its block every method raises ``TierUnavailable`` and names itself."""
    async with backend.opened(tmp_path) as closed:
        pass
    with pytest.raises(TierUnavailable, match=method):
        await CALLS[method](closed)


def test_every_method_of_every_port_is_called_above() -> None:
    """A method that is added to a port has to be added here."""
    ports = get_type_hints(Cold).values()
    methods = {name for port in ports for name in vars(port) if not name.startswith("_")}
    assert methods == set(CALLS)


async def test_reopened_tier_holds_what_it_held(backend: ColdBackend, tmp_path: Path) -> None:
    """Opened twice, one after the other: everything is there, numbering goes on."""
    async with backend.opened(tmp_path) as cold:
        turn, _ = await cold.turns.append_turn(SCOPE, turn_by(), [draft()])
        await cold.beliefs.commit(SCOPE, belief_by())
        before = await cold.words.census(SCOPE)
    async with backend.opened(tmp_path) as cold:
        assert await cold.words.census(SCOPE) == before
        assert await cold.turns.recent_turns(SCOPE, 8) == (turn,)
        assert [hit.id for hit in await cold.words.search_words(SCOPE, asked("long"))] == [turn.id]
        assert (await cold.turns.append_turn(SCOPE, turn_by()))[0].seq == 2
        await cold.beliefs.commit(SCOPE, belief_by())
        assert [event.seq for event in await cold.beliefs.events(SCOPE)] == [1, 2, 3]


async def test_closing_finishes_what_was_begun(backend: ColdBackend, tmp_path: Path) -> None:
    """Writes under way when the block ends are done or refused, and what is done is kept."""
    async with backend.opened(tmp_path) as cold:
        writes = [
            asyncio.create_task(cold.turns.append_turn(SCOPE, turn_by(text=f"turn {n}")))
            for n in range(400)
        ]
        await asyncio.sleep(0)
    answers = await asyncio.gather(*writes, return_exceptions=True)
    done = [answer[0] for answer in answers if isinstance(answer, tuple)]
    refused = [answer for answer in answers if isinstance(answer, TierUnavailable)]
    assert len(done) + len(refused) == 400
    async with backend.opened(tmp_path) as cold:
        assert set(await cold.turns.recent_turns(SCOPE, 1_000)) == set(done)


async def test_cancelled_close_still_closes(backend: ColdBackend, tmp_path: Path) -> None:
    """The folder can be opened again, and nothing acknowledged is lost."""
    entered = asyncio.Event()

    async def hold() -> None:
        async with backend.opened(tmp_path) as cold:
            for number in range(50):
                await cold.turns.append_turn(SCOPE, turn_by(text=f"turn {number}"))
            entered.set()

    holder = asyncio.create_task(hold())
    await entered.wait()
    holder.cancel()
    await asyncio.gather(holder, return_exceptions=True)
    async with backend.opened(tmp_path) as cold:
        assert len(await cold.turns.recent_turns(SCOPE, 100)) == 50
