"""For whom what is kept for an agent was put in. Pure.

An agent may be attached again for another user or with other topics. What is kept by then was
put in for a view that is no longer its own, so it belongs to one view and is emptied when another
one writes. Nothing is lost: the ring is filled again from cold, which knows every scope.
"""

from __future__ import annotations

import hashlib
import json
from typing import TypeAlias

from ..records import Owned, Scope

View: TypeAlias = tuple[str | None, bool, tuple[str, ...], tuple[str, ...]]

RUNTIME_VIEW = ""
"""The runtime itself: it reads every view and writes under the one that is there."""

_DIGEST_BYTES = 16


def is_runtime(scope: Scope) -> bool:
    """Whether a scope is the runtime's own, which has no view."""
    return scope.every_user and scope.sees_all_topics and not scope.denied


def view_key(scope: Scope) -> View:
    """Return what makes the view of a scope: who asks for whom, and about what."""
    return scope.user_id, scope.every_user, scope.topics, scope.denied


def view_of(scope: Scope) -> str:
    """Return the view of a scope as 32 hexadecimal digits; user and topics do not show in it."""
    if is_runtime(scope):
        return RUNTIME_VIEW
    parts = json.dumps(view_key(scope)).encode()
    return hashlib.blake2b(parts, digest_size=_DIGEST_BYTES).hexdigest()


def may_see(scope: Scope, record: Owned) -> bool:
    """Whether a record of the scope's own graph is visible to the scope."""
    topics = set(record.topics)
    return (
        (not topics or scope.sees_all_topics or not topics.isdisjoint(scope.topics))
        and topics.isdisjoint(scope.denied)
        and (scope.every_user or record.user_id in {None, scope.user_id})
        and (not record.private or record.agent_id == scope.agent_id)
    )
