"""What a method of a handle is at the doors, said once, beside the method itself.

The service makes a route of it, the remote client a call, the OpenAPI document an entry: name,
parameters, bounds, answer and words are the method's own. With a ``Tool`` it is lent to models too,
over MCP and by the adapters for frameworks.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, cast, get_args

from pydantic import Field, StringConstraints

from tiers.errors import WriteRefused
from tiers.fields import NAME_CHARS_MAX, NAMED_MAX, TEXT_CHARS_MAX, TOPICS_MAX, Source

from .arguments import as_kept, check_call, checked_name, hints_of

Verb: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

Need: TypeAlias = Literal["see", "act", "read", "operate"]
"""What somebody must be allowed: to see what the agent of the path sees, and to write as it; to
read whole graphs, and to run them. ``see`` and ``read`` change nothing that is stored."""

Ids: TypeAlias = Annotated[Sequence[str], Field(max_length=NAMED_MAX)]

Effect: TypeAlias = Literal["reads", "adds", "ends"]
"""What a tool does to what is there: nothing, adds to it, or may end some of it.

Superseding and forgetting end."""

ITEMS_MAX = 50
"""So many items one answer to a model has, unless a tool says otherwise."""

Id = Annotated[str, Field(min_length=1, max_length=NAME_CHARS_MAX)]
Name = Annotated[str, Field(max_length=NAME_CHARS_MAX)]
"""Empty stands for none: an argument that may be text or nothing is read as JSON on the way."""
Named: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True)]
"""The name of what is there, that stands in an address; it is looked up as it was kept."""
Long = Annotated[str, Field(max_length=TEXT_CHARS_MAX)]
Words = Annotated[Long, Field(min_length=1)]
Pair = Annotated[tuple[Long, ...], Field(max_length=2)]
Topics = Annotated[
    tuple[Name, ...],
    Field(max_length=TOPICS_MAX, description="Topics, among yours; all of yours if not given."),
]
Limit = Annotated[int, Field(ge=1, le=ITEMS_MAX, description="How many at most.")]
EVENTS_MAX = 10_000
EventsPage: TypeAlias = Annotated[int, Field(ge=1, le=EVENTS_MAX)]
"""So many events of a feed are on a page."""
SHORT_PAGE_MAX = 100
PageOf100: TypeAlias = Annotated[int, Field(ge=1, le=SHORT_PAGE_MAX)]
PageOf1000: TypeAlias = Annotated[int, Field(ge=1, le=1_000)]
"""The most that a list returns."""
Moment = Annotated[
    str,
    Field(
        max_length=64,
        description="Answer as of this time, ISO 8601 with its zone: 2026-05-14T12:00:00Z.",
    ),
]

_F = TypeVar("_F", bound=Callable[..., Any])

_ARGUMENT = re.compile(r"^ {4}(\w+): (.*)$")


@dataclass(frozen=True)
class Tool:
    """How a model is lent a method of an agent's handle, or of what such a handle has.

    It is given the parameters that are ``ForModel``, and those that have no default.

    Attributes:
        effect: What calling it does to memory.
        words: What a model reads before it calls it; the first sentence of the docstring if not
            given.
        name: What it calls it; the name of the method if not given.
        everywhere: Whether frameworks lend it by the adapters, too, and not MCP alone.
    """

    effect: Effect
    words: str = ""
    name: str = ""
    everywhere: bool = False


@dataclass(frozen=True)
class ForModel:
    """Annotates a parameter that a model is given.

    Attributes:
        words: What the model reads of it, if its type does not say it.
        hint: What it may say, where that is less than what the method takes.
        default: What it is if the model says nothing; if not given the method's default, and empty
            text for ``None``. Empty text or an empty list are ``None`` to such a method.
    """

    words: str = ""
    hint: Any = None
    default: Any = ...


@dataclass(frozen=True)
class Kept:
    """Annotates a text that is stored as it is said, but for secrets: a label stands for each.

    Attributes:
        source: Whose words it is, for the write guard.
    """

    source: Source


Reason: TypeAlias = Annotated[str, Field(max_length=TEXT_CHARS_MAX), Kept("user")]
"""Why something is done: it stays in the audit feed, and in what proves that it was done."""
Posted: TypeAlias = Annotated[str, Field(max_length=TEXT_CHARS_MAX), Kept("agent")]
"""What an agent writes on a board."""

ACCEPTED_WITHOUT_SECRETS = "text without keys, tokens, passwords and card numbers"
_BESIDE_CHARS = 2_000
"""Longer texts are looked at beside the event loop."""


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
        tool: How a model is lent it, if one is.
        needs: What somebody must be allowed, where the handle does not say it.
    """

    verb: Verb
    path: str
    changes: bool
    repeats: bool
    own_id: str | None
    name: str | None
    tool: Tool | None
    needs: Need | None


