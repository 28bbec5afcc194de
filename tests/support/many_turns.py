"""Many turns at once, straight into the store: what was said, without a context for each of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ezra import Agent, Ezra
from ezra.rights.policy import scope_of
from ezra.turn.follow_up import follow_up
from tiers.records import Hit, Turn


async def say(
    agent: Agent, message: str, response: str = "", outputs: Any = (), **more: Any
) -> Turn:
    """Carry one message through all eight steps and return the stored turn."""
    written = await (await agent.turn(message, **more)).reply(response, outputs)
    return written.turn


async def fill(
    ezra: Ezra, agent: Agent, texts: Sequence[str], *, at: datetime | None = None
) -> list[str]:
    """Store one turn of the agent per text, to be indexed when learning is drained."""
    runtime = ezra._runtime
    scope = scope_of(agent._record)
    ids = []
    for text in texts:
        turn = Turn(
            input=text, speaker=agent.id, topics=agent.topics, occurred_at=at or runtime.clock()
        ).stamped(scope, runtime.ids.new(), runtime.clock())
        stored, _ = await runtime.turns.append_turn(scope, turn, follow_up(turn, agent.id))
        ids.append(stored.id)
    return ids


def ids_of(items: Sequence[Hit]) -> list[str]:
    """Return the ids of answers, in their order."""
    return [hit.id for hit in items]
