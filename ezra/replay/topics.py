"""Topics for conversations that name none, from their own words and without a model."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from tiers.errors import check_within
from tiers.lexical import STOP_WORDS, stem, words
from tiers.records import TOPICS_MAX

from .script import BeliefLine, Conversation, Line, Script, TurnLine

TOPICS_DEFAULT = 12
_TURNS_MIN = 3
_TURNS_MIN_SHARE = 0.01
_TURNS_MAX_SHARE = 0.2
_CHARS_MIN = 4


def derive_topics(script: Script, limit: int = TOPICS_DEFAULT) -> Script:
    """Return the script with topics for every line that names none, beliefs excepted.

    A conversation's topics are the words that it uses in clumps. Its N turns are cut into
    B = max(2, round(√N)) stretches of equal length. A word that n turns contain would, scattered
    by chance, stand in B·(1 - (1 - 1/B)^n) of them; what it stands in fewer is its score. This is
    the idea of residual IDF (Church and Gale, 1995): words about something cluster, words about
    anything spread evenly however frequent they are.

    Considered are words of letters only, at least four, that are no stop words and no part of a
    speaker's name, in at least max(3, N/100) turns and in less than a fifth of them. Singular and
    plural are one word (``tiers.lexical.stem``). The ``limit`` best with a score above zero are
    the topics, ties broken by more turns, then by the alphabet, each written as it occurs most. A
    line gets those that it contains, and ``()`` if it contains none. The same script always gives
    the same topics.

    A belief keeps what it has: its one topic decides what it supersedes, and a topic guessed from
    the wording would part two claims about the same thing.

    Raises:
        UsageError: ``limit`` is not between 1 and 64.
    """
    check_within("limit", limit, 1, TOPICS_MAX)
    return Script(conversations=tuple(_with_topics(one, limit) for one in script.conversations))


def _with_topics(conversation: Conversation, limit: int) -> Conversation:
    if all(line.topics is not None or _is_belief(line) for line in conversation.lines):
        return conversation
    topics = conversation_topics(conversation, limit)
    lines = tuple(
        line
        if line.topics is not None or _is_belief(line)
        else line.model_copy(update={"topics": _contained(line, topics)})
        for line in conversation.lines
    )
    return conversation.model_copy(update={"lines": lines})


def conversation_topics(conversation: Conversation, limit: int) -> dict[str, str]:
    """Return the conversation's topics, best first: how each is written, by its stem."""
    turns = [line for line in conversation.lines if isinstance(line, TurnLine)]
    names = {stem(word) for line in conversation.lines for word in words(line.speaker)}
    stretches = max(2, round(math.sqrt(len(turns))))
    turn_count: Counter[str] = Counter()
    seen_in: defaultdict[str, set[int]] = defaultdict(set)
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for index, turn in enumerate(turns):
        written = [word for word in words(turn.content) if _is_candidate(word)]
        for word in written:
            forms[stem(word)][word] += 1
        for stemmed in {stem(word) for word in written} - names:
            turn_count[stemmed] += 1
            seen_in[stemmed].add(index * stretches // len(turns))
    enough = max(_TURNS_MIN, len(turns) * _TURNS_MIN_SHARE)
    score = {
        word: stretches * (1 - (1 - 1 / stretches) ** count) - len(seen_in[word])
        for word, count in turn_count.items()
        if enough <= count < len(turns) * _TURNS_MAX_SHARE
    }
    ranked = sorted(
        (word for word in score if score[word] > 0),
        key=lambda word: (-score[word], -turn_count[word], word),
    )
    return {word: _commonest(forms[word]) for word in ranked[:limit]}


def _contained(line: Line, topics: dict[str, str]) -> tuple[str, ...]:
    contained = {stem(word) for word in words(line.content)}
    return tuple(sorted(topics[word] for word in contained & topics.keys()))


def _is_belief(line: Line) -> bool:
    return isinstance(line, BeliefLine)


def _is_candidate(word: str) -> bool:
    return len(word) >= _CHARS_MIN and word.isalpha() and not {word, stem(word)} & STOP_WORDS


def _commonest(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], len(form), form))
