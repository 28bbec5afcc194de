"""The commands about the knowledge graph: look entities up, follow facts, change them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tiers.knowledge import NAMES_MAX, PATH_DEPTH_MAX, Entity, Neighbour
from tiers.learning import is_live
from tiers.records import Fact

from ..handles.knowledge import Operation
from .command import Answer, Rows, command, group
from .doors import InGraph
from .options import Reason

if TYPE_CHECKING:
    from ..handles.knowledge import Knowledge


knowledge_app = group("The knowledge graph: entities, the facts between them, and their history.")

NEIGHBOURS_SHOWN = 100

Name = Annotated[str, typer.Argument(help="A name of an entity, in any spelling.")]
Predicate = Annotated[str, typer.Argument(help="What is said of the subject.")]
Object = Annotated[str, typer.Argument(help="The entity or value that it is said with.")]
AsOf = Annotated[datetime | None, typer.Option(help="As facts stood then; UTC without a zone.")]
Topics = Annotated[
    list[str] | None, typer.Option("--topic", help="A topic of the fact. Repeatable.")
]
Confidence = Annotated[float, typer.Option(help="How sure it is, 0 to 1.")]
ValidFrom = Annotated[
    datetime | None, typer.Option(help="Since when it is true; UTC without a zone.")
]
Limit = Annotated[int, typer.Option(help="How many, 1 to 1,000.")]


async def _knowledge(at: InGraph) -> Knowledge:
    return (await at.held()).knowledge


@command(knowledge_app)
async def entity(at: InGraph, name: Name, as_of: AsOf = None) -> Answer:
    """Show what a name stands for: its other names, and how many facts name it.

    Exit code 1 when no fact names it.

    Examples:
        ezra knowledge entity imola 'Max Verstappen'
    """
    found = await (await _knowledge(at)).entity(name, as_of=as_of)
    if found is None:
        return Answer(None, f"no fact names {name}", code=1)
    return Answer(found, _named(found))


@command(knowledge_app)
async def neighbours(
    at: InGraph,
    name: Name,
    depth: int = 1,
    limit: Limit = NEIGHBOURS_SHOWN,
    as_of: AsOf = None,
) -> Answer:
    """Show the facts around a name, nearest first.

    Args:
        depth: How many facts away, 1 to 4.

    Examples:
        ezra knowledge neighbours imola Max
        ezra knowledge neighbours imola Max --depth 2 --json
    """
    known = await _knowledge(at)
    found = await known.neighbours(name, depth, limit=limit, as_of=as_of)
    return Answer(found, (name, *map(_branch, found)))


@command(knowledge_app)
async def path(
    at: InGraph,
    start: str,
    end: str,
    depth: int = PATH_DEPTH_MAX,
    as_of: AsOf = None,
) -> Answer:
    """Show a shortest chain of facts between two names. Exit code 1 when there is none.

    Args:
        start: Where the chain begins.
        end: Where it ends.
        depth: The most facts, 1 to 6.

    Examples:
        ezra knowledge path imola Max 'Milton Keynes'
    """
    known = await _knowledge(at)
    found = await known.path(start, end, depth=depth, as_of=as_of)
    if found is None:
        return Answer(None, f"nothing leads from {start} to {end} in {depth} facts", code=1)
    chain = [f"{number}. {_triple(fact)}" for number, fact in enumerate(found, 1)]
    return Answer(found, chain or f"{start} and {end} are one")


@command(knowledge_app)
async def history(
    at: InGraph,
    subject: Name,
    predicate: str | None = None,
    limit: Limit = NAMES_MAX,
) -> Answer:
    """Show what was ever stated of an entity, oldest first, and what ended it.

    Args:
        predicate: Only what is said with it.

    Examples:
        ezra knowledge history imola Max
        ezra knowledge history imola Max --predicate 'drives for' --json
    """
    found = await (await _knowledge(at)).history(subject, predicate, limit=limit)
    rows = [(one.recorded_at, one.id, _triple(one), _end(one)) for one in found]
    return Answer(found, [Rows(("recorded", "id", "fact", "until"), rows)])


@command(knowledge_app)
async def add(
    at: InGraph,
    subject: Name,
    predicate: Predicate,
    object_: Object,
    topic: Topics = None,
    confidence: Confidence = 1.0,
    valid_from: ValidFrom = None,
) -> Answer:
    """State a fact beside those that are there.

    Examples:
        ezra knowledge add imola Max 'drives for' 'Red Bull' --topic teams
    """
    triple = (subject, predicate, object_)
    return await _changed(at, "ADD", triple, topic, confidence, valid_from)


@command(knowledge_app)
async def update(
    at: InGraph,
    subject: Name,
    predicate: Predicate,
    object_: Object,
    topic: Topics = None,
    confidence: Confidence = 1.0,
    valid_from: ValidFrom = None,
) -> Answer:
    """State what holds now; where there is one value at a time, the former one gives way.

    Examples:
        ezra knowledge update imola Max 'drives for' Ferrari
    """
    triple = (subject, predicate, object_)
    return await _changed(at, "UPDATE", triple, topic, confidence, valid_from)


@command(knowledge_app)
async def delete(
    at: InGraph,
    subject: Name,
    predicate: Predicate,
    object_: Annotated[str | None, typer.Argument()] = None,
    *,
    reason: Reason,
) -> Answer:
    """End facts on request; they stay in history. Exit code 1 when there are none.

    Args:
        object_: The value; all if not given.

    Examples:
        ezra knowledge delete imola Max 'drives for' --reason 'he retired'
        ezra knowledge delete imola Max likes rain --reason mistaken
    """
    known = await _knowledge(at)
    ended = await known.delete(subject, predicate, object_, reason=reason)
    if not ended:
        triple = f"{subject} {predicate} {object_ or 'anything'}"
        return Answer({"ended": ended}, notes=[f"no fact that stands says: {triple}"], code=1)
    return Answer({"ended": ended}, [f"ended {one}" for one in ended])


@command(knowledge_app)
async def alias(at: InGraph, name: Name, other: str, topic: Topics = None) -> Answer:
    """Say that an entity is also called something else.

    Args:
        other: What it is also called.

    Examples:
        ezra knowledge alias imola Max 'Mad Max'
    """
    stored = await (await _knowledge(at)).alias(name, other, topics=topic)
    return Answer({"id": stored}, f"{stored}  {name} is also called {other}")


async def _changed(
    at: InGraph,
    op: Operation,
    triple: Sequence[str],
    topics: list[str] | None,
    confidence: float,
    valid_from: datetime | None,
) -> Answer:
    change: dict[str, Any] = {
        "op": op,
        **dict(zip(("subject", "predicate", "object"), triple, strict=True)),
        "topics": topics,
        "confidence": confidence,
        "valid_from": valid_from,
    }
    (done,) = await (await _knowledge(at)).apply([change])
    if done.problem is not None:
        return Answer(done, notes=[done.problem], code=1)
    return Answer(done, [f"{done.id}  {' '.join(triple)}", *(f"ended {one}" for one in done.ended)])


def _named(found: Entity) -> str:
    also = f", also {', '.join(found.aliases)}" if found.aliases else ""
    return f"{found.name}{also}: {found.facts} facts"


def _branch(one: Neighbour) -> str:
    return f"{'  ' * one.distance}{_triple(one.fact)}  ({one.fact.id})"


def _triple(fact: Fact) -> str:
    """Return a fact on one line, subject, predicate and object told apart."""
    return " → ".join(
        " ".join((part or "").split()) for part in (fact.subject, fact.predicate, fact.object)
    )


def _end(fact: Fact) -> str:
    if is_live(fact):
        return ""
    if fact.superseded_by is not None:
        when = f"{fact.superseded_at:%Y-%m-%d %H:%M}" if fact.superseded_at else "superseded"
        return f"{when}, by {fact.superseded_by}"
    return f"{fact.forgotten_at:%Y-%m-%d %H:%M}, deleted" if fact.forgotten_at else "ended"
