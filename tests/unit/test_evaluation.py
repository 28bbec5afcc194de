"""What recall is measured by: the measures, the baselines, what summaries keep, and the sets."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from benchmarks.sets.catalog import KINDS, made, written
from benchmarks.sets.grammar import GRAMMARS, read
from benchmarks.sets.proofs import Question, Turn, problems
from benchmarks.sets.timeline import ASKED_MAX
from support.kept_summaries import MEASURED, kept_of

from ezra.evaluation.baselines import Baselines, Bm25, fused, ranked, terms_of, text_of
from ezra.evaluation.metrics import (
    all_at,
    figures_of,
    hit_at,
    latency_of,
    ndcg_at,
    percentile,
    ranks_of,
    recall_at,
    reciprocal_rank,
)
from ezra.evaluation.results import floor_of
from ezra.evaluation.run import turns_named
from ezra.evaluation.sets import EvaluationSet, read_set
from ezra.ranking.terms import bag_of
from ezra.replay.script import TurnLine
from metaagents.lifecycle.rules import LifecyclePolicy
from tiers.errors import UsageError
from tiers.ports import Vector
from tiers.records import Hit, Kind, ToolOutput

# Measures of a ranking: by hand, and against the definitions read off the list itself.


def test_ranks_are_the_first_places_that_name_each_turn() -> None:
    """A hit may name several turns, a turn may be named twice, and one not at all."""
    named = [("x",), ("b", "a"), (), ("a", "c")]
    assert ranks_of(("a", "b", "c", "d"), named) == (2, 2, 4, None)


def test_measures_worked_out_by_hand() -> None:
    """Evidence at ranks 2 and 5, and one that is not found."""
    ranks = (5, None, 2)
    assert [recall_at(ranks, k) for k in (1, 2, 5)] == [0, 1 / 3, 2 / 3]
    assert [hit_at(ranks, k) for k in (1, 2, 5)] == [0, 1, 1]
    assert all_at(ranks, 100) == 0
    assert all_at((5, 2), 4) == 0
    assert all_at((5, 2), 5) == 1
    assert reciprocal_rank(ranks) == 1 / 2
    assert reciprocal_rank((None,)) == 0
    # log2(3) = 1.584963, log2(6) = 2.584963; ideal: 1 + 0.630930 + 0.5 = 2.130930
    assert ndcg_at(ranks, 5) == pytest.approx((0.630930 + 0.386853) / 2.130930, abs=1e-6)
    assert ndcg_at(ranks, 2) == pytest.approx(0.630930 / 1.630930, abs=1e-6)


def test_a_hit_that_names_all_evidence_is_no_better_than_perfect() -> None:
    """A summary at the top gains one, not three: NDCG stays within 1."""
    assert ndcg_at((1, 1, 1), 10) == pytest.approx(1 / (1 + 1 / math.log2(3) + 1 / 2))
    assert ndcg_at((1, 2, 3), 10) == 1
    assert ndcg_at((1, 2, 3), 2) == 1


def test_measures_agree_with_the_list_itself() -> None:
    """On random lists of turns: sets of the first k, and gains counted hit by hit."""
    random = Random(7)
    for _ in range(200):
        turns = [str(number) for number in range(30)]
        evidence = random.sample(turns, random.randint(1, 6))
        found = random.sample(turns, 20)
        ranks = ranks_of(evidence, [(turn,) for turn in found])
        for k in (1, 5, 10, 20):
            common = set(found[:k]) & set(evidence)
            gains = [turn in evidence for turn in found[:k]]
            gained = sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))
            ideal = sum(1 / math.log2(place + 2) for place in range(min(k, len(evidence))))
            assert recall_at(ranks, k) == len(common) / len(evidence)
            assert hit_at(ranks, k) == bool(common)
            assert all_at(ranks, k) == (common == set(evidence))
            assert ndcg_at(ranks, k) == pytest.approx(gained / ideal)


def test_questions_count_alike_whatever_their_order() -> None:
    """Means are over questions, not over evidence, and exact to the last digit."""
    questions = [(1, None), (None,), (3,), (2, 2, 7)] * 5
    figures = figures_of(questions, (1, 5))
    assert figures.questions == 20
    assert figures.recall == pytest.approx({1: 1 / 8, 5: (1 / 2 + 0 + 1 + 2 / 3) / 4})
    assert figures.measure("mrr", None) == pytest.approx((1 + 0 + 1 / 3 + 1 / 2) / 4)
    assert figures.measure("hit", 5) == 3 / 4
    assert figures_of(questions[::-1], (1, 5)) == figures


def test_percentiles_are_values_that_occurred() -> None:
    """Nearest rank: the 95th of a hundred, the only one of one, none of none."""
    hundred = [float(number) for number in range(100, 0, -1)]
    assert [percentile(hundred, share) for share in (0.0, 0.5, 0.95, 1.0)] == [1, 50, 95, 100]
    assert percentile([3.0], 0.99) == 3
    times = latency_of(hundred)
    assert times is not None
    assert (times.timed, times.mean, times.p95, times.max) == (100, 50.5, 95, 100)
    assert latency_of([]) is None


# The baselines, on examples worked out by hand.

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


# What summaries keep of what is asked for is counted from the texts, and chance beside it.

CHAT = "Wow, that sounds really great, thanks so much!"
COURTESY = "Hope you are having fun, take care!"


def a_set(folder: Path) -> EvaluationSet:
    """Return a set in which two people tell facts between courtesies, each asked for."""
    turns, asked = [], []
    for day in range(1, 4):
        for n in range(12):
            number = f"{day}{n:02d}"
            text = f"{CHAT} I met Zora{number} in Trieste{number} yesterday. {COURTESY} {CHAT}"
            at = f"2026-05-{day + 3:02d}T10:{n:02d}"
            turns.append({"id": f"t{number}", "date": at, "speaker": "AB"[n % 2], "text": text})
            asked.append({"question": f"Who met Zora{number}?", "evidence": [f"t{number}"]})
    path = folder / "set.json"
    path.write_text(json.dumps({"conversations": [{"id": "c", "turns": turns, "qa": asked}]}))
    return read_set(path)


def test_every_grain_is_counted_and_beats_chance(tmp_path: Path) -> None:
    """Within the budget, with the same sentences asked for at every grain."""
    policy = LifecyclePolicy()
    found = kept_of(a_set(tmp_path), policy, seeds=3)
    assert [one.grain for one in found] == list(MEASURED)
    assert [one.asked for one in found] == [36] * 4
    assert [one.texts for one in found] == [6, 3, 1, 1]
    budgets = [policy.summary_tokens, *(policy.episode_tokens[one] for one in MEASURED[1:])]
    for one, budget in zip(found, budgets, strict=True):
        assert 0 < one.tokens <= budget
        assert one.ezra > one.random_most >= one.random > 0
        assert one.ezra == pytest.approx(one.told)
    assert found[0].ezra == found[1].ezra == 1.0
    assert found == kept_of(a_set(tmp_path), policy, seeds=3)


def test_what_does_not_fit_is_not_kept(tmp_path: Path) -> None:
    """A budget of next to nothing keeps one sentence of each text."""
    small = LifecyclePolicy(summary_tokens=1, episode_tokens=dict.fromkeys(MEASURED[1:], 1))
    found = kept_of(a_set(tmp_path), small, seeds=1)
    assert [round(36 * one.ezra) for one in found] == [6, 3, 1, 1]
    assert [round(36 * one.told) for one in found] == [6, 3, 1, 1]


def test_courtesies_are_sentences_of_the_evidence_too(tmp_path: Path) -> None:
    """What leaves them out does not keep everything of a turn."""
    (summaries, *_) = kept_of(a_set(tmp_path), seeds=1)
    assert summaries.of_everything == pytest.approx(1 / 4)


# The generated evaluation sets: the same bytes each time, and questions that evidence answers.

SEED = 1
NAMES = tuple(KINDS)
_POLITE = re.compile(r"\b(?:can|could|would) you\b|\bplease\b", re.IGNORECASE)
_REQUESTED = ("in which order it was brought up", "what the user would like")


@cache
def _set(name: str) -> dict[str, Any]:
    return made(name, SEED)


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_has_the_same_bytes(name: str) -> None:
    """Another seed has others; and a smaller set is the beginning of a larger one."""
    one = made(name, SEED, 1)
    assert written(one) == written(made(name, SEED, 1))
    assert one["conversations"] == _set(name)["conversations"][:1]
    assert one["conversations"] != made(name, SEED + 1, 1)["conversations"]


@pytest.mark.parametrize("name", NAMES)
def test_sizes_are_as_documented(name: str) -> None:
    """Conversations, turns in order of time, 60 to 100 questions, and every category in each."""
    document = _set(name)
    assert len(document["conversations"]) == KINDS[name].size
    for conversation in document["conversations"]:
        turns, asked = conversation["turns"], conversation["qa"]
        assert len(turns) == KINDS[name].turns
        dates = [datetime.fromisoformat(turn["date"]) for turn in turns]
        assert dates == sorted(set(dates))
        assert {turn["speaker"] for turn in turns} == set(conversation["speakers"])
        assert 60 <= len(asked) <= 100
        counted = Counter(str(one["category"]) for one in asked)
        assert counted.keys() == document["categories"].keys()
        assert 4 <= min(counted.values()) <= max(counted.values()) <= ASKED_MAX


@pytest.mark.parametrize("name", NAMES)
def test_ids_and_questions_are_unique_and_evidence_exists(name: str) -> None:
    """Turn ids, question ids and question texts of a conversation; no blank is left open."""
    for conversation in _set(name)["conversations"]:
        turns, asked = conversation["turns"], conversation["qa"]
        ids = {turn["id"] for turn in turns}
        assert len(ids) == len(turns)
        for key in ("id", "question"):
            assert len({one[key] for one in asked}) == len(asked)
        for one in asked:
            assert one["evidence"]
            assert len(set(one["evidence"])) == len(one["evidence"])
            assert set(one["evidence"]) <= ids
        said = "".join(turn["text"] for turn in turns) + "".join(one["question"] for one in asked)
        assert not any(mark in said for mark in ("{", "}", "[[", "]]"))


@pytest.mark.parametrize("name", NAMES)
def test_evidence_states_the_answer_and_nothing_else_does(name: str) -> None:
    """Every part of an answer is in the evidence; what proves it is in no other turn."""
    for number in range(1, KINDS[name].size + 1):
        _, turns, asked = KINDS[name].conversation(f"{name}/{SEED}/{number}")
        for question in asked:
            assert problems(question, turns) == [], question.text


@pytest.mark.parametrize("name", NAMES)
def test_ezra_reads_every_question(name: str, tmp_path: Path) -> None:
    """The file is in the documented format: nothing is left out, tool outputs are kept."""
    document = _set(name)
    path = tmp_path / f"{name}.json"
    path.write_text(written(document), encoding="utf-8")
    found = read_set(path)
    assert (found.excluded, found.without_evidence, found.dropped) == ({}, 0, 0)
    for interview, conversation in zip(found.interviews, document["conversations"], strict=True):
        assert [one.text for one in interview.questions] == [
            one["question"] for one in conversation["qa"]
        ]
        assert [len(turn.tool_outputs) for turn in interview.turns] == [
            len(turn.get("tool_outputs", ())) for turn in conversation["turns"]
        ]


def test_answers_of_the_assistant_are_long() -> None:
    """150 to 400 words with their structure, for more than half of what the assistant writes."""
    for conversation in _set("assistant")["conversations"]:
        answers = [turn for turn in conversation["turns"] if turn["speaker"] == "assistant"]
        long = [turn for turn in answers if "\n\n" in turn["text"]]
        assert len(long) > len(answers) / 2
        assert all(150 <= len(turn["text"].split()) <= 400 for turn in long)


def test_r9_12_requests_rest_on_what_the_user_said_at_length() -> None:
    """Polite ones of both kinds; their evidence is the user's, tells something, then asks."""
    for conversation in _set("requests")["conversations"]:
        turns = {turn["id"]: turn for turn in conversation["turns"]}
        names = _set("requests")["categories"]
        new = {int(key) for key, name in names.items() if name in _REQUESTED}
        asked = [one for one in conversation["qa"] if one["category"] in new]
        polite = [one for one in asked if _POLITE.search(one["question"])]
        assert len(polite) > len(asked) / 2
        for one in asked:
            for turn in (turns[id_] for id_ in one["evidence"]):
                assert turn["speaker"] == "user"
                assert turn["text"].endswith("?")
                assert len(turn["text"].split()) >= 30
                assert not bag_of(f"user: {turn['text']}")[-1]


