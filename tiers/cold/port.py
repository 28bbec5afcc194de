"""The one port of the cold tier: an engine stores, finds and commits. What it means is above.

A *transaction* is a generator. It yields questions and writes, is sent what they come to, and
returns its answer; whatever it raises takes back all that it wrote. It does no I/O of its own and
keeps no state outside, for an engine may run it again from its start. So a rule is written once,
reads as one function, and an embedded engine carries all of it out in one trip::

    def renamed(scope: Scope, graph_id: str, name: str) -> Steps[bool]:
        found = yield from one(Find(GRAPHS, scope, by="id", where=(Is("id", graph_id),)))
        if found is None:
            return False
        yield from write(Replace(GRAPHS, scope, found.model_copy(update={"name": name})))
        return True

    await store.change("rename", lambda: renamed(scope, "imola", "Imola"))
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from ..errors import TierRejected
from ..records import Owned, Record, Scope
from .conditions import Among, Beyond, Condition, Fields, Holds, Seen, Stretch, Value, direction
from .ownership import private_to

R = TypeVar("R", bound=Record)
T = TypeVar("T")

Extent: TypeAlias = Literal["graph", "tenant", "store"]
"""Whom a record belongs to: a session graph, a tenant, or the installation as a whole."""

OWNERS: Mapping[Extent, tuple[str, ...]] = {
    "graph": ("tenant", "graph_id"),
    "tenant": ("tenant",),
    "store": (),
}
"""The fields that say whom a record belongs to, by how far that goes."""

_OWNER: Mapping[Extent, Callable[[Any], tuple[str, ...]]] = {
    "graph": attrgetter("tenant", "graph_id"),
    "tenant": lambda record: (record.tenant,),
    "store": lambda _: (),
}

Reach: TypeAlias = Literal["own", "seen", "tenant", "store"]
"""How far a question goes: the scope's graph whole, of that what the asker may see, every graph
of the tenant, or everything. The last two serve upkeep and have to be asked for."""

RECORDS_MAX = 100_000
"""The most that one question brings back."""

RECORDED = "recorded"
"""The last step of an order: as the records were first stored. It needs no place in an index."""

_OF_SOME = (Among, Holds)
"""Conditions that nothing fulfils when they have no values."""

TOPICS = "topics"
"""The list of an owned record's topics; ``Topics`` decides on it. ``Count`` takes it as one text:
``topics_text``."""


@dataclass(frozen=True)
class Index:
    """In which order records can be looked up.

    Attributes:
        fields: After the owner, as far as the collection has one.
        where: Constants that hold of the records in it; who asks by it asks for them.
        unique: Whether no two records of one owner agree in all its fields, those aside in which
            one of them is not there.
        of: Within whom it orders; ``None``: whom the collection's records belong to.
    """

    fields: tuple[str, ...]
    where: tuple[Condition, ...] = ()
    unique: bool = False
    of: Extent | None = None


@dataclass(frozen=True)
class Lookup(Generic[R]):
    """Records by each of several values: the recipients of a message, the words of a trigger.

    Attributes:
        values: Takes them from a record, or with how often it has each: the words of a text.
        order: Fields in whose order those of one value can be read; last, that of recording.
        told_whole: Whether every value of some records is asked for, as verifications do.
        made_of: Takes what the values are made of, where that is sooner compared than they are.
    """

    values: Callable[[R], Sequence[str] | dict[str, int]]
    order: tuple[str, ...] = ()
    told_whole: bool = False
    made_of: Callable[[R], object] | None = None

    def listed(self, record: R) -> Mapping[str, int]:
        """Return the values of a record, each once, and how often it has each."""
        values = self.values(record)
        return values if isinstance(values, dict) else dict.fromkeys(values, 1)


@dataclass(frozen=True, eq=False)
class Collection(Generic[R]):
    """What is kept of one kind, declared once; engines make tables, indexes and guards of it.

    Attributes:
        name: Of the table or collection.
        record: The frozen model of its records.
        fields: What is indexed, compared or counted, and how to take it from a record; what comes
            of the same work is named together.
        indexes: By name. Every collection has ``id`` besides.
        lists: Look-ups by several values, by name.
        stretches: When something held of a record, by name; ``During`` decides on them.
        extent: Whom its records belong to.
        append_only: Nothing in it is ever changed, nor deleted of what has come to be, whoever
            asks.
        write_once: Nothing in it is ever changed, but it may be deleted.
        key: Takes the id from a record, unique with its owner.
    """

    name: str
    record: type[R]
    fields: Mapping[str | tuple[str, ...], Callable[[R], Any]] = field(default_factory=dict)
    indexes: Mapping[str, Index] = field(default_factory=dict)
    lists: Mapping[str, Lookup[R]] = field(default_factory=dict)
    stretches: Mapping[str, Callable[[R], Sequence[Stretch]]] = field(default_factory=dict)
    extent: Extent = "graph"
    append_only: bool = False
    write_once: bool = False
    key: Callable[[R], str] = lambda record: record.id  # type: ignore[attr-defined]

    @cached_property
    def owned(self) -> bool:
        """Whether its records have topics, a writer who may keep them private, and a user."""
        return issubclass(self.record, Owned)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of its fields, after those of the owner and the id."""
        owned = ("private_to", "user_id") if self.owned else ()
        named = ((one,) if isinstance(one, str) else one for one in self.fields)
        return (*OWNERS[self.extent], "id", *owned, *chain.from_iterable(named))

    @cached_property
    def owner(self) -> Callable[[R | Scope], tuple[str, ...]]:
        """Take whom a record belongs to from it, or from a scope, in the order of ``OWNERS``."""
        return _OWNER[self.extent]

    def name_of(self, record: R) -> dict[str, str]:
        """Return what tells a record from all others of the collection, by the names of fields."""
        return dict(zip(self.names, (*self.owner(record), self.key(record)), strict=False))

    def seen(self, record: R) -> Seen:
        """Return what conditions look at, of one record."""
        topics: Sequence[str] = record.topics if isinstance(record, Owned) else ()
        return Seen(self.values(record), self.listed(record), topics, self.stretched(record))

    def values(self, record: R) -> Fields:
        """Return the fields of a record, its owner's among them."""
        return dict(zip(self.names, self.row(record), strict=True))

    def row(self, record: R) -> list[Value]:
        """Return the values of a record's fields, in the order of ``names``."""
        found: list[Value] = [*self.owner(record), self.key(record)]
        if self.owned:
            owned: Any = record
            found += (private_to(owned), owned.user_id)
        for of, is_one in self._takers:
            if is_one:
                found.append(of(record))
            else:
                found += of(record)
        return found

    @cached_property
    def _takers(self) -> tuple[tuple[Callable[[R], Any], bool], ...]:
        """Tell how to take fields from a record, in order, and which of them are one each."""
        return tuple((of, isinstance(name, str)) for name, of in self.fields.items())

    def listed(self, record: R) -> dict[str, Mapping[str, int]]:
        """Return the lists of a record: each value once, and how often the record has it."""
        return {name: lookup.listed(record) for name, lookup in self.lists.items()}

    def stretched(self, record: R) -> dict[str, Sequence[Stretch]]:
        """Return the stretches of a record."""
        return {name: of(record) for name, of in self.stretches.items()}


