"""The record that belongs to a scope: what every store keeps is one."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, Self

from .errors import UsageError
from .fields import UNRECORDED, Moment, Record, Topics, YesNo, in_utc
from .fleet import Scope

REDACTED = "[redacted]"
"""What a record says whose content was destroyed."""


class Owned(Record):
    """A record that belongs to a scope. ``stamped`` fills the owner in from the handle.

    A record with ``redacted_at`` has lost its content for good; its row stays for those that name
    it, and no search and no context has it.
    """

    id: str = ""
    tenant: str = ""
    graph_id: str = ""
    agent_id: str = ""
    user_id: str | None = None
    topics: Topics = ()
    private: YesNo = False
    recorded_at: Moment = UNRECORDED
    redacted_at: Moment | None = None

    def stamped(self, scope: Scope, record_id: str, now: datetime) -> Self:
        """Return a copy owned by ``scope``, with its id and record time."""
        return self.model_copy(
            update={
                "id": record_id,
                "tenant": scope.tenant,
                "graph_id": scope.graph_id,
                "agent_id": scope.agent_id or "",
                "user_id": scope.user_id,
                "recorded_at": in_utc(now),
                "redacted_at": None,
            }
        )


class _Placed(Protocol):
    @property
    def tenant(self) -> str: ...

    @property
    def graph_id(self) -> str: ...


def check_owner(
    scope: Scope, record: _Placed, what: str = "a record", *, field: str = "owner"
) -> None:
    """Refuse what is of another tenant or graph than the scope's.

    Args:
        scope: Who asks.
        record: What is to be written.
        what: What errors call it.
        field: What errors call the field.

    Raises:
        UsageError: It is.
    """
    owner = (record.tenant, record.graph_id)
    if owner != (scope.tenant, scope.graph_id):
        raise UsageError(field, owner, f"{what} of {scope.tenant!r}, {scope.graph_id!r}")
