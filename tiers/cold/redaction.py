"""What records say, what redaction reaches, and what it and retention leave of them. Pure.

The same for every engine: a redacted record is stored as if it had come to be in its redacted
form, so that nothing but its row, its ids and its coverage tells that it said something once. So
is one that retention has emptied; it says that instead, and not whose it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from ..board import TASK_LOGS, Card
from ..documents import Document, Passage
from ..errors import NotFound, UsageError
from ..fields import AuditKind
from ..grains import RETIRED
from ..ids import derived_id
from ..lexical import estimate_tokens
from ..owned import REDACTED
from ..paging import parts
from ..quarantine import Quarantined
from ..records import Commitment, Episode, Fact, Kind, Owned, Receipt, Rule, Summary, Turn
from ..taint import SET_ASIDE
from ..upkeep import Redacted
from .mentions import Texts
from .ownership import whose

Redactable: TypeAlias = (
    Turn | Summary | Episode | Fact | Rule | Commitment | Document | Passage | Card | Quarantined
)
Retainable: TypeAlias = Turn | Summary | Episode | Fact
Written: TypeAlias = Summary | Episode
T = TypeVar("T")
Form = TypeVar("Form", bound=Owned)
Fields: TypeAlias = dict[str, object]

RecordKind: TypeAlias = Kind | Literal["passage", "card", "quarantined"]
"""A kind of record; passages, which are found as ``document``, apart from what they are of.

