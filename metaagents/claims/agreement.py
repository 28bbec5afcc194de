"""Whether a clause says what another one says: of the same, in the same roles, no more. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tiers.lexical import MONTHS, WEEKDAYS

from .clause import Clause, Disagreement, Voice
from .describing import FREE_ROOTS
from .forms import VERBS, alike, base, kind_of, root
from .lexicon import EMPTY, KEPT_LIMITS, LIGHT, NUMBER_LIMITS
from .meaning import timed

_UNITS = {"euro", "dollar", "pound", "percent"}


class Aliases:
    """By which other words somebody is spoken of: ``my sister Marta`` is both."""

    def __init__(self) -> None:
        self._nouns: dict[str, set[str]] = {}
        self._names: dict[str, set[frozenset[str]]] = {}

    def add(self, name: frozenset[str], noun: str) -> None:
        """Note that a name, of one word or more, is that of a noun."""
        for word in name:
            self._nouns.setdefault(word, set()).add(noun)
        self._names.setdefault(noun, set()).add(name)

    def is_called(self, noun: str, name: str) -> bool:
        """Whether somebody has been called both."""
        return noun in self._nouns.get(name, ())

    def is_noun(self, noun: str) -> bool:
        """Whether somebody with a name has been called by a noun."""
        return noun in self._names

    def called(self, heads: Iterable[str]) -> frozenset[str]:
        """Return heads with every other word for them; a noun of several people has none."""
        all_heads = frozenset(heads)
        for head in tuple(all_heads):
            some = self._names.get(head, set())
            all_heads |= frozenset(self._nouns.get(head, ())) | (
                next(iter(some)) if len(some) == 1 else frozenset()
            )
        return all_heads

    def of(self, heads: Iterable[str], names: frozenset[str]) -> frozenset[str]:
        """Return heads with what else they are called; a noun of several people is nobody else."""
        known = frozenset(heads)
        if known & names:
            return known.union(*(self._nouns.get(head, ()) for head in known))
        return self.called(known)


def limited(claim: Clause, source: Clause, around: Sequence[Clause]) -> Disagreement | None:
    """Return whether a claim says more often, or of more, than its source."""
    filled_in = (one for one in around if _may_fill_in(one, claim, source))
    theirs = source.limits.union(*(one.limits for one in filled_in))
    if claim.limits - theirs:
        return "more than was said"
    kept_limits = source.limits & KEPT_LIMITS
    if not claim.numbers.keys() & source.numbers.keys():
        kept_limits -= NUMBER_LIMITS
    if "only" in kept_limits - claim.limits and source.words.keys() <= _wide(claim.words):
        kept_limits -= {"only"}  # what is only so is so, where all of it is told
    if kept_limits - claim.limits:
        return "more than was said"
    kept = {word for word in ("some", "few", "except", "unlike") if word in source.exact}
    return "more than was said" if kept - claim.exact else None


def who(
    claim: Clause, source: Clause, voice: Voice, aliases: Aliases, names: frozenset[str]
) -> Disagreement | None:
    """Return whether a claim and its source tell of somebody else, or of others' words."""
    proposes = voice.kind == "agent" and "proposal" in claim.modes and bool(claim.told_by)
    is_own = proposes and claim.told_by <= voice.selves
    by_speaker = None if is_own else _speaker(claim, source, voice, aliases, names)
    if by_speaker is not None:
        return by_speaker
    for thing, owner in claim.owned.items():
        theirs = source.owned.get(thing)
        if theirs and aliases.of(theirs, names).isdisjoint(owner):
            return "another subject"
        if not theirs and owner.isdisjoint(_everybody(source, voice, aliases, names)):
            return "another subject"
    if claim.frame and not source.frame:
        return "another role" if _is_told_to_another(claim, source, voice) else None
    if not claim.has_verb:
        return None
    return _roles(claim, source, voice, aliases, names)


def _is_told_to_another(claim: Clause, source: Clause, voice: Voice) -> bool:
    """Whether somebody is said to have told somebody else what was told in this conversation."""
    if "proposal" in claim.modes or not claim.told_by <= voice.selves:
        return False
    told = {base(one) for one in claim.objects} & claim.words.keys() - EMPTY_ROOTS
    return bool(told - _wide(source.words) - {base(name) for name in voice.to | voice.selves})


