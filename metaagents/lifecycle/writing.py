"""The writer of summaries and episodes: by a model that is checked, or by choosing sentences.

Whatever it takes to make a text of a hundred pages happens on another thread; the event loop only
waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from tiers.errors import EzraError, TierError
from tiers.lexical import estimate_tokens
from tiers.plans import AnyGrain
from tiers.records import EXTRACTED, Episode, Grain, Scope, Summary, Turn

from ..guard.policy import DEFAULT, GuardPolicy
from ..guard.transcript import heard_all
from ..model import BudgetedModel
from .checking import borne_out, cleaned, misshapen, refusal
from .extract import by_person, by_sitting, by_tokens, summarise
from .material import Material, answers_of, material_of_members, material_of_turns, notes_of
from .prompts import DEFAULT_PROMPTS, messages
from .rules import LifecyclePolicy
from .statements import Telling

if TYPE_CHECKING:
    from tiers.cold.stores import FleetStore

log = logging.getLogger(__name__)

FAILURES_MAX = 3
"""After so many failures in a row the model is left alone for a while."""

RESTS = 20
"""So many texts are written without it then: a provider that is down must not hold up a pass."""

SUPPLEMENT_SHARE = 0.25
"""Of the budget, for notes of what a model's text left out."""

TOLD_SHARE_MIN = 0.5
"""Of the statements that an extract tells, those that a model's text has to tell: in words of its
own it tells more than is counted, and an extract has the very words."""

SILENT = "nothing was said in words"


class Wording(NamedTuple):
    """A text as a summary or an episode has it: the fields are fields of these."""

    text: str
    made_by: str
    lost: int
    answers: tuple[int, ...] = ()


class Draft(NamedTuple):
    """A wording, and how many statements of its own sources it tells."""

    wording: Wording
    told: int


@dataclass(eq=False, kw_only=True)
class Writer:
    """Makes the text of summaries and episodes.

    Attributes:
        model: Writes, if there is one; what it writes is checked.
        fleet: Where the prompts of agents are.
        prompts: What the model is told, by grain, where it differs from the defaults.
        policy: How long texts are, and where days begin.
        guard: What of a turn is kept from memory.
    """

    model: BudgetedModel | None
    fleet: FleetStore
    prompts: Mapping[AnyGrain, str]
    policy: LifecyclePolicy
    guard: GuardPolicy = DEFAULT
    _failures: int = field(default=0, init=False)
    _rests: int = field(default=0, init=False)

    @property
    def is_slow(self) -> bool:
        """Whether a text takes as long as a model takes to answer."""
        return self.model is not None

    async def summary(self, scope: Scope, turns: Sequence[Turn]) -> Wording:
        """Return the text of a level-0 summary of one agent's turns, of which there is one."""
        zone, budget = self.policy.zone, self.policy.summary_tokens
        material = await asyncio.to_thread(self._material, turns, zone)
        return await self._best(scope, turns[0].agent_id, material, budget)

    async def episode(
        self, scope: Scope, grain: Grain, period: str, members: Sequence[Summary | Episode]
    ) -> Wording:
        """Return the text of an episode of one agent, made of members, of which there is one."""
        zone, budget = self.policy.zone, self.policy.episode_tokens[grain]
        material = await asyncio.to_thread(material_of_members, grain, period, members, zone)
        return await self._best(scope, members[0].agent_id, material, budget)

    def _material(self, turns: Sequence[Turn], zone: ZoneInfo) -> Material:
        return material_of_turns(heard_all(turns, self.guard), zone)

    async def _best(self, scope: Scope, agent_id: str, material: Material, budget: int) -> Wording:
        """Return what the model wrote if it may be taken and tells enough, else an extract."""
        written = await self._written(scope.for_graph().for_agent(agent_id), material, budget)
        if written is not None and written.wording.lost == material.lost:
            return written.wording
        extract = await asyncio.to_thread(extracted, material, budget)
        if written is not None and written.told >= TOLD_SHARE_MIN * extract.told:
            return written.wording
        return extract.wording

    async def _written(self, scope: Scope, material: Material, budget: int) -> Draft | None:
        if self.model is None or not material.texts:
            return None
        if self._rests:
            self._rests -= 1
            return None
        prompt = await self._prompt(scope, material.grain)
        asked = messages(prompt, material.period, material.shown, budget)
        try:
            answer: object = await self.model.write(scope, asked)
        except EzraError as error:
            # Its message may quote what was asked.
            log.warning("a %s text is an extract: %s", material.grain, type(error).__name__)
            self._note_failure(error)
            return None
        self._failures = 0
        draft, reason = await asyncio.to_thread(_checked, answer, material, budget, self.model.name)
        if draft is None:
            log.warning("a %s text of %s is refused: %s", material.grain, self.model.name, reason)
        return draft

    def _note_failure(self, error: EzraError) -> None:
        """Leave a provider alone that fails again and again; a budget is another agent's again."""
        if isinstance(error, TierError):
            self._failures += 1
        if self._failures >= FAILURES_MAX:
            self._failures, self._rests = 0, RESTS

    async def _prompt(self, scope: Scope, grain: AnyGrain) -> str:
        for agent in await self.fleet.agents(scope.for_graph()):
            if agent.id == scope.agent_id and agent.prompts.get(grain, "").strip():
                return agent.prompts[grain]
        own = self.prompts.get(grain, "")
        return own if own.strip() else DEFAULT_PROMPTS[grain]


