"""Entities and the edges between them, derived anew from what the notes say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import normpath

from tiers.errors import NotFound

from .entities import Entity, by_place
from .names import is_note, slug


@dataclass(frozen=True, slots=True)
class Edge:
    """That an entity names another.

    Attributes:
        source: Id of the entity that names.
        relation: By which field, or ``links_to``.
        name: In which words.
        target: Id of the entity that is named; ``None`` when no indexed one is meant.
    """

    source: str
    relation: str
    name: str
    target: str | None


@dataclass(frozen=True, slots=True)
class Collision:
    """Two notes that claim one id.

    Attributes:
        id: What both claim.
        kept: The one that has it: of the first shelf, then path.
        hidden: The one that has not.
    """

    id: str
    kept: Entity
    hidden: Entity


class EntityGraph:
    """All entities and the edges that they make; the same for the same entities, in any order.

    Where two notes claim one id, the first by shelf and path has it, and the other is hidden.
    """

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._by_id: dict[str, Entity] = {}
        collisions = []
        for entity in by_place(list(entities)):
            kept = self._by_id.setdefault(entity.id, entity)
            if kept is not entity:
                collisions.append(Collision(entity.id, kept, entity))
        self.collisions: tuple[Collision, ...] = tuple(collisions)
        self._names = _Names(self.entities)
        self._edges = {one.id: self._edges_of(one) for one in self.entities}
        reverse: dict[str, list[Edge]] = defaultdict(list)
        for edges in self._edges.values():
            for edge in edges:
                if edge.target is not None:
                    reverse[edge.target].append(edge)
        self._reverse: Mapping[str, Sequence[Edge]] = reverse

    @property
    def entities(self) -> tuple[Entity, ...]:
        """The entities that have their id, by shelf and path."""
        return tuple(self._by_id.values())

    def __getitem__(self, entity_id: str) -> Entity:
        return self._by_id[entity_id]

    def get(self, entity_id: str) -> Entity | None:
        """Return the entity of an id, or ``None``."""
        return self._by_id.get(entity_id)

    def named(self, name: str) -> Entity:
        """Return the entity that people mean: by id, path, slug or title.

        Raises:
            NotFound: No entity has that name.
        """
        found = self._names.find(name, None)
        if found is None:
            raise NotFound("entity", name)
        return found

    def forward(self, entity_id: str) -> Sequence[Edge]:
        """Return what an entity names, in the order in which it does."""
        return self._edges.get(entity_id, ())

    def reverse(self, entity_id: str) -> Sequence[Edge]:
        """Return by what an entity is named, by shelf and path of who names it."""
        return self._reverse.get(entity_id, ())

    def edges(self) -> tuple[Edge, ...]:
        """Return every edge, dangling ones too."""
        return tuple(edge for edges in self._edges.values() for edge in edges)

    def blockers(self, entity_id: str) -> tuple[Edge, ...]:
        """Return what an entity says it is blocked by."""
        return tuple(edge for edge in self.forward(entity_id) if edge.relation == "blocked_by")

    def is_blocked(self, entity_id: str) -> bool:
        """Return whether an entity waits: it says so, or something that blocks it has not ended.

        What has ended itself waits for nothing. A blocker that is not indexed is not known to be
        open, and counts for nothing.
        """
        entity = self._by_id[entity_id]
        if entity.has_ended:
            return False
        return entity.says_blocked or any(
            not self._by_id[edge.target].has_ended
            for edge in self.blockers(entity_id)
            if edge.target is not None
        )

    def _edges_of(self, entity: Entity) -> tuple[Edge, ...]:
        edges: dict[tuple[str, str], Edge] = {}
        for reference in entity.references:
            found = self._names.find(reference.target, entity)
            if found is not None and found.id == entity.id:
                continue  # a note that names itself says nothing
            target = None if found is None else found.id
            edge = Edge(entity.id, reference.relation, reference.target, target)
            # Two names of one note by the same relation are one edge.
            edges.setdefault((reference.relation, target or reference.target), edge)
        return tuple(edges.values())


class _Names:
    """Finds whom a name means. Of several, the nearest to who names it, then the first by place."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._by_id = {one.id: one for one in entities}
        self._by_path: dict[str, list[Entity]] = defaultdict(list)
        self._by_slug: dict[str, list[Entity]] = defaultdict(list)
        self._by_typed: dict[str, list[Entity]] = defaultdict(list)
        self._by_title: dict[str, list[Entity]] = defaultdict(list)
        for one in entities:
            self._by_path[_bare(one.path)].append(one)
            self._by_slug[one.slug].append(one)
            self._by_typed[f"{one.type}-{one.slug}"].append(one)
            self._by_title[slug(one.title)].append(one)

    def find(self, name: str, by: Entity | None) -> Entity | None:
        """Return who is meant: by id, path, type and slug, slug, or title, in that order."""
        reference = name.strip()
        if reference in self._by_id:
            return self._by_id[reference]
        if "/" in reference or is_note(reference):
            found = self._at_path(reference, by)
            if found is not None:
                return found
        named = (
            slug(PurePosixPath(_bare(reference)).name) if is_note(reference) else slug(reference)
        )
        if named in self._by_id:
            return self._by_id[named]
        for known in (self._by_typed, self._by_slug, self._by_title):
            if named in known:
                return _nearest(known[named], by)
        return None

    def _at_path(self, reference: str, by: Entity | None) -> Entity | None:
        paths = [normpath(reference.lstrip("/"))]
        if by is not None and not reference.startswith("/"):
            paths.insert(0, normpath(str(PurePosixPath(by.path).parent / reference)))
        for path in paths:
            known = self._by_path.get(_bare(path))
            if known:
                return _nearest(known, by)
        return None


def _bare(path: str) -> str:
    """Return a path without the suffix of Markdown: links may leave it out."""
    suffix = PurePosixPath(path).suffix
    return path[: -len(suffix)] if is_note(path) else path


def _nearest(found: Sequence[Entity], by: Entity | None) -> Entity:
    """Return the one of the same agent, shelf and folder as ``by``, as far as there is one."""
    if by is None:
        return found[0]

    def distance(other: Entity) -> tuple[bool, bool, bool]:
        is_beside = PurePosixPath(other.path).parent == PurePosixPath(by.path).parent
        return (other.agent != by.agent, other.shelf != by.shelf, not is_beside)

    return min(found, key=distance)
