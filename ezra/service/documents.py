"""Does what is asked of the documents of agents, of whole graphs and of the catalog."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from tiers.documents import Document, Passage, Revised

from ..documents import Documents
from ..wire import Nothing
from ..wire import documents as wire
from ..wire.documents import DocumentOperations
from .acting import acting
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names: TypeAlias = Mapping[str, str]
Finder: TypeAlias = Callable[[Desk, Caller, Names], Awaitable[Documents]]


async def _of_agent(desk: Desk, caller: Caller, names: Names) -> Documents:
    return (await acting(desk, caller, names)).documents


async def _of_graph(desk: Desk, _: Caller, names: Names) -> Documents:
    return (await desk.graph(names["graph_id"])).documents


async def _of_catalog(desk: Desk, caller: Caller, _: Names) -> Documents:
    return (await desk.catalog(caller)).documents


def _read(of: DocumentOperations, find: Finder) -> None:
    """Register who finds documents."""

    @handlers.does(of.list)
    async def listed(
        desk: Desk, caller: Caller, names: Names, asked: wire.ListAsked
    ) -> tuple[Document, ...]:
        return await (await find(desk, caller, names)).list(**asked.said)

    # ``count`` before ``get``: its address would be taken for that of a document.
    @handlers.does(of.count)
    async def count(desk: Desk, caller: Caller, names: Names, _: Nothing) -> tuple[int, int]:
        return await (await find(desk, caller, names)).count()

    @handlers.does(of.get)
    async def get(desk: Desk, caller: Caller, names: Names, _: Nothing) -> Document | None:
        return await (await find(desk, caller, names)).get(names["document_id"])

    @handlers.does(of.named)
    async def named(
        desk: Desk, caller: Caller, names: Names, asked: wire.NamedAsked
    ) -> Document | None:
        return await (await find(desk, caller, names)).named(asked.shelf, asked.name)


def _read_one(of: DocumentOperations, find: Finder) -> None:
    """Register who reads a document."""

    @handlers.does(of.revisions)
    async def revisions(
        desk: Desk, caller: Caller, names: Names, asked: wire.RevisionsAsked
    ) -> tuple[Document, ...]:
        found = await find(desk, caller, names)
        return await found.revisions(names["document_id"], **asked.said)

    @handlers.does(of.passages)
    async def passages(
        desk: Desk, caller: Caller, names: Names, asked: wire.PassagesAsked
    ) -> tuple[Passage, ...]:
        found = await find(desk, caller, names)
        return await found.passages(names["document_id"], **asked.said)


def _change(of: DocumentOperations, find: Finder) -> None:
    """Register who changes documents."""

    @handlers.does(of.put)
    async def put(desk: Desk, caller: Caller, names: Names, asked: wire.PutAsked) -> Revised:
        return await (await find(desk, caller, names)).put(**asked.said)

    @handlers.does(of.store)
    async def store(desk: Desk, caller: Caller, names: Names, asked: wire.StoreAsked) -> Revised:
        return await (await find(desk, caller, names)).store(**asked.said)

    @handlers.does(of.remove)
    async def remove(
        desk: Desk, caller: Caller, names: Names, asked: wire.RemoveAsked
    ) -> tuple[str, ...]:
        return await (await find(desk, caller, names)).remove(**asked.said)


for _operations, _find in (
    (wire.AGENT_DOCUMENTS, _of_agent),
    (wire.GRAPH_DOCUMENTS, _of_graph),
    (wire.CATALOG_DOCUMENTS, _of_catalog),
):
    _read(_operations, _find)
    _read_one(_operations, _find)
    _change(_operations, _find)
