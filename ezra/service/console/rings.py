"""Names around a name, on rings by their distance, as plain data which a template draws. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

RING = 130.0
MARGIN = 24.0
LETTER = 8.0
"""About how wide a letter is, those of Chinese or Japanese twice; cut behind ``LETTERS_MAX``."""

LETTERS_MAX = 26
NODES_MAX = 48
LABELS_MAX = 24
"""More words on lines than so many cannot be read."""

SIDEWAYS = 1.55
"""Rings are wider than they are high: names are written sideways."""


_SIDE = 0.25
"""From this cosine on a name stands at the side, and its text leads away from the middle."""


@dataclass(frozen=True)
class Edge:
    """That something is said between two names.

    Attributes:
        start: The name that it is said of.
        end: The other name.
        label: What is said.
        distance: How many such steps lead to it, from 1.
    """

    start: str
    end: str
    label: str
    distance: int


@dataclass(frozen=True)
class Node:
    """A name on its ring; ``anchor`` says on which side its text stands."""

    name: str
    x: float
    y: float
    ring: int
    anchor: str


@dataclass(frozen=True)
class Drawn:
    """An edge as a line, and where its words stand; none where there would be too many."""

    edge: Edge
    x1: float
    y1: float
    x2: float
    y2: float
    label: str

    @property
    def middle(self) -> tuple[float, float]:
        """Where the words of the line stand."""
        return round((self.x1 + self.x2) / 2, 1), round((self.y1 + self.y2) / 2 - 4, 1)


@dataclass(frozen=True)
class Rings:
    """A drawing: names, lines, its corner and size, and how many names there was no room for."""

    nodes: tuple[Node, ...]
    lines: tuple[Drawn, ...]
    x: float
    y: float
    width: float
    height: float
    left_out: int


def around(centre: str, edges: Sequence[Edge]) -> Rings:
    """Return names around another, nearest inside, each behind the name that leads to it."""
    ring, parent = _steps(centre, edges)
    kept = sorted(ring, key=lambda name: ring[name])[:NODES_MAX]
    angles = _angles(centre, kept, parent)
    nodes = {name: _node(name, ring[name], angles[name]) for name in kept}
    shown = [one for one in edges if one.start in nodes and one.end in nodes]
    is_worded = len(shown) <= LABELS_MAX
    lines = tuple(_drawn(one, nodes, is_worded=is_worded) for one in shown)
    left, right = _bounds(nodes.values())
    top = min(node.y for node in nodes.values()) - MARGIN
    bottom = max(node.y for node in nodes.values()) + MARGIN
    return Rings(
        tuple(nodes.values()),
        lines,
        round(left),
        round(top),
        round(right - left),
        round(bottom - top),
        len(ring) - len(kept),
    )


def _steps(centre: str, edges: Sequence[Edge]) -> tuple[dict[str, int], dict[str, str]]:
    """Return on which ring each name is, and which name leads there."""
    ring, parent = {centre: 0}, {centre: centre}
    for edge in sorted(edges, key=lambda one: one.distance):
        for here, there in ((edge.start, edge.end), (edge.end, edge.start)):
            if here in ring and there not in ring:
                ring[there], parent[there] = ring[here] + 1, here
    return ring, parent


def _angles(centre: str, kept: Sequence[str], parent: Mapping[str, str]) -> dict[str, float]:
    """Return the direction of each name: the middle of its part of the circle.

    A name has as much of its parent's part as it has names behind it, so that no line from a name
    to its parent crosses another one.
    """
    children: dict[str, list[str]] = {name: [] for name in kept}
    for name in kept:
        if name != centre:
            children[parent[name]].append(name)
    leaves: dict[str, int] = {}
    for name in reversed(kept):  # those further out first
        leaves[name] = sum(leaves[one] for one in children[name]) or 1
    begin, angles = {centre: 0.0}, {centre: 0.0}
    whole = 2 * math.pi / leaves[centre]
    for name in kept:
        at = begin[name]
        for one in children[name]:
            begin[one] = at
            angles[one] = at + whole * leaves[one] / 2
            at += whole * leaves[one]
    return angles


def _node(name: str, ring: int, angle: float) -> Node:
    side = math.cos(angle) if ring else 0.0
    x, y = RING * SIDEWAYS * ring * side, RING * ring * math.sin(angle)
    anchor = "start" if side > _SIDE else "end" if side < -_SIDE else "middle"
    return Node(name, round(x, 1), round(y, 1), ring, anchor)


def _bounds(nodes: Iterable[Node]) -> tuple[float, float]:
    """Return how far names reach to the left and to the right."""
    left = right = 0.0
    for node in nodes:
        text = _wide(node.name)
        before, behind = {"start": (0.0, text), "end": (text, 0.0)}.get(
            node.anchor, (text / 2, text / 2)
        )
        left = min(left, node.x - before)
        right = max(right, node.x + behind)
    return left - MARGIN, right + MARGIN


def _wide(name: str) -> float:
    """Return about how wide a name is where it is written, with the sign that it was cut."""
    return LETTER * sum(
        2 if east_asian_width(one) in "WF" else 1 for one in name[: LETTERS_MAX + 1]
    )


def _drawn(edge: Edge, nodes: Mapping[str, Node], *, is_worded: bool) -> Drawn:
    one, other = nodes[edge.start], nodes[edge.end]
    return Drawn(edge, one.x, one.y, other.x, other.y, edge.label if is_worded else "")
