"""Contexts that were laid out before outputs were shown, and usage that a provider reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.model_http import KEY, running_model_server
from support.model_providers import PROVIDERS, says
from support.runtime import running

from ezra.receipts.rebuilding import rebuild
from ezra.turn.assemble import messages_of
from ezra.turn.receipts import Seal
from ezra.turn.slots import LAYOUT, hot_slot
from tiers.forms import entry_of, shown_output
from tiers.records import Receipt, Scope, Turn

LOG = "lap 12 was slow\n" * 900
WHOLE = Scope.of_graph("default", "imola")


def as_it_was_kept(receipt: Receipt, turns: dict[str, Turn]) -> Receipt:
    """Return a receipt as layout 1 would have kept it: nothing of what tools returned."""
    seal = Seal(receipt.body["seal"]["salt"])
    slots: list[dict[str, Any]] = []
    for slot in receipt.body["slots"]:
        if slot["kind"] == "hot":
            text = hot_slot(turns[slot["source_ids"][0]], output_chars=None).text
            slots.append({**slot, "digest": seal.of_text(text)})
        else:
            slots.append(slot)
    said = [hot_slot(one, output_chars=None, layout=1) for one in turns.values()]
    system = {"role": "system", "content": receipt.body["slots"][0]["text"]}
    messages = [
        system,
        *(message for one in said for message in messages_of([one], 1)[1:]),
        {"role": "user", "content": receipt.query},
    ]
    seal_then = {**receipt.body["seal"], "digest": seal.of_messages(messages)}
    body = {**receipt.body, "layout": 1, "slots": slots, "seal": seal_then}
    return receipt.model_copy(update={"body": body})


async def test_contexts_of_the_first_layout_are_rebuilt_as_they_were(tmp_path: Path) -> None:
    """A receipt from before outputs were shown still gives its bytes, without the outputs."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"*"})
        outputs = [{"tool": "timing", "output": LOG}]
        stored = (await (await agent.turn("Read it.")).reply("Slow.", outputs)).turn
        turn = await agent.turn("Box?")
        receipt = await graph.receipt(str(turn.receipt_id))
        assert receipt.body["layout"] == LAYOUT
        now = await rebuild(ezra._runtime, WHOLE, receipt)
        then = await rebuild(ezra._runtime, WHOLE, as_it_was_kept(receipt, {stored.id: stored}))
        assert now.is_exact
        assert "timing" in now.messages[1]["content"]
        assert then.is_exact
        assert [one["content"] for one in then.messages[1:]] == ["Read it.", "Slow.", "Box?"]


async def test_recalls_from_before_previews_are_rebuilt_as_they_were(tmp_path: Path) -> None:
    """A turn that was shown with the beginning of its output is so again."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"*"})
        outputs = [{"tool": "timing", "output": LOG}]
        stored = (await (await agent.turn("Read it.")).reply("Slow.", outputs)).turn
        for kinds, text in (
            (("turn",), entry_of(stored).text),
            (("tool_output",), shown_output(stored.tool_outputs[0])),
        ):
            found = await agent.recall("slow lap", kinds=kinds, receipt=True)
            receipt = await graph.receipt(str(found.receipt_id))
            assert (await rebuild(ezra._runtime, WHOLE, receipt)).is_exact
            seal = Seal(receipt.body["seal"]["salt"])
            (slot,) = receipt.body["slots"]
            (shown,) = (await rebuild(ezra._runtime, WHOLE, receipt)).slots
            assert "read_tool_output" in shown.text
            old = shown.__class__(**{**shown.__dict__, "text": text})
            body = {
                **receipt.body,
                "slots": [{**slot, "digest": seal.of_text(text)}],
                "seal": {**receipt.body["seal"], "digest": seal.of_slots([old])},
            }
            again = await rebuild(ezra._runtime, WHOLE, receipt.model_copy(update={"body": body}))
            assert again.is_exact
            assert again.slots[0].text == text


async def test_what_a_provider_counts_decides_about_the_next_tail(tmp_path: Path) -> None:
    """``complete`` takes the usage from the answer, and not from an estimate."""
    with running_model_server() as server:
        provider = PROVIDERS[0]
        url = server.url if provider == "gemini" else f"{server.url}/open/v1"
        settings = {
            "llm": provider,
            f"{provider}_api_key": KEY,
            f"{provider}_base_url": url,
            "model_window_tokens": 300,
        }
        async with running(tmp_path, **settings) as ezra:
            graph = await ezra.create_session_graph("imola")
            agent = await graph.spawn_agent("guide", topics={"*"})
            server.answers.append(says(provider, "About 18."))
            done = await agent.complete("word " * 260)
            tail = done.written.turn.tail
            assert tail is not None
            assert tail.is_reported
            assert tail.used_tokens == 16, "as the stand-in counts, which is less than we estimate"
            turn = await agent.turn("And now?")
            assert "reached by recall" not in turn.messages[0]["content"]
