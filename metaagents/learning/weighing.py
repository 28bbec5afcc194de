"""What one fact is to another, and which of them stands. Pure.

Of two facts the newer one is the one that was said later, whenever it was learnt: history that is
learnt late replaces nothing that was said after it. An older fact gives way to a newer one that
says otherwise; of facts that say the same the one that was recorded first stays, so that what an
id was given out for keeps its uses and its place in core. What gives way stays readable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Literal, Protocol, TypeAlias

from tiers.knowledge import is_kept
from tiers.learning import Verdict, fact_key, is_ahead, is_live, may_give_way, said_order
from tiers.lexical import words
from tiers.records import Fact

from .attributes import is_same_attribute
from .core import PRESSING
from .likeness import alike, difference, open_on_others, read, same_words, turned
from .predicates import denies, is_multi_valued
from .regexes import any_case
from .retractions import puts_right
from .rewording import in_plain_wording
from .rules import may_be_core
from .succession import effect, is_first_person, left_of, resolved_text, speaker_of

Relation: TypeAlias = Literal["duplicate", "natural", "denial", "distinct"]
"""What a newer fact is to an older one; ``natural`` and ``denial`` are reasons to give way."""

Opinion: TypeAlias = Literal["duplicate", "supersedes", "denies", "distinct"]
"""What a language model may say that a new fact is to a candidate."""


PLACE_SHARE = 0.3
"""Of the content words of the shorter text, that a fact shares with the one whose place it takes
because a model says so: a model that is told to replace everything replaces only what may be about
the same. "Ada moved to Lisbon" shares a third with "Ada lives in Rome"."""

PRESSING_SHARE = 0.5
"""Of the same, where the fact that would give way must not be violated or says who somebody is:
that both speak of Mara does not let "never call Mara before 9:30" end her allergy."""


REMEMBERED_PAIRS = 1_024

LONG_AGO = timedelta(days=730)
"""What began so long before another was said is a story of the time before that; what began lately
may be what it has become, though told as if it were older: ``we moved last year``."""


_AT_AN_AGE = any_case(r"^(?!.*\b(?:died|passed away|retired)\b).* at the age of \w")
"""What was at some age may be long ago; who died or retired at one did it but once."""
_OWN = frozenset("i im ive my mine we our".split())


class Judged(Protocol):
    """What a comparer says about a claim and a rival."""

    @property
    def contradicts(self) -> bool:
        """They cannot both be true."""
        ...

    @property
    def agrees(self) -> bool:
        """They say the same."""
        ...

    @property
    def score(self) -> float:
        """How sure of a contradiction it is, 0 to 1."""
        ...


class Comparer(Protocol):
    """Says of each rival whether it contradicts a claim, or says the same."""

    async def judge(self, claim: str, rivals: Sequence[str]) -> Sequence[Judged]:
        """Return one judgement per rival, in order.

        Raises:
            EzraError: There is none.
        """
        ...


@dataclass(frozen=True)
class Pair:
    """Two facts by when they were said, or by when they began to hold."""

    older: Fact
    newer: Fact

    @classmethod
    def of(cls, one: Fact, two: Fact) -> Pair:
        """Return two facts in the order in which they were said."""
        first, second = sorted((one, two), key=said_order)
        return cls(first, second)

    @classmethod
    def in_time(cls, one: Fact, two: Fact) -> Pair:
        """Return two facts in the order in which they began to hold, as far as they say when.

        Who tells the last first has not come back. What is so without a time is so when it is said:
        who lives in Rome has not moved to Paris since, because that was in 2010. An application
        tells no stories: what it states last is so. What denies another comes after it.
        """
        pair = cls.of(one, two)
        first, second = pair.older, pair.newer
        known_from, lag = first.valid_from, timedelta()
        if known_from is None and second.said_at is not None:
            known_from, lag = first.said_at or first.recorded_at, LONG_AGO
        if not known_from or not second.valid_from or known_from - second.valid_from <= lag:
            return pair
        if denies(second.text) or effect(first, second) == "denies":
            return pair
        return cls(second, first)


def relation(pair: Pair, judged: Judged | None) -> Relation | None:
    """Return what rules say that a newer fact is to an older one; ``None`` when they cannot tell.

    The key first, then the words, then the comparer; that the comparer sees a contradiction keeps
    words from being taken for the same. What an application keeps is no statement.
    """
    if is_kept(pair.older) or is_kept(pair.newer):
        return "distinct"
    found = by_claims(pair)
    if found is None:
        found = by_key(pair)
    if found == "natural":
        if _says_the_same(pair) and _hold_at_once(pair):
            return "duplicate"  # What is written otherwise has not changed: 24 months and 24 mo.
        found = "denial" if puts_right(pair.older, pair.newer) else found
    if found is not None:
        return found
    opposed = judged is not None and judged.contradicts
    same = judged is not None and judged.agrees
    if opposed:
        return by_contradiction(pair)
    if (same or _says_the_same(pair)) and _hold_at_once(pair):
        return "duplicate"
    return None


def _says_the_same(pair: Pair) -> bool:
    return say_the_same(resolved_text(pair.older), resolved_text(pair.newer))


def say_the_same(one: str, two: str) -> bool:
    """Whether two texts say the same in nearly the same words, as they stand or in plain wording.

    In plain wording they have to be made of just the same words: each form is one of several that
    say the same, and what is left over would be something else.
    """
    if alike(read(one), read(two)):
        return True
    ours, theirs = (read(in_plain_wording(text)) for text in (one, two))
    return ours.content == theirs.content and alike(ours, theirs)


def by_claims(pair: Pair) -> Relation | None:
    """Return what two facts are by what both claim; ``None`` when that says nothing."""
    claimed = effect(pair.older, pair.newer)
    if claimed is None:
        return "distinct" if of_others(pair) else None
    if claimed == "repeats":
        return "duplicate" if _hold_at_once(pair) else None
    found = succession(pair)
    return "denial" if claimed == "denies" and found == "natural" else found


def says_no_more(newer: Fact, older: Fact) -> bool:
    """Whether a text adds nothing to one of the same subject, predicate and object."""
    known = (older.text, newer.subject, newer.predicate, newer.object)
    content = frozenset().union(*(read(one or "").content for one in known))
    return read(newer.text).content <= content


def of_others(pair: Pair) -> bool:
    """Whether one says "I" and the other is of somebody else, so that words show nothing."""
    if speaker_of(pair.older) == speaker_of(pair.newer):
        return False
    return is_first_person(pair.older) or is_first_person(pair.newer)


def by_key(pair: Pair) -> Relation | None:
    """Return what two facts of one key are to each other; ``None`` when the key says nothing.

    The same object is the same fact, unless their texts differ in a number, a name or a "not".
    Another object of a predicate that has one at a time takes its place, unless the texts name
    something else beside it, such as two circuits.
    """
    older, newer = pair.older, pair.newer
    key = fact_key(older)
    if key is None or key != fact_key(newer) or older.object is None or newer.object is None:
        return None
    one, two = read(older.text), read(newer.text)
    if same_words(older.object, newer.object):
        if one.is_negated != two.is_negated:
            return succession(pair)
        is_same = (
            difference(one, two) is None and _hold_at_once(pair) and says_no_more(newer, older)
        )
        return "duplicate" if is_same else None
    if is_multi_valued(key[1]) or one.is_negated or two.is_negated:
        return None
    ours, theirs = _beside(older), _beside(newer)
    if ours and theirs and ours.isdisjoint(theirs):
        return None
    return succession(pair)


def by_contradiction(pair: Pair) -> Relation:
    """Return what two facts that contradict each other are."""
    return succession(pair) if _share_content(pair) else "distinct"


def by_opinion(pair: Pair, opinion: Opinion) -> Relation:
    """Return what is made of a model's opinion about a newer and an older fact.

    It may be mistaken or told what to say, so the texts have to bear it out: what says the same
    has the same numbers, names and denials, and no ``left`` where the other has ``right``; what
    takes another's place tells the same attribute of the same subject; and only what says so is a
    denial.
    """
    one, two = read(pair.older.text), read(pair.newer.text)
    if not _share_content(pair) or open_on_others(one, two):
        return "distinct"
    if opinion == "duplicate":
        is_other = difference(one, two) is not None or turned(one, two)
        return "distinct" if is_other or not _hold_at_once(pair) else "duplicate"
    least = PRESSING_SHARE if pair.older.fact_type in PRESSING else PLACE_SHARE
    if opinion == "distinct" or _shared_share(pair) < least:
        return "distinct"
    if not denies(pair.newer.text) and not _is_same_attribute(pair):
        return "distinct"
    return succession(pair)


def succession(pair: Pair) -> Relation:
    """Return how an older fact gives way to a newer one that says otherwise, if it does.

    A fact that tells of the past, of what is yet to come, or of an earlier time than the other,
    takes no place, and what is over has none to give; what never was true gives way at any time.
    """
    older, newer = pair.older, pair.newer
    if denies(newer.text):
        return "denial"
    said_at = newer.said_at or newer.recorded_at
    if _AT_AN_AGE.search(newer.text):
        return "distinct"  # how long ago that is, it does not say
    if is_ahead(newer) or (newer.valid_to is not None and newer.valid_to <= said_at):
        return "distinct"
    if older.valid_to is not None and older.valid_to <= said_at:
        return "distinct"
    if older.valid_from and (newer.valid_from or said_at) < older.valid_from:
        return "distinct"
    return "natural"


def verdicts(fact: Fact, found: Mapping[str, Relation], rivals: Iterable[Fact]) -> list[Verdict]:
    """Return which facts give way, from what each rival is to one fact.

    Nothing gives way to a fact that gives way itself, so there are no cycles; nothing gives way
    to a fact that fewer may see. What an agent wrote ends no core fact.

    Args:
        fact: The fact that is judged.
        found: What it and each rival are to each other, by the rival's id.
        rivals: The rivals, live.
    """
    live = [one for one in rivals if one.id in found and one.id != fact.id and is_live(one)]
    pairs = {one.id: Pair.in_time(fact, one) for one in live}
    taken = [pair for pair in pairs.values() if _is_taken(pair, found[_other(pair, fact).id])]
    same = [one for one in live if found[one.id] == "duplicate"]
    overtaken = [pair for pair in taken if pair.older.id == fact.id]
    if overtaken:
        last = max(overtaken, key=lambda pair: said_order(pair.newer))
        return [_verdict(last, found[last.newer.id])]
    if taken:
        ended = [_verdict(pair, found[pair.older.id]) for pair in taken]
        known = {one.fact_id for one in ended}
        return ended + _given_way(fact, [one for one in same if one.id not in known])
    return _merged([fact, *same])


def _is_taken(pair: Pair, how: Relation | None) -> bool:
    """Whether the newer fact takes the place of the older one, from what it is to that."""
    is_over = how in {"natural", "denial"} and may_give_way(pair.older, pair.newer)
    return is_over and not (pair.newer.source == "agent" and pair.older.tier == "core")


@lru_cache(maxsize=REMEMBERED_PAIRS)
def would_give_way(far: Fact, near: Fact) -> bool:
    """Whether a fact would give way by its words to one of another graph, were both of one graph.

    Not where only some of it would: what is left of a list still holds. Answers are remembered.
    """
    here = far.model_copy(update={"graph_id": near.graph_id})
    pair = Pair.in_time(here, near)
    is_over = pair.newer is near and by_claims(pair) in {"natural", "denial"}
    if not is_over or not _is_taken(pair, relation(pair, None)):
        return False
    left = left_of(here, near)
    return left is None or not left.text


def takes_core_from(fact: Fact, ended: Sequence[Verdict], rivals: Iterable[Fact]) -> Fact | None:
    """Return the core fact whose place in core goes to an archival one that takes its place."""
    giving = {one.fact_id: one.how for one in ended if one.by == fact.id}
    return next(
        (
            one
            for one in rivals
            if one.id in giving
            and (giving[one.id] != "denial" or puts_right(one, fact))
            and takes_core(fact, one)
        ),
        None,
    )


def takes_core(fact: Fact, former: Fact) -> bool:
    """Whether a fact that takes the place of another has that one's place in core to take, too."""
    is_free = fact.tier != "core" and may_be_core(fact)
    return is_free and former.tier == "core" and is_live(former)


