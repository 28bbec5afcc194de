"""Extraction: reads an agent's new turns, once, and stores what they say for good.

A pass reads up to thirty turns after the watermark, stores what it finds, and only then moves the
watermark. All ids are derived, so a pass that is cut off and repeated stores nothing twice. What a
model fails to do, the patterns do: learning never waits for a model.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from typing import TYPE_CHECKING

from pydantic import ValidationError

from tiers.drafts import index_work, judge_work
from tiers.errors import BudgetExceeded, CorruptRecord, EzraError, TierError
from tiers.fields import AuditKind
from tiers.ids import derived_id
from tiers.ports import Embedder
from tiers.records import AuditFilter, Fact, Rule, Scope, Turn, Work

from ..guard.policy import DEFAULT, GuardPolicy
from ..guard.transcript import heard_all
from ..model import BudgetedModel
from .candidates import (
    FactDraft,
    Findings,
    Limits,
    PlaybookDraft,
    Refinement,
    Saying,
    Whose,
    Window,
    in_order_of_saying,
    is_same_trigger,
    readable_by_all,
)
from .endings import Endings, said_beside
from .findings import findings
from .following import Replies, in_question, steps_at, units
from .prompts import Extraction, messages_of, shown_chars
from .regexes import compiled
from .withheld import learnable

if TYPE_CHECKING:
    from tiers.cold.stores import (
        FleetStore,
        Playbooks,
        ProceduralStore,
        RecordLog,
        SemanticStore,
        TurnStore,
        Watermarks,
    )

WATERMARK = "extract"
SOURCES_NAMED_MAX = 100
"""Turns that an audit event names."""
TRIGGERS_COMPARED = 50
RULES_IN_QUESTION_MAX = 100
EMBEDDED_MAX = 400
"""Sentences of replies and steps of playbooks of one pass, that are compared by meaning."""
EVENTS_COMPARED = 100
AGENTS_MAX = 1_000
"""Members of a graph among whom a speaker is looked for: the first ones."""


@dataclass(frozen=True)
class ExtractionPolicy:
    """How much a pass reads, and what counts.

    Attributes:
        turns_per_pass: New turns of one pass, and of one question to a model.
        context_turns: Earlier turns that it may look at.
        prompt_chars_max: About how long new turns of one question may be; at least one is asked.
        confidence_min: Facts below it are dropped.
        playbook_confidence_min: Playbooks below it are dropped.
        facts_per_pass_max: Facts of one answer; those beyond are dropped.
        rules_per_pass_max: Playbooks shown to a model.
        model_passes_max: Questions to a model in one go; then other work gets its turn.
        passes_max: Passes in one go without a model.
        pause_seconds: How long an agent with more to read waits when a model was asked.
        zone: By whose clock days begin.
    """

    turns_per_pass: int = 30
    context_turns: int = 12
    prompt_chars_max: int = 60_000
    confidence_min: float = 0.6
    playbook_confidence_min: float = 0.8
    facts_per_pass_max: int = 20
    rules_per_pass_max: int = 20
    model_passes_max: int = 4
    passes_max: int = 32
    pause_seconds: float = 30.0
    zone: tzinfo = UTC

    @property
    def limits(self) -> Limits:
        """What a model's answer is held against."""
        return Limits(self.confidence_min, self.playbook_confidence_min, self.facts_per_pass_max)


@dataclass(frozen=True)
class _Pass:
    """What one pass came to.

    Attributes:
        has_more: There are turns left to read.
        asked: A model was asked.
        failed: It gave no answer.
    """

    has_more: bool = False
    asked: bool = False
    failed: bool = False


@dataclass(frozen=True)
class _Said:
    """What came of asking a model.

    Attributes:
        answer: Its answer.
        problem: Why there is none, if it was to be asked.
        asked: It was asked: that takes time and money, whatever came of it.
    """

    answer: Extraction | None = None
    problem: str | None = None
    asked: bool = False


@dataclass(frozen=True)
class _Read:
    """What one pass reads.

    Attributes:
        scope: Of the agent.
        start: The watermark before the pass.
        end: The watermark after it.
        window: What was read, less what is redacted or retired.
        first_at: When its first turn was recorded: ids sort by it.
        has_more: There are turns left to read.
        unheard: New turns of which the guard keeps something from memory.
    """

    scope: Scope
    start: int
    end: int
    window: Window
    first_at: datetime
    has_more: bool
    unheard: tuple[str, ...] = ()


