"""What the hot tier takes from whom, and how much of it: the same on every engine. Pure."""

from __future__ import annotations

from pydantic_core import PydanticSerializationError

from ..errors import UsageError, check_within
from ..owned import check_owner
from ..records import Commitment, Owned, Record, Scope, Turn
from .view import is_runtime, may_see

CAPACITY_MAX = 256
"""Most turns in the ring of one agent."""

PINS_MAX = 1024
"""Most beliefs pinned for one agent."""

TTL_SECONDS = 7 * 86400
SEQ_MAX = 2**53 - 1
"""Largest ``seq`` that Lua, whose numbers are doubles, still tells from its neighbours."""


def check_ttl(ttl_seconds: float) -> None:
    """Refuse a time to live of less than a second, or none.

    Raises:
        UsageError: It is one.
    """
    if not ttl_seconds >= 1:
        raise UsageError("ttl_seconds", ttl_seconds, "1 or more")


def check_capacity(capacity: int) -> None:
    """Refuse a ring without a place, or with more than ``CAPACITY_MAX``.

    Raises:
        UsageError: It is one.
    """
    check_within("capacity", capacity, 1, CAPACITY_MAX)


def check_visible(scope: Scope, record: Owned) -> None:
    """Refuse a record that the scope may not see: a ring is no way around it.

    Raises:
        UsageError: It is of another graph, or its user, topics or privacy do not meet the scope.
    """
    check_owner(scope, record)
    if not may_see(scope, record):
        raise UsageError("record", record.id, "one whose user, topics and privacy the scope meets")


def check_turn(scope: Scope, turn: Turn) -> None:
    """Refuse what is no stored turn of the scope's agent.

    Raises:
        UsageError: It is of somebody else, or no store has numbered it.
    """
    check_visible(scope, turn)
    if turn.agent_id != scope.agent_id:
        raise UsageError("turn.agent_id", turn.agent_id, f"a turn of {scope.agent_id!r}")
    if not 1 <= turn.seq <= SEQ_MAX:
        raise UsageError("turn.seq", turn.seq, f"1 to {SEQ_MAX}, as given by the cold store")


def check_belief(scope: Scope, belief: Commitment) -> None:
    """Refuse what is no stored belief of the scope's graph.

    Raises:
        UsageError: It is of somebody else, or no store has named it.
    """
    check_visible(scope, belief)
    if not belief.id:
        raise UsageError("belief.id", belief.id, "the id of a stored belief")


def check_asker(scope: Scope) -> None:
    """Refuse the runtime as the one who asked a live source.

    A result names no owner, so that under the view that is there it would be shown to whoever has
    that view.

    Raises:
        UsageError: The scope is the runtime's.
    """
    if is_runtime(scope):
        raise UsageError("scope", "the runtime's", "the scope of the agent that asked")


def too_many_pins(belief: Commitment) -> UsageError:
    """Return the error of a belief that is one too many."""
    return UsageError("belief", belief.id, f"at most {PINS_MAX} pinned beliefs per agent")


def as_json(record: Record) -> str:
    """Return a record as it is kept outside of this process.

    Raises:
        UsageError: A text of it cannot be encoded.
    """
    try:
        return record.model_dump_json()
    except PydanticSerializationError as error:
        kind = type(record).__name__.lower()
        raise UsageError(kind, record, "text without lone surrogates") from error
