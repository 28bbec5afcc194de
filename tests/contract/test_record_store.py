"""What every engine under the cold tier promises; the memory engine says what is right."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.memory_records import MemoryRecordStore
from support.record_stores import COLLECTIONS, ENGINES, ENTRIES, LOCKS, NOTES, Entry, Lock, Note

from tiers.cold.conditions import (
    Absent,
    Among,
    Beyond,
    Condition,
    During,
    Either,
    Holds,
    Is,
    Lacks,
    Other,
    Present,
    Topics,
    Within,
)
from tiers.cold.port import (
    Delete,
    Find,
    Near,
    Put,
    RecordStore,
    Replace,
    Request,
    Steps,
    asked,
    count,
    counts,
    counts_by_value,
    every,
    one,
    postings,
    write,
)
from tiers.errors import TierRejected
from tiers.moments import microseconds
from tiers.records import Ancestor, Scope

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOPICS = ("tyres", "weather", "strategy", "fuel")
PEOPLE = ("ada", "bo", "cy")
WHOLE = Scope.of_graph("acme", "imola")

engines = pytest.mark.parametrize("engine", [*ENGINES])
rivals = pytest.mark.parametrize("engine", [name for name in ENGINES if name != "memory"])


def seeds(few: int, many: int) -> pytest.MarkDecorator:
    """Ask for a history of each seed: of a few in the normal run, of all in the slow one."""
    more = (pytest.param(seed, marks=pytest.mark.slow) for seed in range(few, many))
    return pytest.mark.parametrize("seed", [*range(few), *more])


def note(number: int, **more: Any) -> Note:
    """Return a note of the whole graph's."""
    fields = {
        "id": f"n{number}",
        "tenant": "acme",
        "graph_id": "imola",
        "title": f"note {number}",
        "rank": number,
        "recorded_at": NOW + timedelta(minutes=number),
        "changed_at": NOW + timedelta(minutes=number),
    }
    return Note(**{**fields, **more})


async def do(store: RecordStore, *requests: Request) -> Any:
    """Carry out one transaction of requests that do not wait for each other."""
    return await store.change("do", lambda: asked(*requests))


@engines
async def test_a_transaction_reads_what_it_wrote(engine: str, tmp_path: Path) -> None:
    """Each step sees those before it, and what it returns is the answer."""

    def steps() -> Steps[tuple[int, str | None]]:
        yield from write(Put(NOTES, WHOLE, note(1)), Put(NOTES, WHOLE, note(2)))
        found = yield from one(Find(NOTES, WHOLE, where=(Is("id", "n2"),)))
        assert found is not None
        yield from write(Replace(NOTES, WHOLE, found.model_copy(update={"state": "open"})))
        again = yield from one(Find(NOTES, WHOLE, by="open"))
        return (yield from count(Find(NOTES, WHOLE))), again and again.state

    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        assert await store.change("try", steps) == (2, "open")


@engines
async def test_a_transaction_that_raises_writes_nothing(engine: str, tmp_path: Path) -> None:
    """Whatever is raised, nothing before it is kept; those beside it are."""

    def steps(*, fails: bool, number: int) -> Steps[None]:
        yield from write(Put(NOTES, WHOLE, note(number, topics=(f"new {number}",))))
        if fails:
            raise LookupError

    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        outcomes = await asyncio.gather(
            *(
                store.change("try", lambda n=n: steps(fails=n % 2 == 1, number=n))  # type: ignore[misc]
                for n in range(10)
            ),
            return_exceptions=True,
        )
        assert [isinstance(one, LookupError) for one in outcomes] == [n % 2 == 1 for n in range(10)]
        found = await store.read(
            "look", lambda: every(Find(NOTES, WHOLE, by="latest", order=("changed_at", "id")))
        )
        assert [one.id for one in found] == ["n0", "n2", "n4", "n6", "n8"]
        agent = Scope(tenant="acme", graph_id="imola", agent_id="a", topics=("new 3", "new 4"))
        seen = await store.read("look", lambda: every(Find(NOTES, agent)))
        assert [one.id for one in seen] == ["n4"], "a number that was taken back is no topic's"


