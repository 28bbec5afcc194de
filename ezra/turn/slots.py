"""What a context is made of: slots, and those that are messages of their own. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from tiers.fencing import as_said, entry, fenced, named
from tiers.forms import spoken
from tiers.learning import known_speaker
from tiers.lexical import estimate_tokens
from tiers.previews import outputs_within
from tiers.records import Kind, Turn

SlotKind = Literal[
    "system",
    "belief",
    "core",
    "rule",
    "injected",
    "archival",
    "warm",
    "hot",
    "mesh",
    "input",
    "recalled",
]
"""Where a slot stands in a context; ``recalled`` is an answer of a recall, and in none."""

LAYOUT = 4
"""How slots become messages. Receipts name it: an old context is laid out as it was then.

Whoever changes a heading or the form of a slot's text adds a layout and leaves the former ones.
Forms that a receipt tells apart by the slot's own hash are of one layout: see ``hot_slots``.
The first showed nothing of what tools returned; up to the third nothing was fenced.
"""

STEADY_LAYOUT = 5
"""How they do where the model's window is known: what changes from turn to turn comes last."""

FENCED_LAYOUTS = frozenset({LAYOUT, STEADY_LAYOUT})
"""Those in which what others said cannot be taken for what is ours."""

OUTPUT_CHARS_SHOWN = 4_000
"""Of what tools returned during a turn, so much is shown with it; the rest is named by its key."""

MESSAGE_OVERHEAD_TOKENS = 4


@dataclass(frozen=True)
class Slot:
    """One piece of the context, with where it came from.

    Attributes:
        kind: Its place in the salience order.
        text: What the model reads.
        source_ids: The records it rests on.
        score: The retrieval score, where it was retrieved.
        tokens: Its estimated cost.
        inherited_from: The ancestor graph it was read from, if any.
        path: The graphs from the own parent to ``inherited_from``, itself last.
        messages: For hot turns and the input: the messages it becomes, as (role, content).
        record: What the first of ``source_ids`` is; ``None`` for what no store holds.
        version: For a rule, the version of its steps.
        since: The date shown behind a fact, from which on it held; the day of a turn.
        until: The date shown behind a fact, to which it held.
        said_on: The day shown before a fact, on which it was said.
        source: Where it comes from, as the model is told; the kind of slot where it is empty. Of
            hot turns and the input who said it, where that is shown.
        is_cited: Whether ``source`` names the document; ``None`` for what is none.
        left_out: Of a summary or an episode the places of sentences that other slots tell.
    """

    kind: SlotKind
    text: str
    source_ids: tuple[str, ...] = ()
    score: float | None = None
    tokens: int = 0
    inherited_from: str | None = None
    path: tuple[str, ...] = ()
    messages: tuple[tuple[str, str], ...] = ()
    record: Kind | None = None
    version: int | None = None
    since: str | None = None
    until: str | None = None
    source: str = ""
    is_cited: bool | None = None
    left_out: tuple[int, ...] = ()
    said_on: str | None = None

    def as_json(self) -> dict[str, JsonValue]:
        """Return ids, score and cost without the text, as a receipt keeps it."""
        kept: dict[str, JsonValue] = {
            "kind": self.kind,
            "source_ids": list(self.source_ids),
            "score": self.score,
            "tokens": self.tokens,
            "inherited_from": self.inherited_from,
            "path": list(self.path),
        }
        form: dict[str, JsonValue] = {
            "record": self.record,
            "version": self.version,
            "since": self.since,
            "until": self.until,
            "is_cited": self.is_cited,
            "said_on": self.said_on,
            "left_out": list(self.left_out) or None,
        }
        return kept | {name: value for name, value in form.items() if value is not None}


def shows_names(turns: Sequence[Turn], agent_id: str, speaker: str) -> bool:
    """Whether messages say who speaks: where it is known that not one person does.

    Args:
        turns: Of the conversation that is shown.
        agent_id: Who is spoken to.
        speaker: Who speaks now.
    """
    said_by = [speaker, *(turn.speaker for turn in turns if turn.input)]
    names = {known_speaker(one, agent_id).casefold() for one in said_by}
    return len(names - {""}) > 1


def input_slot(text: str, layout: int = LAYOUT, *, said_by: str = "") -> Slot:
    """Return the slot of what was said to the agent.

    Args:
        text: The message.
        layout: One of ``LAYOUTS``.
        said_by: The name that is shown with it, if any.
    """
    text = _said(said_by, text)
    tokens = estimate_tokens(text) + MESSAGE_OVERHEAD_TOKENS
    said = as_said(text) if layout in FENCED_LAYOUTS else text
    return Slot("input", text, tokens=tokens, messages=(("user", said),), source=said_by)


def _said(said_by: str, text: str) -> str:
    """Return a message behind the name of who said it, as memory tells it; or without one."""
    return spoken(named(said_by), text, "") if said_by and text else text


def hot_slot(
    turn: Turn,
    *,
    output_chars: int | None = OUTPUT_CHARS_SHOWN,
    layout: int = LAYOUT,
    is_named: bool = False,
) -> Slot:
    """Return the slot of a turn of the ring: what was said, what tools returned, and the answer.

    Its text, by which a receipt knows it, is the same in every layout.

    Args:
        turn: As it is stored, or with its long outputs elided: the slot is the same.
        output_chars: How much is shown of what tools returned, the rest being named by its key;
            ``None`` for nothing at all, as it was in the first layout.
        layout: One of ``LAYOUTS``.
        is_named: Whether it says who spoke to the agent, where that is known.
    """
    said_by = known_speaker(turn.speaker, turn.agent_id) if is_named and turn.input else ""
    message = _said(said_by, turn.input)
    outputs = () if output_chars is None else outputs_within(turn, output_chars)
    plain = "\n".join([message, *(f"[tool] {one.tool}: {one.output}" for one in outputs)]).strip()
    said, response = plain if outputs else message, turn.response
    text = "\n".join(content for content in (said, response) if content)
    if layout in FENCED_LAYOUTS:
        returned = [entry(f"tool {named(one.tool)}", one.output) for one in outputs]
        block = [fenced("tools", returned)] if returned else []
        said = "\n".join([as_said(message), *block]).strip() if block else as_said(message)
        response = as_said(response)
    messages = tuple(
        (role, content) for role, content in (("user", said), ("assistant", response)) if content
    )
    tokens = sum(estimate_tokens(content) + MESSAGE_OVERHEAD_TOKENS for _, content in messages)
    return Slot(
        "hot",
        text,
        (turn.id,),
        tokens=tokens,
        messages=messages,
        record="turn",
        source=said_by,
    )


def hot_slots(turn: Turn, layout: int = LAYOUT) -> tuple[Slot, ...]:
    """Return every form in which a turn of the ring may have been shown, the usual one first."""
    forms = (OUTPUT_CHARS_SHOWN, 0, None) if turn.tool_outputs else (None,)
    return tuple(
        hot_slot(turn, output_chars=chars, layout=layout, is_named=is_named)
        for is_named in ((False, True) if known_speaker(turn.speaker, turn.agent_id) else (False,))
        for chars in forms
    )
