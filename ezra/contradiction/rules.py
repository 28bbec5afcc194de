"""Whether two claims contradict each other, decided by rules. Pure.

Two claims are compared when they say the same in the same frame but for one thing: a denial, a
number, an opposite, one value of several that exclude each other. These are the classes of de
Marneffe, Rafferty and Manning, "Finding contradictions in text", 2008, that need no knowledge of
the world. Everything else is unrelated: beliefs that merely share a subject never retire each
other. Precision comes before recall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from tiers.lexical import WEEKDAYS

from . import lexicon as lex
from .frames import Statement, Token, statements
from .quantities import relation

Relatedness: TypeAlias = Literal["contradiction", "agreement", "unrelated"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What two claims are to each other.

    Attributes:
        relation: Whether they contradict each other, say the same, or neither.
        reason: By which rule, in words; empty when unrelated.
    """

    relation: Relatedness
    reason: str = ""


UNRELATED = Verdict("unrelated")


def compare(claim: str, rival: str) -> Verdict:
    """Return what two claims about the same topic are to each other; the order does not matter."""
    return compare_read(statements(claim), statements(rival))


def compare_read(ours: tuple[Statement, ...], theirs: tuple[Statement, ...]) -> Verdict:
    """Return the same of claims that are read already.

    Of several sentences, each of one claim is held against that of the other in its place: all
    but one have to agree for the whole to contradict.
    """
    if not ours or len(ours) != len(theirs):
        return UNRELATED
    verdicts = [_compared(one, two) for one, two in zip(ours, theirs, strict=True)]
    opposed = [verdict for verdict in verdicts if verdict.relation == "contradiction"]
    if any(verdict.relation == "unrelated" for verdict in verdicts) or len(opposed) > 1:
        return UNRELATED
    return opposed[0] if opposed else verdicts[0]


def _compared(one: Statement, two: Statement) -> Verdict:
    if one.said and one.said == two.said:
        return Verdict("agreement", "the same words")
    if one.is_open or two.is_open or one.condition != two.condition:
        return UNRELATED
    verdict = _framed(one, two)
    if verdict.relation != "unrelated":
        return verdict
    loose = _framed(one.loosely(), two.loosely())
    return loose if loose.relation == "contradiction" else UNRELATED


def _framed(one: Statement, two: Statement) -> Verdict:
    """Return what two statements without conditions and doubts are to each other."""
    is_denied = one.denials % 2 != two.denials % 2
    if one.words == two.words:
        return _same_frame(one, two, is_denied=is_denied)
    if is_denied:
        return _denied_in_other_words(one, two)
    slot = _slot(one.tokens, two.tokens)
    if slot is not None:
        return _one_slot(one, two, slot)
    return _cancelled(one, two) or _turned_round(one, two) or UNRELATED


def _same_frame(one: Statement, two: Statement, *, is_denied: bool) -> Verdict:
    """Return the verdict on the same words: a denial or one number may differ, not both."""
    near: list[int] = []
    apart: list[int] = []
    for at, (a, b) in enumerate(zip(one.tokens, two.tokens, strict=True)):
        if a.quantity is not None and b.quantity is not None:
            how = relation(a.quantity, b.quantity)
            if how != "same":
                (near if how == "near" else apart).append(at)
    if near or len(apart) > 1:
        return UNRELATED
    if not apart:
        if not is_denied:
            same = (one.begins in lex.INDEFINITE) == (two.begins in lex.INDEFINITE)
            return Verdict("agreement", "the same in other words") if same else UNRELATED
        clear = _names_its_subject(one)
        return Verdict("contradiction", "one denies what the other says") if clear else UNRELATED
    if (
        is_denied
        or one.denials
        or not _is_measured(one, apart[0])
        or not _is_measured(two, apart[0])
    ):
        return UNRELATED
    ours, theirs = one.tokens[apart[0]].raw, two.tokens[apart[0]].raw
    return Verdict("contradiction", f"two numbers for one thing: {ours} and {theirs}")


