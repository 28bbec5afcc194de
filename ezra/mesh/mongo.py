"""A MongoDB database as a source: aggregations made of declared questions.

A pipeline has the stages ``$match``, ``$group``, ``$project``, ``$sort`` and ``$limit`` in that
order and no other. Names come from the declaration; a value stands behind ``$eq`` or its like, is
text, a number, a day or a flag, and never a document, so that no operator can come in with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from tiers.errors import ConfigError, TierRejected, TierUnavailable
from tiers.extras import needs
from tiers.mesh import FieldType

from .questions import Condition, Measure, slot_of
from .rows import Found, typed
from .slots import Value
from .source import TIER, Plan, Source
from .specs import MongoQuestion, MongoSpec

if TYPE_CHECKING:
    from pymongo import AsyncMongoClient

CONNECTIONS_MAX = 4

GRACE_SECONDS = 0.5
"""For the driver to say itself that a server is away or late: it knows which."""

ANSWER_BYTES_MAX = 1024 * 1024
"""Of all rows of an answer, as they come."""

_OPERATORS = {"=": "$eq", "!=": "$ne", "<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte"}


class MongoSource(Source):
    """A MongoDB database; see ``Source``."""

    kind = "mongodb"
    _declared: MongoSpec

    def __init__(self, name: str, spec: MongoSpec, seconds: float) -> None:
        super().__init__(name, spec, seconds)
        self._client: AsyncMongoClient[dict[str, Any]] | None = None
        self._is_checked = False
        if not spec.url.get_secret_value().startswith(("mongodb://", "mongodb+srv://")):
            raise ConfigError(f"mesh source {name}", "url: is no address such as mongodb://host/")
        for question in spec.questions.values():
            for one in question.where:
                if one.op not in _OPERATORS:
                    reason = f"where: {one.op!r} is none of {', '.join(_OPERATORS)}"
                    raise ConfigError(f"mesh source {name}", reason)

    @property
    def is_open(self) -> bool:
        """Whether its collections were found."""
        return self._is_checked

    async def open(self) -> None:
        """Connect, and see that each declared collection is there."""
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._connected)
            client = self._client
        with self._failures():
            database = client[self._declared.database]
            async with asyncio.timeout(self.seconds + GRACE_SECONDS):
                there = await database.list_collection_names()
        missing = sorted(set(self._declared.collections) - set(there))
        if missing:
            reason = f"collections.{missing[0]}: there is no such collection"
            raise ConfigError(f"mesh source {self.name}", reason)
        self._is_checked = True

    async def close(self) -> None:
        """Close every connection."""
        client, self._client, self._is_checked = self._client, None, False
        if client is not None:
            await client.close()

    async def find(self, plan: Plan) -> Found:
        """Run one aggregation."""
        if not self._is_checked:
            await self.open()
        client = self.there(self._client)
        question: MongoQuestion = plan.question
        fields = self._declared.collections[question.collection].fields
        types = question.types(fields.__getitem__)
        with self._failures():
            collection = _raw(client[self._declared.database][question.collection])
            async with asyncio.timeout(self.seconds + GRACE_SECONDS):
                cursor = await collection.aggregate(
                    pipeline_of(question, plan.values, fields),
                    maxTimeMS=max(1, int(self.seconds * 1000)),
                    batchSize=question.limit + 1,
                )
                async with cursor:
                    found, is_more = await self._documents(cursor, question.limit)
            decoded = await asyncio.to_thread(_decoded, found)
        rows = [self._row(one, number, types) for number, one in enumerate(decoded, 1)]
        return Found(rows, types, more=is_more)

    async def _documents(self, cursor: Any, limit: int) -> tuple[list[Any], bool]:  # noqa: ANN401
        """Return documents as they came, and whether there are more; none is read in yet.

        Raises:
            TierRejected: One has more bytes than all of an answer may.
        """
        found: list[Any] = []
        size = 0
        async for document in cursor:
            size += len(document.raw)
            if len(document.raw) > ANSWER_BYTES_MAX:
                reason = f"a row of its answer has more than {ANSWER_BYTES_MAX} bytes"
                raise TierRejected(TIER, self.name, reason)
            if len(found) == limit or size > ANSWER_BYTES_MAX:
                return found, True
            found.append(document)
        return found, False

    def _row(
        self, document: Mapping[str, Any], number: int, types: Mapping[str, FieldType]
    ) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for at, (name, kind) in enumerate(types.items()):
            value = document.get(f"f{at}")
            try:
                row[name] = typed(_utc(value), kind)
            except ValueError as error:
                raise TierRejected(TIER, self.name, f"{name} of row {number} {error}") from None
        return row

    def _connected(self) -> AsyncMongoClient[dict[str, Any]]:
        with needs("mesh", f"mesh source {self.name}"):
            # Only who asks MongoDB pays for it.
            from pymongo import AsyncMongoClient  # noqa: PLC0415
            from pymongo.errors import PyMongoError  # noqa: PLC0415

        milliseconds = max(1, int(self.seconds * 1000))
        try:
            return AsyncMongoClient(
                self._declared.url.get_secret_value(),
                serverSelectionTimeoutMS=milliseconds,
                connectTimeoutMS=milliseconds,
                socketTimeoutMS=milliseconds,
                maxPoolSize=CONNECTIONS_MAX,
                tz_aware=True,
                appname="ezra mesh",
            )
        except (PyMongoError, ValueError, TypeError):
            reason = "url: is no address such as mongodb://host/"
            raise ConfigError(f"mesh source {self.name}", reason) from None  # it has the password

    @contextmanager
    def _failures(self) -> Iterator[None]:
        from bson.errors import BSONError  # noqa: PLC0415 - loaded with the client
        from pymongo import errors  # noqa: PLC0415 - likewise

        late = (TimeoutError, errors.ExecutionTimeout, errors.NetworkTimeout)
        try:
            yield
        except late as error:
            raise self.late() from error
        except errors.ConnectionFailure as error:
            reason = f"cannot be reached: {type(error).__name__}"
            raise TierUnavailable(TIER, self.name, reason) from error
        except BSONError as error:
            raise TierRejected(TIER, self.name, "its answer cannot be read: BSON") from error
        except errors.PyMongoError as error:
            reason = f"the server refused: {type(error).__name__}"
            raise TierRejected(TIER, self.name, reason) from error


def _raw(collection: Any) -> Any:  # noqa: ANN401 - of the driver
    """Return a collection whose documents come as bytes, to be counted before they are read."""
    from bson.raw_bson import DEFAULT_RAW_BSON_OPTIONS  # noqa: PLC0415 - loaded with the client

    return collection.with_options(codec_options=DEFAULT_RAW_BSON_OPTIONS)


def _decoded(documents: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Return documents of which it is known how large they are.

    Moments beyond Python's calendar become its edge, and text that is no UTF-8 its likeness.
    """
    from bson import decode  # noqa: PLC0415 - loaded with the client
    from bson.codec_options import CodecOptions, DatetimeConversion  # noqa: PLC0415 - likewise

    options: CodecOptions[Mapping[str, Any]] = CodecOptions(
        tz_aware=True,
        unicode_decode_error_handler="replace",
        datetime_conversion=DatetimeConversion.DATETIME_CLAMP,
    )
    return [decode(one.raw, options) for one in documents]


