"""The contract of ``TaintStore``, on every engine."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import OPERATOR, SCOPE, fact_by, graph_of, rule_by, summary_by, turn_by
from support.document_reference import document_by, drafts_of
from support.redactions import LATER, SECRETS, words_in
from support.tier_samples import NOW

from tiers.errors import Conflict, NotFound, UsageError
from tiers.records import Scope, ToolOutput
from tiers.taint import SET_ASIDE, RollBack, RolledBack, TaintedKind

WHOLE = OPERATOR


def roll_back_of(*records: tuple[TaintedKind, str], name: str = "r", **fields: object) -> RollBack:
    """Return a roll-back of records of the one graph."""
    items = tuple(
        RolledBack(
            graph_id=SCOPE.graph_id,
            kind=kind,
            id=one,
            done="reverted" if kind == "belief" else "set aside",
        )
        for kind, one in records
    )
    return RollBack(
        id=name,
        tenant=SCOPE.tenant,
        graph_id=SCOPE.graph_id,
        record_id=records[0][1],
        reason="planted",
        made_at=NOW,
        items=items,
    ).model_copy(update=fields)


@pytest.fixture
async def story(cold: Cold) -> dict[str, str]:
    """A turn in a summary with another, a turn that waits, a fact, a rule, a document."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    said = ToolOutput(tool="search", output=f"found {SECRETS[1]}")
    poison = turn_by(text=f"The code is {SECRETS[0]}.", tool_outputs=(said,))
    clean, waiting = turn_by(text="Box now."), turn_by(text=f"Again {SECRETS[0]}.")
    for turn in (poison, clean, waiting):
        await cold.turns.append_turn(SCOPE, turn)
    summary = summary_by(SCOPE, (poison, clean), text=f"The code is {SECRETS[2]}. Box now.")
    await cold.episodic.put_summary(SCOPE, summary)
    fact = fact_by(text=f"It is {SECRETS[3]}.", source_ids=(poison.id,))
    old = fact_by(text="It was something true.")
    for one in (old, fact):
        await cold.semantic.put_fact(SCOPE, one)
    await cold.semantic.supersede(SCOPE, old.id, fact.id, NOW)
    rule = rule_by(steps=(f"Say {SECRETS[4]}.",), source_ids=(fact.id,))
    await cold.procedural.put_rule(SCOPE, rule)
    for revision in (1, 2):
        said = f"On {SECRETS[5]}, part {revision}."
        document = document_by(said=said, revision=revision, minute=revision, text=said)
        await cold.shelf.revise(WHOLE, document, drafts_of(f"On {SECRETS[5]}."))
    (passage,) = await cold.shelf.passages_of(WHOLE, document.id)
    return {
        "turn": poison.id,
        "summary": summary.id,
        "fact": fact.id,
        "rule": rule.id,
        "document": document.id,
        "passage": passage.id,
        "waiting": waiting.id,
        "old": old.id,
    }


def whole_of(story: dict[str, str]) -> RollBack:
    """Return the roll-back of all of it."""
    kinds: tuple[TaintedKind, ...] = ("turn", "summary", "fact", "rule", "document", "passage")
    return roll_back_of(*((kind, story[kind]) for kind in kinds), ("turn", story["waiting"]))


async def test_what_rests_on_records_is_told_at_first_hand(
    cold: Cold, story: dict[str, str]
) -> None:
    """With how; of another graph, and of nothing, there is nothing."""
    found = await cold.taint.resting_on(WHOLE, [story["turn"]])
    told = {(one.kind, one.id, reason.how) for one in found for reason in one.reasons}
    assert ("summary", story["summary"], "summary of") in told
    assert {one.id for one in found} == {story["summary"], story["fact"]}
    (rule,) = await cold.taint.resting_on(WHOLE, [story["fact"]])
    assert (rule.kind, rule.reasons[0].how) == ("rule", "rests on")
    (passage,) = await cold.taint.resting_on(WHOLE, [story["document"]])
    assert (passage.kind, passage.id) == ("passage", story["passage"])
    (document,) = await cold.taint.resting_on(WHOLE, [story["passage"]])
    assert (document.kind, document.reasons[-1].how) == ("document", "holds")
    other = Scope.of_graph(SCOPE.tenant, "elsewhere")
    assert await cold.taint.resting_on(other, [story["turn"]]) == ()
    assert await cold.taint.described(other, [story["turn"]]) == ()
    assert await cold.taint.resting_on(WHOLE, []) == ()
    for scope, ids in ((SCOPE, ["x"]), (WHOLE, ["x"] * 501)):
        with pytest.raises(UsageError):
            await cold.taint.resting_on(scope, ids)


