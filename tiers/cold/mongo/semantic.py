"""Facts in MongoDB, and their recall by meaning and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from ...errors import TierTimeout, UsageError
from ...forms import hit_of
from ...learning import Verdict, is_live
from ...ports import WarmStore
from ...records import (
    Fact,
    FactTier,
    Hit,
    IndexEntry,
    Scope,
    SearchQuery,
    Superseded,
    WorkDraft,
)
from ...upkeep import RecordRef
from ..archival import LIMIT_MAX, archival_query, narrowed, reciprocal_ranks
from ..ownership import check_limit, check_owned, in_order
from ..spans import begun
from . import fact_moves, fact_uses
from .archival_search import by_both, by_meaning, by_text, can_be_asked, packed, text_of
from .conditions import searched, shown_fields
from .database import Database, Session
from .documents import Document, document_of, record_of
from .following import LEFT_BEHIND_INDEX, told_once
from .schema import Index, by, validator
from .scope import core, of_tenant, own, readable_facts
from .search_index import (
    COLLECTION,
    ArchivalPlan,
    ArchivalWay,
    Progress,
    SearchIndexReport,
    ensure_search_indexes,
    planned,
)
from .statements import ATTEMPTS_MAX, edge_fields, identity_of, key_digest_of, put_once
from .terms import searchable_fields
from .together import together
from .translation import DuplicateKey
from .word_search import ranked_words, waiting_for_index

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "facts": (
        [
            by("id", unique=True),
            by("active_identity", unique=True, only_with=("active_identity",)),
            by("tier", "live", "recorded_at"),
            by("core_spans.since"),
            by("terms", "id"),
            Index((("tenant", 1), ("live", 1), ("embedding_model", 1))),
            by("fact_key", only_with=("fact_key",)),
            by("ends", "id"),
            by("joins", only_with=("joins",)),
            by("subject_key", "recorded_at", "id", only_with=("subject_key",)),
            by("live", "judged_at", "recorded_at"),
            by("superseded_at"),
            by("forgotten_at"),
            LEFT_BEHIND_INDEX,
        ],
        validator(
            ("id", "agent_id", "for_user", "topics", "private_to", "live", "terms", "ends"),
            tier={"enum": ["archival", "core"]},
        ),
    ),
    **fact_uses.COLLECTIONS,
}

FACTS_PER_READ = 8
BUILD_SECONDS_MAX = 600.0
TEXT_INDEX_LAG = timedelta(minutes=5)
"""How far a text index may lie behind: seconds by itself, and the clocks of processes differ."""


class MongoSemanticStore:
    """A ``SemanticStore`` in MongoDB.

    Args:
        database: Where the facts are.
        archival_index: Finds archival facts by meaning where the server cannot.
        plan: How archival facts are recalled, from ``planned``; without one, not by the server.
    """

    def __init__(
        self,
        database: Database,
        archival_index: WarmStore | None = None,
        plan: ArchivalPlan | None = None,
    ) -> None:
        self._database = database
        self._index = archival_index
        self._plan = plan or ArchivalPlan("words" if archival_index is None else "warm")

    @property
    def archival(self) -> ArchivalWay:
        """How archival facts are recalled: decided when the store was opened, or ensured since."""
        return self._plan.way

    async def ensure_vector_index(
        self,
        num_dimensions: int,
        *,
        timeout_seconds: float = BUILD_SECONDS_MAX,
        update: bool = False,
        progress: Progress | None = None,
    ) -> SearchIndexReport:
        """Make or check the server's search indexes over facts, wait until they answer, use them.

        Args:
            num_dimensions: Length of the embedder's vectors.
            timeout_seconds: How long to wait in all.
            update: Whether an index that only lacks fields to filter by may be built again with
                them, while it goes on answering.
            progress: Called with an index's name and status each time the server was asked.

        Raises:
            ConfigError: An index is there that does not fit; says what to do.
            SearchUnavailable: The server has no search; recall goes on as before.
            TierTimeout: They are still being built; asking again is harmless.
        """
        report = await ensure_search_indexes(
            self._database,
            num_dimensions,
            timeout_seconds=timeout_seconds,
            update=update,
            progress=progress,
        )
        self._plan = await planned(self._database, has_warm=self._index is not None)
        return report

    @property
    def vector_length(self) -> int | None:
        """Length of the vectors that the server's search takes; ``None`` while it is not used."""
        return self._plan.dimensions if self._plan.is_atlas else None

    async def put_fact(
        self, scope: Scope, fact: Fact, work: Sequence[WorkDraft] = ()
    ) -> tuple[Fact, bool]:
        """Store a fact and return it, and whether it is new.

        A live fact of the same writer, user, text, topics and privacy is returned as it is, with
        nothing written; so is one of the same id that says the same and is live no more: what was
        forgotten does not come back by repeating what stored it. A core fact begins its first core
        span.

        Raises:
            Conflict: The id is another fact's, or the graph is archived.
        """
        check_owned(scope, fact)
        fact = begun(fact)
        return await put_once(
            self._database,
            scope,
            COLLECTION,
            fact,
            same={"active_identity": identity_of(fact, fact.text)},
            document=fact_document(fact),
            work=work,
        )

    async def core(self, scope: Scope) -> tuple[Fact, ...]:
        """Return visible active core facts of the own graph and the lineage, in one query.

        Own graph first, then lineage order, then oldest first. Shadowing is the reader's job.
        Of an ancestor read ``as_of`` a moment: what was recorded, core and not yet superseded
        then, as it is stored now. What is forgotten is so at every moment.
        """

        async def question(session: Session) -> tuple[Fact, ...]:
            found = await session.collection(COLLECTION).find(
                core(scope, redacted_at=None, forgotten_at=None),
                sort=[("recorded_at", 1), ("_id", 1)],
                fields=shown_fields(Fact),
            )
            return tuple(record_of(Fact, document) for document in nearest_first(scope, found))

        return await self._database.read("core", question)

    async def facts(self, scope: Scope, ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the visible facts among ``ids``, in the order asked, superseded ones included.

        Of the own graph all, forgotten ones too; of the lineage core facts as ``core`` has them,
        and archival ones of ancestors that carry ``fact``.
        """

        async def question(session: Session) -> tuple[Fact, ...]:
            return in_order(_records(await _readable(session, scope, ids)), ids)

        return await self._database.read("facts", question)

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
        The index, the server's or the warm one, has weighed meaning and words; facts that it does
        not hold yet come in by their words, fused by reciprocal ranks. Where nothing has weighed
        the words, all facts come in by them. A question whose vector does not fit the server's
        index, because another model is taking over, is put to the warm one.

        Raises:
            TierError: The engine or the index failed; no half answer passes for a whole one.
        """
        check_limit(limit, LIMIT_MAX)
        if query.inherited:
            return ()  # what ancestors carry is the index's to find
        if None not in (user_id, query.user_id) and user_id != query.user_id:
            return ()
        asker = narrowed(scope, scope_topics)
        asked = archival_query(query, user_id or query.user_id, limit)
        plan = self._plan_for(asked)
        by_index: list[list[str]] = []
        if plan.way == "warm" and self._index is not None:
            by_index.append([hit.id for hit in await self._index.search(asker, asked)])

        async def question(session: Session) -> tuple[Hit, ...]:
            weighed = by_index
            if plan.is_atlas:
                weighed = await self._by_atlas(session, asker, asked)
            by_words = await self._by_words(session, asker, asked, weighed, plan)
            scores = reciprocal_ranks(*weighed, by_words)
            best = await _best_archival(session, asker, list(scores), asked, limit)
            return tuple(hit_of(fact, scores[fact.id], scope.graph_id) for fact in best)

        return await self._database.read("recall_archival", question)

    async def store_vectors(
        self, scope: Scope, entries: Sequence[IndexEntry], model_id: str
    ) -> None:
        """Keep the vectors of the facts among ``entries``; other entries are passed over.

        A fact that was redacted meanwhile gets none: it would tell what was said.

        Raises:
            UsageError: An entry of another tenant or graph, or a vector of another length than
                the server's index takes. Nothing was written.
        """
        for entry in entries:
            owner = (entry.tenant, entry.graph_id)
            if owner != (scope.tenant, scope.graph_id):
                raise UsageError("owner", owner, f"entries of {scope.tenant!r}, {scope.graph_id!r}")
            self._check_length(entry.vector)
        changes = {
            entry.id: _embedded(entry.vector, model_id) for entry in entries if entry.kind == "fact"
        }

        async def change(session: Session) -> None:
            facts = session.collection(COLLECTION)
            await together(
                facts.update(own(scope, id=fact_id, redacted_at=None), update)
                for fact_id, update in changes.items()
            )

        await self._database.write("store_vectors", change)

    async def facts_without_vectors(
        self, tenant: str, model_id: str, limit: int
    ) -> tuple[RecordRef, ...]:
        """Return current facts of any graph that have not been through ``store_vectors``.

        With ``model_id``, that is; oldest first, at most ``limit``.
        """
        check_limit(limit, LIMIT_MAX)
        waiting = of_tenant(tenant, live=True, redacted_at=None, embedding_model={"$ne": model_id})

        async def question(session: Session) -> tuple[RecordRef, ...]:
            facts = session.collection(COLLECTION, whole_tenant=True)
            found = await facts.find(waiting, sort=[("_id", 1)], limit=limit)
            return tuple(
                RecordRef(
                    graph_id=one["graph_id"], id=one["id"], agent_id=one["private_to"] or None
                )
                for one in found
            )

        return await self._database.read("facts_without_vectors", question)

    async def add_uses(
        self, scope: Scope, cause: str, fact_ids: Sequence[str], now: datetime
    ) -> tuple[Fact, ...]:
        """Count one use of each fact for ``cause`` and return the facts as they now are.

        The same cause never counts twice. Unknown or invisible facts are left out.

        Raises:
            TierTimeout: Others counted the same facts again and again.
        """
        if not cause:
            raise UsageError("cause", cause, "the id of what used the facts")
        if not fact_ids:
            return ()

        async def change(session: Session) -> tuple[Fact, ...]:
            found = await _readable(session, scope, fact_ids)
            if not found:
                return ()
            await fact_uses.count_uses(session, found, cause, now)
            return in_order(_records(await _readable(session, scope, fact_ids)), fact_ids)

        alone = ("uses", scope.tenant, scope.graph_id)
        for _ in range(ATTEMPTS_MAX):
            try:
                return await self._database.step("add_uses", change, alone=alone)
            except DuplicateKey:
                continue
        raise TierTimeout("cold", "add_uses", f"others were first {ATTEMPTS_MAX} times")

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
        is live no more, or is not visible in the scope's own graph. Moving to core begins a core
        span at ``now``, moving away ends it and sets ``earned_from`` to the uses that it has.
        """
        if tier == fact.tier:
            raise UsageError("tier", tier, "the tier that the fact is not in")
        return await told_once(
            self._database,
            "set_tier",
            scope,
            lambda session: fact_moves.move(session, scope, fact, tier, reason, now, work),
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

        The old fact stays, and no search and no context has it any more; a core one ends its core
        span. ``False``, writing nothing, when it is not live any more, or ``by`` is forgotten.

        Raises:
            NotFound: One of them is no visible fact of the scope's own graph.
            UsageError: They are the same fact.
        """
        if by == fact_id:
            raise UsageError("by", by, "another fact")
        verdict = Verdict(fact_id=fact_id, by=by, how=how)
        return await told_once(
            self._database,
            "supersede",
            scope,
            lambda session: fact_moves.supersede(session, scope, verdict, now, work),
        )

    async def _by_atlas(
        self, session: Session, asker: Scope, asked: SearchQuery
    ) -> list[list[str]]:
        """Return what the server's search ranks: one list fused by it, or one for each leg."""
        model_id = asked.model_id if asked.vector is not None else None
        has_text = self._plan.way == "atlas hybrid" and bool(text_of(asked))
        pipelines: list[list[Document]] = []
        if model_id is not None and has_text and self._plan.is_fused:
            pipelines.append(by_both(asker, asked, model_id))
        else:
            if model_id is not None:
                pipelines.append(by_meaning(asker, asked, model_id))
            if has_text:
                pipelines.append(by_text(asker, asked))
        facts = session.collection(COLLECTION)
        found = await together(facts.aggregate(pipeline) for pipeline in pipelines)
        return [[one["id"] for one in ranking] for ranking in found]

    async def _by_words(
        self,
        session: Session,
        asker: Scope,
        asked: SearchQuery,
        by_index: Sequence[Sequence[str]],
        plan: ArchivalPlan,
    ) -> list[str | None]:
        """Return what our own words rank; ``None`` in the place of what the index has weighed.

        A text index weighs all words but those of the last moments, so only these are left to us.
        """
        is_hybrid = plan.way == "atlas hybrid"
        since = asked.now - TEXT_INDEX_LAG if is_hybrid else None
        ranked = [one.id for one in await ranked_words(session, asker, asked, since=since)]
        if plan.way == "warm":
            waiting = await waiting_for_index(session, asker, ranked)
            return [one if one in waiting else None for one in ranked]
        if not is_hybrid:
            return [*ranked]
        weighed = {fact_id for ranking in by_index for fact_id in ranking}
        return [None if one in weighed else one for one in ranked]

    def _plan_for(self, asked: SearchQuery) -> ArchivalPlan:
        """Return how this question is answered: not by an index that does not fit it.

        By length of its vector, or because it is about what the server's index cannot filter by.
        """
        length = self.vector_length
        fits = length is None or asked.vector is None or len(asked.vector) == length
        if fits and (not self._plan.is_atlas or can_be_asked(asked)):
            return self._plan
        return ArchivalPlan("words" if self._index is None else "warm")

    def _check_length(self, vector: Sequence[float] | None) -> None:
        wanted = self._plan.dimensions
        if vector is not None and wanted is not None and len(vector) != wanted:
            raise UsageError("vector", f"{len(vector)} numbers", f"{wanted}, as in the index")


def _embedded(vector: Sequence[float] | None, model_id: str) -> Document:
    """Return the change that gives a fact a vector, or notes that the model has none for it."""
    if vector is None:
        return {"$set": {"embedding_model": model_id}, "$unset": {"embedding": ""}}
    return {"$set": {"embedding": packed(vector), "embedding_model": model_id}}


def fact_document(fact: Fact) -> Document:
    """Return a fact in stored form, with what it is found by, and what it is known by if live."""
    live, digest = is_live(fact), key_digest_of(fact)
    more: Document = {"live": live}
    if live:
        more["active_identity"] = identity_of(fact, fact.text)
    if digest is not None:
        more["fact_key"] = digest
    return document_of(fact, **searchable_fields(fact), **edge_fields(fact), **more)


async def _readable(session: Session, scope: Scope, ids: Sequence[str]) -> list[Document]:
    """Return those of the facts that the scope may read, the nearest last."""
    where = readable(scope, id={"$in": list(ids)})
    found = await session.collection(COLLECTION).find(where, fields=shown_fields(Fact))
    return nearest_first(scope, found)[::-1]


def readable(scope: Scope, **more: object) -> Document:
    """Return the filter for facts that the scope may read: forgotten ones only of its own graph.

    Of the lineage nothing that was forgotten, whatever the moment as of which it is read.
    """
    forgotten: Document = {"graph_id": {"$ne": scope.graph_id}, "forgotten_at": {"$ne": None}}
    return readable_facts(scope, redacted_at=None, **more) | {"$nor": [forgotten]}


async def _best_archival(
    session: Session, asker: Scope, ranked: Sequence[str], asked: SearchQuery, limit: int
) -> list[Fact]:
    """Return the first ``limit`` of the ranked ids that are still visible archival facts.

    Most are, so a batch as large as what is missing usually does.
    """
    best: list[Fact] = []
    start = 0
    while len(best) < limit and start < len(ranked):
        batch = list(ranked[start : start + max(limit - len(best), FACTS_PER_READ)])
        start += len(batch)
        where = searched(asker, asked, "fact", {"id": {"$in": batch}})
        found = await session.collection(COLLECTION).find(where, fields=shown_fields(Fact))
        best += in_order(_records(found), batch)
    return best[:limit]


def nearest_first(scope: Scope, found: Sequence[Document]) -> list[Document]:
    """Return documents of the own graph first, then those of its ancestors in their order."""
    names = (scope.graph_id, *(ancestor.graph_id for ancestor in scope.lineage))
    place = {name: number for number, name in enumerate(names)}
    return sorted(found, key=lambda document: place[document["graph_id"]])


def _records(found: Sequence[Document]) -> dict[str, Fact]:
    """Return facts by id; of several with one id, the last."""
    return {document["id"]: record_of(Fact, document) for document in found}
