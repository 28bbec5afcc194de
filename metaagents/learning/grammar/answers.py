"""Answers that leave out what the question said, as whole sentences: ``How old are you?`` ``34``.

The question gives the verb or whose name it is, the answer all that is true of its speaker: a bare
yes or no states nothing, for then the question would say what is so. Pure.
"""

from __future__ import annotations

import re

from tiers.lexical import sentences, words

from ..plain_speech import POINTING
from ..regexes import any_case, regex
from .ellipses import with_speaker
from .fragments import listed_of_oneself
from .lexicon import CAPITALS, EVALUATIVE, NUMBERS
from .phrases import as_quantity, as_time
from .questions import QUESTIONS, REPLIES, Build, question
from .verbs import FORMS, past_base

QUESTION_CHARS_MAX = 2_000
ANSWER_CHARS_MAX = 200
"""Longer sentences answer no plain question, and would be read in vain."""

_VALUE = regex(
    r"(?:(?:[Yy]es|[Yy]eah|[Yy]ep|[Ww]ell|[Oo]h|[Uu]m+|[Uu]h+|[Hh]mm+|[Ss]ure)[,.!:]* )*"
    r"(?:(?:[Ii]t['\u2019]?s|[Ii]t is|[Tt]hat['\u2019]?s|[Tt]hey['\u2019]?re|[Tt]hat would be"
    r"|[Hh]e['\u2019]?s called|[Ss]he['\u2019]?s called|[Jj]ust) )?"
    r"(?P<value>[\u20ac$\u00a3+]?\w[\w.,:&+/@'\u2019-]*(?: [\w.,:&+/@'\u2019-]+){0,5}?)[.!]*"
)
"""What answers in a few words, without those that only lead to it."""
_PLACED = any_case(r"(?:in|at|on|from|to|with|for) ")
_OPENS = regex(r"(?:An?|The|My|Our|Two|Three|Four|Five|Some|On|In|At) ")
_CLOCK = any_case(r"\d{1,2}(?:[:.]\d\d| ?[ap]\.?m)")
_THE_THING = any_case(r"\bthe (?=[a-z-]+ [a-z]+)")
_NAME = regex(rf"(?:the )?[{CAPITALS}0-9]")
_TO = any_case(r"^to ")
_HOW_MANY = any_case(
    rf"(?P<many>\d{{1,2}}|{'|'.join(sorted(NUMBERS - {'one'}))})(?P<rest>(?:, .+)?)"
)
_OWN_MASTER = any_case(r",? (?:self[- ]employed|freelance)$")
_MANNERS = any_case(r",? (?:please|thanks|thank you)(?=[.!]*$)")
_CUT_SHORT = any_case(
    r"\W*(?:(?:(?:no|yes|not|only|never|just|mostly|usually|always),? )?"
    r"(?:to|in|on|at|from|for|with|by|near|until|since) "
    rf"|(?:\d{{1,2}}|{'|'.join(sorted(NUMBERS))})(?:,|[.!]*$| or | to | and )).{{0,60}}$"
)
_OF_YOU = any_case(r"\b(?:are|do|did|have|can|were|would|will|about|tell me about) you(?:rself)?\b")
_WHO = any_case(r"\b(?:i|we|he|she|it|they|you)\b|['\u2019]")
_TOLD_NOTHING = (
    POINTING
    | EVALUATIVE
    | frozenset(
        "yes no yeah yep nope ok okay sure maybe perhaps probably possibly depends dunno idk guess "
        "sorry thanks thank please secret private nowhere nobody anywhere anyone hello hi hey wait "
        "think thinking suppose hope wish im ive dont wont cant isnt doesnt didnt unsure undecided "
        "unknown around about almost roughly home remote remotely abroad online".split()
    )
)
"""Words of what answers nothing, or is a sentence of its own."""

_NAMING = ("called", "named")
_FINITE = ("present", "past")
_NOT_ONES_OWN = frozenset(
    "opinion idea ideas question questions take view views guess problem point suggestion advice "
    "answer thought thoughts feeling impression reason excuse choice order turn move".split()
)
"""What is asked of somebody for this once."""
_WHOSE = r"your (?P<thing>(?:[a-z'\u2019-]+ ){0,3}[a-z'\u2019-]+?)"


def _at(verb: str, preposition: str) -> Build:
    """Build what somebody does somewhere, which has a name."""

    def build(_: re.Match[str], value: str) -> str | None:
        placed = _PLACED.match(value)
        where = value[placed.end() :] if placed else value
        said = placed[0].lower() if placed else f"{preposition} "
        return f"I {verb} {said}{where}" if _NAME.match(where) else None

    return build


