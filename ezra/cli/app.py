"""All commands, by name. What they do is in the files beside this one, read when called."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, NamedTuple

import typer

from .help import ABOUT
from .screen import Screen

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


class Entry(NamedTuple):
    """A command, or a group of commands, and where it is written.

    Attributes:
        name: What is typed.
        part: Of the overview.
        module: In this package.
        attribute: The function; of a group, its ``typer.Typer``.
    """

    name: str
    part: str
    module: str
    attribute: str


ENTRIES: tuple[Entry, ...] = (
    Entry("init", BEGIN, "init", "init"),
    Entry("doctor", BEGIN, "doctor", "doctor"),
    Entry("status", BEGIN, "status", "status"),
    Entry("top", BEGIN, "top", "top"),
    Entry("embedder", BEGIN, "init", "embedder_app"),
    Entry("graph", MEMORY, "graphs", "graph_app"),
    Entry("agent", MEMORY, "agents", "agent_app"),
    Entry("turn", MEMORY, "turns", "turn_app"),
    Entry("remember", MEMORY, "facts", "remember"),
    Entry("recall", MEMORY, "recall", "recall"),
    Entry("remember-fact", MEMORY, "facts", "remember_fact"),
    Entry("inject", MEMORY, "recall", "inject"),
    Entry("forget", MEMORY, "facts", "forget"),
    Entry("search-memory", MEMORY, "recall", "search_memory"),
    Entry("core", MEMORY, "lifecycle", "core"),
    Entry("facts", MEMORY, "facts", "facts_app"),
    Entry("knowledge", MEMORY, "knowledge", "knowledge_app"),
    Entry("rules", MEMORY, "facts", "rules_app"),
    Entry("ingest", MEMORY, "ingest", "ingest"),
    Entry("documents", MEMORY, "documents", "documents_app"),
    Entry("beliefs", MEMORY, "beliefs", "beliefs_app"),
    Entry("bridge", MEMORY, "bridge", "bridge_app"),
    Entry("mesh", MEMORY, "mesh", "mesh_app"),
    Entry("audit", PAST, "audit", "audit_app"),
    Entry("explain", PAST, "lifecycle", "explain"),
    Entry("replay-context", PAST, "turns", "replay_context"),
    Entry("taint", CARE, "taint", "taint_app"),
    Entry("lifecycle", CARE, "lifecycle", "lifecycle_app"),
    Entry("quarantine", CARE, "taint", "quarantine_app"),
    Entry("worker", CARE, "serve", "worker"),
    Entry("search-index", CARE, "serve", "search_index"),
    Entry("export", CARRYING, "transfer", "export_graph"),
    Entry("import", CARRYING, "transfer", "import_graph"),
    Entry("replay", CARRYING, "replay", "replay"),
    Entry("eval", CARRYING, "evaluate", "eval_app"),
    Entry("bench", CARRYING, "bench", "bench"),
    Entry("migrate", CARRYING, "transfer", "migrate"),
    Entry("serve", SERVING, "serve", "serve"),
    Entry("call", SERVING, "call", "call"),
    Entry("token", SERVING, "tokens", "token_app"),
    Entry("mcp", SERVING, "mcp", "mcp_app"),
)
"""In the order of the overview."""


def app_of(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the command line with the command that the arguments begin with, and no other.

    A command that is called does not wait for the others to be loaded. Arguments that begin with
    no command get all of them: for the overview, and for what a mistyped one may have meant.
    """
    first = arguments[0] if arguments else ""
    entries = [one for one in ENTRIES if one.name == first]
    if not entries and first != "--version":
        entries = list(ENTRIES)
    app = typer.Typer(
        name="ezra",
        help=HELP,
        epilog=ABOUT,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(epilog=ABOUT)(_options)
    for entry in entries:
        _add(entry, app)
    return app


def _add(entry: Entry, app: typer.Typer) -> None:
    module = import_module(f".{entry.module}", __package__)
    found = getattr(module, entry.attribute)
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=entry.name, rich_help_panel=entry.part)
        return
    from .command import command

    command(app, entry.name, part=entry.part)(found)


def _version(asked: bool) -> None:
    if asked:
        Screen().line(version("ezra"))
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """ezra: the memory runtime under fleets of AI agents."""
