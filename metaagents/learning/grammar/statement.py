"""A clause taken apart, and the claims it makes: whom about, what, and when. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from tiers.lexical import MONTHS, WEEKDAYS
from tiers.records import FactType

from ...claims.forms import is_past
from ..regexes import alone, any_case, regex
from ..times import (
    When,
    at_end,
    at_front,
    comes_round,
    is_lifelong,
    often_at_front,
    resolved,
)
from . import subjects
from .clauses import Clause
from .lexicon import BODY, DIETS, EVALUATIVE, POSSESSIONS
from .phrases import as_time, is_worth_keeping
from .rounds import AHEAD, AT_FIRST, AT_SOME, BEGAN, TASTES, is_done_each_day, is_of_one_day
from .subjects import NAMED, Subject, kind_of, opened, split
from .verbs import FORMS, Sense, Verbal, is_known_verb, parsed

WORDS_MAX = 40
LEFT = "left"
RELATION = "relation"
NAME = "name"
TIME = "time"
PLACE = "place"
LED = "led by"
HABIT = "habit"
HAS = "has"
PLAN = "plan"
DIED = "died"
KIND = "kind"
DOES = "does"
DONE = "done"
UNSAID = frozenset(
    {LEFT, RELATION, NAME, TIME, PLACE, LED, HABIT, HAS, PLAN, DIED, KIND, DOES, DONE}
)
"""Attributes that the house names: no speaker says these words."""

_PUTS_OFF = frozenset("move slip shift postpone reschedule push delay".split())
_ENDS = frozenset(("stop", "quit", "give"))
_MARKS = any_case(
    r",? (?:since (?:i was|he was|she was) [\w ]{1,20}|by (?:trade|training|education)"
    r"|by profession|for the time being|by now|by the way|this time|for us|for me|daily basis"
    r"|of all (?:places|things|people)"
    r"|now|these days|nowadays|at the moment|currently|any ?(?:more|longer)|again|too"
    r"|as well|after all"
    r"|instead|from now on|as of (?:now|today)|also|already|so far|for good|finally|recently"
    r"|lately|at last"
    r"|of course|yet|in (?:my|our|his|her) (?:whole |entire )?li(?:fe|ves)|all in all"
    r"|since the \w+|every now and then|actually|originally|you know|please|thankfully)[\s.!]*$"
)
PUT_OFF = regex(
    r"(?:moved(?: up)?|postponed|rescheduled|rebooked|pushed(?: back| out)?|put off|shifted|delayed"
    r"|(?:brought|pulled) forward|extended)(?P<to> (?:to|until|till)\b)?"
)
"""What has another time now has one that is to come."""
_HOW_OFTEN = regex(
    r" (?:a lot|quite a bit|quite often|very often|all the time|every so often|most days"
    r"|now and then|from time to time|on and off|off and on|regularly|frequently|occasionally)$"
)
_BEARS = frozenset("allergic intolerant sensitive addicted".split())
_NEGATED = any_case(r"\b(?:not|never|no|cannot|\w+n't)\b")
_CHANGED = regex(
    r"now|these days|nowadays|any ?(?:more|longer)|again|instead|from now on|after all|currently"
)
_AS_WELL = any_case(r"\b(?:too|as well|also)\b")
_COMES_AGAIN = any_case(r"^for |\b(?:every|each)\b|\b\w+days\b")
"""A time of what is so for long: how long each time, and on which days."""
_STILL_DENIED = ("doesn't", "does not", "don't", "do not", "isn't", "is not", "aren't", "can't")
_THING_WORDS_MAX = 3
_MINE = any_case(alone("(?:my|our)"))
_TO_NAMED = regex(r"\bto [A-Z]")
_GOES = frozenset("move go fly travel relocate come return emigrate drive commute".split())
_WHAT_IS = any_case(
    r"it(?:'s| is| was) (?:about |already |also )?(?:\d|(?:an?|the|my|our) |(?-i:[A-Z]))"
)
_WHAT_IT_IS = regex(r".*?(?= (?:of|at|for|with|in|from|by|to|than)\b|$)")
"""What somebody is, which is nobody else: ``a teacher at Hill Road``."""
_ME = any_case(alone(r"(?!(?-i:US|ME)\b)(?:me|myself|us)"))  # not the states


@dataclass(frozen=True)
class Claim:
    """Something said of somebody or something.

    Attributes:
        subject: Whom or what it is about.
        attribute: What is said of it, in one form for all ways of saying it.
        value: Its value; ``""`` where the attribute says it all.
        text: All of it, told of whom it is about.
        sense: Whether it is so, is not, never was, or is no more.
        is_single: There is one value at a time.
        is_news: Said in talk, it is worth keeping; else it counts where it was meant to be kept.
        is_loose: Its tense alone says it: worth keeping where a message says nothing plainer.
        is_change: It says that something else was so before.
        corrects: It takes back what was said before.
        not_so: What it puts right, in so many words: ``not Max``.
        is_ahead: It is planned.
        given_up: What somebody does at no time, or no more, by its verb: ``drink coffee``.
        valid_from: Since when, if said.
        valid_to: Until when, if said.
        sentence: The number of its sentence in the text.
    """

    subject: str
    attribute: str
    value: str
    text: str
    fact_type: FactType = "world"
    sense: Sense = "is"
    is_single: bool = False
    is_news: bool = False
    is_loose: bool = False
    is_change: bool = False
    corrects: bool = False
    not_so: str = ""
    is_ahead: bool = False
    given_up: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    sentence: int = 0


@dataclass(frozen=True)
class Said:
    """A clause as it was taken apart.

    Attributes:
        subject: Whom it is about.
        verbal: What is said, without times and what only marks it.
        times: When, in the order they were said.
        speaker: Who says it.
        is_change: A mark says that it was otherwise before.
        is_ahead: Its time lies ahead of when it was said.
        is_each: Its time is each of that name: ``bins are collected on Monday``.
    """

    subject: Subject
    verbal: Verbal
    times: tuple[When, ...]
    speaker: str
    clause: Clause
    is_change: bool = False
    is_ahead: bool = False
    is_each: bool = False

    @property
    def is_beside(self) -> bool:
        """Whether it only says who was spoken of: ``a man named Rex``; a child's name is news."""
        one, of = self.subject.text.lower().partition(" ")[::2]
        is_one = one in {"a", "an"} and of not in {"boy", "girl", "son", "daughter"}
        return is_one and self.verbal.phrase in {"named", "called"}

    @property
    def when(self) -> When | None:
        """The time, if one was said."""
        return self.times[0] if self.times else None

    @property
    def is_since(self) -> bool:
        """Whether a beginning was said: ``since 2019``, ``from 2019 to 2021``."""
        return self.when is not None and self.when.sort in {"since", "span"}

    @property
    def _only_then(self) -> str:
        """The time to which a denial keeps, as it is told; ``""`` where it is of no single time."""
        is_then = self.when is not None and self.when.sort == "at" and self.verbal.tense != "past"
        return self.time_text if is_then else ""

    @property
    def _given_up(self) -> str:
        """What somebody does at no time, or no more; ``""`` where that is said of some times."""
        verbal = self.verbal
        if verbal.modal or verbal.habit or any(comes_round(when.text) for when in self.times):
            return ""
        if verbal.sense == "is":
            stopped, _, rest = verbal.rest.removeprefix("up ").partition(" ")
            is_end = verbal.lemma in _ENDS and {when.sort for when in self.times} <= {"at", "since"}
            lemma, form = FORMS.get(stopped, ("", ""))
            return f"{lemma} {rest}".strip() if is_end and form == "ing" else ""
        is_always = verbal.tense == "present" and (self.is_since or not self.times)
        return f"{verbal.lemma} {verbal.rest}".strip() if is_always else ""

    @property
    def time_text(self) -> str:
        """The time as it is told; ``""`` if none was said."""
        return self.when.text if self.when else ""

    def text(self, verb: str | None = None, rest: str | None = None) -> str:
        """Return the clause as it is told of its subject, its times made plain."""
        words = [
            self.subject.text,
            self.verbal.phrase if verb is None else verb,
            of_speaker(self.verbal.rest if rest is None else rest, self.speaker),
            *(when.text for when in self.times),
        ]
        text = (
            " ".join(word for word in words if word)
            .replace(" to on ", " to ")
            .replace(" to in ", " to ")
        )
        if self.verbal.sense == "over" and self.verbal.phrase.startswith(_STILL_DENIED):
            text = f"{text} any more"
        not_so = of_speaker(self.clause.not_so, self.speaker)
        return f"{text}, {not_so}" if not_so else text

    @property
    def is_now(self) -> bool:
        """Whether a mark says that it is so since lately: ``now``, ``these days``."""
        verbal = self.verbal
        is_each = all(_COMES_AGAIN.search(one.text) for one in self.times)
        is_one = verbal.lemma == "be" and " " not in verbal.rest  # what is so called is one thing
        is_one &= verbal.rest not in DIETS and not self.times
        is_one &= not self.subject.text.startswith("the ")
        return self.is_change and verbal.is_so and is_each and not is_one

    @property
    def is_bygone(self) -> bool:
        """Whether it was so once and is told as that: ``was 10 mg in October``."""
        verbal = self.verbal
        if verbal.tense != "past" or verbal.lemma != "be" or self.clause.corrects:
            return False
        is_done = is_past(verbal.rest.partition(" ")[0])
        is_then = any(one.sort in {"at", "until", "span"} for one in self.times)
        return (is_then and not is_done) or AT_FIRST.search(self.clause.text) is not None

    @property
    def is_beside_another(self) -> bool:
        """Whether somebody works or lives so as well, or at some times only."""
        if self.subject.sort == "thing" or self.verbal.lemma not in {"work", "live"}:
            return False
        told = (self.verbal.rest, *(one.text for one in self.times))
        is_some = any(AT_SOME.search(one) for one in told)
        return is_some or _AS_WELL.search(self.clause.text) is not None

    def clause_as_said(self) -> str:
        """Return the clause of its subject with its times as they were said."""
        found = re.search(
            rf"\b{re.escape(self.verbal.phrase)}\b.*", self.clause.text, re.IGNORECASE
        )
        tail = found.group() if found else self.text()
        return f"{self.subject.text} {of_speaker(tail, self.speaker)}".rstrip(" .!")

    def claim(self, attribute: str, value: str, **more: object) -> Claim:
        """Return a claim of this clause about its subject, with its sense and time."""
        is_over = self.verbal.sense == "over"
        since, until = self.when.validity(is_over=is_over) if self.when else (None, None)
        if self.verbal.sense == "not":
            # Who doesn't always eat meat does eat it; who doesn't on Monday may on Tuesday.
            value = " ".join(part for part in (self.verbal.habit, value, self._only_then) if part)
        made = Claim(
            subject=self.subject.text,
            attribute=attribute,
            value=value,
            text=self.text(),
            sense="never" if self.clause.denied else self.verbal.sense,
            is_change=self.is_change or self.subject.is_new,
            corrects=self.clause.corrects or self.clause.denied,
            not_so=self.clause.not_so,
            given_up=of_speaker(self._given_up, self.speaker),
            valid_from=since,
            valid_to=until,
            sentence=self.clause.sentence,
        )
        made = replace(made, **more)  # type: ignore[arg-type]
        # One value takes the other's place anyway, unless that was told of "our" standup.
        is_telling = not made.is_single or made.subject.startswith("the ")
        if self.is_now and is_telling and "text" not in more:
            made = replace(made, text=f"{made.text} now")
        if self.clause.denied:
            made = replace(made, text=f"It is not true that {made.text}")
        # "My cousin" may be one of several: another value is another cousin's, unless put right.
        is_put_right = made.corrects and not made.not_so
        is_one = (
            not self.subject.is_one_of_many or made.subject != self.subject.text or is_put_right
        )
        is_one &= not (self.is_bygone or self.is_beside_another)
        made = replace(made, text=self._with_mark(made.text))
        return made if is_one else replace(made, is_single=False)

    def _with_mark(self, text: str) -> str:
        """Return a text with the word that says that something was so first, or is so as well."""
        said = self.clause.text
        if self.is_beside_another and _AS_WELL.search(said):
            return text.replace(f"{self.subject.text} ", f"{self.subject.text} also ", 1)
        first = AT_FIRST.search(said) if self.is_bygone else None
        mark = first[0].lower() if first and first[0].lower() not in text.lower() else ""
        return text.replace(" was ", f" was {mark} ", 1) if mark else text

    def timeless(self, attribute: str, value: str, **more: object) -> Claim:
        """Return a claim as ``claim`` does, without when it is valid."""
        return self.claim(attribute, value, valid_from=None, valid_to=None, **more)


