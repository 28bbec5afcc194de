"""The contract of ``DocumentShelf``: revisions, passages that stay, and what recall finds."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import LONE_SURROGATE, STRANGERS, asked, graph_of, heir_of
from support.document_reference import (
    ASKERS,
    MINUTE,
    NAMES,
    OPERATOR,
    TOPICS,
    WORDS,
    ReferenceShelf,
    document_by,
    drafts_of,
    random_drafts,
    sees,
    told_of,
)
from support.tier_samples import HOSTILE_TEXT, NOW, scope_of

from tiers.documents import (
    DOCUMENTS_PER_CALL_MAX,
    PASSAGE_CHARS_MAX,
    PASSAGES_MAX,
    PROPERTIES_CHARS_MAX,
    Document,
    PassageDraft,
    document_id,
)
from tiers.errors import Conflict, UsageError
from tiers.records import GraphState, Scope

ANN = scope_of(agent_id="strategist", topics=("tyres",), user_id="ann")
ENGINEER = scope_of(agent_id="engineer", topics=("tyres",))


async def _found(cold: Cold, scope: Scope, text: str, as_of: datetime | None = None) -> list[str]:
    query = asked(text, kinds=("document",), as_of=as_of, limit=200)
    return [hit.text for hit in await cold.words.search_words(scope, query)]


async def _waiting(cold: Cold) -> set[str]:
    """Return the ids of what waits to be indexed, and take it off the queue."""
    items = await cold.queue.claim(["index"], "test", 1_000, 60, NOW + timedelta(days=99))
    for item in items:
        assert await cold.queue.complete(item)
    return {item.key for item in items}


@pytest.mark.parametrize("seed", [1, 2])
async def test_engines_do_what_a_plain_list_does(cold: Cold, seed: int) -> None:
    """A random life of documents, looked at by all who may see some of it, at all moments."""
    random, plain = Random(seed), ReferenceShelf()
    for minute in range(1, 25):
        await _live(cold, plain, random, minute)
        if minute % 6 == 0:
            for scope in ASKERS:
                await _compare(cold, plain, scope, None)
                await _compare(cold, plain, scope, NOW + random.randrange(minute) * MINUTE)
    assert sum(map(len, plain.versions.values())) > 12, "documents were revised"


async def _live(cold: Cold, plain: ReferenceShelf, random: Random, minute: int) -> None:
    """Let one thing happen to one document."""
    writer = random.choice([OPERATOR, OPERATOR, ANN])
    name, shelf = random.choice(NAMES), random.choice(["files", "notes"])
    known = plain.last(document_id("acme", "race", shelf, name))
    there = known is not None and known.removed_at is None
    if known is not None and not sees(writer, known):
        return
    if there and known is not None and random.random() < 0.2:
        now = NOW + minute * MINUTE
        assert await cold.shelf.remove(writer, [known.id], "gone", now) == (known.id,)
        plain.remove(known.id, now)
        return
    drafts = random_drafts(random)
    document = document_by(
        writer,
        name,
        f"text {minute}",
        1 if known is None else known.revision + 1,
        minute,
        shelf=shelf,
        topics=random.choice([*TOPICS, () if known is None else known.topics]),
        private=writer is ANN and random.random() < 0.3,
        title=f"Title {minute}",
        properties={"n": minute, "list": [1, None, {"deep": True}]},
    )
    done = await cold.shelf.revise(writer, document, drafts)
    assert (done.added, done.kept, done.retired) == plain.revise(document, drafts)
    assert done.was_new
    assert done.document == plain.last(document.id)


async def _compare(cold: Cold, plain: ReferenceShelf, scope: Scope, as_of: datetime | None) -> None:
    """Compare everything that a scope can ask."""
    seen = plain.seen(scope, as_of)
    ids = [*plain.versions, "nobody's"]
    assert list(await cold.shelf.documents(scope, ids, as_of=as_of)) == [
        seen[one] for one in ids if one in seen
    ]
    for shelf in (None, "notes"):
        for removed in (False, True):
            whole = plain.listed(scope, shelf, removed=removed, as_of=as_of)
            found: list[Document] = []
            while page := await cold.shelf.on_shelf(
                scope,
                shelf,
                behind=found[-1].id if found else "",
                limit=2,
                removed=removed,
                as_of=as_of,
            ):
                found += page
            assert found == whole
    words = " ".join(WORDS)
    texts = [text.split("\n")[-1] for text in await _found(cold, scope, words, as_of)]
    assert Counter(texts) == plain.texts(scope, as_of)
    everything = asked("", kinds=("document",), as_of=as_of, limit=200)
    latest = await cold.timeline.latest(scope, everything)
    assert Counter(hit.text.split("\n")[-1] for hit in latest) == plain.texts(scope, as_of)
    ended = await cold.recollection.ended(scope, everything)
    over = Counter[str]() if as_of is None else plain.texts(scope, as_of, is_over=True)
    assert Counter(hit.text.split("\n")[-1] for hit in ended) == over
    if as_of is not None:
        return
    passages = 0
    for document in plain.versions:
        assert list(await cold.shelf.revisions(scope, document)) == plain.revisions(scope, document)
        current = await cold.shelf.passages_of(scope, document)
        assert [told_of(one) for one in current] == plain.passages(scope, document)
        again = await cold.shelf.passages(scope, [one.id for one in reversed(current)])
        assert again == tuple(reversed(current))
        passages += len(current)
    there = plain.listed(scope, None, removed=False, as_of=None)
    assert await cold.shelf.count(scope) == (len(there), passages)


async def test_what_a_revision_repeats_stays_the_same_record(cold: Cold) -> None:
    """Only what is new, and what is gone, waits for the index; what stays moves at most."""
    first = document_by(said="one")
    await cold.shelf.revise(OPERATOR, first, drafts_of("rain", "tyres", "rain", under=("Race",)))
    before = await cold.shelf.passages_of(OPERATOR, first.id)
    assert await _waiting(cold) == {one.id for one in before}
    second = document_by(said="two", revision=2, minute=1)
    done = await cold.shelf.revise(
        OPERATOR,
        second,
        [*drafts_of("laps", "rain", under=("Race",)), *drafts_of("tyres", under=("Stint",))],
    )
    assert (done.added, done.kept, done.retired) == (2, 1, 2)
    after = await cold.shelf.passages_of(OPERATOR, first.id)
    assert after[1] == before[0].model_copy(update={"number": 1})
    new = {after[0].id, after[2].id}
    assert await _waiting(cold) == new | {before[1].id, before[2].id}
    gone = await cold.shelf.passages(OPERATOR, [before[1].id])
    assert (gone[0].until, gone[0].retired_at) == (2, second.changed_at)
    entries = await cold.words.entries(OPERATOR, [one.id for one in (*before, *after)])
    assert [one.id for one in entries] == [before[0].id, after[0].id, after[2].id]
    assert entries[0].text == "Race\nrain"
    assert entries[0].source_ids == (first.id,)


async def test_the_same_again_is_nothing_new(cold: Cold) -> None:
    """Content, title, properties and owner alike: nothing is written, no work, no event."""
    first = document_by(title="Notes", properties={"a": [1]}, topics=("tyres",))
    await cold.shelf.revise(OPERATOR, first, drafts_of("rain"))
    await _waiting(cold)
    for revision in (1, 2):
        same = document_by(
            revision=revision, minute=5, title="Notes", properties={"a": [1]}, topics=("tyres",)
        )
        done = await cold.shelf.revise(OPERATOR, same, drafts_of("other"))
        assert (done.was_new, done.added, done.kept, done.retired) == (False, 0, 1, 0)
        assert done.document.changed_at == first.changed_at
    assert await _waiting(cold) == set()
    assert [one.kind for one in await cold.log.audit(OPERATOR)] == ["revised"]
    changed = document_by(revision=2, title="Notes", properties={"a": [2]}, topics=("tyres",))
    assert (await cold.shelf.revise(OPERATOR, changed, drafts_of("rain"))).kept == 1
    wider = document_by(revision=3, title="Notes", properties={"a": [2]})
    done = await cold.shelf.revise(OPERATOR, wider, drafts_of("rain"))
    assert (done.added, done.kept, done.retired) == (1, 0, 1)


async def test_who_comes_too_late_is_told(cold: Cold) -> None:
    """Of racing writers one wins each revision; a gap and somebody else's document are refused."""
    racing = [document_by(said=f"text {n}") for n in range(6)]
    done = await asyncio.gather(
        *(cold.shelf.revise(OPERATOR, one, drafts_of(one.digest)) for one in racing),
        return_exceptions=True,
    )
    refused = [one for one in done if isinstance(one, BaseException)]
    assert len(refused) == len(racing) - 1
    assert all(isinstance(one, Conflict) for one in refused)
    stored, *_ = await cold.shelf.on_shelf(OPERATOR, None)
    passages = await cold.shelf.passages_of(OPERATOR, stored.id)
    assert [one.text for one in passages] == [stored.digest]
    assert await cold.shelf.count(OPERATOR) == (1, 1)
    for revision in (1, 3):
        with pytest.raises(Conflict):
            await cold.shelf.revise(OPERATOR, document_by(said="x", revision=revision), [])
    mine = document_by(ANN, "diary.md", private=True)
    await cold.shelf.revise(ANN, mine, drafts_of("rain"))
    for revision in (1, 2):
        theirs = document_by(ENGINEER, "diary.md", "other", revision, user_id=None)
        with pytest.raises(Conflict) as error:
            await cold.shelf.revise(ENGINEER, theirs, [])
        assert "rain" not in str(error.value)


