"""Where a thing of a team runs, and to whom a task falls, ends only what it cannot be beside."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from metaagents.learning.succession import Effect, effect
from tiers.records import Fact, Scope


def _effect(old: str, new: str) -> Effect | None:
    scope = Scope(tenant="acme", graph_id="home", agent_id="ada")
    first, second = (
        Fact(text=text).stamped(scope, f"f{day}", datetime(2026, 3, day, tzinfo=UTC))
        for day, text in enumerate((old, new), 1)
    )
    return effect(first, second)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The staging db runs in us-east-1.", "The staging db moved to eu-west-1."),
        ("The staging db runs in us-east-1.", "The staging db runs in eu-west-1 now."),
        ("The staging db runs in Frankfurt.", "The staging db moved to eu-west-1."),
        ("Our cluster is in us-east-1.", "Our cluster is in eu-central-1 now."),
        (
            "I have a meeting with the notary on Tuesday.",
            "The meeting with the notary is on Friday instead.",
        ),
        (
            "I have a meeting with the notary on Tuesday.",
            "The meeting with the notary was moved to Friday.",
        ),
        (
            "Ada asks the assistant always to answer Ada in English",
            "Ada asks the assistant to answer Ada in German from now on",
        ),
        ("I'm on the payments team.", "I'm on the design team now."),
        (
            "The price feed is owned by the crawler agent.",
            "The price feed is owned by the scraper agent now.",
        ),
        ("The crawler agent owns the price feed.", "The scraper agent owns the price feed now."),
        ("Maria signs off the invoices.", "Petra signs off the invoices now."),
        ("Deploys are frozen until Friday.", "Deploys are no longer frozen."),
    ],
)
def test_what_has_moved_or_was_handed_over_ends(old: str, new: str) -> None:
    """In another region, on another day, with another agent."""
    assert _effect(old, new) == "ends"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The staging db runs in us-east-1.", "The staging db also runs in eu-west-1."),
        ("The staging db runs in us-east-1.", "The staging db also runs in eu-west-1 now."),
        ("The staging db runs in us-east-1.", "The production db moved to eu-west-1."),
        ("The staging db runs in us-east-1.", "The backups of the staging db moved to eu-west-1."),
        ("The staging db runs in us-east-1.", "The staging db might move to eu-west-1."),
        ("The staging db runs on Postgres.", "The staging db moved to eu-west-1."),
        ("The staging db runs on Postgres.", "The staging db runs in eu-west-1 now."),
        (
            "I have a meeting with the notary on Tuesday.",
            "The meeting with Bo was moved to Friday.",
        ),
        (
            "Ada asks the assistant to answer Ada in English",
            "Ada asks the assistant to answer Bob in German",
        ),
        (
            "Ada asks the assistant to answer Ada in English",
            "Ada asks the assistant to answer Ada in German when Ada writes in German",
        ),
        ("The crawler agent owns the price feed.", "The scraper agent owns the news feed now."),
        (
            "The crawler agent owns the price feed.",
            "The scraper agent also owns the price feed now.",
        ),
        ("Ada owns a boat.", "Bob owns a boat now."),
        ("I'm on the payments team.", "My sister is on the design team now."),
    ],
)
def test_what_may_be_so_beside_it_stays(old: str, new: str) -> None:
    """As well, of another thing, or of another kind of place."""
    assert _effect(old, new) is None
