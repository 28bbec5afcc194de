"""Which sentences of a message are said plainly, and which words point at something else. Pure.

The word lists that keep ``patterns`` precise, each with what it keeps out.
"""

from __future__ import annotations

import re

from tiers.lexical import MONTHS

from .instructions import is_override
from .marks import Sought
from .regexes import regex

INPUT_CHARS_MAX = 2_000
"""A longer message is a document that was pasted: what is in it is not said by the user."""

# Texts to be worked on or filled in, roles to be played, songs and jokes: the whole message is not
# about the user.
_HANDED_OVER = Sought(
    r"```|^\s*(?:>|//|/\*|--|# (?-i:[a-z]))|\b(?:translat(?:e|es|ed|ing|ion)|proofread\w*"
    r"|rewrit(?:e|es|ing)|rephras\w+|paraphras\w+"
    r"|summari[sz]\w+|make (?:this|it|that) (?:sound )?\w+er\b|(?:text|word|maths?) problem|riddle"
    r"|(?:fix|mind|check|correct) (?:the|my) (?:commas|punctuation|spelling|grammar)|"
    r"role[- ]?play\w*|act as|pretend\w*|fictional|(?<!\.)(?<!worked )example(?!\.\w)|e\.g|"
    r"(?:write|compose|draft|continue|finish|invent|make up|correct|check|edit|improve|here(?:'s"
    r"| is)|this is|consider|take|analy[sz]e|review)\b[^.!?\n]{0,40}\b(?:novel|stor(?:y|ies)|poems?"
    r"|lyrics?"
    r"|songs?|screenplay|script|characters?|persona|dialogue|monologue|grammar|sentences?|paragraph"
    r"|text|essay|letter|e-?mail|mail|bio|biography|caption|tweet|post|blurb|template|sample|line)|"
    r"spell ?check|cover letter|in the style of|wrote:|writes:|forwarded|dear [a-z]+,|"
    r"sincerely|regards|kidding|joking|jokes?|april fools?|see food|jk|lol|lmao|rofl"
    r"|sarcas\w+|fill in the (?:blanks?|gaps?)|"
    r"as the (?:old )?(?:song|saying|proverb|poem|rhyme|phrase|lyrics?))\b"
    r"|^\s*(?:once upon a time\b(?! (?:i|we)\b)|breaking(?: news)?: |chapter (?:\d+|one)\b"
    r"|Q: [^?]+\?\s+A: )|\bERR(?:OR)?!"
    r"|^\s*(?:scenario|test (?:case|user|data|account|customer)|sample|placeholder|terms|clause"
    r"|article \d+|case study|user story|input|output|prompt|exercise|quiz)\b"
    r"[^:\n.!?]{0,20}:|^\s*\|.*\|\s*$|;\s*//|\b(?:const|let|var) \w+ ?=|^\s*traceback\b"
    r"|^\s*(?:\w+ in thread\b|\w*(?:error|exception))\b[^\n]{0,30}:"
    r"|\bhow (?:many|much|far|long|old)\b[^?]{0,40}\b(?:left|altogether|in total|remain\w*"
    r"|(?:does|do|is|are|will) (?:he|she|they|it)\b)[^?]{0,20}\?"
    r"|, as (?:[\w']+ ){1,4}(?:sang|sings?)\b|\bpsych!|\bgotcha\b\W*$|_{3}|\{\w+\}"
    r"|\b(?:great|wonderful|fantastic|brilliant|lovely|perfect), (?:another|yet another|just what"
    r"|more|one more)\b"
    r"|</\w+>|\((?:[\w']+ ){0,4}(?:song|lyrics?|quote|joke|film|movie|novel|poem)(?: \w+){0,3}\)"
    r"|\bto whom it may\b|\blet's play\b|\bgiven [^.!?]{3,80} when [^.!?]{3,80} then\b"
    r"|\byou(?:'re| are) an? [^.!?]{2,40}[.,;] (?:and )?i(?:'m| am) (?:your|an?|the)\b"
    r"|^\s*(?:tool|search|query|function|command|api|test)(?: call)? (?:results?|outputs?"
    r"|response):"
    r"|[:;]-?[pP)](?!\w)|\s/s\b|\bha(?:ha)+\b|[\U0001F600-\U0001F64F\U0001F923\U0001F92A]",
    re.IGNORECASE | re.MULTILINE,
)
HEADINGS = tuple(
    # How a message or a part of it is opened.
    "Update News Note Correction Edit Reminder Question Answer Info Status Background Context Me "
    "Good Bad Great Also So Yes No Ok Okay Hi Hello Hey Sorry Result Plan Today Tomorrow Yesterday "
    "Summary About Remark Fact Decision Deadline Handover Topic Finding Done Next "
    # What is told of somebody.
    "Diet Food Drink Health Allergy Allergies Medication Work Job Role Team Project Tool Editor "
    "Family Pet Home Address Location Timezone Travel Transport Hobby Hobbies Sport Music Language "
    "Skill School Education Name Age Birthday Contact Pronoun Preference Like Dislike Religion "
    "Schedule Availability Origin Childhood Car Phone".split()
)
"""Words before a colon that name what is told of, and nobody who speaks."""
_OTHERS_WORDS = regex(
    r"^[\[>]?(?:\d[\d:.,TZ/-]{5,29}[\],]? ){0,3}\[?(?:ERROR|WARN|INFO|DEBUG|FATAL)\b(?!:? I\b)"
    r"|^(?:From|Subject|Betreff): |^(?:> ?)?On .{4,60} wrote:$"
    r"|\b(?:says|replied|answered|(?:he|she|they) said):"
    r"|^(?!(?:Good|Great|Big|Bad|Other) )(?:Reuters|Bloomberg|CNN|AFP|AP|BBC|(?:[A-Z][\w']+ ){1,3}"
    r"(?:News|Times|Post|Herald|Tribune|Guardian))(?: News)?: "
    r"|\b(?:mail|message|letter|note|text|memo) from\b[^\n]{0,60}:[ \t]*$"
    r"|^[ \t]*(?:\[[\d:., apm]{3,20}\] ?)?"
    rf"(?!(?:{'|'.join(HEADINGS)})s?\b)[A-Z][a-z]+(?: [A-Z][a-z]+)?: .{{0,80}}?"
    r"\b(?:I|I'm|I've|[Mm]y|[Ww]e)\b",
    re.MULTILINE,
)
"""Headers of a mail, and lines that somebody is named to have said: ``Alice: I live in Bonn.``"""
NO_NAME = frozenset("maybe ishmael back later tomorrow crazy mr mrs ms sir madam asap".split()) | {
    *"montoya monday tuesday wednesday thursday friday saturday sunday".split(),
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

POINTING = frozenset(
    "it its it's this that that's these those the he she him her his hers they them their theirs "
    "you your yours i me my myself mine we us our ours i'm one ones some something anything "
    "everything nothing none another other others both neither either first second latter former "
    "option same such here there then now today tonight tomorrow yesterday right again yet already "
    "anymore more most less how what what's when where who why which whatever because since though "
    "although while until before after than as not no never but so too idea ideas thing things way "
    "ways sound sounds look looks part bit lot kind feeling think believe say see seeing hear know "
    "imagine pretend keep be being been don't doesn't isn't aren't all any every much many enough "
    "well just only even really very go going getting having watch week month year".split()
)
"""Words that point at something outside the sentence, or turn it into another one."""

LOOSE_ENDS = frozenset("to of for with at in on about from by into and or".split())
"""A thing neither begins nor ends with one of these."""

NOT_NOTED = frozenset(
    "you your yours you're you've this these here above below following it it's that those "
    "time".split()
)
"""With one of these, what is to be remembered is more than what is said."""


_MARKED = regex(r"^[ \t]*(?:[-*\u2022\u2013]|\d{1,2}[.)])[ \t]+(?=\S)", re.MULTILINE)
"""What begins a line of a list."""
_STRESSED = regex(r"(?<![\w*])(\*{1,2}|__?)(?=\S)([^*_\n]{1,80}?)(?<=\S)\1(?![\w*])")
"""Words between the marks of Markdown that stress them."""


def in_plain_letters(said: str) -> str:
    """Return a message without marks of lists and of stress: ``- I'm *not* a nurse``."""
    return _STRESSED.sub(r"\2", _MARKED.sub("", said))


def is_plain(said: str) -> bool:
    """Whether a message is its sender's own words: no pasted document, no text to work on."""
    is_short = len(said) <= INPUT_CHARS_MAX
    is_own = not (_HANDED_OVER.search(said) or _OTHERS_WORDS.search(said))
    return is_short and is_own and not is_override(said)
