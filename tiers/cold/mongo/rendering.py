"""Collections as MongoDB's, and questions as filters and pipelines.

What is not there is no field. A record without topics has the one topic that nobody can hold, and
one of no user a user whom nobody is: the server's search finds nothing by a field that is not there
(https://www.mongodb.com/docs/atlas/atlas-vector-search/vector-search-stage/).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import bson
from bson import ObjectId
from pymongo import ASCENDING, DESCENDING, IndexModel

from ...errors import TierRejected, UsageError
from ...records import Owned
from .. import port
from ..bodies import body
from ..conditions import (
    Absent,
    Among,
    Beyond,
    Condition,
    During,
    Either,
    Holds,
    Is,
    Lacks,
    Other,
    Present,
    Topics,
    Value,
    Within,
    direction,
)
from ..ownership import NO_TOPIC
from ..visibility import reached

Document: TypeAlias = dict[str, Any]
Keys: TypeAlias = list[tuple[str, int]]

BODY = "body"

BYTES_MAX = 16 * 2**20
"""Of a document. https://www.mongodb.com/docs/manual/reference/limits/#bson-documents"""

CHARS_UNMEASURED = 2**20
"""A record of so many characters fits, whatever they are and whatever is looked up beside it."""

EMBEDDING, EMBEDDING_MODEL = "embedding", "embedding_model"
BESIDE = (EMBEDDING, EMBEDDING_MODEL)
"""What stands beside a record in its document, and stays while the record changes."""

WRITE = "write"
"""Which write it was that put the record here. MongoDB takes an update that changes nothing for no
write, and lets transactions that make one pass each other; each changes this, so each is one.
https://www.mongodb.com/docs/manual/core/transactions-production-consideration/#in-progress-transactions-and-write-conflicts"""

_NOTHING: Mapping[str, str] = {"user_id": ""}
"""Fields that are always stored, and what stands in them when there is nothing in them."""


def document(collection: port.Collection[Any], record: Any) -> Document:  # noqa: ANN401 - of any collection
    """Return a record as it is stored.

    Raises:
        UsageError: It has half a character in it, or is larger than a document may be.
    """
    values = {
        name: _NOTHING.get(name) if value is None else value
        for name, value in collection.values(record).items()
        if value is not None or name in _NOTHING
    }
    listed: Document = {}
    for name, found in collection.listed(record).items():
        listed[_list(name)] = list(found)
        if any(times != 1 for times in found.values()):
            listed[_times(name)] = list(found.values())
    topics = {port.TOPICS: list(record.topics) or [NO_TOPIC]} if collection.owned else {}
    stretches = {
        _stretches(name): [{"since": since, "until": until} for since, until in found]
        for name, found in collection.stretched(record).items()
    }
    stored = {**values, **listed, **topics, **stretches, BODY: body(record)}
    # The server would refuse it too; it calls some of it a bad value, and some too large.
    size = len(bson.encode(stored)) if len(stored[BODY]) > CHARS_UNMEASURED else 0
    if size > BYTES_MAX:
        raise UsageError("record", f"{size} bytes", "what fits into a document of 16 MiB")
    return stored


def replacement(collection: port.Collection[Any], record: Any) -> Document:  # noqa: ANN401 - of any collection
    """Return the change of a document that puts a record in the place of the one before.

    What stands beside the record stays, unless it is redacted: a vector tells what was said. A
    record that stays as it is is written nevertheless: who read it before meets who changed it.

    Raises:
        UsageError: As ``document`` does.
    """
    stored = document(collection, record)
    possible = [*collection.values(record), *map(_times, collection.lists)]
    gone = [name for name in possible if name not in stored]
    if isinstance(record, Owned) and getattr(record, "redacted_at", None) is not None:
        gone += BESIDE
    return {"$set": {**stored, WRITE: ObjectId()}} | (
        {"$unset": dict.fromkeys(gone, "")} if gone else {}
    )


