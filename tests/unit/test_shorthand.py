"""What people type in short is learnt as if it were said in full; what is anybody's is not."""

from __future__ import annotations

import pytest

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