@engines
@pytest.mark.parametrize(
    "request_",
    [
        Put(NOTES, WHOLE, note(1, title="another")),
        Put(NOTES, WHOLE, note(9, title="note 1")),
        Replace(NOTES, WHOLE, note(2, title="note 1")),
        Replace(NOTES, WHOLE, note(9)),
        Put(NOTES, WHOLE, note(9, tenant="other")),
        Put(NOTES, WHOLE, note(9, graph_id="other")),
        Replace(ENTRIES, WHOLE, Entry(tenant="acme", graph_id="imola", seq=1, text="changed")),
        Delete(Find(ENTRIES, WHOLE)),
        Find(NOTES, WHOLE, by="colour"),
        Find(NOTES, WHOLE, by="people"),
        Find(NOTES, WHOLE, graph_id="monza"),
    ],
)
async def test_what_must_not_be_is_refused(engine: str, tmp_path: Path, request_: Request) -> None:
    """A key that is taken or not there, an owner that is another, a log that would change."""
    if isinstance(request_, Find) and request_.by != "id" and engine == "memory":
        return  # it has no indexes
    entry = Entry(tenant="acme", graph_id="imola", seq=1, text="first")
    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        await do(
            store,
            Put(NOTES, WHOLE, note(1)),
            Put(NOTES, WHOLE, note(2)),
            Put(ENTRIES, WHOLE, entry),
        )
        with pytest.raises(TierRejected):
            await do(store, Put(LOCKS, WHOLE, Lock(id="before")), request_)
        assert await do(
            store, Find(LOCKS, WHOLE), Find(NOTES, WHOLE, by="latest", order=("id",), sorts=True)
        ) == [[], [note(1), note(2)]]


@engines
async def test_a_log_loses_only_what_never_came_to_be(engine: str, tmp_path: Path) -> None:
    """Where nothing stands that it is of, it may be deleted; what stays is a log as before."""
    entries = [Entry(tenant="acme", graph_id="imola", seq=seq, text="t") for seq in (1, 2)]
    none_stands = Delete(Find(ENTRIES, WHOLE, limit=1), Find(NOTES, WHOLE, where=(Is("id", "n1"),)))
    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        await do(store, *(Put(ENTRIES, WHOLE, entry) for entry in entries))
        assert await do(store, none_stands) == [1]
        await do(store, Put(NOTES, WHOLE, note(1)))
        for refused in (none_stands, Delete(Find(ENTRIES, WHOLE))):
            with pytest.raises(TierRejected):
                await do(store, refused)
        assert len(await store.read("look", lambda: every(Find(ENTRIES, WHOLE)))) == 1


@engines
async def test_reading_writes_nothing(engine: str, tmp_path: Path) -> None:
    """A write among questions is refused."""
    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        with pytest.raises(TierRejected):
            await store.read("look", lambda: write(Put(NOTES, WHOLE, note(1))))


@engines
async def test_writers_of_a_log_leave_no_gap(engine: str, tmp_path: Path) -> None:
    """Fifty at once: each takes the number after the last."""

    def appended(text: str) -> Steps[int]:
        last = yield from one(Find(ENTRIES, WHOLE, by="seq", order=("-seq",), limit=1))
        seq = 1 if last is None else last.seq + 1
        entry = Entry(tenant="acme", graph_id="imola", seq=seq, text=text)
        yield from write(Put(ENTRIES, WHOLE, entry))
        return seq

    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        taken = await asyncio.gather(
            *(store.change("append", lambda n=n: appended(f"{n}")) for n in range(50))  # type: ignore[misc]
        )
        assert sorted(taken) == list(range(1, 51))


