"""Step 6: fill a token budget in salience order. Pure: the same input gives the same context."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from metaagents.lifecycle.material import without
from tiers.fencing import RULE, as_said, entry, fenced, labelled
from tiers.forms import dated, shown_date
from tiers.learning import is_ahead, known_speaker
from tiers.lexical import estimate_tokens
from tiers.moments import UTC_ZONE, local
from tiers.records import (
    UNRECORDED,
    AgentRecord,
    Ancestor,
    Commitment,
    Fact,
    Hit,
    Kind,
    MeshResult,
    Owned,
    Rule,
    Scope,
    Turn,
)

from ..mesh.rows import plain
from .slots import (
    FENCED_LAYOUTS,
    LAYOUT,
    STEADY_LAYOUT,
    Slot,
    SlotKind,
    hot_slot,
    input_slot,
    shows_names,
)
from .telling import Telling, witnesses

_STEADY_UNFENCED = 3
_STEADY_LAYOUTS = frozenset({_STEADY_UNFENCED, STEADY_LAYOUT})
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
    2: _HEADINGS_NOW,
    _STEADY_UNFENCED: _HEADINGS_NOW,
    LAYOUT: _HEADINGS_NOW,
    STEADY_LAYOUT: _HEADINGS_NOW,
}
LAYOUTS = frozenset(_HEADINGS)
"""Every layout there ever was."""

STEADY: frozenset[SlotKind] = frozenset({"system", "belief", "core"})
"""What a steady layout begins with; the rest but the conversation stands before the input."""

INJECTED_CHARS = 1_600
"""So much is shown of one text that is injected."""

MESH_SOURCE = "live source"
"""Where the answer of a source comes from; its text begins with the name of it."""

FROM_MEMORY = "From memory, not said by anybody, for what is said next:"
"""Begins a message that no person and no model wrote."""


@dataclass(frozen=True)
class Material:
    """Everything the steps before assembly found.

    Attributes:
        note: What the model is told besides who it is.
        speaker: Who says the input, as its turn will have it.
        layout: ``LAYOUT`` or ``STEADY_LAYOUT``.
        zone: Where days begin.
        now: When the input is said: facts of former days are told with their day.
        personal: Facts of who speaks that are not about the message: where there is room.
    """

    agent: AgentRecord
    input: str
    note: str = ""
    speaker: str = ""
    layout: int = LAYOUT
    beliefs: Sequence[Commitment] = ()
    core: Sequence[Fact] = ()
    rules: Sequence[Rule] = ()
    injected: Sequence[Hit] = ()
    archival: Sequence[Hit] = ()
    said: Sequence[Hit] = ()
    warm: Sequence[Hit] = ()
    hot: Sequence[Turn] = ()
    mesh: MeshResult | None = None
    personal: Sequence[Hit] = ()
    lineage: Sequence[Ancestor] = ()
    zone: ZoneInfo = UTC_ZONE
    now: datetime = UNRECORDED


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
    beliefs, core facts, rules, what is injected, archival facts, turns that were found, warm
    summaries without what these or better ones tell, turns whose summary found no room, hot turns
    (newest first), mesh result, other facts of who speaks; in a steady layout hot turns come behind
    core facts. A hot turn that does not fit goes in without what tools returned. A slot that does
    not fit is dropped, and smaller ones after it may still fit.
    """
    is_named = _shows_names(material)
    said_by = known_speaker(material.speaker, material.agent.id) if is_named else ""
    asked = input_slot(material.input, said_by=said_by)
    system = _system_slot(material.agent, material.note)
    left = budget - system.tokens - asked.tokens
    kept: list[Slot] = []
    dropped: list[Slot] = []
    folded: list[Slot] = []
    seen: set[str] = set()
    found = {hit.id: hit for hit in (*material.said, *material.warm)}
    telling = Telling(material.zone)
    plainer = {turn.id: turn for turn in material.hot if turn.tool_outputs}
    for slot in _optional_slots(material):
        before = found.get(slot.source_ids[0]) if slot.kind == "warm" else None
        is_there = slot.source_ids and slot.kind != "hot" and set(slot.source_ids) <= seen
        if is_there or (before is not None and telling.has(before)):
            folded.append(slot)
            continue
        if before is not None:
            slot = _rest(slot, telling.known_of(before))  # noqa: PLW2901
        if slot.tokens > left and slot.kind == "hot" and slot.source_ids[0] in plainer:
            turn = plainer[slot.source_ids[0]]
            slot = hot_slot(turn, output_chars=0, is_named=is_named)  # noqa: PLW2901
        if slot.tokens > left:
            dropped.append(slot)
            continue
        left -= slot.tokens
        kept.append(slot)
        if before is not None:
            telling.add(before)
        seen.update(slot.source_ids)
    slots = (system, *_in_order(kept, material.layout), asked)
    tokens = sum(slot.tokens for slot in slots)
    messages = messages_of(slots, material.layout)
    return Context(slots, tuple(dropped), tuple(folded), messages, tokens, material.layout)


