"""Whom a clause is about: who speaks, somebody of theirs, somebody by name, a thing. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tiers.lexical import words

from ..marks import Sought
from ..regexes import regex
from . import lexicon
from .lexicon import CAPITALS, NO_PERSON, ONE_AT_A_TIME, PERSONS, PETS, PLURALS, TITLES
from .verbs import AFTER_DONE, FORMS, is_base, is_known_verb, is_verb, past_base, third_person_base

Sort: TypeAlias = Literal["speaker", "owned", "named", "thing"]

NOUN_WORDS_MAX = 8
NAME_WORDS_MAX = 3
_SHORT = Sought(r"\b(I|we|they|you)'(m|re|ve|ll)\b")
_IM = Sought(r"\bim\b")
_LONG = {"m": "am", "re": "are", "ve": "have", "ll": "will"}
_LONG |= dict.fromkeys(("been", "got", "had", "become"), "has")
_OWN = frozenset(("i", "we"))
_MINE = frozenset(("my", "our"))
_SOMEBODYS = frozenset("mine ours yours hers theirs".split())
_BARE_KIN = frozenset("mum mom mummy dad daddy grandma grandpa granny gran grandad nan".split())
"""Whom people name without saying whose they are: their own."""
_OF_SEVERAL = frozenset("all both each every customer user".split())
"""Words that are nobody, and yet open what a thing is called: ``all packages``."""
_ARTICLES = frozenset(("the", "a", "an"))
_CHANGED = frozenset("new current present".split())
_NOT_SO_NOW = frozenset("former old ex late previous future would-be prospective".split())
"""Who was or will be somebody's is not so now."""
_WHICH = regex(r"(?<=\w) (?:to|from|with|in|at|on|for|about) .+")
_IS_CAPITAL = regex(rf"[{CAPITALS}][\w'\u2019.\-]*")
_KIN_IN_TWO_WORDS = {
    "little one": "child",
    "other half": "partner",
    "better half": "partner",
    "significant other": "partner",
    "old man": "father",
    "in laws": "parent",
    "big sis": "sister",
    "middle one": "child",
}
_FINITE = frozenset("is are was were has have must".split())
_POSSESSIVE = regex(r"(.+?)['\u2019]s?$")


WHOSE = frozenset(("his", "her", "their", "its"))
_ONE, _SEVERAL = frozenset("he his she her".split()), frozenset(("they", "their"))
PRONOUNS = WHOSE | _ONE | _SEVERAL | {"it"}
_ITS = regex(r"^((?i:he|she|it|they))'(?:(ll)|s) (?=(been|got|had|become) |\S)")
_KIN = "|".join(sorted(PERSONS | PETS | PLURALS.keys(), key=len, reverse=True))
_SOMEBODY = regex(
    rf"\b(?:[Mm]y|[Oo]ur|(?P<had>an?|two|three|four|five)) (?P<who>(?:[a-z-]+ )?(?:{_KIN}))\b"
    rf"(?:,? (?:called |named )?(?P<name>{lexicon.FULL_NAME}))?"
)
NAMED = regex(r"(?<!\bin )(?<!\bat )(?<!\bto )(?<!\bfrom )(?<!\bnear )(?<![\w'])[A-Z][a-z]")
"""A capital after no word of place: it may be somebody."""


@dataclass(frozen=True)
class Subject:
    """Whom a clause is about.

    Attributes:
        text: As it is told: ``Ada``, ``Ada's brother Yusuf``, ``the inspection``.
        sort: Who speaks; what is theirs; somebody by name; a thing.
        owner: Of what is somebody's, whose it is.
        noun: Of what is somebody's or a thing, what it is, without name and article.
        name: Of somebody of theirs, the name that was said.
        beside: Who is named beside who speaks: ``Moira and I``.
        is_new: It was called new, so that there was another before.
    """

    text: str
    sort: Sort
    owner: str = ""
    noun: str = ""
    name: str = ""
    beside: str = ""
    is_new: bool = False

    @property
    def kind(self) -> str:
        """What somebody's somebody is to them: ``brother``; ``""`` for what is no living being."""
        plain = self.noun.lower()
        return kind_of(plain)

    @property
    def head(self) -> str:
        """What it is in one or two words, without what tells which: ``flight`` to Rome."""
        return _WHICH.sub("", self.noun.lower())

    @property
    def is_one_of_many(self) -> bool:
        """Whether somebody may have several of it, and it is not said which: ``my cousin``."""
        several = bool(self.kind) and self.kind not in ONE_AT_A_TIME
        return self.sort == "owned" and several and not self.name and " " not in self.noun


