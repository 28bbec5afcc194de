"""Which records speak of a subject, or belong to a user. Pure, and the same for every engine.

Texts are compared in a form in which it makes no difference how they were typed: as ``mentions``
spells them, case folded, white space collapsed. A subject is found as whole words, so that ``Ann``
is not in ``Annual``; in scripts that put no space between words it is found wherever it stands, and
in Korean before particles.
Names are found by their parts as well, numbers and codes however they are written; see
``mentions``.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from ..errors import UsageError
from ..fleet import Served
from ..ids import first_id
from ..records import Receipt
from ..upkeep import PAGE_ROWS_MAX, Page, RecordRef
from .cursors import place_of
from .mentions import IN_PARTICLES, Name, Texts, former_spellings, spellings
from .ownership import check_limit
from .redaction import MODELS, RecordKind, Redactable, blanked, is_retired, said_in, texts_of

KINDS: tuple[RecordKind, ...] = tuple(MODELS)
"""In the order in which they are looked through."""

LOOKED_THROUGH_MAX = 500
"""How many records one page looks at, whatever it finds."""

CLOCKS_APART = timedelta(days=1)
"""An id may tell another time than its receipt does by no more than this."""

# Han, kana, Thai, Lao, Tibetan, Myanmar, Khmer: no space says where a word ends.
_UNSPACED = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff]"
)
# Of what kind a character is, by the first letter of its Unicode category.
_LETTER_OR_DIGIT = frozenset("LN")
_MARK = "M"
MARKS_MAX = 8
"""How many marks may follow a letter and still be seen as part of it."""

Test = Callable[[Redactable], bool]
Service: TypeAlias = Mapping[str, Sequence[Served]]
"""When agents worked for a user, by their ids."""
NO_SERVICE: Service = MappingProxyType({})


class Place(NamedTuple):
    """Where looking goes on: behind a record of a kind, the kinds being numbered."""

    kind: int = 0
    after: str = ""


class Subject:
    """Finds what a person or a thing is called in texts.

    Args:
        subject: One word or several, not blank.
    """

    def __init__(self, subject: str) -> None:
        self._words = plain(subject)
        self._name = Name(spellings(subject)[0])
        self._former_names = tuple(map(Name, former_spellings(subject)))

    def is_in(self, text: str) -> bool:
        """Whether the text holds it as whole words, parts of it as a name, or it as a number."""
        return self._is_word_for_word_in(text) or self._name.is_in(Texts([text]))

    def is_mentioned_by(self, record: Redactable) -> bool:
        """Whether a record speaks of it, or spoke of it before retention took what it said."""
        if is_retired(record):
            # Marks of before accents and strokes were left out have them still.
            marks, names = getattr(record, "mentions", ""), (self._name, *self._former_names)
            return any(name.is_among(marks, record.id) for name in names)
        texts = list(texts_of(record))
        # Apart they may stand in several texts: the name in one, the rest of it in another.
        return any(map(self._is_word_for_word_in, texts)) or self._name.is_in(Texts(texts))

    def _is_word_for_word_in(self, text: str) -> bool:
        return any(_holds(_folded(spelled), self._words) for spelled in spellings(text))


class Search:
    """One page under way: it says what to look at next, and is given that.

    Args:
        is_wanted: Which records are wanted.
        cursor: Of the page before; ``""`` begins.
        limit: How many records the page may hold.

    Raises:
        UsageError: A limit out of range, or a cursor that no page gave.
    """

    def __init__(self, is_wanted: Test, cursor: str, limit: int) -> None:
        check_limit(limit, PAGE_ROWS_MAX)
        self._is_wanted = is_wanted
        self._limit = limit
        self._place = _place_of(cursor)
        self._room = LOOKED_THROUGH_MAX
        self._rows: list[RecordRef] = []

    @property
    def kind(self) -> RecordKind | None:
        """The kind to look at; ``None`` when the page is complete."""
        is_full = self._room == 0 or len(self._rows) == self._limit
        return None if is_full or self._place.kind == len(KINDS) else KINDS[self._place.kind]

    @property
    def after(self) -> str:
        """The id behind which its records are to be looked at, in the order of ids."""
        return self._place.after

    @property
    def room(self) -> int:
        """How many of them."""
        return self._room

    def take(
        self,
        records: Sequence[Redactable],
        former: Mapping[str, Sequence[Redactable]] | None = None,
    ) -> None:
        """Look at records of ``kind`` behind ``after``: the next ``room``, or all there are.

        A record is wanted for what it says, or for what a former revision of it said. One that
        retention has emptied is wanted for what it said: what was made of it may say so still.
        """
        is_last = len(records) < self._room
        for record in records:
            self._place = self._place._replace(after=record.id)
            self._room -= 1
            forms = (record, *(former or {}).get(record.id, ()))
            if any(_may_be_wanted(one) and self._is_wanted(one) for one in forms):
                self._rows.append(_ref(record))
                if len(self._rows) == self._limit:
                    return
        if is_last:
            self._place = Place(self._place.kind + 1)

    def page(self) -> Page[RecordRef]:
        """Return what was found."""
        is_over = self._place.kind == len(KINDS)
        return Page(rows=tuple(self._rows), cursor=None if is_over else json.dumps(self._place))


def wanted(
    subject: str | None,
    user_id: str | None,
    agent_id: str | None = None,
    shared_by: Service = NO_SERVICE,
    *,
    everything: bool = False,
) -> Test:
    """Return the test that records must pass.

    Args:
        subject: What they speak of.
        user_id: Whose they are.
        agent_id: Who wrote them.
        shared_by: With a user: agents of it, and when they were. What they wrote then and belongs
            to nobody counts as well, as what retention has emptied does: that took its user.
        everything: Whatever has something left.

    Raises:
        UsageError: Not exactly one of them is given, or a subject or user is blank.
    """
    given = {"subject": subject, "user_id": user_id, "agent_id": agent_id}
    if everything + sum(value is not None for value in given.values()) != 1:
        raise UsageError("subject, user_id, agent_id", given, "one of them")
    if everything:
        return _has_something_left
    if agent_id is not None:
        return lambda record: record.agent_id == agent_id and _has_something_left(record)
    for name, value in given.items():
        if value is not None and not plain(value):
            raise UsageError(name, value, "a name that is not blank")
    if subject is None:
        return lambda record: (
            (
                record.user_id == user_id
                or (record.user_id is None and was_serving(shared_by, record))
            )
            and _has_something_left(record)
        )
    return Subject(subject).is_mentioned_by


def was_serving(service: Service, record: Redactable | Receipt) -> bool:
    """Whether who wrote a record, or was given a receipt, worked for the user then."""
    return any(one.holds(record.recorded_at) for one in service.get(record.agent_id, ()))


def wanted_receipts(
    subject: str | None,
    agent_ids: Sequence[str],
    record_ids: Sequence[str] = (),
    before: datetime | None = None,
    shared_by: Service = NO_SERVICE,
    *,
    everything: bool = False,
) -> Callable[[Receipt], bool]:
    """Return the test that receipts must pass to be blanked; one that is blank passes none.

    Raises:
        UsageError: No subject, agent, record or moment is given, or the subject is blank.
    """
    if subject is not None and not plain(subject):
        raise UsageError("subject", subject, "a name that is not blank")
    if everything:
        return lambda receipt: receipt != blanked(receipt)
    if subject is None and before is None and not (agent_ids or record_ids or shared_by):
        given = (subject, agent_ids, record_ids, before, shared_by)
        raise UsageError("subject, agent_ids, record_ids, before, shared_by", given, "one of them")
    looked_for = None if subject is None else Subject(subject)
    agents, records = frozenset(agent_ids), frozenset(record_ids)

    def is_wanted(receipt: Receipt) -> bool:
        if receipt == blanked(receipt):
            return False
        if receipt.agent_id in agents or (before is not None and receipt.recorded_at < before):
            return True
        if was_serving(shared_by, receipt):
            return True
        if looked_for is None and not records:
            return False
        texts = list(said_in([receipt.query, receipt.body]))
        if not records.isdisjoint(texts):
            return True
        return looked_for is not None and any(map(looked_for.is_in, texts))

    return is_wanted


def made_between(since: datetime | None, before: datetime | None) -> tuple[str, str]:
    """Return the ids between which receipts lie that were made about then; empty for no end."""
    return (
        "" if since is None or before is None else first_id(since - CLOCKS_APART),
        "" if before is None else first_id(before + CLOCKS_APART),
    )


def plain(text: str) -> str:
    """Return a text as it is compared: in one spelling, without what is not shown, case folded."""
    return _folded(spellings(text)[0])


def _folded(spelled: str) -> str:
    """Return a spelled text case folded, each run of white space one space."""
    return " ".join(unicodedata.normalize("NFKC", spelled.casefold()).split())


def _holds(whole: str, words: str) -> bool:
    """Whether a text holds another as whole words."""
    start = whole.find(words)
    while start >= 0:
        end = start + len(words)
        if _may_part(whole, start) and (_may_part(whole, end) or IN_PARTICLES.match(whole, end)):
            return True
        start = whole.find(words, start + 1)
    return False


def _may_part(text: str, place: int) -> bool:
    """Whether a word may end, and another begin, before the character at a place."""
    if not 0 < place < len(text):
        return True
    before = next(filter(_is_base, text[max(0, place - MARKS_MAX - 1) : place][::-1]), " ")
    if _UNSPACED.match(before) or _UNSPACED.match(text[place]):
        return True
    behind = unicodedata.category(text[place])[0]
    if behind == _MARK:
        return False  # it belongs to what is before it
    return not (behind in _LETTER_OR_DIGIT and unicodedata.category(before)[0] in _LETTER_OR_DIGIT)


def _may_be_wanted(record: Redactable) -> bool:
    return record.redacted_at is None or is_retired(record)


def _has_something_left(record: Redactable) -> bool:
    """Whether there is anything to destroy: content, or marks of what retention has emptied."""
    return not is_retired(record) or bool(getattr(record, "mentions", ""))


def _is_base(char: str) -> bool:
    return unicodedata.category(char)[0] != _MARK


def _ref(record: Redactable) -> RecordRef:
    agent_id = record.agent_id if record.private else None
    return RecordRef(graph_id=record.graph_id, id=record.id, agent_id=agent_id)


def _place_of(cursor: str) -> Place:
    """Return where a page begins."""
    accepted = "the cursor of a page, or an empty one to begin"
    place = Place(*(place_of(cursor, (int, str), accepted) or ()))
    if not 0 <= place.kind < len(KINDS):
        raise UsageError("cursor", cursor, accepted)
    return place
