"""What the bridge reads: memories, how it is, and how it went over time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from tiers.board import Card, TaskStatus
from tiers.errors import NotFound, PolicyDenied, UsageError, check_within
from tiers.paging import linked
from tiers.records import ALL_TOPICS_MAX, Fact, Hit, Kind

from ..recall.request import LIMIT_MAX, ModeName
from ..recaller import RecallResult
from .client import Bridge
from .memories import Memory, asked_labels, memory_of, memory_of_hit, memory_of_note
from .noted import CurrentTask, Notes
from .notes.memory_labels import MEMORIES_TOPIC
from .notes.names import MEMORIES, memories_shelf
from .outbox import all_outboxes, time_of

if TYPE_CHECKING:
    from ..handles.agent import Agent
    from ..handles.graph import Graph


MEMORIES_MAX = 100_000
"""So many are read at most where they are counted or exported."""

TO_BEGIN = "'ezra bridge remember' makes it, and 'ezra bridge setup --url URL' names a server"
"""What somebody does who has no memory yet."""
WHO_ASKS = "'ezra bridge setup --agent NAME' says who you are, which who writes needs"

PAGE = 100
NOTE_HITS = 100
"""Passages of notes that one recall looks at: several of them may be of one note."""

DAYS_MAX = 3_650
OPEN: tuple[TaskStatus, ...] = ("created", "in_progress", "suspended")

Scoped: TypeAlias = Literal["any", "mine", "shared", "private"]
SCOPES: tuple[Scoped, ...] = ("any", "mine", "shared", "private")
AnyReader: TypeAlias = "Agent | Graph"


class _Asked(TypedDict):
    """What every question of one recall is asked with."""

    mode: ModeName
    half_life_days: float


@dataclass(frozen=True)
class Recalled:
    """The answer of a recall.

    Attributes:
        memories: Best first.
        degraded: What did not take part: ``dense`` says that meaning was not compared.
    """

    memories: tuple[Memory, ...]
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Current:
    """The task that an agent is at.

    Attributes:
        task: It; ``None`` when there is none.
        is_noted: Whether only this machine could be asked.
    """

    task: CurrentTask | None
    is_noted: bool = False


@dataclass(frozen=True)
class Dashboard:
    """Counts over time.

    Attributes:
        since: From when.
        memories: How many memories, by type.
        memories_by_agent: The same by writer.
        unread: Unread messages by agent.
        tasks: Tasks by state.
        actions: Actions by type.
        days: By day (UTC): ``memories``, ``messages``, ``tasks``, ``actions``.
    """

    since: datetime
    memories: dict[str, int] = field(default_factory=dict)
    memories_by_agent: dict[str, int] = field(default_factory=dict)
    unread: dict[str, int] = field(default_factory=dict)
    tasks: dict[str, int] = field(default_factory=dict)
    actions: dict[str, int] = field(default_factory=dict)
    days: dict[str, dict[str, int]] = field(default_factory=dict)


async def recall(
    bridge: Bridge,
    query: str,
    *,
    type: str | None = None,  # noqa: A002 - what people call it
    category: str | None = None,
    tags: Iterable[str] = (),
    scope: Scoped = "any",
    mode: ModeName = "hybrid",
    limit: int = 5,
) -> Recalled:
    """Return memories about a question, best first; newer ones count more.

    Notes of agents that ``sync-memories`` brought are among them, each with its best passage.

    Args:
        bridge: Where they are.
        query: The question; must not be blank.
        type: Only of this type.
        category: Only of this category.
        tags: Only with every one of these.
        scope: ``mine`` (written by this agent), ``shared``, ``private`` (seen by this agent
            alone), or ``any``.
        mode: ``hybrid``, ``keyword`` or ``semantic``.
        limit: 1 to 100.

    Raises:
        Away: The memory is away.
        ConfigError: Whoever asks for what is ``mine`` has no name.
        UsageError: An argument is not acceptable.
    """
    if scope not in SCOPES:
        raise UsageError("scope", scope, ", ".join(SCOPES))
    private = {"shared": False, "private": True}.get(scope)
    labels = asked_labels(type, category, tags, private=private)
    reader = bridge.agent() if scope == "mine" else await bridge.reader()
    asked: _Asked = {"mode": mode, "half_life_days": bridge.config.half_life_days}
    facts: RecallResult = await reader.recall(
        query,
        limit=limit,
        kinds=("fact",),
        scope="agent" if scope == "mine" else "any",
        all_topics=labels,
        **asked,
    )
    of_notes = _topics_of_notes(labels, scope, bridge.config.agent)
    if of_notes is None:
        return Recalled(tuple(memory_of_hit(one) for one in facts.items), facts.degraded)
    notes: RecallResult = await reader.recall(
        query, limit=NOTE_HITS, kinds=("document",), all_topics=of_notes, **asked
    )
    degraded = tuple(dict.fromkeys((*facts.degraded, *notes.degraded)))
    found = await _ranked(reader, query, facts.items, notes.items, asked)
    return Recalled(tuple(memory_of_hit(one) for one in found[:limit]), degraded)


def _topics_of_notes(
    labels: tuple[str, ...], scope: Scoped, agent: str | None
) -> tuple[str, ...] | None:
    """Return what a note must carry to be in an answer; ``None`` where none can be in it."""
    topics = [MEMORIES_TOPIC, *labels]
    if scope == "mine" and agent is not None:
        topics.append(memories_shelf(agent).casefold())
    if scope == "private" or len(topics) > ALL_TOPICS_MAX:
        return None  # every agent sees a note, and none can carry more than may be asked for
    return tuple(topics)


async def _ranked(
    reader: AnyReader, query: str, facts: Sequence[Hit], notes: Sequence[Hit], asked: _Asked
) -> list[Hit]:
    """Return what two questions found in one order, of each note its best passage.

    Scores of two answers cannot be compared: what they found is asked about once more, together.
    """
    best: dict[str, Hit] = {}
    for one in notes:
        best.setdefault(_place(one), one)
    if not best or not facts:
        return [*facts, *best.values()]
    both = {one.id: one for one in (*facts, *best.values())}
    kinds: tuple[Kind, ...] = ("fact", "document")
    most = min(len(both), LIMIT_MAX)
    found = await reader.recall(query, limit=most, kinds=kinds, ids=tuple(both), **asked)
    both_found = {one.id: one for one in found.items if one.id in both}
    # What another graph holds is found by no id of this one, and what says the same is shown once.
    hidden = {each for one in both_found.values() for each in one.folded}
    return [
        *both_found.values(),
        *(one for one in facts if one.id not in both_found and one.id not in hidden),
    ]


def _place(hit: Hit) -> str:
    return hit.id if hit.citation is None else hit.citation.document_id


async def show(bridge: Bridge, memory_id: str) -> Memory:
    """Return a memory, also one that is forgotten or gave way to another, and says so; or a note.

    Raises:
        Away: The memory is away.
        NotFound: There is none that the agent sees.
    """
    reader = await bridge.reader()
    found: tuple[Fact, ...] = await reader.facts([memory_id])
    if found:
        return memory_of(found[0])
    note = await reader.documents.get(memory_id)
    if note is None or not note.shelf.startswith(MEMORIES):
        raise NotFound("memory", memory_id)
    return memory_of_note(note)


async def memories(bridge: Bridge) -> AsyncIterator[Memory]:
    """Yield all memories that the agent sees, the latest first, page by page.

    Raises:
        Away: The memory is away.
    """
    reader, given = await bridge.reader(), 0
    latest = linked(lambda after: reader.latest_facts(after=after, limit=PAGE))
    async with aclosing(latest) as pages:
        async for page in pages:
            for fact in page.rows[: MEMORIES_MAX - given]:
                yield memory_of(fact)
            given += len(page.rows)
            if given >= MEMORIES_MAX:
                return


async def dashboard(bridge: Bridge, days: int = 30) -> Dashboard:
    """Return counts of what the graph holds, and by day of what came lately.

    Args:
        bridge: Where it is.
        days: How many days back, 1 to 3,650.

    Raises:
        Away: The memory is away.
        UsageError: ``days`` is out of range.
    """
    check_within("days", days, 1, DAYS_MAX)
    graph = await bridge.graph()
    by_type, by_agent = Counter[str](), Counter[str]()
    by_day: dict[str, Counter[str]] = {}
    until = bridge.clock()
    since = until - timedelta(days=days)
    async for one in memories(bridge):
        by_type[one.type] += 1
        by_agent[one.agent] += 1
        if one.created_at >= since:
            day = f"{one.created_at:%Y-%m-%d}"
            by_day.setdefault(day, Counter())["memories"] += 1
    tasks, actions = Counter[str](), Counter[str]()
    for count in await graph.board.counts(since, until):
        by_day.setdefault(count.day, Counter())[f"{count.kind}s"] += count.number
        if count.kind == "task":
            tasks[count.state] += count.number
        elif count.kind == "action":
            actions[count.state] += count.number
    return Dashboard(
        since=since,
        memories=dict(sorted(by_type.items())),
        memories_by_agent=dict(sorted(by_agent.items())),
        unread=await graph.board.unread(),
        tasks=dict(sorted(tasks.items())),
        actions=dict(sorted(actions.items())),
        days={day: dict(sorted(of.items())) for day, of in sorted(by_day.items())},
    )


async def current_task(bridge: Bridge) -> Current:
    """Return the task that the agent is at: the one noted here if it is open, or its latest.

    Raises:
        Away: The memory is away, and nothing is noted here.
        ConfigError: Whoever asks has no name.
    """
    noted = await asyncio.to_thread(Notes(bridge.config).current)
    if bridge.away is not None and noted is not None:
        return Current(noted, is_noted=True)
    board = bridge.agent().board
    found = await board.cards([noted.id]) if noted is not None else ()
    if not any(card.status in OPEN for card in found):
        page = await board.tasks(agent_id=bridge.config.agent, statuses=OPEN[:2], limit=1)
        found = page.rows
    if not found:
        return Current(None)
    task = found[0]
    return Current(CurrentTask(task.id, task.title, task.status or ""))


async def status(bridge: Bridge) -> dict[str, Any]:
    """Return how the bridge is, as JSON values; never an error for a memory that is away."""
    config = bridge.config
    found: dict[str, Any] = {
        "memory": config.target,
        "reachable": bridge.away is None,
        "is_there": not bridge.is_missing,
        "reason": bridge.away,
        "agent": config.agent,
        "graph": config.graph,
        "machine": config.machine,
        "state": str(config.state),
        "queued": 0,
        "refused": 0,
    }
    if config.agent is not None:
        outbox = bridge.outbox
        found["queued"], found["refused"] = await asyncio.to_thread(outbox.counts)
    routes = await asyncio.to_thread(all_outboxes, config.state)
    found["other_outboxes"] = [
        {"memory": one.target, "graph": one.graph, "agent": one.agent}
        for one in routes
        if one.key != config.key
    ]
    if bridge.away is None:
        found |= await _state(bridge)
    found["current_task"] = await _task_at_hand(bridge)
    found["next"] = [] if config.agent is not None else [WHO_ASKS]
    if not found["is_there"]:
        found["next"].append(TO_BEGIN)
    return found


async def _task_at_hand(bridge: Bridge) -> dict[str, str] | None:
    """Return the task that the agent is at; as noted here while the memory is away."""
    if bridge.config.agent is None:
        return None
    if bridge.away is None:
        task = (await current_task(bridge)).task
    else:
        task = await asyncio.to_thread(Notes(bridge.config).current)
    return None if task is None else asdict(task)


async def _state(bridge: Bridge) -> dict[str, Any]:
    """Return what the memory holds, as far as whoever asks may know it."""
    found: dict[str, Any] = {}
    if bridge.config.agent is not None:
        board = bridge.agent().board
        found["unread"] = await board.unread()
        tasks = await board.tasks(agent_id=bridge.config.agent, statuses=OPEN, limit=PAGE)
        found["open_tasks"] = len(tasks.rows)
    try:
        graph = await bridge.graph()
        cold = (await graph.status()).cold
        members = await graph.agents()
    except PolicyDenied:
        return found  # a token of one agent does not look at its graph
    except NotFound:
        return {"is_there": False}  # the first who writes makes it
    found["memories"] = cold.get("facts_archival", 0) + cold.get("facts_core", 0)
    found["agents"] = {one.id: one.seen_at.isoformat() for one in members if one.left_at is None}
    return found


def written_at(card: Card) -> datetime:
    """Return when a card was written, which is before it was recorded where it had to wait."""
    named = time_of(card.id)
    return card.recorded_at if named is None else min(named, card.recorded_at)
