"""What people type in short is learnt as if it were said in full; what is anybody's is not."""

from __future__ import annotations

import pytest

from metaagents.learning.grammar.answers import only_answers
from metaagents.learning.patterns import stated


def _learnt(said: str) -> list[str]:
    return [one.text for one in stated(said, "Ada")]


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("Allergies: penicillin and nuts.", ["Ada is allergic to penicillin and nuts"]),
        ("Hobbies: chess, climbing", ["Ada enjoys chess and climbing"]),
        ("Blood type: O negative", ["Ada's blood type is O negative"]),
        ("Diet: vegan", ["Ada is vegan"]),
        ("Doctor: Dr. Weber", ["Ada's doctor is Dr. Weber"]),
        ("Pronouns: she/her", ["Ada's pronouns are she/her"]),
        (
            "Allergies: penicillin, shellfish and pollen",
            ["Ada is allergic to penicillin, shellfish and pollen"],
        ),
        ("Time zone: CET", ["Ada's time zone is CET"]),
        ("My email: ada@x.org", ["Ada's email is ada@x.org"]),
        (
            "Diet: vegan; Allergies: nuts; Age: 34",
            ["Ada is vegan", "Ada is allergic to nuts", "Ada is 34 years old"],
        ),
        (
            "- Job: nurse\n- Age: 34\n- City: Graz",
            ["Ada is a nurse", "Ada is 34 years old", "Ada lives in Graz"],
        ),
        (
            "About me: 34, vegan, two cats.",
            ["Ada is 34 years old", "Ada is vegan", "Ada has two cats"],
        ),
        ("me: vegan, lactose intolerant", ["Ada is vegan", "Ada is lactose intolerant"]),
        ("my wifes name is anna", ["Ada's wife's name is Anna"]),
        ("i'm vegan btw", ["Ada is vegan"]),
        ("no cilantro pls, i hate it", ["Ada hates cilantro"]),
        (
            "I'm a nurse, 34, from Graz.",
            ["Ada is a nurse", "Ada is 34 years old", "Ada is from Graz"],
        ),
        ("As a nurse in Graz, I work nights.", ["Ada is a nurse in Graz", "Ada works nights"]),
        ("Being vegan, I need recipes without eggs.", ["Ada is vegan"]),
        ("Since I'm vegan, what can I cook?", ["Ada is vegan"]),
        ("Given that I'm lactose intolerant, which cheese is fine?", ["Ada is lactose intolerant"]),
        (
            "What should I cook for my daughter who is allergic to nuts?",
            ["Ada's daughter is allergic to nuts"],
        ),
        ("i moved to berlin last week", ["Ada moved to Berlin last week"]),
        ("i work at google and live in munich", ["Ada works at Google", "Ada lives in Munich"]),
        ("not vegan anymore", ["Ada is no longer vegan"]),
        ("no longer at google, now at meta", ["Ada no longer works at Google", "Ada joined Meta"]),
        ("switched from iphone to pixel", ["Ada switched from iPhone to Pixel"]),
        ("we ditched jira for linear", ["Ada ditched Jira for Linear"]),
        ("got divorced last month", ["Ada got divorced last month"]),
        ("quit smoking 2 weeks ago", ["Ada quit smoking 2 weeks ago"]),
        ("no more coffee for me, doctor's orders", ["Ada quit coffee"]),
        ("gave up on spanish", ["Ada gave up on Spanish"]),
        ("sold the golf, got a tesla", ["Ada sold the golf", "Ada got a tesla"]),
        ("new number: 555-0199", ["Ada's phone number is 555-0199"]),
        ("Down to 76 kg!", ["Ada weighs 76 kg now"]),
        ("Flight got moved to Sunday.", ["Ada's flight got moved to Sunday"]),
        ("I've been coding in Rust for 5 years.", ["Ada has been programming in Rust for 5 years"]),
        ("Off from 6 to 24 July.", ["Ada is off from 6 to 24 July"]),
        ("I'm forty-two.", ["Ada is forty-two"]),
        ("Finally quit smoking!", ["Ada quit smoking"]),
        ("Pregnant with twins!", ["Ada is pregnant with twins"]),
        ("Big fan of jazz.", ["Ada is a big fan of jazz"]),
        ("Born and raised in Ohio.", ["Ada was born and raised in Ohio"]),
        ("Never been to Asia.", ["Ada has never been to Asia"]),
        ("Originally from Ghana, now in Berlin.", ["Ada is from Ghana", "Ada lives in Berlin"]),
    ],
)
def test_what_is_typed_in_short_is_learnt_in_full(said: str, learnt: list[str]) -> None:
    """Headings, left-out words and apostrophes, and what opens a question."""
    assert _learnt(said) == learnt


