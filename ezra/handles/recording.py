"""Recording a history: turns that were taken elsewhere, stored in bulk, without their contexts.

What is stored is what ``turn`` and ``reply`` would store of each, with the work that follows: it is
indexed, learnt from and compressed alike. Nothing is recalled for it, so there is no receipt.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from pydantic import StringConstraints

from tiers.errors import BudgetExceeded, Conflict, UsageError
from tiers.fields import NAME_CHARS_MAX, Moment, Name, Text, Topics, YesNo
from tiers.lexical import is_blank
from tiers.previews import with_previews
from tiers.records import Record, Scope, ToolOutput, Turn
from tiers.turn_io import TurnWrite

from ..checks import checked
from ..operations import operation
from ..recaller import Degradation
from ..rights.access import Access
from ..rights.metering import charge_of_write
from ..runtime import Runtime
from ..turn.follow_up import follow_up
from ..turn.output_checks import outputs_of
from ..turn.routing import new_turn
from .turn import TurnRef

PAST_TURNS_MAX = 10_000
"""So many turns are recorded by one call."""
BATCH_TURNS = 100
BATCH_CHARS_MAX = 2_000_000
"""What one transaction stores, which holds up every other writer; one turn is always taken."""

TURNS_PER_PAUSE = 20
"""After so many turns the event loop gets its turn: reading one takes up to half a millisecond."""


class PastTurn(Record):
    """One exchange that was had elsewhere, with the names of ``agent.turn`` and ``reply``.

    Attributes:
        message: What was said to the agent; blank where it spoke unasked, and then there is a
            response or what a tool returned.
        response: What the agent answered, or said unasked.
        at: When it was said; when it is recorded if not given.
        speaker: Who said it. If not given, the agent's user; the agent itself where it has none, or
            spoke unasked.
        topics: Topics of the turn, among the agent's; all of the agent's if not given.
        private: Whether only this agent may see it.
        ref: The caller's name for it, unique in the graph: recorded twice it is stored once.
        tool_outputs: What tools returned on the way, as ``turn.reply`` takes them.
    """

    message: Text = ""
    response: Text = ""
    at: Moment | None = None
    speaker: Annotated[str, StringConstraints(max_length=NAME_CHARS_MAX)] | None = None
    topics: Topics | None = None
    private: YesNo = False
    ref: Name | None = None
    tool_outputs: tuple[ToolOutput, ...] = ()

    @property
    def characters(self) -> int:
        """How long its texts are together."""
        outputs = sum(len(output.output) for output in self.tool_outputs)
        return len(self.message) + len(self.response) + outputs


PastTurnLike: TypeAlias = PastTurn | Mapping[str, object]

Allowed: TypeAlias = dict[tuple[str, ...] | None, tuple[str, ...]]
"""The topics that a turn carries, by those that it names."""


@dataclass(frozen=True)
class Recorded:
    """What was recorded.

    Attributes:
        ids: Of the turns, in the order given; of those that were there before, too.
        new: How many of them are new.
    """

    ids: tuple[str, ...]
    new: int


@dataclass(frozen=True, eq=False)
class Recorder:
    """An agent as a recording needs it.

    Attributes:
        runtime: What its handle acts through.
        access: Who it is, looked up again for each batch.
        topics: Returns the topics that a record carries; a denial is told to the audit feed.
        set_last_turn: Takes in which turn is the agent's last one now.
    """

    runtime: Runtime
    access: Access
    topics: Callable[[Sequence[str] | None, str], Awaitable[tuple[str, ...]]]
    set_last_turn: Callable[[TurnRef], None]

    async def allowed(self, past: Mapping[int, PastTurn]) -> tuple[Scope, Allowed]:
        """Return the scope as it stands, and for what turns name as topics those they carry.

        Args:
            past: By their places in what is recorded.

        Raises:
            PolicyDenied: A topic is not the agent's.
            UsageError: A topic is none, or the agent has left.
        """
        first: dict[tuple[str, ...] | None, int] = {}
        for place, one in past.items():
            first.setdefault(one.topics, place)
        scope: Scope | None = None
        found: Allowed = {}
        for asked, place in first.items():
            action = f"record turns[{place}].topics"
            try:
                if scope is None:
                    scope, found[asked] = await self.access.writing(asked, action)
                else:
                    found[asked] = await self.topics(asked, action)
            except UsageError as error:
                if error.field != "topics":
                    raise
                raise _at(place, error) from error
        return scope or await self.access.reading(), found

    def write(self, past: PastTurn, scope: Scope, allowed: Allowed) -> TurnWrite:
        """Return a turn as it is to be stored.

        Args:
            past: The turn.
            scope: As ``allowed`` returns it, like the next.
            allowed: What it carries for the topics that it names.
        """
        said_at, now = past.at or self.runtime.saying(), self.runtime.clock()
        asked_by = scope.user_id if past.message.strip() else None
        said = new_turn(
            past.message,
            past.response,
            past.tool_outputs,
            speaker=past.speaker or asked_by or scope.agent_id,
            topics=allowed[past.topics],
            private=past.private,
            ref=past.ref,
            occurred_at=said_at,
        )
        turn = said.stamped(scope, self.runtime.ids.new(), now)
        charge = charge_of_write(self.access.standing(), turn.tokens)
        return TurnWrite(scope, turn, follow_up(turn, turn.agent_id), charge)

    async def keep_at_hand(
        self, scope: Scope, kept: Sequence[tuple[Turn, bool]], state: Degradation
    ) -> None:
        """Take in that turns were recorded: the last of them is the agent's last turn now.

        Args:
            scope: That they were recorded with.
            kept: Turns of this agent as they are stored, one at least, and which are new. The ring
                gets none that was there before: others may have followed it.
            state: Notes a hot tier that is away: the ring is rebuilt from cold then.
        """
        last, _ = kept[-1]
        self.set_last_turn(TurnRef(last.id, None))
        self.runtime.under_way.opened(scope, last.id)
        turns = [turn for turn, was_new in kept if was_new]
        if not turns:
            return
        ring = self.runtime.settings.ring_capacity
        shown = tuple(map(with_previews, turns[-ring:]))
        call = self.runtime.hot.restore(scope, shown, ring)
        await state.answer("hot", "append to the ring", call, None)
        state.ring_filled(scope)


class AgentRecording(ABC):
    """The part of an agent's handle that records what was said elsewhere."""

    @operation("POST", "/record", changes=True, repeats=False)
    async def record(self, turns: Iterable[PastTurnLike]) -> Recorded:
        """Record a history: turns that were had elsewhere, in order, without making contexts.

        They are stored as ``turn`` and ``reply`` would store them, 100 to a transaction, and found
        as those are: by their words at once, by meaning once they are indexed. There is no receipt
        of them. One with a ``ref`` that is known is stored once, so that a recording that did not
        come to its end may be repeated.

        Each new turn costs one write and the tokens of its texts.

        Args:
            turns: At most 10,000: ``PastTurn`` or a mapping with its fields. All are checked before
                the first is stored.

        Raises:
            PolicyDenied: A topic is not the agent's; nothing was stored.
            BudgetExceeded: No write is left for the next 100; ``stored`` says how many turns were
                stored before them.
            Conflict: A ``ref`` names a different turn, or the graph is archived. Of the 100 with it
                none is stored; those before them are.
            UsageError: A turn is not acceptable (``turns[17].topics`` says which), they are too
                many, or the agent has left; nothing was stored.
        """
        past, recorder = await past_turns(turns), self._recorder()
        if not past:
            await recorder.access.reading()  # who has left records nothing, not even nothing
        return await record_together([(recorder, one) for one in past])

    @abstractmethod
    def _recorder(self) -> Recorder:
        """Return as whom the agent's past is recorded."""


