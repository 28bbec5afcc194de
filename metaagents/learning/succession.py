"""What a later statement does to an earlier one, by what both claim: word for word or not. Pure.

Two texts are read by the grammar, first persons put right by who says them: ``I have a pony`` of
one is not touched by ``I don't have a pony`` of another. A claim ends another when both are about
the same subject and the same attribute and cannot stand side by side, or when it says in so many
words that the other is over. What nobody could read decides nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, TypeAlias

from tiers.learning import spelled
from tiers.lexical import WEEKDAYS, words
from tiers.records import Fact

from .grammar.activity import BY_THEMSELVES
from .grammar.changes import as_it_is_now
from .grammar.claims import claims_of
from .grammar.clauses import without_lead
from .grammar.frames import OFTEN
from .grammar.standing import language_asked
from .grammar.statement import (
    DIED,
    DOES,
    HABIT,
    HAS,
    KIND,
    LEFT,
    NAME,
    PLAN,
    RELATION,
    TIME,
    Claim,
)
from .grammar.verbs import FORMS
from .likeness import REMEMBERED_CHARS_MAX, REMEMBERED_TEXTS, difference, read
from .regexes import any_case, regex
from .rewording import in_24_hours, in_third_person

Effect: TypeAlias = Literal["ends", "denies", "repeats"]

MEMBERSHIPS = frozenset(
    "works at|works as|lives in|member of|sings in|plays for|place|volunteers at|goes to|stays in|"
    "works in|studied at".split("|")
)
"""What somebody leaves; the place of a thing is filed as such too."""
RELATIONS = frozenset(
    (
        "married to|engaged to|partner|girlfriend|boyfriend|fiance|fianc\u00e9|fianc\u00e9e|"
        "lives with"
    ).split("|")
)
_AT_PLACES = MEMBERSHIPS | frozenset(("visited", "is from", "was born in", "grew up in"))
"""Of these the value is a name, and may be told with what stands behind its comma."""
USES = frozenset(("drives", "uses", "wears", "rents"))
"""What ends for who has the thing no more; who sold the piano may play on."""
QUIT = "quit"
TAKEN = frozenset("drink eat smoke take use have".split())
"""Verbs of what is given up by its name alone: ``coffee``."""
MARITAL = "state single"
_LASTING = frozenset((NAME, "is a", "was born", "was born in", "grew up in", "is from", "age"))
"""What stays true of who has died."""
_PARTED = frozenset("divorced separated single widowed".split())
_CIRCUMSTANCE = regex(r"(?:with|at|in|on|from|for|before|after|by|near|along) ")
_EACH = regex(r"\bevery \d+ [a-z]+")
_ON_DAYS = any_case(
    rf"\bon (?:{'|'.join(WEEKDAYS)})s\b|\bat \d{{1,2}}(?:[:.]\d\d)?(?: ?[ap]m)?(?!\w)"
)
_SCALES = tuple(
    frozenset(told.split())
    for told in (
        "dark light", "morning afternoon evening night", "aisle window middle", "hot cold",
        "metric imperial", "part full", "short long", "early late", "spicy mild", "formal informal",
    )
)  # fmt: skip
"""Words of which one rules out the others, where they are said of the same."""
_OPPOSITE = {"is": {"not", "never", "over"}, "not": {"is"}, "never": {"is"}, "over": set()}
_OWN = any_case(r"\b(?!(?-i:US)\b)(?:i|i'm|i've|im|my|mine|me|myself|we|we're|we've|our|ours|us)\b")
_NAMELESS = any_case(r"(?:the )?user(?:'s)? ")
_FILLING = {
    "works at": "work employ employed employer job",
    "lives in": "live living home reside based",
    NAME: "name called",
    "married to": "married wife husband spouse marry",
    "has": "have has mother father parent own",
    "sees": "see",
    "state ill": "ill sick",
}
"""Words of which texts that claim the same may have different ones."""


def speaker_of(fact: Fact) -> str:
    """Return who says "I" in a fact: the person it is of, else the agent that wrote it."""
    return fact.user_id or fact.agent_id


def is_first_person(fact: Fact) -> bool:
    """Whether a fact speaks of "I" or "my": what it says depends on who says it.

    So does "the user" where nobody has said who that is: each agent has its own.
    """
    is_nameless = fact.user_id is None and _NAMELESS.match(fact.text) is not None
    return is_nameless or _OWN.search(fact.text) is not None


def of_strangers(one: Fact, two: Fact) -> bool:
    """Whether both are of a user without a name, each of another agent's."""
    is_nameless = all(fact.user_id is None and _NAMELESS.match(fact.text) for fact in (one, two))
    return is_nameless and one.agent_id != two.agent_id


