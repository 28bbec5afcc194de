"""What a change makes of a task, and what is logged of it: every pair of states."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest
from support.board_reference import ANN, BOB, MINUTE, STATES, card_by
from support.tier_samples import NOW, scope_of

from ezra.handles.tasks import Change, changed_task, log_of
from tiers.board import DETAILS_CHARS_MAX, STATES_AFTER, TASK_LOGS, Card
from tiers.errors import Conflict, UsageError

ALLOWED = {
    *(("created", "in_progress"), ("created", "suspended"), ("suspended", "in_progress")),
    *(("in_progress", "suspended"), ("in_progress", "completed"), ("in_progress", "failed")),
}
LATER = NOW + MINUTE


def _task(status: str = "created", **fields: object) -> Card:
    return card_by(ANN, **{"kind": "task", "title": "Fit", "status": status, **fields})


@pytest.mark.parametrize(("before", "after"), list(product(STATES, STATES)))
def test_only_the_ways_that_there_are_lead_on(before: str, after: str) -> None:
    """Staying changes nothing; of the rest the error says what is possible."""
    task, change = _task(before), Change(status=after)
    if before == after:
        assert changed_task(task, change, LATER) is None
    elif (before, after) in ALLOWED:
        new = changed_task(task, change, LATER)
        assert new is not None
        assert (new.status, new.version, new.changed_at) == (after, 2, LATER)
    else:
        with pytest.raises(Conflict) as refused:
            changed_task(task, change, LATER)
        possible = [state for begin, state in ALLOWED if begin == before] or ["final"]
        assert all(state in str(refused.value) for state in (before, *possible))


def test_the_table_of_ways_is_the_one_that_was_agreed() -> None:
    """Nothing leads out of a final state, and nothing back to the beginning."""
    assert {(one, to) for one, states in STATES_AFTER.items() for to in states} == ALLOWED


@pytest.mark.parametrize("before", STATES)
def test_a_task_ends_from_any_state_that_is_not_final(before: str) -> None:
    """Saying the same again changes nothing; another end, or another outcome, is refused."""
    end = Change(status="completed", note="fitted", ends=True)
    task = _task(before, details={"a": 1})
    if before == "failed":
        with pytest.raises(Conflict):
            changed_task(task, end, LATER)
        return
    if before == "completed":
        task = _task(before, details={"a": 1, "outcome": "fitted"})
        assert changed_task(task, end, LATER) is None
        assert changed_task(task, Change(status="completed", ends=True), LATER) is None
        with pytest.raises(Conflict):
            changed_task(task, end.model_copy(update={"note": "not fitted"}), LATER)
        return
    new = changed_task(task, end, LATER)
    assert new is not None
    assert (new.status, new.details) == ("completed", {"a": 1, "outcome": "fitted"})
    failed = changed_task(task, Change(status="failed", ends=True), LATER)
    assert failed is not None
    assert (failed.status, failed.details) == ("failed", {"a": 1})


def test_contents_change_until_the_end() -> None:
    """A note is possible ever after; what is the same already is no change."""
    task = _task("suspended", text="the wing", tags=("a",))
    assert changed_task(task, Change(title="Fit", tags=("a",)), LATER) is None
    new = changed_task(task, Change(title="Fit it", priority="high", tags=()), LATER)
    assert new is not None
    assert (new.title, new.priority, new.tags, new.status) == ("Fit it", "high", (), "suspended")
    done = _task("failed")
    with pytest.raises(Conflict, match="note"):
        changed_task(done, Change(text="other"), LATER)
    noted = changed_task(done, Change(note="why"), LATER)
    assert noted is not None
    assert (noted.version, noted.text) == (2, done.text)


def test_a_task_never_changes_before_it_changed_last() -> None:
    """Whatever a clock says: what changed last comes first in every list."""
    new = changed_task(_task(minute=5), Change(note="x"), LATER)
    assert new is not None
    assert new.changed_at == NOW + timedelta(minutes=5)


def test_what_would_not_fit_is_refused() -> None:
    """An outcome stands in the details, which have a limit."""
    end = Change(status="completed", note="x" * DETAILS_CHARS_MAX, ends=True)
    with pytest.raises(UsageError) as refused:
        changed_task(_task(), end, LATER)
    assert refused.value.field == "details"


def test_whoever_sees_a_task_sees_what_is_logged_of_it() -> None:
    """With the topics of the task that its writer holds, and for the same user."""
    task = _task(topics=("tyres", "weather"))
    new = changed_task(task, Change(status="in_progress", note="now"), LATER)
    assert new is not None
    log = log_of(ANN, new, Change(note="now", machine="m"), task, "id")
    assert (log.agent_id, log.topics, log.user_id, log.thread) == ("ann", ("tyres",), "u", task.id)
    assert (log.type, log.text, log.machine) == ("task_in_progress", "now", "m")
    assert log.details == {"from": "created", "to": "in_progress"}
    assert log_of(BOB, new, Change(), task, "id").topics == ("tyres", "weather")
    everything = scope_of("acme", "race", "all", ("*",))
    assert log_of(everything, new, Change(), task, "id").topics == ("tyres", "weather")
    kinds = {
        "task_created": (task, Change(), None),
        "task_note": (task, Change(note="x"), task),
        "task_changed": (task, Change(title="x"), task),
    }
    for name, (now, change, before) in kinds.items():
        assert log_of(ANN, now, change, before, "id").type == name
    assert set(TASK_LOGS.values()) >= {*kinds, "task_in_progress"}
