"""Claims that no frame has room for: who leads what, what changes hands, names or times. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from ..regexes import any_case, regex
from . import phrases
from .copula import DATED, NUMBERED, is_scheduled
from .frames import led
from .lexicon import AT_HAND, EVALUATIVE
from .statement import LED, NAME, PLACE, TIME, Claim, Said, of_speaker
from .values import changed

_REACTION = regex(
    r"me (?:an? |the )?(?:(?:bad|terrible|nasty) )?(?:rash|hives|migraines?|heartburn|asthma)"
)
_REACTION_OF = regex(
    r"me out in (?:an? )?(?:hives|rash|spots|blotches|welts)"
    r"|my (?:throat|face|tongue|lips|eyes|skin|mouth|hands|stomach) (?:swell|itch|water|burn|tingle"
    r"|close|blister|hurt|ache)s?(?: up| shut)?|me (?:ill|sick|wheeze|vomit|itch|swell up"
    r"|sneeze|cough|queasy|nauseous|itchy|dizzy)"
)
_SUITS = regex(
    r"(?:works?|suits?|fits?) (?:(?:me|us) best|best for (?:me|us))[.! ]*$"
    r"|(?:is|are) (?:best|easiest) for (?:me|us)[.! ]*$"
    r"|(?:is|are)(?:n't| not)? (?:really |totally )?my (?:thing|cup of tea|passion)[.! ]*$"
)
_RISEN = regex(r"^(?:up |down )?to ")
_CHANGES = frozenset("go rise increase drop fall climb come".split())
_SET_BY_TIME = frozenset("start begin end finish open close take last".split())
"""Of what is somebody's, each says when it is or how long: ``my shift starts at seven``."""
_HOUSEHOLD = frozenset("rent mortgage deposit".split())
"""Of whom there is one that a speaker pays, so that "the" says whose it is."""
_HANDED = regex(r"(?:over )?(the .+?)(?: over)? to (.+)")
_TAKEN_OVER = regex(rf"over from {phrases.NAME} as (?:my|our) (\w+)")
_RENAMED = regex(rf"((?:the|my|our) .+?)(?: from {phrases.NAME})? to ({phrases.NAME})")
_NAME_CHANGED = regex(rf"(?:its|my|our|his|her) (name|surname) to ({phrases.NAME})")
_VALID = any_case(
    r"\b(?:warranty|guarantee|contract|lease|licen[cs]e|subscription|membership|certificate|visa"
    r"|permit|trial|probation|notice|course|internship|training|offer)$"
)
"""How long it holds is part of what it is."""
_IN_CODE = regex(r"\b[A-Za-z]\w*_\w+$")
"""What a thing is called in a program."""
_STANDS: Mapping[str, str] = MappingProxyType(
    {f"{how}{way}": way for way in ("on", "off") for how in ("", "turned ", "switched ", "set to ")}
    | {"enabled": "on", "disabled": "off", "active": "on", "inactive": "off"}
)
_NAMED_SO = regex(rf"(?:to|spelled|spelt) ({phrases.NAME})")


def exchanged(said: Said) -> Iterator[Claim]:
    """Yield what a clause says of roles, names and tastes that pass from one to another."""
    for verbs, read in _READERS:
        if said.verbal.lemma in verbs:
            yield from read(said)


def measured(said: Said) -> Iterator[Claim]:
    """Yield what a thing costs, holds, or when it opens: a verb and a number or a time."""
    verbal, rest = said.verbal, said.verbal.rest
    if (
        verbal.lemma in {"postpone", "reschedule", "move", "slip", "shift"}
        or said.subject.sort == "speaker"
    ):
        yield from _moved(said)
        return
    if verbal.lemma == "take" and rest.startswith("place"):
        yield from _timed(said, rest.removeprefix("place").strip())
        return
    rest = _RISEN.sub("", rest) if verbal.lemma in _CHANGES else rest
    bare = "" if rest in {"out", "up", "off", "due", "over"} else rest
    time = phrases.as_time(rest) or (said.time_text if not bare else "")
    name = _NAMED_SO.fullmatch(rest)
    number = phrases.as_quantity(re.sub(r"^(?:in|at|on|with) ", "", rest))
    value = time or number or (name[1] if name else "")
    if value:
        is_dated = bool(time) and DATED.search(said.subject.head) is not None
        is_known = is_dated or NUMBERED.search(said.subject.head) is not None
        is_set = verbal.lemma in _SET_BY_TIME and not verbal.is_progressive
        is_known |= is_set and phrases.is_worth_keeping(said.subject.noun, EVALUATIVE | AT_HAND)
        is_theirs = said.subject.sort == "owned" or said.subject.noun in _HOUSEHOLD
        is_valid = verbal.lemma == "last" and _VALID.search(said.subject.noun) is not None
        is_news = said.clause.corrects or is_valid or (is_known and is_theirs)
        is_so = verbal.sense == "is" and (verbal.tense == "present" or verbal.lemma in _CHANGES)
        yield said.timeless(
            "number" if verbal.lemma in _CHANGES and not time else f"{verbal.lemma}s",
            value,
            is_single=not (verbal.lemma in _CHANGES and verbal.tense == "present" and said.times),
            is_news=is_news and is_so,
        )


