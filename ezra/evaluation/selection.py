"""Which part of a set a run asks. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tiers.errors import UsageError

from .sets import EvaluationSet, Interview

_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


def selected(
    whole: EvaluationSet, conversations: Sequence[str] | None = None, every: int = 1
) -> tuple[Interview, ...]:
    """Return the conversations to play with the questions to ask, in the order of the set.

    Args:
        whole: The set.
        conversations: Ids, numbers from 1, or ranges of numbers such as ``1-3``; ``None``: all.
        every: Ask only every n-th question, counted over the conversations that are played.

    Raises:
        UsageError: A conversation does not exist, ``every`` is below 1, or nothing is left to ask.
    """
    if every < 1:
        raise UsageError("every", every, "1 or more")
    places = range(len(whole.interviews))
    wanted = (
        set(places)
        if conversations is None
        else {place for word in conversations for place in _places(whole, word)}
    )
    kept = tuple(_thinned([whole.interviews[place] for place in places if place in wanted], every))
    if not any(interview.questions for interview in kept):
        accepted = f"conversations that have at least {every} questions together"
        raise UsageError("conversations", conversations or "all", accepted)
    return kept


def _places(whole: EvaluationSet, word: str) -> range:
    ids = [interview.id for interview in whole.interviews]
    if word in ids:
        return range(ids.index(word), ids.index(word) + 1)
    numbers = _RANGE.fullmatch(word)
    if numbers:
        first, last = int(numbers[1]), int(numbers[2] or numbers[1])
        if 1 <= first <= last <= len(ids):
            return range(first - 1, last)
    accepted = f"an id of the set, or numbers or ranges from 1 to {len(ids)}"
    raise UsageError("conversations", word, accepted)


def _thinned(interviews: Sequence[Interview], every: int) -> Iterator[Interview]:
    before = 0
    for interview in interviews:
        kept = tuple(
            question
            for number, question in enumerate(interview.questions, start=before + 1)
            if number % every == 0
        )
        before += len(interview.questions)
        yield interview.model_copy(update={"questions": kept})
