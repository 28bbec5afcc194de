"""What a record looks like to a search: its text, and the facts a hit shows. Pure.

The same for every engine, so that a record is found by the same words wherever it is looked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import singledispatch
from typing import TypeGuard

from .documents import Passage
from .knowledge import is_apart
from .learning import is_live
from .records import (
    TEXT_CHARS_MAX,
    Commitment,
    Episode,
    Fact,
    HistoricBelief,
    Hit,
    IndexEntry,
    Kind,
    Owned,
    Rule,
    Summary,
    ToolOutput,
    Turn,
)

OUTPUT_CHARS_FOUND = 4_000
"""So much of a tool's output is searchable: logs are long, and say first what they are about."""

FORGOTTEN = "[forgotten]"
"""What an agent reads in the place of words that were forgotten."""


@singledispatch
def entry_of(record: Owned) -> IndexEntry:
    """Return the searchable form of a record, without a vector."""
    raise TypeError(f"{type(record).__name__} has no searchable form")


def is_searchable(record: object) -> TypeGuard[Owned]:
    """Whether a record is found itself: a document is by its passages, a card in no search."""
    return entry_of.dispatch(type(record)) is not entry_of.dispatch(object)


@entry_of.register
def _of_turn(turn: Turn) -> IndexEntry:
    speaker = turn.speaker or turn.agent_id
    return _entry(
        turn,
        "turn",
        said_text(speaker, turn.input, turn.response, turn.tool_outputs),
        also=("tool_output",) if turn.tool_outputs else (),
        speaker=speaker,
        ref=turn.ref,
        source_ids=(turn.id,),
        occurred_at=turn.occurred_at,
    )


def said_text(speaker: str, said: str, response: str, outputs: Iterable[ToolOutput]) -> str:
    """Return the text of a turn: what was said and by whom, the response, what tools returned."""
    return "\n".join([spoken(speaker, said, response), *map(shown_output, outputs)]).strip()


def spoken(speaker: str, said: str, response: str) -> str:
    """Return what was said and answered, behind who spoke first; either may be missing."""
    return f"{speaker}: " + "\n".join(part for part in (said, response) if part)


def shown_output(output: ToolOutput) -> str:
    """Return what a tool returned as it is found and shown: its name, and the beginning of it."""
    return f"{output.tool}: {output.output[:OUTPUT_CHARS_FOUND]}"


@entry_of.register
def _of_summary(summary: Summary) -> IndexEntry:
    return _entry(
        summary,
        "summary",
        summary.text,
        source_ids=summary.covers,
        occurred_at=summary.starts_at,
        expires_at=summary.expires_at,
    )


@entry_of.register
def _of_episode(episode: Episode) -> IndexEntry:
    return _entry(
        episode,
        "episode",
        episode.text,
        grain=episode.grain,
        source_ids=episode.children,
        occurred_at=episode.starts_at,
    )


@entry_of.register
def _of_fact(fact: Fact) -> IndexEntry:
    return _entry(
        fact,
        "fact",
        "" if is_apart(fact) else fact.text,
        tier=fact.tier,
        source_ids=fact.source_ids,
        occurred_at=fact.valid_from,
    )


@entry_of.register
def _of_rule(rule: Rule) -> IndexEntry:
    return _entry(rule, "rule", rule.text)


@entry_of.register
def _of_belief(belief: Commitment) -> IndexEntry:
    return _entry(
        belief,
        "belief",
        belief.claim,
        source_ids=belief.source_ids,
        occurred_at=belief.recorded_at,
    )


@entry_of.register
def _of_passage(passage: Passage) -> IndexEntry:
    return _entry(passage, "document", passage.found_by, source_ids=(passage.document_id,))


def is_current(record: Owned) -> bool:
    """Whether a record belongs in answers: it is not over, not forgotten, and has its content.

    What retention has emptied is marked as redacted too.
    """
    if record.redacted_at is not None:
        return False
    if isinstance(record, HistoricBelief):
        return record.status == "active"
    if isinstance(record, Passage):
        return record.until is None
    return not isinstance(record, Fact) or is_live(record)


_HIT = {
    name: field.get_default(call_default_factory=True) for name, field in Hit.model_fields.items()
}
"""What a hit says where nothing else is known, in the order of the fields, as it is told."""

_AS_ENTRY = tuple(
    name for name in Hit.model_fields if name in IndexEntry.model_fields and name != "tier"
)
_AS_FACT = ("valid_from", "valid_to", "uses", "last_used_at", "said_at")
_AS_RULE = ("successes", "failures", "version")


def hit_of(record: Owned, score: float, own_graph: str, cosine: float | None = None) -> Hit:
    """Return a record as an answer of the cold tier, found from ``own_graph``."""
    entry = entry_of(record)
    values, known = entry.__dict__, record.__dict__
    of_kind = _AS_FACT if isinstance(record, Fact) else _AS_RULE if isinstance(record, Rule) else ()
    # What it is made of was checked as a record.
    return Hit.known(
        {
            **_HIT,
            **{name: values[name] for name in _AS_ENTRY},
            **{name: known[name] for name in of_kind},
            "score": score,
            "tier": "cold",
            "inherited_from": None if entry.graph_id == own_graph else entry.graph_id,
            "fact_tier": entry.tier,
            "cosine": cosine,
        }
    )


def as_answered(hit: Hit) -> Hit:
    """Return a hit as a caller gets it, without what only those need who weigh and show it."""
    return hit.model_copy(update={"cosine": None, "said_at": None})


def without_forgotten(fact: Fact, *parts: str) -> Fact:
    """Return a fact as an agent reads it: of one that was forgotten, that it was there.

    Args:
        fact: As it is stored.
        parts: Its fields that would tell the words; each that has any says ``FORGOTTEN``.
    """
    if fact.forgotten_at is None:
        return fact
    said = (name for name in parts if getattr(fact, name) is not None)
    return fact.model_copy(update=dict.fromkeys(said, FORGOTTEN))


def dated(text: str, since: str | None, until: str | None = None) -> str:
    """Return a statement with the dates between which it holds, where they are known."""
    if until is not None:
        return f"{text} ({'' if since is None else f'from {since} '}until {until})"
    return text if since is None else f"{text} (since {since})"


def dated_text(hit: Hit) -> str:
    """Return what a hit says; of a fact that has an end, with the dates between which it holds."""
    if hit.valid_to is None:
        return hit.text
    return dated(hit.text, shown_date(hit.valid_from), shown_date(hit.valid_to))


def shown_date(moment: datetime | None) -> str | None:
    """Return the date of a moment as it is shown, if there is one."""
    return None if moment is None else f"{moment:%Y-%m-%d}"


_OF_OWNER = tuple(name for name in Owned.model_fields if name != "redacted_at")


def _entry(record: Owned, kind: Kind, text: str, **more: object) -> IndexEntry:
    """Return an entry: whose it is as the record says, and what ``more`` is known of its kind."""
    # Checked already, as a record; checking it again would double the cost of a search.
    known = record.__dict__
    owner = {name: known[name] for name in _OF_OWNER}
    return IndexEntry.known({**owner, "kind": kind, "text": text[:TEXT_CHARS_MAX], **more})