def _shows_names(material: Material) -> bool:
    return shows_names(material.hot, material.agent.id, material.speaker)


def _rest(slot: Slot, places: tuple[int, ...]) -> Slot:
    """Return a summary or an episode without the sentences that are told already."""
    if not places:
        return slot
    text = without(slot.text, places)
    tokens = _tokens_of_entry(slot.kind, slot.record, slot.source, text)
    return replace(slot, text=text, tokens=tokens, left_out=places)


def _in_order(kept: Sequence[Slot], layout: int) -> list[Slot]:
    """Return slots in the order of their layout; hot turns the oldest first."""
    hot = [slot for slot in kept if slot.kind == "hot"][::-1]
    if layout not in _STEADY_LAYOUTS:
        return [*(slot for slot in kept if slot.kind != "hot"), *hot]
    steady = [slot for slot in kept if slot.kind in STEADY]
    return [*steady, *hot, *(slot for slot in kept if slot.kind not in STEADY | {"hot"})]


def messages_of(slots: Sequence[Slot], layout: int = LAYOUT) -> list[dict[str, str]]:
    """Return what a model reads: one system message, then hot turns and input as they were said.

    In a steady layout what changes from turn to turn is a message of its own right before the
    input, so that everything before it is what the turn before began with. The system message
    begins with who the agent is and with the rule for data; what memory holds is fenced behind it.

    Args:
        slots: Of one context, in its order.
        layout: One of ``LAYOUTS``.
    """
    parts = [slot.text for slot in slots if slot.kind == "system"]
    if layout in FENCED_LAYOUTS:
        parts = [*map(as_said, parts), RULE]
    steady, late = _sections(slots, layout)
    messages = [{"role": "system", "content": "\n\n".join([*parts, *steady])}]
    for slot in slots:
        if slot.kind == "input" and late:
            messages.append({"role": "user", "content": "\n\n".join([FROM_MEMORY, *late])})
        messages += [{"role": role, "content": content} for role, content in slot.messages]
    return messages


def _sections(slots: Sequence[Slot], layout: int) -> tuple[list[str], list[str]]:
    """Return what memory holds: what the system message has of it, and what comes before the input.

    Up to the third layout that was a section for each heading; since then it is one block.
    """
    steady: list[str] = []
    late: list[str] = []
    is_fenced = layout in FENCED_LAYOUTS
    for kind, heading in _HEADINGS[layout].items():
        shown = [slot for slot in slots if slot.kind == kind]
        if shown:
            lines = [_entry(slot) if is_fenced else f"- {slot.text}" for slot in shown]
            is_late = layout in _STEADY_LAYOUTS and kind not in STEADY
            (late if is_late else steady).append("\n".join([f"## {heading}", *lines]))
    if not is_fenced:
        return steady, late
    return _block(steady), _block(late)


def _block(sections: Sequence[str]) -> list[str]:
    return [fenced("memory", sections)] if sections else []


def _entry(slot: Slot) -> str:
    return _entry_of(slot.kind, slot.record, slot.source, slot.text)


def _entry_of(kind: SlotKind, record: Kind | None, source: str, text: str) -> str:
    """Return a slot as an entry: a statement on one line, what has lines of its own with them."""
    return entry(source or kind, text, is_flat=record in ("belief", "fact", None))


def _tokens_of_entry(kind: SlotKind, record: Kind | None, source: str, text: str) -> int:
    return estimate_tokens(_entry_of(kind, record, source, text)) + 1


def injected_text(text: str) -> str:
    """Return what is injected of a text: its beginning, where it is long."""
    return text if len(text) <= INJECTED_CHARS else f"{text[: INJECTED_CHARS - 1]}…"


def source_of(
    kind: Kind, writer: str, reader: str, inherited_from: str | None, name: str = "", day: str = ""
) -> str:
    """Return where a slot comes from, as a model is told: also a receipt's records tell it.

    Args:
        kind: What the record is.
        writer: The agent that left it.
        reader: The agent that reads it: what is its own is not said to be.
        inherited_from: The ancestor graph that it was read from, if any.
        name: What a document is called.
        day: On which a turn or a fact was said.
    """
    by = "" if writer == reader and inherited_from is None else writer
    return labelled(kind, by=by, among=inherited_from or "", name=name, day=day)


