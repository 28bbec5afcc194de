"""What somebody's part is, what they go by or keep, and what they did for long. Pure.

``My colleague Yuki maintains the parser``, ``I belong to a choir``, ``I used to play the cello``:
verbs that tell of what stands, even where what they are of is known only to who speaks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..regexes import any_case, regex
from .activity import ALONE
from .lexicon import AT_HAND, BODY, CAPITALS, DIETS, MOMENTARY, OF_THE_MOMENT, TRADES
from .statement import Said
from .subjects import fits
from .teams import falls_to

_CHARGES = frozenset(
    "approve handle manage maintain review lead run chair represent coordinate oversee operate "
    "supervise coach mentor moderate organise organize look".split()
)
"""Verbs of what falls to somebody, also where it is told of something known."""
_GONE_BY = frozenset("belong share follow rely depend use read support".split())
"""Verbs of what somebody has a part in, or goes by."""
_BEGUN = frozenset("join found inherit".split())
"""What somebody has done to one of a kind lasts, if nothing else is said."""
_SYSTEM = any_case(
    r"\b(?:service|api|server|module|package|library|job|pipeline|app|worker|queue|database|cluster"
    r"|frontend|backend|component|plugin|system|container|schema|table|repo|project|client|model"
    r"|agent)\b|\w[-_]\w"
)
"""Parts of what is built, by their kind or by a name as programs have them."""
_HURTS = frozenset("hurt ache swell bleed itch".split())

_NAMED = regex(rf"(?<![\w'])[{CAPITALS}\d]")
_SOMEHOW = regex(r"\b(?:\w+ly|well|better|best|worse|fine)$|\b(?:truth|pressure|stress)\b")
"""How somebody does it, or what everybody does."""
_PUT = regex(r"(?:my|our|the) .+ (?:in|on|under|behind|inside|above|at) (?:the|my|our|an?) .+")
_OWN = regex(r"(?:my|our) own (?!(?:opinions?|views?|theor\w+|style|mind|life|will)\b)\w")
_FROM = regex(rf"come from (?:the )?[{CAPITALS}]")
_ONE = regex(r"an? (?!queue|chat|conversation|game|round)")
_WAS = regex(
    r"(?:an?|the|in|on|at|with|afraid|scared|called) |(?:vegan|vegetarian|married|left-handed)\b"
)
_PROCESSED = regex(
    r"(?:shipped|delivered|paid|refunded|closed|resolved|returned|approved|rejected|cancelled|opened"
    r"|reopened|escalated|merged|reverted|signed|sent|received|invoiced|dispatched|assigned"
    r"|drained)\b"
)
"""What is done with orders, tickets and invoices."""
_NUMBERED = any_case(
    r"(?:the )?(?:order|ticket|invoice|issue|case|claim|shipment|parcel|pull request|bug|incident"
    r"|payment|contract|application|booking|task|pr|node|build) #?[a-z-]*\d[\w-]*|[a-z]{2,8}-\d+"
)
_EXACT = regex(r"#[\w-]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S+")
"""A channel or an address: what a thing is is said by it."""
_HAVING = regex(r"an? .+ (?:called|named) [\w-]+$")
_CAUSE = any_case(r"the root cause(?: of .+)?")
_ONE_THING = regex(r"(?:an?|the|our|my) \w")
_CODE = regex(r"\b[A-Za-z]\w*_\w+")
"""A name as programs have them."""
_TAKEN_OVER = regex(r"over (?:(?:the|our|my) .+ )?(?:from [A-Z]|as )")
_SWITCHED = regex(r"(?:(?:switched|turned|set) )?(?:on|off|enabled|disabled|to)\b")
_MEETING = any_case(
    r"\b(?:stand-?ups?|retros?|retrospectives?|planning|reviews?|syncs?|check-?ins?|demos?|all-hands"
    r"|town hall|one-on-ones?|1:1s?|meetings?|rehearsals?|practice|training|lessons?|classes|class"
    r"|therapy|sessions?|backups?|releases?|deploys?|audits?|newsletter|reports?|rounds?)$"
)
RHYTHM = any_case(
    r"(?:every|each) (?:(?:other|second|third|\w+) )?(?:days?|weeks?|months?|quarters?|years?"
    r"|weekday)|(?:bi-?|semi-?)?(?:weekly|monthly|daily|quarterly|yearly|annual|annually"
    r"|fortnightly)|(?:once|twice) (?:a|every|per) (?:day|week|month|quarter|year)"
)


def stands(said: Said) -> bool:
    """Whether a clause that is understood alone tells somebody's part, or how a thing is set."""
    is_of_tense = _BY_TENSE.get(said.verbal.tense)
    is_at_work = _is_at_work(said) or falls_to(said) or _comes_round(said)
    return is_of_tense is not None and (is_at_work or is_of_tense(said))