def _speaker(
    claim: Clause, source: Clause, voice: Voice, aliases: Aliases, names: frozenset[str]
) -> Disagreement | None:
    """Return whether a claim is attributed as its source is."""
    by = claim.told_by
    if source.told_by and not source.told_by <= voice.selves:
        theirs = aliases.of(source.told_by, names)
        if (by.isdisjoint(theirs) or (by & names) - theirs) and not (
            source.frame and not claim.told_by
        ):
            return "another speaker"
        return None
    selves = voice.selves
    if "agreed" in claim.modes:
        return None
    if by and by.isdisjoint(selves) and voice.kind in ("user", "agent"):
        return "another speaker"
    if voice.kind == "agent" and not by:
        own = claim.subjects <= selves and source.subjects <= selves and claim.subjects
        # What an agent says that it has done or will do is told as just that.
        told_alike = source.modes <= {"plan", "proposal"} and source.modes == claim.modes
        return None if own and told_alike else "another speaker"
    return None


def _everybody(
    source: Clause, voice: Voice, aliases: Aliases, names: frozenset[str]
) -> frozenset[str]:
    heads = source.subjects | source.objects | source.owners | source.by | voice.selves | voice.to
    return aliases.of(heads, names) | source.exact


def _roles(
    claim: Clause, source: Clause, voice: Voice, aliases: Aliases, names: frozenset[str]
) -> Disagreement | None:
    actors, _ = _acting(claim)
    theirs, rest = _acting(source)
    if not source.has_verb:
        theirs |= source.near | voice.selves
    theirs |= source.company
    theirs_all = aliases.of(theirs, names)
    if source.is_plural:
        theirs_all |= source.near - names
    rest_all = aliases.of(rest, names)
    if source.copular and claim.copular and "than" not in source.exact:
        theirs_all = rest_all = theirs_all | rest_all
    if claim.possesses and not source.possesses:
        # "My rating is 9" and "Ada has a rating of 9".
        theirs_all |= aliases.of(source.owners, names)
    if source.possesses and actors & rest_all and not claim.owners.isdisjoint(theirs_all):
        theirs_all |= rest_all
    are_both_several = claim.is_plural and claim.is_linked and source.is_plural
    if actors and not are_both_several and not _meets(actors, theirs_all):
        if _meets(actors, rest_all):
            return "another role"
        mine = claim.owners | frozenset().union(*claim.owned.values())
        if not (source.copular and claim.copular) or mine.isdisjoint(theirs_all | source.owners):
            return "another subject"
    return _crossed(claim, source, (theirs_all, rest_all))


def _crossed(
    claim: Clause,
    source: Clause,
    theirs: tuple[frozenset[str], frozenset[str]],
) -> Disagreement | None:
    """Return whether a name stands on the other side of the verb, or on neither."""
    actors, others = _acting(claim)
    theirs_all, rest_all = theirs
    strangers = {one for one in actors & claim.names if one not in theirs_all} - CALENDAR
    if strangers and not source.is_plural:
        return "another subject"
    crossed = (others - actors) & claim.names & theirs_all - rest_all
    if crossed and source.has_verb:
        return "another role"
    return _directed(claim, source)


def _acting(clause: Clause) -> tuple[frozenset[str], frozenset[str]]:
    """Return who does something, and to whom or what."""
    if clause.passive or clause.received:
        return clause.by, (clause.subjects | clause.objects) - clause.by
    return clause.subjects, clause.objects


def _meets(one: frozenset[str], two: frozenset[str]) -> bool:
    if one & two:
        return True
    wide = frozenset().union(*(alike(root(word)) for word in two))
    kinds = {kind_of(root(word)) for word in two}
    return any(root(word) in wide or root(word) in kinds for word in one)


