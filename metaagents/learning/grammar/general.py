"""What no other reading of a clause takes up, told whole where its words alone say that it lasts.

A frame knows a verb, its object and what takes its place; much of what people say fits none. What
is told here has no key: nothing takes its place, it stands beside whatever else was said. So only
what can hardly be mistaken is told: who or what it is about is known, no word points at something
outside of the clause, and its tense, its time or how often it comes say that it holds. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from tiers.lexical import MONTHS, WEEKDAYS

from ..plain_speech import LOOSE_ENDS
from ..regexes import any_case, regex
from . import phrases
from .activity import ALONE
from .frames import GAPPED, OFTEN
from .lexicon import (
    ACQUAINTANCES,
    AT_HAND,
    CAPITALS,
    EVALUATIVE,
    FAILING,
    INITIALS,
    LIFE_CHANGES,
    MADE_UP,
    MOMENTARY,
    OCCASIONS,
    OF_THE_MOMENT,
    OUTSIDE,
    PROJECTS,
    READ_ELSEWHERE,
    RULES_OF_THINGS,
    SLIGHT_CHANGES,
)
from .roles import stands
from .statement import Claim, Said, of_speaker
from .verbs import DECIDED, FORMS, HABITUAL, is_known_verb, is_verb, past_base

_WORDS_MAX = 16
_TURNS = frozenset(
    "do be start begin end stop finish come go get have happen take close open run stay "
    "leave".split()
)
"""Verbs of the moment that tell of an appointment where a date is said, of a habit by its round."""
_GIVEN_UP = frozenset("eat drink smoke touch fly drive watch use wear".split())
"""What somebody has not done for long is what they do without."""
_FRAMED = frozenset("work own possess".split())
"""Verbs of which frames say what is meant."""
_KEPT_UP = frozenset("speak use run keep support read hold".split())
"""Verbs that tell of the moment, and of a rule where what they are of is named."""
_VISITED = frozenset("go take have see give visit meet attend".split())
"""Verbs of what somebody did on a day: told with it, and where or whom by name."""
_RENEWED = frozenset("rotate expire renew".split())
"""How long a key or a password is good for betrays nothing of it."""
_BEGINS = frozenset("start begin finish leave fly move travel join retire marry".split())
_STATED_OF_ALL = _TURNS | frozenset(("carry", "need"))
_BY_ITSELF = ALONE | frozenset("write read run walk train exercise practise practice".split())

_NAMED = regex(rf"(?:(?<![\w'])[{CAPITALS}][\w&'.-]*|\+?\w*\d[\w.:/%-]*)")
_NUMBER = regex(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty"
    r"|fifty|sixty|hundred|thousand|first|second|third)\b"
)
_MEASURED = regex(
    rf"[+\u20ac$\u00a3-]*(?:(?:about|around|plot|number|room|flat|line) )?(?:{_NUMBER.pattern})"
)
_MONTH = "|".join(MONTHS)
_DAY = "|".join(WEEKDAYS)
_ON_DAYS = any_case(rf"\b(?:{_DAY})s\b")
_DATE = any_case(rf"\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})|(?:{_MONTH}) \d{{1,4}}")
_ROUND = any_case(
    rf"{OFTEN.pattern}|\b(?:every|each)\b|\b(?:{_DAY})s\b|\bby default\b"
    r"|\bin the (?:morning|evening|afternoons?)\b|\bat (?:night|weekends)\b|\b(?:monthly|yearly)\b"
)
"""How often something comes, said in more ways than make a habit of any verb."""
_LONG = any_case(
    rf"\b(?:in (?:{_MONTH}|\d{{4}}|spring|summer|autumn|winter)|in (?:the )?\d{{4}}s"
    r"|(?:since|as of) \w+|for good|for ever)\b"
)
"""A time of weeks and more: what is told of it is of a life, not of a day."""
_BY_A_DAY = regex(r"by (?!(?:noon|midnight|\d[\d:.]*(?: ?[ap]m)?)$)")
_BRIEFLY = any_case(
    rf"since (?:yesterday|this|last (?:night|week)|lunch|breakfast|{_DAY}|\d{{1,2}}[:.])"
)
_PARTICLES = frozenset(
    "up on off out in over down away back along through corrected around about by well together "
    "hard fine better good great".split()
)
"""Alone they say nothing of what somebody does."""

_TAIL = any_case(r",? (?:whatever|wherever|no matter|since (?:an?|my|the)) .*$|, for .*$")
"""What is added to a clause and need not be told."""
_AND = regex(r", and (\S+) .*$")
_ADDED = regex(r" (?:with|without|in|of|for|since|because|from|on) .*$")
_BEFORE = any_case(r"^(?:(?:in|at|on|with|for|from|to|of) )?(?:my |our )?")
_NOBODYS = any_case(
    r"(?:her|his|their|its|your|after|before|since|during|while|with|by|from|in|on|at|for)\b"
)
_EACH_OTHER = regex(r"\b(?:each other|one another)\b")
_THIS_PROJECT = regex(
    r"\bth(?:is|ese) (?=(?:project|repo|repository|codebase|team|company|handbook|reports?|service"
    r"|docs|app|monorepo|package|library)\b)"
)
"""What is known to everybody who works on it."""

_FOR_ALL = regex(r" (?:for|with|to|in|about) (?:everything|everyone|everybody)$")
_MUCH = regex(r"\b(?:a lot of|a bit of|lots of|plenty of|loads of) (?!my\b|our\b|the\b)")
_WELL_KNOWN = regex(
    r"\bthe (?=(?:sea|ocean|mountains|beach|countryside|outdoors|theatre|cinema|opera|forest|gym"
    r"|pool|piano|violin|guitar|cello)\b)"
)
_SAYING = regex(r"(?:my|our) (?:fingers?|mouth|eyes?|hands?|word|promises|distance|cool|breath)\b")
_KIND = regex(
    rf"an? (?:[\w-]+ ){{0,3}}?[{CAPITALS}\d]|the [\w' -]{{2,40}} (?:of|at|for) "
    r"|(?:spelled|spelt|pronounced) ."
)
_WITH = regex(
    rf"(?:with|at|on|in|from) (?:(?:the|a) (?:(?!\w+ing\b)\w+ ){{0,3}}?)?[{CAPITALS}]"
    r"|(?:half )?[A-Z][a-z]+(?:ish|ese|(?<!m)an|erman|ch|ic|i|ss|ek|ist|im)$"
)
"""Where somebody belongs, and of what people or faith they are."""
_CALLED = regex(rf"(?:called|named) (?:[{CAPITALS}]|(?!off\b)[\w-]+$)|at [\w/-]+(?:\.[\w/-]+)+")
_STATE = regex(
    r"(?:deaf|blind|mute|electric|fluent|bilingual|retired|vegan|vegetarian|(?:type [12] )?diabetic"
    r"|dyslexic|autistic|non-?binary|[a-z]+-free|gay|lesbian|bisexual|transgender"
    r"|pregnant|divorced|widowed|single|adopted|hard of hearing|colou?r[- ]blind"
    r"|left-handed|(?:not )?(?:allowed|supposed|permitted|required|obliged) to [a-z]+ .+"
    r"|diagnosed with .+)(?: .*)?"
)
"""What somebody is for long."""
_KEPT = regex(
    r"(?:(?:always|only|also|still|now) )?(?:stored|named|kept|refreshed|limited|required|frozen"
    r"|hosted|encrypted|measured|counted|billed|written|formatted|sorted|versioned|allowed"
    r"|forbidden|owned|maintained|managed|handled|supported|based|located|reviewed|signed"
    r"|backed up|built|scheduled|set|planned|booked|due|capped|reserved|restricted|deprecated"
    r"|archived|pinned|replaced|removed|read-only|closed|open|handed|called|held|paid|owed|run"
    r"|enabled|disabled|paused|halted|suspended|(?:(?:switched|turned) )?(?:on|off) by default)\b.*"
)
"""What is done with things as a rule, by a project or a firm."""
_IS_ONE = regex(rf"(?:(?:an?|the) .*)?[{CAPITALS}\d](?!\d* ?%)")
_STANDING = regex(r"(?:off|on|with|at|in|an?|without|out of) ")
_OF_MANY = any_case(
    r"all |every |each |\w+ing$|(?!the )[\w-]+(?: [\w-]+)?s"
    r"(?: (?:in|of|from|for|on|about|over|under|above|below) [\w' $€£.,-]+)?$"
)
"""Things of a kind, of which a rule is told."""
_OF_ALL = any_case(r"(?:all|every|each) (?!(?:good|great|real|true|decent) )")
_I_KNOW = any_case(r" (?:i|we) (?:know|have|use|trust|see|go to|chose|picked)$|^the new ")
_HARMS = regex(r"me (?:sneeze|itch|sick|ill|cough|swell|vomit|dizzy|drowsy|wheeze)\b")
_AMONG = regex(r"(?:with|in|at|next (?:door )?to|above|below|behind|near|[a-z ]+ from) |alone$")
_FROM = regex(r"from an? (?:[a-z]+ )?(?:town|village|city|suburb|island|farm) (?:in|near|on) [A-Z]")
_TO_NAME = regex(rf"(?:by|to|through|via) (?:(?:the )?#|[{CAPITALS}])|with (?:the )?[{CAPITALS}]")
_SAT, _TRUSTED = regex(rf"in [{CAPITALS}]"), regex(r"in [\w-]+$")
_WHERE = {"go": _TO_NAME, "live": _AMONG, "sit": _SAT, "come": _FROM, "believe": _TRUSTED}
"""Verbs that say something with where or with whom only."""
_BY_WHOM = regex(rf"(?:by|after|from|an?|to the) |(?:at|in|to) (?:the )?[{CAPITALS}]")
_CHOSEN = regex(rf"(?:with|against|on|for) (?:the )?[{CAPITALS}]")
_DEFINITE = regex(rf"an? |the |my |[{CAPITALS}]")
_RELEASED = regex(r"go live|release|ship|launch|deprecate|be (?:released|shipped|live)")
_TO_A_DAY = any_case(rf"to (?:{_DAY})s?\b")
_EXAM = regex(r"\b(?:driving|language|citizenship|theory|swimming) test\b")
_OWN = regex(r"\b(?:my|our)\b")
_THEIRS = regex(r"\b(?:his|her|their)\b")
_IS_CAPITAL = regex(rf"[{CAPITALS}]|[a-z]+[{CAPITALS}]")
_IN_ONE = regex(r"(?:on|in|at) (?:the|an?) (\w+)")
_SEASON = any_case(r"\bin (?:the )?(?:spring|summer|autumn|fall|winter)\b")
_DOING = regex(r"\w+ing\b")


def _without_tail(rest: str) -> str:
    """Return what is said without what is added; the last thing of a list belongs to it."""
    plain = _TAIL.sub("", rest)
    more = _AND.search(plain)
    return plain[: more.start()] if more and is_verb(more[1]) else plain


def whole_claims(said: Said) -> Iterator[Claim]:
    """Yield what a clause says, as it says it, if it lasts and is understood alone."""
    said = replace(said, verbal=replace(said.verbal, rest=_without_tail(said.verbal.rest)))
    verbal, clause = said.verbal, said.clause
    lasts = _LASTS.get(verbal.tense)
    follows = clause.is_consequence and not said.is_change
    if lasts is None or follows or clause.denied or verbal.modal or said.is_beside:
        return
    # How much of it, and what everybody knows by "the", is no matter.
    bare = _WELL_KNOWN.sub("", _MUCH.sub("", verbal.rest))
    said_of = replace(said, verbal=replace(verbal, rest=bare))
    if _stands_alone(said_of) and (stands(said_of) or lasts(said_of)):
        value = of_speaker(verbal.rest, said.speaker)
        yield said.claim(verbal.lemma, value, is_news=True, is_ahead=verbal.tense == "ahead")


def _stands_alone(said: Said) -> bool:
    """Whether a clause is understood without what was said around it."""
    lemma, rest = said.verbal.lemma, said.verbal.rest
    plain = _THIS_PROJECT.sub("", _FOR_ALL.sub("", rest).replace(",", ""))
    used = {word.lower() for word in plain.split() if word not in INITIALS}
    is_empty = not said.times and used <= _PARTICLES
    if is_empty or len(rest.split()) > _WORDS_MAX or used & OUTSIDE or _EACH_OTHER.search(rest):
        return False
    if GAPPED.search(f"{rest} "):
        return False  # "and Eve in Mainz"
    if rest.endswith(tuple(f" {one}" for one in LOOSE_ENDS)) or not is_known_verb(lemma):
        return False
    is_own = said.subject.sort == "speaker"
    # "Maybe I'll start and publish it": it may go on with what is only planned.
    is_bare = said.clause.goes_on and said.clause.text.lower().startswith(f"{lemma} ")
    if (is_own and used & {"her", "his"}) or is_bare:
        return False
    return _is_about_somebody(said) and _is_joined_plainly(said) and _is_worth(said)


def _is_about_somebody(said: Said) -> bool:
    """Whether whom or what a clause is about is known without another."""
    subject = said.subject
    used = set(_THIS_PROJECT.sub("", _of(said).lower()).split())
    is_pointed_at = subject.sort in {"thing", "owned"} and used & (OUTSIDE - {"i"})
    is_vague = (
        subject.kind in ACQUAINTANCES and subject.is_one_of_many and subject.owner == said.speaker
    )
    barred = MADE_UP if said.verbal.lemma in _RENEWED else MADE_UP | READ_ELSEWHERE
    is_no_thing = _is_thing(said) and bool(barred & set(subject.noun.lower().split()))
    return not (is_pointed_at or is_vague or is_no_thing or _NOBODYS.match(subject.text))


def _is_joined_plainly(said: Said) -> bool:
    """Whether what hangs on another clause says alone what it is of."""
    rest = said.verbal.rest
    if not said.clause.hangs:
        return True
    is_counted = said.is_change and any(map(str.isdigit, rest))
    is_dated = bool(said.times) or is_counted or _NAMED.search(rest) is not None
    is_whole = phrases.as_thing(_BEFORE.sub("", rest)) is not None
    return is_counted or (is_whole and (is_dated or "the" not in rest.lower().split()))


def _is_worth(said: Said) -> bool:
    """Whether a clause is no mood, no praise and nothing that passes between people."""
    rest = said.verbal.rest
    is_rule = _is_round(said) or _OF_ALL.match(said.subject.text) is not None
    is_named = _NAMED.search(rest) is not None or is_rule
    passes = phrases.PASSED_ON.search(rest) or phrases.PASSING.search(rest)
    if passes and said.verbal.lemma in {"get", "have", "need", "own"}:
        return False
    return is_named or phrases.is_worth_keeping(_ADDED.sub("", rest), EVALUATIVE | OCCASIONS)


def _is_round(said: Said) -> bool:
    """Whether something comes again and again."""
    times = " ".join(one.text for one in said.times)
    is_often = _ROUND.search(f"{said.verbal.rest} {times}") is not None
    return is_often or said.is_each or said.verbal.habit in HABITUAL


def _is_thing(said: Said) -> bool:
    """Whether a clause is about no person and no animal."""
    return said.subject.sort in {"thing", "owned"} and not said.subject.kind


def _of(said: Said) -> str:
    """Return what a clause is about, without whose it is and the capital that it may open with."""
    subject = said.subject
    name = subject.noun or subject.text
    return (
        name if subject.sort == "named" or name[1:2].isupper() else f"{name[:1].lower()}{name[1:]}"
    )


def _is_named(said: Said) -> bool:
    """Whether a name or a number stands in a clause."""
    return _NAMED.search(f"{_of(said)} {said.verbal.rest}") is not None


def _is_dated(said: Said) -> bool:
    is_said = any(one.sort in {"at", "span"} for one in said.times)
    return (is_said and said.is_ahead) or _DATE.search(said.clause.text) is not None


def _as_a_rule(said: Said) -> bool:
    """``I wear hearing aids in both ears``, ``I walk to the lake every morning``."""
    verbal, rest = said.verbal, said.verbal.rest
    lemma = verbal.lemma
    is_to_be = rest == "due" or (rest.startswith("to ") and lemma in {"have", "need"})
    if verbal.aim or is_to_be:
        return not verbal.aim and _BY_A_DAY.match(said.time_text) is not None
    if verbal.is_progressive:
        is_long = any(_LONG.search(one.text) for one in said.times)
        is_change = lemma in LIFE_CHANGES - MOMENTARY - SLIGHT_CHANGES and _is_by_name(rest)
        return (is_long or is_change) and lemma not in OF_THE_MOMENT and bool(rest)
    if _is_round(said) and lemma != "be":
        return _is_habit(said)
    is_own = said.subject.sort == "speaker" and lemma != "have"
    is_mood = lemma == "be" and (_DOING.match(rest) or (rest and _SEASON.search(said.time_text)))
    if _is_dated(said) and not is_own and not is_mood:
        return lemma not in OF_THE_MOMENT or lemma in _TURNS
    if lemma == "be":
        return _is_what(said)
    return _is_of_a_thing(said) if _is_thing(said) else _is_of_somebody(said)


def _is_by_name(rest: str) -> bool:
    """Whether what is spoken of is named, at the end: ``to Firefox``."""
    return _IS_CAPITAL.match(rest.rsplit(maxsplit=1)[-1] if rest else "") is not None


def _is_habit(said: Said) -> bool:
    """``I do the big shop on Saturdays``, ``Tickets from Hartmann always get high priority``."""
    lemma = said.verbal.lemma
    left = set(_ROUND.sub("", said.verbal.rest).lower().split())
    is_more = bool(left - _PARTICLES - {"a", "few", "times"}) or lemma in _BY_ITSELF | _RENEWED
    if _is_thing(said) and lemma in _TURNS:  # "releases happen on Tuesdays"
        is_more |= said.is_each or _ON_DAYS.search(said.text()) is not None
    is_known = _is_named(said) or not _is_thing(said) or said.subject.sort == "owned"
    is_known |= _OF_MANY.match(said.subject.text) is not None
    if lemma in {"own", "possess"}:
        return False
    if lemma == "have" and not phrases.is_worth_keeping(said.verbal.rest, EVALUATIVE | OCCASIONS):
        return False
    return is_more and is_known and (lemma not in OF_THE_MOMENT or lemma in _TURNS)


def _is_of_somebody(said: Said) -> bool:
    """``I keep kosher``, ``my father lives with us``, ``we go with RabbitMQ for the queue``."""
    verbal, rest = said.verbal, said.verbal.rest
    lemma, is_definite = verbal.lemma, "the" in rest.lower().split()
    if said.times:
        is_plan = said.is_ahead and lemma in _BEGINS
        is_kept = lemma in {"keep", "retain", "store"} and said.time_text.startswith("for ")
        is_so = is_kept and verbal.sense == "is" and not is_definite
        return is_so or (is_plan and _DEFINITE.match(rest) is not None)
    if lemma in _WHERE:
        return _WHERE[lemma].match(rest) is not None
    is_chosen = bool(said.clause.not_so) and lemma not in OF_THE_MOMENT  # "tabs, not spaces"
    if is_chosen or (verbal.sense == "not" and lemma in {"do", "enjoy", "like", "love"}):
        return not is_definite
    if lemma in _KEPT_UP:
        return _is_kept_up(lemma, rest)
    is_named = _NAMED.search(rest) is not None or rest.startswith("over ")
    is_told = is_named or _OWN.search(rest) is not None or verbal.sense == "not"
    if said.clause.text.lower().startswith("we ") and not is_told:
        return False  # they may tell of a game, a journey, an evening
    is_passing = lemma in OF_THE_MOMENT | _FRAMED or (lemma in MOMENTARY and lemma != "take")
    return (is_named or not is_definite) and not is_passing


def _is_kept_up(lemma: str, rest: str) -> bool:
    """Whether somebody does so as a rule: ``keep halal at home``, ``run a book club``."""
    is_own = re.match({"run": "an? |our |my ", "hold": "an? "}.get(lemma, "$"), rest) is not None
    is_so = lemma == "keep" and re.match(r"\w+ing\b|the ", rest) is None and not _SAYING.match(rest)
    is_named = _NAMED.search(rest) is not None
    return (is_own or is_so or is_named) and not AT_HAND & set(rest.lower().split())


def _is_what(said: Said) -> bool:
    """``My laptop is a ThinkPad``, ``my pension is 1,640 a month``, ``logs are kept in UTC``."""
    rest, subject = said.verbal.rest, said.subject
    is_of_name = (_KIND.match(rest) or _WITH.match(rest)) is not None
    is_today = said.when is not None and said.when.sort == "at" and not said.is_each
    if is_today or _STATE.fullmatch(rest):
        return not is_today and subject.sort != "thing"
    is_each_time = said.is_each or (past_base(rest.split(" ")[0]) is not None and _is_round(said))
    if subject.sort == "speaker":
        return (is_of_name and not _on_the_way(rest)) or is_each_time
    if subject.sort == "owned" and phrases.is_worth_keeping(subject.noun, EVALUATIVE | AT_HAND):
        return is_of_name or (_MEASURED.match(rest) or _CALLED.match(rest)) is not None
    is_called = _CALLED.match(rest) is not None and subject.sort != "owned"
    if is_called or (_I_KNOW.search(subject.text) and phrases.as_name(rest)):
        return True
    if _KEPT.fullmatch(rest) is None and not is_each_time:
        is_new = phrases.is_worth_keeping(f"{subject.noun} {rest}", EVALUATIVE | AT_HAND)
        return is_new and _IS_ONE.match(rest) is not None
    is_rule = subject.sort == "thing" and _OF_MANY.match(subject.text) is not None
    is_known = _is_named(said) or _is_round(said) or _NUMBER.search(subject.text) is not None
    return is_known or (is_rule and len(rest.split()) > 2)  # noqa: PLR2004 - no "are paid for"


def _on_the_way(rest: str) -> bool:
    """Whether somebody is in or on what people are with in passing: ``on the train to York``."""
    found = _IN_ONE.match(rest)
    return found is not None and found[1] in AT_HAND


def _is_of_a_thing(said: Said) -> bool:
    """``The API allows 600 requests a minute``, ``this project uses tabs``."""
    verbal, subject = said.verbal, said.subject
    is_of_all = _OF_ALL.match(subject.text) is not None
    if verbal.lemma == "go" and _TO_NAME.match(verbal.rest) and _OF_MANY.match(subject.text):
        return True
    is_passing = verbal.lemma in (OF_THE_MOMENT | FAILING) - _STATED_OF_ALL
    if (is_of_all and not is_passing) or (verbal.lemma == "make" and _HARMS.match(verbal.rest)):
        return True
    is_kind = subject.text.startswith("the ") and subject.noun.isalpha()
    is_rule = (
        subject.sort == "owned"
        and verbal.lemma in RULES_OF_THINGS
        and phrases.is_worth_keeping(subject.noun, EVALUATIVE)
        and verbal.rest not in {"me", "us"}
    )
    is_known = is_rule or subject.noun.lower().split()[-1] in PROJECTS or _is_named(said)
    if is_kind and subject.noun.endswith("s"):
        return False  # "the mediums last 18 laps"
    is_set_up = is_rule and _is_by_name(verbal.rest)
    if (AT_HAND & set(subject.noun.lower().split()) and not is_set_up) or not is_known:
        return False
    if verbal.lemma == "have":
        return subject.sort == "owned" or is_of_all or _MEASURED.match(verbal.rest) is not None
    is_passing = verbal.lemma in OF_THE_MOMENT | FAILING or bool(said.times)
    return verbal.lemma in RULES_OF_THINGS or not is_passing


def _ahead(said: Said) -> bool:
    """``I'll be away from the 20th to the 28th of June``, ``we decided to drop Kafka``."""
    verbal = said.verbal
    if verbal.sense != "is" or verbal.aim in {"want", "hope"}:
        return False
    is_of_moment = verbal.lemma in OF_THE_MOMENT - _TURNS
    return verbal.aim in DECIDED or (_is_dated(said) and not is_of_moment)


