"""Reading from the projection how far agents are trusted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ...beliefs import TRUST_AT_FIRST
from ...records import Scope
from .database import Session
from .scope import own

Trusted: TypeAlias = tuple[str, str | None]
"""An agent and a topic."""


async def trusts_of(
    session: Session, scope: Scope, asked: Iterable[Trusted]
) -> dict[Trusted, float]:
    """Return the trust in agents about topics, where the log says something of it."""
    pairs = set(asked)
    if not pairs:
        return {}
    agents, topics = (list(set(part)) for part in zip(*pairs, strict=True))
    found = await session.collection("belief_trust").find(
        own(scope, agent_id={"$in": agents}, topic={"$in": topics})
    )
    return {(one["agent_id"], one["topic"]): one["trust"] for one in found}


def trust_in(trusts: Mapping[Trusted, float], agent_id: str, topic: str | None) -> float:
    """Return the trust in an agent about a topic, as far as it is known."""
    return trusts.get((agent_id, topic), TRUST_AT_FIRST)
