"""Wiki links in the text of a note."""

from __future__ import annotations

import re

from .names import linked_name

LINKS_MAX = 1_000
"""So many links of one note are followed."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_LINK = re.compile(r"!?\[\[([^\[\]\n]{1,1024})\]\]")


def wiki_links(body: str) -> tuple[str, ...]:
    """Return what the wiki links of a text name, each once, in order.

    ``[[name]]``, ``[[name|shown]]``, ``[[name#heading]]`` and ``![[name]]``. What stands in code is
    no link; a link to a heading of the note itself is none either.
    """
    found: dict[str, None] = {}
    fence = ""
    for line in body.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            continue
        for link in _LINK.finditer(_CODE.sub(" ", line)):
            name = linked_name(link[1])
            if name:
                found.setdefault(name)
            if len(found) >= LINKS_MAX:
                return tuple(found)
    return tuple(found)
