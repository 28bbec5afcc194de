"""A message that opens without saying of whom it is: of who types it. Pure.

``Drive a 2012 Corolla``, ``bad left knee``, ``nurse on a geriatric ward``, ``Fridays off``. Only
what opens a message is read so: behind another sentence it may go on about whom that one names.
"""

from __future__ import annotations

import re

from tiers.lexical import MONTHS, NUMBER_WORDS, WEEKDAYS, sentences

from ..marks import Way, Ways, reworded
from .fragments import listed_of_oneself
from .lexicon import BODY, CARERS, PETS, RELATIVES, SWALLOWED, TRADES
from .shorthand import STATE, article
from .verbs import FORMS

_DAYS = "|".join(f"{day}s" for day in WEEKDAYS)
_NO_NAME = "|".join(one.capitalize() for one in (*MONTHS, *WEEKDAYS))
_COUNT = rf"(?:\d{{1,2}}|{'|'.join(sorted(NUMBER_WORDS))})"
_BODY = "|".join(sorted(BODY | {"hip", "spine", "heart", "eyesight", "hearing"}))
_HAD = "|".join(sorted({f"{one}s" for one in PETS | RELATIVES} | {"kids", "children", "wives"}))
_TRADE = "|".join(sorted(TRADES - CARERS | {"player", "drummer", "singer", "guitarist", "postman"}))
_NO_OTHER = (
    r"(?!.{0,20}?\b(?:as|an?|the|my|our|his|her|their|your|this|that|for|with|to|from|by|of|in|no"
    r"|not|any|every|some|good|best|great|need|like|ask|call|find|and|or|but) (?:[a-z-]+ )?"
    rf"(?:{_TRADE})\b)"
)
"""Who is sought, or somebody else's: ``as a nurse``, ``good plumber``."""
_WHERE = (
    r"(?:(?:in|at|for|with|on) an? (?!(?:\w+ )?(?:mood|hurry|rush|minute|moment|break|call|row|way"
    rf"|film|movie|book|novel|play|game)\b)|(?:in|at|for|from) (?!{_NO_NAME})(?=[A-Z])"
    r"|(?:in|at) (?=(?:primary|secondary|middle|high) school))"
)
_ENDS = r"(?=[.,;!]|\s*$)"


def _one(found: re.Match[str]) -> str:
    return f"I am {article(found[1])}{found[0]}"


def _free(found: re.Match[str]) -> str:
    return f"I am off on {found[1].capitalize()}{found[2] or ''}"


