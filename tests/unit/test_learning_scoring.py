"""What a learnt fact is worth, on cases made by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ezra.evaluation.learning.labels import Label, SaidTurn
from ezra.evaluation.learning.scoring import fate, since_agrees, verdict
from tiers.records import Fact

MOVED = SaidTurn(
    id="m",
    kind="moved",
    speaker="Ingrid",
    text="Hello! I moved from Leeds to Porto last month, my sister Clara lives in Bergen.",
    facts=(Label(attribute="lives in", values=("Porto",), since="2026-02"),),
    also=(("Clara", "Bergen"),),
)
DENIED = SaidTurn(
    id="d",
    kind="denials",
    speaker="Tom",
    text="No, I don't have a dog, but I have a cat.",
    facts=(Label(attribute="has no", values=("dog",), negated=True),),
    also=(("cat",),),
)
CORRECTED = SaidTurn(
    id="c",
    kind="corrections",
    speaker="Omar",
    text="My flight is on Wednesday, not on Tuesday.",
    facts=(
        Label(
            attribute="flight", values=("flight", "Wednesday"), wrong=("Tuesday",), negated="either"
        ),
    ),
)
SOLD = SaidTurn(
    id="s",
    kind="possessions",
    speaker="Freya",
    text="We sold the cello.",
    facts=(Label(attribute="sold", values=("cello",), says="sold|no longer", negated="either"),),
)
CHILD = SaidTurn(
    id="k",
    kind="allergies",
    speaker="Casper",
    text="My son is allergic to nuts.",
    facts=(
        Label(subject=("Casper's son",), attribute="allergic to", values=("allergic", "nut|nuts")),
    ),
)
DOCTOR = SaidTurn(
    id="w",
    kind="doctor",
    speaker="Leo",
    text="My doctor is Dr. Weber.",
    facts=(Label(attribute="doctor", values=("Weber",)),),
)
SILENT = SaidTurn(id="n", kind="wish", speaker="Ben", text="I wish I had a dog.")


@pytest.mark.parametrize(
    ("turn", "text", "worth"),
    [
        (MOVED, "Ingrid lives in Porto", "right"),
        (MOVED, "Ingrid moved from Leeds to Porto last month.", "right"),
        (MOVED, "Porto is Ingrid's home", "right"),
        (MOVED, "Clara lives in Porto", "false"),
        (MOVED, "Ingrid's sister lives in Porto", "false"),
        (MOVED, "Ingrid does not live in Porto", "false"),
        (MOVED, "Ingrid lives in Leeds", "false"),
        (MOVED, "Ingrid lives in Portofino", "false"),
        (MOVED, "user moved to Porto", "incomplete"),
        (MOVED, "I moved to Porto", "incomplete"),
        (MOVED, "I bought a castle in Porto", "false"),
        (MOVED, "Clara lives in Bergen", "incomplete"),
        (MOVED, "Clara has a castle in Bergen", "false"),
        (DENIED, "Tom does not have a dog", "right"),
        (DENIED, "Tom doesn\N{RIGHT SINGLE QUOTATION MARK}t have a dog", "right"),
        (DENIED, "Tom has no dog", "right"),
        (DENIED, "Tom has a dog", "false"),
        (DENIED, "Tom is not a vet but has a dog", "false"),
        (DENIED, "Tom has a cat", "incomplete"),
        (CORRECTED, "Omar's flight is on Wednesday, not on Tuesday", "right"),
        (CORRECTED, "Omar's flight is not on Tuesday but on Wednesday", "right"),
        (CORRECTED, "Omar's flight is on Tuesday", "false"),
        (CORRECTED, "Omar has a flight", "incomplete"),
        (SOLD, "Freya sold the cello", "right"),
        (SOLD, "Freya no longer has the cello", "right"),
        (SOLD, "Freya has a cello", "false"),
        (CHILD, "Casper's son is allergic to nuts", "right"),
        (CHILD, "Casper is allergic to nuts", "false"),
        (DOCTOR, "Leo's doctor is Dr. Weber", "right"),
        (DOCTOR, "Leo's wife sees Dr. Weber", "false"),
        (SILENT, "Ben has a dog", "false"),
        (SILENT, "Ben wishes he had a dog", "false"),
    ],
)
def test_the_worth_of_a_fact(turn: SaidTurn, text: str, worth: str) -> None:
    """Right, less than asked for, or not what was said."""
    assert verdict(turn, Fact(text=text)) == worth


def test_the_subject_may_stand_apart_from_the_text() -> None:
    """A fact that keeps the speaker's words names who they are about in its subject."""
    text = "I moved from Leeds to Porto last month"
    assert verdict(MOVED, Fact(subject="Ingrid", text=text)) == "right"
    assert verdict(MOVED, Fact(subject="Clara", text="moved to Porto")) == "false"


def test_a_time_of_validity_is_right_as_far_as_it_was_said() -> None:
    """A month that was said holds every day of it, and no fact without a time agrees."""
    (label,) = MOVED.facts
    within = Fact(text="x", valid_from=datetime(2026, 2, 11, tzinfo=UTC))
    later = Fact(text="x", valid_from=datetime(2026, 3, 11, tzinfo=UTC))
    assert since_agrees(label, within)
    assert not since_agrees(label, later)
    assert not since_agrees(label, Fact(text="x"))


def test_what_became_of_two_statements() -> None:
    """By what each says of itself; one row for both is a merge."""
    now = datetime(2026, 3, 11, tzinfo=UTC)
    old, new = Fact(id="a", text="x"), Fact(id="b", text="y")
    gone = {"superseded_at": now, "superseded_as": "natural"}
    same = {"superseded_at": now, "superseded_as": "duplicate"}
    assert fate(old, new) == "kept"
    assert fate(old, old) == "merged"
    assert fate(old.model_copy(update=same), new) == "merged"
    assert fate(old, new.model_copy(update=same)) == "merged"
    assert fate(old.model_copy(update=gone), new) == "superseded"
    assert fate(old, new.model_copy(update=gone)) == "reversed"
    assert fate(old.model_copy(update=gone), new.model_copy(update=gone)) == "both gone"
    assert fate(old, new.model_copy(update={"forgotten_at": now})) == "reversed"