class Find(NamedTuple, Generic[R]):
    """A question for records.

    Attributes:
        collection: Where.
        scope: Who asks; an engine answers nothing without.
        by: The index or list that it goes by. One that cannot be used is refused, never replaced.
        where: What must hold besides what the scope asks for.
        order: Fields, ``-`` before one that goes downwards; empty: in no order.
        limit: The most that comes back.
        skip: How many come before, of what has an order; they are passed over, not read.
        reach: How far it goes.
        graph_id: An ancestor in the scope's lineage that is asked instead of its own graph.
        sorts: Whether the index does not have the order, so that what is found is sorted.
    """

    collection: Collection[R]
    scope: Scope
    by: str = "id"
    where: tuple[Condition, ...] = ()
    order: tuple[str, ...] = ()
    limit: int = RECORDS_MAX
    skip: int = 0
    reach: Reach = "seen"
    graph_id: str | None = None
    sorts: bool = False

    @property
    def is_of_nothing(self) -> bool:
        """Whether it is about none of any values: it finds nothing, and no engine need look."""
        return () in [one.values for one in self.where if isinstance(one, _OF_SOME)]

    @property
    def listed(self) -> Holds:
        """The condition that names the values of the list that it goes by.

        Raises:
            TierRejected: It names none.
        """
        for condition in self.where:
            if isinstance(condition, Holds) and condition.name == self.by:
                return condition
        what = f"{self.collection.name} by {self.by!r} without a value"
        raise TierRejected("cold", "find", what)

    def place(self, record: R) -> tuple[Any, ...]:
        """Return where a record lies in the order of the question."""
        values = self.collection.values(record)
        return tuple(values[direction(step)[0]] for step in self.order)

    def behind(self, place: tuple[Any, ...]) -> Find[R]:
        """Return the question for what comes behind a place in its order."""
        return self._replace(where=(Beyond(self.order, place), *self.where))


