"""What a learnt fact is worth, by its words: right, incomplete, or false. Pure rules.

A fact is *right* when it names the label's subject and all values, with the label's polarity. It is
*incomplete* when it says less, yet nothing that the turn does not say. All else is *false*, and so
is every fact from a turn that states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from tiers.records import Fact

from .labels import EITHER, Label, SaidTurn

Verdict: TypeAlias = Literal["right", "incomplete", "false"]
Fate: TypeAlias = Literal["kept", "superseded", "merged", "reversed", "both gone"]
"""Of two statements: both stand; the later stands; they are one; the earlier stands; neither."""

_TOKEN = re.compile(r"\w+(?:[.:'-]\w+)*|[,;:.!?]")
_BREAKS = frozenset(", ; : . ! ? but because so although though while and".split())
"""Where the reach of a negation ends."""
_NEGATORS = frozenset("not no never none neither nor without cannot nobody".split())
_KIN = frozenset(
    "mother father mum mom dad parents sister brother son daughter child children kids husband "
    "wife partner girlfriend boyfriend aunt uncle cousin niece nephew grandmother grandfather "
    "friend neighbour boss colleague flatmate son-in-law daughter-in-law".split()
)
_FUNCTION = frozenset(
    "a an the is are was were be been being am has have had having do does did of to in on at for "
    "from with by and or as that this it its he she they his her their him them who which called "
    "named name lives live living works work since until now currently very".split()
)
"""Words that every good rewording may bring along."""
_NOBODY = frozenset("i i'm i've i'd i'll we we're we've my our me us user".split())
_STEM_CHARS = 4
_YEAR = re.compile(r"(?:19|20)\d\d")


def verdict(turn: SaidTurn, fact: Fact) -> Verdict:
    """Return what a fact that was learnt from a turn is worth."""
    verdicts = {of_label(turn, label, fact) for label in turn.facts}
    if "right" in verdicts:
        return "right"
    if "incomplete" in verdicts or (turn.facts and _is_aside(turn, fact)):
        return "incomplete"
    return "false"


def of_label(turn: SaidTurn, label: Label, fact: Fact) -> Verdict:
    """Return what a fact is worth as the one that a label asks for."""
    words = tokens(said(fact))
    values = [has(words, value) for value in label.values]
    if not any(values) or not _polarity_agrees(label, words):
        return "false"
    if label.says and not has(words, label.says):
        return "false"
    if any(has(words, wrong) for wrong in label.wrong) and not all(values):
        return "false"
    if names(label, turn.speaker, fact) and all(values):
        return "right"
    # Who says "I" or "user" names nobody: of little use, but no falsehood.
    is_open = names(label, turn.speaker, fact) or _names_nobody(fact)
    return "incomplete" if is_open and _is_grounded(turn, words) else "false"


def since_agrees(label: Label, fact: Fact) -> bool:
    """Return whether a fact began to be true when the label says."""
    return fact.valid_from is not None and fact.valid_from.isoformat().startswith(label.since)


def fate(old: Fact, new: Fact) -> Fate:
    """Return what became of two statements that were remembered one after the other."""
    if old.id == new.id or "duplicate" in (old.superseded_as, new.superseded_as):
        return "merged"
    if is_live(old):
        return "kept" if is_live(new) else "reversed"
    return "superseded" if is_live(new) else "both gone"


def is_live(fact: Fact) -> bool:
    """Return whether a fact still counts: it neither gave way nor was forgotten."""
    return fact.superseded_at is None and fact.superseded_by is None and fact.forgotten_at is None


def said(fact: Fact) -> str:
    """Return all that a fact says: its subject, where it has one, and its text."""
    return fact.text if fact.subject is None else f"{fact.subject}; {fact.text}"


def tokens(text: str) -> list[str]:
    """Return words and punctuation, in lower case; an apostrophe has one form."""
    return _TOKEN.findall(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").casefold())


def has(words: Sequence[str], value: str) -> bool:
    """Return whether the words hold a value, or one of those between ``|``."""
    return any(True for _ in _positions(words, value))


def _positions(words: Sequence[str], value: str) -> Iterator[int]:
    """Yield where the words hold one of a value's alternatives; ``'s`` at its end is no matter."""
    for one in value.split(EITHER):
        wanted = tokens(one)
        for start in range(len(words) - len(wanted) + 1):
            found = words[start : start + len(wanted)]
            bare = [*found[:-1], found[-1].removesuffix("'s")]
            if wanted in (found, bare):
                yield start


def names(label: Label, speaker: str, fact: Fact) -> bool:
    """Return whether a fact is about a label's subject.

    ``Ingrid's sister`` does not name Ingrid, unless the label is about the sister as well.
    """
    asked = {word for part in (label.attribute, *label.values) for word in tokens(part)}
    words = tokens(said(fact))
    for name in label.subject or (speaker,):
        length = len(tokens(name))
        for start in _positions(words, name):
            owner, after = words[start + length - 1], words[start + length : start + length + 1]
            is_owner = owner.endswith("'s") and not name.endswith("'s")
            if not (is_owner and set(after) & _KIN - asked):
                return True
    return False


def _names_nobody(fact: Fact) -> bool:
    first = tokens(said(fact))[:1]
    return bool(set(first) & _NOBODY)


def _polarity_agrees(label: Label, words: Sequence[str]) -> bool:
    if label.negated == "either":
        return True
    denied = any(
        _is_denied(words, place) for value in label.values for place in _positions(words, value)
    )
    return denied == label.negated


def _is_denied(words: Sequence[str], place: int) -> bool:
    """Return whether a negation before a word, in the same clause, reaches it."""
    for word in reversed(words[:place]):
        if word in _BREAKS:
            return False
        if word in _NEGATORS or word.endswith("n't"):
            return True
    return False


def _is_aside(turn: SaidTurn, fact: Fact) -> bool:
    """Return whether a fact is something else that the turn says truly."""
    words = tokens(said(fact))
    is_named = any(all(has(words, word) for word in group) for group in turn.also)
    return is_named and _is_grounded(turn, words)


def _is_grounded(turn: SaidTurn, words: Sequence[str]) -> bool:
    """Return whether a fact has no word of its own: by stems, names of grammar apart.

    The year that a date is told with may be of when it was said; times are scored by themselves.
    """
    source = {_stem(word) for word in tokens(f"{turn.speaker} {turn.text}")}
    brought = {word for word in words if word[0].isalnum()} - _FUNCTION - _NEGATORS - _NOBODY
    return all(_stem(word) in source or _YEAR.fullmatch(word) for word in brought)


def _stem(word: str) -> str:
    return word.removesuffix("'s")[:_STEM_CHARS]
