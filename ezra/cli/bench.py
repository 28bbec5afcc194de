"""``ezra bench``: what a turn, a recall and a recording take on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tiers.errors import UsageError, refused

from ..evaluation.speed.picture import picture
from ..evaluation.speed.results import Report, headings
from ..evaluation.speed.sections import SECTIONS, Plan
from ..evaluation.speed.sections import bench as measured
from .command import Answer
from .doors import Machine
from .options import numbers_of
from .screen import Screen


async def bench(
    machine: Machine,
    sections: Annotated[
        list[str] | None,
        typer.Argument(help=f"What to measure: {', '.join(SECTIONS)}.", show_default="all"),
    ] = None,
    agents: str = ",".join(map(str, Plan.agents)),
    sizes: str = ",".join(map(str, Plan.sizes)),
    turns: Annotated[int, typer.Option(min=2)] = Plan.turns,
    think: Annotated[float, typer.Option(min=0.0)] = Plan.think,
    questions: Annotated[int, typer.Option(min=2)] = Plan.questions,
    against: Path | None = None,
    quick: bool = False,
    image: Annotated[Path | None, typer.Option("--picture")] = None,
) -> Answer:
    """Measure speed: the same made-up talk each time, in embedded memories that are gone then.

    Processor time comes first, for the clocks of shared machines lie. Each part runs in processes
    of its own; let nothing else run beside it. Without --quick it takes up to an hour. Baselines
    answer the same questions: BM25, a cosine over everything, both fused, and LangGraph's store in
    memory where it is installed. Compare within one run only.

    Args:
        agents: How many agents think at the same time, by commas.
        sizes: Turns in the memory that grows, by commas, rising.
        turns: Turns of each agent.
        think: Seconds, on the average, that a model would think.
        questions: Questions at each size.
        against: Another checkout of ezra, whose turns are measured beside.
        quick: Much less of everything.
        image: Draw how times grow into this SVG file.

    Examples:
        ezra bench --quick
        ezra bench turn --against ../older
        ezra bench growth --sizes 1000,100000,1000000 --picture growth.svg
        ezra bench --json
    """
    machine.only("bench", tell=False)
    plan = Plan(
        tuple(sections or ()),
        agents=_numbers("agents", agents),
        sizes=tuple(sorted(set(_numbers("sizes", sizes)))),
        turns=turns,
        think=think,
        questions=questions,
        against=against,
    )
    if image is not None:
        _drawn(image, "")  # what cannot be written is known before an hour of work
    found = await measured(plan.quick() if quick else plan, Screen().progress)
    if image is not None:
        _drawn(image, picture(found))
    return Answer(found.as_json(), [lambda screen: _show(screen, found)])


def _show(screen: Screen, found: Report) -> None:
    machine = found.machine
    screen.line(f"ezra {machine.ezra}, Python {machine.python}")
    screen.line(f"{machine.processor}, {machine.cores} cores, {machine.system}")
    screen.line(
        f"the machine's own speed: a million additions {machine.python_ms:.0f} ms, 20 MB hashed "
        f"{machine.hash_ms:.0f} ms; {machine.load:.1f} processes wanted to run\n"
    )
    screen.table(headings(), [figure.cells() for figure in found.figures])


def _numbers(field: str, text: str) -> tuple[int, ...]:
    numbers = numbers_of(field, text)
    if min(numbers, default=0) < 1:
        raise UsageError(field, text, "numbers from 1")
    return numbers


def _drawn(path: Path, text: str) -> None:
    with refused(lambda why: UsageError("picture", str(path), f"a file to write ({why})")):
        path.write_text(text, encoding="utf-8")
