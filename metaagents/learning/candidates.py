"""What a pass has before it and what it may store, with a model and without. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import TypeAlias

from tiers.learning import USER
from tiers.lexical import STOP_WORDS, sentences, words
from tiers.moments import local
from tiers.records import Owned, Rule, Source, Turn

from ..claims.forms import root
from ..distinctive import is_negated
from .corrections import only_corrects, put_right, put_right_within, roots_of, without_joke
from .following import Replies, outcome_of
from .grammar.answers import answered, only_answers
from .grammar.subjects import kind_of
from .patterns import (
    CONFIDENCE,
    Stated,
    points_back,
    stated,
    stated_after,
    stated_beside,
    subject_of,
)
from .plain_speech import is_plain
from .regexes import any_case, regex
from .retractions import with_corrected

_OF_IT = any_case(r"(?:\w+,? ){0,3}it(?:['\u2019]s)? ")
_MID_NAME = regex(r"(?<=[\w,;:] )[A-Z]\w+|^[A-Z]\w+(?= (?:is|was|has)\b)")
Whose: TypeAlias = tuple[str | None, bool, tuple[str, ...]]
"""User, privacy and topics: who may see what is made of a turn."""


@dataclass(frozen=True)
class Window:
    """What a pass has before it; nothing redacted or retired.

    Attributes:
        new: Turns that nobody has read yet, in order: the only ones that may be cited.
        earlier: Turns before these, oldest first.
        rules: Playbooks that were in the contexts of the turns, by id, for a model.
        replies: Which playbooks replies may have followed, of which new turns may say how they did.
        zone: By whose clock ``yesterday`` is the day before.
        agents: Who speaks in the turns and is another agent of the graph.
    """

    new: tuple[Turn, ...]
    earlier: tuple[Turn, ...] = ()
    rules: Mapping[str, Rule] = field(default_factory=dict)
    replies: Replies = field(default_factory=Replies)
    zone: tzinfo = UTC
    agents: frozenset[str] = frozenset()

    def is_of_agent(self, turn: Turn) -> bool:
        """Whether what is said to the agent of a turn is another agent's word."""
        return turn.speaker in self.agents

    def stated(self, said: str, turn: Turn) -> list[Stated]:
        """Return what words state plainly that the user of a turn said then."""
        return stated(said, subject_of(turn), local(turn.occurred_at, self.zone))

    def beside(self, turn: Turn) -> Iterator[FactDraft]:
        """Yield what a turn states of changes and endings that is no news in itself."""
        at = local(turn.occurred_at, self.zone)
        said = stated_beside(without_joke(turn.input), subject_of(turn), at)
        yield from (FactDraft(_whose(turn), one, CONFIDENCE, (turn.id,)) for one in said)

    def shown(self) -> dict[str, Turn]:
        """Return the new turns by the short ids that a model sees."""
        return {f"T{number}": turn for number, turn in enumerate(self.new, 1)}

    def shown_rules(self) -> dict[str, Rule]:
        """Return the playbooks by the short ids that a model sees."""
        return {f"P{number}": rule for number, rule in enumerate(self.rules.values(), 1)}


@dataclass(frozen=True)
class Limits:
    """From when on a candidate counts, and how many of them.

    Attributes:
        confidence_min: Of facts.
        playbook_confidence_min: Of playbooks.
        facts_max: Facts of one answer.
    """

    confidence_min: float = 0.6
    playbook_confidence_min: float = 0.8
    facts_max: int = 20


@dataclass(frozen=True, order=True)
class Saying:
    """When and where something was said: what is later by this is the later statement.

    Attributes:
        at: When.
        seq: Of the turn in which.
        place: Among what was found in that turn, in the order of its text.
    """

    at: datetime
    seq: int
    place: int = 0


@dataclass(frozen=True)
class FactDraft:
    """A fact to be stored."""

    whose: Whose
    said: Stated
    confidence: float
    source_ids: tuple[str, ...]
    saying: Saying | None = None
    source: Source = "user"


@dataclass(frozen=True)
class PlaybookDraft:
    """A playbook to be stored, if there is none for its trigger."""

    whose: Whose
    trigger: str
    steps: tuple[str, ...]
    source_ids: tuple[str, ...]


