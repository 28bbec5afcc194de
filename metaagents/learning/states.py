"""What is so one at a time, told in one frame: what is so now ends what was. Pure.

``The under-12s train at Hilltop on Wednesdays`` is over once they ``train at Riverside now``: the
subject is the same, the verb is, and one part of what stands behind it differs. A part is known by
the word that leads it: ``at``, ``on``, or none for what the verb acts on. What is gone, closed or
called off takes with it what was told of having and using it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from tiers.learning import spelled
from tiers.lexical import MONTHS, WEEKDAYS, words

from .grammar.statement import DOES, DONE, HABIT, HAS, KIND, LEFT, NAME, PLACE, TIME, Claim
from .grammar.verbs import FORMS
from .habits import done_by
from .likeness import read
from .regexes import any_case, regex
from .rewording import in_24_hours

_LEADING = frozenset("at on in with for from to by into under through via off behind over".split())
_WHEN = frozenset((*WEEKDAYS, *MONTHS, *(f"{day}s" for day in WEEKDAYS))) | frozenset(
    "every each daily weekly monthly morning mornings evening evenings night nights weekend "
    "weekends noon midnight am pm o'clock week month year today tomorrow".split()
)
BESIDE = (
    "also|too|as well|another|both|besides|sometimes|either|extra|additional|temporarily|for now"
    "|this week|until|till|trial"
)
"""Words of what stands beside something and ends nothing, or is so for a time only."""
STANDS_BESIDE = any_case(rf"\b(?:{BESIDE}|second|third|more|today|tonight|while)\b")
_MANY = frozenset(
    "like love hate enjoy know think talk say go come want need see meet visit read watch listen "
    "speak play be have get make take do help belong believe hope plan look learn eat drink buy "
    "pay".split()
)
"""Verbs of which one may do many: who talks to Ann now still talks to Ben."""
_ARTICLE = regex(r"^(?:(?:the|a|an|my|our|his|her|its|their|[\w-]+(?:'s|s')) )+")
_TAIL = regex(r",? (?:and|but|so|because|which|who) .*$|,.*$")


@dataclass(frozen=True)
class _Frame:
    """A claim taken apart.

    Attributes:
        verb: What is told, in its base form.
        parts: What stands behind it, each by the word that leads it, in order.
    """

    verb: str
    parts: dict[str, str]

    @classmethod
    def of(cls, claim: Claim) -> _Frame:
        """Return the frame of a claim."""
        told = _TAIL.sub("", in_24_hours(claim.value)).split()
        verb = claim.attribute
        if verb in {HABIT, DOES} and told:
            verb, *told = told
        elif verb in {"is", KIND, PLACE, TIME, "be"}:
            verb = "is"
        else:
            verb = verb.removeprefix("is ")
        lemma, _ = FORMS.get(verb, (verb, ""))
        parts: dict[str, str] = {}
        lead = ""
        said: list[str] = []
        for word in [*told, ""]:
            if word.lower() in _LEADING or not word:
                if said:
                    key = "when" if _is_when(said) else lead
                    parts[key] = " ".join((parts[key], *said) if key in parts else said)
                lead, said = word.lower(), []
            elif word.lower() in {"every", "each"} and said and "when" not in parts:
                parts[lead] = " ".join(said)
                lead, said = "when", [word]
            else:
                said.append(word)
        return cls(lemma, parts)


def _is_when(said: list[str]) -> bool:
    told = [word.strip(".,").lower() for word in said]
    return not _WHEN.isdisjoint(told) or re.fullmatch(r"\d{1,2}[:.]\d\d", told[0]) is not None


def _content(text: str) -> frozenset[str]:
    return read(_ARTICLE.sub("", text)).content or frozenset(words(text))


def is_otherwise(new: Claim, old: Claim) -> bool:
    """Whether in one frame one part is another since a change: ``train at Riverside now``."""
    return _other_part(_Frame.of(new), _Frame.of(old), new, old) is not None


def _other_part(ours: _Frame, theirs: _Frame, new: Claim, old: Claim) -> str | None:
    """Return the word that leads the one part that is another since a change."""
    if not (new.is_change and new.sense == old.sense == "is") or STANDS_BESIDE.search(new.text):
        return None
    differing = [
        lead
        for lead, said in ours.parts.items()
        if lead in theirs.parts and _content(said) != _content(theirs.parts[lead])
    ]
    if (
        ours.verb != theirs.verb
        or len(differing) != 1
        or ("" in ours.parts) != ("" in theirs.parts)
    ):
        return None
    lead = differing[0]
    one, two = ours.parts[lead], theirs.parts[lead]
    is_number = [any(map(str.isdigit, text)) for text in (one, two)]
    is_main = lead not in {"", "when"} and next(iter(ours.parts)) in {lead, ""}
    if not is_main or is_number[0] != is_number[1] or not _is_alike(one, two):
        return None
    is_one = ours.verb not in _MANY or "" in ours.parts
    return lead if is_one else None


def _is_alike(one: str, two: str) -> bool:
    """Whether two values are of one sort: two names, two numbers of the same, two kinds of it.

    Python 3.9 is no Postgres, and the Berlin office no team.
    """
    ours, theirs = read(one), read(two)
    if ours.numbers and theirs.numbers:
        what = [reading.content - reading.numbers for reading in (ours, theirs)]
        return what[0] <= what[1] or what[1] <= what[0]
    heads = [words(text)[-1] for text in (one, two)]
    named = [text.split()[-1][:1].isupper() for text in (one, two)]
    return named[0] or named[1] or heads[0] == heads[1]


def kept_of(new: Claim, old: Claim, text: str) -> str | None:
    """Return the text of what was told before without what is otherwise now, where more was told.

    Of who trained at Hilltop on Wednesdays, and trains at Riverside now, the day is still so.
    """
    ours, theirs = _Frame.of(new), _Frame.of(old)
    gone = _other_part(ours, theirs, new, old)
    if gone is None or "when" not in theirs.parts or "when" in ours.parts:
        return None
    rest = text.replace(f" {gone} {theirs.parts[gone]}", "", 1)
    return rest if rest != text else None


_SETTING = frozenset(
    "retry wait allow hold keep last cost weigh listen run expire time fit seat charge accept "
    "support serve store cap limit take need require".split()
)
"""Verbs by which a thing is told how much of something it is set to."""
_IS_SET = any_case(r"^(?:the|our|my) |'s |^[a-z][\w-]* [\w-]+$")
_PEOPLE = frozenset("i we he she they user you".split())


def is_other_measure(new: Claim, old: Claim) -> bool:
    """Whether of a thing that is set to so much another number is told: ``retries 3 times``."""
    if not (new.sense == old.sense == "is") or STANDS_BESIDE.search(new.text) or new.is_ahead:
        return False
    ours, theirs = _Frame.of(new), _Frame.of(old)
    is_thing = _IS_SET.search(old.subject) is not None and spelled(old.subject) not in _PEOPLE
    if not is_thing or ours.verb != theirs.verb or ours.verb not in _SETTING:
        return False
    one, two = (read(frame.parts.get("", "")) for frame in (ours, theirs))
    is_measure = bool(one.numbers and two.numbers) and one.numbers != two.numbers
    is_same = one.content - one.numbers == two.content - two.numbers != frozenset()
    shared = ours.parts.keys() & theirs.parts.keys() - {""}
    return (
        is_measure
        and is_same
        and ours.parts.keys() - {"when"} <= theirs.parts.keys()
        and all(_content(ours.parts[lead]) == _content(theirs.parts[lead]) for lead in shared)
    )


_CHARGE = regex(
    r"(?:approve|handle)s? (?!(?:an?|some|any|his|her|their|my) )."
    r"|(?:lead|manage|maintain|host|chair|supervise|run|own)s? (?:the |our |[A-Z])"
    r"|signs? off (?:on )?(?:the |our |all )"
)
"""What one does for all, of something known: a team anybody may lead another one of."""
_ASIDE = regex(r" \([^)]*\)$")
_ROLE = regex(r"the [\w-]+ (?:agent|bot|team|service|desk)")


def is_handed_over(new: Claim, old: Claim) -> bool:
    """Whether what falls to one falls to another now: ``Priya approves the budgets now``."""
    ours, theirs = (done_by(one) or f"{one.attribute} {one.value}" for one in (new, old))
    is_same = ours.lower() == theirs.lower() and (_CHARGE.match(ours) is not None or is_task(new))
    is_now = new.is_change and new.sense == "is" and " and " not in new.subject
    whose = [_ASIDE.sub("", one.subject) for one in (new, old)]
    are_ones = all(one[:1].isupper() or _ROLE.fullmatch(one) for one in whose)
    return is_now and is_same and are_ones


def is_task(claim: Claim) -> bool:
    """Whether a claim is of what one does for all with a thing of theirs: ``lock up the café``."""
    frame = _Frame.of(claim)
    done = re.sub(r"^(?:up|out|in|off|down) ", "", frame.parts.get("", ""))
    return frame.verb not in _MANY | _SHARED and _OF_ALL.match(done) is not None


_OF_ALL = regex(r"(?:the|our) (?!(?:piano|guitar|violin|drums|flute|news|paper|bus|train|tram)\b)")
_SHARED = frozenset(
    "use follow support study share enter leave find prefer cross climb remember trust join "
    "remain sing ride take own".split()
)
"""What one does with a thing though another does so as well."""
GONE = (
    "gone|dead|closed|cancelled|canceled|retired|wiped|scrapped|sold|shut|fixed|deleted|lost|stolen"
    "|decommissioned|removed|discontinued|bust|dropped"
)
"""What a thing is that is no more."""
SHUT_FOR_NOW = any_case(
    r"\b(?:is|are|'s|'re) (?:now |currently |all )?(?:closed|shut|off|stopped|out)\b"
    r"(?! (?:for good|down|permanently|forever))|\b(?:closes|shuts|stops|close|shut) "
)
"""What opens again as a rule: a shop on Mondays, a valve at 80 degrees."""
PUT_AN_END_TO = (
    "cancelled|canceled|closed|sold|scrapped|retired|decommissioned|deleted|removed|archived"
    "|dropped|quit|lost|wiped|discontinued"
)
"""What somebody has done with a thing that is no more."""
_ENDED = frozenset((*GONE.split("|"), "over", "merged", "deprecated", "broken", "finished"))
_END_WORDS_MAX = 3
_ENDING = frozenset(FORMS.get(one, (one, ""))[0] for one in PUT_AN_END_TO.split("|"))
_OCCASIONS = {
    "wedding": frozenset(("marry", "marrying", "married")),
    "engagement": frozenset(("engaged", "marrying")),
    "move": frozenset(("moving", "relocating")),
    "trip": frozenset(("flying", "travelling", "visiting")),
}
"""What is off when something is called off, by words of what was told of it."""
_KEPT = frozenset((DONE, NAME, "visited", "was born", "was born in", "grew up in", "is from"))
"""What stays true whatever has become of a thing."""
_BOUGHT = frozenset("buy get sell read write build make see watch visit meet win lose find".split())
"""What was done once with a thing stays done."""
_DEFINITE = regex(r"^(?:the|my|our|his|her|their|[\w-]+'s) |[A-Z\d]")
_FOR = regex(r" for (?:an?|the|our|my) .*$")
_HAD = frozenset((HAS, "has", "uses", "use", "changed", "own"))
_OF_OTHERS = regex(r"^[\w-]+'s ")
_PARTICLE = regex(r"^(?:off|of|down|up|out) ")


def _ended_thing(new: Claim) -> tuple[str, str]:
    """Return what is no more by a claim, and whose it was; ``""`` for none and for nobody."""
    frame = _Frame.of(new)
    owner, _, owned = new.subject.rpartition("'s ")
    thing, whose = "", ""
    if new.attribute == LEFT:
        thing, whose = new.value, new.subject
    elif new.sense == "over" and new.attribute in _HAD and not _OF_OTHERS.match(new.value):
        thing, whose = _FOR.sub("", new.value), new.subject
    elif new.attribute == "cancelled" or (new.sense == "is" and _is_out(new, frame)):
        thing, whose = owned, owner
    elif new.sense == "is" and frame.verb in _ENDING:
        thing = _PARTICLE.sub("", frame.parts.get("", ""))
        whose = "" if new.subject.startswith("the ") else new.subject
    return thing, whose


def _is_out(claim: Claim, frame: _Frame) -> bool:
    """Whether a claim says of its subject that it is gone: ``is closed``, ``is off``."""
    if (claim.attribute, claim.value) == ("state open", "closed"):
        return True
    last = words(frame.parts.get("", ""))[-1:] or [""]
    is_end = list(frame.parts) == ["off"] or last[0] in _ENDED
    return frame.verb == "is" and is_end and len(words(claim.value)) <= _END_WORDS_MAX


def is_of_what_is_gone(new: Claim, old: Claim) -> bool:
    """Whether what is told is of a thing that is gone: who sold the Golf drives it no more."""
    thing, owner = _ended_thing(new)
    is_gone = _DEFINITE.search(thing) is not None and not SHUT_FOR_NOW.search(new.text)
    if not is_gone or old.sense != "is" or old.attribute in _KEPT:
        return False
    name, is_cancelled = _ARTICLE.sub("", thing), new.attribute == "cancelled"
    whose = [spelled(one) for one in old.subject.split(" and ")]
    if owner and spelled(owner) not in whose:
        return False
    if _is_it(name, old.subject) and not owner:
        return spelled(old.subject) == spelled(thing)
    if is_cancelled and name in _OCCASIONS and not _OCCASIONS[name].isdisjoint(words(old.text)):
        return True
    frame = _Frame.of(old)
    if frame.verb in _BOUGHT and old.attribute not in {HABIT, DOES}:
        return False
    said = [one for lead, one in frame.parts.items() if lead not in _ABOUT]
    if new.attribute == LEFT:
        said = [one for lead, one in frame.parts.items() if lead in {"at", "for", "in", "on"}]
    return any(_is_it(name, one) for one in (*said, *map(" ".join, pairwise(said))))


_ABOUT = frozenset("for to by behind over".split())
"""Words that lead to what a thing is for, and not to the thing: a case for an iPhone."""


def _is_it(name: str, said: str) -> bool:
    """Whether a thing is what is said, or the one by that name: ``Pixel`` a ``Pixel 7``."""
    bare = words(_ARTICLE.sub("", said))
    sought = words(name)
    if not sought or not bare:
        return False
    is_named = name[:1].isupper() or any(map(str.isdigit, name))
    return sorted(bare) == sorted(sought) or (is_named and bare[: len(sought)] == sought)
