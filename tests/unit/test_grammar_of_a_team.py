"""What a team and its agents state in passing: of people at work, their parts, and known things."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from metaagents.learning.grammar.claims import claims_of
from metaagents.learning.patterns import stated
from metaagents.learning.plain_speech import is_plain

# What a team and its agents state in passing, of people at work and of known things.

NOW = datetime(2026, 6, 17, 14, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        # A known thing and something exact.
        ("The importer runs on Python 3.12.", "the importer runs on Python 3.12"),
        ("The importer was rewritten in Go.", "the importer was rewritten in Go"),
        ("All packages are pinned to Rust 1.79 now.", "All packages are pinned to Rust 1.79 now"),
        (
            "Code freeze begins on Thursday 25 June at 18:00.",
            "Code freeze begins on Thursday 25 June 2026 at 18:00",
        ),
        ("The patient is allergic to penicillin.", "the patient is allergic to penicillin"),
        ("The data team reports to Dana.", "the data team reports to Dana"),
        ("The reports were built by an intern.", "the reports were built by an intern"),
        ("The staging cluster does not have GPUs.", "the staging cluster does not have GPUs"),
        ("Our sitemap lives at /meta/map.xml.", "Ada's sitemap lives at /meta/map.xml"),
        ("The audit has to be done by 31 July.", "the audit is due by 31 July 2026"),
        ("My thesis is due in three weeks.", "Ada's thesis is due on 8 July 2026"),
        ("The release has been moved to 21 July.", "the release has been moved to 21 July 2026"),
        # Who does what.
        ("Nora approves all refunds above 500 euros.", "Nora approves all refunds above 500 euros"),
        ("Nora is responsible for billing.", "Nora is responsible for billing"),
        ("The one to ask about visas is Nora.", "Nora is responsible for visas"),
        ("I'm the agent in charge of the imports.", "Ada is in charge of the imports"),
        ("Nora is our scrum master.", "Nora is Ada's scrum master"),
        ("Nora is on leave until 3 August.", "Nora is on leave until 3 August 2026"),
        ("Since the merger I report to Helga.", "Ada reports to Helga"),
        ("The client prefers phone calls.", "the client prefers phone calls"),
        (
            "I've been made deputy chair of the co-op.",
            "Ada has been made deputy chair of the co-op",
        ),
        ("For tickets we use Linear.", "Ada uses Linear for tickets"),
        ("We settled on Porto for the summit.", "Ada settled on Porto for the summit"),
        ("Nora reviews all deploys.", "Nora reviews all deploys"),
        ("Hetzner hosts our servers.", "Hetzner hosts Ada's servers"),
        ("I lead the data team at Acme.", "Ada leads the data team at Acme"),
        ("I look after the billing service.", "Ada looks after the billing service"),
        ("We no longer support Python 3.9.", "Ada no longer supports Python 3.9"),
        ("We dropped support for Python 3.9.", "Ada dropped support for Python 3.9"),
        ("We ship on Thursdays.", "Ada ships on Thursdays"),
        ("The importer is owned by the data team.", "the importer is owned by the data team"),
        ("Staging runs on Postgres 15.", "Staging runs on Postgres 15"),
        ("You can reach me at ada@example.org.", "Ada's e-mail is ada@example.org"),
        ("My last day at Orange was Friday.", "Ada left Orange on Friday 12 June 2026"),
        ("My first day at Orange is 6 July.", "Ada is starting at Orange on 6 July 2026"),
        ("None of us eats meat.", "Ada doesn't eat meat"),
        ("The new kitten answers to Momo.", "Ada's kitten is called Momo"),
        ("The client wants a demo no later than 9 July.", "the client wants a demo by 9 July 2026"),
        ("Change of address: 14 Lake Road, Pune.", "Ada's address is 14 Lake Road, Pune"),
        # Who speaks is left out.
        ("Switched from Vim to Helix last month.", "Ada switched from Vim to Helix in May 2026"),
        ("Been with Saab for twenty years.", "Ada is with Saab since 2006"),
        ("Widowed since 2019, so I cook alone.", "Ada is widowed since 2019"),
        ("Can't swim.", "Ada can't swim"),
        ("Treated myself to a cargo bike.", "Ada bought a cargo bike"),
        ("Night owl, me.", "Ada is a night owl"),
        # Between subject and verb, before and after.
        ("My sister, who hates snow, moved to Oslo.", "Ada's sister moved to Oslo"),
        ("Eva, my wife, speaks five languages.", "Ada's wife Eva speaks five languages"),
        ("Project Heron, as it's now called, has two leads.", "Project Heron has two leads"),
        ("By trade I'm a stonemason.", "Ada is a stonemason"),
        ("What we both enjoy is rowing.", "Ada enjoys rowing"),
        (
            "Marathon in Volos on 4 October, I've signed up.",
            "Ada has signed up for Marathon in Volos on 4 October 2026",
        ),
        ("Mum turns seventy in October.", "Ada's mum turns seventy in October 2026"),
        ("I'm officially a resident of Ghent.", "Ada is a resident of Ghent"),
        # What is to come.
        ("We fly to Lisbon from 3 to 4 May.", "Ada flies to Lisbon from 3 May 2027 to 4 May 2027"),
        (
            "My son is spending the autumn term in Kyoto.",
            "Ada's son is spending the autumn term in Kyoto",
        ),
        (
            "My son is going to be an apprentice at Fiat.",
            "Ada's son is going to be an apprentice at Fiat",
        ),
        ("I'm having my eyes lasered on the 30th.", "Ada is having Ada's eyes lasered on the 30th"),
        # Tastes.
        ("I don't do early calls.", "Ada doesn't do early calls"),
        ("I used to hate olives but now I love them.", "Ada loves olives"),
        ("I used to work for Saab.", "Ada used to work for Saab"),
    ],
)
def test_it_is_told_of_whom_or_what_it_is_about(said: str, told: str) -> None:
    """In third person, by name, with the date of its times."""
    assert told in [one.text for one in stated(said, "Ada", NOW)]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Nora takes the importer, Otto the docs.",
            ["Nora takes the importer", "Otto takes the docs"],
        ),
        (
            "Jonas isn't the treasurer any longer, it's Mirjam now.",
            ["Jonas is no longer the treasurer", "Mirjam is the treasurer"],
        ),
        (
            "Small fix to what I wrote above: the venue seats 340 people rather than 430.",
            ["the venue seats 340 people, not 430"],
        ),
        (
            "My sister works for the tax office. She lives in Aachen.",
            ["Ada's sister works for the tax office", "Ada's sister lives in Aachen"],
        ),
        ("My tortoise is older than me, she's 61.", ["Ada's tortoise is 61"]),
        ("My brother has moved. She lives in Aachen.", []),
        ("My sister met Ana. She lives in Rome.", []),
        (
            "We moved to Bonn last year but moved back to Mainz.",
            ["Ada moved to Bonn in 2025", "Ada moved back to Mainz"],
        ),
        (
            "I moved to Bonn and then back to Mainz.",
            ["Ada moved to Bonn", "Ada moved back to Mainz"],
        ),
    ],
)
def test_one_sentence_after_another_is_of_the_same(said: str, told: list[str]) -> None:
    """Pronouns, gaps, what is put right and what goes on after ``but``; in the order it is said."""
    assert [one.text for one in stated(said, "Ada", NOW)] == told


@pytest.mark.parametrize(
    "said",
    [
        "The client wants it by 9 July.",
        "The soup is 10 minutes late.",
        "The printer has a grudge against Ken.",
        "The villain is a banker in Zurich.",
        "The king of Norway is on TV.",
        "The test takes 12 seconds.",
        "The password is Hunter2.",
        "The bank is open at 9:00 today.",
        "All men are created by Adam.",
        "My mood is at 3 out of 10.",
        "My brain has 47 tabs open.",
        "My fridge hums every night.",
        "My desk and I have a meeting every morning.",
        "I'm 240 years old.",
        "I'm married to my laptop.",
        "I can't do miracles.",
        "I can't work with idiots.",
        "Ken takes the cake.",
        "Trained as a nurse, she now runs a bar.",
        "Lost the plot at 3 am.",
        "Found a bug in the parser.",
        "My future wife is Eve.",
        "Eve is my future wife.",
        "Great, I just love rebooting servers at 2 am.",
        "Right, because I own the internet.",
        "I got the Ulm job but it fell through.",
        "We all but bought the house in Ulm.",
        "I'm a millionaire.",
        "// My name is Ken and I live in Ulm",
        "Great learning by doing, just learning the piano.",
        "Ken is our saviour.",
    ],
)
def test_what_is_of_the_moment_or_not_meant_is_not_learnt(said: str) -> None:
    """Passing states, made-up people, secrets, manners of speaking, dropped plans, sarcasm."""
    assert stated(said, "Ada", NOW) == []


def test_an_aside_that_doubts_takes_the_sentence_with_it() -> None:
    """Only what adds something about the subject is left out."""
    assert stated("My sister, I think, lives in Rome.", "Ada", NOW) == []
    assert stated("My sister, as far as I know, lives in Rome.", "Ada", NOW) == []


def test_where_a_thing_was_moved_is_no_time() -> None:
    """Neither when it is, nor a day that is to come."""
    (claim,) = claims_of("The database was moved to Frankfurt in May.", "Ada", NOW)
    assert (claim.attribute, claim.is_single) == ("is", False)
    assert claim.text == "the database was moved to Frankfurt in May 2026"


def test_days_without_a_year_are_those_to_come() -> None:
    """Of a span both ends are kept."""
    (claim,) = claims_of("I'm on leave from 3 to 14 August.", "Ada", NOW)
    assert claim.text == "Ada is on leave from 3 August 2026 to 14 August 2026"


@pytest.mark.parametrize(
    "said", ["Diet: I'm vegan.", "Allergies: I can't have nuts.", "Work: I am a nurse."]
)
def test_a_heading_is_nobody_who_speaks(said: str) -> None:
    """What is told of somebody under a heading is theirs; what a name says is somebody else's."""
    assert is_plain(said)
    assert stated(said, "Ada", NOW)
    assert not is_plain(said.replace(said.partition(":")[0], "Alice"))