@pytest.mark.parametrize(
    "said",
    [
        "Patient: Mr. Huber. Allergies: penicillin.",
        "Name: Ben Hur. Allergies: penicillin. Diet: vegan",
        "Name: Ben Hur\nAge: 34\nCity: Graz",
        "Age: 34",
        "Allergies: none",
        "Allergies: TBD",
        "Medications: n/a",
        "Diet: no restrictions",
        "Address: http://localhost:8080",
        "City: {city}",
        "Language: Python",
        "Location: /usr/local/bin",
        "Company: Siemens",
        "Error: connection refused",
        "Allergies: what are they?",
        "me: hello",
        "Since I have some time, what movie should I watch?",
        "Can you help my sister who is stuck at the airport?",
        "What about people who are allergic to nuts?",
        "Who is vegan?",
        "As a kid, what did you love?",
        "Being late, I took a cab.",
        "As a vegan restaurant, we serve tofu.",
        "Is my daughter who is away covered?",
        "No more stairs for me!",
        "i work for free",
        "i live in fear of that",
        "that moved me to tears",
        "we joined forces",
        "i moved to a smaller flat",
        "i'm working at night",
        "i moved to production support",
        "i live in the moment",
        "it's now at 5",
        "quit whining",
        "stopped working",
        "not vegan",
        "new manager: who is it?",
        "got it",
        "got fired up about this",
        "down to business",
        "flight was delayed",
        "gave up",
        "no more for me",
        "sold out",
        "i use it for fun",
        "we work for peace",
        "not pregnant",
        "no longer at risk, now at ease",
        "i use slack to talk to bob",
        "we left the edge of town",
        "the brave use signal",
    ],
)
def test_what_may_be_anybodys_is_not_learnt(said: str) -> None:
    """Somebody else's record, a form, a setting, or what is only asked."""
    assert _learnt(said) == []


