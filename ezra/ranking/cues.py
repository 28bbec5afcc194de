"""What a question says about its answer: who, when, and whether a time or a number. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from tiers.lexical import STOP_WORDS, sentences, stem, symbols, ungrouped, words
from tiers.moments import local

from .time_words import YearDay, speaks_of_past, without_times
from .times import EVER, TimeSpan, past_in, times_in

PHRASE_WORDS_MAX = 4
PHRASES_MAX = 100
QUESTION_CHARS_READ = 2_000
USERS = frozenset("user human customer client me".split())
"""What the person who talks to an assistant is called where nobody has a name."""

ASSISTANTS = frozenset("assistant ai bot agent".split())
"""What whoever answers is called where nobody has a name."""

# Only what was said: "can you" asks for something new, and so may "would you".
_ADDRESSED = re.compile(
    r"\b(?:did|had|were|weren't|didn't|hadn't) you\b"
    r"|\b(?:have|haven't) you (?:ever |already |just )?(?:said|told|given|\w{3,20}ed)\b"
    r"|\byou(?:'ve| have| had|'d)?(?: once| already| just| also| last| originally| first| earlier)?"
    r" (?:recommended|suggested|advised|proposed|mentioned|gave|given|said|told|warned|listed|named"
    r"|called|preferred|ranked|asked|explained|described|wrote|answered|promised|quoted|came up)\b"
    r"|\byour (?:last|first|earlier|previous|original) \w",
    re.IGNORECASE,
)
_YOUR_WORDS = re.compile(
    r"\byour (?:\w{1,20} )?(?:advice|recommendations?|suggestions?|proposals?|answers?|lists?"
    r"|tips?|plan|opinion|warnings?|explanation)\b",
    re.IGNORECASE,
)
"""What may have been given before, or be asked for now: "what is your advice?"."""

_WOULD_YOU = re.compile(
    r"\bwould you (?!please|kindly|mind|like|list|tell|show|give|help|walk)"
    r"|\bdo you (?:recommend|suggest|advise|prefer)\b",
    re.IGNORECASE,
)
"""Advice is meant, given before or wanted now; whoever speaks of themselves wants it now."""

_POLITE = re.compile(
    r"\b(?:tell|remind|show|give|help|let|send|find|get|walk|inform) me\b"
    r"|\bi(?:'d| would) (?:like|love) (?:to|you to) (?:know|hear|see|ask|tell)\b"
    r"|\bi(?:'m| am| was|'ve been) (?:just )?(?:wondering|curious|asking)\b"
    r"|\bi (?:want|need|wanted) (?:to know|you to)\b|\b(?:can|could|may) i ask\b"
    r"|\b(?:excuse|pardon) me\b|\bmy apologies\b|\bdo me a favou?r\b"
    r"|\b(?:if|when(?:ever)?|once) you (?:have|get|can|could|find|are|don't mind)\b"
    r"[^,?.]{0,40}[,?.]",
    re.IGNORECASE,
)
"""What is said out of courtesy: neither is it about the one who says it, nor about a time."""

_REQUEST = re.compile(
    r"\b(?:can|could|would|will|won't) (?:you|u)\b|\bplease\b"
    r"|\b(?:should|shall|could|can|might) (?:i|we)\b|\bdo you (?:think|recommend|suggest|know)\b",
    re.IGNORECASE,
)
_AT_HAND = re.compile(
    r"\b(?:today|tonight|this (?:morning|week|weekend|month|year))\b", re.IGNORECASE
)
_ASKS = re.compile(
    r"\?|^\W*(?:please |can you |could you )?(?:tell|remind|recap|list|show|summari[sz]e|what|who"
    r"|when|where|which|how|did)\b",
    re.IGNORECASE,
)

_ORDER = re.compile(
    r"\b(?:in|by) (?:the |which |what )?(?:\w{1,20} )?(?:order|sequence)\b"
    r"|\b(?:the|what|which) (?:\w{1,20} )?(?:order|sequence) (?:in which|of|that|did|i|we)\b"
    r"|\bchronological(?:ly)?\b|\bone after (?:the )?(?:other|another)\b",
    re.IGNORECASE,
)
_TELLING_OF = re.compile(
    r"\b(?:orders?|sequence|chronological(?:ly)?|list|(?:brought|bring|bringing|came|come)(?: up)?"
    r"|mention(?:ed|ing)?|rais(?:ed|e|ing)|discuss(?:ed|ing)?|talked?|spoke|walk(?:ed)?|went|conversations?|chats?"
    r"|messages?|throughout|across|different|various|aspects?|topics?|things?|items?|points?"
    r"|subjects?|first|last|one after (?:the )?(?:other|another)|please)\b",
    re.IGNORECASE,
)
CODE_CHARS_READ = 20_000
_CODE = re.compile(
    r"\b(?=[\w.-]{0,40}\d)(?:(?=[\w.-]{0,40}[A-Za-z])\w{1,40}(?:[.-]\w{1,40}){0,8}"
    r"|\d{1,20}(?:[.-]\d{1,20}){1,8})\b"
    r"|\b[^\W_]{1,40}(?:_[^\W_]{1,40}){1,8}\b"
)
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|i'm|i've|i'd)\b", re.IGNORECASE)
_ASKS_TIME = re.compile(
    r"^\W*(?:and |so |but )?when\b|\b(?:what|which) (?:date|day|month|year|week|time)\b"
    r"|\bhow long ago\b|\bsince when\b|\buntil when\b",
    re.IGNORECASE,
)
_ASKS_EACH = re.compile(
    r"\bhow (?:many|often|frequently|regularly)\b|\bnumber of\b|\bcount(?:s|ed|ing)?\b"
    r"|\b(?:each|every|all the|first|last|latest|most recent) (?:times?|days?|dates?|mornings?"
    r"|evenings?|nights?|weeks?|months?)\b"
    r"|\b(?:what|which) (?:days|dates|times)\b|\b(?:everytime|whenever|daily|always|ever)\b",
    re.IGNORECASE,
)
"""What one of several turns in the same words does not answer."""

_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|often|old|far|big|large|fast|high|tall|heavy)\b"
    r"|\bwhat (?:number|percentage|price|amount|version|size)\b",
    re.IGNORECASE,
)
_TIME_WORDS = frozenset(
    "yesterday today tomorrow tonight last next ago week weeks weekend month months year years day "
    "days morning afternoon evening noon midnight monday tuesday wednesday thursday friday "
    "saturday sunday january february march april june july august september october november "
    "december recently soon later earlier".split()
)
_NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty "
    "hundred thousand once twice couple dozen half few several".split()
)
_ASK_WHAT = frozenset("happen happened happens going go went on up new say said tell told".split())
"""What asks for whatever was there."""

_YEARS = re.compile(r"(?:19|20)\d\d")
_CLOCK = re.compile(r"\b(?:[01]?\d|2[0-3]):[0-5]\d\b|\b(?:1[0-2]|[1-9]) ?[ap]\.?m\b", re.IGNORECASE)
_GREETS = r"(?:hi|hello|hey|bye|goodbye|thanks|thank you|good (?:morning|afternoon|evening|night))"
_GOOD_DAY = re.compile(r"\bgood (?:morning|afternoon|evening|night)\b", re.IGNORECASE)
_ONLY_GREETS = re.compile(
    rf"{_GREETS}(?: {_GREETS}"
    r"| (?:again|all|and|everybody|everyone|for now|so much|there|very much))*"
)
GREETING_WORDS_MAX = 8


@dataclass(frozen=True)
class Cues:
    """What a question says about its answer.

    Attributes:
        named: Names of known speakers in the question, lower case.
        first_person: Whether somebody asks about themselves.
        addressed: Whether somebody asks what the one who answers has said.
        in_doubt: Whether they may as well ask for something new.
        spans: The times that it speaks of.
        days: The months and days that it names without a year.
        past: The times of which it asks what held then and may hold no more; none where it asks
            about now.
        only_time: Whether it has but a time, and maybe names of speakers, to go by.
        wants_time: Whether a time answers it.
        wants_number: Whether a number answers it.
        phrases: Runs of up to four words, for looking up what has a name.
    """

    named: frozenset[str] = frozenset()
    first_person: bool = False
    addressed: bool = False
    in_doubt: bool = False
    spans: tuple[TimeSpan, ...] = ()
    days: tuple[YearDay, ...] = ()
    past: tuple[TimeSpan, ...] = ()
    only_time: bool = False
    wants_time: bool = False
    wants_number: bool = False
    phrases: tuple[str, ...] = ()

    @property
    def names_past(self) -> bool:
        """Whether it says of which past it asks what held then."""
        return bool(self.past) and EVER not in self.past

    def speaks_of(self, moment: datetime, zone: ZoneInfo) -> bool:
        """Whether a moment lies in a time that the question speaks of."""
        for span in self.spans:
            if span.has(moment):
                return True
        if not self.days:
            return False
        there = local(moment, zone)
        return any(there.month == one.month and one.day in (None, there.day) for one in self.days)


def read_cues(text: str, speakers: Sequence[str], now: datetime, zone: ZoneInfo) -> Cues:
    """Return what a question says about its answer.

    Args:
        text: The question; its first ``QUESTION_CHARS_READ`` characters are read.
        speakers: Who speaks in the graph; of ``chat/Ada`` the name is ``Ada``.
        now: When it is asked: relative dates count from here.
        zone: Where days begin.
    """
    text = text[:QUESTION_CHARS_READ]
    meant = _POLITE.sub(" ", text)
    wants_time = bool(_ASKS_TIME.search(meant))
    addressed = bool(_ADDRESSED.search(text))
    first_person = bool(_FIRST_PERSON.search(meant))
    is_advice = not first_person and bool(_WOULD_YOU.search(meant))
    # Who asks for something to do today does not ask about today.
    is_request = _REQUEST.search(text) is not None and not speaks_of_past(meant)
    spans, days = times_in(_AT_HAND.sub(" ", meant) if is_request else meant, now, zone)
    named = named_in(text, speakers)
    return Cues(
        named=named,
        first_person=first_person,
        addressed=addressed or is_advice or bool(_YOUR_WORDS.search(text)),
        in_doubt=not addressed and (is_advice or not speaks_of_past(meant)),
        spans=spans,
        days=days,
        past=past_in(meant, (spans, days), now, zone),
        only_time=bool(spans or days) and _is_told_by_time(meant, named),
        wants_time=wants_time,
        wants_number=not wants_time and bool(_ASKS_NUMBER.search(text)),
        phrases=phrases_in(text),
    )


def _is_told_by_time(text: str, named: frozenset[str]) -> bool:
    """Whether nothing is left of a question without the times and the speakers that it names."""
    names = {word for name in named for word in words(name)}
    return (STOP_WORDS | _ASK_WHAT | names).issuperset(words(without_times(text)))


def asks(text: str) -> bool:
    """Whether a text asks for something to be told, with a question mark or without."""
    return _ASKS.search(text) is not None


def wants_order(text: str) -> bool:
    """Whether a question asks in which order things were said."""
    return _ORDER.search(text[:QUESTION_CHARS_READ]) is not None


def wants_each(text: str) -> bool:
    """Whether a question asks how often, when or in which order something was said or done.

    Then each time counts that something was said, also in the same words.
    """
    text = text[:QUESTION_CHARS_READ]
    asked = _ASKS_EACH.search(text) or _ASKS_TIME.search(_POLITE.sub(" ", text))
    return asked is not None or wants_order(text)


def subject_of(text: str) -> str:
    """Return what a question is about, without the words that only say how to tell of it.

    Who asks in which order things were brought up does not look for "order" or "brought up";
    what is left may be nothing but stop words.
    """
    return _TELLING_OF.sub(" ", _POLITE.sub(" ", text)) if wants_order(text) else text


def meant_by(text: str) -> str:
    """Return what a question is about; the question itself where nothing is left of it."""
    subject = subject_of(text)
    return text if STOP_WORDS.issuperset(words(subject)) else subject


def only_greets(found: Sequence[str]) -> bool:
    """Whether a text is courtesy and nothing else; by its words (``lexical.words``)."""
    is_short = 0 < len(found) <= GREETING_WORDS_MAX
    return is_short and _ONLY_GREETS.fullmatch(" ".join(found)) is not None


def without_greeting(text: str) -> str:
    """Return a text without what wishes somebody a good morning, which tells of no time."""
    return _GOOD_DAY.sub(" ", text)


def tells_clock(text: str) -> bool:
    """Whether a text has a time of day in figures."""
    return _CLOCK.search(text) is not None


def tells_time(found: Sequence[str]) -> bool:
    """Whether a text says when something is, was or will be; by its words (``lexical.words``)."""
    if not _TIME_WORDS.isdisjoint(found):
        return True
    return any(_YEARS.fullmatch(word) for word in found if word[0] in "12")


def tells_number(found: Sequence[str]) -> bool:
    """Whether a text has a number; by its words (``lexical.words``)."""
    return not _NUMBER_WORDS.isdisjoint(found) or any(word[0].isdigit() for word in found)


def name_of(speaker: str) -> str:
    """Return the name of a speaker or agent without the path before it, lower case."""
    return speaker.rpartition("/")[2].casefold().strip()


def named_in(text: str, speakers: Sequence[str]) -> frozenset[str]:
    """Return the names of the speakers whom a text names: in full, or by the first of two."""
    said = " ".join(words(text))
    padded = f" {said} "
    named = set()
    for speaker in speakers:
        parts = words(speaker.rpartition("/")[2])
        if not parts or STOP_WORDS.issuperset(parts):
            continue  # somebody called Will is not named by a question about the future
        full, first = " ".join(parts), parts[0]
        short = len(parts) > 1 and len(first) > 2 and f" {first} " in padded  # noqa: PLR2004 - "J Doe"
        if f" {full} " in padded or short:
            named.add(name_of(speaker))
    return frozenset(named)


def without_names(query: str, names: Sequence[str]) -> str:
    """Return the query without the names of known speakers, for the dense leg.

    A name pulls a sentence embedding towards every turn of that speaker; the lexical leg keeps
    it. Only capitalised words count as names, so that an agent called ``tyre engineer`` takes
    nothing away from a question about tyres. A query of nothing but names stays as it is.

    Args:
        query: The question.
        names: Agent ids; of a path such as ``chat/Ada`` only the last part is a name.
    """
    parts = [part for name in names for part in name.rpartition("/")[2].split()]
    known = {word for part in parts if part[:1].isupper() for word in words(part)}
    kept = [
        token for token in query.split() if not (token[:1].isupper() and set(words(token)) & known)
    ]
    return " ".join(kept) or query


def codes_in(text: str) -> frozenset[str]:
    """Return the codes of a text: letters with digits, numbers joined by marks, names of code.

    ``E4711``, ``7.41``, ``INC-1443``, ``CART_TIMEOUT``: who names one means exactly that.
    """
    return frozenset(match.group().lower() for match in _CODE.finditer(text[:CODE_CHARS_READ]))


def stems_in(text: str) -> frozenset[str]:
    """Return the stems of a text's content words."""
    spoken = words(text)
    found = frozenset((*spoken, *ungrouped(text), *symbols(text, spoken)))
    return frozenset(map(stem, found - STOP_WORDS or found))


