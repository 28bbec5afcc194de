"""``$jsonSchema`` validators: the part that is enforced, and a refusal of every other keyword.

https://www.mongodb.com/docs/manual/reference/operator/query/jsonSchema/
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import CommandError, bad_value, only, refuse
from .values import NUMBER_TYPES, TYPE_NAMES, Document, is_number, key_of, type_name

_LEVELS = frozenset({"strict", "moderate", "off"})
_ACTIONS = frozenset({"error", "warn"})


@dataclass(frozen=True)
class Validator:
    """The rules of a collection.

    Attributes:
        expression: As it was given, and as it is listed.
        level: ``strict``, ``moderate`` (documents that break the rules may go on breaking them)
            or ``off``.
        action: ``error`` refuses, ``warn`` lets everything pass.
    """

    expression: Document
    level: str
    action: str

    def check(self, document: Document, before: Document | None = None) -> None:
        """Raise for a document that breaks the rules; ``before`` is what it replaces."""
        if self.action != "error" or self.level == "off":
            return
        schema = self.expression["$jsonSchema"]
        broken = _problems(schema, document)
        if not broken:
            return
        if self.level == "moderate" and before is not None and _problems(schema, before):
            return
        raise CommandError(
            121,
            "Document failed validation",
            details={
                "errInfo": {
                    "failingDocumentId": document["_id"],
                    "details": {"operatorName": "$jsonSchema", "schemaRulesNotSatisfied": broken},
                }
            },
        )


def checked_validator(expression: Any, level: Any, action: Any) -> Validator | None:
    """Return a validator; an empty expression means none. Refuses what is not enforced."""
    if level not in _LEVELS:
        bad_value(f"validationLevel {level!r}")
    if action not in _ACTIONS:
        bad_value(f"validationAction {action!r}")
    if not expression:
        return None
    if not isinstance(expression, dict) or expression.keys() != {"$jsonSchema"}:
        refuse("a validator other than one $jsonSchema")
    _check_schema(expression["$jsonSchema"])
    return Validator(expression, level, action)


def _check_schema(schema: Any) -> None:
    if not isinstance(schema, dict):
        raise CommandError(9, "$jsonSchema must be an object")
    only(frozenset(_RULES) | {"title", "description"}, schema, "$jsonSchema")
    unknown = set(_names(schema.get("bsonType", []))) - TYPE_NAMES
    if unknown:
        raise CommandError(2, f"Unknown type name alias: {min(unknown)}")
    for part in schema.get("properties", {}).values():
        _check_schema(part)
    for keyword in ("items", "additionalProperties"):
        part = schema.get(keyword, True)
        if not isinstance(part, bool):
            _check_schema(part)


def _names(types: str | list[str]) -> list[str]:
    return [types] if isinstance(types, str) else types


def _problems(schema: Document, value: Any) -> list[Document]:
    """Return one entry per keyword that the value breaks."""
    return [
        {"operatorName": keyword, "specifiedAs": {keyword: wanted}}
        for keyword, wanted in schema.items()
        if keyword in _RULES and not _RULES[keyword](wanted, value, schema)
    ]


def _is_type(types: str | list[str], value: Any, _: Document) -> bool:
    names = set(_names(types))
    if "number" in names:
        names |= NUMBER_TYPES
    return type_name(value) in names


def _has(required: list[str], value: Any, _: Document) -> bool:
    return not isinstance(value, dict) or all(name in value for name in required)


def _properties(parts: Document, value: Any, _: Document) -> bool:
    return not isinstance(value, dict) or all(
        not _problems(part, value[name]) for name, part in parts.items() if name in value
    )


def _additional(allowed: bool | Document, value: Any, schema: Document) -> bool:  # noqa: FBT001
    if not isinstance(value, dict) or allowed is True:
        return True
    others = [name for name in value if name not in schema.get("properties", {})]
    if allowed is False:
        return not others
    return all(not _problems(allowed, value[name]) for name in others)


def _items(part: Document, value: Any, _: Document) -> bool:
    return not isinstance(value, list) or all(not _problems(part, element) for element in value)


_RULES: dict[str, Callable[[Any, Any, Document], bool]] = {
    "bsonType": _is_type,
    "required": _has,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "enum": lambda wanted, value, _: key_of(value) in set(map(key_of, wanted)),
    "minimum": lambda least, value, _: not is_number(value) or value >= least,
    "maximum": lambda most, value, _: not is_number(value) or value <= most,
    "minLength": lambda least, value, _: not isinstance(value, str) or len(value) >= least,
    "maxLength": lambda most, value, _: not isinstance(value, str) or len(value) <= most,
}
