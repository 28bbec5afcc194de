"""The contract of ``UsageStore``."""

from __future__ import annotations

import asyncio

import pytest
from support.cold_backends import Cold
from support.cold_samples import HOSTILE_NAMES, fact_by, rule_by
from support.tier_samples import TWIN_SCOPES, scope_of

from tiers.errors import BudgetExceeded
from tiers.records import Budget, Scope, Usage
from tiers.turn_io import Charge

ANN, BEN, GRAPH = (scope_of(agent_id=name) for name in ("ann", "ben", None))
FREE = Budget()
SOME = Usage(tokens=3, model_calls=2, writes=1)


async def _counts(cold: Cold) -> list[Usage]:
    return [await cold.usage.usage(scope) for scope in (ANN, BEN, GRAPH)]


async def test_unused_is_nothing(cold: Cold) -> None:
    """Whoever has used nothing has counts of 0, and is in no list."""
    assert await _counts(cold) == [Usage()] * 3
    assert await cold.usage.usage_by_agent(GRAPH) == {}
    await cold.usage.refund(ANN, SOME)
    await cold.usage.charge(ANN, Usage(), Budget(tokens=0), Budget(tokens=0))
    assert await cold.usage.usage_by_agent(GRAPH) == {}


async def test_charge_counts_for_the_agent_and_its_graph(cold: Cold) -> None:
    """What nobody in particular has used is the graph's alone."""
    await cold.usage.charge(ANN, SOME, FREE, FREE)
    await cold.usage.charge(ANN, Usage(tokens=1), FREE, FREE)
    await cold.usage.charge(BEN, SOME, FREE, FREE)
    await cold.usage.charge(GRAPH, Usage(writes=5), Budget(writes=0), FREE)
    of_ann = Usage(tokens=4, model_calls=2, writes=1)
    whole = Usage(tokens=7, model_calls=4, writes=7)
    assert await _counts(cold) == [of_ann, SOME, whole]
    assert await cold.usage.usage_by_agent(GRAPH) == {"ann": of_ann, "ben": SOME}


@pytest.mark.parametrize(
    ("scope", "of_agent", "of_graph", "told"),
    [
        (ANN, Budget(tokens=7), FREE, ("agent 'ann'", "tokens", 6, 2, 7)),
        (ANN, FREE, Budget(writes=4), ("session graph 'race'", "writes", 4, 1, 4)),
        (ANN, Budget(writes=2), Budget(writes=4), ("agent 'ann'", "writes", 2, 1, 2)),
        (GRAPH, Budget(tokens=0), Budget(tokens=12), ("session graph 'race'", "tokens", 12, 2, 12)),
        (BEN, Budget(writes=0), FREE, ("agent 'ben'", "writes", 2, 1, 0)),
    ],
    ids=["agent", "graph", "both", "graph alone", "lowered"],
)
async def test_charge_above_a_limit_counts_nothing(
    cold: Cold,
    scope: Scope,
    of_agent: Budget,
    of_graph: Budget,
    told: tuple[str, str, int, int, int],
) -> None:
    """Neither for the agent nor for the graph; the error says whose limit, and all of the sum."""
    for _ in range(2):
        await cold.usage.charge(ANN, SOME, FREE, FREE)
        await cold.usage.charge(BEN, SOME, FREE, FREE)
    before = await _counts(cold)
    with pytest.raises(BudgetExceeded) as refusal:
        await cold.usage.charge(scope, Usage(tokens=2, writes=1), of_agent, of_graph)
    error = refusal.value
    assert (error.whose, error.what, error.used, error.asked, error.limit) == told
    assert await _counts(cold) == before
    # What is not asked for is not looked at, and up to its limit a count may come.
    room = Budget(tokens=0, model_calls=100)
    await cold.usage.charge(scope, Usage(model_calls=1), room, Budget(model_calls=9, writes=0))
    assert (await cold.usage.usage(GRAPH)).model_calls == 9
    # What is needed besides must be left, and is not counted.
    before = await _counts(cold)
    writes = (await cold.usage.usage(GRAPH)).writes
    needing = (scope, Usage(model_calls=1), Budget(), Budget(writes=writes))
    with pytest.raises(BudgetExceeded, match="writes"):
        await cold.usage.charge(*needing, Usage(writes=1))
    assert await _counts(cold) == before
    await cold.usage.charge(*needing)


