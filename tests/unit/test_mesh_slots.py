"""Slots read values of their types and nothing else."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from ezra.mesh.slots import Slot, filled
from tiers.errors import UsageError

ONE: TypeAdapter[Any] = TypeAdapter(Slot)

SKU = ONE.validate_python({"type": "text", "pattern": "[A-Z][0-9]+", "max_chars": 5})
LEVEL = ONE.validate_python({"type": "integer", "min": -5, "max": 10})
DAY = ONE.validate_python({"type": "date", "min": "2026-01-01", "max": "2026-12-31"})
TYRE = ONE.validate_python(
    {"type": "enum", "values": ["Soft", "Medium"], "aliases": {"Soft": ["reds"]}}
)
ITEM = ONE.validate_python({"type": "entity", "table": "items", "field": "name"})

READ: list[tuple[str, Any, object, object]] = [
    ("text", SKU, "A12", "A12"),
    ("text, lower case", SKU, "a12", None),
    ("text, longer than allowed", SKU, "A12345", None),
    ("text, more behind it", SKU, "A12 ", None),
    ("text, a line break behind it", SKU, "A12\n", None),
    ("text, digits of another script", SKU, "A\u0661", None),
    ("text, empty", SKU, "", None),
    ("text, a number", SKU, 12, None),
    ("text, a mapping", SKU, {"$gt": ""}, None),
    ("number", LEVEL, 10, 10),
    ("number as text", LEVEL, "-5", -5),
    ("number beyond the range", LEVEL, 11, None),
    ("number with blanks", LEVEL, " 3", None),
    ("number of another script", LEVEL, "\u0663", None),
    ("number, hexadecimal", LEVEL, "0x3", None),
    ("number, a flag", LEVEL, True, None),
    ("number, a fraction", LEVEL, 1.0, None),
    ("day", DAY, "2026-05-14", date(2026, 5, 14)),
    ("day that there is not", DAY, "2026-02-30", None),
    ("day beyond the range", DAY, "2027-01-01", None),
    ("day as a week", DAY, "2026-W20-4", None),
    ("word", TYRE, "Soft", "Soft"),
    ("word in small letters", TYRE, "medium", "Medium"),
    ("another word for it", TYRE, "REDS", "Soft"),
    ("no word", TYRE, "Soft' OR 1=1", None),
    ("entity", ITEM, "Left gear", "Left gear"),
    ("entity with a line break", ITEM, "Left\ngear", None),
    ("entity, a list", ITEM, ["Left gear"], None),
    ("entity, too long", ITEM, "x" * 201, None),
]


@pytest.mark.parametrize(
    ("slot", "given", "value"), [row[1:] for row in READ], ids=[row[0] for row in READ]
)
def test_a_slot_reads_its_own_values_only(slot: Any, given: object, value: object) -> None:
    """What is no value is refused, never repaired; types count as much as texts."""
    read = slot.read(given)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    "pattern",
    [
        *("(a+)+", "(a|b)*c", "a*b*c*d*e", "(?=a)b", r"(a)\1", "[a-z", "(?P<x>a)", "a{1,5}" * 4),
        r"(\d+){2}",
    ],
)
def test_a_pattern_that_could_keep_a_process_busy_is_refused(pattern: str) -> None:
    """No repeated group, no lookaround, no reference to a group, three repetitions at most."""
    with pytest.raises(ValidationError):
        ONE.validate_python({"type": "text", "pattern": pattern})


@pytest.mark.parametrize("pattern", [r"[A-Z]{2}-\d{4}", "[(+*]+", r"\(\w+\)", "ab?c?"])
def test_a_plain_pattern_is_taken(pattern: str) -> None:
    """Signs in classes and escaped ones repeat nothing."""
    ONE.validate_python({"type": "text", "pattern": pattern})


@pytest.mark.parametrize(
    "declared",
    [
        {"type": "integer", "min": 3, "max": 2},
        {"type": "integer", "min": 3},
        {"type": "enum", "values": []},
        {"type": "enum", "values": ["a", "A"]},
        {"type": "enum", "values": ["a"], "aliases": {"b": ["c"]}},
        {"type": "text", "pattern": "a", "max_chars": 201},
        {"type": "entity", "table": "items"},
        {"type": "sql", "text": "SELECT 1"},
    ],
    ids="-".join,
)
def test_what_is_no_slot_is_refused_when_it_is_declared(declared: dict[str, Any]) -> None:
    """Before anybody asks."""
    with pytest.raises(ValidationError):
        ONE.validate_python(declared)


def test_slots_are_filled_all_at_once() -> None:
    """One that is missing or unknown is named; one that is not required may be left out."""
    slots = {"sku": SKU, "level": LEVEL.model_copy(update={"required": False})}
    assert filled(slots, {"sku": "A1"}) == {"sku": "A1"}
    assert filled(slots, {"sku": "A1", "level": "3"}) == {"sku": "A1", "level": 3}
    with pytest.raises(UsageError, match=r"slots\.sku: None .* like \[A-Z\]\[0-9\]\+"):
        filled(slots, {"level": 3})
    with pytest.raises(UsageError, match=r"slots\.where.*the slots sku, level"):
        filled(slots, {"sku": "A1", "where": "1=1"})
    with pytest.raises(UsageError, match=r"slots\.level: 99 .*from -5 to 10"):
        filled(slots, {"sku": "A1", "level": 99})
