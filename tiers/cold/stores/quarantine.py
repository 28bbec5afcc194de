"""Texts that the write guard has put aside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import Conflict, NotFound, UsageError
from ...moments import microseconds
from ...quarantine import HELD_MAX, HELD_PAGE_MAX, Quarantined, State
from ...records import Scope
from ..conditions import Absent, Beyond, Condition, Is
from ..ownership import check_owned, check_whole_graph, in_order, whose
from ..port import Collection, Find, Index, Steps, count, every, one
from ..redaction import redacted_form
from .graphs import check_writable
from .log import append_event
from .questions import own
from .rows import bare, moments, plain, put, replace
from .store_base import OverEngine, changing, reading

_OLDEST_FIRST = ("recorded_at", "id")
_WAITING = (Is("state", "held"), Absent("redacted_at"))

QUARANTINED: Collection[Quarantined] = Collection(
    "quarantined",
    Quarantined,
    fields={**plain("agent_id", "state"), **moments("recorded_at", "redacted_at")},
    indexes={"state": Index(("state", "recorded_at", "id"), where=(Absent("redacted_at"),))},
)


class Quarantine(OverEngine):
    """Texts that were put aside, of session graphs; asked by the runtime for a whole graph."""

    @changing
    def hold(self, scope: Scope, record: Quarantined) -> Steps[Quarantined]:
        """Put a text aside, with an audit event ``quarantined``; one of its id stays as it is.

        Raises:
            Conflict: The id is another text's, the graph is archived, or ``HELD_MAX`` texts wait.
        """
        check_owned(scope, record)
        known = yield from one(own(QUARANTINED, scope, [record.id]))
        if known is not None:
            if whose(known) != whose(record):
                # Not what it says: the asker may not be allowed to see it.
                raise Conflict("quarantined text", "an id of its own", record.id)
            return known
        yield from check_writable(scope)
        waiting = Find(QUARANTINED, scope.for_graph(), "state", _WAITING, reach="own")
        if (yield from count(waiting)) >= HELD_MAX:
            raise Conflict("texts in quarantine", f"fewer than {HELD_MAX:,}", "as many")
        yield from put(QUARANTINED, scope, record)
        why = ", ".join(dict.fromkeys(one.detector for one in record.findings))
        reason = f"{record.held} of {record.source}: {why}"
        yield from append_event(scope, "quarantined", (record.id,), reason, record.recorded_at)
        return record

    async def quarantined(self, scope: Scope, ids: Sequence[str]) -> tuple[Quarantined, ...]:
        """Return those of these ids, whoever wrote them, in the order asked."""
        check_whole_graph(scope)
        found = await self._all("quarantined", own(QUARANTINED, scope, ids))
        return in_order({record.id: record for record in found}, ids)

    @reading
    def in_quarantine(
        self, scope: Scope, *, behind: str = "", limit: int = HELD_PAGE_MAX
    ) -> Steps[tuple[Quarantined, ...]]:
        """Return the texts that wait for a decision, the oldest first, behind an id.

        ``limit`` is 1 to ``HELD_PAGE_MAX``. What was redacted waits no more.
        """
        check_whole_graph(scope, limit, HELD_PAGE_MAX)
        last = (yield from one(own(QUARANTINED, scope, [behind]))) if behind else None
        if behind and last is None:
            raise UsageError("behind", behind, "the id of the last text of a page")
        where: list[Condition] = [*_WAITING]
        if last is not None:
            where.append(Beyond(_OLDEST_FIRST, (microseconds(last.recorded_at), last.id)))
        find = Find(QUARANTINED, scope, "state", tuple(where), _OLDEST_FIRST, limit, reach="own")
        return tuple((yield from every(find)))

    @changing
    def decide(
        self,
        scope: Scope,
        record_id: str,
        state: State,
        reason: str,
        now: datetime,
        *,
        released_id: str | None = None,
    ) -> Steps[bool]:
        """Write down what became of a text that waits, with an audit event named as the state.

        It loses its content in the same step: what it says is in the record that it became, or
        nowhere. ``False``, writing nothing, when it does not wait any more.

        Raises:
            NotFound: There is none of that id in the graph.
            UsageError: The reason is blank, or the state is no decision.
        """
        check_whole_graph(scope)
        if not reason.strip():
            raise UsageError("reason", reason, "why; it is kept in the audit feed")
        if state == "held":
            raise UsageError("state", state, "released or discarded")
        known = yield from one(own(QUARANTINED, scope, [record_id]))
        if known is None:
            raise NotFound("quarantined text", record_id)
        if known.state != "held" or known.redacted_at is not None:
            return False
        decided = {"state": state, "reason": reason, "decided_at": now, "released_id": released_id}
        # What it says is in the record that it became, or nowhere.
        after = bare(Quarantined, redacted_form(known, now)).model_copy(update=decided)
        yield from replace(QUARANTINED, scope, after)
        named = (record_id,) if released_id is None else (record_id, released_id)
        yield from append_event(scope, state, named, reason, now)
        return True