def reason_of_place(former: Fact) -> str:
    """Return why a fact that takes the place of a core fact is promoted."""
    return f"takes the place of core fact {former.id}"


def worth(fact: Fact) -> tuple[bool, bool, bool, bool]:
    """Return by what one of several facts that say the same stands; otherwise the oldest does.

    That it is core, has a key, is a constraint or identity, or is dated: what the others lack.
    """
    is_dated = fact.valid_from is not None or fact.valid_to is not None
    return (fact.tier == "core", fact_key(fact) is not None, fact.fact_type in PRESSING, is_dated)


def _merged(group: Sequence[Fact]) -> list[Verdict]:
    """Return the verdicts that leave one of several facts that say the same, if one may stand."""
    by_id = sorted(group, key=lambda one: (one.recorded_at, one.id))
    for stands in sorted(by_id, key=worth, reverse=True):
        ended = _given_way(stands, [one for one in by_id if one.id != stands.id])
        if ended:
            return ended
    return []


def _given_way(stands: Fact, others: Iterable[Fact]) -> list[Verdict]:
    return [
        Verdict(fact_id=one.id, by=stands.id, how="duplicate")
        for one in others
        if may_give_way(one, stands) and (one.tier != "core" or stands.tier == "core")
    ]


def _verdict(pair: Pair, how: Relation) -> Verdict:
    stated = pair.newer.valid_from if how == "natural" else None
    kind: Literal["natural", "denial"] = "denial" if how == "denial" else "natural"
    return Verdict(fact_id=pair.older.id, by=pair.newer.id, how=kind, valid_to=stated)


