"""What stands for records whose content retention may take, or has taken.

A record stands by its parents: the episodes of each grain that its own grain makes. A parent that
was redacted on request stands for nothing; one that retention has emptied stands by its own
parents. A week is made into nothing: its days are in months.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from ...plans import AnyGrain
from ...records import Grain, Scope
from .coverage import MADE_OF_IT
from .database import Session
from .documents import Document
from .scope import own

Stands: TypeAlias = Mapping[str, tuple[str, ...]]
"""The records with their content that stand for others, by the ids of those; sorted."""


async def stand_ins(
    session: Session,
    scope: Scope,
    grain: AnyGrain,
    ids: Sequence[str],
    grains: Sequence[Grain] | None = None,
) -> Stands:
    """Return what stands for those among some records of a grain that something stands for.

    Args:
        session: The question.
        scope: Whose graph.
        grain: Of the records.
        ids: Of the records.
        grains: The grains of which each must have a parent; all that its grain makes if not given.
    """
    wanted = MADE_OF_IT[grain] if grains is None else grains
    if not wanted or not ids:
        return dict.fromkeys(ids, ())
    parents = await session.collection("episodes").find(
        own(scope, consolidates={"$in": list(ids)}, grain={"$in": list(wanted)}),
        fields=("id", "grain", "consolidates", "redacted_at", "retired_at"),
    )
    standing = await _standing(session, scope, parents)
    asked = set(ids)
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for parent in parents:
        if parent["id"] in standing:
            for child in asked.intersection(parent["consolidates"]):
                found.setdefault(child, {})[parent["grain"]] = standing[parent["id"]]
    return {
        child: _joined(by_grain.values())
        for child, by_grain in found.items()
        if len(by_grain) == len(wanted)
    }


async def stand_ins_of_turns(session: Session, scope: Scope, turns: Sequence[Document]) -> Stands:
    """Return what stands for those among some turns that something stands for.

    A turn stands by the day of its summary. One whose summary was redacted is not told by it.
    """
    ids = {turn["id"] for turn in turns}
    summaries = await session.collection("summaries").find(
        own(scope, covers={"$in": sorted(ids)}, level=0),
        fields=("id", "covers", "redacted_at", "retired_at"),
    )
    left = [one for one in summaries if not _is_redacted(one)]
    days = await stand_ins(session, scope, "working", [one["id"] for one in left])
    return {
        turn_id: days[one["id"]]
        for one in left
        if one["id"] in days
        for turn_id in ids.intersection(one["covers"])
    }


async def stand_ins_of_weeks(session: Session, scope: Scope, weeks: Sequence[Document]) -> Stands:
    """Return the weeks of which all days are in a month that tells them; nothing replaces them."""
    days = list({day for week in weeks for day in week["children"]})
    told = await stand_ins(session, scope, "daily", days, ("monthly",))
    return {week["id"]: () for week in weeks if all(day in told for day in week["children"])}


async def _standing(session: Session, scope: Scope, parents: Sequence[Document]) -> Stands:
    """Return what those of some episodes stand by that have their content or lost it in time."""
    standing: dict[str, tuple[str, ...]] = {}
    retired: dict[Grain, list[str]] = {}
    for parent in parents:
        if parent.get("retired_at") is not None:
            retired.setdefault(parent["grain"], []).append(parent["id"])
        elif not _is_redacted(parent):
            standing[parent["id"]] = (parent["id"],)
    for grain, ids in retired.items():
        standing |= await stand_ins(session, scope, grain, ids)
    return standing


def _joined(parts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted({one for part in parts for one in part}))


def _is_redacted(document: Document) -> bool:
    """Whether a record lost its content on request."""
    return document.get("redacted_at") is not None and document.get("retired_at") is None
