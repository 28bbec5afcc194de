"""What a redaction of beliefs does to their log: an event for each, and contents destroyed."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...history.plan import SPEAKING_KINDS, redact_plan
from ...records import Scope
from ..redaction import pages
from .belief_projection import Salts, append
from .database import Session
from .redactables import AMONG
from .scope import as_json, scoped

_KINDS = ", ".join(f"'{kind}'" for kind in sorted(SPEAKING_KINDS))
_SAID_OF_THEM = (
    "DELETE FROM belief_contents AS c WHERE $own(c) AND c.event_id IN ("
    " SELECT e.id FROM belief_events e"
    f" WHERE $own(e) AND e.belief_id {AMONG} AND e.kind IN ({_KINDS}))"
)
_SAID_AGAINST_THEM = (
    "DELETE FROM belief_contents AS c WHERE $own(c) AND c.event_id IN ("
    " SELECT e.id FROM belief_mentions m CROSS JOIN belief_events e"
    " WHERE $own(m) AND $own(e) AND e.seq = m.seq AND e.kind = 'contradicted'"
    f" AND m.belief_id {AMONG})"
)


def silence(
    session: Session,
    scope: Scope,
    belief_ids: Sequence[str],
    reason: str,
    now: datetime,
    salts: Salts,
) -> None:
    """Let the log tell that beliefs lost their content, and destroy what it says of them.

    In the caller's transaction. Their rows are over then, but not blank.
    """
    told = [event for one in belief_ids for event in redact_plan(one, reason)]
    append(session, scope, told, now, salts)
    for page in pages(belief_ids):
        for statement in (_SAID_OF_THEM, _SAID_AGAINST_THEM):
            session.run(scoped(statement, scope, ids=as_json(page)))
