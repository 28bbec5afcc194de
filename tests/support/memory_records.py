"""Records in the memory of the process: the definition of what an engine does.

Every rule stands here in its plainest form. Nothing is indexed: a question looks at each record of
whom it asks about.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, field
from itertools import count
from typing import Any, NamedTuple, TypeAlias, TypeVar

from tiers.cold.bodies import body
from tiers.cold.conditions import Condition, Is, Seen, Value, direction, holds
from tiers.cold.port import (
    OWNERS,
    RECORDED,
    TOPICS,
    Collection,
    Count,
    Delete,
    Find,
    Near,
    Postings,
    Put,
    Replace,
    Request,
    Steps,
    run,
    topics_text,
)
from tiers.cold.visibility import check, check_delete, check_write, reached
from tiers.errors import TierRejected, TierUnavailable, UsageError

T = TypeVar("T")
Owner: TypeAlias = tuple[str, ...]


class Kept(NamedTuple):
    """A record as it is kept.

    Attributes:
        number: Grows in the order of recording.
        seen: What conditions look at, which is worked out once.
        record: What was stored.
    """

    number: int
    seen: Seen
    record: Any


Held: TypeAlias = dict[Owner, dict[str, Kept]]
"""A collection: by whom a record belongs to, and by its id."""


@dataclass
class Memory:
    """What is there for as long as somebody holds it: the file of this engine.

    Attributes:
        held: Every collection, by its name.
        numbers: Where the numbers of records come from.
    """

    held: dict[str, Held] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)


class MemoryRecordStore:
    """A ``RecordStore`` that keeps everything in a ``Memory``, its own unless one is given.

    No transaction waits for anything, so that none meets another.
    """

    def __init__(self, memory: Memory | None = None) -> None:
        self._memory = Memory() if memory is None else memory
        self._is_open = True

    async def read(self, operation: str, steps: Callable[[], Steps[T]]) -> T:
        """Answer questions; nothing else runs meanwhile."""
        return run(steps(), self._transaction(operation, may_write=False).answered)

    async def change(
        self,
        operation: str,
        steps: Callable[[], Steps[T]],
        *,
        is_brief: bool = True,  # noqa: ARG002 - of the port
    ) -> T:
        """Carry out a transaction: what it writes is kept once it has come to its end."""
        transaction = self._transaction(operation, may_write=True)
        answer = run(steps(), transaction.answered)
        self._memory.held = transaction.held
        return answer

    async def scrub(self, *, files: bool = False) -> None:
        """Nothing is left anywhere."""

    def close(self) -> None:
        """Answer nobody any more; the memory can be opened again."""
        self._is_open = False

    def _transaction(self, operation: str, *, may_write: bool) -> _Transaction:
        if not self._is_open:
            raise TierUnavailable("cold", operation, "the store is closed")
        return _Transaction(operation, self._memory, may_write=may_write)


class _Transaction:
    """One transaction: works on copies of what it writes to."""

    def __init__(self, operation: str, memory: Memory, *, may_write: bool) -> None:
        self.held = dict(memory.held)
        self._numbers = memory.numbers
        self._operation = operation
        self._may_write = may_write
        self._copied: set[tuple[str, Owner]] = set()

    def answered(self, requests: Sequence[Request]) -> Sequence[Any]:
        """Return what requests come to, each after those before it."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Any:
        if isinstance(request, Find):
            return [kept.record for kept in self._found(request)]
        if isinstance(request, Count):
            return self._counted(request)
        if isinstance(request, Near):
            return [_rows(request, self._found(request.at(place))) for place in request.places]
        if isinstance(request, Postings):
            return _posted(request, self._found(request.found))
        if not self._may_write:
            raise TierRejected("cold", self._operation, "a write while reading")
        if isinstance(request, Delete):
            return self._deleted(request)
        return self._written(request)

    def _found(self, find: Find[Any]) -> list[Kept]:
        where = (*reached(find), *_conditions_of(find))
        try:
            json.dumps(list(map(astuple, where)), ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise UsageError("text", str(error), "text without lone surrogates") from error
        among = self._of(find.collection, _owner_asked(find.collection, where))
        found = [kept for kept in among if holds(where, kept.seen)]
        for step in reversed(find.order):
            name, falls = direction(step)
            if name == RECORDED:
                found = found[::-1] if falls else found  # they are kept in that order
            else:
                found.sort(key=lambda kept: _rank(kept.seen, name), reverse=falls)
        found = found[find.skip : find.skip + find.limit]
        check(find, [kept.record for kept in found])
        return found

    def _counted(self, request: Count[Any]) -> dict[tuple[Any, ...], int]:
        if request.by_value:
            values = request.found.listed.values
            counted = {(one,): len(self._found(request.of_value(one))) for one in values}
            return {value: number for value, number in counted.items() if number}
        found = self._found(request.found)
        return dict(Counter(tuple(_counted_by(one, name) for name in request.of) for one in found))

    def _written(self, request: Put[Any] | Replace[Any]) -> None:
        check_write(request)
        body(request.record)
        collection, record = request.collection, request.record
        own = self._own(collection, _owner(collection, record))
        key = collection.key(record)
        known = own.get(key)
        if (known is None) == isinstance(request, Replace):
            state = "is not there" if known is None else "is taken"
            raise TierRejected("cold", self._operation, f"{collection.name} {key!r} {state}")
        number = next(self._numbers) if known is None else known.number
        kept = Kept(number, collection.seen(record), record)
        self._check_unique(collection, kept)
        own[key] = kept

    def _check_unique(self, collection: Collection[Any], new: Kept) -> None:
        """Refuse what has the same values as another in a unique index that holds both."""
        fields = new.seen.fields
        for name, index in collection.indexes.items():
            if not index.unique or not holds(index.where, new.seen):
                continue
            owner = tuple(str(fields[one]) for one in OWNERS[index.of or collection.extent])
            for other in self._of(collection, owner):
                if other.number == new.number or not holds(index.where, other.seen):
                    continue
                # What is not there is like nothing.
                if all(other.seen.fields[one] == fields[one] is not None for one in index.fields):
                    reason = f"{collection.name}: {name} is taken"
                    raise TierRejected("cold", self._operation, reason)

    def _deleted(self, operation: Delete[Any]) -> int:
        find, unless = operation
        check_delete(operation, [kept.record for kept in self._found(unless)] if unless else ())
        found = self._found(find)
        for kept in found:
            own = self._own(find.collection, _owner(find.collection, kept.record))
            del own[find.collection.key(kept.record)]
        return len(found)

    def _of(self, collection: Collection[Any], owner: Owner) -> list[Kept]:
        """Return the records of an owner, or of all whose names begin so, as they were recorded."""
        held = self.held.get(collection.name, {})
        if len(owner) == len(OWNERS[collection.extent]):
            return list(held.get(owner, {}).values())
        some = (records for one, records in held.items() if one[: len(owner)] == owner)
        return sorted((kept for records in some for kept in records.values()), key=_number)

    def _own(self, collection: Collection[Any], owner: Owner) -> dict[str, Kept]:
        """Return the records of an owner to write to: a copy of what others still read."""
        held = self.held.get(collection.name, {})
        if (collection.name, owner) not in self._copied:
            held = self.held[collection.name] = {**held, owner: dict(held.get(owner, {}))}
            self._copied.add((collection.name, owner))
        return held[owner]


def _conditions_of(find: Find[Any]) -> tuple[Condition, ...]:
    """Return what a question asks for, by its index among it."""
    index = find.collection.indexes.get(find.by)
    return find.where if index is None else (*index.where, *find.where)


def _owner_asked(collection: Collection[Any], where: Sequence[Condition]) -> Owner:
    """Return whose records conditions ask for, as far as they name them."""
    asked = {one.field: str(one.value) for one in where if isinstance(one, Is)}
    owner: list[str] = []
    for name in OWNERS[collection.extent]:
        if name not in asked:
            break
        owner.append(asked[name])
    return tuple(owner)


def _owner(collection: Collection[Any], record: Any) -> Owner:
    return collection.owner(record)


def _counted_by(kept: Kept, name: str) -> Value:
    return topics_text(kept.seen.topics) if name == TOPICS else kept.seen.fields[name]


def _rows(request: Near[Any], found: Sequence[Kept]) -> list[tuple[Value, ...]]:
    return [tuple(kept.seen.fields[name] for name in request.of) for kept in found]


def _posted(request: Postings[Any], found: Sequence[Kept]) -> list[tuple[Any, ...]]:
    """Return who has the values that a question by a list asks for."""
    return [
        (value, held[value], *(kept.seen.fields[name] for name in request.of))
        for kept in found
        for held in (kept.seen.lists[request.list],)
        for value in request.asked(held)
    ]


def _number(kept: Kept) -> int:
    return kept.number


def _rank(seen: Seen, name: str) -> tuple[bool, Any]:
    """Return what a field is sorted by: what is not there comes first."""
    value = seen.fields[name]
    return (value is not None, "" if value is None else value)