def _directed(claim: Clause, source: Clause) -> Disagreement | None:
    apart = {word for word, way in source.directions.items() if way == "except"}
    for word, direction in claim.directions.items():
        theirs = source.directions.get(word)
        if theirs is not None and theirs != direction:
            return "another role"
        if direction == "except" and apart and word not in apart:
            return "another role"
        prefers = claim.verb == _PREFER or "would_rather" in claim.exact
        is_behind = prefers and direction == "to" and word not in VERBS
        if is_behind and theirs is None and word in source.words:
            return "another role"  # what is preferred to it is not it
    return None


def particular(
    claim: Clause,
    source: Clause,
    completing: Sequence[Clause],
    known: frozenset[str],
    day: frozenset[str],
    fragments: Sequence[Clause] = (),
) -> Disagreement | None:
    """Return whether a number or a name of a claim stands nowhere in what it would rest on.

    What a clause leaves open, others may fill in that say nothing for themselves; what it says
    itself of that kind, another number of euros or another month, they cannot take the place of.

    Args:
        claim: The claim.
        source: The clause that it would rest on.
        completing: Others that may fill in what it leaves open.
        known: Words that need not be said: who speaks, what somebody is called besides.
        day: By which words and numbers the day may be named on which it was said.
        fragments: Clauses without a verb nearby: ``About twelve children.`` tells how many.
    """
    filling = [one for one in completing if _may_fill_in(one, claim, source)]
    # "It was stolen in March" says nothing of when it was bought.
    naming = [one for one in filling if one.copular or not one.has_verb or "ended" in source.modes]
    filled_in = frozenset().union(*(one.exact for one in naming))
    for number, units in claim.numbers.items():
        if _is_date(number, units, day) or _counts(number, units, [source]):
            continue
        counting = [*filling, *fragments] if units else filling
        if _has_rival(units, source) or not _counts(number, units, counting):
            return "another number"
    for name in claim.names - source.exact - known - day:
        if name not in filled_in or _is_named_otherwise(name, claim, source):
            return "another name"
    if claim.addresses - source.addresses:
        return "another name"
    return None if _are_grouped(claim, source) else "another number"


def worded(
    claim: Clause,
    source: Clause,
    around: Sequence[Clause],
    known: frozenset[str],
    names: frozenset[str],
) -> Disagreement | None:
    """Return whether a word of a claim stands nowhere in what it would rest on.

    Args:
        claim: The claim.
        source: The clause that it would rest on, of which it has to have the verb.
        around: Clauses that speak of the same, whose words it may have.
        known: Words that need not be said.
        names: What is a name.
    """
    near = [one for one in around if _may_fill_in(one, claim, source)]
    strange = _strange(claim, [source, *near], known, names)
    if _is_light(strange, claim, source):
        return None
    return "not said" if strange or not _tells_verb(claim, source) else None


def _strange(
    claim: Clause, pool: Sequence[Clause], known: frozenset[str], names: frozenset[str]
) -> list[str]:
    """Return the roots of a claim that nobody said in any form, and that are not ordinary."""
    words = {word for one in pool for word in one.words}
    wide = _wide(words)
    wide |= {kind_of(word) for word in words} | {base(word) for word in known}
    beginnings = {word[:5] for word in wide if len(word) >= 5}  # noqa: PLR2004
    return [
        word
        for word in claim.words
        if word not in wide
        and (word not in EMPTY_ROOTS or _is_calling(word, claim))
        and word not in FREE_ROOTS
        and not (len(word) >= 5 and word[:5] in beginnings and word not in names)  # noqa: PLR2004
    ]


def _wide(words: Iterable[str]) -> set[str]:
    """Return roots with all that say the same."""
    return {other for word in words for other in alike(word)}


def _has_rival(units: tuple[str, ...], source: Clause) -> bool:
    """Whether a source counts the same already, by another number."""
    return any(counts_alike(units, theirs) for theirs in source.numbers.values())


