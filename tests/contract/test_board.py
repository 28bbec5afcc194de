"""The contract of ``Board``: who sees which card, in which order, and that nothing is lost."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from support.board_reference import (
    AGENTS,
    ANN,
    ANNIKA,
    ASKERS,
    BO,
    BOB,
    MINUTE,
    OPERATOR,
    ReferenceBoard,
    card_by,
    random_card,
    random_query,
)
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import HOSTILE_NAMES, LONE_SURROGATE, graph_of
from support.redactions import words_in
from support.tier_samples import HOSTILE_TEXT, NOW, scope_of

from tiers.board import AGENTS_MAX, CARDS_MAX, DETAILS_CHARS_MAX, Card, CardQuery
from tiers.errors import Conflict, UsageError
from tiers.recollection import Place
from tiers.records import GraphState, Scope

_MESSAGES = CardQuery(kind="message")
_TASKS = CardQuery(kind="task")
_ACTIONS = CardQuery(kind="action")


def _task(scope: Scope = ANN, **fields: object) -> Card:
    return card_by(
        scope, **{"kind": "task", "title": "Fit the wing", "status": "created", **fields}
    )


def _next(task: Card, minute: int = 1, **fields: object) -> Card:
    at = NOW + minute * MINUTE
    return task.model_copy(update={"version": task.version + 1, "changed_at": at, **fields})


def _log(scope: Scope, minute: int = 1, **fields: object) -> Card:
    return card_by(scope, minute, **{"kind": "action", "type": "did", **fields})


async def _posted(cold: Cold, *cards: Card) -> None:
    for card in cards:
        scope = Scope.of_graph(card.tenant, card.graph_id)
        assert await cold.board.post(scope, card) == (card, True)


@pytest.mark.parametrize("seed", [1])
async def test_engines_answer_what_a_plain_list_answers(cold: Cold, seed: int) -> None:
    """Random boards of kinds, recipients, topics, users and privacy, read by agents and operator.

    Agents' names are prefixes of each other.
    """
    random = Random(seed)
    reference = ReferenceBoard()
    for _ in range(90):
        card = random_card(random)
        await _posted(cold, card)
        reference.by_id[card.id] = card
    ids = random.sample(list(reference.by_id), 60)
    for reader in ASKERS:
        agent_id = reader.agent_id or ""
        read = await cold.board.mark_read(reader, ids, agent_id, NOW)
        assert read == reference.mark_read(reader, ids, agent_id)
    found = 0
    for scope in (*ASKERS, OPERATOR) * 16:
        query = random_query(random)
        wanted = reference.latest(scope, query)
        assert await cold.board.latest(scope, query) == wanted
        found += len(wanted)
    assert found > 60, "the questions find something"
    for scope in (*ASKERS, OPERATOR):
        seen = {one.id for one in reference.seen(scope)}
        shown = await cold.board.cards(scope, list(reference.by_id))
        assert [one.id for one in shown] == [one for one in reference.by_id if one in seen]
        day = timedelta(days=1)
        assert await cold.board.counts(scope, NOW - day, NOW + day) == reference.counts(
            scope, NOW - day, NOW + day
        )
        asked = {one: reference.unread(scope, one) for one in AGENTS}
        assert dict(await cold.board.unread(scope, AGENTS)) == asked


@pytest.mark.parametrize("seed", [3])
async def test_pages_follow_each_other_without_gap_or_overlap(cold: Cold, seed: int) -> None:
    """From the place of its last card each page goes on, also where many changed at once."""
    random = Random(seed)
    reference = ReferenceBoard()
    for _ in range(50):
        card = random_card(random)
        card = card.model_copy(update={"changed_at": NOW + random.randrange(3) * MINUTE})
        await _posted(cold, card)
        reference.by_id[card.id] = card
    pages = 0
    for scope in (*ASKERS, OPERATOR):
        for query in (_MESSAGES, CardQuery(kind="message", inbox_of="bob"), _ACTIONS):
            read: list[Card] = []
            behind: Place | None = None
            while page := await cold.board.latest(scope, query, behind=behind, limit=3):
                read += page
                behind = Place(page[-1].changed_at, page[-1].id)
                pages += 1
            assert tuple(read) == reference.latest(scope, query)
    assert pages > 20


async def test_posting_again_changes_nothing(cold: Cold) -> None:
    """The same agent's card of the same id, kind and words comes back as it stands."""
    card = card_by(ANN, to=("bob", "annika"), tags=("wing", "wet"))
    log = _log(ANN)
    assert await cold.board.post(ANN, card, log) == (card, True)
    await cold.board.mark_read(BOB, [card.id], "bob", NOW)
    repeated = {"to": ("annika", "bob"), "tags": ("wet", "wing"), "recorded_at": NOW + MINUTE}
    again, was_new = await cold.board.post(ANN, card.model_copy(update=repeated), log)
    assert not was_new
    assert again == card.model_copy(update={"read_by": ("bob",)})
    assert await cold.board.latest(ANN, _ACTIONS) == (log,)
    told = await cold.log.audit(OPERATOR)
    assert [(one.kind, one.record_ids, one.reason, one.agent_id) for one in told] == [
        ("posted", (card.id, log.id), "message", "ann"),
        ("read", (card.id,), "message", "bob"),
    ]


