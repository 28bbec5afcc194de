"""Collections, their indexes and validators, and the way to them.

Everything is ensured when the database is opened: what is there stays, what is missing is made,
and a database that a newer ezra has written is refused. The validators repeat what the code
already holds to: whoever else writes into the database is held to it as well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.errors import OperationFailure

from ...errors import ConfigError
from .documents import Document
from .together import together
from .translation import translated

VERSION = 1
"""Raised with each change that older code could not read."""

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
) -> None:
    """Make what is missing and check what is there. A database that is complete is only looked at.

    Args:
        database: The driver's database.
        collections: What every collection has, by its name.

    Raises:
        ConfigError: A newer ezra wrote the database.
        TierError: It cannot be reached, or refuses.
    """
    found, present = await together([schema_mark(database), _names(database)])
    made = mark_of(collections)
    if found == made and collections.keys() <= set(present):
        return
    lanes = [list(collections.items())[lane::_LANES] for lane in range(_LANES)]
    await together(_ensure_all(database, lane, set(present)) for lane in lanes)
    with translated("prepare"):
        await database["meta"].update_one({"_id": "schema"}, {"$set": made}, upsert=True)


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


async def _ensure_all(
    database: Any,  # noqa: ANN401 - of either driver
    collections: Sequence[tuple[str, Specification]],
    present: Collection[str],
) -> None:
    for name, (indexes, schema) in collections:
        rules: Document = {} if schema is None else _rules(schema)
        with translated(f"prepare {name}"):
            is_new = name not in present and await _created(database, name, rules)
            if not is_new and rules:
                await database.command("collMod", name, **rules)
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
