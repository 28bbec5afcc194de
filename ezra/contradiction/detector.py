"""Committing to a belief with its rivals found and settled.

The store decides nothing: it refuses a commit whose rivals are not settled, or no longer as they
were. So a commit here is a loop: settle what is known, try, settle what turned up.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tiers.beliefs import (
    TRUST_AT_FIRST,
    BeliefQuery,
    Commitment,
    Committed,
    Rival,
    Settlement,
)
from tiers.errors import Conflict, TierError
from tiers.fleet import MergeStrategy, Scope

from .finding import Charge, Notes, Opposed, RivalFinder
from .records import FOUND_BY_KEY, Contradiction
from .rules import compare
from .strategies import Handlers, agreement, settle, tell

if TYPE_CHECKING:
    from tiers.cold.stores import BeliefHistory, BeliefStore

log = logging.getLogger(__name__)

ATTEMPTS_MAX = 20

_Decision = tuple[Contradiction, Settlement]


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of a commit.

    Attributes:
        committed: What the store says.
        contradictions: Every contradiction that was settled with it, and how; none of them when
            nothing was written, and nobody's agreement.
        degraded: Tiers and capabilities that did not take part: ``warm``, ``cold``, ``dense``,
            ``judge``, ``callback``.
        skipped: For each of them, why.
    """

    committed: Committed
    contradictions: tuple[tuple[Contradiction, Settlement], ...] = ()
    degraded: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


@dataclass
class _Commit:
    """One commit under way, over its attempts: nobody is asked about two beliefs twice.

    Attributes:
        scope: Of the belief's agent.
        belief: What is committed to.
        strategy: The graph's.
        charge: Counts calls of the language model.
        made: Each contradiction or agreement so far, and how it is settled.
        judged_ids: Beliefs that were looked at.
        is_known: The belief is in the log already.
        notes: What did not take part.
    """

    scope: Scope
    belief: Commitment
    strategy: MergeStrategy
    charge: Charge | None
    made: list[_Decision] = field(default_factory=list)
    judged_ids: list[str] = field(default_factory=list)
    is_known: bool = False
    notes: Notes = field(default_factory=Notes)


