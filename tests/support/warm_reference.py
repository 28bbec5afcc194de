"""The warm tier as a dictionary: exact visibility, a plain scorer, no engine.

Written from the port's words alone, so that it shares no mistake with the filters under test.
Scores differ from an engine's; which entries are visible, found and counted does not.
"""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Sequence
from datetime import datetime
from types import TracebackType
from typing import Self

from tiers.errors import TierUnavailable, UsageError
from tiers.records import Hit, IndexEntry, Kind, Scope, SearchQuery

_STOP_WORDS = frozenset({"the", "of", "and", "a", "is"})


class ReferenceWarmStore:
    """A ``WarmStore`` in memory."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._entries: dict[tuple[str, str, str], IndexEntry] = {}
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closed = True

    async def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> None:
        """Write all entries or none."""
        self._check_open()
        for entry in entries:
            self._check(scope, entry)
        for entry in entries:
            self._entries[entry.tenant, entry.graph_id, entry.id] = entry

    async def search(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return what is visible and alike, best first."""
        self._check_open()
        self._check_vector(query.vector)
        if "\ud800" in (query.writer_id or ""):
            raise UsageError("writer_id", query.writer_id, "text without lone surrogates")
        if any("\ud800" in one for one in query.ids):
            raise UsageError("ids", query.ids, "text without lone surrogates")
        asked = set() if query.mode == "dense" else words(query.text)
        vector = None if query.mode == "words" else query.vector
        scored = [
            (_score(entry, asked, vector), entry)
            for entry in self._entries.values()
            if visible(scope, query, entry) and _found(entry, asked, vector)
        ]
        scored.sort(key=lambda pair: (-pair[0], pair[1].id))
        return tuple(_hit(scope, entry, score, vector) for score, entry in scored[: query.limit])

    async def delete(self, scope: Scope, ids: Sequence[str]) -> None:
        """Remove entries of the graph."""
        self._check_open()
        for record_id in ids:
            self._entries.pop((scope.tenant, scope.graph_id, record_id), None)

    async def delete_expired(self, scope: Scope, now: datetime) -> dict[str, tuple[str, ...]]:
        """Remove what has expired and return it."""
        self._check_open()
        gone = {
            entry.id: entry.source_ids
            for entry in self._of_graph(scope)
            if entry.expires_at is not None and entry.expires_at <= now
        }
        await self.delete(scope, list(gone))
        return gone

    async def count(self, scope: Scope, kind: Kind | None = None) -> int:
        """Count what the graph holds."""
        self._check_open()
        return sum(kind is None or kind in _kinds(entry) for entry in self._of_graph(scope))

    async def flush(self) -> None:
        """Do nothing: there is no disk."""
        self._check_open()

    def _of_graph(self, scope: Scope) -> list[IndexEntry]:
        owner = (scope.tenant, scope.graph_id)
        return [entry for key, entry in self._entries.items() if key[:2] == owner]

    def _check_open(self) -> None:
        if self._closed:
            raise TierUnavailable("warm", "any", "closed")

    def _check(self, scope: Scope, entry: IndexEntry) -> None:
        if (entry.tenant, entry.graph_id) != (scope.tenant, scope.graph_id):
            raise UsageError("owner", entry.tenant, "the scope's own")
        try:
            canonical = str(uuid.UUID(entry.id)) == entry.id
        except ValueError:
            canonical = False
        if not canonical:
            raise UsageError("id", entry.id, "a UUID")
        if entry.private and not entry.agent_id:
            raise UsageError("private", entry.id, "an agent")
        self._check_vector(entry.vector)
        if "\ud800" in entry.speaker:
            raise UsageError("entry", entry.id, "text without lone surrogates")

    def _check_vector(self, vector: tuple[float, ...] | None) -> None:
        if vector is None:
            return
        if len(vector) != self._dimensions or not all(map(math.isfinite, vector)):
            raise UsageError("vector", vector, "finite floats")


def words(text: str) -> set[str]:
    """Return the words of a text that an index would hold."""
    return set(re.findall(r"\w+", text.lower())) - _STOP_WORDS


