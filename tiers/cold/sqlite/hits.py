"""Records as the answers of a search, made straight of their rows: no more is read than is shown.

A search answers with hundreds of records. To read them as records, checked field by field, would
cost more than to find them.
"""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ...documents import found_text
from ...errors import CorruptRecord
from ...forms import said_text
from ...moments import moment
from ...records import TEXT_CHARS_MAX, Hit, Kind, Rule, Scope, ToolOutput
from ..ownership import in_order
from .database import Session
from .scope import as_json, scoped
from .word_search import Found

Fields = dict[str, Any]

_OWNER = "r.id, r.agent_id, r.user_id, s.topics, r.recorded_at"
_FOUND = (
    "JOIN topic_sets AS s ON s.id = r.topic_set"
    " WHERE $visible(r) AND r.redacted_at IS NULL AND r.id IN (SELECT value FROM json_each(:ids))"
)
_TURNS = (
    f"SELECT {_OWNER}, r.speaker, r.ref, r.input, r.response, r.tool_outputs, r.occurred_at"
    f" FROM turns AS r {_FOUND}"
)
_SUMMARIES = f"SELECT {_OWNER}, r.text, r.covers, r.starts_at FROM summaries AS r {_FOUND}"
_EPISODES = f"SELECT {_OWNER}, r.text, r.children, r.starts_at, r.grain FROM episodes AS r {_FOUND}"
_FACTS = (
    f"SELECT {_OWNER}, r.text, r.source_ids, r.valid_from, r.valid_to, r.tier, r.uses,"
    f" r.last_used_at FROM facts AS r {_FOUND}"
)
_RULES = f'SELECT {_OWNER}, r."trigger", r.steps FROM rules AS r {_FOUND}'
_BELIEFS = f"SELECT {_OWNER}, r.claim, r.source_ids FROM beliefs AS r {_FOUND}"
_PASSAGES = f"SELECT {_OWNER}, r.headings, r.text, r.document_id FROM passages AS r {_FOUND}"


def read_hits(session: Session, scope: Scope, found: Sequence[Found]) -> tuple[Hit, ...]:
    """Return what was found as hits, in the same order.

    Live or not: whether records are wanted is asked before. Those that are not visible, or have
    lost their content, are left out.

    Raises:
        CorruptRecord: A row does not make a hit.
    """
    by_kind: dict[Kind, dict[str, Found]] = {}
    for one in found:
        by_kind.setdefault(one.kind, {})[one.id] = one
    hits: dict[str, Hit] = {}
    topics: dict[str, tuple[str, ...]] = {}
    for kind, known in by_kind.items():
        statement, told = _SHOWN[kind]
        for row in session.tuples(scoped(statement, scope, ids=as_json(list(known)))):
            hits[row[0]] = _hit(scope, known[row[0]], row, told, topics)
    return in_order(hits, [one.id for one in found])


def text_of_turn(speaker: str, said: str, response: str, outputs: str) -> str:
    """Return the searchable form of a turn, of what its row has.

    Raises:
        ValueError: The outputs are not JSON.
    """
    if outputs == "[]":
        return said_text(speaker, said, response, ())
    loaded = json.loads(outputs)
    made = (ToolOutput.model_construct(tool=one["tool"], output=one["output"]) for one in loaded)
    return said_text(speaker, said, response, made)


def _hit(
    scope: Scope,
    found: Found,
    row: tuple[Any, ...],
    told: Callable[..., Fields],
    topics: dict[str, tuple[str, ...]],
) -> Hit:
    """Return a row as a hit; ``topics`` are those read of other rows, by their stored form."""
    record_id, agent_id, user_id, stored_topics, recorded_at, *rest = row
    try:
        if stored_topics not in topics:
            topics[stored_topics] = _strings(stored_topics)
        fields = told(record_id, agent_id, recorded_at, *rest)
        fields["text"] = fields["text"][:TEXT_CHARS_MAX]
        fields |= {
            "id": record_id,
            "kind": found.kind,
            "score": found.score,
            "tier": "cold",
            "graph_id": scope.graph_id,
            "agent_id": agent_id,
            "user_id": user_id,
            "topics": topics[stored_topics],
            "recorded_at": moment(recorded_at),
            "words_only": found.words_only,
        }
        return Hit.model_validate(fields)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        reason = f"a stored {found.kind} cannot be read back"
        raise CorruptRecord("cold", "read", reason) from error


def _turn(
    record_id: str,
    agent_id: str,
    _: int,
    speaker: str,
    ref: str | None,
    said: str,
    response: str,
    outputs: str,
    occurred_at: int,
) -> Fields:
    shown = speaker or agent_id
    return {
        "text": text_of_turn(shown, said, response, outputs),
        "speaker": shown,
        "ref": ref,
        "source_ids": (record_id,),
        "occurred_at": moment(occurred_at),
    }


def _summary(_id: str, _agent: str, _at: int, text: str, covers: str, starts_at: int) -> Fields:
    return {"text": text, "source_ids": _strings(covers), "occurred_at": moment(starts_at)}


def _episode(
    _id: str, _agent: str, _at: int, text: str, children: str, starts_at: int, grain: str
) -> Fields:
    occurred_at = moment(starts_at)
    return {
        "text": text,
        "source_ids": _strings(children),
        "occurred_at": occurred_at,
        "grain": grain,
    }


def _fact(
    _id: str,
    _agent: str,
    _at: int,
    text: str,
    source_ids: str,
    valid_from: int | None,
    valid_to: int | None,
    tier: str,
    uses: int,
    last_used_at: int | None,
) -> Fields:
    return {
        "text": text,
        "source_ids": _strings(source_ids),
        "occurred_at": _moment(valid_from),
        "valid_from": _moment(valid_from),
        "valid_to": _moment(valid_to),
        "fact_tier": tier,
        "uses": uses,
        "last_used_at": _moment(last_used_at),
    }


def _rule(_id: str, _agent: str, _at: int, trigger: str, steps: str) -> Fields:
    return {"text": Rule.model_construct(trigger=trigger, steps=_strings(steps)).text}


def _belief(_id: str, _agent: str, recorded_at: int, claim: str, source_ids: str) -> Fields:
    occurred_at = moment(recorded_at)
    return {"text": claim, "source_ids": _strings(source_ids), "occurred_at": occurred_at}


def _passage(_id: str, _agent: str, _at: int, headings: str, text: str, document_id: str) -> Fields:
    return {"text": found_text(_strings(headings), text), "source_ids": (document_id,)}


_SHOWN: Mapping[Kind, tuple[str, Callable[..., Fields]]] = {
    "turn": (_TURNS, _turn),
    "summary": (_SUMMARIES, _summary),
    "episode": (_EPISODES, _episode),
    "fact": (_FACTS, _fact),
    "rule": (_RULES, _rule),
    "belief": (_BELIEFS, _belief),
    "document": (_PASSAGES, _passage),
}


def _strings(stored: str) -> tuple[str, ...]:
    return () if stored == "[]" else tuple(json.loads(stored))


def _moment(stored: int | None) -> datetime | None:
    return None if stored is None else moment(stored)