def _is_at_work(said: Said) -> bool:
    """``Order 88312 was shipped``, ``the payments-api depends on the ledger service``."""
    verbal, rest = said.verbal, said.verbal.rest
    if verbal.aim or verbal.habit or verbal.sense not in {"is", "over"}:
        return False
    if verbal.lemma != "be":
        is_named = said.subject.sort == "thing" and _SYSTEM.search(said.subject.text) is not None
        is_joined = verbal.lemma in {"depend", "rely"} and rest.startswith("on ")
        is_had = verbal.lemma == "have" and _HAVING.match(rest) is not None
        return verbal.tense == "present" and is_named and (is_joined or is_had)
    is_done = _PROCESSED.match(rest) and _NUMBERED.fullmatch(said.subject.text)
    if verbal.tense != "present" or is_done:
        is_cause = _CAUSE.fullmatch(said.subject.text) is not None
        return bool(is_done) or (is_cause and _ONE_THING.match(rest) is not None)
    return said.subject.sort in {"thing", "owned"} and _EXACT.fullmatch(rest) is not None


def _comes_round(said: Said) -> bool:
    """``Our retro is every two weeks``, ``the backups are weekly``."""
    verbal = said.verbal
    is_so = verbal.tense == "present" and verbal.sense == "is" and not verbal.aim
    is_thing = (
        is_so and said.subject.sort in {"thing", "owned"} and verbal.lemma in {"be", "happen"}
    )
    is_met = is_thing and _MEETING.search(said.subject.noun) is not None
    return is_met and RHYTHM.fullmatch(verbal.rest) is not None


def _is_part(said: Said) -> bool:
    verbal, rest = said.verbal, said.verbal.rest
    if verbal.aim or said.times:
        return False
    if verbal.is_progressive:
        # "I'm taking over the couch": whom somebody follows, or as what, says that it is a part.
        is_part = said.subject.sort != "speaker" or " from " in rest or " as " in rest
        return verbal.lemma == "take" and rest.startswith("over the ") and is_part
    if verbal.lemma == "be":
        is_trade = rest.removesuffix("s") in TRADES | DIETS  # "my parents are teachers"
        is_set = _CODE.search(said.subject.text) is not None and _SWITCHED.match(rest) is not None
        return is_trade if fits("they", said.subject) else is_set
    if said.subject.sort != "speaker" and not said.subject.kind:
        return said.subject.sort == "owned" and bool(_FROM.match(f"{verbal.lemma} {rest}"))
    if verbal.lemma == "keep":
        return _PUT.fullmatch(rest) is not None and not BODY & set(rest.lower().split())
    return _goes_on(said) or (verbal.lemma == "have" and _OWN.match(rest) is not None)


def _goes_on(said: Said) -> bool:
    """Whether somebody answers for something, has a part in it or goes by it."""
    lemma, rest = said.verbal.lemma, said.verbal.rest
    rest_words = set(rest.lower().split())
    is_charge = lemma in _CHARGES and not said.clause.text.lower().startswith("we ")
    is_known = "the" not in rest_words or is_charge or _NAMED.search(rest) is not None
    is_why = rest.startswith("to ") and lemma in {"read", "use"}
    is_other = is_why or _SOMEHOW.search(rest) is not None or _at_hand(rest)
    return lemma in _CHARGES | _GONE_BY and is_known and len(rest_words) > 1 and not is_other


def _was_part(said: Said) -> bool:
    """``I used to play the cello``, ``I joined a startup``, ``my knee has hurt for a week``."""
    verbal, rest = said.verbal, said.verbal.rest
    if said.is_since and BODY & set(said.subject.noun.lower().split()):
        return bool(rest) or verbal.lemma in _HURTS
    if said.subject.sort in {"thing", "owned"} and not said.subject.kind:
        return False
    if verbal.lemma == "take" and _TAKEN_OVER.match(rest):
        return verbal.sense == "is"
    if verbal.sense == "never" and verbal.tense == "past":
        return verbal.lemma not in OF_THE_MOMENT | MOMENTARY and bool(rest)
    if verbal.aim == "used":
        is_state = verbal.lemma != "be" or _WAS.match(rest) is not None
        is_lasting = verbal.lemma not in OF_THE_MOMENT - {"have", "be", "do", "go"}
        return is_state and is_lasting and (bool(rest) or verbal.lemma in ALONE)
    return verbal.lemma in _BEGUN and _ONE.match(rest) is not None and not _at_hand(rest)


def _at_hand(rest: str) -> bool:
    return bool(AT_HAND & set(rest.lower().split()))


_BY_TENSE: Mapping[str, Callable[[Said], bool]] = MappingProxyType(
    {"present": _is_part, "past": _was_part, "perfect": _was_part}
)
