"""How far each reader has read an agent's turns."""

from __future__ import annotations

from datetime import datetime

from ...errors import UsageError
from ...fields import NAME_CHARS_MAX, Moment
from ...records import Scope
from ..ownership import check_agent, check_number
from ..port import Collection, Find, Steps, one, write
from .questions import among
from .rows import OfGraph, joined_id, over
from .store_base import OverEngine, changing


class Mark(OfGraph):
    """How far one reader has read one agent's turns, and since when."""

    agent_id: str
    name: str
    seq: int
    moved_at: Moment


WATERMARKS: Collection[Mark] = Collection(
    "watermarks", Mark, key=lambda mark: joined_id(mark.agent_id, mark.name)
)


class Watermarks(OverEngine):
    """How far each reader has read; of the scope's agent, which must be set (``UsageError``)."""

    async def watermark(self, scope: Scope, name: str) -> int:
        """Return the ``seq`` of the last turn that was read, 0 if none was.

        Raises:
            UsageError: The scope names no agent, or the name is none.
        """
        find = _named(scope, check_agent(scope), name)
        found = await self._store.read("watermark", lambda: one(find))
        return 0 if found is None else found.seq

    @changing
    def advance(self, scope: Scope, name: str, seq: int, now: datetime) -> Steps[bool]:
        """Move a watermark forwards; ``False``, writing nothing, when it is there or beyond.

        Raises:
            UsageError: The scope names no agent, the name is none, or ``seq`` is below 0.
        """
        if seq < 0:
            raise UsageError("seq", seq, "0 or above")
        check_number("seq", seq)
        agent_id = check_agent(scope)
        find = _named(scope, agent_id, name)
        owner = {"tenant": scope.tenant, "graph_id": scope.graph_id, "agent_id": agent_id}
        mark = Mark.model_validate({**owner, "name": name, "seq": seq, "moved_at": now})
        known = yield from one(find)
        if seq <= (0 if known is None else known.seq):
            return False
        yield from write(over(known, WATERMARKS, scope, mark))
        return True


def _named(scope: Scope, agent_id: str, name: str) -> Find[Mark]:
    if not 0 < len(name) <= NAME_CHARS_MAX:
        raise UsageError("name", name, f"1 to {NAME_CHARS_MAX} characters")
    return among(WATERMARKS, scope, [joined_id(agent_id, name)])
