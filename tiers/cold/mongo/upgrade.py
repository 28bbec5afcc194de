"""Brings the documents of an older ezra up to date while the database is opened."""

from __future__ import annotations

from typing import Any

from pymongo import ASCENDING, IndexModel, UpdateOne
from pymongo.errors import OperationFailure

from ...moments import moment
from ...records import AgentRecord, Parent, SessionGraph
from .archive import beyond
from .belief_backfill import tell_history
from .documents import Document, document_of, record_of
from .grain_backfill import tell_grains
from .graphs import graph_document
from .renewal import PAGE_ROWS, PAGES_MAX, endless, page_of, renew
from .word_backfill import count_turns_again, drop_bare_terms, queue_outputs

_INDEX_NOT_FOUND = 27
_ORDER = ("tenant", "recorded_at", "graph_id", "seq")
_ORDER_INDEX = "upgrade_by_recording"


async def upgrade(database: Any) -> None:  # noqa: ANN401 - of either driver
    """Do what is left to be done, of whatever version the documents are.

    Args:
        database: The driver's database; validators that require the new form are in force.

    Raises:
        TierError: The server cannot be reached, or refuses.
    """
    await renew(database["graphs"], "parents", _graph)
    await renew(database["agents"], "seen_at", _agent)
    await queue_outputs(database)
    await tell_grains(database)
    await count_turns_again(database)
    await drop_bare_terms(database)
    await tell_history(database)
    await _number_events(database["audit"])


def _graph(document: Document) -> Document:
    """Version 1: parents were names, with all ancestors worked out beside them."""
    linked_at = moment(document["created_at"])
    parents = [Parent(id=name, linked_at=linked_at) for name in document["inherits_from"]]
    whole = graph_document(record_of(SessionGraph, document, parents=parents))
    new = {name: whole[name] for name in ("parents", "budget", "retention", "last_link")}
    return {"$set": new, "$unset": {"inherits_from": "", "ancestors": ""}}


def _agent(document: Document) -> Document:
    """Version 1: nobody was noticed when they fell silent, and nothing was denied."""
    agent = record_of(AgentRecord, document, seen_at=moment(document["spawned_at"]))
    whole = document_of(agent)
    return {"$set": {name: whole[name] for name in whole.keys() - document.keys()}}


async def _number_events(events: Any) -> None:  # noqa: ANN401 - of either driver
    """Version 1: audit events had no position in the feed of their tenant.

    They take it in the order of recording. All events are counted, numbered or not, so that
    whoever does it, or does it again, comes to the same numbers.
    """
    with page_of("audit"):
        unnumbered = await events.find_one({"position": {"$exists": False}}, {"_id": 1})
    if unnumbered is not None:
        keys = [(name, ASCENDING) for name in _ORDER]
        with page_of("audit"):
            await events.create_indexes([IndexModel(keys, name=_ORDER_INDEX)])
        await _number_pages(events)
    with page_of("audit"):
        try:
            await events.drop_index(_ORDER_INDEX)
        except OperationFailure as error:
            if error.code != _INDEX_NOT_FOUND:
                raise


async def _number_pages(events: Any) -> None:  # noqa: ANN401 - of either driver
    after: Document = {}
    tenant, position = "", 0
    for _ in range(PAGES_MAX):
        with page_of("audit"):
            shown = dict.fromkeys((*_ORDER, "position"), 1)
            found = events.find(after, shown).sort([(name, 1) for name in _ORDER])
            page = await found.limit(PAGE_ROWS).to_list(PAGE_ROWS)
            changes = []
            for one in page:
                position = position + 1 if one["tenant"] == tenant else 1
                tenant = one["tenant"]
                if "position" not in one:
                    lacking = {"_id": one["_id"], "position": {"$exists": False}}
                    changes.append(UpdateOne(lacking, {"$set": {"position": position}}))
            if changes:
                await events.bulk_write(changes, ordered=False)
        if not page:
            return
        after = beyond(_ORDER, [page[-1][name] for name in _ORDER])
    raise endless("audit")
