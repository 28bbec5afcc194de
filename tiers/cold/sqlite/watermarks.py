"""How far each reader has read an agent's turns, in SQLite."""

from __future__ import annotations

from datetime import datetime

from ...errors import UsageError
from ...moments import microseconds
from ...records import NAME_CHARS_MAX, Scope
from ..ownership import check_agent
from .database import Database, Session
from .scope import scoped

_READ = "SELECT w.seq FROM watermarks w WHERE $own(w) AND w.agent_id = :agent_id AND w.name = :name"
_ADVANCE = (
    "INSERT INTO watermarks (tenant, graph_id, agent_id, name, seq, moved_at)"
    " VALUES (:tenant, :graph_id, :agent_id, :name, :seq, :now)"
    " ON CONFLICT (tenant, graph_id, agent_id, name)"
    " DO UPDATE SET seq = :seq, moved_at = :now WHERE seq < :seq"
)


class SqliteWatermarks:
    """A ``Watermarks`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def watermark(self, scope: Scope, name: str) -> int:
        """Return the ``seq`` of the last turn that was read, 0 if none was.

        Raises:
            UsageError: The scope names no agent, or the name is none.
        """
        check_agent(scope)
        query = scoped(_READ, scope, name=_checked(name))

        def question(session: Session) -> int:
            row = session.one(query)
            return 0 if row is None else int(row["seq"])

        return await self._database.read("watermark", question)

    async def advance(self, scope: Scope, name: str, seq: int, now: datetime) -> bool:
        """Move a watermark forwards; ``False``, writing nothing, when it is there or beyond.

        Raises:
            UsageError: The scope names no agent, the name is none, or ``seq`` is below 0.
        """
        if seq < 0:
            raise UsageError("seq", seq, "0 or above")
        check_agent(scope)
        query = scoped(_ADVANCE, scope, name=_checked(name), seq=seq, now=microseconds(now))
        if seq == 0:
            return False
        return await self._database.write(
            "advance", lambda session: session.run(query) > 0, is_brief=True
        )


def _checked(name: str) -> str:
    if not 0 < len(name) <= NAME_CHARS_MAX:
        raise UsageError("name", name, f"1 to {NAME_CHARS_MAX} characters")
    return name
