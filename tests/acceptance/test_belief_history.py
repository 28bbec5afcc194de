"""Rows EZ-09, EZ-12, EZ-13, NE-01 (beliefs), NE-03 and NE-07 through the public API."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from support.runtime import MovingClock, running
from typer.testing import CliRunner

from ezra import (
    Agent,
    Commitment,
    ConfigError,
    Conflict,
    Contradiction,
    Fact,
    Graph,
    HistoricBelief,
    NotFound,
    Step,
    UsageError,
)
from ezra.app import Ezra
from ezra.cli.app import app_of

app = app_of()

SEED = "5c" * 32
START = ("start", "compound")


async def speak(agent: Agent, message: str, response: str = "", **more) -> None:  # noqa: ANN003
    """Carry one message through all eight steps."""
    await (await agent.turn(message)).reply(response, **more)


async def pair_of(ezra: Ezra, **options) -> tuple[Graph, Agent, Agent]:  # noqa: ANN003
    """Return a graph and two agents of it that hold the topic of tyres."""
    graph = await ezra.create_session_graph("imola", **options)
    strategist = await graph.spawn_agent("strategist", topics={"tyres"})
    return graph, strategist, await graph.spawn_agent("engineer", topics={"tyres", "chassis"})


def claims(beliefs: tuple[Commitment, ...]) -> list[str]:
    """Return what beliefs say."""
    return [one.claim for one in beliefs]


async def test_ez_09_what_was_believed_when_by_turn_and_by_time(tmp_path: Path) -> None:
    """Both clocks give the state captured live, across supersession, revert, rewind and pins."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph, strategist, engineer = await pair_of(ezra)
        lived = []
        for number, value in enumerate(("soft", "medium", "hard"), 1):
            turn = await strategist.turn(f"stint {number}?")
            made = await strategist.commit(
                f"Start on {value}s.", topic="tyres", key=START, value=value
            )
            await turn.reply("noted")
            if number == 2:
                await strategist.pin(made.id)
            lived.append((number, clock(), await strategist.beliefs()))
            clock.move(minutes=1)
        await speak(engineer, "and the chassis?")
        await engineer.commit("The floor is fine.", topic="chassis")
        lived.append((4, clock(), await engineer.beliefs()))
        history = graph.beliefs
        for number, moment, believed in lived:
            reader = engineer if number == 4 else strategist
            assert await reader.beliefs(as_of=number) == believed
            assert await reader.beliefs(as_of=moment) == believed
            assert await history.as_of(turn=number) == await history.as_of(moment)
        assert claims(await history.as_of(turn=0)) == []
        assert claims(await strategist.beliefs(as_of=4)) == ["Start on hards."]
        changed = await history.diff(1, 4)
        assert [(a.value, b.value) for a, b in changed.changed] == [("soft", "hard")]
        assert set(changed.by_topic()) == {"tyres", "chassis"}
        assert set(changed.by_agent()) == {"strategist", "engineer"}
        done = await history.rewind(turn=2, reason="the forecast was wrong")
        assert (len(done.ended), len(done.restored)) == (2, 1)
        now = await strategist.beliefs()
        assert [(one.claim, one.pinned) for one in now] == [("Start on mediums.", True)]
        await history.revert(now[0].id, reason="typing error")
        assert claims(await strategist.beliefs()) == ["Start on softs."]
        assert claims(await history.as_of(turn=3)) == ["Start on hards."]
        found = await history.query(topic="tyres", key=START)
        assert [one.status for one in found] == ["active", "reverted", "reverted"]
        assert claims(await history.query(as_of=2)) == ["Start on mediums."]
        assert claims(await history.query(since=3, until=4)) == ["Start on hards."]
        assert claims(await history.query(agent_id="engineer")) == ["The floor is fine."]
        first = await history.query(limit=1)
        assert claims(await history.query(after=first[0].committed_seq, limit=1)) == [
            "Start on mediums."
        ]
        report = await history.verify()
        assert report.ok, report.problems


