"""The handle of a turn: its context, and the reply that makes it a memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from metaagents.learning.core import CoreBlock
from tiers.errors import Conflict
from tiers.records import AgentRecord, Fact, Turn

from ..checks import check_text, checked
from ..mesh import AnyAsk, ask_of
from ..operations import checks_arguments
from ..recall.injection import bringing, telling_of_time
from ..runtime import Runtime
from ..turn.output_checks import ToolOutputLike, check_usage, outputs_of
from ..turn.routing import Request, TurnState, Written
from ..turn.slots import Slot


@dataclass(frozen=True)
class TurnRef:
    """Names a turn: what a handle remembers of the last one that was opened with it.

    Attributes:
        id: Of the turn.
        receipt_id: Of its receipt, if one could be kept.
    """

    id: str
    receipt_id: str | None


def asked(
    runtime: Runtime,
    agent: AgentRecord,
    message: str,
    at: datetime | None,
    speaker: str | None,
    *,
    topics: Iterable[str] | None = None,
    private: bool = False,
    ref: str | None = None,
    mesh: AnyAsk | None = None,
) -> Request:
    """Return what a turn of an agent starts from, with the arguments of ``agent.turn``.

    Raises:
        UsageError: An argument is not acceptable.
    """
    check_text("message", message)
    sample = checked(
        Turn,
        {"input": "message", "occurred_at": "at"},
        input=message,
        speaker=speaker or agent.user_id or agent.id,
        topics=topics,
        ref=ref,
        private=private,
        occurred_at=at or runtime.saying(),
    )
    return Request(
        input=message,
        at=sample.occurred_at,
        speaker=sample.speaker,
        topics=None if topics is None else sample.topics,
        private=private,
        ref=sample.ref,
        mesh=None if mesh is None else ask_of(mesh),
        inject=bringing(runtime, message),
        of_time=telling_of_time(runtime, message, sample.occurred_at),
    )


@dataclass(frozen=True)
class Course:
    """How a turn went so far.

    Attributes:
        degraded: Tiers and capabilities that did not take part.
        tiers_used: Tiers that answered.
        skipped: For each leg left out, why.
        step_ms: Milliseconds per router step.
    """

    degraded: tuple[str, ...]
    tiers_used: tuple[str, ...]
    skipped: tuple[str, ...]
    step_ms: dict[str, float]


@dataclass(frozen=True)
class TurnAnswer:
    """An open turn: the attributes of ``OpenTurn``."""

    id: str
    messages: list[dict[str, str]]
    slots: tuple[Slot, ...]
    dropped: tuple[Slot, ...]
    tokens: int
    shadowed: tuple[Fact, ...]
    core: CoreBlock
    receipt_id: str | None
    course: Course


class OpenTurn:
    """A turn whose context is ready and whose answer is not there yet.

    Attributes:
        messages: ``[{role, content}, …]``, ready for a model.
        slots: What went into the context, in salience order, each with its source ids and score.
        dropped: Slots that did not fit the token budget.
        tokens: Estimated tokens of the context.
        degraded: Tiers and capabilities that did not take part.
        tiers_used: Tiers that answered.
        skipped: For each leg left out, why.
        shadowed: Inherited core facts that a nearer definition or denial hides.
        core: The core block: its facts, their tokens, and what was left out of it and why.
        receipt_id: Names the stored receipt of what the turn saw; ``None`` if it could not be kept.
        step_ms: Milliseconds per router step.
    """

    def __init__(self, runtime: Runtime, state: TurnState) -> None:
        self._runtime = runtime
        self._state = state
        self._written_as: str | None = None
        self._writing = asyncio.Lock()

    @property
    def answer(self) -> TurnAnswer:
        """All of it as one value, as it goes over a network."""
        state, context = self._state, self._state.context
        degradation = state.admission.degradation
        return TurnAnswer(
            id=state.admission.turn_id,
            messages=context.messages,
            slots=context.slots,
            dropped=context.dropped,
            tokens=context.tokens,
            shadowed=state.shadowed,
            core=state.core,
            receipt_id=state.receipt_id,
            course=Course(
                degraded=tuple(degradation.lost),
                tiers_used=tuple(degradation.used),
                skipped=tuple(degradation.skipped),
                step_ms=state.step_ms,
            ),
        )

    @property
    def messages(self) -> list[dict[str, str]]:
        """The context as messages; a copy, so that a caller may change it."""
        return [dict(message) for message in self.answer.messages]

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What went into the context, in salience order."""
        return self.answer.slots

    @property
    def dropped(self) -> tuple[Slot, ...]:
        """What did not fit the token budget."""
        return self.answer.dropped

    @property
    def tokens(self) -> int:
        """Estimated tokens of the context."""
        return self.answer.tokens

    @property
    def degraded(self) -> tuple[str, ...]:
        """Tiers and capabilities that did not take part."""
        return self.answer.course.degraded

    @property
    def tiers_used(self) -> tuple[str, ...]:
        """Tiers that answered."""
        return self.answer.course.tiers_used

    @property
    def skipped(self) -> tuple[str, ...]:
        """For each leg left out, why."""
        return self.answer.course.skipped

    @property
    def shadowed(self) -> tuple[Fact, ...]:
        """Inherited core facts that a nearer definition or denial hides."""
        return self.answer.shadowed

    @property
    def core(self) -> CoreBlock:
        """The core facts that are in every context, with their cost."""
        return self.answer.core

    @property
    def id(self) -> str:
        """The id that the turn is stored under when it is replied to."""
        return self.answer.id

    @property
    def receipt_id(self) -> str | None:
        """Names the stored receipt of what the turn saw."""
        return self.answer.receipt_id

    @property
    def step_ms(self) -> dict[str, float]:
        """Milliseconds per router step, so far."""
        return dict(self.answer.course.step_ms)

    @checks_arguments()
    async def reply(
        self,
        response: str,
        tool_outputs: Iterable[ToolOutputLike] = (),
        *,
        usage_tokens: int | None = None,
    ) -> Written:
        """Remember the turn. When this returns it is durable.

        Args:
            response: What the agent answered; may be empty.
            tool_outputs: What tools returned on the way, as ``ToolOutput`` or
                ``{"tool": …, "output": …}``: text of at most 1,000,000 characters each and
                2,000,000 together. They are stored whole; a long one is shown by a preview.
            usage_tokens: What the model read and wrote for the answer, as its provider counts;
                estimated if not given. It decides how much of the conversation the next context
                shows, where the model's window is known.

        A reply that failed may be repeated: the turn is stored once.

        Raises:
            Conflict: The turn was replied to before, or its ``ref`` names a different turn.
            ErasedMeanwhile: An erasure that ran while it was open reaches it: its user, its agent
                or a subject of its words was erased. Nothing was stored: open the turn anew.
            UsageError: An argument is not acceptable; nothing was stored.
        """
        outputs = outputs_of(tool_outputs)
        check_usage(usage_tokens)
        checked(Turn, input=self._state.admission.request.input, response=response)
        if usage_tokens is not None:
            self._state.used_tokens = usage_tokens
        await self._runtime.make_room()
        async with self._writing:
            if self._written_as is not None:
                raise Conflict("turn", "no reply yet", f"reply stored as {self._written_as}")
            written = await self._runtime.router.write_back(self._state, response, outputs)
            self._written_as = written.turn.id
        await self._clear_behind_who_left()
        self._runtime.names.heard(self._state.admission.scope, written.turn.speaker)
        self._runtime.reader.heard(written.turn)
        self._runtime.wake_learning()
        return written

    async def _clear_behind_who_left(self) -> None:
        """Leave nothing in the ring of an agent that left while it thought: it was cleared then."""
        admission, runtime = self._state.admission, self._runtime
        is_gone = runtime.membership.is_gone(admission.agent)
        if await admission.degradation.answer("cold", "presence", is_gone, empty=False):
            clear = runtime.hot.clear(admission.scope)
            await admission.degradation.answer("hot", "clear the ring", clear, None)

    async def complete(self) -> str:
        """Ask the configured model (step 7) without remembering the answer yet."""
        return await self._runtime.router.model(self._state)


@dataclass(frozen=True)
class Completion:
    """The answer of ``agent.complete``.

    Attributes:
        response: What the model said.
        model: Which model said it; echo and scripted models say so here.
        turn: The context it saw.
        written: What was remembered.
    """

    response: str
    model: str
    turn: OpenTurn
    written: Written
