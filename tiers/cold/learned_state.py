"""What learning makes of facts and rules, and from when until when a fact was core. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ..errors import Conflict, UsageError
from ..fields import AuditKind
from ..learning import DENIAL_COSTS, Verdict
from ..records import TEXT_CHARS_MAX, Fact, FactTier, Span, Superseded
from ..rules import FORMER_VERSIONS_MAX, FormerSteps, Rule


def begun(fact: Fact) -> Fact:
    """Return a new fact with its first core span, if it is core, and without any other."""
    spans = (Span(since=fact.recorded_at),) if fact.tier == "core" else ()
    return fact.model_copy(update={"core_spans": spans})


def moved(spans: Sequence[Span], tier: FactTier, now: datetime) -> tuple[Span, ...]:
    """Return the spans after a fact was moved to ``tier`` at ``now``.

    A clock that went back makes an empty span, never one that ends before it begins.
    """
    if tier == "core":
        return (*spans, Span(since=now))
    *closed, last = spans
    return (*closed, Span(since=last.since, until=max(now, last.since)))


VERDICT_EVENTS: Mapping[Superseded, AuditKind] = {
    "natural": "superseded",
    "denial": "superseded",
    "duplicate": "deduplicated",
}
"""The kind of audit event with which a fact gives way."""


def check_verdicts(verdicts: Sequence[Verdict]) -> None:
    """Refuse verdicts after which nothing would stand.

    Raises:
        UsageError: One lets a fact give way to itself, be it by way of others, or two are about
            one fact.
    """
    gives_way = {verdict.fact_id: verdict.by for verdict in verdicts}
    if len(gives_way) != len(verdicts):
        raise UsageError("verdicts", len(verdicts), "one verdict for each fact")
    done: set[str] = set()
    for start in gives_way:
        here, path = start, set[str]()
        while here in gives_way and here not in done:
            if here in path:
                raise UsageError("verdict.by", here, "another fact, which does not give way to it")
            path.add(here)
            here = gives_way[here]
        done |= path


def given_way(fact: Fact, verdict: Verdict, now: datetime) -> Fact:
    """Return a live fact as a verdict leaves it.

    Its period ends when the verdict says so and nobody has said when; an end before its beginning
    says nothing.
    """
    changes: dict[str, object] = {
        "superseded_by": verdict.by,
        "superseded_at": now,
        "superseded_as": verdict.how,
        "core_spans": _ended(fact, now),
    }
    until, since = verdict.valid_to, fact.valid_from
    if fact.valid_to is None and until is not None and (since is None or since <= until):
        changes["valid_to"] = until
    if verdict.how == "denial":
        changes["confidence"] = max(0.0, fact.confidence - DENIAL_COSTS)
    return fact.model_copy(update=changes)


def forgotten(fact: Fact, now: datetime) -> Fact:
    """Return a live fact as forgetting leaves it."""
    return fact.model_copy(update={"forgotten_at": now, "core_spans": _ended(fact, now)})


def stands_again(fact: Fact, now: datetime) -> Fact:
    """Return a fact that had given way as it stands again; a core one is core again from now on."""
    changes: dict[str, object] = {"superseded_by": None, "superseded_at": None}
    if fact.tier == "core":
        changes["core_spans"] = moved(fact.core_spans, "core", now)
    return fact.model_copy(update={**changes, "superseded_as": None})


def _ended(fact: Fact, now: datetime) -> tuple[Span, ...]:
    """Return the core spans of a fact that is core no more from ``now`` on."""
    # One that came from elsewhere may be core without a span.
    spans = fact.core_spans or begun(fact).core_spans
    is_open = fact.tier == "core" and bool(spans) and spans[-1].until is None
    return moved(spans, "archival", now) if is_open else fact.core_spans


def refined(
    rule: Rule, steps: Sequence[str], source_ids: Sequence[str], now: datetime
) -> Rule | None:
    """Return a rule with new steps and the next version, or ``None`` if it has them already.

    Raises:
        UsageError: There are no steps, or one is blank or too long.
    """
    new = tuple(steps)
    if not new or not all(step.strip() and len(step) <= TEXT_CHARS_MAX for step in new):
        accepted = f"at least one step, each of 1 to {TEXT_CHARS_MAX:,} characters"
        raise UsageError("steps", len(new), accepted)
    if new == rule.steps:
        return None
    before = FormerSteps(version=rule.version, steps=rule.steps, until=now)
    return rule.model_copy(
        update={
            "steps": new,
            "version": rule.version + 1,
            "former": (*rule.former, before)[-FORMER_VERSIONS_MAX:],
            "source_ids": tuple(dict.fromkeys([*rule.source_ids, *source_ids])),
        }
    )


def id_taken(kind: str, known: Fact | Rule, record: Fact | Rule) -> Conflict:
    """Return the refusal of a record under the id of a known one that it does not repeat.

    Not what that one says: the asker may not be allowed to see it. Its own writer is told that it
    says nothing any more, so that nobody knows whether it is being repeated.
    """
    if known.redacted_at is None or known.agent_id != record.agent_id:
        return Conflict(kind, "an id of its own", record.id)
    accepted = "a new id, or none: an id stays with what was stored under it"
    return Conflict(kind, accepted, f"{record.id}, whose words were destroyed")


def is_said_again(known: Fact | Rule, record: Fact | Rule) -> bool:
    """Whether a record that comes under the id of a known one is no other, only late.

    Who repeats what it was about to do when it died brings it once more, and it may have given
    way, have been forgotten or been refined since.
    """
    whose = ("id", "agent_id", "user_id", "topics", "private")
    if any(getattr(known, name) != getattr(record, name) for name in whose):
        return False
    if known.redacted_at is not None:
        return False
    if isinstance(known, Rule) and isinstance(record, Rule):
        had = [known.steps, *(former.steps for former in known.former)]
        return known.trigger == record.trigger and record.steps in had
    return isinstance(known, Fact) and isinstance(record, Fact) and known.text == record.text