# What somebody's part is, what they go by and used to do is told, and no manner of speaking.


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I belong to a choir.", "Ada belongs to a choir"),
        ("I read mostly crime novels.", "Ada mostly reads crime novels"),
        ("I do yoga twice a week.", "Ada does yoga twice a week"),
        ("I joined a startup.", "Ada joined a startup"),
        ("I used to play the cello.", "Ada used to play the cello"),
        ("I've worn glasses since I was eight.", "Ada wears glasses since the age of eight"),
        ("I've had a nut allergy since 2010.", "Ada has a nut allergy since 2010"),
        ("My knee has been hurting for a week.", "Ada's knee has been hurting since 10 June 2026"),
        ("My grandfather fought in Korea.", "Ada's grandfather fought in Korea"),
        ("My grandmother never learned to read.", "Ada's grandmother never learned to read"),
        ("Tom's flatmate speaks Korean.", "Tom's flatmate speaks Korean"),
        ("Our style guide forbids semicolons.", "Ada's style guide forbids semicolons"),
        ("Our flour comes from Molino Ferrari.", "Ada's flour comes from Molino Ferrari"),
        ("The board agreed to hire a cook.", "the board agreed to hire a cook"),
        ("The flag new_ui is off in the demo.", "the flag new_ui is off in the demo"),
        (
            "Marta is taking over the billing team from Jon.",
            "Marta is taking over the billing team from Jon",
        ),
    ],
)
def test_what_stands_is_told(said: str, told: str) -> None:
    """Whatever verb says it, with its adverb behind it and its age as a time."""
    assert told in [one.text for one in stated(said, "Ada", NOW)]


