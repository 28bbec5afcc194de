"""Reads around and behind the hits of a search, in SQLite."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, TypeVar

from ...errors import CorruptRecord, UsageError
from ...moments import microseconds, moment
from ...recollection import Said, WordStatistics
from ...records import TEXT_CHARS_MAX, Hit, Kind, Scope, SearchQuery
from ...sighting import Known, Sighted
from ..ownership import check_limit
from .bm25 import asked_terms
from .database import Database, Query, Session
from .hits import read_hits, text_of_turn
from .scope import as_json, scoped
from .word_counts import listed, statistics_of, stored_kinds, totals_of
from .word_search import STOOD_THEN, Found, conditions, seq_at

_SaidT = TypeVar("_SaidT")

IDS_MAX, TURNS_EACH_WAY_MAX = 200, 16
_EVER = (1 << 63) - 1
_ORDER = itemgetter(9, 0)
"""By when it was recorded, then by its row: how ``_SAID`` is read."""

# Turns of one moment stand in the order of their rows; of those before or behind it the order is
# that of the index. Each way is one look into it that ends after as many turns as are wanted.
_SEEN = "$visible(t) AND t.redacted_at IS NULL"
_BEFORE = f"""(
SELECT e.row FROM (
    SELECT * FROM (SELECT t.row, 0 AS away FROM turns AS t WHERE {_SEEN}
        AND t.recorded_at = a.recorded_at AND t.row < a.row ORDER BY t.row DESC LIMIT :before)
    UNION ALL
    SELECT * FROM (SELECT t.row, 1 AS away FROM turns AS t WHERE {_SEEN}
        AND t.recorded_at < a.recorded_at ORDER BY t.recorded_at DESC, t.row DESC LIMIT :before)
    LIMIT :before) AS e
)"""
_BEHIND = f"""(
SELECT e.row FROM (
    SELECT * FROM (SELECT t.row, 0 AS away FROM turns AS t WHERE {_SEEN}
        AND t.recorded_at = a.recorded_at AND t.row > a.row ORDER BY t.row LIMIT :after)
    UNION ALL
    SELECT * FROM (SELECT t.row, 1 AS away FROM turns AS t WHERE {_SEEN}
        AND t.recorded_at > a.recorded_at AND t.recorded_at <= :as_of
        ORDER BY t.recorded_at, t.row LIMIT :after)
    LIMIT :after) AS e
)"""
_AROUND = f"""
SELECT a.row,
    (SELECT json_group_array(b.row) FROM {_BEFORE} AS b) AS before,
    (SELECT json_group_array(b.row) FROM {_BEHIND} AS b) AS behind
FROM (
    SELECT t.row, t.recorded_at FROM json_each(:ids) AS w CROSS JOIN turns AS t
    WHERE t.id = w.value AND {_SEEN} AND +t.recorded_at <= :as_of
) AS a
"""
_SAID = (
    "SELECT t.row, t.id, t.agent_id, t.user_id, t.speaker, t.input, t.response, t.tool_outputs,"
    " t.occurred_at, t.recorded_at FROM json_each(:rows) AS w CROSS JOIN turns AS t"
    f" WHERE t.row = w.value AND {_SEEN}"
)
_THERE = (
    "SELECT t.recorded_at, t.row, t.id FROM json_each(:rows) AS w CROSS JOIN turns AS t"
    f" WHERE t.row = w.value AND {_SEEN}"
)
# From one name to the next in the index: how much each has said is never counted.
_NAME = "CASE WHEN t.speaker = '' THEN t.agent_id ELSE t.speaker END"
_SPEAKING = "FROM turns AS t WHERE $own(t) AND t.redacted_at IS NULL"
_SPEAKERS = f"""
WITH RECURSIVE found (name) AS (
    SELECT MIN({_NAME}) {_SPEAKING}
    UNION ALL
    SELECT (SELECT MIN({_NAME}) {_SPEAKING} AND {_NAME} > a.name) FROM found AS a
        WHERE a.name IS NOT NULL
)
SELECT a.name FROM found AS a WHERE a.name IS NOT NULL LIMIT :limit
"""
_KEPT = "$visible(r) AND r.redacted_at IS NULL AND r.recorded_at <= :as_of"
_ASKED = (
    "(:user_id IS NULL OR r.user_id = :user_id)"
    " AND (:writer_id IS NULL OR r.agent_id = :writer_id)"
    " AND (:ids IS NULL OR r.id IN (SELECT value FROM json_each(:ids)))"
    " AND (:since IS NULL OR {happened} >= :since)"
    " AND (:until IS NULL OR {happened} < :until)"
    " AND (:about IS NULL OR EXISTS (SELECT 1 FROM topic_members AS n"
    " WHERE n.topic_set = r.topic_set AND n.topic IN (SELECT value FROM json_each(:about))))"
    " AND (:about_all IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(:about_all) AS a"
    " WHERE a.value NOT IN (SELECT n.topic FROM topic_members AS n"
    " WHERE n.topic_set = r.topic_set)))"
)
_LAST_FIRST = "ORDER BY ended_at DESC, 1 LIMIT :limit"
_FACT = (
    f"{_KEPT} AND {STOOD_THEN.replace('f.', 'r.')} AND (:tier IS NULL OR r.tier = :tier)"
    f" AND {_ASKED.format(happened='COALESCE(r.valid_from, r.recorded_at)')}"
)
# What was superseded and forgotten after that ended when it was superseded.
_FACTS_ENDED = f"""
SELECT r.id, r.superseded_at AS ended_at FROM facts AS r
    WHERE r.superseded_at > :as_of AND {_FACT}
