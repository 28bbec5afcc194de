"""Rows MA-01 to MA-04, MA-06 to MA-10, HE-06, AT-07 and AT-08, on a folder and through a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support.runtime import MovingClock, running
from support.servers import SERVERS_SLOWLY, on_servers
from support.service import DOORS, bearer, serving

from ezra import Ezra, Fact, NotFound, Rule, UsageError
from ezra.service.tokens import TokenFile
from ezra.wire.tools import agent_tools
from tiers.previews import elided
from tiers.records import Scope

pytestmark = pytest.mark.parametrize("door", DOORS)


@pytest.fixture(params=SERVERS_SLOWLY, autouse=True)
def tiers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the tiers are: as for every acceptance test, but servers in the long run only."""
    if request.param == "servers":
        on_servers(monkeypatch)
    return str(request.param)


LOG = "\n".join(
    f"line {number}: {'ERROR disk sda1 is full' if number == 900 else 'all is well'}"
    for number in range(2_000)
)


@dataclass
class Home:
    """A runtime, and what has its methods behind the chosen door."""

    behind: Ezra
    runtime: Any
    clock: MovingClock
    url: str = ""


@asynccontextmanager
async def home(
    folder: Path, door: str, clock: MovingClock | None = None, **settings: object
) -> AsyncIterator[Home]:
    """Open a runtime on a folder, itself or through a server over it."""
    clock = clock or MovingClock()
    async with AsyncExitStack() as stack:
        behind = await stack.enter_async_context(running(folder, clock, **settings))
        if door != "remote":
            yield Home(behind, behind, clock)
            return
        url = await stack.enter_async_context(serving(behind))
        remote = await stack.enter_async_context(Ezra.connect(url))
        yield Home(behind, remote, clock, url)


async def call(name: str, agent: Any, **arguments: Any) -> Any:
    """Call a tool as a model does, over the handle of either door."""
    (spec,) = [one for one in agent_tools() if one.name == name]
    return await spec.call(agent, arguments)


async def say(agent: Any, message: str, response: str = "So be it.", **more: Any) -> Any:
    """Let an agent have a turn; return what was written."""
    return (await (await agent.turn(message)).reply(response, **more)).turn


async def test_ma_01_one_tool_knows_kinds_by_the_names_of_platforms(
    tmp_path: Path, door: str
) -> None:
    """Source kinds, at most 20 of them, every scope; who is nobody is refused and not empty."""
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"*"}, user_id="jane")
        output = {"tool": "telemetry", "output": "Graining at turn four."}
        said = await say(agent, "Was there graining?", tool_outputs=[output])
        fact = (await agent.remember_fact("Graining begins at turn four.")).id
        for kind, expected in (("chat_message", said.id), ("tool_output", said.id), ("fact", fact)):
            found = await call("recall", agent, query="graining", source_kinds=[kind], top_k=20)
            assert [one.id for one in found.items] == [expected], kind
            assert found.total == 1
            same = await agent.recall("graining", kinds=(kind,))
            assert [one.id for one in same.items] == [expected]
        assert (await call("recall", agent, query="graining", kinds=["document_chunk"])).total == 0
        with pytest.raises(UsageError, match="less than or equal to 20"):
            await call("recall", agent, query="graining", top_k=21)
        with pytest.raises(UsageError, match="document"):
            await agent.recall("graining", kinds=("chat",))
        scopes = {"session": {said.id}, "user": {fact}, "agent": {fact}, "tenant": set()}
        for scope, expected_ids in scopes.items():
            found = await call("recall", agent, query="graining", scope=scope)
            assert {one.id for one in found.items} == expected_ids, scope
        nobody = await graph.spawn_agent("engineer", topics={"*"})
        with pytest.raises(UsageError, match="user_id"):
            await call("recall", nobody, query="graining", scope="user")


async def test_ma_02_a_class_of_weight_0_is_left_out_and_nonsense_counts_as_usual(
    tmp_path: Path, door: str
) -> None:
    """Weights come from the settings of whoever holds the memory."""
    settings = {"recall_weight_session": 0, "recall_weight_agent": "much"}
    async with home(tmp_path, door, **settings) as house:
        graph = await house.runtime.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"*"}, user_id="jane")
        await say(agent, "Was there graining?")
        fact = (await agent.remember_fact("Graining begins at turn four.", "agent")).id
        assert [one.id for one in (await agent.recall("graining")).items] == [fact]
        assert house.behind.settings.recall_weight_agent == 1.0


