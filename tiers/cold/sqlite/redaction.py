"""Redaction in SQLite: one transaction, after which no table of the file has the words any more.

What was made of the records, and which receipts name them, is looked for before the transaction,
on a reader's thread and by pages, so that the writer is held up by nothing but the change itself.
The transaction looks again; what was made meanwhile makes it begin anew.
"""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeVar

from ...board import TASK_LOGS
from ...documents import Document
from ...errors import TierTimeout
from ...history.chain import SALT_BYTES
from ...moments import microseconds
from ...plans import GRAINS
from ...records import Episode, Kind, Owned, Receipt, Scope, Summary, Turn, WorkDraft
from ...upkeep import Page, RecordRef, Redacted
from ..ownership import check_owned, in_order
from ..redaction import (
    ATTEMPTS_MAX,
    AUDIT_KIND,
    REACHED_MAX,
    RECEIPTS_PER_PAGE,
    RETIRED_KINDS,
    SOURCED_KINDS,
    Grown,
    Names,
    Reach,
    RecordKind,
    Redactable,
    Survey,
    Trace,
    Written,
    blanked,
    check_new_text,
    checked_request,
    is_retired,
    known_of,
    pages,
    redacted_form,
    sources_of,
    stand_in,
    stand_in_id,
)
from ..speaking_of import Search, wanted, wanted_receipts
from .belief_projection import Salts
from .belief_redaction import silence
from .database import Database, Query, Session
from .episodic import put_summary
from .log import append_event
from .queue import queue_work
from .receipts import blank, receipts_that
from .redactables import AMONG, TABLES, leave_no_trace, look, records_of, replace
from .rows import forget_records, record_of
from .scope import as_json, scoped
from .shelf import silence_formers

_R = TypeVar("_R", bound=Owned)


def _trace(kind: RecordKind) -> str:
    """Return what is asked of a record that a redaction comes upon."""
    retired_at = "r.retired_at" if kind in RETIRED_KINDS else "NULL AS retired_at"
    return f"'{kind}' AS kind, r.id, r.redacted_at, {retired_at}"


_KNOWN = " UNION ALL ".join(
    f"SELECT {_trace(kind)} FROM {table} r WHERE $own(r) AND r.id {AMONG}"
    for kind, table in TABLES.items()
)
_GRAINS = ", ".join(f"'{grain}'" for grain in GRAINS)
_TASK_LOGS = ", ".join(f"'{name}'" for name in TASK_LOGS.values())
# Levels and grains stand before the child in the keys: with all of them named, each child is one
# look into the index.
_NEXT_LEVEL = "SELECT MIN(c.level) AS level FROM coverage c WHERE $own(c) AND c.level > :after"
_NAMING = "\nUNION\n".join(
    f"SELECT {_trace(kind)} FROM {TABLES[kind]} r WHERE $own(r) AND r.source_ids <> '[]'"
    f" AND EXISTS (SELECT 1 FROM json_each(r.source_ids) s WHERE s.value {AMONG})"
    for kind in SOURCED_KINDS
)
_MADE_OF = f"""
SELECT {_trace("summary")} FROM json_each(:levels) l
    CROSS JOIN json_each(:ids) j CROSS JOIN coverage c CROSS JOIN summaries r
    WHERE $own(c) AND c.level = l.value AND c.turn_id = j.value
    AND $own(r) AND r.id = c.summary_id
UNION
SELECT {_trace("episode")} FROM json_each(:ids) j
    CROSS JOIN consolidation c CROSS JOIN episodes r
    WHERE $own(c) AND c.grain IN ({_GRAINS}) AND c.child_id = j.value
    AND $own(r) AND r.id = c.episode_id
UNION
SELECT {_trace("passage")} FROM passages r WHERE $own(r) AND r.document_id {AMONG}
UNION
SELECT {_trace("document")} FROM json_each(:ids) j CROSS JOIN passages p CROSS JOIN documents r
    WHERE $own(p) AND p.id = j.value AND $own(r) AND r.id = p.document_id
UNION
SELECT {_trace("card")} FROM cards r WHERE $own(r) AND r.kind = 'action' AND r.thread {AMONG}
    AND r.type IN ({_TASK_LOGS})
UNION
{_NAMING}
LIMIT {REACHED_MAX + 1}
"""
_RECEIPTS = (
    "SELECT r.* FROM receipts r WHERE $own(r) AND r.id > :after"
    f" ORDER BY r.id LIMIT {RECEIPTS_PER_PAGE}"
)
_IS_COVERED = "SELECT 1 FROM coverage c WHERE $own(c) AND c.level = 0 AND c.turn_id = :id"

