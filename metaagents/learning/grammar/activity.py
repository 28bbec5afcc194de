"""What somebody does that no frame names: its tense says whether it lasts, happened or is planned.

A verb of the mind, of talk or of handling things tells of the moment in any tense. Of all others
the plain present tells what somebody does as a rule, the perfect with a span what they still do,
and the perfect or past of an achievement what they have done. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..regexes import regex
from . import phrases
from .lexicon import ACQUAINTANCES, EVALUATIVE, MOMENTARY
from .statement import DOES, DONE, Claim, Said, of_speaker
from .verbs import is_known_verb, past_base

ACHIEVEMENTS = frozenset(
    "win write publish climb run complete build compose record direct design restore raise cross "
    "found coach swim cycle earn visit translate exhibit invent produce finish sail walk".split()
)
"""Verbs of what somebody has done for good, once it is done."""
SKILLS = frozenset(
    "swim drive ride cook whistle sew knit ski skate surf sing dance play juggle type sail sign "
    "read hear see smell taste walk fly code bake dive row weld crochet solder lip-read".split()
)
"""Verbs of what somebody can do, or cannot, at any time."""
_SENSES = frozenset("read hear see smell taste walk fly row".split())
"""What somebody can do is just so, where nothing says what or how."""
ALONE = frozenset(
    "swim row ski surf knit sew meditate pray snore stutter cycle jog garden dance sing paint "
    "sail skate box fence lisp commute freelance climb hike fish".split()
)
"""Verbs that say what somebody does without saying to what."""
BY_THEMSELVES = ALONE | frozenset(("run", "smoke"))
"""Verbs that are denied without an object too."""
_VISITED = regex(
    r"[a-z]+ing|to (?:the )?(?:gym|pool|sauna|church|mosque|temple|synagogue|school|college"
    r"|university|work|office|club|choir|therapy|yoga|physio|[a-z]+ class|classes)"
)
"""Where somebody goes again and again, or what for."""

DUTIES = frozenset(
    "approve handle hold own manage maintain review lead run chair take cover represent check keep "
    "write accept decide host coordinate oversee teach operate answer prepare supervise".split()
)
"""Verbs of what falls to somebody by name, where it is told of a known thing."""

_WAITING = frozenset(
    "be have want hope wish look feel think try seem say tell mean wonder wait get come ask talk "
    "hear see plan put dream consider worry struggle go".split()
)
"""Verbs that last and tell nothing all the same."""

_HAVING = frozenset("own have possess".split())
"""Verbs of what somebody has, which is not what they do."""

_PREPOSITION = r"(?:with|for|in|at|on|from|to|by|near|against|under|along|across|around|through)"
_INDEFINITE = regex(r"(?!the |this |that |such |all |every |each |some |any |enough |more )")
_KNOWN = regex(r"[A-Z]|\d")
_CHARGE = regex(r"(?:the|our|all|every|most) (?:the |our )?")
_NO_DUTY = regex(
    r" (?:cake|biscuit|mickey|mick|show|peace|floor|stage|bait|hint|blame|credit|heat|fort|line"
    r"|reins|point|bus|train|tram|stairs|lift|faith|score|tab)$"
)
"""What somebody takes, holds or keeps as a manner of speaking, or on the way."""
_UNTIL = regex(r" (?:until|till|from|since|while) .*$")
_BEFORE_NAME = regex(rf"{_PREPOSITION} (?=[A-Z\d])")
_BEFORE_KIND = regex(rf"{_PREPOSITION} (?=an? )")
_SKILL = regex(
    r"(?:(?:an? |the )?[a-z][a-z\- ]{2,30}|on my [a-z]+ side|(?:in|on|with|out of) my"
    r" (?:left|right) [a-z]+|colou?rs)?"
)
_PASSES = regex(
    r"\b(?:screen|page|file|link|button|message|picture|photo|image|line|results?|output|error"
    r"|point|end|difference|future|way|room|wait|details|bottom)\b"
)
"""What somebody cannot see or read at the moment."""
_BREAKS = frozenset("time break rest trip breath while".split())


def active(said: Said) -> Iterator[Claim]:
    """Yield what somebody does, has done or can do, where no frame names the verb."""
    verbal = said.verbal
    if said.subject.sort == "named":
        yield from _on_duty(said)
    if not _is_somebody(said) or said.clause.hangs:
        return
    if verbal.is_progressive and verbal.lemma not in _WAITING:
        yield from _lasting(said)
    elif verbal.modal:
        yield from _skill(said)
    is_done = verbal.lemma in ACHIEVEMENTS and verbal.tense != "present"
    if verbal.sense == "over" and verbal.tense == "present" and _is_known_habit(said):
        yield _claim(said, DOES)
        return
    is_momentary = verbal.lemma in MOMENTARY and not is_done
    if is_momentary or verbal.is_progressive or verbal.modal:
        return
    if verbal.tense in {"perfect", "past"}:
        yield from _achieved(said)
    elif verbal.tense == "present":
        yield from _as_a_rule(said)


def _is_somebody(said: Said) -> bool:
    """Whether a clause is about who speaks, or people and animals of theirs."""
    subject = said.subject
    is_theirs = subject.sort == "owned" and bool(subject.kind)
    return subject.sort == "speaker" or (
        is_theirs and (bool(subject.name) or subject.kind not in ACQUAINTANCES)
    )


def _is_known_habit(said: Said) -> bool:
    """Whether what is over can only have been a habit: ``I don't run any more``."""
    lemma, rest = said.verbal.lemma, said.verbal.rest
    return (lemma == "go" and _VISITED.fullmatch(rest) is not None) or (
        not rest and lemma in BY_THEMSELVES
    )


