"""What a receipt keeps, how it is read again, and how today differs: the pure parts."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from support.cold_samples import receipt_by
from support.records import START, fact, hit, summary, turn

from ezra.receipts.comparing import Today, compare, fate_of
from ezra.turn.assemble import Material, assemble, messages_of
from ezra.turn.receipts import (
    KeptContext,
    KeptSlot,
    Seal,
    Unreadable,
    context_body,
    kept_of,
    recall_receipt_body,
    recalled_slot,
)
from ezra.turn.slots import LAYOUT, Slot
from tiers.cold.redaction import blanked
from tiers.records import AgentRecord, Commitment, HistoricBelief, MeshResult, Rule

SALT = "5a17" * 8
SEAL = Seal(SALT)
AGENT = AgentRecord(
    tenant="acme", graph_id="imola", id="strategist", role="Plans stints.", spawned_at=START
)
WORD = "xylograph"


def told(**more: Any) -> Material:
    """Return material in which every text of a record holds the secret."""
    values: dict[str, Any] = {
        "agent": AGENT,
        "input": f"Where is the {WORD}?",
        "beliefs": [Commitment(id="b", claim=f"{WORD} believed")],
        "core": [fact(1, f"{WORD} core")],
        "rules": [Rule(id="r", trigger=f"{WORD} rule", steps=("box",), version=3)],
        "archival": [hit("f", 0.5, kind="fact", text=f"{WORD} found", valid_from=START)],
        "warm": [hit("s", 0.4, kind="summary", text=f"{WORD} told")],
        "hot": [turn(2, f"{WORD} said", response="noted")],
        "mesh": MeshResult(source="timing", text="P3", queried_at=START),
        **more,
    }
    return Material(**values)


def kept(material: Material, budget: int = 1000) -> KeptContext:
    """Return what is read back of a context's receipt."""
    body = json.loads(json.dumps(context_body(assemble(material, budget), SALT)))
    found = kept_of(receipt_by(body=body))
    assert isinstance(found, KeptContext)
    return found


def test_a_receipt_copies_no_text_of_a_record() -> None:
    """Ids, versions, dates and hashes; only what stands in no record is there in words."""
    body = context_body(assemble(told(), 1000), SALT)
    assert WORD not in json.dumps(body)
    by_kind = {slot.kind: slot for slot in kept(told()).slots}
    assert (by_kind["rule"].record, by_kind["rule"].version) == ("rule", 3)
    assert (by_kind["archival"].record, by_kind["archival"].since) == ("fact", "2026-05-14")
    assert by_kind["system"].text == "You are strategist. Plans stints."
    assert by_kind["mesh"].text == "timing at 2026-05-14 15:04: P3"
    assert by_kind["hot"].text is None


def test_a_blanked_receipt_proves_nothing() -> None:
    """Redaction takes the salt and the words; a hash without its salt cannot be tried."""
    receipt = receipt_by(body=context_body(assemble(told(), 1000), SALT))
    after = blanked(receipt)
    assert SALT not in json.dumps(after.body)
    assert "Plans stints" not in json.dumps(after.body)
    found = kept_of(after)
    assert isinstance(found, KeptContext)
    assert found.is_blank
    assert [slot.id for slot in found.slots] == [slot.id for slot in kept(told()).slots]
    assert blanked(after) == after


def test_hashes_depend_on_salt_text_order_and_role() -> None:
    """The same words under another salt, in another order or by another speaker differ."""
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    swapped = [{"content": "a", "role": "user"}, {"content": "b", "role": "assistant"}]
    assert SEAL.of_messages(messages) == SEAL.of_messages(swapped)
    others = (
        Seal("00").of_messages(messages),
        SEAL.of_messages(messages[::-1]),
        SEAL.of_messages([{"role": "user", "content": "b"}, messages[1]]),
    )
    assert len({SEAL.of_messages(messages), *others}) == 4
    assert SEAL.of_text("\ud800") != SEAL.of_text("?"), "what no encoding has is hashed too"


def test_what_did_not_go_in_is_kept_with_the_reason() -> None:
    """Dropped for the budget, or folded because another slot tells it."""
    twice = told(archival=[hit("fact-001", kind="fact")])
    assert [slot.id for slot in kept(twice).folded] == ["fact-001"]
    assert len(kept(told(), 1).dropped) == 7


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"slots": [{"kind": "hot", "tokens": 12}], "degraded": []}, "before receipts named"),
        ({"seal": {"salt": "a", "digest": "b"}, "layout": LAYOUT}, "slots"),
        ({"seal": 7, "layout": "x", "slots": 1}, "layout, seal, slots"),
        ({"seal": {"salt": "a", "digest": ""}, "layout": 99, "slots": []}, "layout 99"),
    ],
)
def test_what_cannot_be_read_says_why(body: dict[str, Any], reason: str) -> None:
    """Former, broken and future bodies have a reason, and no traceback."""
    found = kept_of(receipt_by(body=body))
    assert isinstance(found, Unreadable)
    assert reason in found.reason


