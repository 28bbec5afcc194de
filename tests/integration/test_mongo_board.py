"""The board in MongoDB: posting, changing and reading cut off at every command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.board_reference import ANN, BOB, MINUTE, OPERATOR, card_by
from support.mongo_deployments import COMMANDS_MAX, Deployment, Operation, deployed
from support.tier_samples import NOW

from tiers.board import CardQuery

RARE = "xylograph"
CUTS = [
    pytest.param(False, id="undone"),
    pytest.param(True, id="unanswered", marks=pytest.mark.slow),
]
"""Whether a command that fails was carried out all the same."""


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    """A server for all tests of this file."""
    with deployed() as found:
        yield found


async def _nothing(_: Any) -> None:
    return None


def _posting() -> Operation:
    task = card_by(ANN, kind="task", status="created")
    log = card_by(ANN, kind="action", thread=task.id, type="task_created", text=RARE)
    return Operation(lambda cold: cold.board.post(ANN, task, log), _nothing)


def _changing() -> Operation:
    task = card_by(ANN, kind="task", status="created")
    later = {"version": 2, "status": "in_progress", "changed_at": NOW + MINUTE}
    log = card_by(BOB, 1, kind="action", thread=task.id, type="task_in_progress", text=RARE)
    new = task.model_copy(update=later)
    return Operation(
        lambda cold: cold.board.change(BOB, new, log), lambda cold: cold.board.post(ANN, task)
    )


def _reading() -> Operation:
    messages = [card_by(ANN, minute, to=("bob",)) for minute in range(2)]
    ids = [one.id for one in messages]

    async def prepare(cold: Any) -> None:
        for one in messages:
            await cold.board.post(ANN, one)

    return Operation(lambda cold: cold.board.mark_read(BOB, ids, "bob", NOW), prepare)


async def _seen(cold: Any) -> list[Any]:
    """Return everything on the board, and what the audit feed tells of it."""
    kinds = ("message", "task", "action")
    cards = [await cold.board.latest(OPERATOR, CardQuery(kind=kind)) for kind in kinds]
    feed = await cold.log.audit(OPERATOR)
    assert [event.seq for event in feed] == list(range(1, len(feed) + 1))
    return [*cards, [(event.kind, event.record_ids, event.reason) for event in feed]]


async def _whole(deployment: Deployment, operation: Operation) -> tuple[list[Any], list[Any]]:
    """Return what is seen before an operation and after it."""
    async with deployment.opened(deployment.fresh_database()) as cold:
        await operation.prepare(cold)
        before = await _seen(cold)
        await operation.act(cold)
        return before, await _seen(cold)


@pytest.mark.parametrize("make", [_posting, _reading])
@pytest.mark.parametrize("after", CUTS)
async def test_repeating_finishes_what_was_cut_off(
    deployment: Deployment, make: Callable[[], Operation], *, after: bool
) -> None:
    """Everything is there once, cards and events alike."""
    operation = make()
    _, done = await _whole(deployment, operation)
    felt = 0
    for number in range(1, COMMANDS_MAX):
        database = deployment.fresh_database()
        cut, error = await deployment.cut(operation, database, number, after=after)
        if not cut.happened:
            break
        felt += error is not None
        async with deployment.opened(database) as cold:
            await operation.act(cold)
            assert await _seen(cold) == done
    assert felt >= 3, "most cuts must have been felt"


@pytest.mark.parametrize("make", [_posting, _changing, _reading])
async def test_nothing_is_kept_of_what_was_refused(
    deployment: Deployment, make: Callable[[], Operation]
) -> None:
    """Whichever command is refused, everything before it is taken back."""
    operation = make()
    before, done = await _whole(deployment, operation)
    felt = 0
    for number in range(1, COMMANDS_MAX):
        database = deployment.fresh_database()
        cut, error = await deployment.cut(operation, database, number)
        if not cut.happened:
            break
        felt += error is not None
        async with deployment.opened(database) as cold:
            assert await _seen(cold) == (done if error is None else before)
    assert felt >= 3, "most refusals must have been felt"
    assert deployment.server.open_transactions == 0
