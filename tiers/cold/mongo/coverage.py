"""What summaries and episodes stand for, and the marks of it on what they stand for.

A stored summary covers its turns, and a stored episode consolidates its children: unique indexes
over the lists see to it that each has one at most, children one of each grain. The marks on turns,
summaries and episodes only make it quick to find those without: ``covered``, ``episode_id``, and
``loose_for``, the grains that a record can be made part of and is not yet. They come after, so a
crash can leave some out; whoever asks for those without makes up for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...grains import MADE_OF
from ...plans import ANY_GRAIN, AnyGrain
from ...records import Episode, Grain, Scope, Summary
from .database import Session
from .documents import Document, document_of
from .scope import own
from .terms import searchable_fields

MADE_OF_IT: Mapping[AnyGrain, tuple[Grain, ...]] = {
    finer: tuple(grain for grain, made_of in MADE_OF.items() if made_of == finer)
    for finer in ANY_GRAIN
}
"""The grains that are made of a grain."""


def summary_document(summary: Summary) -> Document:
    """Return a summary in stored form, as part of no episode."""
    found = searchable_fields(summary)
    return document_of(summary, **found, episode_id=None, **loose_fields(summary))


def episode_document(episode: Episode) -> Document:
    """Return an episode in stored form, as part of no other."""
    document = document_of(episode, **searchable_fields(episode), **loose_fields(episode))
    if episode.children:
        # An empty list is a value to the unique index, and only one episode could have it.
        document["consolidates"] = document["children"]
    return document


def loose_fields(record: Summary | Episode) -> Document:
    """Return the mark of a record that is part of no episode yet."""
    if isinstance(record, Summary):
        return {"loose_for": [*MADE_OF_IT["working"]] if record.level == 0 else []}
    return {"loose_for": [*MADE_OF_IT[record.grain]]}


async def mark_covered(session: Session, scope: Scope, turn_ids: Sequence[str]) -> int:
    """Mark turns as covered; return how many were not."""
    where = own(scope, id={"$in": list(turn_ids)}, covered=False)
    return await session.collection("turns").update(where, {"$set": {"covered": True}}, many=True)


async def mark_consolidated(
    session: Session, scope: Scope, child_ids: Sequence[str], episode_id: str, grain: Grain
) -> int:
    """Mark summaries and episodes as part of an episode of a grain; return how many were not."""
    unmarked: list[Document] = [{"episode_id": None}, {"loose_for": grain}]
    among: Document = {"$in": list(child_ids)}
    taken: Document = {"$pull": {"loose_for": grain}}
    marked = await session.collection("summaries").update(
        own(scope, id=among) | {"$or": unmarked},
        taken | {"$set": {"episode_id": episode_id}},
        many=True,
    )
    if MADE_OF[grain] == "working":
        return marked
    where = own(scope, id=among, loose_for=grain)
    return marked + await session.collection("episodes").update(where, taken, many=True)


async def make_up_for_turns(session: Session, scope: Scope, found: Sequence[Document]) -> int:
    """Mark those of some turns that are covered after all; return how many."""
    ids = [turn["id"] for turn in found]
    summaries = await session.collection("summaries").find(
        own(scope, covers={"$in": ids}), fields=["covers"]
    )
    covered = {turn_id for summary in summaries for turn_id in summary["covers"]}
    late = [turn_id for turn_id in ids if turn_id in covered]
    return await mark_covered(session, scope, late) if late else 0


async def make_up_for_children(
    session: Session, scope: Scope, found: Sequence[Document], *grains: Grain
) -> int:
    """Mark those of some summaries or episodes that are consolidated after all; return how many.

    By episodes of these grains, or of any.
    """
    ids = [child["id"] for child in found]
    of_grain = {"grain": {"$in": list(grains)}} if grains else {}
    episodes = await session.collection("episodes").find(
        own(scope, consolidates={"$in": ids}, **of_grain),
        fields=["id", "consolidates", "grain"],
        sort=[("_id", 1)],
    )
    late = 0
    for episode in episodes:
        children, grain = episode["consolidates"], episode["grain"]
        late += await mark_consolidated(session, scope, children, episode["id"], grain)
    return late
