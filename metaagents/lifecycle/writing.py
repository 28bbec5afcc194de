"""The writer of summaries and episodes: by a model that is checked, or by choosing sentences.

Whatever it takes to make a text of a hundred pages happens on another thread; the event loop only
waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from tiers.errors import EzraError, TierError
from tiers.plans import AnyGrain
from tiers.ports import Embedder, Vector
from tiers.records import EXTRACTED, Episode, Grain, Scope, Summary, Turn
from tiers.registry import FleetStore

from ..model import BudgetedModel
from .checking import SUPPLEMENT_SHARE, borne_out, cleaned, refusal, supplemented
from .extract import Matrix, Sentence, extract, sentences_of, summarise
from .material import Material, lines_of, material_of_members, material_of_turns
from .prompts import DEFAULT_PROMPTS, messages
from .rules import LifecyclePolicy

log = logging.getLogger(__name__)

FAILURES_MAX = 3
"""After so many failures in a row the model is left alone for a while."""

RESTS = 20
"""So many texts are written without it then: a provider that is down must not hold up a pass."""

SILENT = "nothing was said in words"


class Wording(NamedTuple):
    """A text, who made it, and how many distinctive tokens of its sources it lacks."""

    text: str
    made_by: str
    lost: int


class Writer:
    """Makes the text of summaries and episodes.

    Args:
        embedder: Places sentences around their centroid; ``None`` compares words instead.
        model: Writes, if there is one; what it writes is checked.
        fleet: Where the prompts of agents are.
        prompts: What the model is told, by grain, where it differs from the defaults.
        policy: How long texts are, and where days begin.
    """

    def __init__(
        self,
        *,
        embedder: Embedder | None,
        model: BudgetedModel | None,
        fleet: FleetStore,
        prompts: Mapping[AnyGrain, str],
        policy: LifecyclePolicy,
    ) -> None:
        self._embedder = embedder
        self._model = model
        self._fleet = fleet
        self._prompts = prompts
        self._policy = policy
        self._failures = 0
        self._rests = 0

    @property
    def is_slow(self) -> bool:
        """Whether a text takes as long as a model takes to answer."""
        return self._model is not None

    async def summary(self, scope: Scope, turns: Sequence[Turn]) -> Wording:
        """Return the text of a level-0 summary of one agent's turns, of which there is one."""
        zone, budget = self._policy.zone, self._policy.summary_tokens
        material = await asyncio.to_thread(material_of_turns, turns, zone)
        return await self._best(scope, turns[0].agent_id, material, budget, turns)

    async def episode(
        self, scope: Scope, grain: Grain, period: str, members: Sequence[Summary | Episode]
    ) -> Wording:
        """Return the text of an episode of one agent, made of members, of which there is one."""
        zone, budget = self._policy.zone, self._policy.episode_tokens[grain]
        material = await asyncio.to_thread(material_of_members, grain, period, members, zone)
        return await self._best(scope, members[0].agent_id, material, budget, members)

    async def _best(
        self,
        scope: Scope,
        agent_id: str,
        material: Material,
        budget: int,
        sources: Sequence[Turn] | Sequence[Summary | Episode],
    ) -> Wording:
        """Return what the model wrote if it may be taken and loses no more than an extract."""
        written = await self._written(scope.for_graph().for_agent(agent_id), material, budget)
        if written is not None and not written.lost:
            return written
        extracted = await self._extracted(material, budget, sources)
        if written is not None and written.lost <= extracted.lost:
            return written
        return extracted

    async def _written(self, scope: Scope, material: Material, budget: int) -> Wording | None:
        if self._model is None or not material.texts:
            return None
        if self._rests:
            self._rests -= 1
            return None
        prompt = await self._prompt(scope, material.grain)
        asked = messages(prompt, material.period, material.shown, budget)
        try:
            answer: object = await self._model.write(scope, asked)
        except EzraError as error:
            # Its message may quote what was asked.
            log.warning("a %s text is an extract: %s", material.grain, type(error).__name__)
            self._note_failure(error)
            return None
        self._failures = 0
        wording, reason = await asyncio.to_thread(
            _checked, answer, material, budget, self._model.name
        )
        if wording is None:
            log.warning("a %s text of %s is refused: %s", material.grain, self._model.name, reason)
        return wording

    def _note_failure(self, error: EzraError) -> None:
        """Leave a provider alone that fails again and again; a budget is another agent's again."""
        if isinstance(error, TierError):
            self._failures += 1
        if self._failures >= FAILURES_MAX:
            self._failures, self._rests = 0, RESTS

    async def _prompt(self, scope: Scope, grain: AnyGrain) -> str:
        for agent in await self._fleet.agents(scope.for_graph()):
            if agent.id == scope.agent_id and agent.prompts.get(grain, "").strip():
                return agent.prompts[grain]
        own = self._prompts.get(grain, "")
        return own if own.strip() else DEFAULT_PROMPTS[grain]

    async def _extracted(
        self,
        material: Material,
        budget: int,
        sources: Sequence[Turn] | Sequence[Summary | Episode],
    ) -> Wording:
        found = await asyncio.to_thread(_candidates, sources, self._policy.zone)
        texts = [one if isinstance(one, str) else one.text for one in found]
        vectors = await self._vectors(texts)
        return await asyncio.to_thread(_chosen, found, texts, vectors, material, budget)

    async def _vectors(self, texts: Sequence[str]) -> Sequence[Vector] | None:
        if self._embedder is None or not texts:
            return None
        try:
            return await self._embedder.embed(texts)
        except TierError as error:
            log.warning("sentences are chosen by their words: %s", type(error).__name__)
            return None


def _candidates(
    sources: Sequence[Turn] | Sequence[Summary | Episode], zone: ZoneInfo
) -> list[Sentence] | list[str]:
    turns = [one for one in sources if isinstance(one, Turn)]
    if turns:
        return sentences_of(turns, zone)
    return lines_of([one for one in sources if not isinstance(one, Turn)])


def _chosen(
    found: list[Sentence] | list[str],
    texts: Sequence[str],
    vectors: Sequence[Vector] | None,
    material: Material,
    budget: int,
) -> Wording:
    matrix: Matrix | None = None if vectors is None else np.asarray(vectors, dtype=np.float32)
    said = [one for one in found if isinstance(one, Sentence)]
    if said:
        text = summarise(said, matrix, budget)
    else:
        lines = [texts[row] for row in extract(texts, matrix, budget)]
        text = _headed(material, "\n".join(lines) or SILENT)
    return Wording(*_with_supplement(text, material, budget, EXTRACTED))


def _checked(
    answer: object, material: Material, budget: int, name: str
) -> tuple[Wording | None, str]:
    text = cleaned(answer)
    text = borne_out(text, material.texts, material.known) or text
    reason = refusal(text, material.texts, material.known, budget)
    if reason:
        return None, reason
    return Wording(*_with_supplement(_headed(material, text), material, budget, name)), ""


def _headed(material: Material, text: str) -> str:
    between = " " if material.grain == "working" else "\n"
    return f"{material.heading}{between}{text}"


def _with_supplement(
    text: str, material: Material, budget: int, made_by: str
) -> tuple[str, str, int]:
    allowance = round(SUPPLEMENT_SHARE * budget)
    whole, lost = supplemented(text, material.texts, allowance)
    return whole, made_by, lost
