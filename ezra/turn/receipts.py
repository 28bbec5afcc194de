"""What a receipt keeps of a context or a recall, and how that is read again. Pure.

A receipt holds no text of a record. It names each record that was shown, with what is needed to
read the same form of it again: its kind, its id, the graph that it came from, the version of a
playbook, the dates that were shown with a fact, the places of a summary's sentences that were left
out. What stands in no record is kept as ``text``, which redaction blanks like the question: the
agent's system line, what a connector returned, and the input where it was shown with the name of
who said it.

Whether what is read again is what was shown is told by hashes: SHA-256 over the receipt's own salt
and the text, and over the canonical JSON of all messages. Redaction, which blanks every receipt
that names what it reaches, destroys the salt: without it nobody can try short texts until the hash
fits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from tiers.records import Hit, Kind, Receipt

from .assemble import LAYOUTS, Context
from .slots import LAYOUT, Slot, SlotKind

SALT_BYTES = 16
SLOT_DIGEST_CHARS = 16
"""Enough to notice that a text is another one; the digest of the whole is kept in full."""

OWN_TEXT: frozenset[SlotKind] = frozenset({"system", "mesh"})
"""Slots that no record stands behind."""

Body: TypeAlias = dict[str, JsonValue]


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


VERSION = _installed("ezra")
"""Of the program; empty where it runs from a folder that nobody installed."""


class Seal:
    """Hashes texts with one receipt's salt.

    Args:
        salt: Hexadecimal; unpredictable, and of this receipt alone.
    """

    def __init__(self, salt: str) -> None:
        self._salt = salt

    def of_text(self, text: str) -> str:
        """Return the hash of one slot's text."""
        return self._hashed(text)[:SLOT_DIGEST_CHARS]

    def of_messages(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the hash of the canonical JSON of messages: sorted keys, no white space, ASCII."""
        plain = [dict(message) for message in messages]
        return self._hashed(json.dumps(plain, sort_keys=True, separators=(",", ":")))

    def of_slots(self, slots: Sequence[Slot]) -> str:
        """Return the hash of what a recall answered: ids and texts, in order."""
        answered = [[*slot.source_ids[:1], slot.text] for slot in slots]
        return self._hashed(json.dumps(answered, separators=(",", ":")))

    def _hashed(self, text: str) -> str:
        return hashlib.sha256(f"{self._salt}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def context_body(context: Context, salt: str) -> Body:
    """Return what a receipt keeps of a context, and of what did not come into it."""
    seal = Seal(salt)
    return {
        "layout": context.layout,
        "ezra": VERSION,
        "slots": [_slot_body(slot, seal) for slot in context.slots],
        "dropped": [slot.as_json() for slot in context.dropped],
        "folded": [slot.as_json() for slot in context.folded],
        "tokens": context.tokens,
        "seal": {"salt": salt, "digest": seal.of_messages(context.messages)},
    }


def recall_receipt_body(
    *,
    arguments: Mapping[str, JsonValue],
    items: Sequence[Hit],
    considered: Sequence[tuple[str, float]] = (),
    models: Mapping[str, str | None] | None = None,
    degraded: Sequence[str] = (),
    skipped: Sequence[str] = (),
    rerank_used: bool = False,
    salt: str,
) -> Body:
    """Return what a receipt keeps of a recall; the question is the receipt's ``query``.

    Args:
        arguments: What was asked for besides: ``limit``, ``kinds``, ``scope``, ``as_of``, ``mode``
            and whatever else asking again needs, as JSON values.
        items: The answer, best first.
        considered: Records that were weighed and not returned, each with its score, best first.
        models: The model that each part used: ``dense``, ``rerank``.
        degraded: Tiers and capabilities that did not take part.
        skipped: For each leg left out, why.
        rerank_used: Whether a reranker changed the order.
        salt: Hexadecimal digits of ``SALT_BYTES`` unpredictable bytes.
    """
    seal = Seal(salt)
    slots = [recalled_slot(hit) for hit in items]
    return {
        "layout": LAYOUT,
        "ezra": VERSION,
        "arguments": dict(arguments),
        "slots": [_slot_body(slot, seal) for slot in slots],
        "considered": [{"id": record_id, "score": score} for record_id, score in considered],
        "models": dict(models or {}),
        "degraded": list(degraded),
        "skipped": list(skipped),
        "rerank_used": rerank_used,
        "seal": {"salt": salt, "digest": seal.of_slots(slots)},
    }


def recalled_slot(hit: Hit) -> Slot:
    """Return an answer of a recall as a slot, which says where it came from."""
    return Slot(
        "recalled",
        hit.text,
        tuple(dict.fromkeys((hit.id, *hit.source_ids))),
        hit.score,
        inherited_from=hit.inherited_from,
        path=hit.path,
        record=hit.kind,
    )


def _slot_body(slot: Slot, seal: Seal) -> Body:
    body = slot.as_json() | {"digest": seal.of_text(slot.text)}
    is_named = slot.kind == "input" and slot.source
    return body | {"text": slot.text} if slot.kind in OWN_TEXT or is_named else body


class _Kept(BaseModel):
    """What is read back; what a later version has added is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class KeptSlot(_Kept):
    """A slot as a receipt keeps it: everything but its text, where a record has that.

    Attributes:
        digest: Of its text, with the receipt's salt.
        text: What it said, where neither a record stands behind it nor the question alone.
    """

    kind: SlotKind
    source_ids: tuple[str, ...] = ()
    score: float | None = None
    tokens: int = 0
    inherited_from: str | None = None
    path: tuple[str, ...] = ()
    record: Kind | None = None
    version: int | None = None
    since: str | None = None
    until: str | None = None
    is_cited: bool | None = None
    left_out: tuple[int, ...] = ()
    said_on: str | None = None
    digest: str = ""
    text: str | None = None

    @property
    def id(self) -> str:
        """The record that was shown; empty where there is none."""
        return self.source_ids[0] if self.source_ids else ""

    @property
    def key(self) -> tuple[str, str]:
        """What it is, whatever form it has: its record, or its kind of slot."""
        return key_of(self)


def key_of(slot: Slot | KeptSlot) -> tuple[str, str]:
    """Return what a slot is, whatever form it has: its record, or its kind of slot."""
    if slot.record is None:
        return slot.kind, ""
    return slot.record, slot.source_ids[0]


class KeptSeal(_Kept):
    """The salt of a receipt, empty after a redaction, and the hash of the whole."""

    salt: str
    digest: str


class KeptContext(_Kept):
    """The part of a receipt's body from which a context or an answer is rebuilt."""

    layout: int
    slots: tuple[KeptSlot, ...]
    seal: KeptSeal
    dropped: tuple[KeptSlot, ...] = ()
    folded: tuple[KeptSlot, ...] = ()
    turn_id: str | None = None
    input_at: datetime | None = None
    tokens: int = 0
    degraded: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    models: dict[str, str | None] = {}
    arguments: dict[str, Any] = {}

    @property
    def is_blank(self) -> bool:
        """Whether a redaction has blanked the receipt."""
        return not self.seal.salt


@dataclass(frozen=True)
class Unreadable:
    """Why nothing can be rebuilt from a receipt."""

    reason: str


def kept_of(receipt: Receipt) -> KeptContext | Unreadable:
    """Return what a receipt keeps, or why nothing can be made of it."""
    if "seal" not in receipt.body:
        return Unreadable("it was kept before receipts named what a context is rebuilt from")
    try:
        kept = KeptContext.model_validate(receipt.body)
    except ValidationError as error:
        places = {".".join(map(str, one["loc"])) for one in error.errors()}
        return Unreadable(f"its body cannot be read: {', '.join(sorted(places))}")
    if kept.layout not in LAYOUTS:
        return Unreadable(f"it was kept by a later version, with layout {kept.layout}")
    return kept
