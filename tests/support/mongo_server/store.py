"""The documents: ``mongomock``'s store, with indexes that follow every write.

``mongomock`` keeps the documents, so a test can look at them with its client; matching, updating
and indexing are MongoDB's rules from the neighbouring modules. A stored document is never
changed in place: a write puts another one in its place, which is what lets a transaction look
back.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import mongomock
from bson import ObjectId
from mongomock.helpers import hashdict
from mongomock.store import CollectionStore, DatabaseStore, ServerStore

from .errors import CommandError
from .schema import Validator
from .search_index import SearchIndex
from .uniqueness import Index
from .values import Document, Key, key_of

_ID_SPEC = {"v": 2, "key": {"_id": 1}, "name": "_id_"}


class Collection(CollectionStore):
    """One collection.

    Attributes:
        namespace: Database and name, joined by a dot.
        declared: The indexes by name.
        validator: The rules for documents, or ``None``.
        search_indexes: The search indexes by name.
    """

    def __init__(self, database: str, name: str) -> None:
        super().__init__(name)
        self.database = database
        self.namespace = f"{database}.{name}"
        self._reset()

    def _reset(self) -> None:
        self.declared: dict[str, Index] = {"_id_": Index(_ID_SPEC)}
        self.validator: Validator | None = None
        self.search_indexes: dict[str, SearchIndex] = {}
        self._slots: dict[Key, Hashable] = {}

    def get(self, id_key: Key) -> Document | None:
        """Return the document whose ``_id`` has this key, or ``None``."""
        slot = self._slots.get(id_key)
        return None if slot is None else self._documents[slot]

    def every(self) -> Iterator[Document]:
        """Yield all documents in order of insertion."""
        return iter(tuple(self._documents.values()))

    def put(self, id_key: Key, document: Document | None) -> None:
        """Make ``document`` the one under the key, or remove what is there."""
        if document is not None:
            self[_slot(document["_id"])] = document
        elif id_key in self._slots:
            del self[self._slots[id_key]]

    def check_unique(self, id_key: Key, document: Document) -> None:
        """Raise the duplicate key error that writing the document would earn."""
        for index in self.declared.values():
            taken = index.conflict(id_key, index.keys(document))
            if taken is not None:
                raise index.duplicate(self.namespace, document, taken)

    def duplicate_id(self, document: Document, id_key: Key) -> CommandError:
        """Return the error for inserting under an ``_id`` that is taken."""
        return self.declared["_id_"].duplicate(self.namespace, document, (id_key,))

    def add_index(self, index: Index) -> None:
        """Build an index over what is there; a duplicate leaves everything as it was."""
        for document in self._documents.values():
            id_key = key_of(document["_id"])
            taken = index.conflict(id_key, index.keys(document))
            if taken is not None:
                raise index.duplicate(self.namespace, document, taken)
            index.put(id_key, document)
        self.declared[index.name] = index
        self.create()

    def reindex(self) -> None:
        """Build all indexes again, after the documents were changed behind them."""
        self.declared = {name: Index(index.spec) for name, index in self.declared.items()}
        for search_index in self.search_indexes.values():
            search_index.forget_derived()
        self._slots = {}
        for slot, document in self._documents.items():
            self._hold(slot, document)

    def _hold(self, slot: Hashable, document: Document) -> None:
        id_key = key_of(document["_id"])
        for index in self.declared.values():
            index.put(id_key, document)
        self._slots[id_key] = slot

    def _let_go(self, slot: Hashable) -> None:
        id_key = key_of(dict(slot) if isinstance(slot, hashdict) else slot)
        if self._slots.pop(id_key, None) is not None:
            for index in self.declared.values():
                index.remove(id_key)

    # What mongomock calls, and therefore every way in:

    def __setitem__(self, key: Hashable, val: Document) -> None:
        self._hold(key, val)
        super().__setitem__(key, val)

    def __delitem__(self, key: Hashable) -> None:
        self._let_go(key)
        super().__delitem__(key)

    def drop(self) -> None:
        """Forget documents, indexes and rules."""
        super().drop()
        self._reset()


def _slot(value: Any) -> Hashable:
    return hashdict(value) if isinstance(value, dict) else value


def checked_id(document: Document) -> Key:
    """Return the key of the document's ``_id``; refuses what cannot be one."""
    value = document["_id"]
    if isinstance(value, list | bool) or value is None:
        raise CommandError(53, f"The '_id' value cannot be {value!r} in the stand-in")
    return key_of(value)


def with_id(document: Document) -> Document:
    """Return the document with an ``_id``, which comes first."""
    if "_id" not in document:
        return {"_id": ObjectId(), **document}
    if next(iter(document)) == "_id":
        return document
    return {"_id": document["_id"], **document}


class _Database(DatabaseStore):
    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def __getitem__(self, col_name: str) -> Collection:
        found = self._collections.get(col_name)
        if found is None:
            found = self._collections[col_name] = Collection(self._name, col_name)
        return found

    def drop(self) -> None:
        for collection in self._collections.values():
            collection.drop()
        self._collections.clear()


class Store(ServerStore):
    """All databases.

    Attributes:
        client: A ``mongomock`` client over the same documents.
    """

    def __init__(self) -> None:
        super().__init__()
        self.client = mongomock.MongoClient(_store=self)

    def __getitem__(self, db_name: str) -> _Database:
        found = self._databases.get(db_name)
        if found is None:
            found = self._databases[db_name] = _Database(db_name)
        return found

    def collections(self, database: str) -> list[Collection]:
        """Return the created collections of a database, by name."""
        names = sorted(self[database].list_created_collection_names())
        return [self[database][name] for name in names]

    def copy_database(self, source: str, target: str) -> None:
        """Make a database with the collections, rules, indexes and documents of another."""
        for one in self.collections(source):
            copy = self[target][one.name]
            copy.create()
            copy.validator = one.validator
            copy.declared = {name: Index(index.spec) for name, index in one.declared.items()}
            for document in one.every():
                copy.put(key_of(document["_id"]), document)

    def drop_database(self, database: str) -> None:
        """Forget a database."""
        self[database].drop()

    def reindex(self) -> None:
        """Build every index again."""
        for database in self.list_created_database_names():
            for collection in self.collections(database):
                collection.reindex()