def kind_of(noun: str) -> str:
    """Return the relation or animal that a noun phrase ends with, in the singular; else ``""``."""
    last = noun.lower().split()[-1] if noun.split() else ""
    last = _KIN_IN_TWO_WORDS.get(" ".join(noun.lower().split()[-2:]), last)
    last = PLURALS.get(last, last)
    return last if last in PERSONS or last in PETS else ""


def somebody_in(rest: str, speaker: str, *, is_had: bool) -> Subject | None:
    """Return the only one of whom somebody speaks as theirs: ``with my wife``, ``a sister Vera``.

    ``a sister`` is theirs where the verb says that they have her: ``is_had``.
    """
    found = list(_SOMEBODY.finditer(rest))
    if len(found) != 1 or (found[0]["had"] and not is_had):
        return None
    left = f"{rest[: found[0].start()]}, {rest[found[0].end() :]}"
    if NAMED.search(left) or any(map(kind_of, left.split())):
        return None
    return of_possession(f"my {found[0]['who']} {found[0]['name'] or ''}".strip(), speaker)


def fits(pronoun: str, subject: Subject) -> bool:
    """Whether "he" or "their" may stand for somebody, by number, sex and sort."""
    *_, last = subject.noun.lower().split() or [""]
    is_several = " and " in subject.text or (last in PLURALS and not subject.name)
    if is_several or pronoun in _SEVERAL:
        return is_several and pronoun in _SEVERAL
    if pronoun in {"it", "its"}:
        if last in lexicon.OF_AN_ANSWER | lexicon.EVALUATIVE:
            return False
        return subject.sort in {"owned", "thing"} and (not subject.kind or subject.kind in PETS)
    barred = lexicon.WOMEN if pronoun in {"he", "his"} else lexicon.MEN
    is_one = pronoun in _ONE and subject.sort in {"owned", "named"}
    return is_one and subject.kind not in barred


def opened(clause: str) -> str:
    """Return a clause with ``I'm``, ``we've``, ``she's`` and their like in two words."""
    full = _SHORT.sub(lambda found: f"{found[1]} {_LONG[found[2].lower()]}", clause)
    full = _ITS.sub(lambda found: f"{found[1]} {_LONG.get(found[2] or found[3], 'is')} ", full)
    return _IM.sub("I am", full)


def split(tokens: Sequence[str], speaker: str) -> tuple[Subject, int] | None:
    """Return whom words are about, and where begins what they say; ``None`` when nobody is found.

    Args:
        tokens: The words of a clause, contractions opened.
        speaker: Who says them.
    """
    if len(tokens) < 2:  # noqa: PLR2004 - a subject and a verb
        return None
    if tokens[0].lower() in _OWN or tokens[0] == speaker:  # told of by name: "user has moved"
        return Subject(speaker, "speaker"), 1
    if tokens[0].lower() in _SOMEBODYS and not is_name(tokens[1]):
        return None  # what of theirs it is, somebody said before
    if tokens[0].lower() in _BARE_KIN and is_verb(tokens[1]):
        tokens = ["my", tokens[0].lower(), *tokens[1:]]
        found = owned(tokens, 1, speaker)
        return found and (found[0], found[1] - 1)
    owner = _owner_of(tokens[0], speaker)
    return _beside(tokens, speaker) or (
        owned(tokens, 1, owner) if owner else _named(tokens) or _thing(tokens)
    )


