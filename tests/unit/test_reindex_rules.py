"""What re-embedding decides, and what it does about a text that may be poison."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.records import START, hit, scope
from support.reembedding import ScriptedEmbedder, vector_by
from support.tier_samples import entry_of, scope_of

from metaagents.reindex.rules import (
    by_owner,
    filled_in,
    from_the_start,
    indexable,
    plan,
    progress,
    started,
)
from metaagents.reindex.vectors import vectors_of
from metaagents.work import RETRY_SECONDS_MAX, retry_seconds
from tiers.errors import TierRejected, TierUnavailable
from tiers.upkeep import Generation, RecordRef

# What re-embedding decides.


def marked(model_id: str | None, state: str = "complete", minute: int = 0, **more: object):  # noqa: ANN201
    """Return a generation's mark."""
    known = {"dimensions": 8, "marked_at": START + timedelta(minutes=minute), **more}
    return Generation(model_id=model_id, state=state, **known)


NEW, NOTHING = marked("new", "building"), marked(None, "building")
OLD, OLDER = marked("old", minute=2), marked("older", minute=1)
HALF, HALF_OLD = marked("new", "building", cursor="7", done=7), marked("old", "building")
WORDS, HALF_WORDS = marked(None), marked(None, "building", cursor="7")
DONE = marked("new")
ALL = {"old", "older", "new"}


@pytest.mark.parametrize(
    ("known", "wanted", "models", "serve", "build", "idle"),
    [
        # The wanted model's index is there.
        ([DONE], NEW, ALL, DONE, None, []),
        ([OLD, DONE, WORDS], NEW, ALL, DONE, None, [OLD, WORDS]),
        # It is not, and another answers meanwhile.
        ([OLD], NEW, ALL, OLD, NEW, []),
        ([HALF, OLD], NEW, ALL, OLD, HALF, []),
        ([OLD, OLDER], NEW, ALL, OLD, NEW, [OLDER]),
        ([OLD, OLDER], NEW, {"older"}, OLDER, NEW, [OLD]),
        # Words answer when no other model can, and only then.
        ([WORDS], NEW, ALL, WORDS, NEW, []),
        ([WORDS, OLD], NEW, ALL, OLD, NEW, [WORDS]),
        ([WORDS, OLD], NEW, set(), WORDS, NEW, [OLD]),
        # Nothing can answer: the wanted one does, while it is built.
        ([], NEW, ALL, NEW, NEW, []),
        ([HALF], NEW, ALL, HALF, HALF, []),
        ([OLD], NEW, set(), NEW, NEW, [OLD]),
        ([HALF_OLD], NEW, ALL, NEW, NEW, [HALF_OLD]),
        # No vectors are wanted.
        ([], NOTHING, ALL, NOTHING, NOTHING, []),
        ([WORDS, OLD], NOTHING, ALL, WORDS, None, [OLD]),
        ([OLD, OLDER], NOTHING, ALL, OLD, None, [OLDER]),
        ([HALF, OLD], NOTHING, set(), OLD, None, [HALF]),
        ([HALF], NOTHING, ALL, HALF, None, []),
        ([HALF_WORDS], NOTHING, ALL, HALF_WORDS, HALF_WORDS, []),
        ([HALF_WORDS, OLD], NOTHING, ALL, OLD, None, [HALF_WORDS]),
    ],
)
def test_what_serves_and_what_is_built(known, wanted, models, serve, build, idle) -> None:  # noqa: ANN001
    """Every case by name: wanted, other, words, in place, and no model at all."""
    found = plan(known, wanted, models)
    assert (found.serve, found.build, list(found.idle)) == (serve, build, idle)


def test_in_place_is_the_same_generation_twice() -> None:
    """Who builds in place opens one index, not two."""
    found = plan([HALF], NEW, ALL)
    assert found.build is found.serve


MODELS = (None, "a", "b", "c")
marks = st.builds(
    marked, st.sampled_from(MODELS), st.sampled_from(("building", "complete")), st.integers(0, 9)
)


@given(
    st.lists(marks, unique_by=lambda one: one.model_id, max_size=4),
    st.sampled_from(MODELS),
    st.sets(st.sampled_from(("a", "b", "c"))),
)
def test_a_plan_is_always_sound(known: list[Generation], model: str | None, models: set[str]):  # noqa: ANN201
    """Each generation has one place, and nobody is asked with vectors that cannot be made."""
    wanted = marked(model, "building", 99)
    found = plan(known, wanted, models)
    used = {found.serve.model_id} | ({found.build.model_id} if found.build else set())
    assert {one.model_id for one in found.idle} == {one.model_id for one in known} - used
    assert all(one.model_id not in used for one in found.idle)
    if model is None:
        # Words can be asked of any; only an index of words is built without vectors.
        assert found.build is None or found.build.model_id is None
        return
    assert found.serve.model_id in {model, None} | models
    assert found.serve.state == "complete" or found.serve.model_id == model
    is_there = found.serve.state == "complete" and found.serve.model_id == model
    assert (found.build is None) == is_there
    assert found.build is None or found.build.model_id == model


