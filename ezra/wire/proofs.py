"""The export of a belief log: a file, and beside it what it holds."""

from __future__ import annotations

from pydantic import TypeAdapter

from tiers.fields import Record

from .handles import BELIEFS
from .operation import Nothing, Operation


class ExportedAnswer(Record):
    """What a streamed export holds: ``Exported`` without the path, which is the caller's."""

    events: int
    redacted: int
    heads: int
    last_hash: str
    key_id: str | None


EXPORT = Operation(
    "beliefs.export",
    "GET",
    f"{BELIEFS.path}/export",
    Nothing,
    TypeAdapter(ExportedAnswer),
    "read",
    "The whole log as a file that anybody can verify; what it holds is told by a header.",
)
"""No handler does it: its answer is a file, and ``ANSWER_HEADER`` has what it says."""
