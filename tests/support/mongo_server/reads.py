"""Commands that read: find, getMore, killCursors, aggregate."""

from __future__ import annotations

from typing import Any

from bson import Int64

from .engine import Command, Engine, Handler, checked_batch_size
from .errors import CommandError, bad_value, refuse
from .pipeline import SEARCH_STAGES, run_pipeline, stage_of
from .planning import Sort, checked_sort, matching
from .projection import compile_projection
from .search import run_search
from .store import Collection
from .values import Document


def checked_hint(target: Collection, hint: Any) -> None:
    """Raise for a hint that names no index; what it names makes no difference here."""
    if hint is None:
        return
    indexes = target.declared.values()
    known = [index.name for index in indexes], [index.spec["key"] for index in indexes]
    if hint not in known[isinstance(hint, dict)]:
        bad_value("error processing query: planner returned error: bad hint")


def _whole(body: Document, field: str) -> int:
    value = body.get(field) or 0
    if int(value) != value or value < 0:
        bad_value(f"{field} must be a whole number that is not negative: {value!r}")
    return int(value)


async def find(engine: Engine, command: Command) -> Document:
    """Answer ``find``."""
    body, target = command.body, engine.collection(command)
    checked_hint(target, body.get("hint"))
    sort: Sort = checked_sort(body.get("sort") or {})
    skip, limit = _whole(body, "skip"), _whole(body, "limit")
    found = matching(target, body.get("filter") or {}, sort, skip + limit if limit else None)
    documents = found[skip:]
    if body.get("projection"):
        project = compile_projection(body["projection"], computed=False)
        documents = [project(document) for document in documents]
    if body.get("singleBatch"):
        size = checked_batch_size(body.get("batchSize"))
        documents = documents if size is None else documents[:size]
        return engine.cursor_reply(target.namespace, documents, len(documents))
    return engine.cursor_reply(target.namespace, documents, body.get("batchSize"))


async def get_more(engine: Engine, command: Command) -> Document:
    """Answer ``getMore``."""
    cursor_id = command.body["getMore"]
    namespace = f"{command.database}.{command.body['collection']}"
    cursor = engine.cursors.get(cursor_id)
    if cursor is None or cursor.namespace != namespace:
        raise CommandError(43, f"cursor id {cursor_id} not found")
    batch = cursor.take(checked_batch_size(command.body.get("batchSize")) or None)
    if cursor.is_spent:
        del engine.cursors[cursor_id]
    left = Int64(0 if cursor.is_spent else cursor_id)
    return {"cursor": {"nextBatch": batch, "id": left, "ns": namespace}, "ok": 1.0}


async def kill_cursors(engine: Engine, command: Command) -> Document:
    """Answer ``killCursors``."""
    killed: list[Int64] = []
    unknown: list[Int64] = []
    for cursor_id in command.body["cursors"]:
        known = engine.cursors.pop(cursor_id, None)
        (unknown if known is None else killed).append(Int64(cursor_id))
    return {
        "cursorsKilled": killed,
        "cursorsNotFound": unknown,
        "cursorsAlive": [],
        "cursorsUnknown": [],
        "ok": 1.0,
    }


async def aggregate(engine: Engine, command: Command) -> Document:
    """Answer ``aggregate`` over a collection."""
    body = command.body
    pipeline = body.get("pipeline")
    if not isinstance(pipeline, list):
        raise CommandError(14, "'pipeline' option must be specified as an array")
    if not isinstance(body.get("cursor"), dict):
        raise CommandError(9, "The 'cursor' option is required")
    if body["aggregate"] == 1:
        refuse("aggregations over a database")
    target = engine.collection(command)
    checked_hint(target, body.get("hint"))

    def collection(name: str) -> Collection:
        return engine.store[command.database][name]

    if pipeline and stage_of(pipeline[0])[0] in SEARCH_STAGES:
        if engine.sessions.is_inside:
            raise CommandError(
                263, f"Stage not supported inside of a multi-document transaction: {pipeline[0]}"
            )
        documents = run_search(engine.knobs, target, pipeline, collection)
    else:
        documents = run_pipeline(target, pipeline, collection)
    return engine.cursor_reply(target.namespace, documents, body["cursor"].get("batchSize"))


READS: dict[str, tuple[Handler, frozenset[str]]] = {
    "find": (
        find,
        frozenset(
            {
                *("filter", "projection", "sort", "skip", "limit", "hint"),
                *("batchSize", "singleBatch"),
            }
        ),
    ),
    "getMore": (get_more, frozenset({"collection", "batchSize"})),
    "killCursors": (kill_cursors, frozenset({"cursors"})),
    "aggregate": (aggregate, frozenset({"pipeline", "cursor", "hint"})),
}
