"""Step 5, and asking a source without a turn: policy first, then the source, then the audit feed.

Of every question that was asked the feed has source, question and number of rows, and of every
denial what was missing; never a value.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from metaagents.model import filled
from tiers.errors import (
    BudgetExceeded,
    NotFound,
    PolicyDenied,
    TierError,
    TierTimeout,
    UsageError,
)
from tiers.ports import HotStore, LanguageModel
from tiers.records import AgentRecord, MeshResult, Scope, Standing, Usage

from ..mesh import Mesh, MeshAsk, SourceAbout, sees
from ..mesh.matching import Proposal, Unfit, proposal_messages
from ..mesh.rows import as_data
from ..recaller import Degradation
from ..rights.metering import Meter
from ..rights.policy import check_source, may_ask
from ..telemetry import Telemetry

if TYPE_CHECKING:
    from tiers.cold.stores import RecordLog

T = TypeVar("T")

KEPT_CHARS_MAX = 16_000
"""Of the rows that the hot tier keeps, as JSON: it is read with every turn."""


@dataclass(frozen=True)
class Asker:
    """Who asks: the agent, its scope, and how it stands."""

    agent: AgentRecord
    scope: Scope
    standing: Standing


@dataclass(eq=False)
class Fetcher:
    """Asks the sources of a runtime for its agents.

    Attributes:
        mesh: The sources.
        hot: Keeps the latest result of each agent.
        log: The audit feed.
        meter: Charges a call of the model.
        model: May propose a question where rules find none; ``None``: rules alone do.
        telemetry: Told of each question.
        clock: Where the time comes from.
        model_seconds: The deadline of the model.
    """

    mesh: Mesh
    hot: HotStore
    log: RecordLog
    meter: Meter
    model: LanguageModel | None
    telemetry: Telemetry
    clock: Callable[[], datetime]
    model_seconds: float

    @property
    def sources(self) -> tuple[SourceAbout, ...]:
        """Every source, as people and models are told of it."""
        return self.mesh.about

    def open_to(self, agent: AgentRecord) -> tuple[SourceAbout, ...]:
        """Return the sources that an agent may ask."""
        return tuple(one for one in self.mesh.about if self._may_ask(agent, one.name))

    def may_see(self, agent: AgentRecord, result: MeshResult) -> bool:
        """Whether an agent may still have what was fetched: it may ask its source, now as then."""
        return self._may_ask(agent, result.source) and sees(agent, result.topics)

    async def check(self, agent: AgentRecord, scope: Scope, ask: MeshAsk) -> None:
        """Refuse what the agent may not ask, before anything is read; a denial is audited.

        Raises:
            PolicyDenied: The source is not open to the agent.
            NotFound: There is no such source.
            UsageError: There is no such question, or a slot is not acceptable.
        """
        try:
            check_source(agent, ask.source, self.mesh.access(ask.source))
        except PolicyDenied as denial:
            await self.log.append_audit(scope, "denied", (), str(denial), self.clock())
            raise
        if ask.source not in self.mesh:
            raise NotFound("mesh source", ask.source)
        self.mesh.check(ask, self.clock())

    async def for_turn(
        self, asker: Asker, ask: MeshAsk, message: str, state: Degradation
    ) -> MeshResult | None:
        """Return what a source says to a turn's message; without an answer the turn goes on.

        A source that fails or is late is in ``degraded``; of a message that asks none of its
        questions ``skipped`` says so.
        """
        leg = f"mesh source {ask.source}"
        own = replace(state, seconds=self._deadline(ask.source))
        found = await own.answer("mesh", leg, self._ask(asker, ask, message), None)
        if isinstance(found, Unfit):
            state.skipped.append(f"{leg}: no question fits: {found.reason}")
        if found is None or isinstance(found, Unfit):
            return None
        keep = self.hot.put_mesh(asker.scope, _at_hand(found))
        await state.answer("hot", "keep mesh result", keep, None)
        note = self._note(asker.scope, found.source, found.question, _counted(found))
        await state.answer("cold", "audit", note, None)
        return found

    async def ask(self, asker: Asker, ask: MeshAsk, message: str) -> MeshResult:
        """Return what a source says, and keep it as the agent's latest result.

        Raises:
            PolicyDenied: The source is not open to the agent; no source was asked.
            NotFound: There is no such source.
            UsageError: A slot is not acceptable, or the message asks none of the questions.
            TierError: The source failed, or the audit feed is away.
        """
        await self.check(asker.agent, asker.scope, ask)
        if ask.question is None and not message.strip():
            raise UsageError("question", None, "a question by name, or a message")
        with self.telemetry.leg("mesh", f"mesh source {ask.source}"):
            found = await self._in_time(self._ask(asker, ask, message), ask.source)
        if isinstance(found, Unfit):
            raise UsageError("message", message, f"what a question is about: {found.reason}")
        await self._note(asker.scope, found.source, found.question, _counted(found))
        with suppress(TierError):  # a copy at hand; the answer itself is what was asked for
            await self.hot.put_mesh(asker.scope, _at_hand(found))
        return found

    async def _ask(self, asker: Asker, ask: MeshAsk, message: str) -> MeshResult | Unfit:
        """Ask the source; a question that failed is in the audit feed as well."""
        if self.mesh.is_python(ask.source):
            return await self.mesh.call(ask.source, message, asker.scope)

        async def propose(about: SourceAbout, said: str) -> Proposal | None:
            return await self._proposed(asker, about, said)

        plan = await self.mesh.plan(ask, message, self.clock(), propose)
        if isinstance(plan, Unfit):
            return plan
        try:
            return await self.mesh.ask(plan, ask.source)
        except TierError as error:
            with suppress(TierError):  # what the source said is told either way
                reason = f"failed, {type(error).__name__}"
                await self._note(asker.scope, ask.source, plan.name, reason)
            raise

    async def _in_time(self, call: Awaitable[T], source: str) -> T:
        seconds = self._deadline(source)
        try:
            async with asyncio.timeout(seconds):
                return await call
        except TimeoutError as late:
            raise TierTimeout("mesh", source, f"no answer within {seconds:g} s") from late

    async def _proposed(self, asker: Asker, about: SourceAbout, said: str) -> Proposal | None:
        """Ask the model which question a message asks; ``None`` without one that answers.

        Where the budget has no call left, or the model fails, rules alone have decided.
        """
        if self.model is None:
            return None
        try:
            await self.meter.charge(asker.scope, asker.standing, Usage(model_calls=1))
            with self.telemetry.model(self.model.name):
                return await filled(self.model, proposal_messages(about, said), Proposal)
        except (BudgetExceeded, TierError, UsageError):
            return None

    async def _note(self, scope: Scope, source: str, question: str, outcome: str) -> None:
        parts = [f"source {source}"]
        parts += [f"question {question}"] if question else []
        parts += [outcome] if outcome else []
        await self.log.append_audit(scope, "fetched", (), ", ".join(parts), self.clock())

    def _deadline(self, name: str) -> float:
        """Return how long a turn waits; a model that proposes has a deadline of its own."""
        thinking = 0.0 if self.model is None or self.mesh.is_python(name) else self.model_seconds
        return self.mesh.seconds(name) + thinking

    def _may_ask(self, agent: AgentRecord, source: str) -> bool:
        return may_ask(agent, source, self.mesh.access(source))


def _at_hand(result: MeshResult) -> MeshResult:
    """Return a result as the hot tier keeps it: with the rows that stay small.

    Every turn reads it, and a context shows its text.
    """
    left = KEPT_CHARS_MAX
    for number, row in enumerate(result.rows):
        left -= len(as_data(row))
        if left < 0:
            return result.model_copy(update={"rows": result.rows[:number], "truncated": True})
    return result


def _counted(result: MeshResult) -> str:
    """Return how many rows came; of a source in Python, which says text, nothing."""
    return f"{len(result.rows)} rows" if result.question else ""