No search finds cards, nor what is in quarantine.
"""

MODELS: dict[RecordKind, type[Redactable]] = {
    "turn": Turn,
    "summary": Summary,
    "episode": Episode,
    "fact": Fact,
    "rule": Rule,
    "belief": Commitment,
    "document": Document,
    "passage": Passage,
    "card": Card,
    "quarantined": Quarantined,
}
"""What can be redacted, by its kind."""

MARKED = (Turn, Fact)
"""What keeps marks of what it said when retention empties it."""

MARKED_KINDS: tuple[Kind, ...] = ("turn", "fact")

RETIRED_KINDS: tuple[Kind, ...] = ("turn", "summary", "episode", "fact")
"""What retention can empty."""

SOURCED_KINDS: tuple[Kind, ...] = ("fact", "rule", "belief")
"""What names the records that it was made of as its sources."""

IDS_MAX = 1_000
REACHED_MAX = 100_000
PAGE_IDS = 500
"""How many records are looked at with one question."""

RECEIPTS_PER_PAGE = 500
ATTEMPTS_MAX = 20
"""How often a redaction begins anew because more was made of its records meanwhile."""

AUDIT_KIND: AuditKind = "redacted"
RETIRED_AUDIT_KIND: AuditKind = "retired"


class Grown(Exception):
    """More was made of the records than was found when it was looked for."""


class Trace(NamedTuple):
    """A record that a redaction came upon.

    Attributes:
        kind: Of the record.
        id: Of the record.
        is_redacted: It had lost its content before, whatever took it.
        is_retired: Retention took it: what was made of the record may still tell it.
    """

    kind: RecordKind
    id: str
    is_redacted: bool
    is_retired: bool = False

    @property
    def was_asked_away(self) -> bool:
        """Whether it lost its content on request, and with it all that was made of it."""
        return self.is_redacted and not self.is_retired


class Reach:
    """A walk from records to everything that was made of them, by pages.

    Args:
        roots: Where it begins.
        stand_ins: Ids of summaries that stand for the roots and were not made of what they said.
        only_redacted: Goes on through redacted records alone: what was given a new text since
            knows nothing of the roots.
    """

    def __init__(
        self,
        roots: Iterable[Trace],
        stand_ins: Collection[str] = (),
        *,
        only_redacted: bool = False,
    ) -> None:
        self._found: dict[tuple[RecordKind, str], Trace] = {}
        self._waiting: deque[str] = deque()
        self._stand_ins = frozenset(stand_ins)
        self._only_redacted = False
        self.add(roots)
        self._only_redacted = only_redacted

    def page(self) -> list[str]:
        """Return the next ids to ask about what was made of them; empty when all were asked."""
        return [self._waiting.popleft() for _ in range(min(PAGE_IDS, len(self._waiting)))]

    def add(self, traces: Iterable[Trace]) -> None:
        """Note what was made of a page.

        Raises:
            UsageError: It is more than one redaction may reach.
        """
        for trace in traces:
            key = (trace.kind, trace.id)
            if key in self._found or trace.id in self._stand_ins:
                continue
            if self._only_redacted and not trace.was_asked_away:
                continue
            self._found[key] = trace
            self._waiting.append(trace.id)
        if len(self._found) > REACHED_MAX:
            accepted = f"ids of which at most {REACHED_MAX:,} records were made"
            raise UsageError("record_ids", len(self._found), accepted)

    @property
    def found(self) -> tuple[Trace, ...]:
        """Everything it came upon, the roots first."""
        return tuple(self._found.values())

    @property
    def ids(self) -> frozenset[str]:
        """The ids of everything it came upon."""
        return frozenset(trace.id for trace in self._found.values())


def names_what_is_lost(trace: Trace) -> bool:
    """Whether what was made of a record that is redacted already has to go after it.

    It names that record as its source, so that it was stored behind the redaction's back. What has
    a new text, a summary or an episode, names it as well, and knows nothing of it.
    """
    return trace.kind in SOURCED_KINDS and not trace.was_asked_away


class Survey(NamedTuple):
    """What a redaction has to do, as it was found before anything is written.

    Attributes:
        fresh: The asked records that still have their content, or that retention has emptied, and
            all that was made of them; and what names one of the others as its source still.
        before: The asked records that have lost it on request already, and what has lost it with
            them.
    """

    fresh: Reach
    before: Reach

    def reached(self, receipt_ids: Iterable[str] = ()) -> Redacted:
        """Return what has no content any more once it is done, by kind, sorted."""
        ids: dict[str, set[str]] = {}
        for trace in (*self.fresh.found, *self.before.found):
            ids.setdefault(trace.kind, set()).add(trace.id)
        receipts = set(receipt_ids)
        if receipts:
            ids["receipt"] = receipts
        order = [*MODELS, "receipt"]
        return Redacted(ids={kind: tuple(sorted(ids[kind])) for kind in order if kind in ids})


def checked_request(
    record_ids: Sequence[str], reason: str, most: int = IDS_MAX, name: str = "record_ids"
) -> tuple[str, ...]:
    """Return the asked ids, each once; ``most`` of them, under their ``name`` in errors.

    Raises:
        UsageError: The reason is blank, or there are too many ids.
    """
    if not reason.strip():
        raise UsageError("reason", reason, "a reason that is not blank")
    asked = tuple(dict.fromkeys(record_ids))
    if len(asked) > most:
        raise UsageError(name, len(asked), f"at most {most:,} ids")
    return asked


def known_of(asked: Sequence[str], found: Iterable[Trace]) -> list[Trace]:
    """Return the records that were found, in the order in which they were asked for.

    Raises:
        NotFound: One of the asked is no record of the graph.
    """
    places = {record_id: place for place, record_id in enumerate(asked)}
    known = sorted(found, key=lambda trace: places[trace.id])
    missing = places.keys() - {trace.id for trace in known}
    if missing:
        raise NotFound("record", min(missing, key=lambda one: places[one]))
    return known


def redacted_form(record: Form, now: datetime, why: str = REDACTED) -> Form:
    """Return a record without its content: what names it, and what it names, stays."""
    return record.model_copy(update={**_nothing(record, why), "redacted_at": now})


def set_aside_form(record: Redactable, now: datetime) -> Redactable:
    """Return a record as a roll-back leaves it; what it said is kept apart."""
    return redacted_form(record, now, SET_ASIDE)


def retired_form(record: Retainable, now: datetime) -> Retainable:
    """Return a record as retention leaves it: without its content, and without its user.

    Of turns and facts marks are left of the names and numbers that they held: all that is made of
    anything is made of these.
    """
    gone: Fields = {"user_id": None, "redacted_at": now, "retired_at": now}
    if isinstance(record, Turn):
        gone["tool_outputs"] = ()
    if isinstance(record, MARKED):
        gone["mentions"] = Texts(list(texts_of(record))).marks(record.id)
    return record.model_copy(update={**_nothing(record, RETIRED), **gone})


def is_retired(record: Redactable) -> bool:
    """Whether retention has emptied a record."""
    return isinstance(record, Retainable) and record.retired_at is not None


def _of_turn(turn: Turn, why: str) -> Fields:
    # What a tool is called may be whom it was asked about.
    gone = {"tool": why, "output": ""}
    silent = tuple(one.model_copy(update=gone) for one in turn.tool_outputs)
    # Who said it is what somebody is called; it is found under its agent's id from now on.
    return {"input": why, "response": "", "tool_outputs": silent, "speaker": ""}


def _of_rule(rule: Rule, why: str) -> Fields:
    former = tuple(one.model_copy(update={"steps": ()}) for one in rule.former)
    return {"trigger": why, "steps": (why,), "former": former}


def _of_document(document: Document, why: str) -> Fields:
    # What a file is called may be what somebody is called; its id still leads to it.
    gone: Fields = {"name": document.id, "title": why, "properties": {}, "text": ""}
    # What was rolled back must not come back by being put again.
    return gone if why == SET_ASIDE else gone | {"digest": ""}


def _of_card(card: Card, why: str) -> Fields:
    # What sort of thing it was, and where it was written, are its writer's own words as well.
    kept = card.type if card.type in TASK_LOGS.values() else ""
    gone: Fields = {"type": kept, "title": "", "text": why, "tags": (), "details": {}}
    return gone | {"machine": ""}


_NOTHING: Mapping[type[Redactable], Callable[[Any, str], Fields]] = {
    Turn: _of_turn,
    Summary: lambda _, why: {"text": why, "tokens": estimate_tokens(why)},
    Episode: lambda _, why: {"text": why},
    Fact: lambda _, why: {"text": why, "subject": None, "predicate": None, "object": None},
    Rule: _of_rule,
    # The topic stays: scopes are made of it. A key says what it is about as much as the claim does.
    Commitment: lambda _, why: {"claim": why, "key": None, "value": None},
    Document: _of_document,
    Passage: lambda _, why: {"text": why, "headings": (), "digest": ""},
    Card: _of_card,
    # What was found in it stays: it repeats nothing of the text.
    Quarantined: lambda _, why: {"text": why, "payload": {}},
}
"""What records say instead of what they said, in words that say why."""


def _nothing(record: Owned, why: str) -> Fields:
    return of_kind(_NOTHING, record, "cannot be redacted")(record, why)


def stand_in_id(turn: Turn) -> str:
    """Return the id of the summary that ``stand_in`` makes."""
    return derived_id(turn.occurred_at, AUDIT_KIND, turn.tenant, turn.graph_id, turn.id)


def stand_in(turn: Turn, now: datetime, text: str = REDACTED) -> Summary:
    """Return the redacted summary that takes a redacted turn's place among what waits for one.

    Nobody has to compress a turn that says nothing. And who has read the turn before and is still
    at it comes too late: each turn has one summary, and this is it.
    """
    return Summary(
        id=stand_in_id(turn),
        **whose(turn),
        recorded_at=now,
        redacted_at=now,
        text=text,
        covers=(turn.id,),
        tokens=estimate_tokens(text),
        starts_at=turn.occurred_at,
        ends_at=turn.occurred_at,
    )


def sources_of(record: Written) -> tuple[tuple[Kind, ...], tuple[str, ...]]:
    """Return the kinds and the ids of what a summary or an episode was made of."""
    if isinstance(record, Summary):
        return ("turn",), record.covers
    return ("summary", "episode"), record.children


def check_new_text(record: Written) -> None:
    """Refuse to write nothing.

    Raises:
        UsageError: The text is blank.
    """
    if not record.text.strip():
        raise UsageError("record.text", record.text, "a text that is not blank")


def pages(ids: Iterable[T]) -> Iterator[Sequence[T]]:
    """Cut ids, or what else there are many of, into pages of ``PAGE_IDS``."""
    return parts(list(ids), PAGE_IDS)


def blanked(receipt: Receipt) -> Receipt:
    """Return a receipt without its question, and without any text; ids, scores and costs stay.

    Its salt goes as well: hashes of what was shown stay, and nobody can try texts against them.
    """
    return receipt.model_copy(update={"query": "", "body": _without_texts(receipt.body)})


def _without_texts(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {name: _left(name, part) for name, part in value.items()}
    return [_without_texts(part) for part in value] if isinstance(value, list) else value


def _left(name: str, value: Any) -> Any:  # noqa: ANN401 - any JSON
    if name in {"text", "salt"} and isinstance(value, str):
        return ""
    if name == "skipped" and isinstance(value, list):
        # An engine's reason may quote what it was asked; the leg that was left out stays.
        return [str(reason).partition(":")[0] for reason in value]
    return _without_texts(value)


def _said_by_rule(rule: Rule) -> Iterable[str]:
    former = (step for version in rule.former for step in version.steps)
    return (rule.trigger, *rule.steps, *former)


def _said_by_card(card: Card) -> Iterable[str]:
    said = said_in(card.details, names=True)
    return (card.type, card.title, card.text, card.machine, *card.tags, *said)


_TEXTS: Mapping[type[Owned], Callable[[Any], Iterable[str]]] = {
    Turn: lambda one: (
        *(one.speaker, one.input, one.response),
        *(said for output in one.tool_outputs for said in (output.tool, output.output)),
    ),
    Summary: lambda one: (one.text,),
    Episode: lambda one: (one.text,),
    Fact: lambda one: filter(None, (one.text, one.subject, one.predicate, one.object)),
    Rule: _said_by_rule,
    Commitment: lambda one: (one.claim, *(one.key or ()), *filter(None, (one.value,))),
    Document: lambda one: (
        *(one.name, one.title, one.text),
        *said_in(one.properties, names=True),
    ),
    Passage: lambda one: (*one.headings, one.text),
    Card: _said_by_card,
    Quarantined: lambda one: (one.text, *said_in(one.payload, names=True)),
}


def texts_of(record: Owned) -> Iterable[str]:
    """Return what a record says: all that redacting it destroys."""
    return of_kind(_TEXTS, record, "has no texts")(record)


def of_kind(table: Mapping[type[Any], T], record: Owned, problem: str) -> T:
    """Return what a table has for a record of its type, or of one that it is a form of.

    Raises:
        TypeError: It has nothing.
    """
    for kind in type(record).__mro__:
        if kind in table:
            return table[kind]
    message = f"{type(record).__name__} {problem}"
    raise TypeError(message)


def said_in(whole: Any, *, names: bool = False) -> Iterable[str]:  # noqa: ANN401 - any JSON
    """Yield every text of a JSON value; with ``names`` what its values are called, too."""
    waiting: list[Any] = [whole]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += [*value, *value.values()] if names else value.values()
        elif isinstance(value, list | tuple):
            waiting += value
