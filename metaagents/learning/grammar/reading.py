"""What a clause claims: by a frame, as a plan, as a habit, or by what somebody is. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..regexes import any_case, regex
from . import lexicon, phrases
from .activity import active
from .copula import copula, is_trade
from .everyday import EVERYDAY
from .exchange import exchanged, measured
from .frames import OFTEN, PLANNED, filled, without_circumstance
from .framing import framed
from .general import whole_claims
from .lexicon import BODY, EVALUATIVE, FIGURES, OF_AN_ANSWER, ORDINALS, POSSESSIONS, SOFTWARE
from .particulars import with_particulars
from .statement import HABIT, Claim, Said, of_speaker
from .values import KINDS
from .verbs import FORMS, HABITUAL, past_base

_FOR_A_LIVING = " for a living"
_NO_HABITS = frozenset(
    "be need want hope look feel think try seem love like know say tell mean make find believe "
    "remember forget wonder wish guess end keep learn bring turn come support help "
    "talk chat speak".split()
)
_EXCLUSIVE = frozenset("drink eat wear fly use buy read watch cook drive smoke listen".split())
"""Of these, what somebody does only is what they do again and again."""
_DAILY = regex(r"(?:(?:get|wake) up|go to (?:bed|sleep)) (?:at|by|before|around) ")
"""What is told with an hour and without a day happens each day."""
_ABED = regex(r"(?:in bed|up|awake|out of bed|at (?:my|the) [a-z]+|home) (?:at|by|before|from) .+")
"""Where somebody usually is at an hour."""
_NEEDS_MORE = frozenset("go get give do take have be can will".split())
"""Verbs that alone say nothing."""
_LASTING = frozenset(("identity", "constraint"))
_AWAY = regex(r"(?:(?:away|off|back|over|out|down|up) )?(?:on \w+ )?(?:in|at|to) (.+)")
_EXPECTED = regex(r"\b(?:baby|child|twins|boy|girl|surgery|operation|guests|party)\b")
_DONE_TO = regex(
    rf"(?:my|our|his|her) (?:[a-z]+ )?(?:{'|'.join(sorted(BODY | POSSESSIONS))}|eyes|ears|teeth"
    r"|hair) [a-z]{2,}(?:ed|en)"
)
"""What somebody has done to what is theirs: ``my eyes lasered``."""
_OF_MIND = frozenset(
    "hope wish think guess know believe suppose doubt assume feel imagine wonder fear bet".split()
)
"""Who thinks so plans nothing."""
_SOON = frozenset("leave fly start arrive turn finish".split())
_BEFORE_THING = regex(
    r"^(?:(?:up|out|down|back|off|over|away|in|on) )?"
    r"(?:(?:to|into|at|by|in|on|for|with|from|before|after) )?(?:my |our )?"
)

_OF_THEIRS = regex(r"(?:(?:in|up|out|off|down|over) )?(?:the|my|our) [a-z]")
"""What somebody does to it at a time to come is planned, whatever it is."""
_TO_US = regex(r"^(?:(?:to )?(?:stay|visit|live|see|help)\b ?(?:with )?)?(?:me|us)$")
"""Whom somebody comes to, where that is who speaks."""
_WHOM = regex(r"\b(?:him|them|it|her(?= (?:once|twice|every|each|on|in|at|\w+ times)\b|$))\b")
_EXAMPLE = regex(
    r"an? .*\b(?:called|named) |the (?:average|typical|ordinary|variable|function|column|row|cell"
    r"|string|array)\b"
)
_SCORE = regex(
    r"\d{1,2}[-\u2013:]\d{1,2}$|the .*\b(?:cup|league|title|championship|match|game|election)\b"
)
_OF_NATURE = regex(
    r"(?:fly (?:at|south)|swim|breathe|hunt|hibernate|lay|breed|graze|hatch)\b|(?:live|migrate)"
    r" (?:in|on|to) (?:the )?(?:Africa|Asia|Australia|A(?:nta)?rctica?|Amazon)\b"
)
_LANDMARK = regex(r"(?:be|have) \d.* (?:long|tall|high|deep|wide|inhabitants)")
_OF_A_KIND = regex(r"(?!be )[a-z]+ (?!me\b|my\b|us\b|our\b)[a-z]+")
_CAN = regex(r"(?:support|allow|offer|provide|lack|include) .|have no (?!.* (?:on|in|at|for) )")
"""What is said of animals and of the Nile, of which nobody tells to be remembered."""
_SIMILE = regex(r"like (?:an?|the|mad|crazy|hell) ")
_KEPT_IN_WORDS = regex(
    r"(?:lose|keep|blow|find|break|hold|catch|change) (?:my|our|his|her) (?:mind|temper|patience"
    r"|marbles|nerve|cool|way|balance|head|train of thought|promise|word|breath|tongue)\b"
)
"""What people lose and keep in words only."""
_SAID_ONLY = regex(
    r"(?:[Ii]|[Ww]e)(?:'m| am| are|'re)? (?:live|living) "
    r"(?:in (?:the (?:past|moment|present|future)|fear|denial|hope|sin|my head|clover"
    r"|(?:my )?(?i:sweatpants|pyjamas|pajamas|jeans|hoodies))"
    r"|for |on (?:coffee|pizza|takeaway|caffeine|noodles|adrenaline))\b"
    r"|(?:[Ii]|[Ww]e) works? (?:for (?:[Pp]eanuts|nothing|the weekend)|on (?:my|our) tan)\b"
    r"|[Ii](?:'m| am) from (?:[Mm]ars|[Vv]enus|another planet|the moon|outer space|hell)\b"
    r"|[Ii] (?:was|wasn't|was not) born (?:yesterday|ready|tired|this way|lucky)\b"
)
"""What nobody means who says it: ``I live in the past``, ``I wasn't born yesterday``."""
_TODAY = any_case(r"\b(?:today|tonight|this (?:morning|afternoon|evening|week))\b")
_UNKNOWN = any_case(r"(?:tb[dac]|n/a|unknown|unclear|undecided|to be [a-z]+ed)\W*$|that\b")
"""What says that nobody knows, or what somebody fears or hopes."""
_WE_ARE_ONE = any_case(r"we(?:'re| are|'ve been| have been) an? ")
"""Of several who are one thing together, nothing is told of who speaks."""
_FABLED = regex(
    r"(?:an?|the) (?:[a-z]+ )?(?:king|queen|god|goddess|emperor|pope|unicorn|wizard|capital of)\b"
)
_WHOSE = any_case(r"(?:his|her|their|your) ")
"""What is put right is somebody's whom the clause does not name."""


