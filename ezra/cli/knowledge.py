"""The commands about the knowledge graph: look entities up, follow facts, change them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from tiers.knowledge import NAMES_MAX, PATH_DEPTH_MAX, Neighbour
from tiers.learning import is_live
from tiers.records import Fact

from ..handles.knowledge import Operation
from .doors import Url, on_graph
from .options import GraphId, Home, Json, in_utc
from .plain import plain
from .screen import Screen

if TYPE_CHECKING:
    from ..handles.knowledge import Knowledge


T = TypeVar("T")

knowledge_app = typer.Typer(
    help="The knowledge graph: entities, the facts between them, and their history.",
    no_args_is_help=True,
)

NEIGHBOURS_SHOWN = 100

Name = Annotated[str, typer.Argument(help="A name of an entity, in any spelling.")]
Predicate = Annotated[str, typer.Argument(help="What is said of the subject.")]
Object = Annotated[str, typer.Argument(help="The entity or value that it is said with.")]
AsOf = Annotated[
    datetime | None, typer.Option("--as-of", help="As facts stood then; UTC without a zone.")
]
Topics = Annotated[
    list[str] | None, typer.Option("--topic", help="A topic of the fact. Repeatable.")
]
Confidence = Annotated[float, typer.Option(help="How sure it is, 0 to 1.")]
ValidFrom = Annotated[
    datetime | None, typer.Option("--valid-from", help="Since when it is true; UTC without a zone.")
]


@knowledge_app.command("entity", epilog="Example: ezra knowledge entity imola 'Max Verstappen'")
def entity(
    graph: GraphId,
    name: Name,
    as_of: AsOf = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show what a name stands for: its other names, and how many facts name it.

    Exit code 1 when no fact names it.
    """
    screen = Screen()
    found = _asked(graph, lambda known: known.entity(name, as_of=in_utc(as_of)), home, url)
    if json:
        screen.document(None if found is None else plain(found))
    elif found is not None:
        also = f", also {', '.join(found.aliases)}" if found.aliases else ""
        screen.line(f"{found.name}{also}: {found.facts} facts")
    else:
        screen.line(f"no fact names {name}")
    if found is None:
        raise typer.Exit(1)


