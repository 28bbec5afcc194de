"""What must hold of a record: values that any engine renders, and that plain Python decides.

``holds`` is their definition. An engine that answers differently is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Value: TypeAlias = str | int | float | None
"""What a field is compared by. Moments are integer microseconds, truths 0 and 1."""

Fields: TypeAlias = Mapping[str, Value]
Lists: TypeAlias = Mapping[str, Mapping[str, int]]
Stretch: TypeAlias = tuple[int, int | None]
"""From where until before where something held; ``None`` while it does."""
Stretches: TypeAlias = Mapping[str, Sequence[Stretch]]


@dataclass(frozen=True, slots=True)
class Is:
    """The field equals ``value``."""

    field: str
    value: str | int


@dataclass(frozen=True, slots=True)
class Among:
    """The field equals one of ``values``; with none of them nothing holds."""

    field: str
    values: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Other:
    """The field is there and is not ``value``."""

    field: str
    value: str | int


@dataclass(frozen=True, slots=True)
class Absent:
    """There is nothing in the field."""

    field: str


@dataclass(frozen=True, slots=True)
class Present:
    """There is something in the field."""

    field: str


@dataclass(frozen=True, slots=True)
class Within:
    """The field is there, ``since`` or more, and less than ``until``, as far as they are given."""

    field: str
    since: Value = None
    until: Value = None


@dataclass(frozen=True, slots=True)
class Beyond:
    """The record lies behind a place in the order of several fields; ``-`` before one: downwards.

    All of them go the same way, and are there in every record.
    """

    order: tuple[str, ...]
    place: tuple[str | int | float, ...]


@dataclass(frozen=True, slots=True)
class Holds:
    """One of the values in the list is among ``values``."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lacks:
    """None of the values in the list is among ``values``."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class During:
    """One of the stretches of that name has ``at`` in it."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Topics:
    """The record's set of topics passes: it has one of ``any_of``, or none at all; none is denied.

    Attributes:
        any_of: One of these suffices; ``None``: whatever they are.
        none_of: None of these may be among them.
        or_none: Whether a record without topics passes.
    """

    any_of: tuple[str, ...] | None = None
    none_of: tuple[str, ...] = ()
    or_none: bool = True

    def admits(self, topics: Sequence[str]) -> bool:
        """Whether a set of topics passes."""
        if not topics:
            return self.or_none
        if not self._excluded.isdisjoint(topics):
            return False
        return self.any_of is None or not frozenset(self.any_of).isdisjoint(topics)

    @property
    def _excluded(self) -> frozenset[str]:
        return frozenset(self.none_of)


@dataclass(frozen=True, slots=True)
class Either:
    """All conditions of one of the alternatives hold; there are at least two."""

    alternatives: tuple[tuple[Condition, ...], ...]


Condition: TypeAlias = (
    Is
    | Among
    | Other
    | Absent
    | Present
    | Within
    | Beyond
    | Holds
    | Lacks
    | During
    | Topics
    | Either
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What conditions look at, of one record."""

    fields: Fields
    lists: Lists
    topics: Sequence[str] = ()
    stretches: Stretches = field(default_factory=dict)


def holds(conditions: Sequence[Condition], seen: Seen) -> bool:
    """Whether all conditions hold of a record."""
    return all(_DECIDED[type(one)](one, seen) for one in conditions)


def direction(order: str) -> tuple[str, bool]:
    """Return the field of a step of an order, and whether it goes downwards."""
    return order.removeprefix("-"), order.startswith("-")


def _within(one: Within, seen: Seen) -> bool:
    value: Any = seen.fields[one.field]
    if value is None:
        return False
    since: Any = one.since
    until: Any = one.until
    return (since is None or value >= since) and (until is None or value < until)


def _during(one: During, seen: Seen) -> bool:
    stretches = seen.stretches[one.name]
    return any(since <= one.at and (until is None or one.at < until) for since, until in stretches)


def _beyond(one: Beyond, seen: Seen) -> bool:
    names, falls = zip(*map(direction, one.order), strict=True)
    value: Any = tuple(seen.fields[name] for name in names)
    place: Any = one.place
    return bool(value < place if falls[0] else value > place)


_DECIDED: Mapping[type, Callable[..., bool]] = {
    Is: lambda one, seen: seen.fields[one.field] == one.value,
    Among: lambda one, seen: seen.fields[one.field] in one.values,
    Other: lambda one, seen: seen.fields[one.field] not in {None, one.value},
    Absent: lambda one, seen: seen.fields[one.field] is None,
    Present: lambda one, seen: seen.fields[one.field] is not None,
    Within: _within,
    Beyond: _beyond,
    Holds: lambda one, seen: not seen.lists[one.name].keys().isdisjoint(one.values),
    Lacks: lambda one, seen: seen.lists[one.name].keys().isdisjoint(one.values),
    During: _during,
    Topics: lambda one, seen: one.admits(seen.topics),
    Either: lambda one, seen: any(holds(each, seen) for each in one.alternatives),
}