async def test_ez_09_the_edges_of_the_calendar_are_times(tmp_path: Path) -> None:
    """Since the first moment of all is everything; what has no place in UTC is refused by name."""
    first = datetime.min.replace(tzinfo=UTC)
    outside = datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))
    async with running(tmp_path) as ezra:
        graph, strategist, _ = await pair_of(ezra)
        await strategist.commit("Start on softs.", topic="tyres")
        history = graph.beliefs
        assert claims(await history.query(since=first)) == ["Start on softs."]
        assert await history.query(until=first) == await history.as_of(first) == ()
        for asked in (
            lambda: history.query(since=outside),
            lambda: history.as_of(outside),
            lambda: graph.branch(session_graph_id="what-if", time=outside),
        ):
            with pytest.raises(UsageError, match="years 1 to 9999"):
                await asked()


async def test_ez_12_a_key_is_one_however_its_accents_were_typed(tmp_path: Path) -> None:
    """With its letters or behind them, and with space around it. What is none is refused."""
    async with running(tmp_path) as ezra:
        graph, strategist, engineer = await pair_of(ezra)
        await strategist.commit("Gate 4.", topic="tyres", key=("caf\u00e9", "gate"), value="4")
        await strategist.commit("Gate 5.", topic="tyres", key=("cafe\u0301 ", "gate"), value="5")
        assert claims(await graph.beliefs.active()) == ["Gate 5."]
        found = await graph.beliefs.query(key=("cafe\u0301", "gate"), status="superseded")
        assert claims(found) == claims(await graph.beliefs.query(subject="caf\u00e9", limit=1))
        for asked in (
            lambda: engineer.commit("Nothing.", topic=" "),
            lambda: graph.beliefs.query(topic=" "),
            lambda: graph.beliefs.set_trust("engineer", 0.5, topic=" ", reason="a test"),
        ):
            with pytest.raises(UsageError, match="topic: ' ' is not accepted"):
                await asked()
        for key in (("a",), ("a", "b", "c")):
            with pytest.raises(UsageError, match=r"key: .* accepted: \[subject, attribute\]"):
                await engineer.commit("Nothing.", key=key)
            with pytest.raises(UsageError, match=r"key: .* accepted: \[subject, attribute\]"):
                await graph.beliefs.query(key=key)


async def test_ez_09_what_is_no_moment_is_refused_by_the_name_it_was_given_under(
    tmp_path: Path,
) -> None:
    """With the value as it was given, wherever a history is asked about several moments."""
    zoneless = datetime(2026, 1, 1)  # noqa: DTZ001 - that is the case
    async with running(tmp_path) as ezra:
        graph, strategist, _ = await pair_of(ezra)
        history = graph.beliefs
        for field, asked in (
            ("since", lambda: history.query(since=zoneless)),
            ("until", lambda: history.query(until=zoneless)),
            ("as_of", lambda: history.query(as_of=zoneless)),
            ("as_of", lambda: strategist.beliefs(as_of=zoneless)),
            ("b", lambda: history.diff(0, zoneless)),
            ("time", lambda: history.as_of(zoneless)),
        ):
            with pytest.raises(UsageError) as refused:
                await asked()
            assert (refused.value.field, refused.value.value) == (field, zoneless)


async def test_ez_09_explain_names_evidence_rivals_and_receipt(tmp_path: Path) -> None:
    """Who said it, in which turn, on what tools, who disagreed, and how that was settled."""
    async with running(tmp_path) as ezra:
        graph, strategist, engineer = await pair_of(ezra)
        fact = await engineer.remember("Softs last nine laps.", topics={"tyres"})
        old = await engineer.commit("Start on softs.", topic="tyres", key=START, value="soft")
        turn = await strategist.turn("what do we start on?")
        await turn.reply("Mediums.", tool_outputs=[{"tool": "forecast", "output": "rain at two"}])
        new = await strategist.commit(
            "Start on mediums.", topic="tyres", key=START, value="medium", sources=[fact]
        )
        found = await graph.beliefs.explain(new.id)
        assert (found.belief.id, found.belief.status) == (new.id, "active")
        assert [one.id for one in found.turns] == [turn.id]
        assert [one.output for one in found.tool_outputs] == ["rain at two"]
        assert [one.text for one in found.facts] == ["Softs last nine laps."]
        assert found.receipt is not None
        assert found.receipt.id == turn.receipt_id
        assert [one.id for one in found.superseded] == [old.id]
        (decision,) = found.contradictions
        assert (decision["rival_id"], decision["winner"]) == (old.id, "new")
        assert (decision["strategy"], decision["found_by"]) == ("last_write_wins", "key")
        lost = await graph.beliefs.explain(old.id)
        assert lost.superseded_by is not None
        assert lost.superseded_by.id == new.id
        replayed = await graph.beliefs.replay(1)
        assert replayed.turn is not None
        assert replayed.turn.id == turn.id
        assert (claims(replayed.before), claims(replayed.after)) == (
            ["Start on softs."],
            ["Start on mediums."],
        )
        assert replayed.receipt == found.receipt
        with pytest.raises(NotFound):
            await graph.beliefs.explain("nobody")