@pytest.mark.parametrize(
    "said",
    [
        "I follow the tutorial but it fails.",
        "I keep my fingers crossed.",
        "I have my own opinion.",
        "I hold my breath.",
        "I used to think Python was slow.",
        "The button used to be green.",
        "I joined a queue of forty people.",
        "I'm taking over the couch.",
        "My sister handles the truth badly.",
        "My keyboard supports me.",
        "I hope my daughter starts school in September.",
        "It looks as though the office closes early.",
        "I don't know whether my cousin is married.",
        "Yeah, and my cat files my taxes.",
    ],
)
def test_manners_of_speaking_and_doubts_are_not_told(said: str) -> None:
    """They have the same verbs."""
    assert stated(said, "Ada", NOW) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The retry limit for webhooks is five.", "the retry limit for webhooks is five"),
        ("The front door code is 4490.", "the front door code is 4490"),
        ("My wifi is called Fort Knox.", "Ada's wifi is called Fort Knox"),
        ("Our Slack workspace is called orbit-hq.", "Ada's Slack workspace is called orbit-hq"),
        ("Globex pays in 60 days.", "Globex pays in 60 days"),
        ("Alerts go to the #ops-red channel.", "Alerts go to the #ops-red channel"),
        ("We keep logs for 45 days.", "Ada keeps logs for 45 days"),
        ("Reem left Nexora.", "Reem left Nexora"),
        ("Zoe cancelled the meeting.", "Zoe cancelled the meeting"),
        ("The client wants everything in Dutch.", "the client wants everything in Dutch"),
        ("My boss wants every report in English.", "Ada's boss wants every report in English"),
        ("I want all invoices in PDF.", "Ada wants all invoices in PDF"),
        ("We renamed master to main.", "Ada renamed master to main"),
        ("All prices are in euros.", "All prices are in euros"),
        ("CI is on Woodpecker.", "CI is on Woodpecker"),
        ("Our docs are on Notion.", "Ada's docs are on Notion"),
        ("The logs are in S3.", "the logs are in S3"),
        ("The spare keys are in the drawer.", "the spare keys are in the drawer"),
        ("The warranty lasts two years.", "the warranty lasts two years"),
        ("The chef is allergic to shellfish.", "the chef is allergic to shellfish"),
        ("Only Maria can approve refunds.", "Ada: Only Maria can approve refunds"),
        ("Nobody may enter the lab after 8 pm.", "Ada: Nobody may enter the lab after 8 pm"),
        ("Interns may not take files home.", "Ada: Interns may not take files home"),
        ("The doctor took me off metformin.", "the doctor took Ada off metformin"),
        ("I came off metformin.", "Ada came off metformin"),
        ("The standup moved to 9:45.", "the standup moved to 9:45"),
        ("Our fiscal year starts in April.", "Ada's fiscal year starts in April"),
        ("We deploy on Wednesdays now.", "Ada deploys on Wednesdays now"),
        ("Logs are kept for 90 days now.", "Logs are kept for 90 days now"),
        ("The SLA with Kestrel is 99.9% now.", "the SLA with Kestrel is 99.9% now"),
        ("I work for Siemens, a German firm, and live in Bonn.", "Ada lives in Bonn"),
    ],
)
def test_what_is_set_and_what_has_changed_is_told(said: str, told: str) -> None:
    """Figures that say which they are, terms, channels; and "now", which ends what was."""
    assert told in [one.text for one in stated(said, "Ada", NOW)]