def of_speaker(text: str, speaker: str) -> str:
    """Return words with ``my`` and ``me`` replaced by whose and who it is."""
    owned = _MINE.sub(lambda _: f"{speaker}'s", text)
    return _ME.sub(lambda _: speaker, owned)


def taken_apart(
    clause: Clause, speaker: str, at: datetime | None, before: Said | None = None
) -> Said | None:
    """Return a clause with subject, verb and times apart; ``None`` when it is no statement.

    Args:
        clause: The clause.
        speaker: Who says it.
        at: When it was said.
        before: The part of the same sentence before it, if there is one.
    """
    # "After ten years", "on Sundays", "these days": what frames a clause is no part of it.
    bare, front = at_front(often_at_front(opened(clause.text.strip(" .!"))))
    bare, is_change, ends = _without_marks(_without_how_often(bare))
    words = _inverted(bare).split()
    if len(words) > WORDS_MAX:
        return None
    found = _subject(words, speaker, clause, before)
    if found is None:
        return None
    subject, start = found
    if subject.sort == "thing" and _MINE.search(subject.text):
        subject = replace(subject, text=of_speaker(subject.text, speaker))
    words = _with_it_named(words, before, goes_on=clause.goes_on)
    is_own = subject.sort == "speaker" and not subject.beside
    verbal = parsed(words[start:], is_own=is_own)
    if verbal is None or (clause.goes_on and not is_known_verb(verbal.lemma)):
        return None
    puts_off = verbal.lemma in _PUTS_OFF and f" {verbal.rest}".endswith(" to")
    is_ahead = (
        verbal.tense == "ahead"
        or verbal.lemma in AHEAD
        or puts_off
        or PUT_OFF.fullmatch(verbal.rest) is not None
        or (verbal.tense == "present" and not verbal.habit)
    )
    times: list[When] = []
    is_each_day = False
    if front and front.split()[0].lower() not in {*WEEKDAYS, *MONTHS}:
        front = f"{front[0].lower()}{front[1:]}"  # it is told at the end
    for time in (*([front] if front else []), *reversed(ends)):
        if time.lower() in {"ever since", "since then"}:
            times += before.times[0].onwards() if before is not None and before.times else []
        elif not (verbal.tense == "past" and is_lifelong(time)):
            is_each_day |= is_done_each_day(subject, verbal, time)
            is_dated = is_of_one_day(subject, verbal, time)
            when = resolved(time, at if is_dated else None, is_ahead=is_ahead)
            # What was put off is so from now on, and not from the day on to which it was.
            times.append(replace(when, days=None) if puts_off else when)
    if _is_no_more(verbal, bare, clause.text):
        verbal = replace(verbal, sense="over")
    lies_ahead = at is not None and any(one.days and one.days.first > at for one in times)
    is_change |= verbal.is_now or any(BEGAN.match(one.text) for one in times)
    is_change = is_change and not _AS_WELL.search(clause.text)
    return Said(subject, verbal, tuple(times), speaker, clause, is_change, lies_ahead, is_each_day)


