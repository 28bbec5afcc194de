"""Acceptance of the knowledge graph over facts: row HE-05, for people and for programs."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from support.runtime import MovingClock, running

from ezra import BudgetExceeded, PolicyDenied, UsageError
from tiers.knowledge import Entity
from tiers.records import Budget, Fact


def _objects(facts: tuple[Fact, ...]) -> list[str | None]:
    return [fact.object for fact in facts]


async def test_he_05_a_new_value_supersedes_the_old_one_with_history(tmp_path: Path) -> None:
    """Of what has one value at a time; what was held before is told by history and as of then."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"teams"}, user_id="team")
        known = agent.knowledge
        first = await known.update("Max", "drives for", "Red Bull")
        then = clock()
        clock.move(hours=1)
        second = await known.update("Max", "drives for", "Ferrari")
        assert await known.update("Max", "drives for", "Ferrari") == second
        assert await known.update("max", "drives for", "Ferrari", confidence=0.4) == second
        assert await known.add("Max", "drives for", "Ferrari", confidence=0.9) == second
        assert [one.confidence for one in await agent.facts([first, second])] == [1.0, 0.4]
        whole = await graph.knowledge.history("MAX", "drives for")
        assert [fact.id for fact in whole] == [first, second]
        assert whole[0].superseded_by == second
        (now,) = await known.neighbours("max")
        (before,) = await known.neighbours("max", as_of=then)
        assert (now.fact.object, before.fact.object) == ("Ferrari", "Red Bull")
        assert await known.entity("red bull") is None
        assert (await known.entity("red bull", as_of=then)) == Entity(name="Red Bull", facts=1)
        clock.move(hours=1)
        back = await known.update("Max", "drives for", "Red Bull")
        assert back not in {first, second}
        assert [one.fact.id for one in await known.neighbours("Max")] == [back]
        hits = await agent.recall("who does Max drive for?", kinds=["fact"])
        assert [hit.id for hit in hits.items] == [back]


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("Pat O'Brien", "pat o\u2019brien"),
        ("Jean-Luc", "JEAN\u2011LUC"),
        ("\u0130pek", "ipek"),
        ("Alice", "\ufeffAl\u00adice"),
        ("Jos\u00e9", "Jose\u0301"),
    ],
)
async def test_he_05_a_name_is_one_however_it_was_typed(
    tmp_path: Path, name: str, typed: str
) -> None:
    """A telephone's apostrophe, a hyphen that does not break, what is not shown; no value stays."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        known = (await graph.spawn_agent("strategist")).knowledge
        await known.update(name, "lives in", "Cork")
        await known.update(typed, "lives in", "Dublin")
        assert await known.entity(typed) == await known.entity(name)
        assert [one.fact.object for one in await known.neighbours(name)] == ["Dublin"]
        with pytest.raises(UsageError):
            await known.alias(name, typed)


async def test_he_05_values_of_a_multi_valued_predicate_stay(tmp_path: Path) -> None:
    """And deleting ends one of them, or all, on request; history keeps them and the reason."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"people"})
        known = agent.knowledge
        for food in ("pasta", "sushi", "steak"):
            await known.update("Max", "likes", food)
            clock.move(hours=1)
        assert _objects(await known.history("Max", "likes")) == ["pasta", "sushi", "steak"]
        assert (await known.entity("Max")) == Entity(name="Max", facts=3)
        (ended,) = await known.delete("MAX", "likes", "Sushi", reason="he said so")
        assert await known.delete("Max", "likes", "sushi", reason="again") == ()
        assert len(await known.delete("Max", "likes", reason="all of it")) == 2
        assert await known.neighbours("Max") == ()
        history = await known.history("Max")
        assert [fact.forgotten_at is not None for fact in history] == [True] * 3
        words = ("pasta", "sushi", "steak", "likes")
        assert not [one for one in words if one in f"{[fact.model_dump() for fact in history]}"]
        assert [fact.subject for fact in history] == ["Max"] * 3
        (forgotten, *_) = await graph.knowledge.history("Max")
        assert (forgotten.predicate, forgotten.object) == ("likes", "pasta")
        fact_id = await agent.remember("Max is vegan.", topics=("people",))
        await agent.forget(fact_id, reason="he said so")
        again = await known.add("Max", "eats", "tofu")
        await agent.forget(again, reason="he said so")
        assert "tofu" not in f"{await known.history('Max', 'eats')}"
        assert _objects(await graph.knowledge.history("Max", "eats")) == ["tofu"]
        told = [event for event in await graph.audit() if event.kind == "forgotten"]
        assert (told[0].record_ids, told[0].reason) == ((ended,), "he said so")
        with pytest.raises(UsageError):
            await known.delete("Max", "likes", reason=" ")
        with pytest.raises(UsageError, match=r"200,006 characters.*199,998 with subject"):
            await known.add("y", "likes", "x" * 200_000)


