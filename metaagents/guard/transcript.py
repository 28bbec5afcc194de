"""A turn as those hear it who learn from it or sum it up. Pure.

A turn is a record of what was said and is stored as it was said. What of it is flagged never
becomes knowledge: a text that gives orders to its reader is not heard at all, and a secret is heard
as a label.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tiers.records import Source, Turn

from .policy import DEFAULT, GuardPolicy


def heard(turn: Turn, policy: GuardPolicy = DEFAULT, agents: Collection[str] = ()) -> Turn:
    """Return a turn without what the guard keeps from memory; the same turn if that is nothing.

    The words of the input are the user's, unless one of the ``agents`` speaks; those of the
    response are the agent's, and outputs are a tool's. How long a text is says nothing here.
    """
    said = _guarded(turn.input, "agent" if turn.speaker in agents else "user", policy)
    answered = _guarded(turn.response, "agent", policy)
    outputs = tuple(_guarded(one.output, "tool", policy) for one in turn.tool_outputs)
    same = (turn.input, turn.response, *(one.output for one in turn.tool_outputs))
    if (said, answered, *outputs) == same:
        return turn
    tools = zip(turn.tool_outputs, outputs, strict=True)
    guarded = tuple(one.model_copy(update={"output": text}) for one, text in tools)
    return turn.model_copy(update={"input": said, "response": answered, "tool_outputs": guarded})


def heard_all(
    turns: Iterable[Turn], policy: GuardPolicy = DEFAULT, agents: Collection[str] = ()
) -> tuple[Turn, ...]:
    """Return turns as they are heard, in their order."""
    return tuple(heard(turn, policy, agents) for turn in turns)


def _guarded(text: str, source: Source, policy: GuardPolicy) -> str:
    if not text:
        return text
    verdict = policy.judge(text, source, is_statement=False)
    return verdict.text if verdict.action in {"allow", "redact"} else ""
