"""Questions about notes that need a memory: as they were, what the board has, what a model says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tiers.board import Card
from tiers.errors import EzraError, UsageError
from tiers.paging import linked

from ...models.local import EchoModel
from ..memories import Memory, asked_labels, memory_of
from .difference import SemanticDiff, semantic_diff
from .handoff import (
    HOURS,
    ROWS_MAX,
    Cards,
    Handoff,
    handoff_of,
    prompt_of,
    since_of,
    with_synthesis,
)
from .health import GraphHealth, health_of
from .reading import graph_of
from .rules import NoteRules

if TYPE_CHECKING:
    from ...documents.handle import Documents
    from ...handles.agent import Agent
    from ...handles.board import AgentBoard


ALERT_PAGES_MAX = 10
DECISION = "decision"
"""The type of memories that a handoff tells by themselves."""


async def difference(
    documents: Documents, rules: NoteRules, since: datetime, until: datetime, now: datetime
) -> SemanticDiff:
    """Return what changed between two moments; the end is not later than ``now``.

    Raises:
        UsageError: The end is not after the beginning, or the beginning is in the future.
    """
    if since > now:
        raise UsageError("from", since.isoformat(), "a moment of the past")
    end = min(until, now)
    before = await graph_of(documents, rules, as_of=since)
    after = await graph_of(documents, rules, as_of=end)
    return semantic_diff(before, after, since, end)


async def health(
    documents: Documents, board: AgentBoard, rules: NoteRules, now: datetime, alert_tag: str
) -> GraphHealth:
    """Return how the graph of notes is."""
    graph = await graph_of(documents, rules)
    yesterday = await graph_of(documents, rules, as_of=now - timedelta(hours=24))
    return health_of(graph, yesterday, await _alerts(board, alert_tag))


async def _alerts(board: AgentBoard, tag: str) -> Sequence[Card]:
    """Return the unread messages with a tag, among the latest thousand."""
    pages = linked(lambda after: board.inbox(unread=True, limit=100, after=after), ALERT_PAGES_MAX)
    return [card async for page in pages for card in page.rows if tag in card.tags]


async def handoff(
    agent: Agent,
    documents: Documents,
    board: AgentBoard,
    rules: NoteRules,
    now: datetime,
    *,
    hours: float = HOURS,
    chars: int,
    synthesize: bool = False,
) -> Handoff:
    """Return what the next session should know.

    Args:
        agent: For whom it is.
        documents: Its documents.
        board: Its board.
        rules: How notes are read.
        now: The time.
        hours: What is so new counts.
        chars: The most that the whole may have as it is printed, as JSON or as Markdown.
        synthesize: Whether the memory's language model is to say it in short, too. Where there is
            none, or it fails, ``problem`` says so.

    Raises:
        UsageError: A number is out of range.
    """
    since = since_of(now, hours)
    actions = (await board.history(since=since, limit=ROWS_MAX)).rows
    about = list(dict.fromkeys(one.thread for one in actions if one.thread))
    cards = Cards(
        actions=actions,
        titles={one.id: one.title for one in (await board.cards(about) if about else ())},
        decisions=await _decisions(agent, since),
        tasks=(
            await board.tasks(statuses=("in_progress", "created", "suspended"), limit=ROWS_MAX)
        ).rows,
        messages=(await board.inbox(unread=True, limit=ROWS_MAX)).rows,
    )
    graph = await graph_of(documents, rules)
    plain = handoff_of(agent.id, graph, cards, now, hours=hours, chars=chars)
    return await _synthesized(agent, plain, chars) if synthesize else plain


async def _decisions(agent: Agent, since: datetime) -> Sequence[Memory]:
    """Return the memories of type decision that were written since, the latest first."""
    page = await agent.latest_facts(all_topics=asked_labels(DECISION, None, ()), limit=ROWS_MAX)
    found = [memory_of(fact) for fact in page.rows]
    return [one for one in found if one.created_at >= since]


async def _synthesized(agent: Agent, plain: Handoff, chars: int) -> Handoff:
    """Return a handoff with the model's account. It is asked, and nothing of it is remembered."""
    try:
        turn = await agent.turn(prompt_of(plain))
        answer = await turn.complete()
    except EzraError as error:
        return replace(plain, problem=f"no synthesis: {error}")
    if answer.startswith(f"[{EchoModel.name}]"):
        return replace(plain, problem="no synthesis: the memory has no language model")
    return with_synthesis(plain, answer, chars)
