"""A context tells each sentence once, of the summaries, episodes and turns that were found."""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from support.records import START, hit

from ezra.turn.assemble import Context, Material, assemble
from ezra.turn.telling import telling_more
from metaagents.lifecycle.material import notes_in, without
from tiers.records import AgentRecord, Hit

AGENT = AgentRecord(tenant="acme", graph_id="imola", id="strategist", spawned_at=START)
GRAINS = {
    "month": "2026-05\n[2026-05-14] ada: The lamp flickers.\n[2026-05-20] ada: The wing is at 28.",
    "week": "2026-W20\n[2026-05-14] ada: The lamp flickers.",
    "day": "2026-05-14\n[2026-05-14 09:00] ada: The lamp flickers.",
    "later": "2026-05-21\n[2026-05-21 09:00] ada: The lamp flickers.",
}


def grains(*names: str) -> list[Hit]:
    """Return episodes with falling scores."""
    return [
        hit(name, 0.9 - place / 100, kind="episode", text=GRAINS[name])
        for place, name in enumerate(names)
    ]


def said(text: str, *, days: int = 0, speaker: str = "ada") -> Hit:
    """Return a turn of the fourteenth of May, or of so many days later."""
    at = START + timedelta(days=days)
    return hit(
        f"{speaker} {text} {days}", 0.5, text=f"{speaker}: {text}", speaker=speaker, occurred_at=at
    )


def told(context: Context) -> list[str]:
    """Return what stands of before in a context."""
    return [slot.text for slot in context.slots if slot.kind == "warm"]


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        (("day", "week"), ["day"]),
        (("week", "day"), ["week"]),
        (("month", "week", "day"), ["month"]),
        (("day", "month"), ["day", "month"]),
        (("day", "later"), ["day", "later"]),
    ],
)
def test_a_grain_that_tells_nothing_more_is_left_out(
    found: tuple[str, ...], kept: list[str]
) -> None:
    """The same sentence of another day is something else."""
    assert [one.id for one in telling_more(grains(*found), ())] == kept


@pytest.mark.parametrize(
    ("turn", "left"),
    [
        (said("The lamp flickers"), ["2026-05\n[2026-05-20] ada: The wing is at 28."]),
        (said("The lamp\n flickers.", days=6), [GRAINS["month"]]),
        (said("The lamp flickers.", speaker="bo"), [GRAINS["month"]]),
        (said("The lamp flickers. Or not?\nThe wing is at 28.", days=6), [
            "2026-05\n[2026-05-14] ada: The lamp flickers.",
        ]),
    ],
)  # fmt: skip
def test_a_turn_is_the_better_witness(turn: Hit, left: list[str]) -> None:
    """It stands as it was said, and a month beside it tells the rest, of other days and people."""
    context = assemble(
        Material(agent=AGENT, input="Wing?", said=[turn], warm=grains("month")), 1_000
    )
    assert told(context) == [turn.text, *left]
    assert context.tokens == sum(slot.tokens for slot in context.slots)


OIL = hit(
    "turn-1", 0.4, text="Ada: The oil reached 90 degrees. It was the pump! Thanks.", speaker="Ada"
)
BOX = hit("turn-2", 0.4, text="Ada: The box is shut.\nNoted.", speaker="Ada")


@pytest.mark.parametrize(
    ("summary", "turns", "shown"),
    [
        ("Ada: The oil reached 90 degrees. It was the pump.", [OIL, BOX], ["summary"]),
        ("Ada: The oil reached 90 degrees.", [OIL, BOX], ["turn", "turn", "summary"]),
        ("Ada: The oil was hot. It was the pump.", [OIL, BOX], ["turn", "turn", "summary"]),
        ("Ada: The oil reached 90 degrees. It was the pump.", [OIL], ["turn", "summary"]),
        ("Ada: The oil did not reach 90 degrees.", [BOX], ["turn", "summary"]),
    ],
)
def test_a_summary_stands_for_several_turns_where_it_says_the_same(
    summary: str, turns: list[Hit], shown: list[str]
) -> None:
    """A single turn, and what it left out, is shown as it was said."""
    text = f"[2026-05-14 09:00] {summary} The box is shut. The lamp flickers."
    made = hit("summary-1", 0.4, kind="summary", source_ids=("turn-1", "turn-2"), text=text)
    context = assemble(Material(agent=AGENT, input="Oil?", warm=[made], said=turns), 1_000)
    found = [slot for slot in context.slots if slot.kind == "warm"]
    assert [slot.record for slot in found] == shown
    assert [slot.text for slot in context.folded] == (
        [one.text for one in turns] if shown == ["summary"] else []
    )


