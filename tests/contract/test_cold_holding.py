"""The contract of ``Redactor.holding``: what speaks of a subject, or belongs to a user."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from support.cold_backends import Cold
from support.cold_samples import (
    IDS,
    OPERATOR,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    belief_by,
    episode_by,
    fact_by,
    graph_of,
    receipt_by,
    rule_by,
    summary_by,
    turn_by,
)
from support.redactions import LATER
from support.tier_samples import NOW, scope_of

from tiers.errors import UsageError
from tiers.fleet import SERVED_MAX, AgentRecord, Served
from tiers.records import Scope, ToolOutput

ANNE = "Ann  O'Neil"
NEAR = "Annual Joanne Ann O Neil, Ann O'Neila, %, _, .*, Ann-Oneila"
ADA = scope_of(user_id="ada", topics=("strategy",))


async def _found(
    cold: Cold, *, limit: int = 1000, scope: Scope = OPERATOR, **what: Any
) -> list[str]:
    """Return the ids of every page, each record once."""
    found: list[str] = []
    cursor: str | None = ""
    for _ in range(100):
        page = await cold.redactor.holding(scope, cursor=cursor, limit=limit, **what)
        assert len(page.rows) <= limit
        assert {row.graph_id for row in page.rows} <= {scope.graph_id}
        found += [row.id for row in page.rows]
        cursor = page.cursor
        if cursor is None:
            assert len(found) == len(set(found))
            return sorted(found)
    raise AssertionError("the pages do not end")


async def _store(cold: Cold, scope: Scope, name: str) -> list[str]:
    """Store records of which each says a name in another text; return their ids."""
    tool = ToolOutput(tool="search", output=f"found {name}")
    turns = [
        turn_by(scope, f"Ask {name.upper()}!"),
        turn_by(scope, "x", response=f"{name}'s car", private=True),
        turn_by(scope, "x", tool_outputs=(tool,)),
        turn_by(scope, "x", speaker=name),
    ]
    told = [(await cold.turns.append_turn(scope, one))[0] for one in turns]
    summary = summary_by(scope, told[:1], text=f"({name.lower()})")
    episode = episode_by(scope, [summary.id], text=f"About\n{name}")
    facts = [
        fact_by(scope, f"{name} won."),
        fact_by(scope, f"one {IDS.new()}", subject=name, predicate="y", object="z"),
        fact_by(
            scope,
            f"two {IDS.new()}",
            subject="x",
            predicate="y",
            object=f"z of {name}",
            private=True,
        ),
    ]
    rules = [rule_by(scope, f"asked for {name}"), rule_by(scope, "x", steps=("y", f"Call {name}"))]
    beliefs = [
        belief_by(scope, f"{name} is right.", key=None),
        belief_by(scope, "x", key=(name, "y")),
        belief_by(scope, "x", key=("x", name), private=True),
        belief_by(scope, "x", key=None, value=name),
    ]
    await cold.episodic.put_summary(scope, summary)
    await cold.episodic.put_episode(scope, episode)
    for fact in facts:
        await cold.semantic.put_fact(scope, fact)
    for rule in rules:
        await cold.procedural.put_rule(scope, rule)
    for belief in beliefs:
        await cold.beliefs.commit(scope, belief)
    return sorted(one.id for one in (*told, summary, episode, *facts, *rules, *beliefs))


async def test_whatever_text_it_is_in(cold: Cold) -> None:
    """Of every kind, private or not, by whomever; near misses, other graphs and tenants aside."""
    for owner in (SCOPE, OTHER_GRAPH, OTHER_TENANT):
        await cold.graphs.create_graph(graph_of(owner.graph_id, tenant=owner.tenant))
    expected = await _store(cold, SCOPE, ANNE)
    await _store(cold, SCOPE, NEAR)
    for stranger in (OTHER_GRAPH, OTHER_TENANT):
        await _store(cold, stranger, ANNE)
    for subject in ("Ann O'Neil", " ann\n\to'neil ", "\uff21nn O'Neil"):
        assert await _found(cold, subject=subject) == expected, subject
    assert await _found(cold, subject="Ann O'Neil", limit=2) == expected
    assert await _found(cold, subject="Ann O'Neil", scope=scope_of(agent_id="officer")) == expected
    near = await _found(cold, subject="Joanne")
    assert len(near) == len(expected)
    for pattern in ("%", "_", ".*"):
        assert await _found(cold, subject=pattern) == near, pattern
    for pattern in ("A%", "Ann_O'Neil", "Ann.O'Neil", "^Ann", '{"$gt": ""}', "searc"):
        assert await _found(cold, subject=pattern) == [], pattern
    assert len(await _found(cold, subject="search")) == 2, "what a tool is called is said as well"
    page = await cold.redactor.holding(OPERATOR, subject="Ann O'Neil")
    assert page.cursor is None
    assert {row.agent_id for row in page.rows} == {None, "strategist"}
    assert sum(row.agent_id is not None for row in page.rows) == 3


async def test_why_a_belief_was_taken_back_speaks_of_somebody_too(cold: Cold) -> None:
    """The reason goes with the belief, and the log verifies without it."""
    await cold.graphs.create_graph(graph_of("race"))
    beliefs = [belief_by(SCOPE, f"Belief {number}.", key=None) for number in range(2)]
    for belief, reason in zip(beliefs, (f"{ANNE} said so", "she said so"), strict=True):
        await cold.beliefs.commit(SCOPE, belief)
        await cold.beliefs.revert(SCOPE, belief.id, reason, LATER)
    assert await _found(cold, subject=ANNE) == [beliefs[0].id]
    await cold.redactor.redact(OPERATOR, [beliefs[0].id], "asked to", LATER)
    assert await _found(cold, subject=ANNE) == []
    logged = await cold.history.logged(OPERATOR)
    assert "Neil" not in f"{logged}"
    assert "she said so" in f"{logged}"


async def test_what_is_redacted_speaks_of_nobody(cold: Cold) -> None:
    """Redacting all that was found leaves nothing to find, by subject and by user."""
    await cold.graphs.create_graph(graph_of("race"))
    expected = await _store(cold, ADA, ANNE)
    assert await _found(cold, subject=ANNE) == expected
    assert await _found(cold, user_id="ada") == expected
    await cold.redactor.redact(OPERATOR, expected[::2], "asked to", LATER)
    left = await _found(cold, subject=ANNE)
    assert left
    assert set(left) < set(expected[1::2])
    assert await _found(cold, user_id="ada") == left
    await cold.redactor.redact(OPERATOR, left, "asked to", LATER)
    assert await _found(cold, subject=ANNE) == []
    assert await _found(cold, user_id="ada") == []


async def test_a_user_is_one_person(cold: Cold) -> None:
    """Not what is of nobody, of a user whose name begins alike, or what speaks of the user."""
    await cold.graphs.create_graph(graph_of("race"))
    expected = await _store(cold, ADA, "x")
    for other in (None, "Ada", "adam", "ad", "%"):
        scope = scope_of(user_id=other, topics=("strategy",), agent_id=f"of {other}")
        await _store(cold, scope, f"ada {other}")
    assert await _found(cold, user_id="ada") == expected
    assert await _found(cold, user_id="ada", limit=3) == expected
    assert len(await _found(cold, user_id="%")) == len(expected)
    assert await _found(cold, user_id="a%") == []


async def test_what_an_agent_wrote_is_its_own(cold: Cold) -> None:
    """Not what an agent of another name wrote, whoever the user is; nobody's is under no name."""
    await cold.graphs.create_graph(graph_of("race"))
    expected = await _store(cold, scope_of(agent_id="pit", topics=("strategy",)), "x")
    await _store(cold, scope_of(agent_id="pit wall", user_id="pit", topics=("strategy",)), "pit")
    assert await _found(cold, agent_id="pit") == expected
    assert await _found(cold, agent_id="pit", limit=2) == expected
    assert await _found(cold, agent_id="") == await _found(cold, agent_id="p%") == []


