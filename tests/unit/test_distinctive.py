"""Numbers, dates, names and versions are told from ordinary words, however they are spelled."""

from __future__ import annotations

import pytest

from metaagents.distinctive import distinctive, is_negated, missing, names, numbers, vocabulary


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mediums last 18 laps", {"18"}),
        ("eighteen laps at 18.0 degrees", {"18"}),
        ("twenty-five cars, twenty five drivers, and thirty fans", {"25", "30"}),
        ("1,500 of 1500", {"1500"}),
        ("v2.3 or 2.3, then v2.3.1", {"2.3", "2.3.1"}),
        ("on 2026-11-20 at 14:30", {"2026-11-20", "14:30"}),
        ("one of these", set()),
        ("nothing", set()),
    ],
)
def test_numbers_have_one_spelling(text: str, expected: set[str]) -> None:
    """Digits and words, thousands, a leading v and trailing zeros make no difference."""
    assert set(numbers(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yesterday Ada met Bob in Rome.", {"ada", "bob", "rome"}),
        ("Box now. Well I'm tired, and I\u2019ve had enough", set()),
        ("Ada: Good morning", set()),
        ('He said "Hello there" to Ada', {"ada"}),
        ("THIS IS GREAT NEWS", set()),
        ("Use the GPU of the iPhone", {"gpu", "iphone"}),
        ("May I go? March on!", set()),
        ("May 5 or Monday", {"may", "monday"}),
        ("Ada came. We like Ada.", {"ada"}),
    ],
)
def test_names_are_capitals_that_mean_something(text: str, expected: set[str]) -> None:
    """Not the first word of a sentence or quotation, nor contractions, nor shouting."""
    assert set(names(text)) == expected


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("We use 2.3 now", "2 cars in 3 lanes", ["2.3"]),
        ("We use 2.3 now", "we are on v2.3", []),
        ("It weighs 18kg", "it weighs 18 kg", []),
        ("It weighs 18 kg", "it weighs 18kg", []),
        ("on March 3", "on the 3rd of March", []),
        ("due 2024-03-05", "due on 5 March 2024", []),
        ("due 2024-03-05", "due on 6 March 2024", ["2024-03-05"]),
        ("since 2024-03", "in Mar 2024", []),
        ("at 14:30", "14 people, 30 cars", ["14:30"]),
        ("I met Jean-Luc", "jean and luc", []),
        ("I met Ada and Bob", "met ada", ["Bob"]),
    ],
)
def test_a_token_is_found_whole_or_in_parts_that_mean_the_same(
    source: str, text: str, expected: list[str]
) -> None:
    """A decimal is no two integers; a date written out is the same date."""
    found = distinctive(source)
    assert [found[one] for one in missing(found, vocabulary(text))] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't eat meat", True),
        ("I do not never eat meat", False),
        ("No, I eat meat", False),
        ("No doubt it rains", False),
        ("Not only tea", False),
        ("I can't wait to go", False),
        ("It is no longer there", True),
        ("It rains", False),
    ],
)
def test_negation_is_counted_where_it_denies(text: str, expected: bool) -> None:  # noqa: FBT001
    """Phrases that only contain a negation deny nothing."""
    assert is_negated(text) is expected


def test_distinctive_is_both() -> None:
    """Numbers and names together, as written."""
    assert distinctive("We race in Rome with v2.3") == {"2.3": "v2.3", "rome": "Rome"}
