"""Decides what an answer gave away and what an attempt changed, knowing only worlds and rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from tiers.errors import UsageError

from .attempts import Attempt, Touch, shortly
from .oracle import permitted
from .raw import RECORDS, Raw, Row
from .worlds import MARK, World

_DEPTH_MAX = 3
_REPORTED_CHARS = 1_500


@dataclass(frozen=True)
class Change:
    """A row that is not what it was: of before and after, one may be missing."""

    table: str
    place: str
    before: Row | None
    after: Row | None

    @property
    def row(self) -> Row:
        """The row that says whose it is: an owner cannot be changed away."""
        row = self.before or self.after
        assert row is not None
        return row

    def __str__(self) -> str:
        said = "removed" if self.after is None else "added" if self.before is None else "changed"
        owner = (self.row.tenant, self.row.graph_id, self.row.agent_id)
        lines = [f"{self.table} {self.place} of {owner!r} {said}"]
        lines += [f"    {'-+'[row is self.after]} {row.content[:400]}" for row in self._rows()]
        return "\n".join(lines)

    def _rows(self) -> list[Row]:
        return [row for row in (self.before, self.after) if row is not None]


def given_away(world: World, attempt: Attempt, answer: object) -> Iterator[str]:
    """Yield what an answer or an error holds that the oracle forbids."""
    if isinstance(answer, UsageError):
        return  # shows the caller's own argument
    shown = f"{answer} {vars(answer)}" if isinstance(answer, BaseException) else repr(answer)
    for mark in sorted(set(MARK.findall(shown))):
        owners = world.by_mark.get(mark, [])
        if not any(permitted(attempt.method.reach, attempt.scope, one) for one in owners):
            owner = owners[0] if owners else None
            told = f" by {type(answer).__name__}" if isinstance(answer, BaseException) else ""
            whose = f"{owner.kind} of {shortly(owner.corner)}" if owner else mark
            yield f"shows {whose}{told}"
    if not isinstance(answer, BaseException):
        yield from _foreign_records(world, attempt, answer)


def shown_rightly(world: World, answer: object) -> int:
    """Return how many records an answer shows, leaks or not: a suite that sees none proves none."""
    return sum(mark in world.by_mark for mark in set(MARK.findall(repr(answer))))


def _foreign_records(world: World, attempt: Attempt, answer: object) -> Iterator[str]:
    for record in _records(answer):
        tenant = getattr(record, "tenant", attempt.scope.tenant)
        if tenant != attempt.scope.tenant:
            yield f"returns a {type(record).__name__} of tenant {tenant!r}"
            continue
        place = (tenant, getattr(record, "graph_id", None), getattr(record, "id", None))
        owners = world.by_place.get(place, [])  # type: ignore[arg-type]
        reach = attempt.method.reach
        if owners and not any(permitted(reach, attempt.scope, one) for one in owners):
            whose = shortly(owners[0].corner)
            yield f"returns {type(record).__name__} {place[2]} of {whose}"


def _records(answer: object, depth: int = 0) -> Iterator[BaseModel]:
    if isinstance(answer, BaseModel):
        yield answer
    if depth == _DEPTH_MAX:
        return
    parts: Iterable[object] = ()
    if isinstance(answer, BaseModel):
        parts = [getattr(answer, name) for name in type(answer).model_fields]
    elif isinstance(answer, Mapping):
        parts = answer.values()
    elif isinstance(answer, Sequence) and not isinstance(answer, str | bytes):
        parts = answer
    for part in parts:
        yield from _records(part, depth + 1)


def changes(before: Raw, after: Raw) -> list[Change]:
    """Return every row that differs."""
    places = [place for place in {**before, **after} if before.get(place) != after.get(place)]
    return [Change(*place, before.get(place), after.get(place)) for place in places]


def mutations(found: Sequence[Change], touches: Sequence[Touch]) -> list[Change]:
    """Return those changes that nobody had the right to make."""
    return [change for change in found if not any(_allows(touch, change) for touch in touches)]


def _allows(touch: Touch, change: Change) -> bool:
    row = change.row
    if row.tenant is None:
        return change.before is None  # a new set of topics, say; what was there stays
    if row.tenant != touch.tenant:
        return False
    # What names no graph keeps books for the whole tenant.
    if None not in (row.graph_id, touch.graph_id) and row.graph_id != touch.graph_id:
        return False
    if touch.agent_id is not None and touch.agent_id != row.agent_id:
        return False
    was_there = change.before is not None and change.table in RECORDS
    if not was_there or (touch.record_id is None and touch.table is None):
        return not was_there
    return touch.record_id in {None, row.record_id} and touch.table in {None, change.table}


def of_report(value: Any) -> str:
    """Return a finding cut to a length that fits a report."""
    text = str(value)
    return text if len(text) <= _REPORTED_CHARS else f"{text[:_REPORTED_CHARS]}…"
