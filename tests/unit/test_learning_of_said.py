"""What people and agents say in passing, as they type it, is learnt, and nothing near it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from metaagents.learning.grammar.answers import answered, only_answers
from metaagents.learning.patterns import stated

PLUMBER = "Ada's brother is a plumber"


def told(said: str) -> list[str]:
    """Return what is learnt of a message of Ada's."""
    return [one.text for one in stated(said, "Ada")]


# Parts of codes, addresses and paths are nobody.


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("The staging db runs in us-east-1.", "the staging db runs in us-east-1"),
        ("Our main region is us-east-1.", "Ada's main region is us-east-1"),
        ("We use us-central1 for everything.", "Ada uses us-central1 for everything"),
        ("The backups bucket is called my-bucket.", "the backups bucket is called my-bucket"),
        ("My email is me@anna.de", "Ada's email is me@anna.de"),
        ("My email is my.name@anna.de", "Ada's email is my.name@anna.de"),
        ("You can reach me at me@anna.de", "Ada's e-mail is me@anna.de"),
        ("Our site is about.me/ada", "Ada's site is about.me/ada"),
        (
            "Remember that the reports are in /srv/my/reports.",
            "the reports are in /srv/my/reports",
        ),
        ("The template is in /home/me/forms.", "the template is in /home/me/forms"),
    ],
)
def test_a_part_of_a_code_or_an_address_is_not_who_speaks(said: str, learnt: str) -> None:
    """``us-east-1`` is no place of Ada's."""
    assert told(said) == [learnt]


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("My father lives with us.", "Ada's father lives with Ada"),
        ("My sister lives with me - always has.", "Ada's sister lives with Ada"),
    ],
)
def test_who_speaks_is_still_told_by_name(said: str, learnt: str) -> None:
    """Before a full stop, a dash or an end."""
    assert learnt in " ".join(told(said))


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("I'm moving in with Greta at New Year.", "Ada is moving in with Greta at New Year 2027"),
        ("The lease runs out on 2 May next year.", "the lease runs out on 2 May 2027"),
        ("The lease runs until 2 May next year.", "the lease runs until 2 May 2027"),
        ("I'm moving to Oslo in May next year.", "Ada is moving to Oslo in May 2027"),
    ],
)
def test_a_day_of_another_year_is_told_once_and_of_that_year(said: str, learnt: str) -> None:
    """New Year in November is the next one, and "2 May next year" is one day."""
    november = datetime(2026, 11, 23, 10, tzinfo=UTC)
    assert [one.text for one in stated(said, "Ada", november)] == [learnt]


@pytest.mark.parametrize(
    "said",
    [
        "Mine runs out on 2 May next year.",
        "Mine is a red Skoda.",
        "Ours runs on Python 3.12.",
        "Hers starts on 3 May.",
        "Mine has been in the garage in Bonn since 3 May because of the gearbox.",
    ],
)
def test_of_what_is_only_called_somebodys_nothing_is_learnt(said: str) -> None:
    """What "mine" is was said before; somebody may be called so."""
    assert told(said) == []
    assert told("Mine Yildiz is my boss.") == ["Mine Yildiz is Ada's boss"]


# Half a sentence that answers a question, told whole.


def answer(asked: str, said: str) -> list[str]:
    """Return what Ada's answer states, with what it leaves out of the question."""
    whole = answered(asked, said)
    alone = [] if only_answers(asked, said) else told(said)
    return [*alone, *(told(whole) if whole else [])]


ANSWERED = """
Which city are you based in? | Gdańsk, near the old shipyard | Ada is based in Gdańsk
What city do you live in? | leeds | Ada lives in Leeds
Which country are you from? | Peru | Ada is from Peru
Do you have any food allergies? | just shellfish | Ada is allergic to shellfish
Do you have any allergies I should know about? | nut allergy | Ada has a nut allergy
Are you allergic to anything? | yes, penicillin | Ada is allergic to penicillin
Do you have any dietary requirements? | vegan | Ada is vegan
When is your birthday? | the 9th of may | Ada's birthday is on the 9th of may
How many people are on your team? | five, plus me | Ada's team has five people besides Ada
How many people work in your company? | 120 | Ada's company has 120 people
How many kids do you have? | three | Ada has three kids
How old are you? | forty-three | Ada is forty-three years old
Who approves the travel budget? | Petra | Petra approves the travel budget
Who signs off the invoices? | Maria | Maria signs off the invoices
Who owns the price feed? | the crawler agent | the crawler agent owns the price feed
Who handles refunds? | Jonas from finance | Jonas handles refunds
Who leads your team? | Anke | Anke leads Ada's team
Your flight leaves at 8, right? | no, at 6 | Ada's flight leaves at 6
Do you still live in Leeds? | no, York now | Ada lives in York
Do you still work at Bosch? | No, at Siemens now | Ada works at Siemens
What do you do for work? | plumber, self employed | Ada is a self-employed plumber
What do you do? | nurse at the city hospital | Ada works as a nurse at the city hospital
Do you prefer tea or coffee? | coffee | Ada prefers coffee
What is the project called? | Bluebird | the project is called Bluebird
Where is the database hosted? | in eu-west-1 | the database is hosted in eu-west-1
What version of Postgres are you running? | 15 | Ada uses Postgres 15
What time do you get up? | around 6 | Ada gets up around 6
When does the shop open? | at nine | the shop opens at nine
Are you married? | divorced | Ada is divorced
"""


