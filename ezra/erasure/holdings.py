"""What a graph holds of somebody: shown to who answers for it, before anything of it is erased.

Found by the very question that ``redaction.erase`` asks, so that what is shown is what would go.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from tiers.errors import check_within
from tiers.fields import Moment, Record
from tiers.records import Scope

from ..runtime import Runtime
from .subjects import Whose

PAGE_MAX = 500
TEXT_CHARS_MAX = 600
_AGENTS = "agents:"
"""How the cursor of a page begins behind which more agents may come."""


class HeldRecord(Record):
    """One record that would lose its content.

    Attributes:
        kind: What it is: ``turn``, ``fact``, …; ``quarantined`` for what the write guard put aside;
            ``agent`` for a role or prompts, whose ``id`` is the agent's.
        agent_id: Who wrote it; empty where no agent did.
        user_id: Whose it is; ``None`` when it is nobody's in particular.
        text: How it begins, of what an open roll-back keeps as well; blank where retention has
            emptied it, and only what was made of it may still say so.
    """

    kind: str
    id: str
    agent_id: str = ""
    user_id: str | None = None
    recorded_at: Moment
    text: str = ""


class Holding(Record):
    """A page of what is held, by kind and in the order of ids.

    A page may be empty and still have a cursor: it has looked through a bounded number of records.

    Attributes:
        cursor: What the next page is asked with; ``None`` after the last.
    """

    records: tuple[HeldRecord, ...] = Field(default=())
    cursor: str | None = None


async def holding_of(
    runtime: Runtime, scope: Scope, whose: Whose, *, cursor: str, limit: int
) -> Holding:
    """Return a page of the records that ``erase`` would redact first; nothing is changed.

    What was made of them and does not name the subject itself is redacted too, and not listed.

    Raises:
        UsageError: Not exactly one of subject, user and agent is given, or something is blank; the
            limit is out of range, or no page gave the cursor.
        TierError: The cold tier failed.
    """
    check_within("limit", limit, 1, PAGE_MAX)
    whose.check()
    agents: tuple[HeldRecord, ...] = ()
    behind = cursor.removeprefix(_AGENTS)
    if cursor == "" or (behind != cursor and behind.isdecimal()):
        first = int(behind or 0)
        agents = (await _agents_naming(runtime, scope, whose))[first : first + limit]
        if len(agents) == limit:
            return Holding(records=agents, cursor=f"{_AGENTS}{first + limit}")
        cursor, limit = "", limit - len(agents)
    shared_by = whose.served_by(await runtime.fleet.agents(scope.for_graph()))
    page = await runtime.redactor.holding(
        scope, **whose._asdict(), shared_by=shared_by, cursor=cursor, limit=limit
    )
    ids = list(dict.fromkeys(row.id for row in page.rows))
    records = (*agents, *await _described(runtime, scope, ids))
    return Holding(records=records, cursor=page.cursor)


async def _agents_naming(runtime: Runtime, scope: Scope, whose: Whose) -> tuple[HeldRecord, ...]:
    """Return the agents whose role or prompts name the subject, with the first text that does."""
    found: list[HeldRecord] = []
    for one in await runtime.fleet.agents(scope.for_graph()):
        texts = filter(whose.is_named_by, (one.role, *one.prompts.values()))
        text = next(texts, None)
        if text is not None:
            found.append(_record("agent", one.id, one.id, one.user_id, one.spawned_at, text))
    return tuple(found)


async def _described(runtime: Runtime, scope: Scope, ids: list[str]) -> tuple[HeldRecord, ...]:
    """Return records as a person reads them, in the order of their ids."""
    if not ids:
        return ()
    found: dict[str, HeldRecord] = {}
    for one in await runtime.taint.described(scope, ids):
        text = "" if one.is_gone and not one.is_kept else one.text
        found[one.id] = _record(one.kind, one.id, one.agent_id, one.user_id, one.recorded_at, text)
    others = [one for one in ids if one not in found]
    for aside in await runtime.quarantine.quarantined(scope, others):
        found[aside.id] = _record(
            "quarantined", aside.id, aside.agent_id, aside.user_id, aside.recorded_at, aside.text
        )
    return tuple(found[one] for one in ids if one in found)


def _record(
    kind: str, record_id: str, agent_id: str, user_id: str | None, at: datetime, text: str
) -> HeldRecord:
    return HeldRecord(
        kind=kind,
        id=record_id,
        agent_id=agent_id,
        user_id=user_id,
        recorded_at=at,
        text=text[:TEXT_CHARS_MAX],
    )