async def test_a_removed_document_is_in_no_answer_until_it_comes_back(cold: Cold) -> None:
    """Its revisions stay, and questions to the past still find it."""
    one, other = document_by(said="1"), document_by(name="b", said="2")
    for document in (one, other):
        await cold.shelf.revise(OPERATOR, document, drafts_of("rain"))
    removed = NOW + 2 * MINUTE
    ids = [other.id, "nobody's", one.id, one.id]
    assert await cold.shelf.remove(OPERATOR, ids, "folder", removed) == (other.id, one.id)
    assert await cold.shelf.remove(OPERATOR, ids, "again", removed) == ()
    assert await cold.shelf.count(OPERATOR) == (0, 0)
    assert await _found(cold, OPERATOR, "rain") == []
    assert await _found(cold, OPERATOR, "rain", NOW + MINUTE) == ["rain", "rain"]
    asked_then = asked("", kinds=("document",), as_of=NOW + MINUTE, now=removed)
    ended = await cold.recollection.ended(OPERATOR, asked_then)
    assert [hit.text for hit in ended] == ["rain", "rain"]
    (event,) = [e for e in await cold.log.audit(OPERATOR) if e.kind == "removed"]
    assert (event.record_ids, event.reason) == ((other.id, one.id), "folder")
    back = document_by(said="1", revision=2, minute=3)
    done = await cold.shelf.revise(OPERATOR, back, drafts_of("rain"))
    assert (done.was_new, done.added, done.document.removed_at) == (True, 1, None)
    assert await _found(cold, OPERATOR, "rain") == ["rain"]
    former = await cold.shelf.revisions(OPERATOR, one.id, before=2)
    assert [document.removed_at for document in former] == [removed]
    assert [d.id for d in await cold.shelf.on_shelf(OPERATOR, None, as_of=removed)] == []


