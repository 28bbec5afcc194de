"""Questions that are kept to some records, and histories read page by page, through both doors."""

from __future__ import annotations

from typing import Any

import pytest

from tiers.errors import UsageError
from tiers.recollection import Place


async def test_recall_is_kept_to_the_records_that_are_named(runtime: Any) -> None:
    """However much fits better beside them; of what one does not see it shows nothing."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("one", topics={"tyres"})
    other = await graph.spawn_agent("two", topics={"fuel"})
    ids = [await agent.remember(f"Mediums on lap {n}: mediums, mediums.") for n in range(130)]
    worst = await agent.remember("Whoever asks about mediums gets this one last, one would think.")
    hidden = await other.remember("Mediums cost fuel.")
    found = await agent.recall("mediums", ids=[worst, ids[3], hidden, "nobody"])
    assert {hit.id for hit in found.items} == {worst, ids[3]}
    assert [hit.id for hit in (await agent.recall("mediums", ids=[worst], limit=1)).items] == [
        worst
    ]
    for mode in ("keyword", "hybrid"):
        among = await graph.recall("mediums", ids=[hidden, worst], mode=mode)
        assert {hit.id for hit in among.items} == {hidden, worst}
    assert (await agent.recall("mediums", ids=[worst], kinds=("turn",))).items == ()
    for wrong in ("abc", [""], ["\x00"], [str(n) for n in range(1_001)]):
        with pytest.raises(UsageError, match="ids"):
            await agent.recall("mediums", ids=wrong)


async def test_a_receipt_says_to_which_records_a_question_was_kept(runtime: Any) -> None:
    """And a replay asks the same question again."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("one", topics={"tyres"})
    first, second = [await agent.remember(f"Mediums, {n} of two.") for n in ("one", "two")]
    found = await agent.recall("mediums", ids=[second], receipt=True)
    receipt = await graph.receipt(found.receipt_id)
    assert receipt.body["arguments"]["ids"] == [second]
    replayed = await graph.replay_context(found.receipt_id, today=True)
    assert replayed is not None
    assert first not in repr(replayed)


async def test_a_history_is_read_page_by_page(runtime: Any) -> None:
    """After the place at which the page before ended; with what has ended, or without."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("one", topics={"tyres"})
    for n in range(5):
        await agent.knowledge.update("mediums", "last at", f"{n} laps")
    whole = await agent.knowledge.history("mediums")
    seen: list[Any] = []
    behind: Place | None = None
    while page := await agent.knowledge.history("mediums", limit=2, behind=behind):
        seen += page
        behind = Place(page[-1].recorded_at, page[-1].id)
    assert seen == list(whole)
    live = await graph.knowledge.history("mediums", "last at", live_only=True)
    assert [one.object for one in live] == ["4 laps"]
    naive = Place(whole[0].recorded_at.replace(tzinfo=None), whole[0].id)
    with pytest.raises(UsageError, match="behind"):
        await agent.knowledge.history("mediums", behind=naive)
