"""Whether what a model answered may be stored: every claim of it checked in code. Pure.

What fails is dropped and counted by reason, never repaired. A fact in words that nobody has said
still tells which sentence of the user's is worth keeping: that one is told as it was said. Where an
earlier turn resolves a name or a word, it becomes a source too, so that redacting it reaches what
was made of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from tiers.lexical import STOP_WORDS, sentences, words
from tiers.moments import local
from tiers.records import FactType, Rule, Source, Turn

from ..claims.clause import AGENT, USER
from ..claims.clause import Voice as Speaking
from ..claims.forms import alike, base, root
from ..claims.support import Said, Sources, Support
from .candidates import (
    Counted,
    FactDraft,
    Findings,
    Limits,
    PlaybookDraft,
    Refinement,
    Whose,
    Window,
    readable_by_all,
    whose_all,
)
from .following import spoken_of
from .grammar.as_said import claims_as_said
from .grammar.clauses import plain_quotes
from .grammar.doubts import is_taken_back
from .grounding import Heard, ground
from .grounding import Said as Words
from .instructions import is_instruction, is_override, statements_of, words_of
from .outcomes import corrects, reading
from .patterns import Stated, of_claim, subject_of
from .plain_speech import in_plain_letters, is_plain
from .prompts import Extraction, FactFound, OutcomeFound, PlaybookFound
from .validity import stated_days

TEXT_CHARS_MAX = 400
PART_CHARS_MAX = 120
TOOL_CHARS_HEARD = 20_000
"""So much of one output of a tool is read for what it states: far more than a model is shown."""
STEPS_MIN = 2
STEPS_MAX = 20
SOURCES_MAX = 16
PLAYBOOKS_PER_PASS_MAX = 5
OUTCOMES_PER_PASS_MAX = 20
SHARED_MIN, SHARED_SHARE_MIN = 2, 1 / 3
"""So many words, and so many of all that say something, two tellings of one thing share."""
RESOLUTION_TURNS = 3
"""How many turns before a confirmation may hold the steps that it confirms."""

Voice: TypeAlias = Literal["user", "resolution"]
"""Whose words of a turn count: the user's, or the agent's as well."""

# A predicate with a verb can hold of many things at a time, unless it is one of these.
_ONE_AT_A_TIME = frozenset(
    "lives in|live in|works at|works for|works as|from|is from|is called|born in|born on|"
    "was born in|was born on|married to|is married to|reports to|located in|is located in|status|"
    "resides in|based in|is based in".split("|")
)
_MANY = frozenset("has have had can is are was were also likes owns children people".split())


def checked(window: Window, answer: Extraction, limits: Limits) -> Findings:
    """Return what of a model's answer may be stored."""
    return _Check(window, limits).of(answer)


def is_one_at_a_time(predicate: str) -> bool:
    """Whether there is one object at a time, so that a later fact takes the place of an earlier.

    True for nouns (``favourite colour``, ``budget``) and a few verbs; another verb or a plural
    (``likes``, ``visited``, ``hobbies``) may hold of many.
    """
    plain = " ".join(predicate.replace("_", " ").lower().split())
    if plain in _ONE_AT_A_TIME:
        return True
    parts = plain.split()
    is_plural = any(part.endswith("s") and not part.endswith(("ss", "us", "'s")) for part in parts)
    is_verb = any(part.endswith(("ed", "ing")) for part in parts)
    return bool(parts) and not is_plural and not is_verb and not _MANY & set(parts)


