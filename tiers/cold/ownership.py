"""Who a record belongs to, and what every engine of the cold tier checks before it writes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar, get_args

from ..errors import UsageError
from ..records import NAME_CHARS_MAX, Owned, Receipt, Scope, WorkKind

R = TypeVar("R")

WORK_KINDS: tuple[str, ...] = get_args(WorkKind)

SHARED = ""
"""``private_to`` of a record that is not private; no agent is called that."""

NO_TOPIC = ""
"""The one member of the empty set of topics; no topic is called that."""


def check_owned(scope: Scope, record: Owned | Receipt) -> None:
    """Refuse a record that does not belong to the scope's tenant and graph, or to nobody.

    Raises:
        UsageError: Wrong owner, no id, or private without a writer.
    """
    owner = (record.tenant, record.graph_id)
    if owner != (scope.tenant, scope.graph_id):
        raise UsageError("owner", owner, f"a record of {scope.tenant!r}, {scope.graph_id!r}")
    if not 0 < len(record.id) <= NAME_CHARS_MAX:
        raise UsageError("id", record.id, f"1 to {NAME_CHARS_MAX} characters")
    if isinstance(record, Owned) and record.private and not record.agent_id:
        # Stored as it is, it would belong to "" and thereby be shared.
        raise UsageError("private", record.id, "a private record that names its agent")


def check_agent(scope: Scope) -> str:
    """Return the scope's agent.

    Raises:
        UsageError: The scope names none.
    """
    if scope.agent_id is None:
        raise UsageError("scope.agent_id", None, "the scope of an agent")
    return scope.agent_id


def check_limit(limit: int, most: int = 10_000) -> None:
    """Refuse a limit outside 1 to ``most``.

    Raises:
        UsageError: It is.
    """
    if not 1 <= limit <= most:
        raise UsageError("limit", limit, f"1 to {most}")


def check_lease(owner: str, lease_seconds: float) -> None:
    """Refuse a lease without an owner or a length.

    Raises:
        UsageError: The owner is empty, or the length not above 0.
    """
    if not owner:
        raise UsageError("owner", owner, "a name that is not empty")
    if not lease_seconds > 0:
        raise UsageError("lease_seconds", lease_seconds, "a number above 0")


def private_to(record: Owned) -> str:
    """Return the agent that alone may see the record, or ``SHARED``."""
    return record.agent_id if record.private else SHARED


def in_order(records: Mapping[str, R], ids: Sequence[str]) -> tuple[R, ...]:
    """Return the records among ``ids`` in the order asked, each once."""
    return tuple(records[one] for one in dict.fromkeys(ids) if one in records)
