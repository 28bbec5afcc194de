"""What is asked of a source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import Field, StringConstraints, ValidationError

from tiers.errors import UsageError
from tiers.fields import Misfit
from tiers.records import NAME_CHARS_MAX, TEXT_CHARS_MAX, Moment, Name, Record

SLOTS_MAX = 32
"""So many slots a question has at most."""

Given: TypeAlias = Annotated[str, StringConstraints(max_length=TEXT_CHARS_MAX)] | int | float | bool


Slots: TypeAlias = Annotated[
    dict[Annotated[str, StringConstraints(max_length=NAME_CHARS_MAX)], Given],
    Field(max_length=SLOTS_MAX),
]


class MeshAsk(Record):
    """A source, and what to ask it.

    Attributes:
        source: Its name.
        question: Which of its questions; ``None`` lets the message choose one.
        slots: What the question is asked about, by slot.
        as_of: A moment of the past, for a source that knows it.
    """

    source: Name
    question: Name | None = None
    slots: Slots = Field(default_factory=dict)
    as_of: Moment | None = None


AnyAsk: TypeAlias = str | Mapping[str, Any] | MeshAsk


def ask_of(given: AnyAsk) -> MeshAsk:
    """Return what a caller gave as what is asked: the name of a source, or more.

    Raises:
        UsageError: It has fields that there are not, or one is not acceptable.
    """
    if isinstance(given, MeshAsk):
        return given
    fields: Mapping[str, Any] = {"source": given} if isinstance(given, str) else given
    try:
        ask = MeshAsk.model_validate(dict(fields))
    except (ValidationError, TypeError, ValueError) as error:
        raise _unfit(error) from error
    if ask.question is None and ask.slots:
        raise UsageError("mesh.slots", sorted(ask.slots), "slots of a question that is named")
    return ask


def _unfit(error: ValidationError | TypeError | ValueError) -> UsageError:
    if not isinstance(error, ValidationError):
        return UsageError("mesh", "no mapping", "a name, or source, question, slots and as_of")
    first = Misfit.first_of(error)
    where = ".".join(map(str, first.place[:2]))
    return UsageError(f"mesh.{where}", first.value, first.accepted)
