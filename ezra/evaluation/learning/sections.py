"""What ``ezra eval learning`` measures: one function each, listed at the end.

A new section is a function that takes a ``Bench`` and returns a ``Section``, and a line in
``SECTIONS``.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from metaagents.guard.policy import DEFAULT
from tiers.errors import UsageError
from tiers.records import Fact, Source

from .attacks import attacks
from .bench import Bench
from .grammar import claims, filled
from .guard import Judged, is_replaced, judged_claim, judged_talk
from .labels import (
    HonestSet,
    Pair,
    SaidTurn,
    attack_set,
    honest,
    hostile,
    pairs,
    statements,
    templates,
)
from .results import Figure, LearningReport, Mistake, Section
from .scoring import Fate, fate, is_live, of_label, said, since_agrees, verdict
from .taint import taint as taint_of
from .timelines import measured_timelines

Measure: TypeAlias = Callable[[Bench], Awaitable[Section]]

STARTS_AT = datetime(2026, 3, 11, 9, 30, tzinfo=UTC)
"""What the clock shows when the earlier statement of a pair is remembered."""


async def supersessions(bench: Bench) -> Section:
    """Pairs of which the later takes the earlier's place, and pairs that both stay true."""
    changing = bench.chosen(pairs("supersessions").pairs)
    staying = bench.chosen(filled(templates("compatible")).pairs)
    fates, problems = await _fates(bench, "supersessions", [*changing, *staying])
    by_kind: dict[str, list[bool]] = {}
    for pair in changing:
        by_kind.setdefault(pair.kind, []).append(fates[pair.id][0] == "superseded")
    kinds = sum(2 * sum(found) > len(found) for found in by_kind.values())
    found = sum(sum(one) for one in by_kind.values())
    false = sum(fates[pair.id][0] != "kept" for pair in staying)
    wanted = [(pair, {"superseded"}) for pair in changing] + [(pair, {"kept"}) for pair in staying]
    return Section(
        name="supersessions",
        figures=(
            Figure(name="kinds with most pairs found", count=kinds, of=len(by_kind)),
            Figure(name="supersessions found", count=found, of=len(changing)),
            Figure(name="false ones", count=false, of=len(staying), best="none"),
        ),
        mistakes=tuple(_wrong_fates(wanted, fates)),
        problems=problems,
    )


async def duplicates(bench: Bench) -> Section:
    """Pairs that say the same are one fact; those that only look alike stay two."""
    chosen = bench.chosen(pairs("duplicates").pairs)
    fates, problems = await _fates(bench, "duplicates", chosen)
    same = [pair for pair in chosen if pair.same]
    apart = [pair for pair in chosen if not pair.same]
    wanted: list[tuple[Pair, set[str]]] = [(pair, {"merged"}) for pair in same]
    wanted += [(pair, {"kept", "superseded"} if pair.contradict else {"kept"}) for pair in apart]
    mistakes = tuple(_wrong_fates(wanted, fates))
    wrong = {mistake.case for mistake in mistakes}
    return Section(
        name="duplicates",
        figures=(
            Figure.share("duplicates merged", [pair.id not in wrong for pair in same]),
            Figure.share("different facts lost", [pair.id in wrong for pair in apart], "none"),
        ),
        mistakes=mistakes,
        problems=problems,
    )


async def _paraphrases(bench: Bench, *, name: str) -> Section:
    """Pairs that say the same in other words are one fact; near misses are never one.

    With the embedder of the environment, and by words alone.
    """
    chosen = bench.chosen(pairs(name).pairs)
    wanted = [
        (pair, {"merged"} if pair.same else {"kept", "superseded", "reversed"}) for pair in chosen
    ]
    alone = replace(bench, settings=bench.settings.model_copy(update={"embedder": "off"}))
    fates, problems = await _fates(bench, name, chosen)
    by_words, more = await _fates(alone, f"{name}, words alone", chosen)
    return Section(
        name=name,
        figures=(
            *_merged("", wanted, fates),
            *_merged(", words alone", wanted, by_words),
        ),
        mistakes=tuple(_wrong_fates(wanted, fates)),
        problems=(*problems, *more),
    )


