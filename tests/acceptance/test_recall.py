"""One recall over everything: AT-01, AT-02, AT-03, AT-05, AT-12, MA-03, BR-02, EZ-06, EZ-11."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.many_turns import fill, ids_of, say
from support.model_http import KEY, Fault, ModelServer, running_model_server
from support.reranking import answering
from support.runtime import MovingClock, running

from ezra import Agent, Ezra, Fact, Rule, UsageError

MONDAY = datetime(2026, 5, 11, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def model_server() -> Iterator[ModelServer]:
    """A stand-in for providers over real HTTP, for the tests of this file."""
    with running_model_server() as server:
        yield server


async def gearbox_house(ezra: Ezra, clock: MovingClock) -> tuple[Agent, dict[str, str]]:
    """Let an agent leave the word in every kind of record; return it and an id of each kind."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("mechanic", topics={"car"})
    left: dict[str, str] = {}
    for number in range(4):
        await say(agent, f"The gearbox was opened for check {number}.")
    await ezra.run_lifecycle_tick("imola")
    (left["summary"], *_) = [one.id for one in await graph.summaries()]
    clock.move(hours=23, minutes=30)
    await ezra.run_lifecycle_tick("imola")
    left["episode"] = (await graph.episodes(grain="daily"))[0].id
    output = {"tool": "sensor", "output": "gearbox oil at 131 degrees"}
    left["turn"] = (await say(agent, "Read the sensor.", "Done.", [output])).id
    left["fact"] = await agent.remember("Gearbox seals last 9 races.")
    left["rule"] = await agent.remember(Rule(trigger="gearbox jams", steps=("Cool it.",)))
    left["belief"] = (await agent.commit("We change the gearbox on Sunday.")).id
    return agent, left


async def test_at_01_every_kind_comes_from_one_call(tmp_path: Path) -> None:
    """Each record is an answer or folded into one; asked for alone, each kind comes as itself."""
    clock = MovingClock()
    async with running(tmp_path, clock, ring_capacity=1, turns_per_summary=2) as ezra:
        agent, left = await gearbox_house(ezra, clock)
        found = await agent.recall("gearbox", limit=50)
        told = {one for hit in found.items for one in (hit.id, *hit.folded)}
        assert set(left.values()) <= told
        assert len(ids_of(found.items)) == len(set(ids_of(found.items)))
        assert set(found.tiers_used) >= {"hot", "cold"}
        for kind, record_id in left.items():
            alone = (await agent.recall("gearbox", kinds=(kind,), limit=50)).items
            assert record_id in ids_of(alone), kind
            assert {hit.kind for hit in alone} == {kind}
        (output,) = (await agent.recall("gearbox oil", kinds=("tool_output",))).items
        assert (output.id, output.kind) == (left["turn"], "tool_output")
        assert output.text == "sensor: gearbox oil at 131 degrees"


async def test_at_02_meaning_and_words_answer_together(tmp_path: Path) -> None:
    """What shares no word and what has the rare word are both among the first, each by its leg."""
    async with running(tmp_path, embedder="required") as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a", topics={"t"})
        meant = await agent.remember("The physician prescribed antibiotics for her infection.")
        worded = await agent.remember("Form ZX-81 is kept in the blue folder.")
        for number in range(12):
            await agent.remember(f"Stand {number} sells ice cream and lemonade.")
        await ezra.drain_learning()
        asked = "Which medicine did the doctor give her, and where is ZX-81?"
        found = await agent.recall(asked, limit=2, explain=True)
        assert set(ids_of(found.items)) == {meant, worded}
        assert "words" not in found.reasons[meant].ranks
        assert "meaning" in found.reasons[meant].ranks
        assert "words" in found.reasons[worded].ranks
        assert (found.degraded, found.rerank_used) == ((), False)


async def test_at_02_a_reranker_moves_and_its_failure_keeps_the_order(
    tmp_path: Path, model_server: ModelServer
) -> None:
    """Over real HTTP: it is asked unless it is not wanted, and its failure is named."""
    model_server.reset()
    model_server.always = answering(model_server)
    at = {"rerank_url": f"{model_server.url}/tei", "rerank_api_key": KEY}
    async with running(tmp_path, **at, rerank_timeout_seconds=1.0) as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a", topics={"t"})
        plans = {
            one: await agent.remember(f"Plan {one} is the pit plan {one}.") for one in range(6)
        }
        fused = await agent.recall("pit plan", rerank=False)
        assert (model_server.seen, fused.rerank_used) == ([], False)
        moved = await agent.recall("pit plan")
        assert moved.rerank_used
        assert ids_of(moved.items)[0] == plans[5]
        assert ids_of(moved.items) != ids_of(fused.items)
        assert "rerank" not in moved.degraded
        model_server.always = Fault(status=503)
        failed = await agent.recall("pit plan")
        assert ids_of(failed.items) == ids_of(fused.items)
        assert not failed.rerank_used
        assert "rerank" in failed.degraded
        assert any(reason.startswith("rerank: ") for reason in failed.skipped)


