"""How an answer did, by clear words only, and which playbook it followed."""

from __future__ import annotations

from datetime import timedelta

import pytest
from support.tier_samples import NOW

from metaagents.learning.following import Replies, has_failed, steps_at
from metaagents.learning.outcomes import corrects, reading
from tiers.learning import OUTCOMES_DENSE, OUTCOMES_SPAN, outcome_factor
from tiers.records import FormerSteps, Rule, ToolOutput, Turn

# Only words that can mean nothing else say how an answer did.

CONFIRMED = """\
That worked
That worked, thanks!
that worked like a charm
Great, it works now.
Fixed, thanks
Perfect, solved.
It's working again, thank you so much!
Awesome! That did the trick.
Yes, that fixed it. How do I close the ticket?
The problem is gone.
Thanks, that solved my problem and I learned something.
I tried it and it worked perfectly
Up and running, cheers
I can confirm that it works
That's exactly what I needed
Exactly what I needed, thanks!
Perfect, that worked!
Did the trick!
You were right, thanks
Problem solved!
Yep, fixed it
Thank you, everything works now.
It is now working.
Those steps worked
The error went away
That resolved the issue, thank you
That got it working"""

REJECTED = """\
That didn't work
It doesn't work
Still broken.
No, that's wrong.
no luck
Unfortunately that did not help
It's still not working on my machine
Hmm, same error as before
Sorry, it still doesn't work. What else can I try?
I tried that, it didn\u2019t fix anything
That made it worse
That is not what I asked for
Not working
didn't work
No, wrong.
Incorrect.
It still fails
Oh great, it crashed again
Not what I asked for
This isn't what I wanted.
You're wrong
That did nothing
Tried it, no effect
Nothing worked
None of that helped
Those steps didn't work
I'm still getting the same error
The problem persists
It's worse now
Not helpful"""

UNCLEAR = """\
Did that work?
Does it work?
I hope it works
It worked yesterday
If that worked, we are done
It should work now
It will be fixed tomorrow
Once it works, tell me
She said it worked
It used to work
Thanks
Perfect
ok
It works by sending a packet to the server
My sister worked late
I fixed dinner
My car is still broken so I took the bus
That worked for the first car, but it still doesn't work for the second. It's still broken.
That worked, but it's still not working on my phone
It didn't work at first, but now it works
The engine works on petrol
Almost fixed
Oh great, that worked so well that it broke everything
Yeah right, that worked
That worked. Not.
Perfect!
Perfect, now it's another error
You're right
What is wrong
The wrong tyre
It crashed into the wall
That's wrong, no wait, that worked
Let me check whether it works
I worked at Acme
This is good weather
Is it fixed? I can't tell
What does "that worked" mean
Nothing works like a good night's sleep
It works now, but that's because the provider fixed it.
It works again, it fixed itself
It works now, I just rebooted it instead
Fixed it myself, thanks
They worked at the bakery
The steps worked but it's still broken
No difference between the two models"""


@pytest.mark.parametrize("said", CONFIRMED.splitlines())
def test_success_is_heard(said: str) -> None:
    """Whatever polite words stand around it."""
    assert reading(said) == "confirmed"


@pytest.mark.parametrize("said", REJECTED.splitlines())
def test_failure_is_heard(said: str) -> None:
    """Whatever polite words stand around it."""
    assert reading(said) == "rejected"


@pytest.mark.parametrize("said", UNCLEAR.splitlines())
def test_anything_else_counts_nothing(said: str) -> None:
    """Questions, hopes, reports, the past, other subjects, and what says both."""
    assert reading(said) is None


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("That didn't work", True),
        ("Step 2 is wrong, the port is 8080", True),
        ("Use the soft tyre instead of the hard one", True),
        ("You have to drain the tank first", True),
        ("That worked", False),
        ("Thanks, the port is 8080", False),
        ("Should I drain the tank first?", False),
    ],
)
def test_a_correction_is_explicit(said: str, expected: bool) -> None:  # noqa: FBT001
    """Only then may steps be refined."""
    assert corrects(said) is expected


# Which playbook a reply followed: most of its steps, none in doubt; and what outcomes weigh.

ROUTER = Rule(
    id="router",
    trigger="internet connection is down",
    steps=("Unplug the router for 30 seconds.", "Check the cable.", "Call the provider."),
)
MODEM = Rule(
    id="modem",
    trigger="internet connection is slow",
    steps=("Unplug the router for 30 seconds.", "Move the modem.", "Measure the speed."),
)
ONE_STEP = Rule(id="one", trigger="printer is jammed", steps=("Open the rear tray.",))


def turn(response: str, asked: str = "The internet connection is down", **fields: object) -> Turn:
    """Return a turn with all the playbooks in its context."""
    rules = ("router", "modem", "one")
    return Turn.model_validate(
        {"input": asked, "response": response, "rules": rules, "recorded_at": NOW, **fields}
    )


