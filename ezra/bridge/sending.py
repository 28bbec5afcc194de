"""Writing by way of the outbox: first on this machine's disk, then in the memory.

Every write goes this way, online too: one that is cut off is there when the bridge is used next,
and what is sent again is known by its id. An agent's items are sent in their order, by one process
at a time. One that is refused for good steps aside; one that fails for now holds up those behind
it. What is done with an item is one call of the agent's handle, harmless to repeat: its id is the
id of the record that it makes, or of what is logged of a change.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from tiers.board import Card
from tiers.errors import (
    BudgetExceeded,
    ConfigError,
    Conflict,
    CorruptRecord,
    EzraError,
    IntegrityError,
    NotFound,
    TierError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)

from .memories import fact_of
from .outbox import Item, Kind, Outbox

if TYPE_CHECKING:
    from ..handles.agent import Agent


Verdict: TypeAlias = Literal["away", "failed", "refused"]
Result: TypeAlias = dict[str, Any]

REASON = "forgotten through the bridge"
_CHANGING: frozenset[Kind] = frozenset({"forget", "task_update", "task_done", "task_fail"})
"""What is done to a record that is named; what else makes one gives it the item's id."""
_TOO_MANY = "requests"


def verdict_of(error: EzraError) -> Verdict:
    """Return what a failure says of an item.

    ``away``: nothing; the memory cannot be asked now, or not by us, and it waits. ``failed``: the
    memory was reached and broke; a few times more is worth trying. ``refused``: it will say the
    same again.
    """
    if isinstance(error, TierRejected):
        # Of the server: what answers in its place, a proxy for one, says that it is away.
        return "away" if error.tier == "server" else "failed"
    if isinstance(error, CorruptRecord | IntegrityError):
        return "failed"
    if isinstance(error, TierError | ConfigError):
        return "away"
    if isinstance(error, BudgetExceeded):
        return "away" if error.what.startswith(_TOO_MANY) else "refused"
    return "failed" if _is_unknown(error) else "refused"


def _is_unknown(error: EzraError) -> bool:
    """Whether a server told of a mistake of its own, for which there is no class here."""
    return type(error).__name__ == "RemoteError"


async def deliver(agent: Agent, item: Item) -> Result:
    """Do what an item says, and return what came of it as JSON values.

    Raises:
        EzraError: As the handle's method does; nothing was written then.
    """
    do = _DOING.get(item.kind)
    if do is None:
        raise UsageError("kind", item.kind, ", ".join(get_args(Kind)))
    try:
        return await do(agent, item, item.arguments)
    except (KeyError, TypeError, ValueError) as error:
        # What another version wrote, or somebody's hand.
        problem = f"{type(error).__name__}: {error}"[:200]
        raise UsageError("arguments", problem, f"those of {item.kind!r}") from error


async def _remember(agent: Agent, item: Item, payload: Mapping[str, Any]) -> Result:
    fact = fact_of(payload, item.moment)
    stored = await agent.remember(
        fact,
        topics=fact.topics,
        private=fact.private,
        supersedes=payload.get("supersedes"),
        id=item.id,
    )
    return {"id": stored, "is_new": stored == item.id}


async def _forget(agent: Agent, item: Item, payload: Mapping[str, Any]) -> Result:
    del item
    found = await agent.forget(
        payload["id"],
        reason=payload.get("reason") or REASON,
        superseded_by=payload.get("superseded_by"),
    )
    return {"id": payload["id"], "forgotten": found}


async def _ack(agent: Agent, item: Item, payload: Mapping[str, Any]) -> Result:
    del item
    read = await agent.board.ack(payload["ids"])
    seen = {one.id for one in await agent.board.cards(payload["ids"]) if one.kind == "message"}
    for unknown in (one for one in payload["ids"] if one not in seen):
        raise NotFound("message", unknown)
    return {"read": list(read)}


async def _suspend(agent: Agent, item: Item, payload: Mapping[str, Any]) -> Result:
    cards = await agent.board.suspend_tasks(payload.get("limit", 10), machine=item.machine)
    return {"suspended": [card.id for card in cards]}