@dataclass(frozen=True)
class _Shelf:
    """Makes slots of what memory holds, for one reader."""

    reader: str
    above: Mapping[str, Ancestor]
    zone: ZoneInfo
    now: datetime

    def slot(
        self,
        kind: SlotKind,
        record: Kind,
        text: str,
        held: Hit | Owned,
        source_ids: tuple[str, ...] = (),
        *,
        version: int | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Slot:
        ancestor = self.above.get(held.graph_id)
        whence = None if ancestor is None else ancestor.graph_id
        is_hit = isinstance(held, Hit)
        cited = held.citation if isinstance(held, Hit) else None
        name = "" if cited is None else cited.name
        if record == "turn" and isinstance(held, Hit) and held.occurred_at is not None:
            since = f"{local(held.occurred_at, self.zone):%Y-%m-%d}"
        said_on = self._day_said(held) if record == "fact" else None
        day = (since if record == "turn" else said_on) or ""
        source = source_of(record, held.agent_id, self.reader, whence, name, day)
        return Slot(
            kind,
            text,
            source_ids or (held.id,),
            held.score if isinstance(held, Hit) else None,
            _tokens_of_entry(kind, record, source, text),
            inherited_from=whence,
            path=() if ancestor is None else ancestor.path,
            record=record,
            version=version,
            since=since,
            until=until,
            source=source,
            is_cited=cited is not None if is_hit and record == "document" else None,
            said_on=said_on,
        )

    def _day_said(self, fact: Hit | Owned) -> str | None:
        """Return the day on which a fact was said that was learnt from talk, if before today."""
        if not isinstance(fact, (Hit, Fact)) or not fact.source_ids:
            return None
        day = f"{local(fact.said_at or fact.recorded_at, self.zone):%Y-%m-%d}"
        return day if day < f"{local(self.now, self.zone):%Y-%m-%d}" else None

    def found(self, hit: Hit, kind: Literal["archival", "injected"]) -> Slot:
        since, until = shown_date(hit.valid_from), shown_date(hit.valid_to)  # of facts alone
        text = dated(hit.text, since, until)
        text = injected_text(text) if kind == "injected" else text
        return self.slot(kind, hit.kind, text, hit, since=since, until=until)

    def core(self, fact: Fact) -> Slot:
        since = shown_date(fact.valid_from) if is_ahead(fact) else None
        until = shown_date(fact.valid_to)
        text = dated(fact.text, since, until)
        return self.slot("core", "fact", text, fact, since=since, until=until)

    def warm(self, hit: Hit) -> Slot:
        sources = tuple(dict.fromkeys((hit.id, *hit.source_ids)))
        return self.slot("warm", hit.kind, hit.text, hit, sources)


def _system_slot(agent: AgentRecord, note: str = "") -> Slot:
    text = "\n\n".join([f"You are {agent.id}. {agent.role}".strip(), note]).strip()
    return Slot("system", text, tokens=estimate_tokens(text) + estimate_tokens(RULE) + 1)


def core_cost(scope: Scope, now: datetime, zone: ZoneInfo) -> Callable[[Fact], int]:
    """Return what says how many tokens a core fact takes in a context of the scope."""
    above = {one.graph_id: one for one in scope.lineage}
    shelf = _Shelf(scope.agent_id or "", above, zone, now)
    return lambda fact: shelf.core(fact).tokens


def _mesh_slot(mesh: MeshResult) -> Slot:
    # On one line: nothing that a source says may look like a heading of ours.
    text = f"{mesh.source} at {mesh.queried_at:%Y-%m-%d %H:%M}: {plain(mesh.text)}"
    tokens = _tokens_of_entry("mesh", None, MESH_SOURCE, text)
    return Slot("mesh", text, tokens=tokens, source=MESH_SOURCE)


def _optional_slots(material: Material) -> list[Slot]:
    above = {one.graph_id: one for one in material.lineage}
    shelf = _Shelf(material.agent.id, above, material.zone, material.now)
    beliefs = sorted(material.beliefs, key=lambda belief: not belief.pinned)
    slots = [shelf.slot("belief", "belief", one.claim, one) for one in beliefs]
    slots += map(shelf.core, material.core)
    slots += [
        shelf.slot("rule", "rule", rule.text, rule, version=rule.version) for rule in material.rules
    ]
    is_named = _shows_names(material)
    ring = (turn for turn in reversed(material.hot) if turn.redacted_at is None)
    hot = [hot_slot(turn, is_named=is_named) for turn in ring]
    is_steady = material.layout in _STEADY_LAYOUTS
    if is_steady:
        # What is found differs from turn to turn: it must not decide how much of the tail fits.
        at = sum(slot.kind in STEADY for slot in slots)
        slots[at:at] = hot
    found = [shelf.found(hit, "injected") for hit in material.injected]
    found += [shelf.found(hit, "archival") for hit in material.archival]
    first, stood_for = witnesses(material.said, material.warm)
    found += [shelf.warm(hit) for hit in (*first, *material.warm, *stood_for)]
    slots += found if is_steady else [*found, *hot]
    if material.mesh is not None:
        slots.append(_mesh_slot(material.mesh))
    slots += [shelf.found(hit, "archival") for hit in material.personal]
    return slots
