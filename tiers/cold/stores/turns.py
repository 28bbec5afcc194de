"""Turns, and which summary each of them stands covered by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeAlias

from pydantic import Field

from ...errors import NotFound, UsageError
from ...records import Scope, SessionGraph, Turn, WorkDraft
from ...turn_io import TurnWrite
from .. import ownership
from ..conditions import Absent, Among, Is, Present, Within
from ..port import RECORDED, Collection, Find, Index, Steps, asked, count, every, one
from .graphs import check_writable
from .questions import among, by_then, own, whole, window
from .rows import all_bare, kept, moments, plain, put, replace, together
from .store_base import OverEngine, reading
from .words import file_words
from .work import queue_work

Admit: TypeAlias = Callable[[SessionGraph, Turn], None]
"""Refuses, by raising, a new turn of a graph as it is when the turn is stored."""


class KeptTurn(Turn):
    """A turn as it is kept.

    Attributes:
        covered_by: The summary that covers it, by the level of that.
    """

    covered_by: dict[int, str] = Field(default_factory=dict)


TURNS: Collection[KeptTurn] = Collection(
    "turns",
    KeptTurn,
    fields={
        "agent_id": lambda turn: turn.agent_id,
        "said_by": lambda turn: turn.speaker or turn.agent_id,
        **plain("seq", "ref"),
        "covered_by": lambda turn: next(iter(turn.covered_by.values()), None),
        **moments("occurred_at", "recorded_at", "redacted_at", "retired_at"),
    },
    indexes={
        "seq": Index(("agent_id", "seq"), unique=True),
        "ref": Index(("ref",), where=(Present("ref"),), unique=True),
        "waiting": Index(("agent_id", "seq"), where=(Absent("covered_by"),)),
        "recorded": Index(("recorded_at",)),
        "said_by": Index(("said_by",), where=(Absent("redacted_at"),)),
        "full": Index(("recorded_at", "id"), where=(Absent("redacted_at"),)),
    },
)


NUMBERED = Within("seq", since=1)
"""Holds of every turn; it has to be asked for of the index by ``seq``."""


class TurnStore(OverEngine):
    """Turns: the raw material of everything else. Never changed after they are stored."""

    async def append_turn(
        self, scope: Scope, turn: Turn, work: Sequence[WorkDraft] = ()
    ) -> tuple[Turn, bool]:
        """Store the turn as the agent's next ``seq``, together with its work.

        Returns the stored turn, and whether it is new. A turn whose ``ref`` or id exists in the
        graph is returned as stored, and nothing is written or queued.

        Raises:
            Conflict: ``ref`` or id exists with another agent, input or response; or the turn is
                new and the graph is archived.
        """
        check_new(scope, turn)
        return await self._store.change("append_turn", lambda: append(scope, turn, work))

    async def recent_turns(self, scope: Scope, limit: int) -> tuple[Turn, ...]:
        """Return the last turns of the scope's agent, oldest first."""
        where = (Is("agent_id", ownership.check_agent(scope)), NUMBERED)
        ownership.check_limit(limit)
        find = Find(TURNS, scope, "seq", where, ("-seq",), limit)
        return (await self._found("recent_turns", find))[::-1]

    async def turns(self, scope: Scope, ids: Sequence[str]) -> tuple[Turn, ...]:
        """Return the visible turns among ``ids``, in the order asked, each once."""
        found = await self._found("turns", among(TURNS, scope, ids))
        return ownership.in_order({turn.id: turn for turn in found}, ids)

    async def known_refs(self, scope: Scope, refs: Sequence[str]) -> dict[str, Turn]:
        """Return the visible turns of the scope's graph by ``ref``, for those that exist."""
        found = {turn.ref: turn for turn in await self._found("known_refs", of_refs(scope, refs))}
        return {ref: found[ref] for ref in refs if ref in found}

    async def turns_from(self, scope: Scope, number: int, limit: int) -> tuple[Turn, ...]:
        """Return turns of the graph from its ``number``-th on, in the order of recording.

        For the runtime and people who audit: turns of every agent and user, numbered from 1.

        Raises:
            UsageError: The scope is an agent's, or a number is not acceptable.
        """
        ownership.check_whole_graph(scope)
        ownership.check_turn_number(number)
        ownership.check_limit(limit)
        order = ("recorded_at", RECORDED)
        find = Find(TURNS, scope, "recorded", (), order, limit, skip=number - 1, reach="own")
        return await self._found("turns_from", find)

    async def count_turns(self, scope: Scope, until: datetime | None = None) -> int:
        """Return how many turns of the graph were recorded by a moment, of every agent and user.

        Raises:
            UsageError: The scope is an agent's.
        """
        ownership.check_whole_graph(scope)
        find = whole(TURNS, scope, "recorded", *by_then("recorded_at", until))
        return await self._store.read("count_turns", lambda: count(find))

    @reading
    def waiting_turns(
        self, scope: Scope, keep_last: int, limit: int, *, before: datetime | None = None
    ) -> Steps[tuple[Turn, ...]]:
        """Return turns of the scope's agent older than its last ``keep_last`` and not yet covered.

        Oldest first, at most ``limit``; with ``before``, those that occurred before it.
        """
        agent_id = ownership.check_agent(scope)
        ownership.check_limit(limit)
        last = yield from one(_last(scope, agent_id))
        older = Within("seq", until=_seq(last) - max(0, keep_last) + 1)
        where = (Is("agent_id", agent_id), *window("occurred_at", None, before), older)
        found = yield from every(Find(TURNS, scope, "waiting", where, ("seq",), limit))
        return all_bare(Turn, found)

    async def turns_after(self, scope: Scope, seq: int, limit: int) -> tuple[Turn, ...]:
        """Return turns of the scope's agent with a higher ``seq``, in order, at most ``limit``.

        Redacted and retired ones included: whoever reads on must get past them.
        """
        where = (Is("agent_id", ownership.check_agent(scope)), Within("seq", since=seq + 1))
        ownership.check_limit(limit)
        return await self._found("turns_after", Find(TURNS, scope, "seq", where, ("seq",), limit))

    async def _found(self, operation: str, find: Find[KeptTurn]) -> tuple[Turn, ...]:
        return all_bare(Turn, await self._all(operation, find))


