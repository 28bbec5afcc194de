"""What texts claim: of whom, what, in which sense, since when; and what they do not."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from metaagents.learning.grammar.as_said import claims_as_said
from metaagents.learning.grammar.claims import claims_of
from metaagents.learning.patterns import stated
from metaagents.learning.plain_speech import INPUT_CHARS_MAX, is_plain

NOW = datetime(2026, 3, 11, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I moved to Turin last month.", "Ada moved to Turin in February 2026"),
        ("I grew up on a farm.", "Ada grew up on a farm"),
        ("I live on the fifth floor.", "Ada lives on the fifth floor"),
        ("My hobbies are hiking and chess.", "Ada enjoys hiking and chess"),
        ("I broke my leg when I was ten.", "Ada broke Ada's leg at the age of ten"),
        ("My father died when I was nine.", "Ada's father died"),
        ("I've started smoking again.", "Ada has started smoking"),
        ("I'm smoking again.", "Ada has started smoking"),
        ("I smoke now.", "Ada smokes now"),
        ("I drive to work.", "Ada drives to work"),
        ("I take the train to work now.", "Ada takes the train to work now"),
        ("I play football on Thursdays now.", "Ada plays football on Thursdays now"),
        ("They changed my flight to 9 am.", "Ada's flight was moved to 9 am"),
        ("I just got a new phone, a Pixel 9.", "Ada's phone is a Pixel 9"),
        ("Globex pays in US dollars.", "Globex pays in US dollars"),
        ("I play tennis at the weekend.", "Ada plays tennis at the weekend"),
        ("I enjoy baking bread at the weekend.", "Ada enjoys baking bread at the weekend"),
        (
            "I'm visiting Rome at the weekend.",
            "Ada is visiting Rome between 14 March and 15 March 2026",
        ),
        ("Tom, Ana and Eve live in Bonn.", "Tom, Ana and Eve live in Bonn"),
        ("However, Ana and Eve live in Bonn.", "Ana and Eve live in Bonn"),
        ("I'm badly allergic to wasps.", "Ada is allergic to wasps"),
        ("I hardly ever watch television.", "Ada rarely watches television"),
        ("I know how to sail.", "Ada can sail"),
        ("My parents are teachers.", "Ada's parents are teachers"),
        ("I come from a small town in Ohio.", "Ada comes from a small town in Ohio"),
        ("I live alone.", "Ada lives alone"),
        ("I live two hours from Vienna.", "Ada lives two hours from Vienna"),
        ("I live next door to my parents.", "Ada lives next door to Ada's parents"),
        ("I have red hair and green eyes.", "Ada has red hair and green eyes"),
        ("I'm insured with Allianz.", "Ada is insured with Allianz"),
        ("I don't believe in horoscopes.", "Ada doesn't believe in horoscopes"),
        ("My working day starts at seven.", "Ada's working day starts at seven"),
        ("My commute takes fifty minutes.", "Ada's commute takes fifty minutes"),
        ("I get up at half past six.", "Ada gets up at half past six"),
        ("The doctor says I'm not allergic to nuts.", "Ada is not allergic to nuts"),
        ("Karim is 180 cm tall.", "Karim is 180 cm tall"),
        ("I break out in hives when I eat shellfish.", "Ada breaks out in hives from shellfish"),
        ("There are six people on my team.", "Ada's team has six people"),
        ("I moved to Proton Mail.", "Ada moved to Proton Mail"),
        ("Service payments-api depends on Redis 7.", "Service payments-api depends on Redis 7"),
        ("Order 88312 was shipped on Monday.", "Order 88312 was shipped on Monday 9 March 2026"),
        ("Our Slack channel is #payments.", "Ada's Slack channel is #payments"),
        ("The root cause was a full disk on db-02.", "the root cause was a full disk on db-02"),
        ("The schema has a new column called region.", "the schema has a new column called region"),
        ("I was born on 3 May.", "Ada was born on 3 May"),
        ("My kids are 4, 7 and 11.", "Ada's kids are 4, 7 and 11"),
        ("The open ports are 80, 443, and 8443.", "the open ports are 80, 443 and 8443"),
        (
            "I'm allergic to peanuts, shellfish, and latex.",
            "Ada is allergic to peanuts, shellfish and latex",
        ),
        ("I have a dog, two cats and a parrot.", "Ada has a dog, two cats and a parrot"),
        ("I like hiking, climbing, and chess.", "Ada likes hiking, climbing and chess"),
        (
            "Our offices are in Lyon, Ghent, and Turin.",
            "Ada's offices are in Lyon, Ghent and Turin",
        ),
        ("My kids are called Ann, Bob, and Cy.", "Ada's kids are called Ann, Bob and Cy"),
        ("I don't eat pork, beef or lamb.", "Ada doesn't eat pork, beef or lamb"),
        ("I hike, and live in Bonn.", "Ada lives in Bonn"),
        ("I like Marks and Spencer and Boots.", "Ada likes Marks and Spencer and Boots"),
        ("I play piano, guitar, and drums.", "Ada plays piano, guitar and drums"),
        (
            "I'm interested in history, art and trains.",
            "Ada is interested in history, art and trains",
        ),
        ("I no longer eat meat, fish or eggs.", "Ada no longer eats meat, fish or eggs"),
        (
            "I always carry an EpiPen, an inhaler, and a mask.",
            "Ada always carries an EpiPen, an inhaler and a mask",
        ),
        (
            "We have offices in Berlin, Paris and Rome, and a lab in Oslo.",
            "Ada: We have offices in Berlin, Paris and Rome, and a lab in Oslo",
        ),
        ("I don't like tea, coffee, or ale.", "Ada doesn't like tea, coffee or ale"),
        ("I'm a nurse, a mother and a runner.", "Ada is a nurse"),
        ("I was born on May 12, 1990 and moved.", "Ada was born on 12 May 1990"),
        ("I was born on May 3rd, 1990.", "Ada was born on 3 May 1990"),
        ("My email has changed to ada@new.org.", "Ada's email is ada@new.org"),
        ("The budget for Q3 was cut to 30k.", "the budget for Q3 is 30k now"),
        ("I have a US passport.", "Ada has a US passport"),
        ("My brother lives in Bangor, ME.", "Ada's brother lives in Bangor, ME"),
        ("My brother in law works for Airbus.", "Ada's brother-in-law works for Airbus"),
        ("We've been living in Turin since 2020.", "Ada lives in Turin since 2020"),
        (
            "My check-up is next Monday at 3 pm.",
            "Ada's check-up is on Monday 16 March 2026 at 3 pm",
        ),
        ("My exam is on Monday, 7 December.", "Ada's exam is on Monday 7 December 2026"),
        ("My exam is on Tuesday, 1 April.", "Ada's exam is on Tuesday 1 April"),
        ("We got married on May 3rd, 2014.", "Ada got married on 3 May 2014"),
        ("In 2018, I moved to Oslo.", "Ada moved to Oslo in 2018"),
        ("On January 5th, 2020, I quit smoking.", "Ada quit smoking on 5 January 2020"),
        ("I moved to Oslo on Tuesday last week.", "Ada moved to Oslo on Tuesday 3 March 2026"),
        ("I'm flying to Lima the day after tomorrow.", "Ada is flying to Lima on 13 March 2026"),
        ("I moved to Oslo half a year ago.", "Ada moved to Oslo in September 2025"),
        ("I moved to Oslo two and a half years ago.", "Ada moved to Oslo in 2023"),
        ("I moved to Oslo early last year.", "Ada moved to Oslo in 2025"),
        ("I moved to Oslo yesterday evening.", "Ada moved to Oslo on 10 March 2026 in the evening"),
        ("My train leaves tomorrow at 7:40.", "Ada's train leaves on 12 March 2026 at 7:40"),
        ("I live at 4 Mill Lane, Ripon.", "Ada lives at 4 Mill Lane, Ripon"),
        ("I earn 41,000 euros a year.", "Ada earns 41,000 euros a year"),
        ("My rent is 1,150 euros a month.", "Ada's rent is 1,150 euros a month"),
        ("I pay $40 a month for the gym.", "Ada pays $40 a month for the gym"),
        ("I owe my sister 90 pounds.", "Ada owes Ada's sister 90 pounds"),
        ("I'm saving up for a tandem.", "Ada is saving up for a tandem"),
        ("I'm training for the Oslo marathon.", "Ada is training for the Oslo marathon"),
        ("I need a wheelchair.", "Ada needs a wheelchair"),
        ("My pronouns are they/them.", "Ada's pronouns are they/them"),
        ("My brother Karim relocated to Oslo.", "Ada's brother Karim relocated to Oslo"),
        ("I have type 2 diabetes, so no cake.", "Ada has type 2 diabetes"),
        ("My dentist is Dr. Sato.", "Ada's dentist is Dr. Sato"),
        ("Dr. Sato is my dentist, by the way.", "Dr. Sato is Ada's dentist"),
        ("I've got two sons.", "Ada has two sons"),
        (
            "My husband Ole drives a taxi for a living.",
            "Ada's husband Ole drives a taxi for a living",
        ),
        ("Antwerp has been home since 2018.", "Ada lives in Antwerp since 2018"),
        ("My wife works nights with a colleague.", "Ada's wife works nights with a colleague"),
        ("We live with my in-laws in Amman.", "Ada lives with Ada's in-laws in Amman"),
        ("They made me team lead yesterday.", "Ada was made team lead on 10 March 2026"),
        ("The vet we use is Dr. Pillay.", "Ada's vet is Dr. Pillay"),
        ("I'd rather walk than drive.", "Ada prefers to walk"),
        ("I own a barn that nobody uses.", "Ada owns a barn that nobody uses"),
        ("I don't live in Lyon any more.", "Ada doesn't live in Lyon any more"),
        ("I broke my arm on Sunday.", "Ada broke Ada's arm on Sunday 8 March 2026"),
        ("I'm not a smoker.", "Ada is not a smoker"),
        ("I have never worked for Globex.", "Ada has never worked for Globex"),
        ("I no longer have a car.", "Ada no longer has a car"),
        ("My train is at 8:20, not at 8:02.", "Ada's train is at 8:20, not at 8:02"),
        ("We sold the piano yesterday.", "Ada sold the piano on 10 March 2026"),
        ("Our hamster died in January.", "Ada's hamster died in January 2026"),
        ("My wife's name is Bea.", "Ada's wife's name is Bea"),
        ("Bo and I split up in November.", "Bo and Ada split up in November 2025"),
        ("I'm flying to Lima next Monday.", "Ada is flying to Lima on Monday 16 March 2026"),
        ("I go climbing every Friday.", "Ada goes climbing every Friday"),
        ("I gave up smoking in 2021.", "Ada gave up smoking in 2021"),
        ("I speak Danish and Swedish.", "Ada speaks Danish and Swedish"),
        ("I'm doing a PhD in botany.", "Ada is doing a PhD in botany"),
        ("You'd have to ask my neighbour Mrs. Lund.", "Ada's neighbour is Mrs. Lund"),
        ("My daughter is allergic to soy, does that matter?", "Ada's daughter is allergic to soy"),
        ("My husband's a plumber.", "Ada's husband is a plumber"),
        ("My mum's got gout.", "Ada's mum has gout"),
        ("Our vet's Dr. Moss.", "Ada's vet is Dr. Moss"),
        ("I like rowing much more than running.", "Ada prefers rowing to running"),
        ("I don't eat meat or fish.", "Ada doesn't eat meat or fish"),
        ("I haven't got any pets.", "Ada doesn't have any pets"),
        ("I only drink oat milk.", "Ada only drinks oat milk"),
        ("I've lived in Cork all my life.", "Ada lives in Cork since birth"),
        ("My son will be six next month.", "Ada's son turns six in April 2026"),
        ("We moved house in May, I'm in Bath now.", "Ada lives in Bath"),
        ("We've bought a place in Bath.", "Ada has bought a place in Bath"),
        ("It's not true that I work for Acme.", "It is not true that Ada works for Acme"),
        ("It's true that I work for Acme.", "Ada works for Acme"),
        ("Turns out I'm allergic to soy.", "Ada is allergic to soy"),
        ("If you must know, I have two sons.", "Ada has two sons"),
        (
            "My brother \u015e\u00fckr\u00fc lives in \u0141\u00f3d\u017a.",
            "Ada's brother \u015e\u00fckr\u00fc lives in \u0141\u00f3d\u017a",
        ),
        ("My dad was a baker all his life.", "Ada's dad was a baker"),
        ("Elin is married to Per's brother.", "Elin is married to Per's brother"),
        ("We sold the boat in a day.", "Ada sold the boat in a day"),
        ("Lena's the new product owner", "Lena is the new product owner"),
        ("Based in Ghent, originally from Chile.", "Ada is based in Ghent"),
        ("I'm a night-shift nurse", "Ada is a night-shift nurse"),
        ("My out-of-office starts on the 20th", "Ada's out-of-office starts on the 20th"),
        ("I have a new number: 0170 998877", "Ada's phone number is 0170 998877"),
    ],
)
def test_a_statement_is_told_of_whom_it_is_about(said: str, told: str) -> None:
    """In third person, by name, with the date of its times."""
    assert [one.text for one in stated(said, "Ada", NOW)] == [told]


@pytest.mark.parametrize(
    "said",
    [
        "If I moved to Turin, would my rent go up?",
        "Suppose I have two sons and no car.",
        "I almost bought a boat.",
        "I won't start smoking again.",
        "My dog died when I was twelve.",
        "The engine started smoking.",
        "They might move my flight to 9 am.",
        "I was going to study law.",
        "Yeah right, I own a castle and I have a yacht.",
        "Great, another meeting. I just love meetings.",
        "I have a patch for that.",
        "I have a bone to pick with him.",
        "I'm staying in Ghent for the weekend.",
        "They made me wait an hour.",
        "Home is where the heart is.",
        "I'd rather die than wear that.",
        "I might move to Turin.",
        "I wish I had a dog.",
        "Somebody claimed that I have a twin.",
        "My friend works at Acme.",
        "He sang: I live in a castle.",
        "She asked me, are you married to a doctor?",
        "I'm allergic, am I?",
        "I live in Turin, I think.",
        "My interview was tomorrow, I thought.",
        "My daughter is allergic to nuts, or was it soy?",
        "My rent is 900 euros, if I remember right.",
        "I'd pay 90 euros a month for that.",
        "I made 50 euros an hour ago.",
        "I should save for a house.",
        "I live at peace with it.",
        "I have a feeling this takes long.",
        "I have to run.",
        "I love the idea.",
        "Keep going and never give up!",
        "I want a safe, inclusive place.",
        "I'd like to be a pilot one day.",
        "My brother's driving me crazy.",
        "My dog's on the sofa.",
        "I love you more than anything.",
        "I only use it for tests.",
        "I have not got a clue.",
        "Is my doctor Dr. Stern or Dr. Kern?",
        "The headline was: I moved to Mars.",
        "I'm married to my job.",
        "My boss is a dinosaur.",
        "I got a message from the bank.",
        "I have a class called Dog.",
        "My place is in the queue.",
        "My train is at 7:15, sorry, 7:40.",
        "My seat number is 12, I mean 21.",
        "My room is 12. No, sorry, 21.",
        "We have three kids. Actually, four.",
        "Ship 5 boxes to Tom.",
        "My job was cancelled by the scheduler.",
        "My battery is down to 5%.",
        "I found a job in the queue that hangs.",
        "I went off topic.",
        "I'm back from lunch.",
        "Step 2 was approved.",
        "The cause was a missing comma.",
        "Order switched from Slack to Teams.",
        "Order 2 pizzas for me.",
        "The outcome depends on the weather.",
        "The cause was obvious.",
        "Who owns the importer?",
        "If Jonas took over the payments team from Sarah, we'd be fine.",
        "Should Marta resign, Piet takes over",
        "As long as I'm the boss, we deploy on Fridays",
        "In chapter two Anna moves to Vienna",
        "Sherlock Holmes lives at 221B Baker Street",
        "In Breaking Bad, Walter White teaches chemistry",
        "Word is Ana is leaving for Kent",
        "I'm a potato",
        "I'm a goldfish",
        "Liverpool won 3-1 last night",
        "The variable x is 5",
        "The average person sleeps 8 hours",
        "Paris is the capital of France",
        "Postgres supports JSON.",
        "JSON doesn't allow comments.",
        "Cows eat grass.",
        "Vegans don't eat honey.",
        "Rust has no garbage collector.",
        "France has 68 million inhabitants.",
        "Mount Everest is 8849 m high.",
        "I'm not badly allergic to wasps.",
        "I come from a meeting in Rome.",
        "I know how to fix it.",
        "I believe in you.",
        "The answer is 42. It costs 3 euros.",
        "I live from hand to mouth.",
        "I have red eyes today.",
        "I will get a dog. It sleeps on the sofa.",
        "My kids are monsters.",
        "My phone takes two minutes.",
        "The doctor says my neighbour is allergic to nuts.",
        "The doctor asked if I'm allergic to nuts.",
        "As a user, I want to reset my password",
    ],
)
def test_what_is_not_stated_claims_nothing(said: str) -> None:
    """Conditions, wishes, near misses, hearsay, moods and manners of speaking."""
    assert stated(said, "Ada", NOW) == []


def test_shares_that_fell_are_nothing_that_somebody_shares() -> None:
    """What a price did is told as it was said, if at all."""
    assert claims_of("Tesla shares fell 5% on Tuesday", "Ada", NOW) == []


def test_a_beginning_is_kept_and_a_plan_has_none() -> None:
    """What began has its date; what is planned is not true yet, nor dated as if it were."""
    (moved,) = stated("I moved to Turin last month.", "Ada", NOW)
    assert (moved.predicate, moved.object) == ("lives in", "Turin")
    assert moved.valid_from == datetime(2026, 2, 1, tzinfo=UTC)
    (plan,) = stated("I'm flying to Lima next Monday.", "Ada", NOW)
    assert (plan.predicate, plan.valid_from) == (None, None)


def test_yesterday_is_the_day_before_by_the_clock_of_who_speaks() -> None:
    """At half past eight in Tokyo it is still the day before in UTC."""
    at = datetime(2026, 3, 10, 23, 30, tzinfo=UTC).astimezone(ZoneInfo("Asia/Tokyo"))
    (moved,) = claims_of("I moved to Oslo yesterday.", "Ada", at)
    assert moved.text == "Ada moved to Oslo on 10 March 2026"
    assert moved.valid_from == datetime(2026, 3, 10, tzinfo=UTC)
    (two_days,) = claims_of("I moved to Oslo two days ago.", "Ada", at)
    assert two_days.text == "Ada moved to Oslo on 9 March 2026"


def test_what_had_been_so_is_so_no_more() -> None:
    """Until when it was is told as a bound, and not with "in" behind it."""
    (worked,) = stated("I had been working for Deloitte until last March", "Ada", NOW)
    assert worked.text == "Ada had been working for Deloitte until March 2025"
    assert worked.predicate is None


def test_how_long_something_goes_on_is_no_beginning() -> None:
    """Only what has been so for ten years began ten years ago."""
    (kept,) = stated("Backups are kept for 90 days.", "Ada", NOW)
    assert (kept.text, kept.valid_from) == ("Backups are kept for 90 days", None)
    (worked,) = claims_of("My brother worked at Bosch for ten years.", "Ada", NOW)
    assert worked.text == "Ada's brother worked at Bosch for ten years"
    assert worked.valid_from is None
    (sold,) = claims_of("We sold the house in a month.", "Ada", NOW)
    assert (sold.text, sold.valid_from) == ("Ada sold the house in a month", None)
    (works,) = claims_of("My brother has worked at Bosch for ten years.", "Ada", NOW)
    assert works.valid_from == datetime(2016, 1, 1, tzinfo=UTC)


def test_a_clause_goes_on_about_whom_the_one_before_is_about() -> None:
    """Its subject and ``ever since`` come from there."""
    said = "We left Leeds in 2023 and have been living in Ghent ever since."
    left, lives = stated(said, "Teo", NOW)
    assert left.text == "Teo left Leeds in 2023"
    assert lives.text == "Teo lives in Ghent since 2023"
    assert lives.valid_from == datetime(2023, 1, 1, tzinfo=UTC)


def test_one_of_several_has_no_value_of_its_own() -> None:
    """Of "my cousin" there may be two; of "my cousin Bo" and of who speaks there is one."""
    assert not claims_of("My cousin lives in Lima.", "Ada")[0].is_single
    assert claims_of("My cousin Bo lives in Lima.", "Ada")[0].is_single
    assert claims_of("I live in Lima.", "Ada")[0].is_single
    assert claims_of("Bo's phone number is +47 901 23 456.", "Ada")[0].is_single
    assert claims_of("Bo's email is bo@example.org.", "Ada")[0].is_single


def test_no_date_is_made_of_a_day_that_comes_round() -> None:
    """A weekly meeting is on each Tuesday, and did not begin on the next one."""
    assert not any(
        one.valid_from for one in claims_of("The weekly sync is on Tuesday.", "Ada", NOW)
    )
    (claim,) = claims_of("The annual picnic is in June.", "Ada", NOW)
    assert (claim.value, claim.valid_from) == ("in June", None)


@pytest.mark.parametrize(
    "unit",
    [
        "I live in Rome, ",
        "my ",
        "and I ",
        "if ",
        "'s ",
        "last week ",
        "Mr. ",
        "never ",
        "Rome is where I ",
        "with a friend in ",
        "I'd rather ",
        "is not on ",
        "Ken takes the ",
        "moved to Bonn and ",
        "My sister, who ",
        "The one to ask about ",
        "Moved to Bonn, ",
        "from 3 to 4 May ",
        "Ken was the lead, ",
        "....",
        "A ",
    ],
)
def test_reading_takes_no_more_than_linear_time(unit: str) -> None:
    """Twice the text takes about twice the time, whatever it repeats."""

    def seconds(length: int) -> float:
        text = (unit * length)[:length]
        best = float("inf")
        for _ in range(5):
            began = time.process_time()
            stated(text, "Ada", NOW)
            best = min(best, time.process_time() - began)
        return best

    half = seconds(INPUT_CHARS_MAX // 2)
    assert seconds(INPUT_CHARS_MAX) < 3.5 * half + 0.005


@pytest.mark.parametrize("unit", ["no, ", "oh no, ", "no wait ", "sorry, no, ", "I mean "])
def test_a_sentence_that_only_takes_back_is_read_at_once(unit: str) -> None:
    """It was tried in as many ways as there are to part its words: it fits in one sentence."""
    assert stated((unit * 390)[:390], "Ada", NOW) == []


@pytest.mark.parametrize(
    "said",
    [
        "I don't just work at Siemens.",
        "I'm not just a teacher, I teach the teachers.",
        "I'm not only a teacher but also a coach.",
        "I don't officially live in Lisbon.",
        "I'm not deathly allergic to nuts, only mildly.",
        "I'm not totally deaf.",
        "I live in a house that is not in Lisbon.",
        "I live in the house that my father built in Lisbon.",
        "My uncle lives in the house he built in Lisbon.",
    ],
)
def test_what_leads_away_from_a_value_claims_nothing_of_it(said: str) -> None:
    """A denied "just" denies nothing else, and a place on the way is no home."""
    values = " ".join(one.value for one in claims_of(said, "Ada", NOW))
    assert not any(word in values for word in ("Siemens", "nuts", "deaf", "Lisbon"))
    assert not any(one.sense == "not" for one in claims_of(said, "Ada", NOW))


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("I don't work at Siemens on Fridays.", "Siemens on Fridays"),
        ("I don't play tennis with Bo.", "tennis with Bo"),
        ("I don't have a dog that bites.", "a dog that bites"),
        ("I don't have a son called Tim.", "a son called Tim"),
        ("I don't always eat meat.", "always meat"),
        ("I don't work at Siemens on 5 May.", "Siemens on 5 May 2026"),
        ("I don't have a car at the moment.", "a car"),
    ],
)
def test_a_denial_is_of_all_that_it_says(said: str, value: str) -> None:
    """Not of the wider thing, which may well be so."""
    (claim,) = claims_of(said, "Ada", NOW)
    assert (claim.sense, claim.value) == ("not", value)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Tim lives in Bonn and Eve lives in Mainz.", {("Tim", "Bonn"), ("Eve", "Mainz")}),
        ("Tim likes tea and Eve likes coffee.", {("Tim", "tea"), ("Eve", "coffee")}),
        ("I live outside Lisbon.", {("Ada", "outside Lisbon")}),
    ],
)
def test_each_is_said_of_whom_it_is_said(said: str, told: set[tuple[str, str]]) -> None:
    """Two people in one sentence have a claim each, and beside a place is not in it."""
    assert {(one.subject, one.value) for one in claims_of(said, "Ada", NOW)} == told
    gapped = claims_of("Tim lives in Bonn and Eve in Mainz.", "Ada", NOW)
    assert not any(one.is_news for one in gapped)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I love skiing in winter.", "Ada loves skiing in winter"),
        ("I have hay fever in spring.", "Ada has hay fever in spring"),
        ("I always travel in December.", "Ada always travels in December"),
        ("I usually swim on Friday.", "Ada usually swims on Friday"),
        ("I have an exam in May.", "Ada has an exam in May 2026"),
        ("I start school in autumn.", "Ada starts school in autumn 2026"),
    ],
)
def test_what_comes_round_has_no_date(said: str, told: str) -> None:
    """A taste or habit is of every winter; what is planned is of the next."""
    (claim,) = claims_of(said, "Ada", NOW)
    assert claim.text == told
    assert (claim.valid_from is None) or "2026" in told


def test_what_somebody_went_for_and_no_longer_does_is_news() -> None:
    """It must be learnt, or the habit would stay."""
    found = claims_of("I don't go swimming any more", "Ada", NOW)
    assert any(one.is_news and one.sense == "over" for one in found)


@pytest.mark.parametrize(
    "said",
    [
        "I live in a yellow submarine, as the song goes.",
        "I walk the line, as Johnny Cash sang.",
        "I have a cat. April fool!",
        "I'm a doctor. Gotcha!",
        "Fill in the blank: I live in Bonn.",
        "I live at ____ Street.",
        "I live in {city}.",
        "My name is Luka, I live on the second floor (that Suzanne Vega song)",
        "<tool_output>user lives in Prague</tool_output>",
        "Tool result: the weather in Oslo is 4 degrees",
        "BBC News: the prime minister lives in Chequers",
        "Test user: Jane Roe, lives in Oslo",
        "Exception: user Tom is not allowed",
        "Let's play a game: I'm a doctor and you're the patient",
        "You're a doctor. I'm your patient and I have a rash.",
        "To whom it may concern, I am a nurse",
        "Given I am logged in, when I click Save, then it is saved",
    ],
)
def test_songs_jokes_and_forms_say_nothing_of_who_sends_them(said: str) -> None:
    """Neither does the blank of a form stand for a place."""
    assert not is_plain(said)
    assert all(map(is_plain, ("Gotcha, I live in Bonn as my sister does.", "I sing, as do you.")))
    assert all(map(is_plain, ("Good News: I moved to Rome.", "Given my allergy, I avoid nuts.")))


@pytest.mark.parametrize(
    "said",
    [
        "From: Eve\nTo: Sam\n\nHi Sam, I live in Bonn now. I am allergic to nuts.",
        "Here is the mail from my colleague:\n\nI live in Bonn. I am allergic to nuts.",
        "Alice: I live in Bonn.\nBob: I live in Mainz.",
        "[10:04] Alice: I am vegan.",
        "The character in my novel says: I am a vampire. I drink blood.",
    ],
)
def test_what_others_wrote_is_not_said_by_who_pastes_it(said: str) -> None:
    """Neither mails nor transcripts; a heading of one's own takes nothing away."""
    assert not is_plain(said)
    assert all(map(is_plain, ("Update: I live in Bonn now.", "I moved: my flat is in Bonn.")))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I've never been to Portland, Maine.", "Ada has never been to Portland, Maine"),
        (
            "I have never been to Portland, Maine in my life.",
            "Ada has never been to Portland, Maine",
        ),
        ("I don't live in London, Ontario, Canada.", "Ada doesn't live in London, Ontario, Canada"),
        ("I live in Washington, D.C.", "Ada lives in Washington, D.C."),
        ("I moved to Washington, D.C. in 2019.", "Ada moved to Washington, D.C. in 2019"),
        ("My brother lives in Athens, Georgia.", "Ada's brother lives in Athens, Georgia"),
        ("I live in Rome, Anna lives in Paris.", "Ada lives in Rome"),
        ("I'm not from Spain, I'm from Chile.", "Ada is not from Spain"),
    ],
)
def test_a_place_keeps_what_stands_behind_its_comma(said: str, told: str) -> None:
    """Another Portland, London or Washington is another place."""
    claim = claims_of(said, "Ada", NOW)[0]
    assert (claim.text, claim.is_news) == (told, True)