async def test_refund_takes_back_and_never_below_nothing(cold: Cold) -> None:
    """For the agent and its graph; what comes back to nothing is used by nobody."""
    await cold.usage.charge(ANN, SOME, FREE, FREE)
    await cold.usage.charge(BEN, Usage(tokens=10), FREE, FREE)
    await cold.usage.refund(ANN, Usage(tokens=1))
    assert await _counts(cold) == [
        Usage(tokens=2, model_calls=2, writes=1),
        Usage(tokens=10),
        Usage(tokens=12, model_calls=2, writes=1),
    ]
    await cold.usage.refund(ANN, Usage(tokens=5, model_calls=5, writes=5))
    assert await _counts(cold) == [Usage(), Usage(tokens=10), Usage(tokens=7)]
    assert await cold.usage.usage_by_agent(GRAPH) == {"ben": Usage(tokens=10)}


async def test_racing_charges_never_pass_a_limit(processes: Cold) -> None:
    """Sixty charges of three agents and room for 31: so many are counted, each twice or never."""
    limit = Budget(writes=31)
    scopes = [scope_of(agent_id=f"agent-{number % 3}") for number in range(60)]
    answers = await asyncio.gather(
        *(
            processes.usage.charge(scope, Usage(writes=1), Budget(writes=14), limit)
            for scope in scopes
        ),
        return_exceptions=True,
    )
    assert sum(answer is None for answer in answers) == 31
    assert sum(isinstance(answer, BudgetExceeded) for answer in answers) == 29
    charged = [scope.agent_id for scope, one in zip(scopes, answers, strict=True) if one is None]
    by_agent = await processes.usage.usage_by_agent(GRAPH)
    assert {name: used.writes for name, used in by_agent.items()} == {
        name: charged.count(name) for name in set(charged)
    }
    assert max(used.writes for used in by_agent.values()) <= 14
    assert (await processes.usage.usage(GRAPH)).writes == 31


@pytest.mark.parametrize(("one", "other"), TWIN_SCOPES)
async def test_names_that_look_alike_are_different(
    cold: Cold, one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    """Prefixes, separators and case do not mix counts up."""
    await cold.usage.charge(scope_of(*one), SOME, FREE, FREE)
    assert await cold.usage.usage(scope_of(*other)) == Usage()
    of_other = Usage() if one[:2] != other[:2] else SOME
    assert await cold.usage.usage(scope_of(*other[:2], agent_id=None)) == of_other
    await cold.usage.refund(scope_of(*other), SOME)
    assert await cold.usage.usage(scope_of(*one)) == SOME


async def test_hostile_names_are_just_names(cold: Cold) -> None:
    """SQL, placeholders and odd characters in ids are counted like any other."""
    for name in HOSTILE_NAMES:
        scope = scope_of(name, name, name)
        await cold.usage.charge(scope, SOME, FREE, FREE)
        assert await cold.usage.usage_by_agent(scope) == {name: SOME}


async def test_a_fact_and_a_rule_are_charged_once_in_their_own_step(cold: Cold) -> None:
    """A repetition is free, also at the limit; a new one beyond it leaves nothing behind."""
    charge = Charge(Usage(writes=1), of_graph=Budget(writes=2))
    fact, rule = fact_by(ANN, "It rains."), rule_by(ANN, "rain")
    for is_first in (True, False):
        assert (await cold.semantic.put_fact(ANN, fact, (), charge))[1] is is_first
        assert (await cold.procedural.put_rule(ANN, rule, (), charge))[1] is is_first
    other, another = fact_by(ANN, "It snows."), rule_by(ANN, "snow")
    with pytest.raises(BudgetExceeded):
        await cold.semantic.put_fact(ANN, other, (), charge)
    with pytest.raises(BudgetExceeded):
        await cold.procedural.put_rule(ANN, another, (), charge)
    assert await cold.semantic.facts(ANN, [other.id]) == ()
    assert await cold.playbooks.rules(ANN, [another.id]) == ()
    assert await cold.usage.usage(ANN) == await cold.usage.usage(GRAPH) == Usage(writes=2)
