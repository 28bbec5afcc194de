"""The handoff of a session: what the next one needs to go on, for programs and for people."""

from __future__ import annotations

from collections.abc import Sequence

from ..wire.tool_answers import Belief, Beliefs, Day, Days
from .mcp_agents import Seat
from .mcp_answers import Core, Handoff, Known

BELIEFS_MAX = 50
LINE_CHARS_MAX = 500
_NOTHING = "_None._"


async def handoff_of(seat: Seat, turns: int) -> Handoff:
    """Return what the next session of a seat's agent needs to go on.

    Args:
        seat: Whose session it is.
        turns: How many of the last turns.
    """
    held = Beliefs.of(await seat.agent.beliefs(), BELIEFS_MAX)
    core = await core_of(seat)
    latest = Days.of(await seat.agent.search_memory(None, max_results=turns))
    last = tuple(reversed(latest.items))
    return Handoff(
        graph_id=seat.graph_id,
        agent_id=seat.agent.id,
        beliefs=held.beliefs,
        beliefs_left_out=held.left_out,
        core_facts=core.facts,
        last_turns=last,
        markdown=_markdown(seat, held.beliefs, core.facts, last),
    )


async def core_of(seat: Seat) -> Core:
    """Return the core facts of an agent's next context."""
    block = await seat.agent.core()
    facts = tuple(Known.of(one, seat.graph_id) for one in block.facts)
    return Core(facts=facts, tokens=block.tokens, left_out=len(block.left_out))


def _markdown(
    seat: Seat, beliefs: Sequence[Belief], facts: Sequence[Known], turns: Sequence[Day]
) -> str:
    parts = [
        f"# Handoff of {seat.agent.id} in {seat.graph_id}",
        "## Active beliefs",
        _listed([_belief(one) for one in beliefs]),
        "## Core facts",
        _listed([one.text for one in facts]),
        "## Last turns, oldest first",
        _listed([one.line for one in turns]),
    ]
    return "\n\n".join(parts)


def _belief(one: Belief) -> str:
    about = f" ({one.key[0]}, {one.key[1]}: {one.value})" if one.key else ""
    return f"{one.claim}{about}, by {one.agent_id}"


def _listed(lines: Sequence[str]) -> str:
    """Return texts as a list with one line for each, so that none can look like a heading."""
    flat = (" ".join(line.split()) for line in lines)
    return "\n".join(f"- {_cut(line)}" for line in flat) or _NOTHING


def _cut(line: str) -> str:
    return line if len(line) <= LINE_CHARS_MAX else f"{line[: LINE_CHARS_MAX - 1]}…"
