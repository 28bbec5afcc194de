"""What was said, what was shown and when beliefs held, page by page, through either door."""

from __future__ import annotations

from typing import Any

import pytest
from support.runtime import MovingClock

from ezra import Ezra, UsageError
from ezra.receipts import lookup
from tiers.records import AuditFilter

KEY = ("start", "compound")


async def weekend(runtime: Any, clock: MovingClock, *, turns: int = 7) -> Any:
    """Let two agents take turns, one of them committing twice; return the graph."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    other = await graph.spawn_agent("engineer", topics={"tyres"})
    for number in range(turns):
        turn = await agent.turn(f"question {number}")
        await (await other.turn(f"aside {number}")).reply("so be it")
        if number in (2, 5):
            await agent.commit(f"claim {number}", topic="tyres", key=KEY, value=str(number))
        await turn.reply(f"answer {number}")
        clock.move(minutes=1)
    return graph


async def test_turns_of_a_member_are_paged_from_the_end(runtime: Any, clock: MovingClock) -> None:
    """The last first, every turn once, of this member alone; a redacted one keeps its place."""
    graph = await weekend(runtime, clock)
    pages = [await graph.turns("strategist", before=one, limit=3) for one in (None, 5, 2)]
    assert [[turn.seq for turn in page] for page in pages] == [[7, 6, 5], [4, 3, 2], [1]]
    assert pages[2][0].input == "question 0"
    assert await graph.turns("strategist", before=1) == await graph.turns("nobody") == ()
    await graph.redact([pages[0][1].id], reason="asked for")
    shown = await graph.turns("strategist", limit=2)
    assert [(turn.seq, turn.input) for turn in shown] == [(7, "question 6"), (6, "[redacted]")]
    for wrong in ({"limit": 0}, {"limit": 1001}, {"before": 0}):
        with pytest.raises(UsageError):
            await graph.turns("strategist", **wrong)


async def test_receipts_are_found_by_their_turns(runtime: Any, clock: MovingClock) -> None:
    """Each turn's own, whoever spoke in between; a turn that has none is left out."""
    graph = await weekend(runtime, clock)
    turns = await graph.turns("strategist")
    found = await graph.receipts_of([*(turn.id for turn in turns), "unknown"])
    assert list(found) == [turn.id for turn in turns]
    for turn in turns:
        receipt = found[turn.id]
        assert (receipt.agent_id, receipt.query) == ("strategist", turn.input)
        assert receipt == await graph.receipt(receipt.id)
    assert await graph.receipts_of([]) == {}
    with pytest.raises(UsageError):
        await graph.receipts_of(["x"] * 101)


async def test_a_receipt_is_found_behind_many_others(
    runtime: Any, behind: Ezra, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may ask much between the opening of a turn and the next; looking has an end."""
    monkeypatch.setattr(lookup, "RECEIPTS_PER_PAGE", 4)
    graph = await runtime.create_session_graph("imola")
    agent = await (await behind.session_graph("imola")).spawn_agent("strategist")
    first = await (await agent.turn("first")).reply("yes")
    for number in range(10):
        await agent.turn(f"unanswered {number}")
    last = await (await agent.turn("last")).reply("yes")
    found = await graph.receipts_of([last.turn.id, first.turn.id])
    assert [one.query for one in found.values()] == ["last", "first"]
    assert await graph.receipts_of([last.turn.id, "0"]) == {last.turn.id: found[last.turn.id]}
    monkeypatch.setattr(lookup, "RECEIPT_PAGES_MAX", 2)
    assert list(await graph.receipts_of([first.turn.id, last.turn.id])) == [first.turn.id]


async def test_beliefs_tell_when_they_held(runtime: Any, clock: MovingClock) -> None:
    """One span each, a second where one was restored; the times are those of the events."""
    history = (await weekend(runtime, clock)).beliefs
    old, new = await history.query()
    lives = await history.lives([new.id, "unknown", old.id])
    assert [life.belief for life in lives] == [new, old]
    times = {event.seq: event.recorded_at for event in await history.events()}
    (span,) = lives[1].held
    assert (span.since_seq, span.until_seq) == (old.committed_seq, old.ended_seq)
    assert (span.since, span.until) == (times[old.committed_seq], times[old.ended_seq])
    assert [(one.until_seq, one.until) for one in lives[0].held] == [(None, None)]
    clock.move(hours=1)
    await history.revert(new.id, reason="typing error")
    (life,) = await history.lives([old.id])
    assert [one.until_seq is None for one in life.held] == [False, True]
    assert life.held[1].since == (await history.events())[life.held[1].since_seq - 1].recorded_at
    assert await history.lives([]) == ()
    with pytest.raises(UsageError):
        await history.lives(["x"] * 101)


async def test_what_was_active_after_an_event_is_paged(runtime: Any, clock: MovingClock) -> None:
    """The same beliefs as ``as_of``, with what became of them since."""
    history = (await weekend(runtime, clock)).beliefs
    for seq in range(await history.seq_at() + 1):
        then = await history.query(as_of_seq=seq)
        assert [one.id for one in then] == [one.id for one in await history.as_of(seq=seq)]
    with pytest.raises(UsageError, match="seq"):
        await history.query(as_of_seq=10**6)


async def test_the_audit_feed_is_read_backwards(runtime: Any, clock: MovingClock) -> None:
    """The last events first, of a graph and of the tenant, and filtered as forwards."""
    graph = await weekend(runtime, clock)
    forwards = await graph.audit()
    backwards = await graph.audit(limit=2, only=AuditFilter(before=2**53 - 1))
    assert backwards == forwards[-1:-3:-1]
    rest = await graph.audit(only=AuditFilter(before=backwards[-1].seq))
    assert (*backwards, *rest) == forwards[::-1]
    committed = AuditFilter(kinds=("committed",), before=10**6)
    assert [one.kind for one in await runtime.audit(0, 1, only=committed)] == ["committed"]