@pytest.mark.parametrize("line", ANSWERED.strip().splitlines())
def test_half_a_sentence_is_told_with_its_question(line: str) -> None:
    """What was asked for, of whom it was asked."""
    asked, said, learnt = line.split(" | ")
    assert answer(asked, said) == [learnt]


@pytest.mark.parametrize(
    ("asked", "said", "learnt"),
    [
        ("Is the launch still on Tuesday?", "no, thursday", "the launch is on Thursday"),
        (
            "Your check-up is on Tuesday at ten, isn't it?",
            "actually it's thursday not tuesday",
            "Ada's check-up is on Thursday",
        ),
        ("So the meeting is on Monday?", "No, Wednesday.", "the meeting is on Wednesday"),
    ],
)
def test_a_day_that_was_taken_for_granted_is_put_right(asked: str, said: str, learnt: str) -> None:
    """By the day that the answer names instead."""
    whole = answered(asked, said)
    at = datetime(2026, 11, 2, 9, tzinfo=UTC)
    assert whole
    assert next(one.text for one in stated(whole, "Ada", at)).startswith(learnt)


UNANSWERED = """
Which city do you live in? | none of your business
Which city did you live in? | Rome
Which city do you want to live in? | Rome
Which city are you based in? | Berlin or Munich, not sure yet
Which city do you live in? | London until last year
Are you allergic to anything? | why do you ask?
Are you allergic to anything? | not that I know of
Are you allergic to anything? | only to mondays
Are you allergic to anything? | most things
Are you allergic to anything? | maybe cats
Are you allergic to anything? | my sister is
Do you have any allergies? | None that I know of
How many people are on your team? | three or four
How many kids do you have? | none
How many steps did you do today? | 8000
Who approves the budget? | me
Who approves the budget? | Maria?
Who approves the budget? | Maria, I think
Who approves the budget? | not Maria
Who approves the budget? | Maria used to
Who owns the repo? | Monday
Who handles refunds? | Great
Who handles refunds? | Nobody
Who leads the league? | Arsenal
Who wrote Hamlet? | Shakespeare
Who runs the country? | Macron
Is the launch still on Tuesday? | no
Is the launch still on Tuesday? | yes, Tuesday
Is the launch still on Tuesday? | no, maybe thursday
Is the launch still on Tuesday? | no, thursday?
Is the launch on Tuesday at 3? | no, at 4
Is it still on Tuesday? | no, thursday
Should the launch be on Tuesday? | no, thursday
Do you live in Leeds? | no
Do you live in Leeds? | No, York.
Do you live in Leeds? | No, Never
Do you live in Leeds? | No, Leeds is too cold
Do you work at Bosch? | No, Monday
Do you prefer tea or coffee? | both
Do you prefer tea or coffee? | coffee today
Do you prefer the long or the short version? | short
Shall I book the 9:40 to Hamburg? | yeah go for it
Are you married? | not yet
What is the project called? | TBD
When does the shop open? | at nine I guess
What do you do for work? | as little as possible
Do you smoke? | not since 2019
When do you work? | only on Fridays
"""


@pytest.mark.parametrize("line", UNANSWERED.strip().splitlines())
def test_what_answers_nothing_or_in_doubt_teaches_nothing(line: str) -> None:
    """Nor what is asked of another time, of the moment, or of what all the world knows."""
    asked, said = line.split(" | ")
    assert answer(asked, said) == []


# How a team runs.

OF_TEAMS = """
The crawler agent owns the price feed. | the crawler agent owns the price feed
The planner agent assigns the tickets. | the planner agent assigns the tickets
Maria signs off on the invoices. | Maria signs off on the invoices
I'm on the payments team. | Ada is on the payments team
Jonas is on the platform team. | Jonas is on the platform team
Sandbox api keys rotate every 30 days. | Sandbox api keys rotate every 30 days
The staging db moved to eu-west-1. | the staging db moved to eu-west-1
The prod cluster has moved to eu-central-1. | the prod cluster has moved to eu-central-1
my number changed, it's 0171 555 0148 now | Ada's number is 0171 555 0148
Our email changed, it's anna@foo.de now | Ada's email is anna@foo.de
The limit has changed, it's 200 now. | the limit is 200 now
We've frozen deploys until the 14th. | Deploys are frozen until the 14th
Ravi is now the owner of the search index | Ravi owns the search index now
PRs need a review from the security team | PRs need a review from the security team
We paused all ad campaigns until the 4th. | All ad campaigns are paused until the 4th
"""


