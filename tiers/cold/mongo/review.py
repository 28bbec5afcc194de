"""Facts in MongoDB as the learning agent compares them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...learning import Verdict
from ...moments import microseconds
from ...records import Fact, Scope, WorkDraft
from ...upkeep import PAGE_ROWS_MAX, Page
from ..learnt import check_verdicts
from ..ownership import check_limit, check_whole_graph, private_to
from . import fact_moves, settlements
from .conditions import shown_fields
from .database import Database, Session
from .documents import NO_USER, record_of
from .following import told_once
from .scope import own
from .statements import key_digest_of

COLLECTIONS = settlements.COLLECTIONS

_FACTS = "facts"


class MongoFactReview:
    """A ``FactReview`` in MongoDB.

    All but ``forget`` is asked by the runtime, for a whole graph: an agent's scope is a
    ``UsageError``.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def live_facts(self, scope: Scope, cursor: str, limit: int) -> Page[Fact]:
        """Return every live fact of the graph, of any agent, user and topic, by id."""
        check_whole_graph(scope)
        check_limit(limit, PAGE_ROWS_MAX)
        where = own(scope, live=True, id={"$gt": cursor})

        async def question(session: Session) -> Page[Fact]:
            found = await session.collection(_FACTS).find(
                where, sort=[("id", 1)], limit=limit + 1, fields=shown_fields(Fact)
            )
            rows = tuple(record_of(Fact, one) for one in found[:limit])
            return Page[Fact](rows=rows, cursor=rows[-1].id if len(found) > limit else None)

        return await self._database.read("live_facts", question)

    async def keyed(self, scope: Scope, fact: Fact, limit: int) -> tuple[Fact, ...]:
        """Return the other live facts at the same ``fact_key`` that are of the fact's user.

        And of its privacy, which of a private one is its writer's. Oldest first; none for a fact
        without a key.
        """
        check_whole_graph(scope)
        check_limit(limit)
        digest = key_digest_of(fact)
        if digest is None:
            return ()
        where = own(
            scope,
            fact_key=digest,
            live=True,
            private_to=private_to(fact),
            for_user=fact.user_id or NO_USER,
            id={"$ne": fact.id},
        )
        return await self._oldest("keyed", where, limit)

    async def unjudged(self, scope: Scope, limit: int) -> tuple[Fact, ...]:
        """Return live facts without ``judged_at``, oldest first."""
        check_whole_graph(scope)
        check_limit(limit)
        return await self._oldest("unjudged", own(scope, live=True, judged_at=None), limit)

    async def settle(
        self,
        scope: Scope,
        fact_id: str,
        verdicts: Sequence[Verdict],
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> bool:
        """Stamp a fact as judged, and let facts give way to others, in one step.

        ``False``, writing nothing, when the fact is not live or was judged before, or one that a
        verdict names is not live any more. On a standalone server a call that was cut off is
        finished by the next one in the graph, or when work is claimed.

        Raises:
            NotFound: A fact is not in the scope's own graph.
            UsageError: A verdict lets a fact give way to itself, be it by way of others, or two
                are about one fact.
            TierTimeout: Others were first again and again.
        """
        check_whole_graph(scope)
        check_verdicts(verdicts)
        return await told_once(
            self._database,
            "settle",
            scope,
            lambda session: settlements.settle(session, scope, fact_id, verdicts, now, work),
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

        A core fact ends its core span. ``False``, writing nothing, when it is no live fact.

        Raises:
            TierTimeout: Others were first again and again.
        """
        return await told_once(
            self._database,
            "forget",
            scope,
            lambda session: fact_moves.forget(session, scope, fact_id, reason, now, work),
        )

    async def ended(
        self, scope: Scope, superseded_before: datetime, forgotten_before: datetime, limit: int
    ) -> tuple[str, ...]:
        """Return ids of facts that gave way, or were forgotten, before a moment; oldest first.

        Redacted and retired ones are left out.
        """
        check_whole_graph(scope)
        check_limit(limit)
        before = {"superseded_at": superseded_before, "forgotten_at": forgotten_before}

        async def question(session: Session) -> tuple[str, ...]:
            facts = session.collection(_FACTS)
            found: list[tuple[int, str]] = []
            for name, when in before.items():
                where = own(scope, redacted_at=None, **{name: {"$lt": microseconds(when)}})
                rows = await facts.find(
                    where, sort=[(name, 1), ("id", 1)], limit=limit, fields=["id", name]
                )
                found += [(one[name], one["id"]) for one in rows]
            return tuple(fact_id for _, fact_id in sorted(found)[:limit])

        return await self._database.read("ended", question)

    async def _oldest(
        self, operation: str, where: dict[str, object], limit: int
    ) -> tuple[Fact, ...]:
        async def question(session: Session) -> tuple[Fact, ...]:
            found = await session.collection(_FACTS).find(
                where,
                sort=[("recorded_at", 1), ("id", 1)],
                limit=limit,
                fields=shown_fields(Fact),
            )
            return tuple(record_of(Fact, one) for one in found)

        return await self._database.read(operation, question)
