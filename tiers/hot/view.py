"""For whom the hash of an agent was filled. Pure.

An agent may be attached again for another user or with other topics. What its hash holds by then
was put in for a view that is no longer its own, so a hash belongs to one view and is emptied when
another one writes. Nothing is lost: the ring is filled again from cold, which knows every scope.
"""

from __future__ import annotations

import hashlib
import json

from ..records import Owned, Scope

RUNTIME_VIEW = ""
"""The runtime itself: it reads every view and writes under the one that is there."""

_DIGEST_BYTES = 16


def view_of(scope: Scope) -> str:
    """Return the view of a scope as 32 hexadecimal digits; user and topics do not show in it."""
    if scope.every_user and scope.sees_all_topics and not scope.denied:
        return RUNTIME_VIEW
    parts = [scope.user_id, scope.every_user, scope.topics, scope.denied]
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def may_see(scope: Scope, record: Owned) -> bool:
    """Whether a record of the scope's own graph is visible to the scope."""
    topics = set(record.topics)
    return (
        (not topics or scope.sees_all_topics or not topics.isdisjoint(scope.topics))
        and topics.isdisjoint(scope.denied)
        and (scope.every_user or record.user_id in {None, scope.user_id})
        and (not record.private or record.agent_id == scope.agent_id)
    )
