"""What a roll-back does with the records of a trace. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tiers.taint import RollBack, RolledBack

from .walk import TaintNode, Walk


def planned(nodes: Iterable[TaintNode], *, exposed: bool) -> list[RolledBack]:
    """Return what is to be done with each record of a tree.

    Receipts stay: they are the evidence. So does what has lost its content, and what was taken
    back already.

    Args:
        nodes: Of the tree.
        exposed: Whether records that were only exposed are rolled back as well.
    """
    return [
        RolledBack(
            graph_id=node.graph_id,
            kind=node.kind,
            id=node.id,
            done="reverted" if node.kind == "belief" else "set aside",
            exposure=node.exposure,
        )
        for node in nodes
        if node.kind != "receipt"
        and not node.is_gone
        and not node.is_over
        and (exposed or node.exposure != "exposed")
    ]


def rebuilt_by(walk: Walk, items: Sequence[RolledBack], root_id: str) -> list[str]:
    """Return the summaries and episodes that can be made anew: something else is left of them.

    Not the poisoned record itself: it would say the same again.
    """
    gone = {one.id for one in items}
    nodes = {(node.graph_id, node.id): node for node in walk.nodes}
    built: list[str] = []
    # From the bottom up: an episode is left something when one of its summaries is.
    for item in sorted(items, key=lambda one: (one.kind == "episode", _depth(nodes, one))):
        if item.kind not in {"summary", "episode"} or item.id == root_id:
            continue
        sources = {reason.id for reason in walk.reasons_of(nodes[item.graph_id, item.id])}
        if sources - gone or sources & set(built):
            built.append(item.id)
    return built


def with_more(known: RollBack | None, items: Sequence[RolledBack]) -> list[RolledBack]:
    """Return what an open roll-back does not name yet."""
    had = set() if known is None else {(one.graph_id, one.kind, one.id) for one in known.items}
    return [one for one in items if (one.graph_id, one.kind, one.id) not in had]


def _depth(nodes: dict[tuple[str, str], TaintNode], item: RolledBack) -> int:
    return nodes[item.graph_id, item.id].depth