def counts_alike(units: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether two numbers may count the same, as far as the words after them tell."""
    return not units or not others or units[0] in alike(others[0])


def _may_fill_in(other: Clause, claim: Clause, first: Clause) -> bool:
    """Whether the names and numbers of a clause are said as surely as those of the first."""
    is_as_sure = other.modes - {"ask"} <= first.modes | claim.modes
    is_excluded = not other.exact.isdisjoint(_EXCLUDING - claim.exact)
    is_otherwise = is_excluded or other.denied != first.denied or timed(claim, other) is not None
    return is_as_sure and not is_otherwise


def _is_named_otherwise(name: str, claim: Clause, source: Clause) -> bool:
    """Whether a source has a name of that kind already, of which a claim says nothing."""
    kinds = [kind for kind in (_MONTHS, _DAYS) if name in kind]
    theirs = source.names & kinds[0] if kinds else source.names - CALENDAR
    return bool(theirs - claim.names)


def _is_calling(word: str, claim: Clause) -> bool:
    """Whether somebody is said to call somebody, and not to be called something."""
    return word == claim.verb == _CALL and not (claim.passive or claim.possesses)


def _tells_verb(claim: Clause, source: Clause) -> bool:
    """Whether a claim has the verb of its source: who ``tried to call`` has not called."""
    verb = source.verb
    if (claim.frame or "there" in claim.exact) and not claim.verb:
        return True  # what something is said of is there
    if claim.verb and not source.has_verb and not source.words.keys() & alike(claim.verb):
        # "Two hours with two kids" tells nothing that was done; "5 mg" may be what is taken.
        rest = claim.words.keys() - {claim.verb, *map(base, claim.subjects)}
        if claim.verb not in LIGHT_ROOTS or not rest <= _wide(source.words):
            return False
    if source.copular and claim.verb and claim.verb in source.words:
        return False  # who "is afraid of losing" has not lost
    is_conditional = "if" in claim.modes & source.modes
    if not verb or not claim.has_verb or verb in EMPTY_ROOTS or is_conditional:
        return True
    theirs = {other for word in claim.words for other in (*alike(word), kind_of(word))}
    return verb in theirs or any(word[:5] == verb[:5] for word in claim.words)


def _are_grouped(claim: Clause, source: Clause) -> bool:
    """Whether numbers, names and days stand together as they were said."""

    def places(words: Iterable[str]) -> set[int]:
        return {source.groups[one] for one in words if one in source.groups}

    days, others = claim.names & CALENDAR, claim.names - CALENDAR
    is_listed = min(len(places(source.numbers)), len(places(source.names & CALENDAR))) > 1
    if is_listed and days and claim.numbers:
        return bool(places(days) & places(claim.numbers))
    if len(places(source.names & CALENDAR)) > 1 and places(days) and places(others):
        return bool(places(days) & places(others))
    return True


def _is_date(number: str, units: tuple[str, ...], day: frozenset[str]) -> bool:
    """Whether a number is of the day on which something was said, and counts nothing."""
    return number in day and (not units or units[0] in {base(word) for word in day})


def _is_light(strange: Sequence[str], claim: Clause, source: Clause) -> bool:
    """Whether all that is strange is a verb for another one: ``completed`` for ``ran``."""
    if len(strange) != 1 or strange[0] not in LIGHT_ROOTS or len(claim.words) < LIGHT_AMONG_MIN:
        return False
    is_other = any(word in VERBS and word not in claim.words for word in source.words)
    if strange[0] == _GIVE and not source.received:
        return False
    return is_other or not source.exact.isdisjoint(_HAVING)


_HAVING = frozenset("get gets got have has had do does did".split())
_GIVE = base("give")
_EXCLUDING = frozenset(("except", "unlike"))
LIGHT_AMONG_MIN = 3
LIGHT_ROOTS = frozenset(map(base, LIGHT))
_MONTHS, _DAYS = frozenset(MONTHS), frozenset(WEEKDAYS)
CALENDAR = _MONTHS | _DAYS
EMPTY_ROOTS = frozenset(map(base, EMPTY))
_CALL, _PREFER = base("call"), base("prefer")


def _counts(number: str, units: tuple[str, ...], pool: Sequence[Clause]) -> bool:
    for one in pool:
        if number not in one.numbers:
            continue
        theirs = one.numbers[number]
        if counts_alike(units, theirs):
            if units and not theirs and units[0] in _UNITS:
                continue
            return True
        if theirs[0] in units or units[0] in theirs:
            return True
    return False
