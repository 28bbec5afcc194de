"""What a later statement does to an earlier one, by what both claim: word for word or not. Pure.

Two texts are read by the grammar, first persons put right by who says them: ``I have a pony`` of
one is not touched by ``I don't have a pony`` of another. A claim ends another when both are about
the same subject and the same attribute and cannot stand side by side, or when it says in so many
words that the other is over. What nobody could read decides nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Literal, TypeAlias

from tiers.learning import spelled
from tiers.lexical import words
from tiers.records import Fact

from .alternatives import is_by_last_word
from .conflicts import ends, is_of, is_theirs
from .grammar.claims import claims_of
from .grammar.clauses import without_lead
from .grammar.consequences import restated
from .grammar.shorthand import with_capitals
from .grammar.standing import language_asked
from .grammar.statement import NAME, TIME, Claim
from .grammar.verbs import FORMS
from .likeness import REMEMBERED_CHARS_MAX, REMEMBERED_TEXTS, difference, read
from .lists import as_of_one, ended, left
from .regexes import alone, any_case
from .rewording import in_24_hours, in_third_person
from .states import kept_of
from .updates import Telling, is_update

Effect: TypeAlias = Literal["ends", "denies", "repeats"]

_OWN = any_case(
    alone(
        r"(?!(?-i:US)\b)"
        "(?:i|i'm|i've|im|my|mine|me|myself|we|we're|we've|our|ours|us)"
    )
)
_NAMELESS = any_case(r"(?:the )?user(?:'s)? ")
_DONE_TO = "took|taken|put|moved|laid|let|made"
"""What others did to who speaks: ``took Ada off metformin``."""
_OPENS_OWN = any_case(r"(?:i|i'm|i've|we|we're|we've|user)\b")
_USER = re.compile(r"\buser\b")
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
    # "Ada: The key is kept in Vault" is of the key: Ada only says so.
    text = fact.text.removeprefix(f"{fact.subject}: ")
    is_only_said = text != fact.text
    who = fact.subject if is_only_said else _leading_name(fact)
    speaker = _speaker_in(fact)
    # "I'm third" is told of a moment, "Hamilton is third" is of somebody.
    found = _claims(text, who or speaker) or _claims(text, speaker)
    if is_only_said and not found and FORMS.get(words(text)[0], ("", ""))[1] == "past":
        found = _claims(f"I {text[:1].lower()}{text[1:]}", speaker)  # "Upgraded the database"
    if who is not None and who[:1].isupper():
        # "Tom moved out" of where who speaks lives with him; a capital tells whom it is of.
        found += tuple(one for one in _claims(text, speaker) if one not in found)
    # Whom an application names counts for more than whom the words seem to be about.
    named = None if is_only_said else fact.subject
    is_named = named is None or any(
        is_of(one.subject, named) or is_theirs(one.subject, named) for one in found
    )
    return found if is_named else ()


def _speaker_in(fact: Fact) -> str:
    """Return what the speaker is called in a fact: "user" where nobody has said who that is."""
    is_nameless = fact.user_id is None and _USER.search(fact.text) is not None
    return "user" if is_nameless else speaker_of(fact)


def _leading_name(fact: Fact) -> str | None:
    """Return whom a text opens with, where that is one word: ``user has a dog``, ``ann moved``.

    No capital tells that it is somebody.
    """
    opening, _, rest = fact.text.removesuffix(".").partition(" ")
    is_told = fact.subject is not None and opening.removesuffix("'s") == fact.subject
    is_one = rest.partition(" ")[0] not in {"are", "were", "have"}
    return fact.subject if is_told and is_one and not _OWN.search(fact.text) else None


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _claims(text: str, speaker: str) -> tuple[Claim, ...]:
    if asked := language_asked(text):
        return (asked,)
    spoken = _as_spoken(with_capitals(text), speaker)
    # Whose something is, and who did it, is told by a capital: "ada's mentor", "ada upgraded to".
    is_opened = spoken.startswith((f"{speaker} ", f"{speaker}'s "))
    statement, name = (
        f"{one[:1].upper()}{one[1:]}" if is_opened else one for one in (spoken, speaker)
    )
    more = restated(statement)
    implied = claims_of(more, name) if more else []
    return (*claims_of(statement, name), *map(_as_of_now, implied))


def _as_of_now(claim: Claim) -> Claim:
    """Return what a change implies: of what a thing has come to be, there is one."""
    is_single = claim.is_single or (claim.attribute == "is" and claim.sense == "is")
    return replace(claim, is_change=True, is_single=is_single)


def _as_spoken(text: str, speaker: str) -> str:
    """Return a text as who it is told of would have said what is theirs in it.

    What is stored is told of somebody, ``Ada sold Ada's boat``; that it was hers, "my" had said.
    """
    name = re.escape(speaker)
    theirs = re.sub(rf"(?<=\w ){name}'s\b", "my", text)
    theirs = re.sub(rf"(?<=\w with ){name}$", "me", theirs)
    theirs = re.sub(rf"\b({_DONE_TO}) {name}\b(?!')", r"\1 me", theirs)
    return re.sub(rf"^(\w+) and {name}\b(?!')", r"\1 and I", theirs)


def effect(older: Fact, newer: Fact) -> Effect | None:
    """Return what a later statement does to an earlier one; ``None`` if they may stand together."""
    if of_strangers(older, newer):
        return None
    before, after = claims(older), claims(newer)
    for new in after:
        if any(ends(new, old) for old in before):
            return _how(new)
    if before and after and left_of(older, newer) is not None:
        return _how(after[0])
    if before and after and _repeats(older, newer, before, after):
        return "repeats"
    told = _telling(older, before), _telling(newer, after)
    return "ends" if is_update(*told) else None


def _telling(fact: Fact, claimed: tuple[Claim, ...]) -> Telling:
    """Return a fact's text and of whom or what it tells, as far as somebody can say."""
    if fact.text.startswith(f"{fact.subject}: "):
        return Telling(fact.text.removeprefix(f"{fact.subject}: "))
    text = resolved_text(fact)
    about = claimed[0].subject if claimed else fact.subject or ""
    is_own = spelled(about) in {spelled(_speaker_in(fact)), "i", "we", "user"}
    is_own |= not claimed and _OPENS_OWN.match(fact.text) is not None
    own = f"{_speaker_in(fact)}'s "
    bare = about[len(own) :] if about.lower().startswith(own.lower()) else about
    return Telling(text, bare, is_own=is_own, is_others="'s " in about)