def test_tools_answer_questions_of_the_team() -> None:
    """Some evidence has its answer in a tool output and not in what was said."""
    for conversation in _set("team")["conversations"]:
        turns = {turn["id"]: turn for turn in conversation["turns"]}
        only_printed = [
            one
            for one in conversation["qa"]
            if any(
                one["answer"] in printed["output"] and one["answer"] not in turns[id_]["text"]
                for id_ in one["evidence"]
                for printed in turns[id_].get("tool_outputs", ())
            )
        ]
        assert len(only_printed) >= 5


def test_unfair_questions_are_found() -> None:
    """An answer that is not there, one that stands elsewhere, and evidence that proves nothing."""
    day = datetime.fromisoformat("2026-03-02T09:00")
    right = Turn(day, "Ada", "We meet at the old mill.", (("ci", "code E-77"),))
    other = Turn(day, "Bo", "The old  mill, really?")
    aside = Turn(day, "Bo", "Milling about.")

    def found(answer: str, proof: str, *evidence: Turn) -> list[str]:
        question = Question("Where?", answer, "time", evidence, (proof,))
        return problems(question, [right, other, aside])

    assert found("E-77", "e 77", right) == []
    assert found("the old mill", "old mill", right, other) == []
    assert found("2026-03-02; Ada", "code E-77", right) == []
    assert found("the old mill", "old mill", right) == ["'old mill' is stated elsewhere"]
    assert found("the new mill", "E-77", right) == ["the evidence does not state 'the new mill'"]
    assert found("E-77", "E-77", right, aside) == ["a turn of the evidence proves nothing"]
    assert found("E-77", "E-7", right) == [
        "nothing states 'E-7'",
        "a turn of the evidence proves nothing",
    ]


@pytest.mark.parametrize("path", sorted(GRAMMARS.glob("*.txt")), ids=lambda path: path.stem)
def test_scripts_ask_about_turns_they_have(path: Path) -> None:
    """No question points at a missing turn; every slot of a script stands in one of its lines."""
    for section in read(path.stem):
        lines = [
            text
            for line in section.lines.values()
            for wordings in (line.wordings, *line.tools.values())
            for text in wordings
        ]
        for asked in section.asked:
            assert set(asked.turns) <= section.lines.keys(), asked
        if section.kind != "lists":
            said = " ".join(lines).lower()
            unused = [slot for slot in section.slots if f"{{{slot}" not in said]
            assert not unused, section.name
