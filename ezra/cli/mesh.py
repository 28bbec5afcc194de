"""The commands about live sources: which there are, what they may be asked, and asking one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from tiers.errors import ConfigError, NotFound, TierError, UsageError
from tiers.records import MeshResult

from ..mesh import SourceAbout, sources_of_file
from ..mesh.checking import checked_source
from .agents import member_of
from .completing import graph_ids
from .doors import NoUrl, Url, only_here, opened
from .options import Home, Json, in_utc, run
from .plain import plain
from .screen import Screen

mesh_app = typer.Typer(
    help="Live sources: databases, services and tools with declared questions.",
    no_args_is_help=True,
)

Source = Annotated[str, typer.Argument(help="The source.")]
Graph = Annotated[
    str | None,
    typer.Option("--graph", help="The session graph of the agent.", autocompletion=graph_ids),
]
AsAgent = Annotated[str | None, typer.Option("--agent", help="As this agent may; with --graph.")]


@mesh_app.command(
    "list",
    epilog="Examples: ezra mesh list  ·  ezra mesh list --graph imola --agent strategist --json",
)
def list_sources(
    graph: Graph = None,
    agent: AsAgent = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """List the live sources, or those that an agent may ask, and their questions."""
    screen = Screen()
    found = _sources(graph, agent, home, url)
    if json:
        screen.document({"sources": [plain(one) for one in found]})
        return
    if not found:
        screen.note("no live source; EZRA_MESH_FILE names a file that declares some")
        return
    rows = [(one.name, one.kind, ", ".join(one.questions) or "what is said") for one in found]
    screen.table(("source", "kind", "questions"), rows)


@mesh_app.command(
    "show",
    epilog="Examples: ezra mesh show stock  ·  ezra mesh show stock --json",
)
def show(
    source: Source,
    graph: Graph = None,
    agent: AsAgent = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show a source: who may ask it, its questions, and the slots of each."""
    screen = Screen()
    found = {one.name: one for one in _sources(graph, agent, home, url)}
    if source not in found:
        raise NotFound("mesh source", source)
    if json:
        screen.document(plain(found[source]))
        return
    for line in _lines(found[source]):
        screen.line(line)


@mesh_app.command(
    "ask",
    epilog="Examples: ezra mesh ask stock level --slot sku=A1 --graph imola --agent buyer  ·  "
    "ezra mesh ask stock --message 'how many A1 are left?' --graph imola --agent buyer --json",
)
def ask(
    source: Source,
    question: Annotated[
        str | None, typer.Argument(help="One of its questions; --message chooses one else.")
    ] = None,
    slot: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="What it is asked about. Repeatable."),
    ] = None,
    message: Annotated[
        str | None, typer.Option(help="What was said, where no question is named.")
    ] = None,
    as_of: Annotated[
        datetime | None, typer.Option(help="A moment of the past (UTC), where it is known.")
    ] = None,
    graph: Graph = None,
    agent: AsAgent = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Ask a live source as an agent; the answer stays for the agent's next context."""
    screen = Screen()
    given = _slots(slot or [])
    if graph is None or agent is None:
        missing = "--graph" if graph is None else "--agent"
        raise UsageError(missing, None, "the agent that asks, and its graph")

    async def work() -> MeshResult:
        async with opened(home, url) as ezra:
            member = await member_of(ezra, graph, agent)
            return await member.ask_mesh(source, question, given, in_utc(as_of), message=message)

    found = run(work())
    if json:
        screen.document(plain(found))
        return
    if found.rows:
        fields = tuple(found.field_types)
        screen.table(fields, [tuple(_cell(row.get(one)) for one in fields) for row in found.rows])
    else:
        screen.line(found.text)
    screen.note(_provenance(found))


@mesh_app.command(
    "check",
    epilog="Examples: ezra mesh check mesh.toml  ·  ezra mesh check mesh.toml --json",
)
def check(
    file: Annotated[Path, typer.Argument(help="The file that declares sources, TOML or YAML.")],
    url: NoUrl = None,
    json: Json = False,
) -> None:
    """Check a file of sources, and each source against what is there. No data are asked for."""
    screen = Screen()
    only_here("mesh check", url)
    sources = sources_of_file(file)

    async def work() -> dict[str, str]:
        problems: dict[str, str] = {}
        with screen.progress("checking sources", len(sources)) as advance:
            for name, source in sources.items():
                try:
                    await checked_source(source)
                except (ConfigError, TierError) as error:
                    problems[name] = str(error)
                advance()
        return problems

    problems = run(work())
    if json:
        told = {
            name: {"kind": one.kind, "problem": problems.get(name)} for name, one in sources.items()
        }
        screen.document({"file": str(file), "sources": told})
    else:
        for name, one in sources.items():
            screen.line(f"{name} ({one.kind}): {problems.get(name, 'ok')}")
    if problems:
        raise typer.Exit(1)


def _sources(
    graph: str | None, agent: str | None, home: Path | None, url: str | None
) -> Sequence[SourceAbout]:
    if (graph is None) != (agent is None):
        raise UsageError("--agent", agent, "an agent together with its graph, or neither")

    async def work() -> Sequence[SourceAbout]:
        async with opened(home, url) as ezra:
            if graph is None or agent is None:
                return await ezra.mesh_sources()
            return await (await member_of(ezra, graph, agent)).mesh_sources()

    return run(work())


def _slots(given: Sequence[str]) -> dict[str, str]:
    slots: dict[str, str] = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not name or not sign:
            raise UsageError("--slot", one, "NAME=VALUE")
        if name in slots:
            raise UsageError("--slot", one, "each slot once")
        slots[name] = value
    return slots


def _lines(source: SourceAbout) -> list[str]:
    lines = [
        f"{source.name} ({source.kind})" + (f": {source.description}" if source.description else "")
    ]
    lines.append(
        f"  roles {', '.join(source.roles) or 'all'}; topics {', '.join(source.topics) or 'all'}"
    )
    for name, question in source.questions.items():
        travels = "; knows the past" if question.time_travel_available else ""
        lines.append(f"  {name}: {question.description}{travels}")
        for slot, about in question.slots.items():
            needed = "" if about.required else " (may be left out)"
            lines.append(f"    {slot}: {about.accepted}{needed}")
        lines += [f"    as in: {one}" for one in question.examples]
    return lines


def _cell(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())


def _provenance(found: MeshResult) -> str:
    parts = [f"{found.source}, queried {found.queried_at:%Y-%m-%d %H:%M:%S}"]
    if found.as_of is not None:
        parts.append(f"as of {found.as_of:%Y-%m-%d %H:%M:%S}")
    if found.synced_at is not None:
        parts.append(f"synced {found.synced_at:%Y-%m-%d %H:%M:%S}")
    parts.append(f"confidence {found.confidence:g}")
    if found.truncated:
        parts.append(
            "there is more than this" if found.rows_total is None else f"of {found.rows_total} rows"
        )
    return "; ".join(parts)