def test_a_new_start_forgets_how_far_it_was() -> None:
    """Model and length stay."""
    again = from_the_start(HALF, START)
    assert again == Generation(model_id="new", dimensions=8, marked_at=START)
    assert started(HALF)
    assert not started(again)


def test_progress_never_passes_its_total() -> None:
    """Records stored while building count as well."""
    building = marked("new", "building", done=12, total=10)
    assert (progress("old", building).done, progress("old", building).total) == (12, 12)
    half = progress(None, marked("new", "building", done=3, total=10))
    assert (half.model_from, half.model_to, half.done, half.total) == (None, "new", 3, 10)


def test_records_are_read_by_who_may_see_them() -> None:
    """One scope per graph and owner of private records, each seeing every topic and user."""
    refs = [
        RecordRef(graph_id="g", id="1"),
        RecordRef(graph_id="h", id="2"),
        RecordRef(graph_id="g", id="3", agent_id="a"),
        RecordRef(graph_id="g", id="4"),
    ]
    assert by_owner("acme", refs) == {
        scope(None, "g", every_user=True): ["1", "4"],
        scope(None, "h", every_user=True): ["2"],
        scope("a", "g", every_user=True): ["3"],
    }
    assert by_owner("acme", []) == {}


def test_what_has_a_text_is_indexed() -> None:
    """Of every kind, beliefs as well; an empty text could not be found."""
    entries = [
        entry_of(scope_of(), 1, kind="belief"),
        entry_of(scope_of(), 2, kind="fact"),
        entry_of(scope_of(), 3).model_copy(update={"text": ""}),
    ]
    assert indexable(entries) == entries[:2]


def test_what_an_index_lacks_is_filled_in_by_words() -> None:
    """At the rank of its words, once, best first, within the limit."""
    indexed = [hit("a", 0.18), hit("b", 0.05)]
    words = [hit("c", 9.0, tier="cold"), hit("a", 8.0, tier="cold"), hit("d", 7.0, tier="cold")]
    found = filled_in(indexed, words, 10)
    assert [one.id for one in found] == ["c", "a", "b", "d"]
    assert [one.score for one in found] == [1 / 10.5, 1 / 11, 1 / 12, 1 / 12.5]
    assert [one.id for one in filled_in(indexed, words, 2)] == ["c", "a"]
    assert [one.id for one in filled_in(indexed, [], 10)] == ["a", "b"]


def test_who_fills_in_waiting_records_twice_is_not_helped() -> None:
    """What is marked as found by words only is added by who asks."""
    assert filled_in([], [hit("w", 1.0, words_only=True)], 10) == ()


def test_waiting_doubles_up_to_a_limit() -> None:
    """From two seconds to five minutes, whatever the number of failures."""
    waits = [retry_seconds(failures) for failures in range(1, 2_000)]
    assert waits[:4] == [2.0, 4.0, 8.0, 16.0]
    assert all(one <= other for one, other in pairwise(waits))
    assert waits[-1] == RETRY_SECONDS_MAX


# Texts to vectors when one of them may be poison.


async def test_every_text_has_its_vector_once() -> None:
    """Equal texts are asked for once, in the background."""
    embedder = ScriptedEmbedder("m")
    found = await vectors_of(["a", "b", "a"], embedder)
    assert found == {"a": vector_by("m", "a"), "b": vector_by("m", "b")}
    assert embedder.asked == ["a", "b"]


async def test_without_a_model_there_are_no_vectors() -> None:
    """The texts are found by their words."""
    assert await vectors_of(["a", "b"], None) == {"a": None, "b": None}


async def test_nothing_asks_nobody() -> None:
    """Not even a model that is down."""
    embedder = ScriptedEmbedder("m")
    embedder.is_down = True
    assert await vectors_of([], embedder) == {}


async def test_a_poisonous_text_takes_no_other_down() -> None:
    """It has no vector, the others have theirs."""
    embedder = ScriptedEmbedder("m")
    embedder.refused = {"poison"}
    found = await vectors_of(["a", "poison", "b"], embedder)
    assert found == {"a": vector_by("m", "a"), "poison": None, "b": vector_by("m", "b")}


async def test_a_poisonous_text_alone_is_told_from_a_broken_model() -> None:
    """The model is asked for something harmless: it answers, so the text is to blame."""
    embedder = ScriptedEmbedder("m")
    embedder.refused = {"poison"}
    assert await vectors_of(["poison"], embedder) == {"poison": None}


async def test_a_model_that_refuses_everything_is_broken() -> None:
    """No text is given up for it."""
    embedder = ScriptedEmbedder("m")
    embedder.is_broken = True
    with pytest.raises(TierRejected, match="broken"):
        await vectors_of(["a", "b"], embedder)


async def test_a_model_that_is_away_fails_the_call() -> None:
    """That is no text's fault."""
    embedder = ScriptedEmbedder("m")
    embedder.is_down = True
    with pytest.raises(TierUnavailable):
        await vectors_of(["a"], embedder)