def resolved_text(fact: Fact) -> str:
    """Return a fact's text without what only opens it, and told of who says it."""
    text = without_lead(fact.text)
    return in_third_person(text, speaker_of(fact)) if is_first_person(fact) else text


def claims(fact: Fact) -> tuple[Claim, ...]:
    """Return what a fact claims; short texts are remembered."""
    if len(fact.text) > REMEMBERED_CHARS_MAX:
        return ()
    found = _claims(fact.text, _told_of(fact) or speaker_of(fact))
    # Whom an application names counts for more than whom the words seem to be about.
    is_named = fact.subject is None or any(_is_of(one.subject, fact.subject) for one in found)
    return found if is_named else ()


def _told_of(fact: Fact) -> str | None:
    """Return whom a text opens with, where that is one word: ``user has a dog``, ``ann moved``.

    No capital tells that it is somebody.
    """
    opening, _, _ = fact.text.removesuffix(".").partition(" ")
    is_told = fact.subject is not None and opening.removesuffix("'s") == fact.subject
    return fact.subject if is_told and not _OWN.search(fact.text) else None


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _claims(text: str, speaker: str) -> tuple[Claim, ...]:
    if asked := language_asked(text):
        return (asked,)
    now = as_it_is_now(text)
    more = claims_of(now, speaker) if now else ()
    return (*claims_of(_as_spoken(text, speaker), speaker), *more)


def _as_spoken(text: str, speaker: str) -> str:
    """Return a text as who it is told of would have said what is theirs in it.

    What is stored is told of somebody, ``Ada sold Ada's boat``; that it was hers, "my" had said.
    """
    name = re.escape(speaker)
    theirs = re.sub(rf"(?<=\w ){name}'s\b", "my", text)
    return re.sub(rf"^(\w+) and {name}\b(?!')", r"\1 and I", theirs)


def effect(older: Fact, newer: Fact) -> Effect | None:
    """Return what a later statement does to an earlier one; ``None`` if they may stand together."""
    if of_strangers(older, newer):
        return None
    before, after = claims(older), claims(newer)
    for new in after:
        for old in before:
            if _ends(new, old):
                is_denial = new.sense == "never" or new.corrects
                return "denies" if is_denial else "ends"
    return "repeats" if before and after and _repeats(older, newer, before, after) else None


def _ends(new: Claim, old: Claim) -> bool:
    if old.sense == "over" and new.sense == "never" and _is_of(new.subject, old.subject):
        return new.attribute == old.attribute and _value(new) == _value(old)
    if old.sense == "over" or (new.is_ahead != old.is_ahead and not _cancels(new, old)):
        return False
    if _is_of(new.subject, old.subject):
        if _gives_up(new, old):
            return True
        if new.attribute == old.attribute:
            return _replaces(new, old)
        return old.sense == "is" and _leaves(new, old)
    is_over = (new.attribute == DIED and _is_named(new.subject, old)) or _is_kept_no_more(new, old)
    return old.sense == "is" and (is_over or _is_couple(new, old))


def _is_kept_no_more(new: Claim, old: Claim) -> bool:
    """Whether somebody has no more what a thing of theirs was: ``my car is a Golf``."""
    is_theirs = old.attribute == KIND and spelled(old.subject).startswith(
        f"{spelled(new.subject)}'s "
    )
    return is_theirs and new.attribute == HAS and new.sense == "over" and _value(new) == _value(old)


