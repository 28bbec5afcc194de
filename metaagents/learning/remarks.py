"""A statement that is remembered word for word, with what its words say filled in. Pure."""

from __future__ import annotations

from datetime import datetime

from tiers.records import Fact

from .grammar.claims import claims_of

CHARS_MAX = 400
"""A longer text is no single statement."""


def as_said(fact: Fact, speaker: str, at: datetime) -> Fact:
    """Return a fact with subject, predicate, object, type and validity as its text states them.

    Only where the text states one thing, and of what nobody has filled in: what the caller says
    counts. The text stays as it is; "I" is who remembers it.

    Args:
        fact: What is to be remembered.
        speaker: Who remembers it: the person it is of, else the agent.
        at: When, by the clock of who remembers it: "last month" is the one before it.
    """
    is_plain = fact.subject is None and fact.predicate is None and fact.object is None
    if not is_plain or not speaker or len(fact.text) > CHARS_MAX:
        return fact
    found = claims_of(fact.text, speaker, at)
    if not found or len({claim.text for claim in found}) > 1 or found[0].is_ahead:
        return fact
    claim = found[0]
    known: dict[str, object] = {"subject": claim.subject}
    if claim.is_single and claim.sense == "is" and claim.value:
        known |= {"predicate": claim.attribute, "object": claim.value}
    if fact.fact_type == "world":
        known["fact_type"] = claim.fact_type
    if fact.valid_from is None and fact.valid_to is None:
        known |= {"valid_from": claim.valid_from, "valid_to": claim.valid_to}
    return fact.model_copy(update=known)
