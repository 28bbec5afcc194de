"""What tells a place or a firm from others of its name: what stands behind a comma. Pure.

Who has never been to Portland, Maine may live in another Portland. Cut at the comma, a denial is
one of something else: false, and it ends what is true.
"""

from __future__ import annotations

from tiers.lexical import MONTHS, WEEKDAYS

from ..regexes import any_case, regex
from .lexicon import CAPITALS
from .phrases import NAME

_ENDS_IN_NAME = regex(rf"(?<![\w'])[{CAPITALS}][\w.'-]+$")
_REST_OF_NAME = regex(
    r"(?!(?i:i|we|my|our|he|she|it|they|you|his|her|their|your|there|this|that)\b)"
    rf"{NAME}(?=[.,;!?]|$| (?:in|at|for|since|until|with|on|by|from|any ?more|now|again|these|this"
    r"|last|next|every|yet|either|but|because|though|although|while|as)\b)"
)
_DENIED = any_case(
    r"\b(?:not|never|no longer|cannot|\w+n't|quit|left|stopped|gave up|moved (?:away|out))\b"
)
_TELLS_WHICH = any_case(r"(?:the|an?|that|in|near|as in|i mean)\b")
_ENDS_SOMEWHERE = regex(r" (?:in|to|from|for|at|near) [a-z]{3,}$")
_LOWERED_REST = regex(
    r"(?!\w+ly\b|(?:thanks|either|though|anyway|now|yet|sorry|too|so|sir|mate|please)\b)"
    r"[a-z.]+(?: [a-z]+)?[.! ]*$"
)
"""What may be the country of a place that is typed without capitals."""
_FINITE = any_case(r"\b(?:is|are|was|were|has|have|had|will)\b")


def is_rest_of_name(before: str, rest: str) -> bool:
    """Whether a name behind a comma belongs to the one before it: ``Portland, Maine in 2019``."""
    is_day = rest.split(" ", 1)[0].lower().strip(",.") in {*WEEKDAYS, *MONTHS}
    is_name = _ENDS_IN_NAME.search(before) is not None and not is_day
    return is_name and _REST_OF_NAME.match(rest) is not None


def tells_which(part: str, before: str) -> bool:
    """Whether a part says which one is denied before it: ``I'm not from Georgia, the country``."""
    if not _DENIED.search(before) or _FINITE.search(part):
        return False
    if _ENDS_IN_NAME.search(before):
        return _TELLS_WHICH.match(part) is not None
    return bool(_ENDS_SOMEWHERE.search(before) and _LOWERED_REST.match(part))
