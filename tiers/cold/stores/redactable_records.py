"""Records of every kind that can be redacted, whoever could see them, and what was made of them.

And what roll-backs keep apart: records as they were, and the roll-backs themselves.
"""

from __future__ import annotations

from collections.abc import Collection as Ids
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from ...board import TASK_LOGS
from ...documents import Document
from ...forms import is_searchable
from ...plans import GRAINS
from ...records import Moment, Scope
from ...taint import RollBack
from ..conditions import Among, Condition, Holds, Is, Value
from ..port import Collection, Count, Find, Index, Steps, asked, counts, delete, every
from ..redaction import MODELS, RETIRED_KINDS, SOURCED_KINDS, RecordKind, Redactable, Trace, pages
from .belief_log import why_taken_back
from .belief_projection import BELIEFS
from .board import CARDS
from .documents import DOCUMENTS, Followed, formers_of
from .episodes import EPISODES, SUMMARIES, child_keys, episodes_of
from .passages import PASSAGES
from .quarantine import QUARANTINED
from .questions import own, whole
from .rows import OfGraph, bare, plain
from .rules import RULES
from .statements import FACTS
from .turns import TURNS
from .words import file_again
from .work import forget_problems, queue_indexing

AsideKind: TypeAlias = RecordKind | Literal["former", "revived", "believed", "trust", "stand-in"]
"""What is kept: a record of a kind, or

========  ===================================================================================
former    a former revision of a document
revived   a fact that stands again, as it was
believed  a belief, as it was; its content is not here but in the log
trust     how trust in an agent moved
stand-in  nothing; the record is the summary that stands for a turn which waited for one
========  ===================================================================================
"""


class Aside(OfGraph):
    """One record as it was before a roll-back.

    Attributes:
        record_id: Its id; of a former revision that of its document.
        at: When it was set aside: what has changed it since has done so later.
        body: Its JSON.
    """

    id: str
    roll_back_id: str
    record_id: str
    kind: AsideKind
    at: Moment
    body: str = ""


ASIDES: Collection[Aside] = Collection(
    "set_aside",
    Aside,
    fields=plain("roll_back_id", "record_id", "kind"),
    indexes={"roll_back": Index(("roll_back_id", "id")), "record": Index(("record_id",))},
)

ROLL_BACKS: Collection[RollBack] = Collection(
    "roll_backs",
    RollBack,
    fields={"state": lambda roll_back: roll_back.state},
    indexes={"state": Index(("state", "id"))},
)


def kept_by(scope: Scope, roll_back_id: str) -> Find[Aside]:
    """Ask for what a roll-back keeps of the scope's graph, in the order of ids."""
    return whole(ASIDES, scope, "roll_back", Is("roll_back_id", roll_back_id), order=("id",))


def kept_of(scope: Scope, ids: Iterable[str]) -> Find[Aside]:
    """Ask for what is kept of records of the scope's graph, under whichever roll-back."""
    return whole(ASIDES, scope, "record", Among("record_id", tuple(ids)))


def drop(scope: Scope, ids: Iterable[str]) -> Steps[int]:
    """Destroy what is kept of records, inside a transaction; return how many rows that were."""
    gone = 0
    for page in pages(ids):
        gone += yield from delete(kept_of(scope, page))
    return gone


def held_apart(scope: Scope, ids: Ids[str]) -> Steps[set[str]]:
    """Return which records have their content, or had it, under a roll-back."""
    found = yield from counts(kept_of(scope, ids), "record_id")
    return {str(record_id) for (record_id,) in found}


KEPT_IN: Mapping[RecordKind, Collection[Any]] = {
    "turn": TURNS,
    "summary": SUMMARIES,
    "episode": EPISODES,
    "fact": FACTS,
    "rule": RULES,
    "belief": BELIEFS,
    "document": DOCUMENTS,
    "passage": PASSAGES,
    "card": CARDS,
    "quarantined": QUARANTINED,
}
"""Where the records of each kind are that can be redacted."""

Found: TypeAlias = Mapping[RecordKind, Sequence[Any]]
"""Records as they are kept, by kind."""


class Looked(NamedTuple):
    """Records of one kind, and other forms of them.

    Of documents the revisions that others have followed, of beliefs why they were taken back, and
    what roll-backs keep apart.
    """

    records: Sequence[Redactable]
    former: Mapping[str, Sequence[Redactable]]


def own_of(scope: Scope, kind: RecordKind, ids: Iterable[str], *where: Condition) -> Find[Any]:
    """Ask for records of one kind of the scope's graph, whoever may see them."""
    return own(KEPT_IN[kind], scope, ids, *where)