@pytest.mark.parametrize(
    "said",
    [
        "Lions live in Africa.",
        "The kids are in the garden.",
        "The keys are on the table.",
        "The milk is in the fridge.",
        "The game is on Sky.",
        "Max is in Berlin.",
        "The pain lasts all day.",
        "The cat is allergic to work.",
        "Everyone must be tired.",
        "All things must pass.",
        "Nobody may know.",
        "Only time can tell.",
        "Only you can help me.",
        "People must be crazy.",
        "Trains may be late today.",
        "Prices may rise.",
        "Parents must love this.",
        "Birds migrate to Africa.",
        "Planes fly at 10 kilometres.",
        "The Nile is 6,650 km long.",
        "Companies like Google use Go.",
        "The variable is called x.",
        "My function is called main.",
        "My variable is called foo.",
        "The error code is 500.",
        "The retry limit is perhaps five.",
        "Is the retry limit five?",
        "I have three failing tests.",
        "I have a bug.",
        "I got an error.",
        "I got 3 replies.",
        "I got the name wrong.",
        "I merged the PR.",
        "I bought milk.",
        "The default is 10.",
        "Disk usage is 81%.",
        "I left Dublin.",
        "Tom left a comment.",
        "Did Reem leave Nexora?",
        "Nobody cancelled the meeting.",
        "Zoe cancelled the build.",
        "They say Zoe cancelled the meeting.",
        "Zoe didn't cancel the meeting.",
        "I came off work.",
        "We kept him for 5 days.",
        "I want everything in Paris.",
        "She wants everything in Dutch.",
        "Does the client want everything in Dutch?",
        "If the client wants everything in Dutch, translate it.",
        "I renamed foo to bar.",
        "We renamed it to bar.",
        "Should we rename master to main?",
        "We don't keep logs for 45 days, or do we?",
        "The parcel arrives in 5 days.",
    ],
)
def test_what_is_known_to_all_or_over_soon_is_not_told(said: str) -> None:
    """Nature, sights, programs, what happens in passing; and what is asked or denied."""
    assert stated(said, "Ada", NOW) == []


