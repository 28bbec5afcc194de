"""Blending a reranker with recall's own order, and what one costs that does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.reranking import hits

from ezra.models.reranking import REST_SECONDS, RestingReranker, blend, reranked
from ezra.models.reranking.blending import reordered
from ezra.recaller import Degradation
from tiers.errors import (
    ConfigError,
    TierError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)

# Blending is arithmetic: what the reranker says, and how much of recall's own order stays.

SCORES = st.floats(-1e6, 1e6)
PAIRS = st.lists(st.tuples(SCORES, SCORES), max_size=12)
WEIGHTS = st.floats(0, 1)


def test_the_formula_by_hand() -> None:
    """Each list over its own span, then 0.7 of one and 0.3 of the other."""
    assert blend([9, 8, 5], [0.2, 0.6, 0.4]) == pytest.approx([0.3, 0.925, 0.35])
    assert blend([9, 8, 5], [0.2, 0.6, 0.4], 0) == pytest.approx([1, 0.75, 0])
    assert blend([], []) == []


def test_priors_decide_between_texts_that_read_alike() -> None:
    """A fresh fact stays before a stale one of the same words, and a better text passes both."""
    moved = reordered(hits("fresh", "stale", "answer"), [0.5, 0.5, 0.9])
    assert [hit.text for hit in moved] == ["answer", "fresh", "stale"]


@given(PAIRS, WEIGHTS)
@example([(0.0, 0.0), (5e-324, 0.0)], 0.0)
def test_blended_scores_are_shares(pairs: list[tuple[float, float]], weight: float) -> None:
    """From 0 to 1, and the same whatever scale and shift either side's scores come in."""
    fused, theirs = [one for one, _ in pairs], [one for _, one in pairs]
    blended = blend(fused, theirs, weight)
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in blended)
    assert blend([4 * one for one in fused], [2 * one for one in theirs], weight) == blended


@given(PAIRS, WEIGHTS)
def test_who_is_ahead_on_both_sides_stays_ahead(
    pairs: list[tuple[float, float]], weight: float
) -> None:
    """And at the ends of the weight, one side's order is kept as it is."""
    fused, theirs = [one for one, _ in pairs], [one for _, one in pairs]
    blended = blend(fused, theirs, weight)
    only_ours, only_theirs = blend(fused, theirs, 0), blend(fused, theirs, 1)
    for a, (our_a, their_a) in enumerate(pairs):
        for b, (our_b, their_b) in enumerate(pairs):
            if our_a >= our_b:
                assert only_ours[a] >= only_ours[b]
                assert their_a < their_b or blended[a] >= blended[b]
            if their_a >= their_b:
                assert only_theirs[a] >= only_theirs[b]


@given(st.lists(SCORES, max_size=9), st.integers(0, 3), WEIGHTS)
def test_no_hit_is_lost_and_scores_still_fall(
    theirs: list[float], behind: int, weight: float
) -> None:
    """The first hits change places and scores; those behind them are as they were."""
    given_hits = hits(*(f"text {place}" for place in range(len(theirs) + behind)))
    moved = reordered(given_hits, theirs, weight)
    assert sorted(hit.id for hit in moved) == sorted(hit.id for hit in given_hits)
    assert moved[len(theirs) :] == given_hits[len(theirs) :]
    scores = [hit.score for hit in moved]
    assert scores == sorted(scores, reverse=True)


def test_a_reranker_without_an_opinion_moves_nothing() -> None:
    """Equal scores are no order, on either side; ties keep the place they had."""
    given_hits = hits("a", "b", "c")
    assert [hit.text for hit in reordered(given_hits, [0.4] * 3)] == ["a", "b", "c"]
    level = tuple(hit.model_copy(update={"score": 2.0}) for hit in given_hits)
    moved = reordered(level, [0.1, 0.9, 0.1])
    assert [(hit.text, hit.score) for hit in moved] == [("b", 2.7), ("a", 2.0), ("c", 2.0)]


def test_scores_as_large_as_there_are_do_not_overflow() -> None:
    """Some servers return raw ones."""
    assert blend([0, 0, 0], [1e308, -1e308, 0.0]) == pytest.approx([0.7, 0, 0.35])


@pytest.mark.parametrize(
    ("fused", "theirs", "weight"), [([1], [], 0.5), ([1], [1], 1.1), ([1], [1], float("nan"))]
)
def test_what_cannot_be_blended_is_refused(
    fused: list[float], theirs: list[float], weight: float
) -> None:
    """Lists of two lengths, and a weight that is no share."""
    with pytest.raises(UsageError):
        blend(fused, theirs, weight)