def _denied_in_other_words(one: Statement, two: Statement) -> Verdict:
    """Return the verdict on two frames of which one is denied."""
    denied, said = (one, two) if one.denials % 2 else (two, one)
    at = denied.no_at
    if at is not None and said.denials == 0 and at < len(said.tokens):
        number = said.tokens[at].quantity
        rest = (*said.words[:at], *said.words[at + 1 :])
        if number is not None and number.low > 0 and rest == denied.words:
            return Verdict("contradiction", f"none and {number.said}")
    slot = _slot(one.tokens, two.tokens)
    if slot is None or one.denials + two.denials != 1:
        return UNRELATED
    pair = _words_at(one, two, slot)
    is_state = _is_state(one, slot) and _is_state(two, slot)
    if pair in lex.COMPLEMENTS and is_state and _is_about_one(one, slot):
        return Verdict("agreement", f"to deny one of {_words_of_pair(pair)} is to say the other")
    return UNRELATED


def _one_slot(one: Statement, two: Statement, slot: int) -> Verdict:
    """Return the verdict on two frames that differ in one word."""
    if one.denials or not _numbers_agree(one, two):
        return UNRELATED
    pair = _words_at(one, two, slot)
    if _is_opposed(one, two, slot, pair):
        return Verdict("contradiction", f"opposites: {_words_of_pair(pair)}")
    if any(pair <= group for group in lex.EXCLUSIVE) and all(
        _is_predicate(statement, slot, lex.ONE_VALUED_OF_WORDS)
        and _is_about_one(statement, slot, of_many=False)
        and lex.ADDITIVE.isdisjoint(statement.words)
        and statement.words[slot + 1 : slot + 2] != ("and",)
        for statement in (one, two)
    ):
        return Verdict("contradiction", f"one excludes the other: {_words_of_pair(pair)}")
    return UNRELATED


def _is_opposed(one: Statement, two: Statement, slot: int, pair: frozenset[str]) -> bool:
    """Whether two words are opposites, in a place where both cannot hold."""
    both = (one, two)
    if pair in lex.OPPOSED_QUANTIFIERS:
        return slot == 0 or "always" in pair
    are_states = all(_is_state(statement, slot) for statement in both)
    if pair in lex.COMPLEMENTS and are_states:
        return all(_names_its_subject(statement) for statement in both)
    if not all(_is_about_one(statement, slot) for statement in both):
        return False
    if are_states and (pair in lex.CONTRARIES or _is_prefixed(pair)):
        return True
    if pair in lex.OPPOSED_AMOUNTS:
        return slot > 0 and one.words[slot - 1] in lex.ONE_VALUED
    return not any(map(_is_past, both)) and _is_opposed_in_general(one, two, slot, pair)


def _is_opposed_in_general(one: Statement, two: Statement, slot: int, pair: frozenset[str]) -> bool:
    """Whether two words are opposite verbs or prepositions of what holds in general."""
    if pair in lex.OPPOSED_VERBS:
        return slot > 0 and _is_main_verb(one, slot) and _is_main_verb(two, slot)
    return pair in lex.OPPOSED_PREPOSITIONS and _follows_verb(one, slot)


def _is_prefixed(pair: frozenset[str]) -> bool:
    short, long = sorted(pair, key=len)
    return len(short) > 3 and long in {f"un{short}", f"non{short}", f"dis{short}"}  # noqa: PLR2004


def _is_measured(statement: Statement, at: int) -> bool:
    """Whether a number is the one value that the claim gives its subject."""
    verb = _verb_before(statement.tokens, at, lex.ONE_VALUED)
    if verb is not None and not _is_main_clause(statement, verb, at):
        return False
    if verb is None:
        counts = at == 0 and not {"is", "are", "remain"}.isdisjoint(statement.words[1:4])
        return counts and statement.begins not in lex.INDEFINITE
    if statement.begins in lex.UNCLEAR or lex.ADDITIVE & set(statement.words):
        return False
    says_of_kind = statement.tokens[verb].word in lex.MEASURING and not _is_past(statement)
    if says_of_kind or statement.begins == "there":
        return True
    return _is_about_one(statement, at)


