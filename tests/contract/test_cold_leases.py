"""The contracts of ``LeaseStore`` and ``ColdUpkeep``."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest
from support.cold_backends import Cold
from support.cold_beliefs import replacing
from support.cold_samples import (
    HOSTILE_NAMES,
    LONE_SURROGATE,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    belief_by,
    draft,
    episode_by,
    fact_by,
    rule_by,
    summary_by,
    turn_by,
)
from support.records import pages
from support.tier_samples import NOW, TWIN_SCOPES, scope_of

from tiers.cold.stores import Lease
from tiers.errors import UsageError
from tiers.records import Scope
from tiers.upkeep import PAGE_ROWS_MAX, RecordRef

# The contract of ``LeaseStore``.

SECOND = timedelta(seconds=1)


async def _take(cold: Cold, owner: str, seconds: float = 0, name: str = "tick") -> Lease | None:
    return await cold.leases.acquire(name, owner, 10, NOW + seconds * SECOND)


async def test_first_comer_gets_the_lease(cold: Cold) -> None:
    """With its name, owner, end and the first token."""
    expected = Lease(name="tick", owner="a", token=1, expires_at=NOW + 10 * SECOND)
    assert await _take(cold, "a") == expected


async def test_other_owner_waits_until_it_runs_out(cold: Cold) -> None:
    """By the clock argument, to the microsecond; the token rises with the owner."""
    await _take(cold, "a")
    assert await _take(cold, "b", 9.999999) is None
    taken = await _take(cold, "b", 10)
    assert taken is not None
    assert (taken.owner, taken.token) == ("b", 2)
    assert await _take(cold, "a", 10) is None


async def test_owner_prolongs_under_the_same_token(cold: Cold) -> None:
    """Before and after it has run out, as long as nobody else took it."""
    for seconds in (0, 5, 100):
        lease = await _take(cold, "a", seconds)
        assert lease is not None
        assert (lease.token, lease.expires_at) == (1, NOW + (seconds + 10) * SECOND)
    assert await _take(cold, "b", 109) is None


async def test_released_lease_is_free_at_once(cold: Cold) -> None:
    """The next holder, even the same, has a higher token."""
    first = await _take(cold, "a")
    assert first is not None
    await cold.leases.release(first)
    second = await _take(cold, "b")
    assert second is not None
    await cold.leases.release(second)
    third = await _take(cold, "b")
    assert third is not None
    assert [first.token, second.token, third.token] == [1, 2, 3]


async def test_release_of_a_lost_lease_changes_nothing(cold: Cold) -> None:
    """A lease that has passed on stays with its new owner, and releasing twice is harmless."""
    old = await _take(cold, "a")
    new = await _take(cold, "b", 10)
    assert old is not None
    assert new is not None
    await cold.leases.release(old)
    await cold.leases.release(old)
    assert await _take(cold, "a", 11) is None
    await cold.leases.release(Lease(name="unknown", owner="a", token=1, expires_at=NOW))


async def test_one_of_racing_owners_wins(processes: Cold) -> None:
    """Fifty racing owners: one lease, forty-nine refusals."""
    answers = await asyncio.gather(*(_take(processes, f"owner {n}") for n in range(50)))
    assert sum(answer is not None for answer in answers) == 1


async def test_names_are_just_names(cold: Cold) -> None:
    """Leases of different names do not meet, whatever the names hold."""
    for name in HOSTILE_NAMES:
        assert await _take(cold, name, name=name) is not None
        assert await _take(cold, "b", name=name) is None
        assert await _take(cold, "b", name=f"{name}x") is not None
        assert await _take(cold, "b", name=name[:-1] or "?") is not None


async def test_bad_arguments_are_refused(cold: Cold, subtests: pytest.Subtests) -> None:
    """A lease has an owner and a length, and the name stays free."""
    for owner, seconds in (("", 10.0), ("a", 0.0), ("a", -1.0), ("a", float("nan"))):
        with subtests.test(owner, seconds=seconds), pytest.raises(UsageError):
            await cold.leases.acquire("tick", owner, seconds, NOW)
    with pytest.raises(UsageError):
        await cold.leases.acquire(LONE_SURROGATE, "a", 10, NOW)
    assert await _take(cold, "b") is not None


# The contract of ``ColdUpkeep``.

DAY = timedelta(days=1)


async def _facts(cold: Cold, scope: Scope, count: int) -> list[str]:
    """Store facts and return their ids."""
    stored = [
        await cold.semantic.put_fact(scope, fact_by(scope, f"{scope.tenant} fact {number}"))
        for number in range(count)
    ]
    return [fact.id for fact, _ in stored]


async def _walk(
    cold: Cold, tenant: str = "acme", limit: int = 3, now: datetime = NOW
) -> list[RecordRef]:
    """Return every page's rows, one after the other."""
    refs: list[RecordRef] = []
    async for page in pages(lambda at: cold.upkeep.searchable_after(tenant, at, limit, now), limit):
        assert page.rows or page.cursor is None
        refs += page.rows
    return refs