async def test_a_page_looks_at_so_many_records(cold: Cold) -> None:
    """It ends there, whether it found any or not, and the next goes on behind."""
    await cold.graphs.create_graph(graph_of("race"))
    for number in range(3):
        await cold.procedural.put_rule(SCOPE, rule_by(SCOPE, f"rule {number}"))
    first = await cold.redactor.holding(OPERATOR, subject="rule", limit=1)
    second = await cold.redactor.holding(OPERATOR, subject="rule", limit=1, cursor=first.cursor)
    assert [len(page.rows) for page in (first, second)] == [1, 1]
    assert first.rows != second.rows
    with pytest.raises(UsageError, match="cursor"):
        await cold.redactor.holding(OPERATOR, subject="rule", cursor=first.cursor + "x")


async def test_what_cannot_be_looked_for(cold: Cold) -> None:
    """Nothing, both, blanks, and pages of no size."""
    refused: tuple[dict[str, str], ...] = (
        {}, {"subject": "a", "user_id": "b"}, {"agent_id": "a", "user_id": "b"},
        {"subject": " \n"}, {"user_id": ""},
    )  # fmt: skip
    for what in refused:
        with pytest.raises(UsageError):
            await cold.redactor.holding(OPERATOR, **what)
    for limit in (0, 1_001):
        with pytest.raises(UsageError, match="limit"):
            await cold.redactor.holding(OPERATOR, subject="a", limit=limit)
    assert await _found(cold, subject="a", scope=scope_of(graph_id="unknown")) == []


