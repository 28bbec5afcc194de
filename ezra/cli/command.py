"""What a command is: a function that asks, and returns what came of it.

Its options and their help follow from the function, as operations follow from methods: parameters
without a default are arguments, the others options, and ``Args:`` of the docstring says what each
is, ``Examples:`` how it is typed. The first parameter is what the command works with; its class is
a dataclass, and the fields of it are what such commands have in common: those without a default the
first arguments, the others options. In an annotation ``typer.Option`` or ``typer.Argument`` says
what Python cannot: bounds, other names, a metavar. A time without a zone is UTC.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar, get_args, get_type_hints

import typer
from pydantic import BaseModel
from typer.core import TyperGroup
from typer.models import ArgumentInfo, OptionInfo

from tiers.errors import EzraError

from ..operations import argument_words
from .help import listed
from .options import Json, moment_of
from .screen import Screen

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])
_TIME = "<datetime>"
_SECTION = re.compile(r"\n\n(?:Args|Examples|Raises):\n")


class Note(NamedTuple):
    """A line for people, beside the results."""

    text: str


class Rows(NamedTuple):
    """Rows under headings; a cell may be anything that ``cell`` knows."""

    headings: Sequence[str]
    rows: Iterable[Sequence[Any]]


Part: TypeAlias = str | Note | Rows | Callable[[Screen], None]
"""What people read: a line, a note beside the results, a table, or what prints itself."""


@dataclass
class NoMemory:
    """For a command that needs none."""

    json: Json = False


@dataclass(frozen=True)
class Answer:
    """What came of a command.

    Attributes:
        document: For programs: anything that ``plain`` knows; ``...`` where they were told.
        parts: For people, in order; looked at only where people read.
        notes: Lines beside the results for both.
        code: The exit code.
        error: What is raised when the rest was told.
    """

    document: Any = ...
    parts: str | Iterable[Part] = ()
    notes: Iterable[str] = ()
    code: int = 0
    error: EzraError | None = None

    def tell(self, *, json: bool) -> None:
        """Print it, and end the command where its exit code is not 0."""
        screen = Screen()
        if json and self.document is not ...:
            screen.document(plain(self.document))
        elif not json:
            for part in [self.parts] if isinstance(self.parts, str) else self.parts:
                _show(screen, part)
        for note in self.notes:
            screen.note(note)
        if self.error is not None:
            raise self.error
        if self.code:
            raise typer.Exit(self.code)


def _show(screen: Screen, part: Part) -> None:
    match part:
        case str():
            screen.line(part)
        case Note(text):
            screen.note(text)
        case Rows(headings, rows):
            screen.table(headings, [[*map(cell, row)] for row in rows])
        case _:
            part(screen)


def cell(value: Any) -> str:  # noqa: ANN401 - whatever a record holds
    """Return a value as it stands in a table: a time to the minute, a dash where there is none."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, tuple):
        return ", ".join(value) or "-"
    return "-" if value is None else str(value)


def further(found: Sequence[_T], limit: int, line: Callable[[_T], str]) -> list[Part]:
    """Say how to go on behind the last of what was found, where there may be more than a page."""
    return [Note(line(found[-1]))] if len(found) == limit else []


def plain(value: Any) -> Any:  # noqa: ANN401 - any report
    """Return a report as dictionaries, lists and plain values."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    return value


def group(words: str) -> typer.Typer:
    """Return a group of commands, which without one of them says what it is for."""
    return typer.Typer(help=words, no_args_is_help=True)


def command(
    app: typer.Typer, name: str = "", *examples: str, part: str | None = None, below: str = ""
) -> Callable[[_F], _F]:
    """Make the decorated function a command of a group.

    Args:
        app: The group.
        name: What is typed; the function's name if not given.
        examples: Whole lines, as people type them; those of the docstring if not given.
        part: Of the overview.
        below: What its help says below the examples.
    """

    def register(function: _F) -> _F:
        epilog = listed(examples or _examples(function)) + (f"\n{below}" if below else "")
        typed = name or function.__name__.replace("_", "-")
        app.command(typed, epilog=epilog, rich_help_panel=part)(_callable(function))
        return function

    return register


def _examples(function: Callable[..., Any]) -> list[str]:
    """Return the examples of a docstring; a line that is indented further goes on with the last."""
    text = (inspect.getdoc(function) or "").partition("\n\nExamples:\n")[2]
    return [" ".join(one.split()) for one in re.split(r"\n {4}(?! )", f"\n{text}")[1:]]


def _callable(function: Callable[..., Any]) -> Callable[..., None]:
    """Return what typer calls: options for parameters, an answer told."""
    hints = get_type_hints(function, include_extras=True)
    words = argument_words(function)
    first, *own = inspect.signature(function).parameters.values()
    kind = hints[first.name]
    common = get_type_hints(kind, include_extras=True)
    brought = [(one.name, one.default, common[one.name]) for one in fields(kind) if one.init]
    needed = [one for one in brought if one[1] is MISSING]
    # What a door has of its own stands before what all doors have.
    brought.sort(key=lambda one: one[0] not in vars(kind)["__annotations__"])

    def call(**given: Any) -> None:  # noqa: ANN401 - what typer has read
        place = kind(**{name: given.pop(name) for name, *_ in brought})
        done = function(place, **given)
        answer = asyncio.run(_awaited(place, done)) if inspect.isawaitable(done) else done
        answer.tell(json=place.json)

    empty = inspect.Parameter.empty
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=empty if default is MISSING else default,
            annotation=hint,
        )
        for name, default, hint in (
            *needed,
            *(
                (one.name, one.default, _typer_annotation(one, hints[one.name], words))
                for one in own
            ),
            *(one for one in brought if one not in needed),
        )
    ]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    call.__name__ = function.__name__
    call.__doc__ = _SECTION.split(inspect.getdoc(function) or "")[0]
    return call


async def _awaited(place: Any, done: Awaitable[Answer]) -> Answer:  # noqa: ANN401 - a door
    async with place:
        return await done


def _typer_annotation(parameter: inspect.Parameter, hint: Any, words: dict[str, str]) -> Any:  # noqa: ANN401
    """Return the annotation of a parameter with what typer is to know of it."""
    bare, *more = get_args(hint) if hasattr(hint, "__metadata__") else (hint,)
    found = [one for one in more if isinstance(one, ArgumentInfo | OptionInfo)]
    if found:
        about = copy(found[0])
    elif parameter.default is inspect.Parameter.empty:
        about = typer.Argument()
    elif parameter.default is False:
        about = typer.Option(f"--{parameter.name.replace('_', '-')}")
    else:
        about = typer.Option()
    if datetime in (bare, *get_args(bare)):
        about.parser, about.metavar = moment_of, about.metavar or _TIME
    about.help = about.help or words.get(parameter.name)
    return Annotated[bare, about]


def by_default(name: str, *, when_alone: bool = False) -> type[TyperGroup]:
    """Return a group in which arguments that begin with no command are those of ``name``.

    What is called like a command of the group needs the command's name before it.

    Args:
        name: The command.
        when_alone: Whether it also runs without any argument.
    """

    class ByDefault(TyperGroup):
        """Puts the name in front where there is none."""

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's
            is_named = bool(args) and (args[0] in ctx.help_option_names or args[0] in self.commands)
            is_meant = bool(args) or when_alone
            return super().parse_args(ctx, args if is_named or not is_meant else [name, *args])

    return ByDefault