def _verb_before(tokens: Sequence[Token], at: int, verbs: frozenset[str]) -> int | None:
    """Return where the verb is whose complement stands at a place, if it is one of ``verbs``."""
    back = at - 1
    if tokens[at].quantity is not None and back > 0 and tokens[back].word in lex.NUMBERED:
        back -= 1
    leads = 0
    while back >= 0 and leads < 2 and tokens[back].word in lex.LEADS:  # noqa: PLR2004
        back, leads = back - 1, leads + 1
    if (
        back > 0
        and tokens[back].word in lex.SETTLED
        and tokens[back - 1].word
        in lex.COPULAS
        | {
            "be",
            "has",
            "have",
        }
    ):
        back -= 1
    if back >= 0 and tokens[back].word in verbs:
        return back
    if leads:  # "start the race on mediums"
        for far in range(back, max(-1, back - 3), -1):
            if tokens[far].word in lex.STARTING & verbs:
                return far
    return None


def _is_predicate(statement: Statement, at: int, verbs: frozenset[str]) -> bool:
    """Whether a word is what a verb says of the subject, perhaps after a number."""
    if statement.begins == "there":
        return False
    after_number = at > 1 and statement.tokens[at - 1].quantity is not None
    verb = _verb_before(statement.tokens, at - 1 if after_number else at, verbs)
    return verb is not None and _is_main_clause(statement, verb, at)


def _is_state(statement: Statement, at: int) -> bool:
    return _is_predicate(statement, at, lex.LINKING)


def _is_main_clause(statement: Statement, verb: int, at: int) -> bool:
    """Whether a verb and what stands at a place are what the claim says, not which one it means.

    "Cars that start on softs stop early", "the plan to start on softs is good".
    """
    words = statement.words
    if not lex.SUBORDINATORS.isdisjoint(words[1:at]) or lex.FINITE & set(words[at + 1 :]):
        return False
    return (
        verb == 0 or words[verb - 1] != "to" or bool(_INTENDING & set(words[verb - 2 : verb - 1]))
    )


def _is_main_verb(statement: Statement, at: int) -> bool:
    """Whether a word can be the verb of the claim: no other verb, no preposition before it."""
    before = set(statement.words[:at])
    return not before & (lex.COPULAS | lex.LEADS | lex.POSSESSIVES | {"of", "have"})


def _follows_verb(statement: Statement, at: int) -> bool:
    """Whether a word stands behind a verb, so that it belongs to no subject."""
    before = set(statement.words[:at])
    after = set(statement.words[at + 1 :])
    has_verb = bool(before & (lex.COMMON_VERBS | lex.MODALS | lex.PRONOUNS))
    return has_verb and not after & (lex.COPULAS | lex.MODALS)


def _is_past(statement: Statement) -> bool:
    """Whether a claim is about what was: it may have been so once and otherwise another time."""
    return any(
        token.word in lex.PASTS or token.raw.endswith("ed") or token.raw in _PASTS
        for token in statement.tokens
        if token.quantity is None
    )


_PASTS = frozenset(lex.PAST_FORMS.values()) - frozenset(lex.PAST_FORMS)


def _names_its_subject(statement: Statement) -> bool:
    """Whether a claim says what it is about; "it" may be anything, but for the weather."""
    if statement.begins in lex.INDEFINITE:
        return False
    return statement.begins not in lex.UNCLEAR or not lex.WEATHER.isdisjoint(statement.words[:4])


def _is_about_one(statement: Statement, at: int, *, of_many: bool = True) -> bool:
    """Whether the subject before a place is one thing, or (``of_many``) all of "the lectures".

    Of "races start on Sunday" some may start on Saturday.
    """
    if not _names_its_subject(statement):
        return False
    verb = next((i for i, t in enumerate(statement.tokens[:at]) if t.word in lex.ONE_VALUED), 0)
    if verb == 0 or statement.begins in lex.PRONOUNS:
        return True
    if of_many and statement.begins in lex.OF_ALL:
        return True
    head, said = statement.tokens[verb - 1], statement.tokens[verb].raw
    if said in {"are", "were"}:
        return False
    is_singular = said in {"is", "was"} or lex.base(said) != said
    return is_singular or head.quantity is not None or lex.base(head.raw) == head.raw


