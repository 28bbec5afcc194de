"""The ports that every turn goes through. The docstrings are the specification.

Graphs, members and budgets are in ``tiers.registry``, receipts and the audit feed in
``tiers.record_log``; what serves a whole store instead of one agent is in ``tiers.upkeep``. The
same rules hold there.

Rules for all ports:

* ``scope`` comes first; the engine's own query carries it. Filtering after a top-k search is a bug.
* A method that stores is all or nothing. An empty batch is a no-op.
* ``work`` is queued in the same atomic write as the record that causes it.
* What agents write (turns, facts, rules, beliefs) is refused with ``Conflict`` in a graph that is
  archived; the state is looked at in the same atomic write.
* What is not there is ``None`` or an empty tuple. Errors are those of ``tiers.errors``.
* Time comes in as an argument (``now``); engine-side expiry is only a broom.
* Stores are async context managers; after exit every method raises ``TierUnavailable``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

from pydantic import BaseModel

from .record_log import RecordLog as RecordLog  # noqa: PLC0414 - one of the ports of a turn
from .records import (
    Commitment,
    Episode,
    Fact,
    FactTier,
    Grain,
    Hit,
    HotState,
    IndexEntry,
    Kind,
    MeshResult,
    Rule,
    Scope,
    SearchQuery,
    Summary,
    Superseded,
    Turn,
    Work,
    WorkDraft,
    WorkKind,
)
from .standing import RecordKey

Vector = tuple[float, ...]
Expired: TypeAlias = Mapping[str, tuple[str, ...]]
"""Entries that are gone, by id, each with what it was made of: a summary with its turns."""

M = TypeVar("M", bound=BaseModel)
"""What a language model is asked to answer with."""


class Embedder(Protocol):
    """Turns text into unit-length vectors without blocking the event loop."""

    @property
    def model_id(self) -> str:
        """Name and precision of the model; vectors of different models are never compared."""

    @property
    def dimensions(self) -> int:
        """Length of every vector."""

    async def embed(
        self, texts: Sequence[str], *, urgent: bool = False, query: bool = False
    ) -> tuple[Vector, ...]:
        """Return one vector per text, in order.

        Args:
            texts: Any number of texts; an empty one gets the vector of the empty string.
            urgent: Somebody waits for the answer: it goes before background batches.
            query: The texts are questions, to be compared with texts embedded without it. A
                symmetric model makes no difference; any other makes vectors that are of no use
                for comparing questions with each other.
        """


class HotStore(Protocol):
    """Per agent: a ring of the last turns, the pinned beliefs, and the latest mesh result.

    A cache: losing it loses nothing. It holds one view (user, topics, denied) of the agent: who
    writes under another empties it, who reads under another finds nothing; the runtime sees any
    view. What the scope may not see is a ``UsageError``. ``scope.agent_id`` names the ring and must
    be set (``UsageError`` otherwise). A ring takes stored turns (``seq`` from 1) of its own agent,
    and pins of its own graph; others are a ``UsageError``. Each method is one atomic round trip.
    """

    async def append(self, scope: Scope, turn: Turn, capacity: int) -> tuple[Turn, ...]:
        """Put ``turn`` into the ring and return what no longer fits, oldest first.

        The ring keeps the ``capacity`` highest ``seq``; a late turn below them is returned at
        once. Appending the same ``seq`` again replaces it and evicts nothing.
        """

    async def read(self, scope: Scope) -> HotState:
        """Return everything held for the agent; an unknown agent has an empty state."""

    async def restore(self, scope: Scope, turns: Sequence[Turn], capacity: int) -> None:
        """Fill the ring from cold, never replacing a turn that is already there."""

    async def pin(self, scope: Scope, belief: Commitment) -> None:
        """Keep ``belief`` at hand for the agent; pinning again replaces it."""

    async def unpin(self, scope: Scope, belief_id: str) -> None:
        """Stop keeping a belief; an unknown one is no error."""

    async def put_mesh(self, scope: Scope, result: MeshResult) -> None:
        """Keep the latest mesh result, replacing the one before."""

    async def clear(self, scope: Scope) -> None:
        """Forget everything held for the agent."""


class WarmStore(Protocol):
    """A hybrid (dense and BM25) index over turns, summaries, facts, rules, beliefs and episodes.

    Rebuildable from cold. Every search and every delete carries tenant, graph, topics, privacy,
    kind and expiry inside the engine.
    """

    async def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> None:
        """Write entries under their ids; the owner fields are taken from each entry.

        An entry whose tenant or graph is not the scope's is refused (``UsageError``) and nothing
        is written.
        """

    async def search(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return the best visible entries, fused in the engine, best first, ties by id.

        The scope's own graph is searched, or with ``query.inherited`` its ancestors instead: of
        each the shared, visible entries of the kinds that it carries, recorded by the moment as
        of which it is read, of facts the archival ones. Without ``query.vector`` the lexical leg
        answers alone. Blank text and no vector give nothing.
        """

    async def delete(self, scope: Scope, ids: Sequence[str]) -> None:
        """Remove entries of the scope's tenant and graph by id; unknown ids are no error."""

    async def delete_expired(self, scope: Scope, now: datetime) -> Expired:
        """Remove entries of the scope's graph with ``expires_at <= now``; return which."""

    async def count(self, scope: Scope, kind: Kind | None = None) -> int:
        """Return how many entries the scope's graph holds, expired ones included."""

    async def flush(self) -> None:
        """Bound what must be replayed after a crash. Durability does not depend on it."""


