"""``$jsonSchema`` validators: the part that is enforced, and a refusal of every other keyword.

https://www.mongodb.com/docs/manual/reference/operator/query/jsonSchema/
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import CommandError, only, refuse
from .values import NUMBER_TYPES, TYPE_NAMES, Document, type_name


@dataclass(frozen=True)
class Validator:
    """The rules of a collection, to which every write is held.

    Attributes:
        expression: As it was given, and as it is listed.
    """

    expression: Document

    def check(self, document: Document) -> None:
        """Raise for a document that breaks the rules."""
        broken = _problems(self.expression["$jsonSchema"], document)
        if broken:
            raise CommandError(
                121,
                "Document failed validation",
                details={
                    "errInfo": {
                        "failingDocumentId": document["_id"],
                        "details": {
                            "operatorName": "$jsonSchema",
                            "schemaRulesNotSatisfied": broken,
                        },
                    }
                },
            )


def checked_validator(body: Document) -> Validator | None:
    """Return a command's validator; an empty one means none. Refuses what is not enforced."""
    if body.get("validationLevel", "strict") != "strict":
        refuse(f"validationLevel {body['validationLevel']!r}")
    if body.get("validationAction", "error") != "error":
        refuse(f"validationAction {body['validationAction']!r}")
    expression = body.get("validator")
    if not expression:
        return None
    if not isinstance(expression, dict) or expression.keys() != {"$jsonSchema"}:
        refuse("a validator other than one $jsonSchema")
    _check_schema(expression["$jsonSchema"])
    return Validator(expression)


def _check_schema(schema: Any) -> None:
    if not isinstance(schema, dict):
        raise CommandError(9, "$jsonSchema must be an object")
    only(frozenset(_RULES), schema, "$jsonSchema")
    unknown = set(_names(schema.get("bsonType", []))) - TYPE_NAMES
    if unknown:
        raise CommandError(2, f"Unknown type name alias: {min(unknown)}")
    for part in schema.get("properties", {}).values():
        _check_schema(part)


def _names(types: str | list[str]) -> list[str]:
    return [types] if isinstance(types, str) else types


def _problems(schema: Document, value: Any) -> list[Document]:
    """Return one entry per keyword that the value breaks."""
    return [
        {"operatorName": keyword, "specifiedAs": {keyword: wanted}}
        for keyword, wanted in schema.items()
        if not _RULES[keyword](wanted, value)
    ]


def _is_type(types: str | list[str], value: Any) -> bool:
    names = set(_names(types))
    if "number" in names:
        names |= NUMBER_TYPES
    return type_name(value) in names


def _has(required: list[str], value: Any) -> bool:
    return not isinstance(value, dict) or all(name in value for name in required)


def _properties(parts: Document, value: Any) -> bool:
    return not isinstance(value, dict) or all(
        not _problems(part, value[name]) for name, part in parts.items() if name in value
    )


_RULES: dict[str, Callable[[Any, Any], bool]] = {
    "bsonType": _is_type,
    "required": _has,
    "properties": _properties,
    "minLength": lambda least, value: not isinstance(value, str) or len(value) >= least,
}
