"""Questions to recall, of an agent, a whole graph or the catalog."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from tiers.records import Grain

from ..recall.request import KINDS_NAMED_MAX, KindNamed, ModeName, ScopeName
from .operation import Asked
from .points import LISTED, Count, Time


class RecallAsked(Asked):
    """A question to recall, and what narrows it."""

    query: str
    limit: Count = 10
    kinds: Annotated[tuple[KindNamed, ...], Field(max_length=KINDS_NAMED_MAX), LISTED] | None = None
    scope: ScopeName = "any"
    as_of: Time | None = None
    rerank: bool = True
    mode: ModeName = "hybrid"
    grains: Annotated[tuple[Grain, ...], LISTED] = ()
    min_days_ago: Count = 0
    max_days_ago: Count | None = None
    topics: Annotated[tuple[str, ...], LISTED] | None = None
    all_topics: Annotated[tuple[str, ...], LISTED] | None = None
    ids: Annotated[tuple[str, ...], LISTED] = ()
    token_budget: Count | None = None
    depth: Count = 1
    explain: bool = False
    receipt: bool = False
    half_life_days: float | None = None

    @property
    def writes(self) -> bool:
        """A receipt is kept."""
        return self.receipt


class CatalogRecallAsked(RecallAsked):
    """As ``Catalog.recall``; there is one scope class, the catalog."""

    scope: Literal["any"] = "any"

    @property
    def said(self) -> dict[str, Any]:
        """What was said, by keyword; there is one scope."""
        return {name: one for name, one in super().said.items() if name != "scope"}