def in_full(older: Fact, newer: Fact) -> str | None:
    """Return what an earlier statement calls in full what a later one calls by its last word.

    "The deadline" is that of the project where no other deadline is known.
    """
    subjects = {one.subject for one in claims(newer)}
    return next(
        (
            old.subject
            for old in claims(older)
            if any(is_by_last_word(one, old.subject) for one in subjects)
        ),
        None,
    )


def left_of(older: Fact, newer: Fact) -> Fact | None:
    """Return what still holds of a list of which a later statement ends some, as the older fact.

    Its text is empty where nothing does. ``None`` where none of it has ended, or what is left says
    nothing.
    """
    after = claims(newer)
    for old in claims(older):
        gone = ended(after, old)
        otherwise = (
            kept_of(new, old, older.text) for new in after if is_of(new.subject, old.subject)
        )
        kept = next(filter(None, otherwise), None)
        if kept is not None:
            return older.model_copy(update={"text": kept})
        text = left(older.text, old, gone) if gone else None
        if text is None:
            continue
        names = {"subject": older.subject, "object": older.object}
        names_left = {name: (one and left(one, old, gone)) or one for name, one in names.items()}
        rest = older.model_copy(update={"text": text, **names_left})
        if not text or _says_as_before(rest, old):
            return rest
    return None


def _says_as_before(rest: Fact, old: Claim) -> bool:
    """Whether what is left of a fact claims of somebody what the fact did."""
    said = {(one.attribute, one.sense) for one in claims(rest)}
    return not said.isdisjoint(
        (way, old.sense) for way in (old.attribute, as_of_one(old.attribute))
    )


def _how(new: Claim) -> Effect:
    return "denies" if new.sense == "never" or new.corrects else "ends"


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
    filling |= {"favourite", "like", "most", "best"} if _differs_freely(before) else set()
    first, second = read(one), read(two)
    rest = (first.content ^ second.content) - filling
    return not rest and (first.turns == second.turns or _differs_freely(before))


def _differs_freely(found: tuple[Claim, ...]) -> bool:
    """Whether small words may differ: what I like most is the favourite, "ill" is no "I'll"."""
    return all(claim.attribute.startswith(("favourite", "state ")) for claim in found)


def _said(claim: Claim) -> tuple[str, str, tuple[str, ...], str]:
    subject = spelled(claim.subject).removeprefix("the ")
    known = read(in_24_hours(claim.value))
    # The day and the month of a date may change places, the two ends of a way may not.
    value = tuple(sorted(known.content)) if claim.attribute == TIME else known.order
    return (subject, claim.attribute, value, claim.sense)