async def test_ma_03_the_answer_says_what_took_no_part(tmp_path: Path, door: str) -> None:
    """Words answer at once; that meaning did not is said, and that nothing was reranked."""
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"*"})
        await say(agent, "Was there graining?")
        found = await call("recall", agent, query="graining", enable_rerank=False)
        assert found.total == len(found.items) == 1
        assert found.degraded == ("dense",)
        assert found.rerank_used is False


async def test_ma_04_long_outputs_are_previews_that_name_their_key(
    tmp_path: Path, door: str
) -> None:
    """Contexts, recall and search show a preview; the key reads the whole, or a range of it."""
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("ops")
        agent = await graph.spawn_agent("sre", topics={"*"})
        outputs = [{"tool": "journal", "output": LOG}, {"tool": "ls", "output": "a.log"}]
        turn = await say(agent, "Read the journal.", "The disk is full.", tool_outputs=outputs)
        key = f"{turn.id}/0"
        preview = elided(LOG, key)
        assert f'read_tool_output("{key}")' in preview
        assert "ERROR disk sda1 is full" in preview
        assert preview.startswith("line 0: all is well\n")
        assert preview.endswith("line 1999: all is well")
        assert len(preview) < 3_000 < len(LOG)

        shown = await agent.turn("And now?")
        said = "\n".join(one["content"] for one in shown.messages)
        assert preview in said.replace("\n  | ", "\n")
        assert "- [tool ls] a.log" in said
        for kinds in (("turn",), ("tool_output",)):
            (hit,) = (await agent.recall("journal", kinds=kinds)).items
            assert preview in hit.text
            assert len(hit.text) < 3_500
        (line,) = (await agent.search_memory(max_days_ago=0)).lines
        assert key in line
        (found,) = (await agent.search_memory("journal", max_days_ago=0)).items
        assert preview in found.text
        assert (await graph.turns("sre"))[0].tool_outputs[0].output == preview
        assert (await graph.memory_of("sre")).ring[-1].tool_outputs[0].output == preview

        whole = await agent.read_tool_output(key, length=None)
        assert (whole.text, whole.key, whole.next_start) == (LOG, key, None)
        part = await agent.read_tool_output(key, start=5, length=7)
        assert (part.text, part.next_start) == (LOG[5:12], 12)
        assert (await agent.read_tool_output(turn.id, 1)).text == "a.log"
        assert (await call("read_tool_output", agent, key=key, start=5, length=7)).text == LOG[5:12]
        with pytest.raises(UsageError, match="index"):
            await agent.read_tool_output(key, 1)
        with pytest.raises(NotFound):
            await agent.read_tool_output(f"{turn.id}/2")
        receipt = (await graph.replay_context(shown.receipt_id)).is_exact
        assert receipt, "what was shown is rebuilt from the cold tier"


async def test_ma_04_what_is_no_text_is_refused_and_nothing_is_stored(
    tmp_path: Path, door: str
) -> None:
    """The error names the field; the same turn may be replied to again."""
    wrong: list[tuple[Any, str]] = [
        (b"\x89PNG", "text"),
        ("a\x00b", "NUL"),
        ("\x01\x02\x03\x04abcdefgh", "unreadable"),
        ("x" * 1_000_001, "1,000,000"),
        (None, "text"),
    ]
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("ops")
        agent = await graph.spawn_agent("sre", topics={"*"})
        turn = await agent.turn("Take a picture.")
        fine = {"tool": "ok", "output": "fine"}
        for output, problem in wrong:
            with pytest.raises(UsageError, match=problem) as refused:
                await turn.reply("Done.", [fine, {"tool": "camera", "output": output}])
            assert "tool_outputs[1].output" in str(refused.value)
            assert len(str(refused.value)) < 500
        assert await graph.turns("sre") == ()
        assert (await turn.reply("No picture.", [fine])).was_new


