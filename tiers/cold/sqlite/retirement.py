"""What retention destroys in SQLite: one transaction, after which no table has the words any more.

As a redaction, but nothing that was made of the records is touched: it is what stays of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ...records import Scope, WorkDraft
from ..redaction import RETIRED_AUDIT_KIND, RETIRED_KINDS, Retainable, pages, retired_form
from .database import Session
from .log import append_event
from .queue import queue_work
from .redactables import leave_no_trace, records_of, replace


@dataclass(frozen=True)
class Retirement:
    """One retirement, to be carried out inside a transaction.

    Attributes:
        scope: Whose graph.
        ids: What is asked for, each once.
        reason: Why.
        now: When.
        work: What is queued with it.
    """

    scope: Scope
    ids: Sequence[str]
    reason: str
    now: datetime
    work: Sequence[WorkDraft]

    def carry_out(self, session: Session) -> tuple[str, ...]:
        """Do all of it and return which records lost their content, in the order asked."""
        retired: list[Retainable] = []
        for page in pages(self.ids):
            retired += self._empty(session, page)
        gone = {record.id for record in retired}
        ids = tuple(one for one in self.ids if one in gone)
        if ids:
            leave_no_trace(session, self.scope, retired, self.now)
            queue_work(session, self.scope, self.work, self.now)
            append_event(session, self.scope, RETIRED_AUDIT_KIND, ids, self.reason, self.now)
        return ids

    def _empty(self, session: Session, ids: Sequence[str]) -> list[Retainable]:
        """Take the content from those of a page that have it."""
        emptied: list[Retainable] = []
        for kind in RETIRED_KINDS:
            for record in records_of(session, self.scope, kind, ids):
                if record.redacted_at is None and isinstance(record, Retainable):
                    after = retired_form(record, self.now)
                    replace(session, self.scope, kind, record, after)
                    emptied.append(after)
        return emptied