async def test_nothing_is_one_empty_page(cold: Cold) -> None:
    """No records: no rows, no cursor, and a count of none."""
    page = await cold.upkeep.searchable_after("acme", "", 10, NOW)
    assert (page.rows, page.cursor) == ((), None)
    assert await cold.upkeep.count_searchable("acme", NOW) == 0


async def test_every_kind_comes_once(cold: Cold) -> None:
    """Turns, summaries, episodes, facts, rules and active beliefs, whatever the page size."""
    turn, _ = await cold.turns.append_turn(SCOPE, turn_by())
    summary = summary_by(SCOPE, [turn])
    await cold.episodic.put_summary(SCOPE, summary)
    episode = episode_by(SCOPE, [summary.id])
    await cold.episodic.put_episode(SCOPE, episode)
    fact, _ = await cold.semantic.put_fact(SCOPE, fact_by())
    rule, _ = await cold.procedural.put_rule(SCOPE, rule_by())
    belief = belief_by()
    await cold.beliefs.commit(SCOPE, belief)
    stored = {one.id for one in (turn, summary, episode, fact, rule, belief)}
    for limit in (1, 2, 6, 7, PAGE_ROWS_MAX):
        found = await _walk(cold, limit=limit)
        assert {ref.id for ref in found} == stored
        assert len(found) == len(stored)
    assert await cold.upkeep.count_searchable("acme", NOW) == len(stored)


async def test_order_is_stable_and_resumes_anywhere(cold: Cold) -> None:
    """Any page's cursor leads to what comes after it, also when asked again."""
    await _facts(cold, SCOPE, 10)
    everything = await _walk(cold, limit=100)
    page = await cold.upkeep.searchable_after("acme", "", 4, NOW)
    assert page.cursor is not None
    for _ in range(2):
        rest = await cold.upkeep.searchable_after("acme", page.cursor, 100, NOW)
        assert [*page.rows, *rest.rows] == everything


async def test_a_full_last_page_has_no_cursor(cold: Cold) -> None:
    """Who has read everything is not sent for an empty page."""
    await _facts(cold, SCOPE, 4)
    page = await cold.upkeep.searchable_after("acme", "", 4, NOW)
    assert (len(page.rows), page.cursor) == (4, None)


async def test_private_records_name_who_may_see_them(cold: Cold) -> None:
    """And only they; the scope so made reads the record's entry."""
    shared, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="Shared."))
    mine, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="Mine.", private=True))
    refs = {ref.id: ref for ref in await _walk(cold)}
    assert refs[shared.id] == RecordRef(graph_id="race", id=shared.id)
    assert refs[mine.id] == RecordRef(graph_id="race", id=mine.id, agent_id="strategist")
    for ref in refs.values():
        reader = scope_of(graph_id=ref.graph_id, agent_id=ref.agent_id)
        assert [one.id for one in await cold.words.entries(reader, [ref.id])] == [ref.id]


