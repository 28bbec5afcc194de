"""Regular expressions that are compiled when a text is first looked at with them.

The grammar has five hundred. To compile them all took a third of the time in which a command of
the shell starts, and most commands read no text.
"""

from __future__ import annotations

import asyncio
import re
from typing import cast

_METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")


class _Regex:
    """Stands in for a compiled pattern, and becomes as quick as one with the first use."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(self.pattern, self.flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


_waiting: list[_Regex] = []
"""What nobody has asked yet to be compiled beforehand."""


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what ``re.compile`` does, as far as searching goes, without compiling it yet."""
    made = _Regex(pattern, flags)
    _waiting.append(made)
    return cast("re.Pattern[str]", made)


def any_case(pattern: str) -> re.Pattern[str]:
    """Return a pattern to which capitals and small letters are the same."""
    return regex(pattern, re.IGNORECASE)


def alone(words: str) -> str:
    """Return a pattern of words that are no part of an address, a path or a code.

    The ``me`` of ``me@home.org``, the ``my`` of ``my-bucket`` and the ``us`` of ``us-east-1`` are
    nobody.
    """
    # The words are looked for first: a look back at each letter would take as long as all else.
    return rf"\b(?={words}\b)(?<![@/\\#])(?<!\w[-.:]){words}\b(?![@/\\-]\w|[.:](?-i:[a-z\d]))"


async def compiled() -> None:
    """Compile what there is in a thread, for whoever reads texts on an event loop.

    At once where that was done before.
    """
    if _waiting:
        await asyncio.to_thread(compile_all)


def compile_all() -> None:
    """Compile what nobody has asked yet to be compiled beforehand."""
    while _waiting:
        _ = _waiting.pop().search
