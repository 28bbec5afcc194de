"""Statements as frames: which form of stating something a clause fills, and with what. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from tiers.records import FactType

from ..regexes import any_case, regex
from . import phrases
from .everyday import EVERYDAY
from .forms import TABLE
from .lexicon import EVALUATIVE, PLURALS, POSSESSIONS
from .subjects import kind_of
from .values import KINDS, worth
from .verbs import FORMS, Verbal

_KINDS = KINDS | EVERYDAY
_LED = frozenset("lead head manage chair captain coach run".split())
PLANNED = frozenset(
    "start begin move relocate fly travel visit go marry buy study open run attend join get sell "
    "leave retire adopt see quit come turn finish arrive learn build launch rent take drive enrol "
    "enroll walk hike cycle emigrate spend host tour sail perform compete celebrate present "
    "renovate swim climb throw".split()
)
"""What is told of as a plan; much else that people are going to do is a manner of speaking."""
OFTEN = any_case(
    r"\b(?:daily|weekly|nightly|for breakfast"
    r"|(?:before|after) (?:bed|work|school|breakfast|lunch|dinner))\b"
    r"|\b(?:every|each) (?:(?:other|second|third|fourth|last) )?"
    r"(?:day|night|week|weekend|month|year|morning|evening|afternoon"
    r"|summer|winter|spring|autumn|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b"
    r"|\bevery (?:few|two|three|four|five|six|eight|ten|\d+) (?:days|weeks|months|years)\b"
    r"|\b(?:once|twice|(?:a )?\w+ times"
    rf"|(?:(?:about|around|up to) )?\w+ (?!(?:once|twice|{phrases.MONEY})\b)\w+)"
    r" (?:an?|per) (?:day|week|month|year)\b"
    r"|\bon (?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\bin the (?:mornings|evenings)\b"
)
CIRCUMSTANCES_MAX = 3
"""So many of them are taken from the end of a clause, one after the other."""
_CIRCUMSTANCE = any_case(
    r",? (?:with|for|on|in|at|near|by|from|to|over|after|before|during|outside|behind|next to"
    r"|around|because of|thanks to|that|which|who|where|whose) | (?=[a-z]{2,12}ing [a-z])"
)
_PLACED = any_case(r"\b(?:in|near|outside|on|at|with) ")
_SOMEHOW = regex(r"^(?:up|down|over|out|just|right|back|still|not far) (?=(?:in|near|outside) )")
_SOMEWHERE = frozenset("live stay be reside settle".split())
"""Verbs that say where somebody is, with whom or in what before or after it."""
_STRESSED = regex(
    r"(?:^|(?<= ))(?:very|rather|really|quite|pretty|extremely|just|right|fairly|also) (?=[a-z])"
)
_ASTRAY = any_case(
    r"\b(?:and|or|but|not|no|never|unlike|that|which|who|where|whose|i|you|he|she|we|they|\w+n't)\b"
)
_OF_ALL = regex(
    r"(?:at all|at the moment|for now|for the moment|in (?:my|our) life|on (?:me|us)"
    r"|with (?:me|us)|to my name)"
)
GAPPED = regex(r"\b(in|at|for|on|to|with) .*? and [A-Z][\w'-]* \1 ")
"""What is said of somebody else without saying it again: ``in Bonn and Eve in Mainz``."""
_POINTS = regex(
    r"\b(?:it|them|him|her|they|he|she|this|that|these|those|there|here|which|so|mine|both)\b"
)
_RELATIVE = regex(r",? (?:that|which|who|where|whose) (?!(?:is|was) (?:it|all|why)\b)")
_DENIES = regex(r"\b(?:no|not|never|nobody|nothing|none|cannot|\w+n't)\b")
_OPEN = any_case(
    r"\b(?:i|we|one another|each other|you|your|yours|if|unless|without|except|instead|though|but"
    r"|or|than|as if|again)\b|[?\"]"
)
_FAMILY = frozenset("kids children pets siblings twins triplets grandchildren".split())
_NONE = regex(r"^(?:any|no) (?=[A-Za-z])")
_TO_NOBODY = regex(
    r" to (?:my|the|his|her|their|this) (?:job|work|desk|sea|game|sport|career|idea"
    rf"|{'|'.join(sorted(POSSESSIONS))})"
)
_OF_NONE = frozenset("language meal illness worn papers class".split())
"""Kinds of which somebody may have none: ``I don't speak any German``."""
_LASTING = frozenset(
    "see live stay work suffer study learn teach rent host run take recover".split()
)
"""Verbs of which the progressive tells a state: ``I'm working at``."""
_TRAITS = frozenset(
    "state begin event end one not cannot denied quiet dated since change ongoing".split()
)


