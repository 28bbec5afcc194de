"""What is known of a record before anybody asks: its age, its use, where it belongs. Pure.

Each is a factor on the score, so none of them finds anything by itself. Decay is about relevance:
whether something is still true is for supersession and validity to say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias

from tiers.learning import outcome_factor
from tiers.records import Hit, Kind, Scope

from .pool import FORMER, Candidate

ScopeClass: TypeAlias = Literal["session", "tenant", "user", "agent"]
"""Where a record belongs: this conversation, everybody, one user, or one agent."""

DECAY_OFFSET_DAYS = 180.0
DECAY_HALF_DAYS = 1_825.0
"""Nothing fades in the first half year, and half is left five years after that (Atlas)."""

USE_BOOST = 0.2
"""What ten uses add, about (Atlas: ``1 + 0.2 · log10(1 + uses)``)."""

INHERITED_FACTOR = 0.85
"""What another graph's record counts beside the own ones, so that these win near-ties.

The flat prior that Elastic's Atlas gives its catalog.
"""

NOT_VALID_FACTOR = 0.5
"""What a fact counts whose time is over, or has not come."""

FORMER_FACTOR = 0.95
"""What a fact counts that held in the past that is asked about: of two that are as near, what
holds comes first, unless the question says of which time it asks."""

CLASS_WEIGHTS: Mapping[ScopeClass, float] = MappingProxyType(
    {"session": 1.3, "user": 1.1, "agent": 1.0, "tenant": 1.0}
)
"""Martha's defaults."""

AGELESS: frozenset[Kind] = frozenset(("rule", "belief", "document"))
"""Kinds that do not fade: a procedure is not better for having been tried lately."""


@dataclass(frozen=True)
class Priors:
    """How age, use and scope class count.

    Attributes:
        offset_days: For so long nothing fades.
        half_days: So long after that, half of the score is left.
        class_weights: What each scope class counts; 0 leaves it out.
    """

    offset_days: float = DECAY_OFFSET_DAYS
    half_days: float = DECAY_HALF_DAYS
    class_weights: Mapping[ScopeClass, float] = field(default_factory=lambda: CLASS_WEIGHTS)

    def naming(self, scope_class: ScopeClass) -> Priors:
        """Return the same for a question that names a class: what it asks for is not suppressed."""
        if self.class_weights[scope_class] > 0:
            return self
        return replace(self, class_weights={**self.class_weights, scope_class: 1.0})


DEFAULT_PRIORS = Priors()


class Owned(Protocol):
    """What says whose it is and who wrote it."""

    @property
    def user_id(self) -> str | None:
        """Whose it is; ``None`` for everybody's."""

    @property
    def agent_id(self) -> str:
        """Who wrote it."""


def decay(age_days: float, priors: Priors = DEFAULT_PRIORS) -> float:
    """Return what is left of a score after ``age_days``: 1 down to 0.

    ``exp(-ln 2 · (max(0, age - offset) / half)²)``: flat at first, then a half of a Gaussian
    (Atlas). An age below 0, of what has not happened yet, counts as 0.
    """
    faded = max(0.0, age_days - priors.offset_days) / priors.half_days
    if not faded:
        return 1.0
    return math.exp(-math.log(2) * faded * faded)


def half_life_decay(age_days: float, half_life_days: float) -> float:
    """Return what is left of a score: half after a half-life, a third after two of them.

    ``1 / (1 + age / half-life)``: what is old stays to be found where nothing newer is as good.
    An exponential of the same half-life would leave a thousandth after ten.
    """
    return 1 / (1 + max(0.0, age_days) / half_life_days)


def use_boost(uses: int) -> float:
    """Return the factor of a fact that has reached so many contexts: ``1 + 0.2 · log10(1 + n)``."""
    return 1 + USE_BOOST * math.log10(1 + max(0, uses))


def age_from(candidate: Candidate, now: datetime) -> datetime:
    """Return the moment from which a record's age counts.

    What was said, when it was said; a fact, when it was used last, and recorded if it never was.
    Where it has been used since ``now``, it is not known when it had been used by then.
    """
    hit = candidate.hit
    if hit is None or candidate.kind != "fact":
        return candidate.happened_at
    if hit.last_used_at is None or is_used_since(hit, now):
        return hit.recorded_at
    return hit.last_used_at