async def test_ma_04_a_million_characters_are_kept_and_two_million_a_turn(
    tmp_path: Path, door: str
) -> None:
    """The whole comes back; a third such output is refused with the limit."""
    big = "".join(chr(97 + number % 26) for number in range(1_000_000))
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("ops")
        agent = await graph.spawn_agent("sre", topics={"*"})
        outputs = [{"tool": "dump", "output": big}] * 2
        turn = await agent.turn("Dump it.")
        with pytest.raises(UsageError, match="2,000,000 characters"):
            await turn.reply("Done.", [*outputs, {"tool": "ls", "output": "a"}])
        stored = (await turn.reply("Done.", outputs)).turn
        assert (await agent.read_tool_output(f"{stored.id}/1", length=None)).text == big
        assert (await agent.read_tool_output(f"{stored.id}/1", start=999_990)).text == big[-10:]


async def test_ma_04_redaction_and_retention_reach_outputs(tmp_path: Path, door: str) -> None:
    """A plan empties them with their turn; redaction does at once, and the key reads nothing."""
    async with home(tmp_path, door, retention_plan="working=1h") as house:
        graph = await house.runtime.create_session_graph("ops")
        agent = await graph.spawn_agent("sre", topics={"*"})
        output = {"tool": "journal", "output": LOG.replace("sda1", "xylograph")}
        first = await say(agent, "Read it.", tool_outputs=[output])
        second = await say(agent, "Read it again.", tool_outputs=[output])
        await graph.redact([first.id], reason="The team asked.")
        with pytest.raises(NotFound):
            await agent.read_tool_output(f"{first.id}/0")
        assert "xylograph" in (await agent.read_tool_output(f"{second.id}/0", length=None)).text
        house.clock.move(days=3)
        await house.behind.run_lifecycle_tick("ops")
        await graph.retain(force=True)
        with pytest.raises(NotFound):
            await agent.read_tool_output(f"{second.id}/0")
        kept = await graph.turns("sre")
        assert "xylograph" not in "".join(one.model_dump_json() for one in kept)


async def test_ma_06_a_statement_is_remembered_once_for_its_owner(
    tmp_path: Path, door: str
) -> None:
    """Identity and words make the id: another agent of the same person comes to the same fact."""
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("home")
        one = await graph.spawn_agent("concierge", topics={"*"}, user_id="jane")
        other = await graph.spawn_agent("butler", topics={"*"}, user_id="jane")
        stranger = await graph.spawn_agent("driver", topics={"*"}, user_id="bob")
        first = await one.remember_fact("Jane drinks tea.", metadata={"confidence": 0.9})
        again = await one.remember_fact(" Jane drinks tea. ")
        elsewhere = await other.remember_fact("Jane drinks tea.")
        assert first.was_new
        assert (again.id, again.was_new) == (elsewhere.id, elsewhere.was_new) == (first.id, False)
        assert (await stranger.remember_fact("Jane drinks tea.")).id != first.id
        own = await one.remember_fact("Jane drinks tea.", "agent")
        assert own.id != first.id
        assert (await one.facts([first.id]))[0].confidence == 0.9
        seen = [hit.id for hit in (await other.recall("tea", kinds=("fact",))).items]
        assert seen == [first.id], "what is the agent's alone is nobody else's"
        tool = await call("remember_fact", other, content="Jane drinks tea.")
        assert (tool.id, tool.was_new) == (first.id, False)

        assert await one.forget(first.id, reason="She asked.")
        back = await other.remember_fact("Jane drinks tea.")
        assert back.was_new, "saying it again is a new fact"
        assert (await one.remember_fact("Jane drinks tea.")).id == back.id

        await graph.redact([back.id], reason="She asked.")
        anew = await one.remember_fact("Jane drinks tea.")
        assert anew.was_new, "and so it is after what was said is redacted"
        await graph.erase(subject="Jane", reason="GDPR 17")
        after = await other.remember_fact("Jane drinks tea.")
        assert after.was_new
        assert (await one.remember_fact("Jane drinks tea.")).id == after.id


