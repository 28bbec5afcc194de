"""A rule, also called a playbook: what is to be done when something is asked, and how it did."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from .fields import Moment, Record, Text, Whole
from .owned import Owned

FORMER_VERSIONS_MAX = 32
_SAYS_WHEN = re.compile(r"(?:when(?:ever)?|if)\s+\S", re.IGNORECASE)


class FormerSteps(Record):
    """The steps that a playbook had before it was refined."""

    version: Whole = Field(ge=1)
    steps: tuple[Text, ...]
    until: Moment


class Rule(Owned):
    """A procedure, also called a playbook: when ``trigger`` matches what is asked, do the steps.

    Attributes:
        successes: Replies that followed it and were confirmed by the user.
        failures: Those that were rejected, or whose tools failed.
        version: Rises by one with each refinement; ``former`` has the steps before, oldest first.
        source_ids: The turns it was learnt from, and was refined by.
    """

    trigger: Annotated[Text, StringConstraints(min_length=1)]
    steps: tuple[Text, ...] = Field(min_length=1)
    successes: Whole = Field(default=0, ge=0)
    failures: Whole = Field(default=0, ge=0)
    version: Whole = Field(default=1, ge=1)
    former: tuple[FormerSteps, ...] = Field(default=(), max_length=FORMER_VERSIONS_MAX)
    source_ids: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The rule as one readable line per step, below its trigger."""
        said = self.trigger.strip()
        opening = said[:1].upper() + said[1:] if _SAYS_WHEN.match(said) else f"When {self.trigger}"
        return "\n".join([f"{opening}:", *(f"- {step}" for step in self.steps)])

    def former_at(self, moment: datetime) -> FormerSteps | None:
        """Return the steps that it had at a moment, of unknown ones the oldest; none: as now."""
        return next((one for one in self.former if moment < one.until), None)

    def at(self, moment: datetime) -> Rule:
        """Return the rule with the steps that it had at a moment; of unknown ones the oldest."""
        then = self.former_at(moment)
        if then is None:
            return self
        return self.model_copy(update={"steps": then.steps, "version": then.version})
