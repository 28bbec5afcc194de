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
from ..times import dated
from .clauses import is_plainly_said, without_lead
from .lasting import lasts
from .statement import Claim, of_speaker

CHARS_MAX = 240
WORDS_MIN = 3
_LEFT_MIN = 4
_LITTLE = frozenset(
    "a an the and or but so to of in on at for with from by as i i'm i've my me we our us is am are "
    "was were be been have has had do does did it its that this".split()
)
"""Words that say little by themselves."""
_ENDING = " .!;,"
_POINTS = re.compile(
    r"(?:it|it's|its|that|that's|this|these|those|he|she|he's|she's|they|they're|there|here|what"
    r"|who|you|you're|you've|something|someone|some|such|then|so|neither|nor|both|either|them)\b"
    r"(?! (?:are|is) (?:an?|no|\d+|two|three|four|five|six|seven|eight|nine|ten|several|only)\b)"
    r"(?!'ll find\b| can (?:reach|find)\b|'ll get\b)",
    re.IGNORECASE,
)
"""What a sentence opens with that goes on from another one."""
_NAMED_AFTER = re.compile(r", (?:my|our) [\w ]{2,30}$", re.IGNORECASE)
"""Of whom it was, said at the end: ``He's ninety-one, our neighbour Mr. Hollis``."""
_PASSES = re.compile(
    r"^(?:i'm|i am|we're|we are) (?:back|in|on|off|out|away|here|there|at|busy)\b(?!.*\b\d{1,2}"
    r"(?:st|nd|rd|th)?\b.*\b[A-Z])|\ballergic to (?:mondays|work|mornings)\b|\bnever mind\b"
    r"|\b(?:today|tonight|right now|at the moment|currently|in (?:an?|\w+) (?:minutes?|seconds?|moment))\b"
    r"|\bthis (?:morning|afternoon|evening)\b|\btill payday\b|^no (?:problem|worries|need|idea|way|doubt|thanks)\b|\b(?:totally|100 ?%|really|so) agree\b|^for (?:always|all|being|every)\b",
    re.IGNORECASE,
)
_ORDERED_FIRST = re.compile(
    r"[^,;:]*[,;:] (?:please,? |but |so |and )*(?P<rest>.+)",
    re.IGNORECASE,
)
_DENIES = re.compile(r"\b(?:no|not|still|rather|then|now)\b(?!,)", re.IGNORECASE)
_FINITE = re.compile(
    r"\b(?:i|we|is|are|was|were|has|have|had|can|can't|will|won't|do|does|don't|doesn't|must|may)\b"
    r"|'(?:s|m|re|ve)\b",
    re.IGNORECASE,
)
_NO_ORDER = re.compile(
    r"\w+ (?:i|we|is|are|was|were|has|have|can|must|may|goes|comes)\b", re.IGNORECASE
)
"""A noun that looks like a verb: ``fish we get from Le Guen``."""
_OFFERED = re.compile(
    r"(?:you can|you may|you need not|you don't (?:need|have) to|it took)\b(?! (?:reach|find)\b)",
    re.IGNORECASE,
)
_I = re.compile(r"\b(?:i|we|mine|ours|ourselves)\b", re.IGNORECASE)
_POINTS_BACK = re.compile(r"(?:he|she|they|he's|she's|they're)\b", re.IGNORECASE)


def told_as_said(sentence: str, speaker: str, at: datetime | None) -> Iterator[Claim]:
    """Yield what a sentence says, as it was said.

    Args:
        sentence: One sentence, its apostrophes in one form.
        speaker: Who says it.
        at: When; days that are told by their distance from it are told by their dates.
    """
    said = candidate(sentence)
    if said and lasts(said):
        yield Claim(speaker, "says", said, _told_by(speaker, dated(said, at)), is_news=True)


def _told_by(speaker: str, said: str) -> str:
    """Return words under the name of who said them: ``Minh: I passed``, ``Ada's mother sings``."""
    told = of_speaker(said, speaker)
    return told if speaker in told and not _I.search(told) else f"{speaker}: {told}"


def is_half_told(sentence: str, told: Sequence[str]) -> bool:
    """Whether most of what a sentence says is in none of the texts that were made of it."""
    said = [one for one in words(sentence) if one not in _LITTLE]
    known = {word for text in told for word in words(text)}
    left = [one for one in said if one not in known]
    return len(left) >= _LEFT_MIN and len(left) > len(said) / 2


def candidate(sentence: str) -> str:
    """Return what of a sentence may be told as it was said; ``""`` if nothing.

    It is said plainly, orders nothing, goes on from no other sentence and is of no moment.
    """
    said = _without_order(_opened(sentence).strip(_ENDING))
    if (
        said.isupper()
        or len(said.split()) < WORDS_MIN
        or len(said) > CHARS_MAX
        or _PASSES.search(said)
    ):
        return ""
    is_pointing = _POINTS.match(said) is not None and not _NAMED_AFTER.search(said)
    return said if not is_pointing and is_plainly_said(sentence) else ""


def _opened(sentence: str) -> str:
    """Return a sentence without what only opens it: ``Hi, by the way,``, and not ``No``."""
    told = without_lead(sentence)
    return sentence if _DENIES.search(sentence[: len(sentence) - len(told)]) else told


def _without_order(said: str) -> str:
    """Return a sentence without the order or offer that it opens with; ``""`` if it is no more."""
    first = re.sub(r"\W.*", "", said).lower()
    is_order = (is_base_form(first) or first == "please") and not _NO_ORDER.match(said)
    if not is_order and not _OFFERED.match(said):
        return said
    found = _ORDERED_FIRST.match(said)
    if found is None or not _FINITE.search(found["rest"]):
        return ""
    return said if _POINTS_BACK.match(found["rest"]) else found["rest"]