def is_used_since(hit: Hit, moment: datetime) -> bool:
    """Whether a fact has been used after a moment, so that its uses by then are not known."""
    return hit.last_used_at is not None and hit.last_used_at > moment


def classes_of(candidate: Candidate, scope: Scope) -> tuple[ScopeClass, ...]:
    """Return where a record belongs, seen from a scope.

    Facts and rules that the asking agent wrote are the agent's, those of its user the user's, and
    some are both; what is inherited, and documents, are the tenant's; the rest is the session's.
    """
    if candidate.graph_id != scope.graph_id or candidate.kind == "document":
        return ("tenant",)
    if candidate.kind not in ("fact", "rule"):
        return ("session",)
    return classes_of_statement(candidate, scope)


def classes_of_statement(owned: Owned, scope: Scope) -> tuple[ScopeClass, ...]:
    """Return where a fact or rule of the scope's own graph belongs."""
    fitting: list[ScopeClass] = []
    if scope.user_id is not None and owned.user_id == scope.user_id:
        fitting.append("user")
    if scope.agent_id is not None and owned.agent_id == scope.agent_id:
        fitting.append("agent")
    return tuple(fitting) or ("session",)


def class_of(candidate: Candidate, scope: Scope, weights: Mapping[ScopeClass, float]) -> ScopeClass:
    """Return where a record belongs; of two classes that fit, the weightier."""
    fitting = classes_of(candidate, scope)
    return fitting[0] if len(fitting) == 1 else max(fitting, key=lambda one: weights[one])


def _class_weight(candidate: Candidate, scope: Scope, weights: Mapping[ScopeClass, float]) -> float:
    """Return what a record's class counts; one's own statement no less than a colleague's.

    What others stated in this graph is the session's. A class that is left out stays so.
    """
    own = weights[class_of(candidate, scope, weights)]
    is_here = candidate.graph_id == scope.graph_id and candidate.kind == "fact"
    return max(own, weights["session"]) if own and is_here else own


STATED_FACTOR = 1.1
"""A fact says in a sentence of its own what turns and beliefs may only mention."""


def factors(
    candidate: Candidate,
    scope: Scope,
    present: datetime,
    now: datetime,
    priors: Priors,
    *,
    half_life_days: float | None = None,
) -> dict[str, float]:
    """Return the factors on a candidate's score by name; those that change nothing are left out.

    Args:
        candidate: What was found.
        scope: Who asks.
        present: From when ages count: the newest of the candidates, or ``now`` if that is before.
            What rests for a year has not grown older beside what rested with it.
        now: When it is asked, or the moment that is asked about; facts not valid then count
            ``NOT_VALID_FACTOR``. How often a fact that was used since had been used by then is not
            known, and what has ended since was valid: neither changes anything. What held in the
            past that is asked about counts ``FORMER_FACTOR``.
        priors: How age, use and class count.
        half_life_days: What the asker wants instead of the decay of ``priors``.
    """
    found = {"class": _class_weight(candidate, scope, priors.class_weights)}
    if candidate.kind not in AGELESS and half_life_days is not None:
        age = (present - candidate.happened_at).total_seconds() / 86_400
        found["decay"] = half_life_decay(age, half_life_days)
    elif candidate.kind not in AGELESS:
        age = (present - age_from(candidate, now)).total_seconds() / 86_400
        found["decay"] = decay(age, priors)
    if candidate.graph_id != scope.graph_id:
        found["inherited"] = INHERITED_FACTOR
    hit = candidate.hit
    if hit is not None and candidate.kind == "fact":
        found["stated"] = STATED_FACTOR
        is_former = FORMER in candidate.ranks
        was_valid = is_former or "ended" in candidate.ranks
        over = hit.valid_to is not None and hit.valid_to <= now and not was_valid
        if is_former:
            found["former"] = FORMER_FACTOR
        if over or (hit.valid_from is not None and hit.valid_from > now):
            found["validity"] = NOT_VALID_FACTOR
        if not is_used_since(hit, now):
            found["uses"] = use_boost(hit.uses)
    if hit is not None and hit.successes is not None and hit.failures is not None:
        found["outcomes"] = outcome_factor(hit.successes, hit.failures)
    return {name: factor for name, factor in found.items() if factor != 1}
