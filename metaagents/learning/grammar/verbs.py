"""Verbs: their forms, and what stands around them: tense, denial, plan, habit. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from ...claims.forms import IRREGULAR, PAST_FORM_OF, PAST_OF
from ...claims.forms import is_base_form as is_base_verb
from ..regexes import regex
from ..rewording import third_person
from .lexicon import MARITAL, NUMBERS

Sense: TypeAlias = Literal["is", "not", "never", "over"]
"""Something is so; is not; never was; or is so no more."""
Tense: TypeAlias = Literal["present", "past", "perfect", "ahead"]

_REGULAR = (
    "live reside stay move relocate work study learn prefer like love enjoy adore hate dislike "
    "suffer sprain fracture dislocate twist graduate pass fail finish start begin join quit stop "
    "retire resign adopt rent own play practise practice drink smoke cook bake paint volunteer "
    "attend visit travel marry divorce separate split die open close launch found purchase switch "
    "upgrade change rename call name cost hold last contain weigh lead manage head run chair "
    "captain coach teach use need require want plan hope intend walk cycle commute train swim jog "
    "row ride take see speak break have be buy sell get give lose win drive fly go leave grow do "
    "write read eat wear know meet keep sing sleep wake put cut hand outgrow become come build "
    "make share expect celebrate turn carry belong support follow collect hike climb ski dance "
    "garden knit sew fish camp postpone reschedule discover host babysit tolerate stand bear care "
    "avoid fear park pay save owe watch raise breed tutor serve help donate apply enrol enroll "
    "register book order sign crash total inherit receive earn report end happen employ engage "
    "promote base diagnose born vote foster find fall retrain spend correct date decide stutter "
    "snore meditate pray fast recover return detest loathe despise react tear injure strain pull "
    "catch rescue bike sit drop bring understand throw steal settle feed feel plant mow water "
    "clean iron breastfeed nap stretch lift box fence surf skate hire treat trade whistle develop "
    "expire emigrate immigrate hurt restore translate fix mend deliver install groom brew weld "
    "decorate carve sculpt illustrate manufacture inspect upholster talk struggle major touch cope "
    "reserve renovate redecorate repair freelance swap escape pick publish compose direct record "
    "produce invent exhibit qualify perform allow rotate rehearse ditch reject replicate "
    "homeschool heat photograph design recite skydive sail lecture consult seat complete "
    "hit subscribe gain blog program"
).split()
_DOUBLES = regex(r"[^aeiou]*[aeiou][^aeiouwxy]")
"""Verbs that double the letter that they end with: ``swapped``."""


def _stem(lemma: str) -> str:
    """Return what endings are put to."""
    stem = lemma.removesuffix("e") if not lemma.endswith("ee") else lemma
    return f"{stem}{stem[-1]}" if _DOUBLES.fullmatch(lemma) else stem


_IRREGULAR = {
    lemma: (IRREGULAR[lemma][0], IRREGULAR[lemma][-1], f"{_stem(lemma)}ing")
    for lemma in _REGULAR
    if lemma in IRREGULAR and lemma not in ("be", "breed", "drink", "mow")
} | {
    line.split()[0]: tuple(line.split()[1:])
    for line in (
        "outgrow outgrew outgrown outgrowing", "become became become becoming",
        "come came come coming", "begin began begun beginning", "quit quit quit quitting",
        "split split split splitting", "run ran run running", "bear bore borne bearing",
        "die died died dying", "prefer preferred preferred preferring",
        "study studied studied studying", "marry married married marrying",
        "carry carried carried carrying", "tear tore torn tearing",
        "enrol enrolled enrolled enrolling", "travel travelled travelled travelling",
        "knit knit knit knitting", "program programmed programmed programming",
    )
}  # fmt: skip
_MORE = {"got": ("get", "past"), "learned": ("learn", "past"), "traveled": ("travel", "past")}


def _forms(lemma: str) -> Iterator[tuple[str, str]]:
    yield third_person(lemma), "present"
    if lemma in _IRREGULAR:
        past, participle, ing = _IRREGULAR[lemma]
        yield from ((participle, "participle"), (ing, "ing"), (past, "past"), (lemma, "base"))
        return
    stem = _stem(lemma)
    past = f"{lemma[:-1]}ied" if lemma.endswith("y") and lemma[-2] not in "aeo" else f"{stem}ed"
    yield from ((past, "past"), (f"{stem}ing", "ing"), (lemma, "base"))


FORMS: dict[str, tuple[str, str]] = {}
for _lemma in dict.fromkeys(_REGULAR):
    for _word, _form in _forms(_lemma):
        FORMS[_word] = (_lemma, _form)
FORMS |= _MORE
_PARTICIPLES = frozenset(
    {word for word, (_, form) in FORMS.items() if form in {"past", "participle"}}
    | {participle for _, participle, _ in _IRREGULAR.values()}
    | {"been"}
)
_PAST_TOO = frozenset("quit split cut read hurt hit".split())
"""Forms that are told as past where nothing says otherwise."""

_BE = {"am": "is", "are": "is", "is": "is", "'s": "is", "was": "was", "were": "was", "been": "been"}
_HAVE = {"have": "has", "has": "has", "had": "had", "'ve": "has"}
_DO = {"do": "does", "does": "does", "did": "did"}
_MODAL = frozenset("will can cannot can't won't".split())
_DENIED = {
    "don't": "doesn't", "doesn't": "doesn't", "didn't": "didn't", "haven't": "hasn't",
    "hasn't": "hasn't", "hadn't": "hadn't", "isn't": "isn't", "aren't": "isn't",
    "wasn't": "wasn't", "weren't": "wasn't", "won't": "won't", "can't": "can't",
    "cannot": "cannot",
}  # fmt: skip
_PLAIN_OF = {"don't": "do", "doesn't": "does", "didn't": "did", "haven't": "have",
             "hasn't": "has", "hadn't": "had", "isn't": "is", "aren't": "are", "wasn't": "was",
             "weren't": "were", "won't": "will", "can't": "can", "cannot": "can"}  # fmt: skip
_ASIDE = frozenset(
    "just really actually also currently now still absolutely recently finally definitely strongly "
    "originally already very officially totally truly simply generally much severely deathly "
    "highly badly mildly slightly terribly extremely seriously "
    "strictly presently certainly happily proudly sadly unfortunately luckily".split()
)
"""Adverbs that may go: they say how much or how sure, and nothing else."""
_DENIED_ALONE = frozenset(
    "just only merely simply solely purely exclusively exactly necessarily officially originally "
    "particularly especially "
    "quite too very that so much all absolutely totally completely entirely fully strictly "
    "severely deathly highly badly mildly slightly terribly extremely seriously generally".split()
)
"""Adverbs that are themselves denied behind ``not``: who is not just a nurse is one."""
_DEGREES = frozenset("very much particularly especially quite so that too".split())
_WORDS_REMEMBERED = 4_096
DECIDED = frozenset("decided agreed voted opted resolved".split())
_AIMS = DECIDED | frozenset("going used want wants plan plans planning hope intend".split())
_QUALITIES = ("y", "ful", "ous", "able", "ible", "ive", "less", "ic", "al", "ish")
_NO_VERBS = frozenset(
    "a an the and or but so too as at by for from in of on to with without who that this it all "
    "both alone myself here there then than like would could should might must may shall ought "
    "better rather sometimes maybe perhaps no yes ever even am is are was were last first wanna "
    "gonna gotta".split()
)
"""Words that are no verb though they stand right after "I"."""
_AFTER_GOT = frozenset("to into married engaged divorced promoted rid".split())
AFTER_DONE = frozenset(
    "a an the my our his her their all to in on at from for with into by over up out off".split()
)
"""What goes on from a verb that might be read as a quality of the noun after it."""
HABITUAL = frozenset(
    "usually always often normally typically mostly regularly rarely seldom generally only barely "
    "hardly".split()
)
_HEAD_WORDS_MAX = 9
_REFLEXIVE = regex(r"^(?:myself|ourselves|himself|herself|themselves) ")


@dataclass(frozen=True)
class Verbal:
    """What is said of a subject: its verb, and what stands after it.

    Attributes:
        lemma: The verb in base form; ``be`` with what somebody is as the rest.
        phrase: The verb and its companions as they are told of somebody: ``has never worked``.
        rest: What follows, as it was said.
        modal: ``can`` or ``""``.
        aim: Of what is ahead, the word that says how sure: ``going``, ``plan``, ``will`` or
            ``be``, for who is leaving on Monday.
        habit: The adverb that makes a habit of it, or ``""``.
        is_progressive: Somebody is doing it.
        is_now: A word says that it is so by now.
    """

    lemma: str
    phrase: str
    rest: str
    tense: Tense
    sense: Sense = "is"
    modal: str = ""
    aim: str = ""
    habit: str = ""
    is_progressive: bool = False
    is_now: bool = False

    @property
    def is_so(self) -> bool:
        """Whether something is said to be so now."""
        return self.tense == "present" and self.sense == "is"


def is_verb(word: str) -> bool:
    """Whether a word may open what is said of a subject."""
    plain = word.lower()
    return (
        plain in FORMS
        or plain in _BE
        or plain in _HAVE
        or plain in _DO
        or plain in _MODAL
        or plain in _DENIED
        or plain in _ASIDE
        or plain in HABITUAL
        or plain in {"never", "no", "used", "gave", "no-longer"}
    )


def is_known_verb(lemma: str) -> bool:
    """Whether a word is the base form of a verb that is in a table."""
    return lemma == "be" or lemma in FORMS or is_base_verb(lemma)


@lru_cache(maxsize=_WORDS_REMEMBERED)
def third_person_base(word: str) -> str | None:
    """Return the base form of a verb in the third person that no frame names: ``approves``."""
    endings = ((1, ""), (2, ""), (3, "y"))
    bases = (f"{word[:-cut]}{end}" for cut, end in endings if word.endswith("s"))
    return next((base for base in bases if is_base_verb(base) and third_person(base) == word), None)


@lru_cache(maxsize=_WORDS_REMEMBERED)
def past_base(word: str, *, is_perfect: bool = False) -> str | None:
    """Return the base form of a verb in the past that no frame names: ``fought``, ``resolved``.

    Args:
        word: In lower case.
        is_perfect: "Have" stands before it; else ``woven`` and ``frozen`` are qualities.
    """
    if word in PAST_OF:
        return PAST_OF[word] if is_perfect or PAST_FORM_OF.get(word, word) == word else None
    if not word.endswith("ed"):
        return None
    is_doubled = word[-4:-3] == word[-3:-2]  # "cancelled", "shipped"
    ends = ((1, ""), (2, ""), (3, "y"), *([(3, "")] if is_doubled else []))
    return next((base for cut, end in ends if is_base_verb(base := f"{word[:-cut]}{end}")), None)


def is_base(word: str) -> bool:
    """Whether a word is a verb only in the form that several people use, and no past."""
    plain = word.lower()
    return FORMS.get(plain, ("", ""))[1] == "base" and plain not in _PAST_TOO


@dataclass
class _Head:
    """What was read of the words before the verb that counts."""

    phrase: list[str]
    tense: Tense = "present"
    sense: Sense = "is"
    modal: str = ""
    aim: str = ""
    habit: str = ""
    is_now: bool = False
    be: bool = False
    perfect: bool = False


def parsed(words: Sequence[str], *, is_own: bool) -> Verbal | None:
    """Return what words say of their subject; ``None`` where no known verb opens them.

    Args:
        words: After the subject, contractions opened.
        is_own: The subject speaks of itself, so that verbs change their person.
    """
    head = _Head([])
    for place, written in enumerate(words[:_HEAD_WORDS_MAX]):
        word = written.lower().rstrip(",")
        following = [one.lower() for one in words[place + 1 : place + 4]]
        if head.sense == "not" and word in _DENIED_ALONE:
            # Who isn't very good at it is not good at it; who isn't just a nurse is one.
            is_degree = head.be and word in _DEGREES
            return _at_verb(head, word, words, place, is_own=is_own) if is_degree else None
        if _is_head(head, word, following, is_own=is_own):
            continue
        return _at_verb(head, word, words, place, is_own=is_own)
    # "is on the 3rd of May" without its time: there is nothing but the verb.
    return _verbal(head, "be", "") if head.be else None


def _is_head(head: _Head, word: str, following: Sequence[str], *, is_own: bool) -> bool:
    """Take up a word that stands before the verb; ``False`` when it is the verb."""
    return (
        _is_adverb(head, word, following)
        or _is_denial(head, word, is_own=is_own)
        or _is_auxiliary(head, word, following, is_own=is_own)
        or (word in _AIMS and _is_aim(head, word, following, is_own=is_own))
    )


def _is_adverb(head: _Head, word: str, following: Sequence[str]) -> bool:
    if word in _ASIDE:
        head.is_now |= word in {"now", "currently"}
        return True
    if word in HABITUAL:
        head.habit = word
    elif word in {"not", "never"}:
        head.sense = "never" if word == "never" else "not"
    elif word == "longer" and head.phrase[-1:] == ["no"]:
        head.sense = "over"
    elif not (word == "no" and following[:1] == ["longer"]) and not (word == "to" and head.aim):
        return False
    head.phrase.append(word)
    return True


def _is_denial(head: _Head, word: str, *, is_own: bool) -> bool:
    if word not in _DENIED:
        return False
    plain = _PLAIN_OF[word]
    head.sense = "not"
    head.be = head.be or plain in {"is", "are", "was", "were"}
    head.phrase.append(_DENIED[word] if is_own else word)
    _note(head, plain)
    return True


def _is_auxiliary(head: _Head, word: str, following: Sequence[str], *, is_own: bool) -> bool:
    inflected = word
    if word in _BE:
        head.be = True
        inflected = _BE[word] if is_own else word
    elif word in _DO and FORMS.get(_nearest(following), ("", ""))[1] == "base":
        if following[:1] != ["not"] and word != "did":
            return True  # "I do like tea"
        inflected = _DO[word] if is_own else word
    elif word == "had" and following[:1] == ["to"]:
        head.aim = "had"
    elif word in _HAVE and _is_perfect(following):
        # What had been so was so, and was over by then.
        head.perfect, head.tense = True, "past" if word == "had" else "perfect"
        inflected = _HAVE[word] if is_own else word
        head.phrase.append(inflected)
        return True
    elif word not in {"will", "can"}:
        return False
    _note(head, word)
    head.phrase.append(inflected)
    return True


def _nearest(following: Sequence[str]) -> str:
    """Return the next word that is no adverb and no denial."""
    passed = _ASIDE | HABITUAL | {"not", "never"}
    return next((one for one in following if one not in passed), "")


def _is_perfect(following: Sequence[str]) -> bool:
    """Whether ``have`` stands before what was done, rather than before what somebody has got."""
    nearest = _nearest(following)
    if nearest != "got":
        return nearest in _PARTICIPLES or _is_done(following, nearest)
    after = following[list(following).index("got") + 1 :]
    return bool(after) and after[0] in _AFTER_GOT


def _is_done(following: Sequence[str], word: str) -> bool:
    """Whether a word that no frame names is what was done: ``have fought in``, no "fried eggs"."""
    after = following[list(following).index(word) + 1 :] if word else []
    return (
        past_base(word, is_perfect=True) is not None
        and bool(after)
        and (after[0] in AFTER_DONE or after[0] in NUMBERS or after[0].isdecimal())
    )


def _is_aim(head: _Head, word: str, following: Sequence[str], *, is_own: bool) -> bool:
    if following[:1] != ["to"] or (word == "going" and (not head.be or head.tense == "past")):
        return False
    if len(following) < 2 or FORMS.get(following[1], ("", ""))[1] != "base":  # noqa: PLR2004 - "to" and a verb
        return False
    if word == "used":
        head.sense, head.tense, head.aim = "over", "past", "used"
    else:
        head.tense, head.aim = "ahead", word.removesuffix("ning").removesuffix("s")
        head.perfect = False
    head.be = False
    is_base = is_own and word in {"want", "plan", "hope", "intend"} and not head.phrase
    head.phrase.append(third_person(word) if is_base else word)
    return True


def _note(head: _Head, word: str) -> None:
    """Take up what an auxiliary says about time."""
    if word in {"was", "were", "did", "had"}:
        head.tense = "past"
    elif word == "will":
        head.tense, head.aim = "ahead", "will"
    elif word == "can":
        head.modal = "can"


def _at_verb(
    head: _Head, word: str, words: Sequence[str], place: int, *, is_own: bool
) -> Verbal | None:
    after = [one.lower() for one in words[place + 1 :]]
    start = after.index("got") + 1 if word in _HAVE and "got" in after[:2] else 0
    rest = " ".join(words[place + 1 + start :])
    lemma, form = FORMS.get(word, ("", ""))
    rest = rest if lemma == "teach" else _REFLEXIVE.sub("", rest)
    if rest.startswith("no ") and lemma in {"have", "own", "speak", "take"}:
        head.sense = "not"
    if head.be and form != "ing":
        # "is married to", "was born in", "has been with": what somebody is, is the rest.
        return _verbal(head, "be", " ".join(words[place:]))
    if not lemma:
        return _unknown(head, word, rest, is_own=is_own)
    is_finite = _is_finite(head)
    adverb, _, after_it = rest.partition(" ")
    if adverb in HABITUAL and after_it and is_finite and form in {"base", "present"}:
        head.habit, rest = adverb, after_it  # "I read mostly novels": as before the verb
        head.phrase.append(adverb)
    is_past = form in {"past", "participle"} or (word in _PAST_TOO and is_finite and not head.habit)
    if is_past and not head.perfect:
        head.tense = "past"
    changes = form == "base" and is_own and is_finite and not is_past
    head.phrase.append(third_person(word) if changes else word)
    if lemma == "get" and form != "ing" and not head.aim and _is_done_to(rest):
        lemma = "be"  # what gets moved is moved
    return _verbal(head, lemma, rest, is_progressive=head.be and form == "ing")


def _is_done_to(rest: str) -> bool:
    """Whether what follows "got" was done to somebody; who gets married does so themselves."""
    done = rest.lower().partition(" ")[0]
    is_done = done in _PARTICIPLES or done.endswith("ed") or past_base(done) is not None
    return is_done and done not in MARITAL


def _unknown(head: _Head, word: str, rest: str, *, is_own: bool) -> Verbal | None:
    """Return what a verb that is in no table says: after "I" a word in base form is one."""
    base = third_person_base(word)
    if not is_own and base is not None and _is_finite(head) and not head.be:
        head.phrase.append(word)
        return _verbal(head, base, rest)
    done = past_base(word, is_perfect=head.perfect)
    if done is not None and (head.perfect or _is_finite(head)):
        head.phrase.append(word)
        head.tense = "perfect" if head.perfect else "past"
        return _verbal(head, done, rest)
    is_base_form = word.isalpha() and not word.endswith(("ed", "ing", "ly"))
    is_quality = bool(head.habit) and word.endswith(_QUALITIES)  # "and always hungry"
    is_known = is_base_verb(word) or ((bool(head.habit) or bool(rest)) and not is_quality)
    is_none = word in _NO_VERBS or word in PAST_OF
    if not (is_known and is_own and is_base_form) or head.be or is_none:
        return None
    head.phrase.append(third_person(word) if _is_finite(head) else word)
    return _verbal(head, word, rest)


def _is_finite(head: _Head) -> bool:
    """Whether the verb itself has the person: nothing before it but adverbs."""
    return all(one in HABITUAL or one in {"never", "no", "longer"} for one in head.phrase)


def _verbal(head: _Head, lemma: str, rest: str, *, is_progressive: bool = False) -> Verbal:
    return Verbal(
        lemma=lemma,
        phrase=" ".join(head.phrase),
        rest=rest,
        tense=head.tense,
        sense=head.sense,
        modal=head.modal,
        aim=head.aim,
        habit=head.habit,
        is_progressive=is_progressive,
        is_now=head.is_now,
    )