def _with_it_named(words: list[str], before: Said | None, *, goes_on: bool) -> list[str]:
    """Return a clause that ends with "it", with what the part before is about in its place.

    ``Aspirin is out, I'm allergic to aspirin``; ``I used to hate olives but I love olives``; ``I
    failed the exam and passed the exam``, where it goes on.
    """
    if before is None or words[-1].lower() not in {"it", "them"}:
        return words
    is_borne = words[-2:-1] == ["to"] and bool(_BEARS.intersection(words))
    if before.subject.sort == "thing" or (is_borne and before.subject.sort == "named"):
        return [*words[:-1], *before.subject.text.lower().split()]
    thing = before.verbal.rest.split()
    is_one = goes_on and thing[:1] in (["my"], ["our"], ["the"], ["a"], ["an"])
    is_known = before.verbal.lemma in {*TASTES, "have"} or is_one
    is_told = before.subject.sort == "speaker" and is_known
    return [*words[:-1], *thing] if is_told and 0 < len(thing) <= _THING_WORDS_MAX else words


def unread(clause: Clause, speaker: str) -> Said | None:
    """Return whom a clause is about that nobody could read, for the one that goes on from it."""
    found = split(opened(clause.text).split(), speaker)
    return found and Said(found[0], Verbal("", "", "", "past"), (), speaker, clause)


