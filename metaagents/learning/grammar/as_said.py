"""What nothing takes apart, told in the words in which it was said, and by whom. Pure.

``Two reviewers per pull request, three if it touches auth``: no clause of it fits a form, and yet
it says what holds. Told whole, with its conditions and under the name of who said it, it is as true
as its speaker; so only what is no play, no doubt and no order is told so, and only what its marks
say will last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from tiers.lexical import words

from ...claims.forms import is_base_form
from ..not_borne import NOT_BORNE
from ..regexes import alone, any_case, regex
from ..rewording import in_third_person
from ..times import PHRASE, dated
from .clauses import is_plainly_said
from .lasting import LIKELY, lasts, odds
from .lexicon import MADE_UP
from .statement import Claim

CHARS_MAX = 240
WORDS_MIN = 3
_OWN_WORDS_MIN, _POINTING_WORDS_MIN = 8, 10
_LEFT_MIN, _ABOUT_WORDS = 4, 4
_STEM_CHARS = 4
_LITTLE = frozenset(
    "a an the and or but so to of in on at for with from by as i i'm i've my me we our us is am "
    "are was were be been have has had do does did it its that this now too also".split()
)
"""Words that say little by themselves."""
_OWN = frozenset("i i'm i've i'll my we we're we've our".split())
_POINTING = frozenset("it it's them that this these those him her his their there".split())
_OF_WHO_IS_NAMED = frozenset("him her his their them".split())
_SECRETS = any_case(
    r"\b(?:password|passphrase|passcode|pin|secret|token|credentials|(?:api|access|private|ssh|licen[cs]e)"
    r"[ -]keys?)\b|\bkey(?: is|:) \S*\d"
)
_ENDING = " .!;,"
_HOW_OFTEN = r"(?:once|twice|(?:two|three|four|five) times) an? (?:day|week|month|year)(?=[,.]|$)"
_POINTS = any_case(
    rf"{_HOW_OFTEN}|(?:mine|ours|yours|hers|theirs)\b"
    r"|(?!there's (?:an?|no|only|\d+)\b|both of (?:my|our)\b|what [\w' ]{2,40} (?:is|are)\b"
    r"|it(?:'s| is| was) (?:(?:my|our|the|an?) |(?-i:[A-Z]))[\w .-]{0,40} (?:who|that)\b"
    r"|it (?:is|was|has been) (?:agreed|decided|settled)\b)"
    r"(?:it|that|this|these|those|he|she|they|there|here|what|who|you|her|his|their|your|its|"
    r"something|someone|some|such|then|so|neither|nor|both|either|them)(?:'\w+)?\b"
    r"(?!(?:'ll find| can (?:reach|find)|'ll get)\b)"
    r"(?! (?:are|is) (?:an?|no|\d+|two|three|four|five|six|seven|eight|nine|ten|only)\b)"
)
"""What a sentence opens with that goes on from another one."""
_NAMED_FIRST = regex(r"(?:[Mm]y|[Oo]ur) [a-z]+|[A-Z][\w.'-]+ (?:[A-Z]|is\b|was\b|has\b)")
"""Of whom a sentence is: ``My husband has kept his job``."""
_GOES_ON = any_case(rf"{_HOW_OFTEN}|(?:it|that|this|these|those|there|both|neither)(?:'\w+)?\b")
"""What goes on from the sentence before it; of whom "she" is told would be a guess."""
_NAMED_AFTER = any_case(r", (?:my|our) [\w .]{2,30}$")
"""Of whom it was, said at the end: ``He's ninety-one, our neighbour Mr. Hollis``."""
_PASSES = any_case(
    r"^(?:i'm|i am|we're|we are) (?:back|in|on|off|out|away|here|there|at|busy)\b(?!.*\d.*[A-Z])"
    r"|\b(?:today|tonight|right now|at the moment|currently|this (?:morning|afternoon|evening)"
    r"|in (?:an?|\w+) (?:minutes?|seconds?|moment)|till payday|never mind|all but)\b"
    r"|\byou(?:'re| are) (?:now )?(?:an? |the |(?-i:[A-Z]))"
    r"|\ballergic to (?:mondays|work|mornings)\b|\b(?:totally|100 ?%|really|so) agree\b"
    r"|^(?:most|many|some|other|few) (?:people|folks|companies|firms)\b|\[|\bhere's an?\b"
    r"|\b(?:don't|didn't|not) (?:know|remember|recall) (?:if|whether|wh\w+|how)\b"
    r"|^(?:companies|firms|people|tools|languages) like (?-i:[A-Z])"
    r"|^(?:no|nope|not any ?more|correction|scrap that)[,:] (?!\S+(?: \S+){4})"
    r"|^no (?:prob(?:lem)?|worries|need|idea|way|doubts?|thanks)\b"
    r"|\b(?:so far|as we speak|one sec|brb|give me a (?:sec|second|minute|moment)|line \d+)\b"
    r"|\w::\w|[!=]=|\w\(\)|\b[A-Z]\w+Error\b|^(?:FAILED|PASSED|WARN|ERROR)\b"
    r"|^for (?:always|all|being|every)\b|^(?:the )?(?:first |second |best |cheapest |other )?"
    r"(?:option|plan|variant|alternative|choice)(?: (?:[a-z]|\d+))? (?:is|are|costs?|takes?|has)\b"
)
"""What is of the moment, a manner of speaking or said for courtesy."""
_ORDERED_FIRST = any_case(r"[^,;:]*[,;:] (?:please,? |but |so |and )*(?P<rest>.+)")
_ORDERS_NOT = any_case(r"(?:never|always|don't|do not|please|kindly) (?P<verb>[a-z]+)\b")
_HAILED = any_case(
    r"^\W*(?:(?:hi|hello|hey|well|so|also|and|but|oh|ah|okay|ok|by the way|btw|fyi|actually|anyway"
    r"|just so you know|for the record|good (?:morning|evening|afternoon)|thanks|thank you|yes|yep"
    r"|sorry|note|reminder)(?: (?:all|everyone|there|team))?\b[\s,!:.\u2013\u2014-]+)+"
)
"""What only opens a sentence; ``No`` and ``now`` may be part of what it says."""
_FINITE = any_case(
    r"\b(?:i|we|is|are|was|were|has|have|had|can|can't|will|won't|do|does|don't|doesn't|must|may)\b"
    r"|'(?:s|m|re|ve)\b"
)
_NO_ORDER = any_case(r"\w+ (?:i|we|is|are|was|were|has|have|can|must|may|goes|comes)\b")
"""A noun that looks like a verb: ``fish we get from Le Guen``."""
_OFFERED = any_case(
    r"(?:you can|you may|you need not|you don't (?:need|have) to|it took)\b(?! (?:reach|find)\b)"
)
_POINTS_BACK = any_case(r"(?:he|she|they)\b")
_WE = any_case(alone(r"(?!(?-i:US)\b)(?:i|we|us|our|ours|ourselves)"))
_TIME = any_case(rf"\b{PHRASE}")


