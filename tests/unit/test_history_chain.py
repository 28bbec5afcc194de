"""How belief events hang together, and that events of the first form still verify."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

import pytest
from support.cold_samples import LONE_SURROGATE, OPERATOR, SCOPE, belief_by
from support.tier_samples import NOW

from tiers.beliefs import BeliefEvent
from tiers.errors import UsageError
from tiers.history.chain import (
    FIRST_PREVIOUS_HASH,
    canonical,
    committed_content,
    content_digest,
    event_hash,
    next_event,
    stored_digest,
)

CONTENT = (
    '{"agent_id":"strategist","claim":"Start on mediums. 🏎️","graph_id":"imola é",'
    '"id":"0195-belief","key":["start","compound"],"pinned":false,"private":false,'
    '"recorded_at":"2026-03-01T12:00:00.000042Z","redacted_at":null,"tenant":"acme",'
    '"topic":"tyres","topics":["tyres"],"trust":1.0,"user_id":null,"value":"medium"}'
)
CONTENT_DIGEST = "640145b6e020915fd74255c329bebbc81e755ed3a17fb5b9568400d80932af07"
"""Salted with ``0123456789abcdef``."""

DIGEST = "d" * 64


def _next(previous: BeliefEvent | None, **how: object) -> BeliefEvent:
    known = {"turn": 3, "now": NOW, "digest": DIGEST, **how}
    return next_event(previous, SCOPE, "committed", "b", **known)  # type: ignore[arg-type]


def test_contents_are_digested_as_they_ever_were() -> None:
    """As an object, and as the text that is kept."""
    salt = b"0123456789abcdef"
    assert stored_digest(salt, CONTENT.encode()) == CONTENT_DIGEST
    assert content_digest(salt, json.loads(CONTENT)) == CONTENT_DIGEST


def test_an_event_hashes_as_its_form_is_described() -> None:
    """Recomputed with nothing but JSON and SHA-256."""
    event = _next(None, now=NOW + timedelta(microseconds=7), turn_id="t")
    fields = {
        "agent_id": "strategist",
        "belief_id": "b",
        "content_digest": DIGEST,
        "graph_id": "race",
        "id": event.id,
        "kind": "committed",
        "previous_hash": "0" * 64,
        "recorded_at": "2026-03-01T12:00:00.000007Z",
        "seq": 1,
        "tenant": "acme",
        "turn": 3,
        "turn_id": "t",
        "v": 3,
    }
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert event.hash == hashlib.sha256(text.encode()).hexdigest()
    assert event.previous_hash == FIRST_PREVIOUS_HASH


def test_no_field_of_an_event_can_change_unnoticed() -> None:
    """Each one moves the hash, and so does calling the event an old one."""
    event = _next(None, turn_id="t")
    changes: dict[str, object] = {
        "id": "x",
        "tenant": "acm",
        "graph_id": "rac",
        "seq": 2,
        "kind": "adopted",
        "belief_id": "",
        "agent_id": "",
        "turn": 0,
        "turn_id": "",
        "recorded_at": NOW + timedelta(microseconds=1),
        "content_digest": "e" * 64,
        "previous_hash": "1" * 64,
        "version": 1,
    }
    assert set(changes) | {"hash"} == set(BeliefEvent.model_fields)
    hashes = {event_hash(event.model_copy(update={name: new})) for name, new in changes.items()}
    assert len(hashes | {event.hash}) == len(changes) + 1


def test_neither_time_nor_turn_of_a_log_ever_falls() -> None:
    """A process whose clock is late, or that knows of fewer turns, writes where the log is."""
    first = _next(None)
    late = _next(first, turn=1, now=NOW - timedelta(hours=1))
    assert (late.turn, late.recorded_at) == (3, NOW)
    later = _next(late, turn=4, now=NOW + timedelta(seconds=1))
    assert (later.turn, later.recorded_at) == (4, NOW + timedelta(seconds=1))
    assert later.seq == 3
    assert later.previous_hash == late.hash


def test_the_runtime_has_no_name_in_an_event() -> None:
    """And two graphs' events of one number differ in their ids."""
    by_runtime = next_event(None, OPERATOR, "rewound", "", turn=0, now=NOW, digest=DIGEST)
    assert by_runtime.agent_id == ""
    other = OPERATOR.model_copy(update={"graph_id": "race/2"})
    elsewhere = next_event(None, other, "rewound", "", turn=0, now=NOW, digest=DIGEST)
    assert elsewhere.id != by_runtime.id


def test_content_says_what_was_committed_and_not_what_became_of_it() -> None:
    """``pinned`` and ``redacted_at`` have events of their own."""
    belief = belief_by(value="medium", turn_id="t", source_ids=("a", "b"), origin_id="o")
    content = committed_content(belief)
    assert content == committed_content(belief.model_copy(update={"pinned": True}))
    assert set(type(belief).model_fields) - set(content) == {"pinned", "redacted_at"}
    assert content["recorded_at"] == "2026-03-01T12:00:00.000000Z"
    assert json.loads(canonical(content)) == content


def test_canonical_form_is_one_and_refuses_what_has_none() -> None:
    """Order of fields is no difference; not a number and half a character cannot be written."""
    assert canonical({"b": 1, "a": ["é", None]}) == '{"a":["é",null],"b":1}'.encode()
    assert canonical({"a": ["é", None], "b": 1}) == canonical({"b": 1, "a": ["é", None]})
    with pytest.raises(UsageError, match="surrogates"):
        canonical({"a": LONE_SURROGATE})
    with pytest.raises(ValueError, match="JSON"):
        canonical({"a": float("nan")})
