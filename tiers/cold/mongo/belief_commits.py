"""Commits of one graph, decided together and written together.

Under load the commits that wait for a graph in this process share one step: what they go by is
read once, they are decided one after the other in memory, each from what the one before has left,
and what they come to is written with one command of each kind. Each is a change of its own in the
log. Without load it is a step with one commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ...errors import Conflict, EzraError, TierRejected, UsageError
from ...history.plan import check_settled, commit_plan
from ...history.sight import check_known, check_seen, sees
from ...records import (
    BeliefEvent,
    Commitment,
    Committed,
    GraphState,
    Rival,
    Scope,
    Settlement,
)
from .belief_log import (
    ATTEMPTS_MAX,
    Draft,
    Salts,
    caught_up,
    drafted,
    first_again,
    write,
)
from .belief_projection import key_of
from .belief_trust import Trusted, trust_in, trusts_of
from .belief_turns import turns_under_way
from .database import Database, Session
from .documents import Document, record_of
from .graphs import archived, state_of
from .pacing import side_by_side
from .scope import own
from .translation import DuplicateKey
from .word_counts import count_words

TOGETHER_MAX = 64
"""How many commits share a step."""

Outcome: TypeAlias = Committed | EzraError


@dataclass(eq=False)
class Request:
    """A commit that waits for its turn. ``outcome`` is there once it is kept, or refused."""

    scope: Scope
    belief: Commitment
    settled: Sequence[Settlement]
    outcome: Outcome | None = None

    def answer(self) -> Committed:
        """Return what came of it, or raise why it was refused."""
        if isinstance(self.outcome, Committed):
            return self.outcome
        raise self.outcome or first_again("commit")


@dataclass(frozen=True)
class Kept:
    """A commit that is to be written, and what it answers then."""

    answer: Committed
    draft: Draft


@dataclass
class World:
    """What commits go by: as it is, and then as each of them leaves it.

    Attributes:
        rows: Of the projection, as they are.
        beliefs: Of these rows, and those that were committed meanwhile.
        active: The ids of those that are active, by key; without a key by id.
        trusts: As far as commits need them.
        is_archived: Whether the graph takes no change.
        turns: The turn under way, or the last, for each turn id that is named.
    """

    rows: dict[str, Document]
    trusts: dict[Trusted, float]
    is_archived: bool
    turns: Mapping[str | None, int]
    beliefs: dict[str, Commitment] = field(default_factory=dict)
    active: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row in self.rows.values():
            self._enter(record_of(Commitment, row), is_active=row["active"])

    def decide(self, request: Request, last: BeliefEvent | None, salts: Salts) -> Outcome | Kept:
        """Return what comes of a commit: an answer, or what is to be written for it."""
        try:
            return self._decided(request, last, salts)
        except (Conflict, UsageError) as problem:
            return problem

    def _decided(
        self, request: Request, last: BeliefEvent | None, salts: Salts
    ) -> Committed | Kept:
        known = self.beliefs.get(request.belief.id)
        if known is not None:
            check_known(request.scope, known)
            return Committed(belief=known, is_new=False, active=self._is_active(known))
        if self.is_archived:
            raise archived(request.scope.graph_id)
        belief, settled = self._as_stored(request.belief), request.settled
        named = {one.rival_id: self.beliefs.get(one.rival_id) for one in settled}
        rivals = {
            name: one
            for name, one in named.items()
            if one and self._is_active(one) and sees(request.scope, one)
        }
        if len(rivals) < len(named):
            return Committed(belief=belief, is_new=False, active=False, is_stale=True)
        rival = None if belief.key is None else self.active.get(key_of(belief))
        if rival is not None and rival not in rivals:
            found = self.beliefs[rival]
            check_seen(request.scope, belief, found)
            trust = trust_in(self.trusts, found.agent_id, found.topic)
            unsettled = (Rival(belief=found, trust=trust),)
            return Committed(belief=belief, is_new=False, active=False, unsettled=unsettled)
        check_settled(belief, settled, lambda one: one == rival)
        told = commit_plan(
            belief,
            [(one, rivals[one.rival_id]) for one in settled],
            lambda agent_id, topic: trust_in(self.trusts, agent_id, topic),
        )
        turn = self.turns[belief.turn_id]
        draft = drafted(last, request.scope, told, turn, belief.recorded_at, salts)
        gone = {one.belief_id for one in told if one.kind == "superseded"}
        superseded = tuple(one for name, one in rivals.items() if name in gone)
        answer = Committed(
            belief=belief, is_new=True, active=belief.id not in gone, superseded=superseded
        )
        return Kept(answer, draft)

    def take(self, kept: Kept) -> None:
        """Let a commit that is to be written have happened."""
        belief = kept.answer.belief
        for one in kept.answer.superseded:
            self.active.pop(_place_of(one), None)
        self._enter(belief, is_active=kept.answer.active)
        self.trusts |= kept.draft.trusts()

    def _as_stored(self, belief: Commitment) -> Commitment:
        trust = trust_in(self.trusts, belief.agent_id, belief.topic)
        return belief.model_copy(update={"trust": trust, "pinned": False, "redacted_at": None})

    def _is_active(self, belief: Commitment) -> bool:
        return self.active.get(_place_of(belief)) == belief.id

    def _enter(self, belief: Commitment, *, is_active: bool) -> None:
        self.beliefs[belief.id] = belief
        if is_active:
            self.active[_place_of(belief)] = belief.id


class Commits:
    """Carries out the commits of a process, those of one graph one step after the other.

    Args:
        database: Where the logs are.
        salts: Makes the salt of each event's content.
    """

    def __init__(self, database: Database, salts: Salts) -> None:
        self._database = database
        self._salts = salts
        self._waiting: dict[tuple[str, str], dict[Request, None]] = {}

    async def commit(self, request: Request) -> Committed:
        """Carry out a commit, with others that wait for the same graph.

        Whoever has its turn takes the others along. When its step fails, theirs are still open,
        and each of them goes on by itself.

        Raises:
            Conflict: The graph is archived, or two beliefs of one key would stay active.
            TierTimeout: Others were first again and again.
        """
        place = (request.scope.tenant, request.scope.graph_id)
        self._waiting.setdefault(place, {})[request] = None
        try:
            await self._carry_out(place, request)
        finally:
            del self._waiting[place][request]
            if not self._waiting[place]:
                del self._waiting[place]
        return request.answer()

    async def _carry_out(self, place: tuple[str, str], request: Request) -> None:
        others_max = TOGETHER_MAX - 1
        for _ in range(ATTEMPTS_MAX):
            together: list[Request] = []

            async def attempt(
                session: Session, together: list[Request] = together, most: int = others_max
            ) -> dict[Request, Outcome]:
                if request.outcome is not None:
                    return {}  # somebody took it along
                if not together:  # and not when a transaction is tried again
                    open_ones = [one for one in self._waiting[place] if one.outcome is None]
                    open_ones.remove(request)
                    together += [request, *open_ones[:most]]
                return await self._served(session, together)

            try:
                await self._database.step(
                    "commit", attempt, alone=("beliefs", *place), counted=_told_and_counted
                )
            except DuplicateKey:
                continue
            except (UsageError, TierRejected):
                if len(together) == 1:
                    raise
                others_max = 0  # what one of them says cannot be stored: each by itself
            if request.outcome is not None:
                return

    async def _served(
        self, session: Session, requests: Sequence[Request]
    ) -> dict[Request, Outcome]:
        """Decide and write commits inside a step; return what came of those that are kept."""
        scope = requests[0].scope
        last = await caught_up(session, scope)
        world = await _world(session, scope, requests)
        decided: list[Outcome | Kept] = []
        for request in requests:
            decided.append(world.decide(request, last, self._salts))
            if isinstance(decided[-1], Kept):
                world.take(decided[-1])
                last = decided[-1].draft.entries[-1].event
        drafts = [one.draft for one in decided if isinstance(one, Kept)]
        left = await write(session, scope, world.rows, drafts) if drafts else 0
        outcomes: dict[Request, Outcome] = {}
        for request, one in zip(requests, decided, strict=True):
            if isinstance(one, Kept):
                if not left:
                    break  # somebody was faster: what follows was decided from what never came
                left -= 1
            outcomes[request] = one.answer if isinstance(one, Kept) else one
        return outcomes


async def _world(session: Session, scope: Scope, requests: Sequence[Request]) -> World:
    """Return what commits go by, but for what the log says."""
    beliefs = [one.belief for one in requests]
    ids = {one.id for one in beliefs} | {s.rival_id for one in requests for s in one.settled}
    keys = {key_of(one) for one in beliefs if one.key is not None}
    rows = session.collection("beliefs")

    async def rivals() -> list[Document]:
        return await rows.find(own(scope, active_key={"$in": sorted(keys)})) if keys else []

    named, held, state, turns, trusts = await side_by_side(
        session,
        lambda: rows.find(own(scope, id={"$in": sorted(ids)})),
        rivals,
        lambda: state_of(session, scope),
        lambda: turns_under_way(session, scope, list({one.turn_id for one in beliefs})),
        lambda: trusts_of(session, scope, ((one.agent_id, one.topic) for one in beliefs)),
    )
    found = {row["id"]: row for row in (*named, *held)}
    others = {(row["agent_id"], row.get("topic")) for row in found.values() if row["active"]}
    trusts |= await trusts_of(session, scope, others - trusts.keys())
    return World(found, trusts, state == GraphState.ARCHIVED, turns)


async def _told_and_counted(session: Session, outcomes: Mapping[Request, Outcome]) -> None:
    """Tell those who wait, now that it is kept, and bring the statistics of words up to date."""
    for request, outcome in outcomes.items():
        request.outcome = outcome
    new = [one.belief for one in outcomes.values() if isinstance(one, Committed) and one.is_new]
    if new:
        await count_words(session, *new)


def _place_of(belief: Commitment) -> str:
    """Return what only one active belief can stand for: its key, or else itself."""
    return belief.id if belief.key is None else key_of(belief)
