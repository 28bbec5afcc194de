"""Step 6: fill a token budget in salience order. Pure: the same input gives the same context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from tiers.lexical import estimate_tokens
from tiers.previews import outputs_within
from tiers.records import (
    AgentRecord,
    Ancestor,
    Commitment,
    Fact,
    Hit,
    Kind,
    MeshResult,
    Rule,
    Turn,
)

from .mesh.rows import plain

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

LAYOUT = 2
"""How slots become messages. Receipts name it: an old context is laid out as it was then.

Whoever changes a heading or the form of a slot's text adds a layout and leaves the former ones.
The first showed nothing of what tools returned.
"""

STEADY_LAYOUT = 3
"""How they do where the model's window is known: what changes from turn to turn comes last."""

_HEADINGS_THEN: Mapping[SlotKind, str] = {
    "belief": "Beliefs",
    "core": "Core facts",
    "rule": "Procedures",
    "archival": "Facts that may help",
    "warm": "Earlier, in short",
    "mesh": "Fetched now",
}
_HEADINGS_NOW: Mapping[SlotKind, str] = {
    "belief": "Beliefs",
    "core": "Core facts",
    "rule": "Procedures",
    "injected": "What is known about this",
    "archival": "Facts that may help",
    "warm": "Earlier, in short",
    "mesh": "Fetched now",
}
_HEADINGS: Mapping[int, Mapping[SlotKind, str]] = {
    1: _HEADINGS_THEN,
    LAYOUT: _HEADINGS_NOW,
    STEADY_LAYOUT: _HEADINGS_NOW,
}
LAYOUTS = frozenset(_HEADINGS)
"""Every layout there ever was."""

STEADY: frozenset[SlotKind] = frozenset({"system", "belief", "core"})
"""What a steady layout begins with; the rest but the conversation stands before the input."""

INJECTED_CHARS = 1_600
"""So much is shown of one text that is injected."""

OUTPUT_CHARS_SHOWN = 4_000
"""Of what tools returned during a turn, so much is shown with it; the rest is named by its key."""

MESSAGE_OVERHEAD_TOKENS = 4

FROM_MEMORY = "From memory, not said by anybody, for what is said next:"
"""Begins a message that no person and no model wrote."""


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
        since: The date shown behind a fact.
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
        form = {"record": self.record, "version": self.version, "since": self.since}
        return kept | {name: value for name, value in form.items() if value is not None}


@dataclass(frozen=True)
class Material:
    """Everything the steps before assembly found.

    Attributes:
        note: What the model is told besides who it is.
        layout: ``LAYOUT`` or ``STEADY_LAYOUT``.
    """

    agent: AgentRecord
    input: str
    note: str = ""
    layout: int = LAYOUT
    beliefs: Sequence[Commitment] = ()
    core: Sequence[Fact] = ()
    rules: Sequence[Rule] = ()
    injected: Sequence[Hit] = ()
    archival: Sequence[Hit] = ()
    warm: Sequence[Hit] = ()
    hot: Sequence[Turn] = ()
    mesh: MeshResult | None = None
    lineage: Sequence[Ancestor] = ()


@dataclass(frozen=True)
class Context:
    """A context ready for a model.

    Attributes:
        slots: What went in, in salience order.
        dropped: What did not fit the budget.
        folded: What says nothing that a slot before it does not say.
        messages: ``[{role, content}, …]``: one system message, the hot turns, the input.
        tokens: Estimated tokens of all messages.
        layout: How slots became messages.
    """

    slots: tuple[Slot, ...] = ()
    dropped: tuple[Slot, ...] = ()
    folded: tuple[Slot, ...] = ()
    messages: list[dict[str, str]] = field(default_factory=list)
    tokens: int = 0
    layout: int = LAYOUT