async def test_at_03_a_turn_recalls_by_the_users_own_words(tmp_path: Path) -> None:
    """Version numbers and error codes, among many like them, reach the context of the turn."""
    async with running(tmp_path) as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a", topics={"t"})
        for number in range(30):
            await agent.remember(f"Release 3.{number} fixed error E{5000 + number} of the parser.")
        code = await agent.remember("E4711 of the loader means that the certificate is stale.")
        version = await agent.remember("Since 7.41 the loader checks the whole chain.")
        turn = await agent.turn("The loader says E4711 since 7.41")
        shown = {one for slot in turn.slots for one in slot.source_ids}
        assert {code, version} <= shown
        closed = await agent.remember("Trattoria Gusto is closed on Tuesdays.")
        long = "We had guests all week, and the children sang. " * 3
        turn = await agent.turn(f"{long}Could you book a table at Trattoria Gusto? {long}")
        assert closed in {one for slot in turn.slots for one in slot.source_ids}
        assert ids_of((await agent.recall("What is E5017?", limit=1)).items) == ids_of(
            (await agent.recall("error E5017", limit=1)).items
        )
        assert "E5017" in (await agent.recall("What is E5017?", limit=1)).items[0].text


async def test_at_05_of_the_same_words_the_younger_come_first(tmp_path: Path) -> None:
    """Turns by when they were said, whatever the order of writing; of facts one stands for both."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        said = "The boiler makes a whistling noise."
        young = await say(agent, said, at=clock() - timedelta(days=300))
        old = await say(agent, said, at=clock() - timedelta(days=3000))
        older = await say(agent, said, at=clock() - timedelta(days=9000))
        found = await agent.recall("boiler noise", explain=True)
        assert ids_of(found.items) == [young.id, old.id, older.id]
        assert found.items[0].score > found.items[1].score > found.items[2].score
        factor = found.reasons[old.id].factors["decay"]
        faded = (3000 - 300 - 180) / 1825
        assert factor == pytest.approx(math.exp(-math.log(2) * faded**2), abs=1e-3)
        first = await agent.remember("The attic has a leak.")
        clock.move(days=1000)
        again = await graph.spawn_agent("b", topics={"t"})
        second = await again.remember("The attic has a leak.")
        (one,) = (await graph.recall("attic leak", kinds=("fact",))).items
        assert (one.id, one.folded) == (second, (first,))


async def test_at_05_use_lifts_and_what_is_over_sinks(tmp_path: Path) -> None:
    """Facts that reached contexts come first; one whose time is over does not, however new."""
    clock = MovingClock()
    async with running(tmp_path, clock, promote_at_uses=100) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        unused = await agent.remember("Mediums last 18 laps at Imola.")
        used = await agent.remember("Mediums last 18 laps at Monza.")
        assert ids_of((await agent.recall("How long do mediums last?")).items) == [unused, used]
        for _ in range(3):
            await agent.turn("And Monza?")
        await ezra.drain_learning()
        found = await agent.recall("How long do mediums last?", explain=True)
        assert ids_of(found.items) == [used, unused]
        assert found.reasons[used].factors["uses"] == pytest.approx(1 + 0.2 * math.log10(4))
        standing = await agent.remember("The chief engineer is called Ada.")
        clock.move(days=1)
        over = Fact(
            text="The chief engineer is called Bob.",
            valid_from=MONDAY - timedelta(days=900),
            valid_to=MONDAY - timedelta(days=800),
        )
        past = await agent.remember(over)
        found = await agent.recall("Who is the chief engineer?", kinds=("fact",), explain=True)
        assert ids_of(found.items)[:2] == [standing, past]
        assert found.reasons[past].factors["validity"] < 1
        assert found.items[1].valid_to == MONDAY - timedelta(days=800)


async def test_at_05_a_fact_says_the_same_whatever_found_it(tmp_path: Path) -> None:
    """When it holds and how often it was used: the index, which finds it by meaning, knows neither.

    One that is over counts less, and says so, where no word of the question is in it.
    """
    clock = MovingClock()
    async with running(tmp_path, clock, embedder="required", promote_at_uses=100) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        begun, ended = MONDAY - timedelta(days=900), MONDAY - timedelta(days=800)
        held = Fact(text="The physician prescribed antibiotics.", valid_from=begun, valid_to=ended)
        over = await agent.remember(held)
        for number in range(4):
            await agent.remember(f"Stand {number} sells lemonade.")
        await agent.turn("What did the physician prescribe?")
        await ezra.drain_learning()
        worded = await agent.recall("physician antibiotics", mode="keyword")
        meant = await agent.recall("Which medicine?", mode="semantic", explain=True)
        known, found = worded.items[0], next(hit for hit in meant.items if hit.id == over)
        assert (found.tier, found.valid_from, found.valid_to) == ("warm", begun, ended)
        assert (found.uses, found.last_used_at) == (known.uses, known.last_used_at)
        assert (found.uses, known.valid_to) == (1, ended)
        assert meant.reasons[over].factors["validity"] < 1


async def test_at_12_what_was_just_written_is_recalled_before_any_indexing(tmp_path: Path) -> None:
    """By others of the graph too, every kind; nothing has run in the background."""
    async with running(tmp_path, embedder="required") as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        other = await graph.spawn_agent("b", topics={"t"})
        turn = await agent.turn("The quokka sleeps in box nine.")
        output = {"tool": "camera", "output": "one wombat at the gate"}
        said = (await turn.reply("Noted, box nine.", [output])).turn.id
        fact = await agent.remember("A numbat eats termites.")
        rule = await agent.remember(Rule(trigger="bilby escapes", steps=("Close the gate.",)))
        belief = await agent.commit("The potoroo is pregnant.")
        assert (await ezra.waiting_work())["index"] >= 4
        for reader in (agent, other, graph):
            for word, record_id in (
                ("quokka", said), ("wombat", said), ("numbat", fact), ("bilby", rule),
                ("potoroo", belief.id),
            ):  # fmt: skip
                first = (await reader.recall(f"Where is the {word}?")).items[0]
                assert first.id == record_id, word
        shown = (await other.turn("Where does the quokka sleep, and what eats a numbat?")).slots
        assert fact in {one for slot in shown for one in slot.source_ids}


async def test_ma_03_the_answer_says_who_took_part(tmp_path: Path) -> None:
    """Words are complete at once and marked so; vectors follow with the work."""
    async with running(tmp_path, embedder="required") as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        await agent.remember("The kettle whistles.")
        before = await agent.recall("kettle")
        assert [(hit.words_only, hit.tier) for hit in before.items] == [(True, "cold")]
        assert (before.degraded, before.rerank_used) == ((), False)
        assert before.model_id
        await ezra.drain_learning()
        after = await agent.recall("kettle", explain=True)
        (hit,) = after.items
        assert not hit.words_only
        assert "meaning" in after.reasons[hit.id].ranks
        assert set(after.tiers_used) == {"hot", "warm", "cold"}


async def test_ma_03_without_a_model_words_answer_and_it_is_said(tmp_path: Path) -> None:
    """``dense`` is named as missing, with the reason, and receipts of turns say it too (EZ-11)."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        fact = await agent.remember("The kettle whistles.")
        found = await agent.recall("kettle")
        assert (ids_of(found.items), found.degraded, found.model_id) == ([fact], ("dense",), None)
        assert found.skipped == ("dense: no embedding model is installed",)
        meant = await agent.recall("kettle", mode="semantic")
        assert meant.degraded == ("dense",)
        assert meant.items == ()


