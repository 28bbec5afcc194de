"""Transcripts of the command line: what was typed, and what came of it, word for word.

A transcript is a file. A line that begins with ``$ ezra`` is a command; what follows is standard
output, standard error behind ``!``, and the exit code where it is not 0. What differs from run to
run has a name: ``<id 3>`` is the third id that was seen, also in the commands.

``python -m support.transcripts FILE`` in ``tests/`` plays the commands of a transcript and writes
down what they say now.
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

from .command import COMMAND
from .doors import commands, run
from .mesh_sources import mesh_file, shop_at, stock

FILES = {
    "notes/login.md": "---\ntype: task\nstatus: blocked\nblocked_by: tokens\n---\n# Login\n",
    "notes/tokens.md": "---\ntype: task\nstatus: open\ntags: [auth]\n---\n# Tokens\n\nShort.\n",
    "notes/plain.md": "# Plain\n\nNo entity.\n",
    "mine/style.md": "---\ntitle: Style\n---\n\nShort commits.\n",
    "handbook/tyres.md": "# Tyres\n\n## Mediums\n\nThey last about 18 laps.\n",
    "handbook/brakes.md": "# Brakes\n\nHot ones stop.\n",
    "talk.jsonl": '{"id": "1", "speaker": "Ada", "at": "2026-05-14", "text": "They last."}\n',
}
"""What is in the folder in which commands run."""
FORM = Path(__file__).parent.parent / "cli" / "form"
PROMPT = "$ ezra "
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NAMED = re.compile(r"<id (\d+)>")
_SAME = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+]00:00)?"), "<time>"),
    (re.compile(r"20\d\d-\d\d-\d\d|\d{8}T\d{6,}"), "<date>"),
    (re.compile(r"\d+\.\d+ (ms|s)\b"), r"<n> \1"),
    (re.compile(r"-?\d+\.\d{3,}(e-\d+)?"), "<n>"),
    (re.compile(r'("\w*(ms|milliseconds|seconds|age|bytes)": )[\d.]+'), r"\1<n>"),
    (re.compile(r"\b[0-9a-f]{12,}\b"), "<digest>"),
    (re.compile(r"[A-Za-z0-9+/]{60,}=*"), "<base64>"),
)
_PROGRESS = re.compile(r"^! .* \d+/\d+ \[[# ]{10}\]$")
_FRAME = "│╭╮╰╯─ "


class Names:
    """Gives names to what differs from run to run, and knows what was named."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._programs = str(COMMAND.parent)
        self._ids: list[str] = []

    def named(self, text: str) -> str:
        """Return a text with names in the place of ids, times, digests and the folder."""
        text = text.replace(self._folder, "<folder>").replace(self._programs, "<bin>")
        text = _ID.sub(self._name, text)
        for pattern, name in _SAME:
            text = pattern.sub(name, text)
        return text

    def said(self, text: str) -> str:
        """Return a text with what is named in it; an id that was not seen keeps its name."""
        ids = dict(enumerate(self._ids, 1))
        text = text.replace("<folder>", self._folder)
        return _NAMED.sub(lambda found: ids.get(int(found[1]), found[0]), text)

    def _name(self, found: re.Match[str]) -> str:
        if found[0] not in self._ids:
            self._ids.append(found[0])
        return f"<id {self._ids.index(found[0]) + 1}>"


def played(lines: Iterator[str], folder: Path, **where: str) -> Iterator[str]:
    """Run the commands of a transcript in a folder; yield the transcript of what they say now.

    Variables may lead elsewhere than to the memory in the folder.
    """
    names = Names(folder)
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    declared = stock(shop_at(folder / "shop.db"))
    mesh_file(folder / "mesh.yaml", stock=declared)  # checked by its name
    # Read by every command: TOML takes a tenth of the time of YAML.
    read = mesh_file(folder / "mesh.toml", stock=declared)
    variables = {
        "EZRA_HOME": str(folder / "home"),
        "EZRA_BRIDGE_STATE_DIR": str(folder / "state"),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CONFIG_HOME": str(folder / "state"),
        "XDG_DATA_HOME": str(folder / "data"),
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "HOME": str(folder),
        "EZRA_MESH_FILE": str(read),
        "COLUMNS": "400",
        **where,
    }
    for line in lines:
        if not line.startswith(PROMPT):
            continue
        yield line.rstrip("\n")
        done = run(*shlex.split(names.said(line.removeprefix(PROMPT))), **variables)
        yield from names.named(done.out).splitlines()
        said = (f"! {one}" for one in names.named(done.err).splitlines())
        yield from (one for one in said if not _PROGRESS.match(one))
        if done.code:
            yield f"exit code {done.code}"


def every_help() -> Iterator[tuple[tuple[str, ...], Any, str]]:
    """Yield every command and every group by its path, with what it says of itself.

    In a terminal of 80 columns.
    """
    waiting: list[tuple[tuple[str, ...], Any]] = [((), commands())]
    while waiting:
        path, command = waiting.pop(0)
        done = run(*path, "--help")
        assert (done.code, done.err) == (0, "")
        yield path, command, done.out
        inner = getattr(command, "commands", {}).items()
        waiting = [((*path, name), one) for name, one in inner] + waiting


def helps(told: Iterable[tuple[tuple[str, ...], Any, str]]) -> Iterator[str]:
    """Yield helps as they are written down: without the frames."""
    for path, _, said in told:
        yield " ".join((PROMPT.strip(), *path, "--help"))
        yield from filter(None, (one.strip(_FRAME) for one in said.splitlines()))


def renew(file: Path) -> None:
    """Write a transcript anew."""
    if file.name == "help.txt":
        file.write_text("\n".join(helps(every_help())) + "\n")
        return
    text = file.read_text()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        with chdir(folder):
            lines = list(played(iter(text.splitlines()), folder))
    file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    for given in sys.argv[1:]:
        renew(Path(given).resolve())
