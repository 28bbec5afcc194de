"""Facts in SQLite, and their recall by meaning and words."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from ...errors import Conflict, NotFound, UsageError
from ...forms import hit_of
from ...learning import Verdict, is_live
from ...moments import microseconds
from ...ports import WarmStore
from ...records import Fact, FactTier, Hit, Scope, SearchQuery, Superseded, WorkDraft
from ..archival import LIMIT_MAX, archival_query, narrowed, reciprocal_ranks
from ..learnt import VERDICT_EVENTS, given_way, is_said_again
from ..ownership import check_limit, check_owned, in_order, private_to
from ..spans import begun, moved
from .database import Database, Query, Session
from .graphs import check_writable
from .identity import fact_digests, identity_of
from .log import append_event
from .queue import queue_work
from .review import end_fact
from .rows import insert_owned, record_again, record_of, stored, topic_set
from .scope import as_json, scoped
from .searchable import index_words, set_indexed_tier
from .word_search import WordSearch

FACTS_PER_READ = 8

_SELECT = "SELECT f.*, s.topics FROM facts f JOIN topic_sets s ON s.id = f.topic_set WHERE "
_AMONG = " AND f.id IN (SELECT value FROM json_each(:ids))"
_KEPT = " AND f.redacted_at IS NULL"
_LIVE = " AND f.superseded_by IS NULL AND f.forgotten_at IS NULL"
_CORE_NOW = f"f.tier = 'core'{_LIVE}"
# Of an ancestor that is read as of a moment: core then, whatever it is now. What was superseded
# before the moments were kept counts as superseded at every one. What is forgotten is so at any.
CORE_THEN = (
    "f.core_spans <> '[]' AND f.recorded_at <= g.as_of AND f.forgotten_at IS NULL"
    " AND (f.superseded_by IS NULL OR f.superseded_at > g.as_of)"
    " AND EXISTS (SELECT 1 FROM json_each(f.core_spans) c"
    " WHERE json_extract(c.value, '$[0]') <= g.as_of"
    " AND COALESCE(json_extract(c.value, '$[1]') > g.as_of, TRUE))"
)
# CROSS JOIN fixes the order: each graph of the family once, and there its core facts by the index.
_FAMILYS = "FROM $family g CROSS JOIN facts f"
_CORE = (
    "SELECT c.*, s.topics FROM ("
    f"SELECT g.place, f.* {_FAMILYS} WHERE g.as_of IS NULL AND $inherited(f){_KEPT}"
    f" AND {_CORE_NOW}"
    f" UNION ALL SELECT g.place, f.* {_FAMILYS} WHERE g.as_of IS NOT NULL AND $inherited(f){_KEPT}"
    f" AND {CORE_THEN}"
    ") AS c JOIN topic_sets s ON s.id = c.topic_set ORDER BY c.place, c.recorded_at, c.row"
)
# Of the own graph everything, of an ancestor its core facts, and archival ones if they come
# through; what it has forgotten is forgotten below it.
READABLE = (
    f"$inherited(f){_KEPT} AND (g.place = 0 OR f.forgotten_at IS NULL)"
    f" AND (g.archival OR (g.as_of IS NULL AND {_CORE_NOW})"
    f" OR (g.as_of IS NOT NULL AND {CORE_THEN}))"
)
# The nearest last, so that it is the one that stands for an id.
_AMONG_READABLE = (
    f"SELECT f.*, s.topics {_FAMILYS} JOIN topic_sets s ON s.id = f.topic_set WHERE {READABLE}"
    f"{_AMONG} ORDER BY g.place DESC"
)
_AMONG_VISIBLE = _SELECT + f"$visible(f){_KEPT}{_AMONG}"
# The plus keeps the tier out of the choice of index: a few ids, not every archival fact.
_ARCHIVAL = _AMONG_VISIBLE + (
    f" AND +f.tier = 'archival'{_LIVE} AND (:user_id IS NULL OR f.user_id = :user_id)"
)
_SAME = _SELECT + (
    "$own(f) AND f.agent_id = :writer AND f.user_id IS :writers_user AND f.digest = :digest"
    f" AND f.topic_set = :topic_set AND f.private_to = :private_to{_KEPT}{_LIVE}"
)
_TAKEN = _SELECT + "$own(f) AND f.id = :id"
_COUNT_USE = (
    "INSERT INTO fact_uses (tenant, graph_id, fact_id, cause, used_at)"
    f" SELECT f.tenant, f.graph_id, f.id, :cause, :now {_FAMILYS} WHERE {READABLE} AND f.id = :id"
    " ON CONFLICT (tenant, graph_id, fact_id, cause) DO NOTHING RETURNING graph_id"
)
_ADD_USE = (
    "UPDATE facts AS f SET uses = uses + 1, last_used_at = MAX(COALESCE(last_used_at, :now), :now)"
    " WHERE $own(f) AND f.id = :id"
)
_MOVE = (
    "UPDATE facts AS f SET tier = :tier, core_spans = :core_spans, earned_from = :earned_from"
    f" WHERE $visible(f) AND f.id = :id{_KEPT}"
)


class SqliteSemanticStore:
    """A ``SemanticStore`` in SQLite.

    Args:
        database: Where the facts are.
        archival_index: Finds archival facts by meaning; without it they are found by their words.
    """

    def __init__(self, database: Database, archival_index: WarmStore | None = None) -> None:
        self._database = database
        self._index = archival_index

    async def put_fact(
        self, scope: Scope, fact: Fact, work: Sequence[WorkDraft] = ()
    ) -> tuple[Fact, bool]:
        """Store a fact and return it, and whether it is new.

        A live fact of the same writer, user, text, topics and privacy is returned as it is, with
        nothing written; so is one of the same id that says the same and is live no more: what
        was forgotten does not come back by repeating what stored it. A core fact begins its first
        core span.

        Raises:
            Conflict: The id is another fact's, or the graph is archived.
        """
        check_owned(scope, fact)
        return await self._database.write(
            "put_fact", lambda session: _put(session, scope, fact, work), is_brief=True
        )

    async def core(self, scope: Scope) -> tuple[Fact, ...]:
        """Return visible active core facts of the own graph and the lineage, in one query.

        Own graph first, then lineage order, then oldest first. Shadowing is the reader's job.
        Of an ancestor read ``as_of`` a moment: what was recorded, core and not yet superseded
        then, as it is stored now. Forgotten facts are gone from every moment.
        """
        query = scoped(_CORE, scope)
        return await self._database.read(
            "core", lambda session: tuple(record_again(Fact, row) for row in session.all(query))
        )

    async def facts(self, scope: Scope, ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the visible facts among ``ids``, in the order asked, superseded ones included.

        Of the own graph all, forgotten ones too; of the lineage core facts as ``core`` has them,
        and archival ones of ancestors that carry ``fact``, forgotten ones aside.
        """
        query = scoped(_AMONG_READABLE, scope, ids=as_json(ids))
        return await self._database.read(
            "facts", lambda session: in_order(_facts(session, query), ids)
        )

    async def recall_archival(
        self,
        scope: Scope,
        query: SearchQuery,
        *,
        user_id: str | None = None,
        scope_topics: Sequence[str] | None = None,
        limit: int = 10,
    ) -> tuple[Hit, ...]:
        """Return active archival facts of the own graph, best first.

        ``user_id`` and ``scope_topics`` narrow the scope inside the query; they never widen it.
        The index has weighed meaning and words; facts that it does not hold yet come in at the
        rank that their words have among all, fused by reciprocal ranks. Without an index, words
        alone decide.

        Raises:
            TierError: The engine or the index failed; no half answer passes for a whole one.
        """
        check_limit(limit, LIMIT_MAX)
        if query.inherited:
            return ()  # what ancestors carry is the index's to find
        if None not in (user_id, query.user_id) and user_id != query.user_id:
            return ()
        user = user_id or query.user_id
        asker = narrowed(scope, scope_topics)
        asked = archival_query(query, user, limit)
        by_index: tuple[Hit, ...] = ()
        if self._index is not None:
            by_index = await self._index.search(asker, asked)

        def question(session: Session) -> tuple[Hit, ...]:
            by_words = [
                found.id if self._index is None or found.words_only else None
                for found in WordSearch(session, asker).ranked(asked)
            ]
            scores = reciprocal_ranks([hit.id for hit in by_index], by_words)
            best = _best_archival(session, asker, list(scores), user, limit)
            return tuple(hit_of(fact, scores[fact.id], scope.graph_id) for fact in best)

        return await self._database.read("recall_archival", question)

    async def add_uses(
        self, scope: Scope, cause: str, fact_ids: Sequence[str], now: datetime
    ) -> tuple[Fact, ...]:
        """Count one use of each fact for ``cause`` and return the facts as they now are.

        The same cause never counts twice. Unknown or invisible facts are left out.
        """
        if not cause:
            raise UsageError("cause", cause, "the id of what used the facts")
        if not fact_ids:
            return ()
        return await self._database.write(
            "add_uses",
            lambda session: _add_uses(session, scope, cause, fact_ids, now),
            is_brief=True,
        )

    async def set_tier(
        self,
        scope: Scope,
        fact: Fact,
        tier: FactTier,
        reason: str,
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> bool:
        """Move a fact between archival and core, with an audit event that holds the reason.

        Compare-and-set on ``fact.tier``: returns ``False``, writing nothing, when it has moved,
        is not live, or is not visible in the scope's own graph. Moving to core begins a core span;
        moving away ends it and sets ``earned_from`` to the uses that the fact has.
        """
        if tier == fact.tier:
            raise UsageError("tier", tier, "the tier that the fact is not in")
        return await self._database.write(
            "set_tier", lambda session: _move(session, scope, fact, tier, reason, now, work)
        )

    async def supersede(
        self,
        scope: Scope,
        fact_id: str,
        by: str,
        now: datetime,
        work: Sequence[WorkDraft] = (),
        *,
        how: Superseded = "natural",
    ) -> bool:
        """Let the fact ``by`` take the place of another, with an audit event ``superseded``.

        The old fact stays, and no search and no context has it any more; a core span ends.
        ``False``, writing nothing, when it is not live any more.

        Raises:
            NotFound: One of them is no visible fact of the scope's own graph.
            UsageError: They are the same fact.
        """
        if by == fact_id:
            raise UsageError("by", by, "another fact")
        verdict = Verdict(fact_id=fact_id, by=by, how=how)
        return await self._database.write(
            "supersede", lambda session: _supersede(session, scope, verdict, now, work)
        )


def _best_archival(
    session: Session, asker: Scope, ranked: Sequence[str], user: str | None, limit: int
) -> list[Fact]:
    """Return the first ``limit`` of the ranked ids that are still visible archival facts.

    Most are, so a batch as large as what is missing usually does.
    """
    best: list[Fact] = []
    start = 0
    while len(best) < limit and start < len(ranked):
        batch = ranked[start : start + max(limit - len(best), FACTS_PER_READ)]
        start += len(batch)
        query = scoped(_ARCHIVAL, asker, ids=as_json(batch), user_id=user)
        best += in_order(_facts(session, query), batch)
    return best[:limit]


def read_active_facts(session: Session, scope: Scope, ids: Sequence[str]) -> dict[str, Fact]:
    """Return the visible live facts of the own graph among ``ids``, by id."""
    return _facts(session, scoped(_AMONG_VISIBLE + _LIVE, scope, ids=as_json(ids)))


def _facts(session: Session, query: Query) -> dict[str, Fact]:
    return {row["id"]: record_of(Fact, row) for row in session.all(query)}


def _put(
    session: Session, scope: Scope, fact: Fact, work: Sequence[WorkDraft]
) -> tuple[Fact, bool]:
    fact = begun(fact)
    digest = identity_of(fact)
    known = _same(session, scope, fact, digest)
    if known is not None:
        return record_of(Fact, known), False
    taken = session.one(scoped(_TAKEN, scope, id=fact.id))
    if taken is not None:
        before = record_of(Fact, taken)
        if is_said_again(before, fact):
            return before, False
        # Not what it says: the asker may not be allowed to see it.
        raise Conflict("fact", "an id of its own", fact.id)
    check_writable(session, scope)
    insert_owned(session, "facts", fact, **fact_digests(fact))
    index_words(session, fact)
    queue_work(session, scope, work, fact.recorded_at)
    return fact, True


def _same(session: Session, scope: Scope, fact: Fact, digest: bytes) -> sqlite3.Row | None:
    query = scoped(
        _SAME,
        scope,
        writer=fact.agent_id,
        writers_user=fact.user_id,
        digest=digest,
        topic_set=topic_set(session, fact.topics),
        private_to=private_to(fact),
    )
    return session.one(query)


def _add_uses(
    session: Session, scope: Scope, cause: str, fact_ids: Sequence[str], now: datetime
) -> tuple[Fact, ...]:
    at = microseconds(now)
    for fact_id in dict.fromkeys(fact_ids):
        # Whether the asker may use it is asked once, by the statement that says in which graph.
        for use in session.all(scoped(_COUNT_USE, scope, cause=cause, id=fact_id, now=at)):
            there = Scope.of_graph(scope.tenant, use["graph_id"])
            session.run(scoped(_ADD_USE, there, id=fact_id, now=at))
    query = scoped(_AMONG_READABLE, scope, ids=as_json(fact_ids))
    return in_order(_facts(session, query), fact_ids)


def _move(
    session: Session,
    scope: Scope,
    fact: Fact,
    tier: FactTier,
    reason: str,
    now: datetime,
    work: Sequence[WorkDraft],
) -> bool:
    known = read_active_facts(session, scope, [fact.id]).get(fact.id)
    if known is None or known.tier != fact.tier:
        return False
    # One that came from elsewhere may be core without a span.
    spans = moved(known.core_spans or begun(known).core_spans, tier, now)
    earned_from = known.uses if tier == "archival" else known.earned_from
    session.run(
        scoped(
            _MOVE,
            scope,
            id=fact.id,
            tier=tier,
            core_spans=stored(spans),
            earned_from=earned_from,
        )
    )
    set_indexed_tier(session, scope, fact.id, tier)
    kind = "promoted" if tier == "core" else "demoted"
    append_event(session, scope, kind, (fact.id,), reason, now)
    queue_work(session, scope, work, now)
    return True


def _supersede(
    session: Session,
    scope: Scope,
    verdict: Verdict,
    now: datetime,
    work: Sequence[WorkDraft],
) -> bool:
    fact_id, by = verdict.fact_id, verdict.by
    found = _facts(session, scoped(_AMONG_VISIBLE, scope, ids=as_json([fact_id, by])))
    for one in (fact_id, by):
        if one not in found:
            raise NotFound("fact", one)
    if not is_live(found[fact_id]) or found[by].forgotten_at is not None:
        return False
    end_fact(session, scope, given_way(found[fact_id], verdict, now))
    append_event(session, scope, VERDICT_EVENTS[verdict.how], (fact_id, by), "", now)
    queue_work(session, scope, work, now)
    return True
