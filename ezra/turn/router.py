"""The router: eight steps from a message to a remembered turn.

Read top to bottom: ``parse``, ``policy``, ``beliefs``, ``hydrate``, ``fetch``, ``assemble``,
``model``, ``write_back``. The first six make a context, the last two use it. Each returns what the
next ones rest on and is timed, each store call has a deadline, and what was left out is said in
``degraded`` and ``skipped``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from metaagents.learning.core import CoreBlock
from tiers.concurrency import answered
from tiers.errors import TierTimeout
from tiers.ids import IdFactory
from tiers.ports import CountingModel, LanguageModel
from tiers.records import AgentRecord, Commitment, Hit, MeshResult, Scope, Standing, ToolOutput

from ..ranking.choosing import in_asked_order
from ..recaller import Degradation, TierNews
from ..rights.policy import scope_of
from ..telemetry import Telemetry
from .assemble import Context, Material, assemble
from .fetch import Asker, Fetcher
from .hydrate import Hydrator
from .ledger import TurnLedger
from .parse import Parsed, parse
from .policy import TurnPolicy
from .routing import (
    Admission,
    Hydrated,
    Prepared,
    Request,
    RouterLimits,
    TurnState,
    Written,
    opened,
)
from .slots import LAYOUT, STEADY_LAYOUT

STEPS = ("parse", "policy", "beliefs", "hydrate", "fetch", "assemble", "model", "write_back")


class Rehearsal(NamedTuple):
    """The context that a message would have.

    Attributes:
        context: What a model would be told.
        core: The core facts of it, and what is left out of them.
        degradation: Which tiers took part.
    """

    context: Context
    core: CoreBlock
    degradation: Degradation


@dataclass(eq=False, kw_only=True)
class Router:
    """Carries a message through the eight steps.

    Attributes:
        admission: Lets the turn in.
        hydrator: Reads what the tiers hold for it.
        fetcher: Asks mesh sources.
        ledger: Keeps the receipt and the turn, and charges them.
        answering: Answers in ``complete``.
        limits: Sizes and deadlines.
        ids: Names turns.
        telemetry: Told of each turn and step.
        news: What earlier calls have learnt of the tiers.
    """

    admission: TurnPolicy
    hydrator: Hydrator
    fetcher: Fetcher
    ledger: TurnLedger
    answering: LanguageModel
    limits: RouterLimits
    ids: IdFactory
    telemetry: Telemetry
    news: TierNews

    async def open_turn(
        self, agent: AgentRecord, standing: Standing, request: Request
    ) -> TurnState:
        """Carry a message through the first six steps and keep a receipt of what it saw.

        Args:
            agent: Who is spoken to.
            standing: How it last stood; counts, without ancestors, while the cold tier is away.
            request: The message.
        """
        turn_id, degradation = self.ids.new(), self._degradation()
        step_ms: dict[str, float] = {}
        with self.telemetry.turn(scope_of(agent), turn_id) as whole:
            with self._step("parse", step_ms):
                parsed = self.parse(request)
            with self._step("policy", step_ms):
                admission = await self.policy(agent, standing, request, turn_id, degradation)
            with self._step("beliefs", step_ms):
                beliefs = self.beliefs(admission)
            with self._step("hydrate", step_ms):
                found = await self.hydrate(admission)
            with self._step("fetch", step_ms):
                mesh = await self.fetch(admission, found)
            with self._step("assemble", step_ms):
                prepared = Prepared(admission, parsed, beliefs, found, mesh)
                context, receipt_id = await self.assemble(prepared)
            whole.note(
                ezra__context__tokens=context.tokens,
                ezra__context__slots=len(context.slots),
                ezra__degraded=tuple(degradation.lost),
            )
        self.telemetry.numbers.turn("opened")
        self.telemetry.numbers.tokens("context", context.tokens)
        return opened(prepared, context, receipt_id, step_ms)

    async def rehearse(self, standing: Standing, request: Request) -> Rehearsal:
        """Return the context that a message would have now, and leave no trace of it.

        Nothing is written, charged or counted, no connector is asked, and there is no receipt.

        Args:
            standing: How the agent stands, which it names.
            request: The message.

        Raises:
            NotFound: There is no such agent.
        """
        admission = await self.admission.rehearse(standing, request, self._degradation())
        found = await self.hydrate(admission)
        mesh = self._mesh_at_hand(admission, found)
        beliefs = self.beliefs(admission)
        prepared = Prepared(admission, self.parse(request), beliefs, found, mesh)
        return Rehearsal(self._packed(prepared), found.core, admission.degradation)

    async def core_of(self, scope: Scope) -> CoreBlock:
        """Return the core block of a context for the scope, without what is hidden."""
        return await self.hydrator.core_of(scope)

    def parse(self, request: Request) -> Parsed:
        """Step 1: intent, entities and urgency, by heuristics."""
        return parse(request.input)

    async def policy(
        self,
        agent: AgentRecord,
        standing: Standing,
        request: Request,
        turn_id: str,
        degradation: Degradation,
    ) -> Admission:
        """Step 2: refuse what the agent may not touch, before anything is read.

        Then see how the agent stands now: what it may touch, and whom its graph inherits from,
        may have changed since the last turn.
        """
        return await self.admission.admit(agent, standing, request, turn_id, degradation)

    def beliefs(self, admission: Admission) -> tuple[Commitment, ...]:
        """Step 3: the active beliefs in scope, as the opening's one reading has them."""
        return admission.opening.beliefs if admission.opening is not None else ()

    async def hydrate(self, admission: Admission) -> Hydrated:
        """Step 4: hot turns, core facts, archival facts, warm summaries and rules, side by side.

        Archival facts and summaries wait for the question's vector; hot turns are read while it
        is made. Core facts and rules are what the opening has read.
        """
        return await self.hydrator.read(admission)

    async def fetch(self, admission: Admission, found: Hydrated) -> MeshResult | None:
        """Step 5: ask the mesh source the caller named; the result also stays in the hot tier."""
        request = admission.request
        if request.mesh is None:
            return self._mesh_at_hand(admission, found)
        asker = Asker(admission.agent, admission.scope, admission.standing)
        return await self.fetcher.for_turn(
            asker, request.mesh, request.input, admission.degradation
        )

    def _mesh_at_hand(self, admission: Admission, found: Hydrated) -> MeshResult | None:
        """Return the mesh result that the hot tier holds, if the agent may still see it."""
        mesh = found.conversation.hot.mesh
        is_seen = mesh is not None and self.fetcher.may_see(admission.agent, mesh)
        return mesh if is_seen else None

    async def assemble(self, prepared: Prepared) -> tuple[Context, str | None]:
        """Step 6: fill the token budget in salience order, charge it, and keep a receipt of it.

        Raises:
            BudgetExceeded: The agent or the graph has no tokens left for it.
        """
        context = self._packed(prepared)
        return context, await self.ledger.keep_receipt(prepared, context, self.answering.name)

    def _packed(self, prepared: Prepared) -> Context:
        admission, found = prepared.admission, prepared.found
        conversation, tail = found.conversation, found.conversation.tail
        inherited = found.meant.inherited
        material = Material(
            agent=admission.agent,
            input=admission.request.input,
            note=tail.note if tail else "",
            speaker=admission.request.speaker,
            layout=STEADY_LAYOUT if tail else LAYOUT,
            beliefs=prepared.beliefs,
            core=found.core.facts,
            rules=found.rules,
            injected=_not_shown(conversation.injected, found),
            archival=(*found.meant.archival, *(hit for hit in inherited if hit.kind == "fact")),
            said=in_asked_order(admission.request.input, found.said),
            warm=(*found.warm, *(hit for hit in inherited if hit.kind == "episode")),
            hot=conversation.shown,
            mesh=prepared.mesh,
            personal=_not_just_said(found.meant.personal, found),
            lineage=admission.scope.lineage,
            zone=self.limits.zone,
            now=admission.request.at,
        )
        return assemble(material, self.limits.context_tokens)

    async def model(self, turn: TurnState) -> str:
        """Step 7: the configured model's answer.

        Raises:
            BudgetExceeded: No model call is left, or no write to keep the answer by.
            TierTimeout: The model was later than its deadline; nothing was remembered.
        """
        with self.telemetry.model(self.answering.name) as timed:
            await self.ledger.charge_answer(turn.admission)
            try:
                async with asyncio.timeout(self.limits.model_timeout_seconds):
                    answer = await self._answer(turn)
            except TimeoutError as late:
                seconds = self.limits.model_timeout_seconds
                raise TierTimeout("model", "complete", f"no answer within {seconds:g} s") from late
        turn.step_ms["model"] = timed.seconds * 1000
        return answer

    async def _answer(self, turn: TurnState) -> str:
        """Ask the model, and note what it used where it says so."""
        if not isinstance(self.answering, CountingModel):
            answer: str = await answered(self.answering.complete, turn.context.messages)
            return answer
        answer, turn.used_tokens = await self.answering.complete_counted(turn.context.messages)
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
        admission = turn.admission
        with self.telemetry.write_back(admission.scope, admission.turn_id) as timed:
            written = await self.ledger.write(turn, response, tool_outputs)
        turn.step_ms["write_back"] = timed.seconds * 1000
        self.telemetry.numbers.turn("written" if written.was_new else "repeated")
        self.telemetry.numbers.evicted(len(written.overflow))
        return written

    def _degradation(self) -> Degradation:
        return Degradation(self.limits.step_timeout_seconds, self.telemetry, self.news)

    @contextmanager
    def _step(self, name: str, step_ms: dict[str, float]) -> Iterator[None]:
        """Watch a step, and note how long it took."""
        with self.telemetry.step(name) as timed:
            yield
        step_ms[name] = timed.seconds * 1000


def _not_shown(hits: Sequence[Hit], found: Hydrated) -> list[Hit]:
    """Return the hits that are not among the turns which the context shows as they were said."""
    at_hand = {one.id for one in found.conversation.shown}
    return [hit for hit in hits if hit.id not in at_hand]


def _not_just_said(facts: Sequence[Hit], found: Hydrated) -> list[Hit]:
    """Return the facts that do not come of turns alone which the context shows anyway."""
    at_hand = {one.id for one in found.conversation.shown}
    return [fact for fact in facts if not fact.source_ids or set(fact.source_ids) - at_hand]
