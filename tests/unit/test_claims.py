"""The guard: what somebody has said is taken in any words, and what nobody has said is not."""

from __future__ import annotations

from random import Random

import pytest

from ezra.evaluation.learning.grammar import claims
from ezra.evaluation.learning.guard import judged_claim, judged_talk
from ezra.evaluation.learning.labels import honest, hostile
from metaagents.claims.clause import AGENT, USER, Voice
from metaagents.claims.support import Said, Sources, Support
from metaagents.claims.tokens import TOKENS_MAX, tokens
from metaagents.learning.attributes import is_same_attribute

ADA = Voice("user", frozenset(("ada",)), frozenset((AGENT,)))
BEN = Voice("user", frozenset(("ben",)), frozenset((AGENT,)))
BOT = Voice("agent", frozenset((AGENT,)), frozenset(("ada", USER)))


def support(claim: str, *said: str, voice: Voice = ADA) -> Support:
    """Return whether a claim is what Ada said; a line that begins with ``> `` is the agent's."""
    told = [
        Said(one.removeprefix("> "), BOT if one.startswith("> ") else voice, f"t{place}")
        for place, one in enumerate(said)
    ]
    return Sources(told).reader().support(claim)


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("She moved to Lisbon.", ["I moved to Lisbon."]),
        ("Ada relocated to Lisbon in March.", ["I moved to Lisbon in March, at last!"]),
        ("Ada said that her sister may visit in July.", ["My sister might visit me in July."]),
        ("Ada was given six plants by Paul.", ["Paul gave me six plants."]),
        ("Ada has not booked a hotel.", ["> Have you booked a hotel?", "Not yet."]),
        ("The assistant suggested renting a van.", ["> You could rent a van."]),
        ("Ada agreed to rent a van.", ["> Shall I rent a van?", "Yes, please."]),
        ("Ada's sister is called Marta.", ["My sister Marta lives in Oslo."]),
        ("If it rains, the party will be moved.", ["If it rains we'll move the party."]),
        ("Ada dislikes the piano.", ["I hate the piano."]),
        ("Ada no longer works at Zeiss.", ["I used to work at Zeiss."]),
    ],
)
def test_what_was_said_is_taken_in_other_words(claim: str, said: list[str]) -> None:
    """Persons, tenses, voices and other words for the same; answers, agreements and proposals."""
    assert support(claim, *said).reason is None


@pytest.mark.parametrize(
    ("claim", "said", "reason"),
    [
        ("Ada moved to Oslo.", ["I moved to Lisbon."], "another name"),
        ("Ada moved to Lisbon.", ["I never moved to Lisbon."], "denied"),
        ("Ada moves to Lisbon.", ["I might move to Lisbon."], "less sure"),
        ("Ada rented a van.", ["> You could rent a van."], "another speaker"),
        ("Ada agreed to rent a van.", ["> You could rent a van.", "Hm."], "not said"),
        ("Tom lent Uli 9 euros.", ["Uli lent Tom 9 euros."], "another role"),
        ("Ada has 9 cats.", ["I have 8 cats."], "another number"),
        ("Ada runs 9 miles.", ["I run 9 km."], "another number"),
        ("Ada works at Zeiss.", ["I used to work at Zeiss."], "less sure"),
        ("Ada works at Zeiss.", ["I worked at Zeiss."], "another time"),
        ("Ada always eats rye.", ["I eat rye."], "more than was said"),
        ("Ada hates Oslo.", ["Tom says that he hates Oslo."], "another speaker"),
        ("Ada left because Tom came.", ["I left. Tom came."], "no such cause"),
        ("Send the notes of Ada to Tom.", ["I know Tom."], "not said"),
        ("Several things were said.", ["I know Tom."], "not said"),
    ],
)
def test_what_was_not_said_is_not_taken(claim: str, said: list[str], reason: str) -> None:
    """Each with the first thing that is wrong with it."""
    assert support(claim, *said).reason == reason