def _other(pair: Pair, fact: Fact) -> Fact:
    return pair.newer if pair.older.id == fact.id else pair.older


def _share_content(pair: Pair) -> bool:
    return not read(pair.older.text).content.isdisjoint(read(pair.newer.text).content)


def _is_same_attribute(pair: Pair) -> bool:
    """Whether both facts tell the same of the same: by their key, or by their words."""
    key = fact_key(pair.older)
    if key is not None and key == fact_key(pair.newer):
        return not is_multi_valued(key[1])
    texts = (pair.older.text, pair.newer.text)
    is_of_self = any(not _OWN.isdisjoint(words(text)) for text in texts)
    if is_of_self and pair.older.agent_id != pair.newer.agent_id:
        return False
    return is_same_attribute(*texts)


def _shared_share(pair: Pair) -> float:
    """Return which share of the content words of the shorter text the other one has."""
    one, two = read(pair.older.text).content, read(pair.newer.text).content
    return len(one & two) / max(1, min(len(one), len(two)))


def _hold_at_once(pair: Pair) -> bool:
    """Whether no stated date tells the two apart."""
    older, newer = pair.older, pair.newer
    stated = ((older.valid_from, newer.valid_from), (older.valid_to, newer.valid_to))
    return all(one is None or two is None or one == two for one, two in stated)


def _beside(fact: Fact) -> frozenset[str]:
    """Return the names that a fact's text has beside its subject, predicate and object."""
    reading = read(fact.text)
    parts = [read(part or "").plain for part in (fact.subject, fact.predicate, fact.object)]
    return reading.names.difference(*parts)