def found_by(finds: Mapping[RecordKind, Find[Any]]) -> Steps[Found]:
    """Return what questions for records of several kinds find, asked at one time."""
    answers = yield from asked(*finds.values())
    return dict(zip(finds, answers, strict=True))


def bare_of(found: Found) -> list[Redactable]:
    """Return records without what is kept with them."""
    return [
        record if type(record) is MODELS[kind] else bare(MODELS[kind], record)
        for kind, records in found.items()
        for record in records
    ]


def traces(finds: Mapping[RecordKind, Find[Any]]) -> Steps[list[Trace]]:
    """Return how what questions find stands, in order of kinds and ids.

    It is counted by that, so that not one text is read. What a roll-back keeps apart has its
    content.
    """
    counts = (Count(find, _traced(kind)) for kind, find in finds.items())
    answers = yield from asked(*counts)
    found = [
        _trace(kind, *key) for kind, answer in zip(finds, answers, strict=True) for key in answer
    ]
    gone = {one.id for one in found if one.was_asked_away}
    scope = next(iter(finds.values())).scope
    apart = yield from held_apart(scope, gone)
    return sorted(one._replace(is_redacted=False) if one.id in apart else one for one in found)


def made_of(scope: Scope, ids: Sequence[str]) -> Steps[list[Trace]]:
    """Return what was made of some records, at first hand.

    Turns know their summaries and passages their documents; all else names what it was made of.
    """
    passages = Count(own_of(scope, "passage", ids), ("document_id",))
    turns, documents = yield from asked(own_of(scope, "turn", ids), passages)
    named = tuple(ids)
    logged = Among("type", tuple(TASK_LOGS.values()))
    finds: dict[RecordKind, Find[Any]] = {
        "summary": own_of(scope, "summary", (one for t in turns for one in t.covered_by.values())),
        "episode": episodes_of(
            scope, [one for grain in GRAINS for one in child_keys(grain, named)]
        ),
        "document": own_of(scope, "document", (name for (name,) in documents)),
        "passage": whole(PASSAGES, scope, "document", Among("document_id", named)),
        "card": whole(CARDS, scope, "thread", Among("thread", named), logged),
    }
    for kind in SOURCED_KINDS:
        finds[kind] = whole(KEPT_IN[kind], scope, "sources", Holds("sources", named))
    return (yield from traces(finds))


def behind(scope: Scope, kind: RecordKind, after: str, limit: int) -> Steps[Looked]:
    """Return the next records of a kind behind an id, in the order of ids."""
    there = whole(KEPT_IN[kind], scope, "id", order=("id",), limit=limit)
    records: list[Redactable] = yield from every(there.behind((after,)))
    ids = [one.id for one in records]
    forms: dict[str, list[Redactable]] = {one: [] for one in ids}
    if kind == "document":
        for name, formers in (yield from formers_of(scope, ids)).items():
            forms[name] += formers
    if kind == "belief":
        by_id = {one.id: one for one in records}
        for name, reason in (yield from why_taken_back(scope, ids)):
            forms[name].append(by_id[name].model_copy(update={"claim": reason}))
    for page in pages(ids):
        for row in (yield from every(kept_of(scope, page))):
            if row.kind in {kind, "former"}:
                forms[row.record_id].append(as_it_was(row))
    return Looked(records, forms)


def leave_no_trace(scope: Scope, emptied: Sequence[Redactable], now: datetime) -> Steps[None]:
    """Take what records said out of what was made beside them, once they say nothing themselves.

    Entries of the warm index go by the work for that.
    """
    indexed = [one for one in emptied if is_searchable(one)]
    yield from file_again(scope, *indexed)
    yield from forget_problems(scope, [one.id for one in emptied])
    yield from queue_indexing(scope, indexed, now)


def as_it_was(row: Aside) -> Any:  # noqa: ANN401 - of any kind
    """Return a record, or a former revision, that a roll-back keeps; ``None`` for what is none."""
    if row.kind == "former":
        return bare(Document, Followed.model_validate_json(row.body))
    holds = next((one.record for kind, one in KEPT_IN.items() if kind == row.kind), None)
    return None if holds is None else holds.model_validate_json(row.body)


def _traced(kind: RecordKind) -> tuple[str, ...]:
    # A passage that is retired was not emptied: a revision lacks it.
    retired = ("retired_at",) if kind in RETIRED_KINDS else ()
    return ("id", "redacted_at", *retired)


def _trace(kind: RecordKind, record_id: str, redacted_at: Value, retired_at: Value = None) -> Trace:
    return Trace(kind, record_id, redacted_at is not None, retired_at is not None)
