"""Gives belief logs of a database from before there was a history what they are asked for since.

The log gains, beside its events, when and during which turn each change was, and which beliefs it
names. Contents say of which beliefs they speak. What became of a belief, and when it was active, is
made from the log once more. No event changes: those of then are of version 1 and keep their hashes.
Run again, or by several processes at once, it comes to the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pymongo import UpdateOne

from ...errors import CorruptRecord
from ...records import Commitment, Scope
from .belief_log import caught_up, mentioned, mentions_of
from .belief_projection import COLLECTIONS, found_by
from .belief_words import word_fields
from .database import Session
from .documents import NO_USER, Document, record_of
from .driver import settled
from .renewal import PAGE_ROWS, PAGES_MAX, endless, page_of, renew

_UNREAD = ("terms", "frequencies")
_UNMADE = ("belief_spans", "belief_trust")


async def tell_history(database: Any) -> None:  # noqa: ANN401 - of either driver
    """Fill in what is missing, in every collection of beliefs.

    After validators that ask for it are in force: older processes write no more such documents.

    Raises:
        TierError: The server cannot be reached, or refuses.
    """
    await _complete_log(database)
    await _remove_orphans(database)
    await renew(database["beliefs"], "changed_seq", _row, without=_UNREAD)
    await _project_all(database)


async def _complete_log(database: Any) -> None:  # noqa: ANN401 - of either driver
    log, contents = database["belief_log"], database["belief_contents"]
    lacking: Document = {"mentions": {"$exists": False}}
    after: Document = {}
    for _ in range(PAGES_MAX):
        with page_of("belief_log"):
            found = log.find(lacking | after).sort("_id", 1).limit(PAGE_ROWS)
            page = await found.to_list(PAGE_ROWS)
            if not page:
                return
            said = await _said(contents, page)
            told = [
                _of_content(change, event, said) for change in page for event in change["events"]
            ]
            await contents.bulk_write(told, ordered=False)
            changes = [
                UpdateOne({"_id": one["_id"]} | lacking, {"$set": _of_change(one, said)})
                for one in page
            ]
            await log.bulk_write(changes, ordered=False)
        after = {"_id": {"$gt": page[-1]["_id"]}}
    raise endless("belief_log")


async def _said(contents: Any, changes: Sequence[Document]) -> dict[str, list[str]]:  # noqa: ANN401
    """Return which beliefs the content of each event names, by the digest of the content."""
    events = [(change, event) for change in changes for event in change["events"]]
    where = {
        "tenant": {"$in": list({change["tenant"] for change, _ in events})},
        "graph_id": {"$in": list({change["graph_id"] for change, _ in events})},
        "event_id": {"$in": [event["id"] for _, event in events]},
    }
    about = {event["content_digest"]: event["belief_id"] for _, event in events}
    return {
        one["content_digest"]: mentioned(about[one["content_digest"]], json.loads(one["content"]))
        async for one in contents.find(where)
        if one["content_digest"] in about
    }


def _of_content(change: Document, event: Document, said: Mapping[str, list[str]]) -> UpdateOne:
    where = {name: change[name] for name in ("tenant", "graph_id")}
    where |= {"event_id": event["id"], "content_digest": event["content_digest"]}
    names = said.get(event["content_digest"])
    told = {name: event[name] for name in ("kind", "belief_id")}
    return UpdateOne(where, {"$set": told | ({"names": names} if names else {})})


def _of_change(change: Document, said: Mapping[str, list[str]]) -> Document:
    """Return what a change gains. Before there was a history turns were not counted."""
    events = change["events"]
    places = [(event["seq"], event["belief_id"]) for event in events]
    named = [said.get(event["content_digest"], []) for event in events]
    return {
        "turn": 0,
        "version": 1,
        "recorded_at": events[-1]["recorded_at"],
        "mentions": mentions_of(places, named),
    }


async def _remove_orphans(database: Any) -> None:  # noqa: ANN401 - of either driver
    """Remove contents of events that never came to be: nobody could say what they speak of."""
    with page_of("belief_contents"):
        await database["belief_contents"].delete_many({"kind": {"$exists": False}})


def _row(document: Document) -> Document:
    """Return what a row gains; what became of its belief follows from the log.

    One that cannot be read back must not keep all others away.
    """
    is_active = document["active"]
    known: Document = {
        "for_user": document.get("user_id") or NO_USER,
        "status": "active" if is_active else "superseded",
        "since_seq": document["committed_seq"],
        "changed_seq": 0,
    }
    with suppress(CorruptRecord):
        belief = record_of(Commitment, document)
        known |= found_by(belief) | word_fields(belief)
    # The log is applied from its beginning, when another belief may have been active under a key.
    return {"$set": known, "$unset": {"active_key": ""}}


async def _project_all(database: Any) -> None:  # noqa: ANN401 - of either driver
    """Apply every log from its beginning. How far an older ezra had come is in another field."""
    for name in _UNMADE:
        with page_of(name):
            indexes, _ = COLLECTIONS[name]
            await database[name].create_indexes([index.model() for index in indexes])
    place = {"tenant": "$tenant", "graph_id": "$graph_id"}
    with page_of("belief_log"):
        cursor = await settled(database["belief_log"].aggregate([{"$group": {"_id": place}}]))
        places = [one["_id"] async for one in cursor]
    for one in places:
        with page_of("beliefs"):
            scope = Scope.of_graph(one["tenant"], one["graph_id"])
            await caught_up(Session(database), scope)