async def _card(agent: Agent, item: Item, payload: Mapping[str, Any]) -> Result:
    """Call the method of the board that makes a card, or changes the one that is named."""
    does = getattr(agent.board, _CARDS[item.kind])
    named = [payload["id"]] if "id" in payload else []
    given = {name: value for name, value in payload.items() if name != "id"}
    for task_id in (payload[one] for one in ("parent", "task_id") if one in payload):
        await agent.board.task(task_id)  # a name that is mistyped would lead nobody back to it
    if item.kind == "reply":
        given["type"] = "response"
    card: Card = await does(*named, **given, id=item.id, machine=item.machine)
    # What it says stays where it is.
    found = {"id": card.id, "status": card.status, "thread": card.thread or None}
    return {name: one for name, one in found.items() if one is not None}


_CARDS: Mapping[str, str] = {
    "send": "send",
    "reply": "reply",
    "log": "log",
    "task_start": "start_task",
    "task_update": "update_task",
    "task_done": "finish_task",
    "task_fail": "fail_task",
}
"""Methods of the board that answer with a card, by the kind of an item.

An item's arguments are theirs; which card is changed comes first."""

_DOING: Mapping[str, Callable[[Agent, Item, Mapping[str, Any]], Awaitable[Result]]] = {
    "remember": _remember,
    "forget": _forget,
    "ack": _ack,
    "suspend_tasks": _suspend,
    **dict.fromkeys(_CARDS, _card),
}


PAGE = 100
ATTEMPTS_MAX = 5
"""So often an item is tried that the memory breaks on, before it counts as refused."""

State: TypeAlias = Literal["done", "queued", "refused"]


@dataclass(frozen=True)
class Outcome:
    """What came of one item.

    Attributes:
        item: The item.
        state: ``done``: the memory has it. ``queued``: it waits on this machine. ``refused``: the
            memory does not take it.
        result: What the memory answered.
        reason: Why it waits, or was refused.
    """

    item: Item
    state: State
    result: Result = field(default_factory=dict)
    reason: str | None = None

    @property
    def id(self) -> str:
        """The id of the record, as far as it is known.

        Of one that waits it is that of what it changes, or that of what it will make: the item's.
        """
        if self.state == "queued" and self.item.kind in _CHANGING:
            return str(self.item.arguments["id"])
        return str(self.result.get("id", self.item.id))

    @property
    def document(self) -> dict[str, Any]:
        """As JSON values."""
        about = {"id": self.id, "item": self.item.id, "kind": self.item.kind, "state": self.state}
        return {**self.result, **about, "reason": self.reason, "at": self.item.at}


@dataclass(frozen=True)
class Sent:
    """What came of sending all that waited.

    Attributes:
        outcomes: Of each item that was tried, in order.
        away: Why it stopped before the end; ``None`` when nothing waits any more.
        left: How much waits.
        is_away: Whether it stopped because the memory cannot be reached, and not because it
            breaks on an item or does not let us in.
    """

    outcomes: tuple[Outcome, ...] = ()
    away: str | None = None
    left: int = 0
    is_away: bool = False

    def count(self, state: State) -> int:
        """Return how many items came to a state."""
        return sum(one.state == state for one in self.outcomes)


@dataclass
class _Run:
    """One run over an outbox, so far."""

    own: str | None = None
    outcomes: list[Outcome] = field(default_factory=list)
    error: EzraError | None = None
    away: str | None = None
    is_away: bool = False


async def send_all(outbox: Outbox, agent: Agent) -> Sent:
    """Send what waits.

    Raises:
        Conflict: Another process of this machine sends it, and went on doing so.
        ConfigError: The outbox cannot be used.
    """
    if await asyncio.to_thread(outbox.is_empty):
        return Sent()
    async with _alone(outbox):
        run = _Run()
        await _send_all(outbox, agent, run)
    left, _ = await asyncio.to_thread(outbox.counts)
    return Sent(tuple(run.outcomes), run.away, left, run.is_away)


