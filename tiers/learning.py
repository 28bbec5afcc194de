"""The ports of learning: comparing facts, keeping count of playbooks, and how far was read.

The rules of ``tiers.ports`` hold. Two facts are of one identity bucket when they are of one graph
and user, equally private (and then of one writer), and whoever may see the old one may see the
new one: the old one's topics are among the new one's, or the new one has none.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

from .records import Fact, Moment, Record, Rule, Scope, Source, Superseded, WorkDraft
from .upkeep import Page

OUTCOMES_DENSE = 3
"""So many outcomes a rule needs before they count in its ranking: fewer are chance."""

OUTCOMES_SPAN = 0.25
"""What a rule gains that always works, or loses that never does, at most: a quarter of its score.

So one that has failed stays to be found, and a proven one passes what fits a little better.
"""

DENIAL_COSTS = 0.1
"""Confidence that a denied fact loses (Atlas: the same)."""


TWINS_MAX = 1_000
"""So many facts that say the same are forgotten together."""


def outcome_factor(successes: int, failures: int) -> float:
    """Return what a rule's outcomes make of its score: 1 below ``OUTCOMES_DENSE`` of them.

    ``1 + OUTCOMES_SPAN * (2 * rate - 1)`` with ``rate = (successes + 1) / (outcomes + 2)``, the
    mean of a Beta distribution that began as Beta(1, 1) (Laplace's rule of succession, 1774): three
    confirmations count for less than thirty, and as many of each for nothing.
    """
    outcomes = successes + failures
    if outcomes < OUTCOMES_DENSE:
        return 1.0
    rate = (successes + 1) / (outcomes + 2)
    return 1 + OUTCOMES_SPAN * (2 * rate - 1)


def fact_key(fact: Fact) -> tuple[str, str] | None:
    """Return the address of a keyed fact, subject and predicate in one spelling; else ``None``.

    Case, compatibility forms, underscores and runs of white space make no difference.
    """
    if fact.subject is None or fact.predicate is None:
        return None
    subject, predicate = spelled(fact.subject), spelled(fact.predicate)
    return (subject, predicate) if subject and predicate else None


def spelled(text: str) -> str:
    """Return a name in the one spelling in which names are compared; empty if it has no letters.

    Case, compatibility forms, underscores and runs of white space make no difference.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("_", " ").split())


def is_live(fact: Fact) -> bool:
    """Whether a fact is held to be true: not superseded, forgotten, retired or redacted."""
    ends = (fact.superseded_by, fact.forgotten_at, fact.retired_at, fact.redacted_at)
    return all(one is None for one in ends)


def may_give_way(old: Fact, new: Fact) -> bool:
    """Whether the two are of one identity bucket, so that ``old`` may give way to ``new``."""
    same_owner = (old.tenant, old.graph_id, old.user_id, old.private) == (
        new.tenant,
        new.graph_id,
        new.user_id,
        new.private,
    )
    if not same_owner or (old.private and old.agent_id != new.agent_id):
        return False
    return not new.topics or (bool(old.topics) and set(old.topics) <= set(new.topics))


SaidOrder: TypeAlias = tuple[datetime, int, int, datetime, str]


def said_order(fact: Fact) -> SaidOrder:
    """Return what facts are ordered by, to tell which of two statements is the later one.

    When it was said, the turn and the place in it; only then when it was recorded. Ids order
    nothing but what was said at one place.
    """
    said_at = fact.said_at or fact.recorded_at
    return (said_at, fact.said_seq, fact.said_place, fact.recorded_at, fact.id)


def said_again(fact: Fact, later: Fact) -> Fact | None:
    """Return a fact with the moment at which ``later`` said the same; ``None`` if that is no later.

    What was said again holds from then on: what was said in between does not take its place.
    """
    if said_order(later)[:3] <= said_order(fact)[:3]:
        return None
    said_at = later.said_at or later.recorded_at
    place = {"said_seq": later.said_seq, "said_place": later.said_place}
    return fact.model_copy(update={"said_at": said_at, **place})


INDEPENDENT: tuple[Source, ...] = ("user", "tool")
"""Whose words bear out what an agent wrote."""


def vouched(fact: Fact, other: Fact) -> Fact:
    """Return a fact that an agent wrote as one whose words bear it out, if ``other`` has them.

    ``other`` says the same. What it rests on becomes a source of the fact as well.
    """
    if fact.source != "agent" or other.source not in INDEPENDENT:
        return fact
    sources = tuple(dict.fromkeys((*fact.source_ids, *other.source_ids)))
    return fact.model_copy(update={"source": other.source, "source_ids": sources})


