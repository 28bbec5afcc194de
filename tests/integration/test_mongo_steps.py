"""Operations of the MongoDB cold tier that are cut off, at every command: all of it, or nothing.

What an operation comes to is the contract's to judge. Here the documents are compared that the
server holds: those of an operation that was cut off are those of before, or those of an operation
that nothing happened to; and repeating it finishes it, and does nothing twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from support import board_reference as board
from support import document_reference as documents
from support.belief_replay import replayed
from support.cold_samples import (
    OPERATOR,
    OTHER_AGENT,
    SCOPE,
    belief_by,
    draft,
    episode_by,
    fact_by,
    graph_of,
    receipt_by,
    rule_by,
    summary_by,
    turn_by,
)
from support.mongo_cuts import cut_at
from support.mongo_deployments import (
    REFUSED,
    Act,
    Deployment,
    Operation,
    Step,
    deployed,
    nothing,
    one_after_another,
)
from support.redactions import SECRETS, history_of, store
from support.tier_samples import NOW, scope_of

from tiers.cold.stores import ColdStores
from tiers.errors import BudgetExceeded, Conflict, NotFound, TierError
from tiers.learning import Verdict
from tiers.records import (
    AgentRecord,
    BranchPoint,
    Budget,
    Commitment,
    GraphState,
    Parent,
    Scope,
    Settlement,
    Usage,
)

GRAPH = SCOPE.for_graph()
LATER = NOW + timedelta(hours=2)
WORK = [draft("a"), draft("b", "compress"), draft("c", "learn")]
POINT = BranchPoint(graph_id="parent", seq=2, last_hash="0" * 64, root="0" * 64, turn=1)
DRAWN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\b[0-9a-f]{24,64}\b")
"""Ids, salts and hashes, which each run has of its own."""

DESTROYING = {"redact", "retire"}
"""After them no word of what they were told to destroy is in any document."""

COMMANDS = range(1, 250)
"""More than any operation sends."""

ONE_IN = {
    "redact": 37,
    **dict.fromkeys(("begin a log", "pin", "revert", "rewind", "adopt", "put a week"), 8),
    "retire": 9,
    **dict.fromkeys(("revise a document", "remove a document"), 5),
}
"""Of so many commands the normal run cuts off one, and the last three, among which the writes are;
of any other operation's ``OTHERS_ONE_IN``.

