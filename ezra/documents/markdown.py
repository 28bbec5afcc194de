"""Reads Markdown: headings, paragraphs, lists, tables and code as they are written."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from .front_matter import split_front_matter
from .parsed import Outline, Parsed, cleaned, title_of
from .plain import decoded

_BY_LINES = frozenset(
    ("bullet_list_open", "code_block", "fence", "ordered_list_open", "table_open")
)
_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^()\s]*(?:\s[^()]*)?\)")
# Runs of blanks and of underscores are looked at once, from their beginning.
_MARKS = re.compile(
    r"[*`]+|(?<!\w)_++|(?<!_)_++(?!\w)"
    r"|(?<!\s)\s*+\{#[\w-]*+\}\s*+$|(?<!\s)\s++#++\s*+$"
)
_TAG = re.compile(r"<[^<>]*>")


def read(data: bytes) -> Parsed:
    """Return what a Markdown file says.

    Raises:
        UsageError: It is no text.
    """
    return read_text(decoded(data))


def read_text(text: str) -> Parsed:
    """Return what a Markdown text says; malformed front matter is a warning, and read as text."""
    front = split_front_matter(cleaned(text))
    outline = Outline()
    if front.properties is None:
        outline.add(front.raw, by_lines=True)
    title = _add(front.body, outline)
    return front.over(outline.blocks(), title)


def _add(text: str, outline: Outline) -> str:
    """Add all blocks of a text, and return its first heading of the first level."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    lines = text.split("\n")
    title = ""
    tokens = parser.parse(text)
    for place, token in enumerate(tokens):
        if token.level or token.map is None or token.type == "hr":
            continue
        if token.type == "heading_open":
            said = _plain(tokens[place + 1].content)
            level = int(token.tag[1:])
            outline.heading(level, said)
            title = title or (title_of(said) if level == 1 else "")
        else:
            _add_block(token, "\n".join(lines[slice(*token.map)]), outline)
    return title


def _add_block(token: Token, source: str, outline: Outline) -> None:
    if token.type == "html_block":
        if _TAG.sub("", source).strip():
            from .html import text_of  # noqa: PLC0415 - few files hold any

            outline.add(text_of(source))
        return
    outline.add(source.rstrip(), by_lines=token.type in _BY_LINES)


def _plain(heading: str) -> str:
    """Return a heading without its marks."""
    return _MARKS.sub("", _LINK.sub(r"\1", heading)) or heading
