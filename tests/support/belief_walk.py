"""A repeatable random life of one graph's beliefs, on a store and on the reference at once."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from tiers.beliefs import BeliefQuery, BranchPoint, Commitment, Committed, Settlement
from tiers.errors import Conflict, NotFound, UsageError
from tiers.records import Scope

from .belief_reference import ReferenceBeliefs, unhashed, visible
from .belief_replay import paged, replayed
from .cold_samples import OPERATOR, belief_by, turn_by
from .tier_samples import NOW, scope_of

AGENTS = (
    scope_of(agent_id="strategist"),
    scope_of(agent_id="strategist", user_id="ada"),
    scope_of(agent_id="engineer", topics=("tyres",), user_id="ada"),
    scope_of(agent_id="driver", topics=("fuel", "tyres"), denied=("tyres",)),
)
"""Who commits, and who looks; what they see overlaps and differs."""

VIEWS = (*AGENTS, OPERATOR)
TOPICS = (*["tyres"] * 5, "fuel", None)
KEYS = (None, *[("start", "compound")] * 3, ("pit", "lap"))
OPERATIONS = {
    "commit": 14,
    "pin": 3,
    "unpin": 2,
    "revert": 2,
    "rewind": 1,
    "trust": 1,
    "turn": 3,
    "redact": 1,
}

Answer = Any
Call = Callable[[Any], Awaitable[Answer]]


class Walk:
    """Takes the same steps on the reference and, where there is one, on a cold tier.

    Args:
        seed: Of what is drawn.
        cold: An empty cold tier; ``None`` walks with the reference alone.

    Attributes:
        reference: What the tier must be like.
    """

    def __init__(self, seed: int, cold: Any = None) -> None:
        self.reference = ReferenceBeliefs()
        self._draw = random.Random(seed)
        self._cold = cold
        self._now = NOW
        self._ids: list[str] = []
        self._turns: list[Any] = []
        self._step = 0

    async def begin_as_branch(self) -> None:
        """Let the log begin with beliefs of another graph: keyed, pinned, private, a user's."""
        parent = BranchPoint(graph_id="parent", seq=7, last_hash="0" * 64, root="0" * 64, turn=2)
        adopted = [
            belief_by(AGENTS[0], origin_id="o1", topic="tyres", key=KEYS[1]),
            belief_by(AGENTS[1], origin_id="o2", topic="tyres", key=KEYS[1], pinned=True),
            belief_by(AGENTS[2], origin_id="o3", topic="tyres", key=None, private=True),
        ]
        await self._both(lambda store: store.adopt(OPERATOR, parent, adopted, self._now))
        self._ids += [one.id for one in adopted]

    async def take(self, steps: int) -> None:
        """Take that many steps; after each one somebody looks at what is believed now."""
        names, weights = list(OPERATIONS), list(OPERATIONS.values())
        for _ in range(steps):
            self._step += 1
            # Clocks of several processes: mostly on, now and then not, or back.
            self._now += timedelta(seconds=self._draw.choice([0, 1, 1, 60, -30]))
            name = self._draw.choices(names, weights)[0]
            await getattr(self, f"_{name}")()
            view = self._draw.choice(VIEWS)
            await self._both(lambda store, view=view: store.active(view))

    # Steps.

    async def _commit(self) -> None:
        scope = self._draw.choice(AGENTS)
        belief = self._belief(scope)
        settled = self._unkeyed_settlements(belief) if self._draw.random() < 0.2 else []
        for _ in range(3):
            answer = await self._both(
                lambda store, settled=settled: store.commit(scope, belief, settled), _committed
            )
            if answer is None or not (answer.unsettled or answer.is_stale):
                break
            if answer.is_stale:
                settled = []
            settled = settled + [self._settlement(one.belief.id) for one in answer.unsettled]
        if belief.id not in self._ids:
            self._ids.append(belief.id)

    async def _pin(self) -> None:
        scope, belief_id = self._target()
        await self._both(lambda store: store.pin(scope, belief_id, self._now))

    async def _unpin(self) -> None:
        scope, belief_id = self._target()
        await self._both(lambda store: store.unpin(scope, belief_id, self._now))

    async def _revert(self) -> None:
        scope, belief_id = self._target()
        await self._both(lambda store: store.revert(scope, belief_id, "mistaken", self._now))

    async def _rewind(self) -> None:
        ends = self.reference.ends
        to_seq = self._draw.choice(ends[-12:] if self._draw.random() < 0.7 else ends)
        await self._both(lambda store: store.rewind(OPERATOR, to_seq, "back", self._now), _rewound)

    async def _trust(self) -> None:
        agent, topic = self._draw.choice(AGENTS).agent_id, self._draw.choice(TOPICS)
        trust = self._draw.choice([0.0, 0.25, 1.0])
        await self._both(
            lambda store: store.set_trust(OPERATOR, agent, topic, trust, "seen", self._now)
        )

    async def _turn(self) -> None:
        """Store a turn, perhaps one during which beliefs were committed already."""
        turn = self._turns[-1] if self._turns else turn_by(AGENTS[0])
        if self._cold is not None:
            await self._cold.turns.append_turn(OPERATOR.for_agent(turn.agent_id), turn)
        self.reference.turn_was_stored(turn.id)
        self._turns.append(turn_by(self._draw.choice(AGENTS)))

    async def _redact(self) -> None:
        asked = [self._draw.choice(self._ids) for _ in range(2) if self._ids]
        asked = [one for one in dict.fromkeys(asked) if one in self.reference.known]
        if not asked:
            return
        if self._cold is not None:
            await self._cold.redactor.redact(OPERATOR, asked, "asked for", self._now)
        self.reference.redact(OPERATOR, asked, "asked for", self._now)

    # What is drawn.

    def _belief(self, scope: Scope) -> Commitment:
        """Draw a new belief, or now and then one that was sent before."""
        draw = self._draw
        topic = draw.choice(TOPICS)
        more = draw.choice([(), (), (), ("fuel",)])
        belief = belief_by(
            scope,
            f"claim {self._step}",
            topic=topic,
            topics=(topic, *more) if topic else more,
            key=draw.choice(KEYS),
            value=draw.choice([None, "soft"]),
            private=draw.random() < 0.15,
            turn_id=draw.choice([None, *[one.id for one in self._turns[-2:]]]),
            source_ids=draw.choice([(), ("s1", "s2")]),
        )
        again = draw.choice(self._ids) if self._ids and draw.random() < 0.1 else belief.id
        return belief.model_copy(update={"recorded_at": self._now, "id": again})

    def _settlement(self, rival_id: str) -> Settlement:
        draw = self._draw
        return Settlement(
            rival_id=rival_id,
            winner=draw.choice(["new", "new", "new", "old"]),
            strategy=draw.choice(["last_write_wins", "highest_trust", "manual"]),
            reason=f"because of step {self._step}",
            agree=draw.random() < 0.2,
            decided=draw.random() < 0.5,
        )

    def _unkeyed_settlements(self, belief: Commitment) -> list[Settlement]:
        """Draw how beliefs that do not have the key are settled; one may be active no longer."""
        known = [self._draw.choice(self._ids) for _ in range(2) if self._ids]
        settled = [self._settlement(one) for one in dict.fromkeys(known) if one != belief.id]
        if self._draw.random() < 0.3:
            settled = [one.model_copy(update={"winner": "both"}) for one in settled]
        return settled

    def _target(self) -> tuple[Scope, str]:
        """Draw who asks for which belief: one that they see, mostly."""
        scope = self._draw.choice(AGENTS)
        active = [one for one in self.reference.pictures[-1].active if visible(scope, one)]
        if active and self._draw.random() < 0.85:
            return scope, self._draw.choice(active).id
        return scope, self._draw.choice(self._ids) if self._ids else "unknown"

    # Both at once.

    async def _both(self, call: Call, shown: Callable[[Answer], object] = lambda one: one) -> Any:
        """Ask the reference and the store, and compare; return the answer, ``None`` if refused."""
        expected = await _outcome(call, self.reference)
        if self._cold is not None:
            found = await _outcome(call, self._cold.beliefs)
            where = f"step {self._step}"
            if isinstance(expected, Exception) or isinstance(found, Exception):
                assert type(found) is type(expected), f"{where}: {found!r}, not {expected!r}"
            else:
                assert shown(found) == shown(expected), where
        return None if isinstance(expected, Exception) else expected

    async def check_past(self, *, within: bool) -> None:
        """Compare what was captured while it was the present, and the whole log.

        Args:
            within: Look at every event, at those within a change too, and let everybody look;
                otherwise at the end of every change.
        """
        history, reference = self._cold.history, self.reference
        fold = await replayed(history, OPERATOR, page=50)
        logged = await paged(lambda after: history.logged(OPERATOR, after), lambda e: e.event.seq)
        expected = await reference.logged(OPERATOR, 0, len(logged) + 1)
        assert [unhashed(one) for one in logged] == [unhashed(one) for one in expected]
        assert fold.seq == reference.ends[-1]
        for seq in range(fold.seq + 1) if within else reference.ends:
            await self._compare_moment(OPERATOR, seq, asking=within or seq % 4 == 0)
        for belief_id in self._ids[:: 1 if within else 5]:
            found = await history.naming(OPERATOR, belief_id)
            about = await reference.naming(OPERATOR, belief_id)
            assert [one.event.seq for one in found] == [one.event.seq for one in about], belief_id
        for place, seq in enumerate(reference.ends):
            picture = reference.pictures[seq]
            if picture.recorded_at is not None and (within or place % 3 == 0):
                view = AGENTS[place % len(AGENTS)]
                await self._compare_moment(view, seq, asking=within)
                await self._compare_finding(picture.recorded_at, picture.turn)

    async def _compare_moment(self, scope: Scope, seq: int, *, asking: bool) -> None:
        found = await self._cold.history.as_of(scope, seq)
        assert found == await self.reference.as_of(scope, seq), (scope, seq)
        if asking:
            query = BeliefQuery(active_at=seq, limit=1000)
            asked = await self._cold.history.query(scope, query)
            assert [one.id for one in asked] == [one.id for one in found], (scope, seq)
            assert asked == await self.reference.query(scope, query), (scope, seq)

    async def _compare_finding(self, time: datetime, turn: int) -> None:
        for when in ({"time": time}, {"turn": turn}):
            found = await self._cold.history.seq_at(OPERATOR, **when)
            assert found == await self.reference.seq_at(OPERATOR, **when), when


async def _outcome(call: Call, store: object) -> Answer:
    try:
        return await call(store)
    except (Conflict, NotFound, UsageError) as error:
        return error


def _committed(answer: Committed) -> object:
    """Return what a caller may rely on; an answer of which nothing came has no belief to show."""
    rivals = {(one.belief, one.trust) for one in answer.unsettled}
    if rivals or answer.is_stale:
        return rivals, answer.is_stale, answer.is_new
    return answer.belief, answer.is_new, answer.active, set(answer.superseded)


def _rewound(answer: Any) -> object:
    return set(answer.ended), set(answer.restored)