@dataclass(eq=False, kw_only=True)
class ExtractionAgent:
    """Reads new turns of one agent at a time and stores facts, playbooks and their outcomes.

    Attributes:
        turns: What is read.
        semantic: Where facts go.
        procedural: Where new playbooks go.
        playbooks: Where outcomes are counted and steps refined.
        watermarks: How far was read.
        fleet: Who the agents of a graph are: what one says to another is no user's word.
        model: Finds more than the patterns do; ``None`` leaves it to them.
        guard: What of a turn is kept from memory.
        events: Told, without any content, what was dropped and why a model did not answer.
        policy: How much and how sure.
        embedder: Sees steps that a reply did in other words; without one the words do.
        endings: Finds what is known and over by what turns say; without it only news are learnt.
    """

    turns: TurnStore
    semantic: SemanticStore
    procedural: ProceduralStore
    playbooks: Playbooks
    watermarks: Watermarks
    fleet: FleetStore
    model: BudgetedModel | None
    events: RecordLog
    policy: ExtractionPolicy
    embedder: Embedder | None = None
    endings: Endings | None = None
    guard: GuardPolicy = DEFAULT

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Read on for each item's agent, in turns, as far as one go allows.

        Returns:
            Items whose agent has more to read: at once where it was not yet its turn, after a
            pause where a model was asked, so that a long past makes no storm of calls.
        """
        for item in items:
            if item.agent_id is None:
                raise CorruptRecord("cold", item.kind, f"work {item.id} names no agent")
        await compiled()
        waiting = deque(items)
        pause = timedelta(seconds=self.policy.pause_seconds)
        later: dict[str, datetime] = {}
        passes = asked = 0
        while waiting and passes < self.policy.passes_max:
            item = waiting.popleft()
            done = await self._read_on(item.scope, now)
            passes, asked = passes + 1, asked + done.asked
            if done.has_more:
                waiting.append(item)
                later[item.id] = now + pause if done.asked else now
            else:
                later.pop(item.id, None)
            if done.failed or asked >= self.policy.model_passes_max:
                break
        return {item.id: later.get(item.id, now) for item in waiting}

    async def _read_on(self, scope: Scope, now: datetime) -> _Pass:
        read = await self._read(scope)
        if read is None:
            return _Pass()
        said = await self._ask(read)
        found = await self._found(read, said.answer, now)
        if said.problem is not None:
            ids = [turn.id for turn in read.window.new]
            await self._tell(scope, "extraction fell back", ids, said.problem, now)
        await self._store(read, found, now)
        if read.unheard:
            await self._tell(scope, "guarded", read.unheard, "not learnt from as it was said", now)
        await self.watermarks.advance(scope, WATERMARK, read.end, now)
        return _Pass(read.has_more, said.asked, said.asked and said.answer is None)

    async def _read(self, scope: Scope) -> _Read | None:
        """Return what the next pass reads, or ``None`` if there is nothing new."""
        start = await self.watermarks.watermark(scope, WATERMARK)
        limit = self.policy.turns_per_pass
        turns = await self.turns.turns_after(scope, start, limit)
        if not turns:
            return None
        taken = self._fitting(turns)
        before = min(start, self.policy.context_turns)
        earlier = await self.turns.turns_after(scope, start - before, before) if before else ()
        agents = await self._agents_among(scope, (*earlier, *taken))
        heard = await asyncio.to_thread(heard_all, _kept(taken), self.guard, agents)
        before_them = await asyncio.to_thread(heard_all, _kept(earlier), self.guard, agents)
        allowed = await asyncio.to_thread(learnable, (*before_them, *heard))
        first = len(before_them)
        window = Window(allowed[first:], allowed[:first], zone=self.policy.zone, agents=agents)
        has_more = len(taken) < len(turns) or len(turns) == limit
        end = taken[-1].seq
        shown, replies = await self._rules(scope, window), await self._replies(scope, window)
        window = replace(window, rules=shown, replies=replies)
        said = {turn.id: turn for turn in taken}
        unheard = tuple(turn.id for turn in heard if turn is not said[turn.id])
        return _Read(scope, start, end, window, taken[0].recorded_at, has_more, unheard)

    async def _agents_among(self, scope: Scope, turns: Sequence[Turn]) -> frozenset[str]:
        """Return who speaks in some turns of an agent and is another member of its graph."""
        own = {(turn.agent_id, turn.user_id) for turn in turns}
        speakers = {turn.speaker for turn in turns}.difference(*own, {""})
        if not speakers:
            return frozenset()
        members = await self.fleet.agent_names(scope.for_graph(), AGENTS_MAX)
        return frozenset(members) & speakers

    def _fitting(self, turns: Sequence[Turn]) -> Sequence[Turn]:
        """Return as many of the turns as one question has room for, at least one."""
        if self.model is None:
            return turns
        chars = 0
        for place, turn in enumerate(turns):
            chars += shown_chars(turn)
            if place and chars > self.policy.prompt_chars_max:
                return turns[:place]
        return turns

    async def _rules(self, scope: Scope, window: Window) -> dict[str, Rule]:
        """Return the playbooks that were in the contexts of the turns, for their readers' eyes."""
        if self.model is None:
            return {}
        ids = [one for turn in (*window.new, *window.earlier) for one in turn.rules]
        wanted = list(dict.fromkeys(ids))[: self.policy.rules_per_pass_max]
        found = await self.playbooks.rules(scope, wanted) if wanted else ()
        users = {turn.user_id for turn in window.new} | {None}
        return {rule.id: rule for rule in found if rule.user_id in users}

    async def _replies(self, scope: Scope, window: Window) -> Replies:
        """Return what tells which playbooks the replies followed that new turns may speak of."""
        turns = (*window.earlier, *window.new)
        if not any(turn.rules for turn in turns):
            return Replies()
        asked = await asyncio.to_thread(in_question, turns, window.new)
        ids = list(dict.fromkeys(one for turn in asked for one in turn.rules))
        found = await self.playbooks.rules(scope, ids[:RULES_IN_QUESTION_MAX]) if ids else ()
        if not found or self.embedder is None:
            return Replies({rule.id: rule for rule in found})
        texts = [text for turn in asked for text in units(turn)]
        texts += [step for turn in asked for rule in found for step in steps_at(rule, turn)]
        texts = list(dict.fromkeys(texts))[:EMBEDDED_MAX]
        try:
            vectors = await self.embedder.embed(texts)
        except EzraError:
            vectors = ()  # The words do.
        vector_of = dict(zip(texts, vectors, strict=False))
        return Replies({rule.id: rule for rule in found}, vector_of)

    async def _ask(self, read: _Read) -> _Said:
        """Ask a model, if there is one and something to ask about."""
        window = read.window
        said = (turn.input.strip() or turn.tool_outputs for turn in window.new)
        if self.model is None or not any(said):
            return _Said()
        users = {(turn.user_id, turn.private) for turn in window.new}
        earlier = [turn for turn in window.earlier if (turn.user_id, turn.private) in users]
        messages = messages_of(window.shown(), earlier, window.shown_rules())
        try:
            answer = await self.model.fill(read.scope, messages, Extraction)
            # It is an Extraction, which does not mean that anybody has checked it.
            return _Said(Extraction.model_validate(dict(answer.__dict__)), asked=True)
        except ValidationError:
            problem = f"{self.model.name}: the answer does not fit its form"
            return _Said(problem=problem, asked=True)
        except BudgetExceeded as refusal:
            return _Said(problem=str(refusal))
        except EzraError as error:
            return _Said(problem=f"{self.model.name}: {_named(error)}", asked=True)

    async def _found(self, read: _Read, answer: Extraction | None, now: datetime) -> Findings:
        """Return what a pass may store. Off the event loop: a pass may read megabytes."""
        found = await asyncio.to_thread(
            findings, read.window, answer, self.policy.limits, self.guard
        )
        if self.endings is None:
            return found
        beside = await asyncio.to_thread(lambda: list(said_beside(read.window, found.facts)))
        if beside:
            as_fact = partial(self._record, read, now=now)
            over = await self.endings.of_known(beside, found.facts, as_fact, now)
            found.facts = in_order_of_saying([*found.facts, *over], read.window)
        return found

    async def _store(self, read: _Read, found: Findings, now: datetime) -> None:
        """Store what was found; what is stored already stays as it is.

        Nothing of a turn that was redacted since it was read: a model takes its time.
        """
        for fact in found.facts:
            await self._put_fact(read, fact, found, now)
        for playbook in found.playbooks:
            await self._put_playbook(read, playbook, found, now)
        for outcome in found.outcomes:
            await self.playbooks.record_outcome(
                read.scope, outcome.rule_id, outcome.cause, now, is_success=outcome.is_success
            )
        for refinement in found.refinements:
            if refinement.source_id not in refinement.rule.source_ids:
                await self._refine(read.scope, refinement, now)
        if found.drops:
            count = found.drops.total()
            parts = (f"{number} {reason}" for reason, number in sorted(found.drops.items()))
            reason = f"{count} candidates: {', '.join(parts)}"
            ids = [*found.dropped_sources] or [turn.id for turn in read.window.new]
            await self._tell(read.scope, "extraction dropped", ids, reason, now)

    async def _put_fact(
        self, read: _Read, draft: FactDraft, found: Findings, now: datetime
    ) -> None:
        """Store a fact, unless its words were forgotten since it was said."""
        record = self._record(read, draft, now)
        scope = _acting_for(read.scope, draft.whose)
        work = [index_work(record.id, scope.agent_id), judge_work(record.id)]
        heard_at = _heard_at(read.window.new, draft.saying or Saying(now, 0))
        stored, _ = await self.semantic.put_fact(
            scope, record, work, heard_at=heard_at, made_of=draft.source_ids
        )
        if stored.forgotten_at is not None:
            found.drop("forgotten since it was said", count=1)

    def _record(self, read: _Read, draft: FactDraft, now: datetime) -> Fact:
        said, saying = draft.said, draft.saying or Saying(now, 0)
        scope = _acting_for(read.scope, draft.whose)
        return Fact(
            text=said.text,
            subject=said.subject,
            predicate=said.predicate,
            object=said.object,
            fact_type=said.fact_type,
            confidence=draft.confidence,
            valid_from=said.valid_from,
            valid_to=said.valid_to,
            said_at=saying.at,
            said_seq=saying.seq,
            said_place=saying.place,
            source_ids=draft.source_ids,
            source=draft.source,
            private=draft.whose[1],
            topics=draft.whose[2],
        ).stamped(scope, _id_of(read, "fact", draft.whose, said.text), now)

    async def _put_playbook(
        self, read: _Read, draft: PlaybookDraft, found: Findings, now: datetime
    ) -> None:
        scope = _acting_for(read.scope, draft.whose)
        known = await self.procedural.match_rules(scope, draft.trigger, TRIGGERS_COMPARED)
        record = Rule(
            trigger=draft.trigger,
            steps=draft.steps,
            source_ids=draft.source_ids,
            private=draft.whose[1],
            topics=draft.whose[2],
        ).stamped(scope, _id_of(read, "playbook", draft.whose, draft.trigger), now)
        if any(
            is_same_trigger(rule.trigger, record.trigger) and readable_by_all(rule, draft.whose)
            for rule in known
            if rule.id != record.id
        ):
            found.drop("there is a playbook for it", count=1)
            return
        if all(rule.id != record.id for rule in known):
            work = [index_work(record.id, scope.agent_id)]
            await self.procedural.put_rule(scope, record, work, made_of=draft.source_ids)

    async def _refine(self, scope: Scope, refinement: Refinement, now: datetime) -> None:
        rule = refinement.rule
        work = [index_work(rule.id, rule.agent_id)]
        sources = [refinement.source_id]
        steps = refinement.steps
        await self.playbooks.refine(scope, rule, steps, sources, now, work, made_of=sources)

    async def _tell(
        self, scope: Scope, kind: AuditKind, turn_ids: Sequence[str], reason: str, now: datetime
    ) -> None:
        """Tell the audit feed, once: a pass that is repeated has nothing new to tell."""
        named = tuple(turn_ids[:SOURCES_NAMED_MAX])
        about = AuditFilter(kinds=(kind,), record_id=named[0] if named else None)
        events = await self.events.audit(scope, limit=EVENTS_COMPARED, only=about)
        if not any((one.record_ids, one.reason) == (named, reason) for one in events):
            await self.events.append_audit(scope, kind, named, reason, now)


