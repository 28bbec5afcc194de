"""What somebody asks not to save, plays or hands over is not heard by whoever learns from it."""

from __future__ import annotations

import pytest
from support.records import turn

from metaagents.learning.candidates import Window, by_patterns
from metaagents.learning.confidences import without_confidences
from metaagents.learning.withheld import PLAY_TURNS_MAX, learnable
from tiers.records import ToolOutput, Turn

WIFE = "My wife Anna is pregnant."


def heard(*said: str) -> list[str]:
    """Return what is heard of Ada's messages."""
    turns = [turn(number, text, speaker="ada") for number, text in enumerate(said, 1)]
    return [one.input for one in learnable(turns)]


def learnt(*said: str) -> list[str]:
    """Return what is learnt of Ada's messages."""
    turns = tuple(turn(number, text, speaker="ada") for number, text in enumerate(said, 1))
    return [one.said.text for one in by_patterns(Window(learnable(turns)))]


@pytest.mark.parametrize(
    "said",
    [
        "Please don't save this, but my wife Anna is pregnant.",
        "Don\u2019t save this: my wife Anna is pregnant.",
        "Off the record, I am leaving Siemens in May 2027.",
        "I am leaving Siemens in May 2027, off the record.",
        "Between us: I have two kids in Oslo.",
        "And this is just between you and me, I have two houses.",
        "Let's keep this between ourselves: I got the job at Bosch.",
        "Don't tell anybody, but I have epilepsy.",
        "This is a secret: my brother is gay.",
        "Can you keep a secret? My brother is gay.",
        "It's a secret, but I bought a boat.",
        "In confidence, I'm moving to Oslo.",
        "Confidential: I earn 90,000 euros.",
        "Not for the record: I earn 90,000 euros.",
        "Do not store this in your memory. My locker number is 1234.",
        "Hey, don't write this down, but I'm moving to Oslo.",
        "I'd rather you didn't save this, but I am divorced.",
        # At its end a request covers the message.
        f"{WIFE} Don't remember this.",
        f"{WIFE} This stays between us.",
        f"{WIFE} Forget I said that.",
        "My wife Anna is pregnant, but keep this to yourself.",
        "My wife Anna is pregnant (don't tell anyone).",
    ],
)
def test_of_a_message_that_asks_not_to_be_saved_nothing_is_heard(said: str) -> None:
    """However it is asked, and on whichever side of what it is asked of."""
    assert heard(said) == [""]


@pytest.mark.parametrize(
    "said",
    [
        "Don't save files to the desktop.",
        "Don't save this file to the desktop.",
        "Never save it on the desktop.",
        "We keep secrets in Vault.",
        "We keep it private on GitHub.",
        "We never store this data in the EU.",
        "The token is a secret.",
        "This is a secret key of the staging server.",
        "Customer data is confidential: do not share it.",
        "Our contract with Bosch is confidential.",
        "Never share that with anybody outside the team.",
        "Don't tell anyone your password.",
        "Don't mention anybody by name in the release notes.",
        "Don't keep it in the fridge.",
        "We don't record this meeting.",
        "Between us we have five kids.",
        "I share an office between two teams.",
        "I don't remember this.",
        "I forgot that I said that.",
        "Don't forget that I said I am vegan.",
        "Forget the old address, I live in Bonn now.",
        "The minister spoke off the record.",
        "The CEO told us off the record.",
        "Secret Santa is on 20 December.",
    ],
)
def test_what_only_speaks_of_saving_and_secrets_is_heard(said: str) -> None:
    """Rules of a business are no requests to the memory."""
    assert without_confidences(said) == (said, "")


def test_a_request_covers_the_rest_of_its_message_and_not_what_was_said_before_it() -> None:
    """One that opens a sentence and goes on says of what it is."""
    asked = "Please don't save this, but my wife Anna is pregnant. She is due in May."
    assert heard(f"I live in Bonn. {asked}", "I work at Bosch.") == [
        "I live in Bonn.",
        "I work at Bosch.",
    ]
    assert learnt(f"I live in Bonn. {asked}") == ["ada lives in Bonn"]


@pytest.mark.parametrize(
    "request_",
    [
        "Forget I said that.",
        "Please forget what I just said.",
        "Can you delete what I just told you?",
        "Ignore my last message.",
        "Pretend I never said that.",
        "Don't save that, please.",
        "That stays between us.",
        "That was off the record.",
    ],
)
def test_a_request_alone_of_what_was_said_covers_the_message_before_it(request_: str) -> None:
    """Of the same speaker; what was said in between by somebody else stands."""
    turns = [
        turn(1, "I live in Bonn.", speaker="ada"),
        turn(2, WIFE, speaker="ada"),
        turn(3, "I live in Mainz.", speaker="ben"),
        turn(4, request_, speaker="ada"),
    ]
    heard_ = [one.input for one in learnable(turns)]
    assert heard_ == ["I live in Bonn.", "", "I live in Mainz.", ""]


def test_what_follows_a_request_to_forget_is_heard() -> None:
    """And what follows one that announces a secret is not."""
    assert heard(WIFE, "Forget what I just said. I live in Bonn.") == ["", "I live in Bonn."]
    assert heard("Off the record:", WIFE, "I live in Bonn.") == ["", "", "I live in Bonn."]
    assert heard("The following is confidential:", WIFE) == ["", ""]