def value_of(row: Document, name: str) -> Value:
    """Return what a record has in a field, from its document."""
    if name == port.TOPICS:
        return port.topics_text([topic for topic in row.get(port.TOPICS, ()) if topic != NO_TOPIC])
    value: Value = row.get(name)
    return None if value == _NOTHING.get(name) else value


def indexes(collection: port.Collection[Any]) -> list[IndexModel]:
    """Return a collection's indexes; those that come to the same keys are one."""
    names = ("id", *collection.indexes, *collection.lists)
    by_keys = {tuple(keys(collection, name)): name for name in names}
    return [_model(collection, name) for name in by_keys.values()]


def keys(collection: port.Collection[Any], name: str) -> Keys:
    """Return the keys of an index, by which a question names it.

    Constants stand in front of what it orders. What is equal in one that is not unique comes in
    the order of recording.
    """
    owners = port.OWNERS[collection.extent]
    if name == "id":
        return _ascending(*owners, "id")
    if name in collection.lists:
        return _ascending(*owners, _list(name), *collection.lists[name].order, "_id")
    index = collection.indexes[name]
    owners = port.OWNERS[index.of or collection.extent]
    if index.unique:
        return _ascending(*owners, *index.fields)
    held = (condition.field for condition in index.where if isinstance(condition, Is | Absent))
    return _ascending(*owners, *held, *index.fields, "_id")


def _model(collection: port.Collection[Any], name: str) -> IndexModel:
    """Return an index; a unique one holds only records that have all of its fields."""
    index = collection.indexes.get(name)
    options: Document = {}
    if name == "id" or (index is not None and index.unique):
        options["unique"] = True
    if index is not None and index.unique:
        present = [one.field for one in index.where if isinstance(one, Present)]
        there: Document = {field: {"$exists": True} for field in (*index.fields, *present)}
        for condition in index.where:
            there |= {} if isinstance(condition, Present) else _condition(condition)
        options["partialFilterExpression"] = there
    return IndexModel(keys(collection, name), name=name, **options)


def _ascending(*fields: str) -> Keys:
    return [(field, ASCENDING) for field in fields]


def where(find: port.Find[Any]) -> Document:
    """Return the filter of a question, the scope's conditions first.

    Raises:
        TierRejected: The index that it names is none of the collection's, or a list without value.
    """
    collection, name = find.collection, find.by
    index = collection.indexes.get(name)
    is_list = name in collection.lists
    if index is None and not is_list and name != "id":
        raise TierRejected("cold", "find", f"{collection.name} has no index {name!r}")
    if is_list and not any(isinstance(one, Holds) and one.name == name for one in find.where):
        raise TierRejected("cold", "find", f"{collection.name} by {name!r} without a value")
    constants = () if index is None else index.where
    asked = _all((*reached(find), *constants, *find.where))
    if index is None or not index.unique:
        return asked
    # A unique index is partial: a server takes it only from who asks for nothing else.
    held: list[Document] = [{field: {"$exists": True}} for field in index.fields]
    return {**asked, "$and": [*asked.get("$and", []), *held]}


def order(find: port.Find[Any]) -> Keys:
    """Return in which order a question wants its answer."""
    return [
        ("_id" if name == port.RECORDED else name, DESCENDING if falls else ASCENDING)
        for name, falls in map(direction, find.order)
    ]


def found_by(question: port.Question) -> list[port.Find[Any]]:
    """Return the questions for the records that a question is about."""
    if isinstance(question, port.Near):
        return [question.at(place) for place in question.places]
    if isinstance(question, port.Count) and question.by_value:
        return [question.of_value(value) for value in question.found.listed.values]
    return [question if isinstance(question, port.Find) else question.found]


