"""How far each reader has read an agent's turns, in MongoDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...errors import UsageError
from ...moments import microseconds
from ...records import NAME_CHARS_MAX, Scope
from ..ownership import check_agent
from .database import Database, Session
from .documents import Document
from .schema import Index, by, validator
from .scope import own
from .translation import DuplicateKey

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "watermarks": (
        [by("agent_id", "name", unique=True)],
        validator(("agent_id", "name", "seq", "moved_at")),
    ),
}


class MongoWatermarks:
    """A ``Watermarks`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def watermark(self, scope: Scope, name: str) -> int:
        """Return the ``seq`` of the last turn that was read, 0 if none was.

        Raises:
            UsageError: The scope names no agent, or the name is none.
        """
        where = own(scope, agent_id=check_agent(scope), name=_checked(name))

        async def question(session: Session) -> int:
            found = await session.collection("watermarks").first(where)
            return 0 if found is None else int(found["seq"])

        return await self._database.read("watermark", question)

    async def advance(self, scope: Scope, name: str, seq: int, now: datetime) -> bool:
        """Move a watermark forwards; ``False``, writing nothing, when it is there or beyond.

        Raises:
            UsageError: The scope names no agent, the name is none, or ``seq`` is below 0.
        """
        if seq < 0:
            raise UsageError("seq", seq, "0 or above")
        behind = own(scope, agent_id=check_agent(scope), name=_checked(name), seq={"$lt": seq})
        if seq == 0:
            return False

        async def change(session: Session) -> bool:
            marks = session.collection("watermarks")
            update = {"$set": {"seq": seq, "moved_at": microseconds(now)}}
            try:
                moved = await marks.update(behind, update, upsert=True)
            except DuplicateKey:  # it is there: beyond, or two were the first at once
                moved = await marks.update(behind, update)
            return moved > 0

        return await self._database.write("advance", change)


def _checked(name: str) -> str:
    if not 0 < len(name) <= NAME_CHARS_MAX:
        raise UsageError("name", name, f"1 to {NAME_CHARS_MAX} characters")
    return name