@engines
async def test_who_is_refused_can_read_what_was_in_the_way(engine: str, tmp_path: Path) -> None:
    """Of fifty that write one key at once one does; the others find it there as they are told."""

    async def tried(store: RecordStore) -> bool:
        try:
            await do(store, Put(NOTES, WHOLE, note(1)))
        except TierRejected:
            assert await do(store, Find(NOTES, WHOLE)) == [[note(1)]]
            return False
        return True

    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        assert sum(await asyncio.gather(*(tried(store) for _ in range(50)))) == 1


@engines
async def test_a_family_is_read_graph_by_graph(engine: str, tmp_path: Path) -> None:
    """An ancestor's records as of its moment, shared ones only; another graph's never."""
    parent = Scope.of_graph("acme", "monza")
    lineage = (
        Ancestor(
            graph_id="monza", path=("monza",), carries=("fact",), as_of=NOW + timedelta(minutes=2)
        ),
    )
    scope = Scope(tenant="acme", graph_id="imola", agent_id="a", topics=("*",), lineage=lineage)
    theirs = [note(n, graph_id="monza", agent_id="a", private=n == 1) for n in range(5)]
    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        await do(store, *(Put(NOTES, parent, one) for one in theirs), Put(NOTES, WHOLE, note(7)))
        found = await store.read(
            "look", lambda: every(Find(NOTES, scope), Find(NOTES, scope, graph_id="monza"))
        )
        assert [(one.graph_id, one.id) for one in found] == [
            ("imola", "n7"),
            ("monza", "n0"),
            ("monza", "n2"),
        ]


@engines
async def test_what_was_written_is_there_when_opened_again(engine: str, tmp_path: Path) -> None:
    """Text of every sort comes back as it was."""
    if engine == "memory":
        return
    odd = note(1, title="a\u0000b \u202e\U0001f600 'quoted\" % _", people=("\u0000", "b"))
    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        await do(store, Put(NOTES, WHOLE, odd))
    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        assert await do(
            store,
            Find(NOTES, WHOLE, where=(Is("title", odd.title),), by="title"),
            Find(NOTES, WHOLE, by="people", where=(Holds("people", ("\u0000",)),)),
        ) == [[odd], [odd]]


@rivals
@seeds(4, 12)
async def test_engines_agree_with_memory(engine: str, tmp_path: Path, seed: int) -> None:
    """Random transactions and random questions of random scopes: the same refusals and answers."""
    random = Random(seed)
    model = MemoryRecordStore()
    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        for _ in range(40):
            batch = [_random_write(random) for _ in range(random.randint(1, 4))]
            outcomes = []
            for one_ in (model, store):
                try:
                    await do(one_, *batch)
                    outcomes.append("done")
                except TierRejected:
                    outcomes.append("refused")
            assert outcomes[0] == outcomes[1], batch
            for _ in range(5):
                find, of = _random_find(random)
                expected = await _answer(model, find, of)
                assert await _answer(store, find, of) == expected, find
        assert await _answer(model, Find(NOTES, WHOLE, reach="store"), ()) != []


@rivals
@seeds(2, 4)
async def test_postings_are_those_of_memory(engine: str, tmp_path: Path, seed: int) -> None:
    """Who has which words and how often, in sight only, the latest first when asked for."""
    random = Random(seed)
    model = MemoryRecordStore()
    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        for _ in range(30):
            await _write_anything(random, model, store)
            terms = tuple(random.sample(("red", "blue", "flag", "car", "1", "2"), 3))
            find = Find(NOTES, _random_scope(random), by="words", where=(Holds("words", terms),))
            expected = await model.read("ask", lambda: postings(find, "id", "rank"))  # noqa: B023
            found = await store.read("ask", lambda: postings(find, "id", "rank"))  # noqa: B023
            assert sorted(found) == sorted(expected)
            latest = find._replace(order=("-recorded",), limit=2, where=(Holds("words", ("red",)),))
            expected = await model.read("ask", lambda: postings(latest, "id"))  # noqa: B023
            assert await store.read("ask", lambda: postings(latest, "id")) == expected  # noqa: B023
            few = await store.read("count", lambda: counts(find._replace(limit=1)))  # noqa: B023
            assert few.get((), 0) <= 1
            own = find._replace(reach="own")
            for one_ in (find, own, own._replace(limit=1)):
                expected = await model.read("count", lambda: counts_by_value(one_))  # noqa: B023
                assert await store.read("count", lambda: counts_by_value(one_)) == expected  # noqa: B023


