"""A page of the audit feed, of a graph, the catalog or the tenant."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field

from tiers.records import AuditFilter

from .operation import Asked
from .points import Count, Time

EVENTS_MAX = 10_000
KINDS_MAX = 64


class AuditAsked(Asked):
    """A page of the feed, and the fields of ``AuditFilter`` beside it."""

    after: Count = 0
    limit: Annotated[int, Field(ge=1, le=EVENTS_MAX)] = 1000
    kinds: Annotated[tuple[str, ...], Field(max_length=KINDS_MAX)] = ()
    graph_id: str | None = None
    agent_id: str | None = None
    record_id: str | None = None
    since: Time | None = None
    until: Time | None = None
    before: Annotated[Count, Field(ge=1)] | None = None

    @classmethod
    def of(cls, *, only: AuditFilter | None = None, **given: Any) -> Self:  # noqa: ANN401
        """Return what is asked for one page of the events that ``only`` describes."""
        wanted = {} if only is None else only.model_dump(exclude_unset=True)
        return cls(**given, **wanted)

    @property
    def said(self) -> dict[str, Any]:
        """The arguments of ``audit``."""
        only = AuditFilter(**self.model_dump(exclude={"after", "limit"}))
        return {"after": self.after, "limit": self.limit, "only": only}
