"""How much a sentence speaks of what lasts: by marks, each with its weight. Pure.

No mark that is found once decides alone, nor comes near to it. The weights are those of a logistic
regression over the sentences of the open sets of statements; ``python -m tests.benchmarks.lasting``
fits them anew, and prints how many of the sentences that a fit had not seen it tells right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from tiers.lexical import MONTHS, WEEKDAYS

from ..regexes import any_case, regex
from .lexicon import CAPITALS
from .verbs import FORMS

_WORD = regex(r"[^\W_]+(?:['-][^\W_]+)*")
_NAME = regex(rf"[{CAPITALS}][\w'.&-]*")
_I = regex(r"I(?:'|\b)")
_LONG_WORDS, _SHORT_WORDS = 15, 7
_NAMES_MAX = 2


class Sentence:
    """A sentence, its words in lower case, and in which forms known verbs stand in it: ``past``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _WORD.findall(text.lower())
        self.words = frozenset(self.tokens)
        self.forms = frozenset(FORMS[word][1] for word in self.words & FORMS.keys())


Found = Callable[[Sentence], float]


class Mark(NamedTuple):
    """Something about a sentence that speaks for or against its lasting.

    Attributes:
        weight: By how much the logarithm of the odds changes where it is found once.
        found: How often it is there.
    """

    weight: float
    found: Found


def _words(words: str, pattern: str = "") -> Found:
    """Return what finds one of some words, or a pattern."""
    sought = frozenset(words.split())
    more = any_case(pattern) if pattern else None

    def found(sentence: Sentence) -> float:
        is_said = not sought.isdisjoint(sentence.words)
        return float(is_said or (more is not None and more.search(sentence.text) is not None))

    return found


def _names(sentence: Sentence) -> float:
    """Return how many names stand after the first word, at most two; ``Dr. Weber`` is one."""
    are_names = [bool(_NAME.match(one)) and not _I.match(one) for one in sentence.text.split()[1:]]
    begun = sum(is_name and not before for before, is_name in pairwise([False, *are_names]))
    return float(min(begun, _NAMES_MAX))


_MONTH = "|".join(MONTHS)

MARKS: Mapping[str, Mark] = MappingProxyType(
    {
        "names": Mark(2.0, _names),
        "a number": Mark(
            1.3,
            _words(
                "two three four five six seven eight nine ten eleven twelve twenty thirty forty "
                "fifty sixty hundred thousand first second third half once twice",
                r"\d",
            ),
        ),
        "a date": Mark(
            1.2, _words("", rf"\b(?:\d(?:st|nd|rd|th)?(?: of)?|in) (?:{_MONTH})|\b(?:19|20)\d\d\b")
        ),
        "an hour": Mark(-1.7, _words("noon midnight o'clock", r"\d[:.]\d\d|\d ?[ap]m|at half")),
        "again and again": Mark(
            1.4,
            _words(
                "every each always never usually normally mostly mornings evenings weekends weekly "
                f"daily monthly yearly rarely nights {' '.join(f'{day}s' for day in WEEKDAYS)}"
            ),
        ),
        "of all": Mark(
            0.4,
            _words(
                "all nobody everybody everyone everything nothing anything any none only except no"
            ),
        ),
        "from then on": Mark(
            1.4,
            _words(
                "until till since nowadays instead anymore",
                r"\b(?:from now on|as of|for good|any more|no longer|these days|by now)\b",
            ),
        ),
        "a rule": Mark(
            0.5,
            _words(
                "may must required allowed cannot can't mustn't deadline limit under above below "
                "over per without",
                r"\b(?:ha(?:s|ve) to|needs? to|don't get|at (?:most|least)|up to)\b",
            ),
        ),
        "a denial": Mark(
            1.3,
            _words(
                "don't doesn't not isn't aren't won't never dont doesnt isnt arent wont",
                r"\bno (?!one)\w+",
            ),
        ),
        "as things are done": Mark(
            1.3,
            _words(
                "",
                r"\b(?:is|are|was|were|been|gets?|be) (?:\w+ly )?\w+(?:ed|en|pt|lt|nt|ld|ne|de)\b",
            ),
        ),
        "owned": Mark(1.6, _words("my our mine ours")),
        "please": Mark(1.2, _words("please pls")),
        "of several": Mark(
            0.9,
            _words(
                "",
                r"^(?:the |our |all )?(?:[\w-]+ ){0,2}\w\w+(?<!s)s "
                r"(?:are|don't|do not|may|must|can|have|go|get|come|run|need)\b",
            ),
        ),
        "a body": Mark(
            1.0,
            _words(
                "knee hip back heart stroke vegetarian vegan asthma migraine migraines blind deaf "
                "hives smell scared afraid fear fracture surgery operation blood coeliac hearing "
                "left-handed halal kosher",
                r"allerg|intoleran|diabet|pregnan|dyslex|epilep",
            ),
        ),
        "a change": Mark(
            0.7,
            _words(
                "quit inherited failed passed renewed agreed decided replaced dropped cancelled "
                "canceled retrained stopped started moved sold bought adopted married divorced "
                "retired joined left switched postponed built finished ended deprecated gone "
                "pinned banned turned learned learnt born",
                r"\b(?:g[ai]ven? up|stepped down|handed in|pushed back|got rid|ripped out|grew up)",
            ),
        ),
        "past": Mark(0.5, lambda sentence: float("past" in sentence.forms)),
        "a mood": Mark(
            -1.1,
            _words(
                "annoying annoyed tired starving bored excited glad happy sorry thanks thank wow "
                "great lovely awful terrible horrible ugh oh hope wish feel feeling feels nice "
                "cool amazing awesome wonderful incredible stoked cheers welcome beautiful "
                "typical proud worried weird funny hungry stuck nervous inspired thankfully tough "
                "inspiring encouraging supportive thrilled stressed stressful frustrating relief "
                "joy passion journey dream dreams freedom mindfulness haven wild feels memories "
                "moments challenges impact community unity hopeful grateful gratitude motivated "
                "motivation therapeutic peaceful powerful rewarding",
                r"\bgood (?:morning|evening|luck)\b|\bcongrat|\bcan't wait\b|\bwe all\b"
                r"|\b(?:last|our) (?:chat|talk|talked)\b|\blong time no\b",
            ),
        ),
        "you": Mark(-1.3, _words("you your yours you're you've you'll")),
        "under way": Mark(
            -0.7, _words("", r"(?:\b(?:am|is|are|was|were)|'(?:m|s|re)) (?:\w+ly )?\w{3,}ing\b")
        ),
        "a condition": Mark(-1.6, _words("if unless whether", r"\bwhen (?:i|we)\b.* not\b")),
        "many words": Mark(1.3, lambda sentence: float(len(sentence.tokens) >= _LONG_WORDS)),
    }
)
BIAS = -1.4
LASTS_FROM, SHORT_LASTS_FROM = 1.8, 2.1
"""From here on a sentence is kept, and one of few words: chosen where almost none of those that
state nothing is. A name and a number alone are too little for a few words to be of somebody."""
LIKELY = 0.5
"""From here on a sentence that goes on from another speaks of what lasts rather than not."""


