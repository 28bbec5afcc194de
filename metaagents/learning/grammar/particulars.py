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
_ALL = re.compile(r"^(?:all|both|every|each) (?:the |our |my )?", re.IGNORECASE)
_NUMBERED = re.compile(r"\bnumber (?=\d)")
_WAYS = (phrases.as_thing, phrases.as_quantity, phrases.as_time)
_NO_THING = (
    EVALUATIVE
    | OCCASIONS
    | frozenset(
        "book film movie novel story game song series show hero character episode "
        "birthday anniversary address code build server script app program branch "
        "name password passphrase pin secret token credentials key".split()
    )
)
"""What is told of these is of a moment, is nobody's, is secret, or is read in other ways."""


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
    is_whole = not value or any(way(value) for way in _WAYS)
    is_sharp = _EXACT.search(rest) is not None or any(one.days for one in said.times)
    worth = phrases.is_worth_keeping(_NUMBERED.sub("", rest), EVALUATIVE)
    return is_whole and is_sharp and worth


def _is_known(said: Said) -> bool:
    """Whether a clause is about a thing that is one, and can be told from others."""
    subject = said.subject
    if subject.sort == "named":
        return said.verbal.lemma == "be" and is_past(said.verbal.rest.split(" ", 1)[0])
    if subject.sort not in {"thing", "owned"} or subject.kind:
        return False
    noun = _ALL.sub("", subject.noun)
    is_told = subject.sort == "owned" or _KNOWN.match(subject.text) is not None
    # "The mediums last long": several by one word are a kind of things.
    is_kind = noun.isalpha() and noun.endswith("s") and said.verbal.lemma != "be"
    is_one = phrases.as_thing(noun) is not None and not is_kind
    return is_told and is_one and subject.head.split()[-1] not in _NO_THING