@dataclass(eq=False)
class Settler:
    """Commits to beliefs: finds what contradicts them, and settles it by the graph's strategy.

    Attributes:
        beliefs: The log, which has the last word on what is active.
        history: What is active, and how far agents are trusted.
        handlers: Who is asked and told.
        finder: Finds what a claim contradicts.
    """

    beliefs: BeliefStore
    history: BeliefHistory
    handlers: Handlers
    finder: RivalFinder

    async def commit(
        self,
        scope: Scope,
        belief: Commitment,
        strategy: MergeStrategy,
        *,
        charge: Charge | None = None,
    ) -> Settled:
        """Commit to a belief, with its rivals settled in the same step.

        Rivals by key are known to the store. A claim without a key is held against the active
        beliefs of its topic that a search finds; a tier that is away then stops no commit, but
        ``degraded`` says that rivals may have stayed unseen.

        Args:
            scope: Of the belief's agent.
            belief: As it is to be stored, with its id.
            strategy: The graph's.
            charge: Counts a call of the language model, if a judge makes one.

        Raises:
            Conflict: The rivals changed at each of 20 attempts, or as ``BeliefStore.commit``.
            TierError: The log cannot be written; whoever repeats it with the same id is safe.
        """
        commit = _Commit(scope, belief, strategy, charge)
        if belief.key is None:
            await self._settle_unkeyed(commit)
        for _ in range(ATTEMPTS_MAX):
            settlements = () if commit.is_known else tuple(one for _, one in commit.made)
            answer = await self.beliefs.commit(scope, belief, settlements)
            if not answer.unsettled and not answer.is_stale:
                return await self._settled(commit, answer)
            if answer.is_stale:
                await self._forget_ended(commit)
            for rival in answer.unsettled:
                await self._settle_keyed(commit, answer.belief, rival)
            if answer.is_stale and belief.key is None:
                # What took the place of a rival may be one itself.
                await self._settle_unkeyed(commit)
        expected = f"rivals that stay as they are for one of {ATTEMPTS_MAX} attempts"
        raise Conflict(f"belief {belief.id}", expected, "others at each")

    async def _settled(self, commit: _Commit, answer: Committed) -> Settled:
        """Return what came of it; whoever only wants to be told of contradictions is told."""
        made = [one for one in commit.made if not one[1].agree] if answer.is_new else []
        if commit.strategy != "manual":
            await self._tell(commit, made)
        notes = commit.notes
        return Settled(answer, tuple(made), tuple(notes.lost), tuple(notes.skipped))

    async def _tell(self, commit: _Commit, made: list[_Decision]) -> None:
        """Tell the callback of what was settled, all of it within the time of one answer."""
        callback = self.handlers.callback
        if callback is None:
            return
        now = asyncio.get_running_loop().time
        until = now() + self.handlers.timeout_seconds
        for found, _ in made:
            problem = await tell(found, callback, max(0.0, until - now()))
            if problem:
                commit.notes.lose("callback", f"on_contradiction: {problem}")

    async def _forget_ended(self, commit: _Commit) -> None:
        """Drop decisions about rivals that are active no longer."""
        ids = tuple(found.rival.id for found, _ in commit.made)
        if not ids:
            return
        query = BeliefQuery(ids=ids, statuses=("active",), limit=len(ids))
        active = {one.id for one in await self.history.query(commit.scope, query)}
        commit.made = [one for one in commit.made if one[0].rival.id in active]

    async def _settle_keyed(self, commit: _Commit, belief: Commitment, rival: Rival) -> None:
        """Settle an active belief of the same key."""
        found = Contradiction(
            claim=belief,
            rival=rival.belief,
            found_by=FOUND_BY_KEY,
            reason="one key, two beliefs",
            trust_claim=belief.trust,
            trust_rival=rival.trust,
            strategy=commit.strategy,
            graph_id=belief.graph_id,
        )
        if _says_the_same(belief, rival.belief):
            settlement = agreement(replace(found, reason=""))
        else:
            settlement = await settle(found, self.handlers)
        commit.made.append((found, settlement))

    async def _settle_unkeyed(self, commit: _Commit) -> None:
        """Find what a claim without a key contradicts or says again, and settle it."""
        found = await self.finder.find(
            commit.scope, commit.belief, commit.judged_ids, commit.notes, commit.charge
        )
        commit.is_known = found.is_known
        commit.judged_ids += found.judged_ids
        if not found.opposed:
            return
        try:
            rows = await self.history.trusts(commit.scope.for_graph())
        except TierError as error:
            log.warning("rivals of a claim left out: %s", error)
            commit.notes.lose(error.tier, f"rivals: {error}")
            return
        trusts = {(row.agent_id, row.topic): row.trust for row in rows}
        for one in found.opposed:
            of_both = [
                trusts.get((belief.agent_id, belief.topic), TRUST_AT_FIRST)
                for belief in (commit.belief, one.belief)
            ]
            contradiction = _contradiction(commit, one, *of_both)
            settlement = (
                agreement(contradiction)
                if one.judgement.agrees
                else await settle(contradiction, self.handlers)
            )
            commit.made.append((contradiction, settlement))


def _contradiction(
    commit: _Commit, opposed: Opposed, trust_claim: float, trust_rival: float
) -> Contradiction:
    return Contradiction(
        claim=commit.belief,
        rival=opposed.belief,
        found_by=opposed.judged_by,
        reason=opposed.judgement.reason,
        similarity=opposed.similarity,
        trust_claim=trust_claim,
        trust_rival=trust_rival,
        strategy=commit.strategy,
        graph_id=commit.belief.graph_id,
    )


def _says_the_same(one: Commitment, two: Commitment) -> bool:
    """Whether two beliefs of one key say the same: by their values, or their claims without."""
    if one.value is not None and two.value is not None:
        return _is_same(one.value, two.value)
    if one.value is not None or two.value is not None:
        return False
    return _is_same(one.claim, two.claim)


def _is_same(one: str, two: str) -> bool:
    return one.strip() == two.strip() or compare(one, two).relation == "agreement"