class Postings(NamedTuple, Generic[R]):
    """Who has the values of a list: for each value and record the value, how often, some fields.

    The records themselves are not read, so who asks for many pays little for each.

    Attributes:
        found: A question by the list. Its order, if it has one, is that of recording.
        of: The fields.
        every: The list of which every value is told, of what a question by an index finds.
    """

    found: Find[R]
    of: tuple[str, ...]
    every: str = ""

    @property
    def list(self) -> str:
        """The list that has the values."""
        return self.every or self.found.by

    def asked(self, held: Mapping[str, int]) -> Iterable[str]:
        """Return the values that are asked for, of those that a record has in the list."""
        if self.every:
            return held
        return (value for value in self.found.listed.values if value in held)


class Count(NamedTuple, Generic[R]):
    """How many records ``found`` finds, its limit at most, for each combination of fields.

    Attributes:
        found: The question.
        of: The fields; topics may be one of them.
        by_value: Whether the records that have a value are counted for each of those that
            ``found`` asks of its list, as if it asked for that one alone; ``of`` is empty then.
    """

    found: Find[R]
    of: tuple[str, ...] = ()
    by_value: bool = False

    def of_value(self, value: str) -> Find[R]:
        """Return the question for the records that have one value."""
        listed = self.found.listed
        alone = Holds(listed.name, (value,))
        where = tuple(alone if one is listed else one for one in self.found.where)
        return self.found._replace(where=where)


class Near(NamedTuple, Generic[R]):
    """What lies next to some places in the order of an index: a list of rows for each place.

    The records themselves are not read, so who asks around many places pays little for each.

    Attributes:
        found: A question in the order of its index, which says where to go from a place, and how
            far at most.
        places: Values of the fields of that order; what lies at a place itself is left out.
        of: The fields of which a row is made.
    """

    found: Find[R]
    places: tuple[tuple[str | int | float, ...], ...]
    of: tuple[str, ...]

    def at(self, place: tuple[str | int | float, ...]) -> Find[R]:
        """Return the question for the records next to one place."""
        return self.found.behind(place)


class Put(NamedTuple, Generic[R]):
    """Store a new record. One whose id or unique key is taken ends the transaction."""

    collection: Collection[R]
    scope: Scope
    record: R


class Replace(NamedTuple, Generic[R]):
    """Store a record in the place of the one with its id; there is one."""

    collection: Collection[R]
    scope: Scope
    record: R


class Delete(NamedTuple, Generic[R]):
    """Delete what ``found`` finds; comes to how many there were.

    Attributes:
        found: What goes.
        unless: A question that finds nothing, or the transaction ends. What is only appended to
            goes with one alone: it is what an import left of a graph that never came to be.
    """

    found: Find[R]
    unless: Find[Any] | None = None


WRITES = (Put, Replace, Delete)
"""The requests that change something; the others are questions."""

Question: TypeAlias = Find[Any] | Near[Any] | Postings[Any] | Count[Any]
Request: TypeAlias = Question | Put[Any] | Replace[Any] | Delete[Any]
Steps: TypeAlias = Generator[Sequence[Request], Sequence[Any], T]
"""A transaction: yields requests that do not wait for each other, and returns what it came to.

No question asks for what is written in the same round.
"""