def _gives_up(new: Claim, old: Claim) -> bool:
    """Whether it is denied at all times what somebody does at some: ``every morning, at work``.

    A verb without its object is denied only where the habit has none either: who no longer runs
    may run a shop on Mondays.
    """
    if old.sense != "is":
        return False
    is_over = new.attribute == old.attribute and new.sense == "over" and bool(new.value)
    given_up, done = (new.value, old.value) if is_over else (new.given_up, _done(old))
    if new.attribute == QUIT and not given_up:
        given_up = f"{done.partition(' ')[0]} {new.value}" if _is_taken(done) else ""
    if not given_up or not f"{done} ".startswith(f"{given_up} "):
        return False
    rest = done[len(given_up) :].strip()
    is_alone = not is_over and " " not in given_up
    if is_alone and new.given_up not in BY_THEMSELVES:
        return False
    is_circumstance = _CIRCUMSTANCE.match(rest) or (is_alone and rest[:1].isdigit())
    return not rest or bool(is_circumstance or OFTEN.match(rest))


def _done(claim: Claim) -> str:
    """Return what somebody does, by its verb: ``play tennis on Sundays``; else ``""``.

    An attribute may be a verb: ``plays``, ``is learning``.
    """
    if claim.attribute in {HABIT, DOES}:
        return claim.value
    being, _, last = claim.attribute.rpartition(" ")
    lemma, form = FORMS.get(last, ("", ""))
    is_doing = (being, form) in {("", "present"), ("is", "ing")}
    return f"{lemma} {claim.value}".strip() if is_doing else ""


def _is_taken(done: str) -> bool:
    return done.partition(" ")[0] in TAKEN


def _is_couple(new: Claim, old: Claim) -> bool:
    """Whether two are parted of whom one had the other: ``Tom and Ada got divorced``."""
    one, joint, other = new.subject.partition(" and ")
    is_parted = new.attribute == MARITAL and new.value in _PARTED and new.sense == "is"
    is_parted |= new.attribute == RELATION and new.sense == "over"
    if not joint or not is_parted or old.attribute not in RELATIONS - {"lives with"}:
        return False
    had = {spelled(old.subject), spelled(old.value)}
    return had == {spelled(one), spelled(other)}


def _is_of(one: str, other: str) -> bool:
    ours, theirs = (spelled(text).removeprefix("the ") for text in (one, other))
    return ours == theirs


def _replaces(new: Claim, old: Claim) -> bool:
    """Whether two values of one attribute cannot stand side by side."""
    same = _value(new) == _value(old)
    if same:
        return new.sense in _OPPOSITE[old.sense]
    if new.sense != "is" or old.sense != "is":
        is_all = old.sense == "is" and _is_of_namesake(old.value, new.value)
        return is_all and new.attribute in _AT_PLACES
    if _is_of_namesake(new.value, old.value) or _is_of_namesake(old.value, new.value):
        return False  # "Lyon, France" may be the Lyon that was said
    if new.is_single and (old.is_single or new.corrects):
        return _units(new) == _units(old)
    ways = (_is_put_right, _is_other_count, _is_other_kind, _is_on_other_days)
    return any(replaces(new, old) for replaces in ways)


def _is_on_other_days(new: Claim, old: Claim) -> bool:
    """Whether what was done on one day of the week, or at an hour, is done on another now."""
    one, two = (_ON_DAYS.subn("", claim.value) for claim in (new, old))
    return new.attribute == HABIT and new.is_change and one == two and bool(one[1])


def _is_put_right(new: Claim, old: Claim) -> bool:
    """Whether a claim names what the other has as wrong: ``called Felix, not Max``."""
    return bool(new.not_so and _value(old)) and _value(old) <= frozenset(words(new.not_so))


def _is_other_kind(new: Claim, old: Claim) -> bool:
    """Whether both are of the same things, of which somebody has one kind at a time."""
    if new.attribute not in {"prefers", "use", "uses", "works"} or _head(new) != _head(old):
        return False
    # "I prefer aisle seats now": of the same things another kind. Dark mode is no light mode.
    is_other = new.attribute == "prefers" and new.is_change
    return is_other or any(_is_one_of_each(scale, new.value, old.value) for scale in _SCALES)


def _is_one_of_each(scale: frozenset[str], one: str, other: str) -> bool:
    """Whether two values differ in which of some words they have, and in nothing else."""
    ours, theirs = set(words(one)), set(words(other))
    return ours ^ theirs <= scale and bool(ours & scale) and bool(theirs & scale)


def _is_of_namesake(exact: str, name: str) -> bool:
    """Whether a place or firm is told by name and more: ``London, Ontario`` is a London."""
    return bool(name) and exact.lower().startswith(f"{name.lower()},")