@pytest.mark.parametrize(
    "said",
    [
        "I am not from Georgia, the country.",
        "I am not from Georgia - the country.",
        "I don't work for Apple, the record label.",
        "I stopped working for Apple, the record label.",
        "i don't live in london, ontario",
    ],
)
def test_a_denial_is_not_cut_from_what_tells_which_is_meant(said: str) -> None:
    """Without it, somebody else's denial would be told: better nothing."""
    assert claims_of(said, "Ada", NOW) == []


@pytest.mark.parametrize("speaker", ["the driver", "the CEO", "The Fonz", "the", "a", "my boss"])
def test_who_speaks_may_be_called_anything(speaker: str) -> None:
    """A speaker whose name begins like a thing is no thing that has no name."""
    told = [str(one) for one in stated("I am married to Eva. I live in Porto.", speaker, NOW)]
    plain = [str(one) for one in stated("I am married to Eva. I live in Porto.", "Ada", NOW)]
    assert told == [one.replace("Ada", speaker) for one in plain]
    assert len(told) == 2


@pytest.mark.parametrize(
    ("said", "before", "told"),
    [
        ("Swimming bores me.", "", "Swimming bores Ada"),
        ("She turned 18.", "My daughter Fenna rows.", "Ada's daughter Fenna rows. She turned 18"),
        ("She turned 18 in August.", "", None),
        ("She turned 18 in August.", "It was late.", None),
        ("My password is tulip99.", "", None),
        ("Please delete the file.", "", None),
        ("Perhaps I will sell the boat.", "", None),
        ("Is the boat sold?", "", None),
    ],
)
def test_what_is_held_to_be_worth_it_is_told_however_short(
    said: str, before: str, told: str | None
) -> None:
    """With what it points back to, or not at all; orders, doubts, questions and secrets never."""
    found = claims_as_said(said, "Ada", NOW, before, is_worth_it=True)
    assert [one.text for one in found] == ([told] if told else [])
    assert not list(claims_as_said(said, "Ada", NOW, before))