def _once(said: Said) -> bool:
    """``I was diagnosed with asthma in February``, ``I've paid off the car loan``."""
    verbal, rest = said.verbal, said.verbal.rest
    lemma = verbal.lemma
    if _is_thing(said):
        return _is_done(said)
    if lemma == "be":
        return _was(said)
    is_left = lemma == "leave" and verbal.tense == "past"  # where to is told beside it
    is_half = (lemma == "switch" and " to " not in rest) or (
        verbal.is_progressive and not rest and lemma not in ALONE
    )
    if is_left or is_half:
        return False
    is_chosen = lemma in {"go", "decide"} and _CHOSEN.match(rest) is not None
    is_since = lemma == "have" and verbal.tense == "perfect" and " since " in rest
    if is_chosen or is_since:
        return True
    if any(_LONG.search(one.text) for one in said.times):
        return lemma not in OF_THE_MOMENT or lemma in LIFE_CHANGES
    return _is_of_life(said)


def _is_of_life(said: Said) -> bool:
    """Whether what was done changes a life, or is of what is somebody's own or has a name."""
    verbal, rest = said.verbal, said.verbal.rest
    lemma = verbal.lemma
    if lemma in _FRAMED:
        return False
    of_what = _EXAM.sub("exam", _ADDED.sub("", rest.lower()))
    if AT_HAND & set(of_what.split()) or (_DOING.match(rest) and lemma not in OF_THE_MOMENT):
        return False
    if lemma in _GIVEN_UP:
        return verbal.sense == "not" and bool(said.times)
    if lemma in _VISITED:
        is_plain = not AT_HAND & set(rest.lower().split())
        return is_plain and bool(said.times) and _NAMED.search(rest) is not None
    is_own = _OWN.search(rest) is not None or _NAMED.search(rest) is not None
    is_theirs = bool(said.subject.kind and _THEIRS.search(rest)) and lemma not in SLIGHT_CHANGES
    if lemma in LIFE_CHANGES:
        return is_own or is_theirs or lemma not in OF_THE_MOMENT | MOMENTARY | SLIGHT_CHANGES
    return is_own and lemma not in OF_THE_MOMENT | MOMENTARY