def _comes_each(new: Claim, old: Claim) -> bool:
    """Whether both say after how long something comes again: ``every 30 days``."""
    return all(_EACH.search(one.value) is not None for one in (new, old))


def _is_other_count(new: Claim, old: Claim) -> bool:
    """Whether both say how many of the same there are: ``eight members``, ``eleven members``."""
    if not (new.attribute in {HAS, "uses", "run"} or _comes_each(new, old)):
        return False
    one, two = read(old.value), read(new.value)
    rest = one.content - one.numbers
    return bool(rest and one.numbers and two.numbers) and rest == two.content - two.numbers


def _leaves(new: Claim, old: Claim) -> bool:
    """Whether a claim says that what another attribute held is over."""
    is_parted = new.attribute == MARITAL and new.value in _PARTED
    if is_parted and old.attribute in RELATIONS - {"lives with"}:
        return True
    if new.attribute == MARITAL and new.value == "married" and new.sense != "is":
        return old.attribute == "married to"
    if new.attribute == DIED and old.attribute not in _LASTING:
        return True
    if new.attribute == "cancelled" and old.attribute == TIME:
        return True
    is_it = _value(new) == _value(old) or _is_of_namesake(old.value, new.value)
    if not _value(new) or not is_it or new.sense != "over":
        return _cancels(new, old)
    ended = {LEFT: MEMBERSHIPS, RELATION: RELATIONS, "married to": RELATIONS, HAS: USES}
    is_ended = new.attribute == "changed" or old.attribute in ended.get(new.attribute, frozenset())
    return is_ended or _cancels(new, old)


def _cancels(new: Claim, old: Claim) -> bool:
    """Whether a trip is off that was planned."""
    is_off = new.attribute == PLAN and new.sense == "over" and old.is_ahead
    return is_off and bool(_value(new)) and _value(new) <= _value(old)


def _is_named(name: str, old: Claim) -> bool:
    """Whether who has died is whom somebody had: ``a cat called Minka``."""
    told = words(old.value)
    return old.attribute == HAS and words(name) == told[-len(words(name)) :] and "called" in told


def _value(claim: Claim) -> frozenset[str]:
    value = in_24_hours(claim.value)
    return read(value).content or frozenset(words(value))


def _units(claim: Claim) -> frozenset[str]:
    """Return the words beside the number of a value: euros are no months."""
    known = read(claim.value)
    if (
        claim.attribute in {TIME, NAME, "place", "address"}
        or not known.numbers
        or not known.content - known.numbers
    ):
        return frozenset()
    is_measure = claim.attribute != "is" and claim.attribute.endswith("s")
    is_measure |= claim.attribute == "number"
    return known.content - known.numbers if is_measure else frozenset()


def _head(claim: Claim) -> str:
    return next(iter(words(claim.value)[-1:]), "")


def _repeats(older: Fact, newer: Fact, before: tuple[Claim, ...], after: tuple[Claim, ...]) -> bool:
    """Whether two texts claim the same and nothing else."""
    ours, theirs = {_said(one) for one in before}, {_said(one) for one in after}
    if not (ours <= theirs or theirs <= ours) or any(one.is_ahead for one in (*before, *after)):
        return False
    one, two = (in_24_hours(resolved_text(fact)) for fact in (older, newer))
    if difference(read(one), read(two)) in {"numbers", "negation"}:
        return False
    made = (*before, *after)
    filling = {word for claim in made for word in _FILLING.get(claim.attribute, "").split()}
    filling |= {"favourite", "like", "most", "best"} if _is_told_freely(before) else set()
    left, right = read(one), read(two)
    rest = (left.content ^ right.content) - filling
    return not rest and (left.turns == right.turns or _is_told_freely(before))


def _is_told_freely(found: tuple[Claim, ...]) -> bool:
    """Whether small words may differ: what I like most is the favourite, "ill" is no "I'll"."""
    return all(claim.attribute.startswith(("favourite", "state ")) for claim in found)


def _said(claim: Claim) -> tuple[str, str, tuple[str, ...], str]:
    subject = spelled(claim.subject).removeprefix("the ")
    known = read(in_24_hours(claim.value))
    # The day and the month of a date may change places, the two ends of a way may not.
    value = tuple(sorted(known.content)) if claim.attribute == TIME else known.order
    return (subject, claim.attribute, value, claim.sense)
