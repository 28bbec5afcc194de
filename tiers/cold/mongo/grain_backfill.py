"""Gives documents of a database from before time grains what they are asked for since.

Facts also gain the ends by which the knowledge graph finds them, and turns the words of outputs of
tools, if they are only older than that.

Validators look at whole documents, so each gains all that it lacks by one update, whatever version
it is of. Run again, or by several processes at once, it comes to the same. Where a crash has left
out the mark of what an episode was made of, whoever asks for what is in none makes up for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from ...errors import CorruptRecord
from ...moments import moment
from ...records import EXTRACTED, Fact
from .coverage import MADE_OF_IT
from .documents import Document, record_of
from .owner_backfill import owner_fields
from .renewal import renew
from .statements import edge_fields, key_digest_of
from .word_backfill import outputs_of

_UNREAD = ("terms", "frequencies", "embedding")
_MADE: Document = {"made_by": EXTRACTED, "lost": 0}


async def tell_grains(database: Any) -> None:  # noqa: ANN401 - of either driver
    """Fill in what records and members lack, in every collection.

    After validators that ask for it are in force: older processes write no more such documents.

    Raises:
        TierError: The server cannot be reached, or refuses.
    """
    await renew(database["agents"], "prompts", lambda _: {"$set": {"prompts": {}}})
    for name, (lacks, gained) in _GAINED.items():
        await renew(database[name], lacks, partial(_told, name, gained), without=_UNREAD)


def _told(name: str, gained: Callable[[Document], Document], document: Document) -> Document:
    return {"$set": owner_fields(name, document) | gained(document)}


def _turn(document: Document) -> Document:
    return ({} if "rules" in document else {"rules": []}) | outputs_of(document)


def _summary(document: Document) -> Document:
    is_loose = document["level"] == 0 and document["episode_id"] is None
    return _MADE | {"loose_for": [*MADE_OF_IT["working"]] if is_loose else []}


def _episode(document: Document) -> Document:
    """Return what an episode gains. There were daily ones only, by days in UTC."""
    grain = document["grain"]
    day = moment(document["starts_at"]).date().isoformat()
    period = day if grain == "daily" else ""
    return _MADE | {"period": period, "loose_for": [*MADE_OF_IT[grain]]}


def _fact(document: Document) -> Document:
    """Return what a fact gains. One that cannot be read back must not keep all others away."""
    known: Document = {"ends": []}
    if "fact_type" not in document:
        known |= _of_grains(document)
    with suppress(CorruptRecord):
        known |= edge_fields(record_of(Fact, document))
    return known


def _of_grains(document: Document) -> Document:
    is_superseded = document.get("superseded_by") is not None
    known: Document = {
        "fact_type": "world",
        "superseded_as": "natural" if is_superseded else None,
        "earned_from": 0,
        "judged_at": None,
        "forgotten_at": None,
    }
    with suppress(CorruptRecord):
        digest = key_digest_of(record_of(Fact, document))
        known |= {} if digest is None else {"fact_key": digest}
    return known


def _rule(_: Document) -> Document:
    return {"former": [], "source_ids": []}


_GAINED: Mapping[str, tuple[str, Callable[[Document], Document]]] = {
    "turns": ("also", _turn),
    "summaries": ("made_by", _summary),
    "episodes": ("made_by", _episode),
    "facts": ("ends", _fact),
    "rules": ("former", _rule),
}
"""By collection: a field that all documents of today have, and what older ones gain."""
