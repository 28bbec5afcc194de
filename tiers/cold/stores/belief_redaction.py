"""What a redaction of beliefs does to their log: an event for each, and contents destroyed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...history.plan import SPEAKING_KINDS, redact_plan
from ...history.unlike import left_digest
from ...records import Scope
from ..conditions import Among, Holds, Is
from ..port import Find, Steps, delete, every
from ..redaction import as_redacted
from .belief_log import CONTENTS, Content, Salts, mentioned_in
from .belief_projection import BELIEFS, append, commitment_of
from .questions import own


def silence(
    scope: Scope, belief_ids: Sequence[str], reason: str, now: datetime, salts: Salts
) -> Steps[None]:
    """Let the log tell that beliefs lost their content, and destroy what it says of them.

    Inside a transaction. Their rows are over then, but not blank.
    """
    ids = tuple(dict.fromkeys(belief_ids))
    if not ids:
        return
    against = Find(
        *(CONTENTS, scope, "names", (Holds("names", ids), Is("kind", "contradicted"))),
    )
    about = Find(
        *(CONTENTS, scope, "belief"),
        where=(Among("belief_id", ids), Among("kind", tuple(sorted(SPEAKING_KINDS)))),
    )
    beliefs = yield from every(own(BELIEFS, scope, ids))
    left = {one.id: left_digest(as_redacted(commitment_of(one), now)) for one in beliefs}
    rival_in = _rival_in((yield from every(against)), ids)
    told = [
        event
        for one in ids
        for event in redact_plan(one, reason, left.get(one), rival_in.get(one, ()))
    ]
    yield from append(scope, told, now, salts)
    yield from delete(about, against)


def _rival_in(contents: Sequence[Content], ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the events in which each belief is the rival of another."""
    found: dict[str, list[str]] = {belief_id: [] for belief_id in ids}
    for content in contents:
        for belief_id in mentioned_in(content):
            if belief_id in found:
                found[belief_id].append(content.event_id)
    return found