class _Check:
    """Checks one answer. What a turn says is taken apart once."""

    def __init__(self, window: Window, limits: Limits) -> None:
        self._limits = limits
        self._window = window
        self._found = Findings()
        self._cited = window.shown() | {turn.id: turn for turn in window.new}
        self._rules = window.shown_rules() | dict(window.rules)
        self._all = (*window.earlier, *window.new)
        self._heard: dict[tuple[str, Voice], Heard] = {}
        self._refused: list[tuple[str, Sequence[Turn], Whose, float]] = []
        self._own = frozenset(root(word) for turn in self._all for word in words(turn.response))

    def of(self, answer: Extraction) -> Findings:
        limit = self._limits.facts_max
        for fact in answer.facts[:limit]:
            self._fact(fact)
        for refused in self._refused:
            self._tell_as_said(*refused)
        for playbook in answer.playbooks[:PLAYBOOKS_PER_PASS_MAX]:
            self._playbook(playbook)
        for outcome in answer.outcomes[:OUTCOMES_PER_PASS_MAX]:
            self._outcome(outcome)
        beyond = max(0, len(answer.facts) - limit)
        beyond += max(0, len(answer.playbooks) - PLAYBOOKS_PER_PASS_MAX)
        beyond += max(0, len(answer.outcomes) - OUTCOMES_PER_PASS_MAX)
        if beyond:
            self._found.drop("too many", count=beyond)
        return self._found

    def _fact(self, found: FactFound) -> None:
        cited = self._turns(found.source_ids)
        text = _clean(found.text, TEXT_CHARS_MAX)
        if text is None or is_override(text):
            self._found.drop("no statement", cited)
            return
        whose = self._whose(cited, found.confidence, self._limits.confidence_min)
        if whose is None:
            return
        support = self._support(text, cited, whose)
        by_agent = any(map(self._window.is_of_agent, cited))
        by_user = support.kinds <= {"user"} and not by_agent
        needs_user = is_instruction(text)
        reason = support.reason or self._unfounded(support, cited, needs_user=needs_user)
        if reason is None and needs_user and by_agent:
            reason = "an order of another agent"
        if reason is not None:
            self._found.drop(reason, cited)
            self._refused.append((text, cited, whose, found.confidence))
            return
        sources = self._sources(cited, support.keys)
        said = _stated(found, text, sources, by_user=by_user)
        ids = tuple(turn.id for turn in sources)
        source: Source = "user" if by_user else "agent" if by_agent else "tool"
        self._found.facts.append(FactDraft(whose, said, found.confidence, ids, source=source))

    def _tell_as_said(
        self, text: str, cited: Sequence[Turn], whose: Whose, confidence: float
    ) -> None:
        """Keep the sentence that a refused fact is about, unless most of it is known besides."""
        about = _roots(text)
        nearest = max(cited, key=lambda turn: _shared(about, words_of(turn.input)))
        plain = self._window.stated(words_of(nearest.input), nearest)
        known = [one.text for one in plain] + [
            one.said.text for one in self._found.facts if nearest.id in one.source_ids
        ]
        at = local(nearest.occurred_at, self._window.zone)
        told = told_as_said(words_of(nearest.input), about, subject_of(nearest), at)
        if told is None:
            return
        said = _roots(told.text) - _roots(subject_of(nearest))
        if len(said - _roots(" ".join(known))) > len(said) / 2:
            source: Source = "agent" if self._window.is_of_agent(nearest) else "user"
            draft = FactDraft(whose, told, confidence, (nearest.id,), source=source)
            self._found.facts.append(draft)

    @staticmethod
    def _unfounded(support: Support, cited: Sequence[Turn], *, needs_user: bool) -> str | None:
        """Return why its speakers do not count: an agent for nothing, a tool for no order."""
        if "agent" in support.kinds:
            return "the agent's own words"
        if needs_user and not support.kinds <= {"user"}:
            return "not in the sources"
        is_cited = not support.keys.isdisjoint(turn.id for turn in cited)
        return None if is_cited else "too little of it said"

    def _support(self, text: str, cited: Sequence[Turn], whose: Whose) -> Support:
        """Say whether a fact is what the cited turns say, as they say it, and which turns say so.

        Turns before them tell whom a pronoun means, and what was asked.
        """
        before = {turn.id for turn in self._before(cited, whose)} | {turn.id for turn in cited}
        sources = Sources([one for turn in self._all if turn.id in before for one in _voices(turn)])
        found = [sources.reader(in_notes=True).support(one) for one in sentences(text)]
        wrong = next((one for one in found if one.reason is not None), None)
        keys = frozenset().union(*(one.keys for one in found))
        kinds = frozenset().union(*(one.kinds for one in found))
        return wrong or Support(None, (), keys, kinds)

    def _playbook(self, found: PlaybookFound) -> None:
        cited = self._turns(found.source_ids)
        trigger = _clean(found.trigger, TEXT_CHARS_MAX)
        steps = _clean_steps(found.steps)
        if trigger is None or steps is None or len(steps) < STEPS_MIN:
            self._found.drop("no whole resolution", cited)
            return
        whose = self._whose(cited, found.confidence, self._limits.playbook_confidence_min)
        if whose is None:
            return
        resolved = self._resolved(cited, whose)
        spoken: list[Turn] = self._sources(cited, [turn.id for turn in resolved])
        agreed = {turn.id for turn in resolved}
        heard = [self._hear(turn, "resolution" if turn.id in agreed else "user") for turn in spoken]
        # What the user has confirmed is not the agent's alone any more.
        own = () if agreed else self._own
        for text in (trigger, *steps):
            reason = ground(text, heard, own)
            if reason is not None:
                self._found.drop(reason, cited)
                return
        roots_of_rule = {root(word) for text in (trigger, *steps) for word in words(text)}
        rests_on = {one.turn_id for one in heard if one.roots & roots_of_rule} | {
            one.id for one in cited
        }
        ids = tuple(turn.id for turn in spoken if turn.id in rests_on)
        self._found.playbooks.append(PlaybookDraft(whose, trigger, steps, ids))

    def _resolved(self, cited: Sequence[Turn], whose: Whose) -> list[Turn]:
        """Return the turns whose answers the user has confirmed in a cited turn."""
        confirmed = [turn for turn in cited if reading(words_of(turn.input)) == "confirmed"]
        return [
            turn
            for turn in self._all
            if readable_by_all(turn, whose)
            and any(
                0 < one.seq - turn.seq <= RESOLUTION_TURNS or (turn in cited and turn.seq < one.seq)
                for one in confirmed
            )
        ]

    def _outcome(self, found: OutcomeFound) -> None:
        turn, rule = self._cited.get(found.source_id), self._rules.get(found.rule_id)
        if turn is None or rule is None or found.outcome not in ("confirmed", "rejected"):
            self._found.drop("no known playbook or turn", [turn] if turn else [])
            return
        said = reading(words_of(turn.input))
        if said is None and found.outcome == "rejected" and corrects(words_of(turn.input)):
            said = "rejected"
        if not self._was_at_hand(rule, turn) or not words_of(turn.input).strip():
            self._found.drop("the playbook was not in use", [turn])
            return
        if said not in (None, found.outcome):
            self._found.drop("the user says the opposite", [turn])
            return
        if said is not None:
            self._count(rule, turn, is_success=said == "confirmed")
        elif not found.refined_steps:
            self._found.drop("the user says nothing clear", [turn])
        if found.refined_steps:
            self._refine(rule, turn, found.refined_steps)

    def _count(self, rule: Rule, turn: Turn, *, is_success: bool) -> None:
        """Count an outcome of the playbook that the reply spoken of has followed, of no other."""
        followed = spoken_of(self._all, turn, self._window.replies)
        if followed is None or followed[0].id != rule.id:
            self._found.drop("the reply did not follow the playbook", [turn])
        else:
            self._found.outcomes.append(Counted(rule.id, turn.id, is_success))

    def _was_at_hand(self, rule: Rule, turn: Turn) -> bool:
        """Whether a playbook was in the context of one of the user's last turns."""
        return any(
            rule.id in one.rules and one.user_id == turn.user_id
            for one in self._all
            if 0 < turn.seq - one.seq <= RESOLUTION_TURNS
        )

    def _refine(self, rule: Rule, turn: Turn, answered: Sequence[str]) -> None:
        steps = _clean_steps(answered)
        whose = (rule.user_id, rule.private, rule.topics)
        if steps is None or steps == rule.steps:
            self._found.drop("no new steps", [turn])
        elif not corrects(words_of(turn.input)) or not _may_inform(turn, rule):
            self._found.drop("no correction of the user's", [turn])
        elif not readable_by_all(turn, whose) or not self._is_refined(rule, turn, steps):
            self._found.drop("not in the sources", [turn])
        else:
            self._found.refinements.append(Refinement(rule, steps, turn.id))

    def _is_refined(self, rule: Rule, turn: Turn, steps: Sequence[str]) -> bool:
        """Whether each changed step rests on the old ones and on the user's words, on both."""
        known = Heard.of(Words(rule.id, rule.text))
        heard = self._hear(turn, "user")
        changed = [step for step in steps if step not in rule.steps]
        return all(
            ground(step, [known, heard], self._own) is None
            and {root(word) for word in words(step) if word not in STOP_WORDS} & heard.roots
            for step in changed
        )

    def _turns(self, ids: Iterable[object]) -> list[Turn]:
        """Return the new turns among what an answer cites, in order, each once."""
        known = [self._cited[one] for one in ids if isinstance(one, str) and one in self._cited]
        return sorted({turn.id: turn for turn in known}.values(), key=lambda turn: turn.seq)

    def _whose(self, cited: Sequence[Turn], confidence: float, least: float) -> Whose | None:
        """Return who may see what is made of cited turns, or drop it."""
        if not 0 < len(cited) <= SOURCES_MAX:
            self._found.drop("cites no new turn", cited)
            return None
        if not least <= confidence <= 1.0:
            self._found.drop("low confidence", cited)
            return None
        whose = whose_all(cited)
        if whose is None:
            self._found.drop("sources of several owners or topics", cited)
        return whose

    def _before(self, cited: Sequence[Turn], whose: Whose) -> list[Turn]:
        """Return the turns that may resolve what cited ones say: before the last of them."""
        ids = {turn.id for turn in cited}
        return [
            turn
            for turn in self._all
            if turn.id not in ids and turn.seq < cited[-1].seq and readable_by_all(turn, whose)
        ]

    def _sources(self, cited: Sequence[Turn], also: Iterable[str]) -> list[Turn]:
        ids = {turn.id for turn in cited} | set(also)
        return [turn for turn in self._all if turn.id in ids]

    def _hear(self, turn: Turn, voice: Voice) -> Heard:
        key = (turn.id, voice)
        if key not in self._heard:
            text = words_of(turn.input)
            if voice == "resolution":
                text = f"{text}\n{words_of(turn.response)}"
            names = tuple(name for name in (subject_of(turn), turn.user_id) if name)
            self._heard[key] = Heard.of(Words(turn.id, text, names))
        return self._heard[key]