async def test_ma_06_who_has_no_identity_is_refused(tmp_path: Path, door: str) -> None:
    """Nor is anything taken that a fact has no place for."""
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("home")
        nobody = await graph.spawn_agent("concierge", topics={"*"})
        with pytest.raises(UsageError, match="user_id"):
            await nobody.remember_fact("Jane drinks tea.")
        with pytest.raises(UsageError, match="user_id"):
            await call("remember_fact", nobody, content="Jane drinks tea.")
        with pytest.raises(UsageError, match="confidence"):
            await nobody.remember_fact("Tea.", "agent", {"colour": "green"})
        with pytest.raises(UsageError, match="content"):
            await nobody.remember_fact("  ", "agent")
        assert (await nobody.remember_fact("It is the agent's own.", "agent")).was_new
        assert (await graph.usage()).writes == 1


async def test_ma_06_racing_processes_come_to_one_fact(tmp_path: Path, door: str) -> None:
    """Ten agents of one person are told the same at once."""
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("home")
        agents = [
            await graph.spawn_agent(f"a{number}", topics={"*"}, user_id="jane")
            for number in range(10)
        ]
        done = await asyncio.gather(*(one.remember_fact("Jane drinks tea.") for one in agents))
        assert len({one.id for one in done}) == 1
        assert sum(one.was_new for one in done) == 1


async def test_ma_07_a_contradiction_gives_way_within_30_seconds(tmp_path: Path, door: str) -> None:
    """The judge runs by itself; it stays in one person's bucket, and its audit has ids only."""
    settings = {"background": True, "extract_seconds": 0.05, "learning_seconds": 0.05}
    async with home(tmp_path, door, **settings) as house:
        graph = await house.runtime.create_session_graph("home")
        agents = {
            user: await graph.spawn_agent(f"for {user}", topics={"*"}, user_id=user)
            for user in ("ada", "bob")
        }
        city = {"subject": "the user", "predicate": "lives in"}
        old = (
            await agents["ada"].remember_fact(
                "Ada lives in Paris.", metadata={**city, "object": "Paris"}
            )
        ).id
        bobs = (
            await agents["bob"].remember_fact(
                "Bob lives in Oslo.", metadata={**city, "object": "Oslo"}
            )
        ).id
        house.clock.move(minutes=1)
        new = (
            await agents["ada"].remember_fact(
                "Ada lives in Rome.", metadata={**city, "object": "Rome"}
            )
        ).id
        for _ in range(600):
            (told_old,) = await agents["ada"].facts([old])
            if told_old.superseded_by is not None:
                break
            await asyncio.sleep(0.05)
        assert told_old.superseded_by == new
        assert (await agents["bob"].facts([bobs]))[0].superseded_by is None
        told = [event for event in await graph.audit() if old in event.record_ids]
        assert any(event.kind == "superseded" for event in told)
        assert "Paris" not in "".join(event.model_dump_json() for event in told)
        found = await agents["ada"].recall("Where do I live?", kinds=("fact",))
        assert old not in [hit.id for hit in found.items]


async def test_ma_08_what_was_forgotten_loses_its_words_and_the_row_stays(
    tmp_path: Path, door: str
) -> None:
    """A dry run says what would be done; done it is after thirty days."""
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("home")
        agent = await graph.spawn_agent("concierge", topics={"*"}, user_id="jane")
        fact = (await agent.remember_fact("Jane collects xylographs.")).id
        await agent.forget(fact, reason="She asked.")
        house.clock.move(days=31)
        await graph.retain(dry_run=True)
        assert "xylographs" in (await agent.facts([fact]))[0].text
        await graph.retain(force=True)
        (left,) = await agent.facts([fact]) or (None,)
        assert left is None or "xylographs" not in left.text
        events = await graph.audit()
        assert "xylographs" not in "".join(one.model_dump_json() for one in events)
        assert any(fact in one.record_ids for one in events)
        story = await house.runtime.explain(fact)
        assert (story.kind, story.text) == ("fact", "[retired]")
        assert [one.kind for one in story.events] == ["forgotten", "retired"]


