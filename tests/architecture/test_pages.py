"""The README and the pages under docs/: short, whole, and true of the tree they stand in."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.doors import commands
from support.pages import DOCS, README, ROOT, Page, page, pages
from support.processes import succeeded

from ezra import Settings

PAGES = pages()
OTHERS = [
    Page(ROOT / f"{name}.md") for name in ("ARCHITECTURE", "CONTRIBUTING", "DECISIONS", "SECURITY")
]
LINES_MAX = 300
README_LINES_MAX = 120
PICTURE_BYTES_MAX = 200_000
LANGUAGES = {"python", "bash", "console", "json", "markdown", "toml"}
"""``bash`` is run by the tests as it stands. ``console`` is what people type where servers, Docker
or a program without an end are needed: its commands are only checked."""

_FILE = re.compile(
    r"(?<![\w/])(?:\.venv/bin/python )?((?:docs|ezra|metaagents|scripts|tests|tiers)/[\w./*]+)"
)
_VARIABLE = re.compile(r"\bEZRA_[A-Z_]+[A-Z]\b")


def named(one: Page) -> str:
    """Return what a page is called in the list of tests."""
    return str(one.path.relative_to(ROOT))


each_page = pytest.mark.parametrize("one", PAGES, ids=named)
each_of_today = pytest.mark.parametrize(
    "one", [*PAGES, *(one for one in OTHERS if one.name != "DECISIONS")], ids=named
)
"""What tells of the tree as it is; decisions tell of trees that were."""


@each_page
def test_no_page_is_long(one: Page) -> None:
    """A page has at most 300 lines, the README one to two screens."""
    lines = len(one.text.splitlines())
    assert lines <= (README_LINES_MAX if one.path == README else LINES_MAX)


@pytest.mark.parametrize("one", [*PAGES, *OTHERS], ids=named)
def test_links_lead_somewhere(one: Page) -> None:
    """Files and headings that links name are there; no network is asked."""
    for link in one.links:
        if link.startswith(("https://", "http://")):
            continue
        path, _, heading = link.partition("#")
        target = one.path.parent / path if path else one.path
        assert target.is_file(), link
        assert not heading or heading in Page(target).anchors, link


@each_of_today
def test_files_that_a_page_names_are_there(one: Page) -> None:
    """In its prose and in its commands."""
    said = "\n".join([*one.codes, *(fence.text for fence in one.fences)])
    missing = [path for path in _FILE.findall(said) if not any(ROOT.glob(path.rstrip("./")))]
    assert not missing


@each_page
def test_blocks_say_what_they_are(one: Page) -> None:
    """Each in a language that some test reads; none is left open."""
    assert {fence.language for fence in one.fences} <= LANGUAGES
    assert "```" not in one.prose


@each_of_today
def test_variables_that_a_page_names_count(one: Page) -> None:
    """Each is a setting, or is read somewhere."""
    settings = {f"EZRA_{name.upper()}" for name in Settings.model_fields}
    unknown = set(_VARIABLE.findall(one.text)) - settings
    assert not unknown - read_somewhere()


@cache
def read_somewhere() -> set[str]:
    """Return the variables that the code names, the tests for real servers, or the container."""
    files = [path for folder in ("ezra", "tests") for path in (ROOT / folder).rglob("*.py")]
    files.append(ROOT / "compose.yaml")
    return {name for path in files for name in _VARIABLE.findall(path.read_text())}


@each_of_today
def test_commands_that_a_page_names_exist(one: Page) -> None:
    """Down to their options: those in the prose, and those that no test runs."""
    lines = [line for block in one.blocks("console") for line in block.splitlines()]
    for line in [*lines, *one.codes]:
        said = re.sub(r"^(EZRA_\w+=\S+ |time )+", "", line)
        if said.startswith("ezra "):
            parsed(shlex.split(said.replace("…", ""), comments=True)[1:])


def parsed(arguments: list[str]) -> None:
    """Check that a command and its options exist, without running it.

    Raises:
        Exception: One does not; click says which.
    """
    command: Any = commands()
    context = None
    while arguments and hasattr(command, "commands") and not arguments[0].startswith("-"):
        context = command.make_context(command.name, [*arguments], parent=context)
        rest = [*context._protected_args, *context.args]
        _, command, arguments = command.resolve_command(context, rest)
    parser = command.make_parser(command.context_class(command, parent=context))
    parser.parse_args(args=[*arguments])


def test_commands_of_this_machine_alone_are_all_named() -> None:
    """Which refuse ``--url``: each by itself, or by its group where all of that are."""
    told = page("start").text.partition("refuses `--url`: ")[2].partition(".")[0]
    named = set(re.findall(r"`([a-z ]+)`", told))
    of_machine = dict(leaves(commands()))
    for one in named:
        assert any(name == one or name.startswith(f"{one} ") for name in of_machine), one
    for name, refuses in of_machine.items():
        groups = {name, name.split(" ")[0]} & named
        assert bool(groups) == refuses, name


def leaves(command: Any, name: str = "") -> Iterator[tuple[str, bool]]:
    """Yield each command that does something by its name, and whether it refuses ``--url``."""
    for short, one in getattr(command, "commands", {}).items():
        whole = f"{name} {short}".strip()
        if hasattr(one, "commands"):
            yield from leaves(one, whole)
        else:
            yield whole, any(p.hidden and "--url" in p.opts for p in one.params)


def test_a_command_that_is_not_there_is_found_out() -> None:
    """The check above can fail: by name, by group, by option."""
    for wrong in ("nothing", "graph nothing", "recall imola question --nothing", "turn a b --nine"):
        with pytest.raises(Exception, match=r"(?i)no such (command|option)"):
            parsed(shlex.split(wrong))
    parsed(shlex.split("turn imola strategist 'How long?' --reply 'So long.'"))
    parsed(shlex.split("eval FILE --k 10"))


def test_no_figure_without_its_command() -> None:
    """Each part of the measurements begins with the command that prints it."""
    parts = page("measurements").text.split("\n## ")[1:]
    assert len(parts) > 10
    for part in parts:
        _, _, said = part.partition("\n\n")
        command = re.match(
            r"`(\.venv/bin/python (tests|scripts)/|ezra (eval |bench)|time ezra )", said
        )
        assert command, part[:40]


def test_the_readme_says_in_one_sentence_what_it_is() -> None:
    """Then come the pictures."""
    begun = page("README").text.split("\n\n")
    assert begun[1].count(". ") == 0
    assert begun[1].endswith(".")
    assert begun[2].startswith("![")


def test_pictures_are_small() -> None:
    """Whoever clones gets them."""
    pictures = [path for path in (DOCS / "images").iterdir() if path.is_file()]
    assert {path.suffix for path in pictures} == {".svg", ".png"}
    assert all(path.stat().st_size < PICTURE_BYTES_MAX for path in pictures)


def test_what_the_readme_leads_to_travels_with_it() -> None:
    """Its relative links work in the source distribution too."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())
    include = listed["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    for link in page("README").links:
        if not link.startswith("https://"):
            assert f"/{link.split('/')[0].partition('#')[0]}" in include, link


def test_the_pages_build(tmp_path: Path) -> None:
    """By MkDocs, strictly: no page outside the navigation, no link that it cannot follow."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    succeeded(*command, "--site-dir", tmp_path / "site", cwd=ROOT, env=quiet)
    assert (tmp_path / "site" / "beliefs" / "index.html").is_file()
    assert foreign(tmp_path / "site") == set()


def foreign(site: Path) -> set[str]:
    """Return the addresses of other sites that the built pages load something from."""
    loads = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="?(https?://[^">\s]+)')
    return {found for path in site.rglob("*.html") for found in loads.findall(path.read_text())}
