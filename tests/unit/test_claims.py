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


HONEST = ("honest", "honest-wide", "honest-sealed", "honest-free", "honest-free-sealed")
"""The first three are by one author."""


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
        ("Ada's visa expires in May.", ["My visa runs out in May."]),
        ("Ada submitted her thesis.", ["I handed in my thesis."]),
        ("The assistant suggested telling Paul.", ["> Then perhaps tell Paul early."]),
        ("Ada has a dog called Biscuit.", ["Our dog Biscuit ate my shoe."]),
        ("Ada's father no longer flies.", ["My father doesn't fly any more."]),
        ("Ada's flat has no lift.", ["I found a flat today! No lift."]),
        ("Ada's exam is on 7 May.", ["I'm nervous.", "> When is your exam?", "On 7 May, in Oslo."]),
        ("Ada ran for 40 minutes.", ["I ran today. It took me 40 minutes."]),
        ("Ada called her vet.", ["> Call your vet, please.", "I called."]),
        ("Ada visited Tom on Monday.", ["> Perhaps visit Tom.", "I did that on Monday."]),
        ("Ada would like to keep the boat.", ["> Do you want to keep the boat?", "I'd like to."]),
        ("Ada wants a van.", ["> Shall I rent a van?", "Yes."]),
        ("Ada's printer failed.", ["My printer broke down."]),
        ("Ada no longer works at Zeiss.", ["I used to work at Zeiss."]),
        ("Ada's husband Bo is against white noise.", ["My husband Bo's against white noise."]),
        ("Ada's grandfather is 84.", ["My grandad's 84 and he still drives."]),
        ("Ada's landlady is Mrs Pell.", ["The landlady, Mrs Pell, says that we smoke."]),
        ("Ada uses 500 g of rye.", ["I'm using 500 g of rye."]),
        ("Ada's survey closes on Friday.", ["My survey only closes on Friday."]),
        ("Ada goes back to university in May.", ["I go back to uni in May."]),
        ("Ada's friend Rui can't have nuts.", ["It's my friend Rui's party. He can't have nuts."]),
        ("Lena suspects the router.", ["Lena reckons it's the router."]),
        (
            "Ada's wife made a dentist appointment on the 19th.",
            ["I've got a dentist appointment on the 19th, my wife made it for me."],
        ),
    ],
)
def test_what_was_said_is_taken_in_other_words(claim: str, said: list[str]) -> None:
    """Persons, tenses, voices and other words for the same; answers, agreements and proposals."""
    assert support(claim, *said).reason is None