UNION ALL
SELECT r.id, r.forgotten_at AS ended_at FROM facts AS r
    WHERE r.forgotten_at > :as_of AND r.superseded_by IS NULL AND {_FACT}
{_LAST_FIRST}
"""
_SUMMARIES_ENDED = (
    f"SELECT r.id, r.expires_at AS ended_at FROM summaries AS r WHERE {_KEPT}"
    " AND r.expires_at > :as_of AND r.expires_at <= :now"
    f" AND {_ASKED.format(happened='r.starts_at')} {_LAST_FIRST}"
)
# A span that was closed since holds then if it had begun.
_BELIEFS_ENDED = (
    "SELECT r.id, e.recorded_at AS ended_at FROM beliefs AS r CROSS JOIN belief_events AS e"
    " ON e.tenant = r.tenant AND e.graph_id = r.graph_id AND e.seq = r.ended_seq"
    f" WHERE {_KEPT} AND r.active = 0 AND r.ended_seq > :seq"
    " AND EXISTS (SELECT 1 FROM belief_spans AS o WHERE $own(o) AND o.belief_id = r.id"
    " AND o.since_seq <= :seq AND o.until_seq > :seq)"
    f" AND {_ASKED.format(happened='r.recorded_at')} {_LAST_FIRST}"
)
_PASSAGES_ENDED = (
    "SELECT r.id, r.retired_at AS ended_at FROM passages AS r"
    f" WHERE r.retired_at > :as_of AND {_KEPT}"
    f" AND {_ASKED.format(happened='r.recorded_at')} {_LAST_FIRST}"
)
_ENDED: Mapping[Kind, str] = {
    "fact": _FACTS_ENDED,
    "summary": _SUMMARIES_ENDED,
    "belief": _BELIEFS_ENDED,
    "document": _PASSAGES_ENDED,
}


class SqliteRecollection:
    """A ``Recollection`` over the SQLite stores."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def around(
        self,
        scope: Scope,
        turn_ids: Sequence[str],
        before: int,
        after: int,
        *,
        as_of: datetime | None = None,
    ) -> tuple[tuple[Said, ...], ...]:
        """Return the stretches of conversation around turns of the scope's own graph.

        Runs of visible, unredacted turns in the order of recording, oldest first; stretches that
        touch or overlap are one. Two statements, however many turns are asked for.

        Raises:
            UsageError: More than ``IDS_MAX`` ids, or more turns each way than
                ``TURNS_EACH_WAY_MAX``.
        """
        query = _around(scope, turn_ids, before, after, as_of)

        def question(session: Session) -> tuple[tuple[Said, ...], ...]:
            chains, rows = _chains(session, query, before)
            told = session.tuples(scoped(_SAID, scope, rows=json.dumps(rows)))
            told.sort(key=_ORDER)  # here, where the engine need not carry the texts about
            return tuple(_stretches({row[0]: _said(row) for row in told}, chains))

        return await self._database.read("around", question)

    async def sight_around(
        self,
        scope: Scope,
        turn_ids: Sequence[str],
        before: int,
        after: int,
        known: Known,
        *,
        as_of: datetime | None = None,
    ) -> tuple[tuple[Said | Sighted, ...], ...]:
        """Return what ``around`` does, turns of ``known`` by their ids alone.

        Raises:
            UsageError: As ``around``.
        """
        query = _around(scope, turn_ids, before, after, as_of)

        def question(session: Session) -> tuple[tuple[Said | Sighted, ...], ...]:
            chains, rows = _chains(session, query, before)
            there = session.tuples(scoped(_THERE, scope, rows=json.dumps(rows)))
            there.sort()
            seen: dict[int, Said | Sighted | None] = {
                row: Sighted(turn_id, 0.0, "cold") if turn_id in known else None
                for _, row, turn_id in there
            }
            unknown = [row for row, one in seen.items() if one is None]
            told = session.tuples(scoped(_SAID, scope, rows=json.dumps(unknown))) if unknown else ()
            seen |= {row[0]: _said(row) for row in told}
            return tuple(_stretches({row: one for row, one in seen.items() if one}, chains))

        return await self._database.read("around", question)

    async def speakers(self, scope: Scope, limit: int) -> tuple[str, ...]:
        """Return different speakers of the graph's turns, whoever may see them, by name.

        Out of an index alone, from one name to the next; redacted turns have none.
        """
        check_limit(limit)
        query = scoped(_SPEAKERS, scope, limit=limit)
        return await self._database.read(
            "speakers", lambda session: tuple(row["name"] for row in session.all(query))
        )

    async def word_statistics(
        self, scope: Scope, text: str, kinds: Sequence[Kind]
    ) -> WordStatistics:
        """Return how many records of the scope's own graph have each content word of a text.

        Of the first ``QUERY_WORDS_MAX`` words; outputs of tools are counted as turns. More than
        ``word_counts.COUNTED_MAX`` records of a kind are an estimate.
        """
        stored = stored_kinds(kinds)

        def question(session: Session) -> WordStatistics:
            totals = totals_of(session, scope)
            having: Counter[str] = Counter()
            for one in listed(session, scope, asked_terms(text), stored, totals):
                having[one.term] += one.having
            records = sum(totals.of_kind.get(kind, 0) for kind in stored)
            return statistics_of(text, having, records)

        return await self._database.read("word_statistics", question)

    async def ended(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return visible records that were live at ``query.as_of`` and are not any more.

        Most recently ended first, then by id; their scores are 0. Only the scope's own graph is
        looked at.
        """
        if query.as_of is None or query.inherited:
            return ()
        params = conditions(query) | {"limit": query.limit}

        def question(session: Session) -> tuple[Hit, ...]:
            seq = seq_at(session, scope, params["as_of"])
            over: list[tuple[int, str, Kind]] = []
            for kind, statement in _ENDED.items():
                if kind in query.kinds:
                    rows = session.all(scoped(statement, scope, carrying=None, seq=seq, **params))
                    over += [(-int(row["ended_at"]), row["id"], kind) for row in rows]
            last = sorted(over)[: query.limit]
            found = [Found(kind, one, 0.0, words_only=False) for _, one, kind in last]
            return read_hits(session, scope, found)

        return await self._database.read("ended", question)


def _around(
    scope: Scope, turn_ids: Sequence[str], before: int, after: int, as_of: datetime | None
) -> Query:
    ids = list(dict.fromkeys(turn_ids))
    _check_around(ids, before, after)
    return scoped(
        _AROUND,
        scope,
        ids=as_json(ids),
        as_of=_EVER if as_of is None else microseconds(as_of),
        before=before + 1,  # one more tells whether the stretch before is next to it
        after=after,
    )


def _check_around(ids: Sequence[str], before: int, after: int) -> None:
    if len(ids) > IDS_MAX:
        raise UsageError("turn_ids", len(ids), f"at most {IDS_MAX} ids")
    for name, number in (("before", before), ("after", after)):
        if not 0 <= number <= TURNS_EACH_WAY_MAX:
            raise UsageError(name, number, f"0 to {TURNS_EACH_WAY_MAX}")


def _chains(
    session: Session, query: Query, before: int
) -> tuple[list[tuple[int | None, list[int]]], list[int]]:
    """Return the stretch of each asked turn, and the rows of all of them."""
    chains = [_chain(before, *row) for row in session.tuples(query)]
    return chains, sorted({row for _, stretch in chains for row in stretch})


def _chain(before: int, row: int, earlier: str, later: str) -> tuple[int | None, list[int]]:
    """Return the row before a stretch, if there is one, and the rows of it, oldest first.

    Args:
        before: How many of the earlier ones belong to the stretch.
        row: The one asked for.
        earlier: Those before it as a JSON list, the nearest first.
        later: Those behind it, likewise.
    """
    near, behind = json.loads(f"[{earlier},{later}]")
    beyond = near[before] if len(near) > before else None
    return beyond, [*reversed(near[:before]), row, *behind]


def _stretches(
    said: Mapping[int, _SaidT], chains: Sequence[tuple[int | None, list[int]]]
) -> Iterator[tuple[_SaidT, ...]]:
    """Yield what was said, in order, cut where it is not known that one follows the other."""
    follows = {
        (one, other)
        for beyond, stretch in chains
        for one, other in zip([beyond, *stretch], stretch, strict=False)
    }
    open_rows: list[int] = []
    for row in said:
        if open_rows and (open_rows[-1], row) not in follows:
            yield tuple(said[one] for one in open_rows)
            open_rows = []
        open_rows.append(row)
    if open_rows:
        yield tuple(said[one] for one in open_rows)


def _said(row: tuple[Any, ...]) -> Said:
    _, record_id, agent_id, user_id, speaker, text, response, outputs, occurred_at, at = row
    shown = speaker or agent_id
    try:
        told = text_of_turn(shown, text, response, outputs)[:TEXT_CHARS_MAX]
    except (ValueError, TypeError, KeyError) as error:
        raise CorruptRecord("cold", "read", "a stored turn cannot be read back") from error
    recorded_at = moment(at)
    happened_at = recorded_at if occurred_at == at else moment(occurred_at)
    return Said(record_id, agent_id, user_id, shown, told, happened_at, recorded_at)