def _slot(one: Sequence[Token], two: Sequence[Token]) -> int | None:
    """Return the only place where two frames of the same length differ, if it holds a word each."""
    if len(one) != len(two):
        return None
    places = [i for i, (a, b) in enumerate(zip(one, two, strict=True)) if a.word != b.word]
    if len(places) != 1 or one[places[0]].quantity or two[places[0]].quantity:
        return None
    return places[0]


def _numbers_agree(one: Statement, two: Statement) -> bool:
    """Whether every number of two frames of the same length is the same, where both have one."""
    return all(
        relation(a.quantity, b.quantity) == "same"
        for a, b in zip(one.tokens, two.tokens, strict=True)
        if a.quantity is not None and b.quantity is not None
    )


def _words_at(one: Statement, two: Statement, slot: int) -> frozenset[str]:
    return frozenset((one.words[slot], two.words[slot]))


def _words_of_pair(pair: frozenset[str]) -> str:
    return " and ".join(sorted(pair))


_INTENDING = lex.COPULAS | frozenset("plan decide decided need have ought will".split())
_TAKING_PLACE = lex.COPULAS | frozenset(
    "be been have planned scheduled confirmed happen go ahead".split()
)


_OFF = _TAKING_PLACE | {"cancelled"}


def _cancelled(one: Statement, two: Statement) -> Verdict | None:
    """Return the verdict when one says that something is cancelled and the other when it is."""
    off, on = (one, two) if "cancelled" in one.words else (two, one)
    if "cancelled" not in off.words or "cancelled" in on.words or off.denials or on.denials:
        return None
    left = [_value(token) for token in off.tokens if token.word not in _OFF]
    right = [_value(token) for token in on.tokens if token.word not in _TAKING_PLACE]
    if not left or not _TAKING_PLACE & set(on.words) or not _names_its_subject(on):
        return None
    if left != right[: len(left)] or not _is_when(on, right[len(left) :]):
        return None
    return Verdict("contradiction", "one says that it is cancelled")


def _is_when(statement: Statement, rest: Sequence[str]) -> bool:
    """Whether the end of a claim says nothing, or only on which day or at what time."""
    if not rest:
        return True
    last = statement.tokens[-1]
    is_time = last.word in {*WEEKDAYS, "#clock", "#date"}
    return is_time and len(rest) == 2 and rest[0] in {"on", "at", "for"}  # noqa: PLR2004


def _turned_round(one: Statement, two: Statement) -> Verdict | None:
    """Return the verdict on "a is faster than b" and "b is faster than a"."""
    if "than" not in one.words or one.denials or two.denials:
        return None
    first, second = _comparison(one), _comparison(two)
    if first is None or second is None or first[1] != second[1]:
        return None
    (a, _, b), (c, _, d) = first, second
    # "The medium compound is faster than the hard": the noun is said once.
    shared = len(a) > 1 and len(c) > 1 and a[-1] == c[-1]
    turned = (a == d and b == c) or (shared and a[:-1] == d and c[:-1] == b)
    if not turned or a == b:
        return None
    return Verdict("contradiction", "the same comparison, turned round")


def _comparison(statement: Statement) -> tuple[list[str], list[str], list[str]] | None:
    """Return what is compared, how, and with what."""
    words = list(statement.words)
    than = words.index("than") if "than" in words else 0
    verb = next((i for i, word in enumerate(words[:than]) if word in lex.COPULAS), 0)
    how = words[verb:than]
    is_compared = any(
        word in lex.COMPARATIVES or pair == "more" for pair, word in pairwise(["", *how])
    )
    if not verb or not is_compared:
        return None
    return words[:verb], how, words[than + 1 :]


def _value(token: Token) -> str:
    return token.word if token.quantity is None else token.quantity.said.strip()
