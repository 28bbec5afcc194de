"""Who a record belongs to, and what every engine of the cold tier checks before it writes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from ..errors import BudgetExceeded, Conflict, UsageError, check_within
from ..fleet import Budget, Scope, Usage
from ..owned import check_owner
from ..records import NAME_CHARS_MAX, Owned, Receipt, Topics, Turn, WorkKind

R = TypeVar("R")

WORK_KINDS: tuple[str, ...] = get_args(WorkKind)

SHARED = ""
"""``private_to`` of a record that is not private; no agent is called that."""

WHOLE_GRAPH = ""
"""``agent_id`` of what a graph as a whole has used; no agent is called that."""

NO_TOPIC = ""
"""The one member of the empty set of topics; no topic is called that."""

NUMBERS_END = 1 << 63


def check_owned(scope: Scope, record: Owned | Receipt) -> None:
    """Refuse a record that is not the scope's own to write.

    The runtime acting on a whole graph writes for any of its agents; whoever acts for one agent
    writes that agent's records, for its user or for everybody.

    Raises:
        UsageError: Wrong tenant, graph, agent or user, no id, or private without a writer.
    """
    check_placed(scope, record)
    is_runtime = scope.every_user and scope.agent_id is None
    if not is_runtime and record.agent_id != (scope.agent_id or ""):
        raise UsageError("agent_id", record.agent_id, f"a record of {scope.agent_id!r}")
    if isinstance(record, Receipt) or scope.every_user:
        return
    if record.user_id not in {None, scope.user_id}:
        raise UsageError("user_id", record.user_id, f"a record of {scope.user_id!r}")


def check_placed(scope: Scope, record: Owned | Receipt) -> None:
    """Refuse a record that does not belong to the scope's tenant and graph, or to nobody.

    Raises:
        UsageError: Wrong tenant or graph, no id, or private without a writer.
    """
    check_owner(scope, record)
    if not 0 < len(record.id) <= NAME_CHARS_MAX:
        raise UsageError("id", record.id, f"1 to {NAME_CHARS_MAX} characters")
    if isinstance(record, Owned) and record.private and not record.agent_id:
        # Stored as it is, it would belong to "" and thereby be shared.
        raise UsageError("private", record.id, "a private record that names its agent")


def check_same_turn(turn: Turn, known: Turn) -> None:
    """Refuse a turn under the id or ``ref`` of one that says something else.

    A redacted turn is known by its agent and user alone, a retired one by its agent. The error
    shows no content: who asks may not be who may read it.

    Raises:
        Conflict: It does, or somebody else says it.
    """
    same = turn.agent_id == known.agent_id
    if known.retired_at is None:
        same = same and turn.user_id == known.user_id
    if known.redacted_at is None:
        same = same and (turn.input, turn.response) == (known.input, known.response)
    if not same:
        raise Conflict(f"turn {turn.ref or turn.id}", "what is stored under it", "another turn")


def check_tenant(tenant: str) -> None:
    """Refuse a tenant without a name.

    Raises:
        UsageError: It has none.
    """
    if not tenant:
        raise UsageError("tenant", tenant, "a name that is not empty")


def check_agent(scope: Scope) -> str:
    """Return the scope's agent.

    Raises:
        UsageError: The scope names none.
    """
    if scope.agent_id is None:
        raise UsageError("scope.agent_id", None, "the scope of an agent")
    return scope.agent_id


def check_whole_graph(scope: Scope, limit: int = 1, most: int = 10_000) -> None:
    """Refuse the scope of an agent where every record of the graph is meant.

    Raises:
        UsageError: It is one, or the limit, where there is one, is outside 1 to ``most``.
    """
    if scope.agent_id is not None or not scope.every_user or not scope.sees_all_topics:
        raise UsageError("scope", scope.agent_id, "the scope of a whole graph")
    check_limit(limit, most)


def check_turn_number(number: int) -> None:
    """Refuse what is no number of a turn.

    Raises:
        UsageError: It is below 1.
    """
    if number < 1:
        raise UsageError("number", number, "1 or above")


def check_limit(limit: int, most: int = 10_000) -> None:
    """Refuse a limit outside 1 to ``most``.

    Raises:
        UsageError: It is.
    """
    check_within("limit", limit, 1, most)


def check_lease(owner: str, lease_seconds: float) -> None:
    """Refuse a lease without an owner or a length.

    Raises:
        UsageError: The owner is empty, or the length not above 0.
    """
    if not owner:
        raise UsageError("owner", owner, "a name that is not empty")
    if not lease_seconds > 0:
        raise UsageError("lease_seconds", lease_seconds, "a number above 0")


def check_budget(scope: Scope, whose: str, used: Usage, amount: Usage, limit: Budget) -> None:
    """Refuse what would bring a count above its limit; what is not asked for is not looked at.

    Args:
        scope: Whose graph.
        whose: The agent that has used something, or ``WHOLE_GRAPH``.
        used: So far.
        amount: What is to be added.
        limit: The most that the counts may come to.

    Raises:
        BudgetExceeded: It would.
    """
    name = f"agent {whose!r}" if whose else f"session graph {scope.graph_id!r}"
    for what, asked in amount:
        most, before = getattr(limit, what), getattr(used, what)
        if asked and most is not None and before + asked > most:
            raise BudgetExceeded(name, what, before, asked, most)


def private_to(record: Owned) -> str:
    """Return the agent that alone may see the record, or ``SHARED``."""
    return record.agent_id if record.private else SHARED


def whose(record: Owned) -> dict[str, Any]:
    """Return whose a record is, for another that the same are to see."""
    names = ("tenant", "graph_id", "agent_id", "user_id", "topics", "private")
    return {name: getattr(record, name) for name in names}


def in_order(records: Mapping[str, R], ids: Sequence[str]) -> tuple[R, ...]:
    """Return the records among ``ids`` in the order asked, each once."""
    return tuple(records[one] for one in dict.fromkeys(ids) if one in records)


def check_number(name: str, number: int) -> None:
    """Refuse a number that is not of 64 bits: what keeps it elsewhere may have no more.

    Raises:
        UsageError: It is not.
    """
    if not -NUMBERS_END <= number < NUMBERS_END:
        raise UsageError(name, number, "a number of 64 bits")


_TOPICS: TypeAdapter[tuple[str, ...]] = TypeAdapter(Topics)


def accepted_topics(field: str, topics: Iterable[str]) -> tuple[str, ...]:
    """Return topics in the normal form in which records hold them.

    Raises:
        UsageError: One of them cannot be a topic; names ``field``.
    """
    try:
        return _TOPICS.validate_python(topics)
    except ValidationError as error:
        raise UsageError(field, topics, "printable topics that are not blank") from error
