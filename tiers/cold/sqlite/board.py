"""The board of a graph in SQLite: messages, tasks, actions."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime

from ...board import AGENTS_MAX, CARDS_MAX, COUNTS_MAX, Card, CardCount, CardQuery
from ...errors import Conflict, UsageError
from ...moments import microseconds, moment
from ...recollection import Place
from ...records import Scope
from ..cards import changed_columns, check_change, check_log, check_reader
from ..ownership import check_limit, check_owned, in_order
from .database import Database, Query, Session, Value
from .graphs import check_writable
from .log import append_event
from .rows import insert_owned, record_of, stored
from .scope import as_json, scoped

FOR_ALL = ""
"""The recipient of a message for everybody; no agent is called that."""

_EARLIEST, _LATEST = -(1 << 63), (1 << 63) - 1

CARDS = (
    "SELECT c.*, s.topics, (SELECT json_group_array(d.agent_id) FROM card_reads d"
    " WHERE d.tenant = c.tenant AND d.graph_id = c.graph_id AND d.card_id = c.id) AS readers"
    " FROM {source} CROSS JOIN topic_sets s ON s.id = c.topic_set WHERE "
)
"""Up to its condition; a row says who has read it, which ``card_of`` understands."""

_IS_FOR = (
    "EXISTS (SELECT 1 FROM card_recipients x WHERE x.tenant = c.tenant"
    " AND x.graph_id = c.graph_id AND x.agent_id = {agent} AND x.changed_at = c.changed_at"
    " AND x.card_id = c.id)"
)
# The runtime itself, who sees all, is an agent without a name here.
_SEEN = (
    "$visible(c) AND (:agent_id = '' OR c.kind <> 'message' OR c.for_all = 1"
    f" OR c.agent_id = :agent_id OR {_IS_FOR.format(agent=':agent_id')})"
)
_IS_UNREAD = (
    "NOT EXISTS (SELECT 1 FROM card_reads u WHERE u.tenant = c.tenant"
    " AND u.graph_id = c.graph_id AND u.card_id = c.id AND u.agent_id = {agent})"
)
_INBOX = "card_recipients r CROSS JOIN cards c ON $own(c) AND c.id = r.card_id"

_AMONG = CARDS.format(source="cards c") + (
    f"{_SEEN} AND c.id IN (SELECT value FROM json_each(:ids))"
)
_TAKEN = "SELECT c.id FROM cards c WHERE $own(c) AND c.id = :id"
_LATEST_FIRST = (
    " AND c.redacted_at IS NULL AND c.kind = :kind"
    " AND c.changed_at >= :since AND c.changed_at < :until"
    " AND (c.changed_at, c.id) < (:behind_at, :behind_id){asked}"
    " ORDER BY c.changed_at DESC, c.id DESC LIMIT :limit"
)
# Read out of the recipients in the order of their key, which is that of the answer.
_INBOX_FIRST = (
    " AND $own(r) AND r.agent_id = :recipient AND (c.for_all = 0 OR c.agent_id <> :inbox_of)"
    " AND c.redacted_at IS NULL AND c.kind = :kind"
    " AND r.changed_at >= :since AND r.changed_at < :until"
    " AND (r.changed_at, r.card_id) < (:behind_at, :behind_id){asked}"
    " ORDER BY r.changed_at DESC, r.card_id DESC LIMIT :limit"
)
_ASKED = {
    "agent_id": " AND c.agent_id = :writer_id",
    "unread_by": f" AND {_IS_UNREAD.format(agent=':unread_by')}",
    "types": " AND c.type IN (SELECT value FROM json_each(:types))",
    "statuses": " AND c.status IN (SELECT value FROM json_each(:statuses))",
    "thread": " AND c.thread = :thread",
    "tag": " AND EXISTS (SELECT 1 FROM json_each(c.tags) WHERE value = :tag)",
}
"""What is asked besides, by the field of a query that asks for it."""

_TO_READ = (
    f"SELECT c.id FROM cards c WHERE {_SEEN} AND c.id IN (SELECT value FROM json_each(:ids))"
    " AND c.kind = 'message' AND c.redacted_at IS NULL"
    f" AND ((c.for_all = 1 AND c.agent_id <> :reader) OR {_IS_FOR.format(agent=':reader')})"
    f" AND {_IS_UNREAD.format(agent=':reader')}"
)
_COUNTS = (
    "SELECT date(c.recorded_at / 1000000, 'unixepoch') AS day, c.kind,"
    " COALESCE(c.status, c.type) AS state, c.agent_id, COUNT(*) AS number"
    f" FROM cards c WHERE {_SEEN} AND c.redacted_at IS NULL"
    " AND c.recorded_at >= :since AND c.recorded_at < :until"
    f" GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 LIMIT {COUNTS_MAX + 1}"
)
_UNREAD = (
    f"SELECT COUNT(*) AS number FROM {_INBOX} WHERE {_SEEN}"
    " AND $own(r) AND r.agent_id IN (:reader, '')"
    " AND (c.for_all = 0 OR c.agent_id <> :reader)"
    f" AND c.redacted_at IS NULL AND {_IS_UNREAD.format(agent=':reader')}"
)


class SqliteBoard:
    """A ``Board`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def post(self, scope: Scope, card: Card, log: Card | None = None) -> tuple[Card, bool]:
        """Store a card and return it, and whether it is new.

        Raises:
            Conflict: The id is another agent's card, or a card of another kind, or the graph is
                archived.
        """
        check_owned(scope, card)
        if log is not None:
            check_log(scope, log)

        def transaction(session: Session) -> tuple[Card, bool]:
            known = _known(session, scope, card)
            if known is not None:
                return known, False
            check_writable(session, scope)
            stored_ids = [_posted(session, scope, one) for one in (card, log) if one is not None]
            append_event(session, scope, "posted", stored_ids, card.kind, card.recorded_at)
            return card, True

        return await self._database.write("post", transaction, is_brief=True)

    async def change(self, scope: Scope, card: Card, log: Card) -> bool:
        """Replace a visible task; ``False`` when it is not of the version before.

        Raises:
            Conflict: The id of ``log`` is taken, or the graph is archived.
            UsageError: It is not a task.
        """
        check_change(scope, card, log)
        columns = {name: stored(value) for name, value in changed_columns(card).items()}
        settings = ", ".join(f'"{name}" = :{name}' for name in columns)
        update = scoped(
            f"UPDATE cards AS c SET {settings} WHERE {_SEEN} AND c.id = :id"
            " AND c.kind = 'task' AND c.redacted_at IS NULL AND c.version = :before",
            scope,
            id=card.id,
            before=card.version - 1,
        )
        update = Query(update.sql, {**update.params, **columns})

        def transaction(session: Session) -> bool:
            check_writable(session, scope)
            if not session.run(update):
                return False
            if _known(session, scope, log) is not None:
                raise Conflict("card", "an id of its own", log.id)
            ids = [card.id, _posted(session, scope, log)]
            append_event(session, scope, "changed", ids, f"task {card.status}", card.changed_at)
            return True

        return await self._database.write("change", transaction, is_brief=True)

    async def mark_read(
        self, scope: Scope, ids: Sequence[str], reader: str, now: datetime
    ) -> tuple[str, ...]:
        """Note that an agent has read messages; return the ids of those it had not read before.

        Raises:
            Conflict: The graph is archived, and there would be something to write.
            UsageError: There are too many, or the scope is another agent's.
        """
        check_reader(scope, ids, reader)
        query = scoped(_TO_READ, scope, ids=as_json(ids), reader=reader)

        def transaction(session: Session) -> tuple[str, ...]:
            unread = {row["id"]: row["id"] for row in session.all(query)}
            read = in_order(unread, ids)
            if read:
                check_writable(session, scope)
                _insert_reads(session, scope, read, (reader,))
                append_event(session, scope, "read", read, "message", now)
            return read

        return await self._database.write("mark_read", transaction, is_brief=True)

    async def cards(self, scope: Scope, ids: Sequence[str]) -> tuple[Card, ...]:
        """Return the visible cards among ``ids``, redacted ones too, in the order asked."""
        query = scoped(_AMONG, scope, ids=as_json(ids))

        def question(session: Session) -> tuple[Card, ...]:
            return in_order({row["id"]: card_of(row) for row in session.all(query)}, ids)

        return await self._database.read("cards", question)

    async def latest(
        self, scope: Scope, query: CardQuery, *, behind: Place | None = None, limit: int = 100
    ) -> tuple[Card, ...]:
        """Return visible cards, the latest change first, ties by id downwards; behind a place.

        An inbox is what is for its agent and what is for all, each read out of an index.
        """
        check_limit(limit, CARDS_MAX)
        params = _params(query, behind) | {"limit": limit}
        asked = "".join(_ASKED[name] for name in _ASKED if getattr(query, name) not in (None, ()))
        if query.inbox_of is None:
            template = CARDS.format(source="cards c") + _SEEN + _LATEST_FIRST.format(asked=asked)
            queries = [scoped(template, scope, carrying=None, **params)]
        else:
            template = CARDS.format(source=_INBOX) + _SEEN + _INBOX_FIRST.format(asked=asked)
            recipients = (query.inbox_of, FOR_ALL)
            queries = [
                scoped(template, scope, carrying=None, recipient=one, **params)
                for one in recipients
            ]

        def question(session: Session) -> tuple[Card, ...]:
            found = [row for one in queries for row in session.all(one)]
            found.sort(key=lambda row: (row["changed_at"], row["id"]), reverse=True)
            return tuple(card_of(row) for row in found[:limit])

        return await self._database.read("latest cards", question)

    async def counts(self, scope: Scope, since: datetime, until: datetime) -> tuple[CardCount, ...]:
        """Return how many visible cards were recorded in ``[since, until)``, in order of day.

        Raises:
            UsageError: That would be more than ``COUNTS_MAX`` rows.
        """
        window = (microseconds(since), microseconds(until))
        query = scoped(_COUNTS, scope, since=window[0], until=window[1])
        found = await self._database.read("card counts", lambda session: session.all(query))
        if len(found) > COUNTS_MAX:
            raise UsageError("since", since, f"a window of at most {COUNTS_MAX:,} counts")
        return tuple(CardCount(*row) for row in found)

    async def unread(self, scope: Scope, agent_ids: Sequence[str]) -> Mapping[str, int]:
        """Return how many visible messages each of the agents has not read yet.

        Raises:
            UsageError: They are more than ``AGENTS_MAX``.
        """
        if len(agent_ids) > AGENTS_MAX:
            raise UsageError("agent_ids", len(agent_ids), f"at most {AGENTS_MAX:,}")
        queries = {one: scoped(_UNREAD, scope, reader=one) for one in dict.fromkeys(agent_ids)}
        return await self._database.read(
            "unread",
            lambda session: {
                one: int(session.all(query)[0]["number"]) for one, query in queries.items()
            },
        )


def card_of(row: sqlite3.Row) -> Card:
    """Return the card of a row; who has read it is known of one that ``CARDS`` selected.

    Raises:
        CorruptRecord: The row does not make one.
    """
    return record_of(
        Card,
        row,
        to=json.loads(row["to"]),
        tags=json.loads(row["tags"]),
        details=json.loads(row["details"]),
        changed_at=moment(row["changed_at"]),
        read_by=sorted(json.loads(row["readers"])) if "readers" in row.keys() else (),  # noqa: SIM118
    )


def insert_card(session: Session, scope: Scope, card: Card) -> None:
    """Store a card as it is, with whom it is for and who has read it, in the caller's transaction.

    Raises:
        sqlite3.IntegrityError: Its id is taken.
    """
    is_for_all = card.kind == "message" and not card.to
    named = card.to if card.kind == "message" else ()
    insert_owned(session, "cards", card, "read_by", for_all=int(is_for_all))
    recipients = (FOR_ALL,) if is_for_all else dict.fromkeys(named)
    owner: dict[str, Value] = {"tenant": scope.tenant, "graph_id": scope.graph_id}
    place = owner | {"changed_at": microseconds(card.changed_at), "card_id": card.id}
    session.insert_all("card_recipients", [place | {"agent_id": one} for one in recipients])
    for reader in card.read_by:
        _insert_reads(session, scope, (card.id,), (reader,))


def _insert_reads(
    session: Session, scope: Scope, ids: Sequence[str], readers: Sequence[str]
) -> None:
    session.insert_all(
        "card_reads",
        [
            {
                "tenant": scope.tenant,
                "graph_id": scope.graph_id,
                "card_id": card_id,
                "agent_id": reader,
            }
            for card_id in ids
            for reader in readers
        ],
    )


def _posted(session: Session, scope: Scope, card: Card) -> str:
    """Store a new card and return its id."""
    if session.one(scoped(_TAKEN, scope, id=card.id)) is not None:
        raise Conflict("card", "an id of its own", card.id)
    insert_card(session, scope, card)
    return card.id


def _known(session: Session, scope: Scope, card: Card) -> Card | None:
    """Return the card that was posted under the id by the same agent before, if any.

    Raises:
        Conflict: The id is another's, or a card's of another kind.
    """
    row = session.one(scoped(_AMONG, scope, ids=as_json((card.id,))))
    if row is not None and (row["agent_id"], row["kind"]) == (card.agent_id, card.kind):
        return card_of(row)
    if row is not None or session.one(scoped(_TAKEN, scope, id=card.id)) is not None:
        # Not what it says: the asker may not be allowed to see it.
        raise Conflict("card", "an id of its own", card.id)
    return None


def _params(query: CardQuery, behind: Place | None) -> dict[str, Value]:
    params: dict[str, Value] = {
        "kind": query.kind,
        "since": _EARLIEST if query.since is None else microseconds(query.since),
        "until": _LATEST if query.until is None else microseconds(query.until),
        # Without a place everything is behind it: nothing changes at the latest moment there is.
        "behind_at": _LATEST if behind is None else microseconds(behind.at),
        "behind_id": "" if behind is None else behind.id,
        "inbox_of": query.inbox_of,
        "unread_by": query.unread_by,
        "writer_id": query.agent_id,
        "types": as_json(query.types),
        "statuses": as_json(query.statuses),
        "thread": query.thread,
        "tag": query.tag,
    }
    return params
