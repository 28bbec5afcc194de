"""One operation as every surface knows it: name, address, what is asked and what is answered.

REST makes a route of it, the remote client a call, and neither says again what the other knows.

Moments and numbers come typed in JSON, and as text in a query string.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Generic, Self, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    Strict,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from tiers.errors import UsageError
from tiers.fields import Misfit, in_utc

from ..arguments import COUNT_MAX, check_call, takes_fields
from ..operations import Need, Verb

_DIGITS_MAX = len(str(COUNT_MAX))


def _time(value: object) -> datetime:
    """Return a moment; without its zone it is none."""
    if isinstance(value, str):
        value = _read(value)
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise ValueError("a time of ISO 8601 with its zone")
    return in_utc(value)


def _read(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def whole(value: object) -> object:
    """Return what may become a number; ``True`` is none."""
    if isinstance(value, bool):
        raise ValueError("must be a whole number")
    return value


def _point_in_query(value: object) -> datetime | int:
    """Return a moment or the number of a turn where all is text."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value) if len(value) <= _DIGITS_MAX else -1
    return _point(value)


def _point(value: object) -> datetime | int:
    """Return a moment or the number of a turn, each exactly as it was meant.

    Pydantic alone would take the text of a number for seconds since 1970.
    """
    if not isinstance(value, int):
        return _time(value)
    if isinstance(value, bool) or not 0 <= value <= COUNT_MAX:
        raise ValueError("the number of a turn, or a time of ISO 8601 with its zone")
    return value


def _listed(given: object) -> object:
    """Return what is listed, in its order. A text would be a list of letters."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise PydanticCustomError("list", "a set, list or tuple")
    return tuple(given)


LISTED = BeforeValidator(_listed)
"""Annotates a tuple that is made of any list, and of nothing else."""

ONE_OR_MORE = BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)
"""Annotates a tuple of words that may be given as one word."""

Time: TypeAlias = Annotated[datetime, BeforeValidator(_time)]
Count: TypeAlias = Annotated[int, Field(ge=0, le=COUNT_MAX), BeforeValidator(whole)]
Number: TypeAlias = Annotated[Count, Strict()]
"""A count in a body: JSON has types, where all of a query string is text."""
Switch: TypeAlias = Annotated[bool, Strict()]
"""True or false in a body."""
Point: TypeAlias = Annotated[datetime | int, BeforeValidator(_point)]
"""A moment of the past: a time, or the number of a turn of the graph."""
PointInQuery: TypeAlias = Annotated[datetime | int, BeforeValidator(_point_in_query)]
"""The same in a query string, where all is text."""


NEEDS: Mapping[Need, str] = {
    "see": "see what an agent sees: recall, facts, beliefs, documents, inbox",
    "act": "act as an agent: spawn, turn, remember, forget, commit, send, ask a live source",
    "read": "read whole graphs: turns, receipts, history, audit, console, metrics",
    "operate": "run graphs: create, inherit, revert, redact, erase, import, close",
}
"""What each of them is, in words, with some of its operations."""

ANSWER_HEADER = "ezra-answer"
"""Has, where the body of an answer is a file, what the operation answers, as JSON."""

_NAME_IN_PATH = re.compile(r"\{(\w+)\}")


class Asked(BaseModel):
    """Base of every request: frozen, and unknown fields are refused.

    What does not fit is a ``UsageError`` on either side of the wire, as the handles raise it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: ClassVar[Callable[..., Any] | None] = None
    """The handle's method that is asked: what it refuses itself is refused in its words."""

    @property
    def writes(self) -> bool:
        """Whether an operation that otherwise only reads is asked to store something."""
        return False

    @classmethod
    def of(cls, **given: Any) -> Self:  # noqa: ANN401 - its fields check them
        """Return what is asked by a call of the handle's method with these arguments.

        Raises:
            UsageError: One of them is not acceptable.
        """
        return cls(**given)

    @property
    def arguments(self) -> dict[str, Any]:
        """What was said, by keyword: arguments of the handle's method, which has the defaults."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    @model_validator(mode="wrap")
    @classmethod
    def _fits(cls, given: Any, parse: ModelWrapValidatorHandler[Self]) -> Self:  # noqa: ANN401
        try:
            return parse(given)
        except ValidationError as error:
            misfit = _misfit_of(error)
            name = misfit.place[0] if misfit.place else None
            if cls.method is not None and isinstance(given, Mapping) and name in given:
                _check_as_called(cls.method, str(name), given[name])
            raise refusal_of(misfit, "request") from error


def _misfit_of(error: ValidationError) -> Misfit:
    """Return the first of what does not fit; of what may be text or a record, that of the record.

    Of a union pydantic tells each member's refusal, under its name: ``parent.Parent.id``.
    """
    first, *others = error.errors(include_url=False)
    # What is no object at all has no place in it.
    name, *member = first["loc"] or (None,)
    if member == ["str"] and isinstance(first["input"], Mapping):
        for one in others:
            if one["loc"][:1] == (name,) and len(one["loc"]) > len(first["loc"]):
                return Misfit.of({**one, "loc": (name, *one["loc"][2:])})
    return Misfit.of(first)


def _check_as_called(method: Callable[..., Any], name: str, value: object) -> None:
    """Refuse an argument as its method does; of a record its model says which field is wrong."""
    some = value if isinstance(value, list) else [value]
    if any(isinstance(one, Mapping) for one in some) and takes_fields(method, name):
        return
    check_call(method, {name: value})


class Nothing(Asked):
    """What is asked by an operation that needs no more than its path."""


def refusal_of(misfit: Misfit, whole: str) -> UsageError:
    """Return the refusal of what does not fit: ``changes[0].op``.

    Args:
        misfit: What does not.
        whole: What is refused where no part of it is to blame.
    """
    names = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in misfit.place)
    field = "".join(names).removeprefix(".") or whole
    return UsageError(field, shown(misfit.value), misfit.accepted)


def shown(value: object) -> object:
    """Return a plain value as it is, of anything else its type: it may be large, deep or both."""
    if isinstance(value, str | int | float | datetime | None):
        return value
    return type(value).__name__


A = TypeVar("A", bound=Asked)
R = TypeVar("R")


@dataclass(frozen=True)
class Operation(Generic[A, R]):
    """One operation.

    Attributes:
        name: ``agent.recall``: what metrics, logs and the OpenAPI document call it.
        verb: GET and DELETE carry what is asked in the query string, the others as JSON.
        path: With the names of graph, agent and so on in braces.
        asks: What is asked.
        answers: What is answered: reads and writes JSON.
        needs: Who may.
        summary: One sentence for the OpenAPI document.
        repeats: Whether asking twice does no more than asking once.
    """

    name: str
    verb: Verb
    path: str
    asks: type[A]
    answers: TypeAdapter[R]
    needs: Need
    summary: str
    repeats: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the path, in order."""
        return tuple(_NAME_IN_PATH.findall(self.path))

    @property
    def has_body(self) -> bool:
        """Whether what is asked comes as JSON."""
        return self.verb in ("POST", "PUT", "PATCH")