@pytest.mark.parametrize(
    ("claim", "said", "reason"),
    [
        ("Ada moved to Oslo.", ["I moved to Lisbon."], "another name"),
        ("Ada has not yet applied for a visa.", ["I applied for a visa."], "denied"),
        ("Ada sold the boat.", ["I bought a boat.", "I sold my van this week."], "not said"),
        ("Dr. Roth called Ada.", ["I called Paul.", "Dr. Roth says to wait."], "another name"),
        ("Ada keeps her keys.", ["I keep forgetting my keys."], "not said"),
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


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("I didn't lock the office.", "Ada locked the office."),
        ("Neither Tom nor Uli has paid the bill.", "Tom has paid the bill."),
        ("I failed the driving test.", "Ada passed the driving test."),
        ("Tom owes Uli 50 euros.", "Uli owes Tom 50 euros."),
        ("Tom was fired by Uli.", "Tom fired Uli."),
        ("My aunt adopted Tom.", "Tom adopted Ada's aunt."),
        ("I borrowed a drill from Tom.", "Tom borrowed a drill from Ada."),
        ("Uli introduced me to Tom.", "Ada introduced Uli to Tom."),
        ("The train leaves at 9:15 and arrives at 11:40.", "The train leaves at 11:40."),
        ("We sold 40 tickets on Friday and 70 on Saturday.", "Ada sold 70 tickets on Friday."),
        ("I weigh 60 kg and my brother weighs 80 kg.", "Ada weighs 80 kg."),
        ("I lent Tom some money.", "Ada lent Tom 500 euros."),
        ("My dentist is nice.", "Ada's dentist, Dr. Kern, is nice."),
        ("I'm hoping to get the job at Zeiss.", "Ada got the job at Zeiss."),
        ("Tom may have stolen the bike.", "Tom stole the bike."),
        ("I was going to visit Oslo, but I got ill.", "Ada visited Oslo."),
        ("I almost bought a boat.", "Ada bought a boat."),
        ("I tried to call Tom.", "Ada called Tom."),
        ("I wish I had a garden.", "Ada has a garden."),
        ("I dreamt that I lived in Rome.", "Ada lives in Rome."),
        ("Imagine I worked for Zeiss.", "Ada works for Zeiss."),
        ("Does Tom live in Oslo now?", "Tom lives in Oslo now."),
        ("Tom lives in Oslo, right?", "Tom lives in Oslo."),
        ("When I win the lottery I will buy a house.", "Ada will buy a house."),
        ("Once Tom signs, we will move to Oslo.", "Ada will move to Oslo."),
        ("Tom pretends to be a doctor.", "Tom is a doctor."),
        ("Everyone thinks Tom is rich, but he isn't.", "Tom is rich."),
        ("It is false that Tom left Zeiss.", "Tom left Zeiss."),
        ("I doubt that Tom speaks Danish.", "Tom speaks Danish."),
        ("Tom denies that he took the money.", "Tom took the money."),
        ("I refuse to sign the contract.", "Ada signed the contract."),
        ("I was married to Tom.", "Ada is married to Tom."),
        ("My ex-husband Tom lives in Oslo.", "Ada's husband Tom lives in Oslo."),
        ("I am no longer the treasurer of the club.", "Ada is the treasurer of the club."),
        ("I had my tonsils out and my brother broke his leg.", "Ada broke a leg."),
        ("Tom likes jazz and Uli likes metal.", "Tom likes metal."),
        ("My friend Mia's got asthma.", "Ada has asthma."),
        ("My own mentor, Tom, never had time.", "Ada has mentored Tom."),
        ("Tom took them to Oslo. But two hours with two kids...", "Ada took two kids to Oslo."),
        ("My survey only closes on Friday.", "Ada's survey closes."),
        (
            "We finally got the allotment, plot 27, after three years on the waiting list!",
            "Ada has been on the waiting list for 27 years.",
        ),
        ("Uli got the mail. I forwarded mine to security.", "Ada told security about Uli's mail."),
        ("The deploy failed because the migration hung.", "The migration hung because it failed."),
        ("I don't like grey, so we chose sand.", "Ada doesn't like grey because she chose sand."),
        ("I moved to Oslo and work as a nurse.", "Ada moved to Oslo because she works as a nurse."),
        ("The rent goes up to 900 euros.", "The rent goes up by 900 euros."),
        ("It took me four hours.", "It took Ada under four hours."),
        ("We're playing in Oslo on 9 May.", "Ada played in Oslo on 9 May."),
        ("I played in Oslo on 9 June.", "Ada played in Oslo on 9 May."),
        ("My brother would rather sell. He owns half of it.", "Ada's brother sold half of it."),
        (
            "Tom did chess at school and he wasn't happy with it.",
            "Tom was happy with chess at school.",
        ),
        ("I want to ask Tom whether he rows.", "Ada has asked Tom whether he rows."),
        ("I must ask Tom whether he rows.", "Ada has asked Tom whether he rows."),
        ("The mail looked like it came from Zeiss.", "The mail came from Zeiss."),
        ("The name ends in Roe instead of Rowe.", "The name ends in Rowe instead of Roe."),
        ("It costs 980 instead of 1140 euros.", "It costs 1140 instead of 980 euros."),
        (
            "I'm in the office on Mondays, otherwise at home.",
            "Ada is at home, otherwise in the office.",
        ),
        ("I have choir every second Monday.", "Ada has choir every Monday."),
        ("I've forwarded the mail. Uli got the same mail.", "Uli forwarded the same mail."),
        ("I haven't changed my password. Uli got the mail.", "Uli changed the password."),
        ("Tom would prefer tea. I drink coffee.", "Tom would prefer coffee to tea."),
        ("I told you about Uli's mail. I'm at Zeiss.", "Ada told Zeiss about Uli's mail."),
        (
            "I have a flight on Monday and a dentist appointment on Friday, my wife made it.",
            "Ada's wife made a dentist appointment on Monday.",
        ),
        ("I've got Tom's car and a bike, my wife sold it.", "Ada's wife sold Tom's bike."),
        ("Tom has a landlady. The landlady, Mrs Pell, sings.", "Ada's landlady is Mrs Pell."),
        ("I have two dogs. My neighbour has three cats.", "Ada has three cats."),
        ("Only Tom passed the exam.", "Uli passed the exam."),
        ("I ate one apple.", "Ada eats apples every day."),
        ("Some of the servers are down.", "All servers are down."),
        ("I moved out. The heating was broken.", "Ada moved out because the heating was broken."),
        ("The invoice is due on Monday.", "The invoice is overdue."),
        ("I'm allergic to cats.", "Ada is allergic to cats and dogs."),
        ("I asked Tom to send the report.", "Tom sent the report."),
        ("I told Tom to sell the car.", "Tom sold the car."),
        ("I forgot to water the plants.", "Ada watered the plants."),
        ("I forgot that Tom was in Oslo.", "Tom was never in Oslo."),
        ("I ordered a laptop, but it has not arrived.", "Ada's laptop has arrived."),
        ("Tom and I were supposed to meet on Friday.", "Ada and Tom met on Friday."),
        ("My boss wants me to transfer 900 euros.", "Ada transferred 900 euros."),
        ("They offered me a job at Zeiss.", "Ada has a job at Zeiss."),
        ("I applied for a loan of 9,000 euros.", "Ada got a loan of 9,000 euros."),
        ("I stopped Tom from leaving.", "Tom left."),
        ("Unlike Tom, I eat meat.", "Tom eats meat."),
        ("I'd rather die than work for Zeiss.", "Ada works for Zeiss."),
        ("I can't imagine living in Oslo.", "Ada lives in Oslo."),
        ("Too bad I am not a member of the club.", "Ada is a member of the club."),
        ("I was told that the bridge is closed.", "Ada said that Tom closed the bridge."),
        ("Tom is taller than Uli.", "Uli is taller than Tom."),
        ("I volunteered to paint the fence.", "Ada painted the fence."),
        ("Tom threatened to leave Zeiss.", "Tom left Zeiss."),
        ("The court ruled that Tom need not pay.", "Tom has to pay."),
        ("My landlord claims I broke the window.", "Ada broke the window."),
        ("The plan to close the school was dropped.", "The school was closed."),
        ("I have yet to read the report.", "Ada has read the report."),
        ("Far from being rich, Tom is broke.", "Tom is rich."),
        ("I would have bought the boat if I had money.", "Ada bought the boat."),
        ("Tom used to be vegan before he met Uli.", "Tom is vegan."),
        ("I look after Uli's cat this week.", "Ada has a cat."),
        ("I drove Tom's car to Oslo.", "Ada has a car."),
        ("I parked next to Tom's house.", "Ada lives in Tom's house."),
        ("Tom inherited the farm from Uli.", "Uli inherited the farm from Tom."),
        ("I learnt Danish from Tom.", "Tom learnt Danish from Ada."),
        ("Tom followed Uli to Oslo.", "Uli followed Tom to Oslo."),
        ("I got the flowers for Tom.", "Ada got the flowers from Tom."),
        ("I have to be in Oslo by 8.", "Ada was in Oslo at 8."),
        ("The rent rose from 700 to 900 euros.", "The rent rose from 900 to 700 euros."),
        ("The meeting moved from Monday to Friday.", "The meeting moved from Friday to Monday."),
        ("Tom is 12 and Uli is 9.", "Uli is 12."),
        (
            "The blue car costs 900 euros and the red car costs 700 euros.",
            "The red car costs 900 euros.",
        ),
        ("My mother is a nurse and my father is a baker.", "Ada's mother is a baker."),
        ("Tom said Uli was fired, which is wrong.", "Uli was fired."),
        ("Somebody stole my bike.", "Tom stole Ada's bike."),
        ("I am looking for a flat in Oslo.", "Ada has a flat in Oslo."),
        ("I need a new doctor.", "Ada has a new doctor."),
        ("I miss my dog, it died in May.", "Ada has a dog."),
        ("Rumour has it that Zeiss will close.", "Zeiss will close."),
        ("If only I spoke Danish.", "Ada speaks Danish."),
        ("Tom cancelled the trip to Oslo.", "Tom travelled to Oslo."),
        ("My appointment with Dr. Kern was moved.", "Ada met Dr. Kern."),
        ("I never said that I like jazz.", "Ada likes jazz."),
        ("Who says that I like jazz?", "Ada likes jazz."),
        ("I don't think Tom is honest.", "Tom is honest."),
        ("It's not Tom but Uli who won.", "Tom won."),
        ("Except for Tom, all of us passed.", "Tom passed."),
        ("Tom sold his car. Tom flew to Oslo in March.", "Tom sold his car in March."),
        ("I sold my car. I flew to Oslo in March.", "Ada sold her car in March."),
        ("I sold my car. In March, I flew to Oslo.", "Ada sold her car in March."),
        ("I bought a car. The car was stolen in March.", "Ada bought a car in March."),
        ("I bought a car. It was stolen in March.", "Ada bought a car in March."),
        ("Tom owns a car. Uli paid 900 euros for his car.", "Tom paid 900 euros for his car."),
        ("Tom has a dog. Uli has a cat. The cat weighs 4 kg.", "The dog weighs 4 kg."),
        ("I called Tom. On Friday. Uli came on Monday.", "Ada called Tom on Monday."),
        ("I read the book. The book about Oslo is better.", "Ada read the book about Oslo."),
        ("Tom likes jazz and Uli plays chess.", "Tom likes chess."),
        ("The cat is black and the dog is brown.", "The dog is black."),
        ("I quit Zeiss and I live in Oslo.", "Ada quit Oslo."),
        ("I failed to sign the lease.", "Ada signed the lease."),
        ("I have a red bike. Tom has a blue bike.", "Ada has a blue bike."),
    ],
)
def test_what_only_sounds_like_it_is_not_taken(said: str, claim: str) -> None:
    """Attempts, wishes, dreams, exceptions, comparisons, lists, and words of others."""
    assert support(claim, "I know Tom and Uli.", said).reason is not None


