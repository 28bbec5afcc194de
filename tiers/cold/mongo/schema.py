"""Collections, their indexes and validators, and the way to them.

Everything is ensured when the database is opened: what is there stays, what is missing is made,
and a database of another schema version is refused. The validators repeat what the code already
holds to: whoever else writes into the database is held to it as well. The mark that says the
version and the digest of all this comes last: without it everything is looked at again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection as Names
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, NamedTuple

from pymongo import ASCENDING, IndexModel
from pymongo.errors import OperationFailure

from ...concurrency import together
from ...errors import ConfigError
from ..port import OWNERS, Collection
from .driver import limited
from .rendering import BODY, EMBEDDING_MODEL, Document, indexes
from .translation import translated

VERSION = 11
"""Raised with each change that older code could not read."""

BUILDING_SECONDS_MAX = 600.0
"""How long a command may take that builds an index."""

WITHOUT_VECTORS = IndexModel(
    [("tenant", ASCENDING), ("live", ASCENDING), (EMBEDDING_MODEL, ASCENDING)],
    name="without_vectors",
)
"""By which facts are found that have no vector of a model yet."""

_BESIDE: Mapping[str, Sequence[IndexModel]] = {"facts": (WITHOUT_VECTORS,)}
"""Indexes over what stands beside records, by collection."""

_NAMESPACE_EXISTS = 48
_LANES = 4
"""How many collections are made at the same time."""


class Specification(NamedTuple):
    """What a collection has in the database: its indexes and its validator."""

    indexes: Sequence[IndexModel]
    validator: Document


def specifications(collections: Sequence[Collection[Any]]) -> dict[str, Specification]:
    """Return what the database has to have of each declared collection, by its name."""
    return {one.name: _specification(one) for one in collections}


@lru_cache(maxsize=256)
def _specification(collection: Collection[Any]) -> Specification:
    """Return what one collection has; a declaration never changes, and opening asks for all."""
    of_it = (*indexes(collection), *_BESIDE.get(collection.name, ()))
    return Specification(of_it, _validator(collection))


async def prepare(
    database: Any,  # noqa: ANN401 - of either driver
    collections: Sequence[Collection[Any]],
) -> None:
    """Make what is missing and check what is there. A database that is complete is only looked at.

    Any number of processes may do it at the same time.

    Args:
        database: The driver's database.
        collections: All that it is to have.

    Raises:
        ConfigError: Another schema version wrote the database.
        TierError: It cannot be reached, or refuses.
    """
    wanted = specifications(collections)
    found, names = await together([schema_mark(database), _names(database)], ends_all=True)
    present, made = set(names), mark_of(wanted)
    if found == made and wanted.keys() <= present:
        return
    await _in_lanes(database, wanted, present)
    with translated("prepare"):
        await database["meta"].update_one({"_id": "schema"}, {"$set": made}, upsert=True)


async def schema_mark(database: Any) -> Document:  # noqa: ANN401 - of either driver
    """Return what the database says of its own schema; empty when it is new.

    Raises:
        ConfigError: Another schema version wrote the database.
    """
    with translated("prepare"):
        found: Document = await database["meta"].find_one({"_id": "schema"}, {"_id": 0}) or {}
    version = found.get("version", VERSION)
    if version != VERSION:
        reason = (
            f"the database {database.name} has schema version {version} and this ezra expects "
            f"{VERSION}; export it with the ezra that wrote it and import it into a new database"
        )
        raise ConfigError("EZRA_MONGODB_URI", reason)
    return found


def mark_of(wanted: Mapping[str, Specification]) -> Document:
    """Return the mark of a database in which all of this is made."""
    described = {
        name: [[index.document for index in one.indexes], one.validator]
        for name, one in wanted.items()
    }
    text = json.dumps(described, sort_keys=True)
    return {"version": VERSION, "digest": hashlib.sha256(text.encode()).hexdigest()}


def _validator(collection: Collection[Any]) -> Document:
    """Return a JSON schema for what every document of a collection has: owner, id and record."""
    owners = OWNERS[collection.extent]
    something = {"bsonType": "string", "minLength": 1}
    properties = {**dict.fromkeys(owners, something), "id": {"bsonType": "string"}, BODY: something}
    return {
        "$jsonSchema": {
            "bsonType": "object",
            "required": [*properties],
            "properties": properties,
        }
    }


async def _names(database: Any) -> list[str]:  # noqa: ANN401 - of either driver
    with translated("prepare"):
        names: list[str] = await database.list_collection_names()
        return names


async def _in_lanes(
    database: Any,  # noqa: ANN401 - of either driver
    wanted: Mapping[str, Specification],
    present: Names[str],
) -> None:
    """Ensure every collection, some at the same time."""

    async def lane(number: int) -> None:
        for name, specification in list(wanted.items())[number::_LANES]:
            # What is there already may take its time; in a new database there is nothing to build.
            limit = limited(BUILDING_SECONDS_MAX) if name in present else nullcontext()
            with translated(f"prepare {name}"), limit:
                rules = _rules(specification.validator)
                if name in present or not await _created(database, name, rules):
                    await database.command("collMod", name, **rules)
                await database[name].create_indexes([*specification.indexes])

    await together((lane(number) for number in range(_LANES)), ends_all=True)


async def _created(database: Any, name: str, rules: Document) -> bool:  # noqa: ANN401 - of either driver
    try:
        await database.create_collection(name, check_exists=False, **rules)
    except OperationFailure as error:
        if error.code != _NAMESPACE_EXISTS:
            raise
        return False  # somebody else opens the same new database at the same time
    return True


def _rules(validator: Document) -> Document:
    return {"validator": validator, "validationLevel": "strict", "validationAction": "error"}
