"""What is told of a thing with something exact: a number, a date, a name, a version, a path. Pure.

Little that is said of things in passing is worth keeping. What is said of a known one with an exact
value is: ``the importer runs on Python 3.12``, ``code freeze begins on 25 June``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...claims.forms import is_past
from ..regexes import any_case, regex
from . import phrases
from .copula import SET, is_trade
from .frames import GAPPED
from .lexicon import EVALUATIVE, MADE_UP, OCCASIONS, POSSESSIONS, READ_ELSEWHERE
from .rounds import REGULAR
from .statement import PLACE, Claim, Said, of_speaker
from .verbs import FORMS

_KNOWN = any_case(r"(?:the|all|both|every|each) |[^ ]+ [^ ]|(?:staging|production|prod)$")
"""A thing that who listens can tell from others: by an article, or by more than one word."""
_EXACT = regex(r"^no |\d|(?<![A-Z])[A-Z]|\w/\w|\bby (?:an?|the) [a-z]|_")
_BEFORE = regex(
    r"^(?:(?:out|up|off|down) )?"
    r"(?:(?:to|into|at|by|in|on|for|with|from|before|after|under|behind|as|until) )?"
    r"(?:no |every |each )?"
)
"""What may stand between a verb and its value."""
_ALL = any_case(r"^(?:all|both|every|each) (?:the |our |my )?")
_DONE = frozenset(("past", "participle"))
_CAPITAL = regex(r"\b(?:number (?=\d)|[A-Z]\w*)")
"""What praises nobody, whatever it says elsewhere: ``number 12``, ``Go``."""
_WAYS = (phrases.as_thing, phrases.as_quantity, phrases.as_time, phrases.as_name)
_IS_AT = regex(r"(?:on|at) (?:[A-Z][\w.]* )?v?\d")
_COUNTED = regex(r"[A-Z]|.*\d|no ")
_PASSES = regex(
    r"\b(?:late|early|left|behind|ahead|away|to go|open|never|stuck)\b|^at \d+ ?(?:%|percent)"
)
"""How something stands at the moment."""
_HOW_LONG = regex(r"(?:in|within) \d+ (?:\w+ )?(?:days|weeks|months)")
_SET = regex(rf"(?:{SET.pattern}|\b(?:door|gate|access|alarm|entry) code$|\bpin$)")
_OF_AN_ERROR = regex(r"(?:error|exit|status|response|page|line|return|final|next|last) ")
_HOLDS = frozenset(
    "be need require run use take hold contain support include begin start end open close meet "
    "live seat cost belong serve last expire accept cover store keep return weigh own have get "
    "listen allow apply measure pay prefer want move switch".split()
)
"""Verbs that say of a thing what is so for long."""
_RESULTS = frozenset("last cost reach hit exceed".split())
_NO_THING = (
    (EVALUATIVE - frozenset("deadline plan number type kind opening sign list".split()))
    | OCCASIONS
    | MADE_UP
    | READ_ELSEWHERE
    | frozenset(
        # What is at hand while a program is written.
        "code build script branch variable commit file cache test tests error log request ticket "
        "pr function patch diff usage load utilization utilisation progress".split()
    )
)


def with_particulars(said: Said, found: Sequence[Claim]) -> Iterator[Claim]:
    """Yield the claims of a clause, as news where they say something exact of a known thing.

    Args:
        said: The clause.
        found: What it claims by any other way of reading.
    """
    is_place = said.subject.sort == "owned" and any(one.attribute == PLACE for one in found)
    if is_place or any(one.is_news for one in found) or not _is_exact(said):
        yield from found
        return
    of_thing = [one for one in found if one.subject == said.subject.text and one.value]
    for one in of_thing or [
        said.claim(said.verbal.lemma, of_speaker(said.verbal.rest, said.speaker))
    ]:
        yield replace(one, is_news=True, valid_from=None, valid_to=None)


def _is_exact(said: Said) -> bool:
    """Whether a clause tells something lasting and exact of a known thing."""
    verbal, rest = said.verbal, said.verbal.rest
    if verbal.lemma == "be" and verbal.sense == "is" and _is_set(said):
        return _is_lasting(said) and phrases.as_quantity(rest) is not None
    if (
        not (_is_lasting(said) and _is_known(said))
        or _PASSES.search(rest)
        or GAPPED.search(f"{rest} ")
    ):
        return False
    is_made_up = verbal.lemma == "be" and rest.startswith(("a ", "an ")) and is_trade(rest)
    if is_made_up or (verbal.lemma == "have" and not _COUNTED.match(rest)):
        return False  # "The hero is a nurse in Bonn", "has a grudge against Ken"
    done = rest.partition(" ")[2] if _is_participle(rest) else rest
    value = _BEFORE.sub("", f"{done} ").strip()
    is_whole = not value or any(way(value) for way in _WAYS)
    is_exact = _EXACT.search(rest) or any(one.days for one in said.times)
    is_sharp = bool(is_exact or _is_how_long(said))
    return is_whole and is_sharp and phrases.is_worth_keeping(_CAPITAL.sub("", rest), EVALUATIVE)


def _is_set(said: Said) -> bool:
    """Whether a clause is of a figure that is set, and says of which: ``the retry limit``."""
    is_one = said.subject.sort == "thing" and said.subject.text.startswith("the ")
    is_which = " " in said.subject.head and _OF_AN_ERROR.match(said.subject.head) is None
    return is_one and is_which and _SET.search(said.subject.head) is not None


def _is_how_long(said: Said) -> bool:
    """Whether something takes so long, or comes, each time: ``Globex pays in 60 days``."""
    when = said.when
    if when is None or when.days:
        return False
    return bool(REGULAR.search(said.subject.text) or _HOW_LONG.fullmatch(when.text))


def _is_lasting(said: Said) -> bool:
    """Whether a clause tells what is so for long, was done, or will be on a day."""
    verbal = said.verbal
    if verbal.modal or verbal.is_progressive or verbal.aim or verbal.habit not in {"", "only"}:
        return False
    is_now_only = said.when is not None and said.when.sort == "at" and not said.is_ahead
    if verbal.tense == "present" and is_now_only and not _is_how_long(said):
        return False
    is_done = verbal.lemma == "be" and _is_participle(verbal.rest)
    is_so = verbal.tense in {"present", "perfect"} and verbal.sense != "never"
    is_past = (verbal.tense, verbal.sense) == ("past", "is") and verbal.lemma in _RESULTS
    is_so = is_so and (verbal.lemma in _HOLDS or said.is_ahead)
    return is_done or is_so or (is_past and _COUNTED.match(verbal.rest) is not None)


def _is_known(said: Said) -> bool:
    """Whether a clause is about a thing that is one, and can be told from others."""
    subject = said.subject
    if subject.sort == "named" and not phrases.as_time(said.verbal.rest):
        return (
            said.verbal.lemma != "be"
            or _is_participle(said.verbal.rest)
            or _IS_AT.match(said.verbal.rest) is not None
        )
    if subject.sort not in {"thing", "owned"} or subject.kind:
        return False
    if subject.sort == "thing":
        is_told = _KNOWN.match(subject.text) is not None
    else:
        # What is ours is known to us; of what is mine, what lasts, or is to come on a day.
        is_ours = said.clause.text.lower().startswith("our ")
        is_told = is_ours or subject.head in POSSESSIONS or said.is_ahead
    noun = _ALL.sub("", subject.noun)
    # "The mediums last long": several by one word are a kind of things.
    is_kind = noun.isalpha() and noun.endswith("s") and said.verbal.lemma != "be"
    is_one = phrases.as_thing(noun) is not None and not is_kind
    is_real = MADE_UP.isdisjoint(subject.noun.lower().split())
    return (
        is_real
        and is_told
        and is_one
        and subject.head.partition(" of ")[0].split()[-1] not in _NO_THING
    )


def _is_participle(rest: str) -> bool:
    first = rest.split(" ", 1)[0].lower()
    done = first.removeprefix("re")
    return any(is_past(one) or FORMS.get(one, ("", ""))[1] in _DONE for one in (first, done))
