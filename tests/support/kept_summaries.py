"""What summaries without a model keep of what is asked for, beside the same tokens spent otherwise.

A question asks for one sentence of each turn of its evidence: the one that shares most words with
the question; of several, the longest. A text keeps a sentence when one sentence of the text, labels
apart, has every content word of it: in effect, when it is quoted. How sentences were chosen has no
part in that. The texts are made as the lifecycle agent makes them, of a conversation that one agent
heard: turns into summaries, these into days, days into weeks and months.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import TypeAlias

from ezra.evaluation.sets import EvaluationSet, Interview
from metaagents.lifecycle.building import episode_of, summary_of
from metaagents.lifecycle.material import material_of_members, material_of_turns, notes_of
from metaagents.lifecycle.rules import (
    LifecyclePolicy,
    SummaryOrEpisode,
    group_by_period,
    group_turns,
)
from metaagents.lifecycle.writing import extracted
from tiers.grains import MADE_OF
from tiers.lexical import content_words, estimate_tokens, sentences, stem
from tiers.plans import AnyGrain
from tiers.records import Episode, Grain, Scope, Summary, Turn

EPISODES: tuple[Grain, ...] = ("daily", "weekly", "monthly")
MEASURED: tuple[AnyGrain, ...] = ("working", *EPISODES)
SEEDS = 20
"""So many times the tokens of each text are spent at random."""

_LISTENER = "listener"
_SCOPE = Scope.of_graph("evaluation", "summaries")

Words: TypeAlias = frozenset[str]
"""Stems of the content words of one sentence."""


@dataclass(frozen=True)
class Kept:
    """What the texts of one grain keep; shares are of the sentences asked for, from 0 to 1.

    Attributes:
        grain: Which.
        texts: How many.
        tokens: Of a text on average, heading and labels included.
        asked: Sentences asked for.
        ezra: The share that the texts keep.
        random: The share that the same tokens keep when they are spent on the sentences of the
            same turns in random order, without labels: the mean over the seeds.
        random_most: The best of the seeds.
        rarity: The same, spent on the sentences whose words are rarest in the conversation.
        of_everything: The share of all sentences of the evidence turns that the texts keep,
            courtesies included.
        told: The share of all statements of the turns that the texts tell, by their own account.
    """

    grain: AnyGrain
    texts: int
    tokens: float
    asked: int
    ezra: float
    random: float
    random_most: float
    rarity: float
    of_everything: float
    told: float

    @property
    def above_random(self) -> float:
        """By how much more the texts keep than chance, as a share."""
        return self.ezra - self.random


def kept_of(
    whole: EvaluationSet, policy: LifecyclePolicy | None = None, seeds: int = SEEDS
) -> tuple[Kept, ...]:
    """Return what summaries, days, weeks and months keep of a set, finest first.

    It blocks: some seconds for a thousand turns.

    Args:
        whole: The set; its excluded questions ask for nothing.
        policy: Budgets, groups and time zone; the defaults if not given.
        seeds: At least 1.
    """
    chosen = policy or LifecyclePolicy()
    talks = [_Talk(one, chosen, seeds) for one in whole.interviews if one.questions]
    return tuple(_sum(grain, [talk.counted(grain) for talk in talks]) for grain in MEASURED)


def _sum(grain: AnyGrain, counts: Sequence[_Count]) -> Kept:
    def share(number: Callable[[_Count], int], of: Callable[[_Count], int]) -> float:
        return sum(map(number, counts)) / max(1, sum(map(of, counts)))

    seeds = range(len(counts[0].random))
    by_chance = [
        share(lambda one, seed=seed: one.random[seed], lambda one: one.asked)  # type: ignore[misc]
        for seed in seeds
    ]
    return Kept(
        grain=grain,
        texts=sum(one.texts for one in counts),
        tokens=share(lambda one: one.tokens, lambda one: one.texts),
        asked=sum(one.asked for one in counts),
        ezra=share(lambda one: one.ezra, lambda one: one.asked),
        random=fmean(by_chance),
        random_most=max(by_chance),
        rarity=share(lambda one: one.rarity, lambda one: one.asked),
        of_everything=share(lambda one: one.everything_kept, lambda one: one.everything),
        told=1 - share(lambda one: one.lost, lambda one: one.statements),
    )


@dataclass(slots=True)
class _Count:
    """Sums over the texts of one grain of one conversation."""

    random: list[int]
    texts: int = 0
    tokens: int = 0
    asked: int = 0
    ezra: int = 0
    rarity: int = 0
    everything: int = 0
    everything_kept: int = 0
    statements: int = 0
    lost: int = 0


class _Talk:
    """One conversation with its texts and what is asked of it."""

    def __init__(self, interview: Interview, policy: LifecyclePolicy, seeds: int) -> None:
        self._id, self._seeds = interview.id, seeds
        turns = _turns_of(interview)
        self._turns = {turn.id: turn for turn in turns}
        self._told = _told_of(turns, policy)
        self._asked = _asked_for(interview, turns)
        heard = [_words(one) for turn in turns for one in _sentences(turn)]
        self._in = Counter(word for found in heard for word in found)
        self._heard = len(heard)
        self._statements = {
            turn.id: len(material_of_turns([turn], policy.zone).statements) for turn in turns
        }

    def counted(self, grain: AnyGrain) -> _Count:
        """Return what the texts of a grain keep."""
        count = _Count([0] * self._seeds)
        for text, turn_ids in self._told[grain]:
            self._count(count, text, turn_ids)
        return count

    def _count(self, count: _Count, told: SummaryOrEpisode, turn_ids: Sequence[str]) -> None:
        said = [one for turn_id in turn_ids for one in _sentences(self._turns[turn_id])]
        asked = [one for turn_id in turn_ids for one in self._asked.get(turn_id, ())]
        every = [
            one
            for turn_id in turn_ids
            if turn_id in self._asked
            for one in _sentences(self._turns[turn_id])
        ]
        tokens = estimate_tokens(told.text)
        notes = notes_of(told.text.splitlines(), told.made_by, told.starts_at)
        own = [_words(one.text) for one in notes]
        count.texts += 1
        count.tokens += tokens
        count.asked += len(asked)
        count.ezra += _kept(asked, own)
        count.everything += len(every)
        count.everything_kept += _kept(every, own)
        count.statements += sum(self._statements[turn_id] for turn_id in turn_ids)
        count.lost += told.lost
        count.rarity += _kept(asked, _spent(sorted(said, key=self._rarity), tokens))
        for seed in range(self._seeds):
            order = Random(f"{self._id} {told.id} {seed}").sample(said, len(said))
            count.random[seed] += _kept(asked, _spent(order, tokens))

    def _rarity(self, sentence: str) -> float:
        """Return less the rarer the words of a sentence are, all of them together."""
        rare = (math.log(self._heard / self._in[word]) for word in _words(sentence))
        return -math.fsum(rare)


def _turns_of(interview: Interview) -> list[Turn]:
    return [
        Turn(
            id=line.ref,
            tenant=_SCOPE.tenant,
            graph_id=_SCOPE.graph_id,
            agent_id=_LISTENER,
            speaker=line.speaker,
            seq=number,
            input=line.text,
            response=line.response,
            tool_outputs=line.tool_outputs,
            recorded_at=line.at,
            occurred_at=line.at,
        )
        for number, line in enumerate(interview.turns, 1)
    ]


def _told_of(
    turns: Sequence[Turn], policy: LifecyclePolicy
) -> Mapping[AnyGrain, list[tuple[SummaryOrEpisode, Sequence[str]]]]:
    """Return the texts of each grain, with the turns that each stands for."""
    told: dict[AnyGrain, list[tuple[SummaryOrEpisode, Sequence[str]]]] = {"working": []}
    for group in group_turns(turns, policy):
        one = _summary(group, policy)
        told["working"].append((one, one.covers))
    for grain in EPISODES:
        finer = told[MADE_OF[grain]]
        reached = {member.id: turn_ids for member, turn_ids in finer}
        told[grain] = [
            (
                _episode(grain, period, members, policy),
                [turn_id for member in members for turn_id in reached[member.id]],
            )
            for period, members in group_by_period(
                [member for member, _ in finer], grain, policy.zone
            )
        ]
    return told


def _summary(group: Sequence[Turn], policy: LifecyclePolicy) -> Summary:
    wording = extracted(material_of_turns(group, policy.zone), policy.summary_tokens).wording
    now = group[-1].recorded_at
    return summary_of(_SCOPE, group, wording, now, now)


def _episode(
    grain: Grain, period: str, members: Sequence[SummaryOrEpisode], policy: LifecyclePolicy
) -> Episode:
    material = material_of_members(grain, period, members, policy.zone)
    wording = extracted(material, policy.episode_tokens[grain]).wording
    return episode_of(_SCOPE, grain, period, members, wording, members[-1].recorded_at)


def _asked_for(interview: Interview, turns: Sequence[Turn]) -> dict[str, set[str]]:
    """Return the sentences asked for, by turn."""
    said = {turn.id: _sentences(turn) for turn in turns}
    asked: defaultdict[str, set[str]] = defaultdict(set)
    for question in interview.questions:
        about = _words(question.text)
        for turn_id in question.evidence:
            if said[turn_id]:
                asked[turn_id].add(_closest(said[turn_id], about))
    return dict(asked)


def _closest(said: Sequence[str], about: Words) -> str:
    return max(said, key=lambda one: (len(about & _words(one)), len(one)))


def _sentences(turn: Turn) -> list[str]:
    return [one for text in (turn.input, turn.response) for one in sentences(text)]


def _words(sentence: str) -> Words:
    return frozenset(stem(word) for word in content_words(sentence))


def _kept(asked: Collection[str], own: Iterable[Words]) -> int:
    """Return how many of the sentences are kept."""
    have = list(own)
    return sum(any(_words(one) <= other for other in have) for one in asked)


def _spent(order: Iterable[str], tokens: int) -> list[Words]:
    """Return what is bought when sentences are taken in an order, as far as tokens go."""
    bought, left = [], tokens
    for one in order:
        cost = estimate_tokens(one)
        if cost <= left:
            bought.append(_words(one))
            left -= cost
    return bought