def _owner_of(word: str, speaker: str) -> str | None:
    """Return whose something is by the word before it: ``my``, ``Ada's``."""
    if word.lower() in _MINE:
        return speaker
    possessor = _POSSESSIVE.fullmatch(word)
    if possessor and possessor[1].lower() in _BARE_KIN:
        return f"{speaker}'s {possessor[1].lower()}"
    is_one = possessor is not None and not word.endswith(("s'", "s\u2019"))
    return (
        possessor[1]
        if possessor and (is_one or word[:-1] == speaker) and is_name(possessor[1])
        else None
    )


def of_possession(text: str, speaker: str) -> Subject | None:
    """Return what ``my doctor`` or ``Otto's sister`` stands for; ``None`` when it is neither."""
    tokens = text.split()
    if len(tokens) < 2:  # noqa: PLR2004 - whose, and what
        return None
    if tokens[0].lower() in _MINE:
        return _as_owned(tokens[1:], speaker)
    possessor = _POSSESSIVE.fullmatch(tokens[0])
    if possessor and is_name(possessor[1]):
        return _as_owned(tokens[1:], possessor[1])
    found = re.fullmatch(r"(?:the )?(.+?) of (my |our )?(.+)", text, re.IGNORECASE)
    if found and found[2]:
        return _as_owned(found[1].split(), f"{speaker}'s {found[3]}")
    if found and is_name(found[3]) and kind_of(found[1]):
        return _as_owned(found[1].split(), found[3])
    return None


def _beside(tokens: Sequence[str], speaker: str) -> tuple[Subject, int] | None:
    """Read ``Moira and I``, ``my wife and I``."""
    place = next(
        (at for at in range(1, 5) if [one.lower() for one in tokens[at : at + 2]] == ["and", "i"]),
        0,
    )
    if not place:
        return None
    other = list(tokens[:place])
    name = " ".join(other)
    if other[0].lower() in _MINE and kind_of(name):
        name = f"{speaker}'s {' '.join(other[1:])}"
    elif not all(is_name(one) for one in other):
        return None
    return Subject(f"{name} and {speaker}", "speaker", beside=name), place + 2


def owned(tokens: Sequence[str], start: int, owner: str) -> tuple[Subject, int] | None:
    """Return what is somebody's whose noun begins at a place, and where it ends."""
    end = _noun_end(tokens, start)
    if end is None:
        return None
    subject = _as_owned(tokens[start:end], owner)
    return (subject, end) if subject else None


def _as_owned(noun: Sequence[str], owner: str) -> Subject | None:
    """Return what belongs to somebody, its own name apart: ``neighbour Mrs. Abara``."""
    plain = [one.strip(",") for one in noun]
    is_aged = bool(plain) and plain[0].lower() == "old" and kind_of(" ".join(plain)) in PETS
    if not plain or (plain[0].lower() in _NOT_SO_NOW and len(plain) > 1 and not is_aged):
        return None
    is_new = plain[0].lower() in _CHANGED
    rest = plain[1:] if is_new else plain
    first = next((at for at, one in enumerate(rest) if at and is_name(one)), len(rest))
    is_named = first < len(rest) and bool(kind_of(" ".join(rest[:first])))
    kind, name = (rest[:first], rest[first:]) if is_named else (rest, [])
    is_whole = all(_IS_CAPITAL.fullmatch(one) for one in name if one != "and" or name[-1] == one)
    if not kind or not is_whole:
        return None
    noun = " ".join(rest)
    return Subject(
        f"{owner}'s {noun}", "owned", owner, " ".join(kind), " ".join(name), is_new=is_new
    )


def _named(tokens: Sequence[str]) -> tuple[Subject, int] | None:
    """Read a name: capitals that no sentence opens with otherwise."""
    end, more = _name_end(tokens, 0), 0
    while end and tokens[end : end + 1] == ["and"] and _name_end(tokens, end + 1) > end + 1:
        end, more = _name_end(tokens, end + 1), more + 1
    if not end or end >= len(tokens):
        return None
    if not (is_verb(tokens[end]) or third_person_base(tokens[end]) or past_base(tokens[end])):
        return None
    if (is_base(tokens[end]) and not more) or tokens[0].lower() in _ARTICLES:
        return None  # "Keep going", "Themes like these": one person is told of in another form
    name = " ".join(tokens[:end]).replace(" and ", ", ", max(more - 1, 0))
    return (Subject(name, "named"), end)


