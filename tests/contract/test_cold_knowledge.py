"""The contract of ``KnowledgeGraph``: what hangs together, for whom, and at what moment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import HOSTILE_NAMES, LONE_SURROGATE, OPERATOR, SCOPE, STRANGERS, fact_by
from support.knowledge_reference import MINUTE, NAMES, Reference, askers, world_of
from support.tier_samples import HOSTILE_TEXT, NOW

from tiers.errors import UsageError
from tiers.knowledge import Entity
from tiers.recollection import Place
from tiers.records import Fact

LATER = NOW + timedelta(hours=1)


async def _put(cold: Cold, *said: tuple[str, str, str], **fields: object) -> list[Fact]:
    """Store triples, each recorded a minute after the one before."""
    facts = [
        fact_by(text="", subject=s, predicate=p, object=o, minute=number, **fields)
        for number, (s, p, o) in enumerate(said)
    ]
    return [(await cold.semantic.put_fact(SCOPE, fact))[0] for fact in facts]


def _ids(facts: Sequence[Fact] | None) -> list[str] | None:
    return None if facts is None else [fact.id for fact in facts]


@pytest.mark.parametrize("seed", [1, 2])
async def test_engines_find_what_a_plain_walk_finds(cold: Cold, seed: int) -> None:
    """In random worlds of topics, users, privacy, ends and ancestors, now and at moments."""
    random = Random(seed)
    facts = world_of(random)
    await cold.archive.import_rows("acme", "facts", facts)
    known = 0
    for scope in askers():
        as_of = random.choice([None, NOW + random.randrange(20, 60) * MINUTE])
        wanted = Reference.seen(facts, scope, as_of)
        start, end = random.sample(NAMES, 2)
        depth, limit = random.randrange(1, 5), random.choice([3, 100])
        near = await cold.knowledge.neighbours(scope, [start, end], depth, limit, as_of=as_of)
        found = [(one.distance, one.fact.id) for one in near]
        assert found == wanted.near([start, end], depth)[:limit]
        chain = await cold.knowledge.path(scope, start, end, 6, as_of=as_of)
        assert _ids(chain) == wanted.way(start, end, 6)
        entities = await cold.knowledge.entities(scope, [start, "nobody"], 9, as_of=as_of)
        assert [one.facts for one in entities] == [wanted.count(start)][: len(entities)]
        if wanted.count(start):
            assert entities[0].name == wanted.spelling(start)
        known += len(near) + len(chain or ())
    assert known > 20, "the worlds hang together"


async def test_entity_goes_by_any_of_its_names(cold: Cold) -> None:
    """In any spelling, each entity once, in the order of the names that were asked for."""
    await _put(
        cold,
        ("Max Verstappen", "drives for", "Red Bull"),
        ("max_verstappen", "won", "Imola"),
        ("Max Verstappen", "alias", "Mad Max"),
        ("MV1", "Alias", "MAD  max"),
        ("Red Bull", "is based in", "Milton Keynes"),
        ("Mad Max", "knows", "Max Verstappen"),
        ("Niki", "alias", "Rat"),
    )
    max_ = Entity(name="Max Verstappen", aliases=("Mad Max", "MV1"), facts=3)
    bull = Entity(name="Red Bull", facts=2)
    names = ["RED bull", "mv1", "nobody", " ", "\uff2dad_\uff2dax", "rat"]
    found = await cold.knowledge.entities(SCOPE, names, 9)
    assert found == (bull, max_, Entity(name="Niki", aliases=("Rat",)))
    assert await cold.knowledge.entities(SCOPE, names, 1) == (bull,)
    near = await cold.knowledge.neighbours(SCOPE, ["MV1"], 1, 9)
    assert [one.fact.object for one in near] == ["Red Bull", "Imola", "Max Verstappen"]
    assert await cold.knowledge.path(SCOPE, "mad max", "MV1", 1) == ()
    chain = await cold.knowledge.path(SCOPE, "milton keynes", "mv1", 2)
    assert [fact.predicate for fact in chain or ()] == ["is based in", "drives for"]
    assert await cold.knowledge.path(SCOPE, "milton keynes", "mv1", 1) is None
    assert await cold.knowledge.path(SCOPE, "milton keynes", "niki", 6) is None
    for scope in STRANGERS:
        assert await cold.knowledge.entities(scope, names, 9) == ()


async def test_history_tells_what_was_held_and_when(cold: Cold) -> None:
    """Ended statements stay in it, what was redacted does not; a moment shows what stood then."""
    first, second, third, other, name = await _put(
        cold,
        ("Ann", "lives in", "Rome"),
        ("ann", "lives in", "Pisa"),
        ("Ann", "Lives_In", "Bari"),
        ("Ann", "likes", "tea"),
        ("Ann", "alias", "Annie"),
    )
    await cold.semantic.supersede(SCOPE, first.id, second.id, second.recorded_at)
    await cold.review.forget(SCOPE, third.id, "asked to", LATER)
    graph = cold.knowledge
    whole = await graph.statements(SCOPE, "annie", None, 9)
    assert _ids(whole) == _ids((first, second, third, other, name))
    assert (whole[0].superseded_by, whole[2].forgotten_at) == (second.id, LATER)
    assert _ids(await graph.statements(SCOPE, "Ann", "LIVES  in", 2)) == _ids((first, second))
    assert _ids(await graph.statements(SCOPE, "annie", "lives in", value="PISA")) == [second.id]
    # However many others come before it.
    assert _ids(await graph.statements(SCOPE, "annie", None, 1, value="tea")) == [other.id]
    assert _ids(await graph.statements(SCOPE, "annie", "alias", value="Annie")) == [name.id]
    assert await graph.statements(SCOPE, "annie", "alias", value="ann") == ()
    assert _ids(await graph.statements(SCOPE, "Ann", "lives in", live_only=True)) == [second.id]
    for as_of, there in (
        (NOW, [first.id]),
        (second.recorded_at, [second.id]),
        (LATER - MINUTE, _ids((second, third, other))),
        (LATER, _ids((second, other))),
        (None, _ids((second, other))),
    ):
        near = await graph.neighbours(SCOPE, ["ann"], 1, 9, as_of=as_of)
        assert _ids([one.fact for one in near]) == there
    await cold.redactor.redact(OPERATOR, [second.id], "asked to", LATER)
    assert _ids(await graph.statements(SCOPE, "Ann", "lives in", 9)) == _ids((first, third))
    assert await graph.neighbours(SCOPE, ["pisa"], 1, 9, as_of=second.recorded_at) == ()


async def test_history_is_read_page_by_page(cold: Cold) -> None:
    """A page goes on after the place of the last fact of the one before, of one moment by id.

    Newest first the same pages come the other way round.
    """
    told = [
        fact_by(text="", subject="Ann", predicate="is", object=text)
        for text in ("late", "early", "there")
    ]
    twins = [(await cold.semantic.put_fact(SCOPE, one))[0] for one in told]
    late = await _put(cold, ("x", "is", "y"), ("Ann", "is", "gone"), ("Ann", "was", "here"))
    facts = [*sorted(twins, key=lambda one: one.id), *late[1:]]
    statements = cold.knowledge.statements
    seen: list[Fact] = []
    behind: Place | None = None
    while page := await statements(SCOPE, "ann", None, 2, behind=behind):
        seen += page
        behind = Place(page[-1].recorded_at, page[-1].id)
        assert len(seen) <= len(facts)
    assert _ids(seen) == _ids(facts)
    back: list[Fact] = []
    behind = None
    while page := await statements(SCOPE, "ann", None, 2, newest_first=True, behind=behind):
        back += page
        behind = Place(page[-1].recorded_at, page[-1].id)
        assert len(back) <= len(facts)
    assert _ids(back) == _ids(facts)[::-1]
    last = Place(facts[2].recorded_at, facts[2].id)
    assert _ids(await statements(SCOPE, "ann", "was", 9, behind=last)) == [late[2].id]
    await cold.review.forget(SCOPE, late[1].id, "asked to", LATER)
    live = await statements(SCOPE, "ann", None, 9, live_only=True, behind=last)
    assert _ids(live) == [late[2].id]


async def test_nothing_of_a_name_stays_with_redaction(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """No digest of an end is left in the raw engine, on request or by retention."""
    kept, asked_for, retired = await _put(
        cold, ("Ann", "likes", "tea"), ("Bo", "alias", "Bob"), ("Cy", "likes", "jam")
    )
    await cold.redactor.redact(OPERATOR, [asked_for.id], "asked to", LATER)
    await cold.grains.retire(OPERATOR, [retired.id], "past its retention", LATER)
    names = ("subject_key", "predicate_key", "other_key", "subject", "object")
    rows = {row["id"]: row for row in backend.rows(tmp_path, "facts")}
    for fact in (asked_for, retired):
        assert not any(rows[fact.id][name] for name in names)
    assert all(rows[kept.id][name] for name in names)
    ends = [row["value"] for row in backend.rows(tmp_path, "facts__ends")]
    assert sorted(ends) == sorted(rows[kept.id][name] for name in ("subject_key", "other_key"))
    assert backend.rows(tmp_path, "facts__joins") == []
    assert await cold.knowledge.entities(SCOPE, ["Bo", "Bob", "Cy", "jam"], 9) == ()


async def test_a_hub_costs_one_look(cold: Cold) -> None:
    """The nearest come first and no more than asked for, however much hangs on a name."""
    facts = [
        fact_by(text="", subject="Hub", predicate="has", object=f"leaf {n}", topics=())
        for n in range(300)
    ]
    await cold.archive.import_rows("acme", "facts", facts)
    ids = sorted(fact.id for fact in facts)
    near = await cold.knowledge.neighbours(SCOPE, ["leaf 7"], 4, 20)
    assert [(one.distance, one.fact.id) for one in near] == [
        (1, facts[7].id),
        *((2, one) for one in [one for one in ids if one != facts[7].id][:19]),
    ]
    assert len(await cold.knowledge.neighbours(SCOPE, ["hub"], 4, 1000)) == 300
    assert await cold.knowledge.path(SCOPE, "leaf 3", "LEAF 200", 6) == (facts[3], facts[200])
    (entity,) = await cold.knowledge.entities(SCOPE, ["hub"], 1)
    assert entity == Entity(name="Hub", facts=300)


async def test_odd_names_and_arguments(cold: Cold) -> None:
    """Hostile names are names; what is no edge is none; depth, limit and count are bounded."""
    names = [*HOSTILE_NAMES, HOSTILE_TEXT]
    await _put(cold, *((name, "is", "odd") for name in names), ("me", "am", "me"))
    await cold.semantic.put_fact(SCOPE, fact_by(subject="half", predicate="is"))
    graph = cold.knowledge
    found = await graph.entities(SCOPE, [*names, LONE_SURROGATE, "half", "ME"], 99)
    # Two of the names are one in NFKC, and what is said of them is one statement.
    assert len(found) == len(names)
    assert found[-1] == Entity(name="me", facts=1)
    assert len(await graph.neighbours(SCOPE, ["ODD"], 2, 99)) == len(names) - 1
    assert await graph.entities(SCOPE, [], 1) == await graph.entities(SCOPE, [" ", "_"], 1) == ()
    assert await graph.neighbours(SCOPE, [], 1, 1) == ()
    assert await graph.path(SCOPE, "", "odd", 1) is None
    assert await graph.statements(SCOPE, "", None, 1) == ()
    for wrong in (
        graph.entities(SCOPE, ["n"] * 1001, 1),
        graph.entities(SCOPE, ["n"], 0),
        graph.neighbours(SCOPE, ["n"], 5, 1),
        graph.neighbours(SCOPE, ["n"], 0, 1),
        graph.neighbours(SCOPE, ["n"], 1, 1001),
        graph.path(SCOPE, "a", "b", 7),
        graph.statements(SCOPE, "a", None, 0),
    ):
        with pytest.raises(UsageError):
            await wrong