async def test_he_05_entities_go_by_their_aliases_and_hang_together(tmp_path: Path) -> None:
    """Look-up, neighbours and paths by any name; a topic that an agent lacks leads nowhere."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        writer = await graph.spawn_agent("writer", topics={"teams", "places"})
        known = writer.knowledge
        await known.add("Max Verstappen", "drives for", "Red Bull", topics=["teams"])
        name = await known.alias("Max Verstappen", "Mad Max", topics=["teams"])
        await known.add("Red Bull", "is based in", "Milton Keynes", topics=["places"])
        entity = await known.entity("mad_max")
        assert entity == Entity(name="Max Verstappen", aliases=("Mad Max",), facts=1)
        chain = await known.path("MAD MAX", "Milton Keynes")
        assert _objects(chain or ()) == ["Red Bull", "Milton Keynes"]
        near = await known.neighbours("Mad Max", depth=2)
        assert [(one.distance, one.fact.object) for one in near] == [
            (1, "Red Bull"),
            (2, "Milton Keynes"),
        ]
        reader = (await graph.spawn_agent("reader", topics={"teams"})).knowledge
        assert await reader.path("Mad Max", "Milton Keynes") is None
        assert await graph.knowledge.path("Mad Max", "Milton Keynes") == chain
        heir = await ezra.create_session_graph("monza", inherits_from=["imola"])
        assert await heir.knowledge.entity("Mad Max") is None, "archival facts are not inherited"
        await graph.redact([name], reason="asked to")
        assert await known.entity("Mad Max") is None
        assert await known.path("Mad Max", "Milton Keynes") is None
        with pytest.raises(UsageError):
            await known.alias("Max", "MAX")


async def test_he_05_a_list_is_applied_as_one_or_refused_whole(tmp_path: Path) -> None:
    """Each item has its result; one that is wrong is named, and nothing was written."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"teams"}, budget=Budget(writes=4))
        known = agent.knowledge
        triple = {"subject": "Max", "predicate": "drives for"}
        for wrong in (
            {"op": "MERGE", **triple, "object": "x"},
            {"op": "ADD", **triple},
            {"op": "ADD", **triple, "object": " _ "},
            {"op": "ADD", **triple, "object": "x", "confidence": 2},
            {"op": "UPDATE", **triple, "object": "x", "colour": "red"},
            "ADD",
        ):
            with pytest.raises(UsageError, match=r"changes\[1\]"):
                await known.apply([{"op": "ADD", **triple, "object": "Red Bull"}, wrong])  # type: ignore[list-item]
        with pytest.raises(PolicyDenied):
            await known.apply([{"op": "ADD", **triple, "object": "x", "topics": ["money"]}])
        assert await known.history("Max") == ()
        added, updated, deleted, missing, last = await known.apply(
            [
                {"op": "ADD", **triple, "object": "Red Bull"},
                {"op": "update", **triple, "object": "Ferrari", "confidence": 0.5},
                {"op": "DELETE", **triple, "reason": "he retired"},
                {"op": "DELETE", **triple},
                {"op": "ADD", **triple, "object": "Williams"},
            ]
        )
        assert updated.ended == (added.id,)
        assert deleted.ended == (updated.id,)
        assert (missing.ended, missing.problem) == ((), None)
        assert last.problem is None
        (refused,) = await known.apply([{"op": "ADD", **triple, "object": "Sauber"}])
        assert refused.id is None
        assert "writes" in (refused.problem or "")
        with pytest.raises(BudgetExceeded):
            await known.add("Max", "drives for", "Sauber")
        whole = graph.knowledge
        assert _objects(await whole.history("Max")) == ["Red Bull", "Ferrari", "Williams"]
        assert _objects(await known.history("Max")) == ["Red Bull", "[forgotten]", "Williams"]