async def test_ma_10_an_injected_tenant_changes_nothing(tmp_path: Path, door: str) -> None:
    """What is told of tenant or graph in a record or a request is not who asks."""
    async with home(tmp_path / "acme", door, tenant="acme") as house:
        graph = await house.runtime.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"*"}, user_id="ada")
        stored = await agent.remember(Fact(text="zebra", tenant="other", graph_id="x"))
        (hit,) = (await agent.recall("zebra")).items
        assert (hit.id, hit.graph_id) == (stored, "imola")
        with pytest.raises(UsageError):
            await call("recall", agent, query="zebra", tenant="other")
        with pytest.raises((UsageError, TypeError)):
            await agent.recall("zebra", tenant="other")
        if house.url:
            await _refuses_a_tenant(house, tmp_path)


async def _refuses_a_tenant(house: Home, folder: Path) -> None:
    tokens = TokenFile(folder / "tokens.json")
    header = bearer(tokens)
    async with serving(house.behind, tokens=tokens) as url, httpx2.AsyncClient() as http:
        path = f"{url}/v1/graphs/imola/agents/a/recall"
        for body in ({"query": "zebra", "tenant": "other"}, {"query": "zebra"}):
            answer = await http.post(
                path, json=body, headers={**header, "x-tenant": "other", "ezra-tenant": "other"}
            )
            assert answer.status_code == (422 if "tenant" in body else 200), answer.text
        assert [one["graph_id"] for one in answer.json()["items"]] == ["imola"]


async def test_at_07_what_must_not_be_violated_comes_first_in_every_context(
    tmp_path: Path, door: str
) -> None:
    """Constraints first, near repeats once, the cost told, and the same through either door."""
    async with home(tmp_path, door, core_facts_max=3) as house:
        graph = await house.runtime.create_session_graph("home")
        agent = await graph.spawn_agent("butler", topics={"*"})
        for number in range(6):
            await agent.remember(Fact(text=f"Room {number} is painted grey.", tier="core"))
            house.clock.move(minutes=1)
        nuts = Fact(text="Ada must not eat peanuts.", tier="core", fact_type="constraint")
        nuts_id = await agent.remember(nuts)
        turn = await agent.turn("What is for lunch?")
        core = [slot for slot in turn.slots if slot.kind == "core"]
        assert core[0].source_ids == (nuts_id,)
        assert len(core) == 3 == len(turn.core.facts)
        assert turn.core.tokens == (await graph.core("butler")).tokens > 0
        assert len(turn.core.left_out) == 4


async def test_at_08_what_the_user_says_next_counts_for_a_playbook(
    tmp_path: Path, door: str
) -> None:
    """One success after a confirmation, and a failure after a complaint."""
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("garage")
        agent = await graph.spawn_agent("mechanic", topics={"*"}, user_id="ada")
        rule = Rule(trigger="gearbox stuck in third", steps=("Cool it.", "Reset the actuator."))
        claimed = rule.model_copy(update={"successes": 99, "version": 7})
        rule_id = await agent.remember(claimed)
        for answer in ("That worked, thank you!", "That did not work at all."):
            await say(agent, "The gearbox is stuck in third.", "Cool it, then reset the actuator.")
            await say(agent, answer)
            house.clock.move(minutes=5)
            await house.behind.drain_learning()
            await house.behind.drain_learning()
        (found,) = (await graph.latest_rules()).rows
        assert (found.id, found.successes, found.failures) == (rule_id, 1, 1)
        for mode in ("hybrid", "keyword"):
            hits = await agent.recall("gearbox stuck", kinds=["rule"], mode=mode)
            told = [(one.id, one.successes, one.failures, one.version) for one in hits.items]
            assert told == [(rule_id, 1, 1, 1)]
        hits = await agent.recall("gearbox stuck", kinds=["rule"], as_of=house.clock())
        assert [(one.id, one.successes, one.failures) for one in hits.items] == [
            (rule_id, None, None)
        ]