@dataclass(frozen=True)
class Counted:
    """An outcome of a playbook; ``cause`` is the turn that says so."""

    rule_id: str
    cause: str
    is_success: bool


@dataclass(frozen=True)
class Refinement:
    """New steps for a playbook."""

    rule: Rule
    steps: tuple[str, ...]
    source_id: str


@dataclass
class Findings:
    """What a pass stores, and what it does not.

    Attributes:
        drops: How many candidates were dropped, by reason.
        dropped_sources: The turns that these cited.
    """

    facts: list[FactDraft] = field(default_factory=list)
    playbooks: list[PlaybookDraft] = field(default_factory=list)
    outcomes: list[Counted] = field(default_factory=list)
    refinements: list[Refinement] = field(default_factory=list)
    drops: Counter[str] = field(default_factory=Counter)
    dropped_sources: dict[str, None] = field(default_factory=dict)

    def drop(self, reason: str, cited: Iterable[Turn] = (), count: int = 1) -> None:
        """Count dropped candidates."""
        self.drops[reason] += count
        self.dropped_sources.update(dict.fromkeys(turn.id for turn in cited))


def keyless_outcomes(window: Window) -> list[Counted]:
    """Return what the new turns say about the playbooks that the replies before them followed."""
    turns = (*window.earlier, *window.new)
    outcomes = [(turn, outcome_of(turns, turn, window.replies)) for turn in window.new]
    return [
        Counted(found[0].id, turn.id, found[1] == "confirmed")
        for turn, found in outcomes
        if found is not None
    ]


def by_patterns(window: Window) -> list[FactDraft]:
    """Return the facts that the users of the new turns state plainly, put right, or answer."""
    return [
        FactDraft(
            _whose(turn),
            said,
            CONFIDENCE,
            sources,
            source="agent" if window.is_of_agent(turn) else "user",
        )
        for turn in window.new
        for said, sources in (
            *with_corrected(
                _said_alone(turn, window), turn, _said_before(turn, window), window.stated
            ),
            *put_right(turn, _said_before(turn, window), window.stated),
            *_answered(turn, window),
            *_carried_on(turn, window),
        )
    ]


def _said_alone(turn: Turn, window: Window) -> list[Stated]:
    """Return what the words of a turn state by themselves, whoever asked before."""
    former = _right_before(turn, window)
    asked = (former.response or former.input) if former else ""
    is_part = only_answers(asked, turn.input) or only_corrects(turn.input)
    if is_part:
        return []
    said = put_right_within(without_joke(turn.input), turn, window.stated)
    return window.stated(said, turn)


def _carried_on(turn: Turn, window: Window) -> Iterator[tuple[Stated, tuple[str, ...]]]:
    """Yield what a turn says of whom its speaker named right before: ``She works at BP now``.

    So does what answers a question about them: ``What's his name?`` ``Bruno``.

    The reply between them names nobody else; "it" after a question is what was asked for.
    """
    former = _right_before(turn, window)
    if former is None or subject_of(former) != subject_of(turn):
        return
    said = answered(former.response, turn.input) or turn.input
    if not points_back(said):
        return
    reply, last = former.response.strip(), (sentences(former.input) or [""])[-1]
    is_asked = reply.endswith("?") and _OF_IT.match(said) is not None
    if is_asked or last.endswith("?") or _names_another(reply, former.input):
        return
    at = local(turn.occurred_at, window.zone)
    if found := stated_after(last, said, subject_of(turn), at):
        own = {one.text for one in window.stated(turn.input, turn)}
        yield from ((one, (former.id, turn.id)) for one in found if one.text not in own)


def _names_another(reply: str, said: str) -> bool:
    """Whether a reply speaks of somebody who was not named before."""
    known = {*words(said), "i"}
    named = {one.lower() for one in _MID_NAME.findall(reply)}
    return bool({*named, *filter(kind_of, words(reply))} - known)


def _answered(turn: Turn, window: Window) -> Iterator[tuple[Stated, tuple[str, ...]]]:
    """Yield what a turn says with what it leaves out of the question right before it.

    That is of the agent's reply, or of another speaker; what answers it is the speaker's own.
    """
    former = _right_before(turn, window)
    if former is None:
        return
    is_others = subject_of(former) != subject_of(turn)
    question = former.response or (former.input if is_others else "")
    said = answered(question, turn.input)
    yield from ((one, (former.id, turn.id)) for one in window.stated(said or "", turn))


