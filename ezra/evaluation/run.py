"""Running a set: its conversations are played, its questions asked, beside the baselines.

A run is deterministic. The clock does not show the day of the run but the end of the conversation,
so that what depends on the present, such as relative dates and decay, gives the same every time.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from tiers.errors import UsageError
from tiers.extras import needs
from tiers.ports import Embedder
from tiers.records import Hit, Kind

from ..app import Ezra
from ..assembly.embedders import wanted_embedder
from ..handles.graph import Graph
from ..replay.play import Replayer
from ..replay.script import Script, TurnLine
from ..settings import Settings
from .metrics import ranks_of
from .results import Asked, Evaluation, Found
from .sets import EvaluationSet, Interview, Question

if TYPE_CHECKING:
    from .baselines import Baselines


K_DEFAULT = (5, 10, 20)
K_MAX = 100
"""The most hits that recall returns."""
WARM_UP = 3
"""Questions at the beginning of each conversation that fill caches and are not timed."""
ASKED_AFTER = timedelta(minutes=1)
"""From the end of a conversation to the first moment at which it is asked about.

Playing takes a microsecond for each reading of the clock; all of it is over by then.
"""
TOPIC = "conversation"
"""Of every agent and line of a conversation that names no topics itself."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_FOLDER_CHARS = 64

OnStep = Callable[[], None]
"""Called after each line that was played and each question that was asked."""


@dataclass(frozen=True)
class Options:
    """How a set is run.

    Attributes:
        ks: Where the rankings are cut; recall is asked for as many as the largest.
        kinds: What recall is asked for, where a question does not say; ``None``: all kinds.
        strict: Only turns count. Otherwise a hit counts for every turn that it names: by its
            ``ref``, or among its ``source_ids`` or ``folded``, as a summary or fact does.
        baselines: Whether they are asked too.
        together: All conversations in one installation, one graph each, instead of an
            installation of its own for each.
        conversations: As ``selected`` takes them.
        every: Ask only every n-th question.
    """

    ks: tuple[int, ...] = K_DEFAULT
    kinds: tuple[Kind, ...] | None = ("turn",)
    strict: bool = False
    baselines: bool = True
    together: bool = False
    conversations: tuple[str, ...] | None = None
    every: int = 1

    @property
    def limit(self) -> int:
        """How many hits are asked for."""
        return max(self.ks)


