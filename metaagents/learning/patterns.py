"""What a user says plainly about themselves, found by rule: for when there is no model. Pure.

English, and of high precision rather than recall. A few set phrases, such as "call me" and "my
e-mail is", are read as wholes; all else is read by the grammar, of which only what is news in talk
counts. Questions, conditions, quotations, reports, jokes, and text that the user only hands over
to be worked on count nothing. What the agent said is never looked at, but for the question that a
user answers in a few words (``grammar/answers.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from tiers.learning import name_of_speaker
from tiers.lexical import MONTHS, sentences, words
from tiers.records import FactType, Turn

from .grammar.as_said import claims_as_said, is_half_covered
from .grammar.claims import claims_in
from .grammar.clauses import Clause, clauses, is_clear, plain_quotes, without_greeting
from .grammar.doubts import is_taken_back
from .grammar.ellipses import with_speaker
from .grammar.mentions import mentioned
from .grammar.retellings import retold
from .grammar.shorthand import headings_spelled_out, with_capitals
from .grammar.standing import requested
from .grammar.statement import Claim
from .plain_speech import NO_NAME, NOT_NOTED, POINTING, in_plain_letters, is_plain
from .regexes import any_case, regex
from .rewording import in_third_person, third_person
from .updates import tells_of_change

CONFIDENCE = 0.9
"""Of what a pattern found: said plainly, yet read by rule."""

_SPEAKER = regex(r"\bi\b")
_FOLLOWS = any_case(r", so ")
"""What is asked for that follows from a fact is told by the fact: ``I'm vegan, so no meat``."""
_POINTS_BACK = any_case(r"(?:\w+[,:]? ){0,2}(?:he|she|it|they|his|her|its|their)\b")
"""What says something of whom the message before it names."""


@dataclass(frozen=True)
class Stated:
    """A statement that a user made.

    Attributes:
        predicate: Only where there can be one at a time: what comes later then takes its place.
        corrects: It is said to put right what was said before, of what has not changed.
        not_of: The attribute of which it says that a value is not so, whatever was once.
    """

    text: str
    subject: str | None
    fact_type: FactType
    predicate: str | None = None
    object: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    corrects: bool = field(default=False, compare=False)
    not_of: str | None = field(default=None, compare=False)


def subject_of(turn: Turn) -> str:
    """Return whom the input of a turn speaks of when it says "I"."""
    return name_of_speaker(turn.speaker, turn.agent_id, turn.user_id)


def stated(said: str, subject: str, at: datetime | None = None) -> list[Stated]:
    """Return what a message states plainly, in order, each text once: where it was said last.

    Args:
        said: The user's words.
        subject: Who says them.
        at: When; ``None`` leaves times such as "last month" as they were said.
    """
    if not is_plain(said):
        return []
    plain = headings_spelled_out(in_plain_letters(plain_quotes(said)))
    typed = _spelled_out(plain)
    heard = list(_in_order(typed, subject, at))
    if not heard and typed != plain:
        heard = list(_in_order(plain, subject, at))
    if not heard and plain.isupper():
        heard = list(_in_order(_SPEAKER.sub("I", plain.lower()), subject, at))
    found: dict[str, Stated] = {}
    for one in heard:
        found.pop(one.text.lower(), None)
        found[one.text.lower()] = one
    return list(found.values())


def _spelled_out(plain: str) -> str:
    """Return a message in plain letters as somebody writes it who leaves nothing out."""
    return retold(with_speaker(with_capitals(plain)))


def stated_beside(said: str, subject: str, at: datetime | None = None) -> Iterator[Stated]:
    """Yield what a message states that is no news in itself, where it tells of a change or an end.

    What the grammar reads first, then the sentences as they were said.
    """
    if not is_plain(said) or not tells_of_change(said):
        return
    typed = _spelled_out(in_plain_letters(plain_quotes(said)))
    claims = claims_in(clauses(typed), subject, at)
    yield from (of_claim(one, said) for one in claims if not one.is_news and not one.is_ahead)
    before = ""
    told = sentences(typed)
    for number, sentence in enumerate(told):
        if tells_of_change(sentence) and not is_taken_back(told, number):
            yield from map(
                of_claim, claims_as_said(sentence, subject, at, before, is_worth_it=True)
            )
        before = sentence


