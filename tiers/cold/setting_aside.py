"""What setting a record aside takes from it, and what of that comes back. Pure."""

from __future__ import annotations

from datetime import datetime

from ..board import TASK_LOGS, Card
from ..documents import Document, Passage
from ..learning import DENIAL_COSTS
from ..records import Commitment, Episode, Fact, Record, Rule, Summary, Turn
from ..taint import Reason, Resting, TaintedKind
from .learnt import stands_again
from .redaction import Redactable, set_aside_form
from .texts import texts_of

SHOWN_CHARS = 120
"""So much of its text a record is shown by."""

_WRITTEN = ("text", "made_by", "lost", "tokens", "redacted_at")
"""What a summary or an episode is given anew, made of what is left of its sources."""


def restored_form(former: Redactable, current: Redactable, at: datetime) -> Redactable | None:
    """Return a record with what it said before it was set aside; ``None``: it stays as it is.

    What setting aside did not touch stays as it is by now: a turn may have been compressed since.

    Args:
        former: As it was.
        current: As it is.
        at: When it was set aside.
    """
    if getattr(current, "retired_at", None) != getattr(former, "retired_at", None):
        return None
    is_written = isinstance(former, Summary | Episode)
    if not is_written and current.redacted_at != at:
        return None  # it was given another content since
    aside = set_aside_form(former, at)
    names = [name for name, value in aside if value != getattr(former, name)]
    names += [name for name in _WRITTEN if is_written and name in type(former).model_fields]
    return current.model_copy(update={name: getattr(former, name) for name in names})


def revived_form(fact: Fact, successor: Fact | None, now: datetime) -> Fact:
    """Return a superseded fact as it stands again, since what took its place is gone.

    The end of its period goes if it came of the successor, and so does what a denial cost.
    """
    ends = () if successor is None else (successor.valid_from, successor.said_at)
    back = stands_again(fact, now)
    told: dict[str, object] = {}
    if fact.valid_to is not None and fact.valid_to in ends:
        told["valid_to"] = None
    if fact.superseded_as == "denial":
        told["confidence"] = min(1.0, fact.confidence + DENIAL_COSTS)
    return back.model_copy(update=told)


def resting_of(kind: TaintedKind, record: Redactable, more: tuple[Reason, ...] = ()) -> Resting:
    """Return a record as a trace sees it.

    Args:
        kind: Of the record.
        record: The record.
        more: Reasons that it does not name itself.
    """
    return Resting(
        graph_id=record.graph_id,
        kind=kind,
        id=record.id,
        agent_id=record.agent_id,
        user_id=record.user_id,
        topics=record.topics,
        private=record.private,
        recorded_at=record.recorded_at,
        text=shown_text(record),
        reasons=(*_reasons(record), *more),
        is_gone=record.redacted_at is not None,
        is_over=getattr(record, "status", "active") in {"reverted", "redacted"},
    )


def shown_text(record: Redactable) -> str:
    """Return how what a record says begins, on one line."""
    text = next(filter(None, map(str.strip, _shown(record))), "")
    return " ".join(text.split())[:SHOWN_CHARS]


def _shown(record: Redactable) -> tuple[str, ...]:
    if isinstance(record, Turn):
        return (record.input, record.response)  # not who spoke
    if isinstance(record, Document):
        return (record.title, record.name)
    return tuple(texts_of(record))


def _reasons(record: Record) -> tuple[Reason, ...]:
    named: list[tuple[str, str]] = []
    if isinstance(record, Summary):
        named += [(one, "summary of") for one in record.covers]
    elif isinstance(record, Episode):
        named += [(one, "tells of") for one in record.children]
    elif isinstance(record, Fact | Rule | Commitment):
        named += [(one, "rests on") for one in record.source_ids]
    if isinstance(record, Commitment) and record.turn_id is not None:
        named.append((record.turn_id, "committed during"))
    if isinstance(record, Passage):
        named.append((record.document_id, "part of"))
    if isinstance(record, Card) and record.thread and record.type in TASK_LOGS.values():
        named.append((record.thread, "tells of"))
    return tuple(Reason(id=one, how=how) for one, how in named)