@pytest.mark.parametrize("line", OF_TEAMS.strip().splitlines())
def test_how_a_team_runs_is_learnt(line: str) -> None:
    """What falls to whom, where it runs, and what is stopped until when."""
    said, learnt = line.split(" | ")
    assert told(said) == [learnt]


def test_whose_turn_it_is_and_whose_it_will_be() -> None:
    """Two people, each at a time of their own."""
    at = datetime(2026, 11, 2, 9, tzinfo=UTC)
    found = stated("On-call this week is Farah, next week it's Jules.", "Ada", at)
    assert [one.text for one in found] == [
        "Farah is on call between 2 November and 8 November 2026",
        "Jules is on call between 9 November and 15 November 2026",
    ]


OF_NO_TEAM = """
Does the crawler agent own the price feed?
If the db moved to eu-west-1 we'd save money.
The cursor moved to line-3
The scraper bot reads the page.
The test agent runs the tests.
The best agent owns the day.
I'm on the wrong team.
The plan changed, it's complicated now.
The weather changed, it's 20 degrees now.
The score changed, it's 2 now.
Nobody owns the price feed.
The crawler agent should own the price feed.
Let's say the crawler agent owns the price feed.
In the demo the crawler agent owns the price feed.
I'm on the same team as you.
Imagine I'm on the payments team.
On call this week is nobody.
Our wifi password changed, it's hunter2 now
We froze until Friday.
should we freeze deploys until Friday?
we'd have frozen deploys until Friday if needed
Is on-call this week Farah?
Is Ravi the owner of the search index?
Invoices over 5k need approval.
plants need a lot of water
children need a permit
The PR needs a review.
We might have paused the campaign until Monday.
"""


@pytest.mark.parametrize("said", OF_NO_TEAM.strip().splitlines())
def test_what_passes_or_is_only_asked_of_a_team_is_not(said: str) -> None:
    """Nor secrets, suppositions and manners of speaking."""
    assert told(said) == []


OF_NONE = """
No PRs need a review.
No refunds are handled by Jonas.
No releases happen on Fridays.
No backups run every night.
No PR needs two approvals.
No tickets from Hartmann get high priority.
"""


@pytest.mark.parametrize("said", OF_NONE.strip().splitlines())
def test_what_is_said_of_none_is_said_with_its_no(said: str) -> None:
    """Before a noun it does not only open the sentence."""
    assert told(said) == [f"Ada: {said.rstrip('.')}"]


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("No, PRs need a review.", "PRs need a review"),
        ("No, I live in Rome.", "Ada lives in Rome"),
        ("no i live in Rome", "Ada lives in Rome"),
        ("No my sister is a nurse.", "Ada's sister is a nurse"),
    ],
)
def test_no_opens_what_is_said_instead(said: str, learnt: str) -> None:
    """Before a comma, and before who speaks."""
    assert told(said) == [learnt]


# What somebody lists of themselves without a verb.

LISTED = {
    "allergic to penicillin, blood type o neg, gp is dr hussein": [
        "Ada is allergic to penicillin",
        "Ada's blood type is O neg",
        "Ada's gp is Dr Hussein",
    ],
    "I'm left handed, forty-three and five foot two.": [
        "Ada is left handed",
        "Ada is forty-three years old",
        "Ada's height is five foot two",
    ],
    "vegan, lactose intolerant, 34": [
        "Ada is vegan",
        "Ada is lactose intolerant",
        "Ada is 34 years old",
    ],
    "married, two kids, live in Turin": [
        "Ada is married",
        "Ada has two kids",
        "Ada lives in Turin",
    ],
    "single, no kids, two dogs": ["Ada is single", "Ada has no kids", "Ada has two dogs"],
    "34, from Hull, work in IT": ["Ada is 34 years old", "Ada is from Hull", "Ada works in IT"],
    "my wife is Danish, son is 4, dog is called Rex": [
        "Ada's wife is Danish",
        "Ada's son is 4",
        "Ada's dog is called Rex",
    ],
    "im 45, diabetic, on metformin": [
        "Ada is 45 years old",
        "Ada is diabetic",
        "Ada takes metformin",
    ],
    "dont eat pork, dont drink": ["Ada doesn't eat pork", "Ada doesn't drink"],
    "born in 1980 in Ghent, raised in Lille, now living in Paris": [
        "Ada was born in Ghent in 1980",
        "Ada grew up in Lille",
        "Ada lives in Paris",
    ],
    "nurse, 2 cats, no car": ["Ada is a nurse", "Ada has 2 cats", "Ada has no car"],
}


