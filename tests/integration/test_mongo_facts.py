"""Facts, rules and what is learnt in MongoDB: steps cut off at every command, racing writers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from support.cold_samples import OPERATOR, SCOPE, draft, fact_by, heir_of, rule_by
from support.mongo_deployments import COMMANDS_MAX, Deployment, Operation, deployed
from support.tier_samples import NOW, scope_of

from tiers.learning import Verdict

HOUR = timedelta(hours=1)
EVERY = ("index", "compress", "learn", "judge")
WORK = [draft("a"), draft("b", "learn")]
CHILD = heir_of("race", scope=scope_of(graph_id="imola", topics=("tyres",)))


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    """A server for all tests of this file."""
    with deployed() as found:
        yield found


async def _nothing(_: Any) -> None:
    return None


def _putting_a_fact() -> Operation:
    fact = fact_by()
    return Operation(lambda cold: cold.semantic.put_fact(SCOPE, fact, WORK), _nothing)


def _putting_a_rule() -> Operation:
    rule = rule_by()
    return Operation(lambda cold: cold.procedural.put_rule(SCOPE, rule, WORK), _nothing)


def _promoting() -> Operation:
    fact = fact_by()

    async def act(cold: Any) -> bool:
        return await cold.semantic.set_tier(SCOPE, fact, "core", "3 uses", NOW, WORK)

    return Operation(act, lambda cold: cold.semantic.put_fact(SCOPE, fact))


def _superseding() -> Operation:
    old, new = fact_by(text="old", tier="core"), fact_by(text="new")

    async def act(cold: Any) -> bool:
        return await cold.semantic.supersede(SCOPE, old.id, new.id, NOW, WORK)

    async def prepare(cold: Any) -> None:
        for fact in (old, new):
            await cold.semantic.put_fact(SCOPE, fact)

    return Operation(act, prepare)


def _forgetting() -> Operation:
    fact = fact_by(tier="core")

    async def act(cold: Any) -> bool:
        return await cold.review.forget(SCOPE, fact.id, "asked to", NOW, WORK)

    return Operation(act, lambda cold: cold.semantic.put_fact(SCOPE, fact))


def _counting() -> Operation:
    rule = rule_by()

    async def act(cold: Any) -> Any:
        return await cold.playbooks.record_outcome(SCOPE, rule.id, "cause", NOW, is_success=True)

    return Operation(act, lambda cold: cold.procedural.put_rule(SCOPE, rule))


def _refining() -> Operation:
    rule = rule_by()

    async def act(cold: Any) -> bool:
        return await cold.playbooks.refine(SCOPE, rule, ["Box."], ["source"], NOW, WORK)

    return Operation(act, lambda cold: cold.procedural.put_rule(SCOPE, rule))


def _judging() -> Operation:
    """A new fact that takes the place of a core one, and says what another says."""
    old, twin, new = (fact_by(text=text, tier="core") for text in ("old", "twin", "new"))
    verdicts = [
        Verdict(fact_id=old.id, by=new.id, how="denial", valid_to=NOW),
        Verdict(fact_id=twin.id, by=new.id, how="duplicate"),
    ]

    async def act(cold: Any) -> bool:
        return await cold.review.settle(OPERATOR, new.id, verdicts, NOW, WORK)

    async def prepare(cold: Any) -> None:
        for fact in (old, twin, new):
            await cold.semantic.put_fact(SCOPE, fact)

    return Operation(act, prepare)


async def _seen(cold: Any) -> tuple[Any, ...]:
    """Return what the ports show of the graph's facts and rules."""
    census = await cold.words.census(SCOPE)
    return (
        [(fact.id, fact.tier, fact.core_spans) for fact in await cold.semantic.core(SCOPE)],
        [*await cold.procedural.match_rules(SCOPE, "tyre change", 9)],
        census["facts_core"],
        census["facts_archival"],
    )


async def _followed(cold: Any) -> tuple[list[str], list[str]]:
    """Return what a runtime is given to do an hour later, and what the audit feed tells."""
    claimed = await cold.queue.claim(EVERY, "me", 100, 10, NOW + HOUR, tenant="acme")
    feed = await cold.log.audit(SCOPE)
    assert [event.seq for event in feed] == list(range(1, len(feed) + 1))
    told = [event.reason or f"{event.kind} {len(event.record_ids)}" for event in feed]
    return sorted(work.key for work in claimed), told


async def _expected(deployment: Deployment, operation: Operation) -> list[Any]:
    """Return what is seen before the operation, after it, and what follows from it."""
    async with deployment.opened(deployment.fresh_database()) as cold:
        await operation.prepare(cold)
        before = await _seen(cold)
        await operation.act(cold)
        return [before, await _seen(cold), await _followed(cold)]


OPERATIONS = [
    *(_putting_a_fact, _putting_a_rule, _promoting, _superseding),
    *(_forgetting, _counting, _refining),
]


@pytest.mark.parametrize("make", [*OPERATIONS, _judging])
async def test_nothing_is_kept_of_what_was_refused(
    deployment: Deployment, make: Callable[[], Operation]
) -> None:
    """Whichever command is refused, everything before it is taken back."""
    operation = make()
    before, done, followed = await _expected(deployment, operation)
    felt = 0
    for number in range(1, COMMANDS_MAX):
        database = deployment.fresh_database()
        cut, error = await deployment.cut(operation, database, number)
        if not cut.happened:
            break
        felt += error is not None
        async with deployment.opened(database) as cold:
            assert await _seen(cold) == (done if error is None else before)
            assert await _followed(cold) == (followed if error is None else ([], []))
    assert felt >= 3, "most refusals must have been felt"
    assert deployment.server.open_transactions == 0


