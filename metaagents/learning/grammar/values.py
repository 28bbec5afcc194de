"""What a value may be: a check for each kind that the forms name. Pure.

Each takes the words after a verb and returns the value that they are; ``None`` when they are none.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..plain_speech import NO_ALLERGEN, NO_MEAL, NO_ROLE
from ..regexes import any_case, regex
from . import phrases
from .lexicon import (
    BODY,
    CARERS,
    CIVIL,
    CONDITIONS,
    ILLNESS,
    MARITAL,
    NOT_UNDONE,
    NUMBERS,
    OFFICES,
    PETS,
    SOFTWARE,
    TITLES,
    TOO_YOUNG,
)
from .subjects import kind_of

_DEGREE = (
    r"\b(?:phd|doctorate|master'?s?|bachelor'?s?|degree|diploma|apprenticeship|internship|mba|msc"
    r"|bsc|course|training as|residency|thesis|dissertation|certification|traineeship)\b"
)
_EXAM = (
    r"\b(?:exams?|test|finals|driving test|licen[cs]e|certification|bar|a-levels|viva|audition)\b"
)
_BUSINESS = (
    r"\b(?:shop|store|business|studio|company|bakery|caf\u00e9|cafe|restaurant|firm|practice|agency"
    r"|gallery|start-?up|school|bar|pub|salon|farm|blog|podcast|channel|clinic|garage|hotel|b&b"
    r"|bookshop|workshop|nursery|kennel|charity|newsletter)\b"
)
_BEGUN = rf"{_DEGREE}|{_BUSINESS}|\b(?:school|university|uni|college|job|therapy|chemo|project)\b"
_GROUP = regex(
    r"\b(?:club|choir|band|team|council|society|union|orchestra|league|group|party|gym|class|board"
    r"|committee|association|army|navy|church|crew|squad|troupe|company|course|guild)\b|[A-Z]"
)
_AGE = any_case(r"(\d{1,3}|[a-z]+(?:-[a-z]+)?)(?: years old)?")
_ILLNESS = (
    r"(?:(?:chronic|severe|mild|bad|type \w+|stage \w+|rheumatoid|seasonal|clinical|postnatal|acute"
    r"|bronchial|juvenile|ulcerative|breast|skin|lung|prostate|bowel|thyroid|social|cluster"
    rf"|gestational|early-onset|hereditary) )*{ILLNESS}"
)
_ALLERGY = r"(?:an? )?(?:severe |bad |mild |strong |serious )?([\w\- ]{2,30}) allergy"
_OUTGROWN = r"(?:my|our|his|her|their|the|an?) ([\w\- ]{2,30}?)(?: allergy| intolerance)"
_REMOVED = (
    r"(?:my|an?|the) ([\w\- ]{2,30}) (?:taken out|removed|replaced|operated on|pulled|fixed)|"
    r"my ([\w\- ]{2,30}) out|"
    r"((?:(?:an?|two|three|several) )?(?:[\w\-]+ )?(?:surgery|surgeries|operations?|bypass"
    r"|c-section|caesarean|an operation|\w+ replacements?|\w+ transplant|a stroke"
    r"|a heart attack|a miscarriage))(?: on my [\w ]+)?"
)
_CHANGE = regex(rf"(i?{phrases.NAME}) to (i?{phrases.NAME})(?: .{{1,40}})?")
_PART = regex(
    r"(?:(?:an?|my) (?:ligament|tendon|muscle|meniscus|nerve|bone|cartilage) in )?"
    r"(?:my|our|his|her|their|the) (?:left |right |big |little )?([\w\-]+)"
)
_AGE_MAX = 120
_KNOWN_THE = regex(
    r"the (?:sea|ocean|mountains|beach|countryside|outdoors|cold|heat|rain|snow|theatre|theater"
    r"|cinema|opera|ballet|sun|dark|forest|desert|(?:smell|taste|sound) of .+|[A-Z].+)"
)
_MEDICINE = (
    r"\b(?:insulin|metformin|medication|medicine|antibiotics|antidepressants|blood thinners|statins"
    r"|beta blockers|steroids|painkillers|the pill|tablets|chemo|chemotherapy|dialysis|vitamins?"
    r"|supplements|aspirin|ibuprofen|warfarin|lithium|inhaler|\w+(?:pril|statin|olol|prazole"
    r"|cillin))\b"
)
_LEADING = regex(r"\b(?:head|chief|lead|senior|deputy|vice|managing|executive|general) $")
_FIRM = regex(
    r" |(?:tech|bank|soft|corp|works|labs?|media|group|systems|robotics|foods|energy|press|rail)$"
    r"|[a-z][A-Z]|^[A-Z]{2,}"
)
_NO_ROLE = NO_ROLE | frozenset(
    "person people human guy girl boy kid man woman member part morning owl wreck being beginner "
    "newbie friend parent little huge".split()
)


def _owned(rest: str) -> str | None:
    thing = phrases.as_thing(rest)
    is_thing = thing is not None and phrases.is_owned(thing) and not phrases.PASSING.search(thing)
    is_thing = is_thing and not phrases.PASSED_ON.search(rest)
    return thing if thing and is_thing and phrases.is_worth_keeping(thing) else None


def _firm(rest: str) -> str | None:
    plain = re.sub(r" as an? [\w\- ]+$", "", rest)
    name = phrases.as_place(plain)
    if name is not None:
        return name
    thing = phrases.as_thing(plain)
    return thing if thing and phrases.is_owned(thing) and phrases.is_worth_keeping(thing) else None


def _own_place(rest: str) -> str | None:
    thing = phrases.as_thing(rest)
    is_known = thing is not None and re.match(r"(?:the|a|an) .*[A-Z]", thing)
    return thing if is_known else None


def _role(rest: str) -> str | None:
    found = re.fullmatch(
        r"(?:an? )([a-z][\w\-]*(?: [a-z][\w\-]*){0,3}?)(?: (?:at|for|in|with) .+)?", rest
    )
    if found is None or _NO_ROLE & set(found[1].split()):
        return None
    return found[1] if phrases.as_thing(found[1]) and phrases.is_worth_keeping(found[1]) else None


def worth(rest: str) -> str | None:
    """Return a thing that is worth keeping."""
    thing = phrases.as_thing(rest)
    return thing if thing and phrases.is_worth_keeping(thing) else None


def _liked(rest: str) -> str | None:
    thing = worth(
        re.sub(r" (?:too|as well|very much|so much|a lot|a bit|the most|(?:the )?best)$", "", rest)
    )
    if thing is None or thing.split()[0].lower() in {"a", "an", "to", "how", "in", "hearing"}:
        return None
    return thing if not thing.lower().startswith("the ") or _KNOWN_THE.fullmatch(thing) else None


def _stance(rest: str) -> str | None:
    """Return what somebody is for or against; no team, which they only play against."""
    return None if rest[:1].isupper() else _liked(rest)


def _language(rest: str) -> str | None:
    plain = re.sub(r" (?:at home|at school|fluently|well|at work|natively|with .{2,40})$", "", rest)
    names = re.split(
        r",? and (?:an? (?:bit|little) (?:of )?|some )?|, ",
        re.sub(r"^(?:fluent|some|a little|a bit of|both) ", "", plain),
    )
    is_known = all(re.fullmatch(r"[A-Z]\w+|(?:[A-Z]\w+ )?sign language", one) for one in names)
    return rest if is_known else None


def _body(rest: str) -> str | None:
    found = _PART.fullmatch(rest)
    return rest if found and found[1].lower() in BODY else None


def _theirs(rest: str) -> str | None:
    found = re.fullmatch(r"(?:my|our|the|an?|his|her|their) (.+)", rest)
    thing = phrases.as_thing(found[1]) if found else None
    is_thing = thing is not None and not phrases.PASSING.search(thing)
    return thing if thing and is_thing and phrases.is_worth_keeping(thing) else None


def _group(rest: str) -> str | None:
    thing = phrases.as_thing(rest)
    is_group = thing is not None and re.match(r"(?:the|a|an|[A-Z])", thing) and _GROUP.search(thing)
    return thing if is_group else None


def _left(rest: str) -> str | None:
    return _group(rest) or phrases.as_place(rest)


def _carer(rest: str) -> str | None:
    found = re.fullmatch(
        rf"((?:an? |my )?[\w.]+)((?: called| named)? {phrases.NAME})?((?: (?:for"
        rf"|about) [\w\- ]{{2,30}})?)",
        rest,
    )
    if found is None:
        return None
    first = found[1].split()[-1].lower()
    if first.rstrip(".") in {one.rstrip(".") for one in TITLES} and found[2]:
        return f"{found[1]}{found[2]}"
    is_carer = first in CARERS and (found[2] or found[1].startswith("a"))
    return f"{found[1]}{found[2] or ''}" if is_carer else None


def matching(pattern: str, flags: int = 0) -> Callable[[str], str | None]:
    """Return a check for a thing that has one of the words of a pattern."""
    sought = regex(pattern, flags)

    def check(rest: str) -> str | None:
        thing = phrases.as_thing(rest) or _theirs(rest)
        return thing if thing and sought.search(thing) else None

    return check


def part_of(pattern: str, flags: int = 0) -> Callable[[str], str | None]:
    """Return a check for what a pattern wholly matches: its first group, or all of it."""
    whole = regex(pattern, flags)

    def check(rest: str) -> str | None:
        found = whole.fullmatch(rest)
        return (
            None if found is None else next((one for one in found.groups() if one), found.group())
        )

    return check


_removed = part_of(_REMOVED)


def _diet(rest: str) -> str | None:
    plain = re.sub(r"(?<=vegan)s$|(?<=vegetarian)s$", "", rest.lower())
    plain = re.sub(r"^[\w\-]+ (?:weeks|months) (?=pregnant$)", "", plain)
    plain = re.sub(r"^(?:strictly |a strict |an? )", "", plain).replace(" ", "-")
    is_intolerant = re.fullmatch(r"(?:lactose|gluten|fructose|histamine)-intolerant", plain)
    return rest if plain in CONDITIONS or is_intolerant or plain == "wheelchair-user" else None


def _meal(rest: str) -> str | None:
    thing = worth(rest)
    return None if thing is None or NO_MEAL & set(thing.lower().split()) else thing


def _allergen(rest: str) -> str | None:
    return phrases.as_thing(rest, NO_ALLERGEN)


def _age(rest: str) -> str | None:
    found = _AGE.fullmatch(rest)
    years = found[1] if found else ""
    is_number = bool(phrases.as_quantity(years)) and not (years.isdigit() and int(years) > _AGE_MAX)
    return rest if is_number and rest.endswith(" years old") else None


def _doing(rest: str) -> str | None:
    return worth(rest) if phrases.is_doing(rest) else None


def _sport(rest: str) -> str | None:
    thing = worth(rest)
    return thing if thing and len(thing.split()) <= 3 and "with" not in thing.split() else None  # noqa: PLR2004


def _years(rest: str) -> str | None:
    plain = rest.removesuffix(" years old")
    is_digits = plain.isdigit() and int(plain) <= _AGE_MAX
    is_number = is_digits or set(plain.lower().split("-")) <= NUMBERS
    return rest if is_number and len(plain.split()) == 1 else None


def _undone(rest: str) -> str | None:
    """Return what somebody does not do as a rule: several of it, and no time."""
    thing = worth(rest)
    is_several = thing is not None and re.fullmatch(r"(?:[a-z\-]+ ){0,2}[a-z]+[^s\W]s", thing)
    is_time = thing is None or phrases.TIME.search(thing) is not None
    is_meant = thing is None or NOT_UNDONE.isdisjoint(thing.lower().split())
    return thing if is_several and is_meant and not is_time else None


def _kin(rest: str) -> str | None:
    found = re.fullmatch(r"my ([\w\- ]{2,24}?)( [A-Z][\w\-]+)?", rest)
    if rest in {"me", "us"}:
        return rest
    return rest if found and kind_of(found[1]) else None


def _office(rest: str) -> str | None:
    found = re.fullmatch(r"(?:the )?([a-z\- ]{0,20}?)([a-z]+) (?:of|at|for|in) (.+)", rest)
    is_office = found is not None and (found[2] in OFFICES or _LEADING.search(found[1]) is not None)
    return rest.removeprefix("the ") if is_office and phrases.as_thing(rest) else None


def _kept(rest: str) -> str | None:
    animals = re.sub(r" (?:in|on|at) (?:the|our|my|a) [\w ]{2,30}$", "", rest)
    return _owned(rest) or (rest if kind_of(animals) in PETS and " " not in animals else None)


def _civil(rest: str) -> str | None:
    plain = re.sub(r"^an? ", "", rest.lower())
    return rest if plain in CIVIL else None


def _fond(rest: str) -> str | None:
    thing = worth(rest)
    return None if thing is None or thing.split()[0].lower() in {"the", "a", "an", "how"} else thing


def _lover(rest: str) -> str | None:
    found = re.fullmatch(
        rf"(?:(?:a|an|some(?:one|body))(?: [\w ]{{2,24}})? (?:called|named) )?({phrases.NAME})",
        rest,
    )
    return phrases.as_name(found[1]) if found else None


def _change(rest: str) -> str | None:
    return rest if _CHANGE.fullmatch(rest) else None


KINDS: dict[str, Callable[[str], str | None]] = {
    "place": phrases.as_place,
    "name": lambda rest: phrases.as_name(rest) or (rest if rest in SOFTWARE else None),
    "own-place": _own_place,
    "upbringing": matching(
        r"^(?:an? )?(?:[\w-]+ ){0,2}(?:farm|ranch|village|town|city|island|suburb|suburbs|orphanage"
        r"|houseboat|council estate|countryside|foster care|household|family)"
        r"(?: (?:in|near|outside|on|of) [\w .'-]{2,40})?$",
        re.IGNORECASE,
    ),
    "floor": matching(r"^the (?:[\w-]+ )?floor(?: (?:of|in|with|without) [\w .'-]{2,40})?$"),
    "beside-place": part_of(rf"((?:near|outside|close to|by) {phrases.NAME})"),
    "firm": _firm,
    "role": _role,
    "thing": worth,
    "subject": worth,
    "habit": matching(r"\b(?:sugar|meat|alcohol|coffee|cigarettes|caffeine|gluten)\b"),
    "hobby": worth,
    "sport": _sport,
    "owned": _owned,
    "theirs": _theirs,
    "illness": part_of(_ILLNESS, re.IGNORECASE),
    "allergy": part_of(_ALLERGY),
    "outgrown": part_of(_OUTGROWN),
    "removed": _removed,
    "body-removed": lambda rest: (
        _removed(rest) if BODY & set(rest.replace("teeth", "tooth").split()) else None
    ),
    "body": _body,
    "allergen": _allergen,
    "diet": _diet,
    "age": _age,
    "from-to": part_of(rf"{phrases.NAME} to ({phrases.NAME})"),
    "wheelchair": part_of(r"(a wheelchair)"),
    "act": lambda rest: (
        phrases.as_thing(rest)
        or phrases.as_thing(re.sub(r"^be | (?:at|in|on|to|by) (?:the )?", " ", rest).strip())
    ),
    "near-place": lambda rest: phrases.as_place(
        re.sub(r"^(?:just )?(?:in|near|outside|(?:north|south|east|west) of|close to) ", "", rest)
    ),
    "home-in": part_of(
        r"(an? (?:[a-z\-]+ ){0,2}(?:place|flat|house|apartment|home|room|cottage|cabin|studio)"
        rf"(?: of my own| together)? in {phrases.NAME})"
    ),
    "trade": matching(
        r"^(?:the )?(?:[a-z]+ )?(?:books|payroll|accounts|accounting|bookkeeping|consulting"
        r"|translations?|marketing|research|sales|design|admin|catering|cleaning|gardening"
        r"|childcare|logistics|security|maintenance|customer service|data entry|tech support)\b"
        r"(?: work)? (?:for|at|in) "
    ),
    "leaning": part_of(
        r"(an? (?:(?:real|total|bit of a) )?(?:(?:morning|night|evening|dog|cat|tea|coffee|beach"
        r"|city|country|mountain|sea|winter|summer|outdoors) person|night owl|early (?:bird"
        r"|riser)|(?:light|heavy) sleeper|(?:picky|fussy) eater|nervous flyer))"
    ),
    "own-age": lambda rest: rest if _years(rest) and rest.lower() not in TOO_YOUNG else None,
    "home-days": part_of(r"(home(?: (?:on|every|most|\w+ days?|\w+ times?) [\w, ]{3,40})?)"),
    "rank": part_of(
        r"((?:an? |the )?(?:[a-z]+ ){0,2}(?:lead|leader|head|manager|partner|director|captain"
        r"|chair|editor|supervisor|coordinator)(?: of [\w\- ]{2,30})?)"
    ),
    "papers": matching(
        r"\b(?:passport|licen[cs]e|citizenship|nationality|visa|residence permit)$"
        r"|^(?:(?:red|blonde?|brown|black|gr[ae]y|curly|long|short|dark) ){1,3}hair\b"
        r"|^(?:(?:blue|green|brown|gr[ae]y|hazel|dark) ){1,2}eyes\b"
    ),
    "carried": matching(
        r"^(?:an? |my )?(?:\w+ )?(?:epipen|epi-pen|inhaler|insulin pump|cane|walking stick"
        r"|crutches|wheelchair|screen reader|hearing aids?)\b",
        re.IGNORECASE,
    ),
    "undergone": part_of(r"(being [a-z]+(?:ed|en|n|t)\b.{0,40})"),
    "given": part_of(r"(?:my|our) ([\w ]{2,24}) to .{2,40}"),
    "home": matching(r"^(?:a|an) (?:flat|house|apartment|room|home)\b"),
    "firm-name": lambda rest: phrases.as_place(rest) if _FIRM.search(rest) else None,
    "helper": part_of(rf"(an? (?:new |good )?(?:{'|'.join(sorted(CARERS))}))"),
    "skill": part_of(
        r"(the [a-z]+|to (?:cook|play|speak|paint|skate|surf|juggle|drive|swim|sail|fly|dance"
        r"|knit|ski|code|sew|ride)\b.*)"
    ),
    "tongue": part_of(
        r"([A-Z][a-z]*(?:ish|ese|ian|ean|ench|utch|erman|reek|atin|abic|indi|rdu|arin|ech|ai))"
    ),
    "post": part_of(rf"the ({'|'.join(sorted(OFFICES))})"),
    "age-number": _years,
    "kin": _kin,
    "undone": _undone,
    "shift": matching(
        r"\b(?:shifts?|part[- ]time|full[- ]time|nights|weekends|freelance|remotely)\b"
        r"|^days(?: (?:at|in|for)\b|$)"
    ),
    "office": _office,
    "dated-occasion": matching(
        r"\b(?:appointment|interview|exam|surgery|operation|scan|check-?up|audition|hearing|viewing"
        r"|rehearsal|recital|blood test|mri|(?:meeting|call) with)\b"
    ),
    "kept": _kept,
    "put-down": part_of(
        rf"(?:my|our) (?:(?:old|poor|beloved|dear|elderly|sick) )*((?:{'|'.join(sorted(PETS))})"
        r"(?: [A-Z]\w+)?) (?:down|to sleep)"
    ),
    "tickets": matching(r"^(?:\w+ )?tickets? (?:for|to) "),
    "booked": matching(
        r"\b(?:trip|flights?|holiday|hotel|room|table|tickets?|cruise|cottage|tour|train|cabin"
        r"|chalet|villa|apartment|flat|campsite|hostel|ferry|venue|seats?|session|lessons?"
        r"|appointment|sleeper|photographer|hall)\b"
    ),
    "medicine": matching(_MEDICINE),
    "ear": part_of(r"((?:my|one|his|her|both) (?:left |right )?(?:ears?|eyes?))"),
    "worn": matching(
        r"\b(?:hearing aids?|glasses|contact lenses|contacts|braces|wig|pacemaker|prosthesis)\b"
    ),
    "infection": matching(
        r"^(?:the |a |an )?(?:\w+ )?(?:flu|covid|cold|measles|pneumonia|bronchitis"
        r"|chickenpox|malaria|infection|virus)$",
        re.IGNORECASE,
    ),
    "civil": _civil,
    "marital": lambda rest: rest.lower() if rest.lower() in MARITAL else None,
    "fond": _fond,
    "taken": part_of(
        r"(my (?:coffee|tea|eggs|steak|curry|chocolate|food|pizza|toast) [a-z][\w ]{2,24})"
    ),
    "languages": part_of(r"((?:two|three|four|five|six|\d) languages)"),
    "bilingual": part_of(r"((?:bilingual(?:ly)?|speaking \w+|with two languages).*)"),
    "year": part_of(
        r"((?:first|second|third|fourth|fifth|sixth|final|last) year (?:of|at|as|in) .+"
        r"|\w+ (?:grade|form)|(?:year|grade|class) \w+)"
    ),
    "school": matching(
        r"\b(?:school|university|college|kindergarten|preschool|nursery|elementary|academy"
        r"|uni|conservatory)\b",
        re.IGNORECASE,
    ),
    "lover": _lover,
    "commute": matching(
        r"^(?:work|school|the office|university|college|town|the (?:train )?station"
        r"|the university)$"
    ),
    "child": matching(
        r"\b(?:child|baby|twins|boy|girl|daughter|son|grandchild)\b"
        r"|^(?:first|second|third|fourth)(?: one)?$"
    ),
    "carer": _carer,
    "liked": _liked,
    "stance": _stance,
    "meal": _meal,
    "language": _language,
    "degree": matching(_DEGREE, re.IGNORECASE),
    "class": matching(r"\b(?:class|classes|lessons|course|medication|tablets|insulin|pills)\b"),
    "exam": matching(_EXAM, re.IGNORECASE),
    "begun": matching(_BEGUN),
    "business": matching(_BUSINESS, re.IGNORECASE),
    "group": _group,
    "membership": matching(
        r"\b(?:club|choir|band|council|society|union|orchestra|league|gym|board|committee"
        r"|association|church|guild|squad)$"
    ),
    "contract": matching(r"\b(?:subscription|membership|policy|insurance|contract)\b"),
    "home-let": matching(
        r"^(?:flat|house|apartment|studio|office|allotment)(?: (?:in|on|at|near) .+)?$"
    ),
    "left": _left,
    "doing": _doing,
    "change": _change,
    "nothing": lambda rest: "" if not rest else None,
}


def changed(rest: str) -> tuple[str, str] | None:
    """Return from what to what somebody changed, by name."""
    found = _CHANGE.fullmatch(rest.removeprefix("from "))
    return (found[1], found[2]) if found else None
