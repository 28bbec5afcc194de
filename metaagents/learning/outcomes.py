"""What a user's next words say about how the last answer did: it worked, it did not. Pure.

Only words that can mean nothing else count. A clause counts when all of it is such a saying, with
nothing before it but a greeting of relief or regret and nothing after it but emphasis; hopes,
questions, reports and conditions are therefore none. What says both says nothing.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from tiers.lexical import sentences

from .regexes import any_case

Outcome: TypeAlias = Literal["confirmed", "rejected"]

CHARS_MAX = 2_000
"""How much of a message is read: an outcome is said at once."""

_LEAD = (
    r"(?:(?:ok|okay|great|perfect|awesome|excellent|brilliant|amazing|wonderful|fantastic|cool|nice|"
    r"super|wow|yes|yep|yeah|yay|thanks|thank you|thx|cheers|ah|oh|hey|well|hmm|no|nope|sorry|"
    r"unfortunately|sadly|alas|and|so|now|actually|indeed|finally|good news|bad news|update|"
    r"just tried it|i tried it|i tried that|tried it|tried that|i did that|done|"
    r"i can confirm(?: that)?)[\s:,.!\-]{0,3})*"
)
_IT = (
    r"(?:it|that|this|they|your (?:suggestion|answer|advice)"
    r"|(?:your|the|that|this|these|those) (?:fix|solution|steps?))"
)
_TAIL = (
    r"(?:[\s,]{1,3}(?:now|again|great|fine|perfectly|well|nicely|beautifully|flawlessly|finally|"
    r"at last|this time|for me|for us|here|like a charm|as expected|on the first try|right away|"
    r"thanks|thank you|thx|cheers|so much|a lot|very much|at all|either|unfortunately|sadly|"
    r"though|sorry|on my (?:machine|laptop|phone|end|side)))*"
)
_WHAT = r"(?:it|that|anything|(?:the|my) (?:problem|issue|bug|error))"
_IS = r"(?:['\u2019]s| is)"
_CONFIRMS = (
    rf"{_IT} (?:really |totally |completely |all )?(?:worked|works|is working|helped(?: a lot)?)",
    r"(?:it|that|everything) (?:now )?(?:works|worked)",
    rf"{_IT} (?:solved|fixed|sorted|resolved) {_WHAT}",
    rf"{_IT} got it (?:working|running|going)",
    rf"{_IT} (?:did it|did the trick|was (?:it|right|correct|exactly it))",
    rf"(?:it|that|this|everything){_IS} (?:all |now )?(?:working|fixed|solved|resolved|sorted)",
    rf"(?:it|that|this|everything){_IS} (?:all )?good",
    r"(?:works|worked|fixed|solved|resolved|sorted|all good now|all fixed|up and running)",
    r"(?:fixed|solved|sorted|resolved) it|confirmed working",
    r"(?:problem|issue) (?:solved|fixed|resolved)",
    r"the (?:problem|issue|error|bug) (?:is|was|has been) (?:gone|fixed|solved|resolved)",
    r"the (?:problem|issue|error|bug) (?:went away|has gone away|disappeared)",
    r"(?:(?:that|this)(?:['\u2019]s| is| was) )?exactly what i (?:needed|wanted)",
    r"you (?:solved|fixed) it",
    r"(?:did the trick|you were right)",
)
_NOT = r"(?:did ?n['\u2019]?t|does ?n['\u2019]?t|did not|does not)"
_MEANT = r"what i (?:asked(?: for)?|meant|need|needed|want|wanted)"
_REJECTS = (
    rf"(?:{_IT} )?(?:still )?{_NOT} (?:really |actually )?(?:work|help|do it|do the trick)",
    rf"(?:{_IT} )?(?:still )?{_NOT} (?:really |actually )?(?:fix|solve) {_WHAT}",
    rf"(?:{_IT}{_IS} )?(?:still )?(?:not (?:working|fixed|solved|resolved)|broken again)",
    rf"(?:{_IT}{_IS} )?still (?:broken|failing|wrong|crashing|there|the same)",
    rf"(?:{_IT}{_IS} )?still the same (?:error|problem|issue)",
    rf"{_IT} (?:still )?is ?n['\u2019]t (?:working|fixed|right)",
    rf"{_IT} (?:failed|failed again|made it worse|broke it|broke everything)",
    r"(?:it|that|this)(?:['\u2019]s| is| was) (?:wrong|incorrect|not (?:right|correct|true|it))",
    rf"(?:(?:that|this)(?:['\u2019]s| is| was) )?not {_MEANT}",
    rf"(?:that|this) (?:is|was)n['\u2019]t {_MEANT}",
    r"(?:wrong|incorrect)",
    rf"{_IT} (?:crashed|(?:still )?(?:fails|crashes))|still (?:fails|crashes)",
    r"(?:the )?same (?:error|problem|issue)(?: again| as before)?",
    r"(?:still )?no luck|(?:i see )?no (?:difference|effect|improvement)|nothing changed",
    rf"{_IT} (?:did nothing|(?:made|makes) no difference|had no effect|keeps (?:failing|crashing))",
    rf"{_IT}{_IS} (?:now |even )?worse",
    r"(?:i(?:['\u2019]m| am) )?still (?:getting|seeing) the (?:same )?(?:error|problem|issue)",
    r"i still (?:get|see|have) the (?:same )?(?:error|problem|issue)",
    r"the (?:same )?(?:error|problem|issue|bug) (?:is still there|still persists|persists|remains)",
    r"(?:(?:that|this|it)(?:['\u2019]s| is| was) )?not (?:very |really )?helpful",
    rf"(?:none of {_IT}|nothing) (?:worked|helped|works|helps)",
    r"you(?:['\u2019]re| are) wrong",
)


def _any_of(sayings: tuple[str, ...]) -> re.Pattern[str]:
    return any_case(rf"\W{{0,8}}{_LEAD}(?:{'|'.join(sayings)}){_TAIL}[\W_]{{0,8}}")


_CONFIRMING, _REJECTING = _any_of(_CONFIRMS), _any_of(_REJECTS)
_CLAUSE_END = any_case(
    r"[;:()]|\s[\-\u2013\u2014]\s|(?:,\s{0,3}|\s)(?:but|and|so|because|however|although)\s|,\s"
)
_HYPOTHETICAL = any_case(
    r"\b(?:if|when|once|until|unless|whether|hope|hopefully|wish|suppose|maybe|perhaps|might|would|"
    r"could|should|will|almost|nearly|said|says|told|yesterday|last|used to|before)\b"
)
# Too weak to count, strong enough to make what says the contrary unclear.
_HINTS_AT_FAILURE = any_case(
    r"(?:n['\u2019]?t|not|never) (?:really |quite )?(?:work|help|fix|solve)"
    r"|\bstill (?:not|does|is|has)|\b(?:fails|failed|failing|broke|broken|crashed|crashes|worse)\b"
    # Something else did it.
    r"|\b(?:because|instead|something else|(?:it|my|our|him|her|them)sel(?:f|ves))\b"
    # Irony: what takes back what was said, or says it of nothing.
    r"|^\W*not\W*$|\b(?:yeah|sure),? right\b|\bnice try\b"
)
_HINTS_AT_SUCCESS = any_case(
    r"(?<!not )(?<!n't )(?<!n\u2019t )\b(?<!nothing )(?<!of it )(?<!of that )(?<!of them )"
    r"(?<!of the steps )(?:worked|works|fixed|solved|resolved)\b"
)
_SAME_BEFORE = any_case(r"\bas before\b")
_CORRECTION = any_case(
    r"\b(?:step (?:\d{1,2}|one|two|three|four|five)|(?:first|second|third|last) step)\b"
    r"[^.!?\n]{0,60}\b(?:wrong|incorrect|missing|unnecessary|not (?:right|needed|necessary)|should|"
    r"must|has to|fails?|failed)\b"
    r"|\b(?:instead of|rather than)\b|\binstead\b|\b(?:you|we|it) (?:forgot|missed|left out)\b"
    r"|\b(?:must|have to|has to|need to|needs to|should) (?:also |be |do |come )?[^.!?\n]{0,60}"
    r"\b(?:first|before|beforehand)\b|\bnot [^.!?,\n]{1,60}, but\b"
)


def reading(said: str) -> Outcome | None:
    """Return what a user's words say about the answer before them; ``None``: nothing clear."""
    is_confirmed = is_rejected = False
    sentences_read = [
        sentence
        for sentence in sentences(said[:CHARS_MAX])
        if "?" not in sentence and not is_hypothetical(sentence)
    ]
    for sentence in sentences_read:
        if _REJECTING.fullmatch(sentence):
            is_rejected = True
            continue
        if _CONFIRMING.fullmatch(sentence):
            is_confirmed = True
            continue
        for clause in _CLAUSE_END.split(sentence):
            is_rejected = is_rejected or _REJECTING.fullmatch(clause) is not None
            is_confirmed = is_confirmed or _CONFIRMING.fullmatch(clause) is not None
    if is_confirmed == is_rejected:
        return None
    contrary = _HINTS_AT_FAILURE if is_confirmed else _HINTS_AT_SUCCESS
    if any(contrary.search(sentence) for sentence in sentences_read):
        return None
    return "confirmed" if is_confirmed else "rejected"


def is_hypothetical(sentence: str) -> bool:
    """Whether a sentence speaks of what may be, was long ago, or somebody else said."""
    return _HYPOTHETICAL.search(_SAME_BEFORE.sub("", sentence)) is not None


def corrects(said: str) -> bool:
    """Whether a user's words reject or correct what was done: what a refinement needs."""
    if reading(said) == "rejected":
        return True
    return any(
        _CORRECTION.search(sentence) is not None and "?" not in sentence
        for sentence in sentences(said[:CHARS_MAX])
    )