async def test_other_words_under_an_id_are_refused(cold: Cold) -> None:
    """Whoever chose an id twice is told, and nothing is written; what was there is not shown."""
    card = card_by(ANN, text="secret", to=("bob",), type="question")
    await _posted(cold, card)
    for other in (
        {"text": "no"},
        {"title": "no"},
        {"to": ("bob", "annika")},
        {"type": "answer"},
        {"tags": ("wing",)},
        {"priority": "high"},
        {"thread": "another"},
        {"details": {"a": 1}},
    ):
        with pytest.raises(Conflict) as refused:
            await cold.board.post(ANN, card.model_copy(update=other), _log(ANN))
        assert "secret" not in str(refused.value)
    assert await cold.board.latest(OPERATOR, _MESSAGES) == (card,)


async def test_of_what_changed_or_was_redacted_nobody_knows_what_it_said(cold: Cold) -> None:
    """Such a card comes back as it stands: who repeats what was posted must not be refused."""
    task, message = _task(), card_by(ANN, to=("bob",))
    await _posted(cold, task, message)
    new = _next(task, title="Fit another")
    assert await cold.board.change(ANN, new, _log(ANN))
    assert await cold.board.post(ANN, task) == (new, False)
    await cold.redactor.redact(OPERATOR, [message.id], "asked", NOW)
    emptied, was_new = await cold.board.post(ANN, message)
    assert (emptied.id, emptied.redacted_at, was_new) == (message.id, NOW, False)


async def test_an_id_is_one_cards(cold: Cold) -> None:
    """Neither another agent nor another kind may take it; the error does not show what is there."""
    card = card_by(ANN, text="secret", to=("annika",))
    await _posted(cold, card)
    for taken, scope in (
        (card_by(BOB, id=card.id), BOB),
        (_task(ANN, id=card.id), ANN),
        (_log(ANN, id=card.id), ANN),
    ):
        with pytest.raises(Conflict) as refused:
            await cold.board.post(scope, taken)
        assert "secret" not in str(refused.value)
    with pytest.raises(Conflict):
        await cold.board.post(ANN, card_by(ANN), _log(ANN, id=card.id))
    assert await cold.board.latest(OPERATOR, _MESSAGES) == (card,), "nothing was half written"
    elsewhere = card_by(scope_of("acme", "race/2", "bob"), id=card.id)
    await _posted(cold, elsewhere)