LEVELS_MAX = 1_000
LEVEL_BEFORE_ALL = -(1 << 63)


class SqliteRedactor:
    """A ``Redactor`` in SQLite.

    Args:
        database: Where the records are.
        salts: Makes the salt of each belief event; must be unpredictable outside tests.
    """

    def __init__(
        self, database: Database, salts: Salts = lambda: secrets.token_bytes(SALT_BYTES)
    ) -> None:
        self._database = database
        self._salts = salts

    async def redact(
        self, scope: Scope, record_ids: Sequence[str], reason: str, now: datetime
    ) -> Redacted:
        """Destroy the content of records of the scope's graph, and of all that was made of them.

        In one transaction. Returns what has no content any more: what lost it now, and what lost
        it with the asked records before and was given no new text since. Receipts are those
        that were blanked now. What is freed is overwritten with zeros.

        Raises:
            NotFound: One of the ids is no such record of the graph.
            UsageError: ``reason`` is blank, there are more than ``IDS_MAX`` ids, or more than
                ``REACHED_MAX`` records would be reached.
            TierTimeout: More was made of the records under each attempt; or it is all done, but
                the write-ahead log of the file could not be emptied, which repeating does.
        """
        asked = checked_request(record_ids, reason)
        for _ in range(ATTEMPTS_MAX):
            survey = await self._database.read(
                "redact", lambda session: _survey(session, scope, asked)
            )
            # What retention has emptied may stand in a receipt as it was.
            names = frozenset(one.id for one in survey.fresh.found if not one.was_asked_away)
            receipts = await self._receipts_naming(scope, names)
            redaction = _Redaction(scope, asked, reason, now, names, receipts, self._salts)
            try:
                reached = await self._database.write("redact", redaction.carry_out)
            except Grown:
                continue
            forget_records()
            await self._database.write_back()
            return reached
        raise TierTimeout("cold", "redact", "more was made of the records under each attempt")

    async def holding(
        self,
        scope: Scope,
        *,
        subject: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        cursor: str = "",
        limit: int = 1000,
    ) -> Page[RecordRef]:
        """Return records that speak of a subject, or are a user's or an agent's; pages.

        Of every kind that can be redacted, whoever could see them, that have their content: kind
        by kind, in the order of ids. A page looks at ``LOOKED_THROUGH_MAX`` records at most.

        Raises:
            UsageError: Not exactly one of the three is given, or a subject or user is blank; a
                limit out of range, or a cursor that no page gave.
        """
        search = Search(wanted(subject, user_id, agent_id), cursor, limit)
        await self._database.read("holding", lambda session: look(session, scope, search))
        return search.page()

    async def blank_receipts(
        self,
        scope: Scope,
        *,
        subject: str | None = None,
        agent_ids: Sequence[str] = (),
        record_ids: Sequence[str] = (),
    ) -> tuple[str, ...]:
        """Blank receipts that speak of a subject, that agents were given, or that name records.

        Raises:
            UsageError: None of them is given, or the subject is blank.
            TierTimeout: As ``redact``.
        """
        is_wanted = wanted_receipts(subject, agent_ids, record_ids)
        found = await receipts_that(self._database, scope, is_wanted)
        for page in pages(found):
            await self._database.write("blank_receipts", partial(blank, scope=scope, ids=page))
        if found:
            await self._database.write_back()
        return found

    async def rewrite(self, scope: Scope, record: Written, work: Sequence[WorkDraft] = ()) -> bool:
        """Give a redacted summary or episode a new text, made of what is left of its sources.

        ``record`` is as ``redacted`` returned it, with its ``redacted_at`` and the new text.
        ``False``, writing nothing, when it is not there, not redacted, emptied by retention, or
        reached by another redaction since: then the text may be made of what is gone by now.

        Raises:
            UsageError: The text is blank, or the record another graph's.
        """
        check_owned(scope, record)
        check_new_text(record)
        return await self._database.write(
            "rewrite", lambda session: _rewrite(session, scope, record, work)
        )

    async def redacted(self, scope: Scope, record_ids: Sequence[str]) -> tuple[Redactable, ...]:
        """Return the redacted records among ``record_ids``, whoever could see them, in order.

        Not those that retention has emptied.
        """

        def question(session: Session) -> tuple[Redactable, ...]:
            found: dict[str, Redactable] = {}
            for kind in TABLES:
                for record in records_of(session, scope, kind, record_ids):
                    if record.redacted_at is not None and not is_retired(record):
                        found[record.id] = record
            return in_order(found, record_ids)

        return await self._database.read("redacted", question)

    async def left_of(self, scope: Scope, record: Written) -> tuple[Turn | Summary | Episode, ...]:
        """Return what is not redacted of that which a summary covers or an episode has, in order.

        Whoever could see it.
        """
        kinds, ids = sources_of(record)

        def question(session: Session) -> tuple[Turn | Summary | Episode, ...]:
            left: dict[str, Turn | Summary | Episode] = {}
            for kind in kinds:
                for one in records_of(session, scope, kind, ids):
                    if isinstance(one, Turn | Summary | Episode) and one.redacted_at is None:
                        left[one.id] = one
            return in_order(left, ids)

        return await self._database.read("left_of", question)

    async def _receipts_naming(self, scope: Scope, ids: Collection[str]) -> tuple[str, ...]:
        """Return the receipts of the graph that name one of the records and are not blank.

        Reads them all.
        """
        names, found, after = Names(ids), list[str](), ""
        while ids:
            query = scoped(_RECEIPTS, scope, after=after)

            def question(session: Session, query: Query = query) -> tuple[str, list[str]]:
                rows = session.all(query)
                last = rows[-1]["id"] if len(rows) == RECEIPTS_PER_PAGE else ""
                naming = [record_of(Receipt, row) for row in rows if names.is_in(row["body"])]
                return last, [one.id for one in naming if one != blanked(one)]

            after, naming = await self._database.read("redact", question)
            found += naming
            if not after:
                break
        return tuple(found)


