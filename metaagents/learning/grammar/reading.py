"""What a clause claims: by a frame, as a plan, as a habit, or by what somebody is. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..rewording import third_person
from . import phrases
from .copula import DATED, copula
from .frames import OFTEN, PLANNED, Filled, changed, filled, led
from .lexicon import EVALUATIVE, POSSESSIONS
from .statement import AHEAD, DIED, HABIT, LED, NAME, PLACE, RELATION, TIME, Claim, Said, of_speaker
from .verbs import FORMS, HABITUAL, Sense

_REACTION = re.compile(r"me (?:an? |the )?(?:(?:bad|terrible|nasty) )?(rash|hives|migraines?|heartburn|asthma)")


_NO_HABITS = frozenset(
    "be need want hope look feel think try seem love like know say tell mean make find believe "
    "remember forget wonder wish guess end keep learn bring turn come support help".split()
)
_EXPECTED = re.compile(r"\b(?:baby|child|twins|boy|girl|surgery|operation|guests|party)\b")
_BEFORE_THING = re.compile(
    r"^(?:(?:up|out|down|back|off|over|away|in|on) )?(?:(?:to|at|by|in|on|for|with|from|before|after) )?(?:my |our )?"
)


def read(said: Said) -> list[Claim]:
    """Return what one clause claims; what puts something right is news, whatever it is about."""
    is_put_right = said.clause.corrects and said.subject.sort in {"thing", "owned"}
    return [
        replace(one, is_news=True) if is_put_right and one.is_single and one.sense == "is" else one
        for one in _read(said)
    ]


def _read(said: Said) -> list[Claim]:
    verbal = said.verbal
    if verbal.tense == "ahead" and verbal.aim == "used":
        return []
    if verbal.rest.endswith(" for a living"):
        return list(_living(said))
    frame = filled(verbal)
    made = [*_special(said)]
    if made:
        return [*made, *(_framed(said, frame) if frame is not None else ())]
    if said.subject.sort != "speaker" and verbal.lemma == "be" and frame is None:
        return list(copula(said))
    if verbal.tense == "ahead" or _is_plan(said):
        return list(_plan(said))
    if frame is not None:
        return list(_framed(said, frame))
    is_never = verbal.sense == "never" and verbal.tense == "present"
    if verbal.lemma == "get" and re.match(r"up at ", verbal.rest):
        return list(_habit(said))
    if verbal.habit or is_never or OFTEN.search(said.told()):
        return list(_habit(said))
    if verbal.lemma == "be":
        return list(copula(said))
    return [*_measured(said)] or list(_plain(said))


def _plain(said: Said) -> Iterator[Claim]:
    """Yield what no frame tells of: its verb, and the words after it."""
    verbal = said.verbal
    if verbal.tense in {"present", "perfect"} and phrases.as_thing(_BEFORE_THING.sub("", verbal.rest)):
        yield said.claim(verbal.lemma, of_speaker(verbal.rest, said.speaker))


def _living(said: Said) -> Iterator[Claim]:
    """Yield what somebody does for a living."""
    verbal = said.verbal
    work = verbal.rest.removesuffix(" for a living")
    if verbal.tense != "present" or verbal.sense != "is" or phrases.as_thing(work) is None:
        return
    value = f"{verbal.lemma} {work}"
    is_news = said.subject.sort != "thing"
    yield said.claim("occupation", value, is_single=True, fact_type="identity", is_news=is_news)


def _framed(said: Said, filling: Filled) -> Iterator[Claim]:
    """Yield what a filled frame claims."""
    frame, verbal = filling.frame, said.verbal
    sense: Sense = verbal.sense
    if frame.has("not"):
        sense = "not" if sense == "is" else "is"
    since = said.when is not None and said.when.sort in {"since", "span"}
    is_state = frame.has("state")
    text = said.told()
    value = of_speaker(filling.value, said.speaker)
    if is_state and sense != "over" and verbal.tense == "perfect" and verbal.sense == "is":
        rest = f"{filling.before} {filling.value}".strip()
        text = said.told(third_person(verbal.lemma) if verbal.lemma != "be" else "is", rest)
    elif verbal.told == "comes" and frame.attribute == "is from":
        text = said.told("is", f"from {filling.value}")
    elif frame.kind in {"place", "liked"}:
        text = said.told(None, f"{filling.before} {filling.value}".strip())
    claim = said.claim(
        frame.attribute,
        value or said.told_time,
        text=text,
        sense="never" if said.clause.denied else sense,
        fact_type=frame.fact_type,
        is_single=frame.has("one") and not (is_state and verbal.tense == "past"),
    )
    claim = replace(claim, is_news=_is_news(said, filling, since=since), is_change=claim.is_change or frame.has("begin"))
    if verbal.lemma in AHEAD or (
        is_state and not since and not (said.when and said.when.sort == "until")
    ):
        claim = replace(claim, valid_from=None, valid_to=None)
    yield _ended(said, claim, frame.has("end"))
    if frame.attribute == DIED:
        yield from _dead(said, claim)
    is_parted = frame.attribute == RELATION or filling.value in {"divorced", "separated"}
    if is_parted and said.subject.beside:
        yield replace(claim, subject=said.speaker, attribute="married to", value=said.subject.beside, sense="over", is_news=False)
    named = re.fullmatch(r"(.+?) (?:called|named) (.+)", value)
    if named and claim.attribute == "has" and phrases.as_name(named[2]):
        yield replace(claim, value=named[1], is_news=False)


def _ended(said: Said, claim: Claim, is_end: bool) -> Claim:
    return replace(claim, sense="over") if is_end and said.verbal.sense == "is" else claim


def _dead(said: Said, claim: Claim) -> Iterator[Claim]:
    """Yield that who died is somebody's no more."""
    if said.subject.owner:
        yield replace(claim, subject=said.subject.owner, attribute="has", value=said.subject.noun, sense="over", is_news=False)