The slow run cuts off each command of every operation.
"""

OTHERS_ONE_IN = 3

EXCEEDED = 262
PASSING = ("TransientTransactionError", "RetryableWriteError", "UnknownTransactionCommitResult")
"""An error that passes when the server says so."""

HOUR = timedelta(hours=1)


def _fact(step: Callable[[ColdStores, str], Step], count: int = 1) -> Operation:
    """Return a change of core facts that are there."""
    facts = [fact_by(text=f"fact {number}", tier="core") for number in range(count)]
    puts = [lambda cold, one=one: cold.semantic.put_fact(SCOPE, one) for one in facts]
    return Operation(lambda cold: step(cold, *(one.id for one in facts)), one_after_another(*puts))


def _promoting() -> Operation:
    fact = fact_by()
    return Operation(
        lambda cold: cold.semantic.set_tier(SCOPE, fact, "core", "3 uses", NOW, WORK),
        lambda cold: cold.semantic.put_fact(SCOPE, fact),
    )


def _judged(cold: ColdStores, old: str, twin: str, new: str) -> Step:
    """A new fact takes the place of a core one, and says what another says."""
    verdicts = [
        Verdict(fact_id=old, by=new, how="denial", valid_to=NOW),
        Verdict(fact_id=twin, by=new, how="duplicate"),
    ]
    return cold.review.settle(OPERATOR, new, verdicts, NOW, WORK)


def _rule(step: Callable[..., Step]) -> Operation:
    """Return a change of a rule that is there."""
    rule = rule_by()
    return Operation(
        lambda cold: step(cold, rule), lambda cold: cold.procedural.put_rule(SCOPE, rule)
    )


def _episodic(height: int) -> Operation:
    """Return the storing of a summary, of its day, or of its week; all below are there."""
    turns = [turn_by(text=f"turn {number}") for number in range(3)]
    summary = summary_by(SCOPE, turns[:2])
    day = episode_by(SCOPE, [summary.id])
    week = episode_by(SCOPE, [day.id], grain="weekly")
    puts = [
        *(lambda cold, turn=turn: cold.turns.append_turn(SCOPE, turn) for turn in turns),
        lambda cold: cold.episodic.put_summary(SCOPE, summary, WORK),
        lambda cold: cold.episodic.put_episode(SCOPE, day, WORK),
        lambda cold: cold.episodic.put_episode(SCOPE, week, WORK),
    ]
    *before, act = puts[: len(turns) + height]
    return Operation(act, one_after_another(*before))


def _over(*rivals: Commitment) -> list[Settlement]:
    """Return settlements by which a new belief takes the place of others."""
    return [
        Settlement(rival_id=one.id, winner="new", strategy="last_write_wins", decided=True)
        for one in rivals
    ]


def _belief(step: Callable[[ColdStores, str], Step], *, pinned: bool = False) -> Operation:
    """Return a change of a log in which one belief has taken the place of another."""
    old, new = belief_by(claim="old"), belief_by(claim="new")
    before = [lambda cold: cold.beliefs.commit(SCOPE, old)]
    before += [lambda cold: cold.beliefs.pin(SCOPE, old.id, NOW)] if pinned else []
    before += [lambda cold: cold.beliefs.commit(SCOPE, new, _over(old))]
    return Operation(lambda cold: step(cold, new.id), one_after_another(*before))


def _superseding() -> Operation:
    old, new = belief_by(claim="old"), belief_by(OTHER_AGENT, claim="new")
    return Operation(
        lambda cold: cold.beliefs.commit(OTHER_AGENT, new, _over(old)),
        lambda cold: cold.beliefs.commit(SCOPE, old),
    )


def _adopting() -> Operation:
    pinned = belief_by(claim="first").model_copy(update={"origin_id": "a", "pinned": True})
    other = belief_by(claim="second", key=None).model_copy(update={"origin_id": "b"})
    return Operation(lambda cold: cold.beliefs.adopt(GRAPH, POINT, (pinned, other), LATER), nothing)


def _posting() -> Operation:
    task = board.card_by(board.ANN, kind="task", status="created")
    log = board.card_by(board.ANN, kind="action", thread=task.id, type="task_created")
    return Operation(lambda cold: cold.board.post(board.ANN, task, log), nothing)


def _changing() -> Operation:
    task = board.card_by(board.ANN, kind="task", status="created")
    later = {"version": 2, "status": "in_progress", "changed_at": NOW + board.MINUTE}
    log = board.card_by(board.BOB, 1, kind="action", thread=task.id, type="task_in_progress")
    return Operation(
        lambda cold: cold.board.change(board.BOB, task.model_copy(update=later), log),
        lambda cold: cold.board.post(board.ANN, task),
    )


def _reading() -> Operation:
    messages = [board.card_by(board.ANN, minute, to=("bob",)) for minute in range(2)]
    posts = [lambda cold, one=one: cold.board.post(board.ANN, one) for one in messages]
    ids = [one.id for one in messages]
    return Operation(
        lambda cold: cold.board.mark_read(board.BOB, ids, "bob", NOW), one_after_another(*posts)
    )


def _document(step: Callable[[ColdStores], Step]) -> Operation:
    """Return a change of a document that is there."""
    first = documents.document_by(said="1", title="One", text="All of one.")
    passages = documents.drafts_of("rain", "tyres", "laps")
    return Operation(step, lambda cold: cold.shelf.revise(documents.OPERATOR, first, passages))


def _revised(cold: ColdStores) -> Step:
    second = documents.document_by(said="2", revision=2, minute=1, title="Two", text="All of two.")
    passages = documents.drafts_of("wind", "laps", "rain")
    return cold.shelf.revise(documents.OPERATOR, second, passages)


def _removed(cold: ColdStores) -> Step:
    gone = documents.document_by(said="1").id
    return cold.shelf.remove(documents.OPERATOR, [gone], "gone", LATER)


def _linking() -> Operation:
    graphs = [lambda cold, name=name: cold.graphs.create_graph(graph_of(name)) for name in "ab"]
    scope, parent = Scope.of_graph("acme", "a"), Parent(id="b", linked_at=NOW)
    return Operation(lambda cold: cold.graphs.link(scope, parent), one_after_another(*graphs))


def _history(step: Callable[..., Step]) -> Operation:
    """Return the destruction of what a whole history says."""
    history = history_of(SCOPE)
    beliefs = [
        belief_by(SCOPE, SECRETS[2], key=(SECRETS[0], "x"), source_ids=(history.told[0].id,)),
        belief_by(SCOPE, f"The {SECRETS[1]}.", key=(SECRETS[3], SECRETS[4]), value=SECRETS[5]),
    ]
    asked = [history.told[0].id, history.told[2].id, history.rule.id, beliefs[1].id]
    commits = [lambda cold, one=one: cold.beliefs.commit(SCOPE, one) for one in beliefs]
    prepare = one_after_another(lambda cold: store(cold, history), *commits)
    return Operation(lambda cold: step(cold, asked), prepare)


def _retiring() -> Operation:
    """Return the retirement of turns and their summary; the day stays."""
    turns = [turn_by(text=f"A {word}.", speaker=SECRETS[0]) for word in SECRETS[:2]]
    summary = summary_by(SCOPE, turns, text=f"Of {SECRETS[2]}.")
    day = episode_by(SCOPE, [summary.id], text="A day.")
    fact = fact_by(text="", subject=SECRETS[3], predicate="is", object="gone")
    ids = [*(one.id for one in turns), summary.id, fact.id]
    puts = [
        *(lambda cold, turn=turn: cold.turns.append_turn(SCOPE, turn) for turn in turns),
        lambda cold: cold.episodic.put_summary(SCOPE, summary),
        lambda cold: cold.episodic.put_episode(SCOPE, day),
        lambda cold: cold.semantic.put_fact(SCOPE, fact),
    ]
    return Operation(
        lambda cold: cold.grains.retire(GRAPH, ids, "old", LATER, [draft("d", "retain")]),
        one_after_another(*puts),
    )


def _plain(make: Callable[[], object], step: Callable[..., Step]) -> Operation:
    """Return the storing of a record that is the first one."""
    record = make()
    return Operation(lambda cold: step(cold, record), nothing)


OPERATIONS: dict[str, Callable[[], Operation]] = {
    "append a turn": lambda: _plain(
        lambda: turn_by(ref="r"), lambda cold, turn: cold.turns.append_turn(SCOPE, turn, WORK)
    ),
    "put a receipt": lambda: _plain(
        receipt_by, lambda cold, receipt: cold.log.put_receipt(SCOPE, receipt, WORK)
    ),
    "put a fact": lambda: _plain(
        fact_by, lambda cold, fact: cold.semantic.put_fact(SCOPE, fact, WORK)
    ),
    "put a rule": lambda: _plain(
        rule_by, lambda cold, rule: cold.procedural.put_rule(SCOPE, rule, WORK)
    ),
    "put a summary": lambda: _episodic(1),
    "put a day": lambda: _episodic(2),
    "put a week": lambda: _episodic(3),
    "promote": _promoting,
    "supersede a fact": lambda: _fact(
        lambda cold, old, new: cold.semantic.supersede(SCOPE, old, new, NOW, WORK), 2
    ),
    "forget": lambda: _fact(lambda cold, one: cold.review.forget(SCOPE, one, "asked", NOW, WORK)),
    "judge": lambda: _fact(_judged, 3),
    "count an outcome": lambda: _rule(
        lambda cold, rule: cold.playbooks.record_outcome(
            SCOPE, rule.id, "cause", NOW, is_success=True
        )
    ),
    "refine": lambda: _rule(
        lambda cold, rule: cold.playbooks.refine(SCOPE, rule, ["Box."], ["source"], NOW, WORK)
    ),
    "begin a log": lambda: _plain(belief_by, lambda cold, one: cold.beliefs.commit(SCOPE, one)),
    "supersede a belief": _superseding,
    "pin": lambda: _belief(lambda cold, new: cold.beliefs.pin(SCOPE, new, LATER)),
    "revert": lambda: _belief(lambda cold, new: cold.beliefs.revert(SCOPE, new, "wrong", LATER)),
    "rewind": lambda: _belief(
        lambda cold, _: cold.beliefs.rewind(GRAPH, 2, "back", LATER), pinned=True
    ),
    "adopt": _adopting,
    "post a card": _posting,
    "change a card": _changing,
    "read cards": _reading,
    "revise a document": lambda: _document(_revised),
    "remove a document": lambda: _document(_removed),
    "link graphs": _linking,
    "redact": lambda: _history(
        lambda cold, asked: cold.redactor.redact(GRAPH, asked, "asked to", LATER)
    ),
    "retire": _retiring,
}


Documents = dict[str, list[str]]


@pytest.fixture(scope="module", params=["motor", pytest.param("pymongo", marks=pytest.mark.slow)])
def either_driver(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    """A server, for all tests of a driver."""
    with deployed(request.param) as found:
        yield found


def _held(deployment: Deployment, database: str) -> Documents:
    """Return every document of a database as text, by collection."""
    raw = deployment.server.client[database]
    return {
        name: sorted(DRAWN.sub("#", repr(_shown(one))) for one in raw[name].find())
        for name in raw.list_collection_names()
    }


def _shown(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document without its number; the order of what a body says means nothing."""
    if "body" not in document:
        return {**document, "_id": 0}
    body = json.dumps(json.loads(document["body"]), sort_keys=True)
    return {**document, "_id": 0, "body": body}