def followed(answered: Turn, *rules: Rule) -> str | None:
    """Return the id of the playbook that a reply followed."""
    found = Replies({one.id: one for one in rules or (ROUTER, MODEM, ONE_STEP)}).followed(answered)
    return found and found.id


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Unplug the router for 30 seconds, then check the cable.", "router"),
        ("1. Unplug the router for 30 seconds.\n2. Move the modem.\n3. Measure speed.", "modem"),
        ("Please open the rear tray of the printer.", "one"),
        ("Unplug the router for 30 seconds.", None),
        ("Unplug the router for 50 seconds, then check the screen.", None),
        ("Do not unplug the router for 30 seconds. Never check the cable.", None),
        ("I would not unplug the router for 30 seconds and not check the cable.", None),
        ("Don't unplug the router for 30 seconds, and never check the cable.", None),
        ("Neither unplug the router for 30 seconds nor check the cable.", None),
        ("We must avoid unplugging the router for 30 seconds; wait instead of checking it.", None),
        ("It is wrong to unplug the router for 30 seconds and to check the cable.", None),
        ("You should not unplug the router for 30 s and you should not check the cable.", None),
        ("We cannot unplug the router for 30 seconds and cannot check the cable.", None),
        ("Unplug the router for 30 seconds, not longer, then check the cable.", "router"),
        ("A router has a cable, and the provider has a speed.", None),
        ("First I checked the cable. Then I unplugged the router for 30 seconds.", "router"),
        ("Plug in the router for 30 seconds. The cable was not checked.", None),
        ("Have a nice day!", None),
        ("", None),
    ],
)
def test_a_reply_follows_the_playbook_whose_steps_it_does(said: str, expected: str | None) -> None:
    """Most steps, with their numbers and undenied; words in common alone are no following."""
    assert followed(turn(said)) == expected


def test_two_that_were_followed_alike_are_in_doubt_unless_the_question_tells_them_apart() -> None:
    """Of equal steps, the playbook of what was asked."""
    twin = ROUTER.model_copy(update={"id": "modem", "trigger": "television is dark"})
    answered = turn("Unplug the router for 30 seconds, check the cable, call the provider.")
    assert followed(answered, ROUTER, twin) == "router"
    same = ROUTER.model_copy(update={"id": "modem"})
    assert followed(answered, ROUTER, same) is None


def test_calls_of_tools_count_as_steps() -> None:
    """By the tool's name and what it returned."""
    outputs = (
        ToolOutput(tool="unplug_router", output="off for 30 seconds"),
        ToolOutput(tool="check_cable", output="fine"),
    )
    assert followed(turn("Done.", tool_outputs=outputs)) == "router"


def test_only_what_was_in_the_context_can_have_been_followed() -> None:
    """Others may have the same steps."""
    answered = turn("Unplug the router for 30 seconds, then check the cable.", rules=("modem",))
    assert followed(answered) is None


def test_other_words_count_where_an_embedder_sees_that_they_mean_the_step() -> None:
    """As long as they share a word with it, and its numbers."""
    step, said = "Check the cable of the old grey box.", "Have a look at the cable."
    rule = Rule(id="one", trigger="no signal", steps=(step,))
    answered = turn(said, rules=("one",))
    assert Replies({"one": rule}).followed(answered) is None
    near = {step: (1.0, 0.0), said: (0.8, 0.6)}
    assert Replies({"one": rule}, near).followed(answered) == rule
    far = {step: (1.0, 0.0), said: (0.0, 1.0)}
    assert Replies({"one": rule}, far).followed(answered) is None


def test_a_reply_is_held_against_the_steps_of_its_time() -> None:
    """What was refined afterwards was not followed then."""
    former = FormerSteps(version=1, steps=ROUTER.steps, until=NOW + timedelta(minutes=1))
    refined = ROUTER.model_copy(
        update={"steps": ("Pray.", "Wait."), "version": 2, "former": (former,)}
    )
    answered = turn("Unplug the router for 30 seconds, then check the cable.")
    assert followed(answered, refined) == "router"
    later = answered.model_copy(update={"recorded_at": NOW + timedelta(minutes=2)})
    assert followed(later, refined) is None
    assert steps_at(refined, later) == ("Pray.", "Wait.")


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("Error: no such file", True),
        ('{"error": "no such file"}', True),
        ("Traceback (most recent call last): …", True),
        ("404 Not Found", True),
        ("HTTP/1.1 503 Service Unavailable", True),
        ('{"success": false}', True),
        ("errors: 0", False),
        ('{"error": null, "rows": 3}', False),
        ("404 rows were written", False),
        ("The error of the scale is 2 grams", False),
        ("All well", False),
    ],
)
def test_a_tool_has_failed_when_its_output_opens_so(*, output: str, expected: bool) -> None:
    """What merely speaks of errors has not."""
    assert has_failed(turn("", tool_outputs=(ToolOutput(tool="t", output=output),))) == expected


def test_outcomes_are_a_bounded_factor() -> None:
    """None below the threshold, none for as many of each, more for more of them, never too much."""
    assert outcome_factor(OUTCOMES_DENSE - 1, 0) == outcome_factor(0, 0) == 1.0
    assert outcome_factor(5, 5) == 1.0
    assert 1 < outcome_factor(3, 0) < outcome_factor(30, 0) < 1 + OUTCOMES_SPAN
    assert 1 > outcome_factor(0, 3) > outcome_factor(0, 300) > 1 - OUTCOMES_SPAN
    assert outcome_factor(3, 0) + outcome_factor(0, 3) == pytest.approx(2)
