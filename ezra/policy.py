"""Step 2: what an agent may touch, decided before anything is read. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tiers.errors import PolicyDenied, UsageError
from tiers.records import ALL_TOPICS, AgentRecord

_NOTHING = "none"


def topics_for(agent: AgentRecord, asked: Sequence[str] | None, action: str) -> tuple[str, ...]:
    """Return the topics a record written by ``agent`` carries.

    Args:
        agent: The writer.
        asked: Normalised topics named by the caller; ``None`` takes the agent's own, so that what
            an agent writes is not seen beyond its topics by accident. An agent of all topics
            then writes an untopiced record.
        action: Named in a denial.

    Raises:
        PolicyDenied: A topic is not the agent's.
        UsageError: A record may not carry the topic of all topics.
    """
    if asked is None:
        return () if ALL_TOPICS in agent.topics else agent.topics
    if ALL_TOPICS in asked:
        raise UsageError("topics", ALL_TOPICS, "names of topics; only an agent holds all of them")
    missing = () if ALL_TOPICS in agent.topics else tuple(sorted(set(asked) - set(agent.topics)))
    if missing:
        raise PolicyDenied(
            agent.id,
            action,
            tuple(f"topic {topic}" for topic in missing),
            _held("topics", agent.topics),
        )
    return tuple(asked)


def check_source(agent: AgentRecord, source: str) -> None:
    """Raise ``PolicyDenied`` unless the agent may read from the mesh source."""
    if ALL_TOPICS not in agent.sources and source.casefold() not in agent.sources:
        held = _held("sources", agent.sources)
        raise PolicyDenied(agent.id, "fetch", (f"source {source}",), held)


def _held(what: str, names: Sequence[str]) -> str:
    return f"{what} {', '.join(names) if names else _NOTHING}"
