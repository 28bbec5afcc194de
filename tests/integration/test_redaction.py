"""Redaction through the runtime: what stands in the stores behind it, before and after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.raw_stores import everything, where
from support.runtime import MovingClock, running

from ezra import Agent, ConfigError, Ezra, Fact, Graph, NotFound, RedactionReport, Rule, UsageError
from ezra.handles import branches
from metaagents.lifecycle.agent import LifecycleAgent
from metaagents.lifecycle.rules import LifecyclePolicy
from metaagents.lifecycle.writing import Writer
from metaagents.model import BudgetedModel
from tiers.errors import TierUnavailable
from tiers.owned import REDACTED
from tiers.records import AuditFilter, Retention, Scope, Turn

WORD = "xylograph"
SETTINGS = {"ring_capacity": 2, "turns_per_summary": 2}


async def say(agent: Agent, text: str, response: str = "", **more: Any) -> Turn:
    """Carry one message through all eight steps and return the stored turn."""
    return (await (await agent.turn(text, **more)).reply(response)).turn


async def told(ezra: Ezra, clock: MovingClock) -> tuple[Graph, Agent, list[Turn], list[str]]:
    """Let an agent say secrets of which summaries, an episode and ring turns are made."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("keeper", topics={"t"}, user_id="ada")
    turns = [
        await say(agent, f"The code is {WORD}.", f"Noted, {WORD}."),
        await say(agent, "A narwhal was seen off the coast.", "By whom?"),
        await say(agent, f"I keep the {WORD} to myself.", private=True),
        await say(agent, "A pelican was seen as well."),
        await say(agent, f"And the {WORD} is new."),
    ]
    fact = Fact(text=f"The code is {WORD}.", source_ids=(turns[0].id,), tier="core")
    rule = Rule(trigger=f"asked for the {WORD}", steps=(f"Say {WORD}.",))
    made = [await agent.remember(fact), await agent.remember(rule)]
    belief = await agent.commit(
        f"The {WORD} is safe.", topic="t", key=(f"the {WORD}", "state"), value=f"{WORD} safe"
    )
    await agent.pin(belief.id)
    made.append(belief.id)
    clock.move(hours=23, minutes=30)
    await ezra.run_lifecycle_tick("imola")
    await ezra.drain_learning()
    return graph, agent, turns, made


async def test_the_secret_is_in_no_store_and_no_answer(tiers: str, tmp_path: Path) -> None:
    """Tables, keys and points; recall and the next context. What is left is summed up anew."""
    assert tiers
    clock = MovingClock()
    async with running(tmp_path, clock, **SETTINGS) as ezra:
        graph, agent, turns, made = await told(ezra, clock)
        assert where(await everything(ezra, tmp_path), WORD) == {"hot", "warm", "cold"}
        kept = await graph.episodes()
        asked = [turns[0].id, turns[2].id, turns[4].id, *made[1:]]
        report = await graph.redact(asked, reason="asked by the person")
        assert where(await everything(ezra, tmp_path), WORD) == set()
        assert set(report.ids["turn"]) == {turn.id for turn in turns[::2]}
        assert (report.ids["fact"], report.ids["rule"]) == ((made[0],), (made[1],))
        assert report.ids["belief"] == (made[2],)
        assert len(report.ids["receipt"]) >= 3
        assert report.waiting == {}
        assert report.cleaned["hot"] == ("keeper",)
        assert set(report.cleaned["warm"]) == set().union(
            *(ids for kind, ids in report.ids.items() if kind != "receipt")
        )
        await ezra.drain_learning()
        # The ring refills, the warm index is asked again: nothing brings it back.
        assert await say(agent, "What was seen?")
        again = await agent.turn("What was seen, and what is the code?")
        found = await agent.recall("code narwhal", limit=50)
        told_now = [slot.text for slot in again.slots] + [hit.text for hit in found.items]
        assert not [text for text in told_now if WORD in text]
        assert where(await everything(ezra, tmp_path), WORD) == set()
        made_anew = [hit for hit in found.items if hit.kind in ("summary", "episode")]
        assert any("narwhal" in hit.text for hit in made_anew)
        await _check_rebuilt(graph, report.rewritten, [one.id for one in kept])


