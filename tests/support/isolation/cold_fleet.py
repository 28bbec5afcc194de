"""Attempts on what serves the runtime: graphs, members, budgets, work, and moving house."""

from __future__ import annotations

from functools import partial
from typing import Any, cast, get_args

from tiers.records import (
    AgentRecord,
    Budget,
    Fact,
    GraphState,
    Parent,
    Receipt,
    Retention,
    Scope,
    SessionGraph,
    Usage,
    WorkDraft,
    WorkKind,
)
from tiers.upkeep import Table, UsageRow

from .aims import OUTER, Aim
from .attempts import (
    FORGED,
    Method,
    Move,
    Touch,
    also_of,
    asking,
    given,
    graph_of,
    one_of,
    own,
    text,
)
from .names import INJECTIONS
from .oracle import Reach
from .worlds import LATER, Planted

_WORK_KINDS: tuple[WorkKind, ...] = get_args(WorkKind)
_HUGE = 10**12


def _named_like_its_graph(aim: Aim) -> str:
    return aim.name(aim.victim.corner.graph_id)


def _agent(aim: Aim) -> Scope:
    """Return the attacker's scope, of an agent of the victim's name."""
    return aim.scope.for_agent(aim.victim.corner.agent_id)


def create_graph(aim: Aim) -> Move:
    """Create a graph of the victim's name, or one that inherits from it, in the own tenant."""
    victim = aim.victim.corner.graph_id
    graph_id = aim.random.choice([victim, aim.name(f"new {aim.random.getrandbits(40)}")])
    parents = (Parent(id=victim, linked_at=LATER),) if graph_id != victim else ()
    graph = SessionGraph(tenant=aim.scope.tenant, id=graph_id, parents=parents, created_at=LATER)
    touches = (Touch(aim.scope.tenant, graph_id),)
    return Move(lambda cold: cold.graphs.create_graph(graph), touches)


def set_state(aim: Aim) -> Move:
    """Close or open the graph of the victim's name in the own tenant; archive what is not there."""
    states = [GraphState.CLOSED, GraphState.ACTIVE]
    state = aim.random.choice(states if aim.house in aim.world.houses else list(GraphState))
    return Move(lambda cold: cold.graphs.set_state(aim.scope, state, LATER), graph_of(aim.scope))


def link(aim: Aim) -> Move:
    """Link to the victim's graph by its id."""
    parent = Parent(id=_named_like_its_graph(aim), episodes=True, linked_at=LATER)
    return Move(lambda cold: cold.graphs.link(aim.scope, parent), graph_of(aim.scope))


def configure(aim: Aim) -> Move:
    """Change the budget of the graph of the victim's name in the own tenant."""
    budget, retention = Budget(tokens=_HUGE), Retention(summary_ttl_hours=1)
    return Move(
        lambda cold: cold.graphs.configure(aim.scope, budget=budget, retention=retention),
        graph_of(aim.scope),
    )


def spawn(aim: Aim) -> Move:
    """Attach an agent of the victim's name in the own graph."""
    mark = aim.world.new_mark()
    own(aim, "agent", aim.victim.corner.agent_id, mark)
    agent = AgentRecord(
        tenant=aim.scope.tenant,
        graph_id=aim.scope.graph_id,
        id=aim.name(aim.victim.corner.agent_id),
        role=f"{mark} {aim.word()}",
        user_id=aim.victim.corner.user_id,
        topics=("*",),
        spawned_at=LATER,
    )
    return Move(lambda cold: cold.fleet.spawn(agent), graph_of(aim.scope))


def leave(aim: Aim) -> Move:
    """Leave, or be let go, as an agent of the victim's name."""
    scope = _agent(aim)
    silent = aim.random.choice([None, LATER])
    return Move(
        lambda cold: cold.fleet.leave(scope, LATER, silent_since=silent), graph_of(aim.scope)
    )


def beat(aim: Aim) -> Move:
    """Give signs of life of the victim's agents."""
    ids = [one.agent_id for one in aim.world.of_house(aim.victim.corner.house)]
    names = [*ids, aim.name()]
    return Move(lambda cold: cold.fleet.beat(aim.scope, names, LATER), graph_of(aim.scope))


def enqueue(aim: Aim) -> Move:
    """Queue work under the victim's key."""
    mark = aim.world.new_mark()
    own(aim, "work", mark, mark)
    draft = WorkDraft(
        kind="learn",
        key=aim.random.choice([aim.victim.id, aim.word(mark)]),
        agent_id=aim.victim.corner.agent_id,
        payload={"said": mark, aim.word("id"): aim.word()},
    )
    # Work belongs to its graph: what waits under the same key there becomes the latest.
    return Move(lambda cold: cold.queue.enqueue(aim.scope, [draft], LATER), graph_of(aim.scope))


def claim(aim: Aim) -> Move:
    """Claim what is due in the own graph, or the own tenant."""
    owner = aim.word("attacker")
    whole = aim.random.random() < 0.5

    def call(cold: Any) -> Any:
        return cold.queue.claim(
            _WORK_KINDS,
            owner,
            50,
            60,
            LATER,
            tenant=aim.scope.tenant,
            scope=None if whole else aim.scope,
        )

    return Move(call, (Touch(aim.scope.tenant, None if whole else aim.scope.graph_id),))


