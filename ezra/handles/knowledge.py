"""The knowledge graph of a handle: what facts say about entities, and how to change it.

Facts with subject, predicate and object are its edges; whatever stores such a fact adds to it.
Names are compared without regard to case, underscores and white space, and an entity goes by any
name that ``alias`` has given it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from tiers.errors import BudgetExceeded, Conflict, NotFound, UsageError, WriteRefused
from tiers.fields import TEXT_CHARS_MAX, Number
from tiers.forms import without_forgotten
from tiers.knowledge import (
    ALIAS,
    NAMES_MAX,
    NEIGHBOUR_DEPTH_MAX,
    NEIGHBOURS_MAX,
    PATH_DEPTH_MAX,
    Entity,
    Neighbour,
)
from tiers.learning import spelled
from tiers.recollection import Place
from tiers.records import Fact, Moment, Record, Scope, Text, Topics, Turn

from ..checks import checked
from ..operations import PageOf1000, Reason, Sent, operation, without_secrets
from ..rights.access import Access, access_of_operator
from ..rights.metering import charge_of_write
from ..runtime import Runtime
from ..turn.shadowing import core_seen, hidden_among
from .remembering import forget, replace_former, store

CHANGES_MAX = 1_000
ROUNDS_MAX = 32
"""Times that facts are looked for anew without those that a nearer definition hides."""
STATEMENT_CHARS_MAX = TEXT_CHARS_MAX - 2
"""So long are subject, predicate and object together: a fact says them as one text."""

UNSTATED_REASON = "deleted from the knowledge graph"

Operation = Literal["ADD", "UPDATE", "DELETE"]


class Change(Record):
    """One change of a list: ``ADD`` and ``UPDATE`` need an object, ``DELETE`` may leave it out.

    Attributes:
        reason: Of a ``DELETE``: why; kept in the audit feed.
    """

    op: Annotated[Operation, BeforeValidator(lambda op: op.upper() if isinstance(op, str) else op)]
    subject: Text
    predicate: Text
    object: Text | None = None
    confidence: Number = Field(default=1.0, ge=0.0, le=1.0)
    valid_from: Moment | None = None
    topics: Topics | None = None
    reason: Text = UNSTATED_REASON


_Changes: TypeAlias = Annotated[
    Sequence[Change | Mapping[str, Any]],
    Sent(Annotated[Sequence[Change], Field(max_length=CHANGES_MAX)]),
]


class Applied(Record):
    """What came of one change.

    Attributes:
        op: What was asked for.
        id: Of the fact that says so now, for ``ADD`` and ``UPDATE``.
        ended: The facts that gave way to it, or were deleted.
        problem: Why it was not done, when others had changed what it needs, or no write was left.
    """

    op: Operation
    id: str | None = None
    ended: tuple[str, ...] = ()
    problem: str | None = None


class Knowledge:
    """The knowledge graph as one agent, or the operator of a session graph, sees it."""

    def __init__(self, runtime: Runtime, access: Access) -> None:
        self._runtime = runtime
        self._access = access

    @classmethod
    def of_graph(cls, runtime: Runtime, scope: Scope) -> Knowledge:
        """Return the knowledge of a whole session graph, as its operator.

        Every topic and user is seen, private facts are not. What is written belongs to everybody,
        without topics unless some are given.
        """
        return cls(runtime, access_of_operator(runtime.membership, scope))

    async def _reading(self, as_of: datetime | None) -> tuple[Scope, datetime | None]:
        """Return the scope of who reads at a moment, and that moment; ``None`` for now."""
        moment = self._runtime.apart_from_now(as_of)
        scope = await self._access.reading()
        return await self._runtime.membership.scope_at(scope, moment), moment

    async def _hidden(
        self, scope: Scope, as_of: datetime | None, among: Sequence[Fact] | None = None
    ) -> frozenset[str]:
        """Return the facts of ancestors that a nearer definition hides: core ones, or of some."""
        semantic, clock = self._runtime.semantic, self._runtime.clock
        if among is not None:
            return await hidden_among(semantic, scope, among, clock, as_of)
        if not scope.lineage:
            return frozenset()
        core = await core_seen(semantic, scope, clock, as_of)
        return frozenset(fact.id for fact in core.shadowed)

    @operation("POST", "/entity")
    async def entity(self, name: str, *, as_of: datetime | None = None) -> Entity | None:
        """Return what a name stands for, with its aliases; ``None`` when no fact names it.

        Args:
            name: In any spelling.
            as_of: As facts stood then.
        """
        scope, moment = await self._reading(as_of)
        found = await self._runtime.knowledge.entities(scope, [name], 1, as_of=moment)
        return found[0] if found else None

    @operation("POST", "/neighbours")
    async def neighbours(
        self,
        name: str,
        depth: Annotated[int, Field(ge=1, le=NEIGHBOUR_DEPTH_MAX)] = 1,
        *,
        limit: PageOf1000 = NEIGHBOURS_MAX,
        as_of: datetime | None = None,
    ) -> tuple[Neighbour, ...]:
        """Return the facts around a name, nearest first.

        Args:
            name: In any spelling.
            depth: 1: facts that name it; 2: also those that name what these name; up to 4.
            limit: How many, 1 to 1,000.
            as_of: As facts stood then.
        """
        scope, moment = await self._reading(as_of)
        asked, hidden = self._runtime.knowledge.neighbours, await self._hidden(scope, moment)
        found: tuple[Neighbour, ...] = ()
        for _ in range(ROUNDS_MAX):
            found = await asked(scope, [name], depth, limit, as_of=moment, without=hidden)
            facts = [one.fact for one in found]
            if (seen := await self._hidden(scope, moment, facts)) <= hidden:
                return found
            hidden |= seen
        return tuple(one for one in found if one.fact.id not in hidden)

    @operation("POST", "/path")
    async def path(
        self,
        start: str,
        end: str,
        *,
        depth: Annotated[int, Field(ge=1, le=PATH_DEPTH_MAX)] = PATH_DEPTH_MAX,
        as_of: datetime | None = None,
    ) -> tuple[Fact, ...] | None:
        """Return a shortest chain of facts between two names; ``None`` when there is none.

        Empty when both are names of one entity.

        Args:
            start: In any spelling.
            end: In any spelling.
            depth: The most facts, 1 to 6.
            as_of: As facts stood then.
        """
        scope, moment = await self._reading(as_of)
        asked, hidden = self._runtime.knowledge.path, await self._hidden(scope, moment)
        for _ in range(ROUNDS_MAX):
            found = await asked(scope, start, end, depth, as_of=moment, without=hidden)
            if (seen := await self._hidden(scope, moment, found or ())) <= hidden:
                return found
            hidden |= seen
        return None

    @operation("POST", "/history")
    async def history(
        self,
        subject: str,
        predicate: str | None = None,
        *,
        limit: PageOf1000 = NAMES_MAX,
        live_only: bool = False,
        newest_first: bool = False,
        behind: Place | None = None,
    ) -> tuple[Fact, ...]:
        """Return what was ever stated of an entity, oldest first, ended statements included.

        Each says itself what ended it: ``superseded_by`` and ``superseded_at``, or
        ``forgotten_at``. Of one that was forgotten or deleted an agent is told when and by which
        id, and its words are ``[forgotten]``; the graph's operator reads them until
        ``forgotten_facts_days`` have passed. Redacted ones are left out.

        Args:
            subject: In any spelling.
            predicate: Only with this predicate.
            limit: How many, 1 to 1,000.
            live_only: Without those that have ended.
            newest_first: The other way round.
            behind: Where the page before ended: when its last fact was recorded, and its id.

        Raises:
            UsageError: ``limit`` is out of range, or a moment has no zone.
        """
        if behind is not None and behind.at.tzinfo is None:
            raise UsageError("behind", behind.at, "a time with its zone")
        scope = await self._access.reading()
        asked, about = self._runtime.knowledge.statements, (scope, subject, predicate, limit)
        found = await asked(*about, live_only=live_only, newest_first=newest_first, behind=behind)
        return found if scope.agent_id is None else tuple(map(_as_shown_to_agents, found))

    @operation("POST", "/facts", changes=True)
    async def add(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002 - the third of a triple is called that
        *,
        confidence: float = 1.0,
        valid_from: datetime | None = None,
        topics: Iterable[str] | None = None,
    ) -> str:
        """State a fact beside those that are there, and return its id.

        The same statement by the same writer is stored once, in whichever spelling and under
        whichever names, with the ``confidence`` and ``valid_from`` that it was stored with.

        Raises:
            PolicyDenied: A topic is not the agent's.
            BudgetExceeded: The agent or the graph has no write left.
            Conflict: The graph is archived.
            UsageError: An argument is not acceptable, or the agent has left.
        """
        done = await self._applied(
            _change("ADD", subject, predicate, object, confidence, valid_from, topics)
        )
        return done.id or ""

    @operation("PUT", "/facts", changes=True, repeats=False)
    async def update(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002 - the third of a triple is called that
        *,
        confidence: float = 1.0,
        valid_from: datetime | None = None,
        topics: Iterable[str] | None = None,
    ) -> str:
        """State what holds now, and return its id; the former value gives way and stays in history.

        A value that is there already has this ``confidence`` from now on, and is no new fact.
        Only where a subject has one value at a time: what somebody likes, knows or has visited
        stays beside it (``is_multi_valued``). What is to hold later, by ``valid_from``, and what
        holds now stand beside each other. A former value of another user or privacy stays, and
        one that somebody sees who would not see the new one. Raises as ``add``.
        """
        done = await self._applied(
            _change("UPDATE", subject, predicate, object, confidence, valid_from, topics)
        )
        return done.id or ""

    @operation("POST", "/facts/delete", changes=True, repeats=False)
    async def delete(
        self,
        subject: str,
        predicate: str,
        object: str | None = None,  # noqa: A002 - the third of a triple is called that
        *,
        reason: Reason,
    ) -> tuple[str, ...]:
        """End facts on request, as ``agent.forget`` does, and return their ids.

        They stay in history: with their words for the graph's operator, until
        ``forgotten_facts_days`` have passed.

        Args:
            subject: Of facts of the own graph.
            predicate: Of them.
            object: Of them; all values, up to 1,000, if not given.
            reason: Why; kept in the audit feed.

        Raises:
            UsageError: The reason is blank, or the agent has left.
            BudgetExceeded: The agent or the graph has no write left; those before are ended.
        """
        change = _change("DELETE", subject, predicate, object, reason=reason)
        return (await self._applied(change)).ended

    @operation("POST", "/aliases", changes=True)
    async def alias(self, name: str, other: str, *, topics: Iterable[str] | None = None) -> str:
        """Say that an entity is also called something else; return the id of the fact that does.

        Both names are then one in look-ups, neighbours and paths, for whoever sees that fact.
        ``delete(name, "alias", other, reason=…)`` takes it back.

        Raises:
            UsageError: Both are one name already. Otherwise as ``add``.
        """
        if spelled(name) == spelled(other):
            raise UsageError("other", other, "another name")
        return await self.add(name, ALIAS, other, topics=topics)

    @operation("POST", "/changes", changes=True, repeats=False)
    async def apply(self, changes: _Changes) -> tuple[Applied, ...]:
        """Do changes in order and return what came of each.

        All are checked before anything is written. One that others have made impossible, or for
        which no write is left, says so in its ``problem``, and the rest is done.

        Args:
            changes: Up to 1,000, as ``Change`` or as ``{"op": "ADD" | "UPDATE" | "DELETE",
                "subject": …, "predicate": …, "object": …}`` with what ``add`` and ``delete`` take.

        Raises:
            UsageError: One of them is not acceptable; names which.
            PolicyDenied: A topic of one is not the agent's.
        """
        if len(changes) > CHANGES_MAX:
            raise UsageError("changes", len(changes), f"{CHANGES_MAX} at most")
        checked_ones = [_checked_change(one, place) for place, one in enumerate(changes)]
        for topics in dict.fromkeys(one.topics for one in checked_ones if one.op != "DELETE"):
            await self._access.writing(topics, "change")
        done = []
        for change in checked_ones:
            try:
                done.append(await self._applied(change))
            except (BudgetExceeded, Conflict, NotFound, WriteRefused) as error:
                done.append(Applied(op=change.op, problem=str(error)))
        return tuple(done)

    async def _applied(self, change: Change) -> Applied:
        if change.op == "DELETE":
            return Applied(op=change.op, ended=await self._delete(change))
        return await self._state(change)

    async def _state(self, change: Change) -> Applied:
        """Store what a change states; for an update, let former values give way."""
        scope, topics = await self._access.writing(change.topics, change.op.lower())
        # What changes one value at the same time would not see each other's.
        address = (spelled(change.subject), spelled(change.predicate))
        lock = self._runtime.key_turns.setdefault(
            (scope.tenant, scope.graph_id, address), asyncio.Lock()
        )
        async with lock:
            fact = Fact(
                **await self._as_stated(change, scope, topics),
                confidence=change.confidence,
                valid_from=change.valid_from,
            )
            stored_id, was_new = await store(
                self._runtime,
                scope,
                fact,
                topics,
                private=False,
                place={"replaces": change.op == "UPDATE"},
                restates=change.op == "UPDATE",
                charge=charge_of_write(self._access.standing()),
            )
            ended: tuple[str, ...] = ()
            if change.op == "UPDATE":
                ended = await replace_former(self._runtime, scope, stored_id, was_new=was_new)
        return Applied(op=change.op, id=stored_id, ended=ended)

    async def _as_stated(
        self, change: Change, scope: Scope, topics: Sequence[str]
    ) -> dict[str, Any]:
        """Return the parts of a change in the spelling in which the graph states them already.

        A store knows the same statement by its letters; here all spellings of a name are one. So
        are all names of an entity where the statement is the writer's own: what others say may
        use a name that the readers of this one are not to hear of.
        """
        names = ("subject", "predicate", "object")
        given = {name: getattr(change, name) for name in names}
        stated = await self._stated(change)
        for fact in sorted(stated, key=lambda one: not _is_of(one, scope, topics)):
            known = {name: getattr(fact, name) for name in names}
            is_in_letters = all(spelled(known[one] or "") == spelled(given[one]) for one in names)
            # What is said of names is said of these two.
            is_of_names = spelled(change.predicate) == ALIAS
            if is_in_letters or (_is_of(fact, scope, topics) and not is_of_names):
                return known
        return given

    async def _stated(self, change: Change) -> tuple[Fact, ...]:
        """Return what states a change already; without an object whatever the predicate has."""
        scope = await self._access.reading()
        return await self._runtime.knowledge.statements(
            scope, change.subject, change.predicate, value=change.object, live_only=True
        )

    async def _delete(self, change: Change) -> tuple[str, ...]:
        scope = await self._access.reading()
        stated = await self._stated(change)
        reason = await without_secrets(self._runtime, "reason", change.reason, "user")
        ended = []
        for fact in stated:
            if fact.graph_id != scope.graph_id:
                continue
            async with self._runtime.meter.write(scope, self._access.standing()) as charge:
                done = await forget(self._runtime, scope, fact.id, reason)
                charge.is_void = not done
            if done:
                ended.append(fact.id)
        return tuple(ended)


def _is_of(fact: Fact, scope: Scope, topics: Sequence[str]) -> bool:
    """Whether a fact is what a scope has stated itself, for the same readers."""
    owner = (fact.graph_id, fact.agent_id, fact.user_id, fact.private, set(fact.topics))
    return owner == (scope.graph_id, scope.agent_id or "", scope.user_id, False, set(topics))


def _as_shown_to_agents(fact: Fact) -> Fact:
    # Whoever asks has named the subject.
    return without_forgotten(fact, "text", "predicate", "object")


def _change(
    op: Operation,
    subject: str,
    predicate: str,
    object_: str | None,
    confidence: float = 1.0,
    valid_from: datetime | None = None,
    topics: Iterable[str] | None = None,
    reason: str = UNSTATED_REASON,
) -> Change:
    given = None if topics is None else checked(Turn, topics=topics).topics
    return _acceptable(
        checked(
            Change,
            op=op,
            subject=subject,
            predicate=predicate,
            object=object_,
            confidence=confidence,
            valid_from=valid_from,
            topics=given,
            reason=reason,
        )
    )


def _checked_change(change: object, place: int) -> Change:
    """Return a change of a list; a refusal says which it is."""
    try:
        if isinstance(change, Change):
            return _acceptable(change)
        given = dict(change) if isinstance(change, Mapping) else {"op": change}
        return _acceptable(checked(Change, **{str(name): one for name, one in given.items()}))
    except UsageError as error:
        raise UsageError(f"changes[{place}].{error.field}", error.value, error.accepted) from error


def _acceptable(change: Change) -> Change:
    """Return a change whose parts are there.

    Raises:
        UsageError: One is missing or blank.
    """
    for name in ("subject", "predicate", "object", "reason"):
        value = getattr(change, name)
        may_lack = name == "object" and change.op == "DELETE"
        if (value is None and not may_lack) or (value is not None and not spelled(value)):
            raise UsageError(name, value, "text that is not blank")
    chars = sum(len(part or "") for part in (change.subject, change.predicate, change.object))
    if chars > STATEMENT_CHARS_MAX:
        accepted = f"{STATEMENT_CHARS_MAX:,} with subject and predicate at most"
        raise UsageError("object", f"{chars:,} characters", accepted)
    return change
