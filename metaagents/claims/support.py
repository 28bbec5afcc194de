"""The guard: which statements of a text somebody has made, and which nobody has. Pure.

What a model writes is tied, clause by clause, to clauses of what was said. Ordinary words are free;
names, numbers, who did what to whom, whether it is denied, how sure it is and whose words it is
have to agree. No model is asked. The time is linear in the length of the texts: of each clause only
so many clauses are looked at that share a word with it.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tiers.lexical import CALENDAR, sentences

from .agreement import (
    EMPTY_ROOTS,
    Aliases,
    counts_alike,
    limited,
    particular,
    who,
    worded,
)
from .answers import answered, echoed
from .clause import AGENT, USER, Clause, Disagreement, Voice
from .forms import VERBS, alike, base
from .lexicon import CAUSES, FREE, POSSESSIVES, REASONS
from .meaning import meant
from .readable import is_readable
from .reading import ROLE_ROOTS, Context, clauses
from .tokens import Sentence, Token

CLAUSES_MAX = 20_000
"""Of the sources of one text, oldest first; what comes later supports nothing."""
LOOKED_AT_MAX = 12
"""Clauses that a clause of a text is held against, those that share most words with it first."""
POSTINGS_MAX = 400
"""Of one word: what nearly every clause has tells nothing apart."""
AROUND = 8
"""Clauses before and after one that may fill in what it leaves open."""

BEGINNING = 5
"""So far two words must agree to be forms of one: marriage, married."""

_SO = re.compile(r"(?:^|[,;]|\band) so\b(?! that)|^So\b")
_HALVES = re.compile(r"(?:, |; | - | \u2013 )(?=(?:i|we|he|she|it|they|my|our)\b)", re.IGNORECASE)
_JOINED = re.compile(r"\b(?:and|but|or|while|when|after|before|then|if|though)\b", re.IGNORECASE)


class Said(NamedTuple):
    """What somebody said.

    Attributes:
        text: The words.
        voice: Whose they are.
        at: Words and numbers by which the day on which it was said may be named.
        key: By which a caller knows it: what a claim rests on is told by these.
    """

    text: str
    voice: Voice
    key: str = ""
    at: frozenset[str] = frozenset()


class Support(NamedTuple):
    """Whether a sentence was said.

    Attributes:
        reason: Why not; ``None`` if it was.
        sentences: The sentences it rests on.
        keys: Of what was said.
        kinds: Of the voices that say it.
    """

    reason: Disagreement | None
    sentences: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()


@dataclass
class _Known:
    """A clause of the sources, and where it stands."""

    clause: Clause
    voice: Voice
    keys: frozenset[str]
    sentence: str
    number: int
    at: frozenset[str]
    place: int


@dataclass
class Sources:
    """What was said, taken apart once for every sentence that may rest on it.

    Args:
        said: In order.
    """

    said: Sequence[Said]
    _clauses: list[_Known] = field(default_factory=list)
    _postings: dict[str, list[int]] = field(default_factory=dict)
    _beginnings: dict[str, list[str]] = field(default_factory=dict)
    _names: frozenset[str] = frozenset()
    _of_sentence: dict[int, list[Clause]] = field(default_factory=dict)
    _companions: frozenset[str] = frozenset()
    _owned: frozenset[str] = frozenset()
    _aliases: Aliases = field(default_factory=Aliases)

    def __post_init__(self) -> None:
        taken = [[Sentence.of(text) for text in sentences(one.text)] for one in self.said]
        self._names = _names_of(self.said, taken)
        before: list[Clause] = []
        context = Context()
        number = 0
        for part, one in enumerate(self.said):
            found: list[Clause] = []
            for place, sentence in enumerate(taken[part]):
                number += 1
                plain = " ".join(sentence.text.split())
                read = clauses(sentence, one.voice, context, self._names, keeps_frames=True)
                self._of_sentence[number] = read
                keys = frozenset((one.key,))
                for clause in read:
                    self._add(clause, one, keys, plain, number)
                if before and one.voice.kind == "user":
                    answers = echoed(read, before)
                    answers += answered(sentence, read, before, one.voice) if not place else []
                    keys |= {self.said[part - 1].key}
                    for clause in answers:
                        self._add(clause, one, keys, plain, number)
                    read = [*read, *answers]
                found += read
                self._learn_aliases(sentence)
            before = found if one.voice.kind == "agent" else []
            if len(self._clauses) >= CLAUSES_MAX:
                break
        for word in self._postings:
            if len(word) >= BEGINNING:
                self._beginnings.setdefault(word[:BEGINNING], []).append(word)

    def _add(
        self, clause: Clause, said: Said, keys: frozenset[str], sentence: str, number: int
    ) -> None:
        at = len(self._clauses)
        known = _Known(clause, said.voice, keys, sentence, number, said.at, at)
        self._clauses.append(known)
        self._owned |= clause.owned.keys() | (clause.objects if clause.possesses else frozenset())
        self._companions |= known.clause.owned.keys() & ROLE_ROOTS | {base("family")}
        for word in (*known.clause.words, *known.clause.numbers):
            some = self._postings.setdefault(word, [])
            if len(some) < POSTINGS_MAX:
                some.append(at)

    def _learn_aliases(self, sentence: Sentence) -> None:
        """Note who is called how: ``my sister Marta``, ``my doctor is Dr. Weber``."""
        found = [
            one for one in sentence.tokens if one.word not in ("mr", "mrs", "ms", "dr", "prof")
        ]
        for place, token in enumerate(found):
            if not _is_role(found, place):
                continue
            rest = [
                one
                for one in found[place + 1 : place + 5]
                if one.word not in ("is", "called", "named", "name", ",", "a", "s")
            ]
            name = []
            for one in rest:
                if one.kind != "w" or not one.capital or one.word in CALENDAR:
                    break
                name.append(one.word)
            if name:
                self._aliases.add(frozenset(name), base(token.word))

    def reader(self, *, in_notes: bool = False) -> Reading:
        """Return what reads the sentences of one text, in order.

        Args:
            in_notes: Whether a statement may do without a verb.
        """
        return Reading(self, in_notes=in_notes)

    def near(self, clause: Clause) -> list[int]:
        """Return the clauses that share most words with one, numbers and names counting double."""
        shared: Counter[int] = Counter()
        for word in clause.words:
            for other in alike(word):
                weight = 3 if word in clause.names else 2
                for at in self._postings.get(other, ()):
                    shared[at] += weight
            for other in self._beginnings.get(word[:BEGINNING], ()):
                if other not in alike(word):
                    for at in self._postings[other]:
                        shared[at] += 1
        for number in clause.numbers:
            for at in self._postings.get(number, ()):
                shared[at] += 3
        return [at for at, _ in shared.most_common(LOOKED_AT_MAX)]

    def keys(self, claim: Clause, known: _Known) -> frozenset[str]:
        """Return the keys of a clause that says a claim, and of what it is understood by.

        A word that it lacks, such as whom a pronoun means, is taken from where it stands nearest.
        """
        lacking = {*claim.words, *claim.numbers} - {*known.clause.words, *known.clause.numbers}
        lacking -= {base(name) for name in known.voice.names | known.voice.to}
        keys = known.keys
        for word in lacking:
            found = [at for other in alike(word) for at in self._postings.get(other, ())]
            if found and alike(word).isdisjoint(known.clause.words):
                keys |= self._clauses[min(found, key=lambda at: abs(at - known.place))].keys
        return keys

    def holds(self, claim: Clause) -> tuple[Disagreement | None, _Known | None]:
        """Return why no clause of the sources says a claim, or the one that does."""
        reason: Disagreement | None = None
        for at in self.near(claim):
            found = self._disagreement(claim, at)
            if found is None:
                return None, self._clauses[at]
            if reason in (None, "not said"):
                reason = found
        return reason or "not said", None

    def _disagreement(self, claim: Clause, at: int) -> Disagreement | None:
        known = self._clauses[at]
        source, voice = known.clause, known.voice
        around = self._around(claim, at)
        day = _dated(known)
        completing = [
            one.clause
            for one in around
            if self._completes(one, known)
            or (one.number == known.number and self._goes_with(claim, one, known))
        ]
        fragments = [one.clause for one in around if not one.clause.has_verb]
        heads = source.subjects | source.objects | source.owners | source.told_by
        heads |= source.points
        if source.is_plural or source.is_linked:
            heads |= source.near - self._names
        if source.is_plural:
            heads |= self._companions
        heads -= CALENDAR  # whatever "it" is, no day is meant
        said = self._aliases.called(heads | voice.selves | voice.to)
        if self._is_alias(claim, source, voice):
            return None
        return (
            particular(claim, source, completing, said, day, fragments)
            or worded(claim, source, [one.clause for one in around], said | day, self._names)
            or who(claim, source, voice, self._aliases, self._names)
            or meant(claim, source, voice)
            or limited(claim, source, completing)
            or ("another subject" if self._is_done_otherwise(claim, known) else None)
        )

    def _is_done_otherwise(self, claim: Clause, first: _Known) -> bool:
        """Whether what a claim says is done is near, but of others, denied, or only thought of."""
        ordered = [word for word, way in claim.directions.items() if way == "to" and word in VERBS]
        verb = claim.verb or (ordered[0] if claim.frame and ordered else "")
        same = alike(verb)
        if not verb or not same.isdisjoint(first.clause.words):
            return False
        near = self._clauses[max(0, first.place - AROUND) : first.place + AROUND + 1]
        telling = [one.clause for one in near if one.clause.verb in same]
        return bool(telling) and not any(
            one.denied == claim.denied
            and one.modes <= claim.modes
            and self._aliases.of(one.subjects, self._names) & claim.subjects
            for one in telling
        )

    def _around(self, claim: Clause, at: int) -> list[_Known]:
        """Return what may fill in what a clause leaves open: what goes on, asks or answers."""
        first = self._clauses[at]
        about = (claim.subjects | claim.objects | claim.owned.keys()) - self._names
        about &= first.clause.words.keys() | first.clause.points | first.clause.subjects
        about -= {USER, AGENT}
        return [
            one
            for one in self._clauses[max(0, at - AROUND) : at + AROUND + 1]
            if one is not first
            and not (one.clause.has_verb and _is_parallel(one.clause, first.clause))
            and (one.voice == first.voice or one.voice.kind != "agent" or "ask" in one.clause.modes)
            and (
                not one.clause.has_verb
                or self._completes(one, first)
                or self._goes_with(claim, one, first)
                or not about.isdisjoint(one.clause.words)
            )
        ]

    def _completes(self, one: _Known, first: _Known) -> bool:
        """Whether a clause says nothing for itself: a fragment, or what goes on about another."""
        if one.number == first.number and "ended" in first.clause.modes:
            return True  # "but I quit": what was said before
        if one.keys.isdisjoint(first.keys):
            return False  # what is left open is filled in at once
        if one.clause.has_verb:
            return one.clause.is_linked and one.voice == first.voice
        of_sentence = self._of_sentence[one.number]
        return one.number == first.number or not any(other.has_verb for other in of_sentence)

    def _goes_with(self, claim: Clause, one: _Known, first: _Known) -> bool:
        """Whether a clause of the same turn tells more of what another one tells.

        It does where it states something plainly, of nobody whom the claim does not tell of, and
        where no other number, day or name of the turn may be meant.
        """
        if one.keys != first.keys or one.voice != first.voice or one.voice.kind != "user":
            return False
        if not one.clause.has_verb or one.clause.denied or one.clause.modes - first.clause.modes:
            return False
        told = claim.subjects | claim.objects | claim.owners | claim.exact | first.voice.selves
        told = self._aliases.called(told.union(*claim.owned.values()))
        return self._people(one.clause) <= told and not self._is_rivalled(claim, first)

    def _people(self, clause: Clause) -> frozenset[str]:
        heads = clause.subjects | clause.objects | clause.owners | clause.by | clause.company
        heads = heads.union(*clause.owned.values())
        people = frozenset(
            head for head in heads if head in self._names - CALENDAR or base(head) in ROLE_ROOTS
        )
        return people - {USER, AGENT}

    def _is_rivalled(self, claim: Clause, first: _Known) -> bool:
        """Whether a turn has another number of what a claim counts, or another day."""
        turn = [
            one.clause
            for one in self._clauses[max(0, first.place - AROUND) : first.place + AROUND + 1]
            if one.keys == first.keys and one.voice == first.voice
        ]
        days = claim.names & CALENDAR
        if days and any(one.names & CALENDAR - days for one in turn):
            return True
        others = [
            units
            for one in turn
            for number, units in one.numbers.items()
            if number not in claim.numbers
        ]
        return any(counts_alike(own, other) for own in claim.numbers.values() for other in others)

    def _is_alias(self, claim: Clause, source: Clause, voice: Voice) -> bool:
        """Whether a claim only says who somebody is whom a source calls so in passing."""
        is_naming = claim.copular or (claim.possesses and "called" in claim.exact)
        if not is_naming or claim.denied or claim.modes or "ended" in source.modes:
            return False
        if "ask" in source.modes and not source.frame:
            return False
        owners = claim.subjects if claim.possesses else frozenset().union(*claim.owned.values())
        rest_words = [
            word for word in claim.exact if base(word) in claim.words and word not in owners
        ]
        rest_words = [word for word in rest_words if base(word) not in EMPTY_ROOTS]
        nouns = [word for word in rest_words if self._aliases.is_noun(base(word))]
        rest = [word for word in rest_words if word not in nouns]
        if len(nouns) != 1 or not rest or not claim.exact & source.exact:
            return False
        noun = base(nouns[0])
        theirs = source.owned.get(noun)
        # "The landlady" of who speaks is theirs, where nobody else is said to have one.
        theirs = theirs or (voice.selves if noun not in self._owned else None)
        is_owned = not owners or (theirs is not None and not owners.isdisjoint(theirs))
        return is_owned and all(self._aliases.is_called(noun, word) for word in rest)

    def sentence_gives_cause(self, number: int) -> bool:
        """Whether a sentence of the sources says why."""
        of_sentence = self._of_sentence.get(number, [])
        telling = CAUSES | REASONS
        return any(one.is_result or one.exact & telling for one in of_sentence)

    @property
    def names(self) -> frozenset[str]:
        """What is a name wherever it stands."""
        return self._names


class Reading:
    """Reads the sentences of one text against its sources, in order."""

    def __init__(self, sources: Sources, *, in_notes: bool = False) -> None:
        self._sources = sources
        self._in_notes = in_notes
        self._context = Context()

    def support(self, sentence: str) -> Support:
        """Return whether a sentence was said, and where."""
        taken = Sentence.of(sentence)
        if not is_readable(taken, self._sources.names):
            return Support("not said")
        context = Context(self._context.people)
        claims = clauses(taken, Voice("text"), context, self._sources.names)
        may_lack_verb = self._in_notes and "," not in sentence
        if not claims or not (may_lack_verb or any(one.has_verb for one in claims)):
            return Support("not said")
        found: list[_Known] = []
        keys: frozenset[str] = frozenset()
        if all(word in EMPTY_ROOTS for one in claims for word in one.words) and not any(
            one.numbers or one.addresses for one in claims
        ):
            return Support("not said")
        for claim in claims:
            reason, known = self._sources.holds(claim)
            if reason is not None and claim.may_stand_alone:
                alone = replace(claim, told_by=frozenset(), modes=claim.plain_modes)
                reason, known = self._sources.holds(alone)
            if reason is not None or known is None:
                return Support(reason or "not said")
            found.append(known)
            keys |= self._sources.keys(claim, known)
        if not self._has_cause(taken, claims, found):
            return Support("no such cause")
        self._context = context
        return Support(
            None,
            tuple(dict.fromkeys(one.sentence for one in found)),
            keys,
            frozenset(one.voice.kind for one in found),
        )

    def _has_cause(
        self, sentence: Sentence, claims: Sequence[Clause], found: Sequence[_Known]
    ) -> bool:
        all_words = {one.word for one in sentence.tokens}
        because = bool(all_words & CAUSES) or ("since" in all_words and len(claims) > 1)
        if not because and not _SO.search(sentence.text):
            return True
        if not _is_same_way(claims, found):
            return False
        numbers = {one.number for one in found}
        if len(numbers) == 1 and (not because or _explains(found[0].sentence)):
            return True
        return any(self._sources.sentence_gives_cause(number) for number in numbers) and (
            max(numbers) - min(numbers) <= 1
        )


def _is_same_way(claims: Sequence[Clause], found: Sequence[_Known]) -> bool:
    """Whether what a text gives as the cause is no effect where it was said, and the reverse."""
    if any(one.is_reason for one in claims):
        is_cause = [one.is_reason for one in claims]
    elif any(one.is_result for one in claims):
        is_cause = [not one.is_result for one in claims]
    else:
        return True
    said = [one.clause for one in found]
    return not any(
        one.is_result if causes else one.is_reason
        for one, causes in zip(said, is_cause, strict=True)
    )


def _explains(sentence: str) -> bool:
    """Whether a sentence sets one half beside the other without a word: as its reason."""
    return len(_HALVES.split(sentence)) == 2 and not _JOINED.search(sentence)  # noqa: PLR2004


def _is_parallel(one: Clause, other: Clause) -> bool:
    """Whether two clauses say the same of two things: what the one says goes for it alone."""
    return (one.verb, one.copular, one.possesses) == (other.verb, other.copular, other.possesses)


def _dated(known: _Known) -> frozenset[str]:
    """Return how the day of a saying may be named, unless it names another day itself."""
    return known.at if known.clause.names.isdisjoint(CALENDAR) else frozenset()


def _is_role(found: Sequence[Token], place: int) -> bool:
    """Whether a noun says who somebody is, whose name may follow: ``my supervisor``."""
    token = found[place]
    if token.kind != "w" or (token.capital and place):
        return False
    if base(token.word) in ROLE_ROOTS:
        return True
    is_led = place > 0 and (found[place - 1].word in POSSESSIVES or found[place - 1].word == "the")
    return is_led and token.word not in FREE and found[place + 1 : place + 2] != []


def _names_of(said: Sequence[Said], taken: Sequence[Sequence[Sentence]]) -> frozenset[str]:
    """Return what is written as a name: with a capital inside a sentence, or nowhere without."""
    inside: set[str] = set()
    opening: set[str] = set()
    plain: set[str] = set()
    for one in said:
        inside |= one.voice.names
    for sentence in itertools.chain.from_iterable(taken):
        for place, token in enumerate(sentence.tokens):
            if token.kind == "w":
                (plain if not token.capital else inside if place else opening).add(token.word)
    found = inside | {word for word in opening - plain if base(word) not in VERBS}
    return frozenset(found - FREE - {USER, AGENT, "i"})