def topics_text(topics: Sequence[str]) -> str:
    """Return a set of topics as one text, the same for the same topics."""
    return json.dumps(sorted(topics), ensure_ascii=False)


class RecordStore(Protocol):
    """Everything that is kept. Opened with its declared collections, for one ``async with``."""

    async def read(self, operation: str, steps: Callable[[], Steps[T]]) -> T:
        """Answer questions from one snapshot.

        Args:
            operation: For errors.
            steps: Asks, and writes nothing. May be run again from its start.

        Raises:
            TierError: The engine failed: no half answer passes for a whole one.
        """
        ...

    async def change(
        self, operation: str, steps: Callable[[], Steps[T]], *, is_brief: bool = True
    ) -> T:
        """Carry out a transaction: all that it writes, or nothing, and durable when this returns.

        Args:
            operation: For errors.
            steps: Asks and writes. May be run again from its start.
            is_brief: It may share the commit of others that wait at the same time.

        Raises:
            TierError: The engine failed.
            Exception: Whatever ``steps`` raises; then nothing was written.
        """
        ...

    async def scrub(self, *, files: bool = False) -> None:
        """Leave nothing of what was deleted in logs and memory; with ``files``, in files either."""
        ...


def run(steps: Steps[T], answered: Callable[[Sequence[Request]], Sequence[Any]]) -> T:
    """Carry out a transaction to its end, for engines that answer at once."""
    try:
        requests = next(steps)
        while True:
            requests = steps.send(answered(requests))
    except StopIteration as end:
        answer: T = end.value
        return answer


async def run_async(
    steps: Steps[T], answered: Callable[[Sequence[Request]], Awaitable[Sequence[Any]]]
) -> T:
    """Carry out a transaction to its end, for engines that are waited for."""
    try:
        requests = next(steps)
        while True:
            requests = steps.send(await answered(requests))
    except StopIteration as end:
        answer: T = end.value
        return answer


def scope_of(steps: Steps[Any]) -> Scope:
    """Return the scope of the first request of a transaction, of which nothing is carried out."""
    try:
        request = next(steps)[0]
    except StopIteration:
        return Scope(tenant="ezra", graph_id="ezra")
    finally:
        steps.close()
    return (
        request.found.scope
        if isinstance(request, Near | Postings | Count | Delete)
        else request.scope
    )


def every(*found: Find[R]) -> Steps[list[R]]:
    """Return what all questions find, in their order, asked at one time."""
    if not found:
        return []
    answers = yield found
    return [record for answer in answers for record in answer]


def one(found: Find[R]) -> Steps[R | None]:
    """Return the first record that is found, or ``None``."""
    ((*records,),) = yield (found,)
    return records[0] if records else None


def postings(found: Find[R], *of: str, every: str = "") -> Steps[list[tuple[Any, ...]]]:
    """Return value, how often, and some fields of who has the values of a list."""
    (answer,) = yield (Postings(found, of, every),)
    rows: list[tuple[Any, ...]] = answer
    return rows


def count(found: Find[R]) -> Steps[int]:
    """Return how many records are found."""
    (counted,) = yield (Count(found),)
    number: int = counted.get((), 0)
    return number


def counts(found: Find[R], *of: str) -> Steps[dict[tuple[Value, ...], int]]:
    """Return how many records are found for each combination of fields that occurs."""
    (counted,) = yield (Count(found, of),)
    answer: dict[tuple[Value, ...], int] = counted
    return answer


def counts_by_value(found: Find[R]) -> Steps[Mapping[str, int]]:
    """Return how many records have each of the values that are asked of a list, where any has."""
    (counted,) = yield (Count(found, by_value=True),)
    return {value: number for (value,), number in counted.items()}


def write(*operations: Put[Any] | Replace[Any]) -> Steps[None]:
    """Store records, in order."""
    if operations:
        yield operations


def delete(*found: Find[Any]) -> Steps[int]:
    """Delete what is found; return how many there were."""
    if not found:
        return 0
    answers = yield tuple(map(Delete, found))
    return sum(answers)


def asked(*requests: Request) -> Steps[Sequence[Any]]:
    """Return what several requests come to, sent at one time: one trip where that counts."""
    return (yield requests)