def pipeline_of(
    question: MongoQuestion, values: Mapping[str, Value], fields: Mapping[str, FieldType]
) -> list[dict[str, Any]]:
    """Return a question as an aggregation. The fields of its rows are ``f0``, ``f1``, … in order.

    Args:
        question: Declared.
        values: Of its slots.
        fields: Those of its collection, with their types.
    """
    names = {name: f"f{at}" for at, name in enumerate(question.answered)}
    pipeline: list[dict[str, Any]] = []
    conditions = [_condition(one, values, fields) for one in question.where]
    held = [one for one in conditions if one is not None]
    if held:
        pipeline.append({"$match": {"$and": held}})
    if question.measures:
        pipeline += _grouped(question, names)
    else:
        shown = {short: f"${name}" for name, short in names.items()}
        pipeline.append({"$project": {"_id": 0, **shown}})
    order = {
        names[one.removeprefix("-")]: -1 if one.startswith("-") else 1 for one in question.order_by
    }
    if order:
        pipeline.append({"$sort": order})
    pipeline.append({"$limit": question.limit + 1})
    return pipeline


def _grouped(question: MongoQuestion, names: Mapping[str, str]) -> list[dict[str, Any]]:
    group: dict[str, Any] = {
        "_id": {names[name]: f"${name}" for name in question.group_by} or None,
        **{names[name]: _measure(one) for name, one in question.measures.items()},
    }
    shown = {names[name]: f"$_id.{names[name]}" for name in question.group_by}
    shown |= {names[name]: f"${names[name]}" for name in question.measures}
    return [{"$group": group}, {"$project": {"_id": 0, **shown}}]


def _measure(measure: Measure) -> dict[str, Any]:
    if measure.field is None:
        return {"$sum": 1}
    return {f"${measure.function}": f"${measure.field}"}


def _condition(
    condition: Condition, values: Mapping[str, Value], fields: Mapping[str, FieldType]
) -> dict[str, Any] | None:
    slot = slot_of(condition.value)
    if slot is not None and slot not in values:
        return None
    value: Any = condition.value if slot is None else values[slot]
    if isinstance(value, date):
        kind = fields[condition.field]
        is_moment = kind == "datetime"
        value = (
            datetime(value.year, value.month, value.day, tzinfo=UTC)
            if is_moment
            else value.isoformat()
        )
    return {condition.field: {_OPERATORS[condition.op]: value}}


def _utc(value: object) -> object:
    """Return what a document has as it can be typed; ids and decimals are text."""
    if isinstance(value, str | int | float | bool | datetime | list | dict | None):
        return value
    return str(value)
