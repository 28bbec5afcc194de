"""Step 2: what an agent may touch, decided before anything is read. Pure.

A topic or source must be held and must not be denied; what is denied stays so whatever is held.
"""

from __future__ import annotations

from collections.abc import Sequence

from tiers.errors import PolicyDenied, UsageError
from tiers.records import ALL_TOPICS, AgentRecord, Ancestor, Scope

from ..mesh import Access

_NOTHING = "none"

EVERYBODY = Access()
"""Of a source that sets no limits of its own."""


def scope_of(agent: AgentRecord, lineage: Sequence[Ancestor] = ()) -> Scope:
    """Return what an agent may see: the only place where a member becomes a scope."""
    return Scope.known(
        {
            "tenant": agent.tenant,
            "graph_id": agent.graph_id,
            "agent_id": agent.id,
            "user_id": agent.user_id,
            "topics": agent.topics,
            "denied": agent.denied_topics,
            "lineage": tuple(lineage),
        }
    )


def topics_for(agent: AgentRecord, asked: Sequence[str] | None, action: str) -> tuple[str, ...]:
    """Return the topics a record written by ``agent`` carries.

    Args:
        agent: The writer.
        asked: Normalised topics named by the caller; ``None`` takes the agent's own, so that what
            an agent writes is not seen beyond its topics by accident. An agent of all topics
            then writes an untopiced record.
        action: Named in a denial.

    Raises:
        PolicyDenied: A topic is not the agent's, or is denied to it.
        UsageError: A record may not carry the topic of all topics.
    """
    if asked is None:
        if ALL_TOPICS in agent.topics:
            return ()
        return tuple(topic for topic in agent.topics if topic not in agent.denied_topics)
    if ALL_TOPICS in asked:
        raise UsageError("topics", ALL_TOPICS, "names of topics; only an agent holds all of them")
    refused = _refused("topic", asked, agent.topics, agent.denied_topics)
    if refused:
        held = _refusal("topics", agent.topics, agent.denied_topics)
        raise PolicyDenied(agent.id, action, refused, held)
    return tuple(asked)


def may_ask(agent: AgentRecord, source: str, access: Access = EVERYBODY) -> bool:
    """Whether the agent may read from the mesh source, by its own record and by the source's."""
    return not _refused_source(agent, source, access)


def check_source(agent: AgentRecord, source: str, access: Access = EVERYBODY) -> None:
    """Raise ``PolicyDenied`` unless the agent may read from the mesh source.

    Args:
        agent: Who asks.
        source: Its name.
        access: Whom the source lets in, of those who hold its name.
    """
    refused = _refused_source(agent, source, access)
    if refused:
        held = _refusal("sources", agent.sources, agent.denied_sources)
        raise PolicyDenied(agent.id, "fetch", refused, held)


def _refused_source(agent: AgentRecord, source: str, access: Access) -> tuple[str, ...]:
    """Return what an agent lacks for a source, in words."""
    refused = _refused("source", [source.casefold()], agent.sources, agent.denied_sources)
    return refused or tuple(f"for source {source}: {one}" for one in access.missing(agent))


def _refused(
    what: str, asked: Sequence[str], held: Sequence[str], denied: Sequence[str]
) -> tuple[str, ...]:
    """Return what of the asked is not held or is denied, in words, sorted."""
    missing = [] if ALL_TOPICS in held else [f"{what} {name}" for name in asked if name not in held]
    if ALL_TOPICS in denied:
        forbidden = [f"{what} {name} (denied)" for name in asked]
    else:
        forbidden = [f"{what} {name} (denied)" for name in asked if name in denied]
    return tuple(sorted({*missing, *forbidden}))


def _refusal(what: str, names: Sequence[str], denied: Sequence[str]) -> str:
    held = f"{what} {', '.join(names) if names else _NOTHING}"
    return f"{held}, except {', '.join(denied)}" if denied else held
