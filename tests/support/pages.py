"""The README and the pages under docs/: their blocks of code, links, headings and commands."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Fence:
    """A block of code.

    Attributes:
        language: What the page says it is.
        text: The lines between the marks.
    """

    language: str
    text: str


@dataclass(frozen=True)
class Page:
    """One page.

    Attributes:
        path: Its file.
    """

    path: Path

    @property
    def name(self) -> str:
        """The name of its file without the ending."""
        return self.path.stem

    @property
    def text(self) -> str:
        """All of it."""
        return self.path.read_text()

    @property
    def fences(self) -> list[Fence]:
        """Its blocks of code, in order."""
        return [Fence(language, text) for language, text in _FENCE.findall(self.text)]

    def blocks(self, language: str) -> list[str]:
        """Return the texts of its blocks of one language, in order."""
        return [one.text for one in self.fences if one.language == language]

    @property
    def prose(self) -> str:
        """It without its blocks of code."""
        return _FENCE.sub("", self.text)

    @property
    def codes(self) -> list[str]:
        """What stands between backticks in its prose."""
        return _CODE.findall(self.prose)

    @property
    def links(self) -> list[str]:
        """Where its links and pictures lead."""
        return _LINK.findall(self.prose)

    @property
    def anchors(self) -> set[str]:
        """The names by which links reach its headings."""
        return {anchor(one) for one in _HEADING.findall(self.prose)}


def pages() -> list[Page]:
    """Return the README and every page under docs/."""
    return [Page(README), *(Page(path) for path in sorted(DOCS.rglob("*.md")))]


def page(name: str) -> Page:
    """Return a page by its name: ``README``, or the name of a file under docs/ without ending."""
    return Page(README if name == "README" else DOCS / f"{name}.md")


def having(language: str) -> set[str]:
    """Return the names of the pages that have a block of a language."""
    return {one.name for one in pages() if one.blocks(language)}


def anchor(heading: str) -> str:
    """Return the name of a heading in an address, as GitHub and MkDocs both make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


async def lived(blocks: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """Run blocks of Python one after the other, as one program, in the event loop of the test.

    Args:
        blocks: As the page shows them.
        given: What the page takes for granted, by name.

    Returns:
        Every name that is there in the end.
    """
    body = textwrap.indent("\n".join(blocks), "    ")
    names: dict[str, Any] = {}
    head = f"async def shown({', '.join(given)}):"
    exec(f"{head}\n{body}\n    return dict(locals())", names)  # noqa: S102 - our own pages
    return dict(await names["shown"](**given))
