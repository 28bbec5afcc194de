"""The knowledge graph of a handle on a server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from tiers.knowledge import NAMES_MAX, NEIGHBOURS_MAX, PATH_DEPTH_MAX, Entity, Neighbour
from tiers.recollection import Place
from tiers.records import Fact

from ..knowledge import Applied, Change
from ..wire.knowledge import (
    AliasAsked,
    ApplyAsked,
    DeleteAsked,
    EntityAsked,
    KnowledgeOperations,
    NeighboursAsked,
    PathAsked,
    StatementAsked,
    StatementsAsked,
)
from .connection import Connection
from .listing import listed


class RemoteKnowledge:
    """The knowledge graph as one agent, or the operator of a graph, sees it.

    With the methods of ``ezra.knowledge.Knowledge``, which say more.

    Args:
        connection: To the server.
        operations: Those of agents, or those of graphs.
        names: Of the graph, and of the agent if it is an agent's.
    """

    def __init__(
        self, connection: Connection, operations: KnowledgeOperations, names: Mapping[str, str]
    ) -> None:
        self._connection = connection
        self._operations = operations
        self._names = dict(names)

    async def entity(self, name: str, *, as_of: datetime | None = None) -> Entity | None:
        """Return what a name stands for, with its aliases; ``None`` when no fact names it."""
        asked = EntityAsked(name=name, as_of=as_of)
        return await self._connection.call(self._operations.entity, asked, **self._names)

    async def neighbours(
        self,
        name: str,
        depth: int = 1,
        *,
        limit: int = NEIGHBOURS_MAX,
        as_of: datetime | None = None,
    ) -> tuple[Neighbour, ...]:
        """Return the facts around a name, nearest first."""
        asked = NeighboursAsked(name=name, depth=depth, limit=limit, as_of=as_of)
        return await self._connection.call(self._operations.neighbours, asked, **self._names)

    async def path(
        self, start: str, end: str, *, depth: int = PATH_DEPTH_MAX, as_of: datetime | None = None
    ) -> tuple[Fact, ...] | None:
        """Return a shortest chain of facts between two names; ``None`` when there is none."""
        asked = PathAsked(start=start, end=end, depth=depth, as_of=as_of)
        return await self._connection.call(self._operations.path, asked, **self._names)

    async def history(
        self,
        subject: str,
        predicate: str | None = None,
        *,
        limit: int = NAMES_MAX,
        live_only: bool = False,
        behind: Place | None = None,
    ) -> tuple[Fact, ...]:
        """Return what was ever stated of an entity, oldest first, ended statements included."""
        asked = StatementsAsked(
            subject=subject,
            predicate=predicate,
            limit=limit,
            live_only=live_only,
            behind=behind,
        )
        return await self._connection.call(self._operations.history, asked, **self._names)

    async def add(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002 - the third of a triple is called that
        *,
        confidence: float = 1.0,
        valid_from: datetime | None = None,
        topics: Iterable[str] | None = None,
    ) -> str:
        """State a fact beside those that are there, and return its id."""
        asked = StatementAsked(
            subject=subject,
            predicate=predicate,
            object=object,
            confidence=confidence,
            valid_from=valid_from,
            topics=listed("topics", topics),
        )
        return await self._connection.call(self._operations.add, asked, **self._names)

    async def update(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002 - the third of a triple is called that
        *,
        confidence: float = 1.0,
        valid_from: datetime | None = None,
        topics: Iterable[str] | None = None,
    ) -> str:
        """State what holds now, and return its id; the former value gives way."""
        asked = StatementAsked(
            subject=subject,
            predicate=predicate,
            object=object,
            confidence=confidence,
            valid_from=valid_from,
            topics=listed("topics", topics),
        )
        return await self._connection.call(self._operations.update, asked, **self._names)

    async def delete(
        self,
        subject: str,
        predicate: str,
        object: str | None = None,  # noqa: A002 - the third of a triple is called that
        *,
        reason: str,
    ) -> tuple[str, ...]:
        """End facts on request, and return their ids."""
        asked = DeleteAsked(subject=subject, predicate=predicate, object=object, reason=reason)
        return await self._connection.call(self._operations.delete, asked, **self._names)

    async def alias(self, name: str, other: str, *, topics: Iterable[str] | None = None) -> str:
        """Say that an entity is also called something else; return the id of the fact."""
        asked = AliasAsked(name=name, other=other, topics=listed("topics", topics))
        return await self._connection.call(self._operations.alias, asked, **self._names)

    async def apply(self, changes: Sequence[Change | Mapping[str, Any]]) -> tuple[Applied, ...]:
        """Do changes in order and return what came of each."""
        given = [dict(one) if isinstance(one, Mapping) else one for one in changes]
        asked = ApplyAsked.model_validate({"changes": given})
        return await self._connection.call(self._operations.apply, asked, **self._names)
