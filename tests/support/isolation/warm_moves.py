"""Attempts on the warm tier: searches past the scope, and writes by the victim's ids."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tiers.records import UNRECORDED, IndexEntry

from .aims import INNER, KINDS, OUTER, Aim
from .attempts import FORGED, Method, Move, Touch, graph_of, own
from .oracle import Reach
from .worlds import LATER, SEARCHABLE, SHARED_WORDS, vector_of

INHERITED_SHARE = 0.25
INHERITABLE = ("episode", "archival", "rule")


def search(aim: Aim) -> Move:
    """Search the own graph with the victim's exact text and vector."""
    corner = aim.victim.corner
    user = aim.random.choice([None, None, corner.user_id])
    query = aim.query(tier=aim.random.choice([None, None, "archival"]), user_id=user)
    return Move(lambda warm: warm.search(aim.scope, query))


def search_narrowed(aim: Aim) -> Move:
    """Search with every narrowing set to what the victim is: none may widen what is seen."""
    corner = aim.victim.corner
    narrowed = {
        "mode": aim.random.choice(["hybrid", "dense", "words"]),
        "topics": aim.random.choice([corner.topics, ()]),
        "writer_id": aim.random.choice([corner.agent_id, None]),
        "grains": aim.random.choice([("daily", "weekly"), ()]),
        "as_of": aim.random.choice([LATER, None]),
        "since": aim.random.choice([UNRECORDED, None]),
        "until": aim.random.choice([LATER + timedelta(days=400), None]),
        "inherited": aim.random.random() < INHERITED_SHARE,
    }
    query = aim.query(**narrowed)
    return Move(lambda warm: warm.search(aim.scope, query))


def search_inherited(aim: Aim) -> Move:
    """Search the ancestors for what does not come through."""
    query = aim.query(inherited=True)
    return Move(lambda warm: warm.search(aim.scope, query))


def _entry(aim: Aim, record_id: str) -> IndexEntry:
    mark = aim.world.new_mark()
    corner = own(aim, "turn", record_id, mark).corner
    return IndexEntry(
        id=record_id,
        kind="turn",
        text=f"{mark} {aim.word(SHARED_WORDS)}",
        vector=vector_of(mark),
        topics=corner.topics,
        private=corner.private,
    ).stamped(aim.scope, record_id, LATER)


def upsert(aim: Aim) -> Move | None:
    """Write an entry under the victim's id."""
    record_id = aim.victim.id
    if aim.world.holds(aim.house, record_id):
        return None
    entry = _entry(aim, record_id)
    return Move(lambda warm: warm.upsert(aim.scope, [entry]), (_of_id(aim, entry.id),))


def upsert_forged(aim: Aim) -> Move:
    """Write an entry that says to be the victim's, among good ones."""
    corner = aim.victim.corner
    good = _entry(aim, _fresh(aim))
    forged = _entry(aim, aim.victim.id).model_copy(
        update={"tenant": corner.tenant, "graph_id": corner.graph_id, "agent_id": corner.agent_id}
    )
    touches = (_of_id(aim, good.id), *graph_of(aim.scope))
    return Move(lambda warm: warm.upsert(aim.scope, [good, forged]), touches, FORGED)


def delete(aim: Aim) -> Move:
    """Delete by the victim's ids; what of the attacker's own that hit is put back."""
    ids = aim.ids()
    mine = _own_entries(aim, set(ids))

    async def call(warm: Any) -> None:
        await warm.delete(aim.scope, ids)
        await warm.upsert(aim.scope, mine)

    held = [record_id for record_id in ids if aim.world.holds(aim.house, record_id)]
    return Move(call, tuple(_of_id(aim, record_id) for record_id in held))


def delete_expired(aim: Aim) -> Move:
    """Sweep far in the future; what of the attacker's own that hit is put back."""
    future = LATER + timedelta(days=400)
    mine = [entry for entry in _own_entries(aim) if entry.expires_at is not None]

    async def call(warm: Any) -> None:
        await warm.delete_expired(aim.scope, future)
        await warm.upsert(aim.scope, mine)

    return Move(call, tuple(_of_id(aim, entry.id) for entry in mine))


def count(aim: Aim) -> Move:
    """Count with a kind; the numbers themselves are compared with the raw engine elsewhere."""
    kind = aim.random.choice(KINDS)
    return Move(lambda warm: warm.count(aim.scope, kind))


def export_entries(aim: Aim) -> Move:
    """Read out a tenant, from a cursor that was the victim's."""
    cursor = aim.random.choice(["", aim.victim.id])
    return Move(lambda warm: warm.export_entries(aim.scope.tenant, cursor, 200))


def _own_entries(aim: Aim, ids: set[str] | None = None) -> list[IndexEntry]:
    return [
        one.entry
        for one in aim.world.planted_in(aim.house)
        if one.is_searchable and (ids is None or one.id in ids)
    ]


def _of_id(aim: Aim, record_id: str) -> Touch:
    return Touch(aim.scope.tenant, aim.scope.graph_id, record_id=record_id)


def _fresh(aim: Aim) -> str:
    number = aim.random.getrandbits(120)
    return f"{number >> 88:08x}-{number >> 72 & 0xFFFF:04x}-8000-8000-{number & (1 << 48) - 1:012x}"


WARM_METHODS = (
    Method("warm.search", Reach.VISIBLE, search, SEARCHABLE, (*OUTER, *INNER), weight=8),
    Method("warm.search", Reach.FAMILY, search_narrowed, SEARCHABLE, (*OUTER, *INNER), weight=4),
    Method("warm.search", Reach.FAMILY, search_inherited, INHERITABLE, OUTER, weight=3),
    Method("warm.upsert", Reach.GRAPH, upsert, SEARCHABLE, OUTER),
    Method("warm.upsert", Reach.GRAPH, upsert_forged, SEARCHABLE, OUTER),
    Method("warm.delete", Reach.GRAPH, delete, SEARCHABLE, OUTER),
    Method("warm.delete_expired", Reach.GRAPH, delete_expired, ("summary",), OUTER),
    Method("warm.count", Reach.GRAPH, count, SEARCHABLE, OUTER),
    Method(
        "warm.export_entries", Reach.TENANT, export_entries, SEARCHABLE, ("tenant", "lookalike")
    ),
)