def _kept(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the turns that still have their content."""
    return tuple(turn for turn in turns if turn.redacted_at is None and turn.retired_at is None)


def _heard_at(turns: Sequence[Turn], saying: Saying) -> datetime:
    """Return when at the latest a fact was said: its turn may be dated ahead of its recording."""
    recorded = [turn.recorded_at for turn in turns if turn.seq == saying.seq]
    return min([saying.at, *recorded])


def _acting_for(scope: Scope, whose: Whose) -> Scope:
    """Return the scope of the agent acting for the user of what is stored."""
    return scope.model_copy(update={"user_id": whose[0], "every_user": False})


def _id_of(read: _Read, kind: str, whose: Whose, text: str) -> str:
    """Return the id of what a pass stores, the same when the pass is done again.

    The watermark is part of it: the same words said later are said anew.
    """
    user_id, private, topics = whose
    scope = read.scope
    place = (scope.tenant, scope.graph_id, scope.agent_id or "", str(read.start))
    owner = ("" if user_id is None else f"of {user_id}", "private" if private else "", *topics)
    return derived_id(read.first_at, "extract", kind, *place, *owner, text)


def _named(error: EzraError) -> str:
    """Say what went wrong without what a model said: its words may be anybody's."""
    if isinstance(error, TierError):
        return f"{type(error).__name__} in {error.operation}"
    return type(error).__name__
