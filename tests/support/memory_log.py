"""A belief log in memory, made by the real planner and the real chain, for tests of what proves it.

Synchronous, seeded, and without scopes of agents: what is asked of it happens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from tiers.beliefs import (
    BeliefEvent,
    BranchPoint,
    Commitment,
    HistoricBelief,
    LoggedBelief,
    Settlement,
)
from tiers.history.chain import SALT_BYTES, canonical, next_event, stored_digest
from tiers.history.fold import Fold
from tiers.history.plan import (
    SPEAKING_KINDS,
    PlannedEvent,
    adopt_plan,
    commit_plan,
    pin_plan,
    redact_plan,
    revert_plan,
    rewind_plan,
    trust_plan,
)
from tiers.records import Scope

from .belief_replay import successors

BEGINNING = datetime(2026, 5, 14, 13, 4, tzinfo=UTC)


class MemoryLog:
    """The belief log of one graph, and what it has come to.

    Attributes:
        entries: The log; contents that were destroyed are ``None``.
        fold: What it comes to.
        beliefs: Every belief as it was committed, by id.
    """

    def __init__(self, graph_id: str = "race", tenant: str = "acme", seed: int = 0) -> None:
        self.scope = Scope.of_graph(tenant, graph_id)
        self.entries: list[LoggedBelief] = []
        self.fold = Fold()
        self.beliefs: dict[str, Commitment] = {}
        self.now = BEGINNING
        self.turn = 0
        self._random = Random(seed)

    @property
    def events(self) -> list[BeliefEvent]:
        """The events alone."""
        return [one.event for one in self.entries]

    def active(self) -> list[Commitment]:
        """Return the active beliefs in order of commitment."""
        return [self.belief(one.id) for one in self.fold.active()]

    def belief(self, belief_id: str) -> Commitment:
        """Return a belief as it is now: pinned or not."""
        pinned = self.fold.beliefs[belief_id].pinned
        return self.beliefs[belief_id].model_copy(update={"pinned": pinned})

    def commit(
        self, belief_id: str, *settled: Settlement, agent_id: str = "strategist", **fields: Any
    ) -> Commitment:
        """Commit to a belief with its rivals settled."""
        scope = self.scope.for_agent(agent_id)
        fields = {"claim": f"What {belief_id} says.", **fields}
        trust = self.fold.trust_of(agent_id, fields.get("topic"))
        belief = Commitment(**{**fields, "trust": trust}).stamped(scope, belief_id, self.now)
        pairs = [(one, self.belief(one.rival_id)) for one in settled]
        self.tell(commit_plan(belief, pairs, self.fold.trust_of), agent_id)
        return belief

    def pin(self, belief_id: str, *, pinned: bool = True) -> None:
        """Pin or unpin an active belief."""
        self.tell(pin_plan(self.belief(belief_id), pinned=pinned))

    def revert(self, belief_id: str, reason: str = "It was wrong.") -> None:
        """Take an active belief back."""
        replaced = [
            HistoricBelief(
                **{
                    **self.beliefs[one.id].model_dump(),
                    "pinned": any(span.pinned for span in one.spans[-1:]),
                },
                status=one.status,
                committed_seq=one.committed_seq,
                superseded_by=one.superseded_by,
            )
            for one in self.fold.beliefs.values()
            if one.superseded_by == belief_id
        ]
        keys = [one.key for one in self.active() if one.key and one.id != belief_id]
        belief = self.belief(belief_id)
        key_of: Callable[[Commitment], object] = lambda one: one.key  # noqa: E731
        self.tell(revert_plan(belief, replaced, keys, key_of, reason, self.fold.trust_of))

    def rewind(self, to_seq: int, reason: str = "Back to what was known.") -> None:
        """Let those beliefs be active that were right after an event."""
        then = []
        for one in self.fold.active_at(to_seq):
            span = one.active_at(to_seq)
            if span is not None and one.status != "redacted":
                update = {"pinned": span.pinned}
                then.append(self.beliefs[one.id].model_copy(update=update))
        over = successors(self.entries[:to_seq], self.fold.beliefs.values())
        self.tell(rewind_plan(to_seq, self.active(), then, over, reason))

    def set_trust(self, agent_id: str, topic: str | None, trust: float) -> None:
        """Set trust by hand."""
        self.tell(trust_plan(agent_id, topic, trust, "He knows.", self.fold.trust_of))

    def adopt(self, point: BranchPoint, beliefs: Sequence[Commitment]) -> None:
        """Begin as a branch."""
        self.tell(adopt_plan(point, beliefs))

    def redact(self, belief_id: str, reason: str = "He asked for it.") -> None:
        """Destroy what is said about a belief."""
        self.tell(redact_plan(belief_id, reason))
        for index, one in enumerate(self.entries):
            is_about = one.event.belief_id == belief_id and one.event.kind in SPEAKING_KINDS
            is_rival = one.event.kind == "contradicted" and f'"{belief_id}"' in (one.content or "")
            if is_about or is_rival:
                bare = one.model_copy(update={"salt": None, "content": None})
                self.entries[index] = bare

    def tell(self, told: Sequence[PlannedEvent], agent_id: str = "") -> None:
        """Append the events of a change, one second after the change before."""
        self.now += timedelta(seconds=1)
        scope = self.scope.for_agent(agent_id) if agent_id else self.scope
        for one in told:
            salt = self._random.randbytes(SALT_BYTES)
            event = next_event(
                self.entries[-1].event if self.entries else None,
                scope,
                one.kind,
                one.belief_id,
                turn=self.turn,
                now=self.now,
                digest=stored_digest(salt, canonical(one.content)),
            )
            content = canonical(one.content).decode()
            entry = LoggedBelief(event=event, salt=salt.hex(), content=content)
            if one.belief is not None:
                self.beliefs[one.belief_id] = one.belief
            problem = self.fold.apply(entry)
            assert problem is None, problem
            self.entries.append(entry)


def settled(rival_id: str, winner: str = "new", **fields: Any) -> Settlement:
    """Return how a rival is settled: the new belief takes its place, if nothing else is said."""
    values = {"strategy": "last_write_wins", "reason": "The later word counts.", **fields}
    return Settlement.model_validate({"rival_id": rival_id, "winner": winner, **values})


def long_log(commits: int = 14, graph_id: str = "race", seed: int = 0) -> MemoryLog:
    """Return a log with every kind of event but those of a branch; some four per commit."""
    log, random = MemoryLog(graph_id, seed=seed), Random(seed)
    for number in range(commits):
        log.turn += random.randint(0, 2)
        active = log.active()
        rival = active[-1].id if number % 3 == 1 and active else None
        rivals = [] if rival is None else [_outcome(rival, number)]
        log.commit(
            f"{graph_id}-{number:03}",
            *rivals,
            agent_id=("strategist", "engineer")[number % 2],
            claim=f"Mediums last {number} laps — naïve “estimate” 🏁.",
            topic="tyres",
            key=("medium", f"life {number}") if number % 4 == 0 else None,
            topics=("tyres",),
        )
        _afterwards(log, number)
    return log


def _outcome(rival: str, number: int) -> Settlement:
    winner = ("new", "old", "both")[number // 3 % 3]
    return settled(rival, winner, decided=True, found_by="judge", similarity=0.91)


def _afterwards(log: MemoryLog, number: int) -> None:
    active = log.active()
    match number % 7:
        case 1:
            log.pin(active[0].id, pinned=not active[0].pinned)
        case 2:
            log.revert(active[-1].id)
        case 3:
            log.set_trust("engineer", "tyres", round(0.5 + number % 40 / 100, 3))
        case 4:
            log.rewind(len(log.entries) - 6)
        case 5:
            log.redact(active[0].id)
        case 6 if len(log.beliefs) > 2:
            log.pin(active[-1].id)
            log.pin(active[-1].id, pinned=False)