async def test_what_is_set_aside_is_in_no_row_but_one_and_comes_back_as_it_was(
    cold: Cold, backend: ColdBackend, tmp_path: Path, story: dict[str, str]
) -> None:
    """Rows, words and indexes of every table lose it; undoing brings every row back."""
    tables = (
        "document_revisions",
        "turns",
        "summaries",
        "facts",
        "rules",
        "documents",
        "passages",
        "searchable",
    )
    before = {name: backend.rows(tmp_path, name) for name in (*tables, "word_totals")}
    done = await cold.taint.set_aside(whole_of(story), LATER)
    assert done is not None
    (again,) = [one for one in done.items if one.done == "stands again"]
    assert again.id == story["old"]
    left = words_in(backend.whole(tmp_path), SECRETS)
    assert {name for name in left if not name.startswith("set_aside")} <= {"work"}
    described = await cold.taint.described(WHOLE, [story["turn"], story["fact"]])
    assert {(one.is_gone, one.is_kept) for one in described} == {(True, True)}
    assert SECRETS[0] in " ".join(one.text for one in described)
    (turn,) = await cold.turns.turns(SCOPE, [story["turn"]])
    assert (turn.input, turn.tool_outputs[0].output) == (SET_ASIDE, "")
    undone = await cold.taint.undo(WHOLE, "r", "no", LATER + timedelta(hours=1))
    assert (undone.state, undone.kept) == ("undone", ())
    assert {name: backend.rows(tmp_path, name) for name in before} == before
    assert backend.rows(tmp_path, "set_aside") == []


async def test_what_gave_way_stays_so_where_something_clean_has_its_place(
    cold: Cold, story: dict[str, str]
) -> None:
    """Old, then poison, then a true one: taking the poison away changes neither."""
    true = fact_by(text="It is something true again.")
    await cold.semantic.put_fact(SCOPE, true)
    await cold.semantic.supersede(SCOPE, story["fact"], true.id, NOW)
    done = await cold.taint.set_aside(roll_back_of(("fact", story["fact"])), LATER)
    assert done is not None
    assert [one.done for one in done.items] == ["set aside"]
    (old,) = await cold.semantic.facts(SCOPE, [story["old"]])
    assert old.superseded_by == story["fact"]


async def test_a_summary_that_a_model_wrote_comes_back_as_the_models(
    cold: Cold, story: dict[str, str]
) -> None:
    """Written anew meanwhile without one, it says again who had written it and what was lost."""
    summary = summary_by(SCOPE, [turn_by(text="Other.")], made_by="model", lost=3, answers=(0,))
    await cold.turns.append_turn(
        SCOPE, turn_by(text="Other.").model_copy(update={"id": summary.covers[0]})
    )
    await cold.episodic.put_summary(SCOPE, summary)
    await cold.taint.set_aside(roll_back_of(("summary", summary.id)), LATER)
    (emptied,) = await cold.redactor.redacted(WHOLE, [summary.id])
    anew = emptied.model_copy(
        update={"text": "Anew.", "made_by": "extract", "lost": 0, "answers": ()}
    )
    assert await cold.redactor.rewrite(WHOLE, anew)  # type: ignore[arg-type]
    await cold.taint.undo(WHOLE, "r", "no", LATER)
    (back,) = await cold.episodic.written(SCOPE, [summary.id])
    assert (back.text, back.made_by, back.lost) == (summary.text, "model", 3)
    assert back.answers == (0,)


async def test_a_dry_run_and_a_second_one_of_the_same_record_write_nothing(
    cold: Cold, backend: ColdBackend, tmp_path: Path, story: dict[str, str]
) -> None:
    """The first tells what it would come to; the second has to wait for the open one."""
    before = backend.whole(tmp_path)
    dry = await cold.taint.set_aside(whole_of(story), LATER, dry_run=True)
    assert backend.whole(tmp_path) == before
    done = await cold.taint.set_aside(whole_of(story), LATER)
    assert done == dry
    second = whole_of(story).model_copy(update={"id": "s"})
    assert await cold.taint.set_aside(second, LATER) is None
    assert [one.id for one in await cold.taint.roll_backs(WHOLE)] == ["r"]


async def test_confirming_destroys_what_is_kept(
    cold: Cold, backend: ColdBackend, tmp_path: Path, story: dict[str, str]
) -> None:
    """Nothing of it is left anywhere; then it can be neither undone nor gone on with."""
    await cold.taint.set_aside(whole_of(story), LATER)
    done = await cold.taint.confirm(WHOLE, "r", "seen", LATER)
    assert done.state == "confirmed"
    assert words_in(backend.whole(tmp_path), SECRETS) == {}
    with pytest.raises(Conflict):
        await cold.taint.undo(WHOLE, "r", "late", LATER)
    with pytest.raises(Conflict):
        await cold.taint.set_aside(whole_of(story), LATER)
    for act in (cold.taint.undo, cold.taint.confirm):
        with pytest.raises(NotFound):
            await act(WHOLE, "x", "why", LATER)
        with pytest.raises(NotFound):
            await act(Scope.of_graph("other", SCOPE.graph_id), "r", "why", LATER)


