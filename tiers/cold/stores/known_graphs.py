"""The session graphs of a tenant as they are kept, for whoever asks which there are."""

from __future__ import annotations

from collections.abc import Sequence

from ...fleet import CATALOG
from ...moments import microseconds
from ...records import Scope, SessionGraph
from ..conditions import Among
from ..port import Collection, Find, Index, Steps, every


class KeptGraph(SessionGraph):
    """A session graph as it is kept.

    Attributes:
        made: Sorts in the order of making, which a move keeps, where moments are equal.
    """

    made: str = ""


GRAPHS: Collection[KeptGraph] = Collection(
    "graphs",
    KeptGraph,
    fields={
        "created_at": lambda graph: microseconds(graph.created_at),
        "made": lambda graph: graph.made,
    },
    indexes={"oldest": Index(("created_at", "made"))},
    extent="tenant",
)

OLDEST_FIRST = ("created_at", "made")


def oldest_first(tenant: str, graph_ids: Sequence[str]) -> Steps[list[str]]:
    """Return the ids of those of some graphs that exist, in the order they were created."""
    where = (Among("id", tuple(graph_ids)),)
    scope = Scope.of_graph(tenant, CATALOG)
    found = yield from every(Find(GRAPHS, scope, "oldest", where, OLDEST_FIRST))
    return [graph.id for graph in found]