def stages_of(question: port.Question, find: port.Find[Any], number: int) -> list[Document]:
    """Return the stages that answer a part of one of several questions; ``n`` says which it was."""
    stages: list[Document] = [{"$match": where(find)}]
    if isinstance(question, port.Count):
        key = {name: f"${name}" for name in question.of}
        if find.limit < port.RECORDS_MAX:
            stages.append({"$limit": find.limit})
        counted = {"$group": {"_id": key, "count": {"$sum": 1}}}
        return [*stages, counted, {"$set": {"n": number}}]
    if find.order:
        stages.append({"$sort": dict(order(find))})
    if find.skip:
        stages.append({"$skip": find.skip})
    stages += [{"$limit": find.limit}, {"$set": {"n": number}}]
    if isinstance(question, port.Postings):
        wanted = (_list(question.list), _times(question.list), *question.of, "n")
        stages.append({"$project": dict.fromkeys(wanted, 1)})
    if isinstance(question, port.Near):
        stages.append({"$project": dict.fromkeys((*question.of, "n"), 1)})
    return stages


def _all(conditions: Sequence[Condition]) -> Document:
    rendered = [_condition(one) for one in conditions]
    found: Document = {}
    rest = []
    for one in rendered:
        if found.keys().isdisjoint(one):
            found |= one
        else:
            rest.append(one)
    return found | ({"$and": rest} if rest else {})


def _condition(condition: Condition) -> Document:
    return _RENDERED[type(condition)](condition)


def _within(one: Within) -> Document:
    edges = {"$gte": one.since, "$lt": one.until}
    given = {sign: edge for sign, edge in edges.items() if edge is not None}
    if given and one.field not in _NOTHING:
        return {one.field: given}
    return {one.field: given | {"$ne": _NOTHING.get(one.field)}}


def _beyond(one: Beyond) -> Document:
    """Return a place in an order as the alternatives: further on, or the same so far and so on."""
    names, falls = zip(*map(direction, one.order), strict=True)
    sign = "$lt" if falls[0] else "$gt"
    further: list[Document] = [
        {**dict(zip(names[:n], one.place[:n], strict=True)), names[n]: {sign: one.place[n]}}
        for n in range(len(names))
    ]
    return (
        further[0] if len(further) == 1 else {"$or": further, names[0]: {f"{sign}e": one.place[0]}}
    )


def _topics(one: Topics) -> Document:
    none = (NO_TOPIC,) if one.or_none else ()
    excluded = [*one.none_of, *(() if one.or_none else (NO_TOPIC,))]
    asked: Document = {} if one.any_of is None else {"$in": [*none, *one.any_of]}
    if excluded:
        asked["$nin"] = excluded
    return {port.TOPICS: asked} if asked else {}


def _during(one: During) -> Document:
    """Return that one of the stretches has begun and not ended; one that lasts has no end."""
    has_it = {"since": {"$lte": one.at}, "until": {"$not": {"$lte": one.at}}}
    return {_stretches(one.name): {"$elemMatch": has_it}}


def _stretches(name: str) -> str:
    return f"{name}_stretches"


def posted(request: port.Postings[Any], row: Document) -> list[tuple[Any, ...]]:
    """Return what a record has of the values that were asked for."""
    values = row[_list(request.list)]
    times = dict(zip(values, row.get(_times(request.list)) or [1] * len(values), strict=True))
    fields = [value_of(row, field) for field in request.of]
    return [(value, times[value], *fields) for value in request.asked(times)]


def _times(name: str) -> str:
    return f"{name}_times"


def _list(name: str) -> str:
    return f"{name}_listed"


_RENDERED: Mapping[type, Callable[[Any], Document]] = {
    Is: lambda one: {one.field: one.value},
    Among: lambda one: {one.field: {"$in": list(one.values)}},
    Other: lambda one: {one.field: {"$nin": [_NOTHING.get(one.field), one.value]}},
    Absent: lambda one: {one.field: _NOTHING.get(one.field)},
    Present: lambda one: {one.field: {"$ne": _NOTHING.get(one.field)}},
    Within: _within,
    Beyond: _beyond,
    Holds: lambda one: {_list(one.name): {"$in": list(one.values)}},
    Lacks: lambda one: {_list(one.name): {"$nin": list(one.values)}},
    During: _during,
    Topics: _topics,
    Either: lambda one: {"$or": [_all(each) for each in one.alternatives]},
}
