"""What is said of several things at once: each of them alone, and what is left of it. Pure.

A list is learnt in one piece, as it was said: ``takes aspirin, metformin and vitamin D``. Only what
somebody names later by itself was surely a thing of its own: "red and white wine" is no red.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..claims.forms import is_base_form
from .conflicts import ends
from .grammar.frames import OFTEN
from .grammar.statement import DOES, HABIT, Claim
from .grammar.verbs import is_base, is_verb
from .habits import QUIT
from .likeness import read
from .regexes import any_case, regex
from .rewording import third_person

ITEMS_MAX = 8
_LEADING_WORDS_MAX = 3
_JOINED = r"(?:,? (?:and|or) |, )"
_JOINT = regex(_JOINED)
_IS_LIST = regex(r"\w,? (?:and|or) \w")
_LEAD = regex(
    r"(?:(?:(?P<verb>[a-z]+) )?(?:(?:with|to|at|in|on|for|from|of|by|about|as|under|into) )+)?"
    r"(?:the )?"
)
_PLURAL = regex(r"[a-z]+[a-rt-z]s")
_BOTH = any_case(r"\b(?:both|either|neither) $")
_PAIRS = frozenset(
    (
        "rock roll|drum bass|rhythm blues|mac cheese|salt pepper|salt vinegar|butter jelly"
        "|bed breakfast|black white|arts crafts|research development|health safety|pen paper"
        "|terms conditions|track field|hide seek|pins needles|odds ends"
    ).split("|")
)
"""What goes by one name, and comes apart in none: ``rock and roll``."""
_OF_ONE = {"be": "is", "are": "is", "were": "was", "aren't": "isn't", "weren't": "wasn't"}


def ended(new: Iterable[Claim], old: Claim) -> frozenset[int]:
    """Return the places of the things of a list that are over by what was said later."""
    claims_of_end = [
        part for one in new if _is_of_some(one, old) for part in (one, *_each_over(one))
    ]
    return frozenset(
        place
        for places, part in (_parts(old) if claims_of_end else ())
        for way in {old.attribute, as_of_one(old.attribute)}
        if any(ends(one, replace(part, attribute=way)) for one in claims_of_end)
        for place in places
    )


def _is_of_some(new: Claim, old: Claim) -> bool:
    """Whether a claim may end a thing of a list: it names one, or tells of a change."""
    things = old.value if len(_things(old.value)) > 1 else old.subject
    named = read(f"{new.subject} {new.value} {new.given_up}").content
    is_list = len(_things(things)) > 1
    return is_list and (new.is_change or not named.isdisjoint(read(things).content))


def left(text: str, old: Claim, gone: frozenset[int]) -> str | None:
    """Return a text without some things of its list; ``None`` where the list is not found in it.

    ``""``: nothing is left.
    """
    things = _things(old.value)
    is_of_several = len(things) == 1
    things = _things(old.subject) if is_of_several else things
    is_first = text.startswith(things[0])
    if is_of_several and not is_first:
        return None
    rest = _without(text, things, gone, is_doing=old.attribute in {DOES, HABIT})
    is_one = is_first and len(things) - len(gone) == 1
    return _of_one(rest, things, gone) if rest and is_one else rest


def _things(text: str) -> list[str]:
    """Return the things of a list; the text alone where it is none."""
    things: list[str] = []
    for one in _JOINT.split(text) if _IS_LIST.search(text) else [text]:
        pair = f"{things[-1].split()[-1]} {one.split()[0]}".lower() if things and one else ""
        if pair in _PAIRS:
            things[-1] = f"{things[-1]} and {one}"
        else:
            things.append(one)
    return things if 1 < len(things) <= ITEMS_MAX else [text]


def _parts(claim: Claim) -> Iterator[tuple[range, Claim]]:
    """Yield what a claim of several says of each, and of those in a row that may be one name."""
    things = _things(claim.value)
    if len(things) > 1:
        for places, value in _rows(things):
            of_kind = [f"{value}{_head(things)}"] if places.stop < len(things) else []
            for way in (value, *of_kind):
                for rest in _with_verb(things[0], way, places):
                    yield places, _of_value(claim, rest)
    else:
        for places, subject in _rows(_things(claim.subject)):
            yield places, replace(claim, subject=subject)


def _rows(things: Sequence[str]) -> Iterator[tuple[range, str]]:
    """Yield each thing, and several names side by side, ``Marks and Spencer``, by their places."""
    if len(things) == 1:
        return
    for start, first in enumerate(things):
        yield range(start, start + 1), first
        for end in range(start + 2, len(things) + (start > 0)):
            if not all(one[:1].isupper() for one in things[start + 1 : end]):
                break
            yield range(start, end), " and ".join(things[start:end])


def _with_verb(first: str, value: str, places: range) -> Iterator[str]:
    """Yield a thing as a value, and with the words before the first one: ``play golf``."""
    yield value
    words = first.split()
    for count in range(1, min(_LEADING_WORDS_MAX, len(words) - 1) + 1):
        if places.start:
            yield f"{' '.join(words[:count])} {value}"


def _of_value(claim: Claim, value: str) -> Claim:
    head = claim.given_up.removesuffix(claim.value)
    given_up = f"{head}{value}" if head != claim.given_up else ""
    text = claim.text.replace(claim.value, value)
    return replace(claim, value=value, text=text, given_up=given_up, is_single=False)


def as_of_one(attribute: str) -> str:
    """Return a verb as it is told of one, an attribute as it is called there: ``supports``."""
    is_verbal = is_base(attribute) or is_base_form(attribute)
    return _OF_ONE.get(attribute) or (third_person(attribute) if is_verbal else attribute)


def _each_over(claim: Claim) -> Iterator[Claim]:
    """Yield what a claim that something is over says of each: ``no longer takes tea or ale``.

    Who takes no tea and ale may take tea.
    """
    if claim.attribute == QUIT and claim.given_up:
        whole = replace(claim, value=claim.given_up)
        yield from (replace(part, value="", given_up=part.value) for _, part in _parts(whole))
        return
    is_each = claim.sense != "is" and " and " not in claim.value
    if is_each or claim.attribute == QUIT or claim.sense == "over":
        yield from (part for _, part in _parts(claim))


def _head(things: Sequence[str]) -> str:
    """Return what the last of several has for all: ``the data and platform teams``; else ``""``."""
    which, _, what = things[-1].partition(" ")
    words = [which, *(one.split()[-1] for one in things[:-1])]
    is_shared = all(one.islower() and not one.endswith("s") for one in words)
    return f" {what}" if is_shared and _PLURAL.fullmatch(what) else ""


def _without(
    text: str, things: Sequence[str], gone: frozenset[int], *, is_doing: bool = False
) -> str | None:
    """Return a text without some things of a list in it, the others joined as they were."""
    first = things[0].split()
    for cut in range(min(_LEADING_WORDS_MAX, len(first) - 1) + 1):
        written = [" ".join(first[cut:]), *things[1:]]
        pattern = _JOINED.join(rf"((?:(?:the|an?) )?{re.escape(one)})" for one in written)
        found = re.search(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE)
        if found is not None:
            break
    else:
        return None
    head = _head(things) if len(things) - 1 in gone else ""
    kept = [f"{one}{head}" for place, one in enumerate(found.groups()) if place not in gone]
    if not kept:
        return ""
    lead = _lead(found[1], is_doing=is_doing)
    if 0 in gone and not kept[0].startswith(lead):
        kept[0] = f"{lead}{kept[0]}"
    often = OFTEN.search(things[-1]) if len(things) - 1 in gone else None
    if often is not None:
        kept[-1] = f"{kept[-1]} {things[-1][often.start() :]}"
    before = text[: found.start()]
    if len(kept) == 1:
        return f"{_BOTH.sub('', before)}{kept[0]}{text[found.end() :]}"
    joint = "or" if " or " in found[0] else "and"
    return f"{before}{', '.join(kept[:-1])} {joint} {kept[-1]}{text[found.end() :]}"


def _lead(first: str, *, is_doing: bool) -> str:
    """Return what stands before the first thing for all of them: ``at``, ``shop at``."""
    found = _LEAD.match(first)
    verb = found["verb"] if found else None
    is_verbal = verb is None or is_doing or is_verb(verb)
    return found[0] if found and is_verbal else ""


def _of_one(text: str, who: Sequence[str], gone: frozenset[int]) -> str:
    """Return what was told of several as it is told of the one who is left: ``Tom lives``."""
    name = next(one for place, one in enumerate(who) if place not in gone)
    verb, space, rest = text[len(name) :].lstrip().partition(" ")
    return f"{name} {as_of_one(verb)}{space}{rest}".strip()