def points_back(said: str) -> bool:
    """Whether a message begins with "she", "it" or "their", which may mean what was said before."""
    return _POINTS_BACK.match(said) is not None


def stated_after(before: str, said: str, subject: str, at: datetime | None = None) -> list[Stated]:
    """Return what a message states that goes on from the sentence ``before`` it, as ``stated``."""
    if not is_plain(said):
        return []
    first = f"{before.rstrip(' .!')}."
    found = claims_in(clauses(plain_quotes(f"{first} {said}")), subject, at)
    start = len(sentences(first))
    return [of_claim(one, said) for one in found if one.is_news and one.sentence >= start]


def _in_order(said: str, subject: str, at: datetime | None) -> Iterator[Stated]:
    """Yield statements sentence by sentence: set phrases, then what the grammar reads."""
    of_clauses: dict[int, list[Stated]] = {}
    plain = list(clauses(said))
    for clause in plain:
        of_clauses.setdefault(clause.sentence, []).extend(_phrased(clause, subject))
    known = {one.text.lower() for some in of_clauses.values() for one in some}
    news = [claim for claim in claims_in(plain, subject, at) if claim.is_news]
    is_plainer = bool(known) or not all(claim.is_loose for claim in news)
    for claim in news:
        if claim.text.lower() not in known and not (claim.is_loose and is_plainer):
            of_clauses.setdefault(claim.sentence, []).append(of_claim(claim, said))
    texts = " ".join(one.text for some in of_clauses.values() for one in some)
    before = ""
    told = sentences(said)
    for number, sentence in enumerate(told):
        if is_taken_back(told, number):
            continue
        some = of_clauses.get(number, [])
        known_words = {*words(" ".join(one.text for one in some))}
        asked = [
            of_claim(one)
            for one in requested(sentence, subject)
            if not some or (_is_else(one.value, known_words) and not _FOLLOWS.search(sentence))
        ]
        noted = [] if some or asked else [*_asked_to_note(sentence, subject)]
        found = [*some, *asked] or noted
        if not found or is_half_covered(sentence, [one.text for one in found]):
            found += map(of_claim, claims_as_said(sentence, subject, at, before))
        before = sentence
        texts += " ".join(one.text for one in found)
        yield from found
    for claim in mentioned(said, subject):
        if claim.value not in texts:
            yield of_claim(claim)


def _is_else(value: str, known: set[str]) -> bool:
    """Whether most words of a value are not known: what is asked for beside its reason."""
    said = {*words(value)}
    return len(said - known) > len(said) / 2


def of_claim(claim: Claim, said: str = "") -> Stated:
    """Return what the grammar read as a statement; it has a key where one takes another's place.

    A list is told with its commas, unless it was ``said`` in these very words: "Marks and Spencer
    and Boots" are two.
    """
    has_key = claim.is_single and claim.sense == "is"
    # Of a verb that nobody knows, the value begins with it: ``play piano``, told as "plays piano".
    shown = claim.value if claim.value in claim.text else claim.value.partition(" ")[2]
    is_joined = bool(said) and shown not in said
    text = claim.text.replace(shown, _with_commas(shown)) if is_joined else claim.text
    value = _with_commas(claim.value) if is_joined else claim.value
    return Stated(
        text=text,
        subject=claim.subject,
        fact_type=claim.fact_type,
        predicate=claim.attribute if has_key else None,
        object=value or None,
        valid_from=claim.valid_from,
        valid_to=claim.valid_to,
        corrects=claim.corrects and not claim.is_change,
        not_of=claim.attribute if claim.sense == "not" and not claim.is_change else None,
    )


def _with_commas(value: str) -> str:
    """Return a list as people write it: ``tea, ale and milk``."""
    *things, last = value.split(" and ")
    return f"{', '.join(things)} and {last}" if len(things) > 1 else value


def _phrased(clause: Clause, subject: str) -> Iterator[Stated]:
    """Yield what a set phrase says."""
    for pattern, build in _PATTERNS:
        match = pattern.fullmatch(clause.text)
        found = build(match, subject) if match else None
        if found is not None:
            yield found
            return