def _owned(asked: re.Match[str], value: str) -> str | None:
    """Build what a thing of the speaker's is: ``What's your favourite colour?``"""
    if asked["thing"].lower() in _NOT_ONES_OWN:
        return None
    is_when = asked["word"].lower().startswith("when")
    if is_when and as_time(_PLACED.sub("", value, count=1)) is None:
        return None
    placed = f"{'at' if _CLOCK.match(value) else 'on'} " if is_when else ""
    placed = "" if _PLACED.match(value) else placed
    verb = "are" if re.search(r"\bare\b", asked["word"], re.IGNORECASE) else "is"
    return f"My {asked['thing'].lower()} {verb} {placed}{value}"


def _named(asked: re.Match[str], value: str) -> str | None:
    name = value.capitalize() if value.isalpha() else value  # typed without capitals
    return f"My {asked['thing'].lower()} is called {name}" if _NAME.match(name) else None


def _of_another(asked: re.Match[str], value: str) -> str | None:
    """Build what is so of whom the message before the question named: ``Where does she live?``"""
    if asked["whose"]:
        return f"{asked['whose'].capitalize()} name is {value}" if _NAME.match(value) else None
    verb = asked["verb"].lower()
    said = _at(verb, "at" if verb == "work" else "in")(asked, value)
    return said and said.replace(f"I {verb}", f"{asked['whom'].capitalize()} {verb}s", 1)


def _job(_: re.Match[str], value: str) -> str | None:
    if own := _OWN_MASTER.search(value):
        return f"I am a self-employed {value[: own.start()]}"
    if re.match(r"(?:an?|the) ", value):
        return f"I am {value}"
    if value.endswith("ed"):
        return f"I am {value.lower()}"
    if value.lower() == "freelance":
        return "I am a freelancer"
    if value.endswith("ing"):
        return None
    return f"I work {value}" if _PLACED.match(value) else f"I work as {_a(value)}"


def _a(noun: str) -> str:
    small = noun if noun[1:2].isupper() else f"{noun[:1].lower()}{noun[1:]}"
    return f"{'an' if small[:1] in 'aeiou' else 'a'} {small}"


def _aged(asked: re.Match[str], value: str) -> str | None:
    who = f"My {asked['thing'].lower()} is" if asked["thing"] else "I am"
    is_number = " " not in value and as_quantity(value) is not None
    return f"{who} {value} years old" if is_number else None


def _does(asked: re.Match[str], value: str) -> str | None:
    rest = f" {asked['rest']}" if asked["rest"] else ""
    return f"I {asked['verb'].lower()} {value}{rest}"


def _has(asked: re.Match[str], value: str) -> str | None:
    is_allergy = asked["thing"].lower().endswith("allergies")
    if is_allergy and value.endswith(" allergy"):
        return f"I have {_a(value)}"
    return f"I am allergic to {value}" if is_allergy else f"I have {value}"


def _called(_: re.Match[str], value: str) -> str | None:
    return f"Call me {value}" if _NAME.match(value) else None


def _has_some(asked: re.Match[str], value: str) -> str | None:
    """Build how many of theirs somebody has: ``Do you have kids?`` ``Two, Mia and Jon.``"""
    found = _HOW_MANY.fullmatch(value)
    return (
        f"I have {found['many'].lower()} {asked['thing'].lower()}{found['rest']}" if found else None
    )


def _going(asked: re.Match[str], value: str) -> str | None:
    where = _TO.sub("", value).replace(",", "")
    return f"I am {asked['verb'].lower()} to {where}" if _NAME.match(where) else None


def _is_so(asked: re.Match[str], value: str) -> str | None:
    return f"I am {asked['state'].lower()} {asked['of'].lower()} {value}"