async def test_ez_12_highest_trust_keeps_the_trusted_and_logs_both(tmp_path: Path) -> None:
    """The less trusted loses at once, comes back saying so, and stays in the history."""
    async with running(tmp_path) as ezra:
        graph, strategist, engineer = await pair_of(ezra, merge_strategy="highest_trust")
        await graph.beliefs.set_trust("engineer", 0.4, topic="tyres", reason="two wrong calls")
        kept = await strategist.commit("Start on softs.", topic="tyres", key=START, value="soft")
        lost = await engineer.commit("Start on hards.", topic="tyres", key=START, value="hard")
        assert isinstance(lost, HistoricBelief)
        assert (lost.status, lost.superseded_by, lost.trust) == ("superseded", kept.id, 0.4)
        assert claims(await engineer.beliefs()) == ["Start on softs."]
        (decision,) = (await graph.beliefs.explain(lost.id)).contradictions
        assert (decision["winner"], decision["trust_new"], decision["trust_old"]) == ("old", 0.4, 1)
        kinds = [event.kind for event in await graph.audit()]
        assert kinds[-3:] == ["committed", "contradiction", "reconciliation"]


async def test_ez_12_manual_asks_and_falls_back_in_time(tmp_path: Path) -> None:
    """A person decides; when nobody does in time, or badly, the last write wins and it is said."""
    async with running(tmp_path, resolution_timeout_seconds=0.05) as ezra:
        graph, strategist, engineer = await pair_of(ezra, merge_strategy="manual")
        asked: list[Contradiction] = []
        answers = iter(["old", None, "nonsense", "hang"])

        @ezra.on_contradiction
        async def decide(found: Contradiction) -> str | None:
            asked.append(found)
            answer = next(answers)
            if answer == "hang":
                await asyncio.Event().wait()
            return answer

        await strategist.commit("Softs.", topic="tyres", key=START, value="soft")
        lost = await engineer.commit("Hards.", topic="tyres", key=START, value="hard")
        assert isinstance(lost, HistoricBelief)
        assert (asked[0].claim.value, asked[0].rival.value) == ("hard", "soft")
        assert await graph.beliefs.trust("engineer", "tyres") == pytest.approx(0.8)
        for value in ("medium", "inter", "wet"):
            await engineer.commit(f"{value}s.", topic="tyres", key=START, value=value)
            assert claims(await engineer.beliefs()) == [f"{value}s."]
        assert len(asked) == 4
        reasons = [
            one["reason"]
            for belief in await graph.beliefs.query(status="active")
            for one in (await graph.beliefs.explain(belief.id)).contradictions
        ]
        assert "0.05" in reasons[-1]


async def test_ez_12_who_is_asked_or_told_may_commit_before_answering(tmp_path: Path) -> None:
    """A compromise under the same key waits for nobody: not for the commit that asks."""
    async with running(tmp_path, resolution_timeout_seconds=20) as ezra:
        compromise = "Mediums, then softs."
        for strategy, last in (("manual", "hard"), ("last_write_wins", compromise)):
            graph = await ezra.create_session_graph(strategy, merge_strategy=strategy)
            agent = await graph.spawn_agent("strategist", topics={"tyres"})
            asked: list[str | None] = []

            @ezra.on_contradiction
            async def settle(
                found: Contradiction, agent: Agent = agent, asked: list[str | None] = asked
            ) -> str:
                asked.append(found.rival.value)
                if len(asked) == 1:
                    await agent.commit(compromise, topic="tyres", key=START, value=compromise)
                return "new"

            await agent.commit("Softs.", topic="tyres", key=START, value="soft")
            async with asyncio.timeout(10):
                await agent.commit("Hards.", topic="tyres", key=START, value="hard")
            assert [one.value for one in await agent.beliefs()] == [last]
            assert asked[0] == "soft"
            statuses = [one.status for one in await graph.beliefs.query()]
            assert statuses.count("active") == 1
            assert len(statuses) == 3
            assert (await graph.beliefs.verify()).ok


