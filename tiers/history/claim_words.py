"""By which words a claim is found, and where: how rivals of a claim without a key are looked for.

Pure, and the same for every engine. Stores keep what these functions return beside each active
belief: a change here needs a step that brings what is stored up to it.
"""

from __future__ import annotations

import json

from ..beliefs import Commitment
from ..lexical import content_words, stem

CLAIM_WORDS_MAX = 24
"""The words by which a claim is found: each is a row to keep, and a look-up to make."""

NEWEST_MAX = 64
"""How many beliefs are looked at for each word, the newest of those that the asker sees."""

LOOKED_THROUGH_MAX = 1_000
"""Among how many of the newest these are, whoever sees them."""


def claim_words(claim: str) -> tuple[str, ...]:
    """Return the different words that say what a claim is about, in order, without plural endings.

    Numbers count; stop words do not, unless there is nothing else. At most ``CLAIM_WORDS_MAX``,
    the first ones; empty when the claim has no word at all.
    """
    return tuple(dict.fromkeys(map(stem, content_words(claim))))[:CLAIM_WORDS_MAX]


def filed_under(belief: Commitment) -> str:
    """Return where a belief and its rivals are: topic, privacy and user, in one canonical string.

    One that names no topic stands beside those that others, who need not see it, hold under other
    topics. Two beliefs are filed alike exactly when this is the same.
    """
    writer = belief.agent_id if belief.private else None
    audience = sorted(belief.topics) if belief.topic is None else None
    return json.dumps([belief.topic, writer, belief.user_id, audience], ensure_ascii=False)
