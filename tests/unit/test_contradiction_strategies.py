"""How contradictions are settled: by time, by trust, by whoever is asked."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from support.tier_samples import NOW

from ezra.contradiction import Contradiction, Handlers
from ezra.contradiction.strategies import (
    agreement,
    highest_trust,
    last_write_wins,
    settle,
    tell,
)
from tiers.errors import UsageError
from tiers.records import Commitment, Scope, Settlement

SCOPE = Scope(tenant="acme", graph_id="race", agent_id="pit")
NEW = Commitment(claim="Start on softs.").stamped(SCOPE, "b-new", NOW)
OLD = Commitment(claim="Start on mediums.").stamped(SCOPE, "b-old", NOW)


def _found(strategy: Any = "manual", **fields: Any) -> Contradiction:
    known = {"found_by": "rules", "reason": "one excludes the other", **fields}
    return Contradiction(NEW, OLD, strategy=strategy, graph_id="race", **known)


async def _asked(answer: Any, found: Contradiction | None = None) -> Settlement:
    """Return how it is settled when the callback answers so."""
    handlers = Handlers(timeout_seconds=5)

    async def callback(_: Contradiction) -> Any:
        return answer

    handlers.callback = callback
    return await settle(found or _found(), handlers)


def test_the_last_write_wins_whatever_the_trust() -> None:
    """And what was used is in the settlement."""
    settled = last_write_wins(_found(trust_claim=0.1, trust_rival=0.9, similarity=0.9))
    assert settled == Settlement(
        rival_id="b-old",
        winner="new",
        strategy="last_write_wins",
        found_by="rules",
        reason="one excludes the other; the last write wins",
        similarity=0.9,
        trust_new=0.1,
        trust_old=0.9,
    )


@pytest.mark.parametrize(
    ("new", "old", "winner"), [(0.5, 0.9, "old"), (0.9, 0.5, "new"), (0.7, 0.7, "new")]
)
def test_the_more_trusted_wins_and_of_equals_the_later(new: float, old: float, winner: str) -> None:
    """Nobody has looked at it, so it moves no trust."""
    settled = highest_trust(_found("highest_trust", trust_claim=new, trust_rival=old))
    assert (settled.winner, settled.strategy, settled.decided) == (winner, "highest_trust", False)
    assert (settled.trust_new, settled.trust_old) == (new, old)


def test_agreement_takes_the_place_unless_it_is_trusted_less() -> None:
    """Under any strategy the later telling stays, but for a less trusted one where trust counts."""
    for strategy in ("last_write_wins", "highest_trust", "manual", "custom"):
        settled = agreement(_found(strategy, trust_claim=0.4, trust_rival=0.8))
        assert settled.agree
        assert settled.winner == ("old" if strategy == "highest_trust" else "new")
    assert agreement(_found("highest_trust")).winner == "new"


@pytest.mark.parametrize(
    ("answer", "winner"),
    [
        ("new", "new"),
        ("claim", "new"),
        ("old", "old"),
        ("rival", "old"),
        ("both", "both"),
        (NEW, "new"),
        (OLD, "old"),
        ("b-new", "new"),
        ("b-old", "old"),
    ],
)
async def test_who_is_asked_decides(answer: Any, winner: str) -> None:
    """By a word, by one of the two beliefs, or by its id."""
    settled = await _asked(answer)
    assert (settled.winner, settled.decided, settled.strategy) == (winner, True, "manual")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "no decision"),
        ("NEW", "names neither"),
        ("b-third", "names neither"),
        (True, "names neither"),
        (7, "names neither"),
        (OLD.model_copy(update={"id": "new"}), "names neither"),
        ({"winner": "old"}, "names neither"),
    ],
)
async def test_an_answer_that_makes_no_sense_decides_nothing(answer: Any, why: str) -> None:
    """The last write wins, the reason says why, and nobody's trust moves."""
    settled = await _asked(answer)
    assert (settled.winner, settled.decided) == ("new", False)
    assert settled.strategy == "last_write_wins"
    assert settled.reason.startswith("one excludes the other; manual: ")
    assert why in settled.reason


