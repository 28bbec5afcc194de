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
        "Is my daughter who is away covered?",
    ],
)
def test_what_may_be_anybodys_is_not_learnt(said: str) -> None:
    """Somebody else's record, a form, a setting, or what is only asked."""
    assert _learnt(said) == []