async def test_receipts_that_no_record_leads_to_are_blanked(cold: Cold) -> None:
    """By what they say anywhere, whom they were given to, or what they name; ids stay; once."""
    slot = {"text": f"as {ANNE} said", "id": "r1", "score": 0.5}
    asked = receipt_by(query=f"Where is {ANNE}?", body={})
    saw = receipt_by(query="Where?", body={"slots": [slot]})
    near = receipt_by(query=NEAR, body={"slots": []})
    told = receipt_by(query="What is?", body={"slots": [{"source_ids": ["r2"]}], "not": "r22"})
    theirs = receipt_by(SCOPE.for_agent("another"), query="What now?", body={})
    foreign = receipt_by(OTHER_GRAPH, query=f"Where is {ANNE}?", body={})
    for scope, receipt in (
        (SCOPE, asked),
        (SCOPE, saw),
        (SCOPE, near),
        (SCOPE, told),
        (SCOPE.for_agent("another"), theirs),
        (OTHER_GRAPH, foreign),
    ):
        await cold.log.put_receipt(scope, receipt)
    blank = cold.redactor.blank_receipts
    assert sorted(await blank(OPERATOR, subject=ANNE)) == sorted((asked.id, saw.id))
    assert await blank(OPERATOR, agent_ids=["another"]) == (theirs.id,)
    assert await blank(OPERATOR, record_ids=["r22x", "r2"]) == (told.id,)
    for again in ({"subject": ANNE}, {"agent_ids": ["another"]}, {"record_ids": ["r2"]}):
        assert await blank(OPERATOR, **again) == ()
    left = {one.id: await cold.log.receipt(OPERATOR, one.id) for one in (asked, saw, theirs)}
    assert {one.query for one in left.values() if one} == {""}
    assert left[saw.id].body == {"slots": [slot | {"text": ""}]}
    assert await cold.log.receipt(OPERATOR, near.id) == near
    assert await cold.log.receipt(OTHER_GRAPH, foreign.id) == foreign
    for refused in ({}, {"subject": " "}):
        with pytest.raises(UsageError):
            await blank(OPERATOR, **refused)


async def test_what_retention_has_emptied_is_found_as_long_as_it_keeps_marks(cold: Cold) -> None:
    """By whoever wrote it, whom that served then, and in all that there is; then by nobody."""
    await cold.graphs.create_graph(graph_of("race"))
    turn, fact = turn_by(ADA, "Ann won."), fact_by(ADA, "Bob won.")
    kept = fact_by(scope_of(agent_id="officer"), "Kim won.")
    await cold.turns.append_turn(ADA, turn)
    await cold.semantic.put_fact(ADA, fact)
    await cold.semantic.put_fact(scope_of(agent_id="officer"), kept)
    gone = sorted((turn.id, fact.id))
    assert sorted(await cold.grains.retire(OPERATOR, gone, "retention", LATER)) == gone
    service = {turn.agent_id: [Served(user_id="ada")]}
    asked: tuple[tuple[dict[str, Any], list[str]], ...] = (
        ({"agent_id": turn.agent_id}, gone),
        ({"user_id": "ada", "shared_by": service}, gone),
        ({"user_id": "ada"}, []),
        ({"everything": True}, sorted((*gone, kept.id))),
    )
    for whose, expected in asked:
        assert await _found(cold, **whose) == expected, whose
    await cold.redactor.redact(OPERATOR, gone, "asked to", LATER, found=True)
    for whose, expected in asked:
        assert await _found(cold, **whose) == [one for one in expected if one == kept.id], whose
    with pytest.raises(UsageError):
        await _found(cold, everything=True, agent_id=turn.agent_id)


