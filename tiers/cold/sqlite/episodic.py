"""Summaries and episodes in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import Conflict, NotFound
from ...moments import microseconds
from ...records import Episode, Grain, Scope, Summary, WorkDraft
from ..ownership import check_limit, check_owned, in_order
from .database import Database, Session
from .queue import queue_work
from .rows import insert_owned, record_of
from .scope import as_json, scoped
from .searchable import index_words

_SUMMARIES = "SELECT r.*, s.topics FROM summaries r JOIN topic_sets s ON s.id = r.topic_set WHERE "
_KEPT = " AND r.redacted_at IS NULL"
_VISIBLE_SUMMARIES = _SUMMARIES + f"$visible(r){_KEPT} ORDER BY r.starts_at, r.id"
_DUE_SUMMARIES = _SUMMARIES + (
    "$own(r) AND r.episode_id IS NULL AND r.expires_at IS NOT NULL AND r.expires_at <= :before"
    f"{_KEPT} ORDER BY r.starts_at, r.id LIMIT :limit"
)
_EPISODES = "SELECT r.*, s.topics FROM episodes r JOIN topic_sets s ON s.id = r.topic_set WHERE "
_OVERLAPS = "$visible(r) AND r.starts_at < :until AND r.ends_at >= :since"
_IN_ORDER = f"{_KEPT} ORDER BY r.starts_at, r.id"
_OVERLAPPING = _EPISODES + _OVERLAPS + _IN_ORDER
_OVERLAPPING_OF_GRAIN = _EPISODES + _OVERLAPS + " AND r.grain = :grain" + _IN_ORDER
_ANY_AMONG = "$visible(r) AND r.id IN (SELECT value FROM json_each(:ids))"
_AMONG = _ANY_AMONG + _KEPT
_COVERED = (
    "SELECT c.turn_id AS child, c.summary_id AS parent FROM coverage c WHERE $own(c)"
    " AND c.level = :level AND c.turn_id IN (SELECT value FROM json_each(:ids)) LIMIT 1"
)
_MISSING_TURN = (
    "SELECT j.value AS id FROM json_each(:ids) j WHERE NOT EXISTS"
    " (SELECT 1 FROM turns t WHERE $own(t) AND t.id = j.value) LIMIT 1"
)
_LEAVE_TAIL = (
    "DELETE FROM tail AS w WHERE $own(w) AND (w.agent_id, w.seq) IN (SELECT t.agent_id, t.seq"
    " FROM turns t WHERE $own(t) AND t.id IN (SELECT value FROM json_each(:ids)))"
)
_CONSOLIDATED = (
    "SELECT c.child_id AS child, c.episode_id AS parent FROM consolidation c WHERE $own(c)"
    " AND c.grain = :grain AND c.child_id IN (SELECT value FROM json_each(:ids)) LIMIT 1"
)
_MARK_CONSOLIDATED = (
    "UPDATE summaries AS r SET episode_id = :episode_id WHERE $own(r) AND r.episode_id IS NULL"
    " AND r.id IN (SELECT value FROM json_each(:ids))"
)
_EARLIEST, _LATEST = -(1 << 63), (1 << 63) - 1


class SqliteEpisodicStore:
    """An ``EpisodicStore`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_summary(
        self, scope: Scope, summary: Summary, work: Sequence[WorkDraft] = ()
    ) -> bool:
        """Store a summary and mark every turn in ``covers`` as covered, in one step.

        Returns ``False``, writing nothing, when the same summary id is already stored.

        Raises:
            Conflict: A turn is covered by another summary of the same level.
            NotFound: A turn in ``covers`` is not in the scope's graph.
        """
        check_owned(scope, summary)
        return await self._database.write(
            "put_summary", lambda session: put_summary(session, scope, summary, work)
        )

    async def summaries(self, scope: Scope) -> tuple[Summary, ...]:
        """Return the visible summaries of the scope's graph that have their content.

        Oldest period first.
        """
        query = scoped(_VISIBLE_SUMMARIES, scope)
        return await self._database.read(
            "summaries",
            lambda session: tuple(record_of(Summary, row) for row in session.all(query)),
        )

    async def put_episode(
        self, scope: Scope, episode: Episode, work: Sequence[WorkDraft] = ()
    ) -> bool:
        """Store an episode and mark the summaries in ``children`` as consolidated, in one step.

        Returns ``False``, writing nothing, when the same episode id is already stored.

        Raises:
            Conflict: A child belongs to another episode of the same grain.
        """
        check_owned(scope, episode)
        return await self._database.write(
            "put_episode", lambda session: put_episode(session, scope, episode, work)
        )

    async def due_summaries(
        self, scope: Scope, before: datetime, limit: int
    ) -> tuple[Summary, ...]:
        """Return summaries of the scope's graph that expire by ``before`` and have no episode.

        Every agent's and every topic's that has its content; oldest period first, at most
        ``limit``.
        """
        check_limit(limit)
        query = scoped(_DUE_SUMMARIES, scope, before=microseconds(before), limit=limit)
        return await self._database.read(
            "due_summaries",
            lambda session: tuple(record_of(Summary, row) for row in session.all(query)),
        )

    async def episodes(
        self,
        scope: Scope,
        since: datetime | None = None,
        until: datetime | None = None,
        grain: Grain | None = None,
    ) -> tuple[Episode, ...]:
        """Return visible episodes of the graph that overlap ``[since, until)``, oldest first.

        Of one grain, or of all. Redacted and retired ones are left out.
        """
        query = scoped(
            _OVERLAPPING if grain is None else _OVERLAPPING_OF_GRAIN,
            scope,
            since=_EARLIEST if since is None else microseconds(since),
            until=_LATEST if until is None else microseconds(until),
            grain=grain,
        )
        return await self._database.read(
            "episodes",
            lambda session: tuple(record_of(Episode, row) for row in session.all(query)),
        )

    async def written(self, scope: Scope, ids: Sequence[str]) -> tuple[Summary | Episode, ...]:
        """Return the visible summaries and episodes among ``ids``, in the order asked.

        Expired ones included, and those whose content is destroyed, which say so.
        """
        summaries = scoped(_SUMMARIES + _ANY_AMONG, scope, ids=as_json(ids))
        episodes = scoped(_EPISODES + _ANY_AMONG, scope, ids=as_json(ids))

        def question(session: Session) -> tuple[Summary | Episode, ...]:
            found: dict[str, Summary | Episode] = {}
            found |= {row["id"]: record_of(Summary, row) for row in session.all(summaries)}
            found |= {row["id"]: record_of(Episode, row) for row in session.all(episodes)}
            return in_order(found, ids)

        return await self._database.read("written", question)


def read_summaries(session: Session, scope: Scope, ids: Sequence[str]) -> dict[str, Summary]:
    """Return the visible summaries among ``ids``, by id."""
    query = scoped(_SUMMARIES + _AMONG, scope, ids=as_json(ids))
    return {row["id"]: record_of(Summary, row) for row in session.all(query)}


def read_episodes(session: Session, scope: Scope, ids: Sequence[str]) -> dict[str, Episode]:
    """Return the visible episodes among ``ids``, by id."""
    query = scoped(_EPISODES + _AMONG, scope, ids=as_json(ids))
    return {row["id"]: record_of(Episode, row) for row in session.all(query)}


def put_summary(
    session: Session, scope: Scope, summary: Summary, work: Sequence[WorkDraft]
) -> bool:
    """Store a summary with what follows from it, inside the caller's transaction.

    Returns ``False``, writing nothing, when the same summary id is already stored.

    Raises:
        Conflict: A turn is covered by another summary of the same level.
        NotFound: A turn in ``covers`` is not in the scope's graph.
    """
    if session.one(
        scoped("SELECT 1 FROM summaries r WHERE $own(r) AND r.id = :id", scope, id=summary.id)
    ):
        return False
    covers = tuple(dict.fromkeys(summary.covers))
    ids = as_json(covers)
    taken = session.one(scoped(_COVERED, scope, level=summary.level, ids=ids))
    if taken is not None:
        raise Conflict(f"summary of turn {taken['child']}", summary.id, taken["parent"])
    missing = session.one(scoped(_MISSING_TURN, scope, ids=ids))
    if missing is not None:
        raise NotFound("turn", missing["id"])
    insert_owned(session, "summaries", summary)
    session.insert_all(
        "coverage",
        [
            {
                "tenant": scope.tenant,
                "graph_id": scope.graph_id,
                "level": summary.level,
                "turn_id": turn_id,
                "summary_id": summary.id,
            }
            for turn_id in covers
        ],
    )
    session.run(scoped(_LEAVE_TAIL, scope, ids=ids))
    index_words(session, summary)
    queue_work(session, scope, work, summary.recorded_at)
    return True


def put_episode(
    session: Session, scope: Scope, episode: Episode, work: Sequence[WorkDraft]
) -> bool:
    """Store an episode with what follows from it, inside the caller's transaction.

    Returns ``False``, writing nothing, when the same episode id is already stored.

    Raises:
        Conflict: A child belongs to another episode of the same grain.
    """
    if session.one(
        scoped("SELECT 1 FROM episodes r WHERE $own(r) AND r.id = :id", scope, id=episode.id)
    ):
        return False
    children = tuple(dict.fromkeys(episode.children))
    ids = as_json(children)
    taken = session.one(scoped(_CONSOLIDATED, scope, grain=episode.grain, ids=ids))
    if taken is not None:
        raise Conflict(f"{episode.grain} episode of {taken['child']}", episode.id, taken["parent"])
    insert_owned(session, "episodes", episode)
    session.insert_all(
        "consolidation",
        [
            {
                "tenant": scope.tenant,
                "graph_id": scope.graph_id,
                "grain": episode.grain,
                "child_id": child,
                "episode_id": episode.id,
            }
            for child in children
        ],
    )
    session.run(scoped(_MARK_CONSOLIDATED, scope, episode_id=episode.id, ids=ids))
    index_words(session, episode)
    queue_work(session, scope, work, episode.recorded_at)
    return True