async def test_uses_through_two_stores_are_exact(deployment: Deployment) -> None:
    """Forty racing calls for ten causes, of two facts, through two connections: ten each."""
    database = deployment.fresh_database()
    async with deployment.opened(database) as one, deployment.opened(database) as other:
        facts = [fact_by(text=f"fact {n}", tier="core") for n in range(2)]
        for fact in facts:
            await one.semantic.put_fact(SCOPE, fact)
        ids = [fact.id for fact in facts]
        scopes = (SCOPE, CHILD)
        await asyncio.gather(
            *(
                (one, other)[n % 2].semantic.add_uses(scopes[n % 2], f"cause {n // 4}", ids, NOW)
                for n in range(40)
            )
        )
        used = await one.semantic.facts(SCOPE, ids)
    assert [fact.uses for fact in used] == [10, 10]
    counted = deployment.server.client[database]["fact_uses"]
    assert counted.count_documents({"fact_id": ids[0]}) == 10


async def test_the_same_statement_through_two_stores_is_one(deployment: Deployment) -> None:
    """Twenty racing puts of one fact and one rule agree on their ids, and queue work once."""
    database = deployment.fresh_database()
    async with deployment.opened(database) as one, deployment.opened(database) as other:
        for put, make in (("semantic.put_fact", fact_by), ("procedural.put_rule", rule_by)):
            store, name = put.split(".")
            stored = await asyncio.gather(
                *(
                    getattr(getattr((one, other)[n % 2], store), name)(SCOPE, make(), [draft(put)])
                    for n in range(20)
                )
            )
            assert len({statement.id for statement, _ in stored}) == 1
            assert sum(is_new for _, is_new in stored) == 1
        assert (await one.queue.waiting())["index"] == 2


async def test_moves_through_two_stores_are_each_told_once(deployment: Deployment) -> None:
    """Of twenty racing promotions one happens; then of twenty demotions; two events, in order."""
    database = deployment.fresh_database()
    async with deployment.opened(database) as one, deployment.opened(database) as other:
        fact, _ = await one.semantic.put_fact(SCOPE, fact_by())
        for tier in ("core", "archival"):
            moved = await asyncio.gather(
                *(
                    (one, other)[n % 2].semantic.set_tier(SCOPE, fact, tier, tier, NOW)
                    for n in range(20)
                )
            )
            assert sum(moved) == 1
            (fact,) = await other.semantic.facts(SCOPE, [fact.id])
            assert (fact.tier, len(fact.core_spans)) == (tier, 1)
        feed = await one.log.audit(SCOPE)
    assert [(event.seq, event.reason) for event in feed] == [(1, "core"), (2, "archival")]


async def test_two_that_are_judged_at_once_leave_one(deployment: Deployment) -> None:
    """Each is to give way to the other: one does, whoever was first, and one stays live."""
    database = deployment.fresh_database()
    async with deployment.opened(database) as one, deployment.opened(database) as other:
        pairs = [[fact_by(text=f"{n} {side}") for side in "ab"] for n in range(8)]
        for fact in (fact for pair in pairs for fact in pair):
            await one.semantic.put_fact(SCOPE, fact)
        ways = [(old, new) for pair in pairs for old, new in (pair, pair[::-1])]
        settled = await asyncio.gather(
            *(
                (one, other)[n % 2].review.settle(
                    OPERATOR,
                    old.id,
                    [Verdict(fact_id=old.id, by=new.id, how="duplicate")],
                    NOW,
                )
                for n, (old, new) in enumerate(ways)
            )
        )
        live = {fact.id for fact in (await one.review.live_facts(OPERATOR, "", 99)).rows}
        feed = await one.log.audit(SCOPE)
    assert sum(settled) == len(pairs) == len(feed)
    assert all(len(live & {fact.id for fact in pair}) == 1 for pair in pairs)


async def test_outcomes_through_two_stores_are_exact(deployment: Deployment) -> None:
    """Twenty racing calls tell of five causes: five outcomes, five events, and one refinement."""
    database = deployment.fresh_database()
    async with deployment.opened(database) as one, deployment.opened(database) as other:
        rule, _ = await one.procedural.put_rule(SCOPE, rule_by())
        stores = [(one, other)[n % 2].playbooks for n in range(20)]
        counting = [
            store.record_outcome(SCOPE, rule.id, f"cause {n % 5}", NOW, is_success=n % 5 > 1)
            for n, store in enumerate(stores)
        ]
        refining = [
            store.refine(SCOPE, rule, [f"step {n}"], [], NOW) for n, store in enumerate(stores[:4])
        ]
        _, refined = await asyncio.gather(asyncio.gather(*counting), asyncio.gather(*refining))
        (after,) = await one.playbooks.rules(SCOPE, [rule.id])
        feed = await one.log.audit(SCOPE)
    assert (after.successes, after.failures, after.version) == (3, 2, 2)
    assert sum(refined) == 1
    assert len(feed) == 6
    raw = deployment.server.client[database]
    assert raw["rule_outcomes"].count_documents({}) == 5


async def test_readers_through_two_stores_only_read_on(deployment: Deployment) -> None:
    """Racing readers leave the watermark at the farthest, also where both are the first."""
    database = deployment.fresh_database()
    async with deployment.opened(database) as one, deployment.opened(database) as other:
        moved = await asyncio.gather(
            *(
                (one, other)[n % 2].watermarks.advance(SCOPE, "extract", n % 10 + 1, NOW)
                for n in range(40)
            )
        )
        assert await one.watermarks.watermark(SCOPE, "extract") == 10
        assert 1 <= sum(moved) <= 10