@dataclass(frozen=True)
class _Redaction:
    """One redaction, to be carried out inside a transaction.

    Attributes:
        scope: Whose graph.
        asked: The records that somebody named.
        reason: Why.
        now: When.
        looked_for: The records whose receipts were looked for.
        receipts: Those receipts.
        salts: Where the salts of belief events come from.
    """

    scope: Scope
    asked: Sequence[str]
    reason: str
    now: datetime
    looked_for: Collection[str]
    receipts: Sequence[str]
    salts: Salts

    def carry_out(self, session: Session) -> Redacted:
        """Do all of it and return what has no content any more.

        Raises:
            Grown: More has to go than was looked for.
        """
        survey = _survey(session, self.scope, self.asked)
        fresh = [trace for trace in survey.fresh.found if not trace.is_redacted]
        if not {trace.id for trace in fresh} <= set(self.looked_for):
            raise Grown
        if not fresh and not self.receipts:
            return survey.reached()
        if fresh:
            leave_no_trace(session, self.scope, self._destroy(session, fresh), self.now)
            self._mark_again(session, [one for one in survey.fresh.found if one.was_asked_away])
        blank(session, self.scope, self.receipts)
        append_event(session, self.scope, AUDIT_KIND, self.asked, self.reason, self.now)
        return survey.reached(self.receipts)

    def _destroy(self, session: Session, fresh: Iterable[Trace]) -> list[Redactable]:
        by_kind: dict[RecordKind, list[str]] = {}
        for trace in fresh:
            by_kind.setdefault(trace.kind, []).append(trace.id)
        gone: list[Redactable] = []
        silenced = by_kind.get("belief", [])
        silence(session, self.scope, silenced, self.reason, self.now, self.salts)
        for kind, ids in by_kind.items():
            for page in pages(ids):
                for record in records_of(session, self.scope, kind, page):
                    after = redacted_form(record, self.now)
                    replace(session, self.scope, kind, record, after)
                    gone.append(after)
        for record in gone:
            if isinstance(record, Turn):
                self._stand_in(session, record)
            elif isinstance(record, Document):
                silence_formers(session, self.scope, record)
        return gone

    def _stand_in(self, session: Session, turn: Turn) -> None:
        """Let a turn that waits for a summary have one."""
        if session.one(scoped(_IS_COVERED, self.scope, id=turn.id)) is None:
            put_summary(session, self.scope, stand_in(turn, self.now), ())

    def _mark_again(self, session: Session, traces: Iterable[Trace]) -> None:
        """Move the moment at which records lost their content: who rewrites them comes too late."""
        for kind in ("summary", "episode"):
            ids = [trace.id for trace in traces if trace.kind == kind]
            statement = (
                f"UPDATE {TABLES[kind]} AS r SET redacted_at = MAX(redacted_at + 1, :now)"
                f" WHERE $own(r) AND r.id {AMONG}"
            )
            at = microseconds(self.now)
            session.run(scoped(statement, self.scope, ids=as_json(ids), now=at))


