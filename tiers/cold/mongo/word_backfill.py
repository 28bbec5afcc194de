"""Gives turns of a database from before outputs of tools were found what they are found by since.

A turn with outputs has their words among its terms, and has to go into the vector index anew. Its
graph's totals are counted once more, from all turns: whoever does it comes to the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pymongo.errors import OperationFailure

from ...errors import CorruptRecord
from ...moments import moment
from ...records import Scope, Turn, WorkDraft
from .conditions import SHELVES
from .database import Session
from .documents import Document, record_of
from .driver import settled
from .renewal import PAGE_ROWS, PAGES_MAX, endless, page_of
from .terms import searchable_fields
from .word_counts import change_totals
from .work_items import queue_work

_INDEX_NOT_FOUND = 27
_BARE_TERMS = "tenant_graph_id_terms"
_OF_EVERYTHING = " "
"""Tenant of the row that counted the whole database; names are never blank."""


def outputs_of(document: Document) -> Document:
    """Return what a turn gains; one without outputs has its terms already.

    One that cannot be read back keeps its own: it must not keep all others away.
    """
    if document.get("redacted_at") is None:
        known: Document = {"said_by": document["speaker"] or document["agent_id"]}
    else:
        known = {}
    if not document["tool_outputs"]:
        return known | {"also": []}
    known["also"] = ["tool_output"]
    with suppress(CorruptRecord):
        known |= searchable_fields(record_of(Turn, document))
    return known


async def queue_outputs(database: Any) -> None:  # noqa: ANN401 - of either driver
    """Queue the work by which turns with outputs go into the vector index with their words.

    Before they gain these words: what was cut off in between is queued again.

    Raises:
        TierError: The server cannot be reached, or refuses.
    """
    lacking: Document = {"also": {"$exists": False}, "tool_outputs.0": {"$exists": True}}
    lacking |= {"redacted_at": None}
    shown = dict.fromkeys(("tenant", "graph_id", "id", "agent_id", "recorded_at"), 1)
    after: Document = {}
    for _ in range(PAGES_MAX):
        with page_of("turns"):
            found = database["turns"].find(lacking | after, shown).sort("_id", 1)
            page: list[Document] = await found.limit(PAGE_ROWS).to_list(PAGE_ROWS)
            await _queue(Session(database), page)
        if not page:
            return
        after = {"_id": {"$gt": page[-1]["_id"]}}
    raise endless("turns")


async def drop_bare_terms(database: Any) -> None:  # noqa: ANN401 - of either driver
    """Drop the indexes over terms alone: those over terms and ids take their place.

    Raises:
        TierError: The server cannot be reached, or refuses.
    """
    for shelf in SHELVES.values():
        with page_of(shelf.collection):
            try:
                await database[shelf.collection].drop_index(_BARE_TERMS)
            except OperationFailure as error:
                if error.code != _INDEX_NOT_FOUND:
                    raise


async def count_turns_again(database: Any) -> None:  # noqa: ANN401 - of either driver
    """Count the turns of every graph and their words, and forget what counted the whole database.

    Raises:
        TierError: The server cannot be reached, or refuses.
    """
    place = {"tenant": "$tenant", "graph_id": "$graph_id"}
    sums = {"records": {"$sum": 1}, "length": {"$sum": "$length"}}
    with page_of("turns"):
        cursor = await settled(database["turns"].aggregate([{"$group": {"_id": place} | sums}]))
        counted = [one async for one in cursor]
    session = Session(database)
    for start in range(0, len(counted), PAGE_ROWS):
        with page_of("word_totals"):
            for one in counted[start : start + PAGE_ROWS]:
                owner = (one["_id"]["tenant"], one["_id"]["graph_id"], "turn")
                numbers = {name: one[name] for name in sums}
                await change_totals(session, owner, {"$set": numbers})
    with page_of("word_totals"):
        await database["word_totals"].delete_many({"tenant": _OF_EVERYTHING})


async def _queue(session: Session, turns: Sequence[Document]) -> None:
    places: dict[tuple[str, str], list[Document]] = {}
    for one in turns:
        places.setdefault((one["tenant"], one["graph_id"]), []).append(one)
    for (tenant, graph_id), of_graph in places.items():
        work = [
            WorkDraft(
                kind="index", key=one["id"], agent_id=one["agent_id"], payload={"id": one["id"]}
            )
            for one in of_graph
        ]
        now = moment(max(one["recorded_at"] for one in of_graph))
        await queue_work(session, Scope.of_graph(tenant, graph_id), work, now)
