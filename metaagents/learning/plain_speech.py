"""Which sentences of a message are said plainly, and which words point at something else. Pure.

The word lists that keep ``patterns`` precise, each with what it keeps out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tiers.lexical import sentences

from ..distinctive import MONTHS
from .instructions import is_override

INPUT_CHARS_MAX = 2_000
"""A longer message is a document that was pasted: what is in it is not said by the user."""
SENTENCE_CHARS_MAX = 240

# Texts to be worked on, roles to be played, and jokes: the whole message is not about the user.
_HANDED_OVER = re.compile(
    r"```|^\s*>|\b(?:translat\w+|proofread\w*|rewrit\w+|rephras\w+|paraphras\w+|summari[sz]\w+|"
    r"role[- ]?play\w*|act as|pretend\w*|fiction\w*|novel|stor(?:y|ies)|poems?|lyrics?|songs?|"
    r"screenplay|script|characters?|persona|dialogue|monologue|example(?!\.\w)|e\.g|grammar\w*|"
    r"spell ?check|cover letter|template|sample|in the style of|wrote:|forwarded|dear [a-z]+,|"
    r"sincerely|regards|kidding|joking|jokes?|jk|lol|lmao|rofl|sarcas\w+)\b"
    r"|[:;]-?[pP)](?!\w)|\s/s\b|\bha(?:ha)+\b|[\U0001F600-\U0001F64F\U0001F923\U0001F92A]",
    re.IGNORECASE | re.MULTILINE,
)
# Questions, quotations, conditions, guesses, reports, and what is no longer so.
_VAGUE = re.compile(
    r"[?\"\u201c\u201d\u201e\u00ab*]|(?<!\w)'[^']{2,}'(?!\w)|'d\b|\b(?:if|unless|whether|would|"
    r"could|might|maybe|perhaps|probably|possibly|suppos\w+|imagin\w+|assum\w+|hypothetical\w*|"
    r"wish|as if|as though|guess|think|thought|thinks|feel like|almost|nearly|kind of|sort of|said|"
    r"says|saying|tells|told|ask(?:s|ed)|claim(?:s|ed)?|heard|apparently|allegedly|supposedly|"
    r"according to|used to|when i was|literally|dream\w*|lies?|lying|fake|not really|no longer|"
    r"anymore|any more|except|sometimes)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:hi|hello|hey|well|so|also|and|oh|btw|by the way|fyi|actually|okay|ok|yes|yeah|yep|no|"
    r"nope|sure|sorry|oops|wait|pardon|correction|i mean|rather|my mistake|apologies|thanks|"
    r"thank you|honestly|personally|just so you know|for the record|as you know|"
    r"for your information|to introduce myself|good (?:morning|evening|afternoon))"
    r"(?: there| everyone| all)?[\s,!:.\-\u2013\u2014]{1,4})*",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"(?:,|;)?\s(?:and|but|so)\s(?=(?:i|my|i'm|i've)\b)|;\s|,\s(?=i'm\b)"
    r"|[,:]?\s(?:[\u2013\u2014\-]\s)?"
    r"(?=(?:(?:sorry|oops|no|wait|correction|i mean|rather)[\s,:]{1,3}){1,3}(?:i|my|i'm|i've)\b)",
    re.IGNORECASE,
)

NO_NAME = frozenset("maybe ishmael back later tomorrow crazy mr mrs ms sir madam asap".split()) | {
    *"monday tuesday wednesday thursday friday saturday sunday".split(),
    *MONTHS,
}
"""Capitalised, and yet nobody's name: "call me Monday"."""

NO_ALLERGEN = frozenset(
    "monday mondays morning mornings work drama nonsense bullshit bs stupidity stupid meeting "
    "meetings exercise exercising people commitment fun politics losing cleaning housework math "
    "maths school effort fools idiots failure change love feelings early hype small".split()
)
"""What people are allergic to as a manner of speaking."""

NO_ROLE = frozenset(
    "team unit group pair whole result matter rule treat slave dog horse charm lot bit well "
    "such".split()
)
"""What somebody works as without being one: "as a team"."""

NO_MEAL = frozenset("bite breakfast lunch dinner spoonful meal".split())
"""What somebody cannot eat for now, rather than ever."""

VAGUE_FAVOURITES = frozenset(
    "part thing moment bit one memory time way place piece so far there".split()
)
"""Of which there is a favourite only in what was spoken of before."""

POINTING = frozenset(
    "it its it's this that that's these those the he she him her his hers they them their theirs "
    "you your yours i me my mine we us our ours i'm one ones some something anything everything "
    "nothing none another other others both neither either first second latter former option same "
    "such here there then now today tonight tomorrow yesterday right again yet already anymore "
    "more most less how what what's when where who why which whatever because since though "
    "although while until before after than as not no never but so too idea ideas thing things "
    "way ways sound sounds look looks part bit lot kind feeling think believe say see seeing hear "
    "know imagine pretend keep be being been don't doesn't isn't aren't all any every much many "
    "enough well just only even really very go going getting having watch week month year".split()
)
"""Words that point at something outside the sentence, or turn it into another one."""

LOOSE_ENDS = frozenset("to of for with at in on about from by into and or".split())
"""A thing neither begins nor ends with one of these."""

NOT_NOTED = frozenset(
    "you your yours you're you've this these here above below following it it's that those "
    "time".split()
)
"""With one of these, what is to be remembered is more than what is said."""


def plain_sentences(said: str) -> Iterator[str]:
    """Yield the sentences of a message that are said plainly, without their greetings."""
    plain = said.replace("\u2019", "'").replace("\u2018", "'")
    if len(plain) > INPUT_CHARS_MAX or _HANDED_OVER.search(plain) or is_override(plain):
        return
    for sentence in sentences(plain):
        if len(sentence) <= SENTENCE_CHARS_MAX and not _VAGUE.search(sentence):
            yield without_lead(sentence)


def without_lead(sentence: str) -> str:
    """Return a sentence without what only opens it: "Hi, by the way"."""
    return _LEAD.sub("", sentence.strip(), count=1)


def parts_of(sentence: str) -> list[str]:
    """Return the parts of a sentence in which somebody begins anew to speak of themselves."""
    return [without_lead(part) for part in _NEXT.split(sentence)]
