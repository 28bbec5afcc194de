"""Whether a text that stands for others may be stored: nothing in it may be invented. Pure.

A model's text is a stranger's. It is taken only when it speaks of what its sources speak of and
says nothing in particular that they do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tiers.lexical import STOP_WORDS, content_words, estimate_tokens, sentences, stem, words

from ..distinctive import lacking

TOKENS_TIMES_MAX = 2
"""A text may be so many times its budget: models count badly. What is longer is not an answer."""

ANSWER_CHARS_MAX = 50_000

TOKENS_SHARE_MIN = 1 / 16
"""Of the budget, or of the sources where these are shorter: below it, next to nothing is said."""

GROUNDED_SHARE_MIN = 1 / 3
"""Of its words, those of the sources: what speaks about them only in general says nothing."""

TOUCHED_SHARE_MIN = 1 / 4
"""Of the sources, that a text must share a content word with: one sentence stands for no day."""

KEPT_SHARE_MIN = 1 / 2
"""Of a text, that must be borne out by its sources for the rest of it to be left out only."""

ROOT_CHARS = 5
"""So far two words must agree to be forms of one: decide, decided, decision."""

REPEATED_SHARE_MAX = 0.5

PIECE_CHARS_MAX = 8_000
"""What is looked at in one go: one search for a number in a long text without any takes so long
that nothing else of the process runs."""

REPORTING = frozenset(
    "account across add added address addressed afternoon agent agree agreed agreement along "
    "already although another answer answered answers appear appeared ask asked asking "
    "assistant became become began begin beginning begun brief briefly came change changed "
    "changes clear come comment commented complete completed concern concerned concerning "
    "conclude concluded confirm confirmed consider considered contain contained continue "
    "continued conversation cover covered day days decide decided decision decisions describe "
    "described detail details different directly discuss discussed discussion done earlier end "
    "ended ending evening event events exchange exchanged explain explained express expressed "
    "final finally find finish finished first focus focused follow followed following found "
    "gave general give given happen happened held hour hours however include included including "
    "indicate indicated inform informed instead involve involved issue issues item items keep "
    "kept know known last late later long made main mainly make many matter matters mean meant "
    "mention mentioned message messages milestone milestones minute minutes moment month "
    "monthly months morning moved much need needed new next night note noted number observation "
    "observed occur occurred offer offered old open opened order overall part party people "
    "period person plan planned planning plans point points possible previous previously "
    "problem problems propose proposed provide provided quarter question questions raise raised "
    "receive received recommend recommended record recorded refer referred regard regarding "
    "related remain remained remark remarked replied reply report reported request requested "
    "respond responded response result resulted results review reviewed said say saying says "
    "second section several share shared show showed shown similar since speak speaker spoke "
    "spoken start started starting state stated statement still subject suggest suggested "
    "suggestion summarise summarised summarize summarized summary talk talked tell theme themes "
    "therefore thing things third time times today together told tomorrow took tool topic "
    "topics towards turn turned two unresolved update updated use used user users various via "
    "week weekly weeks well went whether within without work worked write wrote year yearly "
    "years yesterday yet".split()
)
"""Words that tell how something came up, and nothing of what did: a text may have them as its own.
Any other word must come from its sources."""


def cleaned(answer: object) -> str:
    """Return an answer as text: without what cannot be printed; empty if it is no such text.

    What is far too long for any is not even looked at.
    """
    if not isinstance(answer, str) or len(answer) > ANSWER_CHARS_MAX:
        return ""
    lines = ("".join(filter(str.isprintable, line)).strip() for line in answer.splitlines())
    return "\n".join(line for line in lines if line)


def borne_out(text: str, sources: Sequence[str], known: Sequence[str]) -> str:
    """Return a text without the sentences that say more than its sources; empty if most do.

    Args:
        text: As ``cleaned`` returns it.
        sources: What was said.
        known: What the text may know besides.
    """
    given = _Given.of([*sources, *known])
    lines = [
        " ".join(one for one in sentences(line) if not _ungrounded(one, given))
        for line in text.splitlines()
    ]
    kept = "\n".join(filter(None, lines))
    return kept if len(kept) >= KEPT_SHARE_MIN * len(text) else ""


def refusal(text: str, sources: Sequence[str], known: Sequence[str], budget: int) -> str:
    """Return why a text is not taken; empty if it may be.

    Args:
        text: As ``cleaned`` returns it.
        sources: What was said.
        known: What the text may know besides: who spoke, and when.
        budget: Tokens that it was asked to have.
    """
    return (
        _misshapen(text, sources, budget)
        or _ungrounded(text, _Given.of([*sources, *known]))
        or _beside_the_point(text, sources)
    )


def _misshapen(text: str, sources: Sequence[str], budget: int) -> str:
    if not words(text):
        return "it is blank"
    tokens = estimate_tokens(text)
    least = TOKENS_SHARE_MIN * min(budget, sum(map(estimate_tokens, sources)))
    if not least <= tokens <= TOKENS_TIMES_MAX * budget:
        return f"it is of {tokens} tokens instead of {budget}"
    parts = sentences(text)
    is_repeated = len(set(parts)) < (1 - REPEATED_SHARE_MAX) * len(parts)
    return "it repeats itself" if is_repeated else ""


def _beside_the_point(text: str, sources: Sequence[str]) -> str:
    """Return why a text stands for too few of its sources; empty if it does not."""
    told = {stem(word) for word in content_words(text)} - STOP_WORDS
    touched = sum(not told.isdisjoint(stem(word) for word in content_words(one)) for one in sources)
    if touched < TOUCHED_SHARE_MIN * len(sources):
        return f"it speaks of {touched} of {len(sources)} sources"
    return ""


class _Given(NamedTuple):
    """What a text may say: the words of its sources, in the forms in which they are compared."""

    parts: Sequence[str]
    stems: frozenset[str]
    roots: frozenset[str]

    @classmethod
    def of(cls, parts: Sequence[str]) -> _Given:
        said = {word for part in parts for word in words(part)}
        roots = frozenset(word[:ROOT_CHARS] for word in said if len(word) >= ROOT_CHARS)
        return cls(parts, frozenset(map(stem, said)), roots)

    def has(self, word: str) -> bool:
        return stem(word) in self.stems or word[:ROOT_CHARS] in self.roots


def _ungrounded(text: str, given: _Given) -> str:
    own = set(content_words(text)) - STOP_WORDS
    grounded = {word for word in own if given.has(word)}
    if len(grounded) < GROUNDED_SHARE_MIN * len(own):
        return "it is about something else"
    strange = own - grounded - REPORTING
    if strange:
        return f"{len(strange)} of its words are in none of its sources"
    invented = [text]
    for chunk in _chunks(given.parts):
        # What no chunk so far has, each on a line of its own, so that it is a name as before.
        invented = [f"it has {token}" for token in lacking(invented, chunk)]
        if not invented:
            return ""
    # Counted, not named: the reason goes into a log.
    return f"{len(invented)} of its numbers and names are in none of its sources"


def _chunks(parts: Sequence[str]) -> Iterator[str]:
    """Join parts into texts that are about as long as may be looked at in one go."""
    chunk: list[str] = []
    chars = 0
    for part in parts:
        if chunk and chars + len(part) > PIECE_CHARS_MAX:
            yield "\n".join(chunk)
            chunk, chars = [], 0
        chunk.append(part)
        chars += len(part)
    yield "\n".join(chunk)