async def test_ancestors_are_read_as_of_their_moment(cold: Cold) -> None:
    """What a graph carries comes through: of a pinned one the revision that was current then."""
    there = Scope.of_graph("acme", "@catalog")
    document = document_by(there)
    for revision, minute in ((1, 0), (2, 10)):
        document = document_by(there, said=f"{revision}", revision=revision, minute=minute)
        await cold.shelf.revise(there, document, drafts_of(f"rain {revision}", "laps"))
    hidden = document_by(there.for_agent("strategist"), "p", private=True)
    await cold.shelf.revise(there.for_agent("strategist"), hidden, drafts_of("rain"))
    ids = [hidden.id, document.id]
    passages = [one.id for one in await cold.shelf.passages_of(there, document.id)]
    for as_of, revision, visible in ((None, 2, 2), (NOW + MINUTE, 1, 1)):
        heir = heir_of("@catalog", carries=("document",), as_of=as_of)
        found = await cold.shelf.documents(heir, ids)
        assert [one.revision for one in found] == [revision]
        assert len(await cold.shelf.passages(heir, passages)) == visible
        assert await cold.shelf.on_shelf(heir, None) == ()
        assert await cold.shelf.revisions(heir, document.id) == ()
    stranger = heir_of("@catalog", carries=("fact",))
    assert await cold.shelf.documents(stranger, ids) == ()
    assert await cold.shelf.passages(stranger, passages) == ()