@dataclass(frozen=True)
class Sent:
    """Annotates a parameter of which less than a method takes comes over a wire.

    Attributes:
        hint: The type that comes; ``None``: nothing does.
    """

    hint: Any


@dataclass(frozen=True)
class InPath:
    """Annotates a parameter that stands in the path under another name.

    Attributes:
        name: As it stands there.
    """

    name: str


def operation(
    verb: Verb,
    path: str = "",
    *,
    changes: bool = False,
    repeats: bool = True,
    own_id: str | None = None,
    name: str | None = None,
    tool: Tool | None = None,
    needs: Need | None = None,
) -> Callable[[_F], _F]:
    """Offer the decorated method at every door; the arguments are those of ``Offer``.

    What it is called with is checked as ``check_call`` says.
    """

    def offer(method: _F) -> _F:
        made = Offer(verb, path, changes, repeats, own_id, name, tool, needs)
        checked: Any = checks_arguments(
            *(one for one in inspect.signature(method).parameters if f"{{{one}}}" in path)
        )(method)
        checked.__operation__ = made
        return cast("_F", checked)

    return offer


def checks_arguments(*in_path: str) -> Callable[[_F], _F]:
    """Let the decorated method refuse what its signature does not say, as ``check_call`` does.

    Args:
        in_path: The parameters that lead to what is asked for: names, which are not empty.
    """

    def decorate(method: _F) -> _F:
        _, *names = inspect.signature(method).parameters

        @wraps(method)
        async def checked(self: object, *args: Any, **named: Any) -> Any:  # noqa: ANN401 - as the method
            given = {**dict(zip(names, args, strict=False)), **named}
            taken = checked_arguments(checked, given)
            for name, source in _kept_of(method).items():
                if not isinstance(given.get(name), str):
                    continue
                runtime = getattr(self, "_runtime", None)
                taken[name] = await without_secrets(runtime, name, given[name], source)
            args = (*(taken[name] for name in names[: len(args)]), *args[len(names) :])
            return await method(self, *args, **{name: taken[name] for name in named})

        checked.__in_path__ = in_path  # type: ignore[attr-defined]
        return cast("_F", checked)

    return decorate


def checked_arguments(method: Callable[..., Any], given: Mapping[str, object]) -> dict[str, Any]:
    """Return arguments of a method as itself takes them: names as they are kept, the rest as given.

    Raises:
        UsageError: One of them is not what the signature says, or a name that is none.
    """
    taken = as_kept(given, _names_of(method))
    check_call(method, taken)
    for one in _in_path_of(method):
        if one in taken:
            checked_name(one, taken[one])
    return taken


@cache
def _names_of(method: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameters of a method whose types say that white space around them is none."""
    return tuple(
        name
        for name, hint in hints_of(method).items()
        if any(getattr(one, "strip_whitespace", None) for one in _marks_of(hint))
    )


@cache
def _in_path_of(method: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameters of a method that stand in its path, under whatever name."""
    marked = (
        name
        for name, hint in hints_of(method).items()
        if any(isinstance(one, InPath) for one in _marks_of(hint))
    )
    return tuple(dict.fromkeys((*getattr(method, "__in_path__", ()), *marked)))


@cache
def _kept_of(method: Callable[..., Any]) -> dict[str, Source]:
    """Return the parameters of a method that are ``Kept``, and whose words they are."""
    return {
        name: found.source
        for name, hint in hints_of(method).items()
        for found in _marks_of(hint)
        if isinstance(found, Kept)
    }


def _marks_of(hint: Any) -> Iterator[Any]:  # noqa: ANN401 - a type
    """Yield what a type is annotated with, and those that it is a union or a list of."""
    yield from getattr(hint, "__metadata__", ())
    for one in get_args(hint):
        if not isinstance(one, str | list):  # a choice, or what a function takes
            yield from _marks_of(one)


async def without_secrets(runtime: Any, name: str, text: str, source: Source) -> str:  # noqa: ANN401 - a room above
    """Return a text as the write guard of a runtime lets it be stored; without one, as it is.

    Raises:
        WriteRefused: The settings keep secrets out instead of labelling them.
    """
    if runtime is None:
        return text
    judge = runtime.settings.guard_policy.judge_secrets
    is_long = len(text) > _BESIDE_CHARS
    verdict = await asyncio.to_thread(judge, text, source) if is_long else judge(text, source)
    if verdict.action in ("allow", "redact"):
        return str(verdict.text)
    raise WriteRefused(name, verdict.detectors, ACCEPTED_WITHOUT_SECRETS, None)


def composed(method: _F) -> _F:
    """Mark a method that is made of others of its handle: on a server's handle it is the same."""
    method.__composed__ = True  # type: ignore[attr-defined]
    return method


def is_composed(method: object) -> bool:
    """Whether a method is made of others of its handle."""
    return getattr(method, "__composed__", False) is True


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
