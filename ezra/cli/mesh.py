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
from .command import Answer, Note, Part, Rows, command, group
from .doors import Machine, Memory
from .options import completed_graphs, fields_of
from .screen import Screen

mesh_app = group("Live sources: databases, services and tools with declared questions.")

Source = Annotated[str, typer.Argument(help="The source.")]
Graph = Annotated[
    str | None,
    typer.Option(
        "--graph", help="The session graph of the agent.", autocompletion=completed_graphs
    ),
]
AsAgent = Annotated[str | None, typer.Option("--agent", help="As this agent may; with --graph.")]


@command(mesh_app, "list")
async def list_sources(memory: Memory, graph: Graph = None, agent: AsAgent = None) -> Answer:
    """List the live sources, or those that an agent may ask, and their questions.

    Examples:
        ezra mesh list
        ezra mesh list --graph imola --agent strategist --json
    """
    found = await _sources(memory, graph, agent)
    rows = [(one.name, one.kind, ", ".join(one.questions) or "what is said") for one in found]
    none = Note("no live source; EZRA_MESH_FILE names a file that declares some")
    return Answer(
        {"sources": found}, [Rows(("source", "kind", "questions"), rows) if found else none]
    )


@command(mesh_app)
async def show(
    memory: Memory, source: Source, graph: Graph = None, agent: AsAgent = None
) -> Answer:
    """Show a source: who may ask it, its questions, and the slots of each.

    Examples:
        ezra mesh show stock
        ezra mesh show stock --json
    """
    found = {one.name: one for one in await _sources(memory, graph, agent)}
    if source not in found:
        raise NotFound("mesh source", source)
    return Answer(found[source], _lines(found[source]))


@command(mesh_app)
async def ask(
    memory: Memory,
    source: Source,
    question: Annotated[str | None, typer.Argument()] = None,
    slot: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    message: str | None = None,
    as_of: datetime | None = None,
    graph: Graph = None,
    agent: AsAgent = None,
) -> Answer:
    """Ask a live source as an agent; the answer stays for the agent's next context.

    Args:
        question: One of its questions; --message chooses one else.
        slot: What it is asked about. Repeatable.
        message: What was said, where no question is named.
        as_of: A moment of the past (UTC), where it is known.

    Examples:
        ezra mesh ask stock level --slot sku=A1 --graph imola --agent buyer
        ezra mesh ask stock --message 'how many A1 are left?' --graph imola --agent buyer --json
    """
    given = fields_of("--slot", slot or [])
    if graph is None or agent is None:
        missing = "--graph" if graph is None else "--agent"
        raise UsageError(missing, None, "the agent that asks, and its graph")
    member = await memory.session_agent(graph, agent)
    found = await member.ask_mesh(source, question, given, as_of, message=message)
    fields = tuple(found.field_types)
    rows = [tuple(_cell(row.get(one)) for one in fields) for row in found.rows]
    shown: Part = Rows(fields, rows) if rows else found.text
    return Answer(found, [shown, Note(_provenance(found))])


@command(mesh_app)
async def check(machine: Machine, file: Path) -> Answer:
    """Check a file of sources, and each source against what is there. No data are asked for.

    Args:
        file: The file that declares sources, TOML or YAML.

    Examples:
        ezra mesh check mesh.toml
        ezra mesh check mesh.toml --json
    """
    machine.only("mesh check")
    sources = sources_of_file(file)
    problems: dict[str, str] = {}
    with Screen().progress("checking sources", len(sources)) as advance:
        for name, source in sources.items():
            try:
                await source.check()
            except (ConfigError, TierError) as error:
                problems[name] = str(error)
            advance()
    checked = {
        name: {"kind": one.kind, "problem": problems.get(name)} for name, one in sources.items()
    }
    lines = [f"{name} ({one.kind}): {problems.get(name, 'ok')}" for name, one in sources.items()]
    return Answer({"file": str(file), "sources": checked}, lines, code=1 if problems else 0)


async def _sources(memory: Memory, graph: str | None, agent: str | None) -> Sequence[SourceAbout]:
    if (graph is None) != (agent is None):
        raise UsageError("--agent", agent, "an agent together with its graph, or neither")
    if graph is None or agent is None:
        return await (await memory.open()).mesh_sources()
    return await (await memory.session_agent(graph, agent)).mesh_sources()


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