# A message that opens without saying of whom it is.


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("Nurse on a geriatric ward, nights mostly.", ["Ada is a nurse on a geriatric ward"]),
        ("bass player in a wedding band", ["Ada is a bass player in a wedding band"]),
        ("Software engineer from Cork.", ["Ada is a software engineer from Cork"]),
        ("Retired postman, 71.", ["Ada is a retired postman"]),
        ("Retired postman here, 71.", ["Ada is a retired postman"]),
        ("Single mum of two, so evenings are tight.", ["Ada is a single mum of two"]),
        ("Lactose intolerant, sadly.", ["Ada is lactose intolerant"]),
        ("Left-handed person here.", ["Ada is left-handed"]),
        ("Colour-blind, me.", ["Ada is colour-blind"]),
        ("Type 1 diabetic here", ["Ada is type 1 diabetic"]),
        ("Bad back, two slipped discs.", ["Ada has a bad back"]),
        ("Size 42 shoes, wide fit.", ["Ada wears size 42 shoes"]),
        ("Shoe size 42.", ["Ada's shoe size is 42"]),
        ("Mondays off, always.", ["Ada is off on Mondays"]),
        ("Drive a Toyota Corolla from 2012.", ["Ada drives a Toyota Corolla from 2012"]),
        ("Drive an '09 Tacoma.", ["Ada drives an '09 Tacoma"]),
        ("Live in Bonn, work in Mainz.", ["Ada lives in Bonn", "Ada works in Mainz"]),
        ("Work nights at the bakery.", ["Ada works nights at the bakery"]),
        (
            "Play the cello in an amateur orchestra.",
            ["Ada plays the cello in an amateur orchestra"],
        ),
        ("Got two cats and a tortoise.", ["Ada has two cats and a tortoise"]),
        ("Grew up on a farm near Sligo.", ["Ada grew up on a farm near Sligo"]),
        ("Raised Catholic.", ["Ada was raised Catholic"]),
        ("Two kids, seven and nine.", ["Ada has two kids, seven and nine"]),
        ("Don't eat pork.", ["Ada doesn't eat pork"]),
        ("always an aisle seat for me", ["Ada always takes an aisle seat"]),
        ("Window seat for me, always.", ["Ada always takes window seat"]),
        ("passport's croatian", ["Ada's passport is Croatian"]),
        ("baby is due 9 november", ["Ada's baby is due on 9 november"]),
        ("I live in berlin and I work at google", ["Ada lives in Berlin", "Ada works at Google"]),
    ],
)
def test_who_types_is_left_out_at_the_beginning(said: str, learnt: list[str]) -> None:
    """What they are, have, do, wear, and when they are free."""
    assert _learnt(said) == learnt


@pytest.mark.parametrize(
    "said",
    [
        "Drive a hard bargain!",
        "Drive a stake through it.",
        "Live in the moment.",
        "Live in a box if you must.",
        "Work as a team.",
        "Play the song in a loop.",
        "Have a nice day!",
        "Have two slices.",
        "Got a question.",
        "Got a cat problem.",
        "Nurse in Bonn wanted.",
        "Good electrician in Bonn.",
        "My nurse in Bonn.",
        "Ask a nurse in Bonn.",
        "Any plumber in Graz?",
        "Plumber at noon.",
        "Plumber on Monday.",
        "Actor in a bad mood.",
        "Driver in the film is Bob.",
        "Dentist in Leeds, please.",
        "Doctor at 3.",
        "Bad back pain today.",
        "Bad heart rate readings.",
        "Torn pages.",
        "Size 5 font.",
        "Always a pleasure for me.",
        "always a good idea for me",
        "Fridays off for the kids?",
        "Two kids, one trench coat.",
        "Mother of two wins the lottery.",
        "Diabetic recipes, please.",
        "Don't eat the cake.",
        "Don't eat pork before the test.",
        "Smartest person here!",
        "Only person here?",
        "German here.",
        "Is the baby due 9 november?",
        "Commute is hell.",
        "Passport's gone.",
        # Of whom the sentence before names.
        "My dog is old. Bad hips.",
        "My parents live next door. Drive an old Saab.",
        "The cellist is here. Nurse in Bonn.",
    ],
)
def test_what_may_be_of_somebody_else_is_not_read_so(said: str) -> None:
    """Orders, headlines, appointments, wishes, and what goes on about another."""
    assert _learnt(said) == []


@pytest.mark.parametrize(
    ("question", "said", "is_only"),
    [
        ("What is wrong with the dog?", "Bad hip.", True),
        ("And what does Ben do?", "Nurse on a geriatric ward.", True),
        ("Does she eat everything?", "Lactose intolerant, sadly.", True),
        ("What do you do?", "Nurse on a geriatric ward.", False),
        ("Tell me about yourself, are you from Cork?", "Software engineer from Cork.", False),
        ("Noted.", "Bad hip.", False),
        ("What does Ben do?", "I work nights.", False),
    ],
)
def test_what_was_asked_of_another_is_no_answer_about_who_types(
    question: str, said: str, *, is_only: bool
) -> None:
    """With a question of another before it, a message that names nobody is of them."""
    assert only_answers(question, said) == is_only
