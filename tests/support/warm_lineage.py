"""Scopes that inherit, for tests of the warm tier."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tiers.records import Ancestor, Kind, Scope

from .tier_samples import scope_of


def ancestor(graph_id: str, *carries: Kind, as_of: datetime | None = None) -> Ancestor:
    """Return an ancestor that is reached through a parent, and through which these kinds come."""
    return Ancestor(graph_id=graph_id, path=("parent of", graph_id), as_of=as_of, carries=carries)


def heir_of(*lineage: Ancestor, **more: Any) -> Scope:
    """Return the scope of an agent whose graph inherits."""
    return scope_of(graph_id="heir", lineage=lineage, **more)
