"""Step 2: topics and sources are decided before anything is read."""

from __future__ import annotations

import pytest
from support.records import START

from ezra.policy import check_source, topics_for
from tiers.errors import PolicyDenied, UsageError
from tiers.records import AgentRecord


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
