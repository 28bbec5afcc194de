"""``ezra bridge``: what coding agents on several machines remember and say to each other."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from tiers.errors import UsageError

from ..bridge.client import Bridge
from ..bridge.memories import Memory
from ..bridge.reading import SCOPES, Recalled, Scoped
from ..bridge.reading import recall as recalled
from ..bridge.reading import show as shown
from ..recall.request import ModeName
from . import bridge_board, bridge_hooks, bridge_notes, bridge_state
from .bridge_door import Home, Json, Tags, Url, ask, listed_tags, wrote
from .bridge_tasks import suspend_tasks, task_app
from .screen import Screen
from .standard_input import said

bridge_app = typer.Typer(
    help="Memory of coding agents: memories, messages, tasks; works while the server is away.",
    no_args_is_help=True,
)

MemoryId = Annotated[str, typer.Argument(help="Id of the memory.")]


@bridge_app.command(
    "remember",
    epilog="Examples: ezra bridge remember decision 'Tokens live for 15 minutes.' --tags auth,api"
    "  ·  ezra bridge remember preference - --title 'Commit style' --json",
)
def remember(
    type_: Annotated[
        str,
        typer.Argument(metavar="TYPE", help="What sort: decision, preference, observation, …"),
    ],
    content: Annotated[str, typer.Argument(help="What to remember; - for standard input.")],
    title: Annotated[str, typer.Option(help="One line above it.")] = "",
    tags: Tags = None,
    scope: Annotated[
        str, typer.Option(help="shared, or private: only this agent may see it.")
    ] = "shared",
    category: Annotated[str | None, typer.Option(help="A category of your own.")] = None,
    supersedes: Annotated[
        str | None, typer.Option(help="Id of the memory whose place it takes.")
    ] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Remember something, and say its id. The same words of one agent are stored once.

    While the memory is away it waits on this machine, and the exit code is 0 all the same.
    """
    if scope not in ("shared", "private"):
        raise UsageError("--scope", scope, "shared, private")
    text = said("content", content)
    checked_memory(type_, text, title, category, tags)
    wrote(
        home,
        url,
        "remember",
        json=json,
        type=type_,
        content=text,
        title=title or None,
        tags=listed_tags(tags),
        category=category,
        private=scope == "private",
        supersedes=supersedes,
    )


def checked_memory(
    type_: str, content: str, title: str, category: str | None, tags: str | None
) -> None:
    """Refuse a memory that no store would take, before it is kept for later.

    Raises:
        UsageError: Names what is not acceptable.
    """
    from ..bridge.memories import labels, text_of  # noqa: PLC0415 - with the memory it is for

    text_of(content, title)
    labels(type_, category, listed_tags(tags))