async def test_ma_09_the_tail_is_20_messages_and_4_while_the_window_is_full(
    tmp_path: Path, door: str
) -> None:
    """By what the model used in the turn before; one change of what contexts begin with each."""
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("chat")
        agent = await graph.spawn_agent("guide", topics={"*"}, model_window_tokens=10_000)
        longest = 0
        for number in range(14):
            longest = max(longest, len(await tail_of(agent, f"question {number}", used=1_000)))
        assert longest == 20
        assert len(await tail_of(agent, "the last straw", used=8_001)) > 4
        short = await agent.turn("And then?")
        assert [one["content"] for one in hot_of(short)] == [
            "question 13", "answer", "the last straw", "answer",
        ]  # fmt: skip
        assert "reached by recall and read_tool_output" in short.messages[0]["content"]
        assert short.messages[-1] == {"role": "user", "content": "And then?"}
        await short.reply("answer", usage_tokens=6_000)
        assert len(await tail_of(agent, "still short", used=4_999)) == 4
        assert len(await tail_of(agent, "long again", used=4_999)) > 4

        report = await agent.context_report(limit=18)
        modes = [one.is_short for one in report.turns]
        assert modes.count(True) == 2
        changes = [
            (before.epoch, after.epoch)
            for before, after in zip(report.turns, report.turns[1:], strict=False)
            if before.is_short != after.is_short
        ]
        assert [after - before for before, after in changes] == [1, 1], "one epoch each"
        assert all(one.is_exact for one in report.turns)
        assert report.turns[-3].is_reported
        assert report.turns[-3].window_tokens == 10_000


async def test_ma_09_contexts_of_an_epoch_begin_alike(tmp_path: Path, door: str) -> None:
    """Each begins with all of the one before but what was found for its input, and the input."""
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("chat")
        agent = await graph.spawn_agent("guide", topics={"*"}, model_window_tokens=10_000)
        for number in range(5):
            await agent.remember(f"Fact {number} is about question {number}.")
        before: list[dict[str, str]] = []
        epochs: dict[int, int] = {}
        for number in range(13):
            turn = await agent.turn(f"What is question {number} about?")
            await turn.reply("answer", usage_tokens=100)
            stable = [one for one in turn.messages if not one["content"].startswith("From memory")]
            found = (await agent.context_report(1)).turns[0]
            if found.epoch in epochs:
                assert stable[: len(before)] == before, number
                assert found.prefix_chars >= sum(len(one["content"]) for one in before[:-1])
            epochs[found.epoch] = epochs.get(found.epoch, 0) + 1
            before = stable
        assert len(epochs) == 2, "the tail was cut once"


async def test_ma_09_the_epoch_outlives_a_restart_and_a_lost_ring(
    tmp_path: Path, door: str
) -> None:
    """What decides is kept with the turns; without reports usage is estimated."""
    clock = MovingClock()
    async with home(tmp_path, door, clock, model_window_tokens=300) as house:
        graph = await house.runtime.create_session_graph("chat")
        agent = await graph.spawn_agent("guide", topics={"*"})
        await say(agent, "A short question.")
        await say(agent, "word " * 250)
    async with home(tmp_path, door, clock, model_window_tokens=300) as house:
        agent = await (await house.runtime.session_graph("chat")).agent("guide")
        ring = Scope.of_graph("default", "chat").for_agent("guide")
        await house.behind._runtime.hot.clear(ring)  # a cache: it may be lost at any time
        turn = await agent.turn("And now?")
        assert "reached by recall" in turn.messages[0]["content"]
        (last,) = (await agent.context_report(1)).turns
        assert (last.epoch, last.is_reported) == (0, False)
        assert last.used_tokens > 240


async def test_ma_09_without_a_window_nothing_changes(tmp_path: Path, door: str) -> None:
    """Contexts are as they were: everything in one system message, and no note."""
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("chat")
        agent = await graph.spawn_agent("guide", topics={"*"})
        await agent.remember("Question 1 is about tyres.")
        for number in range(3):
            await say(agent, f"Question {number}?", usage_tokens=1_000_000)
        turn = await agent.turn("What is question 1 about?")
        assert [one["role"] for one in turn.messages] == [
            "system",
            *["user", "assistant"] * 3,
            "user",
        ]
        assert "Question 1 is about tyres." in turn.messages[0]["content"]
        (last, *_) = (await agent.context_report(1)).turns
        assert (last.epoch, last.window_tokens, last.prefix_chars is None) == (None, None, False)
        wrong: tuple[Any, ...] = (-1, True, "9000", 1.5)
        for used in wrong:
            with pytest.raises(UsageError, match=f"usage_tokens: {used!r}"):
                await turn.reply("x", usage_tokens=used)