# A day of the week on which several things are done is each of that name.


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Backups run on Sunday.", "Backups run on Sunday"),
        ("Bins are collected on Monday.", "Bins are collected on Monday"),
        ("The bins are collected on Monday.", "the bins are collected on Monday"),
        ("Timesheets are approved on Friday.", "Timesheets are approved on Friday"),
        ("Payments are made on Friday.", "Payments are made on Friday"),
        ("The plants are watered on Wednesday.", "the plants are watered on Wednesday"),
        # What begins, comes or is set for a day may be so once.
        ("Exams start on Monday.", "Exams start on Monday 22 June 2026"),
        ("Results are published on Friday.", "Results are published on Friday 19 June 2026"),
        ("The movers come on Saturday.", "the movers come on Saturday 20 June 2026"),
        ("The tiles are delivered on Monday.", "the tiles are delivered on Monday 22 June 2026"),
        ("Backups will run on Sunday.", "Backups will run on Sunday 21 June 2026"),
        ("Backups are running on Sunday.", "Backups are running on Sunday 21 June 2026"),
        ("The bins were collected on Monday.", "the bins were collected on Monday 15 June 2026"),
    ],
)
def test_what_things_do_on_a_day_of_the_week_they_do_each_week(said: str, told: str) -> None:
    """It is told without a date."""
    (found,) = stated(said, "Ada", NOW)
    assert found.text == told


@pytest.mark.parametrize(
    "said",
    [
        "If backups run on Sunday, tell me.",
        "Do backups run on Sunday?",
        "I wish the bins were collected on Monday.",
        "Suppose invoices are sent on Friday.",
        "My neighbour says bins are collected on Monday.",
        "Dreams are made on Monday.",
        "Backups ran on Sunday.",
    ],
)
def test_what_is_asked_or_wished_of_a_day_is_not_told(said: str) -> None:
    """Nor what was so once."""
    assert stated(said, "Ada", NOW) == []
