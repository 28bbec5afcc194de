"""What is put first to be stressed, put back in its place. Pure.

``Python is what I use at work``, ``coffee I gave up years ago``, ``it was in 2015 that I moved``,
``the one who holds the keys is Oskar``.
"""

from __future__ import annotations

from tiers.lexical import WEEKDAYS

from ..marks import Way
from .lexicon import CAPITALS, FULL_NAME, SWALLOWED

_NAME = rf"[{CAPITALS}][\w'-]+(?: [{CAPITALS}][\w'-]+){{0,2}}"
_NO_THING = (
    r"(?!(?:this|that|these|those|it|which|what|who|nothing|everything|something|all|one|here|there"
    r"|he|she|they|you|we|i|the (?:thing|problem|question|point|reason|way|only)|sometimes|usually"
    r"|often|always|never|mostly|normally|maybe|perhaps|honestly|personally|actually|basically"
    r"|today|tonight|tomorrow|yesterday|now|then|so|and|but|or|because|since|as|when|while|if"
    r"|until|once|before|after|although|though|last|next|each|most|no|not|only|just|also|still"
    r"|again|first|finally|recently|lately|thanks"
    r"|sorry|yes|well|okay|ok|please|hope|wish|think|guess|god|man|boy|damn|wow|dude|love|ever"
    r"|whatever|how|why|where|things|places|people|words|stuff|foods|games|books|songs|films|movies"
    r"|mistakes|reasons|ways|questions|jokes|meetings|money|time"
    r"|(?:no|some|every)(?:body|thing|where)?|(?:no|some|every|any)one|any(?:body|where|thing)?"
    r"|on|in|at|for|with|to|from|of|by|about|like|unless|whether|had|were|is|was|did|do|does|can"
    r"|could|would|should|may|might|will|have|has|am|are)\b)"
)
"""What opens a sentence and is no thing that is put first."""
_THING = (
    rf"{_NO_THING}[\w'-]+(?: (?!i\b|we\b|is\b|are\b|was\b|and\b|or\b|that\b|who\b)[\w'-]+){{0,3}}?"
)
_DONE_WITH = (
    r"(?:use|drive|play|drink|eat|speak|study|teach|wear|ride|smoke|read|cook with|write in"
    r"|work (?:with|in|on)|code in)"
)
_AFTER = (
    r"(?:(?: at all| any ?more| any longer| altogether| completely| entirely| for good"
    r"| (?:many |some |\w+ )?(?:years|months|weeks) ago| long ago| last [a-z]+| in \d{4}"
    r"| since [\w ]{3,20}| every (?:day|morning|evening|week)| daily)*)"
)
_LEFT_OUT = (
    r"(?:(?:don't|do not|can't|cannot|never) (?:eat|drink|use|wear|touch|watch|like|speak|read"
    r"|stand|tolerate|take|smoke|buy)|(?:have |'ve )?(?:(?:gave|given) up|quit))"
)
"""Verbs of which what they are of stands first, and nothing behind."""
_SCHOOLED = (
    r"(?:(?:went|go) to (?:university|uni|college|school|medical school|law school)|studied|study"
    r"|trained|teach|taught|met my (?:wife|husband|partner)|got married|learned to [a-z]+|did my"
    r" (?:degree|training|apprenticeship|PhD|master's))"
)
_PLACE_OR_TIME = (
    r"(?:with|in|at|on|for|from|since|to) (?!(?:the|a) (?:best|first|last|moment|good|reason|way"
    r"|hope|meantime)\b|(?:this|that|these|those|times|days|moments|joy|pleasure|regret|all|your"
    r"|his|her|their|good|sure)\b)(?:the |my |our |an? )?[\w'-]+(?: (?!like\b)[\w'-]+){0,2}?"
)


def _small(thing: str) -> str:
    """Return a thing as it stands inside of a sentence; what may be a name keeps its capital."""
    first, *more = thing.split()
    if first in {"A", "An", "My", "Our"}:
        return f"{first.lower()}{thing[len(first) :]}"
    is_plain = bool(more) or first.endswith(("s", "ing")) or first.lower() in SWALLOWED
    is_written_so = first[1:] != first[1:].lower() or not all(map(str.islower, more))
    return f"{thing[:1].lower()}{thing[1:]}" if is_plain and not is_written_so else thing


FRONTED: tuple[Way, ...] = (
    Way(
        rf"(?:(?<=^)|(?<=[,;] )|(?<=\band ))((?:{'|'.join(WEEKDAYS)})s?) (?:is|are) (my|our) "
        r"((?:[a-z-]+ )?(?:day|night|days|nights|evening|morning)(?: off| out)?)"
        r"(?=[.!]?$|[,;]| and )",
        r"\2 \3 is \1",
    ),
    Way(
        rf"^\s*({_THING}) (?:is|are) what (i|we) ({_DONE_WITH})(?!\w)([^,;.!?]{{0,40}}?)[.!]?$",
        lambda found: f"{found[2]} {found[3]} {_small(found[1])}{found[4]}.",
    ),
    Way(
        rf"^\s*what (i|we) ({_DONE_WITH})( (?:at|in|on|for|every|with)\b[^,;.!?]{{2,40}}?)?"
        r" (?:is|are) (?!(?:what|that|how|not|why|where)\b)([^,;.!?]{2,40})[.!]?$",
        lambda found: f"{found[1]} {found[2]} {found[4]}{found[3] or ''}.",
    ),
    Way(
        rf"^\s*({FULL_NAME}) is where (I|[Ww]e) ({_SCHOOLED})(?=[.!]?$| (?:in|from|for|until)\b)",
        lambda found: f"{found[2]} {found[3]} in {found[1]}",
    ),
    Way(
        r"^\s*(?:[Tt]he (?:one|person|colleague|man|woman|guy|agent) (?:who|that)|[Ww]ho)"
        r" (?!(?:matters|counts|comes|wins|looks|gets|says|knows|cares|needs|wants|was|is|has)\b)"
        rf"([a-z]+s (?:the |our |all |my )?[\w' -]{{2,40}}?) is ({_NAME})(?=[.!]?$)",
        r"\2 \1",
    ),
    Way(
        rf"^\s*({_THING}),? (i|we) ({_LEFT_OUT})({_AFTER})[.!]?$",
        lambda found: f"{found[2]} {found[3]} {_small(found[1])}{found[4]}.",
    ),
    Way(
        rf"^\s*({_THING}),? (I|[Ww]e) (?:want|prefer|like) in"
        r" (?=[A-Z]|plain\b|metric\b|full\b)",
        lambda found: f"{found[2]} prefer {_small(found[1])} in ",
    ),
    Way(
        rf"\bit(?:'s| is| was) ({_PLACE_OR_TIME}) (?:that )?(i|we)(?!'|\w) ([a-z][^,;.!?]{{2,60}}?)"
        r"((?: (?:now|nowadays|these days))?(?=[,;.!?]|$))",
        r"\2 \3 \1\4",
    ),
)
