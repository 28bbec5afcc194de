"""Turns in SQLite."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...moments import microseconds
from ...records import Scope, Turn, WorkDraft
from ..ownership import (
    check_agent,
    check_limit,
    check_owned,
    check_same_turn,
    check_turn_number,
    check_whole_graph,
    in_order,
)
from .database import Database, Session
from .graphs import check_writable
from .queue import queue_work
from .rows import insert_owned, record_of
from .scope import as_json, scoped
from .searchable import index_words

_SELECT = "SELECT t.*, s.topics FROM turns t JOIN topic_sets s ON s.id = t.topic_set WHERE "
_AMONG_IDS = _SELECT + "$visible(t) AND t.id IN (SELECT value FROM json_each(:ids))"
_BY_ID = _SELECT + "$own(t) AND t.id = :id"
_BY_REF = _SELECT + "$own(t) AND t.ref = :ref"
_AMONG_REFS = _SELECT + "$visible(t) AND t.ref IN (SELECT value FROM json_each(:refs))"
_RECENT = _SELECT + "$visible(t) AND t.agent_id = :agent_id ORDER BY t.seq DESC LIMIT :limit"
_AFTER = _SELECT + (
    "$visible(t) AND t.agent_id = :agent_id AND t.seq > :after ORDER BY t.seq LIMIT :limit"
)
_LAST_SEQ = "SELECT MAX(t.seq) AS seq FROM turns t WHERE $own(t) AND t.agent_id = :writer"
_IN_ORDER = _SELECT + "$own(t) ORDER BY t.recorded_at, t.row LIMIT :limit OFFSET :before"
_COUNT = "SELECT COUNT(*) AS turns FROM turns t WHERE $own(t)"
_COUNT_UNTIL = _COUNT + " AND t.recorded_at <= :until"
_WAITING = (
    "SELECT t.*, s.topics FROM tail w"
    " JOIN turns t ON t.tenant = w.tenant AND t.graph_id = w.graph_id AND t.id = w.turn_id"
    " JOIN topic_sets s ON s.id = t.topic_set"
    " WHERE $own(w) AND w.agent_id = :agent_id AND w.seq <= :newest AND $visible(t)"
    " AND (:until IS NULL OR t.occurred_at < :until)"
    " ORDER BY w.seq LIMIT :limit"
)


class SqliteTurnStore:
    """A ``TurnStore`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append_turn(
        self, scope: Scope, turn: Turn, work: Sequence[WorkDraft] = ()
    ) -> tuple[Turn, bool]:
        """Store the turn as the agent's next ``seq``, together with its work.

        Returns the stored turn, and whether it is new. A turn whose ``ref`` or id exists in the
        graph is returned as stored, and nothing is written or queued.

        Raises:
            Conflict: ``ref`` or id exists with another agent, input or response, or the graph is
                archived.
        """
        check_owned(scope, turn)
        return await self._database.write(
            "append_turn", lambda session: _append(session, scope, turn, work), is_brief=True
        )

    async def recent_turns(self, scope: Scope, limit: int) -> tuple[Turn, ...]:
        """Return the last turns of the scope's agent, oldest first."""
        check_agent(scope)
        check_limit(limit)
        query = scoped(_RECENT, scope, limit=limit)
        return await self._database.read(
            "recent_turns",
            lambda session: tuple(record_of(Turn, row) for row in reversed(session.all(query))),
        )

    async def turns(self, scope: Scope, ids: Sequence[str]) -> tuple[Turn, ...]:
        """Return the visible turns among ``ids``, in the order asked, each once."""
        return await self._database.read(
            "turns", lambda session: in_order(read_turns(session, scope, ids), ids)
        )

    async def known_refs(self, scope: Scope, refs: Sequence[str]) -> dict[str, Turn]:
        """Return the visible turns of the scope's graph by ``ref``, for those that exist."""
        query = scoped(_AMONG_REFS, scope, refs=as_json(refs))

        def question(session: Session) -> dict[str, Turn]:
            found = {row["ref"]: record_of(Turn, row) for row in session.all(query)}
            return {ref: found[ref] for ref in refs if ref in found}

        return await self._database.read("known_refs", question)

    async def turns_from(self, scope: Scope, number: int, limit: int) -> tuple[Turn, ...]:
        """Return turns of the graph from its ``number``-th on, in the order of recording.

        Raises:
            UsageError: The scope is an agent's, or a number is not acceptable.
        """
        check_whole_graph(scope)
        check_turn_number(number)
        check_limit(limit)
        query = scoped(_IN_ORDER, scope, before=number - 1, limit=limit)
        return await self._database.read(
            "turns_from",
            lambda session: tuple(record_of(Turn, row) for row in session.all(query)),
        )

    async def count_turns(self, scope: Scope, until: datetime | None = None) -> int:
        """Return how many turns of the graph were recorded by a moment, of every agent and user.

        Raises:
            UsageError: The scope is an agent's.
        """
        check_whole_graph(scope)
        query = (
            scoped(_COUNT, scope)
            if until is None
            else scoped(_COUNT_UNTIL, scope, until=microseconds(until))
        )
        return await self._database.read(
            "count_turns", lambda session: int(session.all(query)[0]["turns"])
        )

    async def waiting_turns(
        self, scope: Scope, keep_last: int, limit: int, *, before: datetime | None = None
    ) -> tuple[Turn, ...]:
        """Return turns of the scope's agent older than its last ``keep_last`` and not yet covered.

        Oldest first, at most ``limit``; with ``before``, those that occurred before it.
        """
        agent_id = check_agent(scope)
        check_limit(limit)
        until = None if before is None else microseconds(before)

        def question(session: Session) -> tuple[Turn, ...]:
            newest = _last_seq(session, scope, agent_id) - max(0, keep_last)
            query = scoped(_WAITING, scope, newest=newest, until=until, limit=limit)
            return tuple(record_of(Turn, row) for row in session.all(query))

        return await self._database.read("waiting_turns", question)

    async def turns_after(self, scope: Scope, seq: int, limit: int) -> tuple[Turn, ...]:
        """Return turns of the scope's agent with a higher ``seq``, in order, at most ``limit``.

        Redacted and retired ones included: whoever reads on must get past them.
        """
        check_agent(scope)
        check_limit(limit)
        query = scoped(_AFTER, scope, after=seq, limit=limit)
        return await self._database.read(
            "turns_after",
            lambda session: tuple(record_of(Turn, row) for row in session.all(query)),
        )


def read_turns(session: Session, scope: Scope, ids: Sequence[str]) -> dict[str, Turn]:
    """Return the visible turns among ``ids``, by id."""
    query = scoped(_AMONG_IDS, scope, ids=as_json(ids))
    return {row["id"]: record_of(Turn, row) for row in session.all(query)}


def _append(
    session: Session, scope: Scope, turn: Turn, work: Sequence[WorkDraft]
) -> tuple[Turn, bool]:
    known = _known(session, scope, turn)
    if known is not None:
        return known, False
    check_writable(session, scope)
    seq = _last_seq(session, scope, turn.agent_id) + 1
    stored = turn.model_copy(update={"seq": seq})
    insert_owned(session, "turns", stored)
    session.insert(
        "tail",
        {
            "tenant": turn.tenant,
            "graph_id": turn.graph_id,
            "agent_id": turn.agent_id,
            "seq": seq,
            "turn_id": turn.id,
        },
    )
    index_words(session, stored)
    queue_work(session, scope, work, turn.recorded_at)
    return stored, True


def _known(session: Session, scope: Scope, turn: Turn) -> Turn | None:
    """Return the turn that is stored under the same id or ``ref``, if any.

    Raises:
        Conflict: It says something else, or somebody else says it.
    """
    row = session.one(scoped(_BY_ID, scope, id=turn.id))
    if row is None and turn.ref is not None:
        row = session.one(scoped(_BY_REF, scope, ref=turn.ref))
    if row is None:
        return None
    known = record_of(Turn, row)
    check_same_turn(turn, known)
    return known


def _last_seq(session: Session, scope: Scope, agent_id: str) -> int:
    row = session.one(scoped(_LAST_SEQ, scope, writer=agent_id))
    return 0 if row is None else int(row["seq"] or 0)