async def test_a_writer_who_no_longer_sees_it_is_not_shown_it_again(cold: Cold) -> None:
    """Re-attached with other topics, or for another user, an agent cannot read by writing."""
    card = card_by(ANN, topics=("tyres",))
    await _posted(cold, card)
    for change in ({"topics": ("weather",)}, {"user_id": "v"}):
        other = ANN.model_copy(update=change)
        with pytest.raises(Conflict):
            await cold.board.post(other, card_by(other, id=card.id))


async def test_a_task_changes_by_versions_and_says_so(cold: Cold) -> None:
    """Only the next version is taken, with its action, in one step; owner and moment stay."""
    task = _task(topics=("tyres",), details={"a": {"b.c": [1, None, "$x"]}})
    await _posted(cold, task)
    new = _next(task, status="in_progress", title="Fit it", tags=("wing",), details={"$set": 1})
    log = _log(BOB, thread=task.id)
    assert await cold.board.change(BOB, new, log)
    assert await cold.board.cards(ANN, [task.id]) == (new,)
    assert await cold.board.latest(ANN, _ACTIONS) == (log,)
    stale = _next(task, status="suspended")
    assert not await cold.board.change(BOB, stale, _log(BOB))
    assert not await cold.board.change(BOB, _next(_next(new)), _log(BOB))
    assert await cold.board.latest(ANN, _ACTIONS) == (log,)
    kept = _next(new, agent_id="bob", user_id=None, topics=(), recorded_at=NOW + MINUTE)
    assert await cold.board.change(BOB, kept, _log(BOB))
    (found,) = await cold.board.cards(ANN, [task.id])
    owner = {"agent_id": "ann", "user_id": "u", "topics": ("tyres",), "recorded_at": NOW}
    assert found == kept.model_copy(update=owner)
    told = await cold.log.audit(OPERATOR)
    assert [(one.kind, one.reason) for one in told] == [
        ("posted", "task"),
        ("changed", "task in_progress"),
        ("changed", "task in_progress"),
    ]
    assert told[1].record_ids == (task.id, log.id)


async def test_nobody_changes_what_is_not_seen_or_no_task(cold: Cold) -> None:
    """Hidden tasks are as if they were not there; messages and actions never change."""
    task, message = _task(topics=("weather",)), card_by(ANN)
    await _posted(cold, task, message)
    for scope in (ANN, ANNIKA, BO):
        assert not await cold.board.change(scope, _next(task), _log(scope))
    with pytest.raises(UsageError):
        await cold.board.change(ANN, _next(message), _log(ANN))
    with pytest.raises(UsageError):
        await cold.board.change(ANN, task, _log(ANN))
    with pytest.raises(UsageError):
        await cold.board.change(ANN, _next(task), card_by(ANN))
    assert await cold.board.latest(OPERATOR, _ACTIONS) == ()


async def test_a_taken_id_of_the_log_takes_the_change_back(cold: Cold) -> None:
    """Task and action change together or not at all."""
    task, other = _task(), _log(BOB)
    await _posted(cold, task, other)
    with pytest.raises(Conflict):
        await cold.board.change(ANN, _next(task), _log(ANN, id=other.id))
    assert await cold.board.cards(ANN, [task.id]) == (task,)


async def test_of_racing_changes_each_version_is_one_of_them(processes: Cold) -> None:
    """Ten writers go on from what they see until each has had its turn; every action is there."""
    task = _task(user_id=None)
    await _posted(processes, task)

    async def change(number: int) -> None:
        for _ in range(30):
            (seen,) = await processes.board.cards(BOB, [task.id])
            details = {**seen.details, str(number): True}
            new = _next(seen, details=details)
            if await processes.board.change(BOB, new, _log(BOB, thread=task.id, text=str(number))):
                return
        pytest.fail("it never had its turn")

    await asyncio.gather(*map(change, range(10)))
    (found,) = await processes.board.cards(OPERATOR, [task.id])
    assert found.version == 11
    assert set(found.details) == {str(number) for number in range(10)}
    logged = await processes.board.latest(OPERATOR, CardQuery(kind="action", thread=task.id))
    assert {one.text for one in logged} == set(found.details)