async def test_ez_12_custom_resolver_and_claims_without_a_key(tmp_path: Path) -> None:
    """The resolver sees claims that contradict each other; unrelated ones retire nothing."""
    seen: list[tuple[str, str]] = []

    def resolve(found: Contradiction) -> str:
        seen.append((found.claim.claim, found.rival.claim))
        return "old"

    async with running(tmp_path) as ezra:
        graph, strategist, engineer = await pair_of(ezra, merge_strategy="custom", resolver=resolve)
        await strategist.commit("The medium tyres last 18 laps.", topic="tyres")
        await strategist.commit("The strategist likes tea.", topic="tyres")
        await engineer.commit("The medium tyres last 25 laps.", topic="tyres")
        assert seen == [("The medium tyres last 25 laps.", "The medium tyres last 18 laps.")]
        assert len(await engineer.beliefs()) == 2
        await engineer.commit("The medium tyres last 30 laps.", topic="chassis")
        assert len(seen) == 1, "another topic is another matter"
        with pytest.raises(UsageError):
            await ezra.create_session_graph("other", resolver=resolve)
        assert (await graph.beliefs.verify()).ok


async def test_ez_12_two_at_once_on_one_key_make_one_chain(tmp_path: Path) -> None:
    """Racing commits leave one active belief, every other superseded, and no gap."""
    async with running(tmp_path) as ezra:
        graph, *agents = await pair_of(ezra)
        writers = [
            agents[number % 2].commit(
                f"Plan {number}.", topic="tyres", key=START, value=str(number)
            )
            for number in range(20)
        ]
        made = await asyncio.gather(*writers)
        history = graph.beliefs
        found = await history.query(key=START)
        assert sorted(one.id for one in found) == sorted(one.id for one in made)
        assert [one.status for one in found].count("active") == 1
        events = await history.events()
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert [event.kind for event in events].count("committed") == 20
        assert (await history.verify()).ok


async def test_ez_12_claims_without_a_key_made_at_once_see_each_other(tmp_path: Path) -> None:
    """Agents that contradict each other at the same moment do as they would one after the other."""
    async with running(tmp_path) as ezra:
        graph, *agents = await pair_of(ezra)
        said = ("The pit lane is open.", "The pit lane is not open.")
        writers = [
            agents[number % 2].commit(said[number % 2], topic="tyres") for number in range(10)
        ]
        made = await asyncio.gather(*writers)
        history = graph.beliefs
        (kept,) = await history.active()
        assert kept.id in {one.id for one in made}
        kinds = [event.kind for event in await history.events()]
        assert kinds.count("committed") == 10
        assert kinds.count("superseded") == 9
        assert kinds.count("contradicted") >= 1
        assert (await history.verify()).ok


async def test_ez_13_branch_change_spawn_run_forward_and_diff(tmp_path: Path) -> None:
    """A what-if begins with what was believed, goes on alone, and is told apart by topic."""
    async with running(tmp_path, signing_key=SEED) as ezra:
        graph, strategist, _engineer = await pair_of(ezra)
        for value in ("soft", "medium"):
            await speak(strategist, f"start on {value}?", f"yes, {value}")
            await strategist.commit(f"Start on {value}s.", topic="tyres", key=START, value=value)
        await strategist.remember("The wing is at 28.", topics={"tyres"})
        branch = await graph.branch(turn=1, session_graph_id="what-if")
        origin = await branch.beliefs.origin()
        assert origin is not None
        assert (origin.graph_id, origin.turn, origin.seq) == ("imola", 1, 1)
        assert origin.head is not None
        assert origin.head.last_hash == origin.last_hash
        assert claims(await branch.beliefs.active()) == ["Start on softs."]
        newcomer = await branch.spawn_agent("newcomer", topics={"*"})

        async def step(taken: Step) -> str:
            turn = await newcomer.turn(taken.turn.input)
            await turn.reply("no")
            await newcomer.commit(f"Not {taken.turn.input}", topic="tyres")
            return taken.turn.input

        assert await branch.run_forward(step) == ("start on medium?",)
        difference = await graph.diff(branch)
        assert claims(difference.ended) == ["Start on mediums."]
        assert claims(difference.began) == ["Start on softs.", "Not start on medium?"]
        assert set(difference.by_agent()) == {"strategist", "newcomer"}
        assert claims(await strategist.beliefs()) == ["Start on mediums."], (
            "the parent is untouched"
        )
        assert (await branch.beliefs.verify()).ok
        with pytest.raises(Conflict):
            await graph.branch(turn=1, session_graph_id="what-if")
        with pytest.raises(UsageError):
            await graph.run_forward(step)