async def test_br_02_modes_and_half_life(tmp_path: Path) -> None:
    """Keyword asks words alone, semantic meaning alone, hybrid both; the half-life is a setting."""
    clock = MovingClock()
    settings = {"recall_half_life_days": 45, "recall_decay_offset_days": 0}
    async with running(tmp_path, clock, embedder="required", **settings) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        meant = await agent.remember("The physician prescribed antibiotics.")
        worded = await agent.remember("Doctor is the name of the yellow boat.")
        for number in range(8):
            await agent.remember(f"Stand {number} sells lemonade.")
        await ezra.drain_learning()
        asked = "Which medicine did the doctor give?"
        keyword = await agent.recall(asked, mode="keyword", explain=True)
        assert ids_of(keyword.items) == [worded]
        assert (keyword.degraded, keyword.model_id) == ((), None)
        semantic = await agent.recall(asked, mode="semantic", explain=True)
        assert ids_of(semantic.items)[0] == meant
        assert all("words" not in one.parts for one in semantic.reasons.values())
        assert set(ids_of((await agent.recall(asked, limit=2)).items)) == {meant, worded}
        with pytest.raises(UsageError, match="mode"):
            await agent.recall(asked, mode="fuzzy")
        old = await say(agent, "The winch is rusty.", at=clock() - timedelta(days=45))
        new = await say(agent, "The anchor is rusty.")
        found = await agent.recall("rusty", kinds=("turn",), mode="keyword", explain=True)
        assert ids_of(found.items) == [new.id, old.id]
        assert found.reasons[old.id].factors["decay"] == pytest.approx(0.5, abs=1e-3)