def _is_no_more(verbal: Verbal, bare: str, text: str) -> bool:
    """Whether a denial says that something was so before: ``not any more``."""
    return (
        verbal.sense == "not"
        and re.search(r"\bany ?(?:more|longer)\b", text[len(bare) :]) is not None
    )


def _subject(
    words: list[str], speaker: str, clause: Clause, before: Said | None
) -> tuple[Subject, int] | None:
    """Return whom words are about: somebody named there, or whom the part before is about."""
    if before is not None and words:
        if clause.goes_on:
            return before.subject, 0
        pronoun = words[0].lower()
        is_said = pronoun in subjects.PRONOUNS and len(words) > 1
        look = _owner_meant if _is_of_theirs(pronoun, before.subject) else _meant
        meant = look(pronoun, clause, before) if is_said else None
        if meant is not None:
            return subjects.owned(words, 1, meant.text) if pronoun in subjects.WHOSE else (meant, 1)
    return split(words, speaker)


def _meant(pronoun: str, clause: Clause, before: Said) -> Subject | None:
    """Return whom "he" or "her" means, where it can be nobody else of the clause before."""
    subject, verbal = before.subject, before.verbal
    rest = verbal.rest or before.clause.text
    if subject.sort == "speaker":
        is_so = verbal.sense == "is" and verbal.tense != "ahead" and not verbal.modal
        is_had = is_so and verbal.lemma in {"have", "get", "adopt"} and not subject.beside
        one = subjects.somebody_in(verbal.rest, before.speaker, is_had=is_had)
        return one if one is not None and subjects.fits(pronoun, one) else None
    if not subjects.fits(pronoun, subject):
        return None
    if pronoun in {"he", "she"} and clause.sentence == before.clause.sentence:
        return subject
    if verbal.lemma == "be":
        rest = _WHAT_IT_IS.sub("", verbal.rest, count=1)
    if pronoun in {"it", "its"}:
        is_praise = not is_worth_keeping(clause.text, EVALUATIVE)
        if is_praise or (_WHAT_IS.match(clause.text) and not clause.corrects):
            return None  # "it's great", "it's 8:30", "it's the colour of the sea"
        return subject if not rest.strip() or as_time(rest) else None
    is_other = any(map(kind_of, rest.split())) or NAMED.search(rest) is not None
    is_other |= verbal.lemma not in _GOES and _TO_NAMED.search(rest) is not None
    return subject if _is_living(subject) and not is_other else None


