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

FIRST_FORM = (
    {
        "id": "019ca945-0a00-87a7-a9b0-690ff0c29e03",
        "tenant": "acme",
        "graph_id": "imola é",
        "seq": 1,
        "kind": "committed",
        "belief_id": "0195-belief",
        "agent_id": "strategist",
        "recorded_at": "2026-03-01T12:00:00.000042Z",
        "content_digest": "640145b6e020915fd74255c329bebbc81e755ed3a17fb5b9568400d80932af07",
        "previous_hash": "0" * 64,
        "hash": "4f1db7e35d1143ae9c69dc71e9b859a898ea231804d443332dd957ae68194afa",
    },
    {
        "id": "019ca945-f460-85ab-afed-92e8873f3e50",
        "tenant": "acme",
        "graph_id": "imola é",
        "seq": 2,
        "kind": "pinned",
        "belief_id": "0195-belief",
        "agent_id": "",
        "recorded_at": "2026-03-01T12:01:00.000042Z",
        "content_digest": "2a1628f134e9e0b22865923602b58641ea2ee175b2844d3dd2bf1457a016177a",
        "previous_hash": "4f1db7e35d1143ae9c69dc71e9b859a898ea231804d443332dd957ae68194afa",
        "hash": "a86f463dc4eb81357145c51b9ddedfc03d8beac8a15ed6b4a2f98c46885cc5eb",
    },
)
"""A log as it was written before events had a turn and a version."""

FIRST_CONTENT = (
    '{"agent_id":"strategist","claim":"Start on mediums. 🏎️","graph_id":"imola é",'
    '"id":"0195-belief","key":["start","compound"],"pinned":false,"private":false,'
    '"recorded_at":"2026-03-01T12:00:00.000042Z","redacted_at":null,"tenant":"acme",'
    '"topic":"tyres","topics":["tyres"],"trust":1.0,"user_id":null,"value":"medium"}'
)
"""What its first event said, salted with ``0123456789abcdef``."""

DIGEST = "d" * 64


def _first_form() -> list[BeliefEvent]:
    return [BeliefEvent.model_validate(fields) for fields in FIRST_FORM]


def _next(previous: BeliefEvent | None, **how: object) -> BeliefEvent:
    known = {"turn": 3, "now": NOW, "digest": DIGEST, **how}
    return next_event(previous, SCOPE, "committed", "b", **known)  # type: ignore[arg-type]


def test_events_of_the_first_form_hash_as_they_did() -> None:
    """What was proved before can still be proved, contents included."""
    first, second = _first_form()
    assert [first.version, first.turn] == [1, 0]
    assert [event_hash(one) for one in (first, second)] == [first.hash, second.hash]
    digest = stored_digest(b"0123456789abcdef", FIRST_CONTENT.encode())
    assert digest == first.content_digest
    assert content_digest(b"0123456789abcdef", json.loads(FIRST_CONTENT)) == digest


def test_an_old_log_goes_on_in_the_new_form() -> None:
    """The next event names the last old hash, and is of the latest version."""
    old = _first_form()[-1]
    new = _next(old, now=old.recorded_at)
    assert (new.seq, new.previous_hash, new.version, new.turn) == (3, old.hash, 3, 3)
    assert event_hash(new) == new.hash


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