def extracted(material: Material, budget: int) -> Draft:
    """Return the extract of a material, of at most ``budget`` tokens with all of its labels."""
    if material.grain == "working":
        return _draft_of(summarise(by_sitting(material.candidates), budget), EXTRACTED, material)
    room = budget - estimate_tokens(f"{material.heading}\n")
    if material.grain == "daily":
        text = summarise(by_sitting(material.candidates), room)
    else:
        text = summarise(by_person(material.candidates), room, by_tokens)
    return _draft_of(_headed(material, text or SILENT), EXTRACTED, material)


def _checked(
    answer: object, material: Material, budget: int, name: str
) -> tuple[Draft | None, str]:
    text = cleaned(answer)
    reason = misshapen(text, material.texts, budget)
    if reason:
        return None, reason
    borne = borne_out(text, material.sources)
    reason = refusal(borne.text, material.texts, budget)
    if reason:
        return None, f"{reason}; left out: {dict(borne.left_out)}" if borne.left_out else reason
    whole = _headed(material, borne.text)
    left = set(_left_out(whole, name, material, borne.told))
    if not left:
        return _draft_of(whole, name, material, borne.told), ""
    # What it left out is put back in the words of those who said it, as far as there is room.
    missing = [one for one in by_sitting(material.candidates) if one.text in left]
    room = round(SUPPLEMENT_SHARE * budget)
    notes = summarise(missing, room)
    if estimate_tokens(notes) <= room:
        whole = f"{whole}\n{notes}"
    return _draft_of(whole, name, material, borne.told), ""


def _draft_of(
    text: str, made_by: str, material: Material, known: frozenset[str] = frozenset()
) -> Draft:
    """Return a text with the account of what it tells; ``known`` it tells in words of its own."""
    lost = len(_left_out(text, made_by, material, known))
    wording = Wording(text, made_by, material.lost + lost, answers_of(text, made_by, material))
    return Draft(wording, len(material.statements) - lost)


def _left_out(
    text: str, made_by: str, material: Material, known: frozenset[str] = frozenset()
) -> list[str]:
    notes = notes_of(text.splitlines(), made_by, datetime.min.replace(tzinfo=UTC))
    statements = [one for one in material.statements if one not in known]
    return Telling([one.text for one in notes]).left_out(statements)


def _headed(material: Material, text: str) -> str:
    between = " " if material.grain == "working" else "\n"
    return f"{material.heading}{between}{text}"
