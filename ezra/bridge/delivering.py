"""What is done with an item of an outbox: one call of the agent's handle, harmless to repeat.

An item's id is the id of the record that it makes, or of what is logged of a change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from tiers.board import Card
from tiers.errors import (
    BudgetExceeded,
    ConfigError,
    CorruptRecord,
    EzraError,
    IntegrityError,
    NotFound,
    TierError,
    TierRejected,
    UsageError,
)

from .memories import fact_of
from .outbox import Item, Kind

if TYPE_CHECKING:
    from ..handles.agent import Agent

Verdict: TypeAlias = Literal["away", "failed", "refused"]
Result: TypeAlias = dict[str, Any]

REASON = "forgotten through the bridge"
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


async def _remember(agent: Agent, item: Item, said: Mapping[str, Any]) -> Result:
    fact = fact_of(said, item.moment)
    stored = await agent.remember(
        fact,
        topics=fact.topics,
        private=fact.private,
        supersedes=said.get("supersedes"),
        id=item.id,
    )
    return {"id": stored, "is_new": stored == item.id}


async def _forget(agent: Agent, item: Item, said: Mapping[str, Any]) -> Result:
    del item
    found = await agent.forget(
        said["id"], reason=said.get("reason") or REASON, superseded_by=said.get("superseded_by")
    )
    return {"id": said["id"], "forgotten": found}


async def _ack(agent: Agent, item: Item, said: Mapping[str, Any]) -> Result:
    del item
    read = await agent.board.ack(said["ids"])
    seen = {one.id for one in await agent.board.cards(said["ids"]) if one.kind == "message"}
    for unknown in (one for one in said["ids"] if one not in seen):
        raise NotFound("message", unknown)
    return {"read": list(read)}


async def _suspend(agent: Agent, item: Item, said: Mapping[str, Any]) -> Result:
    cards = await agent.board.suspend_tasks(said.get("limit", 10), machine=item.machine)
    return {"suspended": [card.id for card in cards]}


async def _card(agent: Agent, item: Item, said: Mapping[str, Any]) -> Result:
    """Call the method of the board that makes a card, or changes the one that is named."""
    does = getattr(agent.board, _CARDS[item.kind])
    named = [said["id"]] if "id" in said else []
    given = {name: value for name, value in said.items() if name != "id"}
    for task_id in (said[one] for one in ("parent", "task_id") if one in said):
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