def read(said: Said) -> list[Claim]:
    """Return what one clause claims; what puts something right is news, whatever it is about."""
    if _is_of_nothing(said) or (said.clause.corrects and _WHOSE.match(said.subject.text)):
        return []
    is_put_right = said.clause.corrects and said.subject.sort in {"thing", "owned"}
    found = [
        replace(one, is_news=True) if is_put_right and one.is_single and one.sense == "is" else one
        for one in with_particulars(said, _at_all_lengths(said))
    ]
    if not any(one.is_news for one in found):
        found += whole_claims(said)
    if not said.clause.is_consequence:
        return found
    # "So we keep a kit": it counts where the message says nothing plainer.
    return [one if _is_firm_so(one) else replace(one, is_loose=True) for one in found]


def _is_firm_so(claim: Claim) -> bool:
    """Whether what follows from something counts by itself: ``so I own four bikes now``."""
    return claim.fact_type in _LASTING or claim.is_change


def _is_of_nothing(said: Said) -> bool:
    """Whether a clause is about no known thing, or a manner of speaking.

    ``The second is red``, ``the answer is 42``, ``a user named Tom``, ``lions live in Africa``,
    ``I eat like a horse``, ``my head is a sieve today``.
    """
    noun, verbal = said.subject.noun.lower(), said.verbal
    what = f"{verbal.lemma} {verbal.rest}"
    is_natural = noun.endswith("s") and _OF_NATURE.match(what)
    is_natural = is_natural or (said.subject.noun.istitle() and _LANDMARK.fullmatch(what))
    is_nothing = noun in ORDINALS or _EXAMPLE.match(said.subject.text) or is_natural
    of_whom = said.subject.text.lower()
    is_kind = lexicon.PLURALS.get(of_whom) in lexicon.PETS or of_whom[:-1] in lexicon.DIETS
    is_of_all = is_kind and _OF_A_KIND.fullmatch(what) is not None
    if said.subject.sort == "named" and not what.endswith(" tall"):  # nobody is deep or wide
        is_of_all |= bool(_LANDMARK.fullmatch(what) or (of_whom in SOFTWARE and _CAN.match(what)))
    if is_of_all or (said.subject.sort == "thing" and is_nothing):
        return True
    is_said_only = _KEPT_IN_WORDS.match(what) or _SAID_ONLY.match(said.clause.text)
    if _SIMILE.match(verbal.rest) or is_said_only or _is_headline(said):
        return True
    who = said.subject.text.lower() if said.subject.sort == "named" else ""
    if not FIGURES.isdisjoint({who, *who.split(), *noun.split()}):
        return True
    if verbal.lemma != "be" or _WE_ARE_ONE.match(said.clause.text):
        return verbal.lemma == "be"
    if _UNKNOWN.match(verbal.rest) or (_FABLED.match(verbal.rest) and said.subject.sort != "thing"):
        return True
    is_of_today = verbal.rest.startswith(("a ", "an ")) and _TODAY.search(said.clause.text)
    *which, what = said.subject.head.partition(" of ")[0].split() or [""]
    return bool(is_of_today) or (what in OF_AN_ANSWER and ORDINALS.issuperset(which))


