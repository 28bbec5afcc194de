"""What an export carries beside live memories and cards: memories that ended, and notes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from tiers.documents import Document
from tiers.paging import pages_of, parts
from tiers.records import AuditFilter, Fact

from .client import Bridge
from .memories import memory_of
from .notes.names import MEMORIES, NOTES
from .notes.reading import all_documents

if TYPE_CHECKING:
    from ..documents.handle import Documents
    from ..handles.agent import Agent


PAGE = 100
EVENTS_PAGE = 1_000
REVISIONS_PAGE = 100
REMOVED = "it was removed where it comes from"

_ENDS = ("forgotten", "superseded", "deduplicated")
_LINE = ("shelf", "name", "title", "text", "media_type", "topics", "machine", "revision")


async def tombstones(bridge: Bridge, live: Collection[str]) -> list[dict[str, Any]]:
    """Return the memories that ended and still have their content, as lines.

    Args:
        bridge: Whose.
        live: Ids of what lives.

    Raises:
        Away: The memory is away.
        PolicyDenied: The token does not look at a whole graph.
    """
    graph, reader = await bridge.graph(), await bridge.reader()
    reasons: dict[str, str] = {}
    read = partial(graph.audit, only=AuditFilter(kinds=_ENDS))
    async for page in pages_of(read, lambda event: event.seq, EVENTS_PAGE):
        for event in page:
            reasons |= dict.fromkeys(event.record_ids, event.reason)
    ids = [one for one in reasons if one not in live]
    facts: list[Fact] = []
    for some in parts(ids, PAGE):
        facts += await reader.facts(some)
    kept = [one for one in facts if one.retired_at is None and one.redacted_at is None]
    known = {*live, *(one.id for one in kept)}
    return [_tombstone(one, known, reasons[one.id]) for one in kept if _has_ended(one)]


def _has_ended(fact: Fact) -> bool:
    return fact.superseded_by is not None or fact.forgotten_at is not None


def _tombstone(fact: Fact, known: Collection[str], reason: str) -> dict[str, Any]:
    """Return a memory that ended as a line; one whose successor is gone counts as forgotten."""
    line = {"kind": "memory", **memory_of(fact).document}
    if fact.superseded_by is not None and fact.superseded_by not in known:
        del line["superseded_by"]
        line["forgotten_at"] = (fact.superseded_at or fact.recorded_at).isoformat()
    return line | ({"reason": reason} if reason else {})


async def note_lines(documents: Documents) -> AsyncIterator[dict[str, Any]]:
    """Yield every revision of every note, entities' and agents' own, as lines, oldest first."""
    for document in await all_documents(documents, None, removed=True):
        if not document.shelf.startswith((NOTES, MEMORIES)) or document.redacted_at is not None:
            continue
        found: list[Document] = []
        before: int | None = None
        while True:
            page = await documents.revisions(document.id, before=before, limit=REVISIONS_PAGE)
            found += page
            if len(page) < REVISIONS_PAGE:
                break
            before = page[-1].revision
        for one in reversed(found):
            if one.redacted_at is None:
                yield _note_line(document if one.revision == document.revision else one)


def _note_line(document: Document) -> dict[str, Any]:
    content = document.model_dump(mode="json", include=set(_LINE))
    line = {"kind": "note", "id": document.id, "agent": document.agent_id, **content}
    if document.private:
        line["private"] = True
    if document.removed_at is not None:
        line["removed_at"] = document.removed_at.isoformat()
    return line | {"at": document.changed_at.isoformat()}


async def write_note_line(agent: Agent, line: Mapping[str, Any]) -> None:
    """Write a revision of a note, unless the memory has it or a later one.

    Raises:
        EzraError: The memory does not take it.
    """
    documents, shelf, name = agent.documents, line["shelf"], line["name"]
    known, revision = await documents.named(shelf, name), int(line.get("revision", 1))
    if known is None or known.revision < revision:
        stored = await documents.put(
            name,
            line["text"],
            shelf=shelf,
            title=line.get("title") or None,
            media_type=line.get("media_type") or "text/markdown",
            topics=line.get("topics", ()),
            keep_text=True,
            machine=line.get("machine", ""),
            private=bool(line.get("private")),
        )
        known = stored.document
    is_last = known.revision <= revision and known.removed_at is None
    if line.get("removed_at") and is_last:
        await documents.remove([known.id], reason=REMOVED)
