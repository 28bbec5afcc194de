"""Writing by way of the outbox: first on this machine's disk, then in the memory.

Every write goes this way, online too: one that is cut off is there when the bridge is used next,
and what is sent again is known by its id. An agent's items are sent in their order, by one process
at a time. One that is refused for good steps aside; one that fails for now holds up those behind
it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tiers.errors import Conflict, EzraError, TierTimeout, TierUnavailable

from .delivering import Result, Verdict, deliver, verdict_of
from .outbox import Item, Kind, Outbox

if TYPE_CHECKING:
    from ..handles.agent import Agent


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
        """The id of the record, as far as it is known: of one that waits, the item's."""
        return str(self.result.get("id", self.item.id))

    @property
    def said(self) -> dict[str, Any]:
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