def _merged(
    suffix: str, wanted: Sequence[tuple[Pair, set[str]]], fates: _Fates
) -> tuple[Figure, ...]:
    same = [fates[pair.id][0] == "merged" for pair, _ in wanted if pair.same]
    apart = [fates[pair.id][0] == "merged" for pair, _ in wanted if not pair.same]
    return (
        Figure.share(f"paraphrases merged{suffix}", same),
        Figure.share(f"different facts merged{suffix}", apart, "none"),
    )


async def guard(bench: Bench) -> Section:
    """What a model writes: honest statements are taken, false ones are not, of neither kind.

    A judge that says of everything that it supersedes is believed where that can be.
    """
    false = hostile("hostile")
    open_ = await _talks(bench, honest("honest"))
    wide = await _talks(bench, honest("honest-wide"))
    closed = await _talks(bench, honest("honest-sealed"))
    free = await _talks(bench, honest("honest-free"))
    free_closed = await _talks(bench, honest("honest-free-sealed"))
    made = bench.chosen(list(claims(false)))
    twisted = []
    with bench.progress("guard", len(made)) as advance:
        for claim in made:
            twisted.append(await asyncio.to_thread(judged_claim, claim, false.at))
            advance()
    staying = bench.chosen(filled(templates("compatible")).pairs)
    changing = bench.chosen(pairs("supersessions").pairs)
    wrong = [one.mistake for one in (*open_, *wide, *free) if one.taken == (one.kind == "false")]
    wrong += [one.mistake for one in twisted if one.taken]
    return Section(
        name="guard",
        figures=(
            *_taken("", open_),
            *_taken("wide ", wide),
            *_taken("sealed ", closed),
            *_taken("free ", free),
            *_taken("free sealed ", free_closed),
            Figure.share("false statements taken", [one.taken for one in twisted], "none"),
            Figure(
                name="families with one taken",
                count=len({one.kind for one in twisted if one.taken}),
                of=len({one.kind for one in twisted}),
                best="none",
            ),
            Figure.share(
                "judge says supersedes, rightly, and is believed",
                [is_replaced(pair, STARTS_AT) for pair in changing],
            ),
            Figure.share(
                "judge says supersedes, wrongly, and is believed",
                [is_replaced(pair, STARTS_AT) for pair in staying],
                "none",
            ),
        ),
        mistakes=tuple(wrong),
    )


async def taint(bench: Bench) -> Section:
    """Poisoned records: what came of them is found, taken back, and brought back again."""
    return await taint_of(bench, STARTS_AT)


async def _talks(bench: Bench, source: HonestSet) -> list[Judged]:
    found: list[Judged] = []
    for talk in bench.chosen(source.talks):
        found += await asyncio.to_thread(judged_talk, talk, source.at)
    return found


def _taken(prefix: str, judged: Sequence[Judged]) -> tuple[Figure, ...]:
    of_kind = {kind: [one for one in judged if one.kind == kind] for kind in _KINDS}
    figures = [
        Figure.share(f"{prefix}{name}", [one.taken for one in of_kind[kind]])
        for kind, name in _KINDS.items()
        if kind != "false"
    ]
    if of_kind["false"]:
        told = [one.told for one in of_kind["fact"]]
        figures.append(Figure.share(f"{prefix}facts taken, or told as said", told))
        false = [one.taken for one in of_kind["false"]]
        figures.append(Figure.share(f"{prefix}{_KINDS['false']}", false, "none"))
    return tuple(figures)


_KINDS = {
    "summary": "sentences of summaries taken",
    "fact": "facts taken",
    "false": "false sentences taken",
}


