"""What happened, by time alone, in SQLite."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...moments import microseconds
from ...recollection import Place
from ...records import Hit, Kind, Scope, SearchQuery
from .database import Database, Session, Value
from .hits import read_hits
from .scope import scoped
from .word_counts import stored_kinds
from .word_search import STOOD_THEN, Found, conditions, seq_at

_EARLIEST, _LATEST = -(1 << 63), (1 << 63) - 1


class _Told(NamedTuple):
    """How one kind is ordered by time.

    Attributes:
        table: Where it is.
        began: When what a record tells happened: what a window is compared with.
        ended: When the last of it did: what the order goes by.
        live: What holds of a record that is live, and is asked for.
    """

    table: str
    began: str
    ended: str
    live: str

    def statement(self) -> str:
        """Return the question for the latest of the kind. The scope and all conditions come first.

        The bounds are always there, so that an index is entered at the end of the window.
        """
        return (
            f"SELECT r.id, {self.ended} AS at FROM {self.table} AS r"
            f" WHERE $visible(r) AND r.redacted_at IS NULL AND {self.live}"
            f" AND {self.began} >= :since AND {self.began} < :until AND {_ASKED}"
            # The plus keeps it out of the choice of index, which the window decides.
            f" AND (+{self.ended} < :behind_at OR (+{self.ended} = :behind_at"
            " AND r.id > :behind_id))"
            f" ORDER BY {self.ended} DESC, r.id LIMIT :limit"
        )


_ASKED = (
    "(:as_of IS NULL OR r.recorded_at <= :as_of)"
    " AND (:user_id IS NULL OR r.user_id = :user_id)"
    " AND (:writer_id IS NULL OR r.agent_id = :writer_id)"
    " AND (:ids IS NULL OR r.id IN (SELECT value FROM json_each(:ids)))"
    " AND (:about IS NULL OR EXISTS (SELECT 1 FROM topic_members AS n"
    " WHERE n.topic_set = r.topic_set AND n.topic IN (SELECT value FROM json_each(:about))))"
    " AND (:about_all IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(:about_all) AS a"
    " WHERE a.value NOT IN (SELECT n.topic FROM topic_members AS n"
    " WHERE n.topic_set = r.topic_set)))"
)
_UNEXPIRED = "(r.expires_at IS NULL OR r.expires_at > COALESCE(:as_of, :now))"
_OF_GRAIN = "(:grains IS NULL OR r.grain IN (SELECT value FROM json_each(:grains)))"
_WITH_TOOLS = "(:tools_only = 0 OR r.tool_outputs <> '[]')"
# Without a moment nothing is behind it, and what gave way does not stand.
_STANDING = f"{STOOD_THEN.replace('f.', 'r.')} AND (:tier IS NULL OR r.tier = :tier)"
_FACT_AT = "COALESCE(r.valid_from, r.recorded_at)"
_ACTIVE = (
    "r.active = 1 AND (:as_of IS NULL OR EXISTS (SELECT 1 FROM belief_spans AS o WHERE $own(o)"
    " AND o.belief_id = r.id AND o.since_seq <= :seq"
    " AND (o.until_seq IS NULL OR o.until_seq > :seq)))"
)
_CURRENT = "(r.until IS NULL OR r.retired_at > :as_of)"
_KINDS: Mapping[Kind, _Told] = {
    "turn": _Told("turns", "r.occurred_at", "r.occurred_at", _WITH_TOOLS),
    "summary": _Told("summaries", "r.starts_at", "r.ends_at", _UNEXPIRED),
    "episode": _Told("episodes", "r.starts_at", "r.ends_at", _OF_GRAIN),
    "fact": _Told("facts", _FACT_AT, _FACT_AT, _STANDING),
    "rule": _Told("rules", "r.recorded_at", "r.recorded_at", "TRUE"),
    "belief": _Told("beliefs", "r.recorded_at", "r.recorded_at", _ACTIVE),
    "document": _Told("passages", "r.recorded_at", "r.recorded_at", _CURRENT),
}
_STATEMENTS = {kind: told.statement() for kind, told in _KINDS.items()}


class SqliteTimeline:
    """A ``Timeline`` over the SQLite stores."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def latest(
        self, scope: Scope, query: SearchQuery, *, behind: Place | None = None
    ) -> tuple[Hit, ...]:
        """Return visible live records of the scope's own graph, the latest first, then by id.

        Each kind is asked for its own latest, and the latest of these are returned. Turns are read
        out of an index, and no more of them than are wanted. Ancestors have no timeline here.
        """
        kinds = [kind for kind in stored_kinds(query.kinds) if kind in _KINDS]
        if query.inherited or not kinds:
            return ()

        def question(session: Session) -> tuple[Hit, ...]:
            params = _params(session, scope, query) | _behind(behind)
            told = [
                (-int(row["at"]), row["id"], kind)
                for kind in kinds
                for row in session.all(scoped(_STATEMENTS[kind], scope, carrying=None, **params))
            ]
            latest = sorted(told)[: query.limit]
            found = [Found(kind, one, 0.0, words_only=False) for _, one, kind in latest]
            return read_hits(session, scope, found)

        return await self._database.read("latest", question)


def _behind(place: Place | None) -> dict[str, Value]:
    # Without a place everything is behind it: no record happens at the latest moment there is.
    if place is None:
        return {"behind_at": _LATEST, "behind_id": ""}
    return {"behind_at": microseconds(place.at), "behind_id": place.id}


def _params(session: Session, scope: Scope, query: SearchQuery) -> dict[str, Value]:
    asked = conditions(query) | {"limit": query.limit, "seq": 0}
    if asked["since"] is None:
        asked["since"] = _EARLIEST
    if asked["until"] is None:
        asked["until"] = _LATEST
    if query.as_of is not None and "belief" in query.kinds:
        asked["seq"] = seq_at(session, scope, asked["as_of"])
    return asked