class TurnStore(Protocol):
    """Turns: the raw material of everything else. Never changed after they are stored."""

    async def append_turn(
        self, scope: Scope, turn: Turn, work: Sequence[WorkDraft] = ()
    ) -> tuple[Turn, bool]:
        """Store the turn as the agent's next ``seq``, together with its work.

        Returns the stored turn, and whether it is new. A turn whose ``ref`` exists in the graph
        is returned as stored, and nothing is written or queued.

        Raises:
            Conflict: ``ref`` exists with another agent, input or response.
        """

    async def recent_turns(self, scope: Scope, limit: int) -> tuple[Turn, ...]:
        """Return the last turns of the scope's agent, oldest first."""

    async def turns(self, scope: Scope, ids: Sequence[str]) -> tuple[Turn, ...]:
        """Return the visible turns among ``ids``, in the order asked."""

    async def known_refs(self, scope: Scope, refs: Sequence[str]) -> dict[str, Turn]:
        """Return the stored turns of the scope's graph by ``ref``, for those that exist."""

    async def turns_from(self, scope: Scope, number: int, limit: int) -> tuple[Turn, ...]:
        """Return turns of the graph from its ``number``-th on, in the order of recording.

        For the runtime and people who audit: turns of every agent and user, numbered from 1.

        Raises:
            UsageError: The scope is an agent's.
        """

    async def count_turns(self, scope: Scope, until: datetime | None = None) -> int:
        """Return how many turns of the graph were recorded by a moment, of every agent and user."""

    async def waiting_turns(
        self, scope: Scope, keep_last: int, limit: int, *, before: datetime | None = None
    ) -> tuple[Turn, ...]:
        """Return turns of the scope's agent older than its last ``keep_last`` and not yet covered.

        Oldest first, at most ``limit``; with ``before``, those that occurred before it.
        """

    async def turns_after(self, scope: Scope, seq: int, limit: int) -> tuple[Turn, ...]:
        """Return turns of the scope's agent with a higher ``seq``, in order, at most ``limit``.

        Redacted and retired ones included: whoever reads on must get past them.
        """


