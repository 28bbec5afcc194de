"""The handoff of a session: what the next one needs to go on, for programs and for people."""

from __future__ import annotations

from collections.abc import Sequence

from tiers.fencing import entry, fenced, labelled

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
    held = Beliefs.latest(await seat.agent.beliefs(), BELIEFS_MAX)
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
    facts = tuple(Known.to(seat.graph_id, one) for one in block.facts)
    return Core(facts=facts, tokens=block.tokens, left_out=len(block.left_out))


def _markdown(
    seat: Seat, beliefs: Sequence[Belief], facts: Sequence[Known], turns: Sequence[Day]
) -> str:
    parts = [
        f"# Handoff of {seat.agent.id} in {seat.graph_id}",
        "## Active beliefs",
        _listed([_belief(one) for one in beliefs]),
        "## Core facts",
        _listed([_entry(_fact(one), one.text) for one in facts]),
        "## Last turns, oldest first",
        _listed([_entry("turn", one.line) for one in turns]),
    ]
    return "\n\n".join([parts[0], fenced("memory", parts[1:], says_what=True)])


def _belief(one: Belief) -> str:
    about = f" ({one.key[0]}, {one.key[1]}: {one.value})" if one.key else ""
    return _entry(labelled("belief", by=one.agent_id), f"{one.claim}{about}")


def _fact(one: Known) -> str:
    return labelled("fact", among=one.inherited_from or "")


def _entry(source: str, text: str) -> str:
    """Return a text on one line behind where it comes from, so that it cannot look like ours."""
    return _cut(entry(source, text, is_flat=True))


def _listed(entries: Sequence[str]) -> str:
    return "\n".join(entries) or _NOTHING


def _cut(line: str) -> str:
    return line if len(line) <= LINE_CHARS_MAX else f"{line[: LINE_CHARS_MAX - 1]}…"