def test_a_reply_and_tools_that_may_repeat_a_secret_are_not_heard() -> None:
    """A model that reads the turn would have it from them; another turn keeps its own."""
    secret = turn(
        1,
        f"I live in Bonn. Don't save this: {WIFE}",
        response="Congratulations to Anna!",
        tool_outputs=(ToolOutput(tool="diary", output="Anna: pregnant"),),
    )
    other = turn(2, "I work at Bosch.", response="Noted.")
    only, same = learnable([secret, other])
    assert (only.input, only.response, only.tool_outputs) == ("I live in Bonn.", "", ())
    assert same is other


def test_silence_before_a_secret_gives_what_follows_no_meaning() -> None:
    """Whom somebody left out named is nobody to whom "she" points."""
    turns: tuple[Turn, ...] = (
        turn(1, f"Between us: {WIFE}", speaker="ada"),
        turn(2, "She works at Bosch.", speaker="ada"),
    )
    assert by_patterns(Window(learnable(turns))) == []


@pytest.mark.parametrize(
    "said",
    [
        "Let's role-play. You are a dragon, I'm a knight.",
        "Role-play: you are a doctor.",
        "Can we roleplay a job interview?",
        "I'd like to role-play a difficult conversation.",
        "Let's do a mock interview.",
        "Can you help me practise for my interview at Bosch?",
        "Please act as an interviewer for a nurse job.",
        "Interview me for the job.",
        "Let's rehearse the negotiation with my boss.",
        "Let's play a text adventure.",
        "Let's play 20 questions.",
        "Let's play Dungeons & Dragons, I'm an elf.",
        "You be the doctor and I'll be the patient.",
        "I'll play the role of a spy.",
        "Let's pretend we are on Mars.",
        "Let's write a story together.",
        "For the rest of this game, I'm a pirate.",
    ],
)
def test_what_is_said_in_a_play_is_not_heard_until_it_is_over(said: str) -> None:
    """In words, and the words behind them are meant; or after so many turns."""
    horse, home = "My horse is called Thunder.", "I live in Bonn."
    assert heard(said, horse, f"OK, back to reality: {home}", home) == ["", "", home, home]
    long = heard(said, *[horse] * (PLAY_TURNS_MAX + 1))
    assert long == [""] * (PLAY_TURNS_MAX + 1) + [horse]


@pytest.mark.parametrize(
    "over",
    [
        "End of the role-play. ",
        "Stop the game, ",
        "Let's stop playing. ",
        "Game over, ",
        "The interview is over. ",
        "Enough of the game! ",
    ],
)
def test_a_play_is_ended_in_words(over: str) -> None:
    """What is said with them is meant."""
    said = ("Let's play a game.", "I live in a castle.", f"{over}I live in Bonn.")
    assert learnt(*said) == ["ada lives in Bonn"]


@pytest.mark.parametrize(
    "said",
    [
        "Let's play it safe.",
        "Let's play tennis on Friday.",
        "Let's play a game of tennis on Friday at 5.",
        "I play chess.",
        "I play the guitar in a band.",
        "I love role-play.",
        "I enjoy role-playing games.",
        "We role-play every Friday.",
        "I had a mock interview yesterday.",
        "I have an interview at Bosch on Monday.",
        "I practise the piano every day.",
        "I work on a text adventure game.",
        "My son plays the role of Peter Pan.",
        "You are a genius, I'm impressed.",
        "Act as a senior engineer and review the code.",
        "Let's pretend this never happened.",
        "Let's write a user story for login.",
        "I'm writing a novel.",
        "I wrote a cover letter yesterday.",
        "I translate novels from Polish.",
        "I review code every Friday.",
        "Translate this: I live in Paris.",
        "Please check the letter I sent you.",
        "Check this out!",
        "A few things about me:",
        "Here is my address:",
        "My e-mail:",
    ],
)
def test_after_ordinary_talk_the_next_message_is_heard(said: str) -> None:
    """Games that are played on a court, work that is done, and lists about oneself."""
    assert heard(said, "I live in Bonn.") == [said, "I live in Bonn."]


@pytest.mark.parametrize(
    "said",
    [
        "I'm writing a novel in the first person. Here is the opening:",
        "Here's my cover letter:",
        "This is the letter I got:",
        "What do you think of this paragraph:",
        "Please rewrite the following in a formal tone:",
        "Help me polish this cover letter.",
        "I need help with my cover letter.",
        "Can you proofread my essay? Thanks!",
        "Could you check this e-mail to my boss?",
        "Translate this to French.",
        "Summarise this for me, please.",
        "Give me feedback on this poem.",
    ],
)
def test_a_text_that_was_announced_is_the_next_message_and_no_other(said: str) -> None:
    """Of the same speaker: somebody else talks on."""
    letter, home = "I have worked at Siemens for ten years.", "I live in Bonn."
    assert heard(said, letter, home) == [said, "", home]
    turns = [turn(1, said, speaker="ada"), turn(2, home, speaker="ben"), turn(3, letter)]
    assert [one.input for one in learnable(turns)] == [said, home, letter]
