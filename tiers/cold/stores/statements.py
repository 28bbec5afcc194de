"""Facts as they are kept: what they are looked up by, how a family's are read, how they end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import chain
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from ...learning import ENDING_TERMS, is_live, said_again, telling_terms, vouched
from ...moments import maybe_microseconds, microseconds
from ...records import Ancestor, Fact, Scope
from ..conditions import (
    Absent,
    Among,
    Condition,
    During,
    Either,
    Holds,
    Is,
    Present,
    Stretch,
    Within,
)
from ..digests import address_of, digests_of, edge_of, key_of
from ..ownership import private_to
from ..port import (
    RECORDED,
    Collection,
    Find,
    Index,
    Lookup,
    Postings,
    Steps,
    asked,
    every,
)
from .questions import among, by_then, not_by, whole
from .rows import moments, plain, replace
from .words import SEARCHABLE, Filed, file_again, listed_as

_LIVE = Is("live", 1)
_WHOLE = Absent("redacted_at")


def _by_edge(fact: Fact) -> tuple[str | None, ...]:
    """Return what a fact is looked up by as an edge; nothing where it is none."""
    edge = edge_of(fact)
    if edge is None:
        return (None,) * 5
    other = None if edge.object == edge.subject else edge.object
    return (edge.subject, edge.predicate, other, fact.subject, fact.object)


def _ends(*, of_aliases: bool) -> Callable[[Fact], Sequence[str]]:
    def of(fact: Fact) -> Sequence[str]:
        edge = edge_of(fact)
        if edge is None or edge.is_alias != of_aliases:
            return ()
        return (edge.subject, edge.object)

    return of


def _core_stretches(fact: Fact) -> Sequence[Stretch]:
    return [(microseconds(span.since), maybe_microseconds(span.until)) for span in fact.core_spans]


SPOKEN = ("spoken_at", "said_seq", "said_place", "recorded_at", "id")
"""The fields by which facts are in the order of ``said_order``."""

_OF_EDGE = attrgetter("subject", "predicate", "object", "redacted_at")
"""Takes what of a fact makes an edge of it."""

FACTS: Collection[Fact] = Collection(
    "facts",
    Fact,
    fields={
        **plain("agent_id", "tier"),
        "live": lambda fact: int(is_live(fact)),
        "once_core": lambda fact: int(bool(fact.core_spans)),
        "recorded_at": lambda fact: microseconds(fact.recorded_at),
        "happened_at": lambda fact: microseconds(fact.valid_from or fact.recorded_at),
        "spoken_at": lambda fact: microseconds(fact.said_at or fact.recorded_at),
        **plain("said_seq", "said_place", "superseded_by"),
        **moments("superseded_at", "forgotten_at", "redacted_at", "retired_at", "judged_at"),
        ("identity", "said"): digests_of,
        "address": address_of,
        ("subject_key", "predicate_key", "other_key", "subject", "object"): _by_edge,
    },
    indexes={
        # The identity says what is said, too: facts are looked up by both, or by that alone.
        "said": Index(("said", "identity"), where=(_LIVE,), unique=True),
        "core": Index(("recorded_at",), where=(Is("tier", "core"), _LIVE)),
        "once_core": Index(("recorded_at",), where=(Is("once_core", 1), _WHOLE)),
        "address": Index(("address", "recorded_at", "id"), where=(Present("address"), _LIVE)),
        "unjudged": Index(SPOKEN, where=(Absent("judged_at"), _LIVE)),
        "superseded": Index(("superseded_at", "id"), where=(Present("superseded_at"), _WHOLE)),
        "forgotten": Index(("forgotten_at", "id"), where=(Present("forgotten_at"), _WHOLE)),
        "subject": Index(("subject_key", "recorded_at", "id"), where=(Present("subject_key"),)),
    },
    lists={
        "ends": Lookup(_ends(of_aliases=False), order=("id",), made_of=_OF_EDGE),
        "joins": Lookup(_ends(of_aliases=True), made_of=_OF_EDGE),
        "sources": Lookup(lambda fact: fact.source_ids),
    },
    stretches={"core_spans": _core_stretches},
)


NEARER_MAX = 1_000
"""So many addresses are looked up for nearer definitions, so many facts of a graph are read, and so
many words of its latest ones are looked at for what is over."""


class Reading(NamedTuple):
    """One graph of a family, and what must hold of the facts that are read there."""

    graph_id: str
    where: tuple[Condition, ...]


_Read: TypeAlias = tuple[Reading, datetime | None]
"""One graph of a family, and the moment as of which it is read."""


def readable(scope: Scope) -> list[Reading]:
    """Return where facts are read by their ids, nearest first.

    Of the own graph everything, of an ancestor its core facts, and archival ones if they come
    through; what it has forgotten is forgotten below it.
    """
    return [
        Reading(scope.graph_id, (_WHOLE,)),
        *(Reading(one.graph_id, _readable_of(one)) for one in scope.lineage),
    ]


def standing(scope: Scope, as_of: datetime | None) -> list[Reading]:
    """Return where facts are read that stand now or at a moment, nearest first.

    Args:
        scope: Who asks, with ancestors that are read as of that moment or an earlier one.
        as_of: The moment; ``None``: now.
    """
    own = (_LIVE,) if as_of is None else stood_at(as_of)
    return [
        Reading(scope.graph_id, own),
        *(Reading(one.graph_id, _standing_of(one)) for one in scope.lineage),
    ]


def core_of(scope: Scope, as_of: datetime | None = None) -> list[Find[Fact]]:
    """Return the questions for the core facts of a family, nearest first: one for each graph.

    Of an ancestor that is read as of a moment, and of the own graph as of ``as_of``: what was core
    and stood then.
    """
    order = ("recorded_at", RECORDED)
    if as_of is None:
        finds = [Find(FACTS, scope, by="core", order=order)]
    else:
        then = (During("core_spans", microseconds(as_of)), *stood_at(as_of))
        finds = [Find(FACTS, scope, "once_core", then, order)]
    for one in scope.lineage:
        then = () if one.as_of is None else _core_then(one.as_of)
        by = "core" if one.as_of is None else "once_core"
        finds.append(Find(FACTS, scope, by, then, order, graph_id=one.graph_id))
    return finds


def nearer_than(
    scope: Scope, core: Sequence[Fact], as_of: datetime | None = None
) -> Steps[list[Fact]]:
    """Return standing archival facts that may hide ancestors' core facts.

    Those at the addresses of such facts: they define what an ancestor further away defines as core,
    and what is nearer is what holds. And those that share a word with one of them and have a word
    by which something is denied or over: whether they end it is the reader's to tell.

    Of the own graph, as of ``as_of`` too, and of ancestors whose archival facts come through, as
    these are read; of a moment those that are core as well, as they may not have been then.
    """
    inherited = [fact for fact in core if fact.graph_id != scope.graph_id]
    if not inherited:
        return []
    own = Reading(scope.graph_id, (_LIVE,) if as_of is None else stood_at(as_of))
    carrying = scope.carrying("fact")
    family = [
        (own, as_of),
        *((Reading(one.graph_id, _standing_of(one)), one.as_of) for one in carrying),
    ]
    defining = _at_addresses(inherited, family, scope)
    ending = [_with_words(inherited, one.graph_id, scope) for one, _ in family]
    answers = yield from asked(*defining, *chain.from_iterable(ending))
    defined = list(chain.from_iterable(answers[: len(defining)]))
    known = {fact.id for fact in defined}
    rows = [{record_id for _, _, record_id in found} for found in answers[len(defining) :]]
    ids = [(telling & over) - known for telling, over in zip(rows[::2], rows[1::2], strict=True)]
    finds = [
        among(FACTS, scope, found, *_not_in_core(then), *one.where, graph_id=one.graph_id)
        for (one, then), found in zip(family, ids, strict=True)
        if found
    ]
    return [*defined, *(yield from every(*finds))]


def _at_addresses(
    inherited: Sequence[Fact], family: Sequence[_Read], scope: Scope
) -> list[Find[Fact]]:
    """Return the questions for what stands at the addresses of inherited facts."""
    addresses = {address: None for address in map(address_of, inherited) if address is not None}
    if not addresses:
        return []
    there = Among("address", tuple(addresses)[:NEARER_MAX])
    subjects = dict.fromkeys(key_of(fact.subject or "") for fact in inherited)
    about = Among("subject_key", tuple(filter(None, subjects))[:NEARER_MAX])
    finds: list[Find[Fact]] = []
    for one, then in family:
        # What has ended since is not looked up by its address.
        by, where = ("address", (there,)) if then is None else ("subject", (about, there))
        where = (*where, *_not_in_core(then))
        finds += of_family(Find(FACTS, scope, by, where, limit=NEARER_MAX), [one])
    return finds


def _with_words(inherited: Sequence[Fact], graph_id: str, scope: Scope) -> list[Postings[Filed]]:
    """Return who has a word of an inherited fact, and who one by which something is over.

    The latest of a graph; each question is told of so many words of records.
    """
    telling = sorted(frozenset().union(*map(telling_terms, inherited)))[:NEARER_MAX]
    return [
        Postings(
            Find(
                SEARCHABLE,
                scope,
                "terms",
                (Holds("terms", tuple(listed_as("fact", one) for one in terms)),),
                (f"-{RECORDED}",),
                NEARER_MAX,
                graph_id=graph_id,
                sorts=True,
            ),
            ("id",),
        )
        for terms in (telling, sorted(ENDING_TERMS))
    ]


def _not_in_core(then: datetime | None) -> tuple[Condition, ...]:
    """Return that a fact is archival; of a moment, what it is now tells nothing."""
    return (Is("tier", "archival"),) if then is None else ()


def of_family(find: Find[Fact], readings: Iterable[Reading]) -> list[Find[Fact]]:
    """Return a question as it is put to each graph of a family."""
    return [
        find._replace(graph_id=one.graph_id, where=(*find.where, *one.where)) for one in readings
    ]


def nearest(facts: Iterable[Fact]) -> dict[str, Fact]:
    """Return facts by id; of several with one id the first."""
    found: dict[str, Fact] = {}
    for fact in facts:
        found.setdefault(fact.id, fact)
    return found


def given_way_after(at: int) -> Condition:
    """Return that a fact had not given way at a moment.

    What gave way before the moments of it were kept did so before any moment.
    """
    return Either(((Absent("superseded_by"),), (Within("superseded_at", since=at + 1),)))


def stood_at(as_of: datetime) -> tuple[Condition, ...]:
    """Return that a fact was there at a moment, and had neither given way nor been forgotten."""
    at = microseconds(as_of)
    stands = (given_way_after(at), not_by("forgotten_at", at))
    return (_WHOLE, *by_then("recorded_at", as_of), *stands)


def the_same(*facts: Fact) -> tuple[Condition, ...]:
    """Return that a live fact is the same as one of some, as the index by ``said`` has it."""
    both = [(identity, said) for identity, said in map(digests_of, facts) if identity and said]
    return (
        Among("said", tuple(said for _, said in both)),
        Among("identity", tuple(identity for identity, _ in both)),
    )


def forgotten_since(scope: Scope, fact: Fact, heard_at: datetime) -> Steps[Fact | None]:
    """Return what says the same as a fact for the same readers and was forgotten at or after then.

    Whoever wrote it and under whatever topics, as ``FactReview.twins`` has it.
    """
    said = digests_of(fact)[1]
    if said is None:
        return None
    lost = Within("forgotten_at", since=microseconds(heard_at))
    where = (lost, Is("said", said), Is("private_to", private_to(fact)))
    found = yield from every(whole(FACTS, scope, "forgotten", *where, limit=1))
    return found[0] if found else None


def say_again(scope: Scope, fact: Fact, later: Fact, *, restates: bool = False) -> Steps[Fact]:
    """Return a stored fact as it is after it was said again, if that was later.

    What ``restates`` it says also how sure it is.
    """
    after = vouched(said_again(fact, later) or fact, later)
    if restates and after.confidence != later.confidence:
        after = after.model_copy(update={"confidence": later.confidence})
    if after is fact:
        return fact
    yield from replace(FACTS, scope, after)
    return after


def move_facts(scope: Scope, *facts: Fact) -> Steps[None]:
    """Store facts of the scope's graph that have ended, came back or moved; answers follow."""
    yield from replace(FACTS, scope, *facts)
    yield from file_again(scope, *facts, same_words=True)


def _readable_of(one: Ancestor) -> tuple[Condition, ...]:
    if "fact" in one.carries:
        return (_WHOLE, Absent("forgotten_at"))
    if one.as_of is None:
        return (_LIVE, Is("tier", "core"))
    return (_WHOLE, *_core_then(one.as_of))


def _standing_of(one: Ancestor) -> tuple[Condition, ...]:
    has_all = "fact" in one.carries
    if one.as_of is None:
        return (_LIVE,) if has_all else (_LIVE, Is("tier", "core"))
    stood = (Absent("forgotten_at"), given_way_after(microseconds(one.as_of)))
    return (_WHOLE, *(stood if has_all else _core_then(one.as_of)))


def _core_then(as_of: datetime) -> tuple[Condition, ...]:
    """Return that a fact was core at a moment, whatever it is now; what is forgotten never was."""
    at = microseconds(as_of)
    return (During("core_spans", at), Absent("forgotten_at"), given_way_after(at))