@rivals
@seeds(2, 4)
async def test_what_lies_beside_records_is_that_of_memory(
    engine: str, tmp_path: Path, seed: int
) -> None:
    """Every value of a list with its place in it, and the sets of topics, of what is in sight."""
    random = Random(seed)
    model = MemoryRecordStore()
    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        for _ in range(30):
            await _write_anything(random, model, store)
            find = Find(NOTES, _random_scope(random))
            for name, of in (("words", ("id",)), ("people", ("id", "changed_at", "rank"))):
                told = [
                    await one_.read("ask", lambda: postings(find, *of, every=name))  # noqa: B023
                    for one_ in (model, store)
                ]
                assert sorted(told[0]) == sorted(told[1])
            sets = [
                await one_.read("count", lambda: counts(find, "topics", "rank"))  # noqa: B023
                for one_ in (model, store)
            ]
            assert sets[0] == sets[1]


@rivals
@seeds(2, 4)
async def test_what_lies_next_to_places_is_that_of_memory(
    engine: str, tmp_path: Path, seed: int
) -> None:
    """Some fields of what is in sight, either way, a list for each place; none for no place."""
    random = Random(seed)
    model = MemoryRecordStore()
    told = 0
    async with ENGINES[engine](tmp_path, COLLECTIONS) as store:
        for _ in range(60):
            await _write_anything(random, model, store)
            scope = _random_scope(random)
            order = random.choice((("changed_at", "id"), ("-changed_at", "-id")))
            where = (_random_condition(random),) if random.random() < 0.5 else ()
            find = Find(NOTES, scope, "latest", where, order, random.randint(1, 4))
            moments = [NOW + timedelta(minutes=random.randint(0, 9)) for _ in range(3)]
            places = tuple((microseconds(at), f"n{random.randint(1, 12)}") for at in moments)
            asked_of = (
                Near(find, places[: random.randint(0, 3)], ("changed_at", "id", "state")),
                Near(find, places[:1], ("rank",)),
                find,
            )
            expected = await do(model, *asked_of)
            found = await do(store, *asked_of)
            assert found == expected
            assert len(found[0]) == len(asked_of[0].places)
            told += sum(map(len, found[0]))
    assert told >= 5


async def _write_anything(random: Random, *stores: RecordStore) -> None:
    request = _random_write(random)
    for store in stores:
        with suppress(TierRejected):
            await do(store, request)


async def _answer(store: RecordStore, find: Find[Note], of: tuple[str, ...]) -> Any:
    if of:
        return await store.read("count", lambda: counts(find, *of))
    found = await store.read("look", lambda: every(find))
    return found if find.order else sorted(found, key=lambda note: (note.graph_id, note.id))


def _random_note(random: Random) -> Note:
    return note(
        random.randint(1, 12),
        graph_id=random.choice(("imola", "monza")),
        tenant=random.choice(("acme", "acme", "other")),
        title=" ".join(random.choice(words) for words in (("red", "blue"), ("flag", "car"), "123")),
        rank=random.randint(0, 4),
        state=random.choice((None, "open", "done")),
        people=tuple(random.sample(PEOPLE, random.randint(0, 3))),
        held=random.choice(
            ((), ((1, 4),), ((2, None),), ((0, 3), (5, 5), (7, 9)), ((4, 6), (8, None)))
        ),
        agent_id=random.choice(("a", "b")),
        private=random.random() < 0.2,
        user_id=random.choice((None, None, "u1", "u2")),
        topics=tuple(random.sample(TOPICS, random.choice((0, 1, 1, 2)))),
        changed_at=NOW + timedelta(minutes=random.randint(0, 9)),
    )


