"""The handle of one agent: turns, memories, beliefs. Its scope is fixed when it is spawned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Unpack

from metaagents.learning.core import CoreBlock
from tiers.errors import PolicyDenied, UsageError
from tiers.ids import derived_id
from tiers.plans import AnyGrain
from tiers.records import (
    UNRECORDED,
    Ancestor,
    Commitment,
    Fact,
    Scope,
    Source,
    Standing,
    Turn,
    Usage,
)

from ..beliefs.commit import Believed, Point, beliefs_at, believe, source_ids_of
from ..checks import check_source, check_text, checked, checked_key, checked_topic
from ..documents import DocumentsOfAgent
from ..mesh import AnyAsk, MeshAsk
from ..operations import ForModel, Limit, Long, Name, Pair, Sent, Tool, Words, operation
from ..recall.handle_recall import ask
from ..recall.memory_search import MemorySearch, search_memory
from ..recall.request import Answers, DaysAgo, Kinds, Narrowing, ScopeName, request_of
from ..recaller import RecallResult
from ..rights.access import Access
from ..rights.policy import scope_of, topics_for
from ..runtime import Runtime
from ..turn.routing import Request
from ..write_guard import Write, admitted
from .agent_facts import AgentFacts
from .agent_platform import AgentPlatform
from .board import AgentBoard
from .knowledge import Knowledge
from .mesh_asking import AsksMesh
from .recording import AgentRecording, Recorder
from .tool_outputs import RANGE_CHARS, OutputRange, read_tool_output
from .turn import Completion, OpenTurn, TurnRef, asked


class Agent(AgentFacts, AgentPlatform, AgentRecording, AsksMesh, DocumentsOfAgent):
    """One agent of a session graph.

    Its scope is what its stored record says, looked up again at each call: a re-attach with other
    topics, a parent's revocation or a graph that was closed elsewhere count from then on.
    """

    def __init__(self, runtime: Runtime, standing: Standing, core: tuple[Fact, ...]) -> None:
        if standing.agent is None:
            raise UsageError("standing", standing.graph.id, "the standing of an agent")
        self._runtime = runtime
        self._standing = standing
        self._record = standing.agent
        self._core = core
        self._present = True
        self._turn: TurnRef | None = None
        self._only_looks = False

    @property
    def id(self) -> str:
        """The agent's id in its graph."""
        return self._record.id

    @property
    def graph_id(self) -> str:
        """The session graph that it is a member of."""
        return self._record.graph_id

    @property
    def topics(self) -> tuple[str, ...]:
        """What the agent may see and write."""
        return self._record.topics

    @property
    def core_at_spawn(self) -> tuple[Fact, ...]:
        """The core facts in scope when the agent was spawned, inherited ones included."""
        return self._core

    @property
    def lineage(self) -> tuple[Ancestor, ...]:
        """The graphs that the agent's graph inherits from, as they were at its last call."""
        return self._standing.lineage

    @property
    def knowledge(self) -> Knowledge:
        """The knowledge graph over the facts that the agent sees, to read and to change."""
        access = Access(self._scope, self._writing, lambda: self._standing)
        return Knowledge(self._runtime, access)

    @property
    def board(self) -> AgentBoard:
        """The graph's board as the agent sees it: messages, tasks, and what agents did."""
        access = Access(self._scope, self._writing, lambda: self._standing)
        return AgentBoard(self._runtime, access, self.id)

    @operation("POST", "/turns", changes=True, repeats=False)
    async def turn(
        self,
        message: str,
        *,
        at: datetime | None = None,
        speaker: str | None = None,
        topics: Iterable[str] | None = None,
        private: bool = False,
        ref: str | None = None,
        mesh: Annotated[AnyAsk | None, Sent(str | MeshAsk | None)] = None,
    ) -> OpenTurn:
        """Make the context for a message; the caller's own model answers it.

        Args:
            message: What was said to the agent; must not be blank.
            at: When it was said; now if not given.
            speaker: Who said it; the agent's user or the agent itself if not given.
            topics: Topics of the turn, among the agent's; all of the agent's if not given.
            private: Whether only this agent may see the turn.
            ref: The caller's name for the turn, unique in the graph: replying twice under one
                ``ref`` stores once.
            mesh: A live source to ask: its name, or ``{"source": …, "question": …, "slots": …}``.

        Raises:
            PolicyDenied: A topic or source is not the agent's; nothing was read.
            BudgetExceeded: No tokens are left for its context.
            UsageError: An argument is not acceptable, or the agent has left.
        """
        self._check_present()
        request = asked(
            self._runtime,
            self._record,
            message,
            at,
            speaker,
            topics=topics,
            private=private,
            ref=ref,
            mesh=mesh,
        )
        return await self._opened(request)

    async def _opened(self, request: Request) -> OpenTurn:
        """Make the context for a request; it is the agent's last turn from then on."""
        state = await self._runtime.router.open_turn(self._record, self._standing, request)
        admission = state.admission
        self._follow(admission.standing)
        # What is committed to in a turn that is opened anew was committed to in the stored one.
        self._turn = TurnRef(admission.repeats or admission.turn_id, state.receipt_id)
        self._runtime.under_way.opened(admission.scope, self._turn.id)
        return OpenTurn(self._runtime, state)

    @operation("POST", "/complete", changes=True, repeats=False)
    async def complete(
        self, message: str, *, at: datetime | None = None, speaker: str | None = None
    ) -> Completion:
        """Make the context, ask the configured model, remember the turn."""
        self._check_present()
        request = asked(self._runtime, self._record, message, at, speaker)
        turn = await self._opened(replace(request, is_completed=True))
        response = await turn.complete()
        written = await turn.reply(response)
        return Completion(response, self._runtime.model.name, turn, written)

    @operation("GET", "/core")
    async def core(self) -> CoreBlock:
        """Return the core facts of this agent's next context, what is left out, and their tokens.

        Inherited ones included; those that a nearer definition hides are not.
        """
        return await self._runtime.router.core_of(await self._scope())

    @operation("POST", "/recall")
    async def recall(
        self,
        query: str,
        *,
        limit: Answers = 10,
        kinds: Kinds | None = None,
        scope: ScopeName = "any",
        as_of: datetime | None = None,
        rerank: bool = True,
        **more: Unpack[Narrowing],
    ) -> RecallResult:
        """Return what is known about ``query``, best first, from every tier.

        Searching does not count as using: a fact is used by each turn whose context it reaches.

        Args:
            query: The question; must not be blank.
            limit: How many, 1 to 100.
            kinds: Which kinds of record; all if not given.
            scope: ``session`` (what was said and believed in this graph), ``user`` (facts and
                rules of the agent's user), ``agent`` (those that it wrote), ``tenant`` (documents
                and what is inherited), or ``any``: all of them, by the weights of the settings.
            as_of: A moment of the past: what would have been answered then.
            rerank: Whether a reranker may change the order, where one is configured.
            more: What else narrows it: see ``Narrowing``.

        Raises:
            UsageError: An argument is not acceptable, the agent has left, or a scope class needs
                a user that the agent does not have.
        """
        request = request_of(
            query, limit=limit, kinds=kinds, scope=scope, as_of=as_of, rerank=rerank, more=more
        )
        return await ask(self._runtime, await self._reading(), request)

    @operation(
        "POST",
        "/search-memory",
        tool=Tool(
            "reads",
            "List what happened in a window of days, each line beginning with its day or period. "
            "For questions about when. If nothing is found, follow the hint.",
            everywhere=True,
        ),
    )
    async def search_memory(
        self,
        text: Annotated[
            str | None, ForModel("What it is about; empty lists the latest.", Long)
        ] = None,
        *,
        grain: Annotated[
            AnyGrain, ForModel("working: single turns; else episodes of that length.")
        ] = "working",
        min_days_ago: Annotated[DaysAgo, ForModel()] = 0,
        max_days_ago: Annotated[DaysAgo, ForModel()] = 365,
        max_results: Annotated[Answers, ForModel(hint=Limit)] = 10,
    ) -> MemorySearch:
        """Return what happened in a window of days, as lines that begin with the day or period.

        Of the agent's own graph, not of its ancestors. A week, month, quarter or year that
        reaches into the window counts as a whole.

        Args:
            text: What it is about, best match first; without one the latest comes first.
            grain: ``working`` for turns, or the episodes to look at: ``daily``, ``weekly``,
                ``monthly``, ``quarterly``, ``yearly``.
            min_days_ago: The end of the window, in calendar days of the settings' time zone; 0 is
                today.
            max_days_ago: Its beginning, at most 36,500.
            max_results: How many, 1 to 100.

        Raises:
            UsageError: An argument is out of range, the window is inverted, or the agent has left.
        """
        return await search_memory(
            self._runtime,
            await self._reading(),
            text,
            grain=grain,
            min_days_ago=min_days_ago,
            max_days_ago=max_days_ago,
            max_results=max_results,
        )

    @operation("GET", "/turns/{key}/tool-output")
    async def read_tool_output(
        self,
        key: str,
        index: int | None = None,
        start: int = 0,
        length: int | None = RANGE_CHARS,
    ) -> OutputRange:
        """Return a range of what a tool returned during a turn that the agent sees in its graph.

        Args:
            key: ``<turn id>/<index>``, as previews have it; or the turn's id or ``ref`` alone.
            index: Which of the turn's outputs, from 0, where the key does not say.
            start: The first character.
            length: The most characters, 1 to 1,000,000; ``None`` for all to the end.

        Raises:
            NotFound: There is no such turn, or it has no such output.
            UsageError: A number is out of range, or the agent has left.
        """
        scope = await self._scope()
        return await read_tool_output(
            self._runtime, scope, key, index=index, start=start, length=length
        )

    @operation(
        "POST",
        "/beliefs",
        changes=True,
        repeats=False,
        tool=Tool(
            "ends",
            "Commit to a belief that others rely on; the history keeps it, with who and when. A "
            "belief that contradicts it is settled at once: look at status and superseded_by.",
            name="commit_belief",
            everywhere=True,
        ),
    )
    async def commit(
        self,
        claim: Annotated[str, ForModel("What you hold to be true.", Words)],
        *,
        topic: Annotated[str | None, ForModel("One of your topics.", Name)] = None,
        key: Annotated[
            tuple[str, str] | None, ForModel("[subject, attribute]: what it is about.", Pair, ())
        ] = None,
        value: Annotated[str | None, ForModel("What the attribute is held to be.", Long)] = None,
        sources: Iterable[str] = (),
        private: Annotated[bool, ForModel("Whether only you may see it.")] = False,
        ref: Annotated[
            str | None, ForModel("Your name for it: the same ref commits once.", Name)
        ] = None,
        source: Source = "agent",
    ) -> Believed:
        """Commit to a belief. What contradicts it is settled by the graph's merge strategy.

        A rival is the active belief of the same topic and key; for a claim without a key, an
        active belief of the topic that it contradicts. Whoever loses is superseded in the same
        step. A belief that lost against a rival comes back as ``HistoricBelief``, whose ``status``
        and ``superseded_by`` say so; both sides are in the history.

        Args:
            claim: The belief in words; must not be blank.
            topic: One of the agent's topics; who holds it sees the belief. All of the agent's if
                not given.
            key: What it is about: (subject, attribute).
            value: What the attribute is held to be.
            sources: Ids of turns and facts that it rests on. The turn under way, or the agent's
                last one, is noted by itself.
            private: Whether only this agent may see it.
            ref: The caller's name for it, unique in the graph: committing the same again
                under it changes nothing.
            source: Whose words it is, for the write guard.

        Raises:
            WriteRefused: The write guard has put it aside or blocks it.
            PolicyDenied: The topic is not the agent's.
            BudgetExceeded: The agent or the graph has no write left.
            Conflict: The graph is archived, others changed the same belief again and again, or
                ``ref`` is of a belief that says something else.
            UsageError: An argument is not acceptable, or the agent has left.
        """
        check_text("claim", claim)
        key = checked_key(key)
        check_source(source)
        ref = None if ref is None else checked(Turn, input=claim, ref=ref).ref
        topic = checked_topic(topic)
        scope, allowed = await self._writing(None if topic is None else (topic,), "commit")
        named = (
            self._runtime.ids.new()
            if ref is None
            else derived_id(UNRECORDED, "belief", scope.tenant, scope.graph_id, ref)
        )
        belief = checked(
            Commitment,
            claim=claim,
            topic=topic,
            key=key,
            value=value,
            private=private,
            source_ids=source_ids_of(sources),
            turn_id=None if self._turn is None else self._turn.id,
            receipt_id=None if self._turn is None else self._turn.receipt_id,
        ).stamped(scope, named, self._runtime.clock())
        belief = belief.model_copy(update={"topics": allowed})
        write = Write("belief", source, allowed, private)
        belief = await admitted(self._runtime, scope, write, belief)
        return await believe(self._runtime, scope, self._standing, belief)

    @operation("GET", "/beliefs")
    async def beliefs(self, as_of: Point | None = None) -> tuple[Believed, ...]:
        """Return the active beliefs in scope, in order of commitment.

        Args:
            as_of: A time, or a turn of the graph: those that were active then. What was redacted
                since says ``[redacted]``.
        """
        scope = await self._scope()
        if as_of is None:
            return await self._runtime.beliefs.active(scope)
        return await beliefs_at(self._runtime, scope, as_of)

    @operation("POST", "/beliefs/{belief_id}/pin", changes=True, repeats=False)
    async def pin(self, belief_id: str) -> Believed:
        """Keep an active belief first in every context of this agent, and in its hot tier.

        Raises:
            NotFound: No such active belief in the agent's scope.
            BudgetExceeded: The agent or the graph has no write left.
        """
        scope = await self._scope()
        own = None if self._turn is None else self._turn.id
        during = self._runtime.under_way.during(scope, own)
        async with self._runtime.meter.write(scope, self._standing):
            belief = await self._runtime.beliefs.pin(during, belief_id, self._runtime.clock())
        await self._runtime.hot.pin(scope, belief)
        now = self._runtime.clock()
        await self._runtime.log.append_audit(scope, "pinned", (belief_id,), "", now)
        return belief

    @operation("GET", "/usage")
    async def usage(self) -> Usage:
        """Return what the agent has used of its budget."""
        return await self._runtime.usage.usage(scope_of(self._record))

    @operation("POST", "/heartbeat", changes=True)
    async def heartbeat(self) -> None:
        """Give a sign of life now.

        Not needed by an agent that speaks, nor by one that was spawned in this process.

        Raises:
            UsageError: The agent has left.
            Conflict: The graph is archived.
        """
        await self._scope()
        self._runtime.membership.check_open(self._standing)
        now = self._runtime.clock()
        await self._runtime.fleet.beat(scope_of(self._record), [self.id], now)

    @operation("DELETE", changes=True)
    async def leave(self) -> None:
        """Leave the graph. Idempotent; the graph closes when its last agent has left.

        One that failed, because the cold tier was away, may be repeated.
        """
        if self._present:
            await self._runtime.membership.leave(self._record)
            self._present = False

    async def _writing(
        self, asked: Sequence[str] | None, action: str
    ) -> tuple[Scope, tuple[str, ...]]:
        """Return the scope as it stands, and the topics that a new record carries."""
        self._check_present()
        if self._only_looks:
            raise PolicyDenied(self.id, action, ("act",), "a handle that only looks")
        await self._topics(asked, action)
        scope = await self._scope()
        return scope, await self._topics(asked, action)

    def _recorder(self) -> Recorder:
        access = Access(self._scope, self._writing, lambda: self._standing)
        return Recorder(self._runtime, access, self._topics, self._set_last_turn)

    def _set_last_turn(self, turn: TurnRef) -> None:
        self._turn = turn

    async def _topics(self, asked: Sequence[str] | None, action: str) -> tuple[str, ...]:
        try:
            return topics_for(self._record, asked, action)
        except PolicyDenied as denial:
            scope, now = scope_of(self._record), self._runtime.clock()
            await self._runtime.log.append_audit(scope, "denied", (), str(denial), now)
            raise

    async def _scope(self) -> Scope:
        """Return the agent's scope as it stands now.

        Raises:
            UsageError: The agent has left.
        """
        self._check_present()
        membership = self._runtime.membership
        looking = membership.looked_at if self._only_looks else membership.standing
        self._follow(await looking(self._record))
        return scope_of(self._record, self._standing.lineage)

    async def _reading(self) -> Scope:
        """Return the scope as it stands; while cold is away as it last was, without ancestors.

        Whether these may still be read cannot be known then, and they could not be read anyway.
        """
        state = self._runtime.degradation()
        found = await state.answer("cold", "standing", self._scope(), None)
        return found or scope_of(self._record)

    def _follow(self, standing: Standing) -> None:
        self._standing = standing
        self._record = standing.agent or self._record

    def release(self) -> None:
        """Mark the handle as gone: its graph was closed under it."""
        self._present = False

    def _check_present(self) -> None:
        if not self._present:
            raise UsageError("agent", self.id, "an agent that has not left its graph")
