"""How a contradiction is settled: by time, by trust, or by somebody who is asked.

``last_write_wins`` and ``highest_trust`` are pure. Somebody who is asked may be late, may fail or
may answer what makes no sense: then the last write wins, and the reason says so.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tiers.beliefs import Commitment, Settlement
from tiers.concurrency import awaited
from tiers.errors import UsageError
from tiers.fleet import MergeStrategy

from .records import FOUND_BY_KEY, Contradiction

log = logging.getLogger(__name__)

RESOLUTION_SECONDS = 30.0
"""How long somebody who is asked may take (the original's default)."""

_ENDING_SECONDS = 1.0
_SHOWN_CHARS = 200

Winner: TypeAlias = Literal["new", "old", "both"]
Answer: TypeAlias = str | Commitment | None
"""``new`` or ``claim``, ``old`` or ``rival``, ``both``; one of the two beliefs, or its id."""

Callback: TypeAlias = Callable[[Contradiction], Awaitable[Any]]
"""Is asked under ``manual``, and told under any other strategy; what it returns then is unused."""

Resolver: TypeAlias = Callable[[Contradiction], Awaitable[Answer] | Answer]
"""Settles a contradiction under ``custom``, at once or asynchronously."""

_WORDS: dict[str, Winner] = {
    "new": "new",
    "claim": "new",
    "old": "old",
    "rival": "old",
    "both": "both",
}


class Handlers:
    """Who is asked about contradictions and told of them, as long as a runtime lives.

    Args:
        timeout_seconds: How long each of them may take.

    Attributes:
        callback: Decides under ``manual``; told of the rest.
    """

    def __init__(self, timeout_seconds: float = RESOLUTION_SECONDS) -> None:
        if not 0 < timeout_seconds < float("inf"):
            raise UsageError("timeout_seconds", timeout_seconds, "above 0")
        self.callback: Callback | None = None
        self.timeout_seconds = timeout_seconds
        self._resolvers: dict[str, Resolver] = {}

    def resolve_by(self, graph_id: str, resolver: Resolver | None) -> None:
        """Let a resolver settle the contradictions of a graph; ``None`` changes nothing."""
        if resolver is not None:
            self._resolvers[graph_id] = resolver

    def resolver_of(self, graph_id: str) -> Resolver | None:
        """Return the resolver of a graph, if there is one."""
        return self._resolvers.get(graph_id)


def last_write_wins(found: Contradiction) -> Settlement:
    """Return the settlement by which the later belief stays."""
    return _settlement(found, "new", "last_write_wins", "the last write wins")


def highest_trust(found: Contradiction) -> Settlement:
    """Return the settlement by which the more trusted agent's belief stays; of equals the later."""
    new, old = found.trust_claim, found.trust_rival
    if old > new:
        return _settlement(found, "old", "highest_trust", f"trust {old:g} above {new:g}")
    why = f"trust {new:g} above {old:g}" if new > old else f"trust {new:g} on both sides"
    return _settlement(found, "new", "highest_trust", why)


def agreement(found: Contradiction) -> Settlement:
    """Return the settlement of two beliefs that say the same: the later telling takes the place.

    Nobody is asked. Under ``highest_trust`` a less trusted agent does not take the place.
    """
    less_trusted = found.strategy == "highest_trust" and found.trust_claim < found.trust_rival
    settled = _settlement(
        found, "old" if less_trusted else "new", found.strategy, "both say the same"
    )
    return settled.model_copy(update={"agree": True})


async def settle(found: Contradiction, handlers: Handlers) -> Settlement:
    """Return how a contradiction is settled by the strategy of its graph.

    ``decided`` is set only when somebody was asked and chose. Cancelling it ends what is asked.
    """
    match found.strategy:
        case "last_write_wins":
            return last_write_wins(found)
        case "highest_trust":
            return highest_trust(found)
        case "manual":
            return await _decided(found, handlers.callback, handlers.timeout_seconds)
        case "custom":
            resolver = handlers.resolver_of(found.graph_id)
            return await _decided(found, resolver, handlers.timeout_seconds)


async def tell(found: Contradiction, callback: Callback, timeout_seconds: float) -> str:
    """Tell somebody of a contradiction that is settled; return what went wrong, or nothing."""
    reply = await _ask(callback, found, timeout_seconds)
    return reply.problem


@dataclass(frozen=True, slots=True)
class _Answered:
    """What came of asking; ``problem`` says why there is no answer."""

    answer: Any = None
    problem: str = ""


async def _decided(
    found: Contradiction, asked: Callback | Resolver | None, timeout_seconds: float
) -> Settlement:
    """Return what somebody who is asked decides, or how it ends without."""
    if asked is None:
        whom = "callback" if found.strategy == "manual" else "resolver"
        return _fallen_back(found, f"there is no {whom}")
    reply = await _ask(asked, found, timeout_seconds)
    if reply.problem:
        return _fallen_back(found, reply.problem)
    if reply.answer is None:
        return _fallen_back(found, "no decision")
    winner = _winner(reply.answer, found)
    if winner is None:
        return _fallen_back(found, f"the answer names neither belief: {_shown(repr(reply.answer))}")
    if winner == "both" and found.found_by == FOUND_BY_KEY:
        return _fallen_back(found, "both were to stay, which two beliefs of one key cannot")
    settled = _settlement(found, winner, found.strategy, "decided by who was asked")
    return settled.model_copy(update={"decided": True})


def _winner(answer: object, found: Contradiction) -> Winner | None:
    named = answer.id if isinstance(answer, Commitment) else answer
    if not isinstance(named, str):
        return None
    if named == found.claim.id:
        return "new"
    if named == found.rival.id:
        return "old"
    return None if isinstance(answer, Commitment) else _WORDS.get(named)


async def _ask(
    asked: Callback | Resolver, found: Contradiction, timeout_seconds: float
) -> _Answered:
    """Return what is answered in time. A failure is a part of the answer, never lost.

    Runs in a task of its own, so that whatever the code of others raises is looked at, not caught.
    """
    task = asyncio.ensure_future(_call(asked, found))
    try:
        await asyncio.wait({task}, timeout=timeout_seconds)
        if not task.done():
            return _Answered(problem=f"no answer within {timeout_seconds:g} s")
        return _outcome(task)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_ENDING_SECONDS)
            if not task.done():
                log.error("%r goes on although it was cancelled", asked)
            elif not task.cancelled() and (error := task.exception()) is not None:
                log.warning("%r failed when it was cancelled", asked, exc_info=error)


def _outcome(task: asyncio.Future[Any]) -> _Answered:
    if task.cancelled():
        return _Answered(problem="CancelledError: it gave up by itself")
    error = task.exception()
    if error is None:
        return _Answered(answer=task.result())
    log.warning("a contradiction's handler failed", exc_info=error)
    return _Answered(problem=_shown(f"{type(error).__name__}: {error}"))


async def _call(asked: Callback | Resolver, found: Contradiction) -> Any:  # noqa: ANN401 - others' code
    return await awaited(asked(found))


def _fallen_back(found: Contradiction, why: str) -> Settlement:
    return _settlement(
        found, "new", "last_write_wins", f"{found.strategy}: {why}; the last write wins"
    )


def _settlement(
    found: Contradiction, winner: Winner, strategy: MergeStrategy, why: str
) -> Settlement:
    return Settlement(
        rival_id=found.rival.id,
        winner=winner,
        strategy=strategy,
        found_by=found.found_by,
        reason="; ".join(part for part in (found.reason, why) if part),
        similarity=found.similarity,
        trust_new=found.trust_claim,
        trust_old=found.trust_rival,
    )


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"
