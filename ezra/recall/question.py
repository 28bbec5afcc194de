"""What one search knows so far, and what the engines are asked of the own graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import get_args

from tiers.recollection import WordStatistics
from tiers.records import Kind, Scope, SearchQuery, Turn

from ..checks import checked
from ..ranking.cues import Cues
from ..ranking.pool import Pool
from ..ranking.priors import ScopeClass
from ..ranking.scoring import Scored
from ..recaller import Degradation, QuestionVector
from ..runtime import Runtime
from .request import MODES, RecallRequest, wanted_classes

WORD_CANDIDATES = 90
"""How many the leg of words brings. Measured: with 120 nothing more is found."""

CONVERSATION: tuple[Kind, ...] = ("turn", "tool_output", "summary", "episode", "belief")
STATEMENTS: tuple[Kind, ...] = ("fact", "rule")


@dataclass
class Search:
    """What one search knows so far.

    Attributes:
        runtime: What the runtime is made of.
        scope: Who asks.
        request: What is asked.
        now: When it is asked; the moment of ``as_of`` for a question to the past.
        state: Which tiers answered.
        pool: What was found.
        hot: Ids of turns in the asking agent's ring.
        leads: Own turns to look around, the best of each leg first.
        names: Names of the graph's speakers.
        cues: What the question says about its answer.
        vector: The question's vector, and whose it is.
        statistics: How rare the question's words are.
        scored: The pool, weighed.
    """

    runtime: Runtime
    scope: Scope
    request: RecallRequest
    now: datetime
    state: Degradation
    pool: Pool
    hot: dict[str, Turn] = field(default_factory=dict)
    leads: dict[str, None] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    cues: Cues = field(default_factory=Cues)
    vector: QuestionVector | None = None
    statistics: WordStatistics | None = None
    scored: Scored | None = None

    @property
    def classes(self) -> tuple[ScopeClass, ...]:
        """The scope classes that are asked."""
        return wanted_classes(self.request, self.runtime.settings.priors.class_weights)

    @property
    def asks_all_classes(self) -> bool:
        """Whether nothing is left out for its scope class."""
        return len(self.classes) == len(get_args(ScopeClass))


def queries(search: Search) -> list[SearchQuery]:
    """Return what the engines are asked of the own graph: one query unless classes are left out.

    A class whose weight is 0 is not asked for, so that it takes nobody's place.
    """
    base, scope = everything(search), search.scope
    if search.asks_all_classes:
        return [base]
    asked = [_of_class(base, one, scope) for one in search.classes]
    if search.request.scope_name == "any" and "session" in search.classes:
        # Facts and rules that are neither the user's nor the agent's are the session's.
        asked.append(_narrowed(base, STATEMENTS))
    return [one for one in asked if one is not None and one.kinds]


def everything(search: Search) -> SearchQuery:
    """Return the query for all that is asked, whatever its scope class."""
    request = search.request
    since, until = request.window(search.now, search.runtime.settings.zone)
    return checked(
        SearchQuery,
        text=request.text,
        kinds=request.kinds,
        limit=max(WORD_CANDIDATES, request.limit),
        now=search.runtime.clock(),
        mode=MODES[request.mode],
        as_of=request.as_of,
        since=since,
        until=until,
        grains=request.grains,
        topics=request.topics,
        all_topics=request.all_topics,
        ids=request.ids,
    )


def _of_class(base: SearchQuery, one: ScopeClass, scope: Scope) -> SearchQuery | None:
    """Return the query for one scope class; ``None`` when the handle has no such identity."""
    owner = {"user": scope.user_id, "agent": scope.agent_id}.get(one, "")
    if owner is None:
        return None
    among = {"session": CONVERSATION, "tenant": ("document",)}.get(one, STATEMENTS)
    owners = {"user": {"user_id": owner}, "agent": {"writer_id": owner}}
    return _narrowed(base, among).model_copy(update=owners.get(one, {}))


def _narrowed(base: SearchQuery, among: Sequence[Kind]) -> SearchQuery:
    return base.model_copy(update={"kinds": tuple(kind for kind in base.kinds if kind in among)})
