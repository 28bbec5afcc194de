"""Only words that can mean nothing else say how an answer did."""

from __future__ import annotations

import pytest

from metaagents.learning.outcomes import corrects, reading

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
