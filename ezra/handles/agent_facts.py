"""What an agent's handle does with facts and rules: remember, forget, look up, list, search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from tiers.fields import Word
from tiers.forms import as_answered, without_forgotten
from tiers.records import Fact, FactTier, Hit, Rule, Scope, SearchQuery, Source, Standing, Turn
from tiers.upkeep import Page

from ..checks import check_source, checked, checked_id, checked_ids
from ..operations import SHORT_PAGE_MAX, Ids, PageOf100, Reason, operation
from ..recaller import with_vector
from ..rights.metering import charge_of_write
from ..runtime import Runtime
from .listings import facts_page
from .remembering import (
    Memory,
    check_sight,
    check_superseded,
    checked_place,
    forget,
    forget_all,
    memory_of,
    place_of,
    refine,
    store,
    supersede,
)

FORGOTTEN_MAX = 100
"""So many facts are forgotten in one step: a transaction holds up every other of the tenant."""

_WORDS = ("text", "subject", "predicate", "object")


class AgentFacts(ABC):
    """The part of an agent's handle that keeps facts and rules."""

    _runtime: Runtime
    _standing: Standing

    @operation("POST", "/memories", changes=True)
    async def remember(
        self,
        what: Memory,
        *,
        topics: Iterable[str] | None = None,
        private: bool = False,
        shared: bool = False,
        supersedes: str | None = None,
        id: str | None = None,  # noqa: A002 - it is the id of what is stored
        source: Source = "user",
    ) -> str:
        """Remember a fact or a rule and return its id.

        The same statement by the same agent is stored once: remembering it again returns the
        first id and costs nothing; so does, whoever said it, what took the place of ``supersedes``
        and lost it since. It is recalled at once by its words, and by meaning within seconds.

        Args:
            what: Text (a fact), a ``Fact`` or a ``Rule``.
            topics: Its topics; those of ``what``, else of the fact whose place it takes, else the
                agent's own, if not given.
            private: Whether only this agent may see it; so it is in the place of a private one.
            shared: Whether agents of every user may see it, not only those of this agent's user; so
                they may where they saw the fact whose place it takes.
            supersedes: The id of a fact of this graph whose place it takes, whoever has it now; or
                of a rule of the same trigger, which gets these steps as its next version.
            id: A new UUID that it is stored under. Who heard no answer asks again with the same:
                it is stored once, and does not come back when it was forgotten meanwhile. Once its
                words were destroyed, by retention or on request, that is a ``Conflict``.
            source: Whose words it is: ``user``, ``tool``, ``agent``, ``document`` or ``system``.
                What an agent wrote never becomes core unless a user or a tool says the same.

        Raises:
            PolicyDenied: A topic is not the agent's.
            BudgetExceeded: The agent or the graph has no write left.
            Conflict: The graph is archived, or the id is or was another statement's.
            NotFound: What is to be superseded is none that the agent sees in its own graph.
            UsageError: ``what`` is not acceptable, an agent's own words are to be core, it is to be
                private and shared, what is to be superseded was forgotten, or the agent has left.
            WriteRefused: The write guard has put it aside or blocks it.
        """
        record = memory_of(what)
        check_source(source)
        check_sight(private=private or record.private, shared=shared)
        new = None if id is None else checked_id("id", id)
        given = checked(Turn, topics=topics).topics if topics is not None else record.topics or None
        scope, allowed = await self._writing(given, "remember")
        if supersedes is not None and isinstance(record, Rule):
            return await self._refined(scope, record, supersedes, allowed, source)
        line: Sequence[Fact] = ()
        if supersedes is not None:
            named = (self._runtime, scope, supersedes, source)
            line = await check_superseded(*named, is_private=private or record.private)
            former = line[-1]
            # Whoever has read the former one is to read what takes its place, and nobody else.
            private, shared = former.private, shared or former.user_id is None
            if given is None and (scope.sees_all_topics or set(former.topics) <= {*scope.topics}):
                scope, allowed = await self._writing(former.topics, "remember")
        owner = scope.model_copy(update={"user_id": None}) if shared else scope
        stored_id, _ = await store(
            *(self._runtime, owner, record, allowed),
            private=private,
            record_id=new,
            source=source,
            place={"supersedes": supersedes},
            former=line,
            taken=place_of(line[-1].id, scope) if line else None,
            charge=charge_of_write(self._standing),
        )
        return checked_place(stored_id, supersedes)

    async def _refined(
        self, scope: Scope, rule: Rule, rule_id: str, topics: tuple[str, ...], source: Source
    ) -> str:
        """Give a rule new steps; return its id."""
        charge = charge_of_write(self._standing)
        arguments = (self._runtime, scope, rule, rule_id, topics, source)
        stored_id, _ = await refine(*arguments, charge=charge)
        return stored_id

    @operation("POST", "/facts/{fact_id}/forget", changes=True, repeats=False)
    async def forget(
        self, fact_id: str, *, reason: Reason, superseded_by: str | None = None
    ) -> bool:
        """Forget a fact on explicit request; ``False`` when nothing finds it any more.

        That is of what is forgotten, was never true or was said twice, and of what is to be
        superseded where it has given way, or the other fact is forgotten. What was true once is
        found where that time is asked about, so it can be forgotten, too.

        It is in no search and no context from now on, nor is what says the same: facts that the
        agent sees, with the same words, of the same user and privacy, whoever wrote them and under
        whatever topics, those that gave way before included. What a roll-back has set aside stays
        forgotten when that is undone. Rows stay as tombstones: ``as_of`` a
        moment before they are found, until their content is destroyed after
        ``forgotten_facts_days``; ``graph.redact`` does that at once.

        Args:
            fact_id: A fact that the agent sees in its own graph.
            reason: Why; kept in the audit feed.
            superseded_by: The fact that takes its place. It has given way to that one then, and
                both ids are in the audit feed.

        Raises:
            NotFound: It, or what is to take its place, is no fact that the agent sees in its own
                graph.
            UsageError: The reason is blank, a fact is to take its own place or that of what it
                gave way to, a private one that of one that others see, or the agent has left.
            BudgetExceeded: The agent or the graph has no write left.
        """
        scope = await self._scope()
        async with self._runtime.meter.write(scope, self._standing) as charge:
            if superseded_by is None:
                done = await forget(self._runtime, scope, fact_id, reason)
            else:
                arguments = (self._runtime, scope, fact_id, superseded_by)
                done = await supersede(*arguments, how="denial")
            charge.is_void = not done
        return done

    @operation("POST", "/facts/forget", changes=True, repeats=False)
    async def forget_facts(self, ids: Ids, *, reason: Reason) -> tuple[str, ...]:
        """Forget several facts in one step, as ``forget`` does; return those it has made forgotten.

        Args:
            ids: Facts that the agent sees in its own graph, 100 at most; others are passed over.
            reason: Why; kept in the audit feed for each.

        Raises:
            UsageError: The reason is blank, there are too many ids, or the agent has left.
            BudgetExceeded: The agent or the graph has no write left.
        """
        named = checked_ids("ids", ids, FORGOTTEN_MAX)
        scope = await self._scope()
        async with self._runtime.meter.write(scope, self._standing) as charge:
            done = await forget_all(self._runtime, scope, named, reason)
            charge.is_void = not done
        return done

    @operation("POST", "/facts/lookup")
    async def facts(self, ids: Ids) -> tuple[Fact, ...]:
        """Return the facts among ``ids`` that the agent sees, in the order asked.

        Those that gave way or were forgotten are among them, and say so. The words of a forgotten
        one are ``[forgotten]`` to every agent but the one that wrote it, which reads them, as the
        graph's operator does, until ``forgotten_facts_days`` have passed.
        """
        scope = await self._scope()
        found = await self._runtime.semantic.facts(scope, checked_ids("ids", ids))
        return tuple(
            one if one.agent_id == scope.agent_id else without_forgotten(one, *_WORDS)
            for one in found
        )

    @operation("POST", "/recall-archival")
    async def recall_archival(
        self,
        query: str,
        *,
        user_id: Word | None = None,
        scope_topics: Iterable[str] | None = None,
        limit: PageOf100 = 10,
    ) -> tuple[Hit, ...]:
        """Return archival facts only; ``user_id`` and ``scope_topics`` narrow the agent's scope."""
        now = self._runtime.clock()
        asked = checked(
            SearchQuery,
            {"text": "query"},
            text=query,
            kinds=("fact",),
            tier="archival",
            limit=limit,
            now=now,
        )
        topics = (
            None
            if scope_topics is None
            else checked(Turn, {"topics": "scope_topics"}, topics=scope_topics).topics
        )
        scope = await self._scope()
        state = self._runtime.degradation()
        vector = await self._runtime.recaller.vector(scope, query, (), state)
        asked = with_vector(asked, vector)
        found = await self._runtime.semantic.recall_archival(
            scope, asked, user_id=user_id, scope_topics=topics, limit=limit
        )
        return tuple(map(as_answered, found))

    @operation("GET", "/facts")
    async def latest_facts(
        self,
        *,
        tier: FactTier | None = None,
        topics: Iterable[str] | None = None,
        all_topics: Iterable[str] | None = None,
        after: str = "",
        limit: PageOf100 = SHORT_PAGE_MAX,
    ) -> Page[Fact]:
        """Return the live facts of its graph that the agent sees, the latest first, page by page.

        By when they began to be true, or else were recorded.

        Args:
            tier: ``core`` or ``archival``; both if not given.
            topics: Only facts with one of these.
            all_topics: Only facts with every one of these, 16 at most.
            after: The ``cursor`` of the page before; empty begins.
            limit: 1 to 100.

        Raises:
            UsageError: An argument is not acceptable, or the agent has left.
        """
        return await facts_page(
            self._runtime,
            await self._scope(),
            tier=tier,
            topics=topics,
            all_topics=all_topics,
            after=after,
            limit=limit,
        )

    @abstractmethod
    async def _scope(self) -> Scope:
        """Return the agent's scope as it stands now."""

    @abstractmethod
    async def _writing(
        self, asked: Sequence[str] | None, action: str
    ) -> tuple[Scope, tuple[str, ...]]:
        """Return the scope as it stands, and the topics that a new record carries."""
