"""A MongoDB database of schema version 1, with its documents, indexes and validators.

The file beside this one was read out of a database that this version had filled through its own
ports: two tenants with three graphs each, and in ``acme`` a record of every kind, those of texts
once for nobody and once for the user ``team``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bson import json_util
from pymongo import IndexModel, MongoClient

_FILE = Path(__file__).with_suffix(".json")


def lay_out(uri: str, database: str) -> None:
    """Make the database on a server, with all that is in it."""
    found: dict[str, Any] = json.loads(_FILE.read_text(), object_hook=json_util.object_hook)
    with MongoClient[dict[str, Any]](uri) as client:
        target = client[database]
        for name, content in found.items():
            target.create_collection(name, **content["options"])
            indexes = [
                IndexModel(list(one.pop("key").items()), **one) for one in content["indexes"]
            ]
            if indexes:
                target[name].create_indexes(indexes)
            if content["documents"]:
                target[name].insert_many(content["documents"])
