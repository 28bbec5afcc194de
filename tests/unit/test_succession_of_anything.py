"""What is told in other words, or of a thing that is gone, ends what was told before."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from metaagents.learning.succession import Effect, effect, left_of
from tiers.records import Fact, Scope


def _facts(old: str, new: str) -> tuple[Fact, Fact]:
    scope = Scope(tenant="acme", graph_id="home", agent_id="ada")
    first, second = (
        Fact(text=text).stamped(scope, f"f{day}", datetime(2026, 3, day, tzinfo=UTC))
        for day, text in enumerate((old, new), 1)
    )
    return first, second


def _effect(old: str, new: str) -> Effect | None:
    return effect(*_facts(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The juniors train at Hilltop on Wednesdays", "The juniors train at Riverside now"),
        ("My salary is paid into my Barclays account", "My salary is paid into Monzo now"),
        ("I skate with number 44", "I skate with 71 now"),
        ("The payout worker retries 5 times", "The payout worker retries 3 times"),
        ("I drive a Golf from 2014", "I traded the Golf in for a Leaf"),
        ("My salary is paid into my Barclays account", "I closed the Barclays account"),
        ("I get a veg box every Friday", "I cancelled the veg box"),
        ("I do nights at the bakery on Cole Street", "I've left the Cole Street bakery"),
        ("Tom locks up the café on Fridays", "Lina locks up the café on Fridays now"),
        ("I hold the lock on migration 42", "I let go of the lock"),
        ("My girlfriend is Hanna", "Hanna and I broke up"),
        ("I do yoga at Lotus Studio every Tuesday", "I dropped the yoga"),
        ("Ben and I are getting married on 20 June 2026", "I have called off the wedding"),
        ("I'm going to Rome in May 2027", "I'm not going to Rome any more"),
        ("The report is due on 3 April 2026", "The report is due on 24 April 2026"),
        (
            "The grant application for the library is due on 3 April 2026",
            "The grant application is due on 24 April 2026",
        ),
    ],
)
def test_what_is_otherwise_or_gone_ends_what_was(old: str, new: str) -> None:
    """In one frame, of one thing, by whoever does it now."""
    assert _effect(old, new) == "ends"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "The warehouse backup starts at 02:00 every night",
            "I shifted the warehouse backup, it kicks off at 04:30 now",
        ),
        (
            "Alerts for the warehouse robots go to #robots-noise",
            "The robot alerts land in #floor-ops now",
        ),
        (
            "Peregrine Freight is on the 4-hour support plan",
            "Peregrine signed the upgrade, so they're on the 1-hour plan as of today",
        ),
        (
            "Questions about the billing database go to Oskar",
            "Billing database questions go to Ulla now",
        ),
        ("Runbooks are kept in Confluence", "The Confluence space is deleted"),
        ("The sales digest mail goes out at 6:30", "I turned the sales digest mail off for good"),
        (
            "Tillmann wants a csv export of all orders by 30 March",
            "Tillmann don't want the export any more, they bought a tool",
        ),
        (
            "The public API allows 100 requests per minute per key",
            "Raised the limit on the public API: it's 300 requests per minute per key now",
        ),
        ("I'm allergic to shellfish", "I'm not allergic to anything"),
    ],
)
def test_most_of_the_same_words_and_another_value_end_what_was(old: str, new: str) -> None:
    """A time, a channel, a number of the same, a name; what is gone, and what is denied of all."""
    assert _effect(old, new) == "ends"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The production database runs on Postgres 13", "The staging database runs on Postgres 16"),
        (
            "The backup of the orders database runs at 02:00",
            "The backup of the users database runs at 03:00 now",
        ),
        ("The autoclave in room 1 is set to 134", "I've set the autoclave in room 2 to 121 now"),
        ("Poppy runs Debian 11", "I upgraded clover to Debian 12"),
        (
            "Ireland pallets go with Palletways, and the Germany ones go with DHL",
            "Done with Palletways after the third lost load",
        ),
        ("I work at Siemens", "I also work at a bakery on Saturdays"),
        ("I work for Siemens", "I work for the Red Cross at weekends"),
        ("I live in Lisbon", "In summer I live in Porto"),
        ("My dose is 20 mg", "My dose was 10 mg in October"),
        ("My rent is 950 euros", "My rent was 900 euros last year"),
        ("The release is on 3 March 2027", "The release was originally planned for 1 February"),
        ("The warehouse backup starts at 02:00", "We might move the warehouse backup to 04:30"),
        ("I drive a Golf", "My brother sold the Golf"),
        ("The valve opens at 80 degrees", "The valve closes at 80 degrees"),
        ("The Blue Café has 20 seats", "The Blue Café is closed on Mondays"),
        ("The juniors train at Hilltop", "Hilltop is closed"),
        ("The pump is in room 4", "The pump is off"),
        ("We visited the Kunsthalle Basel in May", "The Kunsthalle Basel is closed for good"),
    ],
)
def test_what_is_of_another_or_of_another_time_ends_nothing(old: str, new: str) -> None:
    """Of another thing or person, beside it, once, or only perhaps."""
    assert _effect(old, new) is None


def test_what_was_told_beside_what_is_otherwise_still_holds() -> None:
    """The days stay where only the place is another."""
    rest = left_of(
        *_facts("The juniors train at Hilltop on Wednesdays", "The juniors train at Riverside now")
    )
    assert rest is not None
    assert rest.text == "The juniors train on Wednesdays"