async def past_turns(given: Iterable[PastTurnLike]) -> list[PastTurn]:
    """Return turns as they are recorded.

    Raises:
        Conflict: Two of them have one ``ref`` and say different things.
        UsageError: One is not acceptable, or they are too many.
    """
    if isinstance(given, str | bytes | Mapping | PastTurn) or not isinstance(given, Iterable):
        raise UsageError("turns", type(given).__name__, "a list of PastTurn or of mappings")
    found: list[PastTurn] = []
    by_ref: dict[str, PastTurn] = {}
    for place, one in enumerate(given):
        if place == PAST_TURNS_MAX:
            accepted = f"at most {PAST_TURNS_MAX:,} a call"
            raise UsageError("turns", f"more than {PAST_TURNS_MAX:,}", accepted)
        past = _past_turn(one, place)
        found.append(past)
        if past.ref is not None:
            first = by_ref.setdefault(past.ref, past)
            if (first.message, first.response) != (past.message, past.response):
                raise Conflict(f"turns[{place}].ref {past.ref}", "the same turn", "another turn")
        if place % TURNS_PER_PAUSE == 0:
            await asyncio.sleep(0)
    return found


def _past_turn(given: object, place: int) -> PastTurn:
    if not isinstance(given, PastTurn | Mapping):
        accepted = "a PastTurn, or a mapping with its fields"
        raise UsageError(f"turns[{place}]", type(given).__name__, accepted)
    try:
        past = given if isinstance(given, PastTurn) else _of_mapping(given)
        _check_past(past)
    except UsageError as error:
        raise _at(place, error) from error
    return past


def _check_past(past: PastTurn) -> None:
    """Refuse what ``agent.turn`` or ``reply`` would refuse of it, by the same names."""
    outputs = outputs_of(past.tool_outputs)
    if is_blank(past.message) and is_blank(past.response) and not outputs:
        raise UsageError("message", past.message, "text that is not blank, or a response")


