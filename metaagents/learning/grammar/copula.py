"""What somebody or something is: by name, time, number, place, role or state. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tiers.lexical import WEEKDAYS
from tiers.records import FactType

from ..regexes import any_case, regex
from . import phrases
from .lexicon import (
    AT_HAND,
    COMPANIONS,
    ONE_AT_A_TIME,
    PERSONS,
    PETS,
    PLURALS,
    RELATIVES,
    SPOUSES,
    STATES,
    TEAM_TRADES,
    TRADES,
)
from .places import place
from .statement import (
    DIED,
    HAS,
    KIND,
    NAME,
    PLAN,
    PUT_OFF,
    RELATION,
    TIME,
    Claim,
    Said,
    of_speaker,
)
from .subjects import kind_of, of_possession

_WHERE = regex(r",? (?:at|in|from|over at|over in) (?:the |[A-Z]).{2,40}$")
"""Where somebody is to be found who is called by name: ``Dr. Marsh at the Elm clinic``."""
_NAMED = regex(r"(?:called|named|spelled|spelt) (.+)")
_STATE_OF = {
    word: (line[0].partition("/")[0], state.partition("/")[0])
    for line in STATES
    for state in line
    for word in state.split("/")
}
_TRIP = any_case(r"(?:trip|flight|visit|journey|holiday|vacation|drive) to (.+)")
_FAVOURITE = regex(r"(?:all-time )?favou?rite ([\w\- ]+)")
_VAGUE = frozenset(
    "part thing moment bit one memory time way place piece far there things times people person "
    "it is".split()
)
_AWAITED = (
    r"deadline|due date|release|launch|go-live|rollout|milestone|demo|hearing|trial|conference"
)
"""What many wait for: it is known by the article."""
DATED = regex(
    rf"(?:{_AWAITED}|birthday|anniversary|wedding|graduation|exam|interview|surgery|operation|flight|train|bus"
    r"|ferry|appointment|course|inspection|meeting|concert|party"
    r"|session|class|lesson|shift|workshop|match|game|race|trip|holiday|check-?in"
    r"|review|stand-?up|test|first day|first day of work|defence|scan|lease|contract|passport"
    r"|visa|licence|license|subscription|viewing|performance|opening|move"
    r"|out-of-office|sabbatical|internship|apprenticeship|semester|term|placement)$"
)
_SCHEDULED = regex(
    rf"(?:{_AWAITED}|meeting|wedding|interview|workshop|concert|appointment|stand-?up|retro|sync)$"
)
_ROLE = regex(
    r"(?:er|or|ist|ian|ant|ent|eur|man|woman|nurse|chef|cook|pilot|vet|judge|clerk|mason|priest"
    r"|coach|guide|mechanic|architect|student|apprentice|diabetic|vegan|vegetarian)$"
)
_AGE = any_case(r"(?:\d{1,3}|[a-z]+(?:-[a-z]+)?)(?: and a half)?(?: (?:years|months|weeks) old)?")
_KNOWN = regex(
    r"(?:major|minor|subject|instrument|hobby|profession|occupation|job|trade|religion|faith|diet"
    r"|language|tongue|nationality|star sign|zodiac sign|employer|job title|size"
    r"|blood type|pronouns|username|handle|nickname)$"
)
_WEEKDAY = any_case(rf"(?:{'|'.join(WEEKDAYS)})s?")
_FIXED = regex(r"^(?:scheduled|booked|set|planned|arranged)(?: for)?(?: |$)")
_YEARLY = regex(r"(?:birthday|anniversary|date of birth|name day)$")
_SET = (
    r"price|rate|fee|fare|rent|limit|budget|quota|salary|wage|deposit|discount|tax|tariff|toll"
    r"|cap|target|threshold|timeout|premium|minimum|maximum|capacity|charge|allowance|length"
    r"|duration|interval"
)
SET = regex(rf"\b(?:{_SET})(?: (?:for|of|per) [\w -]{{2,30}})?$")
"""What somebody sets, so that it stays: ``the tax rate``."""
NUMBERED = regex(
    rf"(?:{_SET}|number|size|age|height|weight|pin|code|postcode|zip|extension|room|gate"
    r"|seat|locker|floor|score|mileage|dose|dosage|blood pressure|shift|id)$"
)
_LANGUAGE = regex(
    r"[A-Z][a-z]*(?:ish|ese|ian|ean|ench|utch|erman|reek|atin|abic|indi|rdu|arin|ech|ai|alan|ansh)"
)
_SPOKEN = regex(
    r"(?:(?:quite|pretty|very|rather|a bit|still) )?(?:fluent|native|rusty|basic|poor|decent"
    r"|passable|nonexistent|limited|perfect|good|terrible|conversational|intermediate)"
)
_HEALTH = regex(
    r"(?:blood (?:pressure|sugar)|cholesterol|iron(?: levels?)?|eyesight|hearing|vision|sight"
    r"|resting pulse|heart rate|vitamin d(?: levels?)?|(?:left |right )?(?:eye|ear|knee|hip|back))"
)
_AILING = regex(
    r"(?:(?:very|too|rather|quite|a bit|pretty|slightly) )?(?:high|low|bad|poor|weak|blind|deaf"
    r"|normal|fine|back to normal|under control|borderline|artificial|failing|going|made of glass)"
)
_NO_NEWS = frozenset(
    "day life week world year heart home head mind face time favorite favourite".split()
)
_LIKES_MOST = any_case(r"the ([\w\- ]+) (?:that )?i (?:like|love) (?:most|best|the most)")


def copula(said: Said) -> Iterator[Claim]:
    """Yield what a clause with ``be`` says of its subject."""
    subject, rest = said.subject, said.verbal.rest.strip(" ,.")
    if said.verbal.lemma != "be" or said.verbal.modal or said.verbal.is_progressive:
        return
    if subject.beside and rest in PLURALS and PLURALS[rest] in PERSONS:
        yield said.claim(RELATION, rest, fact_type="identity", is_news=said.verbal.is_so)
        return
    if _LANGUAGE.fullmatch(subject.noun) and _SPOKEN.fullmatch(rest):
        is_so = subject.sort == "owned" and said.verbal.tense == "present"
        yield said.claim("is", rest, is_single=True, fact_type="identity", is_news=is_so)
        return
    if _HEALTH.fullmatch(subject.noun.lower()) and _AILING.fullmatch(rest):
        is_news = subject.sort == "owned" and said.verbal.tense == "present"
        yield said.claim("is", rest, is_single=True, is_news=is_news)
        return
    owned = of_possession(rest, said.speaker)
    is_taste = owned is not None and _FAVOURITE.fullmatch(owned.noun.lower()) is not None
    if owned is not None and (subject.sort in {"named", "speaker"} or is_taste):
        yield from _is_somebodys(said, owned.owner, owned.noun)
        return
    for way in (_favourite, _name, _age, _time, _state, _number, place, _role, _value):
        made = list(way(said, rest))
        if made:
            yield from made
            return


def attribute_of(noun: str) -> str:
    """Return how a relation is filed: whoever is a husband or a wife is a spouse."""
    kind = kind_of(noun)
    if noun == "employer":
        return "works at"
    return "married to" if kind in SPOUSES and kind != "partner" else noun.lower()


def _is_one(noun: str) -> bool:
    return noun.lower().split()[-1] in ONE_AT_A_TIME or not kind_of(noun)


def _is_somebodys(said: Said, owner: str, noun: str) -> Iterator[Claim]:
    """``Dr. Hollis is my doctor``: told of whose doctor it is."""
    name = said.subject.text
    is_so = said.verbal.tense == "present" or said.is_since
    if said.verbal.sense not in {"is", "over", "not"} or said.verbal.tense == "past":
        return
    is_known = bool(
        kind_of(noun)
        or _FAVOURITE.fullmatch(noun.lower())
        or _KNOWN.search(noun.lower())
        or (" our " in f" {said.verbal.rest}" and is_trade(f"a {noun}") and _is_role(noun))
    )
    yield said.claim(
        attribute_of(noun),
        name,
        subject=owner,
        text=said.text(None, f"{owner}'s {noun}"),
        is_single=_is_one(noun),
        fact_type="identity",
        is_news=is_known and said.subject.sort in {"named", "thing"} and is_so,
    )


def _name(said: Said, rest: str) -> Iterator[Claim]:
    """``my dentist is called Mrs. Lindqvist``, ``my doctor is Dr. Weber``."""
    subject = said.subject
    if said.verbal.sense not in {"is", "not"} or subject.sort not in {"owned", "thing"}:
        return
    called = _NAMED.fullmatch(rest)
    named = called[1] if called else rest
    if subject.sort == "owned" and kind_of(subject.noun) in PERSONS:
        named = _WHERE.sub("", named)
    name = phrases.as_name(named)
    if name is None or (said.verbal.sense == "not" and not said.clause.corrects):
        return
    is_news = said.verbal.is_so and subject.sort == "owned"
    of_name = re.fullmatch(r"(.+)'s name|name", subject.noun)
    if called or of_name:
        whose = subject.text
        if of_name and of_name[1]:
            whose = f"{subject.owner}'s {of_name[1]}" if subject.owner else f"the {of_name[1]}"
        if of_name and not of_name[1]:
            whose = subject.owner or subject.text
        is_kind = bool(kind_of(subject.noun) or (of_name and (of_name[1] or kind_of(whose))))
        yield said.claim(
            NAME,
            name,
            subject=whose,
            is_single=True,
            fact_type="identity",
            is_news=is_news and (is_kind or said.is_change),
        )
        if of_name and of_name[1] and subject.owner and kind_of(of_name[1]) in PERSONS:
            yield _named_as(said, name, of_name[1], is_news=False)
        if called and subject.owner and not _is_pet(said):
            yield _named_as(said, name, subject.noun, is_news=False)
        return
    if subject.sort == "owned":
        is_worth = subject.noun.lower().split()[-1] not in _NO_NEWS
        yield _named_as(said, name, subject.noun, is_news=is_news and is_worth)
    else:
        yield said.claim("is", name, is_single=True)  # news where it puts something right


def _named_as(said: Said, name: str, noun: str, *, is_news: bool) -> Claim:
    return said.claim(
        attribute_of(noun),
        name,
        subject=said.subject.owner,
        is_single=_is_one(noun) and noun.lower().split()[-1] not in TEAM_TRADES,
        fact_type="identity",
        is_news=is_news,
    )


def _is_pet(said: Said) -> bool:
    return said.subject.kind in PETS


def _favourite(said: Said, rest: str) -> Iterator[Claim]:
    """``my favourite season is autumn``, ``autumn is the season I like most``."""
    liked = _LIKES_MOST.fullmatch(rest)
    if liked and said.subject.sort in {"named", "thing"}:
        yield said.claim(
            f"favourite {liked[1].lower()}", said.subject.text, subject=said.speaker, is_single=True
        )
        return
    found = _FAVOURITE.fullmatch(said.subject.noun.lower())
    thing = phrases.as_thing(of_speaker(rest, said.speaker))
    if (
        found is None
        or thing is None
        or said.verbal.sense != "is"
        or _VAGUE & set(found[1].split())
    ):
        return
    is_news = said.verbal.tense == "present" and said.subject.sort == "owned"
    yield said.claim(
        f"favourite {found[1]}",
        thing,
        subject=said.subject.owner,
        is_single=True,
        fact_type="preference",
        is_news=is_news,
    )


def _time(said: Said, rest: str) -> Iterator[Claim]:
    """``my train is at 7:40``, ``our anniversary is 21 August``."""
    subject, noun = said.subject, said.subject.head
    rest = _FIXED.sub("", rest)
    value = phrases.as_time(rest) if rest else said.time_text
    if not value or subject.sort not in {"owned", "thing"} or said.verbal.sense != "is":
        return
    is_dated = DATED.search(noun) is not None or _WEEKDAY.fullmatch(value) is not None
    is_on_a_day = said.is_change or any(one.days for one in said.times)
    is_moved = is_on_a_day and is_scheduled(said)
    is_telling = said.is_change and subject.text.startswith("the ")  # as of "our" standup
    text = f"{said.text()} now" if is_telling else said.text()
    if _YEARLY.search(noun):
        # It comes again each year: the year of the next one is no part of it.
        text, value = (
            said.clause_as_said(),
            rest or said.clause.text.partition(" is ")[2].strip(" .!"),
        )
        is_dated = phrases.as_time(value) is not None
    yield said.timeless(
        TIME,
        value,
        text=text,
        is_single=True,
        fact_type="identity" if _YEARLY.search(noun) else "world",
        is_news=is_dated and (subject.sort == "owned" or said.clause.corrects or is_moved),
    )


def _state(said: Said, rest: str) -> Iterator[Claim]:
    """``the printer is broken``, ``the picnic is cancelled``."""
    word = rest.lower().split()[0] if rest else ""
    plain = rest.lower()
    moved = PUT_OFF.match(plain)
    when = plain[moved.end() :] if moved else ""
    if moved and (not when or moved["to"]):
        value = rest.rpartition(" to ")[2] if when else said.time_text
        if when and phrases.as_time(value) is None:
            return
        is_news = is_scheduled(said)
        yield said.timeless(TIME, value, is_single=True, is_change=True, is_news=is_news)
        return
    if plain in {"cancelled", "canceled", "called off", "off"}:
        yield from _cancelled(said)
        return
    if plain == "dead":
        yield said.claim(DIED, "", is_news=said.subject.kind != "", is_change=True)
        if said.subject.owner:
            yield said.claim(HAS, said.subject.noun, subject=said.subject.owner, sense="over")
        return
    if word in _STATE_OF and len(plain.split()) == 1:
        group, state = _STATE_OF[word]
        yield said.claim(f"state {group}", state, is_single=True)


def is_scheduled(said: Said) -> bool:
    """Whether a clause is of what somebody has at a time, or what many wait for: a deadline."""
    is_theirs = said.subject.sort == "owned" and DATED.search(said.subject.head) is not None
    return is_theirs or _SCHEDULED.search(said.subject.head) is not None


def _cancelled(said: Said) -> Iterator[Claim]:
    trip = _TRIP.search(said.subject.noun)
    noun = re.sub(r" (?:on|in|at|to) .*", "", said.subject.text)
    is_known = is_scheduled(said) or " with " in noun
    yield said.claim("cancelled", "", subject=noun, sense="over", is_news=is_known)
    if noun != said.subject.text:
        yield said.claim("cancelled", "", sense="over")
    if trip and said.subject.owner:
        place = re.sub(r" in .*", "", trip[1])
        yield said.claim(PLAN, place, subject=said.subject.owner, sense="over")


def _age(said: Said, rest: str) -> Iterator[Claim]:
    """``my son Piotr is seven``, ``our puppy is three months old``."""
    whole = rest.replace(" and a half", "")
    is_age = _AGE.fullmatch(rest) is not None and phrases.as_quantity(whole) is not None
    if is_age and said.subject.kind and said.verbal.sense == "is":
        is_news = said.verbal.tense == "present"
        yield said.claim("age", rest, is_single=True, fact_type="identity", is_news=is_news)


def _number(said: Said, rest: str) -> Iterator[Claim]:
    value = phrases.as_quantity(rest)
    if value is None or said.subject.sort not in {"owned", "thing"} or said.verbal.sense != "is":
        return
    is_plain = value.isdigit() and not AT_HAND & set(said.subject.noun.lower().split())
    is_known = is_plain or NUMBERED.search(said.subject.head) is not None
    yield said.claim(
        "number",
        value,
        is_single=True,
        is_news=is_known and (said.subject.sort == "owned" or said.clause.corrects),
    )


def _role(said: Said, rest: str) -> Iterator[Claim]:
    """``my husband is a lawyer``, ``my phone is a Fairphone``, ``I am not a vegetarian``."""
    found = re.fullmatch(r"(an?|the) (.+)", rest)
    thing = phrases.as_thing(found[2]) if found else None
    if found is None or thing is None:
        return
    subject, verbal = said.subject, said.verbal
    is_plain = _is_role(thing) and (subject.sort != "speaker" or PETS.isdisjoint(thing.split()))
    since = said.is_since
    # What somebody's father was is told for good; what they were themselves, they may be no more.
    was = verbal.tense == "past" and subject.kind in RELATIVES and _ROLE.search(thing) is not None
    is_so = verbal.tense == "present" or (verbal.tense == "perfect" and since) or was
    used = verbal.aim == "used" and is_trade(rest)
    will = verbal.aim == "going" and verbal.sense == "is" and is_trade(rest)
    is_news = is_plain and (is_so or used or will)
    if subject.sort == "owned" and not subject.kind:
        is_news &= any(letter.isupper() or letter.isdigit() for letter in thing)
        yield said.claim(KIND, rest, is_single=True, is_news=is_news and verbal.sense == "is")
        return
    of_children = re.fullmatch(
        r"(?:(?:proud|single|happy|busy) )?(?:mother|father|parent|mum|mom|dad) of (\w+)( \w+)?",
        thing,
    )
    if of_children:
        value = f"{of_children[1]}{of_children[2] or ' children'}"
        yield said.claim(HAS, value, fact_type="identity", is_news=verbal.tense == "present")
        return
    if since and verbal.tense == "perfect" and verbal.sense == "is":
        yield said.claim("is a", thing, text=said.text("is"), fact_type="identity", is_news=is_news)
        return
    is_news &= subject.sort != "named" or _ROLE.search(thing) is not None
    if found[1] == "the":
        return
    few = len(_AT_WORK.sub("", thing).split()) <= _ROLE_WORDS_MAX
    is_news = is_news and few and subject.sort != "thing"
    kind: FactType = "world" if will else "identity"
    attribute = f"{PLAN} to be" if will else "is a"
    yield said.claim(
        attribute, thing, fact_type=kind, is_news=is_news, is_loose=used, is_ahead=will
    )


def is_trade(rest: str) -> bool:
    """Whether words are what somebody may do for a living: ``an apprentice at the mill``."""
    found = re.fullmatch(r"(?:an?|the) (.+)", rest)
    return found is not None and _ROLE.search(_AT_WORK.sub("", found[1])) is not None


_AT_WORK = regex(r" (?:with|at|in|for|on) .{2,60}$")
_ROLE_WORDS_MAX = 4
_NOT_ROLES = frozenset(
    "person people human guy girl boy kid man woman member part owl wreck being beginner newbie "
    "friend parent little mom mum dad team family role model winner hero champ queen king dinosaur "
    "monster beast machine robot legend tyrant dictator bully snake wolf bear lion tiger shark "
    "witch clown rock riot handful nuisance pest ghost zombie vampire millionaire billionaire "
    "potato vegetable sponge of for who that by".split()
)


def _is_role(thing: str) -> bool:
    """Whether words are none of those by which people call each other in fun."""
    role_words = thing.lower().split()
    is_worth = role_words[-1] in TRADES or phrases.is_worth_keeping(thing)
    return is_worth and not _NOT_ROLES & set(role_words)


def _value(said: Said, rest: str) -> Iterator[Claim]:
    """Anything else that a thing is: no news in talk, an attribute where it is meant to be kept."""
    thing = phrases.as_thing(rest)
    if thing is None or said.subject.sort not in {"owned", "thing"}:
        return
    kind = kind_of(said.subject.noun)
    if kind in COMPANIONS | RELATIVES:
        return
    first = thing.split()[0].lower()
    attribute = "colour" if first in _COLOURS else "is"
    is_known = _KNOWN.search(said.subject.head) is not None and said.subject.sort == "owned"
    is_known = is_known and phrases.is_worth_keeping(thing) and said.verbal.sense == "is"
    is_one = said.verbal.phrase in {"is", "was"} and _EXACT.fullmatch(thing) is not None
    is_single = attribute == "colour" or is_one
    yield said.claim(
        attribute, thing, is_single=is_single, is_news=is_known and said.verbal.tense == "present"
    )


_EXACT = regex(r"[\w./:@+\-]*[\dA-Z@_][\w./:@+\-]*")
"""One word that is no common one: ``eu-west-1``, ``v2``, ``OAuth``, ``bo@site.org``. A thing is
one of these."""
_COLOURS = frozenset(
    "black white grey gray red blue green yellow orange purple pink brown beige silver gold".split()
)
