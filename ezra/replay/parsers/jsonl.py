"""Our own format: one JSON object a line, as the docstring of ``ezra.replay.formats`` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from .fields import TEXT_ACCEPTED, Fields
from .source import Draft, Parsed, Source

_Kind: TypeAlias = Literal["turn", "fact", "rule", "belief"]

_COMMON = ("type", "speaker", "at", "id", "conversation", "agent")
_TIERS = ("archival", "core")
_TRIPLE = ("subject", "predicate", "object")


def parse(source: Source, root: object) -> Parsed:
    """Return the drafts of a file's decoded objects.

    Raises:
        UsageError: A field is missing, unknown or not acceptable.
    """
    rows = root if isinstance(root, list) else [root]
    return Parsed(tuple(_draft(Fields(source, row, 1)) for row in rows))


def _draft(row: Fields) -> Draft:
    kind = _kind(row)
    content_fields, content = _CONTENTS[kind]
    # A belief is about one topic; a list of them would not say what it supersedes.
    topics_fields = () if kind == "belief" else ("topics",)
    row.only(*_COMMON, *topics_fields, *content_fields)
    return Draft(
        line=row.line,
        kind=kind,
        conversation=row.optional_name("conversation"),
        id=row.optional_id(),
        speaker=row.name("speaker"),
        agent=row.optional_name("agent"),
        qualified="agent" not in row,
        at=row.moment("at"),
        topics=row.topics() if topics_fields else None,
        content=content(row),
    )


def _kind(row: Fields) -> _Kind:
    kind = row.get("type")
    if kind is None:
        return "turn"
    for known in _CONTENTS:
        if kind == known:
            return known
    raise row.problem("type", ", ".join(_CONTENTS))


def _turn(row: Fields) -> dict[str, Any]:
    return {
        "text": row.text("text"),
        "response": row.optional_text("response") or "",
        "tool_outputs": tuple(_tool_output(item) for item in row.items("tool_outputs")),
    }


def _tool_output(item: Fields) -> dict[str, str]:
    item.only("tool", "output")
    output = item.optional_text("output")
    if output is None:
        raise item.problem("output", TEXT_ACCEPTED)
    return {"tool": item.name("tool"), "output": output}


def _fact(row: Fields) -> dict[str, Any]:
    content: dict[str, Any] = {name: row.text(name) for name in ("text", *_TRIPLE) if name in row}
    if "text" not in content and len(content) < len(_TRIPLE):
        name = next((name for name in _TRIPLE if name not in content), "text")
        name = name if content else "text"
        raise row.problem(name, f"text, or all of {', '.join(_TRIPLE)}")
    if "tier" in row:
        content["tier"] = row.get("tier")
        if content["tier"] not in _TIERS:
            raise row.problem("tier", " or ".join(_TIERS))
    if "confidence" in row:
        content["confidence"] = _confidence(row)
    for name in ("valid_from", "valid_to"):
        content[name] = row.optional_moment(name)
    if (
        content["valid_from"]
        and content["valid_to"]
        and content["valid_to"] < content["valid_from"]
    ):
        raise row.problem("valid_to", "a moment that is not before valid_from")
    return content


def _confidence(row: Fields) -> float:
    value = row.get("confidence")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise row.problem("confidence", "a number from 0 to 1")
    return float(value)


def _rule(row: Fields) -> dict[str, Any]:
    return {"trigger": row.text("trigger"), "steps": row.texts("steps")}


def _belief(row: Fields) -> dict[str, Any]:
    content: dict[str, Any] = {
        "claim": row.text("claim"),
        "topic": row.optional_name("topic"),
        "value": row.text("value") if "value" in row else None,
    }
    if "key" in row:
        key = row.names("key")
        if len(key) != 2:  # noqa: PLR2004 - a pair
            raise row.problem("key", "a list [subject, attribute]")
        content["key"] = key
    return content


_Content: TypeAlias = tuple[tuple[str, ...], Callable[[Fields], dict[str, Any]]]
_CONTENTS: dict[_Kind, _Content] = {
    "turn": (("text", "response", "tool_outputs"), _turn),
    "fact": (("text", *_TRIPLE, "tier", "confidence", "valid_from", "valid_to"), _fact),
    "rule": (("trigger", "steps"), _rule),
    "belief": (("claim", "topic", "key", "value"), _belief),
}
