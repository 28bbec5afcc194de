"""The contract of ``WorkQueue``."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import get_args

import pytest
from support.cold_backends import Cold
from support.cold_samples import (
    HOSTILE_NAMES,
    LONE_SURROGATE,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    draft,
)
from support.tier_samples import NOW, TWIN_GRAPHS, scope_of

from tiers.errors import UsageError
from tiers.records import Work, WorkKind

SECOND = timedelta(seconds=1)
EVERY: tuple[WorkKind, ...] = get_args(WorkKind)
NONE = dict.fromkeys((*EVERY, "parked"), 0)


async def _claim(
    cold: Cold, seconds: float = 0, owner: str = "me", **more: object
) -> tuple[Work, ...]:
    """Claim everything that is due ``seconds`` after ``NOW``, for ten seconds."""
    return await cold.queue.claim(EVERY, owner, 100, 10, NOW + seconds * SECOND, **more)


async def _one(cold: Cold, seconds: float = 0) -> Work:
    (work,) = await _claim(cold, seconds)
    return work


async def test_nothing_is_an_empty_answer(cold: Cold) -> None:
    """An empty queue, an empty batch, and ids nobody knows."""
    assert await cold.queue.enqueue(SCOPE, [], NOW) == 0
    assert await _claim(cold) == ()
    assert await cold.queue.claim((), "me", 1, 1, NOW) == ()
    assert await cold.queue.waiting() == NONE
    assert await cold.queue.waiting(SCOPE) == NONE
    assert await cold.queue.parked() == ()
    assert await cold.queue.rerun([]) == 0
    assert await cold.queue.rerun(["unknown", "-1", "9" * 40, "٣"]) == 0


async def test_item_carries_its_scope_and_payload(cold: Cold) -> None:
    """What is claimed says whose it is and what to do."""
    assert await cold.queue.enqueue(SCOPE, [draft("k", "learn", used=["a"], n=1)], NOW) == 1
    work = await _one(cold)
    assert (work.kind, work.key, work.payload) == ("learn", "k", {"used": ["a"], "n": 1})
    assert (work.tenant, work.graph_id, work.agent_id) == ("acme", "race", "strategist")
    assert (work.attempts, work.queued_at, work.problem) == (0, NOW, None)


async def test_oldest_first_over_kinds_and_graphs(cold: Cold) -> None:
    """The order of queueing decides, the limit keeps the oldest, kinds filter."""
    for number, (kind, scope) in enumerate(
        [("learn", SCOPE), ("index", OTHER_GRAPH), ("compress", OTHER_TENANT), ("index", SCOPE)]
    ):
        await cold.queue.enqueue(scope, [draft(f"{number}", kind)], NOW)
    first = await cold.queue.claim(EVERY, "me", 2, 10, NOW)
    assert [work.key for work in first] == ["0", "1"]
    assert await cold.queue.claim(("learn",), "me", 2, 10, NOW) == ()
    rest = await cold.queue.claim(("index", "compress", "index"), "me", 9, 10, NOW)
    assert [work.key for work in rest] == ["2", "3"]


async def test_claim_may_be_restricted_to_one_graph(cold: Cold) -> None:
    """Other graphs and tenants keep their items."""
    for scope in (SCOPE, OTHER_GRAPH, OTHER_TENANT):
        await cold.queue.enqueue(scope, [draft()], NOW)
    (work,) = await _claim(cold, scope=OTHER_GRAPH)
    assert work.graph_id == "race/2"
    assert {(work.tenant, work.graph_id) for work in await _claim(cold)} == {
        ("acme", "race"),
        ("acm", "race"),
    }


async def test_claimed_item_is_not_due_until_its_lease_runs_out(cold: Cold) -> None:
    """By the clock argument: one claimant at a time, then the next with a higher token."""
    await cold.queue.enqueue(SCOPE, [draft()], NOW)
    first = await _one(cold)
    assert await _claim(cold, 9.9) == ()
    second = await _one(cold, 10)
    assert (second.id, second.token, second.attempts) == (first.id, first.token + 1, 0)
    assert (first.was_lost, second.was_lost) == (False, True)


async def test_r9_21_only_what_was_begun_is_an_attempt(cold: Cold) -> None:
    """A claim counts nothing; a beginning counts once it is stored, and a claim that is over not.

    A deferral gives back the attempts with which the item was claimed.
    """
    await cold.queue.enqueue(SCOPE, [draft("a"), draft("b")], NOW)
    first = await _claim(cold)
    assert await cold.queue.begin(first[0])
    second = await _claim(cold, 10)
    assert [(work.attempts, work.was_lost) for work in second] == [(1, True), (0, True)]
    assert not await cold.queue.begin(first[0])
    for work in second:
        assert await cold.queue.begin(work)
    assert await cold.queue.fail(second[0], "broken", NOW + 11 * SECOND)
    assert await cold.queue.defer(second[1], NOW + 11 * SECOND)
    third = await _claim(cold, 11)
    assert [(work.attempts, work.was_lost) for work in third] == [(2, False), (0, False)]


async def test_racing_claims_share_the_items(processes: Cold) -> None:
    """Twenty racing claimants get each of a hundred items exactly once."""
    await processes.queue.enqueue(SCOPE, [draft(f"{n}") for n in range(100)], NOW)
    claims = await asyncio.gather(
        *(processes.queue.claim(EVERY, f"owner {n}", 7, 10, NOW) for n in range(20))
    )
    keys = [work.key for claim in claims for work in claim]
    assert sorted(keys, key=int) == [f"{n}" for n in range(100)]
    assert max(len(claim) for claim in claims) == 7


async def test_only_the_latest_claimant_may_finish(cold: Cold) -> None:
    """The fencing token: who lost the lease changes nothing, whatever it tries."""
    await cold.queue.enqueue(SCOPE, [draft()], NOW)
    late = await _one(cold)
    latest = await _one(cold, 10)
    assert not await cold.queue.begin(late)
    assert not await cold.queue.complete(late)
    assert not await cold.queue.fail(late, "late", None)
    assert not await cold.queue.fail(late, "late", NOW)
    assert not await cold.queue.defer(late, NOW)
    assert (await cold.queue.waiting())["index"] == 1
    assert await cold.queue.complete(latest)
    assert not await cold.queue.complete(latest)
    assert await cold.queue.waiting() == NONE


async def test_a_batch_is_completed_at_once_but_for_what_others_hold(cold: Cold) -> None:
    """Each item for itself: gone, to be run again, or left to its latest claimant."""
    await cold.queue.enqueue(SCOPE, [draft("done"), draft("again"), draft("late")], NOW)
    batch = await _claim(cold)
    await cold.queue.enqueue(SCOPE, [draft("again", x=2)], NOW)
    late = next(work for work in batch if work.key == "late")
    stale = late.model_copy(update={"token": late.token - 1})
    claimed = [stale if work is late else work for work in batch]
    assert await cold.queue.complete_all(claimed) == (stale,)
    assert await cold.queue.complete_all([]) == ()
    assert [(work.key, work.payload) for work in await _claim(cold)] == [("again", {"x": 2})]
    assert await cold.queue.complete(late)


async def test_claimant_whose_lease_ran_out_unnoticed_may_finish(cold: Cold) -> None:
    """Nobody else has claimed it: the work is done, and done once."""
    await cold.queue.enqueue(SCOPE, [draft()], NOW)
    work = await _one(cold)
    assert await cold.queue.complete(work)
    assert await _claim(cold, 100) == ()


async def test_finished_item_and_its_like_are_different(cold: Cold) -> None:
    """The same kind and key queued later is new work that an old claim cannot touch."""
    await cold.queue.enqueue(SCOPE, [draft()], NOW)
    old = await _one(cold)
    await cold.queue.complete(old)
    assert await cold.queue.enqueue(SCOPE, [draft()], NOW) == 1
    new = await _one(cold)
    assert new.id != old.id
    assert not await cold.queue.complete(old)
    assert await cold.queue.complete(new)


async def test_waiting_item_is_not_doubled(cold: Cold) -> None:
    """Same kind and key in the graph: one item, with the latest payload; any other is new."""
    assert await cold.queue.enqueue(SCOPE, [draft("k", x=1), draft("k", x=2)], NOW) == 1
    assert await cold.queue.enqueue(SCOPE, [draft("k", x=3), draft("k", "learn")], NOW) == 1
    assert await cold.queue.enqueue(OTHER_GRAPH, [draft("k")], NOW) == 1
    index, learn = await _claim(cold, scope=SCOPE)
    assert (index.payload, index.kind, learn.kind) == ({"x": 3}, "index", "learn")


async def test_racing_enqueues_of_one_key_make_one_item(processes: Cold) -> None:
    """Fifty racing writers: one is told that it is new."""
    new = await asyncio.gather(*(processes.queue.enqueue(SCOPE, [draft()], NOW) for _ in range(50)))
    assert sum(new) == 1
    assert len(await _claim(processes)) == 1


async def test_item_that_waits_for_a_retry_becomes_due_when_queued_again(cold: Cold) -> None:
    """A new cause does not wait for the retry of an old one."""
    await cold.queue.enqueue(SCOPE, [draft()], NOW)
    await cold.queue.fail(await _one(cold), "busy", NOW + 60 * SECOND)
    assert await _claim(cold, 59) == ()
    assert await cold.queue.enqueue(SCOPE, [draft()], NOW + SECOND) == 0
    work = await _one(cold, 1)
    assert (work.attempts, work.problem) == (0, "busy")


async def test_retry_comes_at_its_time(cold: Cold) -> None:
    """Neither before ``retry_at``, nor later than it."""
    await cold.queue.enqueue(SCOPE, [draft()], NOW)
    assert await cold.queue.fail(await _one(cold), "busy", NOW + 60 * SECOND)
    assert await _claim(cold, 59.999999) == ()
    assert (await _one(cold, 60)).problem == "busy"


async def test_item_queued_while_claimed_runs_once_more(cold: Cold) -> None:
    """The second run starts after the first is completed, with attempts of its own."""
    await cold.queue.enqueue(SCOPE, [draft("k", x=1)], NOW)
    work = await _one(cold)
    for _ in range(3):
        assert await cold.queue.enqueue(SCOPE, [draft("k", x=2)], NOW + SECOND) == 0
    assert await _claim(cold, 5) == ()
    assert await cold.queue.complete(work)
    again = await _one(cold, 5)
    assert (again.id, again.attempts, again.payload) == (work.id, 0, {"x": 2})
    assert again.token > work.token
    assert await cold.queue.complete(again)
    assert await cold.queue.waiting() == NONE


async def test_item_queued_while_claimed_survives_failure_and_deferral(cold: Cold) -> None:
    """However the first run ends, the new cause is served at once."""
    for finish in ("fail", "park", "defer"):
        await cold.queue.enqueue(SCOPE, [draft(finish)], NOW)
        work = await _one(cold)
        await cold.queue.enqueue(SCOPE, [draft(finish)], NOW + SECOND)
        later = NOW + 999 * SECOND
        if finish == "defer":
            assert await cold.queue.defer(work, later)
        else:
            assert await cold.queue.fail(work, "x", later if finish == "fail" else None)
        assert await cold.queue.complete(await _one(cold, 1))
    assert await cold.queue.waiting() == NONE


async def test_deferred_item_comes_back_without_counting(cold: Cold) -> None:
    """Waiting for company is not failing."""
    await cold.queue.enqueue(SCOPE, [draft()], NOW)
    for round_ in range(1, 4):
        work = await _one(cold, 60 * (round_ - 1))
        assert await cold.queue.begin(work)
        assert work.attempts == 0
        assert await cold.queue.defer(work, NOW + 60 * round_ * SECOND)
        assert await _claim(cold, 60 * round_ - 1) == ()


async def test_parked_items_wait_for_people(cold: Cold) -> None:
    """Parked: not due, counted apart, listed with the problem, oldest first; rerun starts anew."""
    await cold.queue.enqueue(SCOPE, [draft("a"), draft("b"), draft("c")], NOW)
    for work in (await _claim(cold))[:2]:
        assert await cold.queue.fail(work, f"broken {work.key}", None)
    assert await cold.queue.waiting() == NONE | {"index": 1, "parked": 2}
    parked = await cold.queue.parked()
    assert [(work.key, work.problem) for work in parked] == [("a", "broken a"), ("b", "broken b")]
    assert await cold.queue.parked(limit=1) == parked[:1]
    assert {work.key for work in await _claim(cold, 10_000)} == {"c"}
    assert await cold.queue.rerun([parked[1].id, "unknown", parked[1].id]) == 1
    (again,) = await _claim(cold)
    assert (again.key, again.attempts) == ("b", 0)


async def test_parked_item_that_is_queued_again_is_tried_anew(cold: Cold) -> None:
    """A new cause is a new chance: an agent's compression must not stay parked for ever."""
    await cold.queue.enqueue(SCOPE, [draft()], NOW)
    await cold.queue.fail(await _one(cold), "broken", None)
    assert await cold.queue.enqueue(SCOPE, [draft()], NOW + SECOND) == 0
    work = await _one(cold, 1)
    assert (work.attempts, work.problem) == (0, "broken")
    assert (await cold.queue.waiting())["parked"] == 0