async def test_ez_13_a_branch_reads_facts_as_of_the_same_turn_as_beliefs(tmp_path: Path) -> None:
    """A turn lasts until the next one is opened; before the first there is only what was there."""

    def core(text: str) -> Fact:
        return Fact(text=text, tier="core")

    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph, strategist, _engineer = await pair_of(ezra)
        for number in (1, 2):
            await strategist.remember(core(f"Stint plan {number}."))
            await strategist.commit(f"Plan {number} holds.", topic="tyres")
            clock.move(minutes=1)
            turn = await strategist.turn(f"stint {number}?")
            clock.move(minutes=1)
            await strategist.remember(core(f"Stint note {number}."))
            await turn.reply("noted")
            clock.move(minutes=1)
        await strategist.remember(core("Stint plan 3."))
        told = ["Stint plan 1.", "Stint note 1.", "Stint plan 2.", "Stint note 2.", "Stint plan 3."]
        for number, until in ((0, 1), (1, 3), (2, 5)):
            branch = await graph.branch(turn=number, session_graph_id=f"after {number}")
            reader = await branch.spawn_agent("reader", topics={"*"})
            hits = await reader.recall("stint plan note", kinds=["fact"])
            assert {one.text for one in hits.items} == set(told[:until])
            believed = [f"Plan {one} holds." for one in (1, 2)][: min(number + 1, 2)]
            assert claims(await branch.beliefs.active()) == believed


@pytest.mark.parametrize("turn", [None, 0, 1])
async def test_ez_13_a_branch_that_was_cut_off_may_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: int | None
) -> None:
    """Also when its moment is now, and time went on; one that is finished is in the way."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph, strategist, _engineer = await pair_of(ezra)
        await strategist.commit("Plan 1 holds.", topic="tyres")
        clock.move(minutes=1)
        await speak(strategist, "stint 1?")
        clock.move(minutes=1)

        async def cut(*_: object) -> bool:
            raise asyncio.CancelledError

        with monkeypatch.context() as patched:
            patched.setattr(type(graph._runtime.beliefs), "adopt", cut)
            with pytest.raises(asyncio.CancelledError):
                await graph.branch(session_graph_id="what-if", turn=turn)
        clock.move(minutes=1)
        await strategist.commit("Plan 2 holds.", topic="tyres")
        with pytest.raises(Conflict):
            await graph.branch(session_graph_id="what-if", time=clock())
        branch = await graph.branch(session_graph_id="what-if", turn=turn)
        if turn is None:
            assert claims(await branch.beliefs.active()) == ["Plan 1 holds."]
        with pytest.raises(Conflict):
            await graph.branch(session_graph_id="what-if", turn=turn)


async def test_ne_03_redaction_keeps_the_chain_and_reaches_branches(tmp_path: Path) -> None:
    """The claim is gone here and in the branch, the log verifies, and the receipt is signed."""
    async with running(tmp_path, signing_key=SEED) as ezra:
        graph, strategist, engineer = await pair_of(ezra)
        secret = await strategist.commit(
            "Quillon has pneumonia.", topic="tyres", key=("Quillon", "health"), value="pneumonia"
        )
        await strategist.pin(secret.id)
        branch = await graph.branch(session_graph_id="what-if")
        await engineer.commit("Quillon is well.", topic="tyres", key=("Quillon", "health"))
        await branch.revoke("imola")  # it holds copies all the same
        earlier = await graph.beliefs.seq_at()
        report = await graph.beliefs.redact(secret.id, reason="GDPR 17")
        assert report.is_complete
        assert report.ids["belief"] == (secret.id,)
        assert set(report.branches) == {"what-if"}
        assert report.receipt is not None
        assert report.receipt.public_key == await ezra.public_key()
        shown = [*await graph.beliefs.as_of(seq=2), *await graph.beliefs.query()]
        shown += [*await branch.beliefs.query(), *await engineer.beliefs()]
        assert "pneumonia" not in "".join(one.model_dump_json() for one in shown)
        assert claims(await graph.beliefs.as_of(seq=1)) == ["[redacted]"]
        logged = await graph.beliefs.logged()
        assert logged[0].content is None
        assert logged[0].salt is None
        for one in (graph, branch):
            assert (await one.beliefs.verify()).ok
        assert await graph.beliefs.seq_at() == earlier + 1
        again = await graph.beliefs.redact(secret.id, reason="GDPR 17")
        assert await graph.beliefs.seq_at() == earlier + 1
        assert again.is_complete


async def test_ne_07_an_export_is_verified_with_the_public_key_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Intact it passes, touched it is located, rewritten it fails against a head kept elsewhere."""
    file, anchor = tmp_path / "imola.jsonl", tmp_path / "head.json"
    async with running(tmp_path / "home", signing_key=SEED) as ezra:
        graph, strategist, _ = await pair_of(ezra)
        for number in range(5):
            await strategist.commit(f"Plan {number}.", topic="tyres", key=START, value=str(number))
        anchor.write_text((await graph.beliefs.sign()).model_dump_json())
        proof = await graph.beliefs.prove(3)
        assert proof.holds()
        for number in range(5, 8):
            await strategist.commit(f"Plan {number}.", topic="tyres", key=START, value=str(number))
        assert (await graph.beliefs.export(file)).events == await graph.beliefs.seq_at()
        public_key = await ezra.public_key()
    monkeypatch.setenv("EZRA_HOME", str(tmp_path / "nowhere"))
    runner = CliRunner()
    options = ["audit", "verify", str(file), "--public-key", public_key, "--anchor", str(anchor)]
    assert runner.invoke(app, [*options, "--json"]).exit_code == 0
    lines = file.read_bytes().splitlines(keepends=True)
    lines[4] = lines[4].replace(b"Plan 1", b"Plan X", 1).replace(b"superseded", b"reverted", 1)
    file.write_bytes(b"".join(lines))
    told = runner.invoke(app, [*options, "--json"])
    assert told.exit_code == 1
    assert 5 in {problem["line"] for problem in json.loads(told.stdout)["problems"]}
    assert not (tmp_path / "nowhere").exists()