def _name_end(tokens: Sequence[str], start: int) -> int:
    """Return where a name that begins at a place ends; the place itself where none does."""
    end = start
    while end < min(len(tokens), start + NAME_WORDS_MAX) and is_name(tokens[end]):
        end += 1
    return end


_BEING = (["is"], ["was"], ["has"])


def _thing(tokens: Sequence[str]) -> tuple[Subject, int] | None:
    end = _noun_end(tokens, 0)
    first = tokens[0].lower().partition("'")[0]
    is_nobody = first in NO_PERSON and not (first in _OF_SEVERAL and end != 1)
    is_numbered = tokens[0][:1].isupper() and tokens[1][-1].isdigit() and tokens[2:3] in _BEING
    is_asked = is_verb(tokens[0]) or (is_known_verb(first) and tokens[1][:1].isdigit())
    if end is None or is_nobody or (is_asked and not is_numbered):
        return None  # "ship 5 boxes to Tom"
    noun = [
        one.lower() if at == 0 and one.lower() in {"the", "a", "an"} else one
        for at, one in enumerate(tokens[:end])
    ]
    bare = noun[1:] if noun[0] in {"the", "a", "an"} else noun
    found = of_possession(" ".join(noun), "")
    if found is not None and found.owner.strip("'s ") and kind_of(found.noun):
        return found, end
    text = " ".join(noun)
    return (Subject(text, "thing", noun=" ".join(bare)), end) if bare else None


def _noun_end(tokens: Sequence[str], start: int) -> int | None:
    """Return where a noun ends: before the first word that opens what is said of it."""
    for place in range(start + 1, min(len(tokens), start + NOUN_WORDS_MAX + 1)):
        if _is_said(tokens, place) and not _opens_noun(tokens[place - 1]):
            return place
    return None


def _is_said(tokens: Sequence[str], place: int) -> bool:
    """Whether a word opens what is said of the words before it."""
    if FORMS.get(tokens[place].lower(), ("", ""))[1] == "ing":
        return False  # "the weekly planning call": nobody does it without "is" before
    if is_verb(tokens[place]):
        return not _is_noun(tokens, place)
    follows = tokens[place + 1] if place + 1 < len(tokens) else ""
    if past_base(tokens[place]) is not None:
        return place > 1 and follows.lower() in AFTER_DONE
    return third_person_base(tokens[place]) is not None and bool(follows) and not is_verb(follows)


def _is_noun(tokens: Sequence[str], place: int) -> bool:
    """Whether what could be a verb goes on with a noun: only several things do as the base says.

    What the base form of a verb follows are several things as well.
    """
    follows = tokens[place + 1] if place + 1 < len(tokens) else ""
    if FORMS.get(tokens[place].lower(), ("", ""))[1] == "present" and is_base(follows):
        return True  # "window seats work best"
    form = FORMS.get(tokens[place].lower(), ("", ""))[1]
    if form in {"past", "participle"} and _FINITE & set(tokens[place + 1 : place + 4]):
        return True  # "our minimum supported Python is"
    head = _WHICH.sub("", " ".join(tokens[:place])).lower()
    if form == "base" and head.endswith("s") and head != " ".join(tokens[:place]).lower():
        return False  # "headings in the handbook use"
    before = tokens[place - 1].lower()
    is_plural = before.endswith("s") or before in PLURALS or "and" in tokens[:place]
    return is_base(tokens[place]) and not is_plural


def _opens_noun(word: str) -> bool:
    is_small = word.lower() in {"the", "a", "an", "my", "our", "of", "in", "on", "for", "and"}
    return is_small or word.endswith(("'s", "s'"))


def is_name(word: str) -> bool:
    """Whether a word is somebody's name, as far as its letters tell."""
    plain = word.strip(",").lower()
    if plain in TITLES and word[:1].isupper():
        return True
    if not _IS_CAPITAL.fullmatch(word.strip(",")) or plain.endswith("ing"):
        return False
    name_words = words(plain)
    if is_base(plain):
        return False  # "Keep calm"
    return bool(name_words) and plain not in NO_PERSON and name_words[0] not in NO_PERSON
