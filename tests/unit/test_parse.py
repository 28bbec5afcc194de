"""Steps 1 and 2 of a turn: intent, entities, urgency; topics and sources."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.records import START

from ezra.rights.policy import check_source, scope_of, topics_for
from ezra.turn.parse import ENTITIES_MAX, parse
from tiers.errors import PolicyDenied, UsageError
from tiers.records import AgentRecord, Ancestor, Scope

# Step 1: intent, entities, urgency.


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("How long do the mediums last?", "question"),
        ("when did we pit", "question"),
        ("Good morning. What is the plan", "question"),
        ("Please box this lap.", "request"),
        ("Remember the wing setting", "request"),
        ("The tyres are gone.", "report"),
        ("", "report"),
    ],
)
def test_intent(text: str, intent: str) -> None:
    """Questions end in a question mark or begin with a question word."""
    assert parse(text).intent == intent


def test_entities_are_names_and_numbers_in_order_once() -> None:
    """A capital at the start of a sentence makes no name of a stop word."""
    found = parse("Did Ada Brandt change to 7.5 bar? The team told Ada Brandt on lap 18.")
    assert found.entities == ("Ada Brandt", "7.5", "18")


@pytest.mark.parametrize("text", ["Box now, urgent", "Stop!!", "ASAP please"])
def test_urgency(text: str) -> None:
    """Words that press for time."""
    assert parse(text).urgent
    assert not parse("No hurry.").urgent


@given(st.text(max_size=2000))
def test_any_text_is_parsed(text: str) -> None:
    """No text breaks the first step, and entities are bounded."""
    assert len(parse(text).entities) <= ENTITIES_MAX


# Step 2: topics and sources are decided before anything is read.


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
