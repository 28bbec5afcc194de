"""What a redaction of beliefs does to their log: an event for each, and contents destroyed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...history.plan import redact_plan
from ...records import Scope
from ..redaction import pages
from .belief_log import Salts, append, caught_up, destroy_contents
from .database import Session
from .scope import own


async def silence(
    session: Session,
    scope: Scope,
    belief_ids: Sequence[str],
    reason: str,
    now: datetime,
    salts: Salts,
) -> None:
    """Let the log tell that beliefs are to lose their content; their rows are over then.

    Inside the caller's step. One that the log has told so of already is passed over: whoever was
    cut off after that goes on behind it. ``forget`` follows.

    Raises:
        DuplicateKey: Somebody else changed the log at this moment.
    """
    for page in pages(belief_ids):
        last = await caught_up(session, scope)
        among = own(scope, id={"$in": page}, status={"$ne": "redacted"})
        found = await session.collection("beliefs").find(among, fields=["id"])
        speaking = {one["id"] for one in found}
        told = [event for one in page if one in speaking for event in redact_plan(one, reason)]
        await append(session, scope, last, told, now, salts)


async def forget(session: Session, scope: Scope, belief_ids: Sequence[str]) -> None:
    """Destroy what the log says of beliefs, with its salts. May be repeated.

    Also what was written for events that never came to be.
    """
    for page in pages(belief_ids):
        await destroy_contents(session, scope, page)
