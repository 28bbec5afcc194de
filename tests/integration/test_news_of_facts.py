"""What somebody tells of what has changed takes the place of what they had told before."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.runtime import running

from metaagents.learning.corrections import only_corrects
from metaagents.learning.patterns import stated


async def _standing(home: Path, *said: str, reply: str = "Okay.") -> set[str]:
    """Say something turn by turn; return what is held to be so after the last."""
    async with running(home) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("aide", user_id="sam", topics={"*"})
        for text in said:
            turn = await agent.turn(text)
            await turn.reply(reply)
            await ezra.drain_learning()
        return {fact.text for fact in (await agent.latest_facts()).rows}


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        (("The project deadline is March 3.", "The deadline got pushed to March 17."), "project"),
        (("I work at Siemens.", "I left Siemens."), "works at"),
        (("I'm a vegetarian.", "I stopped being vegetarian."), "is a"),
        (("I get a veg box from Greenacre every Friday.", "I cancelled the veg box."), "Friday"),
        (
            (
                "I take metformin twice a day.",
                "My doctor took me off metformin yesterday.",
            ),
            "twice a day",
        ),
        (
            (
                "The retry limit of the payout worker is 5.",
                "Correction, wrong file. The retry limit of the payout worker is 3.",
            ),
            "5",
        ),
        (
            ("The API key rotation is every 90 days.", "The rotation is now every 30 days."),
            "90 days",
        ),
        (("Customer ACME is on the basic plan.", "ACME upgraded to enterprise."), "basic"),
        (("The office is on the third floor.", "The office moved to the fifth floor."), "third"),
        (("I have two kids.", "We had a third kid in May."), "two kids"),
        (("I take metformin twice a day.", "My doctor stopped the metformin."), "twice a day"),
        (("My phone number is 0170 1234567.", "I got a new number: 0151 7654321."), "0170"),
        (("I'm on a keto diet.", "I dropped keto."), "on a keto"),
        (("I bank with N26.", "I switched banks, now with DKB."), "N26"),
        (("My brother lives in Oslo.", "My brother moved back home to Bergen."), "Oslo"),
        (("Our retro is every two weeks.", "We moved the retro to monthly."), "two"),
        (("I'm single.", "I have a girlfriend now."), "single"),
        (("I'm saving for a house.", "We bought the house!"), "saving"),
        (("I go to bed at 11.", "I've started going to bed at 10."), "11"),
        (("My son Leo is in first grade.", "Leo started second grade."), "first"),
        (("I don't drink coffee.", "I'm back on coffee."), "n't"),
        (("The incident INC-42 is open.", "INC-42 was resolved."), "open"),
        (("Store 12 is closed.", "Store 12 reopened on Monday."), "closed"),
        (
            ("Nina owns the billing service.", "Nina handed the billing service over to Omar."),
            "owns",
        ),
        (
            (
                "Rate limit is 100 requests per minute.",
                "Rate limit doubled to 200 requests per minute.",
            ),
            "100",
        ),
        (("The minimum order is 50 pieces.", "Minimum order went up to 80 pieces."), "50"),
        (("I have a dentist appointment on Friday at 3.", "The dentist cancelled."), "has"),
        (("My visa expires in May.", "I extended my visa until December."), "May"),
        (("The gym costs 30 a month.", "The gym now costs 35."), "30"),
        (
            (
                "My kids go to Elm School.",
                "The kids changed schools, now they're at Oak School.",
            ),
            "Elm",
        ),
        (("I don't have a car.", "I bought a used Skoda."), "n't"),
        (("My flight to Rome is on Friday.", "The Rome flight got cancelled."), "Friday"),
        (("Priya handles payroll.", "Payroll is handled by Nadia now."), "Priya"),
        (("The API is hosted on Heroku.", "The API is on Fly now."), "Heroku"),
        (
            ("I have high blood pressure.", "My blood pressure is normal again."),
            "high",
        ),
        (("I've been a smoker for ten years.", "I haven't smoked since March."), "smoker"),
        (("I'm a student at KTH.", "I graduated from KTH in March."), "student"),
        (("Our landlord is Mr. Roth.", "The new landlord is Mrs. Klein."), "Roth"),
        (("I take yoga classes on Mondays.", "I stopped yoga."), "Mondays"),
        (("I live with Tom.", "Tom moved out."), "lives with"),
        (("I live alone.", "Mia moved in with me."), "alone"),
        (("I use a wheelchair.", "I don't need the wheelchair anymore."), "uses"),
        (("I have an account at ING.", "I closed my ING account."), "has"),
        (("I drink two coffees a day.", "I cut down to one coffee a day."), "two"),
        (("I have braces.", "My braces came off."), "has"),
        (("I'm on antibiotics.", "I finished the antibiotics."), "is on"),
        (("I speak a little Dutch.", "I speak fluent Dutch now."), "little"),
        (
            ("My car insurance is with Axa.", "I switched my car insurance to Allianz."),
            "Axa",
        ),
        (("I wake up at 6.", "I've been waking up at 7 lately."), "6"),
        (("We have a cleaner on Thursdays.", "We let the cleaner go."), "Thursdays"),
        (
            (
                "I'm on the waitlist for Berlin Marathon.",
                "I got a spot in the Berlin Marathon.",
            ),
            "waitlist",
        ),
        (
            (
                "My passport number is X1234567.",
                "I renewed my passport, the new number is Y7654321.",
            ),
            "X1234567",
        ),
        (
            ("The request timeout is 30 seconds.", "I bumped the request timeout to 45 seconds."),
            "30",
        ),
        (("The cache size is 100 MB.", "I set the cache size to 512 MB."), "100"),
        (("The cache TTL is 300 seconds.", "The cache TTL was halved, so it's 150."), "300"),
        (
            (
                "My dentist appointment is on March 3.",
                "They pushed my dentist appointment back to March 10.",
            ),
            "3 March",
        ),
        (("The repository is called acme-core.", "We renamed the repository to acme-api."), "core"),
        (("The flag dark_mode is on.", "We turned dark_mode off again."), " on"),
        (("I use Chrome as my browser.", "I switched from Chrome to Firefox."), "uses"),
        (("I'm taking Spanish lessons.", "I had to drop my Spanish lessons."), "taking"),
        (("My flight to Rome is on May 4.", "I had to cancel my flight to Rome."), "May"),
        (("I drive a Golf.", "I traded the Golf for a Volvo."), "drives"),
        (
            ("The owner of the importer is Kenji.", "Amara took over the importer from Kenji."),
            "is Kenji",
        ),
        (
            ("Production runs on Kubernetes 1.27.", "We upgraded production to Kubernetes 1.29."),
            "1.27",
        ),
        (("In staging, the limit is 10.", "The limit in staging was raised to 20."), "10"),
        (("I have a meeting with Tom on Monday.", "Tom cancelled our meeting."), "has"),
        (("I have a cat.", "I had to put my old cat down."), "has"),
        (("The retro is on Thursdays.", "We moved the retro to Fridays."), "Thursdays"),
        (("I take ibuprofen for my back.", "I'm off ibuprofen."), "takes"),
        (
            ("My son Max goes to Elm School.", "Max changed schools, he's at Oak School now."),
            "Elm",
        ),
    ],
)
async def test_news_takes_the_place_of_what_was_so(
    tmp_path: Path, said: tuple[str, ...], gone: str
) -> None:
    """However briefly it is told, and nothing else is left of the former."""
    found = await _standing(tmp_path, *said)
    assert len(found) == 1
    assert gone not in found.pop()


@pytest.mark.parametrize(
    "said",
    [
        (
            "The project deadline is March 3.",
            "The tax deadline is April 30.",
            "The deadline got pushed to March 17.",
        ),
        ("Customer ACME is on the basic plan.", "Globex upgraded to enterprise."),
        ("The office is on the third floor.", "The kitchen moved to the fifth floor."),
        ("I take metformin twice a day.", "My doctor stopped the ramipril."),
        ("The end of the quarter is on March 31.", "The quarter is moved to March 17."),
        ("The staging server is in Frankfurt.", "The server is in Dublin now."),
        ("I'm on a keto diet.", "I dropped the keto book."),
        ("I'm saving for a house.", "We bought the car!"),
        ("Our retro is every two weeks.", "We moved the planning to monthly."),
        ("Our retro is every two weeks.", "Our retro is on Fridays."),
        ("My phone is an iPhone.", "My iPhone died."),
        ("I have a dentist appointment on Friday at 3.", "The dentist cancelled the surgery."),
        ("I'm single.", "I've been seeing Dr. Weber."),
        ("I'm single.", "I have a partner agency in Rome."),
        ("The bus is a Volvo.", "The bus went to 3 stops."),
        ("I'm single.", "My brother has a girlfriend now."),
        ("I don't drink coffee.", "I'm back on tea."),
        ("The gym costs 30 a month.", "The pool now costs 35."),
        ("My flight to Rome is on Friday.", "The Oslo flight got cancelled."),
        ("Priya handles payroll.", "Refunds are handled by Nadia now."),
        ("The API is hosted on Heroku.", "The docs are on Fly now."),
        ("I have high blood pressure.", "My cholesterol is normal again."),
        ("Our landlord is Mr. Roth.", "The new dentist is Mrs. Klein."),
        ("I take yoga classes on Mondays.", "I stopped boxing."),
        ("I live with Tom.", "Ben moved out."),
        ("I live alone.", "Mia moved in with Ben."),
        ("I have an account at ING.", "I closed my Chase account."),
        ("I'm on antibiotics.", "I finished the antibiotics leaflet."),
        ("I speak a little Dutch.", "I speak fluent German now."),
        ("My car insurance is with Axa.", "I switched my bank to Allianz."),
        ("I don't have a car.", "My sister bought a used Skoda."),
        ("The incident INC-42 is open.", "INC-43 was resolved."),
        ("Nina owns the billing service.", "Nina handed the search service over to Omar."),
        ("I live in Rome.", "I had to put my old cat down on Friday."),
        ("I'm vegetarian.", "I had to put my old cat down on Friday."),
        ("I have a dog.", "I had to put my cat down."),
        ("I'm expecting my second in May.", "My son was born in 2021."),
        ("In staging, the timeout is 30 seconds.", "In production, the timeout is 60 seconds."),
        ("The limit is 10.", "In staging, the limit is now 5."),
        ("In Berlin, the office is on the third floor.", "In Bonn, the office is on the first."),
        ("The timeout is 30 seconds.", "Don't set the timeout to 5."),
        ("The flag dark_mode is on.", "The flag new_nav is off."),
        ("I'm taking Spanish lessons.", "I dropped the guitar lessons."),
        ("My flight to Rome is on May 4.", "I had to cancel my flight to Oslo."),
        ("The connection pool is 40.", "I set the thread pool to 80."),
        ("I have a meeting with Ann on Monday.", "Tom cancelled our meeting."),
        ("My mom's birthday is on May 3.", "My dad's birthday is on June 9 and he loves jazz."),
    ],
)
async def test_what_may_be_of_another_one_stays(tmp_path: Path, said: tuple[str, ...]) -> None:
    """Of two deadlines nobody can tell which one was pushed."""
    before = await _standing(tmp_path / "before", *said[:-1])
    after = await _standing(tmp_path / "after", *said)
    assert before
    assert before <= after


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("My cardiologist prescribed me beta blockers.", "Sam was prescribed beta blockers"),
        ("My specialist has put me back on statins.", "Sam is on statins"),
        ("My new number's 0151 7654321.", "Sam's number is 0151 7654321"),
        (
            "I've got a new phone number, it's 0151 7654321.",
            "Sam's phone number is 0151 7654321",
        ),
        ("The server room is in building B.", "the server room is in building B"),
        ("The printer was moved to the basement.", "the printer is in the basement now"),
        ("We upgraded to pro.", "Sam upgraded to pro"),
    ],
)
def test_news_is_learnt(said: str, kept: str) -> None:
    """In the words of who tells it."""
    assert [one.text for one in stated(said, "Sam")] == [kept]


@pytest.mark.parametrize(
    "said",
    [
        "My doctor stopped the car.",
        "My doctor didn't stop the metformin.",
        "Did my doctor stop the metformin?",
        "My doctor put me on hold.",
        "My doctor prescribed that.",
        "If I got a new number, 01517654321 would be nice.",
        "I got a new number, 7.",
        "Do you have a new number: 0151 7654321?",
        "The printer might be in the basement.",
        "Is the printer on the second floor?",
        "The cat is on the third floor.",
        "ACME did not upgrade to enterprise.",
        "He upgraded to premium.",
        "We moved to business class.",
        "Is our retro monthly?",
        "My mood is daily.",
        "If I bank with anybody, it's with luck.",
        "INC-42 might be resolved.",
        "Good rent is rare.",
        "First order is on us.",
        "We let the dog go outside.",
        "We let the kids go.",
        "Is rate limit 100?",
    ],
)
def test_what_is_no_news_is_not_learnt(said: str) -> None:
    """Questions, doubts, denials, and what only sounds like it."""
    assert not stated(said, "Sam")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Invoices are due in 30 days.", ["Invoices are due in 30 days"]),
        ("The invoice is due in 30 days.", ["the invoice is due on 13 June 2026"]),
        ("I'm vegan since Monday.", ["Sam is vegan since 11 May 2026"]),
        ("I'm on sick leave since March.", ["Sam is on sick leave since March 2026"]),
        ("We hired a cook, a man named Rex.", ["Sam hired a cook"]),
        ("Jen had the baby, a girl named Ivy.", ["Jen had a girl named Ivy"]),
        ("Our standup is every two weeks.", ["Sam's standup is every two weeks"]),
    ],
)
def test_what_is_so_each_time_has_no_date_and_a_name_is_no_news(said: str, kept: list[str]) -> None:
    """Of an invoice there is a day, of all of them there is none."""
    at = datetime(2026, 5, 14, 9, 0, tzinfo=UTC)
    assert [one.text for one in stated(said, "Sam", at)] == kept


@pytest.mark.parametrize(
    ("said", "right", "standing"),
    [
        ("I live at 12 Oak Street.", "Typo, it's 21 Oak Street.", "sam lives at 21 Oak Street"),
        (
            "The meeting is on Tuesday.",
            "wait no, Wednesday",
            "the meeting is on Wednesday 20 May 2026",
        ),
        ("My son's name is Tim.", "Tom, not Tim.", "sam's son's name is Tom"),
        ("My wife's name is Emma.", "Emily, not Emma.", "sam's wife's name is Emily"),
        ("We use MySQL.", "Not MySQL, Postgres.", "sam uses Postgres"),
        ("I was born in 1988.", "1989, sorry.", "sam was born in 1989"),
        ("I was born in 1988.", "1989, my mistake.", "sam was born in 1989"),
        ("My rent is 900 euros.", "Sorry, 950 euros.", "sam's rent is 950 euros"),
        ("My flight is at 9.", "Make that 10.", "sam's flight is at 10"),
        ("I paid 300 for the bike.", "Actually it was 350.", "sam paid 350 for the bike"),
        ("I have a meeting with Bo at 3.", "With Jo, not Bo.", "sam has a meeting with Jo at 3"),
        ("I'm a nurse.", "That's wrong, I'm a paramedic.", "sam is a paramedic"),
        ("I'm vegan.", "I'm not vegan, I was joking.", "sam is not vegan"),
        (
            "Anna is my sister.",
            "Anna isn't my sister, she's my cousin.",
            "Anna is sam's cousin, not sam's sister",
        ),
    ],
)
async def test_a_message_puts_right_the_one_before_it(
    tmp_path: Path, said: str, right: str, standing: str
) -> None:
    """Beside what is right there is at most that the other was never true."""
    before = await _standing(tmp_path / "before", said)
    after = await _standing(tmp_path / "after", said, right)
    denials = {one for one in after if one.startswith("It is not true that ")}
    assert len(before) == 1
    assert after - denials == {standing}
    assert denials <= {f"It is not true that {one}" for one in before}


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("My son's name is Tim.", "Probably, not sure."),
        ("My son's name is Tim.", "Today, not Tim."),
        ("We use MySQL.", "Not now, later."),
        ("I'm a nurse.", "That's wrong, the printer is broken."),
        ("I'm a nurse.", "That's not right. I'm in Porto this week."),
        ("I was born in 1988.", "Thanks, sorry."),
        ("I have three cats and two dogs.", "Actually it was 4."),
        ("My flight is at 9.", "Make that happen."),
        ("I'm vegan.", "I was joking."),
        ("We use MySQL.", "Postgres, not Oracle."),
        ("My boss is Karen.", "Sorry, Claude!"),
        ("My boss is Karen.", "Claude, sorry."),
        ("My boss is Karen.", "Wait, Max!"),
        ("My dog is 5.", "Sorry, 2 minutes."),
        ("I was born in Lyon.", "Not Lyon, obviously."),
        ("I like Rome.", "Rome is nice, not great."),
        ("The demo is on May 5.", "Thanks, sorry for the noise."),
    ],
)
async def test_what_puts_nothing_right_leaves_it(tmp_path: Path, said: str, then: str) -> None:
    """Adverbs, other things, and words that were not said before."""
    before = await _standing(tmp_path / "before", said)
    after = await _standing(tmp_path / "after", said, then)
    assert before
    assert before <= after


def test_who_likes_one_and_not_the_other_corrects_nobody() -> None:
    """A sentence with a verb is a statement of its own."""
    assert [one.text for one in stated("I like tea, not coffee.", "Sam")]
    assert not only_corrects("I like tea, not coffee.")
    assert not only_corrects("Anna drinks tea, not coffee.")
    assert only_corrects("Tom, not Tim.")
    assert not only_corrects("I'm vegan, sorry.")


@pytest.mark.parametrize(
    ("reply", "is_right"),
    [
        ("Nice! How old is tim?", True),
        ("Got it.", True),
        ("Is he called tim or tom?", False),
        ("What would you like to call him?", False),
    ],
)
async def test_an_answer_puts_nothing_right(tmp_path: Path, reply: str, *, is_right: bool) -> None:
    """Of both words, or of neither, it was asked; the wrong one alone was taken up."""
    said = "my son's name is tim."
    before = await _standing(tmp_path / "before", said, reply=reply)
    after = await _standing(tmp_path / "after", said, "tom, not tim.", reply=reply)
    assert before
    assert (before <= after) is not is_right


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("I live in Bremen. Sorry, I meant Bergen.", "sam lives in Bergen"),
        ("My son is called Leo. Typo, I meant Theo.", "sam's son is called Theo"),
        ("I play the violin. Actually it's the viola.", "sam plays the viola"),
        ("I was born in 1984. Let me correct that: 1985.", "sam was born in 1985"),
        ("The budget is 40,000 euros. My mistake, 45,000.", "the budget is 45,000 euros"),
    ],
)
async def test_what_a_message_puts_right_itself_is_held_as_it_was_meant(
    tmp_path: Path, said: str, held: str
) -> None:
    """Only the right word is learnt, and the wrong one of nobody."""
    assert await _standing(tmp_path, said) == {held}


async def test_a_past_value_takes_the_place_of_none(tmp_path: Path) -> None:
    """What was so once stands beside what is so."""
    held = await _standing(tmp_path, "My dose is 20 mg.", "My dose was 10 mg in October.")
    assert "sam's dose is 20 mg" in held


async def test_what_ends_nothing_known_is_no_news(tmp_path: Path) -> None:
    """Who left a building that nobody knows of has said nothing to be kept."""
    assert await _standing(tmp_path, "I left Siemens.") == set()


async def test_small_letters_begin_sentences_too(tmp_path: Path) -> None:
    """Who types on without capitals has said the second thing by itself."""
    said = "Dropped the Pixel in the lake. my phone is an iPhone 15 now"
    assert "sam's phone is an iPhone 15" in await _standing(tmp_path, said)


async def _once(home: Path, *said: str, core: bool = False) -> tuple[set[str], set[str], set[str]]:
    """Say something turn by turn; return what a question to the past finds, what stands, and core.

    With ``core``, what the first turn taught is core before the next.
    """
    async with running(home) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("aide", user_id="sam", topics={"*"})
        for number, text in enumerate(said):
            turn = await agent.turn(text)
            await turn.reply("Okay.")
            await ezra.drain_learning()
            for fact in (await graph.latest_facts()).rows if core and not number else ():
                await graph.promote(fact.id, reason="it matters")
        found = await agent.recall("Where did sam live previously?", kinds=("fact",))
        stands = (await graph.latest_facts()).rows
        in_core = {fact.text for fact in stands if fact.tier == "core"}
        return {hit.text for hit in found.items}, {fact.text for fact in stands}, in_core


@pytest.mark.parametrize(
    "right",
    [
        "Sorry, I meant Bergen.",
        "Correction: I live in Bergen.",
        "I made a mistake, I live in Bergen.",
        "I live in Bergen. Bremen was a typo.",
        "I don't live in Bremen, I live in Bergen.",
    ],
)
async def test_what_was_corrected_is_not_told_as_the_past(tmp_path: Path, right: str) -> None:
    """It never was so, and what is right takes its place in core, too."""
    once, stands, core = await _once(tmp_path, "I live in Bremen.", right, core=True)
    assert "sam lives in Bremen" not in once | stands
    assert stands == core == {"sam lives in Bergen"}


@pytest.mark.parametrize(
    "news",
    [
        "I moved to Bergen last week.",
        "I live in Bergen now.",
        "I don't live in Bremen any more, I live in Bergen.",
        "I don't live in Bremen.",
        "Actually, I live in Bergen now.",
    ],
)
async def test_what_has_changed_is_told_as_the_past(tmp_path: Path, news: str) -> None:
    """What is over was so once; a denial of now tells nothing of that."""
    once, stands, _ = await _once(tmp_path, "I live in Bremen.", news)
    assert "sam lives in Bremen" in once - stands


async def test_what_is_said_of_one_named_before_is_no_correction(tmp_path: Path) -> None:
    """Though it rests on the turn that named them as well."""
    said = ("My sister Eva lives in Bremen.", "She lives in Bergen now.")
    once, stands, _ = await _once(tmp_path, *said)
    assert any("Bremen" in text for text in once - stands)


async def test_of_what_there_may_be_several_the_wrong_one_is_denied(tmp_path: Path) -> None:
    """Who owns to a mistake has no second allergy told."""
    said = "Noah is allergic to peanuts.", "I got that wrong. Noah is allergic to cashews."
    held = await _standing(tmp_path, *said)
    assert "Noah is allergic to cashews" in held
    assert "Noah is allergic to peanuts" not in held


async def test_what_is_done_otherwise_by_name_or_number_is_news(tmp_path: Path) -> None:
    """Though nothing was known of it before."""
    assert await _standing(tmp_path, "My salary goes to Monzo now.") == {
        "sam's salary goes to Monzo now"
    }