async def _check_rebuilt(graph: Graph, rewritten: Sequence[str], episode_ids: list[str]) -> None:
    summaries = {one.id: one for one in await graph.summaries()}
    episodes = {one.id: one for one in await graph.episodes()}
    assert list(episodes) == episode_ids
    texts = [summaries[one].text for one in rewritten if one in summaries]
    assert any("narwhal" in text for text in texts)
    assert {one for one in rewritten if one in episodes} == set(episodes)
    assert all("narwhal" in one.text for one in episodes.values())
    assert not [text for text in texts if REDACTED in text]
    census = (await graph.status()).cold
    assert census["turns"] == 6


async def test_no_page_of_the_file_has_the_words_any_more(tmp_path: Path) -> None:
    """Neither a free one nor an old one in the write-ahead log, while the file is still open."""
    clock = MovingClock()
    async with running(tmp_path, clock, **SETTINGS) as ezra:
        graph, _, turns, made = await told(ezra, clock)
        assert WORD.encode() in _bytes_of(tmp_path)
        await graph.redact([*(turn.id for turn in turns), *made], reason="all of it")
        assert WORD.encode() not in _bytes_of(tmp_path)
    assert WORD.encode() not in _bytes_of(tmp_path)


def _bytes_of(home: Path) -> bytes:
    (path,) = home.rglob("ezra.db")
    return b"".join(one.read_bytes() for one in path.parent.glob(f"{path.name}*"))


async def test_nothing_is_left_between_the_rows_of_the_file(tmp_path: Path) -> None:
    """SQLite leaves rows that it moves to another page where they lay; an erasure writes anew."""
    clock = MovingClock()
    async with running(tmp_path, clock, **SETTINGS) as ezra:
        _, _, turns, _ = await told(ezra, clock)
    left = b"a narwhal that was moved"
    _leave_between_rows(tmp_path, left)
    async with running(tmp_path, clock, **SETTINGS) as ezra:
        graph = await ezra.session_graph("imola")
        assert left in _bytes_of(tmp_path)
        report = await graph.redact([turns[0].id], reason="asked to")
        assert not report.waiting
        assert left not in _bytes_of(tmp_path)
        assert (await graph.beliefs.verify()).ok


def _leave_between_rows(home: Path, words: bytes) -> None:
    """Put words into room that no row of some leaf of a table has.

    Where rows begin and end: https://www.sqlite.org/fileformat2.html#b_tree_pages
    """
    (path,) = home.rglob("ezra.db")
    whole = bytearray(path.read_bytes())
    size = int.from_bytes(whole[16:18], "big")
    for start in range(size, len(whole), size):
        cells = int.from_bytes(whole[start + 3 : start + 5], "big")
        free = range(8 + 2 * cells, int.from_bytes(whole[start + 5 : start + 7], "big"))
        if whole[start] == 13 and len(free) > len(words):
            place = start + free.start
            whole[place : place + len(words)] = words
            path.write_bytes(whole)
            return
    pytest.fail("no page has as much room")


async def test_repeating_is_harmless_and_finishes_what_a_crash_left(tmp_path: Path) -> None:
    """Only the cold tier was done: the next call does the rest, and one more does nothing."""
    clock = MovingClock()
    async with running(tmp_path, clock, **SETTINGS) as ezra:
        graph, _, turns, made = await told(ezra, clock)
        await ezra._runtime.redactor.redact(
            Scope.of_graph("default", "imola"), [turns[0].id], "crashed", clock()
        )
        found = await everything(ezra, tmp_path)
        assert WORD in found["warm"]
        asked = [turns[0].id, turns[2].id, turns[4].id, *made[1:]]
        report = await graph.redact(asked, reason="again")
        assert where(await everything(ezra, tmp_path), WORD) == set()
        assert any("narwhal" in one.text for one in await graph.summaries())
        assert report.rewritten
        before = await everything(ezra, tmp_path)
        again = await graph.redact([turns[0].id], reason="once more")
        assert again.ids == {"turn": (turns[0].id,), "fact": report.ids["fact"]}
        assert again.rewritten == ()
        assert (await everything(ezra, tmp_path))["cold"] == before["cold"]