def told_as_said(said: str, about: frozenset[str], subject: str, at: datetime) -> Stated | None:
    """Return the sentence of a message that shares most with a claim, as it was said.

    ``None`` where it shares too little, or asks, doubts, orders or is of the moment.

    Args:
        said: The user's words.
        about: Roots of what a claim says.
        subject: Who says them.
        at: When.
    """
    if not is_plain(said):
        return None
    told = sentences(in_plain_letters(plain_quotes(said)))
    meant = about - _roots(subject)
    shared = [_shared(meant, one) for one in told]
    best = max(range(len(told)), key=shared.__getitem__, default=None)
    if best is None or shared[best] < max(SHARED_MIN, SHARED_SHARE_MIN * len(meant)):
        return None
    if is_taken_back(told, best):
        return None
    before = told[best - 1] if best else ""
    claims = claims_as_said(told[best], subject, at, before, is_worth_it=True)
    return next((of_claim(one) for one in claims), None)


def _roots(text: str) -> frozenset[str]:
    """Return the roots of the words that say something."""
    return frozenset(base(word) for word in words(text) if word not in STOP_WORDS)


def _shared(about: frozenset[str], text: str) -> int:
    """Return how many roots a text has, or what says the same."""
    known = _roots(text)
    return sum(not known.isdisjoint(alike(one)) for one in about)


