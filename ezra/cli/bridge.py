"""``ezra bridge``: what coding agents on several machines remember and say to each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, cast

import typer

from tiers.errors import UsageError

from ..bridge.memories import Memory, labels, text_of
from ..bridge.reading import SCOPES, Scoped
from ..bridge.reading import recall as recalled
from ..bridge.reading import show as shown
from ..recall.request import ModeName
from . import bridge_board, bridge_notes, bridge_state
from .bridge_door import Door, Tags
from .bridge_hooks import hooks_app
from .bridge_notes import graph_app
from .bridge_tasks import suspend_tasks, task_app
from .command import Answer, Note, Part, command, group
from .options import one_of, said, words_of

bridge_app = group(
    "Memory of coding agents: memories, messages, tasks; works while the server is away."
)

MemoryId = Annotated[str, typer.Argument(help="Id of the memory.")]


@command(bridge_app)
async def remember(
    door: Door,
    type_: Annotated[str, typer.Argument(metavar="TYPE")],
    content: str,
    title: str = "",
    tags: Tags = None,
    scope: str = "shared",
    category: str | None = None,
    supersedes: str | None = None,
) -> Answer:
    """Remember something, and say its id. The same words of one agent are stored once.

    While the memory is away it waits on this machine, and the exit code is 0 all the same.

    Args:
        type_: What sort: decision, preference, observation, …
        content: What to remember; - for standard input.
        title: One line above it.
        scope: shared, or private: only this agent may see it.
        category: A category of your own.
        supersedes: Id of the memory whose place it takes.

    Examples:
        ezra bridge remember decision 'Tokens live for 15 minutes.' --tags auth,api
        ezra bridge remember preference - --title 'Commit style' --json
    """
    one_of("--scope", scope, ("shared", "private"))
    text = said("content", content)
    # What no store would take is refused before it is kept for later.
    text_of(text, title)
    labels(type_, category, words_of(tags))
    return await door.write(
        "remember",
        type=type_,
        content=text,
        title=title or None,
        tags=[*words_of(tags)],
        category=category,
        private=scope == "private",
        supersedes=supersedes,
    )


@command(bridge_app)
async def recall(
    door: Door,
    query: str,
    type_: Annotated[str | None, typer.Option("--type")] = None,
    category: str | None = None,
    tag: list[str] | None = None,
    scope: Annotated[str, typer.Option(help=f"{', '.join(SCOPES)}.")] = "any",
    limit: int = 5,
    semantic: bool = False,
    keyword: bool = False,
    hybrid: bool = False,
) -> Answer:
    """Recall memories with their content, best first; newer ones count more.

    Notes that 'sync-memories' brought are among them, with the passage that fits.

    Exit code 1 when there are none, 4 when the memory is away.

    Args:
        query: What it is about.
        type_: Only of this type.
        category: Only of this category.
        tag: Only with this tag, too. Repeatable.
        limit: How many, 1 to 100.
        semantic: By meaning alone.
        keyword: By words alone.
        hybrid: By both; the default.

    Examples:
        ezra bridge recall 'how long do tokens live'
        ezra bridge recall tokens --type decision --tag auth --keyword
        ezra bridge recall tokens --scope mine --limit 20 --json
    """
    mode = _mode(semantic=semantic, keyword=keyword, hybrid=hybrid)
    found = await recalled(
        await door.bridge(names=False),
        query,
        type=type_,
        category=category,
        tags=tag or (),
        scope=cast("Scoped", scope),
        mode=mode,
        limit=limit,
    )
    memories = [one.document for one in found.memories]
    parts = [*_separated(found.memories)]
    if "dense" in found.degraded and mode != "keyword":
        parts.append(Note("by words alone: no embedding model answers"))
    document = {"query": query, "memories": memories, "degraded": found.degraded}
    return Answer(document, parts, code=0 if memories else 1)


def _mode(*, semantic: bool, keyword: bool, hybrid: bool) -> ModeName:
    asked = {"semantic": semantic, "keyword": keyword, "hybrid": hybrid}
    named = [name for name, is_asked in asked.items() if is_asked]
    if len(named) > 1:
        raise UsageError(f"--{named[0]}", True, f"one of them, not --{named[1]} as well")
    return cast("ModeName", named[0]) if named else "hybrid"


@command(bridge_app)
async def show(door: Door, memory: MemoryId) -> Answer:
    """Show a memory in full, also one that was forgotten or gave way, which it says.

    Examples:
        ezra bridge show 01985a4c-… --json
    """
    found = await shown(await door.bridge(names=False), memory)
    return Answer(found.document, _lines(found))


@command(bridge_app)
async def forget(
    door: Door, memory: MemoryId, superseded_by: str | None = None, reason: str | None = None
) -> Answer:
    """Forget a memory: no recall has it any more. It stays as a tombstone, for 'show'.

    Args:
        superseded_by: Id of the memory that takes its place.
        reason: Why; kept in the audit feed.

    Examples:
        ezra bridge forget 01985a4c-…
        ezra bridge forget 01985a4c-… --superseded-by 01985b00-… --json
    """
    if superseded_by == memory:
        raise UsageError("--superseded-by", superseded_by, "another memory")
    if reason is not None and not reason.strip():
        raise UsageError("--reason", reason, "why, or nothing at all")
    return await door.write(
        "forget",
        line=lambda one: (
            f"forgot {memory}" if one.result.get("forgotten") else f"{memory} lived no more"
        ),
        id=memory,
        superseded_by=superseded_by,
        reason=reason,
    )


def _separated(memories: Sequence[Memory]) -> Iterator[Part]:
    for place, one in enumerate(memories):
        if place:
            yield ""
        yield from _lines(one)


def _lines(memory: Memory) -> Iterator[str]:
    """Yield a memory: its content below a line about it."""
    about = [f"[{memory.type}]", memory.id, f"{memory.created_at:%Y-%m-%d %H:%M}", memory.agent]
    if memory.category:
        about.append(f"category {memory.category}")
    about += [f"#{tag}" for tag in memory.tags]
    if memory.note:
        about.append(f"note {memory.note}")
    if memory.private:
        about.append("private")
    yield "  ".join(about)
    if memory.superseded_by:
        yield f"superseded by {memory.superseded_by}"
    if memory.forgotten_at:
        yield f"forgotten {memory.forgotten_at:%Y-%m-%d %H:%M}"
    if memory.title:
        yield memory.title
    yield memory.content


for _name, _function in (
    ("send", bridge_board.send),
    ("broadcast", bridge_board.broadcast),
    ("check", bridge_board.check),
    ("reply", bridge_board.reply),
    ("ack", bridge_board.ack),
    ("thread", bridge_board.thread),
    ("log", bridge_board.log),
    ("history", bridge_board.history),
    ("suspend-tasks", suspend_tasks),
    ("setup", bridge_state.setup),
    ("status", bridge_state.status),
    ("sync", bridge_state.sync),
    ("heartbeat", bridge_state.heartbeat),
    ("dashboard", bridge_state.dashboard),
    ("export", bridge_state.export),
    ("import", bridge_state.import_lines),
    ("sync-memories", bridge_notes.sync),
):
    command(bridge_app, _name)(_function)

for _name, _group in (
    ("task", task_app),
    ("entity", bridge_notes.entity_app),
    ("graph", graph_app),
    ("hooks", hooks_app),
):
    bridge_app.add_typer(_group, name=_name)
