"""Records as they are kept where that is more than what they say, and how they are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from json.encoder import encode_basestring
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar

from ...ids import IdFactory
from ...moments import maybe_microseconds
from ...records import Record, Scope
from ..port import Collection, Put, R, Replace, Request, Steps, write

S = TypeVar("S", bound=Record)
_MADE = IdFactory()
FieldsOf: TypeAlias = dict[str | tuple[str, ...], Callable[[Any], Any]]


class OfGraph(Record):
    """What is kept of a session graph and is no record of an agent's."""

    tenant: str
    graph_id: str


def kept(row: type[R], record: Record, **more: object) -> R:
    """Return a record in the form in which it is kept, with what that has besides."""
    return row.known({**record.__dict__, **more})


def made(row: type[R], record: Record, **more: object) -> R:
    """Return a record as it is kept where what was made earlier comes before it."""
    return kept(row, record, made=_MADE.new(), **more)


def bare(model: type[R], row: Record) -> R:
    """Return a record without what is kept with it: exactly of its own type."""
    return model.known({name: row.__dict__[name] for name in model.__pydantic_fields__})


def all_bare(model: type[R], rows: Iterable[S]) -> tuple[R, ...]:
    """Return records without what is kept with them."""
    return tuple(bare(model, row) for row in rows)


def plain(*names: str) -> FieldsOf:
    """Declare fields of a collection that are those of its records; there are several."""
    return {names: attrgetter(*names)}


def moments(*names: str) -> FieldsOf:
    """Declare fields of a collection that are moments of its records, in microseconds."""
    return {names: lambda record: [maybe_microseconds(getattr(record, name)) for name in names]}


def joined_id(*parts: str | None) -> str:
    """Return an id of several parts, none of which can be taken for part of another.

    It is what ``json.dumps`` makes of them, which takes five times as long: it sets itself up anew
    for every text that is not kept to ASCII.
    """
    encoded = ["null" if part is None else encode_basestring(part) for part in parts]
    return f"[{', '.join(encoded)}]"


def put(collection: Collection[R], scope: Scope, *records: R) -> Steps[None]:
    """Store new records, inside a transaction."""
    return write(*(Put(collection, scope, record) for record in records))


def replace(collection: Collection[R], scope: Scope, *records: R) -> Steps[None]:
    """Store records as they now are, inside a transaction."""
    return write(*(Replace(collection, scope, record) for record in records))


def amend(
    collection: Collection[R], scope: Scope, found: Iterable[R], **changed: object
) -> Steps[None]:
    """Store records with some of their fields changed, inside a transaction."""
    return replace(collection, scope, *(one.model_copy(update=changed) for one in found))


def over(
    known: R | None, collection: Collection[R], scope: Scope, record: R
) -> Put[R] | Replace[R]:
    """Return what stores a record: in the place of the known one, or as a new one."""
    return (Put if known is None else Replace)(collection, scope, record)


def together(*parts: Steps[Any]) -> Steps[list[Any]]:
    """Carry out parts of a transaction at once, and return what each came to.

    What each asks for next is one round of all: no part asks for what another writes. What one
    raises ends the transaction.
    """
    came_to: list[Any] = [None] * len(parts)
    asked: dict[int, Sequence[Request]] = {}

    def go_on(number: int, answers: Sequence[Any] | None) -> None:
        try:
            asked[number] = parts[number].send(answers)  # type: ignore[arg-type]  # None begins it
        except StopIteration as end:
            asked.pop(number, None)
            came_to[number] = end.value

    for number in range(len(parts)):
        go_on(number, None)
    while asked:
        answers = iter((yield [one for requests in asked.values() for one in requests]))
        for number, requests in [*asked.items()]:
            go_on(number, [next(answers) for _ in requests])
    return came_to