def test_a_summary_stands_for_no_answer_that_it_left_out() -> None:
    """Of a question and its answer the answer is what counts."""
    oil = hit("turn-1", 0.4, text="Ada: How hot is the oil?\nIt reached 90 degrees.", speaker="Ada")
    text = "Ada: How hot? The box is shut."
    made = hit("summary-1", 0.4, kind="summary", source_ids=("turn-1", "turn-2"), text=text)
    context = assemble(Material(agent=AGENT, input="Oil?", warm=[made], said=[oil, BOX]), 1_000)
    assert oil.text in told(context)


def test_a_summary_of_which_the_turns_tell_everything_goes() -> None:
    """One turn for each of its sentences; where one has no room, the summary tells that."""
    turns = [said("The lamp flickers."), said("The wing is at 28.", days=6)]
    material = Material(agent=AGENT, input="Wing?", said=turns, warm=grains("month"))
    whole = assemble(material, 1_000)
    assert told(whole) == [one.text for one in turns]
    assert [slot.source_ids for slot in whole.folded] == [("month",)]
    assert telling_more(grains("month", "later"), turns) == grains("month", "later")[1:]

    filler = said("word " * 900)
    tight = assemble(
        Material(agent=AGENT, input="Wing?", said=[filler, *turns], warm=grains("month")), 1_000
    )
    assert set(told(tight)) >= {one.text for one in turns}


def test_of_a_week_and_its_month_the_month_tells_the_rest() -> None:
    """Whichever is better; what found no room tells nothing."""
    material = Material(agent=AGENT, input="Wing?", warm=grains("week", "month"))
    assert told(assemble(material, 1_000)) == [
        GRAINS["week"],
        "2026-05\n[2026-05-20] ada: The wing is at 28.",
    ]
    long = hit("long", 0.9, kind="summary", text=GRAINS["week"] + " word" * 3_000)
    material = Material(agent=AGENT, input="Wing?", warm=[long, *grains("month")])
    assert told(assemble(material, 1_000)) == [GRAINS["month"]]


def test_days_begin_where_the_reader_is() -> None:
    """A turn of the evening is of the next day elsewhere."""
    late = said("The lamp flickers.").model_copy(
        update={"occurred_at": START.replace(day=13, hour=20)}
    )
    zone = ZoneInfo("Pacific/Auckland")
    assert telling_more(grains("day"), [late], zone) == []
    assert telling_more(grains("day"), [late]) == grains("day")


@pytest.mark.parametrize(
    ("places", "left"),
    [
        ((), "2026-05\n[2026-05-14 09:00] ada: One. Two.\nbo: Three.\n[2026-05-20] Four."),
        ((0,), "2026-05\n[2026-05-14 09:00] ada: Two.\nbo: Three.\n[2026-05-20] Four."),
        ((0, 1), "2026-05\n[2026-05-14 09:00] bo: Three.\n[2026-05-20] Four."),
        ((0, 1, 2), "2026-05\n[2026-05-20] Four."),
        ((3,), "2026-05\n[2026-05-14 09:00] ada: One. Two.\nbo: Three."),
    ],
)
def test_what_is_left_keeps_its_day_and_its_speaker(places: tuple[int, ...], left: str) -> None:
    """A line that goes hands on when it was."""
    text = "2026-05\n[2026-05-14 09:00] ada: One. Two.\nbo: Three.\n[2026-05-20] Four."
    assert without(text, places) == left
    notes = notes_in(text, START)
    assert notes_in(left, START) == [one for place, one in enumerate(notes) if place not in places]
