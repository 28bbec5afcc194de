"""The grounding guard: whether a statement says only what its sources say. Pure.

A prompt that asks a model to keep to its sources is followed now and then; this is code, and holds
always. What a statement may rest on are the words of the user and of tools. What the agent itself
said is no evidence: it may have been a guess, and a guess that is stored becomes its own proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tiers.lexical import STOP_WORDS, sentences, words

from ..claims.agreement import EMPTY_ROOTS
from ..claims.forms import alike, base, kind_of, root
from ..claims.lexicon import FREE
from ..distinctive import is_negated, missing, names, numbers, vocabulary
from .regexes import any_case

SHARE_MIN = 0.6
"""Of a statement's content words, so many must be in its sources."""
NEAR_CHARS = 5
"""The rest need only begin as a word of the sources does: ``marriage`` and ``married``."""

Ungrounded: TypeAlias = Literal[
    "says nothing", "not in the sources", "the agent's own words", "too little of it said", "denied"
]
"""
=======================  =====================================================================
reason                   what is wrong with the statement
=======================  =====================================================================
says nothing             it has no content word and no distinctive token
not in the sources       a number, date, name, version or any content word of it is in none
the agent's own words    such a word is in what the agent said, and in no source
too little of it said    fewer than ``SHARE_MIN`` of its content words are in the sources
denied                   the sources say it the other way round
=======================  =====================================================================
"""

# Words that a statement about somebody may have of its own. Each group with why.
_GENERIC_GROUPS = (
    # Whom it is about: "I" and "my" in the sources.
    "user users customer client person speaker someone somebody people name named called",
    # To be, have and do in every form: grammar, not content.
    "be being been is are was were am have has had having do does did done get gets got own owns",
    # Liking and wanting: how a preference is put, whatever its object.
    "prefer like love enjoy dislike hate want wish favor favour favorite favourite preference",
    # Living, working and using: how "I'm in Rome" and "at Acme" are put in the third person.
    "live reside base work use used using make go come say state mention tell report note ask",
    # Must and can: how a constraint is put.
    "can need must should require always never able unable avoid",
    # When, without a date: how the present is put.
    "currently now recently usually often still also already today",
    # What a statement is about in the abstract.
    "thing something anything way kind type fact",
)

# What says no without a negation: compared with sources that say no as well.
_DENYING = frozenset("dislike hate avoid refuse lack quit stop unable cease former".split())
_CLAUSE_END = any_case(
    r"[,;:()\u2013\u2014]|\s-\s|\b(?:but|however|although|though|whereas|while|because|so|and|or|"
    r"nor|yet)\b"
)
_NEW_THOUGHT = frozenset(
    "but however although though whereas while because so yet ; : \u2013 \u2014 -".split()
)
_SUBJECTS = frozenset(
    "i im ive ill id we weve hes shes he she they theyre theyve it its you youre that thats this "
    "there theres my our".split()
)


GENERIC = frozenset(root(word) for group in _GENERIC_GROUPS for word in group.split())
_DENYING_ROOTS = frozenset(root(word) for word in _DENYING)


def roots(text: str) -> dict[str, str]:
    """Return the content words of a text by their roots: no generic, stop or number words."""
    found: dict[str, str] = {}
    # Numbers are held against the sources on their own, in every spelling.
    passed_over = STOP_WORDS | {part for one in numbers(text).values() for part in words(one)}
    for word in words(text):
        plain = root(word)
        if word not in passed_over and plain not in GENERIC and word not in GENERIC:
            found.setdefault(plain, word)
    return found


@dataclass(frozen=True)
class Said:
    """What counts as said in one turn: the words of one or more people or tools.

    Attributes:
        turn_id: The turn.
        text: The words.
        names: What is known to be in it without being said, such as who speaks.
    """

    turn_id: str
    text: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Clause:
    """A part of a sentence with a polarity of its own."""

    roots: frozenset[str]
    is_denied: bool


@dataclass(frozen=True)
class Heard:
    """What one turn says, taken apart once for every statement that cites it."""

    turn_id: str
    vocabulary: frozenset[str]
    roots: frozenset[str]
    beginnings: frozenset[str]
    same: frozenset[str]
    clauses: tuple[Clause, ...]

    @classmethod
    def of(cls, said: Said) -> Heard:
        """Take apart what was said."""
        text = "\n".join([*said.names, said.text])
        spoken = words(text)
        return cls(
            turn_id=said.turn_id,
            vocabulary=vocabulary(text),
            roots=frozenset(root(word) for word in spoken),
            beginnings=frozenset(word[:NEAR_CHARS] for word in spoken if len(word) >= NEAR_CHARS),
            same=frozenset(other for word in spoken for other in _same(base(word))),
            clauses=tuple(clauses(said.text)),
        )


