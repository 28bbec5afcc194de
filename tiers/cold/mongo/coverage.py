"""What summaries and episodes stand for, and the marks of it on what they stand for.

A stored summary covers its turns, and a stored episode consolidates its children: unique indexes
over the lists see to it that each has one at most. The marks on turns and summaries only make it
quick to find those without. They come after, so a crash can leave some out; whoever asks for
those without makes up for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import Scope
from .database import Session
from .documents import Document
from .scope import own


async def mark_covered(session: Session, scope: Scope, turn_ids: Sequence[str]) -> int:
    """Mark turns as covered; return how many were not."""
    where = own(scope, id={"$in": list(turn_ids)}, covered=False)
    return await session.collection("turns").update(where, {"$set": {"covered": True}}, many=True)


async def mark_consolidated(
    session: Session, scope: Scope, summary_ids: Sequence[str], episode_id: str
) -> int:
    """Mark summaries as consolidated by an episode; return how many were so by none."""
    where = own(scope, id={"$in": list(summary_ids)}, episode_id=None)
    change = {"$set": {"episode_id": episode_id}}
    return await session.collection("summaries").update(where, change, many=True)


async def make_up_for_turns(session: Session, scope: Scope, found: Sequence[Document]) -> int:
    """Mark those of some turns that are covered after all; return how many."""
    ids = [turn["id"] for turn in found]
    summaries = await session.collection("summaries").find(
        own(scope, covers={"$in": ids}), fields=["covers"]
    )
    covered = {turn_id for summary in summaries for turn_id in summary["covers"]}
    late = [turn_id for turn_id in ids if turn_id in covered]
    return await mark_covered(session, scope, late) if late else 0


async def make_up_for_summaries(session: Session, scope: Scope, found: Sequence[Document]) -> int:
    """Mark those of some summaries that are consolidated after all; return how many."""
    ids = [summary["id"] for summary in found]
    episodes = await session.collection("episodes").find(
        own(scope, consolidates={"$in": ids}), fields=["id", "consolidates"], sort=[("_id", 1)]
    )
    late = 0
    for episode in episodes:
        late += await mark_consolidated(session, scope, episode["consolidates"], episode["id"])
    return late