def test_a_claim_names_what_it_rests_on() -> None:
    """The sentences and the turns, of every clause."""
    found = support("Ada has a dog and it is ill.", "I have a dog.", "It is ill.")
    said = ("I have a dog.", "It is ill.")
    assert found == Support(None, said, frozenset(("t0", "t1")), frozenset(("user",)))


def test_what_resolves_a_word_is_rested_on_too() -> None:
    """Whom a pronoun means, and what was asked: only what is needed."""
    found = support("Bob moved to Oslo.", "It rains.", "Bob is my brother.", "He moved to Oslo.")
    assert found.keys == frozenset(("t1", "t2"))
    found = support("Ada's exam is on 7 May.", "Hello.", "> When is your exam?", "On 7 May.")
    assert found.keys == frozenset(("t1", "t2"))
    assert support("Ada lives in Oslo.", "Ada, hello!", "I live in Oslo.").keys == {"t1"}


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


def test_of_a_choice_only_what_was_chosen_is_taken() -> None:
    """Who answers a question by one of the two things that it offers does not want the other."""
    offer, answer = "> Would you like a replacement or a refund?", "A refund, please."
    assert support("Ada asked for a refund.", offer, answer).reason is None
    assert support("Ada asked for a replacement.", offer, answer).reason is not None


