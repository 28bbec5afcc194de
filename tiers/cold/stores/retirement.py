"""What retention destroys: the content of records, in one transaction.

As a redaction, but nothing that was made of the records is touched: it is what stays of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...records import Scope, WorkDraft
from ..port import Steps, every
from ..redaction import RETIRED_AUDIT_KIND, RETIRED_KINDS, Retainable, retired_form
from .asides import drop
from .log import append_event
from .questions import own
from .redactables import KEPT_IN, leave_no_trace
from .rows import replace
from .work import queue_work


def retire(
    scope: Scope, ids: Sequence[str], reason: str, now: datetime, work: Sequence[WorkDraft]
) -> Steps[tuple[str, ...]]:
    """Take the content from those of some records that have it; return which, in the order asked.

    With one audit event, and the work by which each leaves the warm index; if there is none,
    nothing is written.
    """
    emptied: list[Retainable] = []
    for collection in map(KEPT_IN.__getitem__, RETIRED_KINDS):
        found: list[Retainable] = yield from every(own(collection, scope, ids))
        after = [retired_form(one, now) for one in found if one.redacted_at is None]
        yield from replace(collection, scope, *after)
        emptied += after
    gone = {one.id for one in emptied}
    told = tuple(one for one in ids if one in gone)
    if told:
        yield from leave_no_trace(scope, emptied, now)
        yield from drop(scope, told)
        yield from queue_work(scope, work, now)
        yield from append_event(scope, RETIRED_AUDIT_KIND, told, reason, now)
    return told