def _was(said: Said) -> bool:
    """``I've been off sugar since New Year``."""
    verbal, rest = said.verbal, said.verbal.rest
    is_since = verbal.tense == "perfect" and (said.is_since or " since " in rest)
    is_long = (is_since or verbal.sense == "never") and _BRIEFLY.search(said.clause.text) is None
    is_so = (_KIND.match(rest) or _STANDING.match(rest) or _STATE.match(rest)) is not None
    done, _, of_what = rest.partition(" ")
    lemma = past_base(done, is_perfect=True) or FORMS.get(done, ("", ""))[0]
    if lemma and any(_LONG.search(one.text) for one in said.times):
        return lemma not in OF_THE_MOMENT
    if lemma and (not of_what or _BY_WHOM.match(of_what)):
        return _is_of_life(replace(said, verbal=replace(verbal, lemma=lemma, rest=of_what)))
    is_born = done in {"born", "raised"} and bool(of_what) and not of_what.startswith("to ")
    return rest.startswith("diagnosed with ") or is_born or (is_long and is_so)


def _is_done(said: Said) -> bool:
    """``Version 3.4 went live``, ``the release date was set to 17 June``."""
    verbal, rest = said.verbal, said.verbal.rest
    if verbal.lemma == "move":
        return (_TO_A_DAY.match(rest) or _TO_NAME.match(rest)) is not None
    if verbal.lemma == "be" and _KEPT.match(rest):
        return _NAMED.search(rest) is not None or "for good" in said.clause.text
    is_out = _RELEASED.match(f"{verbal.lemma} {rest}") is not None
    return is_out and _NUMBER.search(said.subject.text) is not None


_LASTS: Mapping[str, Callable[[Said], bool]] = MappingProxyType(
    {"present": _as_a_rule, "ahead": _ahead, "past": _once, "perfect": _once}
)
"""Of each tense, when it tells of what lasts."""