async def test_racing_posts_under_one_id_store_one(processes: Cold) -> None:
    """All of them hear of the same card, one of them that it is new."""
    card = card_by(ANN)
    answers = await asyncio.gather(*(processes.board.post(ANN, card) for _ in range(8)))
    assert [stored for stored, _ in answers] == [card] * 8
    assert sum(was_new for _, was_new in answers) == 1
    assert len(await processes.log.audit(OPERATOR)) == 1


async def test_two_agents_lose_nothing_and_keep_their_order(cold: Cold) -> None:
    """Written at the same time, everything of both is there, in the order of each."""

    async def write(scope: Scope) -> None:
        for number in range(25):
            await cold.board.post(scope, card_by(scope, number, text=str(number)))

    await asyncio.gather(write(ANN), write(BOB))
    for agent_id in ("ann", "bob"):
        query = CardQuery(kind="message", agent_id=agent_id)
        found = await cold.board.latest(OPERATOR, query)
        assert [int(one.text) for one in found] == list(range(24, -1, -1))
    assert [one.seq for one in await cold.log.audit(OPERATOR)] == list(range(1, 51))


async def test_reading_is_noted_once_and_only_by_whom_it_is_for(cold: Cold) -> None:
    """Not of others' messages, not of one's own to all, not twice; unknown ids are passed over."""
    for_bob, for_all = card_by(ANN, to=("bob",)), card_by(BOB, minute=1)
    to_self = card_by(BOB, to=("bob",), minute=2)
    await _posted(cold, for_bob, for_all, to_self, _task())
    ids = ["unknown", to_self.id, for_all.id, for_bob.id, for_bob.id]
    assert await cold.board.mark_read(BOB, ids, "bob", NOW) == (to_self.id, for_bob.id)
    assert await cold.board.mark_read(BOB, ids, "bob", NOW) == ()
    assert await cold.board.mark_read(BOB, [], "bob", NOW) == ()
    assert await cold.board.mark_read(ANN, ids, "ann", NOW) == (for_all.id,)
    assert await cold.board.mark_read(OPERATOR, ids, "annika", NOW) == (for_all.id,)
    (shown,) = await cold.board.cards(OPERATOR, [for_all.id])
    assert shown == for_all.model_copy(update={"read_by": ("ann", "annika")})
    with pytest.raises(UsageError):
        await cold.board.mark_read(BOB, ids, "ann", NOW)
    with pytest.raises(UsageError):
        await cold.board.mark_read(BOB, ["x"] * (CARDS_MAX + 1), "bob", NOW)


async def test_an_archived_graph_takes_nothing_more(cold: Cold) -> None:
    """What is there is read, and posting it again is harmless; nothing new comes."""
    await cold.graphs.create_graph(graph_of("race"))
    message, task = card_by(ANN, to=("bob",)), _task()
    await _posted(cold, message, task)
    await cold.graphs.set_state(OPERATOR, GraphState.ARCHIVED, NOW)
    assert await cold.board.post(ANN, message) == (message, False)
    with pytest.raises(Conflict):
        await cold.board.post(ANN, card_by(ANN))
    with pytest.raises(Conflict):
        await cold.board.change(ANN, _next(task), _log(ANN))
    with pytest.raises(Conflict):
        await cold.board.mark_read(BOB, [message.id], "bob", NOW)
    assert await cold.board.mark_read(ANN, [message.id], "ann", NOW) == ()
    assert await cold.board.latest(OPERATOR, _TASKS) == (task,)