def _is_headline(said: Said) -> bool:
    """Whether a clause tells how a game or a price of others went: ``Tesla shares fell 5%``."""
    lemma, first = said.verbal.lemma, said.verbal.rest.partition(" ")[0]
    is_noun = lemma != "be" and not first.endswith("ed") and past_base(first) is not None
    is_won = lemma in {"win", "lose"} and _SCORE.match(said.verbal.rest.lower()) is not None
    return said.subject.sort == "named" and (is_noun or is_won)


def _at_all_lengths(said: Said) -> list[Claim]:
    """Return what a clause claims; if that is no news, what it claims without where and with whom.

    ``My GP is Dr. Pereira on Mill Street``: it is told whole, and is about the GP.
    """
    whole = list(_claims(said))
    is_of_something = said.verbal.lemma == "be" and said.subject.sort != "speaker"
    if not is_of_something or any(one.is_news for one in whole):
        return whole
    for bare, fuller in without_circumstance(said.verbal):
        found = list(_claims(replace(said, verbal=replace(said.verbal, rest=bare))))
        if any(one.is_news for one in found):
            return [replace(one, text=_with_more(one.text, bare, fuller)) for one in found]
    return whole


def _with_more(text: str, bare: str, fuller: str) -> str:
    """Return a text with what was told beside what it is about: where, and with whom."""
    return text.replace(bare, fuller) if bare in text else f"{text}{fuller.removeprefix(bare)}"


