"""Recording a history on a server: as many requests as it takes, each stored as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tiers.errors import BudgetExceeded, UsageError

from ..handles.recording import BATCH_TURNS, PastTurn, PastTurnLike, Recorded, past_turns
from ..wire.agents import RECORD, PastTurnAsked, RecordAsked
from .handle import RemoteHandle

_PLACE = re.compile(r"^turns\[(\d+)\]")
REQUEST_BYTES_MAX = 2_000_000
"""Well below what a server reads of one request; a turn that is longer goes alone."""


class RemoteAgentRecording(RemoteHandle):
    """The part of an agent's handle that records what was said elsewhere."""

    async def record(self, turns: Iterable[PastTurnLike]) -> Recorded:
        """Record a history, as ``Agent.record`` does, in requests of 100 turns.

        Each is stored as a whole or not at all. One that got no answer is asked again where every
        turn of it has a ``ref``.

        Raises:
            BudgetExceeded: ``stored`` says how many turns were stored before.
            UsageError: A turn is not acceptable. What only the server can tell, a topic that is
                none, it tells when the turns before are stored.
        """
        ids: list[str] = []
        new = 0
        for some in _requests(await past_turns(turns)):
            asked = RecordAsked(turns=tuple(some))
            is_named = all(one.ref is not None for one in some)
            try:
                done = await self.ask(replace(RECORD, repeats=is_named), asked)
            except BudgetExceeded as refusal:
                raise refusal.after(new) from refusal
            except UsageError as error:
                raise _moved(error, len(ids)) from error
            ids += done.ids
            new += done.new
        return Recorded(tuple(ids), new)


def _requests(past: Sequence[PastTurn]) -> Iterator[list[PastTurnAsked]]:
    """Yield what one request brings: bounded in turns, and in bytes of JSON."""
    some: list[PastTurnAsked] = []
    size = 0
    for one in past:
        asked = PastTurnAsked.model_construct(one.model_fields_set, **one.__dict__)
        length = len(asked.model_dump_json(exclude_unset=True).encode())
        size += length
        if some and (len(some) == BATCH_TURNS or size > REQUEST_BYTES_MAX):
            yield some
            some, size = [], length
        some.append(asked)
    if some:
        yield some


def _moved(error: UsageError, before: int) -> UsageError:
    """Return what is wrong with a turn of a request with its place in the whole history."""
    field = _PLACE.sub(lambda place: f"turns[{int(place[1]) + before}]", error.field)
    return UsageError(field, error.value, error.accepted)