def shared_words(asked: frozenset[str], text: str) -> float:
    """Return the share of a query's stems (``stems_in``) that the text has, 0 to 1."""
    return len(asked & stems_in(text)) / len(asked) if asked else 0.0


def sentence_stems(text: str) -> list[frozenset[str]]:
    """Return the stems of each sentence, where there are several; of a long text at its ends.

    There people say what the rest of it is.
    """
    is_long = len(text) > 2 * QUESTION_CHARS_READ
    ends = (text[:QUESTION_CHARS_READ], text[-QUESTION_CHARS_READ:])
    found = sentences("\n".join(ends) if is_long else text)
    return [stems_in(one) for one in found] if len(found) > 1 else []


def shares_a_sentence(asked: Sequence[frozenset[str]], text: str, share: float) -> bool:
    """Whether a text has such a share of one sentence's stems, and more than one of them."""
    known = stems_in(text) if asked else frozenset()
    return any(len(one & known) >= max(2, share * len(one)) for one in asked)


def phrases_in(text: str) -> tuple[str, ...]:
    """Return runs of up to ``PHRASE_WORDS_MAX`` words between two that tell, longest first."""
    found = words(text)
    runs = (
        found[start : start + size]
        for size in range(PHRASE_WORDS_MAX, 0, -1)
        for start in range(len(found) - size + 1)
    )
    telling = (" ".join(run) for run in runs if STOP_WORDS.isdisjoint((run[0], run[-1])))
    return tuple(dict.fromkeys(telling))[-PHRASES_MAX:]