@dataclass(frozen=True)
class Whole:
    """What a database holds before an operation and after it, and of how many commands it is.

    Attributes:
        start: A database as it was before, to be copied.
        before: Its documents.
        done: Those of one in which nothing happened to the operation.
        commands: How many there are.
    """

    start: str
    before: Documents
    done: Documents
    commands: int


async def _whole(deployment: Deployment, operation: Operation) -> Whole:
    """Prepare an operation once, and carry it out in a copy."""
    start = deployment.fresh_database()
    async with deployment.opened(start) as cold:
        await operation.prepare(cold)
    before, database = _held(deployment, start), deployment.copied(start)
    async with deployment.opened(database) as cold:
        with cut_at(deployment.server, COMMANDS.stop) as cut:
            await operation.act(cold)
        assert not cut.happened, "there are more commands"
    done = _held(deployment, database)
    assert before != done
    return Whole(start, before, done, cut.seen)


@pytest.mark.parametrize(
    ("after", "each"),
    [
        pytest.param(False, False, id="some"),
        pytest.param(False, True, id="undone", marks=pytest.mark.slow),
        pytest.param(True, True, id="unanswered", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("name", OPERATIONS)
async def test_what_is_cut_off_is_there_whole_or_not_at_all(
    deployment: Deployment, name: str, *, after: bool, each: bool
) -> None:
    """Whether the command that fails was carried out or not; and repeated, all of it is there."""
    operation, one_in = OPERATIONS[name](), 1 if each else ONE_IN.get(name, OTHERS_ONE_IN)
    whole = await _whole(deployment, operation)
    before, done, commands = whole.before, whole.done, whole.commands
    if name in DESTROYING:
        assert [word for word in SECRETS if word in repr(done)] == []
    felt = 0
    for number in {*range(one_in, commands, one_in), *range(commands - 2, commands + 1)}:
        database = deployment.copied(whole.start)
        cut, error = await deployment.cut(operation, database, number, after=after)
        assert cut.happened
        felt += error is not None
        left = _held(deployment, database)
        assert left == done if error is None else left in (before, done)[: 1 + after], number
        async with deployment.opened(database) as cold:
            with suppress(*(Conflict, NotFound) if left == done else ()):
                await operation.act(cold)
            await replayed(cold.history, GRAPH)
        assert _held(deployment, database) == done, f"repeated after command {number}"
    assert felt >= 3, "most cuts must have been felt"
    assert deployment.server.open_transactions == 0


@pytest.mark.parametrize(
    "name",
    [
        *("append a turn", "put a summary"),
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("put a day", "put a receipt")),
    ],
)
@pytest.mark.parametrize("after", [False, True], ids=["undone", "unanswered"])
async def test_what_passes_is_felt_by_nobody(
    either_driver: Deployment, name: str, *, after: bool
) -> None:
    """A passing failure of any command is survived, and nothing is done twice."""
    operation = OPERATIONS[name]()
    whole = await _whole(either_driver, operation)
    for number in COMMANDS:
        database = either_driver.copied(whole.start)
        cut, error = await either_driver.cut(
            operation, database, number, code=EXCEEDED, labels=PASSING, after=after
        )
        if not cut.happened:
            break
        assert error is None
        assert _held(either_driver, database) == whole.done


@pytest.mark.parametrize(
    "after", [pytest.param(False, marks=pytest.mark.slow), True], ids=["unsent", "unanswered"]
)
@pytest.mark.parametrize("number", [2, 5], ids=["insert", "commit"])
async def test_a_cut_connection_is_survived(
    either_driver: Deployment, number: int, *, after: bool
) -> None:
    """The turn is stored once, with its work, over a new connection."""
    operation = OPERATIONS["append a turn"]()
    whole = await _whole(either_driver, operation)
    database = either_driver.copied(whole.start)
    cut, error = await either_driver.cut(operation, database, number, code=None, after=after)
    assert cut.happened
    assert error is None
    assert _held(either_driver, database) == whole.done


GRAPH_STEPS: Sequence[Act] = (
    lambda cold: cold.graphs.create_graph(graph_of("race")),
    lambda cold: cold.fleet.spawn(
        AgentRecord(tenant="acme", graph_id="race", id="a", spawned_at=NOW)
    ),
    lambda cold: cold.fleet.beat(SCOPE, ["a"], NOW + HOUR),
    lambda cold: cold.graphs.configure(SCOPE, budget=Budget(tokens=9)),
    lambda cold: cold.graphs.set_state(SCOPE, GraphState.CLOSED, NOW),
    lambda cold: cold.fleet.leave(scope_of(agent_id="a"), NOW),
)


@pytest.mark.parametrize("after", [False, True], ids=["undone", "unanswered"])
async def test_life_of_a_graph_may_be_repeated_after_every_cut(
    either_driver: Deployment, *, after: bool
) -> None:
    """Repeated, each step comes to the same; a graph that is there says so."""
    for number in COMMANDS:
        name = either_driver.fresh_database()
        async with either_driver.opened(name) as cold:
            with cut_at(either_driver.server, number, code=REFUSED, after=after) as cut:
                for act in GRAPH_STEPS:
                    try:
                        await act(cold)
                    except TierError:
                        try:
                            await act(cold)
                        except Conflict:
                            assert after, "only a graph that was stored is in the way"
            graph = await cold.graphs.graph("acme", "race")
            assert graph is not None
            assert (graph.state, graph.closed_at) == (GraphState.CLOSED, NOW)
            assert graph.budget.tokens == 9
            (agent,) = await cold.fleet.agents(SCOPE)
            assert (agent.seen_at, agent.left_at) == (NOW + HOUR, NOW)
        if not cut.happened:
            break


@pytest.mark.parametrize("after", [False, True], ids=["undone", "unanswered"])
async def test_a_charge_that_is_cut_off_never_leaves_an_agent_with_too_little(
    either_driver: Deployment, *, after: bool
) -> None:
    """Cut anywhere, granted or refused by the graph: what the graph has, its agent has."""
    amount, graph_limit = Usage(tokens=5), Budget(tokens=8)
    whole = SCOPE.for_graph()
    for number in COMMANDS:
        async with either_driver.opened(either_driver.fresh_database()) as cold:
            with cut_at(either_driver.server, number, code=REFUSED, after=after) as cut:
                for _ in range(2):
                    with suppress(TierError, BudgetExceeded):
                        await cold.usage.charge(SCOPE, amount, Budget(), graph_limit)
            if not cut.happened:
                break
            agents, graphs = [(await cold.usage.usage(one)).tokens for one in (SCOPE, whole)]
            assert graphs in {0, 5}
            assert graphs <= agents <= graphs + 5
    assert number == 5, "every command of a charge was cut once"
