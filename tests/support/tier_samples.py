"""Records for tests of the hot and warm tiers: complete, small, and different where it matters."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from tiers.records import (
    ALL_TOPICS,
    Ancestor,
    Commitment,
    IndexEntry,
    Kind,
    MeshResult,
    Scope,
    SearchQuery,
    Turn,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DIMENSIONS = 4

HOSTILE_TEXT = (
    "nul \x00 bell \x07 escape \x1b[31m bidi \u202e line \u2028 emoji 🏎️ combining e\u0301 \"'\\"
)
"""What a text may hold that a name may not."""

TWIN_SCOPES = [
    (("a", "g", "x"), ("ab", "g", "x")),
    (("a", "g", "x"), ("a", "g2", "x")),
    (("a", "g/x", "y"), ("a", "g", "x/y")),
    (("a/g", "x", "y"), ("a", "g/x", "y")),
    (("a", "g", "}:hot"), ("a", "g", "%7D:hot")),
    (("a", "{g}", "x"), ("a", "g", "x")),
    (("a:b", "c", "x"), ("a", "b:c", "x")),
    (("a", "g*", "x"), ("a", "gg", "x")),
    (("a", "é", "x"), ("a", "e\u0301", "x")),
    (("a", "G", "x"), ("a", "g", "x")),
    (("n" * 256, "g", "x"), ("n" * 255, "g", "x")),
]
"""Pairs of (tenant, graph, agent) that a careless store confuses: prefixes, separators, case."""

TWINS = tuple(dict.fromkeys(names for pair in TWIN_SCOPES for names in pair))
"""All of them, for one store: each is then told apart from every other."""
TWIN_GRAPHS = tuple(dict.fromkeys(names[:2] for names in TWINS))


def scope_of(
    tenant: str = "acme",
    graph_id: str = "race",
    agent_id: str | None = "strategist",
    topics: Iterable[str] = (ALL_TOPICS,),
    **more: Any,
) -> Scope:
    """Return the scope of one agent, or of no agent in particular, that works for no user."""
    return Scope(tenant=tenant, graph_id=graph_id, agent_id=agent_id, topics=tuple(topics), **more)


def turn_of(scope: Scope, seq: int, text: str = "") -> Turn:
    """Return a stored turn of the scope's agent."""
    return Turn(
        id=f"turn-{seq}",
        tenant=scope.tenant,
        graph_id=scope.graph_id,
        agent_id=scope.agent_id or "",
        seq=seq,
        input=text or f"input {seq}",
        response=f"response {seq}",
        topics=("tyres",),
        recorded_at=NOW,
        occurred_at=NOW,
    )


def belief_of(scope: Scope, belief_id: str, claim: str = "Start on mediums.") -> Commitment:
    """Return a belief of the scope's graph."""
    return Commitment(
        id=belief_id,
        tenant=scope.tenant,
        graph_id=scope.graph_id,
        agent_id=scope.agent_id or "",
        claim=claim,
        key=("start", "compound"),
        recorded_at=NOW,
    )


def mesh_of(text: str) -> MeshResult:
    """Return a connector's result."""
    return MeshResult(source="telemetry", text=text, queried_at=NOW)


def record_id(number: int) -> str:
    """Return the same UUID for the same number."""
    return str(uuid.UUID(int=number))


def entry_of(scope: Scope, number: int, text: str = "", **fields: Any) -> IndexEntry:
    """Return an entry written by the scope's agent, found by ``query_of`` unless fields say no."""
    known: dict[str, Any] = {
        "id": record_id(number),
        "tenant": scope.tenant,
        "graph_id": scope.graph_id,
        "agent_id": scope.agent_id or "",
        "kind": "turn",
        "text": text or f"entry number{number}",
        "vector": (1.0, 0.0, 0.0, 0.0),
        "recorded_at": NOW,
    }
    return IndexEntry(**{**known, **fields})


def query_of(text: str = "", **fields: Any) -> SearchQuery:
    """Return a question that every entry of ``entry_of`` answers, unless fields say no."""
    known: dict[str, Any] = {
        "text": text,
        "vector": (1.0, 0.0, 0.0, 0.0),
        "kinds": ("turn",),
        "limit": 200,
        "now": NOW,
    }
    return SearchQuery(**{**known, **fields})


# Scopes that inherit, for tests of the warm tier.


def ancestor(graph_id: str, *carries: Kind, as_of: datetime | None = None) -> Ancestor:
    """Return an ancestor that is reached through a parent, and through which these kinds come."""
    return Ancestor(graph_id=graph_id, path=("parent of", graph_id), as_of=as_of, carries=carries)


def heir_of(*lineage: Ancestor, **more: Any) -> Scope:
    """Return the scope of an agent whose graph inherits."""
    return scope_of(graph_id="heir", lineage=lineage, **more)