async def test_waiting_counts_by_kind_and_graph(cold: Cold) -> None:
    """Claimed items are not done, so they count."""
    await cold.queue.enqueue(SCOPE, [draft("a"), draft("b"), draft("c", "learn")], NOW)
    await cold.queue.enqueue(OTHER_GRAPH, [draft("a", "compress")], NOW)
    await cold.queue.claim(("index",), "me", 1, 10, NOW)
    assert await cold.queue.waiting() == NONE | {"index": 2, "learn": 1, "compress": 1}
    assert await cold.queue.waiting(SCOPE) == NONE | {"index": 2, "learn": 1}
    assert await cold.queue.waiting(OTHER_TENANT) == NONE


async def test_names_that_look_alike_have_items_of_their_own(cold: Cold) -> None:
    """Prefixes, separators and case do not mix graphs up."""
    for names in TWIN_GRAPHS:
        scope = scope_of(*names)
        assert await cold.queue.enqueue(scope, [draft()], NOW) == 1
        assert (await cold.queue.waiting(scope))["index"] == 1


async def test_hostile_keys_are_just_keys(cold: Cold) -> None:
    """SQL and odd characters in keys, owners, problems and payloads come back as they were."""
    names = [*HOSTILE_NAMES, "nul \x00 nul"]
    for name in names:
        await cold.queue.enqueue(SCOPE, [draft(name, text=name)], NOW)
        (work,) = await _claim(cold, owner=name)
        assert (work.key, work.payload) == (name, {"text": name})
        await cold.queue.fail(work, name, None)
    parked = {one.key: one.problem for one in await cold.queue.parked()}
    assert parked == dict(zip(names, names, strict=True))