def _claims(said: Said) -> Iterator[Claim]:
    """Yield what the first way of reading finds that fits a clause."""
    verbal = said.verbal
    if verbal.rest.endswith(_FOR_A_LIVING):
        yield from _living(said)
        return
    frame = filled(verbal)
    if frame is not None and frame.frame.attribute == "age" and not _is_somebody(said):
        frame = None  # "my extension is 204"
    if frame is not None and frame.frame.attribute == "uses" and phrases.as_time(frame.value):
        frame = None  # "we deploy on Tuesdays"
    if (
        frame is not None
        and frame.value.lower() in SOFTWARE
        and frame.frame.attribute == "lives in"
    ):
        is_news = said.subject.sort == "speaker" and verbal.sense == "is"
        yield said.claim("uses", frame.value, is_news=is_news, is_change=True)
        return  # "we moved to Teams"
    changes = list(exchanged(said))
    yield from changes
    is_what = said.subject.sort != "speaker" and verbal.lemma == "be" and frame is None
    is_begun = frame is not None and frame.frame.has("begin") and frame.frame.has("one")
    is_plan = _is_plan(said) or (is_begun and verbal.is_progressive and verbal.tense == "present")
    if not changes and (verbal.tense == "ahead" or is_plan) and not is_what:
        yield from [*_plan(said)] or measured(said)
    elif frame is not None:
        yield from framed(said, frame)
    elif changes:
        return
    elif _is_habit(said):
        yield from _habit(said)
    elif verbal.lemma == "be":
        yield from copula(said)
    else:
        yield from [*measured(said)] or [*active(said)] or _plain(said)


def _plain(said: Said) -> Iterator[Claim]:
    """Yield what no frame tells of: its verb, and the words after it."""
    verbal = said.verbal
    is_whole = phrases.as_thing(_BEFORE_THING.sub("", verbal.rest)) is not None
    if verbal.tense in {"present", "perfect"} and is_whole:
        is_state = verbal.is_so and not said.times
        is_exact = (phrases.as_name(verbal.rest) or phrases.as_quantity(verbal.rest)) is not None
        yield said.claim(
            verbal.lemma,
            of_speaker(verbal.rest, said.speaker),
            is_news=is_state and is_exact and said.subject.sort == "owned",
        )


def _living(said: Said) -> Iterator[Claim]:
    """Yield what somebody does for a living."""
    verbal = said.verbal
    work = verbal.rest.removesuffix(_FOR_A_LIVING)
    if verbal.is_so and phrases.as_thing(work):
        is_news = said.subject.sort != "thing"
        value = f"{verbal.lemma} {work}"
        yield said.claim("occupation", value, is_single=True, fact_type="identity", is_news=is_news)


def _is_plan(said: Said) -> bool:
    """Whether somebody is about to do something: it is arranged, and for a time."""
    verbal = said.verbal
    if not verbal.is_so or verbal.habit or " until " in verbal.rest:  # until then it is so now
        return False
    is_dated = said.when is not None and said.when.sort in {"at", "span"}
    is_of_theirs = (
        _OF_THEIRS.match(verbal.rest) is not None and said.is_ahead and verbal.lemma not in _OF_MIND
    )
    if verbal.lemma == "be":
        return is_dated and said.is_ahead and _is_away(verbal.rest)
    if verbal.is_progressive and verbal.lemma == "have":
        return (is_dated and bool(_is_arranged(verbal.rest))) or _EXPECTED.search(
            verbal.rest
        ) is not None
    if verbal.is_progressive:
        return is_dated and (verbal.lemma in PLANNED or is_of_theirs)
    # "I leave for Oslo tomorrow": only a time that lies ahead makes a plan of it.
    return is_dated and said.is_ahead and (verbal.lemma in _SOON or is_of_theirs)


def _is_arranged(rest: str) -> bool:
    """Whether somebody has something done: ``an extension built``, ``my tonsils out``."""
    return bool(_DONE_TO.fullmatch(rest) or EVERYDAY["fitted"](rest) or KINDS["body-removed"](rest))


def _is_away(rest: str) -> bool:
    """Whether somebody is at a place by its name: ``away in Copenhagen``."""
    away = _AWAY.fullmatch(rest)
    return away is not None and phrases.as_place(away[1]) is not None