async def test_history_refuses_what_it_cannot_mean(tmp_path: Path) -> None:
    """Bad moments, empty reasons and missing keys are refused by name, and nothing is written."""
    async with running(tmp_path) as ezra:
        graph, strategist, _ = await pair_of(ezra)
        made = await strategist.commit("Softs.", topic="tyres")
        history = graph.beliefs
        for refused in (
            history.as_of(),
            history.as_of(1, turn=1),
            history.as_of(turn=-1),
            history.as_of(seq=99),
            history.revert(made.id, reason=" "),
            history.rewind(turn=0, reason=""),
            history.redact(made.id, reason=""),
            history.set_trust("strategist", 1.5, reason="x"),
            graph.branch(turn=1, time=ezra_time(), session_graph_id="b"),
            graph.erase(reason="x"),
            graph.erase(subject="a", user_id="b", reason="x"),
            graph.erase(subject="Ann Lee", reason="asked for by Ms. Lee"),
            ezra.erase(subject="Ann Lee", reason="lee, ann"),
        ):
            with pytest.raises(UsageError):
                await refused
        with pytest.raises(NotFound):
            await history.revert("nobody", reason="x")
        assert await history.seq_at() == 1


def ezra_time():  # noqa: ANN201
    """Return some time."""
    return MovingClock()()


async def test_without_a_key_everything_but_signing_works(tmp_path: Path, tiers: str) -> None:
    """An installation without a folder has no key: heads are refused by name, the rest works."""
    async with running(tmp_path) as ezra:
        graph, strategist, _ = await pair_of(ezra)
        await strategist.commit("Softs.", topic="tyres")
        if tiers == "embedded":
            assert (await graph.beliefs.sign()).size == 1
            assert await ezra.rotate_key() == await ezra.public_key()
            assert (await graph.beliefs.verify()).ok
            return
        with pytest.raises(ConfigError, match="EZRA_SIGNING_KEY"):
            await graph.beliefs.sign()
        done = await graph.beliefs.export(tmp_path / "unsigned.jsonl")
        assert done.key_id is None
