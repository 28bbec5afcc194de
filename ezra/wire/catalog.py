"""What is put into the catalog of the tenant."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tiers.fields import TOPICS_MAX
from tiers.records import Fact, Rule

from .operation import Asked
from .points import LISTED


class CatalogRememberAsked(Asked):
    """As ``Catalog.remember``: text, the fields of a fact, or those of a rule."""

    what: str | Fact | Rule
    topics: Annotated[tuple[str, ...], Field(max_length=TOPICS_MAX), LISTED] | None = None
    supersedes: str | None = None
