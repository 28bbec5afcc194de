"""Who is asking: what a token says of its bearer. Nothing that is asked can widen it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from tiers.errors import PolicyDenied
from tiers.records import ALL_TOPICS, AgentRecord

from ..wire import NEEDS, Need

Role: TypeAlias = Literal["agent", "reader", "operator"]
"""``agent`` acts as the agents that its token allows; ``reader`` reads, and writes nothing;
``operator`` does everything."""

MAY: Mapping[Role, tuple[Need, ...]] = {
    "agent": ("see", "act"),
    "reader": ("see", "read"),
    "operator": ("see", "act", "read", "operate"),
}

KEPT = ("topics", "user_id", "role", "sources", "denied_topics", "denied_sources", "budget")
"""What a member is by its operator's spawn: nobody else changes it."""

ONLY_BY_OPERATORS = ("sources", "denied_topics", "denied_sources", "budget")
"""What nobody else says at all."""


def roles_table() -> tuple[tuple[str, ...], ...]:
    """Return what each role may do, row by row: in words, then yes or no for each role."""
    roles: tuple[Role, ...] = get_args(Role)
    rows = ((words, *("yes" if need in MAY[one] else "no" for one in roles)) for need, words in
            NEEDS.items())  # fmt: skip
    return (("a token may", *roles), *rows)


@dataclass(frozen=True)
class Caller:
    """Who is asking.

    Attributes:
        name: What audit and logs call it.
        role: What it may do.
        graph_id: The only graph that it reaches; every graph of the tenant if ``None``.
        agent_id: The only agent as whom it acts; every agent if ``None``.
        user_id: The only user for whom its agents work; any if ``None``.
        topics: The most that its agents may hold; ``("*",)`` sets no limit.
        token_id: The token of this server by which it came; ``None`` if it needed none, or an
            identity provider vouches for it.
    """

    name: str
    role: Role
    graph_id: str | None = None
    agent_id: str | None = None
    user_id: str | None = None
    topics: tuple[str, ...] = (ALL_TOPICS,)
    token_id: str | None = field(default=None, compare=False)

    @property
    def is_limited(self) -> bool:
        """Whether what its agents may hold is limited: not every topic, or one user."""
        return ALL_TOPICS not in self.topics or self.user_id is not None

    @property
    def only_looks(self) -> bool:
        """Whether it writes nothing: no sign of life of the agent either that it looks through."""
        return "act" not in MAY[self.role]

    def check(self, need: Need, operation: str, graph_id: str | None, agent_id: str | None) -> None:
        """Refuse what the token does not cover; nothing was read.

        Raises:
            PolicyDenied: It does not.
        """
        held = f"a token for {self.role}"
        if need not in MAY[self.role]:
            raise PolicyDenied(self.name, operation, (need,), held)
        if self.graph_id is not None and graph_id != self.graph_id:
            missing = "every graph" if graph_id is None else f"graph {graph_id}"
            raise PolicyDenied(self.name, operation, (missing,), held)
        if self.agent_id is not None and agent_id != self.agent_id:
            missing = "every agent" if agent_id is None else f"agent {agent_id}"
            raise PolicyDenied(self.name, operation, (missing,), held)
        if need in ("read", "operate") and self.is_limited:
            # A graph as a whole holds records of every user and topic.
            limits = f"{held}, of one user or some topics, through agents alone"
            raise PolicyDenied(self.name, operation, ("every user and topic",), limits)

    def may(self, need: Need, graph_id: str | None, agent_id: str | None = None) -> bool:
        """Return whether ``check`` lets it through: what a page offers, nothing is asked yet."""
        try:
            self.check(need, "be offered", graph_id, agent_id)
        except PolicyDenied:
            return False
        return True

    def check_member(self, operation: str, topics: Sequence[str], user_id: str | None) -> None:
        """Refuse an agent that holds more, or works for somebody else, than the token allows.

        Args:
            operation: What is to be done as that agent, or to it.
            topics: What it holds, or is to hold; as records spell topics.
            user_id: For whom it works, or is to work.

        Raises:
            PolicyDenied: It does.
        """
        if ALL_TOPICS not in self.topics:
            beyond = tuple(topic for topic in topics if topic not in self.topics)
            if beyond:
                held = f"the topics {', '.join(self.topics) or 'none'}"
                raise PolicyDenied(self.name, operation, beyond, held)
        if self.user_id is not None and user_id != self.user_id:
            held = f"a token for the user {self.user_id}"
            missing = "agents of nobody" if user_id is None else f"user {user_id}"
            raise PolicyDenied(self.name, operation, (missing,), held)

    def spawned(self, asked: Mapping[str, Any], former: AgentRecord | None) -> dict[str, Any]:
        """Return with what an agent is spawned when this caller asks for it.

        An operator says what an agent is. Who else spawns it again gets it back as it was, and
        brings a new one in with no more than the token states: a token without topics, or without
        a user, has none to give.

        Args:
            asked: What was said, by argument; what is empty was not said.
            former: The member, if it is or was one.

        Raises:
            PolicyDenied: More, or something else, was asked for.
        """
        action = "agent.spawn"
        if former is not None:
            self.check_member(action, former.topics, former.user_id)
        if self.role == "operator":
            self.check_member(action, asked["topics"], asked["user_id"])
            return dict(asked)
        given = {name: value for name, value in asked.items() if value not in (None, (), "", {})}
        held = f"a token for {self.role}, which changes no agent"
        beyond = tuple(name for name in ONLY_BY_OPERATORS if asked.get(name) is not None)
        if beyond:
            raise PolicyDenied(self.name, action, beyond, held)
        if former is None:
            return {**given, **self._brought_in(action, given)}
        kept = self.back(former)
        other = tuple(name for name in KEPT if name in given and given[name] != kept[name])
        if other:
            raise PolicyDenied(self.name, action, tuple(f"another {name}" for name in other), held)
        own = {name: given[name] for name in _OWN if given.get(name, "off") != "off"}
        return {**kept, **own}

    def back(self, former: AgentRecord) -> dict[str, Any]:
        """Return with what a member is spawned to come back as it was.

        Raises:
            PolicyDenied: It is more than the token allows.
        """
        self.check_member("agent.spawn", former.topics, former.user_id)
        return {name: getattr(former, name) for name in (*KEPT, *_OWN)}

    def _brought_in(self, action: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return topics and user of a new agent."""
        most = () if ALL_TOPICS in self.topics else self.topics
        topics, user_id = given.get("topics", most), given.get("user_id", self.user_id)
        beyond = tuple(topic for topic in topics if topic not in most)
        if beyond:
            held = f"a token with the topics {', '.join(most) or 'none'}; an operator spawns more"
            raise PolicyDenied(self.name, action, beyond, held)
        if user_id != self.user_id:
            held = f"a token with the user {self.user_id or 'nobody'}; an operator spawns others"
            raise PolicyDenied(self.name, action, (f"user {user_id}",), held)
        return {"topics": topics, "user_id": user_id}


_OWN = ("prompts", "inject", "model_window_tokens")
"""What an agent may say of itself: no right follows from it."""

LOCAL = Caller("local", "operator")
"""Who asks a service that needs no token: it listens on loopback alone."""