async def test_all_receipts_and_all_roles_are_emptied_at_once(cold: Cold) -> None:
    """Whoever was given them, nobody included; of this graph alone, and once."""
    for graph in (SCOPE, OTHER_GRAPH):
        await cold.graphs.create_graph(graph_of(graph.graph_id))
        member = {"tenant": graph.tenant, "graph_id": graph.graph_id, "spawned_at": NOW}
        for role, prompts in (("Helps Ann.", {"daily": "Ann first."}), ("", {})):
            agent = AgentRecord(id=f"a{len(role)}", role=role, prompts=prompts, **member)
            await cold.fleet.spawn(agent)
        for scope in (graph, Scope.of_graph(graph.tenant, graph.graph_id)):
            await cold.log.put_receipt(scope, receipt_by(scope, query="Where is Ann?", body={}))
    assert len(await cold.redactor.blank_receipts(OPERATOR, everything=True)) == 2
    assert await cold.redactor.blank_receipts(OPERATOR, everything=True) == ()
    assert await cold.redactor.erase_roles(OPERATOR, None, "asked to", LATER) == ("a10",)
    assert await cold.redactor.erase_roles(OPERATOR, None, "asked to", LATER) == ()
    assert {(one.role, *one.prompts) for one in await cold.fleet.agents(SCOPE)} == {("",)}
    assert "Helps Ann." in {one.role for one in await cold.fleet.agents(OTHER_GRAPH)}
    assert len(await cold.redactor.blank_receipts(OTHER_GRAPH.for_graph(), everything=True)) == 2


async def test_what_an_agent_shared_is_the_users_whom_it_served_then(cold: Cold) -> None:
    """Not whom it serves now: it may be another one, or nobody; so it is with its receipts."""
    await cold.graphs.create_graph(graph_of("race"))
    member = AgentRecord(
        tenant=SCOPE.tenant, graph_id="race", id=str(SCOPE.agent_id), spawned_at=NOW
    )
    said: list[str] = []
    receipts: list[str] = []
    users = ("ada", "bob", None, "ada")
    for hour, user_id in enumerate(users):
        at = NOW + timedelta(hours=hour)
        served = {"user_id": user_id, "spawned_at": at, "seen_at": at}
        await cold.fleet.spawn(member.model_copy(update=served))
        then = {"recorded_at": at + timedelta(minutes=1)}
        shared = fact_by(SCOPE, f"Shared {hour}.").model_copy(update=then)
        await cold.semantic.put_fact(SCOPE, shared)
        receipt = receipt_by(SCOPE, query=f"Asked {hour}?").model_copy(update=then)
        await cold.log.put_receipt(SCOPE, receipt)
        said.append(shared.id)
        receipts.append(receipt.id)
    (kept,) = await cold.fleet.agents(SCOPE)
    assert [one.user_id for one in kept.served] == ["ada", "bob"]
    for user_id in ("ada", "bob", "ad"):
        theirs = [place for place, user in enumerate(users) if user == user_id]
        service = {kept.id: kept.service_of(user_id)}
        found = await _found(cold, user_id=user_id, shared_by=service)
        assert found == sorted(said[place] for place in theirs), user_id
        blanked = await cold.redactor.blank_receipts(OPERATOR, shared_by=service)
        assert sorted(blanked) == sorted(receipts[place] for place in theirs), user_id


def test_an_agent_remembers_whom_it_served_within_bounds() -> None:
    """Of too many stretches the first two of one user become one, which holds what lies between."""
    member = AgentRecord(tenant="acme", graph_id="race", id="a", spawned_at=NOW)
    for hour in range(SERVED_MAX + 3):
        at = NOW + timedelta(hours=hour)
        update = {"user_id": f"u{hour % 7}", "seen_at": at}
        member = member.model_copy(update=update).succeeding(member)
    assert len(member.served) == SERVED_MAX
    first = member.service_of("u0")[0]
    assert first.until == NOW + timedelta(hours=15)
    served = {f"u{n}" for n in range(SERVED_MAX * 2)}
    for hour in range(SERVED_MAX * 2):
        at = NOW + timedelta(days=30, hours=hour)
        member = member.model_copy(update={"user_id": f"u{hour}", "seen_at": at}).succeeding(member)
    assert len(member.served) == SERVED_MAX
    assert {one.user_id for one in member.served} < served
