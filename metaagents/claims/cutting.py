"""Where clauses begin: a sentence cut at the marks and words after which a verb follows. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tiers.lexical import CALENDAR

from .forms import VERBS, base, is_base_form, is_finite, is_past
from .lexicon import (
    AUXILIARIES,
    CAUSES,
    CONJUNCTIONS,
    DETERMINERS,
    FREE,
    LIMITS,
    MODES,
    NEGATIONS,
    OURS,
    OWN,
    POSSESSIVES,
    PREPOSITIONS,
    REPORTING,
    SUBJECTS,
    THEIRS,
    YOURS,
    Mode,
)
from .tokens import Token

ASIDE_MAX = 4
"""Words of a name that stands between commas."""
OPENING_MAX = 7
"""So far into a part its verb has to come for the part to be a clause of its own."""
_MARKS = frozenset(",;:()\u2014\u2013")
FRAMING: frozenset[Mode] = frozenset(("ask", "proposal", "maybe"))
_ADVERBS = frozenset(
    "also then still already now always never not often usually later eventually currently just "
    "please both finally recently so".split()
)
_BEFORE = {"not": (",", "but", "and"), "with": (",",), "no": (",", "so")}
"""Words that open a clause without a verb, and after which marks and words they do."""
_JOINING = frozenset("and but or so if unless provided while whereas although though when".split())
_JOINED_VERBS = frozenset("would_like would_rather used_to have_to gave_up".split())
_ADJECTIVES = frozenset("own new old other another same first next last little good best".split())
_AFTER_ADDRESSEE = frozenset("that whether about to if of".split())
PRONOUNS = OWN | OURS | YOURS | THEIRS


class Part(NamedTuple):
    """Tokens of one clause, the mark or word before it, and whether it is inside a quotation."""

    tokens: Sequence[Token]
    after: str
    quoted: bool


def cuts_of(found: Sequence[Token]) -> list[Part]:
    """Cut the tokens of a sentence into clauses."""
    parts: list[Part] = []
    current: list[Token] = []
    after, quoted = "", False
    for place, token in enumerate(found):
        is_quote = token.kind == "p" and token.word == '"'
        is_mark = token.kind == "p" and token.word in _MARKS
        is_word = token.kind == "w" and (token.word in CONJUNCTIONS or token.word in CAUSES)
        cut = is_quote or (
            (is_mark or is_word)
            and _opens_clause(found, place + 1, token.word, has_before=bool(current))
        )
        framed = bool(current) and (
            (_is_framed(current) and _has_own_subject(found, place))
            or (current[0].word == "according_to" and _follows_source(found, place))
            or token.word == "according_to"
        )
        if cut or framed:
            if current:
                parts.append(Part(current, after, quoted))
            after = f", {token.word}" if after == "," and not current else token.word
            current = []
            quoted = (
                not quoted
                if is_quote
                else quoted or (token.word == ":" and bool(parts) and _reports(parts[-1].tokens))
            )
            if is_quote or is_mark:
                continue
        if not is_mark and token.kind != "p":
            current.append(token)
    return [*parts, Part(current, after, quoted)]


def bare_part(part: Part) -> Part:
    """Return a part without the words that only join it to the one before."""
    found, after = list(part.tokens), part.after
    while len(found) > 1 and (found[0].word in _JOINING or _is_joining_that(found)):
        if not after.endswith(found[0].word):
            after = f", {found[0].word}" if after == "," else found[0].word
        found = found[1:]
    return part._replace(tokens=found, after=after)


def _is_joining_that(found: Sequence[Token]) -> bool:
    return found[0].word in ("that", "whether") and found[1].word not in AUXILIARIES


def _is_framed(current: Sequence[Token]) -> bool:
    """Whether what stands so far only says that somebody says, asks or supposes something."""
    last = current[-1].word
    if last in ("that", "whether", "if") and len(current) > 1:
        return is_frame_verb(current[-2].word) or is_frame_verb(current[-min(3, len(current))].word)
    if is_frame_verb(last):
        return True
    return (
        len(current) > 1
        and is_frame_verb(current[-2].word)
        and (last in PRONOUNS or current[-1].capital)
    )


def _follows_source(found: Sequence[Token], place: int) -> bool:
    """Whether what somebody says begins here, after ``according to`` and whom."""
    if found[place].word in SUBJECTS:
        return True
    if not found[place].after_mark:
        return False
    for at in range(place, min(place + OPENING_MAX, len(found))):
        if found[at].kind == "p" and found[at].word in _MARKS:
            return False
        if is_verb(found, at):
            return True
    return False


def is_frame_verb(word: str) -> bool:
    """Whether a verb says that somebody says, asks, supposes or proposes what follows."""
    if word == "according_to":
        return False
    return word in REPORTING or (
        MODES.get(word) in FRAMING
        and word
        not in (
            "could",
            "might",
            "may",
            "please",
            "perhaps",
            "maybe",
            "possibly",
            "probably",
            "likely",
            "apparently",
            "allegedly",
            "how_about",
            "lets",
        )
    )


def _reports(current: Sequence[Token]) -> bool:
    return any(one.word in REPORTING for one in current)


def _opens_clause(found: Sequence[Token], start: int, mark: str, *, has_before: bool) -> bool:
    """Whether a clause begins at a place: a verb follows, with or without a subject before it."""
    first = found[start].word if start < len(found) else ""
    if mark in _BEFORE.get(first, ()):
        return True
    place = start
    while place < len(found) and found[place].word in _ADVERBS:
        place += 1
    if place < len(found) and (is_verb(found, place) or _opens_infinitive(found[place:], mark)):
        return has_before
    for at in range(place, min(place + OPENING_MAX, len(found))):
        if found[at].kind == "p" and found[at].word in _MARKS:
            return found[at].word == "," and _ends_aside(found, at)
        if at > place and found[at].word in CONJUNCTIONS:
            return False
        if is_verb(found, at):
            return found[place].word not in PREPOSITIONS or not has_before
    return False


def _ends_aside(found: Sequence[Token], start: int) -> bool:
    """Whether a name between two commas stands before a verb: ``my coach, Ms. Roth, says``."""
    at = start + 1
    while at < len(found) and at <= start + ASIDE_MAX and found[at].capital:
        at += 1
    if at == start + 1 or at + 1 >= len(found) or found[at].word != ",":
        return False
    return is_verb(found, at + 1)


def _opens_infinitive(found: Sequence[Token], mark: str) -> bool:
    """Whether a verb follows that is not finite: ``and selling``, ``and to sell``."""
    if found[0].word == "to" and mark in ("and", "or"):
        return len(found) > 1 and is_base_form(found[1].word)
    joined = mark in ("and", "or", ",", "after", "before", "while", "when")
    return joined and is_gerund(found[0].word)


def is_gerund(word: str) -> bool:
    """Whether a word is a verb in ``-ing``."""
    return word.endswith("ing") and base(word) in VERBS


def _has_own_subject(found: Sequence[Token], place: int) -> bool:
    """Whether a subject and its verb stand at a place."""
    if found[place].kind == "p" or not (
        found[place].word in SUBJECTS
        or found[place].word in DETERMINERS
        or found[place].capital
        or found[place].word == "according_to"
        or found[place].owner
    ):
        return False
    if place + 1 < len(found) and found[place + 1].word in _AFTER_ADDRESSEE:
        return False
    return any(is_verb(found, at) for at in range(place + 1, min(place + OPENING_MAX, len(found))))


def is_verb(found: Sequence[Token], place: int) -> bool:
    """Whether a token is a finite verb, as far as it and the one before it show."""
    token = found[place]
    if token.kind != "w" or token.owner:
        return False
    if token.word in AUXILIARIES or token.word in _JOINED_VERBS:
        return True
    if _is_noun(found, place) or token.word.endswith("ing") or token.word in ("named", "provided"):
        return False
    if is_finite(token.word) or (token.word.endswith("ed") and is_past(token.word)):
        return True
    return place > 0 and not token.after_mark and _follows_subject(found[place - 1], token.word)


def _is_noun(found: Sequence[Token], place: int) -> bool:
    """Whether a word that may be a verb stands where none does, or only names: ``called Ada``."""
    token = found[place]
    if not place:
        is_followed = token.capital and len(found) > 1 and is_finite(found[1].word)
        return is_followed or (is_past(token.word) and not _goes_on(found[1:2]))
    before = found[place - 1]
    if (
        before.word in DETERMINERS | PREPOSITIONS | POSSESSIVES | _ADJECTIVES
        or before.owner
        or before.kind == "n"
    ):
        return True
    is_name = token.word == "called" and place + 1 < len(found) and found[place + 1].capital
    return token.capital or (is_name and not before.capital and before.word not in SUBJECTS)


def _goes_on(following: Sequence[Token]) -> bool:
    """Whether a verb goes on as one: ``moved to``, ``bought a``, but ``broken gearbox``."""
    if not following or following[0].kind != "w":
        return True
    word = following[0].word
    return word in DETERMINERS or word in PREPOSITIONS or word in PRONOUNS or word in _ADVERBS


def _follows_subject(before: Token, word: str) -> bool:
    """Whether a word that is in no list is a verb by what it follows: ``I owe``, ``Sam owes``."""
    if word in FREE or word in LIMITS or word in NEGATIONS or word in MODES or word in _ADVERBS:
        return False
    if before.word in ("i", "we", "you", "he", "she", "they"):
        return True
    is_name = before.capital and before.word not in FREE and before.word not in CALENDAR
    return is_name and word.endswith("s") and not word.endswith("ss")