class Verdict(Record):
    """That one fact gives way to another.

    Attributes:
        fact_id: The one that gives way.
        by: The one that stands.
        how: ``natural`` (it was true), ``denial`` (it never was) or ``duplicate``.
        valid_to: When it stopped being true, if somebody said so.
    """

    fact_id: str
    by: str
    how: Superseded
    valid_to: Moment | None = None


class FactReview(Protocol):
    """Facts as the learning agent compares them; asked by the runtime, for a whole graph."""

    async def live_facts(self, scope: Scope, cursor: str, limit: int) -> Page[Fact]:
        """Return every live fact of the graph, of any agent, user and topic, by id."""

    async def keyed(self, scope: Scope, fact: Fact, limit: int) -> tuple[Fact, ...]:
        """Return the other live facts at the same ``fact_key`` that are of the fact's user.

        And of its privacy; whether one may give way is the reader's to ask. Oldest first; none
        for a fact without a key.
        """

    async def unjudged(self, scope: Scope, limit: int) -> tuple[Fact, ...]:
        """Return live facts without ``judged_at``, what was said first (``said_order``) first."""

    async def settle(
        self,
        scope: Scope,
        fact_id: str,
        verdicts: Sequence[Verdict],
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> bool:
        """Stamp a fact as judged, and let facts give way to others, in one step.

        Each verdict sets ``superseded_by``, ``superseded_at``, ``superseded_as`` and, where it is
        given and none is there, ``valid_to``; a denial also takes ``DENIAL_COSTS`` of the
        confidence, down to 0, and what stands for a duplicate was ``said_again``. One audit event
        ``superseded`` (``deduplicated`` for a duplicate) per verdict, with both ids and no
        content. A core fact that gives way ends its core span. ``False``, writing nothing, when
        the fact is not live or was judged before, or one that a verdict names is not live any
        more: the world has changed, look again.

        Raises:
            NotFound: A fact is not in the scope's own graph.
            UsageError: A verdict lets a fact give way to itself, or two are about one fact.
        """

    async def forget(
        self,
        scope: Scope,
        fact_id: str,
        reason: str,
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> bool:
        """Mark a visible fact of the own graph as forgotten, with an audit event ``forgotten``.

        It is in no search and no context any more, and the same statement may be stored again;
        retention destroys its content later. ``False``, writing nothing, when it is no live fact.
        """

    async def forget_all(
        self,
        scope: Scope,
        fact_ids: Sequence[str],
        reason: str,
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> tuple[str, ...]:
        """Mark facts as forgotten as ``forget`` does, in few steps; return which were live.

        Each has an audit event of its own. ``work`` is queued once, if there was any. Where it
        fails some may be forgotten; repeating it does the rest.
        """

    async def twins(self, scope: Scope, fact_id: str) -> tuple[str, ...]:
        """Return the other visible live facts of the own graph that say the same, by id.

        The same words, of the same user and privacy, whoever wrote them and under whatever
        topics; at most ``TWINS_MAX``. None of what is no visible fact.
        """

    async def ended(
        self, scope: Scope, superseded_before: datetime, forgotten_before: datetime, limit: int
    ) -> tuple[str, ...]:
        """Return ids of facts that gave way, or were forgotten, before a moment; oldest first.

        Redacted and retired ones are left out.
        """


class Playbooks(Protocol):
    """Rules as the learning agent keeps count of them."""

    async def rules(self, scope: Scope, ids: Sequence[str]) -> tuple[Rule, ...]:
        """Return the visible rules of the own graph among ``ids``, in the order asked."""

    async def record_outcome(
        self, scope: Scope, rule_id: str, cause: str, now: datetime, *, is_success: bool
    ) -> Rule | None:
        """Count one success or failure of a rule of the own graph; return it as it now is.

        The same cause never counts twice, whatever it says. Audit event ``playbook confirmed`` or
        ``playbook rejected`` with the rule and the cause. ``None`` when there is no such rule.
        """

    async def refine(
        self,
        scope: Scope,
        rule: Rule,
        steps: Sequence[str],
        source_ids: Sequence[str],
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> bool:
        """Give a rule new steps and the next version; the former steps stay readable.

        Compare-and-set on ``rule.version``: ``False``, writing nothing, when it has moved on or is
        not there. Sources are added. Audit event ``playbook refined``. The oldest former version
        goes when there are more than ``FORMER_VERSIONS_MAX``.
        """


class Watermarks(Protocol):
    """How far each reader has read; of the scope's agent, which must be set (``UsageError``)."""

    async def watermark(self, scope: Scope, name: str) -> int:
        """Return the ``seq`` of the last turn that was read, 0 if none was."""

    async def advance(self, scope: Scope, name: str, seq: int, now: datetime) -> bool:
        """Move a watermark forwards; ``False``, writing nothing, when it is there or beyond."""
