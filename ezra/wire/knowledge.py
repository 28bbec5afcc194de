"""The knowledge graph over facts, of an agent and of a whole graph: the same operations twice.

What people said or named travels in bodies. Addresses are for ids: proxies log them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from pydantic import Field, TypeAdapter

from tiers.knowledge import NAMES_MAX, NEIGHBOURS_MAX, PATH_DEPTH_MAX, Entity, Neighbour
from tiers.recollection import Place
from tiers.records import Fact

from ..knowledge import CHANGES_MAX, Applied, Change
from .operation import Asked, Need, Operation
from .points import Count, Time
from .recalling import GRAPH


class EntityAsked(Asked):
    """A name, and as of when."""

    name: str
    as_of: Time | None = None


class NeighboursAsked(Asked):
    """A name, how far around it, and as of when."""

    name: str
    depth: Count = 1
    limit: Count = NEIGHBOURS_MAX
    as_of: Time | None = None


class PathAsked(Asked):
    """Two names, how far they may be apart, and as of when."""

    start: str
    end: str
    depth: Count = PATH_DEPTH_MAX
    as_of: Time | None = None


class StatementsAsked(Asked):
    """What was ever stated of an entity."""

    subject: str
    predicate: str | None = None
    limit: Count = NAMES_MAX
    live_only: bool = False
    behind: Place | None = None


class StatementAsked(Asked):
    """What is stated from now on."""

    subject: str
    predicate: str
    object: str
    confidence: float = 1.0
    valid_from: Time | None = None
    topics: tuple[str, ...] | None = None


class DeleteAsked(Asked):
    """What is stated no longer, and why."""

    subject: str
    predicate: str
    object: str | None = None
    reason: str


class AliasAsked(Asked):
    """Two names of one entity."""

    name: str
    other: str
    topics: tuple[str, ...] | None = None


class ApplyAsked(Asked):
    """Changes, done in order."""

    changes: tuple[Change, ...] = Field(max_length=CHANGES_MAX)


_ENTITY: TypeAdapter[Entity | None] = TypeAdapter(Entity | None)
_NEIGHBOURS = TypeAdapter(tuple[Neighbour, ...])
_PATH: TypeAdapter[tuple[Fact, ...] | None] = TypeAdapter(tuple[Fact, ...] | None)
_FACTS = TypeAdapter(tuple[Fact, ...])
_ID = TypeAdapter(str)
_IDS = TypeAdapter(tuple[str, ...])
_APPLIED = TypeAdapter(tuple[Applied, ...])


@dataclass(frozen=True)
class KnowledgeOperations:
    """What may be asked of one knowledge graph; named as the methods of ``Knowledge``."""

    entity: Operation[EntityAsked, Entity | None]
    neighbours: Operation[NeighboursAsked, tuple[Neighbour, ...]]
    path: Operation[PathAsked, tuple[Fact, ...] | None]
    history: Operation[StatementsAsked, tuple[Fact, ...]]
    add: Operation[StatementAsked, str]
    update: Operation[StatementAsked, str]
    delete: Operation[DeleteAsked, tuple[str, ...]]
    alias: Operation[AliasAsked, str]
    apply: Operation[ApplyAsked, tuple[Applied, ...]]

    def __iter__(self) -> Any:  # noqa: ANN401 - of operations that ask and answer all sorts
        return (getattr(self, one.name) for one in fields(self))


def _operations(whose: str, root: str, reads: Need, changes: Need) -> KnowledgeOperations:
    """Return the operations on the knowledge of an agent, or of a graph."""
    name, at = f"{whose}.knowledge", f"{root}/knowledge"
    return KnowledgeOperations(**_reading(name, at, reads), **_changing(name, at, changes))


def _reading(name: str, at: str, needs: Need) -> dict[str, Operation[Any, Any]]:
    return {
        "entity": Operation(
            f"{name}.entity",
            "POST",
            f"{at}/entity",
            EntityAsked,
            _ENTITY,
            needs,
            "What a name stands for, with its other names.",
        ),
        "neighbours": Operation(
            f"{name}.neighbours",
            "POST",
            f"{at}/neighbours",
            NeighboursAsked,
            _NEIGHBOURS,
            needs,
            "The facts around a name, nearest first.",
        ),
        "path": Operation(
            f"{name}.path",
            "POST",
            f"{at}/path",
            PathAsked,
            _PATH,
            needs,
            "A shortest chain of facts between two names.",
        ),
        "history": Operation(
            f"{name}.history",
            "POST",
            f"{at}/history",
            StatementsAsked,
            _FACTS,
            needs,
            "What was ever stated of an entity, oldest first.",
        ),
    }


def _changing(name: str, at: str, needs: Need) -> dict[str, Operation[Any, Any]]:
    """Return what changes knowledge.

    Stating the same twice stores it once; but an update said again would take the place of what
    was said in between, and what is deleted again answers that nothing was.
    """
    return {
        "add": Operation(
            f"{name}.add",
            "POST",
            f"{at}/facts",
            StatementAsked,
            _ID,
            needs,
            "State a fact beside those that are there.",
        ),
        "update": Operation(
            f"{name}.update",
            "PUT",
            f"{at}/facts",
            StatementAsked,
            _ID,
            needs,
            "State what holds now; the former value gives way.",
            repeats=False,
        ),
        "delete": Operation(
            f"{name}.delete",
            "POST",
            f"{at}/facts/delete",
            DeleteAsked,
            _IDS,
            needs,
            "End facts on request.",
            repeats=False,
        ),
        "alias": Operation(
            f"{name}.alias",
            "POST",
            f"{at}/aliases",
            AliasAsked,
            _ID,
            needs,
            "Say that an entity is also called something else.",
        ),
        "apply": Operation(
            f"{name}.apply",
            "POST",
            f"{at}/changes",
            ApplyAsked,
            _APPLIED,
            needs,
            "Do changes in order and say what came of each.",
            repeats=False,
        ),
    }


AGENT_KNOWLEDGE = _operations("agent", f"{GRAPH}/agents/{{agent_id}}", "see", "act")
GRAPH_KNOWLEDGE = _operations("graph", GRAPH, "read", "operate")

OPERATIONS: tuple[Operation[Any, Any], ...] = (*AGENT_KNOWLEDGE, *GRAPH_KNOWLEDGE)