_SAID: tuple[Way, ...] = (
    Way(r"^drive (?=an? (?:(?:19|20)\d\d |'\d\d |(?:old |little |battered )?[A-Z]))", "I drive "),
    Way(
        r"^live (?=in an? (?:\w+ )?(?:flat|house|village|town|cottage|studio|apartment|caravan"
        r"|bungalow|houseboat|farmhouse)\b|on the \w+ floor|in [A-Z])",
        "I live ",
    ),
    Way(
        r"^work (?=nights\b|shifts\b|part[- ]time|full[- ]time|from home|as an? (?!team\b|group\b)"
        r"|at [A-Z]|for [A-Z]|nights at )",
        "I work ",
    ),
    Way(
        r"^play (?=(?:the )?[a-z]+ in an? (?:[a-z]+ )?(?:orchestra|band|choir|quartet|team|league"
        r"|trio)\b)",
        "I play ",
    ),
    Way(
        rf"^(?:have|got) (?=(?:an? (?:[a-z]+ )?(?:{'|'.join(sorted(PETS))})|{_COUNT} (?:{_HAD}))\b"
        r"(?! (?:to|for|waiting|problem|question)))",
        "I have ",
    ),
    Way(r"^grew up (?=(?:on|in|near) )", "I grew up "),
    Way(
        r"^raised (?=Catholic|Jewish|Muslim|Hindu|Protestant|Lutheran|Orthodox|Mormon|vegetarian"
        r"|bilingual|by my )",
        "I was raised ",
    ),
    Way(
        rf"^don't eat (?=(?:{'|'.join(sorted(SWALLOWED))}|pork|beef|seafood|shellfish|nuts|eggs)"
        rf"{_ENDS})",
        "I don't eat ",
    ),
    Way(
        rf"^(?=(?:{_COUNT}) (?:{_HAD}),? (?:aged )?{_COUNT}(?:,? (?:and )?{_COUNT})*[.!]?$)",
        "I have ",
    ),
    Way(
        rf"^((?:(?:single|proud|working|divorced|widowed) )?(?:mum|mom|dad|mother|father|parent)"
        rf" of {_COUNT}(?: (?:girls|boys|kids|children))?){_ENDS}",
        r"I am a \1",
    ),
    Way(rf"^({STATE}),? (?:sadly|unfortunately|i'm afraid){_ENDS}", r"I am \1"),
    Way(
        rf"^((?:bad|dodgy|weak|artificial|prosthetic|fused|torn|titanium) (?:(?:left|right) )?"
        rf"(?:{_BODY})){_ENDS}",
        r"I have a \1",
    ),
    Way(rf"^({_DAYS})( and (?:{_DAYS}))? off{_ENDS}", _free),
    Way(r"^(size \d{1,2}(?:[.,]5)? (?:shoes?|feet|boots?|dress|shirts?|gloves?)\b)", r"I wear \1"),
    Way(r"^((?:ring|shoe|shirt|dress|hat|glove) size):? (?=\d|[SMLX]{1,3}\b)", r"My \1 is "),
    Way(rf"^({_NO_OTHER}(?:[a-z-]+ ){{0,2}}?(?:{_TRADE})) (?={_WHERE})", _one),
    Way(rf"^((?:retired|trainee|freelance|self-employed) (?:{_TRADE})){_ENDS}", _one),
)
_WAYS = Ways(_SAID)
_SEAT = (
    r"((?:an? |the )?(?:window|aisle|middle|front|back|quiet|ground-floor|upper|lower|non-smoking)"
    r" (?:seat|room|row|table|berth|bunk|car(?:riage)?))"
)
_ALWAYS = (
    re.compile(rf"always {_SEAT} for me\b", re.IGNORECASE),
    re.compile(rf"{_SEAT} for me,? (?:please,? )?always\b", re.IGNORECASE),
)
_ASKS = re.compile(
    r"\?\s*$|\b(?:please|wanted|needed|any|recommend\w*|anyone|today|tonight|tomorrow)\b",
    re.IGNORECASE,
)


def with_speaker(said: str) -> str:
    """Return a message whose first sentence names nobody with who types it.

    Args:
        said: The message, its apostrophes in one form.
    """
    opening = next(iter(sentences(said)), "")
    told = opening
    if opening and said.startswith(opening):
        listed = listed_of_oneself(opening)
        told = listed if listed != opening else _of_speaker(opening)
    return f"{told}{said[len(opening) :]}" if told != opening else said


def _of_speaker(sentence: str) -> str:
    for always in _ALWAYS:
        if found := always.match(sentence):
            return f"I always take {_small(found[1])}{sentence[found.end() :]}"
    small = _small(sentence)
    told = reworded(small, _WAYS)
    is_own = told != small and not _ASKS.search(sentence) and _is_no_sentence(small)
    return told if is_own else sentence


def _is_no_sentence(small: str) -> bool:
    """Whether no verb of somebody else stands in what opens a message, up to its first comma."""
    opening = re.split(r"[,;.!]", small, maxsplit=1)[0].split()[1:]
    return not any(
        FORMS.get(one, ("", ""))[1] == "present" or one in {"is", "was", "are", "were", "has"}
        for one in opening
    )


def _small(said: str) -> str:
    return f"{said[:1].lower()}{said[1:]}"