def _finishing(name: str, *asked: object, many: bool = False) -> Method:
    """Return a method that is called with what the victim has claimed, under the attacker's name.

    Args:
        name: Of the queue's.
        asked: What follows the item.
        many: Whether it takes several items.
    """

    def make(aim: Aim) -> Move:
        tenant, graph_id = aim.house
        more = [given(one, aim) for one in asked]

        async def call(cold: Any) -> None:
            for work in cold.held:
                if (work.tenant, work.graph_id) == aim.victim.corner.house:
                    mine = work.model_copy(update={"tenant": tenant, "graph_id": graph_id})
                    await getattr(cold.queue, name)([mine] if many else mine, *more)

        return Move(call, (), FORGED)

    return Method(f"queue.{name}", Reach.GRAPH, make, ("work",), OUTER)


def rerun(aim: Aim) -> Move:
    """Put the victim's parked items back, and nonsense."""
    nonsense = aim.random.choice(INJECTIONS)

    async def call(cold: Any) -> object:
        ids = [work.id for work in cold.parked if work.tenant != aim.scope.tenant]
        return await cold.queue.rerun([*ids, nonsense], tenant=aim.scope.tenant)

    return Move(call)


def import_rows(aim: Aim) -> Move:
    """Import rows that are another tenant's, or the victim's rows into the own tenant."""
    victim = aim.victim
    mark = aim.world.new_mark()
    corner = victim.corner
    planted = own(aim, cast("Any", victim.kind), victim.id, mark)
    table, text = _TABLES[victim.kind]
    # Whatever else of the victim's would carry its mark is left out.
    others: dict[str, Any] = {"body": {}} if isinstance(victim.record, Receipt) else {}
    row = victim.record.model_copy(update={text: f"{mark} {aim.word()}", **others})
    if aim.random.random() < 0.5:
        tenant, label = aim.scope.tenant, FORGED
        also_of(aim, planted, corner)
    else:
        tenant, label = aim.scope.tenant, ""
        row = row.model_copy(update={"tenant": tenant})
        _note_imported(aim, planted, row)
    touches = (Touch(tenant, corner.graph_id),)
    return Move(lambda cold: cold.archive.import_rows(tenant, table, [row]), touches, label)


def _note_imported(aim: Aim, planted: Planted, row: Fact | Receipt) -> None:
    """Note that the row, in the own tenant, is as visible as it was where it came from."""
    corner = aim.victim.corner
    place = {"tenant": aim.scope.tenant, "graph_id": row.graph_id}
    also_of(aim, planted, type(corner)(**{**corner.__dict__, **place}))


def import_usage(aim: Aim) -> Move:
    """Import what an agent of the victim's name has used."""
    corner = aim.victim.corner
    used = Usage(tokens=aim.random.randrange(10**6))
    row = UsageRow(graph_id=corner.graph_id, agent_id=corner.agent_id, used=used)
    touches = (Touch(aim.scope.tenant, corner.graph_id),)
    table: Table = "usage"
    return Move(lambda cold: cold.archive.import_rows(aim.scope.tenant, table, [row]), touches)


def discard(aim: Aim) -> Move | None:
    """Discard what an import left of the graph of the victim's name, which is there."""
    if aim.house not in aim.world.houses:
        return None  # what is forged under a name that nothing has may go
    return Move(lambda cold: cold.archive.discard(aim.scope, LATER))


_TABLES: dict[str, tuple[Table, str]] = {
    "core": ("facts", "text"),
    "archival": ("facts", "text"),
    "receipt": ("receipts", "query"),
}
_G, _T = Reach.GRAPH, Reach.TENANT
_OF_TENANT = ("tenant", "lookalike")
_SOME = Usage(tokens=7, writes=1)
_MORE_THAN_EVER = Usage(tokens=_HUGE, model_calls=_HUGE, writes=_HUGE)
_as_agent = partial(asking, by=_agent)

COLD_FLEET = (
    Method("graphs.create_graph", _T, create_graph, ("agent",), _OF_TENANT),
    Method("graphs.set_state", _G, set_state, ("agent",), OUTER),
    Method("graphs.link", _G, link, ("agent",), OUTER),
    asking("graphs.unlink", _G, ("agent",), OUTER, _named_like_its_graph, adds=True),
    Method("graphs.configure", _G, configure, ("agent",), OUTER),
    Method("fleet.spawn", _G, spawn, ("agent",), OUTER),
    Method("fleet.leave", _G, leave, ("agent",), OUTER),
    Method("fleet.beat", _G, beat, ("agent",), OUTER),
    _as_agent("usage.charge", _G, ("agent",), OUTER, _SOME, Budget(), Budget(), adds=True),
    _as_agent("usage.refund", _G, ("agent",), OUTER, _MORE_THAN_EVER, adds=True),
    Method("queue.enqueue", _G, enqueue, ("work",), OUTER),
    Method("queue.claim", _T, claim, ("work",), _OF_TENANT),
    _finishing("complete"),
    _finishing("complete_all", many=True),
    _finishing("fail", text("forged"), one_of(None, LATER)),
    _finishing("defer", LATER),
    _finishing("begin"),
    _finishing("renew", 10**6, LATER),
    Method("queue.rerun", _T, rerun, ("work",), _OF_TENANT),
    Method("archive.import_rows", _T, import_rows, ("core", "archival", "receipt"), _OF_TENANT),
    Method("archive.import_rows", _T, import_usage, ("agent",), _OF_TENANT),
    asking("archive.rows_left", _G, ("agent",), OUTER),
    Method("archive.discard", _G, discard, ("agent",), OUTER),
)
