"""Reading a document takes time in proportion to its length, whatever it is made of."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import pytest

from ezra.documents import html, markdown
from ezra.documents.chunking import passages_of
from ezra.documents.parsed import Block, Parsed

SHORT, LONG = 4_000, 64_000
RATIO = LONG // SHORT

MADE: dict[str, tuple[Callable[[str], Parsed], Callable[[int], str]]] = {
    "dots of a table of contents": (markdown.read_text, lambda size: "." * size),
    "dots and closing quotes": (markdown.read_text, lambda size: '."' * (size // 2)),
    "blanks inside a heading": (markdown.read_text, lambda size: "# a" + " " * size + "b"),
    "underscores inside a heading": (markdown.read_text, lambda size: "# a" + "_" * size + "b"),
    "hashes inside a heading": (markdown.read_text, lambda size: "# a" + " #" * (size // 2) + "b"),
    "open marked sections": (html.read_text, lambda size: "<![CDATA[x>" * (size // 11)),
    "marked sections": (html.read_text, lambda size: "<![if x]>" * (size // 9)),
    "dots in a page": (html.read_text, lambda size: "<p>" + "." * size),
}


@pytest.mark.parametrize("what", MADE)
def test_r9_22_reading_is_linear(what: str) -> None:
    """Sixteen times the text costs no hundred times as much; of the square, it would be 256."""
    read, made = MADE[what]

    def cost(size: int) -> float:
        text, spent = made(size), []
        for _ in range(3):
            began = process_time()
            passages_of(read(text).blocks)
            spent.append(process_time() - began)
        return min(spent)

    cost(SHORT)
    assert cost(LONG) < max(cost(SHORT), 0.001) * RATIO * 6


def test_r9_22_cuts_and_headings_are_what_they_were() -> None:
    """Sentences end behind their marks and quotes; what decorates a heading is no part of it."""
    said = 'He said "stop." Then he went... and came back?! Yes.  ' * 60
    texts = [one.text for one in passages_of([Block(said)])]
    assert " ".join(texts).split() == said.split()
    assert all(one.endswith(('."', "...", "?!", ".")) for one in texts)
    read = markdown.read_text("# _One_ two_three __four__ {#five}  \n\na\n\n## *Six* ##\n\nb\n")
    assert [block.headings[-1] for block in read.blocks] == ["One two_three four", "Six"]


def test_r9_22_marked_sections_say_nothing() -> None:
    """With an end or without: what stands behind them is read."""
    page = "<p>a</p><![CDATA[ x > y ]]><p>b</p><![if IE]><p>c</p><![endif]><p>d</p><![CDATA[x>e"
    assert [block.text for block in html.read_text(page).blocks] == ["a", "b", "c", "d"]