def visible(scope: Scope, query: SearchQuery, entry: IndexEntry) -> bool:
    """Whether the asker may find the entry now, by the port's words."""
    if entry.tenant != scope.tenant:
        return False
    inherited = query.inherited
    in_reach = _comes_through(scope, query, entry) if inherited else _is_own(scope, entry)
    wanted = _is_asked(query, entry) and _is_in_time(query, entry)
    return in_reach and _may_see(scope, entry) and wanted


def _is_own(scope: Scope, entry: IndexEntry) -> bool:
    is_mine = entry.agent_id == scope.agent_id
    return entry.graph_id == scope.graph_id and (is_mine or not entry.private)


def _kinds(entry: IndexEntry) -> set[str]:
    return {entry.kind, *entry.also}


def _comes_through(scope: Scope, query: SearchQuery, entry: IndexEntry) -> bool:
    for ancestor in scope.lineage:
        if ancestor.graph_id == entry.graph_id:
            in_time = ancestor.as_of is None or entry.recorded_at <= ancestor.as_of
            carried = _kinds(entry) & set(ancestor.carries) & set(query.kinds)
            of_tier = entry.kind != "fact" or entry.tier == "archival"
            return bool(in_time and carried and of_tier and not entry.private)
    return False


def _may_see(scope: Scope, entry: IndexEntry) -> bool:
    topics = set(entry.topics)
    held = scope.sees_all_topics or not topics or topics & set(scope.topics)
    denied = topics if "*" in scope.denied else topics & set(scope.denied)
    of_user = scope.every_user or entry.user_id in (None, scope.user_id)
    return bool(held and not denied and of_user)


def _is_asked(query: SearchQuery, entry: IndexEntry) -> bool:
    graded = not query.grains or entry.kind != "episode" or entry.grain in query.grains
    return bool(
        _kinds(entry) & set(query.kinds)
        and graded
        and (entry.tier is None or query.tier in (None, entry.tier))
        and query.user_id in (None, entry.user_id)
        and query.writer_id in (None, entry.agent_id)
        and (not query.ids or (entry.id in query.ids and not query.inherited))
        and (not query.topics or set(query.topics) & set(entry.topics))
        and set(query.all_topics) <= set(entry.topics)
    )


def _is_in_time(query: SearchQuery, entry: IndexEntry) -> bool:
    happened = entry.recorded_at if entry.occurred_at is None else entry.occurred_at
    return (
        (entry.expires_at is None or entry.expires_at > query.now)
        and (query.as_of is None or entry.recorded_at <= query.as_of)
        and (query.since is None or happened >= query.since)
        and (query.until is None or happened < query.until)
    )


def _found(entry: IndexEntry, asked: set[str], vector: tuple[float, ...] | None) -> bool:
    by_vector = vector is not None and entry.vector is not None
    return by_vector or bool(asked & words(entry.text))


def _score(entry: IndexEntry, asked: set[str], vector: tuple[float, ...] | None) -> float:
    return float(len(asked & words(entry.text))) + (_cosine(entry, vector) or 0.0)


def _cosine(entry: IndexEntry, vector: tuple[float, ...] | None) -> float | None:
    if vector is None or entry.vector is None:
        return None
    return sum(a * b for a, b in zip(vector, entry.vector, strict=True))


def _hit(scope: Scope, entry: IndexEntry, score: float, vector: tuple[float, ...] | None) -> Hit:
    paths = {one.graph_id: one.path for one in scope.lineage}
    inherited = entry.graph_id != scope.graph_id
    return Hit(
        id=entry.id,
        kind=entry.kind,
        text=entry.text,
        score=score,
        tier="warm",
        source_ids=entry.source_ids,
        graph_id=entry.graph_id,
        agent_id=entry.agent_id,
        speaker=entry.speaker,
        ref=entry.ref,
        topics=entry.topics,
        occurred_at=entry.occurred_at,
        recorded_at=entry.recorded_at,
        inherited_from=entry.graph_id if inherited else None,
        path=paths[entry.graph_id] if inherited else (),
        user_id=entry.user_id,
        fact_tier=entry.tier,
        grain=entry.grain,
        cosine=_cosine(entry, vector),
    )