def assemble(material: Material, budget: int) -> Context:
    """Pack the material into ``budget`` tokens.

    System and input always go in. The rest fills what is left in the order pinned beliefs,
    beliefs, core facts, rules, what is injected, archival facts, warm summaries, hot turns (newest
    first), mesh result; in a steady layout hot turns come behind core facts. A hot turn that does
    not fit goes in without what tools returned. A slot that does not fit is dropped, and smaller
    ones after it may still fit.
    """
    system, asked = _system_slot(material.agent, material.note), input_slot(material.input)
    left = budget - system.tokens - asked.tokens
    kept: list[Slot] = []
    dropped: list[Slot] = []
    folded: list[Slot] = []
    seen: set[str] = set()
    plainer = {turn.id: turn for turn in material.hot if turn.tool_outputs}
    for slot in _optional_slots(material):
        if slot.source_ids and slot.kind != "hot" and set(slot.source_ids) <= seen:
            folded.append(slot)
            continue
        if slot.tokens > left and slot.kind == "hot" and slot.source_ids[0] in plainer:
            slot = hot_slot(plainer[slot.source_ids[0]], output_chars=0)  # noqa: PLW2901
        if slot.tokens > left:
            dropped.append(slot)
            continue
        left -= slot.tokens
        kept.append(slot)
        seen.update(slot.source_ids)
    slots = (system, *_in_order(kept, material.layout), asked)
    tokens = sum(slot.tokens for slot in slots)
    messages = messages_of(slots, material.layout)
    return Context(slots, tuple(dropped), tuple(folded), messages, tokens, material.layout)


def _in_order(kept: Sequence[Slot], layout: int) -> list[Slot]:
    """Return slots in the order of their layout; hot turns the oldest first."""
    hot = [slot for slot in kept if slot.kind == "hot"][::-1]
    if layout != STEADY_LAYOUT:
        return [*(slot for slot in kept if slot.kind != "hot"), *hot]
    steady = [slot for slot in kept if slot.kind in STEADY]
    return [*steady, *hot, *(slot for slot in kept if slot.kind not in STEADY | {"hot"})]


def messages_of(slots: Sequence[Slot], layout: int = LAYOUT) -> list[dict[str, str]]:
    """Return what a model reads: one system message, then hot turns and input as they were said.

    In a steady layout what changes from turn to turn is a message of its own right before the
    input, so that everything before it is what the turn before began with.

    Args:
        slots: Of one context, in its order.
        layout: One of ``LAYOUTS``.
    """
    parts = [slot.text for slot in slots if slot.kind == "system"]
    changing: list[str] = []
    for kind, heading in _HEADINGS[layout].items():
        lines = [f"- {slot.text}" for slot in slots if slot.kind == kind]
        if lines:
            is_late = layout == STEADY_LAYOUT and kind not in STEADY
            (changing if is_late else parts).append("\n".join([f"## {heading}", *lines]))
    messages = [{"role": "system", "content": "\n\n".join(parts)}]
    for slot in slots:
        if slot.kind == "input" and changing:
            messages.append({"role": "user", "content": "\n\n".join([FROM_MEMORY, *changing])})
        messages += [{"role": role, "content": content} for role, content in slot.messages]
    return messages


def input_slot(text: str) -> Slot:
    """Return the slot of what was said to the agent."""
    tokens = estimate_tokens(text) + MESSAGE_OVERHEAD_TOKENS
    return Slot("input", text, tokens=tokens, messages=(("user", text),))


def hot_slot(turn: Turn, *, output_chars: int | None = OUTPUT_CHARS_SHOWN) -> Slot:
    """Return the slot of a turn of the ring: what was said, what tools returned, and the answer.

    Args:
        turn: As it is stored, or with its long outputs elided: the slot is the same.
        output_chars: How much is shown of what tools returned, the rest being named by its key;
            ``None`` for nothing at all, as it was in the first layout.
    """
    said = turn.input
    if turn.tool_outputs and output_chars is not None:
        outputs = outputs_within(turn, output_chars)
        said = "\n".join([said, *(f"[tool] {one}" for one in outputs)]).strip()
    messages = tuple(
        (role, content)
        for role, content in (("user", said), ("assistant", turn.response))
        if content
    )
    text = "\n".join(content for _, content in messages)
    tokens = estimate_tokens(text) + MESSAGE_OVERHEAD_TOKENS * len(messages)
    return Slot("hot", text, (turn.id,), tokens=tokens, messages=messages, record="turn")