async def tail_of(agent: Any, message: str, *, used: int) -> list[dict[str, str]]:
    """Have a turn and return the messages of the conversation that its context showed."""
    turn = await agent.turn(message)
    await turn.reply("answer", usage_tokens=used)
    return hot_of(turn)


def hot_of(turn: Any) -> list[dict[str, str]]:
    """Return the messages of the conversation in a context."""
    return [one for one in turn.messages[1:-1] if not one["content"].startswith("From memory")]


async def test_he_06_every_class_of_source_gets_its_place(tmp_path: Path, door: str) -> None:
    """However many passages and turns fit, the one fact that fits comes in, within the tokens."""
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"*"}, user_id="jane")
        pages = "\n\n".join(
            f"# Part {number}\n\nThe gearbox has seal number {number} in its part {number}."
            for number in range(30)
        )
        await agent.documents.put("gearbox.md", pages)
        for number in range(12):
            await say(
                agent,
                f"The gearbox seals were opened for check {number}.",
                f"Check {number} is done.",
            )
        fact = (await agent.remember_fact("The gearbox seals last 9 races.")).id
        same = (await agent.remember_fact("The gearbox seals last 9 races!", "agent")).id
        found = await agent.inject("How long do the gearbox seals last?", token_budget=400)
        kinds = [hit.kind for hit in found.items]
        assert set(kinds[:3]) == {"fact", "document", "turn"}
        assert fact in {one for hit in found.items for one in (hit.id, *hit.folded)}
        assert sum(hit.id in (fact, same) for hit in found.items) == 1
        assert 0 < found.tokens <= 400
        assert "## From documents" in found.text
        assert "gearbox.md" in found.text or "Part" in found.text
        assert [hit.kind for hit in (await agent.inject("gearbox", kinds=("fact",))).items] == [
            "fact"
        ]
        asked = await agent.inject(token_budget=200)
        assert asked.query == "The gearbox seals were opened for check 11."
        for wrong in ({"token_budget": 0}, {"kinds": ("belief",)}, {"kinds": ("nothing",)}):
            with pytest.raises(UsageError):
                await agent.inject("gearbox", **wrong)
        for unhashable in ([1], {"kind": "fact"}):
            with pytest.raises(UsageError, match="kinds"):
                await agent.inject("gearbox", kinds=(unhashable,))


async def test_he_06_contexts_bring_what_is_known_where_the_agent_is_to_have_it(
    tmp_path: Path, door: str
) -> None:
    """Never, where a conversation begins, or with each turn; receipts tell, and are exact."""
    expected = {"off": [0, 0, 0], "start": [1, 0, 1], "turn": [1, 1, 1]}
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("imola")
        writer = await graph.spawn_agent("writer", topics={"*"})
        for number in range(3):
            await say(writer, f"Gearbox seals were changed in race {number}.")
            house.clock.move(minutes=1)
        brought: dict[str, list[int]] = {when: [] for when in expected}
        for when, told in brought.items():
            agent = await graph.spawn_agent(when, topics={"*"}, inject=when)
            assert (await graph.agents())[-1].inject == when
            for hours in (0, 1, 48):
                house.clock.move(hours=hours)
                turn = await agent.turn("When were the gearbox seals changed?")
                injected = [slot for slot in turn.slots if slot.kind == "injected"]
                heading = "## What is known about this" in turn.messages[0]["content"]
                assert heading == bool(injected)
                assert (await graph.replay_context(turn.receipt_id)).is_exact
                told.append(int(bool(injected)))
                await turn.reply("In every race.")
        assert brought == expected


async def test_he_06_a_mode_that_is_none_is_refused(tmp_path: Path, door: str) -> None:
    """And the agent is not spawned."""
    async with home(tmp_path, door) as house:
        graph = await house.runtime.create_session_graph("imola")
        with pytest.raises(UsageError, match="inject"):
            await graph.spawn_agent("strategist", inject="sometimes")
        with pytest.raises(UsageError, match="model_window_tokens"):
            await graph.spawn_agent("strategist", model_window_tokens=1)
        assert await graph.agents() == ()
