"""One operation as every surface knows it: name, address, what is asked and what is answered.

REST makes a route of it, the remote client a call, and neither says again what the other knows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter

Verb: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Need: TypeAlias = Literal["act", "read", "operate"]
"""Who may: the agent that the path names; besides, who may read whole graphs; who runs them."""

_NAME_IN_PATH = re.compile(r"\{(\w+)\}")


class Asked(BaseModel):
    """Base of every request: frozen, and unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Nothing(Asked):
    """What is asked by an operation that needs no more than its path."""


A = TypeVar("A", bound=Asked)
R = TypeVar("R")


@dataclass(frozen=True)
class Operation(Generic[A, R]):
    """One operation.

    Attributes:
        name: ``agent.recall``: what metrics, logs and the OpenAPI document call it.
        verb: GET and DELETE carry what is asked in the query string, the others as JSON.
        path: With the names of graph, agent and so on in braces.
        asks: What is asked.
        answers: What is answered: reads and writes JSON.
        needs: Who may.
        summary: One sentence for the OpenAPI document.
        repeats: Whether asking twice does no more than asking once.
    """

    name: str
    verb: Verb
    path: str
    asks: type[A]
    answers: TypeAdapter[R]
    needs: Need
    summary: str
    repeats: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the path, in order."""
        return tuple(_NAME_IN_PATH.findall(self.path))

    @property
    def has_body(self) -> bool:
        """Whether what is asked comes as JSON."""
        return self.verb in ("POST", "PUT", "PATCH")
