"""The parts of a run, in their order; each asks processes of its own and returns figures."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tiers.errors import EzraError, UsageError

from ...assembly.embedders import wanted_embedder
from ...settings import Settings
from .. import Progress, quietly
from .agents import Work
from .results import Figure, Report, this_machine

MODES: Mapping[str, str] = {
    "off": "by words",
    "required": "with the model",
    "given": "vectors given",
}
QUICKER = 10
"""A quick run does so much less of everything."""


@dataclass(frozen=True)
class Plan:
    """What is measured.

    Attributes:
        sections: Their names; empty: all.
        agents: How many agents think at the same time, in turns.
        sizes: Turns in the memory that grows.
        turns: Of each agent; of one alone ten times as many.
        think: Seconds, on the average, that a model would think.
        questions: At each size.
        facts: What the memory of agents knows before they speak.
        against: Another checkout, which takes turns beside this one.
    """

    sections: tuple[str, ...] = ()
    agents: tuple[int, ...] = (1, 5, 25, 100)
    sizes: tuple[int, ...] = (1_000, 10_000, 100_000)
    turns: int = 20
    think: float = 1.0
    questions: int = 100
    facts: int = Work.facts
    against: Path | None = None

    def quick(self) -> Plan:
        """Return a plan that takes a minute or two, for a first look."""
        return Plan(
            self.sections,
            agents=tuple(one for one in self.agents if one <= QUICKER) or self.agents[:1],
            sizes=tuple(sorted({max(100, size // QUICKER // QUICKER) for size in self.sizes})),
            turns=max(2, self.turns // 2),
            think=self.think / QUICKER,
            questions=max(10, self.questions // QUICKER),
            facts=self.facts // QUICKER,
            against=self.against,
        )


async def bench(plan: Plan, progress: Progress = quietly) -> Report:
    """Measure what a plan asks for; an hour if it is all of it, half of it at the largest size.

    Raises:
        UsageError: A section is none, or ``against`` is no checkout.
        NotMeasured: A process failed.
    """
    names = plan.sections or tuple(SECTIONS)
    for name in names:
        if name not in SECTIONS:
            raise UsageError("section", name, f"one of {', '.join(SECTIONS)}")
    modes = ("off", "required") if wanted_embedder(Settings()) is not None else ("off",)
    chosen = _Chosen(plan, modes, None if plan.against is None else checkout(plan.against))
    figures: list[Figure] = []
    for name in names:
        steps, section = SECTIONS[name]
        with progress(name, steps(chosen)) as advance:
            async for some in section(chosen):
                figures += some
                advance()
    return Report(this_machine(), tuple(figures))


@dataclass(frozen=True)
class _Chosen:
    plan: Plan
    modes: tuple[str, ...]
    other: Path | None


_Section: TypeAlias = Callable[[_Chosen], AsyncIterator[Sequence[Figure]]]


async def _turn(chosen: _Chosen) -> AsyncIterator[Sequence[Figure]]:
    """Yield what a turn of one agent takes that waits for nothing."""
    plan = chosen.plan
    for mode in chosen.modes:
        work = asdict(Work(turns=plan.turns * 10, embedder=mode, facts=plan.facts, watched=False))
        taken = await done_apart("agents", work)
        other = {} if chosen.other is None else await done_apart("agents", work, chosen.other)

        def figure(name: str, what: str) -> Figure:
            beside = ((str(plan.against), other[name]),) if other else ()  # noqa: B023
            return Figure("turn", MODES[mode], what, taken[name], beside=beside)  # noqa: B023

        yield [
            figure("processor_ms", "processor time, background included"),
            figure("p50_ms", "p50"),
            figure("p99_ms", "p99"),
        ]


async def _agents(chosen: _Chosen) -> AsyncIterator[Sequence[Figure]]:
    """Yield what a turn takes where many agents speak, each of which thinks in between."""
    plan = chosen.plan
    for mode in (*chosen.modes, "given"):
        for agents in plan.agents:
            work = asdict(Work(agents, plan.turns, plan.think, mode, plan.facts))
            taken = await done_apart("agents", work)
            case = f"{agents} agent{'s' * (agents > 1)}, {MODES[mode]}"
            yield [
                Figure("agents", case, "p50", taken["p50_ms"], at=agents),
                Figure("agents", case, "p99", taken["p99_ms"], at=agents),
                Figure("agents", case, "served of what was asked", 100 * taken["served"], "%"),
                Figure("agents", case, "longest stall of the loop", taken["lag_ms"]),
            ]


async def _recording(chosen: _Chosen) -> AsyncIterator[Sequence[Figure]]:
    """Yield how fast a history is recorded."""
    for mode in (*chosen.modes, "given"):
        spec = {"embedder": mode, "turns": chosen.plan.turns * 100}
        taken = await done_apart("recording", spec)
        yield [
            Figure("recording", MODES[mode], "stored", taken["stored_per_second"], "turns/s"),
            Figure("recording", MODES[mode], "and learnt", taken["learnt_per_second"], "turns/s"),
            Figure("recording", MODES[mode], "processor time of a turn", taken["processor_ms"]),
        ]


async def _growth(chosen: _Chosen) -> AsyncIterator[Sequence[Figure]]:
    """Yield what a turn and a recall take in a memory that grows, beside rivals."""
    plan = chosen.plan
    spec = {"sizes": plan.sizes, "asked": plan.questions}
    rows = (await done_apart("growth", {**spec, "turns": plan.turns * 5}))["rows"]
    yield []
    theirs = {row["size"]: row for row in (await done_apart("rivals", spec))["rows"]}
    for row in rows:
        yield _at_size(row, theirs[row["size"]], rows[0])


def _at_size(
    row: Mapping[str, float], theirs: Mapping[str, float], first: Mapping[str, float]
) -> list[Figure]:
    size = int(row["size"])
    case = f"{size:,} turns"
    found = [
        Figure("growth", case, name, row[key], unit, _beside_first(row, first, key), size)
        for key, name, unit in (
            ("turn_processor_ms", "processor time of a turn", "ms"),
            ("turn_p50_ms", "p50 of a turn", "ms"),
            ("recording_processor_ms", "processor time of recording one", "ms"),
            ("memory_mib", "memory of the process", "MiB"),
        )
    ]
    lag = max(row["turn_lag_ms"], row["recording_lag_ms"])
    found.append(Figure("growth", case, "longest stall of the loop", lag))
    for mode, words in (("given", "vectors given"), ("model", "question embedded")):
        for cut in ("p50", "p95"):
            key = f"recall_{mode}_{cut}_ms"
            if key in row:
                rivals = _rivals(theirs, cut) if mode == "given" else ()
                found.append(
                    Figure("recall", f"{case}, {words}", cut, row[key], beside=rivals, at=size)
                )
    return found


def _beside_first(
    row: Mapping[str, float], first: Mapping[str, float], key: str
) -> tuple[tuple[str, float], ...]:
    return () if row is first else ((f"at {int(first['size']):,}", first[key]),)


def _rivals(row: Mapping[str, float], cut: str) -> tuple[tuple[str, float], ...]:
    ending = f"_{cut}_ms"
    return tuple(
        (name.removesuffix(ending), value) for name, value in row.items() if name.endswith(ending)
    )


SECTIONS: Mapping[str, tuple[Callable[[_Chosen], int], _Section]] = {
    "turn": (lambda chosen: len(chosen.modes), _turn),
    "agents": (lambda chosen: (len(chosen.modes) + 1) * len(chosen.plan.agents), _agents),
    "recording": (lambda chosen: len(chosen.modes) + 1, _recording),
    "growth": (lambda chosen: 1 + len(chosen.plan.sizes), _growth),
}
"""Each with how many steps it takes."""


LIMIT_SECONDS = 6 * 3600.0
"""A million records take hours on a slow machine; what takes longer has hung."""
SHOWN_CHARS = 2_000

_RUNNER = """
import asyncio, importlib.util, json, sys
name, path, spec = sys.argv[1:]
found = importlib.util.spec_from_file_location(name, path)
module = sys.modules[name] = importlib.util.module_from_spec(found)
found.loader.exec_module(module)
sys.stdout.write(json.dumps(asyncio.run(module.measured(**json.loads(spec)))))
"""
"""Loads a module of this package from its file, beside whatever ezra the path leads to."""

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


class NotMeasured(EzraError):
    """A process that was to measure something failed."""

    def __init__(self, what: str, said: str) -> None:
        super().__init__(f"{what} could not be measured: {said[-SHOWN_CHARS:].strip()}")


def checkout(path: Path) -> Path:
    """Return the folder of another checkout.

    Raises:
        UsageError: There is none.
    """
    folder = path.resolve()
    if not (folder / "ezra" / "__init__.py").is_file():
        raise UsageError("against", str(path), "a folder with a checkout of ezra")
    return folder


async def done_apart(
    module: str, spec: Mapping[str, object], folder: Path = ROOT
) -> dict[str, Any]:
    """Call ``measured`` of a module of this package in a process of its own, and return its answer.

    Args:
        module: Its name.
        spec: The arguments.
        folder: The checkout whose ezra it uses.

    Raises:
        NotMeasured: It failed.
    """
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", _RUNNER),
        *(f"{__package__}.{module}", str(HERE / f"{module}.py"), json.dumps(spec)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        cwd=folder,
    )
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            said, problem = await process.communicate()
    except TimeoutError:
        raise NotMeasured(module, f"no end after {LIMIT_SECONDS:.0f} seconds") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise NotMeasured(module, problem.decode(errors="replace"))
    answer: dict[str, Any] = json.loads(said)
    return answer