@dataclass(frozen=True)
class Frame:
    """A way to state something.

    Attributes:
        before: What may stand between the verb and the value, the longest first.
        kind: What the value is, by the name of its check.
        attribute: What is said, in one form for all frames that say it.
        traits: How: see the module.
    """

    before: tuple[str, ...]
    kind: str
    attribute: str
    traits: frozenset[str]
    fact_type: FactType

    def has(self, trait: str) -> bool:
        """Whether the frame has a trait."""
        return trait in self.traits


@dataclass(frozen=True)
class Filled:
    """A frame with what stands in it.

    Attributes:
        before: The words before the value.
        value: The value.
        rest: All that is told after the verb, where that is more or less than what was said.
        is_loose: It is filled without where or in what: ``in the garden``.
    """

    frame: Frame
    before: str
    value: str
    rest: str | None = None
    is_loose: bool = False


def _read_table() -> dict[str, tuple[Frame, ...]]:
    found: dict[str, list[Frame]] = {}
    for line in TABLE.strip().splitlines():
        lemmas, before, kind, attribute, kinds = (part.strip() for part in line.split("|"))
        traits = frozenset(kinds.split())
        fact_type = next(iter(traits - _TRAITS), "world")
        choices = tuple(sorted(before.split("/"), key=len, reverse=True))
        frame = Frame(choices, kind, attribute, traits, cast("FactType", fact_type))
        for lemma in lemmas.split("/"):
            found.setdefault(lemma, []).append(frame)
    return {lemma: tuple(frames) for lemma, frames in found.items()}


FRAMES = _read_table()
ATTRIBUTES = frozenset(frame.attribute for frames in FRAMES.values() for frame in frames)
"""Under which names what is said in any words is filed."""


def filled(verbal: Verbal) -> Filled | None:
    """Return the first frame that what is said of a subject fills; ``None`` if none does.

    What also says with whom, how or where fills the frame that it fills without that.
    """
    found = _filled(verbal, verbal.rest)
    if found is not None:
        return found
    for bare, whole in without_circumstance(verbal):
        found = _filled(verbal, bare)
        if found is None or found.frame.has("quiet"):
            continue
        if found.frame.kind == "marital" and _TO_NOBODY.match(verbal.rest[len(bare) :]):
            continue  # "I'm married to my job"
        if found.frame.has("state") and not phrases.is_worth_keeping(verbal.rest):
            continue  # "I'm staying in Ghent for the weekend": no state, but an occasion
        if verbal.sense != "is" and not _is_said_of_all(verbal.rest[len(bare) :]):
            # "I don't play tennis with Bob": without Bob they may well.
            return replace(found, value=f"{found.value}{verbal.rest[len(bare) :]}", rest=whole)
        if whole != bare or found.frame.fact_type in {"identity", "constraint"}:
            is_loose = verbal.rest[len(bare) :].startswith(" in ")
            return replace(found, rest=whole, is_loose=is_loose)
    return None


def _filled(verbal: Verbal, rest: str) -> Filled | None:
    for frame in FRAMES.get(verbal.lemma, ()):
        for before in frame.before:
            value = _value(frame, before, rest)
            if value is not None and _fits(frame, verbal):
                return Filled(frame, before, value)
    return None


