"""What the log says of a belief: the spans in which it was active, where it came from."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tiers.records import (
    BeliefQuery,
    BeliefSpan,
    Fact,
    HistoricBelief,
    LoggedBelief,
    Receipt,
    Scope,
    ToolOutput,
    Turn,
)

from ..checks import checked_ids
from ..runtime import Runtime

LIVES_MAX = 100
SPANS_MAX = 32
_NEAR = 100
"""Events that lie so near to each other are read at once."""


@dataclass(frozen=True)
class Held:
    """A span in which a belief was active.

    Attributes:
        since_seq: The event with which it began.
        since: When that was recorded.
        until_seq: The event by which it ended; ``None`` while it lasts.
        until: When that was recorded.
        pinned: Whether it came first in contexts.
    """

    since_seq: int
    since: datetime
    until_seq: int | None = None
    until: datetime | None = None
    pinned: bool = False


@dataclass(frozen=True)
class BeliefLife:
    """A belief, and when it was active: the last ``SPANS_MAX`` spans, in order."""

    belief: HistoricBelief
    held: tuple[Held, ...]


@dataclass(frozen=True)
class Explanation:
    """Where a belief came from, and what became of it.

    Attributes:
        belief: The belief, as the log has left it.
        events: Every event that is about it or names it, with contents, in order.
        contradictions: Decisions between it and another: both ids, the winner, the strategy, the
            trust used, who found it and why.
        superseded: What it took the place of.
        superseded_by: What took its place.
        turns: The turn that produced it, and turns that it names as sources.
        facts: Facts that it names as sources.
        tool_outputs: What tools returned during these turns, long outputs as previews.
        receipt: What the turn that produced it saw.
        trust: Trust in its agent about its topic, today.
    """

    belief: HistoricBelief
    events: tuple[LoggedBelief, ...]
    contradictions: tuple[Mapping[str, Any], ...]
    superseded: tuple[HistoricBelief, ...]
    superseded_by: HistoricBelief | None
    turns: tuple[Turn, ...]
    facts: tuple[Fact, ...]
    tool_outputs: tuple[ToolOutput, ...]
    receipt: Receipt | None
    trust: float


async def lives_of(runtime: Runtime, scope: Scope, ids: Sequence[str]) -> tuple[BeliefLife, ...]:
    """Return the beliefs of a graph among ``ids`` in the order asked, with their spans.

    Raises:
        UsageError: There are more than ``LIVES_MAX``.
    """
    named = checked_ids("belief_ids", ids, LIVES_MAX)
    if not named:
        return ()
    query = BeliefQuery(ids=named, limit=LIVES_MAX)
    known = {one.id: one for one in await runtime.history.query(scope, query)}
    beliefs = [known[one] for one in dict.fromkeys(ids) if one in known]
    pages = await asyncio.gather(
        *(runtime.history.projected(scope, one.committed_seq - 1, 1) for one in beliefs)
    )
    spans = {row.belief.id: row.spans[-SPANS_MAX:] for page in pages for row in page}
    times = await _times(runtime, scope, [seq for held in spans.values() for seq in _ends(held)])
    return tuple(BeliefLife(one, _held_spans(spans.get(one.id, ()), times)) for one in beliefs)


def _ends(spans: Iterable[BeliefSpan]) -> list[int]:
    """Return every event with which one of the spans begins or ends."""
    return [seq for span in spans for seq in (span.since_seq, span.until_seq) if seq is not None]


def _held_spans(spans: Iterable[BeliefSpan], times: Mapping[int, datetime]) -> tuple[Held, ...]:
    return tuple(
        Held(
            since_seq=one.since_seq,
            since=times[one.since_seq],
            until_seq=one.until_seq,
            until=None if one.until_seq is None else times[one.until_seq],
            pinned=one.pinned,
        )
        for one in spans
        # What was appended since the spans were read is told by the next look.
        if one.since_seq in times and (one.until_seq is None or one.until_seq in times)
    )


async def _times(runtime: Runtime, scope: Scope, seqs: Iterable[int]) -> dict[int, datetime]:
    """Return when events were recorded; those near to each other are read in one go."""
    runs: list[list[int]] = []
    for seq in sorted(set(seqs)):
        if runs and seq - runs[-1][0] < _NEAR:
            runs[-1].append(seq)
        else:
            runs.append([seq])
    pages = await asyncio.gather(
        *(runtime.history.events(scope, run[0] - 1, run[-1] - run[0] + 1) for run in runs)
    )
    return {event.seq: event.recorded_at for page in pages for event in page}
