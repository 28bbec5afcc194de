"""A reranker that does not answer costs one recall its patience, not each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from ezra.models.reranking import REST_SECONDS, RestingReranker
from tiers.errors import ConfigError, TierError, TierRejected, TierTimeout, TierUnavailable

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