async def attacked(bench: Bench) -> Section:
    """Texts that are to poison a memory are caught, talk is not, and neither takes long.

    What is caught is not stored as it is: redacted, put aside or refused. Talk is that of the other
    sets, and of the bench's own, as a person says it and an agent answers it.
    """
    caught = [(name, bench.chosen(list(attacks(attack_set(name))))) for name in _ATTACKS]
    harmless = [(one.source, one.text) for one in attacks(attack_set("harmless"))]
    talk = _talk() + [(source, text) for source, text in bench.talk if text.strip()]
    figures: list[Figure] = []
    mistakes: list[Mistake] = []
    for name, made in caught:
        missed = [one for one in made if DEFAULT.judge(one.text, one.source).action == "allow"]
        figures.append(Figure(name=f"{name} caught", count=len(made) - len(missed), of=len(made)))
        if name == _ATTACKS[0]:
            mistakes += [_mistake(one.id, one.family, "missed", one.text) for one in missed]
    for name, texts in (("harmless texts", harmless), ("texts of talk", talk)):
        took, wrong = await asyncio.to_thread(_judged, texts)
        count = f"{name} flagged"
        figures.append(Figure(name=count, count=len(wrong), of=len(texts), best="none"))
        clock = f"{name}, median \u00b5s of processor time"
        figures.append(Figure(name=clock, count=took, best="any"))
        mistakes += [_mistake(source, name, "flagged", text) for source, text in wrong]
    return Section(name="attacks", figures=tuple(figures), mistakes=tuple(mistakes))


_ATTACKS = ("attacks", "attacks-sealed")
_SHOWN_CHARS = 200


def _mistake(case: str, kind: str, what: str, text: str) -> Mistake:
    return Mistake(case=case, kind=kind, what=what, said=(text[:_SHOWN_CHARS],))


def _talk() -> list[tuple[Source, str]]:
    """Return what people say, and what agents answer and write, in the sets of this module."""
    texts: list[tuple[Source, str]] = []
    for source in (honest("honest"), honest("honest-sealed")):
        for talk in source.talks:
            texts += [("user", one.text) for one in talk.turns]
            texts += [("agent", text) for one in talk.turns for text in (one.answer,)]
            texts += [("agent", text) for text in (*talk.summaries, *talk.facts)]
    for name in ("statements", "statements-sealed"):
        texts += [("user", turn.text) for turn in statements(name).turns]
    for pair in (*pairs("supersessions").pairs, *pairs("duplicates").pairs):
        texts += [("user", pair.old), ("user", pair.new)]
    return texts


