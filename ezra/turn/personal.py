"""What a context tells of who speaks, whatever they say. Pure.

Somebody who asks for a dessert does not say what they must not eat, nor how they want to be
answered: no likeness of meaning tells that it matters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from metaagents.learning.not_borne import NOT_BORNE, SWALLOWED
from tiers.records import Hit

from ..ranking.cues import name_of

ASKED_OF_ALL = re.compile(
    r"\basks the assistant\b|\bwould rather have\b|^\S+(?<!'s) is called\b"
    r"|\b(?:prefers?|wants?|likes?|hates?)\b.*\b(?:answer|repl|respons|explanation|summar)"
    r"|\b(?:prefers?|wants?) (?:everything|all|every)\b",
    re.IGNORECASE,
)
"""How somebody wants to be answered, each time."""

_FORBIDDEN = (
    r"\b(?:(?:must|may|should) not|(?:must|should)n['\u2019]t"
    r"|(?:is|are|was|were)(?: not|n['\u2019]t) (?:allowed|permitted|supposed) to"
    r"|(?:is|was|were) (?:forbidden|told not) to)"
)
_REFUSED = rf"(?:{_FORBIDDEN}|\bcan(?:no|['\u2019])t|\bcan not)"
NOT_TO_BE_MISSED = re.compile(
    r"\ballerg|\bintoleran|\banaphyla|\bepi-?pens?\b|\bco?eliac|\bdiabet|\binsulin\b|\bepilep"
    r"|\basthma|\bha?emophil|\bpacemaker|\bblood[ -]thinner|\banticoagul|\bpregnan|\bbreast-?feed"
    r"|\bvegan|\bvegetarian|\bpescatarian|\bteetotal|\bkosher|\bhalal|\b(?:colou?r-?)?blind\b"
    r"|\bdeaf\b|\b(?:gluten|lactose|dairy|nut|sugar|alcohol)-free\b"
    # What shows that something is not borne.
    r"|\bhives\b|\brash(?:es)?\b(?! (?:act|choice|decision|judg|move|promise))|\bswells? up\b"
    r"|\b(?:airways?|face|lips?|mouth|throat|tongue)\b.*\b(?:clos|swell|swollen)"
    r"|\bswollen (?:airways?|face|lips?|mouth|throat|tongue)\b"
    # What goes into a body, whoever it is: a server must not have a port open.
    rf"|{_REFUSED} (?:even |ever )?(?:digest|drink|eat|stomach|swallow|tolerate)\b"
    r"|\bcan(?:no|['\u2019])t (?:have|take)\b"
    r"|\b(?:do(?:es)?(?: not|n['\u2019]t)|never) (?:drink|eat)s?\b"
    rf"|{_REFUSED} (?:be given|get|go near|have|take|touch|use) {SWALLOWED}"
    rf"|\b(?:avoids?|keeps? off|reacts? (?:\w+ )?to|reactions? to|sensitive to"
    rf"|stays? (?:away from|off)|(?:ill|sick) from) {SWALLOWED}",
    re.IGNORECASE,
)
"""What is true of somebody whatever they ask for, and does harm where it is not known."""

NOT_FOR_THEM = re.compile(
    rf"\W*(?:(?:absolutely|really|still|strictly) )?(?:{_FORBIDDEN} (?:even |ever )?"
    r"(?:be given|bend|carry|climb|dive|drive|exercise|fly|have|jump|kneel|lift|run|ski|smoke"
    r"|strain|swim|take|wear)|(?:has|have|had) (?:an? )?(?:\w+ )?reactions? to"
    r"|reacts? (?:badly|severely|strongly|terribly|violently) to"
    r"|(?:must|should|(?:has|have|needs?|was told) to) (?:always |strictly )?(?:avoid|keep off"
    r"|stay (?:away from|off)))\b",
    re.IGNORECASE,
)
"""What follows the name of who must not have, take or do a thing: behind that of anything else it
may tell of a server."""

NEAR_MIN = 0.08
"""Cosine of all-MiniLM-L6-v2 below which a fact of somebody does not help with what they say."""

STANDING_MAX = 8
"""Of what counts for every answer so much is shown."""

STANDING_WORDS = (
    "assistant answers replies allergic allergy intolerant intolerance anaphylaxis anaphylactic "
    "EpiPen celiac coeliac diabetic diabetes insulin epileptic epilepsy asthma pacemaker thinners "
    "pregnant breastfeeding vegan vegetarian kosher halal colour-blind deaf hives rash swells "
    "swollen reacts reaction mustn't must avoid avoids eat drink stomach tolerate penicillin"
)
"""Rather rare words of both: facts are searched for by them too, whatever is said."""


def facts_of(speaker: str, user_id: str | None, hits: Sequence[Hit]) -> list[Hit]:
    """Return the facts among hits that are of who speaks: of their user, or told of them by name.

    Args:
        speaker: What facts call them.
        user_id: Whose facts are theirs, whomever they tell of.
        hits: Any.
    """
    name = name_of(speaker)
    return [hit for hit in hits if hit.kind == "fact" and _is_of(hit, name, user_id)]


def _is_of(fact: Hit, name: str, user_id: str | None) -> bool:
    if user_id is not None and fact.user_id == user_id:
        return True
    return _begins(fact.text, name)


def _begins(text: str, name: str) -> bool:
    """Whether a fact begins with a name, which is in lower case."""
    text = text.casefold()
    return bool(name) and text.startswith(name) and not text[len(name) :][:1].isalnum()


def is_standing(hit: Hit, speaker: str) -> bool:
    """Whether a fact of who speaks counts for every answer.

    Args:
        hit: The fact.
        speaker: What facts call them.
    """
    text, name = hit.text, name_of(speaker)
    if any(one.search(text) for one in (ASKED_OF_ALL, NOT_TO_BE_MISSED, NOT_BORNE)):
        return True
    return _begins(text, name) and NOT_FOR_THEM.match(text.casefold(), len(name)) is not None


def shown_of(facts: Sequence[Hit], speaker: str, room: int) -> tuple[Hit, ...]:
    """Return which facts of who speaks are shown, in their order but for what counts always first.

    Args:
        facts: The nearest to what is said first.
        speaker: What facts call them.
        room: How many are shown of those that do not count for every answer.
    """
    once = {fact.id: fact for fact in facts}.values()
    standing = [fact for fact in once if is_standing(fact, speaker)]
    others = [fact for fact in once if fact not in standing and _is_near(fact)]
    return (*standing[:STANDING_MAX], *others[:room])


def _is_near(fact: Hit) -> bool:
    return fact.cosine is None or fact.cosine >= NEAR_MIN
