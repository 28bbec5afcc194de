"""What the audit feed of a graph knows of its erasures: what they were asked for, and their ends.

An erasure finds records by their words, and no longer those whose words it has destroyed. What was
made of these, in branches and in graphs that inherit, and the new text of summaries, would stay
undone when it is cut off in between. So it says in the feed that it came to its end; where it did
not say so, the same erasure finds by the feed what it left open.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from itertools import pairwise

from tiers.paging import pages_of
from tiers.records import AuditEvent, AuditFilter, Scope
from tiers.upkeep import ERASED

from ..runtime import Runtime

EVENTS_PER_PAGE = 1_000
_FINISHED = "finished: "
REDACTED_MEANWHILE = "made of what was redacted meanwhile"
"""Why former versions redacted episodes that nobody wanted to be rid of."""


async def named_for_redaction(runtime: Runtime, scope: Scope) -> frozenset[str]:
    """Return the records that somebody ever named to be redacted: they get no new text.

    A summary that is redacted for what it says would say it again. One that an erasure found
    for whom it speaks of is no such summary: what is left of its turns does not name them.
    """
    asked: set[str] = set()
    async for event in _redactions(runtime, scope):
        if event.kind == ERASED:
            asked.difference_update(event.record_ids)
        elif event.reason != REDACTED_MEANWHILE:
            asked.update(event.record_ids)
    return frozenset(asked)


async def left_open(runtime: Runtime, scope: Scope) -> dict[str, list[str]]:
    """Return the records that erasures found and that none has finished with, by their reasons.

    Whom they were of the feed does not say. Whoever erases next finishes all of them: their words
    are destroyed already, and what was made of these is to follow, whoever asks and why.
    """
    found: dict[str, dict[str, None]] = {}
    events = [event async for event in _redactions(runtime, scope)]
    for former, event in pairwise(events):
        if event.kind != ERASED:
            continue
        if event.reason.startswith(_FINISHED) and not event.record_ids:
            found.pop(event.reason.removeprefix(_FINISHED), None)
        elif former.record_ids == event.record_ids:
            # Each follows the event of its redaction; that of emptied roles has no such.
            found.setdefault(event.reason, {}).update(dict.fromkeys(event.record_ids))
    return {reason: list(ids) for reason, ids in found.items()}


async def finish(runtime: Runtime, scope: Scope, reason: str) -> None:
    """Say that nothing is left open of the erasures of this reason."""
    await runtime.log.append_audit(scope, ERASED, (), f"{_FINISHED}{reason}", runtime.clock())


async def _redactions(runtime: Runtime, scope: Scope) -> AsyncIterator[AuditEvent]:
    read = partial(runtime.log.audit, scope, only=AuditFilter(kinds=("redacted", ERASED)))
    async for page in pages_of(read, lambda event: event.seq, EVENTS_PER_PAGE):
        for event in page:
            yield event
