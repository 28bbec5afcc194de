"""Which stored records a question may find, as filters. Pure.

Every condition of a ``SearchQuery`` but its words is here, so that whatever asks for records, in
the present or in the past, holds to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from ...documents import Passage
from ...moments import microseconds
from ...records import (
    Commitment,
    Episode,
    Fact,
    Kind,
    Owned,
    Rule,
    Scope,
    SearchQuery,
    Summary,
    Turn,
)
from .documents import Document
from .scope import visible


class Shelf(NamedTuple):
    """Where the records of one kind are, and what they are."""

    collection: str
    model: type[Owned]


SHELVES: Mapping[Kind, Shelf] = {
    "turn": Shelf("turns", Turn),
    "summary": Shelf("summaries", Summary),
    "episode": Shelf("episodes", Episode),
    "fact": Shelf("facts", Fact),
    "rule": Shelf("rules", Rule),
    "belief": Shelf("beliefs", Commitment),
    "document": Shelf("passages", Passage),
}

_HAPPENED: Mapping[Kind, str] = {
    "turn": "occurred_at",
    "summary": "starts_at",
    "episode": "starts_at",
    "rule": "recorded_at",
    "belief": "recorded_at",
    "document": "recorded_at",
}
"""When what a record tells happened. A fact may not say: see ``_within``."""


def shown_fields(model: type[Owned]) -> list[str]:
    """Return the fields of a stored record that make the record; the rest is for finding it."""
    return [name for name in model.model_fields if name != "private"] + ["private_to"]


def stored_kinds(kinds: Sequence[Kind]) -> list[Kind]:
    """Return as which kinds the asked ones are stored, each once: outputs of tools are in turns."""
    stored: list[Kind] = ["turn" if kind == "tool_output" else kind for kind in kinds]
    return [kind for kind in dict.fromkeys(stored) if kind in SHELVES]


def searched(scope: Scope, query: SearchQuery, kind: Kind, *further: Document) -> Document:
    """Return the filter for the records of one kind that a search may find.

    With ``query.as_of`` those that were live then. Of beliefs those that are active now: which of
    them were active then as well, their log says (``believed``).

    Args:
        scope: Who asks.
        query: What for; its words and vector are not looked at.
        kind: A kind that records are stored as.
        further: What must hold besides.
    """
    return kept(scope, query, kind, *_live(query, kind), *further)


def kept(scope: Scope, query: SearchQuery, kind: Kind, *further: Document) -> Document:
    """Return the same for the records that have their content, live or not."""
    where = visible(scope, redacted_at=None)
    both = [*_asked(query, kind), *further]
    return where | ({"$and": both} if both else {})


def standing_at(at: datetime) -> list[Document]:
    """Return what holds of a fact that was neither superseded nor forgotten at a moment.

    What was superseded before the moments of it were kept counts as superseded at every one.
    """
    later = {"$gt": microseconds(at)}
    return [
        {"$or": [{"superseded_by": None}, {"superseded_at": later}]},
        {"$or": [{"forgotten_at": None}, {"forgotten_at": later}]},
    ]


def _live(query: SearchQuery, kind: Kind) -> list[Document]:
    if kind == "summary":
        at = microseconds(query.as_of or query.now)
        return [{"$or": [{"expires_at": None}, {"expires_at": {"$gt": at}}]}]
    if kind == "fact" and query.as_of is not None:
        return standing_at(query.as_of)
    if kind == "document" and query.as_of is not None:
        later = {"retired_at": {"$gt": microseconds(query.as_of)}}
        return [{"$or": [{"live": True}, later]}]
    return [{"live": {"$ne": False}}]


def _asked(query: SearchQuery, kind: Kind) -> Iterator[Document]:
    if query.as_of is not None:
        yield {"recorded_at": {"$lte": microseconds(query.as_of)}}
    yield from _within(query, kind)
    if query.topics:
        yield {"topics": {"$in": list(query.topics)}}
    if query.all_topics:
        yield {"topics": {"$all": list(query.all_topics)}}
    if query.writer_id is not None:
        yield {"agent_id": query.writer_id}
    if query.ids:
        yield {"id": {"$in": list(query.ids)}}
    if query.user_id is not None:
        yield {"user_id": query.user_id}
    if kind in _OF_KIND:
        yield from _OF_KIND[kind](query)


def _within(query: SearchQuery, kind: Kind) -> Iterator[Document]:
    """Yield what holds of a record that happened when it was asked for."""
    span: Document = {}
    if query.since is not None:
        span["$gte"] = microseconds(query.since)
    if query.until is not None:
        span["$lt"] = microseconds(query.until)
    if not span:
        return
    if kind in _HAPPENED:
        yield {_HAPPENED[kind]: span}
    else:
        yield {"$or": [{"valid_from": span}, {"valid_from": None, "recorded_at": span}]}


def _turns(query: SearchQuery) -> Iterator[Document]:
    if "turn" not in query.kinds:
        yield {"also": "tool_output"}


def _episodes(query: SearchQuery) -> Iterator[Document]:
    if query.grains:
        yield {"grain": {"$in": list(query.grains)}}


def _facts(query: SearchQuery) -> Iterator[Document]:
    if query.tier is not None:
        yield {"tier": query.tier}


_OF_KIND: Mapping[Kind, Callable[[SearchQuery], Iterator[Document]]] = {
    "turn": _turns,
    "episode": _episodes,
    "fact": _facts,
}
