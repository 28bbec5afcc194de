"""What no command gets past: a missing scope, and a change of what is only ever appended to.

Every command of ``Collection`` passes here before it leaves, whoever made it. A pipeline is looked
through whole: whatever lets documents in, at its beginning or from another collection further
down, carries the scope, and a stage that is not known here lets nothing through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import TierRejected
from .documents import Document
from .scope import check_scoped

UNSCOPED = frozenset(("meta", "leases", "work"))
"""Collections that hold no records of a tenant, and the queue, which serves the runtime."""

GRAPHLESS = frozenset(("graphs", "links", "word_totals"))
"""Collections whose documents belong to a tenant, and are not inside a graph."""

INSERT_ONLY = frozenset(("belief_log",))
"""Collections to which no update and no delete is ever sent."""

NEVER_UPDATED = frozenset(("belief_contents", "signed_heads"))
"""Collections whose documents come and go, and are never any others."""

_UPDATES = frozenset(("update", "findAndModify"))
_CHANGES = _UPDATES | {"delete"}
_FURTHER_DOWN = frozenset(
    (
        *("$match", "$sort", "$skip", "$limit", "$project", "$addFields", "$set", "$unset"),
        *("$group", "$unwind", "$count", "$replaceRoot", "$lookup", "$graphLookup", "$unionWith"),
    )
)
"""Stages that only see what was let in before them, and those that say whom they let in."""


def check_command(
    operation: str, collection: str, where: Mapping[str, Any], *, whole_tenant: bool
) -> None:
    """Refuse a command whose filter, or whose document to insert, does not carry its scope.

    Args:
        operation: What the command does.
        collection: To which collection.
        where: The filter or the document.
        whole_tenant: Whether the graph may be left out.

    Raises:
        TierRejected: The tenant is missing, or the graph; or the collection is only appended to.
    """
    if collection in INSERT_ONLY and operation in _CHANGES:
        raise TierRejected("cold", "append-only guard", f"{operation} on {collection}")
    if collection in NEVER_UPDATED and operation in _UPDATES:
        raise TierRejected("cold", "append-only guard", f"{operation} on {collection}")
    if collection not in UNSCOPED:
        is_wide = whole_tenant or collection in GRAPHLESS
        check_scoped(f"{operation} on {collection}", where, whole_tenant=is_wide)


def check_pipeline(collection: str, pipeline: Sequence[Document], *, whole_tenant: bool) -> None:
    """Refuse a pipeline that lets a document in whose scope it does not name.

    Raises:
        TierRejected: It does, or has a stage that is not known.
    """
    stage, body = next(iter(pipeline[0].items())) if pipeline else ("", {})
    if stage == "$rankFusion":
        for leg in body["input"]["pipelines"].values():
            check_pipeline(collection, leg, whole_tenant=whole_tenant)
    elif stage in _ENTRIES:
        check_command("aggregate", collection, _ENTRIES[stage](body), whole_tenant=whole_tenant)
    else:
        raise TierRejected("cold", "scope guard", f"a pipeline that begins with {stage!r}")
    for later in pipeline[1:]:
        for name, argument in later.items():
            if name not in _FURTHER_DOWN:
                raise TierRejected("cold", "scope guard", f"a pipeline with {name!r}")
            _check_joined(name, argument)


def _check_joined(name: str, body: Any) -> None:  # noqa: ANN401 - whatever the stage takes
    """Refuse a stage that brings in documents of a collection without naming their scope."""
    if name == "$lookup":
        check_pipeline(body["from"], body.get("pipeline", ()), whole_tenant=False)
    elif name == "$unionWith":
        union: Document = {"coll": body} if isinstance(body, str) else body
        check_pipeline(union["coll"], union.get("pipeline", ()), whole_tenant=False)
    elif name == "$graphLookup":
        restricted = body.get("restrictSearchWithMatch", {})
        check_command("aggregate", body["from"], restricted, whole_tenant=False)


def _required(search: Mapping[str, Any]) -> Document:
    """Return what every answer of a ``$search`` must meet, in the form of a filter."""
    filters: Document = {}
    for clause in search.get("compound", {}).get("filter", []):
        for name, condition in clause.items():
            if name == "equals":
                filters[condition["path"]] = condition["value"]
            elif name == "in":
                filters[condition["path"]] = {"$in": condition["value"]}
    return filters


_ENTRIES: Mapping[str, Callable[[Any], Mapping[str, Any]]] = {
    "$match": dict,
    "$vectorSearch": lambda body: body.get("filter", {}),
    "$search": _required,
}
"""By which filter a stage lets documents into its pipeline."""
