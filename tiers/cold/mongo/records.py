"""Records in MongoDB: a document per record, the whole record in it as JSON.

Questions of one step that do not wait for each other are one command; a transaction of the port
is one of MongoDB's, which the server undoes or commits as a whole.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

from pymongo import UpdateOne

from ...concurrency import awaited
from ...errors import TierRejected
from .. import port
from ..bodies import forget, parsed
from ..visibility import check, check_delete, check_write
from . import rendering
from .database import TIMEOUT_SECONDS, Database, Session
from .driver import DriverName, connected
from .rendering import BODY, Document, keys, order, where
from .schema import prepare
from .translation import DuplicateKey, translated

T = TypeVar("T")

ATTEMPTS_MAX = 20
"""Tries of a transaction that others were faster than: the next one sees what they wrote."""

CONNECTIONS_MAX = 50


class MongoRecordStore:
    """A ``RecordStore`` in one MongoDB database, which has what is no record as well."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def read(self, operation: str, steps: Callable[[], port.Steps[T]]) -> T:
        """Answer questions, all from one snapshot; those of one step by one command."""
        return await self.database.snapshot(operation, _carried_out(operation, steps))

    async def change(
        self,
        operation: str,
        steps: Callable[[], port.Steps[T]],
        *,
        is_brief: bool = True,
    ) -> T:
        """Carry out a transaction.

        Those of one tenant follow each other in this process: they meet in its audit feed.
        """
        alone = ("change", port.scope_of(steps()).tenant)
        transaction = _carried_out(operation, steps)
        step = partial(self.database.step, operation, transaction, alone=alone, is_brief=is_brief)
        for _ in range(ATTEMPTS_MAX - 1):
            try:
                return await step()
            except DuplicateKey:
                continue
        return await step()

    async def scrub(self, *, files: bool = False) -> None:  # noqa: ARG002 - they are the server's
        """Leave nothing in memory; files are the server's."""
        forget()


@asynccontextmanager
async def mongo_record_store(
    uri: str,
    collections: Sequence[port.Collection[Any]],
    *,
    database: str = "ezra",
    driver: DriverName = "pymongo",
    timeout_seconds: float = TIMEOUT_SECONDS,
    connections_max: int = CONNECTIONS_MAX,
) -> AsyncIterator[MongoRecordStore]:
    """Open a database for the length of an ``async with`` block; what is missing is made.

    Raises:
        ConfigError: It is of another version, or the server cannot be used.
        TierError: It cannot be reached.
    """

    async def made(raw: Any) -> None:  # noqa: ANN401 - of either driver
        await prepare(raw, collections)

    async with (
        connected(
            uri, driver, timeout_seconds=timeout_seconds, connections_max=connections_max
        ) as client,
        Database(client, database, made, timeout_seconds=timeout_seconds) as opened,
    ):
        yield MongoRecordStore(opened)


def _carried_out(
    operation: str, steps: Callable[[], port.Steps[T]]
) -> Callable[[Session], Awaitable[T]]:
    return lambda session: port.run_async(steps(), _Transaction(operation, session).answered)


