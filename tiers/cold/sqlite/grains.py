"""Time grains in SQLite: what is in no episode yet, who was counted where, what is retired."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain

from ...errors import UsageError
from ...grains import MADE_OF, GrainCount, Made, Retirable, TurnMark
from ...moments import microseconds
from ...plans import GRAINS, AnyGrain
from ...records import Episode, Grain, Scope, Summary, WorkDraft
from ...upkeep import PAGE_ROWS_MAX, Page
from ..ownership import check_limit, check_whole_graph
from ..redaction import checked_retirement
from .database import Database, Query, Session, Value
from .retirement import Retirement
from .rows import forget_records, record_of
from .scope import as_json, scoped

COARSER: Mapping[Grain, tuple[Grain, ...]] = {
    finer: tuple(grain for grain, made_of in MADE_OF.items() if made_of == finer)
    for finer in MADE_OF
}
"""What is made of episodes of a grain."""

_OWNED = "SELECT r.*, s.topics FROM {table} r JOIN topic_sets s ON s.id = r.topic_set WHERE $own(r)"
_OLDEST = " AND r.starts_at < :before ORDER BY r.starts_at, r.id LIMIT :limit"
# A summary is a child of daily episodes only, so the first that it is in is the one that counts:
# the index has what waits and no more.
_LOOSE_SUMMARIES = (
    _OWNED.format(table="summaries")
    + " AND r.level = 0 AND r.episode_id IS NULL AND r.redacted_at IS NULL"
    + _OLDEST
)
_LOOSE_EPISODES = (
    _OWNED.format(table="episodes")
    + " AND r.grain = :finer AND r.redacted_at IS NULL AND NOT EXISTS (SELECT 1"
    " FROM consolidation c WHERE $own(c) AND c.grain = :grain AND c.child_id = r.id)" + _OLDEST
)

_HOW_GONE = (
    "r.redacted_at IS NOT NULL AND r.retired_at IS NULL AS redacted,"
    " r.retired_at IS NOT NULL AS retired"
)
# Agents and numbers in the order of their key, so that each page reads on where the last ended.
_TURN_MARKS = (
    f"SELECT r.id, r.agent_id, r.seq, r.occurred_at, {_HOW_GONE},"
    " EXISTS (SELECT 1 FROM coverage c WHERE $own(c) AND c.level = 0 AND c.turn_id = r.id)"
    " AS covered FROM turns r WHERE $own(r)"
    " AND (r.agent_id, r.seq) > (:after_agent, :after_seq)"
    " ORDER BY r.agent_id, r.seq LIMIT :limit"
)
_NAMES_OF_GRAINS = ", ".join(f"'{grain}'" for grain in GRAINS)
# The grain stands before the child in the key: with all of them named, each is one look.
_TOLD_IN = (
    "(SELECT json_group_array(c.grain) FROM consolidation c WHERE $own(c)"
    f" AND c.grain IN ({_NAMES_OF_GRAINS}) AND c.child_id = r.id) AS told_in"
)
_MADE = f"r.id, r.agent_id, r.starts_at, r.ends_at, r.made_by, r.lost, {_HOW_GONE}, {_TOLD_IN}"
_MADE_SUMMARIES = (
    f"SELECT {_MADE}, 'working' AS grain, r.covers AS sources FROM summaries r WHERE $own(r)"
    " AND r.level = 0 AND r.id > :after ORDER BY r.id LIMIT :limit"
)
_MADE_EPISODES = (
    f"SELECT {_MADE}, r.grain, r.period, r.children AS sources FROM episodes r WHERE $own(r)"
    " AND r.id > :after ORDER BY r.id LIMIT :limit"
)
_MADE_BY_KIND = {"episode": _MADE_EPISODES, "summary": _MADE_SUMMARIES}

_COUNTED = "COUNT(*) AS total, COUNT(*) - COUNT(r.redacted_at) AS live"
_COUNT_WORKING = (
    f"SELECT {_COUNTED} FROM turns r WHERE $own(r) UNION ALL"
    f" SELECT {_COUNTED} FROM summaries r WHERE $own(r) AND r.level = 0"
)
_COUNT_EPISODES = f"SELECT {_COUNTED} FROM episodes r WHERE $own(r) AND r.grain = :grain"


def _stands(grain: Grain, one: str) -> str:
    """Return whether an episode still tells what it was made of, or what was made of it does.

    Args:
        grain: Its grain.
        one: Its alias.
    """
    told = [
        f"{one}.retired_at IS NOT NULL",
        *(_is_in(coarser, f"{one}.id") for coarser in COARSER[grain]),
    ]
    return f"({one}.redacted_at IS NULL OR ({' AND '.join(told)}))"


def _is_in(grain: Grain, child_id: str) -> str:
    """Return whether a summary or episode is in an episode of a grain that stands.

    The order of the tables is fixed: the child's place in the key of links, then the one episode
    that it names there. By itself the engine might look through all episodes of the grain.
    """
    link, there = f"in_{grain}", f"at_{grain}"
    return (
        f"EXISTS (SELECT 1 FROM consolidation {link} CROSS JOIN episodes {there}"
        f" WHERE $own({link}) AND {link}.grain = '{grain}' AND {link}.child_id = {child_id}"
        f" AND $own({there}) AND {there}.id = {link}.episode_id AND {_stands(grain, there)})"
    )


_FULL = "$own(r) AND r.redacted_at IS NULL"
_RECORDED = " AND r.recorded_at < :before ORDER BY r.recorded_at, r.id LIMIT :limit"
# The summary between a turn and its day must not have been emptied on request either: a day that
# was told anew without it does not tell the turn.
_RETIRABLE_TURNS = (
    f"SELECT 'turn' AS kind, r.id, r.recorded_at AS at FROM turns r WHERE {_FULL}"
    " AND EXISTS (SELECT 1 FROM coverage v CROSS JOIN summaries w WHERE $own(v) AND v.level = 0"
    " AND v.turn_id = r.id AND $own(w) AND w.id = v.summary_id"
    f" AND (w.redacted_at IS NULL OR w.retired_at IS NOT NULL) AND {_is_in('daily', 'w.id')})"
    + _RECORDED
)
_RETIRABLE_SUMMARIES = (
    f"SELECT 'summary' AS kind, r.id, r.recorded_at AS at FROM summaries r WHERE {_FULL}"
    f" AND r.level = 0 AND {_is_in('daily', 'r.id')}" + _RECORDED
)
# What ended before a moment began before it, which is what the index is in the order of.
_ENDED = (
    " AND r.starts_at < :before AND r.ends_at < :before ORDER BY r.starts_at, r.id LIMIT :limit"
)
_DAYS_ARE_IN_MONTHS = (
    f"NOT EXISTS (SELECT 1 FROM json_each(r.children) d WHERE NOT {_is_in('monthly', 'd.value')})"
)


def _retirable_episodes(grain: Grain) -> str:
    conditions = [_is_in(coarser, "r.id") for coarser in COARSER[grain]]
    if grain == "weekly":
        conditions.append(_DAYS_ARE_IN_MONTHS)
    where = " AND ".join([_FULL, f"r.grain = '{grain}'", *conditions])
    return (
        f"SELECT 'episode' AS kind, r.id, r.starts_at AS at FROM episodes r WHERE {where}{_ENDED}"
    )


_RETIRABLE_DAYS = _retirable_episodes("daily")
_RETIRABLE_WEEKS = _retirable_episodes("weekly")
_RETIRABLE_MONTHS = _retirable_episodes("monthly")
_RETIRABLE_QUARTERS = _retirable_episodes("quarterly")
_RETIRABLE_YEARS = _retirable_episodes("yearly")
_RETIRABLE: Mapping[AnyGrain, tuple[str, ...]] = {
    "working": (_RETIRABLE_TURNS, _RETIRABLE_SUMMARIES),
    "daily": (_RETIRABLE_DAYS,),
    "weekly": (_RETIRABLE_WEEKS,),
    "monthly": (_RETIRABLE_MONTHS,),
    "quarterly": (_RETIRABLE_QUARTERS,),
    "yearly": (_RETIRABLE_YEARS,),
}

# The way up from records to what tells them now: from what was retired, to what was made of it.
_TOLD_BY = """
WITH RECURSIVE above (root, id, retired_at) AS (
    SELECT j.value, r.id, r.retired_at FROM json_each(:turns) j
        CROSS JOIN coverage v CROSS JOIN consolidation c CROSS JOIN episodes r
        WHERE $own(v) AND v.level = 0 AND v.turn_id = j.value
        AND $own(c) AND c.grain = 'daily' AND c.child_id = v.summary_id
        AND $own(r) AND r.id = c.episode_id
    UNION
    SELECT j.value, r.id, r.retired_at FROM json_each(:others) j
        CROSS JOIN json_each(:grains) g CROSS JOIN consolidation c CROSS JOIN episodes r
        WHERE $own(c) AND c.grain = g.value AND c.child_id = j.value
        AND $own(r) AND r.id = c.episode_id
    UNION
    SELECT above.root, r.id, r.retired_at FROM above
        CROSS JOIN json_each(:grains) g CROSS JOIN consolidation c CROSS JOIN episodes r
        WHERE above.retired_at IS NOT NULL
        AND $own(c) AND c.grain = g.value AND c.child_id = above.id
        AND $own(r) AND r.id = c.episode_id
)
SELECT root, id FROM above WHERE retired_at IS NULL ORDER BY root, id
"""


class SqliteGrainStore:
    """A ``GrainStore`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def loose(
        self, scope: Scope, grain: Grain, before: datetime, limit: int
    ) -> tuple[Summary | Episode, ...]:
        """Return what an episode of this grain is made of and that is in none of it yet.

        Of every agent, user and topic, that began before ``before``; oldest first, ties by id, at
        most ``limit``. Redacted and retired ones are left out.
        """
        check_whole_graph(scope)
        check_limit(limit)
        finer = MADE_OF[grain]
        model: type[Summary | Episode] = Summary if finer == "working" else Episode
        query = scoped(
            _LOOSE_SUMMARIES if finer == "working" else _LOOSE_EPISODES,
            scope,
            grain=grain,
            finer=finer,
            before=microseconds(before),
            limit=limit,
        )
        return await self._database.read(
            "loose", lambda session: tuple(record_of(model, row) for row in session.all(query))
        )

    async def turn_marks(self, scope: Scope, cursor: str, limit: int) -> Page[TurnMark]:
        """Return every turn of the graph, redacted and retired ones included.

        Agent by agent in the order of their ids, and there in the order of ``seq``; ``""`` begins.

        Raises:
            UsageError: The scope is an agent's, a limit out of range, or a cursor no page gave.
        """
        check_whole_graph(scope)
        check_limit(limit, PAGE_ROWS_MAX)
        agent, seq = _place_of(cursor, ("", 0))
        query = scoped(_TURN_MARKS, scope, after_agent=agent, after_seq=seq, limit=limit + 1)

        def question(session: Session) -> Page[TurnMark]:
            marks = tuple(record_of(TurnMark, row) for row in session.all(query))
            rows = marks[:limit]
            end = (rows[-1].agent_id, rows[-1].seq) if len(marks) > limit else None
            return Page(rows=rows, cursor=_cursor_of(end))

        return await self._database.read("turn_marks", question)

    async def made(self, scope: Scope, cursor: str, limit: int) -> Page[Made]:
        """Return every level-0 summary and every episode, redacted and retired ones included.

        Episodes first, then summaries, each in the order of their ids; ``""`` begins.

        Raises:
            UsageError: As of ``turn_marks``.
        """
        check_whole_graph(scope)
        check_limit(limit, PAGE_ROWS_MAX)
        kind, after = _place_of(cursor, ("", ""))

        def question(session: Session) -> Page[Made]:
            found: list[Made] = []
            for name, statement in _MADE_BY_KIND.items():
                if len(found) > limit or name < str(kind):
                    continue
                begins = after if name == kind else ""
                room = limit + 1 - len(found)
                query = scoped(statement, scope, after=begins, limit=room)
                found += [_made_of(row) for row in session.all(query)]
            rows = tuple(found[:limit])
            end = (_kind_of(rows[-1]), rows[-1].id) if len(found) > limit else None
            return Page(rows=rows, cursor=_cursor_of(end))

        return await self._database.read("made", question)

    async def retirable(
        self, scope: Scope, grain: AnyGrain, before: datetime, limit: int
    ) -> tuple[Retirable, ...]:
        """Return records of a grain that are past their retention and have a stand-in.

        Of ``working``, in the order in which they were recorded; of other grains, in that in which
        they began; ties by id, at most ``limit``. A turn's stand-in is the daily episode that its
        summary is in, and neither of both may be redacted. What stands for a retired episode is
        all that was made of it: for a daily one both the weekly and the monthly one.
        """
        check_whole_graph(scope)
        check_limit(limit)
        at = microseconds(before)

        def question(session: Session) -> tuple[Retirable, ...]:
            queries = (scoped(one, scope, before=at, limit=limit) for one in _RETIRABLE[grain])
            rows = chain.from_iterable(map(session.all, queries))
            found = sorted(rows, key=lambda row: (row["at"], row["id"]))[:limit]
            told = _told_by(session, scope, found)
            return tuple(
                Retirable(kind=row["kind"], id=row["id"], replaced_by=told.get(row["id"], ()))
                for row in found
            )

        return await self._database.read("retirable", question)

    async def count_grain(self, scope: Scope, grain: AnyGrain) -> GrainCount:
        """Return how many records of a grain the graph has; of ``working``, turns and summaries."""
        check_whole_graph(scope)
        query = (
            scoped(_COUNT_WORKING, scope)
            if grain == "working"
            else scoped(_COUNT_EPISODES, scope, grain=grain)
        )

        def question(session: Session) -> GrainCount:
            rows = session.all(query)
            total, live = (sum(row[name] for row in rows) for name in ("total", "live"))
            return GrainCount(total=total, live=live)

        return await self._database.read("count_grain", question)

    async def retire(
        self,
        scope: Scope,
        ids: Sequence[str],
        reason: str,
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> tuple[str, ...]:
        """Destroy the content of turns, summaries, episodes and facts for good; return which.

        In one transaction; what is freed is overwritten with zeros. Nothing that was made of them
        changes. What is redacted or retired already, or is no such record, is passed over.

        Raises:
            UsageError: The scope is an agent's, ``reason`` is blank, or there are more than
                ``RETIRED_PER_CALL_MAX`` ids.
            TierTimeout: It is all done, but the write-ahead log of the file could not be emptied,
                which repeating does.
        """
        check_whole_graph(scope)
        asked = checked_retirement(ids, reason)
        if not asked:
            return ()
        retirement = Retirement(scope, asked, reason, now, work)
        retired = await self._database.write("retire", retirement.carry_out)
        forget_records()
        await self._database.write_back()
        return retired


def _told_by(
    session: Session, scope: Scope, rows: Sequence[sqlite3.Row]
) -> dict[str, tuple[str, ...]]:
    """Return, by the record's id, what has its content and stands for it now."""
    turns = as_json([row["id"] for row in rows if row["kind"] == "turn"])
    others = as_json([row["id"] for row in rows if row["kind"] != "turn"])
    grains = as_json(tuple(MADE_OF))
    told: dict[str, list[str]] = {}
    query: Query = scoped(_TOLD_BY, scope, turns=turns, others=others, grains=grains)
    for row in session.all(query):
        told.setdefault(row["root"], []).append(row["id"])
    return {root: tuple(ids) for root, ids in told.items()}


def _made_of(row: sqlite3.Row) -> Made:
    told_in = tuple(sorted(json.loads(row["told_in"])))
    return record_of(Made, row, sources=json.loads(row["sources"]), told_in=told_in)


def _kind_of(made: Made) -> str:
    return "summary" if made.grain == "working" else "episode"


def _cursor_of(place: tuple[Value, Value] | None) -> str | None:
    return None if place is None else json.dumps(place, ensure_ascii=False)


def _place_of(cursor: str, first: tuple[Value, Value]) -> tuple[Value, Value]:
    """Return what a page comes after.

    Raises:
        UsageError: No page gave the cursor.
    """
    if not cursor:
        return first
    try:
        place = json.loads(cursor)
    except ValueError:
        place = None
    if not isinstance(place, list) or [type(part) for part in place] != [*map(type, first)]:
        raise UsageError("cursor", cursor, "the cursor of a page of the same question")
    return place[0], place[1]