def test_a_layout_is_for_ever() -> None:
    """What receipts of layout 1 were laid out as; a change of it needs a new layout."""
    slots = [Slot(kind, kind) for kind in ("system", "belief", "core", "rule", "archival", "warm")]
    slots += [Slot("mesh", "mesh"), Slot("input", "asked", messages=(("user", "asked"),))]
    system, asked = messages_of(slots, 1)
    assert system["content"] == (
        "system\n\n## Beliefs\n- belief\n\n## Core facts\n- core\n\n## Procedures\n- rule\n\n"
        "## Facts that may help\n- archival\n\n## Earlier, in short\n- warm\n\n"
        "## Fetched now\n- mesh"
    )
    assert asked == {"role": "user", "content": "asked"}


def test_a_recall_keeps_its_answer_by_hashes_too() -> None:
    """Arguments and scores in the open, texts as hashes, in the order of the answer."""
    hits = [hit("f", 0.5, kind="fact", text=WORD), hit("t", 0.4, text="said")]
    body = recall_receipt_body(
        arguments={"limit": 2, "kinds": None}, items=hits, considered=[("x", 0.1)], salt=SALT
    )
    assert WORD not in json.dumps(body)
    assert body["considered"] == [{"id": "x", "score": 0.1}]
    found = kept_of(receipt_by(kind="recall", body=body))
    assert isinstance(found, KeptContext)
    assert [(slot.record, slot.id, slot.score) for slot in found.slots] == [
        ("fact", "f", 0.5), ("turn", "t", 0.4),
    ]  # fmt: skip
    slots = [recalled_slot(one) for one in hits]
    assert found.seal.digest == SEAL.of_slots(slots) != SEAL.of_slots(slots[::-1])


def test_today_is_told_slot_by_slot() -> None:
    """The same, moved, refined, in other words, dropped, ended, unknown, and new."""
    then = kept(told())
    late = START + timedelta(days=9)
    now = assemble(
        told(
            agent=AGENT.model_copy(update={"role": "Retired."}),
            beliefs=[],
            core=[fact(1, f"{WORD} core"), fact(9, "new")],
            rules=[Rule(id="r", trigger=f"{WORD} rule", steps=("stay",), version=4)],
            archival=[],
            warm=[],
            mesh=None,
        ),
        1000,
    )
    promoted = Slot("core", f"{WORD} found", ("f",), record="fact")
    slots = [one for one in now.slots if one.kind != "hot"]
    today = Today(slots=[*slots, promoted], now=late, dropped=[_ringed(now)])
    ended = HistoricBelief(
        id="b", claim="x", status="superseded", committed_seq=1, superseded_by="c"
    )
    expired = summary(1, id="s", expires_at=START)
    diff = compare(then.slots, today, SEAL, {("belief", "b"): ended, ("summary", "s"): expired}, {})
    assert [slot.source_ids for slot in diff.kept] == [("fact-001",), ()]
    assert {(one.was.kind, one.why) for one in diff.changed} == {
        ("system", "the agent or its role is another"),
        ("rule", "refined: version 3 is now version 4"),
        ("archival", "promoted to core"),
    }
    assert {(one.was.kind, one.why) for one in diff.gone} == {
        ("belief", "superseded by c"),
        ("warm", "expired on 2026-05-14"),
        ("hot", "did not fit the token budget"),
        ("mesh", "nothing that was fetched is at hand"),
    }
    assert [slot.source_ids for slot in diff.new] == [("fact-009",)]
    assert not diff.is_same
    assert compare(then.slots, _as_then(), SEAL, {}, {}).is_same


def test_why_a_record_is_gone_is_told_where_it_can_be() -> None:
    """The end of a record comes before what the search did; a parent that was revoked is named."""
    one = fact(1, superseded_by="fact-002", superseded_as="duplicate")
    assert fate_of(one, START) == "a duplicate of fact-002"
    assert fate_of(fact(1, forgotten_at=START), START) == "forgotten on request on 2026-05-14"
    assert fate_of(turn(1, redacted_at=START), START) == "redacted on 2026-05-14"
    both = turn(1, redacted_at=START, retired_at=START)
    assert fate_of(both, START) == "its content was destroyed by retention on 2026-05-14"
    assert fate_of(fact(1), START) is None
    was = KeptSlot(kind="core", record="fact", source_ids=("fact-1",), inherited_from="monaco")
    unknown = Today(slots=[], now=START)
    (gone,) = compare([was], unknown, SEAL, {}, {}).gone
    assert gone.why == "monaco is not inherited from any more"
    away = Today(slots=[], now=START, lineage=["monaco"], degraded=("warm",))
    assert compare([was], away, SEAL, {}, {}).gone[0].why == "not found; warm did not take part"
    redacted = {("fact", "fact-1"): "redacted on 2026-05-14"}
    assert compare([was], away, SEAL, {}, redacted).gone[0].why == "redacted on 2026-05-14"


def _ringed(context: Any) -> Slot:
    return next(slot for slot in context.slots if slot.kind == "hot")


def _as_then() -> Today:
    return Today(slots=assemble(told(), 1000).slots, now=START)
