"""Who is asking: what a token says of its bearer. Nothing that is asked can widen it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tiers.errors import PolicyDenied
from tiers.records import ALL_TOPICS

from ..wire import Need

Role: TypeAlias = Literal["agent", "reader", "operator"]
"""``agent`` acts as the agents that its token allows; ``reader`` also reads whole graphs;
``operator`` does everything."""

_MAY: dict[Role, tuple[Need, ...]] = {
    "agent": ("act",),
    "reader": ("act", "read"),
    "operator": ("act", "read", "operate"),
}


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
    """

    name: str
    role: Role
    graph_id: str | None = None
    agent_id: str | None = None
    user_id: str | None = None
    topics: tuple[str, ...] = (ALL_TOPICS,)

    @property
    def is_limited(self) -> bool:
        """Whether what its agents may hold is limited: not every topic, or one user."""
        return ALL_TOPICS not in self.topics or self.user_id is not None

    def check(self, need: Need, operation: str, graph_id: str | None, agent_id: str | None) -> None:
        """Refuse what the token does not cover; nothing was read.

        Raises:
            PolicyDenied: It does not.
        """
        held = f"a token for {self.role}"
        if need not in _MAY[self.role]:
            raise PolicyDenied(self.name, operation, (need,), held)
        if self.graph_id is not None and graph_id != self.graph_id:
            raise PolicyDenied(self.name, operation, (f"graph {graph_id}",), held)
        if self.agent_id is not None and agent_id != self.agent_id:
            raise PolicyDenied(self.name, operation, (f"agent {agent_id}",), held)

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
            raise PolicyDenied(self.name, operation, (f"user {user_id}",), held)


LOCAL = Caller("local", "operator")
"""Who asks a service that needs no token: it listens on loopback alone."""