def _is_news(said: Said, filling: Filled, *, since: bool) -> bool:
    """Whether what a frame claims is worth keeping when it was said in talk."""
    frame, verbal, subject = filling.frame, said.verbal, said.subject
    if frame.has("quiet") or subject.sort == "thing" or verbal.aim == "used":
        return False
    is_known = subject.noun.lower().split()[-1:] and subject.noun.lower().split()[-1] in POSSESSIONS
    if subject.sort == "owned" and not subject.kind and frame.attribute != "lost" and not is_known:
        return False
    if subject.sort == "owned" and subject.kind in {"friend", "neighbour", "neighbor", "colleague"} and not subject.name:
        return False
    if frame.has("since") and not since:
        return False
    if frame.has("dated") and said.when is None:
        return False
    if frame.kind == "nothing" and frame.attribute == "was born" and said.when is None:
        return False
    if frame.has("state"):
        if verbal.tense == "past":
            return verbal.sense == "never" or (said.when is not None and said.when.sort == "span")
        is_so = verbal.tense == "present" or since or verbal.is_progressive
        return is_so or verbal.sense == "never" or frame.kind in {"illness", "allergen", "diet"}
    if frame.has("ongoing") and (verbal.is_progressive or verbal.tense == "present"):
        return verbal.sense == "is"
    is_denial = verbal.sense == "not" and frame.fact_type == "identity"
    return verbal.tense in {"past", "perfect"} and (verbal.sense in {"is", "never"} or is_denial)


def _is_plan(said: Said) -> bool:
    """Whether somebody is about to do something: it is arranged, and for a time or a place."""
    verbal = said.verbal
    if verbal.tense != "present" or verbal.sense != "is" or verbal.habit:
        return False
    if verbal.lemma == "have" and verbal.is_progressive:
        return _EXPECTED.search(verbal.rest) is not None
    if not verbal.is_progressive:
        # "I leave for Oslo tomorrow": only a time that lies ahead makes a plan of it.
        is_near = said.when is not None and said.when.sort == "at" and said.is_ahead
        return verbal.lemma in {"leave", "fly", "start", "arrive", "turn", "finish"} and is_near
    return verbal.lemma in PLANNED and said.when is not None and said.when.sort == "at"


def _plan(said: Said) -> Iterator[Claim]:
    """Yield what somebody plans."""
    verbal = said.verbal
    if verbal.aim in {"want", "hope", "used"} and verbal.sense == "is":
        return
    rest = verbal.rest
    thing = _BEFORE_THING.sub("", rest)
    if thing and phrases.as_thing(thing) is None and not thing.isdigit():
        return
    sure = verbal.aim != "will" or said.when is not None
    worth = verbal.lemma in PLANNED and phrases.is_worth_keeping(rest, EVALUATIVE)
    worth = worth and (bool(rest) or said.when is not None)
    if verbal.lemma == "be":
        worth = said.when is not None and rest.startswith("in ") and phrases.as_place(rest[3:]) is not None
    if verbal.lemma == "have":
        worth = _EXPECTED.search(rest) is not None and said.when is not None
    yield said.claim(
        f"plans to {verbal.lemma}",
        of_speaker(rest, said.speaker),
        is_news=worth and sure and verbal.sense == "is" and said.subject.sort != "thing",
        is_ahead=True,
        valid_from=None,
        valid_to=None,
    )


def _habit(said: Said) -> Iterator[Claim]:
    """Yield what somebody does again and again."""
    verbal = said.verbal
    if verbal.tense != "present" or verbal.sense not in {"is", "never"} or verbal.is_progressive:
        return
    rest = OFTEN.sub("", verbal.rest).replace("  ", " ").strip()
    thing = _BEFORE_THING.sub("", f"{rest} ").strip()
    if thing and phrases.as_thing(thing) is None and phrases.as_time(thing) is None:
        return
    if verbal.lemma in _NO_HABITS or (not thing and verbal.lemma in {"go", "get", "give", "do", "take"}):
        return
    if verbal.sense == "never" and not thing:
        return
    known = verbal.lemma in FORMS or verbal.habit in HABITUAL
    yield said.claim(
        HABIT,
        f"{verbal.lemma} {of_speaker(verbal.rest, said.speaker)}",
        is_news=known and said.subject.sort != "thing" and phrases.is_worth_keeping(rest, EVALUATIVE),
        fact_type="preference",
        valid_from=None,
        valid_to=None,
    )


