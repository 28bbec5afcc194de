"""Finding active beliefs by the words of their claims: where rivals of a claim are looked for."""

from __future__ import annotations

from ...history.wording import LOOKED_THROUGH_MAX, NEWEST_MAX, claim_words, filed_under
from ...records import Commitment, Scope
from .database import Session
from .documents import Document
from .scope import own
from .together import together

FIELDS = ("filed_under", "claim_words")


def word_fields(belief: Commitment) -> Document:
    """Return the fields by which a belief is found by its words; none once it says nothing.

    They stay when it ends, as its terms do: only active beliefs are asked for, by the same index.
    """
    if belief.redacted_at is not None:
        return {}
    known = (filed_under(belief), list(claim_words(belief.claim)))
    return dict(zip(FIELDS, known, strict=True))


async def worded_most_like(
    session: Session, scope: Scope, belief: Commitment, seen: Document, limit: int
) -> list[str]:
    """Return the ids of active beliefs that are filed like one and share words with it.

    About the newest of each word, by one look-up each. Those that share the most come first, then
    the newest.

    Args:
        session: To ask with.
        scope: Whose graph.
        belief: The one.
        seen: What holds of beliefs that the asker sees.
        limit: How many.
    """
    words = claim_words(belief.claim)
    place = own(scope, filed_under=filed_under(belief), active=True)
    shown = dict.fromkeys(("id", "committed_seq", "claim_words"), 1)

    async def newest(word: str) -> list[Document]:
        # What the asker does not see is passed over in the index, but not without an end.
        return await session.collection("beliefs").aggregate(
            [
                {"$match": place | {"claim_words": word}},
                {"$sort": {"committed_seq": -1}},
                {"$limit": LOOKED_THROUGH_MAX},
                {"$match": seen},
                {"$limit": NEWEST_MAX},
                {"$project": shown},
            ]
        )

    pages = await together(newest(word) for word in words)
    found = {one["committed_seq"]: one for page in pages for one in page}
    shared = {seq: len({*words} & {*one["claim_words"]}) for seq, one in found.items()}
    best = sorted(found, key=lambda seq: (-shared[seq], -seq))[:limit]
    return [found[seq]["id"] for seq in best]
