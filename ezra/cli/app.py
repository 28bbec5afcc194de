"""All commands, by name. What they do is in the files beside this one."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

import typer

from . import (
    bench,
    carrying,
    doctor,
    ingest,
    lifecycle,
    memory,
    migrate,
    platform,
    recall,
    remembering,
    replay,
    replay_context,
    serve,
    start,
    status,
    top,
    worker,
)
from .agents import agent_app
from .audit import audit_app
from .believing import beliefs_app
from .bridge import bridge_app
from .documents import documents_app
from .embedder import embedder_app
from .evaluate import eval_app
from .facts import facts_app
from .graphs import graph_app
from .helping import ABOUT, with_examples
from .knowledge import knowledge_app
from .lifecycle import lifecycle_app
from .mcp import mcp_app
from .mesh import mesh_app
from .quarantine import quarantine_app
from .rules import rules_app
from .screen import Screen
from .tokens import token_app
from .turns import turn_app

HELP = "ezra: the memory runtime under fleets of AI agents."
BEGIN, MEMORY, PAST, CARE, CARRYING, SERVING = (
    "Begin, and see how it is",
    "Agents and what they remember",
    "What was known when, and proof of it",
    "Care",
    "Conversations and data, in and out",
    "For other programs",
)
"""The parts of the overview."""

app = typer.Typer(
    name="ezra",
    help=HELP,
    epilog=ABOUT,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        Screen().line(version("ezra"))
        raise typer.Exit


@app.callback(epilog=ABOUT)
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """ezra: the memory runtime under fleets of AI agents."""


def _command(
    name: str, function: Callable[..., None], examples: str, part: str, app: typer.Typer = app
) -> None:
    app.command(name, epilog=examples, rich_help_panel=part)(function)


_command("init", start.init, start.EXAMPLES, BEGIN)
_command("doctor", doctor.doctor, doctor.EXAMPLES, BEGIN)
_command("status", status.status, status.EXAMPLES, BEGIN)
_command("top", top.top, top.EXAMPLES, BEGIN)
app.add_typer(embedder_app, name="embedder", rich_help_panel=BEGIN)

app.add_typer(graph_app, name="graph", rich_help_panel=MEMORY)
app.add_typer(agent_app, name="agent", rich_help_panel=MEMORY)
turn_app.command("contexts", epilog=platform.CONTEXTS_EXAMPLES)(platform.contexts)
app.add_typer(turn_app, name="turn", rich_help_panel=MEMORY)
_command("remember", remembering.remember, remembering.REMEMBER_EXAMPLES, MEMORY)
_command("recall", recall.recall, recall.EXAMPLES, MEMORY)
_command("remember-fact", platform.remember_fact, platform.REMEMBER_FACT_EXAMPLES, MEMORY)
_command("inject", platform.inject, platform.INJECT_EXAMPLES, MEMORY)
_command("forget", remembering.forget, remembering.FORGET_EXAMPLES, MEMORY)
_command("search-memory", memory.search_memory, memory.EXAMPLES, MEMORY)
_command("core", lifecycle.core, lifecycle.CORE_EXAMPLES, MEMORY)
app.add_typer(facts_app, name="facts", rich_help_panel=MEMORY)
app.add_typer(knowledge_app, name="knowledge", rich_help_panel=MEMORY)
app.add_typer(rules_app, name="rules", rich_help_panel=MEMORY)
_command("ingest", ingest.ingest, ingest.EXAMPLES, MEMORY)
app.add_typer(documents_app, name="documents", rich_help_panel=MEMORY)
app.add_typer(beliefs_app, name="beliefs", rich_help_panel=MEMORY)
app.add_typer(bridge_app, name="bridge", rich_help_panel=MEMORY)
app.add_typer(mesh_app, name="mesh", rich_help_panel=MEMORY)

app.add_typer(audit_app, name="audit", rich_help_panel=PAST)
_command("explain", lifecycle.explain, lifecycle.EXPLAIN_EXAMPLES, PAST)
_command("replay-context", replay_context.replay_context, replay_context.EXAMPLES, PAST)

app.add_typer(lifecycle_app, name="lifecycle", rich_help_panel=CARE)
app.add_typer(quarantine_app, name="quarantine", rich_help_panel=CARE)
_command("worker", worker.worker, worker.WORKER_EXAMPLES, CARE)
_command("search-index", worker.search_index, worker.INDEX_EXAMPLES, CARE)

_command("export", carrying.export_graph, carrying.EXPORT_EXAMPLES, CARRYING)
_command("import", carrying.import_graph, carrying.IMPORT_EXAMPLES, CARRYING)
_command("replay", replay.replay, replay.EXAMPLES, CARRYING)
app.add_typer(eval_app, name="eval", rich_help_panel=CARRYING)
_command("bench", bench.bench, bench.EXAMPLES, CARRYING)
_command("migrate", migrate.migrate, migrate.EXAMPLES, CARRYING)

_command("serve", serve.serve, serve.EXAMPLES, SERVING)
app.add_typer(token_app, name="token", rich_help_panel=SERVING)
app.add_typer(mcp_app, name="mcp", rich_help_panel=SERVING)

with_examples(app)
