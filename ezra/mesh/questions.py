"""Questions: what a source may be asked, declared by its owner, and what it is asked. Pure.

A declared value such as ``"{sku}"`` is the slot of that name; every other one is a constant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from tiers.errors import UsageError
from tiers.fields import Misfit
from tiers.mesh import FIELDS_MAX, ROWS_MAX, FieldType
from tiers.records import NAME_CHARS_MAX, TEXT_CHARS_MAX, Moment, Name, Record

from .slots import Slot

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


ROWS = 20
"""Rows of an answer where a question does not say."""

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_IN_BRACES = re.compile(rf"\{{({_NAME})\}}")

SlotName = Annotated[str, StringConstraints(pattern=rf"^{_NAME}$", max_length=64)]
Path = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Phrase = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Constant: TypeAlias = bool | int | float | Annotated[str, StringConstraints(max_length=1_000)]
Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">=", "contains", "starts_with"]
Function: TypeAlias = Literal["count", "sum", "min", "max", "avg"]


class Declared(BaseModel):
    """Base of everything that a source's owner declares: frozen, unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Question(Declared):
    """What every question has.

    Attributes:
        description: What it answers, for people and models.
        slots: What it is asked about.
        keywords: Each a list of words; a message that has all words of one may mean it.
        patterns: Sentences with slots in braces, as people write them: ``stock of {sku}``.
        examples: The same; here only the words count, in whatever order.
        limit: The most rows of an answer.
    """

    description: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    slots: dict[SlotName, Slot] = Field(default_factory=dict, max_length=SLOTS_MAX)
    keywords: Annotated[tuple[Phrase, ...], Field(max_length=100)] = ()
    patterns: Annotated[tuple[Phrase, ...], Field(max_length=100)] = ()
    examples: Annotated[tuple[Phrase, ...], Field(max_length=100)] = ()
    limit: int = Field(default=ROWS, ge=1, le=ROWS_MAX)

    @model_validator(mode="after")
    def _braces_name_slots(self) -> Self:
        check_slots((*self.patterns, *self.examples), self.slots)
        for sentence in self.patterns:
            named = names_in(sentence)
            if not named or len(set(named)) != len(named):
                message = f"the pattern {sentence!r} names each of its slots once, and one at least"
                raise ValueError(message)
        return self


class Condition(Declared):
    """What a row must be like: a field, how it is compared, and with what."""

    field: Path
    op: Operator = "="
    value: Constant


class Measure(Declared):
    """A number over the rows of a group. A count needs no field."""

    function: Function
    field: Path | None = None

    @model_validator(mode="after")
    def _has_a_field(self) -> Self:
        if (self.field is None) != (self.function == "count"):
            raise ValueError("a count has no field, and every other function has one")
        return self


class Selection(Question):
    """A question about the rows of a table or the documents of a collection.

    Attributes:
        select: The fields of an answer; those of ``group_by`` where there are measures.
        where: All of these hold. One whose slot is not required falls away when it is not given.
        group_by: Rows that agree in these become one.
        measures: The numbers over each group, by the field of the answer that has them.
        order_by: Fields of the answer; ``-level`` begins with the highest.
    """

    select: Annotated[tuple[Path, ...], Field(max_length=FIELDS_MAX)] = ()
    where: Annotated[tuple[Condition, ...], Field(max_length=32)] = ()
    group_by: Annotated[tuple[Path, ...], Field(max_length=10)] = ()
    measures: dict[SlotName, Measure] = Field(default_factory=dict, max_length=20)
    order_by: Annotated[tuple[Path, ...], Field(max_length=10)] = ()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if bool(self.select) == bool(self.measures):
            message = "give the fields to select, or measures (over groups, if there are any)"
            raise ValueError(message)
        if self.group_by and not self.measures:
            raise ValueError("group_by needs measures")
        check_slots((one.value for one in self.where), self.slots)
        for name in self.order_by:
            if name.removeprefix("-") not in self.answered:
                raise ValueError(f"order_by names {name!r}, which is no field of the answer")
        return self

    @property
    def answered(self) -> tuple[str, ...]:
        """The fields of an answer, in order."""
        return self.select or (*self.group_by, *self.measures)

    def types(self, kind: Callable[[str], FieldType]) -> dict[str, FieldType]:
        """Return the types of an answer's fields, in their order, where ``kind`` is a field's."""
        found: dict[str, FieldType] = {}
        for name in self.answered:
            measure = self.measures.get(name)
            if measure is None:
                found[name] = kind(name)
            elif measure.field is None:
                found[name] = "integer"
            else:
                found[name] = "number" if measure.function == "avg" else kind(measure.field)
        return found

    @property
    def touched(self) -> frozenset[str]:
        """Every field of the source that it reads."""
        measured = (one.field for one in self.measures.values() if one.field is not None)
        compared = (one.field for one in self.where)
        return frozenset((*self.select, *self.group_by, *compared, *measured))


def slot_of(value: object) -> str | None:
    """Return the slot that a declared value stands for, or ``None`` for a constant."""
    found = _IN_BRACES.fullmatch(value) if isinstance(value, str) else None
    return found[1] if found else None


def names_in(sentence: str) -> tuple[str, ...]:
    """Return the slots that a sentence or an address names, in order."""
    return tuple(_IN_BRACES.findall(sentence))


def split_at_slots(sentence: str) -> list[str]:
    """Return the parts of a sentence: text, slot, text, slot, …, text."""
    return _IN_BRACES.split(sentence)


def check_slots(declared: Iterable[object], slots: Mapping[str, Slot]) -> None:
    """Raise ``ValueError`` where declared values or sentences name a slot that there is not."""
    for one in declared:
        for name in names_in(one) if isinstance(one, str) else ():
            if name not in slots:
                raise ValueError(f"{one!r} names the slot {name!r}, which is not declared")


def put_in(declared: Mapping[str, Constant], values: Mapping[str, object]) -> dict[str, Any]:
    """Return declared values with the slots filled; what is not given is left out."""
    found: dict[str, Any] = {}
    for name, value in declared.items():
        slot = slot_of(value)
        if slot is None:
            found[name] = value
        elif slot in values:
            found[name] = values[slot]
    return found


class FieldOf(Declared):
    """A field of an answer: where it is in what the source sends, and what it is.

    Attributes:
        path: Names between dots; the field's own name if not given.
        type: What it must be.
    """

    type: FieldType
    path: Path | None = None


AnyField: TypeAlias = FieldType | FieldOf


def field_of(declared: AnyField) -> FieldOf:
    """Return the long form of a declared field."""
    return declared if isinstance(declared, FieldOf) else FieldOf(type=declared)