class EpisodicStore(Protocol):
    """Summaries and episodes by session graph and time."""

    async def put_summary(
        self, scope: Scope, summary: Summary, work: Sequence[WorkDraft] = ()
    ) -> bool:
        """Store a summary and mark every turn in ``covers`` as covered, in one step.

        Returns ``False``, writing nothing, when the same summary id is already stored.

        Raises:
            Conflict: A turn is covered by another summary of the same level.
        """

    async def summaries(self, scope: Scope) -> tuple[Summary, ...]:
        """Return the visible summaries of the scope's graph, oldest period first."""

    async def put_episode(
        self, scope: Scope, episode: Episode, work: Sequence[WorkDraft] = ()
    ) -> bool:
        """Store an episode and mark the summaries in ``children`` as consolidated, in one step.

        Returns ``False``, writing nothing, when the same episode id is already stored.

        Raises:
            Conflict: A child belongs to another episode of the same grain.
        """

    async def due_summaries(
        self, scope: Scope, before: datetime, limit: int
    ) -> tuple[Summary, ...]:
        """Return summaries of the scope's graph that expire by ``before`` and have no episode.

        Every agent's and every topic's; oldest period first, at most ``limit``.
        """

    async def episodes(
        self,
        scope: Scope,
        since: datetime | None = None,
        until: datetime | None = None,
        grain: Grain | None = None,
    ) -> tuple[Episode, ...]:
        """Return visible episodes of the graph that overlap ``[since, until)``, oldest first.

        Of one grain, or of all.
        """

    async def written(self, scope: Scope, ids: Sequence[str]) -> tuple[Summary | Episode, ...]:
        """Return the visible ones among ``ids``, expired and retired ones too, in that order."""