def _voices(turn: Turn) -> list[Said]:
    """Return who says what in a turn; the agent's words only explain what is said to it."""
    names = [name for name in (subject_of(turn), turn.user_id) if name]
    user = frozenset(word for name in names for word in words(name))
    agent = frozenset(words(turn.agent_id))
    return [
        Said(words_of(turn.input), Speaking("user", user, agent | {AGENT}), turn.id),
        Said(_tool_statements(turn), Speaking("tool"), turn.id),
        Said(turn.response, Speaking("agent", agent, user | {USER}), turn.id),
    ]


def _tool_statements(turn: Turn) -> str:
    return "\n".join(statements_of(one.output[:TOOL_CHARS_HEARD]) for one in turn.tool_outputs)


def _clean(text: object, chars: int) -> str | None:
    """Return a text on one line; ``None`` where it is none, too long, or unprintable."""
    if not isinstance(text, str) or len(text) > 2 * chars:
        return None
    plain = " ".join(text.split())
    return plain if 0 < len(plain) <= chars and plain.isprintable() else None


def _clean_steps(answered: Sequence[object]) -> tuple[str, ...] | None:
    """Return steps that are all acceptable; ``None`` where one is not, or none is left."""
    if len(answered) > STEPS_MAX:
        return None
    steps = [_clean(step, TEXT_CHARS_MAX) for step in answered]
    kept = tuple(dict.fromkeys(step for step in steps if step is not None))
    is_whole = len(kept) == len(answered) and not any(is_override(step) for step in kept)
    return kept if kept and is_whole else None