async def test_what_somebody_wanted_to_be_rid_of_is_not_written_anew(tmp_path: Path) -> None:
    """A summary redacted for what it says would say it again, whenever another part goes."""
    clock = MovingClock()
    async with running(tmp_path, clock, **SETTINGS) as ezra:
        graph, _, turns, _ = await told(ezra, clock)
        (summary,) = [one for one in await graph.summaries() if "narwhal" in one.text]
        report = await graph.redact([summary.id], reason="badly put")
        assert report.ids["summary"] == (summary.id,)
        assert summary.id not in report.rewritten
        report = await graph.redact([turns[0].id], reason="asked by the person")
        assert summary.id in report.ids["summary"]
        assert summary.id not in report.rewritten
        assert summary.id not in {one.id for one in await graph.summaries()}


async def test_a_tier_that_is_away_is_named_and_cleaned_later(tmp_path: Path) -> None:
    """The cold tier is done at once; queued work cleans the index, repeating cleans the rings."""
    clock = MovingClock()
    async with running(tmp_path, clock, **SETTINGS) as ezra:
        graph, _, turns, made = await told(ezra, clock)
        ezra._runtime.warm.serving.store.close()  # type: ignore[attr-defined]
        await ezra._runtime.hot.aclose()  # type: ignore[attr-defined]
        report = await graph.redact([*(turn.id for turn in turns), *made], reason="all of it")
        assert set(report.waiting) == {"hot", "warm"}
        assert "queued" in report.waiting["warm"]
        assert "repeating" in report.waiting["hot"]
        assert report.cleaned["warm"] == report.cleaned["hot"] == ()
    async with running(tmp_path, clock, **SETTINGS) as ezra:
        assert where(await everything(ezra, tmp_path), WORD) == {"warm"}
        await ezra.drain_learning()
        assert where(await everything(ezra, tmp_path), WORD) == set()
        graph = await ezra.session_graph("imola")
        report = await graph.redact([turn.id for turn in turns], reason="again")
        assert report.waiting == {}


