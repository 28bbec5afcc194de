"""Statements as frames: which form of stating something a clause fills, and with what. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast

from tiers.records import FactType

from . import phrases
from .forms import TABLE
from .lexicon import PLURALS
from .subjects import kind_of
from .values import KINDS, worth
from .verbs import Verbal

_LED = frozenset("lead head manage chair captain coach run".split())
PLANNED = frozenset(
    "start begin move relocate fly travel visit go marry buy study open run attend join get sell "
    "leave retire adopt see quit come turn finish arrive learn build launch rent take drive enrol "
    "enroll".split()
)
"""What is told of as a plan; much else that people are going to do is a manner of speaking."""
OFTEN = re.compile(
    r"\b(?:daily|weekly|nightly|before bed|before work|after work)\b|\b(?:every|each) (?:other )?"
    r"(?:day|night|week|weekend|month|year|morning|evening|afternoon"
    r"|summer|winter|spring|autumn|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b"
    r"|\b(?:once|twice|(?:a )?\w+ times|\w+ \w+) (?:an?|per) (?:day|week|month|year)\b"
    r"|\bon (?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\bin the (?:mornings|evenings)\b",
    re.IGNORECASE,
)
_FAMILY = frozenset("kids children pets siblings twins triplets grandchildren".split())
_NONE = re.compile(r"^(?:any|no) (?=[a-z])")
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
    """A frame with what stands in it: the words before the value, and the value."""

    frame: Frame
    before: str
    value: str


def _read_table() -> dict[str, tuple[Frame, ...]]:
    found: dict[str, list[Frame]] = {}
    for line in TABLE.strip().splitlines():
        lemma, before, kind, attribute, told = (part.strip() for part in line.split("|"))
        traits = frozenset(told.split())
        fact_type = next(iter(traits - _TRAITS), "world")
        choices = tuple(sorted(before.split("/"), key=len, reverse=True))
        frame = Frame(choices, kind, attribute, traits, cast("FactType", fact_type))
        found.setdefault(lemma, []).append(frame)
    return {lemma: tuple(frames) for lemma, frames in found.items()}


FRAMES = _read_table()
ATTRIBUTES = frozenset(frame.attribute for frames in FRAMES.values() for frame in frames)
"""Under which names what is said in any words is filed."""


def filled(verbal: Verbal) -> Filled | None:
    """Return the first frame that what is said of a subject fills; ``None`` if none does."""
    for frame in FRAMES.get(verbal.lemma, ()):
        for before in frame.before:
            value = _value(frame, before, verbal.rest)
            if value is not None and _fits(frame, verbal):
                return Filled(frame, before, value)
    return None


def led(verbal: Verbal) -> str | None:
    """Return what somebody leads or answers for; ``None`` when that is not what is said."""
    if verbal.lemma in _LED and verbal.rest.startswith(("the ", "our ", "my ")):
        return phrases.as_thing(re.sub(r"^(?:our|my) ", "the ", verbal.rest))
    found = re.fullmatch(r"(?:responsible for|in charge of|the head of) (the .+)", verbal.rest)
    return phrases.as_thing(found[1]) if found and verbal.lemma == "be" else None


def _value(frame: Frame, before: str, rest: str) -> str | None:
    if frame.kind in {"owned", "medicine"} and _NONE.match(rest):
        return worth(_NONE.sub("", rest))
    if frame.kind == "owned" and _is_family(rest):
        return rest if phrases.as_thing(rest) else None
    if before and rest != before and not rest.startswith(f"{before} "):
        return None
    return KINDS[frame.kind](rest[len(before) :].strip())


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