async def test_problems_are_kept_at_a_bounded_length(cold: Cold) -> None:
    """A stack trace of a megabyte does not stay in the queue."""
    await cold.queue.enqueue(SCOPE, [draft()], NOW)
    await cold.queue.fail(await _one(cold), "x" * 1_000_000, None)
    problem = (await cold.queue.parked())[0].problem
    assert problem is not None
    assert len(problem) == 2_000


async def test_bad_arguments_are_refused(cold: Cold) -> None:
    """Limits, leases, kinds, and items that were never claimed here."""
    await cold.queue.enqueue(SCOPE, [draft()], NOW)
    work = await _one(cold)
    with pytest.raises(UsageError, match="limit"):
        await cold.queue.claim(EVERY, "me", 0, 10, NOW)
    with pytest.raises(UsageError, match="lease_seconds"):
        await cold.queue.claim(EVERY, "me", 1, 0, NOW)
    with pytest.raises(UsageError, match="lease_seconds"):
        await cold.queue.claim(EVERY, "me", 1, float("nan"), NOW)
    with pytest.raises(UsageError, match="owner"):
        await cold.queue.claim(EVERY, "", 1, 10, NOW)
    with pytest.raises(UsageError, match="kinds"):
        await cold.queue.claim(("sing",), "me", 1, 10, NOW)
    with pytest.raises(UsageError, match="id"):
        await cold.queue.complete(work.model_copy(update={"id": "x"}))
    with pytest.raises(UsageError, match="surrogates"):
        await cold.queue.enqueue(SCOPE, [draft("new"), draft(LONE_SURROGATE)], NOW)
    assert (await cold.queue.waiting())["index"] == 1