@knowledge_app.command(
    "neighbours",
    epilog="Examples: ezra knowledge neighbours imola Max  ·  "
    "ezra knowledge neighbours imola Max --depth 2 --json",
)
def neighbours(
    graph: GraphId,
    name: Name,
    depth: Annotated[int, typer.Option(help="How many facts away, 1 to 4.")] = 1,
    limit: Annotated[int, typer.Option(help="How many, 1 to 1,000.")] = NEIGHBOURS_SHOWN,
    as_of: AsOf = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show the facts around a name, nearest first."""
    screen = Screen()
    found = _asked(
        graph,
        lambda known: known.neighbours(name, depth, limit=limit, as_of=in_utc(as_of)),
        home,
        url,
    )
    if json:
        screen.document([plain(one) for one in found])
        return
    screen.line(name)
    for one in found:
        screen.line(_branch(one))


@knowledge_app.command("path", epilog="Example: ezra knowledge path imola Max 'Milton Keynes'")
def path(
    graph: GraphId,
    start: Annotated[str, typer.Argument(help="Where the chain begins.")],
    end: Annotated[str, typer.Argument(help="Where it ends.")],
    depth: Annotated[int, typer.Option(help="The most facts, 1 to 6.")] = PATH_DEPTH_MAX,
    as_of: AsOf = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show a shortest chain of facts between two names. Exit code 1 when there is none."""
    screen = Screen()
    found = _asked(
        graph, lambda known: known.path(start, end, depth=depth, as_of=in_utc(as_of)), home, url
    )
    if json:
        screen.document(None if found is None else [plain(fact) for fact in found])
    elif found is None:
        screen.line(f"nothing leads from {start} to {end} in {depth} facts")
    elif not found:
        screen.line(f"{start} and {end} are one")
    else:
        for number, fact in enumerate(found, 1):
            screen.line(f"{number}. {_triple(fact)}")
    if found is None:
        raise typer.Exit(1)


@knowledge_app.command(
    "history",
    epilog="Examples: ezra knowledge history imola Max  ·  "
    "ezra knowledge history imola Max --predicate 'drives for' --json",
)
def history(
    graph: GraphId,
    subject: Name,
    predicate: Annotated[str | None, typer.Option(help="Only what is said with it.")] = None,
    limit: Annotated[int, typer.Option(help="How many, 1 to 1,000.")] = NAMES_MAX,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show what was ever stated of an entity, oldest first, and what ended it."""
    screen = Screen()
    found = _asked(graph, lambda known: known.history(subject, predicate, limit=limit), home, url)
    if json:
        screen.document([plain(fact) for fact in found])
        return
    rows = [[f"{one.recorded_at:%Y-%m-%d %H:%M}", one.id, _triple(one), _end(one)] for one in found]
    screen.table(("recorded", "id", "fact", "until"), rows)


@knowledge_app.command(
    "add", epilog="Example: ezra knowledge add imola Max 'drives for' 'Red Bull' --topic teams"
)
def add(
    graph: GraphId,
    subject: Name,
    predicate: Predicate,
    object_: Object,
    topic: Topics = None,
    confidence: Confidence = 1.0,
    valid_from: ValidFrom = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """State a fact beside those that are there."""
    _changed(
        graph, "ADD", (subject, predicate, object_), topic, confidence, valid_from, home, url, json
    )


@knowledge_app.command(
    "update", epilog="Example: ezra knowledge update imola Max 'drives for' Ferrari"
)
def update(
    graph: GraphId,
    subject: Name,
    predicate: Predicate,
    object_: Object,
    topic: Topics = None,
    confidence: Confidence = 1.0,
    valid_from: ValidFrom = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """State what holds now; where there is one value at a time, the former one gives way."""
    said = (subject, predicate, object_)
    _changed(graph, "UPDATE", said, topic, confidence, valid_from, home, url, json)


@knowledge_app.command(
    "delete",
    epilog="Examples: ezra knowledge delete imola Max 'drives for' --reason 'he retired'  ·  "
    "ezra knowledge delete imola Max likes rain --reason mistaken",
)
def delete(
    graph: GraphId,
    subject: Name,
    predicate: Predicate,
    object_: Annotated[str | None, typer.Argument(help="The value; all if not given.")] = None,
    *,
    reason: Annotated[str, typer.Option(help="Why; kept in the audit feed.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """End facts on request; they stay in history. Exit code 1 when there are none."""
    screen = Screen()
    ended = _asked(
        graph, lambda known: known.delete(subject, predicate, object_, reason=reason), home, url
    )
    if json:
        screen.document({"ended": list(ended)})
    else:
        for one in ended:
            screen.line(f"ended {one}")
    if not ended:
        raise typer.Exit(1)


@knowledge_app.command("alias", epilog="Example: ezra knowledge alias imola Max 'Mad Max'")
def alias(
    graph: GraphId,
    name: Name,
    other: Annotated[str, typer.Argument(help="What it is also called.")],
    topic: Topics = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Say that an entity is also called something else."""
    screen = Screen()
    stored = _asked(graph, lambda known: known.alias(name, other, topics=topic), home, url)
    if json:
        screen.document({"id": stored})
    else:
        screen.line(f"{stored}  {name} is also called {other}")


def _changed(
    graph: str,
    op: Operation,
    said: Sequence[str],
    topics: list[str] | None,
    confidence: float,
    valid_from: datetime | None,
    home: Home,
    url: Url,
    json: Json,
) -> None:
    screen = Screen()
    subject, predicate, object_ = said
    change: dict[str, object] = {
        "op": op,
        "subject": subject,
        "predicate": predicate,
        "object": object_,
        "topics": topics,
        "confidence": confidence,
        "valid_from": in_utc(valid_from),
    }
    (done,) = _asked(graph, lambda known: known.apply([change]), home, url)
    if json:
        screen.document(plain(done))
    elif done.problem is None:
        screen.line(f"{done.id}  {' '.join(said)}")
        for one in done.ended:
            screen.line(f"ended {one}")
    if done.problem is not None:
        screen.note(done.problem)
        raise typer.Exit(1)


def _asked(graph: str, question: Callable[[Knowledge], Awaitable[T]], home: Home, url: Url) -> T:
    """Return what the knowledge of a session graph answers."""
    return on_graph(home, url, graph, lambda chosen: question(chosen.knowledge))


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
