"""Where graphs stand in a drawing of how they inherit: layers from left to right. Pure.

Every graph stands right of all that it inherits from, as near as it may. Within a layer, graphs
stand near the middle of what they are linked with, which keeps lines from crossing (the barycentre
rule of Sugiyama's method). A link that passes a layer is led around its graphs.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

BOX_WIDTH, BOX_HEIGHT = 196, 46
ACROSS, APART = 84, 14
MARGIN = 8
SWEEPS = 4

Link: TypeAlias = tuple[str, str]
"""A parent and its child."""

_Node: TypeAlias = str | tuple[str, str, int]
"""A graph, or the place where a link passes a layer."""


@dataclass(frozen=True)
class Box:
    """A graph in the drawing, by its upper left corner."""

    id: str
    x: int
    y: int


@dataclass(frozen=True)
class Line:
    """A link, as the path of an SVG."""

    parent: str
    child: str
    path: str


@dataclass(frozen=True)
class Drawing:
    """Boxes and lines, and the room that they take."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]


def layered(ids: Sequence[str], links: Iterable[Link]) -> Drawing:
    """Return the drawing of some graphs and of the links between them; others are left out."""
    known = dict.fromkeys(ids)
    within = [link for link in dict.fromkeys(links) if link[0] in known and link[1] in known]
    depth = _depths(known, within)
    layers, steps = _led(known, within, depth)
    for sweep in range(SWEEPS):
        _sort(layers, steps, forward=sweep % 2 == 0)
    middles = _placed(layers, steps)
    top = min(middles.values(), default=0.0)
    boxes = tuple(
        Box(one, MARGIN + depth[one] * (BOX_WIDTH + ACROSS), round(MARGIN + middles[one] - top))
        for one in known
    )
    at = {node: round(MARGIN + middle - top) + BOX_HEIGHT // 2 for node, middle in middles.items()}
    lines = tuple(Line(*link, _path(link, depth, at)) for link in within)
    width = max((box.x + BOX_WIDTH for box in boxes), default=0) + MARGIN
    height = max((y + BOX_HEIGHT // 2 for y in at.values()), default=0) + MARGIN
    return Drawing(width, height, boxes, lines)


def families(ids: Sequence[str], links: Iterable[Link]) -> list[list[str]]:
    """Return which graphs are linked with each other, near or far; those alone are alone."""
    beside = _neighbours(ids, links)
    seen: set[str] = set()
    found: list[list[str]] = []
    for one in ids:
        if one not in seen:
            family = _reached(one, beside, len(ids))
            seen.update(family)
            found.append([other for other in ids if other in family])
    return found


def sheets(ids: Sequence[str], links: Sequence[Link], limit: int) -> list[list[str]]:
    """Return which graphs are drawn together, so many at most; graphs alone are not drawn.

    A family too large for one sheet is cut into connected pieces around those with most links;
    pieces share a sheet while there is room.
    """
    linked = Counter(end for link in dict.fromkeys(links) for end in link)
    pieces: list[list[str]] = []
    for family in families(ids, links):
        rest = family if len(family) > 1 else []
        while rest:
            beside = _neighbours(rest, links)
            piece = list(_reached(max(rest, key=lambda one: linked[one]), beside, limit))
            pieces.append(piece)
            rest = [one for one in rest if one not in set(piece)]
    packed: list[list[str]] = []
    for piece in sorted(pieces, key=len, reverse=True):
        sheet = next((one for one in packed if len(one) + len(piece) <= limit), None)
        if sheet is None:
            packed.append(sheet := [])
        sheet += piece
    return packed


def around(centre: str, ids: Sequence[str], links: Sequence[Link], limit: int) -> list[str]:
    """Return a graph with its ancestors and descendants, nearest first, so many at most."""
    known = set(ids)
    kept = [link for link in links if link[0] in known and link[1] in known]
    up: dict[str, list[str]] = {}
    down: dict[str, list[str]] = {}
    for parent, child in kept:
        up.setdefault(child, []).append(parent)
        down.setdefault(parent, []).append(child)
    above = _reached(centre, up, limit)
    below = _reached(centre, down, limit)
    both: dict[str, None] = {}
    for distance in range(max(len(above), len(below))):
        for side in (above, below):
            both.update(dict.fromkeys(list(side)[distance : distance + 1]))
    return list(both)[:limit]


def _neighbours(ids: Sequence[str], links: Iterable[Link]) -> dict[str, list[str]]:
    beside: dict[str, list[str]] = {one: [] for one in ids}
    for parent, child in links:
        if parent in beside and child in beside:
            beside[parent].append(child)
            beside[child].append(parent)
    return beside


def _reached(start: str, ways: Mapping[str, Sequence[str]], limit: int) -> dict[str, None]:
    """Return what can be reached, nearest first, so many at most."""
    found: dict[str, None] = {start: None}
    waiting = deque([start])
    while waiting and len(found) < limit:
        for other in ways.get(waiting.popleft(), ()):
            if other not in found and len(found) < limit:
                found[other] = None
                waiting.append(other)
    return found


def _depths(known: Mapping[str, None], links: Sequence[Link]) -> dict[str, int]:
    """Return the layer of each graph: one more than the deepest of its parents."""
    children: dict[str, list[str]] = {}
    missing = dict.fromkeys(known, 0)
    for parent, child in links:
        children.setdefault(parent, []).append(child)
        missing[child] += 1
    depth = dict.fromkeys(known, 0)
    ready = deque(one for one, count in missing.items() if count == 0)
    while ready:
        parent = ready.popleft()
        for child in children.get(parent, ()):
            depth[child] = max(depth[child], depth[parent] + 1)
            missing[child] -= 1
            if missing[child] == 0:
                ready.append(child)
    return depth


def _led(
    known: Mapping[str, None], links: Sequence[Link], depth: Mapping[str, int]
) -> tuple[list[list[_Node]], list[tuple[_Node, _Node]]]:
    """Return the layers with the places where long links pass, and the steps between them."""
    layers: list[list[_Node]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for one in known:
        layers[depth[one]].append(one)
    steps: list[tuple[_Node, _Node]] = []
    for parent, child in links:
        before: _Node = parent
        for layer in range(depth[parent] + 1, depth[child]):
            passing = (parent, child, layer)
            layers[layer].append(passing)
            steps.append((before, passing))
            before = passing
        steps.append((before, child))
    return layers, steps


def _sort(
    layers: list[list[_Node]], steps: Sequence[tuple[_Node, _Node]], *, forward: bool
) -> None:
    """Put each layer into the order of the middles of what it is linked with on one side."""
    linked: dict[_Node, list[_Node]] = {}
    for left, right in steps:
        linked.setdefault(right if forward else left, []).append(left if forward else right)
    for layer in layers if forward else reversed(layers):
        place = {node: index for one in layers for index, node in enumerate(one)}
        wanted = {
            node: fmean(place[other] for other in linked[node])
            if node in linked
            else float(place[node])
            for node in layer
        }
        layer.sort(key=lambda node: wanted[node])


def _placed(
    layers: Sequence[Sequence[_Node]], steps: Sequence[tuple[_Node, _Node]]
) -> dict[_Node, float]:
    """Return how far down each node stands: beside what it is linked with, none upon another."""
    parents: dict[_Node, list[_Node]] = {}
    children: dict[_Node, list[_Node]] = {}
    for left, right in steps:
        parents.setdefault(right, []).append(left)
        children.setdefault(left, []).append(right)
    down: dict[_Node, float] = {}
    for layer in layers:
        down.update(_stacked(layer, parents, down))
    for layer in reversed(layers[:-1]):
        down.update(_stacked(layer, children, down))
    return down


def _stacked(
    layer: Sequence[_Node], linked: Mapping[_Node, Sequence[_Node]], down: Mapping[_Node, float]
) -> dict[_Node, float]:
    """Return one layer's nodes in their order, each as near to where it belongs as they allow."""
    wanted: list[float] = []
    stacked: list[float] = []
    least = float("-inf")
    for node in layer:
        others = [down[other] for other in linked.get(node, ()) if other in down]
        at = fmean(others) if others else down.get(node, max(least, 0.0))
        wanted.append(at)
        stacked.append(max(at, least))
        least = stacked[-1] + (BOX_HEIGHT if isinstance(node, str) else 0) + APART
    # Whoever was pushed down was pushed by those above: half of it is given back to all.
    shift = fmean(x - y for x, y in zip(wanted, stacked, strict=True)) if layer else 0.0
    return {node: at + shift for node, at in zip(layer, stacked, strict=True)}


def _path(link: Link, depth: Mapping[str, int], at: Mapping[_Node, int]) -> str:
    """Return a line from the right side of the parent to the left side of the child."""
    parent, child = link
    step = BOX_WIDTH + ACROSS
    x, y = MARGIN + depth[parent] * step + BOX_WIDTH, at[parent]
    path = f"M{x} {y}"
    for layer in range(depth[parent] + 1, depth[child] + 1):
        is_last = layer == depth[child]
        to_x, to_y = MARGIN + layer * step, at[child if is_last else (parent, child, layer)]
        half = (x + to_x) // 2
        path += f" C{half} {y} {half} {to_y} {to_x} {to_y}"
        x, y = to_x, to_y
        if not is_last:
            x += BOX_WIDTH
            path += f" H{x}"
    return path
