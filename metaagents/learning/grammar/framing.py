"""What a filled frame claims, and whether it is news when it is said in talk. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tiers.lexical import MONTHS

from ..regexes import any_case, regex
from ..rewording import third_person
from . import phrases
from .frames import OFTEN, Filled
from .lexicon import ACQUAINTANCES, BODY, POSSESSIONS, TRADES
from .rounds import AHEAD
from .statement import DIED, HAS, LEFT, RELATION, Claim, Said, of_speaker

_CALLED = regex(r"(.+?) (?:called|named) (.+)")
_MET = "(?:user|client|customer|vendor|supplier|landlord|patient|guest|tenant|applicant|driver)"
_OTHERS = any_case(rf"the (?:{_MET}|(?:[a-z\-]+ )?(?:team|department|squad))|{_MET} #?\w*\d[\w-]*")
"""Whom people deal with at work and name by what they are."""
_MONTH = any_case("|".join(MONTHS))
_YEAR = regex(r" \d{4}$")
_FOR_LIFE = frozenset("illness allergen diet".split())
"""What somebody has had is had still, unless they say otherwise."""

_COMPANY = regex(r"(?:the|our|my) (?:company|team|firm|project|board|band|club)")
_AFTER_LONG = any_case(r"\bafter (?:\w+ )?\w+ (?:years?|months?)\b")
_CUT = frozenset(("place", "liked"))
"""Kinds that are told without what else was said: ``in Lisbon with my wife``."""
_OF_THE_LIVING = frozenset(
    "illness allergen allergy diet medicine age own-age age-number college school infection "
    "body exam degree carer bad-part".split()
)
"""Kinds of value that nobody but a living being has."""


def framed(said: Said, filling: Filled) -> Iterator[Claim]:
    """Yield what a filled frame claims, and what follows from it for others."""
    frame, verbal = filling.frame, said.verbal
    sense = verbal.sense
    if frame.has("not"):
        sense = "not" if sense == "is" else "is"
    elif frame.has("end") and sense == "is":
        sense = "over"
    claim = said.claim(
        frame.attribute,
        of_speaker(filling.value, said.speaker) or said.time_text,
        text=_frame_text(said, filling),
        sense="never" if said.clause.denied else sense,
        fact_type=frame.fact_type,
        is_single=frame.has("one") and not (frame.has("state") and verbal.tense == "past"),
        is_news=_is_news(said, filling),
        is_loose=filling.is_loose and not frame.has("one"),
    )
    if frame.attribute == "was born":
        claim = _without_guessed_year(said, claim)
    is_done = frame.has("state") and verbal.lemma != "be"
    if said.is_now and (frame.kind == "diet" or (is_done and not frame.has("one"))):
        claim = replace(claim, text=f"{claim.text} now")
    if frame.has("begin"):
        claim = replace(claim, is_change=True)
    if verbal.lemma in AHEAD or (frame.has("state") and not _is_bounded(said)):
        claim = replace(claim, valid_from=None, valid_to=None)
    yield claim
    yield from _of_others(said, filling, replace(claim, is_news=False))


def _without_guessed_year(said: Said, claim: Claim) -> Claim:
    """Return a birth on the day that was said: of ``born on 3 May`` nobody knows the year."""
    year = _YEAR.search(said.time_text)
    is_said = year is None or year[0] in said.clause.text or not _MONTH.search(said.clause.text)
    if year is None or is_said:
        return claim
    text, value = (one.replace(year[0], "") for one in (claim.text, claim.value))
    return replace(claim, text=text, value=value, valid_from=None)


def _frame_text(said: Said, filling: Filled) -> str:
    """Return how a frame is told; what has been so since a time is so."""
    verbal, frame = said.verbal, filling.frame
    is_cut = frame.kind in _CUT  # of "a nut allergy" the value is "nut"
    whole = filling.rest or (f"{filling.before} {filling.value}" if is_cut else verbal.rest).strip()
    lasts = filling.rest is None or said.is_since
    if frame.has("state") and verbal.tense == "perfect" and verbal.sense == "is" and lasts:
        if verbal.phrase.startswith("have"):  # several do so
            return said.text("are" if verbal.lemma == "be" else verbal.lemma, whole)
        return said.text("is" if verbal.lemma == "be" else third_person(verbal.lemma), whole)
    if verbal.phrase == "comes" and frame.attribute == "is from":
        return said.text("is", f"from {filling.value}")
    is_part = filling.rest is not None or is_cut
    return said.text(None, whole) if is_part else said.text()


def _of_others(said: Said, filling: Filled, claim: Claim) -> Iterator[Claim]:
    """Yield what else is over or true by a claim: of owners, of couples, of what has a name."""
    subject, attribute = said.subject, filling.frame.attribute
    if attribute == DIED and subject.owner and subject.kind:
        yield replace(claim, subject=subject.owner, attribute=HAS, value=subject.noun, sense="over")
    if subject.beside and (attribute == RELATION or filling.value in {"divorced", "separated"}):
        parted = replace(claim, attribute="married to", value=subject.beside)
        yield replace(parted, subject=said.speaker, sense="over")
    named = _CALLED.fullmatch(claim.value)
    is_had = claim.sense in {"is", "over"}  # without a son called Tim there may be another
    if named and is_had and attribute == HAS and phrases.as_name(named[2]):
        yield replace(claim, value=named[1])


def _is_bounded(said: Said) -> bool:
    """Whether a state was said to begin or to end at some time."""
    return said.is_since or (said.when is not None and said.when.sort == "until")


def _is_news(said: Said, filling: Filled) -> bool:
    """Whether what a frame claims is worth keeping when it was said in talk."""
    frame, verbal = filling.frame, said.verbal
    if frame.has("quiet") or not _is_of_somebody(said, filling):
        return False
    if verbal.aim == "used":
        return frame.fact_type == "identity" and frame.has("state")
    needs_time = frame.has("dated") or (frame.attribute == "was born" and not filling.value)
    is_timed = (
        said.when is not None or _is_firm(said, filling) or OFTEN.search(said.text()) is not None
    )
    if (needs_time and not is_timed) or (frame.has("since") and not said.is_since):
        return False
    if frame.has("state"):
        return _is_lasting(said, filling)
    if frame.has("ongoing") and (verbal.is_progressive or verbal.tense == "present"):
        return verbal.sense in {"is", "over"}
    is_denial = verbal.sense == "not" and frame.fact_type == "identity"
    is_done = verbal.tense in {"past", "perfect"}
    return is_done and (verbal.sense in {"is", "never"} or is_denial)


def _is_firm(said: Said, filling: Filled) -> bool:
    """Whether somebody left those they were with; who speaks may tell what place they left."""
    is_name = said.subject.sort != "speaker" and phrases.as_name(filling.value)
    is_firm = is_name or _COMPANY.fullmatch(filling.value) or _AFTER_LONG.search(said.clause.text)
    return filling.frame.attribute == LEFT and bool(is_firm)


def _is_lasting(said: Said, filling: Filled) -> bool:
    """Whether a state holds still, never did, or is told with both of its ends."""
    verbal = said.verbal
    if verbal.sense == "never":
        return True
    if verbal.tense == "past":
        return said.when is not None and said.when.sort == "span"
    if filling.frame.kind in {"leaning", "stance"} and said.when is not None:
        return False  # "I'm a night owl tonight", "we're against the visitors on Saturday"
    is_so = verbal.tense == "present" or said.is_since or verbal.is_progressive
    return is_so or filling.frame.kind in _FOR_LIFE


def _is_of_somebody(said: Said, filling: Filled) -> bool:
    """Whether a claim is about who speaks, people and animals of theirs, or a known thing."""
    subject = said.subject
    if subject.sort == "thing":
        is_at_work = subject.text.startswith("the ") and subject.noun.split()[-1] in TRADES
        is_known = is_at_work and filling.frame.kind in _OF_THE_LIVING
        return is_known or _OTHERS.fullmatch(subject.text) is not None
    if subject.sort != "owned":
        return True  # who speaks may be called "the driver", too
    if subject.kind in ACQUAINTANCES:
        return bool(subject.name)
    if subject.noun.isalpha() and subject.noun.istitle() and filling.frame.kind in _OF_THE_LIVING:
        return True  # "our Linus is allergic to eggs"
    is_known = subject.noun.lower().split()[-1] in POSSESSIONS | BODY
    return bool(subject.kind) or is_known or filling.frame.attribute == "lost"