def _asked_to_note(sentence: str, subject: str) -> Iterator[Stated]:
    """Yield what somebody asks to remember, whatever it is about."""
    asked = _TELLING.fullmatch(without_greeting(sentence)) if is_clear(sentence) else None
    noted = _noted(asked["told"], subject) if asked else None
    if noted is not None:
        yield noted


Build: TypeAlias = Callable[["re.Match[str]", str], "Stated | None"]

_CAPITAL = r"[A-Z][^\W\d_]+(?:['\-][A-Z]?[^\W\d_]+)*"
_TITLE = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\. )?"
_NAME = (
    rf"(?P<name>{_TITLE}{_CAPITAL}"
    rf"(?: (?:(?:of|de|da|di|del|la|van|von|der|bin) )*{_CAPITAL}){{0,3}})"
)
_END = r"[\s.!]*"


def _named(match: re.Match[str], subject: str) -> Stated | None:
    name, which = match["name"], (match["which"] or "").lower()
    if NO_NAME & set(name.lower().split()) or name.lower() == subject.lower():
        return None
    return Stated(f"{subject}'s {which}name is {name}", subject, "identity", f"{which}name", name)


def _called(match: re.Match[str], subject: str) -> Stated | None:
    name = match["name"]
    if NO_NAME & set(name.lower().split()):
        return None
    return Stated(f"{subject} is called {name}", subject, "identity", "is called", name)


def _never(match: re.Match[str], subject: str) -> Stated | None:
    when, act, thing = match["when"].lower(), match["act"].lower(), match["object"].strip(" .!")
    if POINTING & set(thing.lower().split()):
        return None
    text = f"{subject} never {third_person(act)} {when} {thing}"
    return Stated(text, subject, "constraint", None, thing)


def _never_me(match: re.Match[str], subject: str) -> Stated | None:
    rest = match["rest"].rstrip(" .!")
    if {"again", "that", "this", "it", "there", "so", "like"} & set(rest.lower().split()):
        return None
    text = f"never {match['act'].lower()} {subject}{in_third_person(rest, subject)}"
    return Stated(text, subject, "constraint")


def _attribute(fact_type: FactType) -> Build:
    def build(match: re.Match[str], subject: str) -> Stated | None:
        value, attribute = match["value"].strip(" ."), match["attribute"].lower()
        if POINTING & set(value.lower().split()):
            return None
        text = f"{subject}'s {attribute} is {value}"
        return Stated(text, subject, fact_type, attribute, value)

    return build


_MONTH = f"(?:{'|'.join(month.capitalize() for month in MONTHS)})"
_NTH = r"\d{1,2}(?:st|nd|rd|th)?"
_BIRTHDAY = (
    rf"(?:on )?(?:the )?(?:\d{{4}}-\d{{2}}-\d{{2}}|{_MONTH} {_NTH}(?:,? \d{{4}})?|"
    rf"{_NTH}(?: of)? {_MONTH}(?: \d{{4}})?)"
)
_AMOUNT = r"(?:about |around )?[\u20ac$\u00a3]?\d[\w.,'/\u20ac$\u00a3 ]{0,20}"
_ATTRIBUTES: tuple[tuple[str, FactType, str], ...] = (
    (
        r"(?:work |private |personal )?e-?mail(?: address)?",
        "identity",
        r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+",
    ),
    (
        r"(?:phone|mobile|cell|telephone)(?: phone)?(?: number)?",
        "identity",
        r"\+?\d[\d ()\-/]{5,20}\d",
    ),
    (r"birthday|date of birth|birth date", "identity", _BIRTHDAY),
    (
        r"home ?town|native language|mother tongue|first language|nationality|employer",
        "identity",
        rf"{_CAPITAL}(?: {_CAPITAL}){{0,2}}",
    ),
    (
        r"(?:home |postal |work )?address",
        "identity",
        r"\d{1,4}[a-z]? [A-Z][\w'.\-]{1,24}(?:[ ,]{1,2}[A-Z0-9][\w'.\-]{0,24}){1,6}",
    ),
    (r"time ?zone", "identity", r"[A-Z][A-Za-z/_]{1,30}(?:[+\-]\d{1,2}(?::\d{2})?)?"),
    (r"blood (?:type|group)", "identity", r"(?:A|B|AB|O)(?: ?[+\-]| (?:positive|negative))?"),
    (r"(?:shoe|shirt|dress|ring|hat|glove) size|height|weight|age", "identity", _AMOUNT),
    (r"occupation|profession|job title", "identity", r"(?:an? )?[a-zA-Z\-]+(?: [a-zA-Z\-]+){0,2}"),
    (r"(?:monthly |weekly |yearly |total )?budget", "world", _AMOUNT),
    (
        (
            r"(?:order|booking|flight|ticket|room|customer|invoice|case|seat|licence plate|"
            r"license plate|reservation|train|gate) (?:number|id|code|reference)"
        ),
        "world",
        r"#?[\w\-]{0,12}\d[\w\-]{0,16}",
    ),
)

