"""What retention destroys: the content of records, in one transaction.

As a redaction, but nothing that was made of the records is touched: it is what stays of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ...records import Scope, WorkDraft
from ..ownership import index_work
from ..port import Collection, Steps, every
from ..redaction import RETIRED_AUDIT_KIND, Retainable, retired_form
from .episodes import EPISODES, SUMMARIES
from .log import append_event
from .questions import own
from .rows import replace
from .statements import FACTS
from .turns import TURNS
from .words import file_emptied
from .work import forget_problems, queue_work

RETAINED: tuple[Collection[Any], ...] = (TURNS, SUMMARIES, EPISODES, FACTS)
"""What has what retention can empty."""


def retire(
    scope: Scope, ids: Sequence[str], reason: str, now: datetime, work: Sequence[WorkDraft]
) -> Steps[tuple[str, ...]]:
    """Take the content from those of some records that have it; return which, in the order asked.

    With one audit event, and the work by which each leaves the warm index; if there is none,
    nothing is written.
    """
    emptied: list[Retainable] = []
    for collection in RETAINED:
        found: list[Retainable] = yield from every(own(collection, scope, ids))
        after = [retired_form(one, now) for one in found if one.redacted_at is None]
        yield from replace(collection, scope, *after)
        emptied += after
    gone = {one.id for one in emptied}
    told = tuple(one for one in ids if one in gone)
    if told:
        yield from file_emptied(scope, emptied)
        yield from forget_problems(scope, told)
        gone_work = [index_work(one.id, one.agent_id) for one in emptied]
        yield from queue_work(scope, [*gone_work, *work], now)
        yield from append_event(scope, RETIRED_AUDIT_KIND, told, reason, now)
    return told