def _survey(session: Session, scope: Scope, asked: Sequence[str]) -> Survey:
    """Find out what is to be redacted.

    Raises:
        NotFound: One of the asked is no record of the graph.
        UsageError: Too much would be reached.
    """
    ids = as_json(asked)
    known = known_of(asked, _traces(session, scoped(_KNOWN, scope, ids=ids)))
    turns = _of_model(records_of(session, scope, "turn", asked), Turn)
    stand_ins = [stand_in_id(turn) for turn in turns.values()]
    lost = [trace for trace in known if trace.was_asked_away]
    # From what retention has emptied as well: what was made of it may still tell it.
    fresh = Reach((trace for trace in known if not trace.was_asked_away), stand_ins)
    before = Reach(lost, stand_ins, only_redacted=True)
    levels = json.dumps(_levels(session, scope))
    for reach in (fresh, before):
        while page := reach.page():
            made = scoped(_MADE_OF, scope, ids=as_json(page), levels=levels)
            reach.add(_traces(session, made))
    return Survey(fresh, before)


def _levels(session: Session, scope: Scope) -> list[int]:
    """Return the levels of the graph's summaries, each found by one look into the index."""
    levels: list[int] = []
    while len(levels) < LEVELS_MAX:
        after = levels[-1] if levels else LEVEL_BEFORE_ALL
        level = session.all(scoped(_NEXT_LEVEL, scope, after=after))[0]["level"]
        if level is None:
            break
        levels.append(level)
    return levels


def _traces(session: Session, query: Query) -> list[Trace]:
    return [
        Trace(row["kind"], row["id"], row["redacted_at"] is not None, row["retired_at"] is not None)
        for row in session.all(query)
    ]


def _of_model(records: Iterable[Redactable], model: type[_R]) -> dict[str, _R]:
    return {record.id: record for record in records if isinstance(record, model)}


def _rewrite(session: Session, scope: Scope, record: Written, work: Sequence[WorkDraft]) -> bool:
    kind: Kind = "summary" if isinstance(record, Summary) else "episode"
    found = records_of(session, scope, kind, [record.id])
    if record.redacted_at is None or not found or found[0].redacted_at != record.redacted_at:
        return False
    before = found[0]
    if is_retired(before):
        return False
    told: dict[str, object] = {"text": record.text, "redacted_at": None}
    told |= {"made_by": record.made_by, "lost": record.lost}
    if isinstance(record, Summary):
        told["tokens"] = record.tokens
    replace(session, scope, kind, before, before.model_copy(update=told))
    queue_work(session, scope, work, record.redacted_at)
    return True
