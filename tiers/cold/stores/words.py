"""The word index: what of a record can be found by its words, kept in step with the record."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime
from operator import attrgetter

from pydantic import Field

from ...documents import Passage
from ...fields import Moment
from ...forms import entry_of, is_current
from ...lexical import symbols, ungrouped, words
from ...moments import earliest, microseconds
from ...records import Episode, Fact, FactTier, Grain, Kind, Owned, Scope, Summary
from ...terms import term_of
from ..conditions import Is, Present
from ..port import Collection, Index, Lookup, Steps, delete, every, one, write
from .questions import among, own
from .rows import OfGraph, amend, moments, over, plain, put, replace


class Filed(Owned):
    """A record as the word index has it.

    Attributes:
        kind: As what it is stored.
        tier: Of a fact.
        grain: Of an episode.
        has_tools: Whether it is a turn with outputs of tools.
        live: Whether it can be found; the statistics count it all the same.
        happened_at: When what it tells happened, or where that is not known, was recorded.
        last_at: When the last of it happened: of a summary or episode later than ``happened_at``.
        expires_at: When it ends to be found by itself.
        ended_at: When it was over, of what those find still who ask for the time before.
        terms: How often it has each stem.
        place: How many records of its kind there were when it was filed, itself among them.
    """

    kind: Kind
    tier: FactTier | None = None
    grain: Grain | None = None
    has_tools: bool = False
    live: bool = True
    happened_at: Moment
    last_at: Moment
    expires_at: Moment | None = None
    ended_at: Moment | None = None
    terms: dict[str, int] = Field(default_factory=dict)
    place: int = 0


class Total(OfGraph):
    """How many records of one kind the word index of a graph has, and words in all of them."""

    kind: Kind
    records: int = 0
    words: int = 0


def _length(filed: Filed) -> int:
    return sum(filed.terms.values())


def listed_as(kind: Kind, term: str) -> str:
    """Return as what a stem is listed of records of one kind."""
    return f"{kind} {term}"


def _listed(filed: Filed) -> dict[str, int]:
    opening = listed_as(filed.kind, "")
    return {opening + term: times for term, times in filed.terms.items()}


SEARCHABLE: Collection[Filed] = Collection(
    "searchable",
    Filed,
    fields={
        **plain("kind", "tier", "grain"),
        "has_tools": lambda filed: int(filed.has_tools),
        "live": lambda filed: int(filed.live),
        "agent_id": lambda filed: filed.agent_id,
        **moments("recorded_at", "happened_at", "expires_at"),
        "latest": lambda filed: -microseconds(filed.last_at),
        "ended": lambda filed: _falling(filed.ended_at),
        "expired": lambda filed: _falling(filed.expires_at),
        "length": _length,
        "place": lambda filed: filed.place,
    },
    indexes={
        # Moments count downwards in these: the latest comes first, and ties by their ids.
        "latest": Index(("kind", "latest", "id"), where=(Is("live", 1),)),
        "ended": Index(("kind", "ended", "id"), where=(Present("ended"),)),
        "expired": Index(("kind", "expired", "id"), where=(Present("expired"),)),
        "recorded": Index(("kind", "recorded_at")),
        "current": Index(("recorded_at", "graph_id", "id"), where=(Is("live", 1),), of="tenant"),
    },
    lists={"terms": Lookup(_listed, made_of=attrgetter("kind", "terms"))},
)

TOTALS: Collection[Total] = Collection("word_totals", Total, key=lambda total: total.kind)


def _falling(at: datetime | None) -> int | None:
    return None if at is None else -microseconds(at)


def file_words(scope: Scope, *records: Owned) -> Steps[None]:
    """Make new records findable by their words, inside a transaction."""
    of_kind: dict[Kind, list[Filed]] = defaultdict(list)
    for filed in map(_filed, records):
        of_kind[filed.kind].append(filed)
    for kind, new in of_kind.items():
        total = yield from _count(scope, kind, len(new), sum(map(_length, new)))
        places = range(total.records - len(new) + 1, total.records + 1)
        placed = (
            filed.model_copy(update={"place": place})
            for filed, place in zip(new, places, strict=True)
        )
        yield from put(SEARCHABLE, scope, *placed)


def file_again(scope: Scope, *records: Owned, same_words: bool = False) -> Steps[None]:
    """Let records be found by what they are now: whether they stand, where, and by which words.

    The statistics keep what is found no more; who asks for the time before finds it still.

    Args:
        scope: Of their graph.
        records: As they are stored; what was never filed is not filed now.
        same_words: They say what they said, so that their words are not read again.
    """
    if not records:
        return
    by_id = {record.id: record for record in records}
    longer: dict[Kind, int] = defaultdict(int)
    changed: list[Filed] = []
    for before in (yield from every(own(SEARCHABLE, scope, by_id))):
        terms = before.terms if same_words else None
        filed = _filed(by_id[before.id], terms, before.place)
        if terms is None:
            longer[filed.kind] += _length(filed) - _length(before)
        if filed != before:
            changed.append(filed)
    for kind, words_ in longer.items():
        if words_:
            yield from _count(scope, kind, 0, words_)
    yield from replace(SEARCHABLE, scope, *changed)


def unfile(scope: Scope, record_id: str) -> Steps[None]:
    """Take a record out of the word index again, which must be the last that was filed of its kind.

    Otherwise it stays, and only its words go: the places of others count on it.
    """
    known = yield from one(own(SEARCHABLE, scope, [record_id]))
    if known is None:
        return
    total = yield from one(among(TOTALS, scope, [known.kind]))
    is_last = total is not None and total.records == known.place
    yield from _count(scope, known.kind, -int(is_last), -_length(known))
    if is_last:
        yield from delete(own(SEARCHABLE, scope, [record_id]))
    else:
        yield from amend(SEARCHABLE, scope, [known], terms={}, live=False)


def _count(scope: Scope, kind: Kind, records: int, words_: int) -> Steps[Total]:
    """Count what is filed, and return what there is of its kind now."""
    known = yield from one(among(TOTALS, scope, [kind]))
    before = known or Total(tenant=scope.tenant, graph_id=scope.graph_id, kind=kind)
    more = {"records": before.records + records, "words": before.words + words_}
    total = before.model_copy(update=more)
    yield from write(over(known, TOTALS, scope, total))
    return total


def _filed(record: Owned, terms: dict[str, int] | None = None, place: int = 0) -> Filed:
    """Return a record as the word index has it, with the stems that it is known to have."""
    entry = entry_of(record)
    happened_at = entry.occurred_at or entry.recorded_at
    if terms is None:
        spoken = words(entry.text)
        said = (*spoken, *ungrouped(entry.text), *symbols(entry.text, spoken))
        terms = dict(Counter(filter(None, map(term_of, said))))
    return Filed.known(
        {
            **{name: record.__dict__[name] for name in Owned.__pydantic_fields__},
            "kind": entry.kind,
            "tier": entry.tier,
            "grain": entry.grain,
            "has_tools": "tool_output" in entry.also,
            "live": is_current(record),
            "happened_at": happened_at,
            "last_at": record.ends_at if isinstance(record, Summary | Episode) else happened_at,
            "expires_at": entry.expires_at,
            "ended_at": _ended_at(record),
            "terms": terms,
            "place": place,
        }
    )


def _ended_at(record: Owned) -> datetime | None:
    """Return when a record was over that questions to the past find; nothing finds a redacted."""
    if record.redacted_at is not None:
        return None
    if isinstance(record, Passage):
        return record.retired_at
    if not isinstance(record, Fact):
        return None
    if record.superseded_by is not None and record.superseded_at is None:
        return None  # before the moments of it were kept: at no moment does it stand
    return earliest(record.superseded_at, record.forgotten_at)
