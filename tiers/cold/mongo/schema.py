"""Collections, their indexes and validators, and the way to them.

Everything is ensured when the database is opened: what is there stays, what is missing is made,
and a database that a newer ezra has written is refused. The validators repeat what the code
already holds to: whoever else writes into the database is held to it as well.

A database of an older ezra is brought up to date, in an order that may be cut off anywhere. First
its mark says the new version, so that no older ezra opens it any more. Then the validators, so
that one that has it open can write no more in its old ways. Then the documents, then the indexes
that only fit them now, and at last the digest, without which everything is looked at again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.errors import OperationFailure

from ...errors import ConfigError
from .documents import Document
from .driver import limited
from .together import together
from .translation import translated

VERSION = 6
"""Raised with each change that older code could not read."""

BUILDING_SECONDS_MAX = 600.0
"""How long a command may take that builds an index, or that upgrades a page of documents."""

Keys = Sequence[tuple[str, int]]
_OWNER: Keys = (("tenant", ASCENDING), ("graph_id", ASCENDING))
_NAMESPACE_EXISTS = 48
_LANES = 4
"""How many collections are made at the same time."""


@dataclass(frozen=True)
class Index:
    """One index. ``only_with`` restricts it to documents that have these fields."""

    keys: Keys
    unique: bool = False
    only_with: tuple[str, ...] = ()

    def model(self) -> IndexModel:
        """Return the driver's form of it, named after its keys."""
        options: dict[str, Any] = {"unique": True} if self.unique else {}
        if self.only_with:
            options["partialFilterExpression"] = {
                field: {"$exists": True} for field in self.only_with
            }
        name = "_".join(key for key, _ in self.keys) + ("_unique" if self.unique else "")
        return IndexModel(list(self.keys), name=name, **options)


def by(*fields: str, unique: bool = False, only_with: tuple[str, ...] = ()) -> Index:
    """Return an index over tenant, graph and ``fields``; ``-field`` runs downwards."""
    more = [(f.lstrip("-"), DESCENDING if f.startswith("-") else ASCENDING) for f in fields]
    return Index((*_OWNER, *more), unique, only_with)


def validator(
    required: Sequence[str], **properties: Mapping[str, object]
) -> Mapping[str, Document]:
    """Return a JSON schema for documents of a graph that also have the ``required`` fields."""
    names = {"bsonType": "string", "minLength": 1}
    return {
        "$jsonSchema": {
            "bsonType": "object",
            "required": ["tenant", "graph_id", *required],
            "properties": {"tenant": names, "graph_id": names, **properties},
        }
    }


Specification: TypeAlias = tuple[Sequence[Index], Mapping[str, Document] | None]
"""A collection's indexes and its validator."""


async def prepare(
    database: Any,  # noqa: ANN401 - of either driver
    collections: Mapping[str, Specification],
    upgrade: Callable[[Any], Awaitable[None]],
) -> None:
    """Make what is missing and check what is there. A database that is complete is only looked at.

    Any number of processes may do it at the same time.

    Args:
        database: The driver's database.
        collections: What every collection has, by its name.
        upgrade: Brings the documents of an older version up to date; nothing happens to others.

    Raises:
        ConfigError: A newer ezra wrote the database.
        TierError: It cannot be reached, or refuses.
    """
    answers: list[Any] = await together([schema_mark(database), _names(database)])
    found, present, made = answers[0], set(answers[1]), mark_of(collections)
    if found == made and collections.keys() <= present:
        return
    is_used = not present.isdisjoint(collections)
    is_older = is_used and ("digest" not in found or found.get("version", 0) < VERSION)
    if is_older:
        await _mark(database, {"$set": {"version": VERSION}, "$unset": {"digest": ""}})
    await _in_lanes(_ensure_rules, database, collections, present)
    if is_older:
        await upgrade(database)
    await _in_lanes(_ensure_indexes, database, collections, present)
    await _mark(database, {"$set": made})


async def schema_mark(database: Any) -> Document:  # noqa: ANN401 - of either driver
    """Return what the database says of its own schema; empty when it is new.

    Raises:
        ConfigError: A newer ezra wrote the database.
    """
    with translated("prepare"):
        found: Document = await database["meta"].find_one({"_id": "schema"}, {"_id": 0}) or {}
    version = found.get("version", VERSION)
    if not isinstance(version, int) or version > VERSION:
        reason = (
            f"the database was written by a newer ezra: its schema is version {version}, this one "
            f"knows up to version {VERSION}; upgrade ezra"
        )
        raise ConfigError("EZRA_MONGODB_URI", reason)
    return found


def mark_of(collections: Mapping[str, Specification]) -> Document:
    """Return the mark of a database in which all of this is made."""
    described = {
        name: [[index.model().document for index in indexes], schema]
        for name, (indexes, schema) in collections.items()
    }
    text = json.dumps(described, sort_keys=True)
    return {"version": VERSION, "digest": hashlib.sha256(text.encode()).hexdigest()}


async def _names(database: Any) -> list[str]:  # noqa: ANN401 - of either driver
    with translated("prepare"):
        names: list[str] = await database.list_collection_names()
        return names


async def _mark(database: Any, change: Document) -> None:  # noqa: ANN401 - of either driver
    with translated("prepare"):
        await database["meta"].update_one({"_id": "schema"}, change, upsert=True)


async def _in_lanes(
    ensure: Callable[[Any, str, Specification, Collection[str]], Awaitable[None]],
    database: Any,  # noqa: ANN401 - of either driver
    collections: Mapping[str, Specification],
    present: Collection[str],
) -> None:
    """Ensure something of every collection, of some at the same time."""

    async def lane(number: int) -> None:
        for name, specification in list(collections.items())[number::_LANES]:
            # What is there already may take its time; in a new database there is nothing to build.
            limit = limited(BUILDING_SECONDS_MAX) if name in present else nullcontext()
            with translated(f"prepare {name}"), limit:
                await ensure(database, name, specification, present)

    await together(lane(number) for number in range(_LANES))


async def _ensure_rules(
    database: Any,  # noqa: ANN401 - of either driver
    name: str,
    specification: Specification,
    present: Collection[str],
) -> None:
    _, schema = specification
    rules: Document = {} if schema is None else _rules(schema)
    is_new = name not in present and await _created(database, name, rules)
    if not is_new and rules:
        await database.command("collMod", name, **rules)


async def _ensure_indexes(
    database: Any,  # noqa: ANN401 - of either driver
    name: str,
    specification: Specification,
    _: Collection[str],
) -> None:
    indexes, _schema = specification
    if indexes:
        await database[name].create_indexes([index.model() for index in indexes])


async def _created(database: Any, name: str, rules: Document) -> bool:  # noqa: ANN401 - of either driver
    try:
        await database.create_collection(name, check_exists=False, **rules)
    except OperationFailure as error:
        if error.code != _NAMESPACE_EXISTS:
            raise
        return False  # somebody else opens the same new database at the same time
    return True


def _rules(schema: Mapping[str, Document]) -> Document:
    return {"validator": dict(schema), "validationLevel": "strict", "validationAction": "error"}
