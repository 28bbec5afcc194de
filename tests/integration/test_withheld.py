"""What a speaker keeps from memory is in no fact, with whatever the learner has read before."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runtime import running

WIFE = "My wife Anna is pregnant."


@pytest.mark.parametrize("is_read_turn_by_turn", [True, False])
@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        (("Please don't save this, but my wife Anna is pregnant.",), set()),
        (
            ("Let's role-play.", "I live in a castle.", "Game over. I own a boat."),
            {"ada owns a boat"},
        ),
        (("Help me polish this cover letter.", "I have worked at Siemens for ten years."), set()),
        (("Off the record:", WIFE, "I live in Bonn."), {"ada lives in Bonn"}),
    ],
)
async def test_what_is_kept_from_memory_is_learnt_in_no_pass(
    tmp_path: Path, said: tuple[str, ...], learnt: set[str], *, is_read_turn_by_turn: bool
) -> None:
    """Read turn by turn or all at once; the turns themselves stay as they were said."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("aide", topics={"*"}, user_id="ada")
        for text in said:
            turn = await agent.turn(text)
            await turn.reply("OK.")
            if is_read_turn_by_turn:
                await ezra.drain_learning()
        await ezra.drain_learning()
        assert {fact.text for fact in (await graph.latest_facts()).rows} == learnt
        kept = [one.input for one in await graph.turns("aide")]
        assert sorted(kept) == sorted(said)