_GUESSED = (
    r"(?:like|love|hate|want|know|think|feel|have|notice|care|understand|agree|realise|realize|seem"
    r"|need|wonder|see|hear|be (?!\w+(?:ed|en|pt|ne|ld|nt)\b)"
    r"|be (?:tired|bored|excited|exhausted|thrilled|shocked|worried|disappointed|mistaken))"
)
"""Of these "must" and "may" say what is likely, and not what is allowed."""
_HOUSE_RULE = regex(
    rf"^(?:Only (?!God\b|Time\b|You\b|He\b|She\b|They\b)(?:the )?[{CAPITALS}][\w'-]*"
    rf"(?: (?:and|or) [{CAPITALS}][\w'-]*)? (?:can|may|is allowed to|are allowed to)"
    r"|Only (?:the )?[a-z]+s (?:can|may|are allowed to)"
    r"|(?:Nobody|No one|Everybody|Everyone) (?:may|must|is allowed to)"
    r"|(?:All (?!things\b)[a-z]+s|[A-Z][a-z]+s(?: [a-z]+s)?)"
    r" (?:may only|may not|must|must not|mustn't"
    r"|(?:are not|aren't|are only|are) allowed to|don't get|do not get|can only)"
    rf") (?!{_GUESSED})[a-z]"
)
"""Who may do something and who must not, where one lives or works: ``Only Maria may sign``."""


_MANY = r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|twelve)"
_PLACE = (
    r"(?:(?:top|bottom|left|right|second|third|upper|lower) )?(?:hook|drawer|shelf|cabinet|cupboard"
    r"|locker|rack|cellar|attic|basement|garage|boiler room|store ?room)\b"
)
_NOTICES = (
    regex(
        rf"^(?:[{CAPITALS}][a-z]+s|[a-z]+s|Nobody|No one) (?:may|can) (?!{_GUESSED})[a-z]"
        r"[^,;]{4,60} but (?:must|may|can)(?: not|n't|not) [a-z]"
    ),
    any_case(rf"^(?:the |our |my )?(?:[\w-]+ ){{0,2}}[\w-]+: {_PLACE}"),
    any_case(rf"^{_MANY} [a-z]+s? per (?!hour|minute|second|day|person|serving|cup)[a-z]"),
    any_case(r"^[\w.+-]+ \d[\d.]*, (?:nothing|no) (?:newer|older|higher|lower|later)\b"),
    regex(
        rf"^(?!(?:I|We|You|It|Let)\b)(?=.*(?:\d| [{CAPITALS}][a-z]))[^,;?]{{3,60}},? from now on$"
    ),
)
"""Short notices of what holds: who may and may not, where things are kept, how many there must be,
which version it has to be, and what is so from now on."""


def lasts(said: str) -> bool:
    """Whether the marks of a sentence, or its form, say that it tells of what lasts."""
    if _HOUSE_RULE.match(said) or any(form.match(said) for form in _NOTICES):
        return True
    least = SHORT_LASTS_FROM if len(Sentence(said).tokens) <= _SHORT_WORDS else LASTS_FROM
    return odds(said) >= least


def odds(said: str) -> float:
    """Return the logarithm of the odds that a sentence tells of what lasts."""
    sentence = Sentence(said)
    return BIAS + sum(mark.weight * mark.found(sentence) for mark in MARKS.values())
