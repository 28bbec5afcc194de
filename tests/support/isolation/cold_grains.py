"""Attempts on time grains: by the runtime of another graph, and by agents, who may not ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

from tiers.plans import ANY_GRAIN, GRAINS
from tiers.records import Scope, WorkDraft

from .aims import INNER, OUTER, Aim
from .attempts import Method, Move, answers, asking, of_graph, one_of
from .cold_reads import asker
from .oracle import Reach
from .worlds import LATER, House, World

_FUTURE = LATER + timedelta(days=800)
_LIMIT = 500
_MADE = ("turn", "summary", "episode")


def strangers(world: World, house: House, ids: Iterable[str]) -> list[str]:
    """Return the marks of records whose ids nothing in a house has.

    An answer of ids alone names no tenant: so it is seen whose they are.
    """
    strange = {one for one in ids if not world.holds(house, one)}
    return [one.mark for one in world.planted if one.id in strange]


def _ids_of(found: Any) -> Iterable[str]:
    """Return the ids in an answer, and of what stands for them now.

    What a record says to be made of its writer has said, who may say anything.
    """
    for part in answers(found):
        rows = getattr(part, "rows", part)
        if isinstance(rows, tuple):  # a careless engine gives several answers
            for row in rows:
                yield from _ids_of(row)
            continue
        yield rows if isinstance(rows, str) else rows.id
        yield from getattr(rows, "replaced_by", ())


def told_by_ids(aim: Aim, ask: Callable[[Any, Scope], Any], *, as_agent: bool = False) -> Move:
    """Return a question to a whole graph that is answered with ids, by the runtime or an agent."""
    scope = asker(aim) if as_agent else Scope.of_graph(*aim.house)

    async def call(cold: Any) -> object:
        found = await ask(cold, scope)
        return found, strangers(aim.world, aim.house, _ids_of(found))

    return Move(call, scope=scope)


def turn_marks(aim: Aim) -> Move:
    """Ask for every turn, as the conservation report does, from the victim's place on."""
    cursor = aim.random.choice(["", "", aim.victim.id])
    return told_by_ids(aim, lambda cold, scope: cold.grains.turn_marks(scope, cursor, _LIMIT))


def made(aim: Aim) -> Move:
    """Ask for everything that was made of turns, from the victim's place on."""
    cursor = aim.random.choice(["", "", aim.victim.id])
    return told_by_ids(aim, lambda cold, scope: cold.grains.made(scope, cursor, _LIMIT))


def retirable(aim: Aim) -> Move:
    """Ask what is past its retention."""
    grain = aim.random.choice(ANY_GRAIN)
    return told_by_ids(
        aim, lambda cold, scope: cold.grains.retirable(scope, grain, _FUTURE, _LIMIT)
    )


def report_as_agent(aim: Aim) -> Move:
    """Ask for what only the report may count, as an agent."""
    grain, name = aim.random.choice(ANY_GRAIN), aim.random.choice(["turn_marks", "made", "due"])

    async def ask(cold: Any, scope: Scope) -> object:
        if name == "due":
            return await cold.grains.retirable(scope, grain, _FUTURE, _LIMIT)
        return await getattr(cold.grains, name)(scope, "", _LIMIT)

    return told_by_ids(aim, ask, as_agent=True)


def count_grain(aim: Aim) -> Move:
    """Count the records of a grain; there are no more than were ever brought into the house."""
    scope, grain = Scope.of_graph(*aim.house), aim.random.choice(ANY_GRAIN)

    async def call(cold: Any) -> object:
        found = await cold.grains.count_grain(scope, grain)
        most = sum(place[:2] == aim.house for place in aim.world.by_place)
        # More than there are can only be others'.
        has_more = sum(one.total for one in answers(found)) > most
        return found, [aim.victim.mark] if has_more else []

    return Move(call, scope=scope)


def retire(aim: Aim) -> Move | None:
    """Destroy the content of records of another house, as the runtime of the own."""
    ids = aim.foreign_ids()
    if not ids:
        return None
    scope, reason = Scope.of_graph(*aim.house), aim.word("past its retention")
    work = [WorkDraft(kind="index", key=aim.word("key 0"))]
    return Move(lambda cold: cold.grains.retire(scope, ids, reason, LATER, work), scope=scope)


def retire_as_agent(aim: Aim) -> Move:
    """Destroy what others of the house keep, as an agent."""
    scope, ids = asker(aim), aim.ids()
    return Move(lambda cold: cold.grains.retire(scope, ids, "mine", LATER), scope=scope)


_V, _G = Reach.VISIBLE, Reach.GRAPH
_ANY = (*_MADE, "core", "archival")

COLD_GRAINS = (
    of_graph("grains.loose", _G, ("summary", "episode"), OUTER, one_of(*GRAINS), _FUTURE, _LIMIT),
    asking(
        "grains.loose",
        _V,
        ("summary", "episode"),
        INNER,
        one_of(*GRAINS),
        _FUTURE,
        _LIMIT,
        by=asker,
    ),
    Method("grains.turn_marks", _G, turn_marks, ("turn",), OUTER),
    Method("grains.made", _G, made, ("summary", "episode"), OUTER),
    Method("grains.made", _V, report_as_agent, _MADE, INNER),
    Method("grains.retirable", _G, retirable, _MADE, OUTER),
    Method("grains.count_grain", _G, count_grain, _MADE, OUTER),
    Method("grains.retire", _G, retire, _ANY, OUTER, weight=2),
    Method("grains.retire", _V, retire_as_agent, _ANY, INNER),
)