def without_circumstance(verbal: Verbal) -> Iterator[tuple[str, str]]:
    """Yield what is said without its circumstances, and how all of it is to be told.

    A circumstance that points at something else is left out; one that points at whom is spoken to,
    or takes something back, leaves nothing that is sure.
    """
    rest = verbal.rest
    if (
        _OPEN.search(rest)
        or GAPPED.search(rest)
        or phrases.PASSING.search(rest)
        or not phrases.is_worth_keeping(rest, EVALUATIVE)
    ):
        return
    plain = _STRESSED.sub("", rest)
    if plain != rest:
        yield plain, rest
        rest = plain
    if verbal.lemma in _SOMEWHERE:
        yield _SOMEHOW.sub("", rest), rest
        for found in _PLACED.finditer(rest):
            if found.start() and _PLACED.match(rest) and not _leads_away(rest[: found.start()]):
                yield rest[found.start() :], rest
    ends = [found.start() for found in _CIRCUMSTANCE.finditer(rest)][-CIRCUMSTANCES_MAX:]
    for end in reversed(ends):
        tail = _RELATIVE.sub(" ", rest[end:])
        is_whole = not _POINTS.search(tail)
        if not is_whole and _DENIES.search(tail):
            return
        yield rest[:end], rest if is_whole else rest[:end]


def _leads_away(before: str) -> bool:
    """Whether a place is one of what is told on the way: ``in the house my father built in``."""
    *_, last = before.lower().split()
    return last in FORMS or _ASTRAY.search(before) is not None


def _is_said_of_all(circumstance: str) -> bool:
    """Whether a denial says as much without a circumstance: ``at all``, ``at the moment``."""
    return _OF_ALL.fullmatch(circumstance.strip(" ,.!")) is not None


def led(verbal: Verbal) -> str | None:
    """Return what somebody leads or answers for; ``None`` when that is not what is said."""
    if verbal.lemma in _LED and verbal.rest.startswith(("the ", "our ", "my ")):
        return phrases.as_thing(re.sub(r"^(?:our|my) ", "the ", verbal.rest))
    found = re.fullmatch(r"(?:responsible for|in charge of|the head of) (the .+)", verbal.rest)
    return phrases.as_thing(found[1]) if found and verbal.lemma == "be" else None


def _value(frame: Frame, before: str, rest: str) -> str | None:
    if frame.kind in {"owned", "medicine"} and _NONE.match(rest):
        return worth(_NONE.sub("", rest))
    if frame.kind in _OF_NONE and not before and _NONE.match(rest):
        return _KINDS[frame.kind](_NONE.sub("", rest))
    if frame.kind == "owned" and _is_family(rest):
        return rest if phrases.as_thing(rest) else None
    if before and rest != before and not rest.startswith(f"{before} "):
        return None
    return _KINDS[frame.kind](rest[len(before) :].strip())


def _is_family(rest: str) -> bool:
    """Whether words are people or animals without an article: ``twins``, ``pets``."""
    is_several = kind_of(rest.partition(",")[0]) in PLURALS.values()
    return rest in _FAMILY or (is_several and rest[0].islower() and not phrases.is_owned(rest))


def _fits(frame: Frame, verbal: Verbal) -> bool:
    """Whether tense, denial and modal of a statement are such as the frame has them."""
    if frame.has("cannot"):
        return verbal.modal == "can" and verbal.sense == "not"
    if frame.has("since") and verbal.tense != "perfect":
        return False
    if not _is_in_time(frame, verbal):
        return False
    if verbal.modal:
        is_skill = frame.kind in {"language", "languages"} and verbal.sense == "is"
        return frame.has("denied") or is_skill
    if frame.has("denied"):
        return verbal.sense in {"not", "never", "over"}
    return True


def _is_in_time(frame: Frame, verbal: Verbal) -> bool:
    """Whether a state is told as one, and what happened as done or being done."""
    if frame.has("ongoing"):
        return True
    is_now = verbal.tense == "present"
    if frame.traits & {"event", "begin", "end"}:
        return not is_now or verbal.is_progressive
    is_under_way = frame.has("state") and verbal.is_progressive and is_now
    return not is_under_way or verbal.lemma in _LASTING
