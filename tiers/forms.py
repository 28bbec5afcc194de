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
    FactTier,
    Grain,
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


def hit_of(record: Owned, score: float, own_graph: str, cosine: float | None = None) -> Hit:
    """Return a record as an answer of the cold tier, found from ``own_graph``."""
    entry = entry_of(record)
    fact = record if isinstance(record, Fact) else None
    rule = record if isinstance(record, Rule) else None
    # What it is made of was checked as a record; in the order of the fields, as it is told.
    return Hit.known(
        {
            "id": entry.id,
            "kind": entry.kind,
            "text": entry.text,
            "score": score,
            "tier": "cold",
            "source_ids": entry.source_ids,
            "graph_id": entry.graph_id,
            "agent_id": entry.agent_id,
            "speaker": entry.speaker,
            "ref": entry.ref,
            "topics": entry.topics,
            "occurred_at": entry.occurred_at,
            "recorded_at": entry.recorded_at,
            "valid_from": fact.valid_from if fact else None,
            "valid_to": fact.valid_to if fact else None,
            "inherited_from": None if entry.graph_id == own_graph else entry.graph_id,
            "path": (),
            "words_only": False,
            "user_id": entry.user_id,
            "fact_tier": entry.tier,
            "grain": entry.grain,
            "uses": fact.uses if fact else 0,
            "last_used_at": fact.last_used_at if fact else None,
            "successes": rule.successes if rule else None,
            "failures": rule.failures if rule else None,
            "version": rule.version if rule else None,
            "folded": (),
            "citation": None,
            "cosine": cosine,
        }
    )


def dated(text: str, since: str | None, until: str | None = None) -> str:
    """Return a statement with the dates between which it holds, where they are known."""
    if until is not None:
        return f"{text} ({'' if since is None else f'from {since} '}until {until})"
    return text if since is None else f"{text} (since {since})"


def told(hit: Hit) -> str:
    """Return what a hit says; of a fact that has an end, with the dates between which it holds."""
    if hit.valid_to is None:
        return hit.text
    return dated(hit.text, shown_date(hit.valid_from), shown_date(hit.valid_to))


def shown_date(moment: datetime | None) -> str | None:
    """Return the date of a moment as it is shown, if there is one."""
    return None if moment is None else f"{moment:%Y-%m-%d}"


def _entry(
    record: Owned,
    kind: Kind,
    text: str,
    *,
    tier: FactTier | None = None,
    grain: Grain | None = None,
    also: tuple[Kind, ...] = (),
    speaker: str = "",
    ref: str | None = None,
    source_ids: tuple[str, ...] = (),
    occurred_at: datetime | None = None,
    expires_at: datetime | None = None,
) -> IndexEntry:
    # Checked already, as a record; checking it again would double the cost of a search.
    return IndexEntry.known(
        {
            "id": record.id,
            "tenant": record.tenant,
            "graph_id": record.graph_id,
            "agent_id": record.agent_id,
            "user_id": record.user_id,
            "topics": record.topics,
            "private": record.private,
            "recorded_at": record.recorded_at,
            "kind": kind,
            "text": text[:TEXT_CHARS_MAX],
            "vector": None,
            "tier": tier,
            "grain": grain,
            "also": also,
            "speaker": speaker,
            "ref": ref,
            "source_ids": source_ids,
            "occurred_at": occurred_at,
            "expires_at": expires_at,
        }
    )
