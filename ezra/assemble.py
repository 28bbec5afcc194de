"""Step 6: fill a token budget in salience order. Pure: the same input gives the same context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from tiers.lexical import estimate_tokens
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

SlotKind = Literal[
    "system", "belief", "core", "rule", "archival", "warm", "hot", "mesh", "input", "recalled"
]
"""Where a slot stands in a context; ``recalled`` is an answer of a recall, and in none."""

LAYOUT = 1
"""How slots become messages. Receipts name it: an old context is laid out as it was then.

Whoever changes a heading or the form of a slot's text adds a layout and leaves the former ones.
"""

_HEADINGS: Mapping[int, Mapping[SlotKind, str]] = {
    1: {
        "belief": "Beliefs",
        "core": "Core facts",
        "rule": "Procedures",
        "archival": "Facts that may help",
        "warm": "Earlier, in short",
        "mesh": "Fetched now",
    },
}
LAYOUTS = frozenset(_HEADINGS)
"""Every layout there ever was."""

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
    """Everything the steps before assembly found."""

    agent: AgentRecord
    input: str
    beliefs: Sequence[Commitment] = ()
    core: Sequence[Fact] = ()
    rules: Sequence[Rule] = ()
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
    """

    slots: tuple[Slot, ...] = ()
    dropped: tuple[Slot, ...] = ()
    folded: tuple[Slot, ...] = ()
    messages: list[dict[str, str]] = field(default_factory=list)
    tokens: int = 0


def assemble(material: Material, budget: int) -> Context:
    """Pack the material into ``budget`` tokens.

    System and input always go in. The rest fills what is left in the order pinned beliefs,
    beliefs, core facts, rules, archival facts, warm summaries, hot turns (newest first), mesh
    result. A slot that does not fit is dropped, and smaller ones after it may still fit.
    """
    system, asked = _system_slot(material.agent), input_slot(material.input)
    left = budget - system.tokens - asked.tokens
    kept: list[Slot] = []
    dropped: list[Slot] = []
    folded: list[Slot] = []
    seen: set[str] = set()
    for slot in _optional_slots(material):
        if slot.source_ids and slot.kind != "hot" and set(slot.source_ids) <= seen:
            folded.append(slot)
            continue
        if slot.tokens > left:
            dropped.append(slot)
            continue
        left -= slot.tokens
        kept.append(slot)
        seen.update(slot.source_ids)
    hot = [slot for slot in kept if slot.kind == "hot"][::-1]
    slots = (system, *(slot for slot in kept if slot.kind != "hot"), *hot, asked)
    tokens = sum(slot.tokens for slot in slots)
    return Context(slots, tuple(dropped), tuple(folded), messages_of(slots), tokens)


def messages_of(slots: Sequence[Slot], layout: int = LAYOUT) -> list[dict[str, str]]:
    """Return what a model reads: one system message, then hot turns and input as they were said.

    Args:
        slots: Of one context, in its order.
        layout: One of ``LAYOUTS``.
    """
    parts = [slot.text for slot in slots if slot.kind == "system"]
    for kind, heading in _HEADINGS[layout].items():
        lines = [f"- {slot.text}" for slot in slots if slot.kind == kind]
        if lines:
            parts.append("\n".join([f"## {heading}", *lines]))
    messages = [{"role": "system", "content": "\n\n".join(parts)}]
    messages += [
        {"role": role, "content": content} for slot in slots for role, content in slot.messages
    ]
    return messages


def input_slot(text: str) -> Slot:
    """Return the slot of what was said to the agent."""
    tokens = estimate_tokens(text) + MESSAGE_OVERHEAD_TOKENS
    return Slot("input", text, tokens=tokens, messages=(("user", text),))


def hot_slot(turn: Turn) -> Slot:
    """Return the slot of a turn of the ring: what was said, and what the agent answered."""
    said = (("user", turn.input), ("assistant", turn.response))
    messages = tuple((role, content) for role, content in said if content)
    text = "\n".join(content for _, content in messages)
    tokens = estimate_tokens(text) + MESSAGE_OVERHEAD_TOKENS * len(messages)
    return Slot("hot", text, (turn.id,), tokens=tokens, messages=messages, record="turn")


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


def _system_slot(agent: AgentRecord) -> Slot:
    return _slot("system", f"You are {agent.id}. {agent.role}".strip())


def _mesh_slot(mesh: MeshResult) -> Slot:
    return _slot("mesh", f"{mesh.source} at {mesh.queried_at:%Y-%m-%d %H:%M}: {mesh.text}")


def _archival_slot(hit: Hit, ancestor: Ancestor | None) -> Slot:
    since = f"{hit.valid_from:%Y-%m-%d}" if hit.valid_from else None
    text = dated(hit.text, since)
    return _slot("archival", text, (hit.id,), hit.score, ancestor, record=hit.kind, since=since)


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
    slots += [_archival_slot(hit, above.get(hit.graph_id)) for hit in material.archival]
    slots += [_warm_slot(hit, above.get(hit.graph_id)) for hit in material.warm]
    slots += [hot_slot(turn) for turn in reversed(material.hot) if turn.redacted_at is None]
    if material.mesh is not None:
        slots.append(_mesh_slot(material.mesh))
    return slots