class _Reranker:
    """Answers, raises or waits as it was told, and keeps what it was asked."""

    name = "test/one"

    def __init__(self, answer: tuple[float, ...] | Exception | None) -> None:
        self.answer = answer
        self.asked: list[tuple[str, list[str]]] = []

    async def rerank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the answer, raise it, or never come back."""
        self.asked.append((query, list(texts)))
        if self.answer is None:
            await asyncio.Event().wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer or ()


async def test_only_the_candidates_are_sent() -> None:
    """The whole text of each, in the order of recall; the others wait behind them."""
    one, state = _Reranker((0.1, 0.9)), Degradation(1.0)
    rule = "When it rains:\n- box\n- fit wets"
    found, used = await reranked(
        one, "wet?", hits("sun", rule, "rest"), state, candidates=2, timeout_seconds=1
    )
    assert (used, state.lost) == (True, {})
    assert one.asked == [("wet?", ["sun", rule])]
    assert [hit.text for hit in found] == [rule, "sun", "rest"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (TierTimeout("rerank", "rerank", "late"), "late"),
        (ConfigError("EZRA_RERANK_API_KEY", "refused"), "refused"),
        (None, r"no answer within 0.01 s"),
        ((0.1,), "no finite number for each of 2 texts"),
        ((0.1, float("nan")), "no finite number for each of 2 texts"),
        ((0.1, float("inf")), "no finite number for each of 2 texts"),
    ],
    ids=["tier", "key", "never", "short", "nan", "infinite"],
)
async def test_a_failure_leaves_recall_as_it_was(
    answer: tuple[float, ...] | Exception | None, why: str
) -> None:
    """And the recall says what it had to do without."""
    state = Degradation(1.0)
    found = hits("a", "b")
    kept = await reranked(_Reranker(answer), "q", found, state, candidates=40, timeout_seconds=0.01)
    assert kept == (found, False)
    assert tuple(state.lost) == ("rerank",)
    (skipped,) = state.skipped
    assert skipped.startswith("rerank: ")
    assert why in skipped


async def test_nobody_is_asked_where_there_is_nothing_to_order() -> None:
    """No reranker, no hit, one hit: nothing is missing then."""
    one, state = _Reranker((0.1, 0.9)), Degradation(1.0)
    for reranker, found in ((None, hits("a", "b")), (one, ()), (one, hits("a"))):
        kept = await reranked(reranker, "q", found, state, candidates=9, timeout_seconds=1)
        assert kept == (found, False)
    assert (one.asked, state.lost) == ([], {})


async def test_whoever_stops_a_recall_stops_the_reranker() -> None:
    """A cancellation is no failure of the reranker's: it is passed on."""
    one, state = _Reranker(None), Degradation(1.0)
    call = reranked(one, "q", hits("a", "b"), state, candidates=9, timeout_seconds=60)
    task = asyncio.create_task(call)
    await asyncio.sleep(0)
    assert one.asked
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert state.lost == {}


@pytest.mark.parametrize("candidates", [0, 201])
async def test_a_share_that_cannot_be_sent_is_refused(candidates: int) -> None:
    """As many as a search returns at most."""
    with pytest.raises(UsageError, match="1 to 200"):
        await reranked(
            None, "q", hits("a"), Degradation(1.0), candidates=candidates, timeout_seconds=1
        )


# A reranker that does not answer costs one recall its patience, not each of them.

PATIENCE = 2.0


class Stage:
    """A reranker that does as it is told, and the clock by which it does."""

    name = "stage/rerank"

    def __init__(self) -> None:
        self.now = 100.0
        self.asked = 0
        self.takes = 0.0
        self.problem: BaseException | None = None

    async def rerank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:  # noqa: ARG002
        """Return the lengths of the texts, or fail."""
        self.asked += 1
        self.now += self.takes
        if self.problem is not None:
            raise self.problem
        return tuple(float(len(text)) for text in texts)


@pytest.fixture
def stage() -> Stage:
    """A reranker in order."""
    return Stage()


@pytest.fixture
def resting(stage: Stage) -> RestingReranker:
    """The same, left alone after it failed."""
    return RestingReranker(stage, PATIENCE, clock=lambda: stage.now)


@pytest.mark.parametrize(
    "problem",
    [
        TierTimeout("rerank", "rerank", "late"),
        TierUnavailable("rerank", "rerank", "away"),
        ConfigError("EZRA_RERANK_API_KEY", "refused"),
    ],
    ids=lambda one: type(one).__name__,
)
async def test_after_a_failure_nobody_is_asked_for_a_while(
    stage: Stage, resting: RestingReranker, problem: TierError
) -> None:
    """Then it is asked again, and goes on as before when it answers."""
    stage.problem = problem
    with pytest.raises(type(problem)):
        await resting.rerank("which plan?", ["a", "bb"])
    stage.problem = None
    with pytest.raises(TierUnavailable, match="not asked for 30 s more"):
        await resting.rerank("which plan?", ["a", "bb"])
    stage.now += REST_SECONDS - 1
    with pytest.raises(TierUnavailable, match="not asked for 1 s more"):
        await resting.rerank("which plan?", ["a", "bb"])
    assert stage.asked == 1
    stage.now += 1
    assert await resting.rerank("which plan?", ["a", "bb"]) == (1.0, 2.0)
    assert await resting.rerank("which plan?", ["a"]) == (1.0,)


async def test_an_answer_that_cannot_be_read_is_no_reason_to_rest(
    stage: Stage, resting: RestingReranker
) -> None:
    """The next question may be another."""
    stage.problem = TierRejected("rerank", "rerank", "unreadable")
    for _ in range(2):
        with pytest.raises(TierRejected):
            await resting.rerank("which plan?", ["a"])
    assert stage.asked == 2


@pytest.mark.parametrize(("takes", "asked"), [(PATIENCE, 1), (0.1, 2)])
async def test_who_is_cut_off_by_impatience_was_late(
    stage: Stage, resting: RestingReranker, takes: float, asked: int
) -> None:
    """A caller who went away early says nothing about the reranker; cancelling goes on."""
    stage.problem, stage.takes = asyncio.CancelledError(), takes
    for _ in range(2):
        with pytest.raises((asyncio.CancelledError, TierUnavailable)):
            await resting.rerank("which plan?", ["a"])
    assert stage.asked == asked


def test_it_goes_by_the_name_of_who_is_asked(resting: RestingReranker) -> None:
    """Receipts name the model."""
    assert resting.name == "stage/rerank"
