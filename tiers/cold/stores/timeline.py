"""What happened, by time alone: out of the word index, which has every record's moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from ...moments import microseconds
from ...recollection import Place
from ...records import Hit, Kind, Scope, SearchQuery
from ..conditions import Beyond, Condition, Is, Within
from ..port import Find, Steps, every
from .belief_spans import active_then
from .lexical import READERS, read_hits
from .over_engine import OverEngine, reading
from .questions import by_then, not_by
from .word_search import Found, asked_for, stored_kinds
from .words import SEARCHABLE, Filed

_ORDER = ("latest", "id")
_OF_SPANS = frozenset({"summary", "episode"})
"""Kinds that tell of a while: a window is compared with its beginning, the order is by its end."""


class Timeline(OverEngine):
    """What happened, by time alone."""

    @reading
    def latest(
        self, scope: Scope, query: SearchQuery, *, behind: Place | None = None
    ) -> Steps[tuple[Hit, ...]]:
        """Return visible live records of the scope's own graph, the latest first, then by id.

        By when they happened: ``occurred_at``, or ``recorded_at`` where there is none; of a
        summary or episode, when the last of what it tells did. All conditions of the query hold
        as in ``search_words``, ``since``, ``until``, ``grains`` and ``as_of`` among them; its
        words and vector are not looked at. With ``behind``, only what comes after that place in
        this order: from the place of its last record a page goes on. At most ``query.limit``;
        scores are 0.
        """
        kinds = [kind for kind in stored_kinds(query.kinds) if kind in READERS]
        if query.inherited or not kinds:
            return ()
        where = _asked(query, behind)
        finds = {
            kind: list(_questions(scope, query, (*_of(query, kind), *where))) for kind in kinds
        }
        # A belief that is active now may not have been then: that is asked of its spans.
        of_beliefs = [] if query.as_of is None else finds.pop("belief", [])
        found = yield from every(*(find for asked in finds.values() for find in asked))
        for find in of_beliefs:
            found += yield from _active_then(find, query.as_of or query.now)
        found.sort(key=lambda filed: (-microseconds(filed.last_at), filed.id))
        latest = [Found(filed.kind, filed.id, 0.0) for filed in found[: query.limit]]
        return (yield from read_hits(scope, latest))


def _questions(
    scope: Scope, query: SearchQuery, where: tuple[Condition, ...]
) -> Iterator[Find[Filed]]:
    """Yield the questions for the latest of one kind: what is live, and what was live then."""
    if query.ids:
        live = (Is("live", 1), *where)
        yield Find(SEARCHABLE, scope, "id", live, _ORDER, query.limit, sorts=True)
    else:
        yield Find(SEARCHABLE, scope, "latest", where, _ORDER, query.limit)
    if query.as_of is not None:
        ended = (Is("live", 0), Within("ended", until=-microseconds(query.as_of)), *where)
        yield Find(SEARCHABLE, scope, "ended", ended, _ORDER, query.limit, sorts=True)


def _asked(query: SearchQuery, behind: Place | None) -> tuple[Condition, ...]:
    """Return what must hold of records of every kind."""
    where = asked_for(query)
    where += by_then("recorded_at", query.as_of)
    if behind is not None:
        where += (_behind(behind.at, behind.id),)
    return where


def _of(query: SearchQuery, kind: Kind) -> Iterator[Condition]:
    """Yield what must hold of the records of one kind."""
    yield Is("kind", kind)
    if kind == "summary":
        yield not_by("expires_at", microseconds(query.as_of or query.now))
    if kind not in _OF_SPANS and (query.since is not None or query.until is not None):
        # The same window once more, as the index has it: downwards.
        since = None if query.until is None else 1 - microseconds(query.until)
        until = None if query.since is None else 1 - microseconds(query.since)
        yield Within("latest", since, until)


def _active_then(find: Find[Filed], then: datetime) -> Steps[list[Filed]]:
    """Return of beliefs what was active at a moment; page by page, until it is enough."""
    told: list[Filed] = []
    while True:
        page = yield from every(find)
        were = yield from active_then(find.scope, then, [filed.id for filed in page])
        told += [filed for filed in page if filed.id in were]
        if len(page) < find.limit or len(told) >= find.limit:
            return told
        last = page[-1]
        find = replace(find, where=(*find.where, _behind(last.last_at, last.id)))


def _behind(at: datetime, record_id: str) -> Beyond:
    return Beyond(_ORDER, (-microseconds(at), record_id))