@pytest.mark.parametrize("said", LISTED)
def test_each_thing_of_a_list_is_told_of_who_types_it(said: str) -> None:
    """Each in a sentence of its own."""
    assert told(said) == LISTED[said]


def test_what_is_short_is_read_in_full() -> None:
    """Years, part-time, and whose wife it is."""
    at = datetime(2026, 11, 2, 9, tzinfo=UTC)
    found = stated("retired last yr, wife still works pt at the library", "Ada", at)
    assert [one.text for one in found] == [
        "Ada retired in 2025",
        "Ada's wife works part-time at the library",
    ]


LISTED_OF_NOBODY = """
single, married, divorced
vegan, vegetarian, pescatarian
nurse, doctor, teacher
nurse, doctor and teacher
two dogs, one cat
no pets, no kids, no smoking
dog is sick, cat is fine
boss is angry, manager is out
gp is retired, dentist is closed
from Monday, working in shifts
live in peace, work in silence
work in progress, live in prod
vegan, gluten free, under 20 minutes
vegan, looking for a recipe
single, 30, looking for love
single, 34, from Hull?
left handed, right handed
34, 45 and 56
retired, I wish
don't drink and drive
imagine: married, two kids
if single, no kids
Teacher, my son is ill
"""


@pytest.mark.parametrize("said", LISTED_OF_NOBODY.strip().splitlines())
def test_a_choice_or_a_list_of_anything_is_of_nobody(said: str) -> None:
    """Two of what there is one of, what is sought, and what may be anything."""
    assert told(said) == []


# What is asked for good.

ASKED_FOR = """
speak german to me | to speak German to Ada
dont deploy on fridays | not to deploy on fridays
never push to main on weekends | never to push to main on weekends
use the 24h clock | to use the 24h clock
don't call me before 9am | not to call Ada before 9am
don't wake me before nine | not to wake Ada before nine
don't text me on weekends | not to text Ada on weekends
Send me the sales figures every Monday. | to send Ada the sales figures every Monday
give me the short version always | to give Ada the short version always
whenever you book trains, take first class | to take first class whenever it books trains
when I paste a log, show only the errors | to show only the errors when Ada pastes a log
when I ask for code, give me typescript | to give Ada typescript when Ada asks for code
"""


@pytest.mark.parametrize("line", ASKED_FOR.strip().splitlines())
def test_what_is_asked_for_good_is_learnt(line: str) -> None:
    """Of the assistant, by who speaks."""
    said, learnt = line.split(" | ")
    assert told(said) == [f"Ada asks the assistant {learnt}"]


ASKED_ONCE = """
don't call me after work today
he said don't call me before nine
send me the report every day this week
send it every day
I send him flowers every day
List every day of the week
add a day every week to the plan
take first class
write a script that runs every night
Write a poem about a girl who swims every day
Could you send me the news tomorrow?
List the users who log in every day
write me a plan to run every day
give me a workout for every day
give me five tips to use every day
show me the way I sort a list always
run 5k every day
order pizza every Friday
call me every day
talk French to me, she whispered
dont deploy on fridays, people say
whenever I send you a picture, describe it
"""


@pytest.mark.parametrize("said", ASKED_ONCE.strip().splitlines())
def test_what_is_asked_once_or_of_another_is_not(said: str) -> None:
    """One piece of work, and what others asked."""
    assert told(said) == []


# What is typed in short.


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("my gf works days at lidl", ["Ada's girlfriend works days at lidl"]),
        ("my best friend is called jo", ["Ada's best friend is called Jo"]),
        ("my fav colour is green", ["Ada's favourite colour is green"]),
        ("Grandpa Joe is deaf in his right ear.", ["Ada's grandpa Joe is deaf in his right ear"]),
        (
            "we don't use Jira any more, everything's in Linear now",
            ["Ada doesn't use Jira any more", "Ada uses Linear now"],
        ),
        ("my best friend is called up", []),
        ("my bf is a nurse", ["Ada's boyfriend is a nurse"]),
        ("my brother is called tim, hes a plumber", ["Ada's brother is called Tim", PLUMBER]),
        ("got two kids n a dog", ["Ada has two kids and a dog"]),
        (
            "were moving to utrecht in june bc my husband got a job at the uni there",
            ["Ada is moving to Utrecht in june", "Ada's husband got a job at the uni there"],
        ),
        ("were you moving to utrecht?", []),
        ("were visiting rome in may", []),
        ("Grandma Moses was a painter.", []),
        ("were moving boxes all day, were we?", []),
    ],
)
def test_what_is_typed_in_short_is_read_in_full(said: str, learnt: list[str]) -> None:
    """Without apostrophes, and with one letter for a word."""
    assert told(said) == learnt
