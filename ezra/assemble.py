"""Step 6: fill a token budget in salience order. Pure: the same input gives the same context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from tiers.lexical import estimate_tokens
from tiers.records import AgentRecord, Ancestor, Commitment, Fact, Hit, MeshResult, Rule, Turn

SlotKind = Literal["system", "belief", "core", "rule", "archival", "warm", "hot", "mesh", "input"]

_HEADINGS: dict[SlotKind, str] = {
    "belief": "Beliefs",
    "core": "Core facts",
    "rule": "Procedures",
    "archival": "Facts that may help",
    "warm": "Earlier, in short",
    "mesh": "Fetched now",
}
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
    """

    kind: SlotKind
    text: str
    source_ids: tuple[str, ...] = ()
    score: float | None = None
    tokens: int = 0
    inherited_from: str | None = None
    path: tuple[str, ...] = ()
    messages: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, JsonValue]:
        """Return ids, score and cost without the text, as a receipt keeps it."""
        return {
            "kind": self.kind,
            "source_ids": list(self.source_ids),
            "score": self.score,
            "tokens": self.tokens,
            "inherited_from": self.inherited_from,
            "path": list(self.path),
        }


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
        messages: ``[{role, content}, …]``: one system message, the hot turns, the input.
        tokens: Estimated tokens of all messages.
    """

    slots: tuple[Slot, ...] = ()
    dropped: tuple[Slot, ...] = ()
    messages: list[dict[str, str]] = field(default_factory=list)
    tokens: int = 0


def assemble(material: Material, budget: int) -> Context:
    """Pack the material into ``budget`` tokens.

    System and input always go in. The rest fills what is left in the order pinned beliefs,
    beliefs, core facts, rules, archival facts, warm summaries, hot turns (newest first), mesh
    result. A slot that does not fit is dropped, and smaller ones after it may still fit.
    """
    system, asked = _system_slot(material), _input_slot(material)
    left = budget - system.tokens - asked.tokens
    kept: list[Slot] = []
    dropped: list[Slot] = []
    seen: set[str] = set()
    for slot in _optional_slots(material):
        if slot.source_ids and slot.kind != "hot" and set(slot.source_ids) <= seen:
            continue
        if slot.tokens > left:
            dropped.append(slot)
            continue
        left -= slot.tokens
        kept.append(slot)
        seen.update(slot.source_ids)
    slots = (system, *(slot for slot in kept if slot.kind != "hot"))
    hot = [slot for slot in kept if slot.kind == "hot"][::-1]
    everything = (*slots, *hot, asked)
    tokens = sum(slot.tokens for slot in everything)
    return Context(everything, tuple(dropped), _messages(slots, hot, asked), tokens)


def _slot(
    kind: SlotKind,
    text: str,
    source_ids: tuple[str, ...] = (),
    score: float | None = None,
    ancestor: Ancestor | None = None,
) -> Slot:
    tokens = estimate_tokens(text) + 1
    if ancestor is None:
        return Slot(kind, text, source_ids, score, tokens)
    return Slot(kind, text, source_ids, score, tokens, ancestor.graph_id, ancestor.path)


def _system_slot(material: Material) -> Slot:
    agent = material.agent
    return _slot("system", f"You are {agent.id}. {agent.role}".strip())


def _input_slot(material: Material) -> Slot:
    tokens = estimate_tokens(material.input) + MESSAGE_OVERHEAD_TOKENS
    said = (("user", material.input),)
    return Slot("input", material.input, tokens=tokens, messages=said)


def _optional_slots(material: Material) -> list[Slot]:
    above = {ancestor.graph_id: ancestor for ancestor in material.lineage}
    beliefs = sorted(material.beliefs, key=lambda belief: not belief.pinned)
    slots = [_slot("belief", belief.claim, (belief.id,)) for belief in beliefs]
    slots += [
        _slot("core", fact.text, (fact.id,), None, above.get(fact.graph_id))
        for fact in material.core
    ]
    slots += [
        _slot("rule", rule.text, (rule.id,), None, above.get(rule.graph_id))
        for rule in material.rules
    ]
    slots += [
        _slot("archival", _dated(hit), (hit.id,), hit.score, above.get(hit.graph_id))
        for hit in material.archival
    ]
    slots += [
        _slot("warm", hit.text, (hit.id, *hit.source_ids), hit.score, above.get(hit.graph_id))
        for hit in material.warm
    ]
    slots += [_hot_slot(turn) for turn in reversed(material.hot) if turn.redacted_at is None]
    if material.mesh is not None:
        mesh = material.mesh
        when = f"{mesh.queried_at:%Y-%m-%d %H:%M}"
        slots.append(_slot("mesh", f"{mesh.source} at {when}: {mesh.text}"))
    return slots


def _dated(hit: Hit) -> str:
    return f"{hit.text} (since {hit.valid_from:%Y-%m-%d})" if hit.valid_from else hit.text


def _hot_slot(turn: Turn) -> Slot:
    said = (("user", turn.input), ("assistant", turn.response))
    messages = tuple((role, content) for role, content in said if content)
    text = "\n".join(content for _, content in messages)
    tokens = estimate_tokens(text) + MESSAGE_OVERHEAD_TOKENS * len(messages)
    return Slot("hot", text, (turn.id,), tokens=tokens, messages=messages)


def _messages(slots: Sequence[Slot], hot: Sequence[Slot], asked: Slot) -> list[dict[str, str]]:
    parts = [slots[0].text]
    for kind, heading in _HEADINGS.items():
        lines = [f"- {slot.text}" for slot in slots if slot.kind == kind]
        if lines:
            parts.append("\n".join([f"## {heading}", *lines]))
    messages = [{"role": "system", "content": "\n\n".join(parts)}]
    messages += [
        {"role": role, "content": content}
        for slot in (*hot, asked)
        for role, content in slot.messages
    ]
    return messages
