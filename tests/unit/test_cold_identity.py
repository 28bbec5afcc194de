"""What makes two statements of one writer the same, or of two writers as much."""

from __future__ import annotations

from support.cold_samples import fact_by, rule_by
from support.tier_samples import NOW, scope_of

from tiers.cold.digests import address_of, identity_of, said_by

ALICE, BOB = scope_of(user_id="alice"), scope_of(user_id="bob")


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
            (scope_of(), '["alice", ["x"]]'),
        )
    ]
    rules = [rule_by(scope) for scope in (scope_of(), ALICE, BOB)]
    for digest in (identity_of, said_by):
        digests = {digest(record) for record in (*facts, *rules)}
        assert len(digests) == len(facts) + len(rules)
        assert digest(fact_by(ALICE, "x")) == digest(facts[1])


def test_writers_topics_and_privacy_are_part_of_the_identity_alone() -> None:
    """What two writers say is as much, but not the same; the order of topics is nothing."""
    known = fact_by(text="x", topics=("pace", "tyres"))
    others = [
        fact_by(scope_of(agent_id="engineer"), "x", topics=("pace", "tyres")),
        fact_by(text="x", topics=("pace",)),
        fact_by(text="x", topics=("pace", "tyres"), private=True),
    ]
    assert {said_by(one) for one in others} == {said_by(known)}
    assert len({identity_of(one) for one in (known, *others)}) == 4
    again = known.model_copy(update={"topics": ("tyres", "pace")})
    assert identity_of(again) == identity_of(known)


def test_a_redacted_statement_is_like_no_other() -> None:
    """It has no digest, which would tell who guesses it what it said."""
    keyed = fact_by(ALICE, "", subject="car", predicate="has", object="tyres")
    assert address_of(keyed) is not None
    redacted = keyed.model_copy(update={"redacted_at": NOW})
    assert (said_by(redacted), identity_of(redacted), address_of(redacted)) == (None, None, None)
    rule = rule_by(ALICE).model_copy(update={"redacted_at": NOW})
    assert (said_by(rule), identity_of(rule)) == (None, None)


def test_addresses_do_not_run_together() -> None:
    """Of facts with the same subject and predicate, whatever they say of it; none without a key."""

    def keyed(subject: str, predicate: str, value: str) -> str | None:
        return address_of(fact_by(text="", subject=subject, predicate=predicate, object=value))

    assert keyed("car", "has", "tyres") == keyed("car", "has", "wings")
    assert keyed("car", "has", "x") != keyed("car has", "has", "x")
    assert keyed("car", "has", "x") != keyed("ca", "rhas", "x")
    assert address_of(fact_by(text="no key")) is None
