"""Facts in SQLite as the learning agent compares them, and how they stop being live."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import NotFound
from ...learning import Verdict, is_live
from ...moments import microseconds
from ...records import Fact, Scope, WorkDraft
from ...upkeep import PAGE_ROWS_MAX, Page
from ..learnt import VERDICT_EVENTS, check_verdicts, forgotten, given_way
from ..ownership import check_limit, check_whole_graph, private_to
from .database import Database, Query, Session
from .identity import key_digest_of
from .log import append_event
from .queue import queue_work
from .rows import record_of, stored
from .scope import as_json, scoped
from .searchable import retire

_SELECT = "SELECT f.*, s.topics FROM facts f JOIN topic_sets s ON s.id = f.topic_set WHERE "
# What retention has emptied is marked as redacted too.
_LIVE = " AND f.superseded_by IS NULL AND f.forgotten_at IS NULL AND f.redacted_at IS NULL"
_AFTER = _SELECT + f"$own(f){_LIVE} AND f.id > :after ORDER BY f.id LIMIT :limit"
_KEYED = _SELECT + (
    f"$own(f) AND f.key_digest = :key_digest{_LIVE} AND f.user_id IS :its_user"
    " AND f.private_to = :private_to AND f.id <> :id ORDER BY f.recorded_at, f.id LIMIT :limit"
)
_UNJUDGED = _SELECT + (
    f"$own(f) AND f.judged_at IS NULL{_LIVE} ORDER BY f.recorded_at, f.id LIMIT :limit"
)
_AMONG = _SELECT + "$own(f) AND f.id IN (SELECT value FROM json_each(:ids))"
_VISIBLE = _SELECT + "$visible(f) AND f.id = :id"
_JUDGE = "UPDATE facts AS f SET judged_at = :now WHERE $own(f) AND f.id = :id"
_END = (
    "UPDATE facts AS f SET superseded_by = :superseded_by, superseded_at = :superseded_at,"
    " superseded_as = :superseded_as, forgotten_at = :forgotten_at, valid_to = :valid_to,"
    " confidence = :confidence, core_spans = :core_spans WHERE $own(f) AND f.id = :id"
)
_ENDED = (
    "SELECT found.id FROM ("
    "SELECT f.id, f.superseded_at AS ended_at FROM facts f WHERE $own(f)"
    " AND f.superseded_at < :superseded_before AND f.redacted_at IS NULL"
    " UNION ALL SELECT f.id, f.forgotten_at AS ended_at FROM facts f WHERE $own(f)"
    " AND f.forgotten_at < :forgotten_before AND f.redacted_at IS NULL"
    ") AS found GROUP BY found.id ORDER BY MIN(found.ended_at), found.id LIMIT :limit"
)


class SqliteFactReview:
    """A ``FactReview`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def live_facts(self, scope: Scope, cursor: str, limit: int) -> Page[Fact]:
        """Return every live fact of the graph, of any agent, user and topic, by id.

        ``limit`` is 1 to ``PAGE_ROWS_MAX``.
        """
        check_whole_graph(scope)
        check_limit(limit, PAGE_ROWS_MAX)
        found = await self._read("live_facts", scoped(_AFTER, scope, after=cursor, limit=limit + 1))
        return Page[Fact](
            rows=found[:limit], cursor=found[limit - 1].id if len(found) > limit else None
        )

    async def keyed(self, scope: Scope, fact: Fact, limit: int) -> tuple[Fact, ...]:
        """Return the other live facts at the same ``fact_key``, of its user and its privacy.

        Oldest first; none for a fact without a key.
        """
        check_whole_graph(scope)
        check_limit(limit)
        key = key_digest_of(fact)
        if key is None:
            return ()
        query = scoped(
            _KEYED,
            scope,
            key_digest=key,
            its_user=fact.user_id,
            private_to=private_to(fact),
            id=fact.id,
            limit=limit,
        )
        return await self._read("keyed", query)

    async def unjudged(self, scope: Scope, limit: int) -> tuple[Fact, ...]:
        """Return live facts without ``judged_at``, oldest first."""
        check_whole_graph(scope)
        check_limit(limit)
        return await self._read("unjudged", scoped(_UNJUDGED, scope, limit=limit))

    async def settle(
        self,
        scope: Scope,
        fact_id: str,
        verdicts: Sequence[Verdict],
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> bool:
        """Stamp a fact as judged, and let facts give way to others, in one transaction.

        An audit event ``superseded`` or ``deduplicated`` for each verdict has both ids. ``False``,
        writing nothing, when the fact is not live or was judged before, or one that a verdict
        names is not live any more.

        Raises:
            NotFound: A fact is not in the scope's own graph.
            UsageError: A verdict lets a fact give way to itself, be it by way of others, or two
                are about one fact.
        """
        check_whole_graph(scope)
        check_verdicts(verdicts)
        return await self._database.write(
            "settle", lambda session: _settle(session, scope, fact_id, verdicts, now, work)
        )

    async def forget(
        self,
        scope: Scope,
        fact_id: str,
        reason: str,
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> bool:
        """Mark a visible fact of the own graph as forgotten, with an audit event ``forgotten``.

        No search and no context has it any more, and a core span ends. ``False``, writing nothing,
        when it is no live fact.
        """

        def transaction(session: Session) -> bool:
            row = session.one(scoped(_VISIBLE, scope, id=fact_id))
            fact = None if row is None else record_of(Fact, row)
            if fact is None or not is_live(fact):
                return False
            end_fact(session, scope, forgotten(fact, now))
            append_event(session, scope, "forgotten", (fact_id,), reason, now)
            queue_work(session, scope, work, now)
            return True

        return await self._database.write("forget", transaction)

    async def ended(
        self, scope: Scope, superseded_before: datetime, forgotten_before: datetime, limit: int
    ) -> tuple[str, ...]:
        """Return ids of facts that gave way, or were forgotten, before a moment; oldest first.

        Redacted and retired ones are left out, and those of which it is not known when.
        """
        check_whole_graph(scope)
        check_limit(limit)
        query = scoped(
            _ENDED,
            scope,
            superseded_before=microseconds(superseded_before),
            forgotten_before=microseconds(forgotten_before),
            limit=limit,
        )
        return await self._database.read(
            "ended", lambda session: tuple(row["id"] for row in session.all(query))
        )

    async def _read(self, operation: str, query: Query) -> tuple[Fact, ...]:
        return await self._database.read(
            operation, lambda session: tuple(record_of(Fact, row) for row in session.all(query))
        )


def end_fact(session: Session, scope: Scope, after: Fact) -> None:
    """Store how a fact of the scope's graph ended, and take it out of every answer."""
    session.run(
        scoped(
            _END,
            scope,
            id=after.id,
            superseded_by=after.superseded_by,
            superseded_at=stored(after.superseded_at),
            superseded_as=after.superseded_as,
            forgotten_at=stored(after.forgotten_at),
            valid_to=stored(after.valid_to),
            confidence=after.confidence,
            core_spans=stored(after.core_spans),
        )
    )
    retire(session, scope, after.id)


def _settle(
    session: Session,
    scope: Scope,
    fact_id: str,
    verdicts: Sequence[Verdict],
    now: datetime,
    work: Sequence[WorkDraft],
) -> bool:
    named = [fact_id, *(one for verdict in verdicts for one in (verdict.fact_id, verdict.by))]
    rows = session.all(scoped(_AMONG, scope, ids=as_json(named)))
    facts = {row["id"]: record_of(Fact, row) for row in rows}
    for one in named:
        if one not in facts:
            raise NotFound("fact", one)
    if facts[fact_id].judged_at is not None or not all(map(is_live, facts.values())):
        return False
    session.run(scoped(_JUDGE, scope, id=fact_id, now=microseconds(now)))
    for verdict in verdicts:
        end_fact(session, scope, given_way(facts[verdict.fact_id], verdict, now))
        ids = (verdict.fact_id, verdict.by)
        append_event(session, scope, VERDICT_EVENTS[verdict.how], ids, "", now)
    queue_work(session, scope, work, now)
    return True