async def test_br_02_topics_narrow_and_never_widen(tmp_path: Path) -> None:
    """Of what the agent sees only the named topics; a topic that it lacks finds nothing."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"tyres", "fuel"})
        other = await graph.spawn_agent("b", topics={"money"})
        tyres = await agent.remember("The budget of grip is spent.", topics={"tyres"})
        fuel = await agent.remember("The budget of fuel is 100 kg.", topics={"fuel"})
        money = await other.remember("The budget is 3 million.")
        turn = await say(agent, "What about the budget?", topics={"tyres"})
        asked = "budget"
        assert set(ids_of((await agent.recall(asked)).items)) == {tyres, fuel, turn.id}
        assert set(ids_of((await agent.recall(asked, topics=["tyres"])).items)) == {tyres, turn.id}
        assert (await agent.recall(asked, topics=["money"])).items == ()
        assert ids_of((await graph.recall(asked, topics=["money"])).items) == [money]


async def test_ez_06_and_ez_11_a_turn_counts_what_it_was_given_and_says_what_is_missing(
    tmp_path: Path,
) -> None:
    """Recall counts nothing; the turn counts once, and its receipt names what did not take part."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        fact = await agent.remember("The lighthouse has 214 steps.")
        for mode in ("hybrid", "keyword"):
            await agent.recall("lighthouse steps", mode=mode)
        turn = await agent.turn("How many steps has the lighthouse?")
        assert fact in {one for slot in turn.slots for one in slot.source_ids}
        await ezra.drain_learning()
        (stored,) = await graph.facts([fact])
        assert stored.uses == 1
        receipt = await graph.receipt(str(turn.receipt_id))
        assert receipt.body["degraded"] == ["dense"]


async def test_receipts_explanations_and_budgets_of_a_recall(tmp_path: Path) -> None:
    """The parts add up, the factors multiply, the budget cuts, and the receipt rebuilds exactly."""
    clock = MovingClock()
    async with running(tmp_path, clock, embedder="required") as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"}, user_id="ada")
        await fill(ezra, agent, [f"Lap {lap}: the mediums lost {lap} tenths." for lap in range(20)])
        await agent.remember(Fact(text="Mediums last 18 laps.", valid_to=MONDAY))
        long = await agent.remember("Mediums " + "and so on " * 300)
        await agent.remember(Rule(trigger="mediums are worn", steps=("Box.",)))
        await agent.commit("Start on mediums.")
        await ezra.drain_learning()
        asked = "When were the mediums worn after 18 laps?"
        whole = await agent.recall(asked, limit=30, explain=True, receipt=True)
        assert set(whole.reasons) == set(ids_of(whole.items))
        for hit in whole.items:
            reason = whole.reasons[hit.id]
            product = max(0.0, sum(reason.parts.values())) * math.prod(reason.factors.values())
            assert hit.score == pytest.approx(product, abs=1e-6)
            assert reason.ranks or hit.kind == "turn"
        scores = [hit.score for hit in whole.items]
        assert scores == sorted(scores, reverse=True)
        cut = await agent.recall(asked, limit=30, token_budget=100, receipt=True)
        assert long not in ids_of(cut.items)
        assert set(cut.left_out) == set(ids_of(whole.items)) - set(ids_of(cut.items))
        assert 0 < len(cut.items) < len(whole.items)
        assert (await agent.recall(asked)).receipt_id is None
        clock.move(days=3)
        await agent.remember("Mediums last 21 laps.")
        await ezra.drain_learning()
        for found in (whole, cut):
            again = await graph.replay_context(str(found.receipt_id))
            assert again.is_exact, again.reason
            assert [slot.text for slot in again.slots] == [hit.text for hit in found.items]


@pytest.mark.parametrize("minutes", [1, 600])
async def test_r9_33_greetings_stand_behind_what_was_told(tmp_path: Path, minutes: int) -> None:
    """In one conversation as in several, where words alone decide: "morning" is no time told."""
    said = (
        "Hi", "Good morning, everybody!", "Rain stopped second practice at 15:42, red flag.",
        "Good morning…", "The medium tyres last about 18 laps.", "Thanks!",
        "Tamsin sprained his wrist in pit stop practice.", "Bye!",
    )  # fmt: skip
    async with running(tmp_path) as ezra:
        agent = await (await ezra.create_session_graph("imola")).spawn_agent("a")
        at = datetime(2026, 5, 22, 9, 0, tzinfo=UTC)
        for number, text in enumerate(said):
            turn = await agent.turn(
                text, speaker="user", at=at + timedelta(minutes=number * minutes)
            )
            await turn.reply("")
        question = "When did rain stop second practice at Imola?"
        found = await agent.recall(question, kinds=("turn",))
    texts = [hit.text.removeprefix("user: ").strip() for hit in found.items]
    assert texts[0] == said[2]
    told = [text for text in texts if text in (said[2], said[4], said[6])]
    assert texts[: len(told)] == told
