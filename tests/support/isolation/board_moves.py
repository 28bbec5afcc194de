"""Attempts on the board: reading others' cards, and writing, changing and marking them by id."""

from __future__ import annotations

from datetime import timedelta

from tiers.board import Card, CardQuery

from ..tier_samples import NOW
from .aims import INNER, OUTER, Aim
from .attempts import Method, Move, Touch, asking, graph_of
from .cold_writes import id_of_victim_or_new, is_mine, of_id, variant
from .oracle import Reach, permitted
from .worlds import LATER, SHARED_WORDS

_DAY = timedelta(days=1)


def _names(aim: Aim) -> list[str]:
    return [aim.victim.corner.agent_id or "nobody", aim.word()]


def latest(aim: Aim) -> Move:
    """List cards of the victim's agent, of its thread, with its tag, or all there are."""
    victim = aim.victim.record
    narrowed = aim.random.choice(
        [
            {},
            {"agent_id": aim.victim.corner.agent_id or None},
            {"thread": aim.name(victim.thread)},
            {"types": (aim.name(victim.type),)},
            {"tag": aim.name(aim.victim.mark)},
        ]
    )
    inbox = {"inbox_of": aim.scope.agent_id} if aim.random.random() < 0.3 else {}
    query = CardQuery(kind=victim.kind, **{**narrowed, **inbox})
    return Move(lambda cold: cold.board.latest(aim.scope, query))


def post(aim: Aim) -> Move:
    """Post under the victim's id, with an action beside it; of an own or a forged owner."""
    mark, beside = aim.world.new_mark(), aim.world.new_mark()
    victim = aim.victim.record
    record = Card(
        kind=victim.kind,
        type=mark,
        status=victim.status,
        to=(aim.name(),) if victim.kind == "message" else (),
        thread=aim.name(),
        title=aim.word()[:200],
        text=f"{mark} {aim.word(SHARED_WORDS)}",
        tags=(aim.name(),),
        details={aim.word("k"): aim.word(), "$set": {"a.b": 1}},
        changed_at=LATER,
    )
    card = of_id(aim, "card", record, mark, id_of_victim_or_new(aim, "card"))
    action = Card(kind="action", type=beside, text=beside, changed_at=LATER)
    log = of_id(aim, "card", action, beside, id_of_victim_or_new(aim, "card"))
    card, label = variant(aim, card, mark)
    with_log = aim.random.choice([log, None])
    return Move(lambda cold: cold.board.post(aim.scope, card, with_log), graph_of(aim.scope), label)


def change(aim: Aim) -> Move | None:
    """Change the victim's task, as if it had been read."""
    victim = aim.victim.record
    if victim.kind != "task" or is_mine(aim, aim.victim.id):
        return None
    mark = aim.world.new_mark()
    later = {"version": victim.version + 1, "title": f"{mark} {aim.word()}", "status": "failed"}
    task = victim.model_copy(update={**later, "changed_at": LATER})
    if aim.random.random() < 0.6:
        place = {"tenant": aim.scope.tenant, "graph_id": aim.scope.graph_id}
        task = task.model_copy(update=place)
    action = Card(kind="action", type=mark, text=mark, thread=aim.victim.id, changed_at=LATER)
    log = of_id(aim, "card", action, mark, id_of_victim_or_new(aim, "card"))
    return Move(lambda cold: cold.board.change(aim.scope, task, log))


def mark_read(aim: Aim) -> Move:
    """Mark the victim's messages as read; of what the attacker sees they are."""
    ids, reader = aim.ids(), aim.scope.agent_id or "nobody"
    touches = tuple(
        Touch(aim.scope.tenant, aim.scope.graph_id, record_id=one.id)
        for record_id in ids
        for one in aim.world.by_place.get((*aim.house, record_id), ())
        if one.kind == "card" and permitted(Reach.VISIBLE, aim.scope, one)
    )
    return Move(
        lambda cold: cold.board.mark_read(aim.scope, ids, reader, LATER),
        (*graph_of(aim.scope), *touches),
    )


_V = Reach.VISIBLE
_ALL = (*OUTER, *INNER)
BOARD_METHODS = (
    asking("board.cards", _V, ("card",), _ALL, Aim.ids, weight=2),
    Method("board.latest", _V, latest, ("card",), _ALL, weight=2),
    asking("board.counts", _V, ("card",), _ALL, NOW - _DAY, LATER + _DAY),
    asking("board.unread", _V, ("card",), _ALL, _names),
    Method("board.post", _V, post, ("card",), _ALL, weight=2),
    Method("board.change", _V, change, ("card",), _ALL, weight=2),
    Method("board.mark_read", _V, mark_read, ("card",), _ALL),
)
