"""The baselines, on examples worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from ezra.evaluation.baselines import Baselines, Bm25, fused, ranked, terms_of, text_of
from ezra.evaluation.results import floor_of
from ezra.evaluation.run import turns_named
from ezra.replay.script import TurnLine
from tiers.errors import UsageError
from tiers.ports import Vector
from tiers.records import Hit, Kind, ToolOutput

NOW = datetime(2026, 5, 14, tzinfo=UTC)


def line(text: str, **more: object) -> TurnLine:
    """Return a turn that Ada says."""
    return TurnLine(
        conversation="c", ref=f"c:{text}", speaker="Ada", agent="Ada", at=NOW, text=text, **more
    )


class Directions:
    """An embedder that knows two directions: tyres, and anything else."""

    model_id = "directions"
    dimensions = 2

    async def embed(
        self, texts: Sequence[str], *, urgent: bool = False, query: bool = False
    ) -> tuple[Vector, ...]:
        """Return where each text points."""
        del urgent, query
        return tuple((1.0, 0.0) if "tyre" in text else (0.0, 1.0) for text in texts)


def test_the_text_of_a_turn_is_all_that_was_said() -> None:
    """Speaker, words, reply and what tools returned."""
    turn = line("Is it done?", response="Yes.", tool_outputs=(ToolOutput(tool="ci", output="ok"),))
    assert text_of(turn) == "Ada: Is it done?\nYes.\nci: ok"
    assert terms_of("The tyres of Ada's cars were lasting") == ["tyre", "ada", "car", "last"]


def test_bm25_weighs_as_its_formula_says() -> None:
    """Three texts of 2, 4 and 3 words: mean 3."""
    bm25 = Bm25.over(["red tyres", "red red car stops", "blue car stops"])

    def weight(having: int, count: int, length: int) -> float:
        idf = math.log(1 + (3 - having + 0.5) / (having + 0.5))
        return idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / 3))

    expected = [weight(2, 1, 2) + weight(1, 1, 2), weight(2, 2, 4), 0.0]
    # Asked twice, counted once; the word that nobody has, and the stop words, add nothing.
    assert bm25.scores("what red red tyre is green?") == pytest.approx(expected)


def test_equal_scores_keep_the_order_of_the_conversation() -> None:
    """In a ranking and in a fusion."""
    assert ranked(np.array([1.0, 3.0, 1.0, 3.0, 0.0]), 4, above=0.0) == (1, 3, 0, 2)
    assert ranked(np.array([0.0, 0.0]), 5, above=0.0) == ()
    # 2 and 5 stand at ranks 1 and 2, in one leg each way.
    assert fused(((5, 2), (2, 5), (9,)), 3) == (2, 5, 9)


async def test_each_baseline_ranks_all_turns_of_its_conversation() -> None:
    """BM25 by words, dense by vectors with the whole question, RRF by both."""
    turns = [line("My car is blue."), line("These tyres are worn."), line("The car has tyres.")]
    found = await (await Baselines.over(turns, Directions())).ask("tyre of the blue car", 2)
    assert {name: one.places for name, one in found.items()} == {
        "bm25": (0, 2),
        "dense": (1, 2),
        # 0: 1/61 + 1/63, 1: 1/63 + 1/61, 2: 1/62 + 1/62
        "rrf": (0, 1),
    }
    words_only = await (await Baselines.over(turns, None)).ask("tyre of the blue car", 2)
    assert set(words_only) == {"bm25"}


def hit(kind: Kind, **more: object) -> Hit:
    """Return a hit of recall."""
    return Hit(id="x", kind=kind, text="…", score=1.0, tier="warm", recorded_at=NOW, **more)


def test_a_hit_counts_for_the_turns_that_it_leads_to() -> None:
    """A turn for itself; a summary, a fact, and what was folded, for their turns unless strict."""
    refs = {"1": "c:a", "2": "c:b", "3": "c:c"}
    turn = hit("turn", ref="c:a", source_ids=("1",), folded=("3", "summary"))
    summary = hit("summary", source_ids=("2", "3", "9"))
    assert turns_named(turn, refs, strict=False) == ("c:a", "c:c")
    assert turns_named(turn, refs, strict=True) == ("c:a",)
    assert turns_named(summary, refs, strict=False) == ("c:b", "c:c")
    assert turns_named(summary, refs, strict=True) == ()
    # A belief has a ref as well, and is no turn.
    assert turns_named(hit("belief", ref="c:a"), refs, strict=False) == ()


def test_floors_name_a_measure_of_the_run() -> None:
    """And what is none is refused before anything is played."""
    floor = floor_of("recall@10=0.8", (5, 10))
    assert (floor.name, floor.least) == ("recall@10", 0.8)
    assert floor_of(" mrr = 0.5", (5,)).name == "mrr"
    for wrong in ("recall@20=0.8", "mrr@5=0.8", "recall=0.8", "recall@10=80", "f1@10=1", "hit@5=."):
        with pytest.raises(UsageError, match="such as recall@10"):
            floor_of(wrong, (5, 10))
