"""``ezra init``: a home for a memory, and how to go on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tiers.embedding.installed import find_model

from ..settings import Settings
from .command import Answer, plain
from .doors import Folder
from .options import settings_at

BEGIN = (
    "ezra graph create imola",
    "ezra agent spawn imola strategist --topic tyres",
    "ezra remember imola strategist 'Mediums last about 18 laps.' --topic tyres",
)
INSTALL = "ezra embedder install"


@dataclass(frozen=True)
class _Found:
    """What a home is after ``init``.

    Attributes:
        home: The folder; ``None`` where every tier is on a server.
        new: Whether it was not there before.
        session_graphs: How many are in it.
        model: What makes the vectors; ``None``: recall is by words only.
        lacks_model: Whether installing one would change that.
        environment: What to export, so that every command finds the home.
        next: The commands to go on with.
    """

    home: str | None
    new: bool
    session_graphs: int
    model: str | None
    lacks_model: bool
    environment: dict[str, str]
    next: tuple[str, ...] = field(default=BEGIN)


async def init(folder: Folder) -> Answer:
    """Make a home for a memory, check what it needs, and say the next three commands.

    Nothing secret is written, no token and no key, and nothing that is there is changed: it may be
    run as often as one likes. Commands that store something anew make their home too; those that
    read refuse a folder without a memory and name it.

    Examples:
        ezra init
        ezra init --home /srv/ezra --json
    """
    folder.only("init", tell=False)
    found = await _made(folder.home)
    return Answer(
        {name: one for name, one in plain(found).items() if name != "lacks_model"}, _told(found)
    )


def _told(found: _Found) -> Iterator[str]:
    if found.home is None:
        yield "every tier is on a server; no folder is needed"
    else:
        graphs = (
            "1 session graph"
            if found.session_graphs == 1
            else f"{found.session_graphs} session graphs"
        )
        yield f"{found.home}: {'made' if found.new else 'here already'}, {graphs}"
    if found.model is None:
        more = f"; '{INSTALL}' lets it understand meaning" if found.lacks_model else ""
        yield f"no embedding model: recall is by words only{more}"
    else:
        yield f"embedding model: {found.model}"
    yield "next:"
    for name, value in found.environment.items():
        yield f"  export {name}={shlex.quote(value)}"
    for command in found.next:
        yield f"  {command}"


async def _made(home: Path | None) -> _Found:
    from ..app import Ezra

    settings = settings_at(home, background=False)
    folder = settings.home.expanduser().absolute() if settings.needs_home else None
    is_new = folder is not None and not folder.exists()
    async with Ezra.open(settings) as ezra:
        graphs = [one.id for one in await ezra.session_graphs()]
        model = ezra.embedder
    installable = settings.embedder == "auto" and find_model(settings.models_folder()) is None
    return _Found(
        home=None if folder is None else str(folder),
        new=is_new,
        session_graphs=len(graphs),
        model=model,
        lacks_model=installable,
        environment=_environment(home, folder),
        next=BEGIN if not graphs else _going_on(graphs[-1]),
    )


def _environment(home: Path | None, folder: Path | None) -> dict[str, str]:
    """Return what to export: nothing where every command finds the folder by itself."""
    if home is None or folder is None or Settings().home.expanduser().absolute() == folder:
        return {}
    return {"EZRA_HOME": str(folder)}


def _going_on(graph: str) -> tuple[str, ...]:
    """Return how to go on with a memory that holds something."""
    return ("ezra status", f"ezra recall {shlex.quote(graph)} 'What do we know?'", "ezra serve")