async def test_a_runtime_is_given_its_own_tenants_work_only(cold: Cold) -> None:
    """Claims, counts, parked items and reruns keep to the tenant that is named."""
    mine, other = SCOPE.tenant, OTHER_TENANT.tenant
    await cold.queue.enqueue(SCOPE, [draft("mine")], NOW)
    await cold.queue.enqueue(OTHER_TENANT, [draft("theirs")], NOW)
    assert (await cold.queue.waiting(tenant=other))["index"] == 1
    (work,) = await _claim(cold, tenant=other)
    assert (work.tenant, work.key) == (other, "theirs")
    assert await _claim(cold, tenant="nobody") == ()
    assert await _claim(cold, tenant=mine, scope=OTHER_TENANT) == ()
    await cold.queue.fail(work, "no", None)
    assert await cold.queue.parked(tenant=mine) == ()
    assert [one.key for one in await cold.queue.parked(tenant=other)] == ["theirs"]
    assert await cold.queue.rerun([work.id], tenant=mine) == 0
    assert await cold.queue.rerun([work.id], tenant=other) == 1
    assert [one.key for one in await _claim(cold, tenant=mine)] == ["mine"]


async def test_a_renewed_claim_is_nobody_elses(cold: Cold) -> None:
    """It ends when the renewal says so; one that ended and was claimed anew cannot be renewed."""
    await cold.queue.enqueue(SCOPE, [draft("k")], NOW)
    work = await _one(cold)
    assert await cold.queue.renew(work, 10, NOW + 8 * SECOND)
    assert await _claim(cold, 17) == ()
    late = await _one(cold, 18)
    assert late.token == work.token + 1
    assert not await cold.queue.renew(work, 10, NOW + 19 * SECOND)
    assert await cold.queue.complete(late)
    assert not await cold.queue.renew(late, 10, NOW + 19 * SECOND)


async def test_r9_22_the_oldest_that_waits_is_known(cold: Cold) -> None:
    """Of its kind and tenant, claimed or not; what is done does not count."""
    tenant = SCOPE.tenant
    assert await cold.queue.waiting_since("index", tenant=tenant) is None
    await cold.queue.enqueue(OTHER_TENANT, [draft("theirs", "index")], NOW - 9 * SECOND)
    await cold.queue.enqueue(SCOPE, [draft("other", "learn")], NOW - 8 * SECOND)
    await cold.queue.enqueue(SCOPE, [draft("first", "index")], NOW)
    await cold.queue.enqueue(SCOPE, [draft("second", "index")], NOW + 5 * SECOND)
    assert await cold.queue.waiting_since("index", tenant=tenant) == NOW
    (first,) = await cold.queue.claim(("index",), "me", 1, 10, NOW, tenant=tenant)
    assert await cold.queue.waiting_since("index", tenant=tenant) == NOW
    await cold.queue.complete(first)
    assert await cold.queue.waiting_since("index", tenant=tenant) == NOW + 5 * SECOND