def check_new(scope: Scope, turn: Turn) -> None:
    """Refuse a turn that is not the scope's agent's, or has a number that cannot be kept.

    Raises:
        UsageError: It is one.
    """
    ownership.check_owned(scope, turn)
    ownership.check_number("tokens", turn.tokens)


def append(
    scope: Scope, turn: Turn, work: Sequence[WorkDraft], admit: Admit | None = None
) -> Steps[tuple[Turn, bool]]:
    """Store a turn as its agent's next, inside a transaction; return it, and whether it is new.

    Raises:
        Conflict: As ``TurnStore.append_turn``.
    """
    (stored,) = yield from append_all([TurnWrite(scope, turn, work)], admit)
    return stored


def append_all(
    writes: Sequence[TurnWrite], admit: Admit | None = None
) -> Steps[list[tuple[Turn, bool]]]:
    """Store turns of one graph, each as its agent's next, inside a transaction; charge nothing.

    Returns each as it is stored, and whether it is new: one that is there already, or comes twice,
    is not. However many they are, each step is one question or write. ``admit`` refuses new ones.

    Raises:
        Conflict: As ``TurnStore.append_turn``, of any of them.
    """
    known, last = yield from _stored_before(writes)
    stored: list[tuple[Turn, bool]] = []
    new: list[TurnWrite] = []
    for write in writes:
        turn = write.turn
        found = next((known[name] for name in _names(turn) if name in known), None)
        if found is not None:
            ownership.check_same_turn(turn, found)
            stored.append((found, False))
            continue
        last[turn.agent_id] += 1
        turn = turn.model_copy(update={"seq": last[turn.agent_id]})
        known |= dict.fromkeys(_names(turn), turn)
        new.append(write._replace(turn=turn))
        stored.append((turn, True))
    if new:
        yield from _stored(new, admit)
    return stored