def hot_slots(turn: Turn) -> tuple[Slot, ...]:
    """Return every form in which a turn of the ring may have been shown, the usual one first."""
    forms = (OUTPUT_CHARS_SHOWN, 0, None) if turn.tool_outputs else (None,)
    return tuple(hot_slot(turn, output_chars=chars) for chars in forms)


def injected_text(text: str) -> str:
    """Return what is injected of a text: its beginning, where it is long."""
    return text if len(text) <= INJECTED_CHARS else f"{text[: INJECTED_CHARS - 1]}…"


def dated(text: str, since: str | None) -> str:
    """Return a statement with the date from which on it holds, where that is known."""
    return text if since is None else f"{text} (since {since})"


def _slot(
    kind: SlotKind,
    text: str,
    source_ids: tuple[str, ...] = (),
    score: float | None = None,
    ancestor: Ancestor | None = None,
    *,
    record: Kind | None = None,
    version: int | None = None,
    since: str | None = None,
) -> Slot:
    return Slot(
        kind,
        text,
        source_ids,
        score,
        estimate_tokens(text) + 1,
        inherited_from=None if ancestor is None else ancestor.graph_id,
        path=() if ancestor is None else ancestor.path,
        record=record,
        version=version,
        since=since,
    )


def _system_slot(agent: AgentRecord, note: str = "") -> Slot:
    return _slot("system", "\n\n".join([f"You are {agent.id}. {agent.role}".strip(), note]).strip())


def _mesh_slot(mesh: MeshResult) -> Slot:
    # On one line: nothing that a source says may look like a heading of ours.
    return _slot("mesh", f"{mesh.source} at {mesh.queried_at:%Y-%m-%d %H:%M}: {plain(mesh.text)}")


def _found_slot(hit: Hit, ancestor: Ancestor | None, kind: Literal["archival", "injected"]) -> Slot:
    since = f"{hit.valid_from:%Y-%m-%d}" if hit.valid_from and hit.kind == "fact" else None
    text = dated(hit.text, since)
    text = injected_text(text) if kind == "injected" else text
    return _slot(kind, text, (hit.id,), hit.score, ancestor, record=hit.kind, since=since)


def _warm_slot(hit: Hit, ancestor: Ancestor | None) -> Slot:
    sources = tuple(dict.fromkeys((hit.id, *hit.source_ids)))
    return _slot("warm", hit.text, sources, hit.score, ancestor, record=hit.kind)


def _optional_slots(material: Material) -> list[Slot]:
    above = {ancestor.graph_id: ancestor for ancestor in material.lineage}
    beliefs = sorted(material.beliefs, key=lambda belief: not belief.pinned)
    slots = [_slot("belief", one.claim, (one.id,), record="belief") for one in beliefs]
    slots += [
        _slot("core", fact.text, (fact.id,), None, above.get(fact.graph_id), record="fact")
        for fact in material.core
    ]
    slots += [
        _slot(
            "rule",
            rule.text,
            (rule.id,),
            None,
            above.get(rule.graph_id),
            record="rule",
            version=rule.version,
        )
        for rule in material.rules
    ]
    hot = [hot_slot(turn) for turn in reversed(material.hot) if turn.redacted_at is None]
    is_steady = material.layout == STEADY_LAYOUT
    if is_steady:
        # What is found differs from turn to turn: it must not decide how much of the tail fits.
        at = sum(slot.kind in STEADY for slot in slots)
        slots[at:at] = hot
    found = [_found_slot(hit, above.get(hit.graph_id), "injected") for hit in material.injected]
    found += [_found_slot(hit, above.get(hit.graph_id), "archival") for hit in material.archival]
    found += [_warm_slot(hit, above.get(hit.graph_id)) for hit in material.warm]
    slots += found if is_steady else [*found, *hot]
    if material.mesh is not None:
        slots.append(_mesh_slot(material.mesh))
    return slots
