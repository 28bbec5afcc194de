"""When members are let go and graphs change their state."""

from __future__ import annotations

from datetime import timedelta

from support.records import START

from metaagents.lifecycle.states import StatePolicy, is_deserted, is_due_for_archive
from tiers.fleet import CATALOG
from tiers.records import AgentRecord, Retention, SessionGraph

POLICY = StatePolicy()


def graph(graph_id: str = "imola", **more: object) -> SessionGraph:
    """Return a graph that was closed at ``START`` unless told otherwise."""
    values: dict[str, object] = {"state": "closed", "closed_at": START, **more}
    return SessionGraph(tenant="acme", id=graph_id, created_at=START, **values)


def member(**more: object) -> AgentRecord:
    """Return a member of the graph."""
    return AgentRecord(tenant="acme", graph_id="imola", id="a", spawned_at=START, **more)


def test_a_graph_is_deserted_when_its_last_member_has_gone() -> None:
    """Not before its first has come, and only while it is active."""
    active, gone = graph(state="active", closed_at=None), member(left_at=START)
    assert is_deserted(active, [gone, gone])
    assert not is_deserted(active, [gone, member()])
    assert not is_deserted(active, [])
    assert not is_deserted(graph(), [gone])


def test_a_closed_graph_is_archived_when_it_has_been_idle_long_enough() -> None:
    """Its own retention counts before the settings; a catalog and an open graph stay."""
    on_the_day = START + timedelta(days=90)
    assert is_due_for_archive(graph(), on_the_day, POLICY)
    assert not is_due_for_archive(graph(), on_the_day - timedelta(seconds=1), POLICY)
    week = graph(retention=Retention(archive_after_days=7))
    assert is_due_for_archive(week, START + timedelta(days=7), POLICY)
    year = graph(retention=Retention(archive_after_days=365))
    assert not is_due_for_archive(year, on_the_day, POLICY)
    for other in (graph(state="active", closed_at=None), graph(state="archived"), graph(CATALOG)):
        assert not is_due_for_archive(other, on_the_day, POLICY)


def test_silence_is_counted_back_from_now() -> None:
    """A member must have shown a sign of life after that moment."""
    assert POLICY.silent_since(START) == START - timedelta(minutes=5)