def _stated(found: FactFound, text: str, sources: Sequence[Turn], *, by_user: bool) -> Stated:
    """Return a grounded fact with what else of the answer holds.

    Who somebody is, and what must never be done to them, a tool does not know: what rests on its
    words is ``world``.
    """
    types: dict[str, FactType] = {one: one for one in get_args(FactType)}
    fact_type = types.get(found.fact_type, "world") if by_user else "world"
    texts = "\n".join(f"{words_of(turn.input)}\n{_tool_statements(turn)}" for turn in sources)
    subject, predicate, thing = _triple(text, found)
    since, until = _validity(found, texts)
    return Stated(text, subject, fact_type, predicate, thing, since, until)


def _triple(text: str, found: FactFound) -> tuple[str | None, str | None, str | None]:
    """Return the parts of an answered triple that are in the statement itself.

    A predicate makes a key by which a later fact takes an earlier one's place: it stays only where
    the whole triple is said and there is one such object at a time.
    """
    said = {root(word) for word in words(text)}

    def is_said(part: str | None) -> bool:
        return part is not None and all(root(word) in said for word in words(part))

    subject, predicate, thing = (
        _clean(part, PART_CHARS_MAX) for part in (found.subject, found.predicate, found.object)
    )
    subject = subject if is_said(subject) else None
    thing = thing if is_said(thing) else None
    plain = predicate.replace("_", " ") if predicate else ""
    is_key = bool(subject and thing and words(plain)) and is_said(plain)
    return subject, plain if is_key and is_one_at_a_time(plain) else None, thing


def _validity(found: FactFound, texts: str) -> tuple[datetime | None, datetime | None]:
    first = stated_days(found.valid_from, texts)
    last = stated_days(found.valid_to, texts)
    if first and last and last.last < first.first:
        return None, None
    return (first.first if first else None, last.last if last else None)


def _may_inform(turn: Turn, rule: Rule) -> bool:
    """Whether a turn's words may go into a playbook: it is of the same user, or of nobody."""
    return rule.user_id == turn.user_id and (not rule.private or rule.agent_id == turn.agent_id)
