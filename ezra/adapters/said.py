"""How an item of a conversation becomes facts, and facts become it again. Pure.

The facts' objects together are the item's JSON, word for word, and name the item, so that two which
say the same are two. The text of the first is what it says; recall finds it by that where it is to.
An item that is too long for one fact is kept in several.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import uuid4

from tiers.errors import UsageError
from tiers.knowledge import APART
from tiers.records import Fact

from ..checks import checked

ITEM = "item"
ITEM_APART = f"{APART}{ITEM}"
"""The predicates of what recall finds, and of what it does not."""
_CONTINUED = "…"
PIECE_CHARS_MAX = 90_000  # within the fact it is JSON again, of up to twice the length
PIECES_MAX = 100
SEARCHED_CHARS_MAX = 4_000
"""So much of an item is found by its words; the models of embeddings read less."""


@dataclass(frozen=True)
class Piece:
    """A part of an item, as a fact keeps it.

    Attributes:
        fact_id: The fact.
        item: Names the item.
        number: Where the item comes; higher is later.
        place: Which part of it, from 0.
        pieces: How many it has.
        said: That part of its JSON.
        age: What items are ordered by.
    """

    fact_id: str
    item: str
    number: int
    place: int
    pieces: int
    said: str
    age: tuple[int, datetime, str]

    @classmethod
    def of(cls, fact: Fact) -> Self | None:
        """Return what a fact keeps; ``None`` when somebody else wrote something else there."""
        try:
            kept = json.loads(fact.object or "")
            number, place, pieces = (int(kept[name]) for name in ("number", "place", "pieces"))
            item, said = str(kept["item"]), str(kept["said"])
        except (ValueError, TypeError, KeyError):
            return None
        age = (number, fact.recorded_at, fact.id)
        return cls(fact.id, item, number, place, pieces, said, age)


def pieces_of(subject: str, number: int, item: object, *, is_recalled: bool = False) -> list[Fact]:
    """Return the facts that keep an item from now on.

    Args:
        subject: The address of the conversation.
        number: Where it comes in it.
        item: The item; goes through JSON.
        is_recalled: Whether recall finds it by its words.

    Raises:
        UsageError: It is no JSON object, or too long.
    """
    if not isinstance(item, Mapping):
        raise UsageError("items", type(item).__name__, "items as JSON objects")
    try:
        whole = json.dumps(dict(item), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError("items", str(error), "what JSON can say") from error
    parts = [whole[at : at + PIECE_CHARS_MAX] for at in range(0, len(whole), PIECE_CHARS_MAX)]
    if len(parts) > PIECES_MAX:
        most = PIECE_CHARS_MAX * PIECES_MAX
        raise UsageError("items", len(whole), f"at most {most:,} characters of JSON for each")
    name = uuid4().hex
    return [
        checked(
            Fact,
            subject=subject,
            predicate=ITEM if is_recalled else ITEM_APART,
            object=json.dumps(
                {"item": name, "number": number, "place": place, "pieces": len(parts), "said": said}
            ),
            text=_plain(words_of(item)) if place == 0 else _CONTINUED,
        )
        for place, said in enumerate(parts)
    ]


def item_of(pieces: Sequence[Piece]) -> Any:  # noqa: ANN401 - an item of the SDK, as it was given
    """Return the item that all its pieces, in order, keep."""
    return json.loads("".join(one.said for one in pieces))


def words_of(item: Mapping[str, Any]) -> str:
    """Return what an item is found by: who said it, and what was said, called or returned."""
    who = str(item.get("role") or item.get("name") or item.get("type") or ITEM)
    said = [_texts(item.get(name)) for name in ("content", "arguments", "output", "summary")]
    return f"{who}: {' '.join(one for one in said if one)}"[:SEARCHED_CHARS_MAX]


def _texts(value: object) -> str:
    """Return the text of a content, which is one, or a list of parts that have one."""
    if isinstance(value, str):
        return value[:SEARCHED_CHARS_MAX]
    if isinstance(value, Mapping):
        return _texts(value.get("text"))
    if isinstance(value, Sequence):
        return " ".join(filter(None, map(_texts, value[:SEARCHED_CHARS_MAX])))
    return ""


def _plain(text: str) -> str:
    return text.encode(errors="replace").decode().replace("\x00", "")
