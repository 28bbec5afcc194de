"""What holds for a card before it is stored: whom it is for, who would see it, its id. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from tiers.board import EVERYBODY, TAGS_MAX, Card
from tiers.errors import UsageError
from tiers.history.visibility import sees
from tiers.ids import derived_id
from tiers.records import UNRECORDED, AgentRecord, Scope

from ..checks import check_text
from ..operations import Id
from ..rights.policy import scope_of
from .tasks import begun_id


def _several(said: object) -> object:
    """Return what is to be a list as one: a model leaves the brackets of a single name out."""
    return (said,) if isinstance(said, str) and said else said


SEVERAL = BeforeValidator(_several)
"""Lets a single name stand for a list of it."""
Files: TypeAlias = Annotated[tuple[Id, ...], Field(max_length=100), SEVERAL]
MessageIds: TypeAlias = Annotated[tuple[Id, ...], Field(min_length=1, max_length=100), SEVERAL]
Tags: TypeAlias = Annotated[tuple[Id, ...], Field(max_length=TAGS_MAX)]


def aside(scope: Scope, card: Card, log: Card | None) -> tuple[Scope, Card, Card | None]:
    """Return a card under an id that follows from its writer and the one it asked for."""
    own = own_id(scope, card.id)
    thread = own if card.thread == card.id else card.thread
    begun = None if log is None else log.model_copy(update={"thread": own, "id": begun_id(own)})
    return scope, card.model_copy(update={"id": own, "thread": thread}), begun


def own_id(scope: Scope, asked: str) -> str:
    """Return the id of what an agent writes under an id that is hidden from it; repeats find it."""
    writer = (scope.tenant, scope.graph_id, scope.agent_id or "", scope.user_id or "")
    return derived_id(UNRECORDED, "card", *writer, *scope.topics, asked)


def recipients_of(to: str | Sequence[str]) -> tuple[str, ...]:
    """Return whom a message is for, each once; of one for everybody, nobody.

    Raises:
        UsageError: Nobody is named, or everybody beside others.
    """
    names = (to,) if isinstance(to, str) else tuple(to)
    if not names:
        raise UsageError("to", to, f"names of agents, or {EVERYBODY!r} for everybody")
    if EVERYBODY in names and len(set(names)) > 1:
        raise UsageError("to", EVERYBODY, "everybody, or names of agents, not both")
    return () if EVERYBODY in names else tuple(dict.fromkeys(names))


def not_blank(field: str, text: str) -> str:
    """Return what must say something, and refuse what is blank.

    Raises:
        UsageError: It is.
    """
    check_text(field, text)
    return text


def reaches(card: Card, member: AgentRecord) -> bool:
    """Whether a member sees a card by its topics and its user."""
    return sees(scope_of(member), card)
