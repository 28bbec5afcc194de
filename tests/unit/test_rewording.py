"""One wording for several that say the same, and none for what only looks like them."""

from __future__ import annotations

from datetime import timedelta
from itertools import combinations

import pytest
from support.tier_samples import NOW

from metaagents.learning.judging import LikeFacts
from metaagents.learning.rewording import in_plain_wording
from metaagents.learning.weighing import say_the_same
from tiers.records import Fact

SAME = [
    ("The fence was painted by Ada.", "Ada painted the fence."),
    ("The gate was closed by the guard in May.", "The guard closed the gate in May."),
    ("The song was written by Ivo.", "Ivo wrote the song."),
    ("The boat belongs to Ada.", "Ada owns the boat."),
    ("There are two beds in the room.", "The room has two beds."),
    ("The price of the map is 9 euros.", "The map costs 9 euros."),
    ("Ada's age is 40.", "Ada is 40 years old."),
    ("Ada drives a taxi.", "Ada is a taxi driver."),
    ("Ada is the manager of the shop.", "Ada manages the shop."),
    ("Blue is the colour Ada likes best.", "Ada's favourite colour is blue."),
    ("Ivo is Ada's husband.", "Ada is married to Ivo."),
    ("On Mondays the shop is open.", "The shop is open on Mondays."),
    ("Under the bed is the box.", "The box is under the bed."),
    ("The lease ends on June 30, 2027.", "The lease ends on 30 June 2027."),
    ("The shop opens at 7 pm.", "The shop opens at 19:00."),
    ("The visit takes 20 min.", "The visit takes 20 minutes."),
    ("As you know, Ada rows.", "Ada rows."),
]
DIFFERENT = [
    ("The fence was painted by Ada.", "The fence was painted by Ida."),
    ("The fence was painted by Ada.", "Ada was painted by the fence."),
    ("The fence was not painted by Ada.", "Ada painted the fence."),
    ("The fence was nearly painted by Ada.", "Ada painted the fence."),
    ("The fence is to be painted by Ada.", "Ada painted the fence."),
    ("The fence was painted by May.", "May painted the fence."),
    ("The wall was made by hand.", "Hand made the wall."),
    ("The boat belonged to Ada.", "Ada owns the boat."),
    ("There are no beds in the room.", "The room has beds."),
    ("The price of the map is 9 euros.", "The map weighs 9 kg."),
    ("Ada was a taxi driver.", "Ada drives a taxi."),
    ("Ada is not a taxi driver.", "Ada drives a taxi."),
    ("Ada is a former taxi driver.", "Ada drives a taxi."),
    ("Ada is the manager of the shop.", "The shop is the manager of Ada."),
    ("Ada may be the manager of the shop.", "Ada manages the shop."),
    ("Blue is the colour Ada likes least.", "Ada's favourite colour is blue."),
    ("Blue is the colour Ivo likes best.", "Ada's favourite colour is blue."),
    ("Ivo was Ada's husband.", "Ada is married to Ivo."),
    ("Ivo is Ada's brother.", "Ada is married to Ivo."),
    ("Under the bed is the box.", "Under the box is the bed."),
    ("The lease ends on June 3, 2027.", "The lease ends on 30 June 2027."),
    ("The shop opens at 7 pm.", "The shop opens at 7 am."),
    ("The visit takes 20 min.", "The visit takes 20 months."),
    ("Is the fence painted by Ada?", "Ada painted the fence."),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_what_says_the_same_has_one_wording(one: str, two: str) -> None:
    """Either way round, and putting it in plain wording twice changes nothing."""
    assert say_the_same(one, two)
    assert say_the_same(two, one)
    assert in_plain_wording(in_plain_wording(one)) == in_plain_wording(one)


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_what_does_not_is_kept_apart(one: str, two: str) -> None:
    """By number, name, role, denial, time or how sure it is."""
    assert not say_the_same(one, two)
    assert not say_the_same(two, one)


def test_of_many_statements_only_those_meant_to_be_are_one() -> None:
    """Each with each: no form makes two of different pairs alike."""
    texts = [one for one, _ in SAME]
    known = {("Ada drives a taxi.", "Ada is a taxi driver.")}
    assert [two for two in combinations(texts, 2) if two not in known and say_the_same(*two)] == []


def test_among_many_facts_what_says_the_same_in_other_words_is_found() -> None:
    """Though most of their words differ as they stand; a near miss stays beside it."""
    like = LikeFacts()
    for number, text in enumerate(
        ("Ada drives a taxi.", "Ada drives a bus.", "Ada is a taxi driver.", "Ida drives a taxi.")
    ):
        at = NOW + timedelta(days=number)
        fact = Fact(
            id=f"f{number}", agent_id="ada", graph_id="g", text=text, recorded_at=at, said_at=at
        )
        ended = [(gone.id, by) for gone, by in like.take(fact)]
        assert ended == ([("f2", "f0")] if number == 2 else [])


def test_long_and_odd_texts_are_read_in_bounded_time() -> None:
    """Nothing is raised, and nothing takes long."""
    for text in ("", " ", ".", "was by", "is " * 5_000, "the of " * 5_000, "A's " * 3_000, "\n\n"):
        in_plain_wording(text)