class _Transaction:
    """What answers the requests of one transaction, or of one reading."""

    def __init__(self, operation: str, session: Session) -> None:
        self._operation = operation
        self._session = session

    async def answered(self, requests: Sequence[port.Request]) -> Sequence[Any]:
        """Return what requests come to: questions by one command, then writes one after another."""
        with translated(self._operation), self._session.limited():
            questions = [one for one in requests if not isinstance(one, port.WRITES)]
            writes = [one for one in requests if isinstance(one, port.WRITES)]
            found = iter(await self._asked(questions))
            alike = [list(some) for _, some in groupby(writes, key=_sort_of)]
            done = iter([one for some in alike for one in await self._changed(some)])
            return [next(done if isinstance(one, port.WRITES) else found) for one in requests]

    async def _asked(self, questions: Sequence[Any]) -> Sequence[Any]:
        """Answer questions, by one command where there are several."""
        if len(questions) == 1 and isinstance(questions[0], port.Find):
            return [await self._found(questions[0])]
        return await self._union(questions)

    async def _changed(self, requests: Sequence[Any]) -> Sequence[Any]:
        """Carry out writes that are alike: several that store by one command."""
        if not self._session.is_atomic:
            raise TierRejected("cold", self._operation, "a write while reading")
        if isinstance(requests[0], port.Delete):
            return [await self._deleted(request) for request in requests]
        for request in requests:
            check_write(request)
        await self._written(requests)
        return [None] * len(requests)

    async def _found(self, find: port.Find[Any]) -> list[Any]:
        if find.is_of_nothing:
            return []
        raw = self._raw(find.collection)
        cursor = raw.find(where(find), {BODY: 1}, limit=find.limit, session=self._transaction)
        cursor = cursor.hint(keys(find.collection, find.by))
        if find.order:
            cursor = cursor.sort(order(find))
        if find.skip:
            cursor = cursor.skip(find.skip)
        found = await cursor.batch_size(find.limit).to_list(length=find.limit)
        return _records(find, found)

    async def _union(self, questions: Sequence[port.Question]) -> Sequence[Any]:
        """Answer several questions by one command: a union, whose parts are told apart by ``n``."""
        parts = [
            (question, find) for question in questions for find in rendering.found_by(question)
        ]
        answers: list[list[Document]] = [[] for _ in parts]
        numbered = [
            (number, question, find)
            for number, (question, find) in enumerate(parts)
            if not find.is_of_nothing
        ]
        if numbered:
            await self._united(numbered, answers)
        each = iter(answers)
        return [_answer_to(one, [next(each) for _ in rendering.found_by(one)]) for one in questions]

    async def _united(
        self,
        parts: Sequence[tuple[int, port.Question, port.Find[Any]]],
        answers: Sequence[list[Document]],
    ) -> None:
        first, *rest = (
            (find, rendering.stages_of(question, find, number)) for number, question, find in parts
        )
        union = [
            {"$unionWith": {"coll": find.collection.name, "pipeline": stages}}
            for find, stages in rest
        ]
        find, stages = first
        aggregated = self._raw(find.collection).aggregate(
            [*stages, *union],
            session=self._transaction,
            hint=dict(keys(find.collection, find.by)),
            batchSize=port.RECORDS_MAX,
        )
        for row in await (await awaited(aggregated)).to_list(length=port.RECORDS_MAX):
            answers[row["n"]].append(row)

    async def _written(self, requests: Sequence[port.Put[Any] | port.Replace[Any]]) -> None:
        collection = requests[0].collection
        raw = self._raw(collection)
        records = [request.record for request in requests]
        if isinstance(requests[0], port.Put):
            stored = [rendering.document(collection, record) for record in records]
            await raw.insert_many(stored, session=self._transaction)
            return
        replaced = [
            UpdateOne(collection.name_of(record), rendering.replacement(collection, record))
            for record in records
        ]
        done = await raw.bulk_write(replaced, session=self._transaction)
        if done.matched_count != len(records):
            what = f"one of {collection.name} {[*map(collection.key, records)]} is not there"
            raise TierRejected("cold", self._operation, what)

    async def _deleted(self, operation: port.Delete[Any]) -> int:
        find, unless = operation
        check_delete(operation, await self._found(unless) if unless else ())
        raw, chosen = self._raw(find.collection), where(find)
        if find.limit < port.RECORDS_MAX:
            cursor = raw.find(chosen, {"_id": 1}, limit=find.limit, session=self._transaction)
            found = await cursor.sort(order(find) or [("_id", 1)]).to_list(length=find.limit)
            chosen = {**chosen, "_id": {"$in": [row["_id"] for row in found]}}
        done = await raw.delete_many(chosen, session=self._transaction)
        return int(done.deleted_count)

    def _raw(self, collection: port.Collection[Any]) -> Any:  # noqa: ANN401 - of either driver
        return self._session.raw[collection.name]

    @property
    def _transaction(self) -> Any:  # noqa: ANN401 - of either driver
        return self._session.transaction


def _sort_of(request: port.Request) -> tuple[type, str]:
    return type(request), request.collection.name if isinstance(
        request, port.Put | port.Replace
    ) else ""


def _answer_to(question: port.Question, parts: Sequence[Sequence[Document]]) -> Any:  # noqa: ANN401
    if isinstance(question, port.Near):
        fields = question.of
        return [
            [tuple(rendering.value_of(row, one) for one in fields) for row in rows]
            for rows in parts
        ]
    if isinstance(question, port.Count) and question.by_value:
        counted = zip(question.found.listed.values, parts, strict=True)
        return {(value,): row["count"] for value, rows in counted for row in rows}
    (rows,) = parts
    if isinstance(question, port.Count):
        return {
            tuple(rendering.value_of(row["_id"], name) for name in question.of): row["count"]
            for row in rows
        }
    if isinstance(question, port.Postings):
        return [one for row in rows for one in rendering.posted(question, row)]
    return _records(question, rows)


def _records(find: port.Find[Any], rows: Sequence[Document]) -> list[Any]:
    model: Any = find.collection.record
    records = [parsed(model, row[BODY]) for row in rows]
    check(find, records)
    return records
