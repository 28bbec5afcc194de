"""Whether somebody sees a record that is at hand; engines ask the same in their queries. Pure."""

from __future__ import annotations

from ..beliefs import Commitment
from ..errors import Conflict
from ..fields import ALL_TOPICS
from ..fleet import Scope
from ..owned import Owned


def sees(scope: Scope, record: Owned) -> bool:
    """Whether a scope sees a record; that of a whole graph sees each of it, private ones too."""
    if (record.tenant, record.graph_id) != (scope.tenant, scope.graph_id):
        return False
    if scope.agent_id is None and scope.every_user:
        return True
    topics, nothing = set(record.topics), ALL_TOPICS in scope.denied
    meets = not topics or (not nothing and (scope.sees_all_topics or topics & set(scope.topics)))
    return bool(
        meets
        and topics.isdisjoint(scope.denied)
        and (scope.every_user or record.user_id in {None, scope.user_id})
        and (not record.private or record.agent_id == scope.agent_id)
    )


def check_known(scope: Scope, known: Commitment) -> None:
    """Refuse to say again what is in the log under an id, to somebody who does not see it.

    Raises:
        Conflict: They do not.
    """
    if not sees(scope, known):
        raise Conflict(f"belief {known.id}", "an id of its own", "one that is taken")


def check_seen(scope: Scope, belief: Commitment, rival: Commitment) -> None:
    """Refuse to settle a rival by key that the scope does not see: it may not be shown it either.

    Raises:
        Conflict: It does not.
    """
    if not sees(scope, rival):
        found = "one that it does not see"
        raise Conflict(f"belief {belief.id}", "a rival by key that the scope sees", found)
