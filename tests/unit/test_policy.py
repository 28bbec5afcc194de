"""Step 2: topics and sources are decided before anything is read."""

from __future__ import annotations

import pytest
from support.records import START

from ezra.rights.policy import check_source, scope_of, topics_for
from tiers.errors import PolicyDenied, UsageError
from tiers.records import AgentRecord, Ancestor, Scope


def agent(**more: object) -> AgentRecord:
    """Return an agent of the graph."""
    values: dict[str, object] = {"tenant": "acme", "graph_id": "g", "id": "a", **more}
    return AgentRecord(spawned_at=START, **values)


def test_records_carry_the_writers_topics_unless_it_names_some() -> None:
    """What an agent writes is not seen beyond its topics by accident."""
    writer = agent(topics={"tyres", "fuel"})
    assert topics_for(writer, None, "speak") == ("fuel", "tyres")
    assert topics_for(writer, ("fuel",), "speak") == ("fuel",)
    assert topics_for(writer, (), "speak") == ()


def test_a_topic_that_is_not_held_is_denied_by_name() -> None:
    """The denial says what was missing and what is held."""
    with pytest.raises(PolicyDenied, match="missing topic engine; it holds topics tyres") as denial:
        topics_for(agent(topics={"tyres"}), ("engine", "tyres"), "speak")
    assert denial.value.missing == ("topic engine",)
    with pytest.raises(PolicyDenied, match="it holds topics none"):
        topics_for(agent(), ("engine",), "speak")


def test_an_agent_of_all_topics_writes_any_topic_but_never_the_wildcard() -> None:
    """The wildcard belongs to agents; a record that carried it would be seen by nobody else."""
    free = agent(topics={"*"})
    assert topics_for(free, None, "speak") == ()
    assert topics_for(free, ("engine",), "speak") == ("engine",)
    with pytest.raises(UsageError, match="topics"):
        topics_for(free, ("*",), "speak")


def test_sources_are_checked_like_topics() -> None:
    """An agent asks all sources unless some are named."""
    check_source(agent(), "timing")
    check_source(agent(sources={"timing"}), "Timing")
    with pytest.raises(PolicyDenied, match="missing source weather"):
        check_source(agent(sources={"timing"}), "weather")


def test_what_is_denied_is_denied_whatever_is_held() -> None:
    """Deny wins over allow, over the wildcard, and over the agent's own defaults."""
    writer = agent(topics={"tyres", "fuel"}, denied_topics={"fuel"})
    assert topics_for(writer, None, "speak") == ("tyres",)
    with pytest.raises(PolicyDenied, match=r"missing topic fuel \(denied\); .* except fuel"):
        topics_for(writer, ("fuel",), "speak")
    with pytest.raises(PolicyDenied) as denial:
        topics_for(agent(topics={"*"}, denied_topics={"fuel"}), ("fuel", "tyres"), "speak")
    assert denial.value.missing == ("topic fuel (denied)",)
    with pytest.raises(PolicyDenied, match=r"source timing \(denied\)"):
        check_source(agent(denied_sources={"timing"}), "Timing")
    with pytest.raises(PolicyDenied, match=r"source weather \(denied\)"):
        check_source(agent(denied_sources={"*"}), "weather")


def test_a_scope_is_what_the_members_record_says() -> None:
    """Nothing of it comes from anywhere else."""
    member = agent(topics={"tyres"}, denied_topics={"fuel"}, user_id="ada")
    above = Ancestor(graph_id="h", path=("h",))
    assert scope_of(member, [above]) == Scope(
        tenant="acme",
        graph_id="g",
        agent_id="a",
        user_id="ada",
        topics=("tyres",),
        denied=("fuel",),
        lineage=(above,),
    )
