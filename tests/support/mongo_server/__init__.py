"""A stand-in for MongoDB that real drivers talk to over TCP.

It exists because no MongoDB can be had where the tests run. It answers the commands that the
cold tier uses as MongoDB 8.0 documents them, refuses everything else (never ignores it), and
records what it was asked. Documents are kept by ``mongomock``; what ``mongomock`` silently does
differently from MongoDB (equality of numbers and booleans, order of fields, sorting by arrays,
unique indexes over arrays, conflicting updates, and more) is done here by MongoDB's rules.

What it is not: a proof. Search is exact where Atlas is approximate and eventually consistent, and
nothing is sharded, replicated or durable.

Differences that a test may notice:

* a transaction is rolled back when the connection of its last statement is lost;
* a plain write waits ``lock_wait_seconds`` for a transaction, not for as long as it is open;
* search sees a write at once;
* after a cut connection PyMongo waits half a second before it looks at the server again: that is
  its own minimum, and what a test of a retry costs.

    with running_mongo() as server:
        client = AsyncMongoClient(server.uri)
"""

from .engine import Knobs
from .server import MongoServer, running_mongo

__all__ = ["Knobs", "MongoServer", "running_mongo"]
