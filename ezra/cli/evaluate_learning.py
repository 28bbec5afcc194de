"""``ezra eval learning``: what is learnt without a language model, on sets that come with ezra."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tiers.records import Source

from ..evaluation.learning.bench import Bench
from ..evaluation.learning.results import Figure, LearningReport, Mistake
from ..evaluation.learning.sections import SECTIONS, measured
from ..replay.formats import read_script
from ..replay.script import TurnLine
from .command import Answer, Part, Rows
from .doors import Machine
from .options import settings_at
from .screen import Screen

AIMS = {"all": "all", "none": "0", "any": ""}
"""How the table says what a figure should be."""


async def evaluate_learning(
    machine: Machine,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help=f"Only this one: {', '.join(SECTIONS)}. Repeatable."),
    ] = None,
    every: Annotated[int, typer.Option(min=1)] = 1,
    mistakes: bool = False,
    talk: list[Path] | None = None,
) -> Answer:
    """Measure what is learnt from talk without a language model, and what is learnt falsely.

    Turns are said and statements remembered in embedded memories that are gone afterwards; what
    was labelled beforehand decides, no model judges. A minute or two. The embedder is that of the
    environment; EZRA_EMBEDDER=off measures words alone. `--set attacks` counts what the write guard
    catches of texts that poison a memory, what it flags of harmless ones, and how long it takes.

    Args:
        every: Measure only every n-th case.
        mistakes: List the cases that went wrong; none of a sealed set.
        talk: Talk of your own for `attacks`, as `ezra replay` reads it. Repeats.

    Examples:
        ezra eval learning
        ezra eval learning --set statements --mistakes
        ezra eval learning --set supersessions --set duplicates --every 4 --json
    """
    machine.only("eval learning", tell=False)
    settings = settings_at(None, background=False)
    bench = Bench(settings, Screen().progress, every, _talk(talk or ()))
    found = await measured(bench, sets or ())
    return Answer(found.as_json(mistakes=mistakes), _shown(found, mistakes=mistakes))


def _talk(paths: Sequence[Path]) -> tuple[tuple[Source, str], ...]:
    """Return what is said in conversation files, each with whose words it is."""
    if not paths:
        return ()
    said: list[tuple[Source, str]] = []
    for line in read_script(paths, now=datetime.now(UTC)).lines():
        if isinstance(line, TurnLine):
            said += [("user", line.text), ("agent", line.response)]
            said += [("tool", one.output) for one in line.tool_outputs]
    return tuple((source, text) for source, text in said if text.strip())


def _shown(found: LearningReport, *, mistakes: bool) -> Iterator[Part]:
    sample = "" if found.every == 1 else f"; one case of {found.every}"
    yield f"without a language model; {found.embedder or 'words alone'}{sample}\n"
    rows = [
        (section.name, figure.name, _counted(figure), AIMS[figure.best])
        for section in found.sections
        for figure in section.figures
    ]
    yield Rows(("set", "figure", "count", "aim"), rows)
    for section in found.sections:
        if mistakes and section.mistakes:
            yield f"\n{section.name}: {len(section.mistakes)} went wrong"
            yield from map(_line, section.mistakes)
        for problem in section.problems:
            yield f"problem: {section.name}: {problem}"


def _counted(figure: Figure) -> str:
    return str(figure.count) if figure.of is None else f"{figure.count} of {figure.of}"


def _line(mistake: Mistake) -> str:
    learnt = " | ".join(mistake.learnt) or "nothing"
    case = f"{mistake.case} ({mistake.kind}), {mistake.what}"
    return f"  {case}: {' → '.join(mistake.said)}\n    learnt: {learnt}"
