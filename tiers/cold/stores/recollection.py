"""Reads around and behind the hits of a search, and what happened, by time alone.

The latter out of the word index, which has every record's moments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, pairwise
from typing import Any, TypeAlias

from ...errors import UsageError, check_within
from ...forms import hit_of, said_text
from ...known_records import Known, Sighted
from ...learning import held_until, was_true
from ...moments import maybe_microseconds, microseconds
from ...recollection import Place, Said, Uses, WordStatistics
from ...records import TEXT_CHARS_MAX, Fact, Hit, Kind, Rule, Scope, SearchQuery
from ..conditions import Absent, Among, Beyond, Condition, Holds, Is, Present, Within
from ..ownership import check_limit, in_order
from ..port import Find, Near, Steps, count, counts, every, one
from . import word_search
from .belief_log import EVENTS, seq_by
from .belief_projection import BELIEFS
from .belief_spans import active_then, spans_at
from .facts import USES
from .lexical import READERS, read_hits
from .log import AUDIT
from .questions import MANY, among, by_then, not_by, whole
from .rules import RULES
from .statements import FACTS
from .store_base import OverEngine, reading
from .turns import TURNS, KeptTurn
from .word_search import Found, asked_for, stored_kinds
from .words import SEARCHABLE, Filed

IDS_MAX, TURNS_EACH_WAY_MAX = 200, 16
SUCCESSORS_MAX = 8
"""So many facts one after the other are followed to the one that holds."""
_ORDER = ("recorded_at", "id")
_FALLING = ("-recorded_at", "-id")
_KEPT = (Absent("redacted_at"),)

TurnPlace: TypeAlias = tuple[int, str]
"""Where a turn stands in the order of recording: when, in microseconds, and its id."""


class Recollection(OverEngine):
    """Reads around and behind the hits of a search."""

    @reading
    def sight_around(
        self,
        scope: Scope,
        turn_ids: Sequence[str],
        before: int,
        after: int,
        known: Known,
        *,
        as_of: datetime | None = None,
    ) -> Steps[tuple[tuple[Said | Sighted, ...], ...]]:
        """Return the stretches of conversation around turns of the scope's own graph.

        A stretch is a run of visible, unredacted turns that follow each other in the order of
        recording, whatever their agent, oldest first: each asked turn with at most ``before``
        turns before and ``after`` behind it; turns of ``known`` by their ids alone. Stretches that
        touch or overlap are one. Turns that are not there, not visible, or recorded after
        ``as_of`` are left out, as if they did not exist. At most 200 ids and 16 turns each way.

        Raises:
            UsageError: More than ``IDS_MAX`` ids, or more turns each way than
                ``TURNS_EACH_WAY_MAX``.
        """
        _check_around(turn_ids, before, after)
        until = by_then("recorded_at", as_of)
        middles: Iterable[tuple[Any, ...]] = yield from counts(
            among(TURNS, scope, turn_ids, *_KEPT, *until), *_ORDER
        )
        places: tuple[TurnPlace, ...] = tuple((at, turn_id) for at, turn_id in middles)
        # One more before tells whether the stretch before is next to it.
        earlier = Find(TURNS, scope, "full", order=_FALLING, limit=before + 1)
        later = Find(TURNS, scope, "full", where=until, order=_ORDER, limit=after)
        beside = [Near(earlier, places, _ORDER), *([Near(later, places, _ORDER)] if after else ())]
        found: Sequence[Sequence[Sequence[TurnPlace]]] = yield beside
        behind = found[1] if after else [()] * len(places)
        stretches = _stretches(list(zip(found[0], places, behind, strict=True)), before)
        unknown = [turn_id for _, turn_id in chain(*stretches) if turn_id not in known]
        turns = yield from every(among(TURNS, scope, unknown))
        said = {turn.id: _text_of(turn) for turn in turns}
        return tuple(
            tuple(said[one] if one in said else Sighted(one, 0.0, "cold") for _, one in run)
            for run in stretches
        )

    @reading
    def speakers(self, scope: Scope, limit: int) -> Steps[tuple[str, ...]]:
        """Return different speakers of the graph's turns, whoever may see them, by name.

        From one name to the next in an index; redacted turns have none.
        """
        check_limit(limit)
        names: list[str] = []
        while len(names) < limit:
            next_one = whole(TURNS, scope, "said_by", order=("said_by",), limit=1)
            turn = yield from one(next_one.behind((names[-1] if names else "",)))
            if turn is None:
                break
            names.append(turn.speaker or turn.agent_id)
        return tuple(names)

    @reading
    def word_statistics(
        self, scope: Scope, text: str, kinds: Sequence[Kind], *, as_of: datetime | None = None
    ) -> Steps[WordStatistics]:
        """Return how many records of the scope's own graph have each content word of a text.

        Of the first ``QUERY_WORDS_MAX`` words; outputs of tools are counted as turns. More than
        ``word_search.COUNTED_MAX`` records of a kind are an estimate.
        """
        stored, terms = stored_kinds(kinds), [one.term for one in word_search.asked_terms(text)]
        totals = yield from word_search.totals_of(scope)
        held = [kind for kind in stored if totals.of_kind.get(kind)]
        having = yield from word_search.having_of(scope, terms, held, totals, as_of=as_of)
        records = sum(totals.of_kind[kind] for kind in held)
        if as_of is not None:
            later = Among("kind", tuple(held)), Within("recorded_at", microseconds(as_of) + 1)
            records -= yield from count(whole(SEARCHABLE, scope, "recorded", *later, limit=MANY))
        return word_search.statistics(text, having, records)

    async def uses_by(self, scope: Scope, fact_ids: Sequence[str], at: datetime) -> dict[str, Uses]:
        """Return how often facts of the own graph were used after a moment, and when last by then.

        Facts of which no use is told one by one are left out.
        """
        where = (Among("fact_id", tuple(fact_ids)),)
        kept = await self._all("uses_by", Find(USES, scope, by="fact", where=where))
        uses: dict[str, Uses] = {}
        for use in kept:
            later, last = uses.get(use.fact_id, Uses(0, None))
            if use.used_at > at:
                later += 1
            elif last is None or use.used_at > last:
                last = use.used_at
            uses[use.fact_id] = Uses(later, last)
        return uses

    @reading
    def ended(self, scope: Scope, query: SearchQuery) -> Steps[tuple[Hit, ...]]:
        """Return visible records that were live at ``query.as_of`` and are not any more.

        Superseded and forgotten facts, expired summaries, beliefs that were active then, and rules
        that have other steps since, with those of then; those whose content is destroyed are gone
        from every moment. All other conditions of the query
        hold (its words and vector are not looked at). Most recently ended first, then by id, at
        most ``query.limit``. Nothing without ``as_of``. Of a belief that is active now but was
        not then, ``search_words`` with ``as_of`` and this method both say nothing.
        """
        if query.as_of is None or query.inherited:
            return ()
        over = yield from _ended(scope, query, query.as_of)
        if "belief" in query.kinds:
            over += yield from _beliefs_ended(scope, query, query.as_of)
        rules = yield from _refined(scope, query, query.as_of)
        over += [(microseconds(until), rule.id, "rule") for until, rule in rules]
        last = sorted(over, key=lambda one: (-one[0], one[1]))[: query.limit]
        found = [Found(kind, record_id, 0.0) for _, record_id, kind in last]
        then = {rule.id: hit_of(rule, 0.0, scope.graph_id) for _, rule in rules}
        return tuple(then.get(hit.id, hit) for hit in (yield from read_hits(scope, found)))

    @reading
    def former(
        self, scope: Scope, query: SearchQuery, *, latest: int = 0
    ) -> Steps[tuple[Hit, ...]]:
        """Return visible facts of the own graph that were true until another took their place.

        Never what was forgotten, redacted, retired, denied, or gave way as a duplicate, whatever
        ``query.as_of`` is; of that moment, what had given way by then. All other conditions of
        the query hold. Best first by the query's words, at most ``query.limit``; then the
        ``latest`` to give way, whatever they say. ``valid_to`` says of each until when it held
        (``held_until``); scores say nothing.
        """
        if query.inherited or "fact" not in query.kinds:
            return ()
        facts = query.model_copy(update={"kinds": ("fact",)})
        where = (Is("kind", "fact"), Is("live", 0), *_ended_by(query), *asked_for(facts))
        found = yield from word_search.found_by_words(scope, facts, where)
        ids = dict.fromkeys(one.id for one in found)
        if latest:
            last = Find(SEARCHABLE, scope, "ended", where, ("ended", "id"), latest)
            ids |= dict.fromkeys(one.id for one in (yield from every(last)))
        return (yield from _were_true(scope, list(ids)))

    @reading
    def outdated(
        self, scope: Scope, turn_ids: Sequence[str], *, as_of: datetime | None = None
    ) -> Steps[dict[str, Fact]]:
        """Return what holds now instead of what turns said, by the ids of those turns.

        Of turns that facts were learnt from, all of which have given way to others (at ``as_of``,
        had by then): the last of the others. A turn from which something still holds is not told.
        """
        check_within("turn_ids", len(turn_ids), 0, IDS_MAX)
        where = (Holds("sources", tuple(turn_ids)), *_KEPT)
        learnt = yield from every(Find(FACTS, scope, "sources", where))
        named = frozenset(turn_ids)
        by_turn: dict[str, list[Fact]] = {}
        for fact in learnt:
            if fact.forgotten_at is None and fact.retired_at is None:
                for turn_id in named.intersection(fact.source_ids):
                    by_turn.setdefault(turn_id, []).append(fact)
        last = {
            turn_id: max(facts, key=_gave_way)
            for turn_id, facts in by_turn.items()
            if all(_is_outdated(fact, as_of) for fact in facts)
        }
        return (yield from _followed(scope, last, as_of))


Over: TypeAlias = tuple[int, str, Kind]
"""When a record ended, in microseconds, its id, and what it is."""


def _ended(scope: Scope, query: SearchQuery, then: datetime) -> Steps[list[Over]]:
    """Return what has ended since of kinds that do so once: facts, passages, summaries."""
    asked_of = (*by_then("recorded_at", then), *asked_for(query))
    window = Within("expired", since=-microseconds(query.now), until=-microseconds(then))
    finds = []
    for kind in stored_kinds(query.kinds):
        if kind in {"fact", "document"}:
            ended = Within("ended", until=-microseconds(then))
            where = (Is("kind", kind), ended, Is("live", 0), *asked_of)
            finds.append(Find(SEARCHABLE, scope, "ended", where, ("ended", "id"), query.limit))
        elif kind == "summary":
            where = (Is("kind", kind), window, Is("live", 1), *asked_of)
            finds.append(Find(SEARCHABLE, scope, "expired", where, ("expired", "id"), query.limit))
    found = yield from every(*finds)
    ends = ((one.ended_at or one.expires_at, one) for one in found)
    return [(microseconds(end), one.id, one.kind) for end, one in ends if end is not None]


def _refined(
    scope: Scope, query: SearchQuery, then: datetime
) -> Steps[list[tuple[datetime, Rule]]]:
    """Return rules that had other steps at a moment, as they were, each with until when."""
    if "rule" not in query.kinds:
        return []
    kind = Is("kind", "playbook refined")
    since = Within("recorded_at", since=microseconds(then) + 1)
    told = whole(AUDIT, scope, "kind", kind, since, order=("-position",), limit=query.limit)
    ids = dict.fromkeys(one.record_ids[0] for one in (yield from every(told)))
    asked_of = (Is("kind", "rule"), *by_then("recorded_at", then), *asked_for(query))
    filed = yield from every(among(SEARCHABLE, scope, ids, *asked_of))
    rules = yield from every(among(RULES, scope, (one.id for one in filed), *_KEPT))
    were = ((rule, rule.former_at(then)) for rule in rules)
    return [(former.until, rule.at(then)) for rule, former in were if former is not None]


def _ended_by(query: SearchQuery) -> tuple[Condition, ...]:
    """Return that a record is over, and was so at the moment that is asked about."""
    if query.as_of is None:
        return (Present("ended"),)
    over = Within("ended", since=-microseconds(query.as_of))
    return (*by_then("recorded_at", query.as_of), over)


def _were_true(scope: Scope, ids: Sequence[str]) -> Steps[tuple[Hit, ...]]:
    """Return those of some facts that were true until another took their place, in that order."""
    facts = yield from every(among(FACTS, scope, ids, *_KEPT, Present("superseded_at")))
    were = list(filter(was_true, facts))
    followed_by = [fact.superseded_by for fact in were if fact.superseded_by is not None]
    successors = yield from every(among(FACTS, scope, followed_by, *_KEPT))
    by_id = {one.id: one for one in successors}
    hits = {}
    for fact in were:
        end = held_until(fact, by_id.get(fact.superseded_by or ""))
        if end is not None:
            hit = hit_of(fact, 0.0, scope.graph_id)
            hits[fact.id] = hit.model_copy(update={"valid_to": end})
    return in_order(hits, ids)


def _is_over(fact: Fact, as_of: datetime | None) -> bool:
    """Whether another has the place of a fact, or had it by a moment."""
    then = fact.superseded_at
    return fact.superseded_by is not None and (
        as_of is None or (then is not None and then <= as_of)
    )


def _is_outdated(fact: Fact, as_of: datetime | None) -> bool:
    """Whether what has the place of a fact says something else."""
    return _is_over(fact, as_of) and fact.superseded_as != "duplicate"


def _gave_way(fact: Fact) -> tuple[int, str]:
    return maybe_microseconds(fact.superseded_at) or 0, fact.id


def _followed(
    scope: Scope, facts: Mapping[str, Fact], as_of: datetime | None
) -> Steps[dict[str, Fact]]:
    """Return for each fact the one that holds at the end of those that took its place."""
    ahead = dict(facts)
    for _ in range(SUCCESSORS_MAX):
        over = {name: fact.superseded_by for name, fact in ahead.items() if _is_over(fact, as_of)}
        if not over:
            break
        found = yield from every(among(FACTS, scope, filter(None, over.values()), *_KEPT))
        by_id = {fact.id: fact for fact in found}
        ahead = {
            name: by_id[over[name] or ""] if name in over else fact
            for name, fact in ahead.items()
            if name not in over or over[name] in by_id
        }
    return {
        name: fact
        for name, fact in ahead.items()
        if not _is_over(fact, as_of) and fact.forgotten_at is None and fact.retired_at is None
    }


def _beliefs_ended(scope: Scope, query: SearchQuery, then: datetime) -> Steps[list[Over]]:
    """Return the beliefs that were active then and are not any more."""
    seq = yield from seq_by(scope, then)
    held = yield from spans_at(scope, seq)
    ids = (one.belief_id for one in held)
    where = (Is("kind", "belief"), Is("live", 0), *asked_for(query))
    filed = yield from every(among(SEARCHABLE, scope, ids, *where))
    found = yield from every(among(BELIEFS, scope, (one.id for one in filed), *_KEPT))
    ends = {one.id: one.ended_seq for one in found if one.ended_seq and one.ended_seq > seq}
    at = (Among("seq", tuple(ends.values())),)
    events = yield from every(Find(EVENTS, scope, by="seq", where=at))
    moments = {event.seq: microseconds(event.recorded_at) for event in events}
    return [(moments[end], belief_id, "belief") for belief_id, end in ends.items()]


def _stretches(
    chains: Sequence[tuple[Sequence[TurnPlace], TurnPlace, Sequence[TurnPlace]]], before: int
) -> list[list[TurnPlace]]:
    """Return the places of turns, in order, cut where it is not known that one follows another."""
    places: set[TurnPlace] = set()
    follows: set[tuple[TurnPlace, TurnPlace]] = set()
    for earlier, middle, later in chains:
        places.update(earlier[:before], (middle,), later)
        follows.update(pairwise((*reversed(earlier), middle, *later)))
    stretches: list[list[TurnPlace]] = []
    for place in sorted(places):
        if stretches and (stretches[-1][-1], place) in follows:
            stretches[-1].append(place)
        else:
            stretches.append([place])
    return stretches


def _check_around(ids: Sequence[str], before: int, after: int) -> None:
    if len(dict.fromkeys(ids)) > IDS_MAX:
        raise UsageError("turn_ids", len(ids), f"at most {IDS_MAX} ids")
    for name, number in (("before", before), ("after", after)):
        check_within(name, number, 0, TURNS_EACH_WAY_MAX)


def _text_of(turn: KeptTurn) -> Said:
    shown = turn.speaker or turn.agent_id
    text = said_text(shown, turn.input, turn.response, turn.tool_outputs)[:TEXT_CHARS_MAX]
    return Said(
        turn.id, turn.agent_id, turn.user_id, shown, text, turn.occurred_at, turn.recorded_at
    )


_LATEST_FIRST = ("latest", "id")
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
        where = _conditions(query, behind)
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
        yield Find(SEARCHABLE, scope, "id", live, _LATEST_FIRST, query.limit, sorts=True)
    else:
        yield Find(SEARCHABLE, scope, "latest", where, _LATEST_FIRST, query.limit)
    if query.as_of is not None:
        ended = (Is("live", 0), Within("ended", until=-microseconds(query.as_of)), *where)
        yield Find(SEARCHABLE, scope, "ended", ended, _LATEST_FIRST, query.limit, sorts=True)


def _conditions(query: SearchQuery, behind: Place | None) -> tuple[Condition, ...]:
    """Return what must hold of records of every kind."""
    where = asked_for(query)
    where += by_then("recorded_at", query.as_of)
    if behind is not None:
        where += (Beyond(_LATEST_FIRST, (-microseconds(behind.at), behind.id)),)
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
    found: list[Filed] = []
    while True:
        page = yield from every(find)
        were = yield from active_then(find.scope, then, [filed.id for filed in page])
        found += [filed for filed in page if filed.id in were]
        if len(page) < find.limit or len(found) >= find.limit:
            return found
        find = find.behind(find.place(page[-1]))
