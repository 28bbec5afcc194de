"""Turns in MongoDB.

A turn's ``seq`` is the highest of its agent and one, under a unique index: whoever is too late
takes the next. ``covered`` says that a summary stands for it; the summary itself decides that,
and a turn that was not marked when somebody crashed is marked when it is next looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from datetime import datetime

from ...errors import TierTimeout
from ...moments import microseconds
from ...records import GraphState, Scope, Turn, WorkDraft
from ..ownership import (
    check_agent,
    check_limit,
    check_owned,
    check_same_turn,
    check_turn_number,
    check_whole_graph,
    in_order,
)
from .coverage import make_up_for_turns
from .database import Database, Session
from .documents import Document, document_of, record_of
from .graphs import archived
from .outbox import send, send_left_behind, with_outbox
from .schema import Index, by, validator
from .scope import of_tenant, own, visible
from .terms import searchable_fields
from .translation import DuplicateKey
from .word_counts import count_words

ATTEMPTS_MAX = 100

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "turns": (
        [
            by("id", unique=True),
            by("agent_id", "seq", unique=True),
            by("ref", unique=True, only_with=("ref",)),
            by("agent_id", "covered", "seq"),
            by("covered", "redacted_at", "recorded_at", "id"),
            by("recorded_at", "_id"),
            by("-occurred_at", "id"),
            by("said_by"),
            by("terms", "id"),
        ],
        validator(
            ("id", "agent_id", "seq", "topics", "private_to", "covered", "terms", "rules", "also"),
            seq={"bsonType": ["int", "long"], "minimum": 1},
            topics={"bsonType": "array", "items": {"bsonType": "string"}},
            private_to={"bsonType": "string"},
            covered={"bsonType": "bool"},
        ),
    ),
}


class MongoTurnStore:
    """A ``TurnStore`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append_turn(
        self, scope: Scope, turn: Turn, work: Sequence[WorkDraft] = ()
    ) -> tuple[Turn, bool]:
        """Store the turn as the agent's next ``seq``, together with its work.

        Returns the stored turn, and whether it is new. A turn whose ``ref`` or id exists in the
        graph is returned as stored, and nothing is written or queued.

        Raises:
            Conflict: ``ref`` or id exists with another agent, input or response; or the turn is
                new and the graph is archived.
            TierTimeout: Others were first again and again.
        """
        check_owned(scope, turn)
        alone = ("turns", scope.tenant, scope.graph_id, turn.agent_id)

        async def append(session: Session) -> tuple[Turn, bool]:
            last, state = await _last_seq_and_state(session, scope, turn.agent_id)
            if state != GraphState.ARCHIVED:
                return await _append(session, scope, turn, last + 1, work), True
            known = await _known(session, scope, turn)
            if known is None:
                raise archived(scope.graph_id)
            return known, False

        async def append_unknown(session: Session) -> tuple[Turn, bool]:
            known = await _known(session, scope, turn)
            return await append(session) if known is None else (known, False)

        async def counted(session: Session, stored: tuple[Turn, bool]) -> None:
            if stored[1]:
                await count_words(session, stored[0])

        # Most turns are new: whether one is known is asked when an index has refused it.
        for change in itertools.chain([append], [append_unknown] * ATTEMPTS_MAX):
            try:
                return await self._database.step(
                    "append_turn", change, alone=alone, counted=counted
                )
            except DuplicateKey:
                continue
        raise TierTimeout("cold", "append_turn", "others were first again and again")

    async def recent_turns(self, scope: Scope, limit: int) -> tuple[Turn, ...]:
        """Return the last turns of the scope's agent, oldest first."""
        where = visible(scope, agent_id=check_agent(scope))
        check_limit(limit)

        async def question(session: Session) -> tuple[Turn, ...]:
            found = await session.collection("turns").find(where, sort=[("seq", -1)], limit=limit)
            return tuple(record_of(Turn, document) for document in reversed(found))

        return await self._database.read("recent_turns", question)

    async def turns(self, scope: Scope, ids: Sequence[str]) -> tuple[Turn, ...]:
        """Return the visible turns among ``ids``, in the order asked, each once."""
        where = visible(scope, id={"$in": list(ids)})

        async def question(session: Session) -> tuple[Turn, ...]:
            found = await session.collection("turns").find(where)
            return in_order({one["id"]: record_of(Turn, one) for one in found}, ids)

        return await self._database.read("turns", question)

    async def known_refs(self, scope: Scope, refs: Sequence[str]) -> dict[str, Turn]:
        """Return the visible turns of the scope's graph by ``ref``, for those that exist."""
        where = visible(scope, ref={"$in": list(refs)})

        async def question(session: Session) -> dict[str, Turn]:
            turns = await session.collection("turns").find(where)
            found = {one["ref"]: record_of(Turn, one) for one in turns}
            return {ref: found[ref] for ref in refs if ref in found}

        return await self._database.read("known_refs", question)

    async def turns_from(self, scope: Scope, number: int, limit: int) -> tuple[Turn, ...]:
        """Return turns of the graph from its ``number``-th on, in the order of recording.

        Raises:
            UsageError: The scope is an agent's, or a number is not acceptable.
        """
        check_whole_graph(scope)
        check_turn_number(number)
        check_limit(limit)
        by_recording = [("recorded_at", 1), ("_id", 1)]

        async def question(session: Session) -> tuple[Turn, ...]:
            found = await session.collection("turns").find(
                own(scope), sort=by_recording, limit=number - 1 + limit
            )
            return tuple(record_of(Turn, one) for one in found[number - 1 :])

        return await self._database.read("turns_from", question)

    async def count_turns(self, scope: Scope, until: datetime | None = None) -> int:
        """Return how many turns of the graph were recorded by a moment, of every agent and user.

        Raises:
            UsageError: The scope is an agent's.
        """
        check_whole_graph(scope)
        by_then = {} if until is None else {"recorded_at": {"$lte": microseconds(until)}}

        async def question(session: Session) -> int:
            return await session.collection("turns").count(own(scope, **by_then))

        return await self._database.read("count_turns", question)

    async def waiting_turns(
        self, scope: Scope, keep_last: int, limit: int, *, before: datetime | None = None
    ) -> tuple[Turn, ...]:
        """Return turns of the scope's agent older than its last ``keep_last`` and not yet covered.

        Oldest first, at most ``limit``; with ``before``, those that occurred before it.
        """
        agent_id = check_agent(scope)
        check_limit(limit)
        said = {} if before is None else {"occurred_at": {"$lt": microseconds(before)}}

        async def question(session: Session) -> tuple[Turn, ...]:
            turns = session.collection("turns")
            newest = await _last_seq(session, scope, agent_id) - max(0, keep_last)
            older = {"covered": False, "seq": {"$lte": newest}}
            where = visible(scope, agent_id=agent_id, **older, **said)
            for _ in range(ATTEMPTS_MAX):
                found = await turns.find(where, sort=[("seq", 1)], limit=limit)
                if not found or not await make_up_for_turns(session, scope, found):
                    return tuple(record_of(Turn, document) for document in found)
            raise TierTimeout("cold", "waiting_turns", "others covered them again and again")

        return await self._database.read("waiting_turns", question)

    async def turns_after(self, scope: Scope, seq: int, limit: int) -> tuple[Turn, ...]:
        """Return turns of the scope's agent with a higher ``seq``, in order, at most ``limit``.

        Redacted and retired ones included: whoever reads on must get past them.
        """
        where = visible(scope, agent_id=check_agent(scope), seq={"$gt": seq})
        check_limit(limit)

        async def question(session: Session) -> tuple[Turn, ...]:
            found = await session.collection("turns").find(where, sort=[("seq", 1)], limit=limit)
            return tuple(record_of(Turn, document) for document in found)

        return await self._database.read("turns_after", question)


async def _append(
    session: Session, scope: Scope, turn: Turn, seq: int, work: Sequence[WorkDraft]
) -> Turn:
    stored = turn.model_copy(update={"seq": seq})
    document = document_of(stored, **searchable_fields(stored), covered=False)
    if turn.ref is None:
        del document["ref"]  # the unique index holds those that have one
    await session.collection("turns").insert(
        [with_outbox(session, document, work, turn.recorded_at)]
    )
    await send(session, scope, "turns", turn.id, work, turn.recorded_at)
    return stored


async def _known(session: Session, scope: Scope, turn: Turn) -> Turn | None:
    """Return the turn that is stored under the same id or ``ref``, if any, with its work queued.

    Raises:
        Conflict: It says something else, or somebody else says it.
    """
    turns = session.collection("turns")
    found = await turns.first(own(scope, id=turn.id))
    if found is None and turn.ref is not None:
        found = await turns.first(own(scope, ref=turn.ref))
    if found is None:
        return None
    known = record_of(Turn, found)
    check_same_turn(turn, known)
    await send_left_behind(session, scope, "turns", found)
    return known


async def _last_seq(session: Session, scope: Scope, agent_id: str) -> int:
    found = await session.collection("turns").find(
        own(scope, agent_id=agent_id), sort=[("seq", -1)], limit=1, fields=["seq"]
    )
    return found[0]["seq"] if found else 0


async def _last_seq_and_state(
    session: Session, scope: Scope, agent_id: str
) -> tuple[int, str | None]:
    """Return the last ``seq`` of an agent, and in which state its graph is, by one command.

    A turn is worth a command less. Who has no graph, as only tests and imports do, pays for it.
    """
    last = [
        {"$match": own(scope, agent_id=agent_id)},
        {"$sort": {"seq": -1}},
        {"$limit": 1},
        {"$project": {"_id": 0, "seq": 1}},
    ]
    found = await session.collection("graphs").aggregate(
        [
            {"$match": of_tenant(scope.tenant, id=scope.graph_id)},
            {"$project": {"_id": 0, "state": 1}},
            {"$lookup": {"from": "turns", "pipeline": last, "as": "last"}},
        ]
    )
    if not found:
        return await _last_seq(session, scope, agent_id), None
    (graph,) = found
    return max((turn["seq"] for turn in graph["last"]), default=0), graph["state"]
