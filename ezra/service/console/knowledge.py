"""The knowledge graph: a name, what is said around it, ways between names, and history.

Addresses hold ids, never names: proxies and browsers keep them. A name goes by one of the facts
that have it, and by which end of that fact it stands at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from tiers.errors import NotFound
from tiers.knowledge import NEIGHBOUR_DEPTH_MAX, Entity, Neighbour
from tiers.learning import is_live, spelled
from tiers.records import Fact

from ...handles.graph import Graph
from ...operations import SHORT_PAGE_MAX
from .pages import FormTime, Query, Sent, View, href, pages
from .rings import Edge, Rings, around

SHOWN = 120
"""So many facts around a name are read; of these as many names are drawn as can be told apart."""

STATED = 200
NAMES_SHOWN = 40

End = Literal["subject", "object"]


class PlaceAsked(Query):
    """A name by a fact that has it, how far around it, as of when, and a second name."""

    fact: str | None = None
    end: End = "subject"
    depth: int = Field(default=1, ge=1, le=NEIGHBOUR_DEPTH_MAX)
    as_of: FormTime | None = None
    to: str | None = None
    to_end: End = "object"
    said: str | None = None


class NameAsked(Query):
    """A name as somebody typed it, and a second one."""

    name: str
    other: str | None = None
    depth: int = Field(default=1, ge=1, le=NEIGHBOUR_DEPTH_MAX)
    as_of: FormTime | None = None


@dataclass(frozen=True)
class Known:
    """A name, and a fact of the graph by which it is found.

    Attributes:
        name: In its first spelling.
        fact: The id of that fact; ``None`` for a name that only inherited facts have.
        end: Where in the fact it stands.
        facts: How many of the facts that were looked at name it.
    """

    name: str
    fact: str | None
    end: End
    facts: int


@dataclass(frozen=True)
class Surroundings:
    """What is known around a name.

    Attributes:
        name: As it was asked for.
        entity: What it stands for; ``None`` when no fact that stands names it.
        near: The facts around it, nearest first.
        rings: The same as a drawing.
        places: How each drawn name is found, by its key.
        predicates: What is said with these facts, the commonest first.
        history: What was ever stated of it, oldest first.
        predicate: What the history is kept to.
    """

    name: str
    entity: Entity | None
    near: tuple[Neighbour, ...]
    rings: Rings
    places: Mapping[str, Known]
    predicates: tuple[tuple[str, int], ...]
    history: tuple[Fact, ...] = ()
    predicate: str | None = None


@dataclass(frozen=True)
class Way:
    """How two names hang together.

    Attributes:
        start: The first.
        end: The second.
        steps: A shortest chain of facts; ``None`` when there is none.
    """

    start: str
    end: str
    steps: tuple[Fact, ...] | None = field(default=None)


@pages.page("/graphs/{graph_id}/knowledge", needs="read", label="Knowledge", key="k")
async def knowledge(graph: Graph, asked: PlaceAsked) -> View:
    """Show what is known around a name; without one, the names that were said last."""
    if asked.fact is None:
        return _view(asked, **await _front(graph))
    name = await _name_of(graph, asked.fact, asked.end)
    shown = await surroundings(graph, name, asked)
    way = None
    if asked.to is not None:
        other = await _name_of(graph, asked.to, asked.to_end)
        way = await _way(graph, name, other, asked)
    return _view(asked, shown=shown, way=way)


@pages.question("/graphs/{graph_id}/knowledge", needs="read")
async def find(graph: Graph, asked: NameAsked) -> View | Sent:
    """Find names that were typed, and go to where they are shown.

    A name that only inherited facts have is at no fact of the graph: it is shown here.
    """
    typed = [name for name in (asked.name, asked.other) if name]
    found = [await _found(graph, name, asked) for name in typed]
    place = PlaceAsked(depth=asked.depth, as_of=asked.as_of)
    missing = [name for name, one in zip(typed, found, strict=True) if one is None]
    if missing:
        return _view(place, missing=missing, typed=asked, **await _front(graph))
    places = [one for one in found if one]
    if len(places) < len(typed):
        way = await _way(graph, asked.name, asked.other, asked) if asked.other else None
        return _view(place, shown=await surroundings(graph, asked.name, place), way=way)
    (fact, end), (to, to_end) = places[0], places[1] if asked.other else (None, None)
    return Sent(
        href(
            *("graphs", graph.id, "knowledge"),
            fact=fact,
            end=end,
            to=to,
            to_end=to_end,
            depth=asked.depth,
            as_of=asked.as_of and asked.as_of.isoformat(),
        )
    )


async def surroundings(graph: Graph, name: str, asked: PlaceAsked) -> Surroundings:
    """Return what a graph knows around a name."""
    known = graph.knowledge
    entity = await known.entity(name, as_of=asked.as_of)
    near = await known.neighbours(name, asked.depth, limit=SHOWN, as_of=asked.as_of)
    predicate = None
    if asked.said is not None:
        found = await graph.facts([asked.said])
        predicate = found[0].predicate if found else None
    own = _own_keys(name, entity)
    facts = [one.fact for one in near]
    drawn = _edges(near, own, spelled(name))
    title = name if entity is None else entity.name
    places = known_names(facts, graph.id) | {spelled(name): Known(title, asked.fact, asked.end, 0)}
    return Surroundings(
        name,
        entity,
        near,
        around(spelled(name), drawn),
        places,
        tuple(Counter(one.predicate or "" for one in facts).most_common()),
        await known.history(name, predicate, limit=STATED),
        predicate,
    )


def known_names(facts: Iterable[Fact], graph_id: str) -> dict[str, Known]:
    """Return the names that facts have, by key, each with a fact of the graph that has it."""
    found: dict[str, Known] = {}
    for fact in facts:
        ends: tuple[tuple[End, str | None], ...] = (
            ("subject", fact.subject),
            ("object", fact.object),
        )
        for end, name in ends:
            key = spelled(name or "")
            if name is None or not key:
                continue
            before = found.get(key, Known(name, None, end, 0))
            place = (before.fact, before.end)
            if before.fact is None and fact.graph_id == graph_id:
                place = (fact.id, end)
            found[key] = Known(before.name, *place, before.facts + 1)
    return found


def ended(fact: Fact) -> str:
    """Return how a statement ended; empty for one that stands."""
    if is_live(fact):
        return ""
    if fact.superseded_by is not None:
        return "gave way"
    if fact.forgotten_at is not None:
        return "forgotten"
    return "retired"


async def _front(graph: Graph) -> dict[str, object]:
    """Return the names and predicates of the latest facts, the commonest first."""
    latest = (await graph.latest_facts(limit=SHORT_PAGE_MAX)).rows
    facts = [fact for fact in latest if fact.subject and fact.predicate and fact.object]
    names = sorted(known_names(facts, graph.id).values(), key=lambda one: (-one.facts, one.name))
    predicates = Counter(fact.predicate or "" for fact in facts).most_common(NAMES_SHOWN)
    return {
        "names_known": names[:NAMES_SHOWN],
        "predicates": predicates,
        "looked_at": len(latest),
    }


async def _name_of(graph: Graph, fact_id: str, end: End) -> str:
    """Return the name at an end of a fact of the graph.

    Raises:
        NotFound: There is no such fact, or no name at that end.
    """
    found = await graph.facts([fact_id])
    name = (found[0].subject if end == "subject" else found[0].object) if found else None
    if name is None or not spelled(name):
        raise NotFound("name", fact_id)
    return name


async def _way(graph: Graph, start: str, end: str, asked: PlaceAsked | NameAsked) -> Way:
    return Way(start, end, await graph.knowledge.path(start, end, as_of=asked.as_of))


async def _found(graph: Graph, name: str, asked: NameAsked) -> tuple[str, End] | tuple[()] | None:
    """Return where a typed name is found: a fact of the graph, and the end at which it stands.

    One that stands is looked for first; what is no more is still in history. Nowhere, but known,
    is a name that only inherited facts have; ``None`` is one that nothing has.
    """
    near = await graph.knowledge.neighbours(name, 1, limit=SHOWN, as_of=asked.as_of)
    stated = await graph.knowledge.history(name, limit=STATED)
    entity = await graph.knowledge.entity(name, as_of=asked.as_of)
    facts = [one for one in (*(n.fact for n in near), *stated) if one.graph_id == graph.id]
    exact = {spelled(name)}
    for keys in (exact, _own_keys(name, entity)):
        for fact in facts:
            if spelled(fact.subject or "") in keys:
                return fact.id, "subject"
            if spelled(fact.object or "") in keys:
                return fact.id, "object"
    return None if entity is None else ()


def _own_keys(name: str, entity: Entity | None) -> set[str]:
    also = (entity.name, *entity.aliases) if entity is not None else ()
    return {spelled(one) for one in (name, *also)}


def _edges(near: Sequence[Neighbour], own: set[str], centre: str) -> list[Edge]:
    """Return facts as lines between keys of names; all names of the centre are one."""

    def key(name: str | None) -> str:
        found = spelled(name or "")
        return centre if found in own else found

    return [
        Edge(key(one.fact.subject), key(one.fact.object), one.fact.predicate or "", one.distance)
        for one in near
        if spelled(one.fact.object or "")
    ]


def _view(asked: PlaceAsked, **values: object) -> View:
    known: dict[str, object] = {
        "asked": asked,
        "as_of": asked.as_of.replace(tzinfo=None).isoformat() if asked.as_of else "",
        "shown": None,
        "way": None,
        "missing": (),
        "typed": None,
        "names_known": (),
        "predicates": (),
        "looked_at": 0,
        "ended": ended,
        "depths": range(1, NEIGHBOUR_DEPTH_MAX + 1),
        "shown_most": SHOWN,
        "stated_most": STATED,
    }
    return View("knowledge.html", known | values, "Knowledge")
