"""What makes two statements of one writer the same."""

from __future__ import annotations

import hashlib

from support.cold_samples import fact_by, rule_by
from support.tier_samples import NOW, scope_of

from tiers.cold.sqlite.identity import identity_of

ALICE, BOB = scope_of(user_id="alice"), scope_of(user_id="bob")


def test_digest_without_a_user_is_that_of_the_text() -> None:
    """As it was before users counted, so that what is stored is found again."""
    fact = fact_by(text="Mediums last 18 laps. é")
    assert identity_of(fact) == hashlib.sha256(fact.text.encode()).digest()


def test_users_texts_and_kinds_are_told_apart() -> None:
    """Also where user and text run together, or a text imitates another user's statement."""
    facts = [
        fact_by(scope, text)
        for scope, text in (
            (scope_of(), "x"),
            (ALICE, "x"),
            (BOB, "x"),
            (scope_of(user_id="alicex"), "x"),
            (ALICE, "xx"),
            (scope_of(), "alicex"),
            (scope_of(), "\xffalice\xffx"),
        )
    ]
    rules = [rule_by(scope) for scope in (scope_of(), ALICE, BOB)]
    assert len({identity_of(record) for record in (*facts, *rules)}) == len(facts) + len(rules)
    assert identity_of(fact_by(ALICE, "x")) == identity_of(facts[1])


def test_redacted_statement_is_like_no_other() -> None:
    """Its digest tells nothing of what it said, and two of them do not collide."""
    one, two = (
        fact_by(ALICE, "x").model_copy(update={"redacted_at": NOW, "text": text})
        for text in ("", "x")
    )
    assert identity_of(one) != identity_of(two)
    assert identity_of(one) == identity_of(one.model_copy(update={"text": "x", "user_id": "bob"}))
