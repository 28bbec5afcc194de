"""How beliefs, their differences and their explanations are shown, and moments are named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tiers.errors import UsageError
from tiers.fencing import on_one_line
from tiers.records import BeliefEvent, Commitment

from ..beliefs.commit import Point
from ..beliefs.difference import BeliefDiff
from ..beliefs.spans import Explanation
from .command import plain
from .doors import InGraph
from .options import moment_of

if TYPE_CHECKING:
    from ..beliefs.history import History

BeliefId = Annotated[str, typer.Argument(help="The belief's id.")]

CLAIM_CHARS = 100
ACCEPTED = "a turn such as 15, or a time such as 2026-05-14T15:04"
CLAIMS = ("belief", "recorded", "agent", "topic", "trust", "claim")
"""The headings of beliefs that are held."""


async def history_of(at: InGraph) -> History:
    """Return the history of a graph's beliefs."""
    return (await at.held()).beliefs


def claim_row(one: Commitment) -> tuple[str, ...]:
    """Return a belief under ``CLAIMS``."""
    return (*row_of(one), f"{one.trust:.2f}", claim_of(one))


def document_of_diff(found: BeliefDiff) -> dict[str, Any]:
    """Return a difference for programs."""
    return {
        "began": found.began,
        "ended": found.ended,
        "changed": [[before.id, after.id] for before, after in found.changed],
        "kept": found.kept,
    }


def lines_of_diff(found: BeliefDiff) -> list[str]:
    """Return a difference for people, topic by topic."""
    if found.is_empty:
        return [f"no difference; {found.kept} beliefs in both"]
    lines: list[str] = []
    for topic, part in found.by_topic().items():
        lines.append(f"{topic or 'without a topic'}:")
        lines += [f"  - {one.agent_id}: {claim_of(one)}" for one in part.ended]
        lines += [f"  + {one.agent_id}: {claim_of(one)}" for one in part.began]
    return [*lines, f"{found.kept} beliefs in both"]


def row_of(one: Commitment) -> tuple[str, str, str, str]:
    """Return id, time, agent and topic of a belief, for a table."""
    return one.id, f"{one.recorded_at:%Y-%m-%d %H:%M:%S}", one.agent_id, one.topic or "-"


def claim_of(one: Commitment) -> str:
    """Return what a belief says, on one line."""
    about = f"{one.key[0]}/{one.key[1]} = {one.value}: " if one.key else ""
    return on_one_line(f"{about}{one.claim}", CLAIM_CHARS)


def document_of(found: Explanation) -> dict[str, Any]:
    """Return an explanation for programs."""
    return {
        "belief": found.belief,
        "trust_today": found.trust,
        "events": [{**plain(one.event), "content": one.said} for one in found.events],
        "contradictions": [dict(one) for one in found.contradictions],
        "superseded": found.superseded,
        "superseded_by": found.superseded_by,
        "turns": found.turns,
        "facts": found.facts,
        "tool_outputs": found.tool_outputs,
        "receipt": found.receipt,
    }


def lines_of(found: Explanation) -> list[str]:
    """Return an explanation for people."""
    belief = found.belief
    by = f"  by {belief.agent_id} at {belief.recorded_at:%Y-%m-%d %H:%M:%S} UTC"
    trusted = f"trusted {belief.trust:.2f} then and {found.trust:.2f} today"
    lines = [claim_of(belief), f"{by}, {trusted}; {belief.status}"]
    lines += [f"  took the place of {one.id}: {claim_of(one)}" for one in found.superseded]
    if found.superseded_by is not None:
        lines.append(f"  replaced by {found.superseded_by.id}: {claim_of(found.superseded_by)}")
    lines += [_decision(one) for one in found.contradictions]
    lines += [
        f"  said in turn {turn.id}: {turn.speaker}: {' '.join(turn.input.split())}"
        for turn in found.turns
    ]
    lines += [f"  tool {one.tool}: {' '.join(one.output.split())}" for one in found.tool_outputs]
    lines += [f"  rests on fact {one.id}: {one.text}" for one in found.facts]
    if found.receipt is not None:
        lines.append(f"  its turn saw what receipt {found.receipt.id} keeps")
    return lines + [_event(entry.event) for entry in found.events]


def _decision(one: Mapping[str, Any]) -> str:
    return (
        f"  held against {one['rival_id']} (found by {one['found_by']}): {one['winner']} won by "
        f"{one['strategy']}, trust {one['trust_new']:.2f} to {one['trust_old']:.2f}. "
        f"{one['reason']}"
    ).rstrip()


def _event(event: BeliefEvent) -> str:
    return (
        f"  #{event.seq} {event.recorded_at:%Y-%m-%d %H:%M:%S} turn {event.turn} {event.kind} by "
        f"{event.agent_id or 'the runtime'}  {event.hash[:16]}"
    )


def point_of(name: str, text: str) -> Point:
    """Return the moment that was written on the command line; a time without a zone is UTC.

    Raises:
        UsageError: It is neither a turn nor a time.
    """
    try:
        if text.strip().isdecimal():
            return int(text)
        return moment_of(text)
    except ValueError as error:
        raise UsageError(name, text, ACCEPTED) from error