async def write(
    outbox: Outbox, agent: Agent | None, kind: Kind, arguments: Mapping[str, Any], away: str
) -> Outcome:
    """Write something, after all that waits: in the memory, or for later on this machine.

    Args:
        outbox: Where it waits meanwhile.
        agent: As whom it is written; ``None`` while the memory is away.
        kind: What is to be done.
        arguments: With what.
        away: Why there is no agent.

    Raises:
        EzraError: The memory does not take it, for good; it does not wait then.
        OutboxFull: There is no room; it was not written.
        ConfigError: The outbox cannot be used.
    """
    if agent is None:
        item = await asyncio.to_thread(_waiting, outbox, kind, arguments)
        return Outcome(item, "queued", reason=away)
    try:
        async with _alone(outbox):
            item = await asyncio.to_thread(outbox.append, kind, arguments)
            run = _Run(own=item.id)
            await _send_all(outbox, agent, run)
    except Conflict as busy:
        if busy.what != "outbox":
            raise
        item = await asyncio.to_thread(outbox.append, kind, arguments)
        return Outcome(item, "queued", reason="another process of this machine is sending")
    if run.error is not None:
        raise run.error
    own = [one for one in run.outcomes if one.item.id == item.id]
    return own[0] if own else Outcome(item, "queued", reason=run.away)


def _waiting(outbox: Outbox, kind: Kind, arguments: Mapping[str, Any]) -> Item:
    """Return the item that waits: one that is there for words that the memory will keep once."""
    found: Item | None = None
    for one in outbox.pending() if kind == "remember" else ():
        if one.kind == kind and one.arguments == arguments:
            found = one
        elif one.kind == "forget" or "supersedes" in one.arguments:
            found = None  # they may be said anew behind it
    return found or outbox.append(kind, arguments)


async def _send_all(outbox: Outbox, agent: Agent, run: _Run) -> None:
    """Send page by page; every item of one is gone from the queue afterwards, or it ends."""
    while True:
        page = await asyncio.to_thread(outbox.pending, PAGE)
        if not page and await asyncio.to_thread(outbox.is_empty):
            return
        for item in page:
            if not await _send(outbox, agent, item, run):
                return


async def _send(outbox: Outbox, agent: Agent, item: Item, run: _Run) -> bool:
    """Send an item; return whether those behind it may follow."""
    try:
        result = await deliver(agent, item)
    except EzraError as error:
        await _missed(outbox, item, error, run)
        return run.away is None
    await asyncio.to_thread(outbox.done, item.id)
    run.outcomes.append(Outcome(item, "done", result))
    return True


async def _missed(outbox: Outbox, item: Item, error: EzraError, run: _Run) -> None:
    verdict: Verdict = verdict_of(error)
    if verdict == "failed":
        item = await asyncio.to_thread(outbox.failed, item)
        verdict = "refused" if item.attempts >= ATTEMPTS_MAX else "away"
    if verdict == "away":
        run.away = str(error)
        run.is_away = isinstance(error, TierUnavailable | TierTimeout)
        run.outcomes.append(Outcome(item, "queued", reason=run.away))
    elif item.id == run.own:
        # Whoever wrote it is there to be told: nobody has to look for it later.
        await asyncio.to_thread(outbox.done, item.id)
        run.error = error
    else:
        item = await asyncio.to_thread(outbox.refuse, item, str(error))
        run.outcomes.append(Outcome(item, "refused", reason=item.reason))


@asynccontextmanager
async def _alone(outbox: Outbox) -> AsyncIterator[None]:
    """Hold the right to send for the length of the block; waiting for it blocks no loop."""
    held = ExitStack()
    entering = asyncio.ensure_future(asyncio.to_thread(held.enter_context, outbox.sending()))
    try:
        await asyncio.shield(entering)
    except asyncio.CancelledError:
        # The thread goes on and may get it yet; nobody would give it back.
        await asyncio.wait([entering])
        held.close()
        raise
    try:
        yield
    finally:
        held.close()