async def test_other_graphs_and_tenants_have_boards_of_their_own(cold: Cold) -> None:
    """Not by reading, not by changing, not by marking; names are prefixes of each other."""
    message, task = card_by(ANN), _task()
    await _posted(cold, message, task)
    for place in (("acme", "race/2"), ("acm", "race"), ("acme", "rac")):
        for scope in (Scope.of_graph(*place), scope_of(*place, "bob")):
            assert await cold.board.cards(scope, [message.id, task.id]) == ()
            assert await cold.board.latest(scope, _MESSAGES) == ()
            assert await cold.board.counts(scope, NOW - MINUTE, NOW + MINUTE) == ()
            assert dict(await cold.board.unread(scope, ["bob"])) == {"bob": 0}
            assert await cold.board.mark_read(scope, [message.id], "bob", NOW) == ()
        with pytest.raises(UsageError):
            await cold.board.post(scope_of(*place, "ann"), card_by(ANN))
        with pytest.raises(UsageError):
            await cold.board.change(scope_of(*place, "ann"), _next(task), _log(ANN))


async def test_only_the_agent_itself_writes_as_it(cold: Cold) -> None:
    """Neither in another's name nor for another's user; only the runtime acts for any."""
    for card in (card_by(BOB), card_by(ANN, user_id="v"), card_by(ANN, id="")):
        with pytest.raises(UsageError):
            await cold.board.post(ANN, card)
    with pytest.raises(UsageError):
        await cold.board.post(ANN, card_by(ANN), _log(BOB))


async def test_names_may_be_odd(cold: Cold) -> None:
    """Of agents, tags, types and threads; texts may hold what they like."""
    for name in HOSTILE_NAMES:
        await _has_an_odd_name(cold, name)


async def _has_an_odd_name(cold: Cold, name: str) -> None:
    scope = scope_of("acme", "race", name)
    card = card_by(
        ANN,
        to=(name,),
        type=name,
        tags=(name,),
        thread=name,
        user_id=None,
        text=HOSTILE_TEXT,
        details={name: {name: HOSTILE_TEXT}},
        machine=name,
    )
    await _posted(cold, card, card_by(ANN, to=("bob",), minute=1))
    for query in (
        CardQuery(kind="message", inbox_of=name),
        CardQuery(kind="message", tag=name),
        CardQuery(kind="message", types=(name,)),
        CardQuery(kind="message", thread=name),
    ):
        assert await cold.board.latest(scope, query) == (card,)
    assert await cold.board.mark_read(scope, [card.id], name, NOW) == (card.id,)
    unread = CardQuery(kind="message", inbox_of=name, unread_by=name)
    assert await cold.board.latest(scope, unread) == ()


async def test_limits_are_kept_and_half_characters_refused(cold: Cold) -> None:
    """What is asked too much, or cannot be stored, is an error, and nothing is written."""
    for limit in (0, CARDS_MAX + 1):
        with pytest.raises(UsageError):
            await cold.board.latest(OPERATOR, _MESSAGES, limit=limit)
    with pytest.raises(UsageError):
        await cold.board.unread(OPERATOR, [str(n) for n in range(AGENTS_MAX + 1)])
    with pytest.raises(UsageError):
        await cold.board.cards(OPERATOR, [LONE_SURROGATE])
    for field in ({"text": LONE_SURROGATE}, {"details": {"a": LONE_SURROGATE}}, {"to": ("\n",)}):
        with pytest.raises(UsageError):
            card_by(ANN, **field)
    for details in ({"a": float("nan")}, {"a": "x" * DETAILS_CHARS_MAX}):
        with pytest.raises(UsageError):
            card_by(ANN, details=details)
    assert await cold.board.latest(OPERATOR, _MESSAGES) == ()


async def test_it_is_there_after_opening_again(backend: ColdBackend, tmp_path: Path) -> None:
    """A card, who read it, and what the raw engine holds of it."""
    card = card_by(ANN, to=("bob", "annika"), user_id=None)
    async with backend.opened(tmp_path) as cold:
        await cold.board.post(ANN, card)
        await cold.board.mark_read(BOB, [card.id], "bob", NOW)
    (raw,) = backend.rows(tmp_path, "cards")
    assert (raw["tenant"], raw["graph_id"], raw["agent_id"]) == ("acme", "race", "ann")
    assert raw["text"] == "Box this lap."
    async with backend.opened(tmp_path) as cold:
        found = await cold.board.latest(ANNIKA, CardQuery(kind="message", inbox_of="annika"))
        assert found == (card.model_copy(update={"read_by": ("bob",)}),)


