"""``ezra eval learning``: what is learnt without a language model, on sets that come with ezra."""

from __future__ import annotations

from collections.abc import Sequence
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
from .doors import NoUrl, only_here
from .options import Json, run, settings_at
from .screen import Screen

EXAMPLES = (
    "Examples: ezra eval learning  ·  ezra eval learning --set statements --mistakes  ·  "
    "ezra eval learning --set supersessions --set duplicates --every 4 --json"
)
AIMS = {"all": "all", "none": "0", "any": ""}
"""How the table says what a figure should be."""


def evaluate_learning(
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help=f"Only this one: {', '.join(SECTIONS)}. Repeatable."),
    ] = None,
    every: Annotated[int, typer.Option(help="Measure only every n-th case.", min=1)] = 1,
    mistakes: Annotated[
        bool,
        typer.Option("--mistakes", help="List the cases that went wrong; none of a sealed set."),
    ] = False,
    talk: Annotated[
        list[Path] | None,
        typer.Option(help="Talk of your own for `attacks`, as `ezra replay` reads it. Repeats."),
    ] = None,
    url: NoUrl = None,
    json: Json = False,
) -> None:
    """Measure what is learnt from talk without a language model, and what is learnt falsely.

    Turns are said and statements remembered in embedded memories that are gone afterwards; what
    was labelled beforehand decides, no model judges. A minute or two. The embedder is that of the
    environment; EZRA_EMBEDDER=off measures words alone. `--set attacks` counts what the write guard
    catches of texts that poison a memory, what it flags of harmless ones, and how long it takes.
    """
    only_here("eval learning", url, tell=False)
    screen = Screen()
    settings = settings_at(None, background=False)
    bench = Bench(settings, screen.progress, every, _talk(talk or ()))
    found = run(measured(bench, sets or ()))
    if json:
        screen.document(found.as_json(mistakes=mistakes))
    else:
        _show(screen, found, mistakes=mistakes)


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


def _show(screen: Screen, found: LearningReport, *, mistakes: bool) -> None:
    sample = "" if found.every == 1 else f"; one case of {found.every}"
    screen.line(f"without a language model; {found.embedder or 'words alone'}{sample}\n")
    rows = [
        (section.name, figure.name, _counted(figure), AIMS[figure.best])
        for section in found.sections
        for figure in section.figures
    ]
    screen.table(("set", "figure", "count", "aim"), rows)
    for section in found.sections:
        if mistakes and section.mistakes:
            screen.line(f"\n{section.name}: {len(section.mistakes)} went wrong")
            for mistake in section.mistakes:
                screen.line(_line(mistake))
        for problem in section.problems:
            screen.line(f"problem: {section.name}: {problem}")


def _counted(figure: Figure) -> str:
    return str(figure.count) if figure.of is None else f"{figure.count} of {figure.of}"


def _line(mistake: Mistake) -> str:
    learnt = " | ".join(mistake.learnt) or "nothing"
    case = f"{mistake.case} ({mistake.kind}), {mistake.what}"
    return f"  {case}: {' → '.join(mistake.said)}\n    learnt: {learnt}"
