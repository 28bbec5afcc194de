"""Records to documents and back. A field of a document is named like the field it holds.

Times become integer microseconds, because BSON's own dates end at milliseconds. Topics, users and
privacy take the form in which the scope predicate asks for them. What callers may nest freely
(``payload``, ``body``) is JSON text: its keys may be anything, its integers of any size.

Documents of an older ezra may lack fields that records have since; those take their defaults.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from ...errors import CorruptRecord
from ...moments import microseconds, moment
from ...records import Owned
from ..ownership import NO_TOPIC, SHARED, private_to

Document: TypeAlias = dict[str, Any]
R = TypeVar("R", bound=BaseModel)

NO_USER = ""
"""``for_user`` of a record of no user; no user is called that."""

_JSON_FIELDS = frozenset(("payload", "body", "properties", "details"))
_ONLY_WHEN_SET = frozenset(("redacted_at", "retired_at"))
"""Fields of records that few ever have."""


def document_of(record: BaseModel, *without: str, **more: object) -> Document:
    """Return a record in stored form.

    Args:
        record: What.
        without: Fields of the record that are not stored.
        more: Fields that the record does not have, stored as they are.
    """
    values = record.model_dump(exclude=set(without))
    document = {name: _stored(name, value) for name, value in values.items()}
    if isinstance(record, Owned):
        del document["private"]
        for name in _ONLY_WHEN_SET & document.keys():
            if document[name] is None:
                del document[name]
        document |= {
            "topics": list(record.topics) or [NO_TOPIC],
            "private_to": private_to(record),
            "for_user": record.user_id or NO_USER,
        }
    return document | more


def record_of(model: type[R], document: Mapping[str, Any], **known: object) -> R:
    """Return the record that a document holds; fields that the model lacks are passed over.

    Args:
        model: The record's type.
        document: As ``document_of`` makes it.
        known: Fields that are not in the document under their own name.

    Raises:
        CorruptRecord: The document does not make a valid record.
    """
    try:
        values = _values(model, document)
        if issubclass(model, Owned):
            values["private"] = document["private_to"] != SHARED
            values["topics"] = [topic for topic in document["topics"] if topic != NO_TOPIC]
        return model.model_validate(values | known)
    except (KeyError, TypeError, ValidationError, ValueError, OverflowError) as error:
        reason = f"a stored {model.__name__.lower()} cannot be read back"
        raise CorruptRecord("cold", "read", reason) from error


def _stored(name: str, value: object) -> object:
    if isinstance(value, datetime):
        return microseconds(value)
    if name in _JSON_FIELDS:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return {inner: _stored(inner, one) for inner, one in value.items()}
    if isinstance(value, tuple):
        return [_stored("", one) for one in value]
    return value


def _values(model: type[BaseModel], document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _loaded(model, name, document[name])
        for name in model.model_fields
        if name in document
    }


def _loaded(model: type[BaseModel], name: str, value: object) -> object:
    if isinstance(value, int) and name in _time_fields(model):
        return moment(value)
    if name in _JSON_FIELDS and isinstance(value, str):
        return json.loads(value)
    inner = _inner_models(model).get(name)
    if inner is not None and isinstance(value, list):
        return [_values(inner, one) for one in value]
    if inner is not None and isinstance(value, dict):
        return _values(inner, value)
    return value


@lru_cache(maxsize=64)
def _time_fields(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(
        name
        for name, field in model.model_fields.items()
        if "datetime" in repr(field.annotation).lower()  # as part of pydantic's AwareDatetime
    )


@lru_cache(maxsize=64)
def _inner_models(model: type[BaseModel]) -> Mapping[str, type[BaseModel]]:
    """Return the models of fields that hold a record, or several, of their own."""
    found: dict[str, type[BaseModel]] = {}
    for name, field in model.model_fields.items():
        for part in (field.annotation, *get_args(field.annotation)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                found[name] = part
    return found