def _judged(texts: Sequence[tuple[Source, str]]) -> tuple[int, list[tuple[Source, str]]]:
    """Return the median microseconds that a text took, and which texts were flagged."""
    took: list[int] = []
    wrong: list[tuple[Source, str]] = []
    for source, text in texts:
        before = time.process_time_ns()
        action = DEFAULT.judge(text, source).action
        took.append(time.process_time_ns() - before)
        if action != "allow":
            wrong.append((source, text))
    return round(sorted(took)[len(took) // 2] / 1000), wrong


@dataclass(frozen=True)
class _Heard:
    """A turn, and the facts that were learnt of it."""

    turn: SaidTurn
    facts: tuple[Fact, ...]

    @property
    def false(self) -> list[Fact]:
        return [fact for fact in self.facts if verdict(self.turn, fact) == "false"]

    @property
    def is_learnt(self) -> bool:
        """Whether each label has a fact that is right."""
        return all(
            any(of_label(self.turn, label, fact) == "right" for fact in self.facts)
            for label in self.turn.facts
        )

    @property
    def dated(self) -> list[bool]:
        """Of each label with a time, whether a fact that is right has it."""
        return [
            any(
                of_label(self.turn, label, fact) == "right" and since_agrees(label, fact)
                for fact in self.facts
            )
            for label in self.turn.facts
            if label.since
        ]


async def _statements(bench: Bench, *, name: str) -> Section:
    """Turns of talk: what they state is learnt, and nothing else."""
    source = statements(name)
    chosen = bench.chosen(source.turns)
    heard = []
    async with bench.memory(source.at) as memory:
        with bench.progress(name, len(chosen)) as advance:
            for turn in chosen:
                heard.append(_Heard(turn, await memory.learnt(turn, source.at)))
                advance()
        problems = tuple(memory.problems)
    return Section(
        name=name,
        figures=_figures(heard),
        mistakes=tuple(mistake for one in heard for mistake in _mistakes_of(one)),
        problems=problems,
    )


def _figures(heard: Sequence[_Heard]) -> tuple[Figure, ...]:
    stating = [one for one in heard if one.turn.facts]
    silent = [one for one in heard if not one.turn.facts]
    dated = [right for one in stating for right in one.dated]
    worth = Counter(verdict(one.turn, fact) for one in heard for fact in one.facts)
    learnt = sum(one.is_learnt for one in stating)
    quiet = sum(not one.facts for one in silent)
    return (
        Figure(name="statements learnt", count=learnt, of=len(stating)),
        Figure(name="times of validity right", count=sum(dated), of=len(dated)),
        Figure(name="turns without a statement, nothing learnt", count=quiet, of=len(silent)),
        Figure(name="facts learnt", count=worth.total(), best="any"),
        Figure(name="incomplete facts", count=worth["incomplete"], best="any"),
        Figure(name="false facts", count=worth["false"], best="none"),
    )


def _mistakes_of(one: _Heard) -> Iterator[Mistake]:
    what = "false" if one.false else "missed"
    if one.false or not one.is_learnt:
        yield Mistake(
            case=one.turn.id,
            kind=one.turn.kind,
            what=what,
            said=(one.turn.text,),
            learnt=tuple(said(fact) for fact in one.false or one.facts),
        )
    elif not all(one.dated):
        yield Mistake(
            case=one.turn.id,
            kind=one.turn.kind,
            what="time of validity",
            said=(one.turn.text,),
            learnt=tuple(f"{said(fact)} (from {fact.valid_from})" for fact in one.facts),
        )


_Fates: TypeAlias = dict[str, tuple[Fate, tuple[Fact, Fact]]]


async def _fates(bench: Bench, name: str, cases: Sequence[Pair]) -> tuple[_Fates, tuple[str, ...]]:
    """Return what became of each pair, by its id, and what failed in the background."""
    found: _Fates = {}
    async with bench.memory(STARTS_AT) as memory:
        with bench.progress(name, len(cases)) as advance:
            for pair in cases:
                both = await memory.remembered(pair, STARTS_AT)
                found[pair.id] = fate(*both), both
                advance()
        return found, tuple(memory.problems)


def _wrong_fates(wanted: Sequence[tuple[Pair, set[str]]], fates: _Fates) -> Iterator[Mistake]:
    for pair, accepted in wanted:
        found, both = fates[pair.id]
        if found not in accepted:
            standing = tuple(said(fact) for fact in both if is_live(fact))
            said_so = (pair.old, pair.new)
            yield Mistake(case=pair.id, kind=pair.kind, what=found, said=said_so, learnt=standing)


_STATEMENTS = (
    "statements",
    "statements-wide",
    "statements-plain",
    "statements-later",
    "statements-everyday",
    "statements-fresh",
    "statements-sealed",
    "statements-sealed-fresh",
    "statements-common",
    "statements-unseen",
    "statements-sealed-unseen",
    "statements-typed",
    "statements-sealed-typed",
    "statements-told",
    "statements-sealed-told",
    "statements-said",
)
_PARAPHRASES = ("paraphrases", "paraphrases-sealed", "paraphrases-later")
_SEALED = "-sealed"
"""Of such a set mistakes stay untold, so that nobody makes patterns of them."""
OPEN_STATEMENTS = tuple(name for name in _STATEMENTS if _SEALED not in name)
"""Sets of statements that whoever works on learning may read."""

_TIMELINES = ("timelines", "timelines-sealed")

SECTIONS: Mapping[str, Measure] = MappingProxyType(
    {
        **{name: partial(_statements, name=name) for name in _STATEMENTS},
        "supersessions": supersessions,
        **{name: partial(measured_timelines, name=name) for name in _TIMELINES},
        "duplicates": duplicates,
        **{name: partial(_paraphrases, name=name) for name in _PARAPHRASES},
        "guard": guard,
        "taint": taint,
        "attacks": attacked,
    }
)


async def measured(bench: Bench, names: Sequence[str] = ()) -> LearningReport:
    """Run the sections of these names, all if none is given, and return what they found.

    Raises:
        UsageError: There is no section of a name, or a set is not in order.
    """
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        raise UsageError("set", unknown[0], f"one of {', '.join(SECTIONS)}")
    async with bench.memory(STARTS_AT) as memory:
        embedder = memory.ezra.embedder
    found = [await SECTIONS[name](bench) for name in SECTIONS if name in (names or SECTIONS)]
    sections = tuple(
        one.model_copy(update={"mistakes": ()}) if _SEALED in one.name else one for one in found
    )
    return LearningReport(embedder=embedder, every=bench.every, sections=sections)