@pytest.mark.parametrize(
    ("said", "right", "wrong"),
    [
        (
            "I don't like grey, so we chose sand.",
            "Ada chose sand because she doesn't like grey.",
            "Ada doesn't like grey because she chose sand.",
        ),
        (
            "I don't like grey, so we chose sand.",
            "Ada doesn't like grey, therefore they chose sand.",
            "They chose sand, therefore Ada doesn't like grey.",
        ),
        (
            "We moved because the heating broke.",
            "The heating broke, so Ada moved.",
            "Ada moved, so the heating broke.",
        ),
        (
            "We moved because the heating broke.",
            "The heating broke, therefore Ada moved.",
            "Ada moved, therefore the heating broke.",
        ),
    ],
)
def test_a_cause_is_told_the_way_it_was_said(said: str, right: str, wrong: str) -> None:
    """In either order and by either word, and never the other way round."""
    assert support(right, said).reason is None
    assert support(wrong, said).reason == "no such cause"


def test_a_fragment_of_another_turn_names_nothing() -> None:
    """How many it may tell; not when, where or of whom something was that was told before."""
    cancelled, whence = "I cancelled my gym membership.", "From my account at Zeiss."
    claim = "Ada cancelled her account at Zeiss."
    assert support(claim, cancelled, "> Shall I pay the rent?", whence).reason is not None
    party, guests = "We are planning a party for Theo.", "About twelve children."
    claim = "Ada is planning Theo's party for about twelve kids."
    assert support(claim, party, "> How many guests do you expect?", guests).reason is None


@pytest.mark.parametrize("name", HONEST)
def test_a_set_holds_as_many_texts_as_it_says(name: str) -> None:
    """Of people that no other set speaks of, but for the free ones: these have other authors."""
    talks, is_free = honest(name).talks, "free" in name
    assert sum(len(talk.summaries) for talk in talks) == (48 if is_free else 30)
    assert sum(len(talk.facts) for talk in talks) == (72 if is_free else 30)
    false = {"honest": 150, "honest-wide": 150, "honest-free": 503, "honest-free-sealed": 168}
    assert sum(len(talk.false) for talk in talks) == false.get(name, 0)
    if is_free:
        return
    others = [talk for other in HONEST[:3] if other != name for talk in honest(other).talks]
    assert not {t.turns[0].speaker for t in talks} & {t.turns[0].speaker for t in others}


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
