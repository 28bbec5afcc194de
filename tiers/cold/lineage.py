"""Which graphs a graph inherits from, and how it reads each of them. Pure.

Engines fetch every link that can matter in one query; the order and the meaning are decided here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime

from ..errors import UsageError
from ..fleet import CATALOG
from ..moments import earliest
from ..records import Ancestor, Kind, Parent

ANCESTORS_MAX = 1_000

CATALOG_CARRIES: tuple[Kind, ...] = ("document", "fact", "rule")


def lineage_of(
    graph_id: str,
    links: Mapping[str, Sequence[Parent]],
    *,
    has_catalog: bool = False,
    as_of: datetime | None = None,
) -> tuple[Ancestor, ...]:
    """Return the ancestors of a graph: nearest first, then in list order, each once.

    A walk in breadth; the first path to a graph decides how it is read. What a link does not
    carry, nothing behind it carries. Behind a link with ``as_of``, everything is read as of that
    moment or an earlier one, and links made later are not there. A revoked link is gone at every
    moment. A tenant's catalog comes last.

    Args:
        graph_id: Whose.
        links: The parents of each graph, in order; more graphs than needed are no harm.
        has_catalog: Whether the tenant has a catalog, which every other graph reads.
        as_of: The graph itself is asked about this moment, and the catalog with it.
    """
    found: dict[str, Ancestor] = {}
    itself = Ancestor(
        graph_id=graph_id, path=(graph_id,), as_of=as_of, carries=("episode", "fact", "rule")
    )
    waiting = deque([itself])
    while waiting and len(found) <= ANCESTORS_MAX:
        child = waiting.popleft()
        for parent in links.get(child.graph_id, ()):
            if child.as_of is not None and parent.linked_at > child.as_of:
                continue
            if parent.id == graph_id or parent.id in found:
                continue
            ancestor = _through(child, parent, is_first=child.graph_id == graph_id)
            found[parent.id] = ancestor
            waiting.append(ancestor)
    if has_catalog and graph_id != CATALOG:
        found[CATALOG] = Ancestor(
            graph_id=CATALOG, path=(CATALOG,), as_of=as_of, carries=CATALOG_CARRIES
        )
    return tuple(found.values())


def _through(child: Ancestor, parent: Parent, *, is_first: bool) -> Ancestor:
    carried = {"rule": parent.rules, "episode": parent.episodes, "fact": parent.archival}
    # Made of valid records, every turn anew: validating long paths again would cost the most.
    return Ancestor.known(
        {
            "graph_id": parent.id,
            "path": (parent.id,) if is_first else (*child.path, parent.id),
            "as_of": earliest(child.as_of, parent.as_of),
            "carries": tuple(kind for kind in child.carries if carried[kind]),
        }
    )


def check_parents(graph_id: str, parents: Sequence[Parent]) -> None:
    """Refuse parents that no graph can have, whatever is stored.

    Raises:
        UsageError: One is the graph itself or the catalog, or is named twice.
    """
    names = [parent.id for parent in parents]
    if graph_id in names:
        raise UsageError("inherits_from", graph_id, "other graphs than the graph itself")
    if CATALOG in names:
        raise UsageError("inherits_from", CATALOG, "no catalog: every graph reads it already")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError("inherits_from", twice, "each parent once")


def check_acyclic(graph_id: str, parent_id: str, links: Mapping[str, Sequence[Parent]]) -> None:
    """Refuse a link that would make a graph its own ancestor, or give it too many.

    Args:
        graph_id: Who is to inherit.
        parent_id: From whom.
        links: The parents of every graph above ``parent_id``, and of ``graph_id`` itself.

    Raises:
        UsageError: It would.
    """
    above: set[str] = set()
    waiting = [parent_id, *(parent.id for parent in links.get(graph_id, ()))]
    while waiting and len(above) <= ANCESTORS_MAX:
        name = waiting.pop()
        if name not in above:
            above.add(name)
            waiting += (parent.id for parent in links.get(name, ()))
    if graph_id in above:
        raise UsageError("inherits_from", parent_id, "a graph that does not inherit from this one")
    if len(above) > ANCESTORS_MAX:
        raise UsageError("inherits_from", parent_id, f"{ANCESTORS_MAX} ancestors at most")
