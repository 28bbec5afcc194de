"""The one door to lasting knowledge: what is to be stored is looked at, then stored or refused.

What is learnt from turns does not come through here: learning hears turns without what the guard
keeps from memory (``metaagents/guard/transcript.py``).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import JsonValue

from metaagents.guard.policy import Verdict, strictest
from tiers.errors import WriteRefused
from tiers.fleet import CATALOG
from tiers.ids import derived_id
from tiers.knowledge import is_apart, is_kept
from tiers.quarantine import Detector, Finding, Held, Quarantined
from tiers.records import (
    TEXT_CHARS_MAX,
    UNRECORDED,
    Commitment,
    Fact,
    Record,
    Rule,
    Scope,
    Source,
)

from .operations import ACCEPTED_WITHOUT_SECRETS
from .runtime import Runtime

R = TypeVar("R", bound=Record)

BESIDE_CHARS = 2_000
"""Longer texts are looked at beside the event loop."""
PAYLOAD_CHARS_MAX = 2_000_000
"""What is larger is refused instead of being put aside."""

ACCEPTED: Mapping[Detector, str] = {
    "override": "a statement, without orders to drop instructions",
    "forgery": "plain text, without marks of roles, prompts and calls of tools",
    "exfiltration": "a statement, without orders to give memories or credentials away",
    "hidden": "text in plain spelling",
    "secret": ACCEPTED_WITHOUT_SECRETS,
    "order": "a statement, without standing orders to the assistant",
    "trigger": "a statement, without orders that wait for an occasion",
    "protected": "text that sets no protected setting",
    "echo": "a statement that rests on a user's or a tool's words",
    "look-alike": "words of one script each",
    "size": "one statement of ordinary length, words and nesting",
}
"""What would be accepted, by what was found."""


@dataclass(frozen=True)
class Write:
    """What is to be stored.

    Attributes:
        held: What it is.
        source: Whose words it is.
        topics: Its topics.
        private: Whether only its writer may see it.
        more: What else is needed to store it later, as JSON values.
    """

    held: Held
    source: Source
    topics: tuple[str, ...] = ()
    private: bool = False
    more: Mapping[str, JsonValue] | None = None


def statement_texts(record: Record) -> list[str]:
    """Return every text of a fact, a rule or a belief that a reader may come to see.

    Of what an application keeps that is the text by which it is found: the rest, its address and
    its content, is the application's own, word for word.
    """
    if isinstance(record, Rule):
        return [record.trigger, *record.steps]
    if isinstance(record, Fact) and is_kept(record):
        return [record.text]
    # A triple says what each of its parts alone does not: "password: …".
    if isinstance(record, Fact):
        parts = (record.subject, record.predicate, record.object)
        pair = [f"{parts[1]}: {parts[2]}"] if parts[1] and parts[2] else []
        return [one for one in (record.text, *parts, *pair) if one]
    if isinstance(record, Commitment):
        pair = [f"{record.key[1]}: {record.value}"] if record.key and record.value else []
        return [record.claim, *(record.key or ()), *filter(None, (record.value,)), *pair]
    message = f"{type(record).__name__} is no statement"
    raise TypeError(message)


async def admitted(
    runtime: Runtime,
    scope: Scope,
    write: Write,
    record: R,
    texts_of: Callable[[R], list[str]] = statement_texts,
) -> R:
    """Return a record as it may be stored: as it is, or with secrets replaced by labels.

    Raises:
        WriteRefused: It was put aside, or is refused; the audit feed says so. A text that a person
            has released is admitted from then on.
    """
    if isinstance(record, Fact) and is_apart(record):
        # An application's own item: found by its address alone, compared with nothing.
        return record
    texts = texts_of(record)
    is_statement = write.held != "document"
    verdicts = await _judged(runtime, texts, write.source, is_statement=is_statement)
    action = strictest(verdicts)
    if action == "allow":
        return record
    findings = tuple(one for verdict in verdicts for one in verdict.findings)
    clean = _without(record, texts, verdicts)
    why = f"{write.held} of {write.source}: {', '.join(_names(findings))}"
    if action == "redact":
        await runtime.log.append_audit(scope, "guard redacted", (), why, runtime.clock())
        return clean
    payload = {"record": clean.model_dump(mode="json"), **(write.more or {})}
    # Nobody looks through what is put aside of a catalog, which every agent of a tenant reads.
    is_kept = scope.graph_id != CATALOG and len(json.dumps(payload)) <= PAYLOAD_CHARS_MAX
    if action == "block" or not is_kept:
        await runtime.log.append_audit(scope, "guard blocked", (), why, runtime.clock())
        raise _refused(write, findings, None)
    text = "\n".join(texts_of(clean))
    aside = _quarantined(runtime, scope, write, text, payload, findings)
    held = await runtime.quarantine.hold(scope, aside)
    if held.state == "released":
        return clean
    raise _refused(write, findings, None if held.state == "discarded" else held.id)


def _quarantined(
    runtime: Runtime,
    scope: Scope,
    write: Write,
    text: str,
    payload: dict[str, JsonValue],
    findings: tuple[Finding, ...],
) -> Quarantined:
    """Return the record of what is put aside; the same text of the same writer is one."""
    whose = (scope.tenant, scope.graph_id, scope.agent_id or "", scope.user_id or "")
    seen_by = ("private" if write.private else "", json.dumps(write.topics))
    kind = (write.held, write.source)
    name = derived_id(UNRECORDED, "quarantined", *whose, *seen_by, *kind, text)
    owned = {"topics": write.topics, "private": write.private}
    record = Quarantined(
        held=write.held,
        source=write.source,
        text=text[:TEXT_CHARS_MAX],
        payload=payload,
        findings=findings[:32],
    )
    return record.stamped(scope, name, runtime.clock()).model_copy(update=owned)


def _refused(write: Write, findings: Sequence[Finding], held_id: str | None) -> WriteRefused:
    names = _names(findings)
    accepted = "; ".join(dict.fromkeys(ACCEPTED[name] for name in names))
    return WriteRefused(write.held, names, accepted, held_id)


def _names(findings: Sequence[Finding]) -> tuple[Detector, ...]:
    return tuple(dict.fromkeys(one.detector for one in findings))


async def _judged(
    runtime: Runtime, texts: Sequence[str], source: Source, *, is_statement: bool
) -> list[Verdict]:
    policy = runtime.settings.guard_policy

    def judge() -> list[Verdict]:
        return [policy.judge(one, source, is_statement=is_statement) for one in texts]

    if sum(map(len, texts)) <= BESIDE_CHARS:
        return judge()
    return await asyncio.to_thread(judge)


def _without(record: R, texts: Sequence[str], verdicts: Sequence[Verdict]) -> R:
    """Return a record with every secret of its texts replaced wherever it stands in it.

    Of what an application keeps only in its text: its content would not come back as it was.
    """
    labels: dict[str, str] = {}
    for text, verdict in zip(texts, verdicts, strict=True):
        if verdict.text != text:
            found = (one for one in verdict.findings if one.detector == "secret")
            labels |= {text[one.start : one.end]: f"[removed: {one.what}]" for one in found}
    if not labels:
        return record
    longest_first = sorted(labels, key=len, reverse=True)

    def clean(value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            for secret in longest_first:
                value = value.replace(secret, labels[secret])
            return value
        if isinstance(value, list):
            return [clean(one) for one in value]
        if isinstance(value, dict):
            return {name: clean(one) for name, one in value.items()}
        return value

    if isinstance(record, Fact) and is_kept(record):
        return record.model_copy(update={"text": clean(record.text)})
    return type(record).model_validate(clean(record.model_dump(mode="json")))