class StandingClock:
    """A clock that shows what it is told, a microsecond later with each reading."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def __call__(self) -> datetime:
        """Return the time."""
        self._now += timedelta(microseconds=1)
        return self._now

    def show(self, moment: datetime) -> None:
        """Show another time from now on."""
        self._now = moment


def checked_options(options: Options) -> Options:
    """Return the options with every k once, in order.

    Raises:
        UsageError: A k is not between 1 and 100, or there is none.
    """
    ks = tuple(sorted(set(options.ks)))
    if not ks or not 1 <= ks[0] <= ks[-1] <= K_MAX:
        raise UsageError("k", options.ks, f"whole numbers from 1 to {K_MAX}")
    return replace(options, ks=ks)


def steps_of(whole: EvaluationSet, options: Options) -> int:
    """Return how often a run calls its ``on_step``.

    Raises:
        UsageError: As ``selected``.
    """
    chosen = _chosen(whole, options)
    return sum(len(one.conversation.lines) + len(one.questions) for one in chosen)


async def evaluate(
    whole: EvaluationSet,
    settings: Settings,
    options: Options,
    *,
    home: Path | None = None,
    on_step: OnStep = lambda: None,
) -> Evaluation:
    """Play a set, ask its questions, and return where their evidence was found.

    Args:
        whole: The set.
        settings: Of the installations; their home is another one, and nothing runs in the
            background.
        options: What is asked, and how.
        home: Folder that keeps the embedded data, so that a later run finds the turns there; a
            temporary one if not given.
        on_step: For progress.

    Raises:
        UsageError: An option is not acceptable.
        Conflict: A graph of a conversation's name is there and says something else.
    """
    options = checked_options(options)
    chosen = _chosen(whole, options)
    tally = _Tally()
    async with AsyncExitStack() as stack:
        if options.baselines:
            _baselines()  # that they cannot be had is said before anything is played
        embedder = await _embedder(settings, stack) if options.baselines else None
        for group in _groups(chosen, options):
            async with _home(home, whole, group, options) as folder:
                run = _Run(settings, options, embedder, on_step, tally)
                await run.group(group, folder)
    return _result(whole, chosen, options, tally)


def _chosen(whole: EvaluationSet, options: Options) -> tuple[Interview, ...]:
    """Return what is played: alone, a conversation that is not asked about has no effect."""
    chosen = selected(whole, options.conversations, options.every)
    return tuple(one for one in chosen if one.questions or options.together)


def _groups(chosen: Sequence[Interview], options: Options) -> list[list[Interview]]:
    """Return what lies in one installation, in the order of playing: there time goes forward."""
    if options.together:
        return [sorted(chosen, key=lambda one: one.ends_at)]
    return [[one] for one in chosen]


async def _embedder(settings: Settings, stack: AsyncExitStack) -> Embedder | None:
    """Return the baselines' embedder.

    It is one of their own: the runtime's remembers questions, and would answer them for nothing.
    """
    wanted = wanted_embedder(settings)
    return None if wanted is None else await stack.enter_async_context(wanted)


@asynccontextmanager
async def _home(
    home: Path | None, whole: EvaluationSet, group: Sequence[Interview], options: Options
) -> AsyncIterator[Path]:
    """Hold the folder of one installation for the length of the block."""
    if home is None:
        with tempfile.TemporaryDirectory(prefix="ezra-eval-") as name:
            yield Path(name)
    elif options.together:
        yield home
    else:
        ids = [interview.id for interview in whole.interviews]
        place = ids.index(group[0].id) + 1
        yield home / f"{place:03d}-{_UNSAFE.sub('_', group[0].id)[:_FOLDER_CHARS]}"


@dataclass(slots=True)
class _Tally:
    """What a run has seen so far."""

    asked: list[Asked] = field(default_factory=list)
    degraded: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    embedder: str | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """One installation of a run."""

    settings: Settings
    options: Options
    embedder: Embedder | None
    on_step: OnStep
    tally: _Tally

    async def group(self, group: Sequence[Interview], home: Path) -> None:
        """Play and ask conversations that lie in one installation."""
        settings = self.settings.model_copy(update={"home": home, "background": False})
        clock = StandingClock(group[0].ends_at)
        async with Ezra.open(settings, clock=clock) as ezra:
            self.tally.embedder = ezra.embedder
            for interview in group:
                clock.show(interview.ends_at)
                await self._play(ezra, interview)
            for interview in group:
                await self._ask_about(ezra, clock, interview)

    async def _play(self, ezra: Ezra, interview: Interview) -> None:
        conversation = interview.conversation
        named = any(line.topics is not None for line in conversation.lines)
        topics: dict[str, tuple[str, ...]] = {} if named else {conversation.id: (TOPIC,)}
        script = Script(conversations=(conversation,))
        replayer = Replayer(ezra, script, topics, lambda _line, _new: self.on_step())
        report = await replayer.play(conversation.id, [], [])
        self.tally.problems += [f"{conversation.id}: {problem}" for problem in report.problems]

    async def _ask_about(self, ezra: Ezra, clock: StandingClock, interview: Interview) -> None:
        graph = await ezra.session_graph(interview.id)
        stored = await graph.turns_by_ref([turn.ref for turn in interview.turns])
        refs = {turn.id: ref for ref, turn in stored.items()}
        baselines = None
        if self.options.baselines and interview.questions:
            baselines = await _baselines().over(interview.turns, self.embedder)
        for number, question in enumerate(interview.questions):
            after = interview.ends_at + ASKED_AFTER
            clock.show(max(question.asked_at or after, after))
            systems = {"ezra": await self._recalled(graph, question, refs)}
            if baselines is not None:
                systems |= await self._compared(baselines, question, interview.turns)
            self.tally.asked.append(
                Asked(
                    conversation=interview.id,
                    question_id=question.id,
                    category=question.category,
                    question=question.text,
                    evidence=question.evidence,
                    is_timed=number >= WARM_UP,
                    systems=systems,
                )
            )
            self.on_step()

    async def _recalled(self, graph: Graph, question: Question, refs: Mapping[str, str]) -> Found:
        kinds = question.kinds or self.options.kinds
        started = time.perf_counter()
        result = await graph.recall(question.text, limit=self.options.limit, kinds=kinds)
        milliseconds = 1000 * (time.perf_counter() - started)
        self.tally.degraded.update(result.degraded)
        named = [turns_named(hit, refs, strict=self.options.strict) for hit in result.items]
        return Found(
            ranks=ranks_of(question.evidence, named),
            found=tuple(map(_shown, result.items, named)),
            milliseconds=milliseconds,
        )

    async def _compared(
        self, baselines: Baselines, question: Question, turns: Sequence[TurnLine]
    ) -> dict[str, Found]:
        answers = await baselines.ask(question.text, self.options.limit)
        systems = {}
        for name, ranking in answers.items():
            found = tuple(turns[place].ref for place in ranking.places)
            ranks = ranks_of(question.evidence, [(ref,) for ref in found])
            systems[str(name)] = Found(ranks=ranks, found=found, milliseconds=ranking.milliseconds)
        return systems


def turns_named(hit: Hit, refs: Mapping[str, str], *, strict: bool) -> tuple[str, ...]:
    """Return the refs of the turns for which a hit counts.

    A turn counts for itself. A summary, a fact, or whatever else rests on turns counts for those
    among its ``source_ids``, and a hit for those that were ``folded`` into it: who reads it is led
    to them.

    Args:
        hit: What recall returned.
        refs: The refs of turns by id.
        strict: A turn counts for itself, and nothing else counts.
    """
    own = (hit.ref,) if hit.kind == "turn" and hit.ref is not None else ()
    if strict:
        return own
    through = (refs[record] for record in (*hit.source_ids, *hit.folded) if record in refs)
    return tuple(dict.fromkeys((*own, *through)))


def _shown(hit: Hit, named: Sequence[str]) -> str:
    """Return a hit as it is listed: ids of records differ between runs, refs do not."""
    if hit.ref is not None:
        return hit.ref
    return f"{hit.kind}({', '.join(named)})"


def _result(
    whole: EvaluationSet, chosen: Sequence[Interview], options: Options, tally: _Tally
) -> Evaluation:
    places = {interview.id: place for place, interview in enumerate(whole.interviews)}
    asked = sorted(tally.asked, key=lambda one: places[one.conversation])
    warm_up = WARM_UP
    if not any(one.is_timed for one in asked):
        asked = [one.model_copy(update={"is_timed": True}) for one in asked]
        warm_up = 0
    return Evaluation(
        set_name=whole.name,
        embedder=tally.embedder,
        k=options.ks,
        kinds=options.kinds,
        strict=options.strict,
        together=options.together,
        every=options.every,
        warm_up=warm_up,
        conversations=tuple(interview.id for interview in chosen),
        turns=sum(len(interview.turns) for interview in chosen),
        excluded=whole.excluded,
        without_evidence=whole.without_evidence,
        dropped=whole.dropped,
        degraded=dict(sorted(tally.degraded.items())),
        problems=tuple(tally.problems),
        asked=tuple(asked),
    )


def _baselines() -> type[Baselines]:
    """Return what is compared with.

    Raises:
        ConfigError: What it computes with is not installed.
    """
    with needs("embed", "ezra eval --baselines"):
        from .baselines import Baselines  # noqa: PLC0415 - it may be missing
    return Baselines


_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


def selected(
    whole: EvaluationSet, conversations: Sequence[str] | None = None, every: int = 1
) -> tuple[Interview, ...]:
    """Return the conversations to play with the questions to ask, in the order of the set.

    Args:
        whole: The set.
        conversations: Ids, numbers from 1, or ranges of numbers such as ``1-3``; ``None``: all.
        every: Ask only every n-th question, counted over the conversations that are played.

    Raises:
        UsageError: A conversation does not exist, ``every`` is below 1, or nothing is left to ask.
    """
    if every < 1:
        raise UsageError("every", every, "1 or more")
    places = range(len(whole.interviews))
    wanted = (
        set(places)
        if conversations is None
        else {place for word in conversations for place in _interviews(whole, word)}
    )
    kept = tuple(_thinned([whole.interviews[place] for place in places if place in wanted], every))
    if not any(interview.questions for interview in kept):
        accepted = f"conversations that have at least {every} questions together"
        raise UsageError("conversations", conversations or "all", accepted)
    return kept


def _interviews(whole: EvaluationSet, word: str) -> range:
    ids = [interview.id for interview in whole.interviews]
    if word in ids:
        return range(ids.index(word), ids.index(word) + 1)
    numbers = _RANGE.fullmatch(word)
    if numbers:
        first, last = int(numbers[1]), int(numbers[2] or numbers[1])
        if 1 <= first <= last <= len(ids):
            return range(first - 1, last)
    accepted = f"an id of the set, or numbers or ranges from 1 to {len(ids)}"
    raise UsageError("conversations", word, accepted)


def _thinned(interviews: Sequence[Interview], every: int) -> Iterator[Interview]:
    before = 0
    for interview in interviews:
        kept = tuple(
            question
            for number, question in enumerate(interview.questions, start=before + 1)
            if number % every == 0
        )
        before += len(interview.questions)
        yield interview.model_copy(update={"questions": kept})