SECRETS = ("xylograph", "zymotic", "quokka", "jacquard", "vuvuzela", "wyvern")


async def test_nothing_is_left_of_a_redacted_card_and_of_what_tells_of_it(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """All that its writer said, and the actions that tell of a task; the row and its ids stay."""
    await cold.graphs.create_graph(graph_of("race"))
    said = {"title": SECRETS[0], "text": f"Say {SECRETS[1]}.", "tags": (SECRETS[2],)}
    said |= {"details": {SECRETS[3]: [SECRETS[4]]}, "machine": SECRETS[5]}
    message = card_by(ANN, to=("bob",), type=SECRETS[0], **said)
    reply = card_by(BOB, 1, to=("ann",), reply_to=message.id, text="A narwhal.")
    task = _task(**said)
    await _posted(cold, message, reply, task)
    logged = _log(BOB, thread=task.id, type="task_in_progress", text=SECRETS[1])
    own_words = _log(BOB, 2, thread=task.id, type="commit", text="A gazebo.")
    assert await cold.board.change(BOB, _next(task, status="in_progress"), logged)
    await _posted(cold, own_words)
    before = words_in(backend.whole(tmp_path), SECRETS)
    assert {word for words in before.values() for word in words} == set(SECRETS)
    asked = [message.id, task.id]
    reached = await cold.redactor.redact(OPERATOR, asked, "asked to", NOW + MINUTE)
    assert reached.ids == {"card": tuple(sorted([*asked, logged.id]))}
    after = backend.whole(tmp_path)
    assert words_in(after, SECRETS) == {}
    kept = {word for words in words_in(after, ("narwhal", "gazebo")).values() for word in words}
    assert kept == {"narwhal", "gazebo"}
    shown = await cold.board.cards(ANN, asked)
    assert [one.redacted_at for one in shown] == [NOW + MINUTE] * 2
    assert (shown[0].to, shown[1].status) == (("bob",), "in_progress")
    assert await cold.board.latest(OPERATOR, _MESSAGES) == (reply,)
    assert await cold.board.latest(OPERATOR, _TASKS) == ()
    assert await cold.board.latest(OPERATOR, _ACTIONS) == (own_words,)
    assert dict(await cold.board.unread(OPERATOR, ["bob"])) == {"bob": 0}
    assert await cold.board.mark_read(BOB, [message.id], "bob", NOW) == ()
    assert not await cold.board.change(ANN, _next(_next(task)), _log(ANN))
    again = await cold.redactor.redact(OPERATOR, [task.id], "asked to", NOW + 2 * MINUTE)
    assert again.ids == {"card": tuple(sorted([task.id, logged.id]))}


async def test_a_subject_and_a_user_are_found_on_the_board(cold: Cold) -> None:
    """In any part of a card, whoever could see it; and what belongs to a person."""
    about = [
        card_by(ANN, to=("bob",), title="About Ann Lee"),
        card_by(BO, text="ann  LEE was here", user_id="v"),
        _task(tags=("Ann Lee",)),
        _log(BOB, details={"who": {"Ann Lee": 1}}, user_id=None),
        _log(BOB, machine="Ann Lee", user_id=None),
        card_by(ANN, type="Ann Lee", private=True),
    ]
    other = card_by(ANNIKA, text="Anna Leeds")
    await _posted(cold, *about, other)
    page = await cold.redactor.holding(OPERATOR, subject="Ann Lee")
    assert {one.id for one in page.rows} == {one.id for one in about}
    page = await cold.redactor.holding(OPERATOR, user_id="u")
    assert {one.id for one in page.rows} == {one.id for one in about if one.user_id == "u"}