def _moved(said: Said) -> Iterator[Claim]:
    rest = said.verbal.rest
    if said.subject.sort != "speaker" and (not rest or rest.startswith("to")):
        yield from _timed(said, rest.removeprefix("to").strip(), is_change=True)


def _timed(said: Said, rest: str, *, is_change: bool = False) -> Iterator[Claim]:
    """Yield when something is, or where it has gone to."""
    at_hour = f"at {rest}" if rest.isdigit() and DATED.search(said.subject.head) else rest
    value = phrases.as_time(at_hour) or (said.time_text if not rest else "")
    change = is_change or said.is_change
    if value:
        is_news = is_change and is_scheduled(said)
        yield said.timeless(TIME, value, is_single=True, is_news=is_news, is_change=change)
    elif phrases.as_thing(rest):
        yield said.claim(PLACE, rest, is_single=True, is_change=change)


def _leads(said: Said) -> Iterator[Claim]:
    """``Nora leads the design team``: told of what has one to lead it."""
    is_plain = not said.verbal.is_progressive and not said.times and said.subject.sort != "thing"
    lead = led(said.verbal) if is_plain and said.verbal.tense == "present" else None
    if lead is not None:
        whose = of_speaker(lead, said.speaker)
        yield said.claim(LED, said.subject.text, subject=whose, is_single=True)


def _hands_over(said: Said) -> Iterator[Claim]:
    found = _HANDED.fullmatch(said.verbal.rest)
    if found and phrases.as_name(found[2]):
        yield said.claim(LED, found[2], subject=found[1], is_single=True, is_change=True)


def _takes_over(said: Said) -> Iterator[Claim]:
    found = _TAKEN_OVER.fullmatch(said.verbal.rest)
    if found:
        who = said.subject.text
        yield said.claim(found[1], who, subject=said.speaker, is_single=True, is_change=True)


def _switches(said: Said) -> Iterator[Claim]:
    pair = changed(said.verbal.rest) if said.subject.sort == "speaker" else None
    if pair:
        yield said.claim("changed", pair[0], sense="over", is_news=True)


def _renames(said: Said) -> Iterator[Claim]:
    found = _RENAMED.fullmatch(said.verbal.rest)
    if found:
        what = of_speaker(found[1], said.speaker)
        yield said.claim(NAME, found[2], subject=what, is_single=True, is_change=True)


def _takes_a_name(said: Said) -> Iterator[Claim]:
    found = _NAME_CHANGED.fullmatch(said.verbal.rest)
    if found:
        yield said.claim(found[1], found[2], is_single=True, is_change=True)


def _reacts(said: Said) -> Iterator[Claim]:
    """``Penicillin gives me a rash``."""
    way = _REACTION if said.verbal.lemma == "give" else _REACTION_OF
    if way.fullmatch(said.verbal.rest):
        value = of_speaker(said.verbal.rest, said.speaker)
        yield said.claim("reaction", value, fact_type="constraint", is_news=said.verbal.is_so)


def _suits(said: Said) -> Iterator[Claim]:
    """``Window seats work best for me``."""
    is_so = said.verbal.tense == "present" and said.verbal.sense in {"is", "not"}
    if is_so and said.subject.sort == "thing" and _SUITS.search(said.clause.text):
        yield said.claim(
            "prefers",
            said.subject.text,
            subject=said.speaker,
            text=said.clause_as_said(),
            fact_type="preference",
            is_loose=True,
            is_news=phrases.as_thing(said.subject.text) is not None,
        )


def _works(said: Said) -> Iterator[Claim]:
    """``The printer is working again``."""
    is_thing = said.subject.sort in {"thing", "owned"} and not said.subject.kind
    if said.verbal.is_progressive and not said.verbal.rest and is_thing:
        yield said.claim("state broken", "working", is_single=True)


def _may_again(said: Said) -> Iterator[Claim]:
    """``I can eat strawberries again``."""
    verbal = said.verbal
    thing = phrases.as_thing(verbal.rest) if verbal.modal == "can" else None
    if thing and verbal.sense == "is":
        yield said.claim(f"{verbal.lemma}s", thing, is_change=True)


def _switched(said: Said) -> Iterator[Claim]:
    """``The flag dark_mode is off``: told of the flag, whatever it was called a flag of."""
    code = _IN_CODE.search(said.subject.text)
    state = _STANDS.get(said.verbal.rest.lower(), "")
    if code and state and said.verbal.tense == "present" and not said.verbal.modal:
        is_so = said.verbal.sense == "is" or (said.verbal.sense == "over" and state == "on")
        yield said.timeless(
            "is switched", state, subject=code.group(), is_single=True, is_news=is_so
        )


_READERS: tuple[tuple[frozenset[str], Callable[[Said], Iterator[Claim]]], ...] = (
    (frozenset("lead head manage chair captain coach run be".split()), _leads),
    (frozenset({"hand"}), _hands_over),
    (frozenset({"take"}), _takes_over),
    (frozenset({"switch", "change"}), _switches),
    (frozenset({"rename"}), _renames),
    (frozenset({"change"}), _takes_a_name),
    (frozenset({"give", "make", "bring"}), _reacts),
    (frozenset("work suit fit be".split()), _suits),
    (frozenset({"work"}), _works),
    (frozenset({"eat", "drink", "tolerate"}), _may_again),
    (frozenset({"be"}), _switched),
)