def _random_write(random: Random) -> Request:
    record = _random_note(random)
    scope = Scope.of_graph(record.tenant, record.graph_id)
    kind = random.choice((Put, Put, Put, Replace, Delete))
    if kind is Delete:
        return Delete(Find(NOTES, scope, where=(Is("id", record.id),)))
    return kind(NOTES, scope, record)


def _random_condition(random: Random, depth: int = 0) -> Condition:
    minutes = random.randint(0, 9)
    at = microseconds(NOW + timedelta(minutes=minutes))
    choices: list[Condition] = [
        Is("rank", random.randint(0, 4)),
        Among("rank", tuple(random.sample(range(5), random.randint(0, 4)))),
        Absent("state"),
        Other("state", "open"),
        Present("user_id"),
        Within("changed_at", since=at),
        Within("rank", until=3),
        Within("state", "d", "e"),
        Holds("words", tuple(random.sample(("red", "car", "9"), 2))),
        Lacks("people", (random.choice(PEOPLE),)),
        During("held", random.randint(0, 9)),
        Topics(tuple(random.sample(TOPICS, 2)), or_none=False),
        Beyond(("-changed_at", "-id"), (at, "n5")),
        Beyond(("rank", "id"), (2, "n3")),
    ]
    if depth == 0:
        pair = tuple((_random_condition(random, 1),) for _ in range(2))
        choices.append(Either(pair))
    return random.choice(choices)


def _random_scope(random: Random) -> Scope:
    lineage = (
        Ancestor(
            graph_id="monza",
            path=("monza",),
            carries=("fact",),
            as_of=random.choice((None, NOW + timedelta(minutes=6))),
        ),
    )
    return Scope(
        tenant=random.choice(("acme", "other")),
        graph_id="imola",
        agent_id=random.choice((None, "a", "b")),
        user_id=random.choice((None, "u1")),
        every_user=random.random() < 0.3,
        topics=random.choice((("*",), ("tyres",), ("tyres", "fuel"), ())),
        denied=random.choice(((), (), ("weather",), ("*",))),
        lineage=lineage,
    )


def _random_find(random: Random) -> tuple[Find[Note], tuple[str, ...]]:
    by, order = random.choice(
        (
            ("id", ()),
            ("latest", ("-changed_at", "-id")),
            ("open", ("rank", "id")),
            ("loose", ()),
            ("people", ("changed_at", "id")),
            ("title", ("title",)),
        )
    )
    asked_of = (_random_condition(random) for _ in range(random.randint(0, 2)))
    # Nobody asks what contradicts the index that it is asked by.
    where = tuple(c for c in asked_of if by not in {"open", "loose"} or "state" not in repr(c))
    if by == "people":
        where += (Holds("people", tuple(random.sample(PEOPLE, random.choice((1, 1, 2))))),)
    reach = random.choice(("seen", "seen", "own"))
    graph_id = random.choice((None, None, "monza"))
    if random.random() < 0.15 and by == "id":
        by, order, reach, graph_id = "due", (), "tenant", None
    find = Find(
        NOTES,
        _random_scope(random),
        by=by,
        where=where,
        order=order,
        limit=random.choice((1, 3, 100)) if order else 100,
        skip=random.choice((0, 0, 1, 4)) if order else 0,
        reach=reach,
        graph_id=graph_id,
        sorts=True,
    )
    of = random.choice(((), (), (), ("state",), ("rank", "graph_id")))
    return (find._replace(limit=100_000, skip=0, order=()), of) if of else (find, of)