def claims_as_said(
    sentence: str,
    speaker: str,
    at: datetime | None,
    before: str = "",
    *,
    is_worth_it: bool = False,
) -> Iterator[Claim]:
    """Yield what a sentence says, as it was said.

    Args:
        sentence: One sentence, its apostrophes in one form.
        speaker: Who says it.
        at: When; days that are told by their distance from it are told by their dates.
        before: The sentence before it, from which it may go on.
        is_worth_it: Whether somebody else holds it to be worth remembering; else its marks tell,
            and whether it says who is ill from what.
    """
    is_worth_it = is_worth_it or NOT_BORNE.search(sentence) is not None
    said = vouched(sentence, before) if is_worth_it else candidate(sentence, before)
    is_said_once = len({*words(said)}) >= WORDS_MIN
    if is_said_once and (is_worth_it or lasts(said)) and _without_times(said):
        yield Claim(speaker, "says", said, _attributed(speaker, dated(said, at)), is_news=True)


def _attributed(speaker: str, said: str) -> str:
    """Return words of whom they are, or under the name of who said them.

    ``Minh failed in 2024 and passed in May``; ``Ada: We meet on Mondays, rain or shine``.
    """
    reworded = in_third_person(said, speaker)
    is_named = re.search(rf"\b{re.escape(speaker)}\b", reworded) is not None
    return reworded if is_named and not _WE.search(reworded) else f"{speaker}: {reworded}"