_QUESTIONS = (
    *QUESTIONS,
    question(r"where (?:do you live|are you living|do you stay)", _at("live", "in")),
    question(r"where (?:do you work|are you working)", _at("work", "at")),
    question(r"(?:who|whom) (?:do you work|are you working) for", _at("work", "for")),
    question(r"where (?:do you study|are you studying)", _at("study", "at")),
    question(r"where (?:are you based)", _at("am based", "in")),
    question(r"where (?:are you from|do you come from)", _at("am", "from")),
    question(r"where were you born", _at("was born", "in")),
    question(r"where did you grow up", _at("grew up", "in")),
    question(r"what do you do(?: for (?:a living|work))?", _job),
    question(rf"how old (?:are you|is {_WHOSE})", _aged),
    question(rf"what(?:['\u2019]s| is) the name of {_WHOSE}", _named),
    question(rf"what(?:['\u2019]s| is) {_WHOSE}(?: called| named|['\u2019]s name)", _named),
    question(
        r"(?:what(?:['\u2019]s| is) (?P<whose>his|her|its) name"
        r"|where does (?P<whom>he|she) (?P<verb>live|work))",
        _of_another,
    ),
    question(rf"(?P<word>(?:what|who|which|when)(?:['\u2019]s| is| are)) {_WHOSE}", _owned),
    question(
        r"(?:what|which)(?: [a-z ]{2,30})? do you (?:usually |mainly |mostly |normally )?"
        r"(?P<verb>use|prefer|drive|play|speak|study|teach|like|love|ride|own|support)"
        r"(?: (?P<rest>most|best|for [a-z ]{2,20}))?",
        _does,
    ),
    question(
        r"(?:do you have|have you got) (?:any )?(?P<thing>kids|children|pets|dogs|cats|siblings"
        r"|brothers|sisters|grandchildren)",
        _has_some,
    ),
    question(
        r"(?:do you have|have you got) any (?P<thing>(?:food )?allergies|pets|animals|kids|children"
        r"|siblings|brothers(?: or sisters)?|(?:medical |health )?(?:conditions|issues|problems))"
        r"(?: (?:that )?(?:i|we) should (?:know|be aware)(?: about| of)?)?",
        _has,
    ),
    question(r"(?:how|what) (?:should|can|may|shall) (?:i|we) (?:call|address) you", _called),
    question(r"where are you (?P<verb>travell?ing|going|flying|moving|heading)(?: to)?", _going),
    question(
        r"what are you (?P<state>allergic|intolerant|interested|good|bad|afraid|scared|fluent) "
        r"(?P<of>to|in|of|at)",
        _is_so,
    ),
)


def answered(before: str, answer: str) -> str | None:
    """Return what an answer says, with what it leaves out of the question before it.

    Args:
        before: What was said last before; it counts if it ends in a question.
        answer: A message.

    Returns:
        A sentence of the one who answers; ``None`` where no plain question is answered in a few
        words.
    """
    asked = _last_question(before)
    first = next(iter(sentences(answer[:ANSWER_CHARS_MAX])), "").strip() if asked else ""
    first = _MANNERS.sub("", first).rstrip(".! ")
    if not first:
        return None
    for one in REPLIES:
        match, instead = one.question.fullmatch(asked), one.answer.fullmatch(first)
        if match and instead and (said := one.build(match, instead)):
            return f"{said}."
    found = _VALUE.fullmatch(first)
    if found is None or _is_sentence(found["value"]):
        return None
    value = _OPENS.sub(lambda one: one.group().lower(), found["value"].rstrip(".,"))
    for kind in _QUESTIONS:
        if (match := kind.question.fullmatch(asked)) and (said := kind.build(match, value)):
            return f"{said}."
    return None


def only_answers(question: str, said: str) -> bool:
    """Whether a message answers a question, and is no sentence without it: ``Two, Mia and Jon.``

    What names nobody is of who speaks, unless that was asked of somebody else: ``Bad left hip.``
    """
    asked = _last_question(question)
    if asked and not _OF_YOU.search(asked) and with_speaker(said) != said:
        return True
    if asked and listed_of_oneself(said) != said and answered(question, said):
        return True
    is_cut_short = _CUT_SHORT.match(said) is not None and _WHO.search(said) is None
    is_sentence = any(one in FORMS or past_base(one) for one in words(said))
    return bool(asked) and is_cut_short and not is_sentence


def _is_sentence(value: str) -> bool:
    """Whether words say by themselves what is so, or nothing at all."""
    if as_time(value) is not None:
        return False  # the "may" of "the 9th of May"
    if not _TOLD_NOTHING.isdisjoint(words(_THE_THING.sub("", value))):
        return True
    rest = [
        one
        for one in _OWN_MASTER.sub("", value).split()[1:]
        if one.islower() and one not in _NAMING
    ]
    return any(FORMS.get(one, ("", ""))[1] in _FINITE or past_base(one) for one in rest)


def _last_question(text: str) -> str:
    """Return the question that a text ends in; empty where it ends in none."""
    said = text[-QUESTION_CHARS_MAX:].rstrip()
    return sentences(said)[-1].strip() if said.endswith("?") else ""