async def test_what_cannot_be_proven_is_not_destroyed(tmp_path: Path) -> None:
    """Whose key file others may read is told so before; with it mended the receipt has all."""
    async with running(tmp_path, MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("keeper", topics={"t"}, user_id="ada")
        fact = await agent.remember(f"The {WORD} is Ada's.")
        await ezra.public_key()
        key = tmp_path / "signing-key.pem"
        key.chmod(0o644)
        for destroying in (
            lambda: graph.erase(user_id="ada", reason="request 17"),
            lambda: graph.redact([fact], reason="request 17"),
            lambda: graph.purge(reason="request 17"),
            lambda: ezra.erase(subject=WORD, reason="request 17"),
        ):
            with pytest.raises(ConfigError, match="open to others"):
                await destroying()
        assert [hit.id for hit in (await agent.recall(WORD)).items] == [fact]
        key.chmod(0o600)
        done = await graph.erase(user_id="ada", reason="request 17")
        assert done.receipt is not None
        assert done.receipt.ids["fact"] == (fact,)


async def test_what_cannot_be_redacted_is_said(tmp_path: Path) -> None:
    """Unknown ids, another graph's records, no reason; nothing is written."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        other = await ezra.create_session_graph("monza")
        agent = await graph.spawn_agent("keeper")
        turn = await say(agent, f"The code is {WORD}.")
        belief = await agent.commit("Start on mediums.")
        for handle, ids, reason, error in (
            (graph, ["unknown"], "r", NotFound),
            (other, [turn.id], "r", NotFound),
            (other, [belief.id], "r", NotFound),
            (graph, [turn.id], " ", UsageError),
        ):
            with pytest.raises(error):
                await handle.redact(ids, reason=reason)
        assert WORD in (await everything(ezra, tmp_path))["cold"]


class Interrupted:
    """A model during whose work something else happens, once, and that has nothing to say.

    Args:
        what: What happens.
        word: While it is shown a source that holds this.
    """

    name = "interrupted"

    def __init__(self, what: Callable[[], Awaitable[object]], word: str) -> None:
        self._what: Callable[[], Awaitable[object]] | None = what
        self._word = word

    async def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Let it happen, then return what is refused: the text is an extract."""
        if self._what is not None and any(self._word in one["content"] for one in messages):
            what, self._what = self._what, None
            await what()
        return ""


@pytest.mark.parametrize("step", ["compress", "consolidate"])
async def test_what_is_summed_up_meanwhile_does_not_keep_it(tmp_path: Path, step: str) -> None:
    """Redacted between reading and storing: it is refused, and made anew of what is left."""
    clock = MovingClock()
    async with running(tmp_path, clock, ring_capacity=1, turns_per_summary=2) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("keeper", topics={"t"})
        turns = [
            await say(agent, text)
            for text in (f"The code is {WORD}.", "A narwhal was seen.", "A pelican as well.")
        ]
        scope = Scope.of_graph("default", "imola")
        if step == "consolidate":
            await ezra.run_lifecycle_tick("imola")
        runtime = ezra._runtime
        interrupted = Interrupted(lambda: graph.redact([turns[0].id], reason="meanwhile"), WORD)
        policy = LifecyclePolicy(ring_capacity=1, turns_per_summary=2)
        model = BudgetedModel(interrupted, runtime.usage, runtime.graphs, 5.0)  # type: ignore[arg-type]
        writer = Writer(model=model, fleet=runtime.fleet, prompts={}, policy=policy)
        lifecycle = LifecycleAgent(
            graphs=runtime.graphs, turns=runtime.turns, episodic=runtime.episodic,
            grains=runtime.grains, warm=runtime.warm, writer=writer, policy=policy,
            redactor=runtime.redactor, fleet=runtime.fleet, log=runtime.log,
        )  # fmt: skip
        if step == "compress":
            await lifecycle.compress(scope.for_agent("keeper"), clock(), everything=True)
            assert [one.covers for one in await graph.summaries()] == [(turns[2].id,)]
            await lifecycle.compress(scope.for_agent("keeper"), clock(), everything=True)
            covers = [one.covers for one in await graph.summaries()]
            assert covers == [(turns[1].id,), (turns[2].id,)]
        else:
            await lifecycle.consolidate(scope, clock() + timedelta(hours=23, minutes=30))
            (episode,) = await graph.episodes()
            assert "narwhal" in episode.text
        assert WORD not in (await everything(ezra, tmp_path))["cold"]


Doing = Callable[[], Awaitable[object]]


def before_adopting(ezra: Ezra, what: Doing, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let something happen when a branch has read what it is to begin with, and before it does."""
    beliefs = ezra._runtime.beliefs
    adopt = beliefs.adopt

    async def late(*args: Any) -> bool:
        await what()
        return await adopt(*args)

    monkeypatch.setattr(beliefs, "adopt", late)


async def believed(graph: Graph) -> list[str]:
    """Return what is believed in a graph."""
    return [one.claim for one in await graph.beliefs.active()]


@pytest.mark.parametrize("how", ["erased", "redacted", "rolled back"])
async def test_a_branch_keeps_nothing_that_goes_while_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Who takes it away sees no branch yet, and the branch has read it already."""
    async with running(tmp_path, MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("keeper", topics={"t"})
        belief = await agent.commit(f"The {WORD} is safe.", topic="t")
        await agent.commit("A pelican was seen.", topic="t")
        ways: dict[str, Doing] = {
            "erased": lambda: graph.erase(subject=WORD, reason="case 1"),
            "redacted": lambda: graph.redact([belief.id], reason="case 1"),
            "rolled back": lambda: graph.taint.roll_back(belief.id, reason="case 1"),
        }
        before_adopting(ezra, ways[how], monkeypatch)
        branch = await graph.branch(session_graph_id="what-if")
        assert await believed(graph) == await believed(branch) == ["A pelican was seen."]
        assert (await branch.beliefs.verify()).ok
        if how == "rolled back":
            (done,) = await graph.taint.roll_backs()
            await graph.taint.undo(done.id, reason="true after all")
            assert f"The {WORD} is safe." in await believed(branch)
        else:
            assert where(await everything(ezra, tmp_path), WORD) == set()


async def test_an_erasure_reaches_branches_that_it_did_not_see_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off before it looked again, and a branch of it; what retention took is a branch's own."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola", retention=Retention(beliefs_days=10))
        agent = await graph.spawn_agent("keeper", topics={"t"})
        await agent.commit(f"The {WORD} is safe.", topic="t")
        ended = await agent.commit("A pelican was seen.", topic="t")

        async def erased() -> None:
            await graph.erase(subject=WORD, reason="case 1")

        async def cut_off(*args: object) -> None:
            raise TierUnavailable("cold", "as_of", "gone")

        with monkeypatch.context() as patched:
            before_adopting(ezra, erased, patched)
            patched.setattr(branches, "_look_again", cut_off)
            with pytest.raises(TierUnavailable):
                await graph.branch(session_graph_id="what-if")
        branch = await ezra.session_graph("what-if")
        below = await branch.branch(session_graph_id="what-if-not")
        for one in (branch, below):
            assert await believed(one) == [f"The {WORD} is safe.", "A pelican was seen."]
        await graph.beliefs.revert(ended.id, reason="a heron")
        clock.move(days=11)
        await ezra.run_lifecycle_tick("imola")
        told = await graph.audit(only=AuditFilter(kinds=("redacted",)))
        assert (ended.id,) in [one.record_ids for one in told], "it was retired"
        report = await graph.erase(subject=WORD, reason="case 2")
        assert report.is_complete
        assert report.branches["what-if"].branches["what-if-not"].ids["belief"]
        for one in (branch, below):
            assert await believed(one) == ["A pelican was seen."]
        await ezra.drain_learning()
        assert where(await everything(ezra, tmp_path), WORD) == set()
        assert not (await graph.erase(subject=WORD, reason="case 3")).branches


@pytest.mark.parametrize("reason", ["case 1", "case 1, again"])
@pytest.mark.parametrize("whom", ["subject", "graph"])
async def test_an_erasure_that_was_cut_off_is_finished_by_giving_it_again(
    tmp_path: Path, whom: str, reason: str
) -> None:
    """Copies of beliefs, what heirs made of records and new texts: no word leads to them."""
    clock = MovingClock()
    async with running(tmp_path, clock, **SETTINGS) as ezra:
        graph, _, _, made = await told(ezra, clock)
        await graph.branch(session_graph_id="what-if")
        heir = await ezra.create_session_graph("heir", inherits_from=["imola"])
        reader = await heir.spawn_agent("reader", topics={"t"})
        quoted = await reader.remember(Fact(text=f"That {WORD} it is.", source_ids=(made[0],)))
        held = [one.id for one in (await graph.holding(subject=WORD)).records]
        emptied = {one.id for one in await graph.summaries() if WORD in one.text}
        scope = Scope.of_graph("default", "imola")
        await ezra._runtime.redactor.redact(scope, held, "case 1", clock(), found=True)

    async def erase(ezra: Ezra) -> RedactionReport:
        graph = await ezra.session_graph("imola")
        if whom == "graph":
            return await graph.purge(reason=reason)
        return await graph.erase(subject=WORD, reason=reason)

    async with running(tmp_path, clock, **SETTINGS) as ezra:
        report = await erase(ezra)
        assert report.is_complete
        assert set(report.branches) == {"what-if", "heir"}
        assert report.branches["heir"].ids["fact"] == (quoted,)
        assert report.receipt is not None
        assert set(held) <= {one for ids in report.receipt.ids.values() for one in ids}
        if whom == "subject":
            assert emptied & set(report.rewritten)
        await ezra.drain_learning()
        assert where(await everything(ezra, tmp_path), WORD) == set()
        for name in ("imola", "what-if", "heir"):
            events = await (await ezra.session_graph(name)).audit()
            assert ("erased", "finished: case 1") in [(one.kind, one.reason) for one in events]
        assert not (await erase(ezra)).ids, "nothing is left to be finished"


async def test_a_purge_leaves_neither_inherited_beliefs_nor_roles_nor_questions(
    tiers: str, tmp_path: Path
) -> None:
    """A branch holds what agents of another graph committed; the other graph keeps it."""
    assert tiers
    clock = MovingClock()
    async with running(tmp_path, clock, **SETTINGS) as ezra:
        graph, agent, _, _ = await told(ezra, clock)
        about = f"the {WORD}"
        await graph.spawn_agent("clerk", role=f"Keeps {about}.", prompts={"daily": about.title()})
        await graph.recall(f"Who has lost {about}?", receipt=True)
        branch = await graph.branch(session_graph_id="what-if")
        assert [one.claim for one in await branch.beliefs.active()] == [f"The {WORD} is safe."]
        report = await branch.purge(reason="tried")
        assert report.is_complete
        assert len(report.ids["belief"]) == 1
        assert await branch.beliefs.active() == ()
        assert len(await graph.beliefs.active()) == 1
        report = await graph.purge(reason="the contract ended")
        assert report.is_complete
        assert report.ids["agent"] == ("clerk",)
        assert {(one.id, one.role, *one.prompts) for one in await graph.agents()} == {
            ("clerk", ""),
            ("keeper", ""),
        }
        await ezra.drain_learning()
        assert where(await everything(ezra, tmp_path), WORD) == set()
        if tiers == "embedded":
            assert WORD.encode() not in _bytes_of(tmp_path)
        assert not (await graph.purge(reason="again")).ids
        assert (await agent.recall("Where is the code?")).items == ()
        assert await say(agent, "A heron was seen.")


@pytest.mark.parametrize("whose", [{}, {"user_id": "ada"}, {"agent_id": "keeper"}])
async def test_digests_of_what_retention_has_emptied_go_with_what_was_made_of_it(
    tiers: str, tmp_path: Path, whose: dict[str, str]
) -> None:
    """Else the graph would tell of a name that somebody guesses whether it was there."""
    assert tiers
    clock = MovingClock()
    async with running(tmp_path, clock, **SETTINGS, retention_plan="working=48h") as ezra:
        graph, _, _, _ = await told(ezra, clock)
        for _ in range(4):
            clock.move(days=1)
            await ezra.run_lifecycle_tick("imola")
        turns = await graph.turns("keeper")
        assert any(one.mentions for one in turns)
        assert (await graph.holding(subject="narwhal")).records
        held = {one.id for one in (await graph.holding(**(whose or {"agent_id": ""}))).records}
        assert not whose or {one.id for one in turns if one.mentions} <= held
        report = await (
            graph.erase(**whose, reason="case 7") if whose else graph.purge(reason="case 7")
        )
        assert report.is_complete
        assert not any(one.mentions for one in await graph.turns("keeper"))
        assert not [one for one in await graph.episodes() if "narwhal" in one.text]
        for subject in ("narwhal", WORD):
            assert (await graph.holding(subject=subject)).records == ()
        if whose:
            assert (await graph.holding(**whose)).records == ()
            assert not (await graph.erase(**whose, reason="case 8")).ids


async def test_what_an_agent_shared_for_a_user_goes_with_the_user_whom_it_served(
    tiers: str, tmp_path: Path
) -> None:
    """It may work for another one by now, whose words stay; so it is with what it was shown."""
    assert tiers
    clock = MovingClock()
    async with running(tmp_path, clock, **SETTINGS) as ezra:
        graph = await ezra.create_session_graph("imola")
        for user_id in ("ada", "bob"):
            agent = await graph.spawn_agent("keeper", user_id=user_id)
            clock.move(hours=1)
            await agent.remember(f"The {WORD} of {user_id} is told to all.", shared=True)
            await agent.recall(f"Where is the {WORD} of {user_id}?", receipt=True)
            clock.move(hours=1)
        assert (await graph.agents())[0].served[0].user_id == "ada"
        held = (await graph.holding(user_id="ada")).records
        assert [one.text for one in held] == [f"The {WORD} of ada is told to all."]
        await graph.erase(user_id="ada", reason="asked to")
        await ezra.drain_learning()
        stores = await everything(ezra, tmp_path)
        assert where(stores, "of ada") == set()
        assert where(stores, "of bob") != set()
        assert (await graph.erase(user_id="bob", reason="asked to")).ids
        assert where(await everything(ezra, tmp_path), WORD) == set()