def _plan(said: Said) -> Iterator[Claim]:
    """Yield what somebody plans."""
    verbal = said.verbal
    thing = _TO_US.sub("", _BEFORE_THING.sub("", verbal.rest))
    is_wish = verbal.aim in {"want", "hope"} and verbal.sense == "is"
    if is_wish or (thing and phrases.as_thing(thing) is None and not thing.isdigit()):
        return
    is_sure = (verbal.aim != "will" or said.when is not None) and verbal.sense == "is"
    yield said.timeless(
        f"plans to {verbal.lemma}",
        of_speaker(verbal.rest, said.speaker),
        is_news=is_sure and said.subject.sort != "thing" and _is_worth_planning(said),
        is_ahead=True,
    )


def _is_worth_planning(said: Said) -> bool:
    """Whether a plan is one, rather than a manner of speaking of what is to come."""
    lemma, rest, is_dated = said.verbal.lemma, said.verbal.rest, said.when is not None
    if lemma == "be":
        return (is_dated and _is_away(rest)) or (said.verbal.aim == "going" and is_trade(rest))
    if lemma == "have":
        return is_dated and bool(_EXPECTED.search(rest) or _is_arranged(rest))
    is_known = lemma in PLANNED or (is_dated and _OF_THEIRS.match(rest) is not None)
    is_worth = is_known and phrases.is_worth_keeping(rest, EVALUATIVE)
    return is_worth and (bool(rest) or is_dated)


def _is_somebody(said: Said) -> bool:
    """Whether a clause is about a person or an animal: nothing else has an age or habits."""
    return said.subject.sort in {"speaker", "named"} or bool(said.subject.kind)


def _is_meeting(said: Said) -> bool:
    """Whether a group of somebody's comes together: ``my book club meets every other Tuesday``."""
    return said.verbal.lemma == "meet" and said.subject.sort == "owned"


def _is_habit(said: Said) -> bool:
    verbal = said.verbal
    is_often = OFTEN.search(said.text()) is not None
    if verbal.habit == "only" and verbal.lemma not in _EXCLUSIVE:
        return is_often
    is_never = verbal.sense == "never" and verbal.tense == "present"
    is_daily = _DAILY.match(f"{verbal.lemma} {verbal.rest}") is not None and said.when is None
    return bool(verbal.habit or is_never or is_daily or is_often)


def _habit(said: Said) -> Iterator[Claim]:
    """Yield what somebody does again and again, or never."""
    verbal = said.verbal
    is_denied = verbal.sense == "not" and verbal.lemma == "work"
    is_told = is_denied or verbal.sense in {"is", "never", "over"}
    if verbal.tense != "present" or not is_told or verbal.is_progressive:
        return
    if _WHOM.search(verbal.rest):
        return  # "I see her twice a year": whom, another clause says
    rest = OFTEN.sub("", verbal.rest).replace("  ", " ").strip()
    thing = _BEFORE_THING.sub("", f"{rest} ").strip()
    is_hour = thing.isdigit() and _DAILY.match(f"{verbal.lemma} {verbal.rest}") is not None
    if thing and not (is_hour or phrases.as_thing(thing) or phrases.as_time(thing)):
        return
    is_bare = not thing and (verbal.lemma in _NEEDS_MORE or verbal.sense == "never")
    is_abed = verbal.lemma == "be" and _ABED.fullmatch(rest) is not None
    if (verbal.lemma in _NO_HABITS and not is_abed) or is_bare:
        return
    is_often = OFTEN.search(said.text()) is not None
    is_known = verbal.lemma in FORMS or is_often or verbal.habit in HABITUAL
    is_known |= verbal.sense == "never"
    is_worth = phrases.is_worth_keeping(rest, EVALUATIVE)
    yield said.timeless(
        HABIT,
        f"{verbal.lemma} {of_speaker(verbal.rest, said.speaker)}",
        is_news=is_known and is_worth and (_is_somebody(said) or _is_meeting(said)),
        fact_type="preference",
    )