async def test_two_beliefs_of_one_key_cannot_both_stay() -> None:
    """So the answer is not taken, and the reason says so."""
    settled = await _asked("both", _found(found_by="key"))
    assert (settled.winner, settled.decided) == ("new", False)
    assert "one key cannot" in settled.reason


async def test_who_is_late_is_not_waited_for() -> None:
    """It is cancelled, and what it answers to that comes too late."""
    ended = asyncio.Event()

    async def callback(_: Contradiction) -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.set()
        return "old"

    handlers = Handlers(timeout_seconds=0.01)
    handlers.callback = callback
    settled = await settle(_found(), handlers)
    assert (settled.winner, settled.decided) == ("new", False)
    assert "manual: no answer within 0.01 s" in settled.reason
    assert ended.is_set()


@pytest.mark.parametrize("error", [ValueError("no such tyre"), UsageError("x", 1, "2"), OSError()])
async def test_an_error_of_who_is_asked_is_named(error: Exception) -> None:
    """A commit goes on without it, and the history says what happened."""

    async def callback(_: Contradiction) -> str:
        raise error

    handlers = Handlers()
    handlers.callback = callback
    settled = await settle(_found(), handlers)
    assert (settled.winner, settled.decided) == ("new", False)
    assert type(error).__name__ in settled.reason
    assert str(error)[:20] in settled.reason


async def test_cancelling_a_commit_cancels_who_is_asked() -> None:
    """The cancellation goes on, and nothing is left running."""
    asked, ended = asyncio.Event(), asyncio.Event()

    async def callback(_: Contradiction) -> str:
        asked.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return "old"

    handlers = Handlers()
    handlers.callback = callback
    task = asyncio.create_task(settle(_found(), handlers))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_without_anybody_to_ask_the_last_write_wins() -> None:
    """And the reason says who was missing."""
    manual = await settle(_found("manual"), Handlers())
    custom = await settle(_found("custom"), Handlers())
    assert (manual.winner, custom.winner) == ("new", "new")
    assert "no callback" in manual.reason
    assert "no resolver" in custom.reason


async def test_a_resolver_settles_its_own_graph_only() -> None:
    """At once or asynchronously; it is given what it needs, and the callback is not asked."""
    seen: list[Contradiction] = []

    def resolver(found: Contradiction) -> str:
        seen.append(found)
        return "old" if found.trust_rival >= found.trust_claim else "new"

    async def slowly(found: Contradiction) -> Commitment:
        await asyncio.sleep(0)
        return found.rival

    handlers = Handlers()
    handlers.resolve_by("race", resolver)
    handlers.resolve_by("race", None)
    handlers.resolve_by("other", slowly)
    found = _found("custom", trust_rival=0.9, trust_claim=0.5)
    settled = await settle(found, handlers)
    assert (settled.winner, settled.decided, settled.strategy) == ("old", True, "custom")
    assert seen == [found]
    settled = await settle(replace(found, graph_id="other"), handlers)
    assert (settled.winner, settled.decided) == ("old", True)
    assert len(seen) == 1


async def test_who_is_only_told_cannot_fail_the_commit() -> None:
    """What went wrong comes back in words; what it returns is not looked at."""

    async def fine(_: Contradiction) -> str:
        return "old"

    async def broken(_: Contradiction) -> None:
        raise KeyError("tyre")

    async def late(_: Contradiction) -> None:
        await asyncio.sleep(60)

    assert await tell(_found(), fine, 1) == ""
    assert await tell(_found(), broken, 1) == "KeyError: 'tyre'"
    assert await tell(_found(), late, 0.01) == "no answer within 0.01 s"


def test_a_limit_of_time_is_a_limit() -> None:
    """Nobody is waited for without end."""
    for seconds in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(UsageError):
            Handlers(seconds)
