"""Under which key the hash of an agent lies. ``guard`` takes the key apart again by itself."""

from __future__ import annotations

from urllib.parse import quote

from ..errors import UsageError
from ..records import Scope


def hot_key(prefix: str, scope: Scope) -> str:
    """Return ``<prefix>:{<tenant>/<graph>/<agent>}:hot``, each name percent-encoded.

    The braces are the cluster's hash tag: all of an agent's state lies on one node. No name can
    leave its place in the key or close the tag.

    Raises:
        UsageError: The scope names no agent, or a name cannot be encoded.
    """
    if scope.agent_id is None:
        raise UsageError("scope.agent_id", None, "the agent whose hot state is meant")
    names = (scope.tenant, scope.graph_id, scope.agent_id)
    tag = "/".join(quote(encodable("scope", name), safe="") for name in names)
    return f"{prefix}:{{{tag}}}:hot"


def encodable(field: str, name: str) -> str:
    """Return a name that can be sent.

    Raises:
        UsageError: It has lone surrogates.
    """
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise UsageError(field, name, "text without lone surrogates") from error
    return name