class SemanticStore(Protocol):
    """Facts: core ones are in every context, archival ones are recalled."""

    async def put_fact(
        self, scope: Scope, fact: Fact, work: Sequence[WorkDraft] = ()
    ) -> tuple[Fact, bool]:
        """Store a fact and return it, and whether it is new.

        An active fact of the same writer, user, text, topics and privacy is returned: only when it
        was said last is noted, if that is later. A core fact begins its first core span.
        """

    async def core(self, scope: Scope) -> tuple[Fact, ...]:
        """Return visible active core facts of the own graph and the lineage, in one reading.

        Own graph first, then lineage order, then oldest first. Shadowing is the reader's job.
        Of an ancestor read ``as_of`` a moment: the facts that were recorded, core and not yet
        superseded then. Redacted facts are gone from every moment.
        """

    async def facts(self, scope: Scope, ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the visible facts among ``ids``, in the order asked, superseded ones included.

        Of the own graph all, of the lineage core facts as ``core`` has them, and archival ones of
        ancestors that carry ``fact``.
        """

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
        Facts the vector index does not hold yet are found by their words.
        """

    async def add_uses(
        self, scope: Scope, cause: str, fact_ids: Sequence[str], now: datetime
    ) -> tuple[Fact, ...]:
        """Count one use of each fact for ``cause`` and return the facts as they now are.

        The same cause never counts twice. Unknown or invisible facts are left out.
        """

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

        Compare-and-set on ``fact.tier``: returns ``False``, writing nothing, when it has moved.
        Moving to core begins a core span at ``now``, moving away ends it and sets
        ``earned_from`` to the uses that the fact has.
        """

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

        Or ``deduplicated`` for a duplicate. Sets ``superseded_by``, ``superseded_at`` and
        ``superseded_as``; the old fact
        stays, and no search and no context has it any more. Both must be visible facts of the
        scope's own graph. ``False``, writing nothing, when the fact is superseded already.

        Raises:
            NotFound: One of them is not.
        """


class ProceduralStore(Protocol):
    """Rules by intent pattern and scope."""

    async def put_rule(
        self, scope: Scope, rule: Rule, work: Sequence[WorkDraft] = ()
    ) -> tuple[Rule, bool]:
        """Store a rule; one of the same writer, trigger and steps is returned as it is."""

    async def match_rules(self, scope: Scope, text: str, limit: int) -> tuple[Rule, ...]:
        """Return visible rules whose trigger shares words with ``text``, best match first.

        Most different words in common, times ``learning.outcome_factor``; then the shortest
        trigger. Of the own graph and of ancestors that carry ``rule``, as they were ``as_of``
        their moment.
        """


class Backlog(Protocol):
    """What waits in the queue, and what was parked: for who watches it."""

    async def waiting(
        self, scope: Scope | None = None, *, tenant: str | None = None
    ) -> dict[str, int]:
        """Return how many items wait per kind, and under ``parked`` how many are parked."""

    async def waiting_since(self, kind: WorkKind, *, tenant: str) -> datetime | None:
        """Return when the oldest item of a kind that is not parked was queued, if there is one."""

    async def parked(self, limit: int = 100, *, tenant: str | None = None) -> tuple[Work, ...]:
        """Return parked items with their problem, oldest first."""

    async def rerun(self, work_ids: Sequence[str], *, tenant: str | None = None) -> int:
        """Put parked items back into the queue with no attempts; return how many."""


class WorkQueue(Backlog, Protocol):
    """Durable work for the meta-agents: at least once, claimed by lease with a fencing token.

    The queue serves the runtime, not an agent: claims span graphs, and each item carries its
    scope. A runtime passes its ``tenant``; without one, every tenant's items are meant.
    """

    async def enqueue(self, scope: Scope, work: Sequence[WorkDraft], now: datetime) -> int:
        """Queue items and return how many are new.

        An item of the same kind and key that waits is not doubled but becomes due at once; one
        that is claimed runs once more after it is completed.
        """

    async def claim(
        self,
        kinds: Sequence[WorkKind],
        owner: str,
        limit: int,
        lease_seconds: float,
        now: datetime,
        *,
        tenant: str | None = None,
        scope: Scope | None = None,
    ) -> tuple[Work, ...]:
        """Claim due items, oldest first: never claimed, or with a lease that has run out.

        Items that wait for a retry or are parked are not due. ``tenant`` restricts to one tenant,
        ``scope`` to one graph. A claim is no attempt; an item whose lease had run out is marked
        ``was_lost``.
        """

    async def complete(self, work: Work) -> bool:
        """Remove a claimed item; ``False`` when a later claim holds it."""

    async def fail(self, work: Work, problem: str, retry_at: datetime | None) -> bool:
        """Give a claimed item back until ``retry_at``, or park it (``None``) for people to see.

        ``False`` when a later claim holds it.
        """

    async def defer(self, work: Work, until: datetime) -> bool:
        """Give a claimed item back until a time, with the attempts of ``work``, as it was claimed.

        ``False`` when a later claim holds it.
        """


class LexicalIndex(Protocol):
    """Word search in the cold tier: answers at once, before any vector exists."""

    async def search_words(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return visible records by BM25, best first.

        The engine's query carries the scope. ``query.vector`` is not used, and ancestors are not
        searched: ``query.inherited`` finds nothing. Hits whose indexing is still queued, and kinds
        that are never indexed, are marked ``words_only``. The rarest words are looked up first,
        and the commonest not at all once enough records have been looked at.
        """

    async def entries(self, scope: Scope, ids: Sequence[str]) -> tuple[IndexEntry, ...]:
        """Return the searchable forms, without vectors, of the visible records among ``ids``.

        Superseded, redacted and unknown records are left out; in the order asked.
        """

    async def live(
        self, scope: Scope, query: SearchQuery, keys: Sequence[RecordKey]
    ) -> frozenset[RecordKey]:
        """Return which records a search may answer with at this moment.

        Those of the own graph, or of ancestors that carry their kind, that are visible, live (at
        ``query.as_of`` if that is given) and meet every condition of the query; its words, vector
        and limit are not looked at. Right at once after a write, unlike the vector index. One
        read, however many are asked about.
        """

    async def census(self, scope: Scope) -> dict[str, int]:
        """Return what the scope's graph holds, by name.

        Names: turns, covered_turns, summaries, episodes, facts_core, facts_archival, rules,
        beliefs, waiting_work.
        """


@runtime_checkable
class LanguageModel(Protocol):
    """A chat model."""

    @property
    def name(self) -> str:
        """Shown with every answer, so that a scripted or echo model is never mistaken for one."""

    async def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Return the model's answer to ``[{role, content}, …]``."""

    async def generate(self, messages: Sequence[dict[str, str]], schema: type[M]) -> M:
        """Return an answer that fits ``schema``, whole and checked, never a part of one.

        Raises:
            TierRejected: There is none after a bounded number of attempts.
            UsageError: No language model is configured.
        """


@runtime_checkable
class CountingModel(Protocol):
    """A chat model that says what an answer has used."""

    async def complete_counted(self, messages: Sequence[dict[str, str]]) -> tuple[str, int]:
        """Return the answer, as ``complete`` does, and the tokens read and written for it."""
