"""Carries attempts out against a backend and reports what came of them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tiers.errors import EzraError

from .attempts import Attempt, Touch, drawn
from .engines import Bench, Target, counted
from .judge import Change, changes, given_away, mutations, of_report, shown_rightly
from .raw import Raw
from .report import Finding, Report
from .worlds import World, world_of

COUNTING = "counts"
COUNTS_PER_BATCH = 4
FINDINGS_MAX = 200
"""After so many a trial ends: there is enough to look at."""


@dataclass(frozen=True)
class Plan:
    """How hard to try.

    Attributes:
        attempts: How many; a few counts after each batch come on top.
        seed: Of the world and of the attempts.
        houses: Pairs of tenant and graph in the world.
        corners: Owners in each.
        batch: Attempts between two looks at the raw engine.
        narrowed: In how many batches it is looked for who made a change.
    """

    attempts: int = 500
    seed: int = 20260301
    houses: int = 11
    corners: int = 6
    batch: int = 46
    narrowed: int = 2

    def world(self, bench: Bench) -> World:
        """Return the plan's world for a backend."""
        houses = min(self.houses, bench.houses_max)
        return world_of(self.seed, houses=houses, corners=self.corners)


async def tried(bench: Bench, plan: Plan, folder: Path) -> Report:
    """Plant the plan's world in a backend, attack it, and report.

    The raw engine is looked at after every batch. Only when a batch changed what nobody in it
    might, it is carried out again, in a fresh world, with a look after each attempt.

    What is no error of ezra's ends the trial: driver exceptions never leave the tiers.
    """
    started = time.perf_counter()
    report = Report(bench.name)
    world = plan.world(bench)
    (folder / "first").mkdir(parents=True)
    async with bench.opened(world, folder / "first") as target:
        await _attack(bench, plan, world, target, report, folder)
    report.seconds = time.perf_counter() - started
    return report


async def _attack(
    bench: Bench, plan: Plan, world: World, target: Target, report: Report, folder: Path
) -> None:
    before, narrowed = await target.raw(), 0
    batches = drawn(world, bench.methods, plan.attempts, plan.seed, plan.batch)
    for number, attempts in enumerate(batches):
        for attempt in attempts:
            await _carry_out(world, target, attempt, report)
        after = await target.raw()
        guilty = mutations(changes(before, after), _touches(attempts))
        if guilty and narrowed < plan.narrowed:
            narrowed += 1
            again = folder / f"again-{number}"
            again.mkdir()
            report.mutations += await _narrowed(bench, plan, number, guilty, again)
        elif guilty:
            report.mutations += _unattributed(guilty, number)
        await _count(bench, target, after, attempts, report)
        before = after
        if len(report.findings) >= FINDINGS_MAX:
            return


async def _carry_out(world: World, target: Target, attempt: Attempt, report: Report) -> None:
    report.attempts += 1
    report.by_class[attempt.label] += 1
    answer: object
    try:
        answer = await attempt.call(target.ports)
    except EzraError as refusal:
        answer = refusal
        report.refused += 1
    else:
        report.answered[attempt.method.name] += 1
        report.shown += shown_rightly(world, answer)
    report.leaks += [
        Finding(of_report(leak), str(attempt), attempt.method.name)
        for leak in given_away(world, attempt, answer)
    ]


def _touches(attempts: Sequence[Attempt]) -> list[Touch]:
    return list(dict.fromkeys(touch for attempt in attempts for touch in attempt.touches))


async def _count(
    bench: Bench, target: Target, raw: Raw, attempts: Sequence[Attempt], report: Report
) -> None:
    """Compare what a store counts for some attackers with what the raw engine has of theirs."""
    asked = list({(one.scope.tenant, one.scope.graph_id): one.scope for one in attempts}.values())
    for scope in asked[-COUNTS_PER_BATCH:]:
        said = await bench.counts(target.ports, scope)
        if not said:
            return
        report.attempts += 1
        report.by_class[COUNTING] += 1
        found = counted(raw, scope, list(said))
        if said != found:
            what = f"counts {said} where the engine has {found}"
            report.leaks.append(Finding(what, repr(scope), "count"))


async def _narrowed(
    bench: Bench, plan: Plan, number: int, guilty: Sequence[Change], folder: Path
) -> list[Finding]:
    """Return which attempts of a batch made the changes, as far as they make them again."""
    world = plan.world(bench)
    findings: list[Finding] = []
    async with bench.opened(world, folder) as target:
        batches = drawn(world, bench.methods, plan.attempts, plan.seed, plan.batch)
        attempts = next(itertools.islice(batches, number, None))
        before = await target.raw()
        for attempt in attempts:
            await _carry_out(world, target, attempt, Report(bench.name))
            after = await target.raw()
            wrong = mutations(changes(before, after), attempt.touches)
            findings += [
                Finding(of_report(change), str(attempt), attempt.method.name) for change in wrong
            ]
            before = after
    if findings:
        return findings
    return _unattributed(guilty, number)


def _unattributed(guilty: Sequence[Change], number: int) -> list[Finding]:
    by = f"one of batch {number}, or those before it"
    return [Finding(of_report(change), by, "unknown") for change in guilty]