def is_half_covered(sentence: str, facts: Sequence[str]) -> bool:
    """Whether most of what a sentence says is in none of the texts that were made of it.

    When it was counts for nothing: it may have been told by its date.
    """
    said = _without_times(sentence)
    known = {word[:_STEM_CHARS] for text in facts for word in words(text)}
    left = [one for one in said if one[:_STEM_CHARS] not in known]
    return len(left) >= _LEFT_MIN and len(left) > len(said) / 2


def _without_times(sentence: str) -> list[str]:
    """Return the words of a sentence that say something, but for those of when it was."""
    return [one for one in words(_TIME.sub("", sentence)) if one not in _LITTLE]


def candidate(sentence: str, before: str = "") -> str:
    """Return what of a sentence may be told as it was said; ``""`` if nothing.

    It is said plainly, orders nothing and is of no moment. One that goes on from the sentence
    ``before`` it is told with that one. What somebody says of themselves in a few words the grammar
    reads: what it leaves is left.
    """
    said = _kept(sentence)
    if not said or _stands_alone(said):
        return said
    first = _kept(before) if _GOES_ON.match(said) and odds(said) > LIKELY else ""
    both = f"{first}. {said}"
    is_told = first and not _POINTS.match(first) and len(both) <= CHARS_MAX
    return both if is_told and len(both.split()) >= _OWN_WORDS_MIN else ""


def vouched(sentence: str, before: str = "") -> str:
    """Return what of a sentence may be told that somebody holds to be worth it; ``""`` if nothing.

    However short it is; one that points back is told with the sentence ``before`` it.
    """
    said = _kept(sentence)
    if not said or not _POINTS.match(said) or _NAMED_AFTER.search(said):
        return said
    first = _kept(before)
    both = f"{first}. {said}"
    return both if first and not _POINTS.match(first) and len(both) <= CHARS_MAX else ""


def _kept(sentence: str) -> str:
    """Return what is left of a sentence without its opening; ``""`` if it may not be told."""
    said = _without_order(_HAILED.sub("", sentence).strip(_ENDING))
    said_words = said.lower().split()
    if (
        len(said_words) < WORDS_MIN
        or len(said) > CHARS_MAX
        or said.isupper()
        or _PASSES.search(said)
    ):
        return ""
    is_barred = _SECRETS.search(said) or not MADE_UP.isdisjoint(said_words[:_ABOUT_WORDS])
    return said if not is_barred and is_plainly_said(sentence) else ""


def _stands_alone(said: str) -> bool:
    """Whether a sentence says enough, and what it points at."""
    said_words = said.lower().split()
    pointing = _POINTING - _OF_WHO_IS_NAMED if _NAMED_FIRST.match(said) else _POINTING
    least = _OWN_WORDS_MIN if said_words[0] in _OWN else 0
    if not pointing.isdisjoint(said_words):
        least = _POINTING_WORDS_MIN
    is_pointing = _POINTS.match(said) is not None and not _NAMED_AFTER.search(said)
    return len(said_words) >= least and not is_pointing


def _without_order(said: str) -> str:
    """Return a sentence without the order or offer that it opens with; ``""`` if it is no more."""
    first = _ORDERS_NOT.match(said)
    verb = first["verb"] if first else re.sub(r"\W.*", "", said)
    is_order = is_base_form(verb.lower()) and not _NO_ORDER.match(said)
    if not is_order and not _OFFERED.match(said):
        return said
    found = _ORDERED_FIRST.match(said)
    if found is None or not _FINITE.search(found["rest"]):
        return ""
    return said if _POINTS_BACK.match(found["rest"]) else found["rest"]
