"""Options that many commands have, and how a command runs."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from pydantic_core import PydanticCustomError

from tiers.errors import UsageError
from tiers.fields import TEXT_CHARS_MAX, in_utc

from ..settings import Settings

_S = TypeVar("_S", bound=str)

FROM_INPUT = "-"
"""An argument that stands for standard input, or output."""
_BYTES_PER_CHARACTER = 4


def moment_of(text: str) -> datetime:
    """Return a moment from the command line; without a zone it is UTC. A number alone is none.

    Raises:
        ValueError: It is none.
    """
    try:
        found = datetime.fromisoformat(text)
        return in_utc(found.replace(tzinfo=found.tzinfo or UTC))
    except ValueError:
        raise PydanticCustomError("time", "must be a time such as 2026-05-15T12:00:00Z") from None


def folder_of(text: str) -> Path:
    """Return a folder that is named; an empty name would be the one that people stand in.

    Raises:
        ValueError: There is none.
    """
    if not text.strip():
        raise PydanticCustomError("folder", "must be the name of a folder")
    return Path(text)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        help="Folder of the embedded data.",
        parser=folder_of,
        metavar="<path>",
        show_default="EZRA_HOME or .ezra",
    ),
]


def completed_graphs(context: typer.Context, incomplete: str) -> list[str]:
    """Return the graphs that a shell may complete; they are behind the doors, which need this."""
    from .doors import graph_ids

    return graph_ids(context, incomplete)


GraphId = Annotated[str, typer.Argument(help="The session graph.", autocompletion=completed_graphs)]
GraphOption = Annotated[
    str | None, typer.Option("--graph", help="The session graph.", autocompletion=completed_graphs)
]
AgentId = Annotated[str, typer.Argument(help="The agent.")]
Reason = Annotated[str, typer.Option(help="Why; kept in the audit feed.")]
Tokens = Annotated[
    int | None, typer.Option(help="Estimated tokens of contexts and answers.", min=0)
]
ModelCalls = Annotated[int | None, typer.Option(help="Calls of the language model.", min=0)]
Writes = Annotated[int | None, typer.Option(help="Turns, facts, rules, belief changes.", min=0)]
OwnTopics = Annotated[
    list[str] | None,
    typer.Option("--topic", help="A topic of it; the agent's own if not given. Repeatable."),
]
Private = Annotated[bool, typer.Option("--private", help="Only this agent may see it.")]
Shared = Annotated[bool, typer.Option("--shared", help="Agents of every user may see it.")]
MaybeGraph = Annotated[
    str | None,
    typer.Argument(help="The session graph; all if not given.", autocompletion=completed_graphs),
]


def settings_at(home: Path | None, *, background: bool = True) -> Settings:
    """Return the settings of the environment, with another folder of data if one is given."""
    settings = Settings() if home is None else Settings(home=home)
    return settings if background else settings.model_copy(update={"background": False})


def stopped_by_signals() -> asyncio.Event:
    """Return what is set when somebody stops the process: by SIGTERM, or by SIGINT as Ctrl-C."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stopped.set)
    return stopped


def one_of(option: str, value: str, among: Sequence[_S]) -> _S:
    """Return a value that is one of some.

    Raises:
        UsageError: It is none of them.
    """
    for one in among:
        if one == value:
            return one
    raise UsageError(option, value, ", ".join(among))


def pairs_of(
    option: str, given: Iterable[str], form: str = "NAME=VALUE", among: Collection[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield name and value of what an option was given.

    Args:
        option: As people type it.
        given: What they typed.
        form: How that has to look.
        among: The names that there are; any if empty.

    Raises:
        UsageError: One does not look so, or has another name.
    """
    accepted = f"{form} with one of {', '.join(among)}" if among else form
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name.strip() or (among and name not in among):
            raise UsageError(option, one, accepted)
        yield name, value


def fields_of(
    option: str, given: Iterable[str], form: str = "NAME=VALUE", among: Collection[str] = ()
) -> dict[str, str]:
    """Return by name what an option was given, as ``pairs_of``, where each name has one value.

    Raises:
        UsageError: One does not look so, or has another name, or a name is there twice.
    """
    fields: dict[str, str] = {}
    for name, value in pairs_of(option, given, form, among):
        if name in fields:
            raise UsageError(option, f"{name}={value}", f"each name once; {name} was given twice")
        fields[name] = value
    return fields


def words_of(text: str | None) -> tuple[str, ...]:
    """Return the words of an option that has commas between them, each once."""
    return tuple(dict.fromkeys(one.strip() for one in (text or "").split(",") if one.strip()))


def numbers_of(option: str, text: str) -> tuple[int, ...]:
    """Return the whole numbers of an option that has commas between them.

    Raises:
        UsageError: One is none.
    """
    try:
        return tuple(map(int, words_of(text)))
    except ValueError as error:
        raise UsageError(option, text, "whole numbers by commas, such as 1,5,100") from error


def said(name: str, text: str) -> str:
    """Return what an argument says: itself, or for ``-`` all of standard input.

    One line end at the end of the input is not part of it.

    Raises:
        UsageError: The input is too long, or no UTF-8.
    """
    if text != FROM_INPUT:
        return text
    most = TEXT_CHARS_MAX * _BYTES_PER_CHARACTER
    found = typer.get_binary_stream("stdin").read(most + 1)
    try:
        read = found.decode("utf-8")
    except UnicodeDecodeError as error:
        # What was read up to the limit may end inside a character, and is too long anyway.
        accepted = "text in UTF-8" if len(found) <= most else f"{TEXT_CHARS_MAX} characters at most"
        raise UsageError(name, FROM_INPUT, accepted) from error
    if len(read) > TEXT_CHARS_MAX:
        raise UsageError(name, FROM_INPUT, f"{TEXT_CHARS_MAX} characters at most")
    return read.removesuffix("\n").removesuffix("\r")