@bridge_app.command(
    "recall",
    epilog="Examples: ezra bridge recall 'how long do tokens live'  ·  "
    "ezra bridge recall tokens --type decision --tag auth --keyword  ·  "
    "ezra bridge recall tokens --scope mine --limit 20 --json",
)
def recall(
    query: Annotated[str, typer.Argument(help="What it is about.")],
    type_: Annotated[str | None, typer.Option("--type", help="Only of this type.")] = None,
    category: Annotated[str | None, typer.Option(help="Only of this category.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Only with this tag, too. Repeatable.")
    ] = None,
    scope: Annotated[str, typer.Option(help=f"{', '.join(SCOPES)}.")] = "any",
    limit: Annotated[int, typer.Option(help="How many, 1 to 100.")] = 5,
    semantic: Annotated[bool, typer.Option("--semantic", help="By meaning alone.")] = False,
    keyword: Annotated[bool, typer.Option("--keyword", help="By words alone.")] = False,
    hybrid: Annotated[bool, typer.Option("--hybrid", help="By both; the default.")] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Recall memories with their content, best first; newer ones count more.

    Notes that 'sync-memories' brought are among them, with the passage that fits.

    Exit code 1 when there are none, 4 when the memory is away.
    """
    mode = _mode(semantic=semantic, keyword=keyword, hybrid=hybrid)
    screen = Screen()

    async def work(bridge: Bridge) -> Recalled:
        return await recalled(
            bridge,
            query,
            type=type_,
            category=category,
            tags=tag or (),
            scope=cast("Scoped", scope),
            mode=mode,
            limit=limit,
        )

    found = ask(home, url, work, names=False)
    if json:
        memories = [one.said for one in found.memories]
        screen.document({"query": query, "memories": memories, "degraded": list(found.degraded)})
    for place, one in enumerate(() if json else found.memories):
        if place:
            screen.line("")
        _print(screen, one)
    if not json and "dense" in found.degraded and mode != "keyword":
        screen.note("by words alone: no embedding model answers")
    if not found.memories:
        raise typer.Exit(1)


def _mode(*, semantic: bool, keyword: bool, hybrid: bool) -> ModeName:
    asked = {"semantic": semantic, "keyword": keyword, "hybrid": hybrid}
    named = [name for name, is_asked in asked.items() if is_asked]
    if len(named) > 1:
        raise UsageError(f"--{named[0]}", True, f"one of them, not --{named[1]} as well")
    return cast("ModeName", named[0]) if named else "hybrid"


@bridge_app.command("show", epilog="Example: ezra bridge show 01985a4c-… --json")
def show(memory: MemoryId, home: Home = None, url: Url = None, json: Json = False) -> None:
    """Show a memory in full, also one that was forgotten or gave way, which it says."""
    screen = Screen()

    async def work(bridge: Bridge) -> Memory:
        return await shown(bridge, memory)

    found = ask(home, url, work, names=False)
    if json:
        screen.document(found.said)
    else:
        _print(screen, found)


@bridge_app.command(
    "forget",
    epilog="Examples: ezra bridge forget 01985a4c-…  ·  "
    "ezra bridge forget 01985a4c-… --superseded-by 01985b00-… --json",
)
def forget(
    memory: MemoryId,
    superseded_by: Annotated[
        str | None, typer.Option(help="Id of the memory that takes its place.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why; kept in the audit feed.")] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Forget a memory: no recall has it any more. It stays as a tombstone, for 'show'."""
    if superseded_by == memory:
        raise UsageError("--superseded-by", superseded_by, "another memory")
    if reason is not None and not reason.strip():
        raise UsageError("--reason", reason, "why, or nothing at all")
    wrote(
        home,
        url,
        "forget",
        json=json,
        told=lambda one: (
            f"forgot {memory}" if one.result.get("forgotten") else f"{memory} lived no more"
        ),
        id=memory,
        superseded_by=superseded_by,
        reason=reason,
    )


def _print(screen: Screen, memory: Memory) -> None:
    """Print a memory: its content below a line about it."""
    about = [f"[{memory.type}]", memory.id, f"{memory.created_at:%Y-%m-%d %H:%M}", memory.agent]
    if memory.category:
        about.append(f"category {memory.category}")
    about += [f"#{tag}" for tag in memory.tags]
    if memory.note:
        about.append(f"note {memory.note}")
    if memory.private:
        about.append("private")
    screen.line("  ".join(about))
    if memory.superseded_by:
        screen.line(f"superseded by {memory.superseded_by}")
    if memory.forgotten_at:
        screen.line(f"forgotten {memory.forgotten_at:%Y-%m-%d %H:%M}")
    if memory.title:
        screen.line(memory.title)
    screen.line(memory.content)


bridge_board.add_to(bridge_app)
bridge_app.add_typer(task_app, name="task")
bridge_app.command(
    "suspend-tasks",
    epilog="Examples: ezra bridge suspend-tasks  ·  ezra bridge suspend-tasks --json",
)(suspend_tasks)
bridge_state.add_to(bridge_app)
bridge_notes.add_to(bridge_app)
bridge_hooks.add_to(bridge_app)