def _of_mapping(given: Mapping[str, object]) -> PastTurn:
    fields = dict(given)
    for name, value in fields.items():
        if name not in PastTurn.model_fields:
            raise UsageError(str(name), value, f"one of {', '.join(PastTurn.model_fields)}")
    outputs = fields.get("tool_outputs", ())
    if isinstance(outputs, str | bytes | Mapping) or not isinstance(outputs, Iterable):
        accepted = 'a list of {"tool": …, "output": …}'
        raise UsageError("tool_outputs", type(outputs).__name__, accepted)
    # Checked as a reply's are: what they say of one that does not fit is the same.
    return checked(PastTurn, **{**fields, "tool_outputs": tuple(outputs_of(outputs))})


def _at(place: int, error: UsageError) -> UsageError:
    """Return what is wrong with one of the turns, with its place."""
    return UsageError(f"turns[{place}].{error.field}", error.value, error.accepted)


OwnedTurn: TypeAlias = tuple[Recorder, PastTurn]
"""A turn, and whose it is."""


async def record_together(turns: Sequence[OwnedTurn]) -> Recorded:
    """Record turns of one or several agents of one graph in their order.

    Args:
        turns: Turns that ``past_turns`` has returned, each with who it is of; one ``Recorder`` for
            each agent.

    Raises:
        EzraError: As ``Agent.record``.
    """
    batches = list(batches_of(turns))
    if len(batches) != 1:  # else it is checked just before it is stored
        for recorder, past in _by_agent(dict(enumerate(turns))).items():
            await recorder.allowed(past)
    kept: list[tuple[Turn, bool]] = []
    for batch in batches:
        try:
            kept += await _record_batch(batch)
        except BudgetExceeded as refusal:
            raise refusal.after(sum(was_new for _, was_new in kept)) from refusal
    return Recorded(tuple(turn.id for turn, _ in kept), sum(was_new for _, was_new in kept))


def batches_of(turns: Sequence[OwnedTurn]) -> Iterator[dict[int, OwnedTurn]]:
    """Yield what one transaction stores, by the places: bounded in turns and characters."""
    batch: dict[int, OwnedTurn] = {}
    characters = 0
    for place, one in enumerate(turns):
        characters += one[1].characters
        if batch and (len(batch) == BATCH_TURNS or characters > BATCH_CHARS_MAX):
            yield batch
            batch, characters = {}, one[1].characters
        batch[place] = one
    if batch:
        yield batch


async def _record_batch(batch: Mapping[int, OwnedTurn]) -> Sequence[tuple[Turn, bool]]:
    """Store a batch in one transaction, then do what follows in this process."""
    of_agent = _by_agent(batch)
    runtime = next(iter(of_agent)).runtime
    await runtime.make_room(len(batch))
    stands = {recorder: await recorder.allowed(past) for recorder, past in of_agent.items()}
    writes: list[TurnWrite] = []
    for place, (recorder, one) in batch.items():  # ids and moments grow in the order of all
        if place % TURNS_PER_PAUSE == 0:
            await asyncio.sleep(0)
        writes.append(recorder.write(one, *stands[recorder]))
    scope = writes[0].scope
    async with runtime.meter.refusals(scope if len(of_agent) == 1 else scope.for_graph()):
        kept = await runtime.desk.keep_turns(writes)
    by_place = dict(zip(batch, kept, strict=True))
    state = runtime.degradation()
    for recorder, past in of_agent.items():
        own, _ = stands[recorder]
        await recorder.keep_at_hand(own, [by_place[place] for place in past], state)
    await _take_in(runtime, scope, kept)
    return kept


async def _take_in(runtime: Runtime, scope: Scope, kept: Sequence[tuple[Turn, bool]]) -> None:
    """Take in what was stored, as after a reply."""
    new = [turn for turn, was_new in kept if was_new]
    for speaker in dict.fromkeys(turn.speaker for turn in new):
        runtime.names.heard(scope, speaker)
    for count, turn in enumerate(new, 1):
        runtime.reader.heard(turn)
        if count % TURNS_PER_PAUSE == 0:
            await asyncio.sleep(0)
    for _, was_new in kept:
        runtime.telemetry.numbers.turn("written" if was_new else "repeated")
    runtime.telemetry.numbers.tokens("reply", sum(turn.tokens for turn in new))
    runtime.wake_learning()


def _by_agent(batch: Mapping[int, OwnedTurn]) -> dict[Recorder, dict[int, PastTurn]]:
    """Return what is recorded of each agent, by the places."""
    found: dict[Recorder, dict[int, PastTurn]] = {}
    for place, (recorder, past) in batch.items():
        found.setdefault(recorder, {})[place] = past
    return found