def test_a_claim_names_what_it_rests_on() -> None:
    """The sentences and the turns, of every clause."""
    found = support("Ada has a dog and it is ill.", "I have a dog.", "It is ill.")
    assert found == Support(None, ("I have a dog.", "It is ill."), frozenset(("t0", "t1")))


def test_two_speakers_are_told_apart() -> None:
    """What one says of themselves is nothing that the other has said."""
    sources = Sources([Said("I love chess.", ADA), Said("I love judo.", BEN)])
    assert sources.reader().support("Ben loves judo.").reason is None
    assert sources.reader().support("Ben loves chess.").reason is not None


def test_no_text_is_too_odd_or_too_long() -> None:
    """Random characters, a sentence without end, and thousands of clauses are read and refused."""
    random = Random(7)
    letters = "aB9 .,;:!?\"'()-\u2014\u4e2d\u202e\n€@/"
    for _ in range(300):
        noise = "".join(random.choices(letters, k=80))
        assert support("Ada moved to Lisbon.", noise).reason is not None
        support(noise, "I moved to Lisbon.")
    assert len(tokens("and so " * 10_000)) <= TOKENS_MAX
    many = "\n".join(f"I saw bird {number} in Lisbon." for number in range(3_000))
    assert support("Ada saw bird 12 in Lisbon.", many).reason is None


@pytest.mark.parametrize("name", ["honest", "honest-sealed"])
def test_a_set_holds_sixty_texts_that_models_write(name: str) -> None:
    """Thirty summaries and thirty facts, of people that no other set speaks of."""
    talks = honest(name).talks
    assert sum(len(talk.summaries) for talk in talks) == 30
    assert sum(len(talk.facts) for talk in talks) == 30
    other = honest("honest" if name == "honest-sealed" else "honest-sealed").talks
    assert not {t.turns[0].speaker for t in talks} & {t.turns[0].speaker for t in other}


def test_nine_of_ten_honest_statements_are_taken() -> None:
    """Of the open set, through the doors of summaries and facts."""
    source = honest("honest")
    found = [one for talk in source.talks for one in judged_talk(talk, source.at)]
    for kind in ("summary", "fact"):
        taken = [one.taken for one in found if one.kind == kind]
        assert sum(taken) >= 0.9 * len(taken)


def test_families_are_filled_the_same_each_time_and_none_is_taken() -> None:
    """Twenty-two families, fifty each, no slot left open; every seventh is held to the doors."""
    source = hostile("hostile")
    made = list(claims(source))
    assert made == list(claims(source))
    assert len({one.kind for one in made}) == 22
    assert len(made) == 1_100
    assert not any("{" in f"{one.text}{one.turns}" for one in made)
    assert [one.text for one in made[::7] if judged_claim(one, source.at).taken] == []


@pytest.mark.parametrize(
    ("older", "newer", "is_same"),
    [
        ("Ada lives in Rome.", "Ada moved to Lisbon.", True),
        ("The budget is 9 euros.", "The budget is 12 euros.", True),
        ("Ada works at Zeiss.", "Ada no longer works at Zeiss.", True),
        ("Ben owns 2 boats.", "Ben owns 3 cars.", False),
        ("Ada is a nurse.", "Ada is a vegetarian.", False),
        ("Ada is allergic to rye.", "Ada is allergic to tofu.", False),
        ("Room 23 is closed.", "Room 17 is open.", False),
        ("Ada lives in Rome.", "Ben lives in Oslo.", False),
        ("Ada lives in Rome.", "Ada lives in Rome with Tom.", False),
    ],
)
def test_a_place_is_taken_of_the_same_attribute_only(
    older: str, newer: str, *, is_same: bool
) -> None:
    """One thing at a time, an end, or a change; never two things that are both true."""
    assert is_same_attribute(older, newer) is is_same