_OF_ONE = frozenset("name birthday job address email number car house flat surgery wedding".split())
"""What is somebody's and nobody: who it is of is meant by "she"."""
_NAMING = frozenset(("name", "birthday"))


def _is_of_theirs(pronoun: str, subject: Subject) -> bool:
    """Whether a subject is something of somebody's, so that "she" is whose it is."""
    last = subject.noun.lower().rpartition(" ")[2]
    is_thing = "'s " in subject.noun and last in _OF_ONE | POSSESSIONS | BODY
    return is_thing and pronoun in {"he", "she", "his", "her"}


def _owner_meant(pronoun: str, clause: Clause, before: Said) -> Subject | None:
    """Return whose a thing is that the part before is about: ``my mum's car is old and she``."""
    subject, speaker = before.subject, before.speaker
    of_whom, _, thing = subject.noun.rpartition("'s ")
    is_theirs = subject.sort == "owned" and subject.owner == speaker and thing in _OF_ONE
    if not is_theirs or clause.sentence != before.clause.sentence:
        return None
    rest = before.verbal.rest
    is_other = any(map(kind_of, rest.split())) or NAMED.search(rest) is not None
    one = subjects.of_possession(f"my {of_whom}", speaker)
    is_one = one is not None and bool(one.kind) and subjects.fits(pronoun, one)
    return one if is_one and (thing in _NAMING or not is_other) else None


def _is_living(subject: Subject) -> bool:
    return subject.sort == "named" or bool(subject.kind)


def _without_how_often(clause: str) -> str:
    """Return a clause without how often at its end; who does not do it often may do it still."""
    return clause if _NEGATED.search(clause) else _HOW_OFTEN.sub("", clause)


def _without_marks(clause: str) -> tuple[str, bool, list[str]]:
    """Return a clause without the marks and times at its end, if they tell a change, and these."""
    is_change, times = False, []
    for _ in range(4):
        bare = _MARKS.sub("", clause)
        if bare != clause:
            is_change |= _CHANGED.search(clause[len(bare) :]) is not None
        timeless, said = at_end(bare)
        if said:
            times.append(said)
        if timeless == clause:
            break
        clause = timeless
    return clause.strip(" ,.!"), is_change, times


def _inverted(clause: str) -> str:
    """Return ``The keys are in the drawer`` for ``In the drawer are the keys``."""
    found = re.fullmatch(
        r"((?:in|on|at|under) [\w ]{2,40}?) (is|are) (the|my|our) ([\w ]{2,40})",
        clause,
        re.IGNORECASE,
    )
    return f"{found[3]} {found[4]} {found[2]} {found[1].lower()}" if found else clause
