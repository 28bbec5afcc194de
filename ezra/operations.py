"""What a method of a handle is at the doors, said once, beside the method itself.

The service makes a route of it, the remote client a call, the OpenAPI document an entry: name,
parameters, bounds, answer and words are the method's own.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import Field

Verb: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

IDS_MAX = 10_000
"""So many records can be named at once; what is done with them may have a lower limit."""

Ids: TypeAlias = Annotated[Sequence[str], Field(max_length=IDS_MAX)]

_F = TypeVar("_F", bound=Callable[..., Any])

_ARGUMENT = re.compile(r"^ {4}(\w+): (.*)$")


@dataclass(frozen=True)
class Offer:
    """How a method is asked for over a wire.

    Attributes:
        verb: GET and DELETE carry what is asked in the query string, the others as JSON. What
            people said or named belongs into a body: proxies log addresses.
        path: What follows the path of the handle; parameters of the method stand in braces.
        changes: Whether it changes what is stored, and needs the right to.
        repeats: Whether asking twice does no more than asking once.
        own_id: The parameter that who asks fills with an id of its own where none is given, so
            that a question whose answer was lost may be asked again.
        name: What it is called, where that is not ``<handle>.<method>``.
    """

    verb: Verb
    path: str
    changes: bool
    repeats: bool
    own_id: str | None
    name: str | None


@dataclass(frozen=True)
class Sent:
    """Annotates a parameter of which less than a method takes comes over a wire.

    Attributes:
        hint: The type that comes.
    """

    hint: Any


def operation(
    verb: Verb,
    path: str = "",
    *,
    changes: bool = False,
    repeats: bool = True,
    own_id: str | None = None,
    name: str | None = None,
) -> Callable[[_F], _F]:
    """Offer the decorated method at every door; the arguments are those of ``Offer``."""

    def offer(method: _F) -> _F:
        made = Offer(verb, path, changes, repeats, own_id, name)
        method.__operation__ = made  # type: ignore[attr-defined]
        return method

    return offer


def offer_of(method: object) -> Offer | None:
    """Return how a method is offered; ``None`` for one that is not."""
    found = getattr(method, "__operation__", None)
    return found if isinstance(found, Offer) else None


def argument_words(method: Callable[..., Any]) -> dict[str, str]:
    """Return what the docstring of a method says of each of its arguments."""
    return dict(_arguments(iter((inspect.getdoc(method) or "").splitlines())))


def _arguments(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Yield name and text of each line of ``Args:``, with the lines that go on."""
    if "Args:" not in lines:  # reads up to it
        return
    name, text = "", ""
    for line in lines:
        begins = _ARGUMENT.match(line)
        if begins is None and line.startswith(" " * 8):
            text += f" {line.strip()}"
            continue
        if name:
            yield name, text
        if begins is None:
            return
        name, text = begins.groups()
    yield name, text
