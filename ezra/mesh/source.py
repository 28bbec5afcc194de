"""A source: what may be asked of it, by whom, and how it is asked."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar

from tiers.errors import TierRejected, TierTimeout, TierUnavailable, UsageError
from tiers.mesh import MeshResult
from tiers.records import ALL_TOPICS, AgentRecord, Name, Record, Scope, Topics

from .questions import Constant, FieldOf, MeshAsk, Question, field_of, put_in
from .rows import Found, answer_text, at_path, depth_of, json_of, table_of, total_of, typed
from .slots import EntitySlot, Value, filled
from .specs import AnySpec, Fetched, McpQuestion, RestQuestion

TIER = "mesh"
"""What errors call every source."""

DEPTH_MAX = 32
"""Answers that are nested deeper are not looked through."""

T = TypeVar("T")

UNREADABLE = (ArithmeticError, LookupError, MemoryError, RecursionError, ValueError)
"""What reading something odd raises, in Python or in a library. A source may send anything; each
kind refuses what it knows, and whatever is left fails the question, never the turn."""

Connector: TypeAlias = Callable[[str, Scope], Awaitable[MeshResult]]
"""A source in Python: the message and the asking scope in, a typed result out.

It says that its source failed by a ``TierError``, which leaves it out of the turn; whatever else
it raises reaches the caller.
"""


@dataclass(frozen=True)
class Access:
    """Who may ask a source, besides what each agent is allowed or denied by name.

    Attributes:
        roles: One of these; every role if there are none.
        topics: One of these, and none of them denied; everybody if there are none.
    """

    roles: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()

    def missing(self, agent: AgentRecord) -> tuple[str, ...]:
        """Return what an agent would need, in words; nothing when it may ask."""
        needs: list[str] = []
        role = agent.role.strip().casefold()
        if self.roles and role not in (one.casefold() for one in self.roles):
            needs.append(f"one of the roles {', '.join(self.roles)}")
        if not sees(agent, self.topics):
            needs.append(f"one of the topics {', '.join(self.topics)}")
        return tuple(needs)


def sees(agent: AgentRecord, topics: Iterable[str]) -> bool:
    """Whether an agent may see what carries these topics."""
    named = set(topics)
    if not named:
        return True
    held = ALL_TOPICS in agent.topics or not named.isdisjoint(agent.topics)
    return held and ALL_TOPICS not in agent.denied_topics and named.isdisjoint(agent.denied_topics)


class SlotAbout(Record):
    """A slot, as people and models are told of it."""

    type: str
    accepted: str
    required: bool
    description: str = ""


class QuestionAbout(Record):
    """A question, as people and models are told of it."""

    description: str
    slots: dict[str, SlotAbout]
    time_travel_available: bool = False
    examples: tuple[str, ...] = ()


class SourceAbout(Record):
    """A source, as people and models are told of it: nothing of where it is.

    Attributes:
        name: What it is called.
        kind: ``sql``, ``mongodb``, ``rest``, ``mcp``, or ``python``.
        description: What it knows.
        roles: Agents with one of these may ask it; all if there are none.
        topics: Agents that hold one of these may; all if there are none.
        questions: By name. A source in Python has none: it takes what was said.
    """

    name: Name
    kind: str
    description: str = ""
    roles: tuple[str, ...] = ()
    topics: Topics = ()
    questions: dict[str, QuestionAbout]


@dataclass(frozen=True)
class Plan:
    """A question whose slots are filled: all that a connector is ever told.

    Attributes:
        name: Of the question.
        question: Itself.
        values: By slot, of the slots' types.
        as_of: The moment of the past, if one is asked about.
        now: When it is asked.
    """

    name: str
    question: Any
    values: Mapping[str, Value]
    as_of: datetime | None
    now: datetime

    @property
    def moment(self) -> datetime:
        """The moment asked about, which is now where none was named."""
        return self.as_of or self.now


class Source(ABC):
    """A source that its owner has declared.

    Opening connects and checks it against what is declared. A source that was not opened, or was
    away then, is opened when it is asked.

    Args:
        name: What it is called.
        spec: What is declared.
        seconds: How long one answer may take.
    """

    kind: str = ""

    def __init__(self, name: str, spec: AnySpec, seconds: float) -> None:
        self.name = name
        self.seconds = spec.timeout_seconds or seconds
        self.access = Access(spec.roles, spec.topics)
        self._declared: AnySpec = spec
        self._opening = asyncio.Lock()

    def there(self, opened: T | None) -> T:
        """Return what the source has open.

        Raises:
            TierUnavailable: It was closed.
        """
        if opened is None:
            raise TierUnavailable(TIER, self.name, "it is closed")
        return opened

    def late(self) -> TierTimeout:
        """Return the error that says that the source took too long."""
        return TierTimeout(TIER, self.name, f"no answer within {self.seconds:g} s")

    @property
    @abstractmethod
    def is_open(self) -> bool:
        """Whether it is connected and was checked; if not, the first question does both."""

    @property
    def questions(self) -> Mapping[str, Question]:
        """What it may be asked, by name."""
        return self._declared.questions

    def travels(self, question: Question) -> bool:
        """Whether a question may be asked as of a moment of the past: it says where that goes."""
        return isinstance(question, RestQuestion | McpQuestion) and question.as_of is not None

    @abstractmethod
    async def open(self) -> None:
        """Connect, and check what is declared against what is there.

        Raises:
            ConfigError: Something that is declared is not there, or not what it should be.
            TierError: The source cannot be reached; opening may be repeated.
        """

    @abstractmethod
    async def close(self) -> None:
        """Let go of every connection. May be repeated."""

    async def reach(self) -> None:  # noqa: B027 - most have asked as they were opened
        """Ask something of a source whose opening asks nothing."""

    async def check(self) -> None:
        """Connect, compare what is there with what is declared, and let go; asks for no data.

        Raises:
            ConfigError: Something that is declared is not there.
            TierError: It cannot be reached.
        """
        try:
            await self.open()
            await self.reach()
        finally:
            await self.close()

    @abstractmethod
    async def find(self, plan: Plan) -> Found:
        """Ask the source.

        Raises:
            TierError: It failed.
        """

    async def entities(self, slot: EntitySlot) -> tuple[str, ...] | None:
        """Return the values that an entity may have; ``None`` when there are more than allowed."""
        raise UsageError("slots", slot.field, f"none: {self.name} knows no entities")

    async def knows(self, slot: EntitySlot, value: str) -> bool:
        """Return whether an entity is there."""
        raise UsageError(f"slots of {slot.table}", value, f"none: {self.name} knows no entities")

    @property
    def about(self) -> SourceAbout:
        """What people and models are told of it."""
        return SourceAbout(
            name=self.name,
            kind=self.kind,
            description=self._declared.description,
            roles=self.access.roles,
            topics=self.access.topics,
            questions={name: self._about(one) for name, one in self.questions.items()},
        )

    def planned(self, ask: MeshAsk, now: datetime) -> Plan:
        """Return what is asked as a plan, its values read; entities are not looked up yet.

        Raises:
            UsageError: There is no such question, a slot is not acceptable, or the past is asked
                of a question that does not know it.
        """
        question = self.questions.get(ask.question or "")
        if question is None or ask.question is None:
            raise UsageError("question", ask.question, ", ".join(self.questions))
        if ask.as_of is not None and not self.travels(question):
            accepted = f"none: {self.name} has no time travel for {ask.question}"
            raise UsageError("as_of", ask.as_of.isoformat(), accepted)
        values = filled(question.slots, ask.slots)
        return Plan(ask.question, question, values, ask.as_of, now)

    async def answer(self, plan: Plan) -> MeshResult:
        """Ask the source and return what it says, bounded and typed.

        Raises:
            TierError: It failed, or its answer is none.
            UsageError: An entity is not there.
        """
        try:
            return await self._answered(plan)
        except UNREADABLE as error:
            reason = f"its answer cannot be read: {type(error).__name__}"
            raise TierRejected(TIER, self.name, reason) from error

    async def _answered(self, plan: Plan) -> MeshResult:
        for name, slot in plan.question.slots.items():
            value = plan.values.get(name)
            is_entity = isinstance(slot, EntitySlot) and value is not None
            if is_entity and not await self.knows(slot, str(value)):
                raise UsageError(f"slots.{name}", value, slot.accepted)
        found = await self.find(plan)
        # In a thread: how much there is to write was the source's to choose.
        return await asyncio.to_thread(self._result, plan, found)

    def _result(self, plan: Plan, found: Found) -> MeshResult:
        table = table_of(found, plan.question.limit)
        total = found.total
        if total is None and not table.truncated:
            total = len(table.rows)
        return MeshResult(
            source=self.name,
            question=plan.name,
            text=answer_text(
                plan.name,
                plan.values,
                table,
                total=total,
                as_of=plan.as_of,
                tokens=self._declared.text_tokens,
            ),
            rows=tuple(table.rows),
            rows_total=total,
            truncated=table.truncated,
            field_types=dict(found.types),
            queried_at=plan.now,
            synced_at=found.synced_at,
            as_of=plan.as_of,
            confidence=self._declared.confidence,
            time_travel_available=self.travels(plan.question),
            topics=self.access.topics,
        )

    def _about(self, question: Question) -> QuestionAbout:
        return QuestionAbout(
            description=question.description,
            slots={
                name: SlotAbout(
                    type=slot.type,
                    accepted=slot.accepted,
                    required=slot.required,
                    description=slot.description,
                )
                for name, slot in question.slots.items()
            },
            time_travel_available=self.travels(question),
            examples=(*question.patterns, *question.examples),
        )


def rows_at(
    document: object, path: str, fields: Mapping[str, FieldOf], limit: int, source: str
) -> tuple[list[dict[str, Any]], int]:
    """Return the declared fields of the rows of a document, at most ``limit``, and how many it has.

    Raises:
        TierRejected: There are no rows where they are said to be, or a field is of another type.
    """
    found = at_path(document, path)
    if isinstance(found, dict):
        found = [found]
    if not isinstance(found, list):
        raise TierRejected(TIER, source, f"its answer has no rows at {path or 'its top'}")
    rows: list[dict[str, Any]] = []
    for number, row in enumerate(found[:limit], 1):
        if not isinstance(row, dict):
            raise TierRejected(TIER, source, f"row {number} of its answer is no object")
        rows.append({name: _field(row, name, one, number, source) for name, one in fields.items()})
    return rows, len(found)


def _field(row: object, name: str, declared: FieldOf, number: int, source: str) -> object:
    try:
        return typed(at_path(row, declared.path or name), declared.type)
    except ValueError as error:
        raise TierRejected(TIER, source, f"{name} of row {number} {error}") from None


def found_in(
    document: object, question: Fetched, source: str, synced_at: datetime | None = None
) -> Found:
    """Return what a document answers: the declared fields of its rows, and how many there are.

    Raises:
        TierRejected: As ``rows_at``.
    """
    fields = {name: field_of(one) for name, one in question.fields.items()}
    rows, count = rows_at(document, question.rows, fields, question.limit, source)
    total = total_of(document, question.total, count)
    return Found(
        rows=rows,
        types={name: one.type for name, one in fields.items()},
        total=total,
        more=(count if total is None else total) > len(rows),
        synced_at=synced_at,
    )


def check_depth(document: object, source: str) -> None:
    """Refuse a document that is nested too deep to be looked through.

    Raises:
        TierRejected: It is.
    """
    if depth_of(document, DEPTH_MAX) >= DEPTH_MAX:
        raise TierRejected(TIER, source, f"its answer is nested {DEPTH_MAX} deep")


def sent(declared: Mapping[str, Constant], values: Mapping[str, Value]) -> dict[str, Any]:
    """Return what is declared with its slots filled, as it is sent in JSON or in an address."""
    return put_in(declared, {name: json_of(value) for name, value in values.items()})


def sent_as_of(declared: Mapping[str, Constant], plan: Plan) -> dict[str, Any]:
    """Return the same of a plan, with its moment where the question takes one."""
    found = sent(declared, plan.values)
    if plan.question.as_of is not None and plan.as_of is not None:
        found[plan.question.as_of] = f"{plan.as_of.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return found