def of_refs(scope: Scope, refs: Sequence[str]) -> Find[KeptTurn]:
    """Ask for the visible turns of the scope's graph that have one of these names."""
    return Find(TURNS, scope, by="ref", where=(Among("ref", tuple(refs)),))


def check_one_graph(writes: Sequence[TurnWrite]) -> None:
    """Refuse turns of several graphs: the numbers and words of one are read and written together.

    Raises:
        UsageError: They are.
    """
    graphs = {(write.scope.tenant, write.scope.graph_id) for write in writes}
    if len(graphs) > 1:
        raise UsageError("turns", sorted(graphs), "turns of one session graph")


def cover(
    scope: Scope, ids: Sequence[str], turns: Sequence[KeptTurn], level: int, summary_id: str
) -> Steps[None]:
    """Mark turns as covered by a summary, inside a transaction.

    Raises:
        NotFound: One of the ids is none of the turns'.
    """
    missing = dict.fromkeys(ids).keys() - {turn.id for turn in turns}
    if missing:
        raise NotFound("turn", min(missing))
    covered = (
        turn.model_copy(update={"covered_by": {**turn.covered_by, level: summary_id}})
        for turn in turns
    )
    yield from replace(TURNS, scope, *covered)


def _names(turn: Turn) -> list[tuple[str, str]]:
    """Return by what a turn is known again: its id, and its ``ref`` if it has one."""
    return [("id", turn.id)] if turn.ref is None else [("id", turn.id), ("ref", turn.ref)]


def _stored_before(
    writes: Sequence[TurnWrite],
) -> Steps[tuple[dict[tuple[str, str], Turn], dict[str, int]]]:
    """Return turns that are stored under an id or ``ref`` of some, and the agents' last numbers.

    All of it is asked at one time.
    """
    scope, turns = writes[0].scope, [write.turn for write in writes]
    agents = dict.fromkeys(turn.agent_id for turn in turns)
    refs = dict.fromkeys(turn.ref for turn in turns if turn.ref is not None)
    finds = [own(TURNS, scope, [turn.id for turn in turns])]
    if refs:
        finds.append(whole(TURNS, scope, "ref", Among("ref", tuple(refs))))
    found = yield from asked(*finds, *(_last(scope, agent) for agent in agents))
    there, lasts = found[: len(finds)], found[len(finds) :]
    seqs = (_seq(last[0] if last else None) for last in lasts)
    stored = all_bare(Turn, (turn for some in there for turn in some))
    known = {name: turn for turn in stored for name in _names(turn)}
    return known, dict(zip(agents, seqs, strict=True))


def _stored(new: Sequence[TurnWrite], admit: Admit | None) -> Steps[None]:
    """Store turns that have their numbers, with their words and their work."""
    scope, turns = new[0].scope, [write.turn for write in new]
    work = [draft for write in new for draft in write.work]
    yield from together(
        _admitted(scope, turns, admit),
        file_words(scope, *turns),
        queue_work(scope, work, turns[-1].recorded_at),
    )


def _admitted(scope: Scope, turns: Sequence[Turn], admit: Admit | None) -> Steps[None]:
    """Store turns that their graph takes."""
    graph = yield from check_writable(scope)
    if admit is not None and graph is not None:
        for turn in turns:
            admit(graph, turn)
    yield from put(TURNS, scope, *(kept(KeptTurn, turn) for turn in turns))


def _last(scope: Scope, agent_id: str) -> Find[KeptTurn]:
    by_it = Is("agent_id", agent_id)
    return whole(TURNS, scope, "seq", by_it, NUMBERED, order=("-seq",), limit=1)


def _seq(last: KeptTurn | None) -> int:
    return 0 if last is None else last.seq
