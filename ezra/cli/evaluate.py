"""``ezra eval``: how well recall finds the evidence of a set's questions, and what is learnt.

Recall is measured beside baselines; learning without a language model, on sets that come with ezra.
"""

from __future__ import annotations

import asyncio
import json as json_text
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from tiers.errors import UsageError, refused
from tiers.records import Kind, Source

from ..evaluation.learning.bench import Bench
from ..evaluation.learning.results import Figure, LearningReport, Mistake
from ..evaluation.learning.sections import SECTIONS, measured
from ..evaluation.metrics import Figures
from ..evaluation.results import Asked, Evaluation, System, floor_of, shortfalls
from ..evaluation.run import K_DEFAULT, Options, checked_options, evaluate, steps_of
from ..evaluation.sets import EvaluationSet, read_set
from ..replay.formats import read_script
from ..replay.script import TurnLine
from .command import Answer, Part, Rows, by_default, command
from .doors import Machine
from .help import listed
from .options import numbers_of, settings_at, words_of
from .screen import Screen

TABLE_COLUMNS = 100
"""Of the tables where nothing says how wide the screen is."""

_KINDS: tuple[Kind, ...] = get_args(Kind)
_K_DEFAULT = ",".join(map(str, K_DEFAULT))


eval_app = typer.Typer(
    cls=by_default("file"),
    help="Measure recall on a set of your own, and learning on sets that come with ezra. "
    "`ezra eval FILE` is `ezra eval file FILE`.",
    epilog=listed(("ezra eval set.json", "ezra eval learning")),
    no_args_is_help=True,
)

AIMS = {"all": "all", "none": "0", "any": ""}
"""How the table says what a figure should be."""


@command(eval_app, "learning")
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
    return Answer(found.as_json(mistakes=mistakes), _learning_shown(found, mistakes=mistakes))


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


def _learning_shown(found: LearningReport, *, mistakes: bool) -> Iterator[Part]:
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
            yield from map(_mistake_line, section.mistakes)
        for problem in section.problems:
            yield f"problem: {section.name}: {problem}"


def _counted(figure: Figure) -> str:
    return str(figure.count) if figure.of is None else f"{figure.count} of {figure.of}"


def _mistake_line(mistake: Mistake) -> str:
    learnt = " | ".join(mistake.learnt) or "nothing"
    case = f"{mistake.case} ({mistake.kind}), {mistake.what}"
    return f"  {case}: {' → '.join(mistake.said)}\n    learnt: {learnt}"


@command(eval_app, "file")
def evaluate_set(
    machine: Machine,
    file: Path,
    k: str = _K_DEFAULT,
    kinds: str = "turn",
    strict: bool = False,
    together: bool = False,
    conversations: str | None = None,
    every: Annotated[int, typer.Option(min=1)] = 1,
    exclude: Annotated[list[str] | None, typer.Option(show_default="adversarial")] = None,
    baselines: bool = True,
    per_question: Path | None = None,
    minimum: Annotated[list[str] | None, typer.Option("--min")] = None,
    home: Annotated[Path | None, typer.Option(show_default="a temporary folder")] = None,
) -> Answer:
    """Measure recall on a set: conversations, questions, and the turns that answer them.

    Each conversation is played into a graph of its own, in an installation of its own that is
    gone afterwards, and every question is asked. No model judges: what counts is where the
    evidence stands among the hits. Settings are those of the environment, the home excepted.

    Args:
        file: The set: JSON, JSON lines, or LoCoMo's own form.
        k: Where rankings are cut, 1 to 100.
        kinds: What recall is asked for: kinds, by commas, or 'all'.
        strict: Only turns count, not what names them as its source.
        together: All conversations in one installation.
        conversations: Only these: ids, numbers or ranges, by commas: 1-3,5.
        every: Ask only every n-th question.
        exclude: A category to leave out, by name or number; 'none' asks all. Repeatable.
        baselines: Ask BM25, dense and RRF the same questions.
        per_question: Write each question's ranks here, as JSON lines.
        minimum: Exit with 1 when ezra is below: recall@10=0.8. Repeatable.
        home: Keep the data here.

    Examples:
        ezra eval set.json
        ezra eval set.jsonl --k 10 --kinds all --json
        ezra eval set.json --conversations 1-3 --every 4 --per-question ranks.jsonl
        ezra eval set.json --min recall@10=0.8 --min mrr=0.5
    """
    machine.only("eval", tell=False)
    options = checked_options(
        Options(
            ks=numbers_of("k", k),
            kinds=_chosen_kinds(kinds),
            strict=strict,
            baselines=baselines,
            together=together,
            conversations=None if conversations is None else words_of(conversations),
            every=every,
        )
    )
    floors = [floor_of(text, options.ks) for text in minimum or ()]
    whole = read_set(file, exclude=() if exclude == ["none"] else exclude)
    if per_question is not None:
        # What cannot be written is known before hours of work, not after them.
        _write(per_question, (), "a")
    found = _evaluated(Screen(), whole, options, home)
    if per_question is not None:
        _write(per_question, found.asked, "w")
    missed = list(shortfalls(found, floors))
    return Answer(
        found.as_json(), [lambda screen: _show(screen, found)], missed, code=1 if missed else 0
    )