def _same(word: str) -> frozenset[str]:
    """Return the roots of what says the same as a word that was said, and what it is a kind of."""
    return alike(word) | {kind_of(word)} - {""}


def ground(text: str, sources: Sequence[Heard], own: Iterable[str] = ()) -> Ungrounded | None:
    """Return why a statement is not grounded in what turns say; ``None`` where it is.

    Args:
        text: The statement.
        sources: What the turns say.
        own: Roots of what the agent itself said.
    """
    wanted, tokens = roots(text), _strict_tokens(text)
    if not wanted and not tokens:
        return "says nothing"
    if missing(tokens, frozenset().union(*(one.vocabulary for one in sources))):
        return "not in the sources"
    reason = _words_reason(wanted, sources, frozenset(own))
    if reason is None and not _is_supported(text, sources):
        return "denied"
    return reason


def clauses(text: str) -> list[Clause]:
    """Return the clauses of a text with their polarity.

    A clause without a subject of its own goes on as the one before: ``I don't eat meat, fish or
    eggs`` denies three times, ``I'm not from Rome, I'm from Milan`` once.
    """
    found: list[Clause] = []
    for sentence in sentences(text):
        is_denied, ended_by, start = False, "", 0
        ends = [(one.start(), one.end(), one.group()) for one in _CLAUSE_END.finditer(sentence)]
        for at, after, mark in [*ends, (len(sentence), len(sentence), "")]:
            part = sentence[start:at]
            plain = words(part)
            goes_on = ended_by.strip().lower() not in _NEW_THOUGHT and bool(ended_by)
            if not goes_on or (plain and _SUBJECTS & set(plain[:2])):
                is_denied = False
            is_denied = is_denied != _denies(part)
            wanted = frozenset(roots(part))
            if wanted:
                found.append(Clause(wanted, is_denied))
            elif not _SUBJECTS & set(plain):
                is_denied = False  # a mere "No," answers what was asked before
            start, ended_by = after, mark
    return found


def _denies(part: str) -> bool:
    verbs = sum(root(word) in _DENYING_ROOTS for word in words(part))
    return is_negated(part) != (verbs % 2 == 1)


def _strict_tokens(text: str) -> list[str]:
    """Return what of a statement must have been said as it is: numbers and names.

    A capital at the beginning counts here as well: an invented name may open a statement.
    """
    inside = "\n".join(f"so {sentence}" for sentence in sentences(text))
    found = [name for name in names(inside) if root(name) not in GENERIC and name not in GENERIC]
    return [*numbers(text), *found]


def _words_reason(
    wanted: dict[str, str], sources: Sequence[Heard], own: frozenset[str]
) -> Ungrounded | None:
    """Say what is wrong with a statement's content words."""
    have = frozenset().union(*(one.roots for one in sources))
    same = EMPTY_ROOTS.union(*(one.same for one in sources))
    wanted = {plain: word for plain, word in wanted.items() if word not in FREE} or wanted
    lacking = {
        plain: word
        for plain, word in wanted.items()
        if plain not in have and base(word) not in same
    }
    if len(wanted) - len(lacking) < SHARE_MIN * len(wanted):
        return "too little of it said"
    unsaid = [
        plain
        for plain, word in lacking.items()
        if not any(word[:NEAR_CHARS] in one.beginnings for one in sources)
    ]
    if any(plain in own for plain in unsaid):
        return "the agent's own words"
    return "not in the sources" if unsaid else None


def _is_supported(text: str, sources: Sequence[Heard]) -> bool:
    """Whether the clauses that come closest to each clause of a statement are not its opposite."""
    known = [clause for one in sources for clause in one.clauses]
    for clause in clauses(text):
        shared = [len(clause.roots & one.roots) for one in known]
        closest = max(shared, default=0)
        nearest = [one for one, count in zip(known, shared, strict=True) if count == closest]
        if closest and all(one.is_denied != clause.is_denied for one in nearest):
            return False
    return True