def _right_before(turn: Turn, window: Window) -> Turn | None:
    """Return the turn before another, if it is seen by the same and plain: who plays plays on."""
    before = [one for one in (*window.earlier, *window.new) if one.seq < turn.seq]
    is_same = bool(before) and _whose(before[-1]) == _whose(turn)
    return before[-1] if is_same and is_plain(before[-1].input) else None


def _said_before(turn: Turn, window: Window) -> list[Turn]:
    """Return the turns before another in which the same spoke to the same, oldest first."""
    who = (_whose(turn), subject_of(turn))
    turns = (*window.earlier, *window.new)
    return [one for one in turns if one.seq < turn.seq and (_whose(one), subject_of(one)) == who]


def _whose(turn: Turn) -> Whose:
    return turn.user_id, turn.private, turn.topics


def in_order_of_saying(drafts: Sequence[FactDraft], window: Window) -> list[FactDraft]:
    """Return facts of a pass in the order in which they were said, each with when and where.

    By the last of its turns, then by the last sentence there that has most of its words; of one
    sentence, in the order in which they were found.
    """
    turns = {turn.id: turn for turn in (*window.earlier, *window.new)}
    heard: dict[str, list[frozenset[str]]] = {}
    placed: list[tuple[datetime, int, int, int]] = []
    for number, draft in enumerate(drafts):
        last = max(
            (turns[one] for one in draft.source_ids), key=lambda one: (one.occurred_at, one.seq)
        )
        if last.id not in heard:
            heard[last.id] = [roots_of(sentence) for sentence in sentences(last.input)]
        placed.append((last.occurred_at, last.seq, _place(draft.said.text, heard[last.id]), number))
    return [
        replace(drafts[number], saying=Saying(at, seq, place))
        for place, (at, seq, _, number) in enumerate(sorted(placed))
    ]


def _place(text: str, said: Sequence[frozenset[str]]) -> int:
    """Return which sentence says a text: the last of those that have most of its words."""
    own = roots_of(text)
    shared = [(len(own & roots), number) for number, roots in enumerate(said)]
    return max(shared, default=(0, 0))[1]


def is_found(draft: FactDraft, known: Sequence[FactDraft]) -> bool:
    """Whether a statement of the same turn is there already that says as much, or more."""
    return any(
        one.whose == draft.whose
        and not set(one.source_ids).isdisjoint(draft.source_ids)
        and _says_as_much(one.said, draft.said)
        for one in known
    )


def whose_all(turns: Sequence[Turn]) -> Whose | None:
    """Return who may see what is made of all these turns; ``None``: it must not be made.

    They are of one user and equally private. The topics are those that all have; a turn without
    topics is seen by everybody and takes none away.
    """
    owners = {(turn.user_id, turn.private) for turn in turns}
    if len(owners) != 1:
        return None
    sets = [set(turn.topics) for turn in turns if turn.topics]
    common = set.intersection(*sets) if sets else set()
    if sets and not common:
        return None
    return (*owners.pop(), tuple(sorted(common)))


def readable_by_all(source: Owned, whose: Whose) -> bool:
    """Whether whoever may see what is ``whose`` may see the source as well."""
    user_id, private, topics = whose
    if source.user_id not in {None, user_id} or (source.private and not private):
        return False
    return not source.topics or (bool(topics) and set(topics) <= set(source.topics))


def is_same_trigger(one: str, other: str) -> bool:
    """Whether two triggers say the same, by their content words."""
    return _says(one) == _says(other)


def _says_as_much(one: Stated, other: Stated) -> bool:
    """Whether a statement has all content words of another, in the same sense."""
    (words_of_one, is_denied), (words_of_other, is_other_denied) = (
        _says(said.text, one.subject) for said in (one, other)
    )
    return words_of_other <= words_of_one and is_denied == is_other_denied


def _says(text: str, subject: str | None = None) -> tuple[frozenset[str], bool]:
    """Return the content words of a text in any form, save for whom it is about, and its sense."""
    about = {USER, *words(subject or "")}
    said = (root(word) for word in words(text) if word not in STOP_WORDS and word not in about)
    return frozenset(said), is_negated(text)
