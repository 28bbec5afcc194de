"""Belief logs as files: written beside, streamed, and removed."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated

from fastapi import Depends
from fastapi.responses import FileResponse
from starlette.types import Receive, Scope, Send

from tiers.errors import ConfigError, TierUnavailable, UsageError, refused

from ..beliefs.proofs import Exported
from ..handles.graph import Graph
from ..wire.handles import EXPORT, ExportedAnswer
from ..wire.operation import ANSWER_HEADER
from .routes import Asking, Pool, answers_apart, no_other_fields

EXPORTS_MAX = 8
"""So many are written or sent at a time: each takes as much room as its log."""

SEND_SECONDS_MAX = 3_600.0
MEDIA_TYPE = "application/jsonl"


class _Room:
    """Room for files that are on their way, each in a folder that only its owner may enter."""

    def __init__(self) -> None:
        self._taken = 0

    @asynccontextmanager
    async def folder(self) -> AsyncIterator[Path]:
        """Yield a folder that is removed at the end of the block.

        Raises:
            TierUnavailable: There are too many.
            ConfigError: None can be made.
        """
        if self._taken >= EXPORTS_MAX:
            raise TierUnavailable("server", EXPORT.name, f"{EXPORTS_MAX} exports are under way")
        self._taken += 1
        try:
            folder = await asyncio.to_thread(_folder)
            try:
                yield folder
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        finally:
            self._taken -= 1


_room = _Room()
"""Of the process: all of them write to one disk."""


@answers_apart(
    EXPORT.path,
    EXPORT.name,
    EXPORT.summary,
    {MEDIA_TYPE: {}},
    tag="beliefs",
    kind=FileResponse,
)
async def export(
    graph_id: str,
    pool: Pool,
    caller: Asking,
    _: Annotated[None, Depends(no_other_fields)],
) -> FileResponse:
    """Stream the export of a graph's belief log."""
    caller.check(EXPORT.needs, EXPORT.name, graph_id, None)
    graph = await pool.graph(graph_id)
    async with AsyncExitStack() as exits:
        folder = await exits.enter_async_context(_room.folder())
        done = await _written(graph, folder)
        return _Sent(done, f"{graph_id}.jsonl", exits.pop_all())


class _Sent(FileResponse):
    """Sends an export, and lets go of what holds it, however sending ends."""

    def __init__(self, done: Exported, name: str, exits: AsyncExitStack) -> None:
        said = ExportedAnswer.model_validate(done, from_attributes=True)
        told = said.model_dump_json(ensure_ascii=True)
        headers = {ANSWER_HEADER: told, "accept-ranges": "none"}
        super().__init__(done.path, filename=name, media_type=MEDIA_TYPE, headers=headers)
        self._exits = exits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Another request makes another file: parts of two would not fit together.
        headers = [one for one in scope["headers"] if one[0] != b"range"]
        async with self._exits, asyncio.timeout(SEND_SECONDS_MAX):
            await super().__call__({**scope, "headers": headers}, receive, send)


async def _written(graph: Graph, folder: Path) -> Exported:
    try:
        return await graph.beliefs.export(folder / "beliefs.jsonl")
    except UsageError as error:
        reason = f"an export cannot be written into {tempfile.gettempdir()}: {error.accepted}"
        raise ConfigError("TMPDIR", reason) from error


def _folder() -> Path:
    with refused(
        lambda why: ConfigError("TMPDIR", f"an export needs a folder for its file: {why}")
    ):
        return Path(tempfile.mkdtemp(prefix="ezra-export-"))
