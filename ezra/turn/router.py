"""The router: eight steps from a message to a remembered turn.

Read top to bottom: ``parse``, ``policy``, ``beliefs``, ``hydrate``, ``fetch``, ``assemble``,
``model``, ``write_back``. The first six make a context, the last two use it. Each is timed, each
store call has a deadline, and what was left out is said in ``degraded`` and ``skipped``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from metaagents.learning.core import CoreBlock
from tiers.errors import NotFound, PolicyDenied, TierTimeout
from tiers.ids import IdFactory
from tiers.lexical import estimate_tokens
from tiers.ports import CountingModel, HotStore, LanguageModel
from tiers.previews import with_previews
from tiers.records import (
    AgentRecord,
    FactTier,
    HotState,
    Kind,
    Scope,
    SearchQuery,
    Standing,
    ToolOutput,
    Turn,
    Usage,
)
from tiers.together import together
from tiers.turn_desk import Opening

from ..recaller import Degradation, Recaller, with_vector
from ..rights.membership import Membership
from ..rights.metering import Meter, charge_of, charge_of_write, is_limited
from ..rights.policy import scope_of, topics_for
from ..telemetry import Telemetry
from .assemble import LAYOUT, STEADY_LAYOUT, Material, assemble
from .context_budget import TAIL_SHARE, plan_tail, turns_wanted
from .eliding import with_previews_of
from .fetch import Asker, Fetcher
from .follow_up import follow_up, uses_work
from .parse import parse
from .routing import (
    NamesOf,
    Request,
    RouterLimits,
    TurnState,
    Written,
    begins_conversation,
    beyond_the_ring,
    facts_used,
    injected_beside,
    receipt_of,
    record_of,
    ring_has_gap,
    shown_turns,
)
from .shadowing import core_seen, resolve_core, unhidden

if TYPE_CHECKING:
    from tiers.cold.stores import RecordLog, SemanticStore, TurnDesk, TurnStore

T = TypeVar("T")

STEPS = ("parse", "policy", "beliefs", "hydrate", "fetch", "assemble", "model", "write_back")
ARCHIVAL_LIMIT = 8
SUMMARY_LIMIT = 6
TURN_LIMIT = 3
"""Of what was said before the ring: summaries leave out words that a message may ask for."""
RULE_LIMIT = 4


class Router:
    """Carries a message through the eight steps.

    Args:
        hot: The ring, pinned beliefs and mesh result per agent.
        desk: What a turn begins with, and where it and its receipt become durable.
        turns: What was said before.
        semantic: Core facts.
        log: Audit events.
        membership: How the agent stands when the turn begins.
        meter: What the turn costs, under the budgets.
        recaller: Embeds the question; finds summaries, episodes and turns.
        model: Answers in ``complete``.
        fetcher: Asks mesh sources.
        limits: Sizes and deadlines.
        ids: Names new records.
        clock: Where the time comes from.
        telemetry: Told of each turn and step.
    """

    def __init__(
        self,
        *,
        hot: HotStore,
        desk: TurnDesk,
        turns: TurnStore,
        semantic: SemanticStore,
        log: RecordLog,
        membership: Membership,
        meter: Meter,
        recaller: Recaller,
        model: LanguageModel,
        fetcher: Fetcher,
        limits: RouterLimits,
        ids: IdFactory,
        clock: Callable[[], datetime],
        telemetry: Telemetry,
    ) -> None:
        self._hot = hot
        self._desk = desk
        self._turns = turns
        self._semantic = semantic
        self._log = log
        self._membership = membership
        self._meter = meter
        self._recaller = recaller
        self._model = model
        self._fetcher = fetcher
        self._limits = limits
        self._ids = ids
        self._clock = clock
        self._telemetry = telemetry

    async def open_turn(
        self, agent: AgentRecord, standing: Standing, request: Request, names: NamesOf
    ) -> TurnState:
        """Carry a message through the first six steps and keep a receipt of what it saw.

        Args:
            agent: Who is spoken to.
            standing: How it last stood; counts, without ancestors, while the cold tier is away.
            request: The message.
            names: Returns the names of the graph's speakers.
        """
        state = Degradation(self._limits.step_timeout_seconds, self._telemetry)
        turn = TurnState(scope_of(agent), agent, standing, request, state, self._ids.new())
        with self._telemetry.turn(turn.scope, turn.turn_id) as whole:
            for step in (
                self.parse,
                self.policy,
                self.beliefs,
                self.hydrate,
                self.fetch,
                self.assemble,
            ):
                with self._telemetry.step(step.__name__) as timed:
                    await step(turn)
                    if step == self.policy:
                        turn.names = await names(turn.scope)
                turn.step_ms[step.__name__] = timed.seconds * 1000
            whole.note(
                ezra__context__tokens=turn.context.tokens,
                ezra__context__slots=len(turn.context.slots),
                ezra__degraded=tuple(state.lost),
            )
        self._telemetry.numbers.turn("opened")
        self._telemetry.numbers.tokens("context", turn.context.tokens)
        return turn

    async def rehearse(self, standing: Standing, request: Request, names: NamesOf) -> TurnState:
        """Return the context that a message would have now, and leave no trace of it.

        Nothing is written, charged or counted, no connector is asked, and there is no receipt.

        Args:
            standing: How the agent stands, which it names.
            request: The message.
            names: Returns the names of the graph's speakers.

        Raises:
            NotFound: There is no such agent.
        """
        agent = standing.agent
        if agent is None:
            raise NotFound("agent", request.speaker)
        state = Degradation(self._limits.step_timeout_seconds, self._telemetry)
        scope = scope_of(agent, standing.lineage)
        turn = TurnState(scope, agent, standing, request, state, "", is_rehearsal=True)
        turn.names = await names(scope)
        await self.parse(turn)
        call = self._desk.opening(scope, lambda _: scope, request.input, RULE_LIMIT)
        turn.opening = await state.answer("cold", "opening", call, None)
        await self.beliefs(turn)
        await self.hydrate(turn)
        self._take_mesh_at_hand(turn)
        self._pack(turn)
        return turn

    async def parse(self, turn: TurnState) -> None:
        """Step 1: intent, entities and urgency, by heuristics."""
        turn.parsed = parse(turn.request.input)

    async def policy(self, turn: TurnState) -> None:
        """Step 2: refuse what the agent may not touch, before anything is read.

        Then see how the agent stands now: what it may touch, and whom its graph inherits from,
        may have changed since the last turn.
        """
        await self._decide(turn)
        unknown: Opening | None = None
        async with self._denials(turn):
            found = await turn.state.answer("cold", "opening", self._opened(turn), unknown)
        if found is None:
            return
        turn.opening, turn.standing = found, found.standing
        if found.standing.agent is not None and found.standing.agent != turn.agent:
            turn.agent = found.standing.agent
            await self._decide(turn)
        turn.scope = scope_of(turn.agent, found.standing.lineage)

    async def _opened(self, turn: TurnState) -> Opening:
        """Read how the agent stands, and as far as it may see, what a turn begins with."""

        def asker(standing: Standing) -> Scope:
            member = standing.agent or turn.agent
            topics_for(member, turn.request.topics, "speak")
            return scope_of(member, standing.lineage)

        found = await self._desk.opening(turn.scope, asker, turn.request.input, RULE_LIMIT)
        if found is None:
            raise NotFound("session graph", turn.scope.graph_id)
        return found._replace(standing=await self._membership.seen(turn.agent, found.standing))

    @asynccontextmanager
    async def _denials(self, turn: TurnState) -> AsyncIterator[None]:
        """Tell the audit feed of a denial inside the block, which goes through."""
        try:
            yield
        except PolicyDenied as denial:
            await self._log.append_audit(turn.scope, "denied", (), str(denial), self._clock())
            raise

    async def _decide(self, turn: TurnState) -> None:
        """Decide by the topics and sources of the agent alone; a denial is an audit event."""
        async with self._denials(turn):
            turn.topics = topics_for(turn.agent, turn.request.topics, "speak")
        if turn.request.mesh is not None:
            await self._fetcher.check(turn.agent, turn.scope, turn.request.mesh)

    async def beliefs(self, turn: TurnState) -> None:
        """Step 3: the active beliefs in scope, as the opening's one reading has them."""
        turn.beliefs = turn.opening.beliefs if turn.opening is not None else ()

    async def hydrate(self, turn: TurnState) -> None:
        """Step 4: hot turns, core facts, archival facts, warm summaries and rules, side by side.

        Archival facts and summaries wait for the question's vector; hot turns are read while it
        is made. Core facts and rules are what the opening has read.
        """
        await together([self._hydrate_by_meaning(turn), self._hydrate_conversation(turn)])
        if turn.opening is not None:
            opening = turn.opening
            now = self._clock() if turn.scope.lineage else turn.request.at
            core = resolve_core(turn.scope, opening.core, opening.nearer, now=now)
            turn.core, turn.shadowed = self._limits.core_block_of(core, turn.scope), core.shadowed
            turn.rules = turn.opening.rules

    async def fetch(self, turn: TurnState) -> None:
        """Step 5: ask the mesh source the caller named; the result also stays in the hot tier."""
        ask = turn.request.mesh
        if ask is None:
            self._take_mesh_at_hand(turn)
            return
        asker = Asker(turn.agent, turn.scope, turn.standing)
        turn.mesh = await self._fetcher.for_turn(asker, ask, turn.request.input, turn.state)

    def _take_mesh_at_hand(self, turn: TurnState) -> None:
        """Take the mesh result that the hot tier holds, if the agent may still see it."""
        if turn.hot.mesh is not None and self._fetcher.may_see(turn.agent, turn.hot.mesh):
            turn.mesh = turn.hot.mesh

    async def assemble(self, turn: TurnState) -> None:
        """Step 6: fill the token budget in salience order, charge it, and keep a receipt of it.

        Raises:
            BudgetExceeded: The agent or the graph has no tokens left for it.
        """
        self._pack(turn)
        await self._keep_receipt(turn)

    def _pack(self, turn: TurnState) -> None:
        material = Material(
            agent=turn.agent,
            input=turn.request.input,
            note=turn.tail.note if turn.tail else "",
            layout=STEADY_LAYOUT if turn.tail else LAYOUT,
            beliefs=turn.beliefs,
            core=turn.core.facts,
            rules=turn.rules,
            injected=injected_beside(turn),
            archival=(*turn.archival, *turn.inherited_facts),
            warm=(*turn.warm, *beyond_the_ring(turn, TURN_LIMIT), *turn.inherited_episodes),
            hot=shown_turns(turn),
            mesh=turn.mesh,
            lineage=turn.scope.lineage,
        )
        turn.context = assemble(material, self._limits.context_tokens)

    async def model(self, turn: TurnState) -> str:
        """Step 7: the configured model's answer.

        Raises:
            BudgetExceeded: No model call is left, or no write to keep the answer by.
            TierTimeout: The model was later than its deadline; nothing was remembered.
        """
        with self._telemetry.model(self._model.name) as timed:
            call = self._meter.charge_answer(turn.scope, turn.standing)
            await self._charged(turn, "usage", call)
            try:
                async with asyncio.timeout(self._limits.model_timeout_seconds):
                    answer = await self._answer(turn)
            except TimeoutError as late:
                seconds = self._limits.model_timeout_seconds
                raise TierTimeout("model", "complete", f"no answer within {seconds:g} s") from late
        turn.step_ms["model"] = timed.seconds * 1000
        return answer

    async def _answer(self, turn: TurnState) -> str:
        """Ask the model, and note what it used where it says so."""
        if not isinstance(self._model, CountingModel):
            return await self._model.complete(turn.context.messages)
        answer, turn.used_tokens = await self._model.complete_counted(turn.context.messages)
        return answer

    async def write_back(
        self, turn: TurnState, response: str, tool_outputs: Sequence[ToolOutput]
    ) -> Written:
        """Step 8: to cold first, with its follow-up work in the same write, then to the ring.

        When this returns the turn is durable. A hot tier that fails is noted, not an error: the
        ring is rebuilt from cold.

        Raises:
            BudgetExceeded: The agent or the graph has no write left.
            ErasedMeanwhile: An erasure that ran while it was open reaches it.
        """
        with self._telemetry.write_back(turn.scope, turn.turn_id) as timed:
            written = await self._write_back(turn, response, tool_outputs)
        turn.step_ms["write_back"] = timed.seconds * 1000
        self._telemetry.numbers.turn("written" if written.was_new else "repeated")
        self._telemetry.numbers.evicted(len(written.overflow))
        return written

    async def _write_back(
        self, turn: TurnState, response: str, tool_outputs: Sequence[ToolOutput]
    ) -> Written:
        record = record_of(turn, response, tool_outputs, self._clock())
        answered = [response, *(output.output for output in tool_outputs)]
        tokens = sum(estimate_tokens(text) for text in answered if text)
        async with self._meter.refusals(turn.scope):
            stored, was_new = await self._desk.keep_turn(
                turn.scope,
                record,
                follow_up(record, turn.agent.id),
                charge_of_write(turn.standing, tokens),
                turn.receipt_id,
                since=turn.since,
            )
        overflow: tuple[Turn, ...] = ()
        if was_new:
            ring = self._limits.ring_capacity
            append = self._hot.append(turn.scope, with_previews(stored), ring)
            overflow = await turn.state.answer("hot", "append to the ring", append, overflow)
            self._telemetry.numbers.tokens("reply", tokens)
        return Written(stored, was_new, overflow)

    async def _charged(self, turn: TurnState, what: str, call: Awaitable[T]) -> T | None:
        """Await what charges. Where no budget applies, a lost count stops nothing."""
        if is_limited(turn.standing):
            return await call
        return await turn.state.answer("cold", what, call, None)

    async def _hydrate_by_meaning(self, turn: TurnState) -> None:
        """Read what is found by the question's vector, once that is made."""
        turn.vector = await self._recaller.vector(turn.request.input, turn.names, turn.state)
        sides = [self._hydrate_archival, self._hydrate_warm, self._hydrate_turns]
        if turn.scope.lineage:
            sides.append(self._hydrate_inherited)
        await together(side(turn) for side in sides)

    async def _hydrate_conversation(self, turn: TurnState) -> None:
        """Read hot turns, and what is brought unasked: at a start, which they tell, or always."""
        if turn.agent.inject == "turn":
            await together([self._hydrate_hot(turn), self._hydrate_injected(turn)])
        else:
            await self._hydrate_hot(turn)
            await self._hydrate_injected(turn)

    async def _hydrate_hot(self, turn: TurnState) -> None:
        turn.hot = await turn.state.answer("hot", "hot", self._hot.read(turn.scope), HotState())
        capacity = self._limits.ring_capacity
        if "hot" not in turn.state.lost and ring_has_gap(turn.hot, capacity):
            await self._rebuild_ring(turn, capacity)
        await self._leave_out_what_is_over(turn)
        policy = self._limits.window_of(turn.agent)
        if policy is not None:
            room = int(self._limits.context_tokens * TAIL_SHARE)
            turn.tail = plan_tail(await self._last_turns(turn), room, policy)

    async def _leave_out_what_is_over(self, turn: TurnState) -> None:
        """Leave out turns of the ring whose words were destroyed in cold while hot was away."""
        ring, now = turn.hot.turns, self._clock()
        standing = await self._recaller.standing_turns(turn.scope, ring, now, turn.state)
        turn.hot = turn.hot.model_copy(update={"turns": standing})

    async def _last_turns(self, turn: TurnState) -> tuple[Turn, ...]:
        """Return the turns that a tail may need: the ring's, or more where that holds fewer."""
        ring = turn.hot.turns
        wanted = turns_wanted(ring[-1] if ring else None)
        if len(ring) >= wanted or (ring and ring[0].seq == 1):
            return ring[-wanted:]
        call = self._turns.recent_turns(turn.scope, wanted)
        recent = await turn.state.answer("cold", "tail", call, ring)
        return tuple(map(with_previews, recent))

    async def _rebuild_ring(self, turn: TurnState, capacity: int) -> None:
        call = self._turns.recent_turns(turn.scope, capacity)
        found = await turn.state.answer("cold", "rebuild", call, turn.hot.turns)
        recent = tuple(map(with_previews, found))
        if len(recent) > len(turn.hot.turns):
            if not turn.is_rehearsal:
                restore = self._hot.restore(turn.scope, recent, capacity)
                await turn.state.answer("hot", "rebuild", restore, None)
            turn.hot = turn.hot.model_copy(update={"turns": recent})

    async def core_of(self, scope: Scope) -> CoreBlock:
        """Return the core block of a context for the scope, without what is hidden."""
        core = await core_seen(self._semantic, scope, self._clock)
        return self._limits.core_block_of(core, scope)

    async def _hydrate_archival(self, turn: TurnState) -> None:
        query = self._query(turn, ("fact",), ARCHIVAL_LIMIT, "archival")
        found = await self._recaller.archival(turn.scope, query, turn.state)
        turn.archival = await self._recaller.relevant(query.text, found, turn.names, turn.state)
        about = {hit.id for hit in turn.archival}
        turn.passed_over = tuple(hit for hit in found if hit.id not in about)

    async def _hydrate_warm(self, turn: TurnState) -> None:
        query = self._query(turn, ("summary", "episode"), SUMMARY_LIMIT)
        turn.warm = await self._recaller.found(turn.scope, query, "warm", turn.state)

    async def _hydrate_turns(self, turn: TurnState) -> None:
        """Recall what was said by the message's own words; the ring's turns come anyway."""
        query = self._query(turn, ("turn",), TURN_LIMIT + self._limits.ring_capacity)
        found = await self._recaller.found(turn.scope, query, "turns", turn.state)
        about = await self._recaller.relevant(query.text, found, turn.names, turn.state)
        turn.said = await with_previews_of(self._turns, turn.scope, about, turn.state)

    async def _hydrate_injected(self, turn: TurnState) -> None:
        """Bring what is known about the message, where the agent is to be given it unasked."""
        bring, when = turn.request.inject, turn.agent.inject
        if bring is None or when == "off":
            return
        if when == "start" and not begins_conversation(turn):
            return
        turn.injected = await bring(turn.scope, turn.state)

    async def _hydrate_inherited(self, turn: TurnState) -> None:
        """Read episodes and archival facts of ancestors, where links or the catalog carry them."""
        query = self._query(turn, ("episode", "fact"), SUMMARY_LIMIT)
        found = await self._recaller.inherited(turn.scope, query, turn.names, turn.state)
        found = await unhidden(self._semantic, turn.scope, found, self._clock, turn.state)
        turn.inherited_facts = tuple(hit for hit in found if hit.kind == "fact")
        turn.inherited_episodes = tuple(hit for hit in found if hit.kind == "episode")

    def _query(
        self, turn: TurnState, kinds: tuple[Kind, ...], limit: int, tier: FactTier | None = None
    ) -> SearchQuery:
        text, now = turn.request.subject, self._clock()
        query = SearchQuery(text=text, kinds=kinds, tier=tier, limit=limit, now=now)
        return with_vector(query, turn.vector)

    async def _keep_receipt(self, turn: TurnState) -> None:
        receipt = receipt_of(
            turn,
            self._ids.new(),
            budget=self._limits.context_tokens,
            answers=self._model.name,
            now=self._clock(),
        )
        used = facts_used(turn.context.slots)
        work = [uses_work(receipt.id, turn.agent.id, used)] if used else []
        charge = charge_of(turn.standing, Usage(tokens=turn.context.tokens))

        async def keep() -> str:
            async with self._meter.refusals(turn.scope):
                may_wait = turn.opening is not None
                await self._desk.keep_receipt(
                    turn.scope, receipt, work, charge, may_wait=may_wait, since=turn.since
                )
            return receipt.id

        turn.receipt_id = await self._charged(turn, "receipt", keep())