def _evaluated(
    screen: Screen, whole: EvaluationSet, options: Options, home: Path | None
) -> Evaluation:
    settings = settings_at(None, background=False)
    with screen.progress("turns and questions", steps_of(whole, options)) as advance:
        return asyncio.run(evaluate(whole, settings, options, home=home, on_step=advance))


def _chosen_kinds(text: str) -> tuple[Kind, ...] | None:
    if text == "all":
        return None
    wanted = words_of(text)
    unknown = [word for word in wanted if word not in _KINDS]
    if unknown or not wanted:
        raise UsageError("kinds", text, f"all, or some of {', '.join(_KINDS)}")
    return tuple(kind for kind in _KINDS if kind in wanted)


def _write(path: Path, asked: tuple[Asked, ...], mode: Literal["a", "w"]) -> None:
    def unwritable(why: str) -> UsageError:
        return UsageError("per-question", path, f"a file to write ({why})")

    with refused(unwritable), path.open(mode, encoding="utf-8") as file:
        for one in asked:
            file.write(json_text.dumps(one.as_json(), ensure_ascii=False) + "\n")


def _show(screen: Screen, found: Evaluation) -> None:
    systems = found.systems
    for line in _heading(found):
        screen.line(line)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = TABLE_COLUMNS
    labels = list(systems["ezra"].categories)
    if len(labels) > 1:
        for label in labels:
            rows = {name: system.categories[label] for name, system in systems.items()}
            screen.line(f"\n{label}, {rows['ezra'].questions} questions")
            console.print(_figures(rows, found.k))
    rows = {name: system.overall for name, system in systems.items()}
    screen.line(f"\nall {len(found.asked)} questions")
    console.print(_figures(rows, found.k))
    screen.line("\nmilliseconds a question, its embedding included")
    console.print(_latencies(systems))
    for name, count in found.degraded.items():
        screen.line(f"degraded: {count} questions without {name}")
    for problem in found.problems:
        screen.line(f"problem: {problem}")


def _heading(found: Evaluation) -> list[str]:
    asked, count = found.kinds or ("all kinds",), len(found.conversations)
    where = "in one installation" if found.together else "each in an installation of its own"
    left_out = [f"{number} {label}" for label, number in found.excluded.items()]
    if found.without_evidence:
        left_out.append(f"{found.without_evidence} without evidence")
    if found.dropped:
        left_out.append(f"{found.dropped} evidence ids that name no turn")
    warm_up = (
        f"the first {found.warm_up} questions of a conversation warm up and are not timed"
        if found.warm_up
        else "too few questions to warm up: all are timed"
    )
    model = found.embedder or "no embedding model: words only"
    played = f"{count} conversations, {where}; {found.turns} turns"
    return [
        f"{found.set_name}: {played}, {len(found.asked)} questions; {model}",
        f"asked for {', '.join(asked)}; left out: {', '.join(left_out) or 'nothing'}",
        f"percent; R recall, H hit, A all evidence, N NDCG among the first k; {warm_up}",
    ]


def _figures(rows: dict[str, Figures], ks: tuple[int, ...]) -> Table:
    table = _table()
    for letter in ("R", "H", "A", "N"):
        for k in ks:
            table.add_column(f"{letter}@{k}", justify="right", no_wrap=True)
    table.add_column("MRR", justify="right", no_wrap=True)
    for name, row in rows.items():
        shares = [one[k] for one in (row.recall, row.hit, row.all, row.ndcg) for k in ks]
        table.add_row(name, *(_percent(share) for share in (*shares, row.mrr)))
    return table


def _latencies(systems: dict[str, System]) -> Table:
    table = _table()
    for heading in ("timed", "mean", "p50", "p95", "p99", "max"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, system in systems.items():
        times = system.latency
        if times is not None:
            row = (times.mean, times.p50, times.p95, times.p99, times.max)
            table.add_row(name, str(times.timed), *(f"{value:.1f}" for value in row))
    return table


def _table() -> Table:
    table = Table(box=SIMPLE, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    return table


def _percent(share: float) -> str:
    return "100" if share == 1 else f"{100 * share:.1f}"
