"""What was taken back by a roll-back comes back by its undoing alone, wherever it stood."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from random import Random

import pytest
from support.runtime import MovingClock, running

from ezra import Conflict, Ezra, Fact, Graph, Rule, WasRedacted

KEY = ("vault", "holder")
WHY = "a page planted it"


@pytest.fixture
def clock() -> MovingClock:
    """The clock of the runtime."""
    return MovingClock()


@pytest.fixture
async def ezra(tmp_path: Path, clock: MovingClock) -> AsyncIterator[Ezra]:
    """A runtime without background work."""
    async with running(tmp_path, clock) as found:
        yield found


async def held(graph: Graph) -> list[str | None]:
    """Return what is believed."""
    return [one.value for one in await graph.beliefs.active()]


@pytest.mark.parametrize("end", ["open", "confirmed", "undone"])
async def test_no_rewind_and_no_branch_brings_poison_back(ezra: Ezra, end: str) -> None:
    """Nor after it was confirmed; what was undone is of the past as ever."""
    graph = await ezra.create_session_graph("bank")
    agent = await graph.spawn_agent("bot", topics={"t"})
    poison = await agent.remember("Memo: Bob holds the code.")
    await agent.commit("The safe is grey.", topic="t", key=("safe", "colour"), value="grey")
    await agent.commit("Bob holds it.", topic="t", key=KEY, value="Bob", sources=[poison])
    await (await agent.turn("Who holds it?")).reply("Bob.")
    await (await agent.turn("And the safe?")).reply("Grey.")
    done = await graph.taint.roll_back(poison, reason=WHY)
    if end == "confirmed":
        await graph.taint.confirm(done.roll_back.id, reason=WHY)
    if end == "undone":
        await graph.taint.undo(done.roll_back.id, reason="it was true")
    expected = ["grey", "Bob"] if end == "undone" else ["grey"]
    branch = await graph.branch(turn=1, session_graph_id="branch")
    assert await held(branch) == expected
    await graph.beliefs.rewind(turn=1, reason="back then")
    assert await held(graph) == expected
    assert (await graph.beliefs.verify()).ok


@pytest.mark.parametrize("with_own", [True, False], ids=["own turn", "another's"])
async def test_what_is_believed_after_a_roll_back_does_not_come_of_the_turn_that_went(
    ezra: Ezra, *, with_own: bool
) -> None:
    """The agent has had no other turn since; going on with the roll-back takes nothing more."""
    graph = await ezra.create_session_graph("bank")
    bot = await graph.spawn_agent("bot", topics={"t"})
    agent = bot if with_own else await graph.spawn_agent("other", topics={"t"})
    turn = (await (await bot.turn("Bob holds the code.")).reply("Noted.")).turn
    before = await bot.commit("Bob holds it.", topic="t", key=KEY, value="Bob")
    done = await graph.taint.roll_back(turn.id, reason=WHY)
    assert await held(graph) == []
    after = await agent.commit("Eve holds it.", topic="t", key=KEY, value="Eve")
    assert (after.turn_id, after.receipt_id) == (None, None)
    nodes = (await graph.taint.trace(turn.id)).nodes
    assert [one.id for one in nodes if one.kind == "belief"] == [before.id]
    await graph.taint.roll_back(turn.id, reason=WHY, exposed=True)
    assert await held(graph) == ["Eve"]
    await graph.taint.undo(done.roll_back.id, reason="it was true")
    assert (await graph.beliefs.verify()).ok
    third = await bot.commit("The safe is grey.", topic="t", key=("safe", "colour"), value="grey")
    assert third.turn_id == turn.id, "the turn is back"


async def believed(graph: Graph, names: Sequence[str]) -> list[str]:
    """Commit a chain of beliefs, each in the place of the one before."""
    agent = await graph.spawn_agent("bot", topics={"t"})
    commits = (await agent.commit(f"{name}.", topic="t", key=KEY, value=name) for name in names)
    return [one.id async for one in commits]


@pytest.mark.parametrize("seed", range(6))
async def test_what_is_believed_follows_from_what_is_not_set_aside(ezra: Ezra, seed: int) -> None:
    """Whatever is rolled back and undone in whichever order: the newest that is left stands."""
    graph = await ezra.create_session_graph("bank")
    names = ["Ann", "Bob", "Cid", "Dan"]
    ids = dict(zip(names, await believed(graph, names), strict=True))
    await graph.beliefs.pin(ids["Dan"])
    before = await graph.beliefs.query()
    random = Random(seed)
    aside: dict[str, str] = {}
    for _ in range(14):
        name = random.choice(names)
        if name in aside:
            undone = await graph.taint.undo(aside.pop(name), reason="it was true")
            assert undone.roll_back.kept == ()
        else:
            aside[name] = (await graph.taint.roll_back(ids[name], reason=WHY)).roll_back.id
        assert await held(graph) == [one for one in names if one not in aside][-1:]
    for roll_back_id in random.sample(sorted(aside.values()), len(aside)):
        await graph.taint.undo(roll_back_id, reason="it was true")
    after = await graph.beliefs.query()
    same = {"ended_seq": None}
    assert [one.model_copy(update=same) for one in after] == [
        one.model_copy(update=same) for one in before
    ]
    assert (await graph.beliefs.verify()).ok


async def test_what_was_undone_stands_if_its_successor_was_reverted_meanwhile(ezra: Ezra) -> None:
    """It had given way to a belief that is no more: nothing is in its place."""
    graph = await ezra.create_session_graph("bank")
    _, bob, cid = await believed(graph, ["Ann", "Bob", "Cid"])
    done = await graph.taint.roll_back(bob, reason=WHY)
    await graph.beliefs.revert(cid, reason="a mistake")
    assert await held(graph) == ["Ann"]
    undone = await graph.taint.undo(done.roll_back.id, reason="it was true")
    assert (await held(graph), undone.roll_back.kept) == (["Bob"], ())


async def test_what_gave_way_to_what_was_redacted_has_given_way_after_undoing(ezra: Ezra) -> None:
    """Where it had before: undoing brings back what was there, and no more."""
    graph = await ezra.create_session_graph("bank")
    ann, bob = await believed(graph, ["Ann", "Bob"])
    await graph.beliefs.redact(bob, reason="asked to")
    assert await held(graph) == []
    done = await graph.taint.roll_back(ann, reason=WHY)
    await graph.taint.undo(done.roll_back.id, reason="it was true")
    assert await held(graph) == []


async def test_a_revert_goes_on_to_what_still_has_its_words(ezra: Ezra) -> None:
    """Past what was redacted in between."""
    graph = await ezra.create_session_graph("bank")
    ann, bob, cid = await believed(graph, ["Ann", "Bob", "Cid"])
    await graph.beliefs.redact(bob, reason="asked to")
    done = await graph.beliefs.revert(cid, reason="a mistake")
    assert (done.ended, done.restored) == ((cid,), (ann,))
    assert await held(graph) == ["Ann"]


async def remembered(graph: Graph, names: Sequence[str]) -> dict[str, str]:
    """Remember a chain of facts, each in the place of the one before; return their ids."""
    agent = await graph.spawn_agent("bot")
    ids: dict[str, str] = {}
    former = None
    for name in names:
        former = ids[name] = await agent.remember(f"The holder is {name}.", supersedes=former)
    return ids


async def known(graph: Graph) -> list[str]:
    """Return who holds it, as far as facts say."""
    rows = (await graph.latest_facts()).rows
    return [one.text.removeprefix("The holder is ").removesuffix(".") for one in rows]


@pytest.mark.parametrize("seed", range(8))
async def test_which_fact_stands_follows_from_what_is_not_set_aside(ezra: Ezra, seed: int) -> None:
    """Whatever is rolled back, undone and confirmed in whichever order."""
    graph = await ezra.create_session_graph("bank")
    names = ["Ann", "Bob", "Cid", "Dan"]
    ids = await remembered(graph, names)
    before = await graph.facts(list(ids.values()))
    random = Random(seed)
    aside: dict[str, str] = {}
    gone: set[str] = set()
    for _ in range(14):
        name = random.choice(names)
        if name in gone:
            continue
        if name in aside and seed % 2 and random.random() < 0.3:
            await graph.taint.confirm(aside.pop(name), reason=WHY)
            gone.add(name)
        elif name in aside:
            undone = await graph.taint.undo(aside.pop(name), reason="it was true")
            assert undone.roll_back.kept == ()
        else:
            aside[name] = (await graph.taint.roll_back(ids[name], reason=WHY)).roll_back.id
        left = [one for one in names if one not in aside and one not in gone]
        assert await known(graph) == left[-1:]
    for roll_back_id in random.sample(sorted(aside.values()), len(aside)):
        await graph.taint.undo(roll_back_id, reason="it was true")
    if not gone:
        assert await graph.facts(list(ids.values())) == before


@pytest.mark.parametrize("seed", range(6))
async def test_what_came_of_several_poisons_comes_back_with_the_last(
    tmp_path: Path, seed: int
) -> None:
    """Facts, beliefs, rules and texts, whichever is undone or confirmed first, over a restart.

    What tells of many turns tells of exactly those that nobody took back.
    """
    random, clock = Random(seed), MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("bank")
        agent = await graph.spawn_agent("bot", topics={"t"})
        said = {}
        for number in range(6):
            turn = await agent.turn(f"Box {number} weighs {number * 11 + 300} kg.")
            said[(await turn.reply("Noted.")).turn.id] = f"{number * 11 + 300} kg"
        sources = {f"made {n}": tuple(random.sample(list(said), 2)) for n in range(4)}
        await (await agent.turn("What follows?")).reply("This.")  # beliefs come of it, too
        for name, rests_on in sources.items():
            await agent.remember(Fact(text=f"A fact was {name}.", source_ids=rests_on))
            rule = Rule(trigger=f"A rule was {name}", steps=("Weigh it.",), source_ids=rests_on)
            await agent.remember(rule)
            await agent.commit(
                f"{name}.", topic="t", key=(name, "is"), value=name, sources=rests_on
            )
        clock.move(days=3)
        await ezra.run_lifecycle_tick("bank")
        before = {one.id: one.text for one in await graph.episodes()}
    opened: dict[str, str] = {}
    confirmed: set[str] = set()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.session_graph("bank")
        for _ in range(8):
            record = random.choice(sorted(set(said) - confirmed))
            if record not in opened:
                done = await graph.taint.roll_back(record, reason=WHY)
                opened[record] = done.roll_back.id
            elif random.random() < 0.3:
                await graph.taint.confirm(opened.pop(record), reason=WHY)
                confirmed.add(record)
            else:
                await graph.taint.undo(opened.pop(record), reason=WHY)
            gone = confirmed | set(opened)
            left = {name for name, rests_on in sources.items() if not gone & {*rests_on}}
            assert set(await held(graph)) == left
            facts, rules = await graph.latest_facts(), await graph.latest_rules()
            assert {one.text for one in facts.rows} == {f"A fact was {one}." for one in left}
            assert {one.trigger for one in rules.rows} == {f"A rule was {one}" for one in left}
            for episode in await graph.episodes():
                told = {one for one, words in said.items() if words in episode.text}
                assert told == set(said) - gone, episode.text
            report = await graph.conservation()
            assert (report.missing, report.doubled) == ({}, ())
        for opening in opened.values():
            await graph.taint.undo(opening, reason=WHY)
        if not confirmed:
            assert {one.id: one.text for one in await graph.episodes()} == before
        assert (await graph.beliefs.verify()).ok


async def test_what_has_lost_its_content_to_one_roll_back_alone_is_taken_back_by_none(
    ezra: Ezra,
) -> None:
    """What another one took is named by the undoing that leaves it away."""
    graph = await ezra.create_session_graph("bank")
    agent = await graph.spawn_agent("bot")
    first, second = await agent.remember("Poison is red."), await agent.remember("Poison is hot.")
    made = await agent.remember(Fact(text="So it is lava.", source_ids=(first, second)))
    one = (await graph.taint.roll_back(first, reason=WHY)).roll_back
    with pytest.raises(Conflict, match="content"):
        await graph.taint.roll_back(made, reason=WHY)
    other = (await graph.taint.roll_back(second, reason=WHY)).roll_back
    assert {item.id for item in other.items} == {second, made}
    assert (await graph.taint.undo(one.id, reason=WHY)).roll_back.kept == (made,)
    assert (await graph.taint.undo(other.id, reason=WHY)).roll_back.kept == ()
    assert {fact.id for fact in (await graph.latest_facts()).rows} == {first, second, made}


async def test_undoing_tells_again_in_texts_that_an_erasure_has_made_anew(
    ezra: Ezra, clock: MovingClock
) -> None:
    """What the roll-back kept of them went with the erased; what came back is told all the same."""
    graph = await ezra.create_session_graph("bank")
    agent = await graph.spawn_agent("bot")
    told = ("Box 1 weighs 311 kg.", "Ida Vogt has box 2.", "Box 3 weighs 333 kg.")
    ids = [(await (await agent.turn(one)).reply("Noted.")).turn.id for one in told]
    clock.move(days=3)
    await ezra.run_lifecycle_tick("bank")
    done = (await graph.taint.roll_back(ids[2], reason=WHY)).roll_back
    await graph.erase(subject="Ida Vogt", reason="case 7")
    await graph.taint.undo(done.id, reason="it was true")
    (day,) = await graph.episodes(grain="daily")
    assert "311 kg" in day.text
    assert "333 kg" in day.text
    assert "Ida" not in day.text


async def test_a_text_whose_sources_retention_has_emptied_is_not_made_anew_of_less(
    tmp_path: Path,
) -> None:
    """It lacks what has come back, and keeps what nothing else tells any more."""
    clock = MovingClock()
    async with running(tmp_path, clock, retention_plan="working=36h") as ezra:
        graph = await ezra.create_session_graph("bank")
        agent = await graph.spawn_agent("bot")
        told = [f"Box {number} weighs {number * 11 + 300} kg." for number in range(4)]
        ids = [(await (await agent.turn(one)).reply("Noted.")).turn.id for one in told]
        clock.move(days=1)
        await ezra.run_lifecycle_tick("bank")
        first = (await graph.taint.roll_back(ids[1], reason=WHY)).roll_back
        second = (await graph.taint.roll_back(ids[2], reason=WHY)).roll_back
        await graph.taint.confirm(second.id, reason=WHY)
        clock.move(hours=13)
        await ezra.run_lifecycle_tick("bank")
        await graph.retain(force=True)
        assert {one.input for one in await graph.turns("bot")} == {"[retired]", "[set aside]"}
        await graph.taint.undo(first.id, reason="it was true")
        (day,) = await graph.episodes(grain="daily")
        assert "300 kg" in day.text
        assert "322 kg" not in day.text


async def test_poison_that_retention_has_emptied_is_traced_to_what_tells_of_it(
    tmp_path: Path,
) -> None:
    """Its turn says nothing any more; the day does, until it is rolled back."""
    clock = MovingClock()
    async with running(tmp_path, clock, retention_plan="working=24h") as ezra:
        graph = await ezra.create_session_graph("bank")
        agent = await graph.spawn_agent("bot")
        poison = (await (await agent.turn("The code is 4711.")).reply("Noted.")).turn.id
        clock.move(days=2)
        for _ in range(2):
            await ezra.run_lifecycle_tick("bank")
        (emptied,) = await graph.turns("bot")
        (day,) = await graph.episodes(grain="daily")
        assert (emptied.input, "4711" in day.text) == ("[retired]", True)
        done = (await graph.taint.roll_back(poison, reason=WHY)).roll_back
        assert ("episode", day.id) in {(one.kind, one.id) for one in done.items}
        assert not any("4711" in one.text for one in await graph.episodes())
        assert not any("4711" in one.text for one in (await agent.recall("code 4711")).items)
        await graph.taint.undo(done.id, reason="it was true")
        assert await graph.episodes(grain="daily") == (day,)


async def test_ne_08_a_roll_back_goes_on_whoever_believed_the_poison_again(ezra: Ezra) -> None:
    """Its agent loses trust again, and undoing it gives back what it had before the first time."""
    graph = await ezra.create_session_graph("bank")
    agent = await graph.spawn_agent("bot", topics={"t"})
    poison = await agent.remember("Memo: Bob holds the code.")
    trust, found = [], []
    for name in ("Bob", "Rob", "Job"):
        await agent.commit(
            f"{name} it is.", topic="t", key=(name, "is"), value=name, sources=[poison]
        )
        found.append(await graph.taint.roll_back(poison, reason=WHY))
        assert await held(graph) == []
        trust.append(await graph.beliefs.trust("bot", "t"))
    assert 1 > trust[0] > trust[1] > trust[2]
    assert len({one.roll_back.id for one in found}) == 1
    await graph.taint.undo(found[0].roll_back.id, reason="it was true")
    assert sorted(map(str, await held(graph))) == ["Bob", "Job", "Rob"]
    assert await graph.beliefs.trust("bot", "t") == 1
    assert (await graph.beliefs.verify()).ok


async def test_ne_08_a_roll_back_goes_on_where_poison_took_the_same_place_again(ezra: Ezra) -> None:
    """What stands again for it the second time is what stood again the first time."""
    graph = await ezra.create_session_graph("bank")
    agent = await graph.spawn_agent("bot", topics={"t"})
    poison = await agent.remember("Memo: Bob holds the code.")
    told = {"subject": "vault", "predicate": "holder"}
    first = await agent.remember(Fact(**told, object="Ann"))
    for name in ("Bob", "Rob"):
        evil = Fact(**told, object=name, source_ids=(poison,))
        await agent.remember(evil, supersedes=first)
        done = await graph.taint.roll_back(poison, reason=WHY)
        stands = await graph.knowledge.history("vault", live_only=True)
        assert [one.object for one in stands] == ["Ann"]
    await graph.taint.undo(done.roll_back.id, reason="it was true")
    stands = await graph.knowledge.history("vault", live_only=True)
    assert {one.object for one in stands} == {"Bob", "Rob"}


async def test_ne_08_what_was_taken_back_and_said_again_comes_back_once(ezra: Ezra) -> None:
    """The same words were set aside twice: undoing keeps the first and names the other."""
    graph = await ezra.create_session_graph("bank")
    agent = await graph.spawn_agent("bot", topics={"t"})
    poison = await agent.remember("Memo: Bob holds the code.")
    ids: list[list[str]] = []
    for _ in range(2):
        fact = await agent.remember(Fact(text="Ask Bob.", source_ids=(poison,)))
        rule = await agent.remember(Rule(trigger="The vault", steps=("Go",), source_ids=(poison,)))
        ids.append([fact, rule])
        done = await graph.taint.roll_back(poison, reason=WHY)
    undone = await graph.taint.undo(done.roll_back.id, reason="it was true")
    assert sorted(undone.roll_back.kept) == sorted(ids[1])
    hits = await agent.recall("Ask Bob: The vault", kinds=["fact", "rule"])
    assert {*ids[0], poison} == {one.id for one in hits.items}


async def test_ne_08_who_goes_on_with_what_was_exposed_takes_it_out_of_texts_made_anew(
    tmp_path: Path,
) -> None:
    """The first time they were made anew without the poison, and told what came of it still."""
    clock = MovingClock()
    async with running(tmp_path, clock, ring_capacity=1, turns_per_summary=4) as ezra:
        graph = await ezra.create_session_graph("bank")
        agent = await graph.spawn_agent("bot", topics={"t"})
        said = await (await agent.turn("Bob holds the vault's code, Bob said.")).reply("Fine.")
        await (await agent.turn("Who holds the vault's code?")).reply("Robert holds it.")
        for number in range(8):
            await (await agent.turn(f"Lap {number}: rain.")).reply("Noted.")
        await ezra.run_lifecycle_tick("bank")
        clock.move(days=2)
        await ezra.run_lifecycle_tick("bank")

        async def telling(name: str) -> set[str]:
            written = (*await graph.summaries(), *await graph.episodes())
            hits = await agent.recall("Who holds the code of the vault?", limit=50)
            return {"text" for one in written if name in one.text} | {
                "hit" for one in hits.items if name in one.text
            }

        assert await telling("Bob") == await telling("Robert") == {"text", "hit"}
        await graph.taint.roll_back(said.turn.id, reason=WHY)
        assert (await telling("Bob"), await telling("Robert")) == (set(), {"text", "hit"})
        for _ in range(2):
            done = await graph.taint.roll_back(said.turn.id, reason=WHY, exposed=True)
            assert await telling("Bob") == await telling("Robert") == set()
            assert (await graph.conservation()).ok
        await graph.taint.undo(done.roll_back.id, reason="it was true")
        assert await telling("Bob") == await telling("Robert") == {"text", "hit"}
        assert (await graph.conservation()).ok


async def test_ne_08_what_stood_again_goes_with_what_was_exposed(ezra: Ezra) -> None:
    """A belief that the poison had taken the place of was itself said with the poison in view."""
    graph = await ezra.create_session_graph("bank")
    agent = await graph.spawn_agent("bot", topics={"t"})
    poison = await agent.remember("Memo: Bob holds the code of the vault.")
    turn = await agent.turn("Who holds the code of the vault?")
    assert poison in {one for slot in turn.slots for one in slot.source_ids}
    await agent.commit("Ann, says the memo.", topic="t", key=KEY, value="Ann")
    await turn.reply("Ann.")
    await agent.commit("Bob holds it.", topic="t", key=KEY, value="Bob", sources=[poison])
    await graph.taint.roll_back(poison, reason=WHY)
    assert await held(graph) == ["Ann"]
    done = await graph.taint.roll_back(poison, reason=WHY, exposed=True)
    assert await held(graph) == []
    ends = [one.done for one in done.roll_back.items if one.kind == "belief"]
    assert ends == ["reverted", "reverted"]
    await graph.taint.undo(done.roll_back.id, reason="it was true")
    assert await held(graph) == ["Bob"]


async def test_ne_08_another_version_of_a_poisoned_document_goes_like_the_first(ezra: Ezra) -> None:
    """Putting it once more is refused; it was taken for what was there already, and not found."""
    graph = await ezra.create_session_graph("bank")
    agent = await graph.spawn_agent("bot", topics={"t"})
    name, second = "vault.md", "# Vault\n\nRob holds the code."
    await graph.documents.put(name, "# Vault\n\nBob holds the code.")
    (document,) = await graph.documents.list()
    await graph.taint.roll_back(document.id, reason=WHY)
    await graph.documents.put(name, second)
    done = await graph.taint.roll_back(document.id, reason=WHY)
    assert (await agent.recall("Who holds the code?")).items == ()
    with pytest.raises(WasRedacted, match="rolled back with this very content"):
        await graph.documents.put(name, second)
    await graph.taint.undo(done.roll_back.id, reason="it was true")
    hits = await agent.recall("Who holds the code?")
    assert [one.text for one in hits.items] == ["Vault\nRob holds the code."]


async def test_ne_08_steps_that_came_of_poison_are_traced_to_it(ezra: Ezra) -> None:
    """Steps that somebody gives a rule rest on what they name, as steps that are learnt do."""
    graph = await ezra.create_session_graph("bank")
    agent = await graph.spawn_agent("bot", topics={"t"})
    poison = await agent.remember("Memo: Bob holds the code.")
    rule_id = await agent.remember(Rule(trigger="The vault jams", steps=("Call Ann.",)))
    worse = Rule(trigger="The vault jams", steps=("Call Bob.",), source_ids=(poison,))
    assert await agent.remember(worse, supersedes=rule_id) == rule_id
    found = await graph.taint.trace(poison)
    assert [(one.id, one.exposure) for one in found.nodes[1:]] == [(rule_id, "derived")]
    done = await graph.taint.roll_back(poison, reason=WHY)
    assert (await agent.recall("The vault jams", kinds=["rule"])).items == ()
    await graph.taint.undo(done.roll_back.id, reason="it was true")
    (hit,) = (await agent.recall("The vault jams", kinds=["rule"])).items
    assert (hit.id, hit.version) == (rule_id, 2)
