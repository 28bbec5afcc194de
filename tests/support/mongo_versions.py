"""MongoDB databases of older schema versions, with their documents, indexes and validators.

The files beside this one were read out of databases that these versions had filled through their
own ports.

* Version 1: two tenants with three graphs each, and in ``acme`` a record of every kind, those of
  texts once for nobody and once for the user ``team``.
* Version 2: beliefs. Those of ``race`` had moved house, one event to a change; in ``monza`` a
  process had died before an event that it had written the content of, and one after an event that
  it had not projected yet.
* Version 3: turns of two days with their summaries, all but the last in the episode of their day,
  and facts of the same subject and predicate, one of which gave way to the other.
* Version 4: turns of two graphs with outputs of tools and without, one of them redacted, and a fact
  with subject, predicate and object.
* Version 5: a turn, a fact, a rule, a belief and an event of one graph. What came after it are
  collections: documents and cards.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bson import json_util
from pymongo import IndexModel, MongoClient


def lay_out(uri: str, database: str, version: int) -> None:
    """Make a database of an older version on a server, with all that is in it."""
    file = Path(__file__).with_name(f"mongo_version_{version}.json")
    found: dict[str, Any] = json.loads(file.read_text(), object_hook=json_util.object_hook)
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