async def test_redaction_reaches_what_is_set_aside(
    cold: Cold, backend: ColdBackend, tmp_path: Path, story: dict[str, str]
) -> None:
    """It is found by what it said, and nothing is left to bring back."""
    await cold.taint.set_aside(whole_of(story), LATER)
    page = await cold.redactor.holding(WHOLE, subject=SECRETS[0])
    assert {one.id for one in page.rows} == {story["turn"], story["waiting"]}
    page = await cold.redactor.holding(WHOLE, subject=SECRETS[5])
    assert story["passage"] in {one.id for one in page.rows}
    ids = [one for name, one in story.items() if name != "old"]
    await cold.redactor.redact(WHOLE, ids, "asked to", LATER)
    assert words_in(backend.whole(tmp_path), SECRETS) == {}
    undone = await cold.taint.undo(WHOLE, "r", "no", LATER)
    assert set(undone.kept) == set(ids)


async def test_what_is_forgotten_while_it_is_set_aside_stays_forgotten(
    cold: Cold, story: dict[str, str]
) -> None:
    """With what says the same, set aside or not, as far as who asks sees it."""
    text = f"It is {SECRETS[3]}."
    aside = fact_by(text=text, topics=())
    live = fact_by(text=text, topics=("pit", "tyres"))
    private = fact_by(text=text, private=True)
    stranger = fact_by(SCOPE.for_agent("engineer"), text, private=True)
    for one in (aside, live, private, stranger):
        await cold.semantic.put_fact(SCOPE.for_agent(one.agent_id), one)
    named = [("fact", one) for one in (story["fact"], aside.id, private.id, stranger.id)]
    done = await cold.taint.set_aside(roll_back_of(*named), LATER)  # type: ignore[arg-type]
    assert done is not None
    ids = [story["fact"], "unknown", live.id, stranger.id]
    (found,) = await cold.review.rolled_back(SCOPE, ids)
    assert (found.id, found.text, found.redacted_at) == (story["fact"], text, None)
    twins = {
        story["fact"]: {aside.id, live.id},
        live.id: {aside.id, story["fact"]},
        private.id: set(),
    }
    for name, same in twins.items():
        assert set(await cold.review.twins(SCOPE, name)) == same
    assert await cold.review.twins(SCOPE, stranger.id) == ()
    both = [aside.id, story["fact"], stranger.id]
    assert await cold.review.forget_all(SCOPE, both, "asked", LATER) == tuple(both[:2])
    assert await cold.review.twins(SCOPE, live.id) == ()
    assert not await cold.review.forget(SCOPE, aside.id, "asked", LATER)
    await cold.taint.undo(WHOLE, "r", "true after all", LATER + timedelta(hours=1))
    back = await cold.semantic.facts(SCOPE, [*both[:2], private.id])
    assert [(one.text, one.forgotten_at) for one in back] == [
        (text, LATER), (text, LATER), (text, None),
    ]  # fmt: skip
    (old,) = await cold.semantic.facts(SCOPE, [story["old"]])
    assert old.superseded_by == story["fact"], "it had given way before"


async def test_what_was_denied_and_is_forgotten_does_not_stand_again(
    cold: Cold, story: dict[str, str]
) -> None:
    """Rolling back what denied it would bring back the words that were to be forgotten."""
    denied, twin, also = (
        fact_by(text=f"So {SECRETS[3]}.", topics=topics)
        for topics in (("tyres",), ("pit", "tyres"), ())
    )
    for one in (denied, also, twin):
        await cold.semantic.put_fact(SCOPE, one)
    for one in (denied, also):
        done = await cold.semantic.supersede(SCOPE, one.id, story["fact"], NOW, how="denial")
        assert done
    assert set(await cold.review.twins(SCOPE, twin.id)) == {denied.id, also.id}
    assert not await cold.review.forget(SCOPE, denied.id, "asked", LATER), "no question finds it"
    assert await cold.review.twins(SCOPE, twin.id) == (also.id,)
    rolled = await cold.taint.set_aside(roll_back_of(("fact", story["fact"])), LATER)
    assert rolled is not None
    back = {one.id for one in rolled.items if one.done == "stands again"}
    assert back == {story["old"], also.id}