async def test_strangers_see_nothing(cold: Cold) -> None:
    """Other topics, graphs and tenants; a former revision stays with those who could see it."""
    secret = document_by(topics=("tyres", "strategy"))
    await cold.shelf.revise(OPERATOR, secret, drafts_of("rain"))
    (passage,) = await cold.shelf.passages_of(OPERATOR, secret.id)
    for scope in STRANGERS:
        shelf = cold.shelf
        assert await shelf.documents(scope, [secret.id]) == ()
        assert await shelf.passages(scope, [passage.id]) == ()
        assert await shelf.passages_of(scope, secret.id) == ()
        assert await shelf.on_shelf(scope, None, removed=True) == ()
        assert await shelf.revisions(scope, secret.id) == ()
        assert await shelf.count(scope) == (0, 0)
        assert await shelf.remove(scope, [secret.id], "mine", NOW) == ()
        with pytest.raises(UsageError, match="behind"):
            await shelf.on_shelf(scope, None, behind=secret.id)
    opened = document_by(said="open", revision=2, minute=1)
    await cold.shelf.revise(OPERATOR, opened, drafts_of("laps"))
    (other_topic, *_) = STRANGERS
    assert [one.revision for one in await cold.shelf.revisions(other_topic, secret.id)] == [2]
    assert await cold.shelf.documents(other_topic, [secret.id], as_of=NOW) == ()
    assert await cold.shelf.on_shelf(other_topic, None, as_of=NOW) == ()


async def test_bad_input_is_refused_and_changes_nothing(cold: Cold) -> None:
    """Each with a word about what would do."""
    good = document_by()
    cases = {
        "id": (good.model_copy(update={"id": "mine"}), drafts_of("rain")),
        "owner": (good.model_copy(update={"graph_id": "other"}), []),
        "passages": (good, drafts_of("x") * (PASSAGES_MAX + 1)),
        "passages.1.text": (good, drafts_of("x", "")),
        "passages.0.text": (good, drafts_of("x" * (PASSAGE_CHARS_MAX + 1))),
        "passages.0.headings": (good, [PassageDraft("x", ("h",) * 17)]),
        "properties": (document_by(properties={"x": "y" * PROPERTIES_CHARS_MAX}), []),
        "text": (good, drafts_of(LONE_SURROGATE)),
    }
    for field, (document, drafts) in cases.items():
        with pytest.raises(UsageError) as error:
            await cold.shelf.revise(OPERATOR, document, drafts)
        assert error.value.field == field
    with pytest.raises(UsageError):
        await cold.shelf.revise(OPERATOR, document_by(properties={"x": float("nan")}), [])
    for limit in (0, 1_001):
        with pytest.raises(UsageError, match="limit"):
            await cold.shelf.on_shelf(OPERATOR, None, limit=limit)
    with pytest.raises(UsageError, match="document_ids"):
        await cold.shelf.remove(OPERATOR, ["x"] * (DOCUMENTS_PER_CALL_MAX + 1), "", NOW)
    assert await cold.shelf.count(OPERATOR) == (0, 0)
    assert await cold.shelf.on_shelf(OPERATOR, None, removed=True) == ()
    assert await _waiting(cold) == set()


async def test_an_archived_graph_takes_no_documents(cold: Cold) -> None:
    """Neither new ones nor their end; what says the same is still returned."""
    await cold.graphs.create_graph(graph_of("race"))
    document = document_by()
    await cold.shelf.revise(OPERATOR, document, drafts_of("rain"))
    await cold.graphs.set_state(OPERATOR, GraphState.ARCHIVED, NOW)
    with pytest.raises(Conflict):
        await cold.shelf.revise(OPERATOR, document_by(said="new", revision=2), [])
    with pytest.raises(Conflict):
        await cold.shelf.remove(OPERATOR, [document.id], "", NOW)
    assert not (await cold.shelf.revise(OPERATOR, document, [])).was_new
    assert await cold.shelf.count(OPERATOR) == (1, 1)


async def test_what_was_put_in_is_in_the_raw_engine(backend: ColdBackend, tmp_path: Path) -> None:
    """Odd names and texts survive closing, and the engine holds all of it, each part once."""
    name = "notes/'; DROP TABLE documents; --.md"
    async with backend.opened(tmp_path) as cold:
        document = document_by(
            name=name, title=HOSTILE_TEXT, properties={"$set": {"a.b": HOSTILE_TEXT}}, said="x"
        )
        await cold.shelf.revise(OPERATOR, document, drafts_of(HOSTILE_TEXT, under=("a > b", "")))
        again = document_by(name=name, said="y", revision=2)
        await cold.shelf.revise(OPERATOR, again, drafts_of("rain"))
    async with backend.opened(tmp_path) as cold:
        (former,) = await cold.shelf.revisions(OPERATOR, document.id, before=2)
        assert (former.title, former.properties) == (document.title, document.properties)
        assert former.name == name
    rows = backend.rows(tmp_path, "passages")
    assert sorted(row["text"] for row in rows) == sorted([HOSTILE_TEXT, "rain"])
    assert len(backend.rows(tmp_path, "documents")) == 1
    assert len(backend.rows(tmp_path, "document_revisions")) == 1