async def test_records_of_every_graph_come_and_of_no_other_tenant(cold: Cold) -> None:
    """The tenant is the boundary, prefixes of its name included."""
    mine = [*await _facts(cold, SCOPE, 3), *await _facts(cold, OTHER_GRAPH, 3)]
    theirs = await _facts(cold, OTHER_TENANT, 5)
    assert sorted(ref.id for ref in await _walk(cold)) == sorted(mine)
    assert sorted(ref.id for ref in await _walk(cold, "acm")) == sorted(theirs)
    assert {ref.graph_id for ref in await _walk(cold)} == {"race", "race/2"}
    assert await cold.upkeep.count_searchable("acme", NOW) == 6
    assert await cold.upkeep.count_searchable("acm", NOW) == 5
    assert await _walk(cold, "ac") == []


async def test_twin_scopes_are_kept_apart(cold: Cold) -> None:
    """Names with separators and lookalikes: each record under its own tenant and graph."""
    owners = {owner for twins in TWIN_SCOPES for owner in twins}
    for owner in sorted(owners):
        scope = scope_of(*owner)
        await cold.semantic.put_fact(scope, fact_by(scope, private=True))
    found = [
        (tenant, ref.graph_id, ref.agent_id)
        for tenant in {tenant for tenant, _, _ in owners}
        for ref in await _walk(cold, tenant)
    ]
    assert sorted(found) == sorted(owners)


async def test_expired_and_superseded_records_are_passed_over(cold: Cold) -> None:
    """At the moment of expiry a record is gone; a belief goes with the next of its key."""
    turn, _ = await cold.turns.append_turn(SCOPE, turn_by())
    summary = summary_by(SCOPE, [turn], expires_at=NOW + DAY)
    await cold.episodic.put_summary(SCOPE, summary)
    old, new = belief_by(claim="Mediums."), belief_by(claim="Softs.")
    await cold.beliefs.commit(SCOPE, old)
    await replacing(cold, SCOPE, new)
    before = NOW + DAY - timedelta(microseconds=1)
    assert {ref.id for ref in await _walk(cold, now=before)} == {turn.id, summary.id, new.id}
    assert {ref.id for ref in await _walk(cold, now=NOW + DAY)} == {turn.id, new.id}
    assert await cold.upkeep.count_searchable("acme", before) == 3
    assert await cold.upkeep.count_searchable("acme", NOW + DAY) == 2


async def test_what_is_stored_during_the_walk_shifts_nothing(cold: Cold) -> None:
    """Everything that was there when the walk began comes exactly once."""
    before = await _facts(cold, SCOPE, 6)
    first = await cold.upkeep.searchable_after("acme", "", 3, NOW)
    later = await _facts(cold, OTHER_GRAPH, 4)
    assert first.cursor is not None
    rest = await cold.upkeep.searchable_after("acme", first.cursor, 100, NOW)
    found = [ref.id for ref in (*first.rows, *rest.rows)]
    assert sorted(one for one in found if one not in later) == sorted(before)


async def test_a_limit_out_of_range_is_refused(cold: Cold) -> None:
    """By name."""
    for limit in (0, -1, PAGE_ROWS_MAX + 1):
        with pytest.raises(UsageError, match="limit"):
            await cold.upkeep.searchable_after("acme", "", limit, NOW)


async def test_a_made_up_cursor_is_refused(cold: Cold) -> None:
    """Only what a page gave goes on."""
    await _facts(cold, SCOPE, 1)
    for cursor in ("no cursor", "-1", "²", "9" * 40, "\ud800"):
        with pytest.raises(UsageError, match="cursor"):
            await cold.upkeep.searchable_after("acme", cursor, 10, NOW)


async def test_taking_over_completes_nothing_of_the_dead(cold: Cold) -> None:
    """A claim from before does not complete once somebody else has claimed the item."""
    await cold.queue.enqueue(SCOPE, [draft()], NOW)
    (dead,) = await cold.queue.claim(["index"], "dead", 10, 60, NOW)
    await cold.upkeep.take_over()
    (alive,) = await cold.queue.claim(["index"], "alive", 10, 60, NOW + timedelta(hours=1))
    assert not await cold.queue.complete(dead)
    assert await cold.queue.complete(alive)
