"""By which words a claim is found, and where: pure rules that stores keep the outcome of."""

from __future__ import annotations

from itertools import combinations

import pytest
from support.cold_samples import OTHER_AGENT, SCOPE, belief_by

from tiers.history.claim_words import CLAIM_WORDS_MAX, claim_words, filed_under
from tiers.lexical import WORD_CHARS_MAX


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Start on the mediums; a medium lasts 18.5 laps!", "start medium last 18 5 lap"),
        ("START on Mediums", "start medium"),
        ("Don't pit, it isn't wet", "pit wet"),
        ("Not for them!", "not for them"),
        ("雨 2 km/h", "雨 2 km h"),
        ("?!", ""),
        ("", ""),
    ],
)
def test_words_of_a_claim(claim: str, expected: str) -> None:
    """Each once, in order, lower case and singular; stop words only where there is nothing else."""
    assert claim_words(claim) == tuple(expected.split())


def test_words_are_bounded() -> None:
    """The first so many, each of so many characters."""
    found = claim_words(" ".join(f"{'x' * 100}{number} w{number}" for number in range(100)))
    assert len(found) == CLAIM_WORDS_MAX
    assert found[1:3] == ("w0", "w1")
    assert max(map(len, found)) == WORD_CHARS_MAX


def test_places_are_told_apart() -> None:
    """Whatever names are called: nothing that stands in one part is taken for another."""
    ada, null = (SCOPE.model_copy(update={"user_id": name}) for name in ("ada", "null"))
    places = [
        belief_by(),
        belief_by(topic=None),
        belief_by(topic=None, topics=()),
        belief_by(topic="null"),
        belief_by(topic='tyres", null'),
        belief_by(ada),
        belief_by(null),
        belief_by(private=True),
        belief_by(OTHER_AGENT, private=True),
        belief_by(ada, private=True),
    ]
    assert all(filed_under(one) != filed_under(other) for one, other in combinations(places, 2))
    alike = belief_by(OTHER_AGENT, "Other.", topics=("strategy",), key=None)
    assert filed_under(alike) == filed_under(places[0])
    audience = belief_by(topic=None, topics=("b", "a"))
    assert filed_under(audience) == filed_under(belief_by(topic=None, topics=("a", "b")))