def _on_duty(said: Said) -> Iterator[Claim]:
    """``Nuria handles the invoices``, ``Paulo holds the lock``."""
    verbal = said.verbal
    thing = _UNTIL.sub("", verbal.rest)
    is_so = verbal.tense == "present" and verbal.sense in {"is", "over"}
    charge = _CHARGE.match(thing)
    is_whole = charge is not None and phrases.as_thing(thing[charge.end() :]) is not None
    is_duty = verbal.lemma in DUTIES and _NO_DUTY.search(thing) is None
    if is_whole and is_so and is_duty and _is_worth(thing):
        yield said.claim(DOES, f"{verbal.lemma} {of_speaker(thing, said.speaker)}", is_news=True)


def _as_a_rule(said: Said) -> Iterator[Claim]:
    """``I repair church organs``, ``I bank with Nordea``, ``I don't watch television``."""
    verbal = said.verbal
    first = verbal.rest.partition(" ")[0]
    if verbal.lemma in _HAVING or (past_base(first) and not is_known_verb(verbal.lemma)):
        return  # what frames take for no possession is none, and "once lived" no verb
    is_dated = any(one.sort == "at" for one in said.times)
    rest = verbal.rest.removeprefix("the ") if verbal.sense == "over" else verbal.rest
    is_whole = _is_object(rest) or (not rest and verbal.lemma in ALONE)
    if said.clause.text.lower().startswith("we "):
        return  # they may tell of a game, a journey, an evening
    if is_whole and not is_dated and verbal.aim != "used":
        yield _claim(said, DOES)


def _lasting(said: Said) -> Iterator[Claim]:
    """``I've been driving the night bus for eleven years``."""
    verbal = said.verbal
    is_long = any(one.sort == "since" and one.is_long for one in said.times)
    is_bare = not verbal.rest and verbal.lemma in ALONE
    is_whole = is_bare or phrases.as_thing(_bare(verbal.rest)) is not None
    if is_long and is_whole and verbal.sense == "is" and _is_worth(verbal.rest):
        yield _claim(said, DOES)


def _achieved(said: Said) -> Iterator[Claim]:
    """``I've climbed Kilimanjaro twice``, ``I won the regional title last year``."""
    verbal = said.verbal
    thing = phrases.as_thing(verbal.rest)
    if thing is None or not _is_worth(thing):
        return
    if verbal.sense == "never" and verbal.tense == "perfect":
        yield _claim(said, DONE)
    elif verbal.lemma in ACHIEVEMENTS and verbal.sense == "is":
        is_told = said.when is not None or verbal.tense == "perfect"
        is_own = phrases.is_owned(thing) or _KNOWN.search(thing) is not None
        if is_told and is_own:
            yield _claim(said, DONE)


def _skill(said: Said) -> Iterator[Claim]:
    """``I can't hear on my left side``, ``I can play the harp``."""
    verbal = said.verbal
    is_skill = verbal.lemma in SKILLS and _SKILL.fullmatch(verbal.rest) is not None
    is_bare_sense = not verbal.rest and verbal.sense == "is" and verbal.lemma in _SENSES
    if is_skill and not (is_bare_sense or said.times or _PASSES.search(verbal.rest)):
        thing = not verbal.rest or phrases.as_thing(_bare(verbal.rest)) is not None
        if thing and _is_worth(verbal.rest):
            yield _claim(said, DOES)


def _claim(said: Said, attribute: str) -> Claim:
    verbal = said.verbal
    value = f"{verbal.lemma} {of_speaker(verbal.rest, said.speaker)}".strip()
    return said.claim(attribute, value, is_news=True, is_loose=True)


def _is_object(rest: str) -> bool:
    """Whether words are what somebody does something to: no known one, but any, or one by name."""
    thing = phrases.as_thing(_BEFORE_KIND.sub("", _BEFORE_NAME.sub("", rest)))
    is_kind = thing is not None and bool(_INDEFINITE.match(thing) or _KNOWN.search(thing))
    return is_kind and _is_worth(rest)


def _bare(rest: str) -> str:
    """Return what stands after a preposition and ``my``."""
    return re.sub(rf"^(?:{_PREPOSITION} )?(?:my |our )?", "", rest)


def _is_worth(rest: str) -> bool:
    said_words = set(rest.lower().split())
    is_said = phrases.PASSING.search(rest) or phrases.PASSED_ON.search(rest) or said_words & _BREAKS
    return not is_said and phrases.is_worth_keeping(rest, EVALUATIVE)