def _special(said: Said) -> Iterator[Claim]:
    """Yield what frames have no room for: who leads what, changes of hands, reactions."""
    verbal, subject = said.verbal, said.subject
    lead = None if verbal.is_progressive or said.times else led(verbal)
    if lead is not None and subject.sort != "thing" and verbal.tense == "present":
        yield said.claim(LED, subject.text, subject=of_speaker(lead, said.speaker), is_single=True)
    if verbal.lemma == "hand":
        found = re.fullmatch(r"(?:over )?(the .+?) (?:over )?to (.+)", verbal.rest)
        if found and phrases.as_name(found[2]):
            yield said.claim(LED, found[2], subject=found[1].removesuffix(" over"), is_single=True, is_change=True)
    if verbal.lemma == "take":
        found = re.fullmatch(rf"over from ({phrases.NAME}) as (my|our) (\w+)", verbal.rest)
        if found:
            yield said.claim(found[3], subject.text, subject=said.speaker, is_single=True, is_change=True)
    if verbal.lemma in {"switch", "change"} and subject.sort == "speaker":
        pair = changed(verbal.rest)
        if pair:
            yield said.claim("changed", pair[0], sense="over", is_news=True)
    if verbal.lemma == "rename":
        found = re.fullmatch(rf"((?:the|my|our) .+?)(?: from {phrases.NAME})? to ({phrases.NAME})", verbal.rest)
        if found:
            yield said.claim(NAME, found[2], subject=of_speaker(found[1], said.speaker), is_single=True, is_change=True)
    if verbal.lemma == "change":
        found = re.fullmatch(rf"(?:its|my|our|his|her) (name|surname) to ({phrases.NAME})", verbal.rest)
        if found:
            yield said.claim(NAME if found[1] == "name" else found[1], found[2], is_single=True, is_change=True)
    if verbal.lemma == "give" and _REACTION.fullmatch(verbal.rest):
        yield said.claim("reaction", verbal.rest, fact_type="constraint", is_news=verbal.tense == "present" and verbal.sense == "is")
    if verbal.lemma == "work" and verbal.is_progressive and not verbal.rest and subject.sort != "speaker":
        yield said.claim("state broken", "working", is_single=True)
    if verbal.modal == "can" and verbal.sense == "is" and verbal.lemma in {"eat", "drink", "tolerate"}:
        thing = phrases.as_thing(verbal.rest)
        if thing:
            yield said.claim(f"{verbal.lemma}s", thing, is_change=True)


def _measured(said: Said) -> Iterator[Claim]:
    """Yield what a thing costs, holds, or when it opens: a verb and a number or a time."""
    verbal = said.verbal
    if verbal.lemma in {"postpone", "reschedule", "move"} or said.subject.sort == "speaker":
        yield from _moved(said)
        return
    rest = verbal.rest
    if verbal.lemma == "take" and rest.startswith("place"):
        yield from _timed(said, rest.removeprefix("place").strip())
        return
    value = phrases.as_time(rest) or (said.told_time if not rest else "")
    is_time = bool(value)
    value = value or phrases.as_quantity(re.sub(r"^(?:in|at|on|with) ", "", rest)) or ""
    name = re.fullmatch(rf"(?:to|spelled|spelt) ({phrases.NAME})", rest)
    value = value or (name[1] if name else "")
    if value:
        is_dated = is_time and DATED.search(said.subject.noun.lower()) is not None
        is_news = said.clause.corrects or (is_dated and said.subject.sort == "owned")
        is_news = is_news and verbal.tense == "present" and verbal.sense == "is"
        attribute = f"{verbal.lemma}s"
        yield said.claim(
            attribute, value, is_single=True, is_news=is_news, valid_from=None, valid_to=None
        )


def _moved(said: Said) -> Iterator[Claim]:
    if said.subject.sort == "speaker" or (not said.verbal.rest.startswith("to") and said.verbal.rest):
        return
    yield from _timed(said, said.verbal.rest.removeprefix("to").strip(), is_change=True)


def _timed(said: Said, rest: str, *, is_change: bool = False) -> Iterator[Claim]:
    """Yield when something is, or where it has gone to."""
    value = phrases.as_time(rest) or (said.told_time if not rest else "")
    change = is_change or said.is_change
    if value:
        yield said.claim(TIME, value, is_single=True, is_change=change, valid_from=None, valid_to=None)
    elif phrases.as_thing(rest):
        yield said.claim(PLACE, rest, is_single=True, is_change=change)
