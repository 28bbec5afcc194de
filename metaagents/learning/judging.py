"""The judge: compares each new fact with its neighbours once, and lets what it replaces give way.

Every fact is compared with the live facts of its identity bucket: by key, by words, by a comparer
with the nearest, and what is still open by a language model, in one question for all facts of a
pass. A fact is stamped in the same step in which others give way, so nothing is judged twice and
nothing is judged for ever: where the model fails, the rules do.

Of many facts at once, ``LikeFacts`` finds those that say the same without comparing each with each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from tiers.drafts import index_work, judge_work
from tiers.errors import CorruptRecord, EzraError
from tiers.ids import derived_id
from tiers.learning import Verdict, fact_key, is_live, said_order
from tiers.paging import linked
from tiers.ports import Embedder, WarmStore
from tiers.records import Fact, Scope, Work

from ..model import BudgetedModel
from .likeness import NEAR_OVERLAP, Reading, overlap, rare_words, read
from .moves import CoreKeeper, OnMove, ignore_move, move
from .neighbours import Neighbourhood, Neighbours
from .opinions import Opinions, Question
from .regexes import compiled
from .rewording import in_plain_wording
from .succession import in_full, left_of
from .weighing import (
    Comparer,
    Judged,
    Opinion,
    Pair,
    Relation,
    by_opinion,
    reason_of_place,
    relation,
    takes_core,
    takes_core_from,
    verdicts,
)

if TYPE_CHECKING:
    from tiers.cold.stores import FactReview, LexicalIndex, RecordLog, SemanticStore

COMPARED_MAX = 200
"""Facts with one word or key in common that a fact is compared with, at most."""

_Mark: TypeAlias = tuple[str | None, str, str, str]
_Readings: TypeAlias = tuple[Reading, ...]
"""Of a text as it stands, and in plain wording."""


@dataclass
class LikeFacts:
    """Takes facts up one by one and says which of two that say the same gives way.

    Facts are compared where they have an owner, and a key or one of their rarer words, in common.
    """

    facts: dict[str, Fact] = field(default_factory=dict)
    _readings: dict[str, _Readings] = field(default_factory=dict)
    _by_mark: dict[_Mark, list[str]] = field(default_factory=lambda: defaultdict(list))

    def take(self, fact: Fact) -> list[tuple[Fact, str]]:
        """Take a live fact up; return each fact that gives way, and the id of what says the same.

        Nothing gives way twice, or to what gave way.
        """
        readings = tuple(read(text) for text in (fact.text, in_plain_wording(fact.text)))
        marks = _marks(fact, readings)
        ended: list[tuple[Fact, str]] = []
        for known in self._known(marks):
            other = self.facts[known]
            both = zip(readings, self._readings[known], strict=True)
            is_near = any(overlap(one, two) >= NEAR_OVERLAP for one, two in both)
            if not is_near and fact_key(fact) != fact_key(other):
                continue
            if relation(Pair.of(fact, other), None) != "duplicate":
                continue
            for one in verdicts(fact, {known: "duplicate"}, [other]):
                if one.fact_id == fact.id:
                    return [*ended, (fact, one.by)]
                ended.append((other, one.by))
                self._drop(known)
        self.facts[fact.id] = fact
        self._readings[fact.id] = readings
        for mark in marks:
            self._by_mark[mark].append(fact.id)
        return ended

    def _known(self, marks: list[_Mark]) -> list[str]:
        found: dict[str, None] = {}
        for mark in marks:
            recent = self._by_mark.get(mark, ())[-COMPARED_MAX:]
            found |= dict.fromkeys(one for one in recent if one in self.facts)
        return list(found)

    def _drop(self, fact_id: str) -> None:
        del self.facts[fact_id], self._readings[fact_id]


def _marks(fact: Fact, readings: _Readings) -> list[_Mark]:
    """Return under what a fact is found by what may say the same."""
    writer = fact.agent_id if fact.private else ""
    key = fact_key(fact)
    keys = [] if key is None else [key]
    rare = dict.fromkeys(word for one in readings for word in rare_words(one, NEAR_OVERLAP))
    marks = [*keys, *(("", word) for word in rare)]
    return [(fact.user_id, writer, one, two) for one, two in marks]


LOOK_AGAIN_SECONDS = 2.0
"""When a fact is looked at again around which the world did not stand still."""
UNSETTLED = "what it is the rest of has changed meanwhile"


@dataclass(frozen=True)
class JudgePolicy:
    """How far the judge looks.

    Attributes:
        nearest: Neighbours that the comparer and the model are asked about (Atlas, Martha: 5).
        hits: How many each index is asked for, to find those.
        facts_per_pass: Facts judged in one pass, at most.
        tries: How often a fact is looked at when it changed while it was judged.
        passes_max: Passes in one review of a graph, at most.
        reviewed_max: Live facts of a graph among which duplicates are looked for again, at most.
    """

    nearest: int = 5
    hits: int = 20
    facts_per_pass: int = 64
    tries: int = 4
    passes_max: int = 1_000
    reviewed_max: int = 20_000


@dataclass
class _Case:
    """A fact with what it is to its rivals, as far as is known."""

    fact: Fact
    neighbours: Neighbours
    found: dict[str, Relation]


@dataclass(eq=False, kw_only=True)
class JudgeAgent:
    """Judges new facts.

    Attributes:
        review: Facts as they are compared and settled.
        semantic: The facts.
        warm: Finds neighbours by vector.
        words: Finds them by words.
        embedder: Makes vectors; without one words do.
        model: Judges what rules cannot tell; ``None`` leaves that as it is.
        comparer: Compares two statements by rules; ``None`` for none.
        events: Where it is said that a model was not to be had.
        policy: How far to look.
        keeper: Keeps core in its cap when core facts were stored; ``None`` leaves that to the
            next promotion.
        on_move: Hears of each fact that becomes core here.
    """

    review: FactReview
    semantic: SemanticStore
    warm: WarmStore
    words: LexicalIndex
    embedder: Embedder | None
    model: BudgetedModel | None
    comparer: Comparer | None
    events: RecordLog
    policy: JudgePolicy
    keeper: CoreKeeper | None = None
    on_move: OnMove = ignore_move

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Judge the oldest facts of a graph that are not judged yet, those of the items with them.

        In the order in which they were said, whatever the order of the items: a fact that was said
        again after another had taken its place is not mistaken for the first. Items of facts that
        are not among the oldest come back at once.
        """
        for item in items:
            if not isinstance(item.payload.get("id"), str):
                raise CorruptRecord("cold", "judge", f"work {item.id} names no fact")
        await compiled()
        whole = items[0].scope.for_graph()
        facts = await self.review.unjudged(whole, self.policy.facts_per_pass)
        unsettled = await self._judge(whole, facts, now)
        seen = {fact.id for fact in facts}
        later = {}
        for item in items:
            fact_id = str(item.payload["id"])
            if fact_id in unsettled:
                later[item.id] = now + timedelta(seconds=LOOK_AGAIN_SECONDS)
            elif fact_id not in seen and len(facts) == self.policy.facts_per_pass:
                later[item.id] = now
        return later

    async def review_graph(self, scope: Scope, now: datetime) -> int:
        """Judge every fact of a graph that has no stamp, then look for duplicates among all.

        Returns:
            How many facts were judged, or gave way in the second look; 0 when there is nothing
            left to do.
        """
        whole = scope.for_graph()
        count = 0
        for _ in range(self.policy.passes_max):
            facts = await self.review.unjudged(whole, self.policy.facts_per_pass)
            unsettled = await self._judge(whole, facts, now)
            count += len(facts) - len(unsettled)
            if len(facts) < self.policy.facts_per_pass or len(unsettled) == len(facts):
                break
        return count + await self._look_again(whole, now)

    async def _judge(self, whole: Scope, facts: Sequence[Fact], now: datetime) -> set[str]:
        """Judge facts, oldest first, and return the ids of those that did not hold still."""
        if not facts:
            return set()
        neighbourhood = Neighbourhood(
            self.review,
            self.semantic,
            self.warm,
            self.words,
            self.embedder,
            self.policy.hits,
            self.policy.nearest,
        )
        await neighbourhood.prepare(facts)
        cases = [await self._case(neighbourhood, fact, now) for fact in facts]
        opinions = await self._opinions(whole, cases, now)
        unsettled: set[str] = set()
        for case in cases:
            if not await self._settle(whole, neighbourhood, case, opinions, now):
                unsettled.add(case.fact.id)
        if self.keeper is not None and any(fact.tier == "core" for fact in facts):
            await self.keeper.keep_cap(whole, now)
        return unsettled

    async def _case(self, neighbourhood: Neighbourhood, fact: Fact, now: datetime) -> _Case:
        """Compare a fact with its neighbours by rules."""
        neighbours = await neighbourhood.of(fact, now)
        judged = await self._compared(fact, neighbours.found[: self.policy.nearest])
        found: dict[str, Relation] = {}
        for rival in neighbours.rivals:
            relation_found = relation(Pair.in_time(fact, rival), judged.get(rival.id))
            if relation_found is not None:
                found[rival.id] = relation_found
        meant = {one.id: in_full(one, fact) for one in neighbours.rivals if one.id in found}
        if len({whole for whole in meant.values() if whole}) > 1:  # "the deadline": which one?
            found = {one: said for one, said in found.items() if not meant[one]}
        return _Case(fact, neighbours, found)

    async def _compared(self, fact: Fact, nearest: Sequence[Fact]) -> dict[str, Judged]:
        if self.comparer is None or not nearest:
            return {}
        try:
            judged = await self.comparer.judge(fact.text, [one.text for one in nearest])
        except EzraError:
            return {}
        if len(judged) != len(nearest):
            return {}
        return {one.id: said for one, said in zip(nearest, judged, strict=True)}

    async def _opinions(
        self, whole: Scope, cases: Sequence[_Case], now: datetime
    ) -> dict[tuple[str, str], Opinion]:
        """Ask the model what the rules left open; nothing when nothing is, or there is none."""
        if self.model is None:
            return {}
        question = Question(
            [case.fact for case in cases], {case.fact.id: self._open(case) for case in cases}
        )
        if question.is_empty:
            return {}
        try:
            answer = await self.model.fill(whole, question.messages, Opinions)
        except EzraError:
            ids = [case.fact.id for case in cases]
            await self.events.append_audit(whole, "judged", ids, "model unavailable", now)
            return {}
        return question.heard(answer)

    def _open(self, case: _Case) -> list[Fact]:
        """Return the older of the nearest that the rules say nothing about, if it matters.

        It does not once the fact is found to say what another says.
        """
        if "duplicate" in case.found.values():
            return []
        content = read(case.fact.text).content
        return [
            one
            for one in case.neighbours.found[: self.policy.nearest]
            if one.id not in case.found
            and said_order(one) < said_order(case.fact)
            and not content.isdisjoint(read(one.text).content)
        ]

    async def _settle(
        self,
        whole: Scope,
        neighbourhood: Neighbourhood,
        case: _Case,
        opinions: Mapping[tuple[str, str], Opinion],
        now: datetime,
    ) -> bool:
        """Stamp a fact and let others give way; ``False`` when it kept changing meanwhile."""
        for number in range(self.policy.tries):
            fact, rivals = await self._as_they_are(case)
            if fact is None:
                return True
            if number:
                case = await self._case(neighbourhood, fact, now)
                fact, rivals = case.fact, {one.id: one for one in case.neighbours.rivals}
            found = dict(case.found)
            for rival in rivals.values():
                opinion = opinions.get((fact.id, rival.id))
                if opinion is not None and rival.id not in found:
                    found[rival.id] = by_opinion(Pair.of(fact, rival), opinion)
            ended = verdicts(fact, found, rivals.values())
            before = takes_core_from(fact, ended, rivals.values())
            if before is not None:
                # First, so that who dies in between leaves a core fact too many and none too few.
                reason = reason_of_place(before)
                await move(self.semantic, whole, fact, "core", reason, now, self.on_move)
            known = {one.id: one for one in (fact, *rivals.values())}
            over = (known[one.fact_id] for one in ended)
            again = [index_work(one.id, one.agent_id) for one in over]
            kept = await self._keep_rests(whole, ended, known, number, now)
            if await self.review.settle(whole, fact.id, ended, now, again):
                return True
            for one in kept:
                gone = [index_work(one.id, one.agent_id)]
                await self.review.forget(whole, one.id, UNSETTLED, now, gone)
        return False

    async def _keep_rests(
        self,
        whole: Scope,
        ended: Sequence[Verdict],
        known: Mapping[str, Fact],
        number: int,
        now: datetime,
    ) -> list[Fact]:
        """Store what still holds of lists that give way in part, before they do; return it.

        It was said when the list was, and is judged as anything that was said then: more of it
        may be over by now.
        """
        kept: list[Fact] = []
        for one in ended:
            old, new = known[one.fact_id], known[one.by]
            left = left_of(old, new) if one.how != "duplicate" else None
            if left is None or not left.text:
                continue
            by = whole.for_agent(old.agent_id).model_copy(
                update={"user_id": old.user_id, "every_user": False}
            )
            rest = _as_of(old, left, new).stamped(
                by, derived_id(now, "rest", old.id, new.id, str(number)), now
            )
            work = [index_work(rest.id, rest.agent_id), judge_work(rest.id)]
            both = (old.id, new.id)
            stored, is_new = await self.semantic.put_fact(by, rest, work, made_of=both)
            kept += [stored] if is_new else []
            if takes_core(stored, old):
                reason = reason_of_place(old)
                await move(self.semantic, whole, stored, "core", reason, now, self.on_move)
        return kept

    async def _as_they_are(self, case: _Case) -> tuple[Fact | None, dict[str, Fact]]:
        """Return the fact, unless it is judged or gone, and its rivals that are still live.

        Those before it in the pass may have given way since it was compared.
        """
        fact = case.fact
        whole = Scope.of_graph(fact.tenant, fact.graph_id)
        sight = whole.for_agent(fact.agent_id) if fact.private else whole
        ids = [fact.id, *(one.id for one in case.neighbours.rivals)]
        facts = {one.id: one for one in await self.semantic.facts(sight, ids) if is_live(one)}
        current = facts.pop(fact.id, None)
        if current is None or current.judged_at is not None:
            return None, {}
        return current, facts

    async def _look_again(self, whole: Scope, now: datetime) -> int:
        """Let facts give way that say what another says, whoever was judged when."""
        like = LikeFacts()
        taken = count = 0
        size = self.policy.facts_per_pass
        live = linked(lambda cursor: self.review.live_facts(whole, cursor, size))
        async with aclosing(live) as pages:
            async for page in pages:
                for fact in page.rows:
                    for gone, by in like.take(fact):
                        count += await self._let_go(whole, gone, by, now)
                taken += len(page.rows)
                if taken >= self.policy.reviewed_max:
                    break
        return count

    async def _let_go(self, whole: Scope, gone: Fact, by: str, now: datetime) -> bool:
        sight = whole.for_agent(gone.agent_id) if gone.private else whole
        again = [index_work(gone.id, gone.agent_id)]
        return await self.semantic.supersede(sight, gone.id, by, now, again, how="duplicate")


def _as_of(old: Fact, left: Fact, new: Fact) -> Fact:
    """Return what is left of a list as said when that was; what ended some stands for it, too."""
    return Fact(
        text=left.text,
        subject=left.subject,
        predicate=old.predicate,
        object=left.object,
        fact_type=old.fact_type,
        confidence=old.confidence,
        valid_from=old.valid_from,
        valid_to=old.valid_to,
        said_at=old.said_at or old.recorded_at,
        said_seq=old.said_seq,
        said_place=old.said_place,
        source_ids=tuple(dict.fromkeys((*old.source_ids, *new.source_ids))),
        source=old.source,
        private=old.private,
        topics=old.topics,
    )
