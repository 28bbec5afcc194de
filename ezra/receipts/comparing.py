"""How the context of today differs from one that a receipt tells of. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import singledispatch

from tiers.documents import Passage
from tiers.records import Fact, HistoricBelief, Owned, Summary
from tiers.taint import SET_ASIDE

from ..turn.receipts import KeptSlot, Seal, key_of
from ..turn.slots import Slot, SlotKind

_OTHER_FORM: Mapping[SlotKind, str] = {
    "system": "the agent or its role is another",
    "mesh": "another result is at hand",
    "hot": "the same turn in another form",
}
_NOT_THERE: Mapping[SlotKind, str] = {
    "hot": "no longer among the agent's last turns",
    "mesh": "nothing that was fetched is at hand",
}


@dataclass(frozen=True)
class Changed:
    """A slot that is there today in another form.

    Attributes:
        was: As the receipt keeps it.
        now: As it is today.
        why: What has changed about it.
    """

    was: KeptSlot
    now: Slot
    why: str


@dataclass(frozen=True)
class Gone:
    """A slot that is not there today, and why, as far as that can be told."""

    was: KeptSlot
    why: str


@dataclass(frozen=True)
class ContextDiff:
    """What the same question would be given now, beside what it was given then.

    Attributes:
        kept: Slots that are the same, word for word.
        changed: Those that are there in another form, or in another place.
        gone: Those that are not there any more.
        new: Those that were not there then.
        degraded: Tiers and capabilities that did not take part today.
        skipped: For each leg left out today, why.
    """

    kept: tuple[Slot, ...] = ()
    changed: tuple[Changed, ...] = ()
    gone: tuple[Gone, ...] = ()
    new: tuple[Slot, ...] = ()
    degraded: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether it would be given the same."""
        return not (self.changed or self.gone or self.new)


@dataclass(frozen=True)
class Today:
    """What a question is given now.

    Attributes:
        slots: What it is given.
        dropped: What did not fit.
        folded: What other slots tell already.
        left_out: Core facts that found no place in the core block, by id, with the reason.
        lineage: The graphs that are inherited from.
        degraded: As of the diff.
        skipped: As of the diff.
        now: The time.
    """

    slots: Sequence[Slot]
    now: datetime
    dropped: Sequence[Slot] = ()
    folded: Sequence[Slot] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    lineage: Collection[str] = ()
    degraded: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


def compare(
    then: Sequence[KeptSlot],
    today: Today,
    seal: Seal,
    records: Mapping[tuple[str, str], Owned],
    missing: Mapping[tuple[str, str], str],
) -> ContextDiff:
    """Return how what is given today differs from what was given then.

    Args:
        then: The slots of the receipt.
        today: What is given today.
        seal: Of the receipt: two texts are the same when their hashes are.
        records: The records of ``then`` as they are stored now, by ``KeptSlot.key``.
        missing: Why the others cannot be read.
    """
    there = {_place_of(slot): slot for slot in today.slots}
    kept: list[Slot] = []
    changed: list[Changed] = []
    gone: list[Gone] = []
    for was in then:
        now = there.pop(_place_of(was), None)
        if now is None:
            why = missing.get(was.key) or why_gone(was, records.get(was.key), today)
            gone.append(Gone(was, why))
        elif difference := _why_changed(was, now, seal):
            changed.append(Changed(was, now, difference))
        else:
            kept.append(now)
    new = tuple(slot for slot in today.slots if _place_of(slot) in there)
    return ContextDiff(tuple(kept), tuple(changed), tuple(gone), new, today.degraded, today.skipped)


def _place_of(slot: Slot | KeptSlot) -> tuple[str, str]:
    """Return what is compared with what; a turn of the ring is no answer of a search."""
    kind, record_id = key_of(slot)
    return ("hot" if slot.kind == "hot" else kind), record_id


def why_gone(was: KeptSlot, record: Owned | None, today: Today) -> str:
    """Return why a slot is not given today, in words."""
    ended = None if record is None else fate_of(record, today.now)
    why = ended or _why_left_out(was, today)
    if why is None and isinstance(record, Fact) and was.kind == "core" != record.tier:
        return "demoted to archival, and not found for this question"
    return why or _why_not_found(was, today)


def _why_left_out(was: KeptSlot, today: Today) -> str | None:
    """Return why it was left out though it was found; ``None``: it was not found."""
    if was.key in {key_of(slot) for slot in today.dropped}:
        return "did not fit the token budget"
    if was.key in {key_of(slot) for slot in today.folded}:
        return "another slot tells it"
    if was.record == "fact" and was.id in today.left_out:
        return f"left out of the core block: {today.left_out[was.id]}"
    return None


def _why_not_found(was: KeptSlot, today: Today) -> str:
    if was.inherited_from is not None and was.inherited_from not in today.lineage:
        return f"{was.inherited_from} is not inherited from any more"
    if was.kind in _NOT_THERE:
        return _NOT_THERE[was.kind]
    if today.degraded:
        return f"not found; {', '.join(today.degraded)} did not take part"
    return "not found for this question any more"


@singledispatch
def fate_of(record: Owned, _: datetime) -> str | None:
    """Return how a record ended, in words; ``None`` while it has not."""
    return destroyed(record)


@fate_of.register
def _of_fact(fact: Fact, _: datetime) -> str | None:
    if fact.superseded_by is not None:
        how = "a duplicate of" if fact.superseded_as == "duplicate" else "superseded by"
        return f"{how} {fact.superseded_by}"
    if fact.forgotten_at is not None:
        return f"forgotten on request on {fact.forgotten_at:%Y-%m-%d}"
    return destroyed(fact)


@fate_of.register
def _of_belief(belief: HistoricBelief, _: datetime) -> str | None:
    if belief.redacted_at is not None:
        return destroyed(belief)
    if belief.status == "active":
        return None
    by = f" by {belief.superseded_by}" if belief.superseded_by else ""
    return f"{belief.status}{by}"


@fate_of.register
def _of_summary(summary: Summary, now: datetime) -> str | None:
    if summary.expires_at is not None and summary.expires_at <= now:
        return destroyed(summary) or f"expired on {summary.expires_at:%Y-%m-%d}"
    return destroyed(summary)


def destroyed(record: Owned) -> str | None:
    """Return what took a record's content, and when; ``None`` while it has it."""
    retired_at = getattr(record, "retired_at", None)
    if isinstance(retired_at, datetime) and not isinstance(record, Passage):
        return f"its content was destroyed by retention on {retired_at:%Y-%m-%d}"
    if record.redacted_at is not None:
        how = "set aside by a roll-back" if _is_set_aside(record) else "redacted"
        return f"{how} on {record.redacted_at:%Y-%m-%d}"
    return None


def _is_set_aside(record: Owned) -> bool:
    """Whether a roll-back keeps what a record said: its text says so."""
    texts = (getattr(record, name, "") for name in ("text", "input", "trigger", "title"))
    return SET_ASIDE in texts


def _why_changed(was: KeptSlot, now: Slot, seal: Seal) -> str | None:
    """Return what is different about a slot, in words; ``None``: nothing."""
    if was.kind != now.kind:
        moved = {("archival", "core"): "promoted to core", ("core", "archival"): "demoted"}
        return moved.get((was.kind, now.kind), f"{now.kind} where it was {was.kind}")
    if was.version != now.version and now.version is not None:
        return f"refined: version {was.version} is now version {now.version}"
    if was.digest != seal.of_text(now.text):
        return _OTHER_FORM.get(was.kind, "it says something else")
    return None
