"""What is told of a thing with something exact: a number, a date, a name, a version, a path. Pure.

Little that is said of things in passing is worth keeping. What is said of a known one with an exact
value is: ``the importer runs on Python 3.12``, ``code freeze begins on 25 June``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...claims.forms import is_past
from . import phrases
from .lexicon import EVALUATIVE, OCCASIONS
from .statement import Claim, Said, of_speaker

_KNOWN = re.compile(r"(?:the|all|both|every|each) |[^ ]+ [^ ]", re.IGNORECASE)
"""A thing that who listens can tell from others: by an article, or by more than one word."""
_EXACT = re.compile(r"\d|(?<![A-Za-z])[A-Z]|\w/\w|\bby an? [a-z]|_")
_BEFORE = re.compile(
    r"^(?:(?:[a-z]+(?:ed|en|t|n|wn|un|lt)|out|up|off|down) )?"
    r"(?:(?:to|into|at|by|in|on|for|with|from|before|after|under|behind|as|until) )?"
)
"""A participle and a preposition: ``built with``."""
_NO_THING = (
    EVALUATIVE
    | OCCASIONS
    | frozenset(
        "book film movie novel story game song series show hero character episode "
        "birthday anniversary address code build server script app program branch".split()
    )
)
"""What is told of these is of a moment, is nobody's, or stands in a calendar of its own."""


def with_particulars(said: Said, found: Sequence[Claim]) -> Iterator[Claim]:
    """Yield the claims of a clause, as news where they say something exact of a known thing.

    Args:
        said: The clause.
        found: What it claims by any other way of reading.
    """
    if any(one.is_news for one in found) or not _is_exact(said):
        yield from found
        return
    of_thing = [one for one in found if one.subject == said.subject.text and one.value]
    for one in of_thing or [
        said.claim(said.verbal.lemma, of_speaker(said.verbal.rest, said.speaker))
    ]:
        yield replace(one, is_news=True, valid_from=None, valid_to=None)


def _is_exact(said: Said) -> bool:
    """Whether a clause tells something lasting and exact of a known thing."""
    verbal, rest = said.verbal, said.verbal.rest
    if not _is_known(said) or verbal.modal or verbal.is_progressive or verbal.aim or verbal.habit:
        return False
    first = rest.split(maxsplit=1)[0].lower() if rest else ""
    is_done = verbal.lemma == "be" and is_past(first)
    if verbal.tense not in {"present", "perfect"} and not is_done:
        return False
    value = _BEFORE.sub("", rest)
    is_whole = (
        not value or phrases.as_thing(value) is not None or phrases.as_quantity(value) is not None
    )
    is_sharp = _EXACT.search(rest) is not None or any(one.days for one in said.times)
    return is_whole and is_sharp and phrases.is_worth_keeping(rest, EVALUATIVE)


def _is_known(said: Said) -> bool:
    """Whether a clause is about a thing that is one, and can be told from others."""
    subject = said.subject
    is_told = subject.sort == "owned" or _KNOWN.match(subject.text) is not None
    is_thing = not subject.kind and phrases.as_thing(subject.noun) is not None
    is_either = subject.sort in {"thing", "owned"} and is_thing and is_told
    return is_either and phrases.is_worth_keeping(subject.noun, _NO_THING)