_WRITTEN: tuple[tuple[str, Build], ...] = (
    (
        rf"(?i:my (?P<which>(?:full |first |last )?)name is|(?:my|the) name's|the name is) {_NAME}",
        _named,
    ),
    (
        (
            r"(?i:(?:(?:please |just |you can |you may )*call"
            r"|every(?:body|one) (?:at work |at home |here )?calls"
            rf"|(?:most )?(?:people|(?:my )?friends) (?:all )?call) me) {_NAME}"
        ),
        _called,
    ),
    (
        (
            r"(?i:i never (?P<act>work|fly|travel|drive) (?P<when>on|at|after|before)"
            r" (?P<object>[\w: ]{2,24}))"
        ),
        _never,
    ),
    (
        (
            r"(?i:never (?P<act>call|text|email|phone|message|contact|ring|wake|book|schedule) me"
            r"(?P<rest> [\w:',.\- ]{3,60}))"
        ),
        _never_me,
    ),
    *(
        (
            (
                rf"(?i:(?:my|our) (?:new |current )?(?P<attribute>{written})"
                rf" (?:is(?: now)?|(?:has )?changed to)) (?P<value>{value})"
            ),
            _attribute(fact_type),
        )
        for written, fact_type, value in _ATTRIBUTES
    ),
)
_PATTERNS = tuple((regex(written + _END), build) for written, build in _WRITTEN)

_TELLING = regex(
    r"(?i:(?:please |also |and )*(?:remember|note|keep in mind|don't forget|do not forget|"
    r"make a note|bear in mind)(?: for (?:later|next time|the future))?(?::| that|, )\s{0,2})"
    r"(?:that )?(?P<told>.{6,200}?)[\s.!]*"
)
_FINITE = any_case(
    r"\b(?:is|are|was|were|am|has|have|had|must|can|can't|cannot|needs?|should|will|does|doesn't|"
    r"don't|do|did|didn't|isn't|aren't|wasn't|won't|prefers?|likes?|works?|lives?|starts?|ends?|"
    r"opens?|closes?|costs?|takes?|uses?|runs?|leaves?|arrives?|returns?|belongs?|expires?|lasts?|"
    r"meets?|wants?|i'm|i've|he's|she's|they're|we're)\b"
)
_SUBJECT = regex(
    r"(?:i|i'm|i've|my|we|we're|we've|our|the|an?|all|every|each|no|he|she|\d[\w.:]*|[A-Z][\w'\-]*)"
    r"(?= )(?! time\b)"
)


def _noted(statement: str, subject: str) -> Stated | None:
    """Return what a user asked to remember, or ``None`` where it needs more than itself."""
    is_own = re.match(r"(?:I|I'm|I've|My|We|Our|The) ", statement)
    plain = statement[0].lower() + statement[1:] if is_own else statement
    said = set(plain.lower().replace(",", "").split())
    is_clause = plain.startswith("i ") or _FINITE.search(plain) is not None
    if not _SUBJECT.match(plain) or not is_clause or said & NOT_NOTED:
        return None
    return Stated(in_third_person(plain, subject), subject, "world")
