"""What an agent sees by inheritance, from the words of the design alone: a walk and two filters.

A world is as ``lineage_worlds`` tells it. Moments are numbers; ``None`` as a moment is now.
"""

from __future__ import annotations

from tiers.fleet import CATALOG

from .lineage_worlds import Reader, Told, Way, World

CATALOG_CARRIES = frozenset({"document", "fact", "rule"})


def ways(world: World, graph: str) -> dict[str, Way]:
    """Return the way to each ancestor: in breadth, the first way to a graph decides."""
    found = {graph: Way((), None, frozenset({"rule", "episode"}))}
    waiting = [graph]
    for child in waiting:
        way = found[child]
        for link in world.links[child]:
            is_there = way.moment is None or link.made <= way.moment
            if link.revoked or not is_there or link.parent in found:
                continue
            moments = [one for one in (way.moment, link.as_of) if one is not None]
            path, carries = (*way.path, link.parent), way.carries & link.carries
            found[link.parent] = Way(path, min(moments, default=None), carries)
            waiting.append(link.parent)
    if world.has_catalog and graph != CATALOG:
        found[CATALOG] = Way((CATALOG,), None, CATALOG_CARRIES)
    return {name: way for name, way in found.items() if name != graph}


def _sees(reader: Reader, told: Told, moment: int | None) -> bool:
    meets = not told.topics or "*" in reader.topics or told.topics & reader.topics
    ours = told.user in {None, reader.user} and not told.topics & reader.denied
    mine = (told.graph, told.agent) == (reader.graph, reader.agent)
    known = not told.redacted and (moment is None or told.recorded <= moment)
    return bool(meets and ours and known and (mine or not told.private))


def _is_core(told: Told, moment: int | None) -> bool:
    at = float("inf") if moment is None else moment
    core = any(since <= at and (until is None or at < until) for since, until in told.core)
    return core and (told.superseded is None or at < told.superseded)


def core(world: World, reader: Reader) -> tuple[list[Told], list[Told]]:
    """Return the core facts that the reader sees, and those that nearer definitions hide."""
    moments = {reader.graph: None, **{n: w.moment for n, w in ways(world, reader.graph).items()}}
    facts = [one for name in moments for one in world.facts if one.graph == name]
    seen = [f for f in facts if _sees(reader, f, m := moments[f.graph]) and _is_core(f, m)]
    nearest = {one.key: one.graph for one in reversed(seen)}
    hidden = [one for one in seen if one.key is not None and nearest[one.key] != one.graph]
    return [one for one in seen if one not in hidden], hidden


def rules(world: World, reader: Reader) -> set[str]:
    """Return the ids of the rules that the reader may be given."""
    through = {n: w.moment for n, w in ways(world, reader.graph).items() if "rule" in w.carries}
    moments = {reader.graph: None, **through}
    told = [one for one in world.rules if one.graph in moments]
    return {one.id for one in told if _sees(reader, one, moments[one.graph])}
