"""One change of what a graph believes: looks up what its plan needs, and appends what it says.

It is decided from the projection as it is after the last event, and written as the next one under
a unique index. Whoever decided from an older state is refused, and decides again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import Conflict, NotFound, UsageError
from ...history.chain import canonical
from ...history.plan import (
    Told,
    TrustOf,
    adopt_plan,
    pin_plan,
    revert_plan,
    rewind_plan,
    trust_plan,
)
from ...records import (
    BeliefEvent,
    BranchPoint,
    Changed,
    Commitment,
    HistoricBelief,
    Scope,
)
from .belief_log import Salts, append, changes_within, events_of, logged
from .belief_projection import key_of
from .belief_spans import spans_of
from .belief_trust import Trusted, trust_in, trusts_of
from .conditions import shown_fields
from .database import Session
from .documents import record_of
from .graphs import check_writable
from .scope import audited, own

CHANGED_MAX = 10_000
"""How many beliefs a rewind may change, and how many a branch may begin with."""

CHANGED_PER_PAGE = 5_000
PAGES_MAX = 100_000


class Change:
    """One change, inside a step, on a projection that is up to date.

    Args:
        session: The step.
        scope: Whose log; its agent is who makes it happen.
        last: The last event of the log.
        salts: Where salts come from.
    """

    def __init__(
        self, session: Session, scope: Scope, last: BeliefEvent | None, salts: Salts
    ) -> None:
        self._session = session
        self._scope = scope
        self._last = last
        self._salts = salts
        self._beliefs = session.collection("beliefs")

    async def pin(self, belief_id: str, now: datetime, *, pinned: bool) -> Commitment:
        """Pin or unpin an active visible belief."""
        belief = await self._visible(belief_id)
        await self._changed(pin_plan(belief, pinned=pinned), now)
        return belief.model_copy(update={"pinned": pinned})

    async def revert(self, belief_id: str, reason: str, now: datetime) -> Changed:
        """Take an active visible belief back."""
        belief = await self._visible(belief_id)
        rows = await self._beliefs.find(own(self._scope, superseded_by=belief_id))
        replaced = sorted(
            (record_of(HistoricBelief, row) for row in rows), key=lambda one: one.committed_seq
        )
        keys = [key_of(one) for one in replaced if one.key is not None]
        taken = await self._active_keys(keys, without=[belief_id])
        trust_of = await self._trust_of((belief.agent_id, belief.topic))
        told = revert_plan(belief, replaced, taken, _key_of, reason, trust_of)
        return await self._changed(told, now)

    async def rewind(self, to_seq: int, reason: str, now: datetime) -> Changed:
        """Make the beliefs of an earlier event the active ones again."""
        last_seq = 0 if self._last is None else self._last.seq
        if not 0 <= to_seq <= last_seq:
            raise UsageError("to_seq", to_seq, f"0 to {last_seq}, the last event")
        present, past = await self._changed_since(to_seq)
        told = rewind_plan(to_seq, present, past, reason)
        await self._check_keys(to_seq, told, past)
        return await self._changed(told, now)

    async def set_trust(
        self, agent_id: str, topic: str | None, trust: float, reason: str, now: datetime
    ) -> float:
        """Set the trust in an agent about a topic; return what it was."""
        trust_of = await self._trust_of((agent_id, topic))
        await self._changed(trust_plan(agent_id, topic, trust, reason, trust_of), now)
        return trust_of(agent_id, topic)

    async def adopt(self, point: BranchPoint, beliefs: Sequence[Commitment], now: datetime) -> bool:
        """Begin the log as a branch; ``False`` when it has begun with the same point."""
        told = adopt_plan(point, beliefs)
        if self._last is None:
            await self._changed(told, now)
            return True
        (change, *_) = await changes_within(self._session, self._scope, 0, 1)
        (first,) = await logged(self._session, self._scope, events_of([change])[:1])
        if first.content == canonical(told[0].content).decode():
            return False
        raise Conflict("belief log", "one that has not begun", f"{first.event.kind!r} in it")

    async def _changed_since(self, to_seq: int) -> tuple[list[Commitment], list[Commitment]]:
        """Return what is active now, and what was after an event, of all that differs.

        In order of commitment, each as it was pinned. What has not changed since is not read.

        Raises:
            UsageError: They are more than ``CHANGED_MAX``.
        """
        present: dict[int, Commitment] = {}
        past: dict[int, Commitment] = {}
        after, differing = to_seq, 0
        for _ in range(PAGES_MAX):
            rows = await self._beliefs.find(
                own(self._scope, changed_seq={"$gt": after}),
                sort=[("changed_seq", 1)],
                limit=CHANGED_PER_PAGE,
                fields=[*shown_fields(Commitment), "active", "committed_seq", "changed_seq"],
            )
            spans = await spans_of(self._session, self._scope, [row["id"] for row in rows])
            for row in rows:
                was = [one for one in spans[row["id"]] if one.holds_at(to_seq)]
                then = was[0].span.pinned if was else None
                is_now = row["pinned"] if row["active"] else None
                if then == is_now or row.get("redacted_at") is not None:
                    continue
                differing += 1
                belief, seq = record_of(Commitment, row), row["committed_seq"]
                if is_now is not None:
                    present[seq] = belief
                if then is not None:
                    past[seq] = belief.model_copy(update={"pinned": then})
            if differing > CHANGED_MAX:
                accepted = f"an event since which at most {CHANGED_MAX:,} beliefs have changed"
                raise UsageError("to_seq", to_seq, accepted)
            if len(rows) < CHANGED_PER_PAGE:
                break
            after = rows[-1]["changed_seq"]
        return [present[seq] for seq in sorted(present)], [past[seq] for seq in sorted(past)]

    async def _check_keys(
        self, to_seq: int, told: Sequence[Told], past: Sequence[Commitment]
    ) -> None:
        """Refuse to rewind to an event at which two beliefs of one key were active.

        Raises:
            UsageError: It stands in the middle of a change.
        """
        back = {one.belief_id for one in told if one.kind == "restored"}
        gone = [one.belief_id for one in told if one.kind == "reverted"]
        keys = [key_of(one) for one in past if one.id in back and one.key is not None]
        if len(set(keys)) < len(keys) or await self._active_keys(keys, without=gone):
            raise UsageError("to_seq", to_seq, "the last event of a change")

    async def _changed(self, told: Sequence[Told], now: datetime) -> Changed:
        """Carry out a plan, if it has anything in it, and return what ended and what is back."""
        if told:
            await check_writable(self._session, self._scope)
            await append(self._session, self._scope, self._last, told, now, self._salts)
        return Changed(
            ended=tuple(one.belief_id for one in told if one.kind == "reverted"),
            restored=tuple(one.belief_id for one in told if one.kind == "restored"),
        )

    async def _visible(self, belief_id: str) -> Commitment:
        where = audited(self._scope, id=belief_id, active=True, redacted_at=None)
        found = await self._beliefs.first(where)
        if found is None:
            raise NotFound("active belief", belief_id)
        return record_of(Commitment, found)

    async def _active_keys(self, keys: Sequence[str], *, without: Sequence[str]) -> set[str]:
        """Return which keys active beliefs have, leaving some beliefs out."""
        if not keys:
            return set()
        found = await self._beliefs.find(
            own(self._scope, active_key={"$in": sorted(set(keys))}), fields=["id", "active_key"]
        )
        gone = set(without)
        return {one["active_key"] for one in found if one["id"] not in gone}

    async def _trust_of(self, asked: Trusted) -> TrustOf:
        """Return the trust in one agent about one topic, in the form in which plans ask for it."""
        trusts = await trusts_of(self._session, self._scope, [asked])
        return lambda agent_id, topic: trust_in(trusts, agent_id, topic)


def _key_of(belief: Commitment) -> object:
    return None if belief.key is None else key_of(belief)