async def test_he_05_what_a_nearer_definition_hides_is_no_step(tmp_path: Path) -> None:
    """Neither a neighbour nor on the way to one; in the parent, and before that, it is."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        parent = await ezra.create_session_graph("parent")
        keeper = await parent.spawn_agent("keeper", topics={"*"})
        for told in (("car", "is kept at", "Dover"), ("Dover", "belongs to", "Kent")):
            subject, predicate, place = told
            core = Fact(subject=subject, predicate=predicate, object=place, tier="core")
            await keeper.remember(core)
        child = await ezra.create_session_graph("child", inherits_from=["parent"])
        agent = await child.spawn_agent("a", topics={"*"})
        clock.move(hours=1)
        before = clock()
        clock.move(hours=1)
        await agent.knowledge.update("car", "is kept at", "Calais")
        for known in (agent.knowledge, child.knowledge):
            near = await known.neighbours("car", depth=2)
            assert [one.fact.text for one in near] == ["car is kept at Calais"]
            assert await known.path("car", "Kent") is None
            then = await known.neighbours("car", depth=2, as_of=before)
            assert {one.fact.object for one in then} == {"Dover", "Kent"}
            assert len(await known.path("car", "Kent", as_of=before) or ()) == 2
        assert len(await keeper.knowledge.neighbours("car", depth=2)) == 2


async def test_he_05_a_statement_in_other_letters_is_the_one_that_is_there(tmp_path: Path) -> None:
    """Case, white space and underscores make no second fact; another writer's is a twin."""
    async with running(tmp_path, MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola")
        known = (await graph.spawn_agent("strategist", topics={"people"})).knowledge
        first = await known.add("Anna Müller", "lives in", "Berlin")
        assert await known.add("ANNA MÜLLER", "Lives_In", " berlin") == first
        assert await known.update("anna  müller", "lives in", "BERLIN") == first
        other = (await graph.spawn_agent("engineer", topics={"people"})).knowledge
        twin = await other.add("anna müller", "lives in", "berlin")
        told = {fact.id: fact.text for fact in await known.history("Anna Müller")}
        assert told == dict.fromkeys((first, twin), "Anna Müller lives in Berlin")


async def test_he_05_a_statement_under_other_names_is_the_one_that_is_there(
    tmp_path: Path,
) -> None:
    """Of its writer, whether added, updated or deleted; a private name is put into no other's."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        known = (await graph.spawn_agent("strategist", topics={"work", "secret"})).knowledge
        first = await known.add("Robert Smith", "works at", "ACME GmbH", topics=["work"])
        await known.alias("Robert Smith", "Bob", topics=["secret"])
        await known.alias("ACME GmbH", "Acme", topics=["secret"])
        assert await known.add("bob", "works at", "Acme", topics=["work"]) == first
        changed = await known.update("Bob", "Works_At", "acme", confidence=0.4, topics=["work"])
        assert changed == first
        assert [one.fact.confidence for one in await known.neighbours("Acme")] == [0.4]
        other = await known.add("Bob", "works at", "Acme", topics=[])
        assert _objects(await known.history("Bob", "works at")) == ["ACME GmbH", "Acme"]
        ended = await known.delete("Bob", "works at", "Acme", reason="he left")
        assert ended == (first, other)
        further = await known.alias("Bob", "Bobby")
        assert await known.delete("Robert Smith", "alias", "Bobby", reason="nobody does") == (
            further,
        )
        assert (await known.entity("Bob")) == Entity(name="Robert Smith", aliases=("Bob",))


async def test_he_05_what_is_to_hold_later_takes_no_place_yet(tmp_path: Path) -> None:
    """Both stand until then, in whichever order they are told; on its day it ends what held."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist")
        known, day = agent.knowledge, clock() + timedelta(days=30)
        await known.update("Max", "lives in", "Rome")
        await known.update("Max", "lives in", "Kiel", valid_from=day)
        await known.update("Max", "lives in", "Bari")
        now = await known.history("Max", "lives in", live_only=True)
        assert _objects(now) == ["Kiel", "Bari"]
        hits = await agent.recall("Where does Max live?", kinds=["fact"])
        assert hits.items[0].text == "Max lives in Bari"
        clock.move(days=31)
        await known.update("Max", "lives in", "Kiel")
        now = await known.history("Max", "lives in", live_only=True)
        assert _objects(now) == ["Kiel"]
