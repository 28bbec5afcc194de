"""Ways to state something of a subject: a verb, the words after it, and what they mean. Data, pure.

A frame is a line: verb, words before the value, what the value is, attribute, traits. Traits:
``state`` holds while it is said, ``begin`` begins a state, ``event`` happened, ``end`` ends what
has the value, ``one`` has one value at a time, ``not`` says the opposite of its attribute, ``quiet``
is no news in talk, ``dated`` counts in talk only with a time; else the kind of fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from tiers.lexical import words
from tiers.records import FactType

from ..plain_speech import NO_ALLERGEN, NO_MEAL, NO_ROLE
from . import phrases
from .lexicon import BODY, CARERS, ILLNESS, OFFICES, PETS, PLURALS, TITLES
from .subjects import kind_of
from .verbs import Verbal

_TABLE = """
live | in | place | lives in | state one identity
stay | in | place | stays in | state ongoing
live | with | kin | lives with | state identity
live | in/at/on/with/near | own-place | lives in | state one identity
reside | in | place | lives in | state one identity
be | based in/living in | place | lives in | state one identity
relocate | from | from-to | lives in | begin one identity
emigrate | to | place | lives in | begin one identity
move | from | from-to | lives in | begin one identity
settle | in/down in | place | lives in | begin one identity
move | to/back to/over to | place | lives in | begin one identity
move | to/back to/into | own-place | lives in | begin one identity quiet
relocate | to/back to | place | lives in | begin one identity
be | from/originally from | place | is from | state one identity
come | from/originally from | place | is from | state one identity
grow | up in | place | grew up in | event identity
grow | up speaking | language | speaks | event identity
be | born in/born and raised in | place | was born in | event identity
be | born/born on/born in |  nothing | was born | event identity
work | at/for/with | firm | works at | state one identity
be | employed at/employed by/working at/working for/on the staff of | firm | works at | state one identity
be | with | name | works at | since state one identity
quit | my job at/my job with | firm | left | end identity
leave | my job at/my job with | firm | left | end identity
quit | | my-job | quit | event identity
be | hired by/taken on by | firm | works at | begin one identity
work | as | role | works as | state one identity
be | working as/employed as | role | works as | state one identity
work | | shift | works | state identity
work | in | subject | works in | state identity
work | from | thing | works from | state quiet
start | a new job at/a job at/a new job with/working at/working for/work at/at/with | firm | works at | begin one identity
begin | a new job at/working at/working for | firm | works at | begin one identity
start | a new job as/working as/work as/as | role | works as | begin one identity
get | a job at/a new job at | firm | works at | begin one identity
get | a job as/a new job as | role | works as | begin one identity
get | promoted to | thing | position | begin one identity
be | promoted to/appointed/elected | thing | position | begin one identity
become | | role | is a | begin identity
be | made redundant/laid off/fired/sacked/let go/dismissed | nothing | lost job | event identity
get | made redundant/laid off/fired/sacked | nothing | lost job | event identity
be | | office | is a | state identity
retire | from | thing | retired from | event identity
retire | | nothing | retired | event identity
resign | from | thing | left | end identity
leave | | left | left | end identity dated
quit | | left | left | end identity
quit | | doing | quit | event
stop | | doing | quit | event
give | up | doing | quit | event
give | up | habit | quit | event
have | | child | has | event identity
have | | removed | had | event identity
have | | dated-occasion | plans | state dated
have | | meal | eats | state constraint cannot
have | | allergy | is allergic to | state constraint
have | | illness | has | state identity
have | | owned | has | state
own | | owned | has | state
keep | | kept | has | state
get | | exam | passed | event
get | | degree | finished | event identity
get | | owned | has | begin
buy | | tickets | has | begin
buy | | owned | has | begin
book | | booked | booked | event
plan | | booked | plans | event ongoing
purchase | | owned | has | begin
adopt | | owned | has | begin
rescue | | owned | has | begin
drive | | owned | drives | state
ride | | owned | rides | state
rent | | owned | rents | state
collect | | hobby | collects | state preference
inherit | | owned | has | begin
build | | owned | built | event dated
get | rid of | theirs | has | end
give | | given | has | end
trade | in | theirs | has | end
give | away | theirs | has | end
throw | away/out | theirs | has | end
put | | put-down | died | event
put | down | theirs | died | event
be | stolen/wrecked/totalled/destroyed | nothing | lost | event
sell | | theirs | has | end
donate | | theirs | has | end
lose | | theirs | lost | event dated
break | | body | broke | event identity
sprain | | body | broke | event identity
fracture | | body | broke | event identity
dislocate | | body | broke | event identity
tear | | body | broke | event identity
pull | | body | broke | event identity
injure | | body | broke | event identity
strain | | body | broke | event identity
twist | | body | broke | event identity
be | diagnosed with | thing | has | begin identity
be | in | wheelchair | is | state identity
have | | worn | wears | state
be | on | medicine | takes | state
recover | from | thing | recovering from | state
be | deaf in/blind in | ear | is | state identity
be | scared of/afraid of/terrified of/frightened of | liked | is afraid of | state preference
wear | | worn | wears | state
take | | medicine | takes | state
catch | | infection | had | event
get | | infection | had | event
have | | infection | had | event
react | badly to/to | allergen | is allergic to | state constraint
break | out in hives from/out in a rash from | allergen | is allergic to | state constraint
suffer | from | thing | has | state identity
be | allergic to/intolerant to/intolerant of/sensitive to/hypersensitive to | allergen | is allergic to | state constraint
be | | diet | is | state constraint
be | | marital | state single | state one identity
be | | civil | is | state identity
be | | age | age | state one identity
turn | | age-number | age | event one identity
outgrow | | outgrown | is allergic to | end
be | treated by/being treated by/a patient of | carer | sees | state identity
go | to | carer | sees | state identity
switch | to | carer | sees | begin identity
change | to | carer | sees | begin identity
see | | carer | sees | state identity
be | a fan of/a big fan of/a huge fan of/a great fan of/fond of/very fond of/keen on/very keen on/into/crazy about/mad about/passionate about/partial to/obsessed with/addicted to | fond | likes | state preference
detest | | liked | likes | state preference not
loathe | | liked | likes | state preference not
despise | | liked | likes | state preference not
like | | taken | likes | state preference
prefer | to | act | prefers | state preference
prefer | | thing | prefers | state preference
like | | liked | likes | state preference
love | | liked | likes | state preference
enjoy | | liked | likes | state preference
adore | | liked | likes | state preference
hate | | liked | likes | state preference not
dislike | | liked | likes | state preference not
care | for | liked | likes | state preference denied
stand | | liked | likes | state preference cannot
bear | | liked | likes | state preference cannot
eat | | meal | eats | state constraint denied
drink | | meal | drinks | state constraint denied
tolerate | | meal | tolerates | state constraint denied
smoke | | nothing | smokes | state constraint denied
drink | | nothing | drinks | state constraint denied
fly | | nothing | flies | state constraint denied
drive | | nothing | drives | state constraint denied
speak | | language | speaks | state identity
be | bilingual in/a native speaker of | language | speaks | state identity
know | some/a little/a bit of | language | speaks | state identity
read | | language | reads | state identity
talk | | language | speaks | state identity
learn | | language | is learning | event ongoing
teach | myself | language | speaks | event identity
be | fluent in | language | speaks | state identity
understand | a bit of/a little/some | language | understands | state identity
speak | | languages | speaks | state identity
be | raised/brought up | bilingual | speaks | event identity
grow | up | bilingual | speaks | event identity
study | | subject | studied | event ongoing identity
study | at/in | place | studied at | event identity
graduate | from/in/with | subject | graduated from | event identity
do | | degree | is doing | event ongoing identity
be | in my | year | is in | state identity
train | to be/to become/as | role | trains as | event ongoing identity
be | enrolled in/enrolled at | thing | studies | state identity
sign | up for | thing | signed up for | event
hold | | degree | has | state identity
write | | degree | is writing | event ongoing
take | | exam | took | event
leave | | school | left school | event identity
get | into | school | goes to | begin identity
start | at | school | goes to | begin identity
drop | out of | begun | left | event identity
go | to | school | goes to | state identity
go | to school in/to university in/to college in | place | went to school in | event identity
attend | | school | goes to | state identity
take | | class | takes | state ongoing
pass | | exam | passed | event
fail | | exam | failed | event
finish | | degree | finished | event identity
complete | | degree | finished | event identity
start | | begun | started | event dated
start | | doing | started | event dated
begin | | doing | started | event dated
take | up | hobby | took up | event
join | | owned | joined | begin dated
join | | group | joined | begin
be | to | place | visited | event
be | a member of/on/in the | group | member of | state quiet
be | a member of | thing | member of | state
be | married to | name | married to | state one identity
be | engaged to | name | engaged to | state one identity
date | | lover | partner | state ongoing identity
be | in a relationship with/together with | lover | partner | state one identity
marry | | name | married to | begin one identity
get | married to | name | married to | begin one identity
get | engaged to | name | engaged to | begin one identity
be | together | nothing | is | since state identity
get | married/divorced/engaged | nothing | marital status | event identity
break | up with | name | relation | end identity
split | up with/from | name | relation | end identity
split | up | nothing | relation | end identity
break | up | nothing | relation | end identity
separate | | nothing | relation | end identity
divorce | | name | relation | end identity
die | | nothing | died | event
pass | away | nothing | died | event
play | | sport | plays | state
play | for/in | group | plays for | state
sing | in | group | sings in | state
volunteer | at/for/as | firm | volunteers at | state
teach | | subject | teaches | state identity
share | | home | shares | state
share | | thing | shares | state quiet
commute | by/to/on | thing | commutes | state
cycle | to | commute | commutes | state
walk | to | commute | commutes | state
bike | to | commute | commutes | state
drive | to | commute | commutes | state
give | birth to | thing | has | event identity
expect | | child | expects | state ongoing
visit | | place | visited | event dated
travel | to | place | visited | event dated
fly | to | place | visited | event dated
go | to | place | visited | event dated
open | | business | opened | event
launch | | business | opened | event
found | | business | opened | event
run | | business | runs | state identity
host | | owned | hosts | state
switch | from | change | changed | change
change | from | change | changed | change
"""

_LED = frozenset("lead head manage chair captain coach run".split())
PLANNED = frozenset(
    "start begin move relocate fly travel visit go marry buy study open run attend join get sell "
    "leave retire adopt see quit come turn finish arrive learn build launch rent take drive enrol enroll".split()
)
"""What is told of as a plan; much else that people are going to do is a manner of speaking."""
OFTEN = re.compile(
    r"\b(?:daily|weekly|nightly|before bed|before work|after work)\b|\b(?:every|each) (?:other )?(?:day|night|week|weekend|month|year|morning|evening|afternoon"
    r"|summer|winter|spring|autumn|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b"
    r"|\b(?:once|twice|(?:a )?\w+ times|\w+ \w+) (?:an?|per) (?:day|week|month|year)\b"
    r"|\bon (?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\bin the (?:mornings|evenings)\b",
    re.IGNORECASE,
)
_DEGREE = re.compile(
    r"\b(?:phd|doctorate|master'?s?|bachelor'?s?|degree|diploma|apprenticeship|internship|mba|msc"
    r"|bsc|course|residency|thesis|dissertation|certification|traineeship)\b",
    re.IGNORECASE,
)
_EXAM = re.compile(
    r"\b(?:exams?|test|finals|driving test|licen[cs]e|certification|bar|a-levels|viva|audition)\b",
    re.IGNORECASE,
)
_BUSINESS = re.compile(
    r"\b(?:shop|store|business|studio|company|bakery|caf\u00e9|cafe|restaurant|firm|practice|agency"
    r"|gallery|start-?up|school|bar|pub|salon|farm|blog|podcast|channel|clinic|garage|hotel|b&b"
    r"|bookshop|workshop|nursery|kennel|charity|newsletter)\b",
    re.IGNORECASE,
)
_GROUP = re.compile(
    r"\b(?:club|choir|band|team|council|society|union|orchestra|league|group|party|gym|class|board"
    r"|committee|association|army|navy|church|crew|squad|troupe|company|course|guild)\b|[A-Z]",
)
_DIET = frozenset(
    "sober vegan vegetarian pescatarian coeliac celiac diabetic teetotal left-handed right-handed "
    "colour-blind color-blind colourblind colorblind dyslexic autistic epileptic asthmatic "
    "short-sighted deaf blind pregnant widowed retired unemployed".split()
)
_AGE = re.compile(r"(\d{1,3}|[a-z]+(?:-[a-z]+)?)(?: years old)?", re.IGNORECASE)
_ILLNESS = re.compile(rf"(?:(?:chronic|severe|mild|bad|type \w+|stage \w+) )*{ILLNESS}", re.IGNORECASE)
_FAMILY = frozenset("kids children pets siblings twins triplets grandchildren".split())
_NONE = re.compile(r"^(?:any|no) (?=[a-z])")
_ALLERGY = re.compile(r"(?:an? )?(?:severe |bad |mild |strong |serious )?([\w\- ]{2,30}) allergy")
_OUTGROWN = re.compile(r"(?:my|our|his|her|their|the|an?) ([\w\- ]{2,30}?)(?: allergy| intolerance)")
_REMOVED = re.compile(
    r"(?:my|an?|the) ([\w\- ]{2,30}) (?:taken out|out|removed|replaced|operated on|pulled|fixed)|"
    r"((?:[\w\-]+ )?(?:surgery|an operation|\w+ replacement|\w+ transplant|a stroke|a heart attack|a miscarriage))(?: on my [\w ]+)?"
)
_CHANGE = re.compile(rf"({phrases.NAME}) to ({phrases.NAME})(?: .{{1,40}})?")
_PART = re.compile(
    r"(?:(?:an?|my) (?:ligament|tendon|muscle|meniscus|nerve|bone|cartilage) in )?"
    r"(?:my|our|his|her|their|the) (?:left |right |big |little )?([\w\-]+)"
)
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty "
    "ninety".split()
)
_KNOWN_THE = re.compile(
    r"the (?:sea|ocean|mountains|beach|countryside|outdoors|cold|heat|rain|snow|theatre|theater|cinema"
    r"|opera|ballet|sun|dark|forest|desert|(?:smell|taste|sound) of .+|[A-Z].+)"
)
_MARITAL = frozenset("single married divorced widowed engaged separated".split())
_CIVIL = frozenset("self-employed unemployed bilingual".split()) | {
    "only child"
}
_MEDICINE = re.compile(
    r"\b(?:insulin|metformin|medication|medicine|antibiotics|antidepressants|blood thinners|statins"
    r"|beta blockers|steroids|painkillers|the pill|tablets|chemo|chemotherapy|dialysis|vitamins?"
    r"|supplements|aspirin|ibuprofen|warfarin|lithium|inhaler|\w+(?:pril|statin|olol|prazole|cillin))\b"
)
_NO_ROLE = NO_ROLE | frozenset(
    "person people human guy girl boy kid man woman member part morning owl wreck human being "
    "beginner newbie friend parent little huge".split()
)
_TRAITS = frozenset(
    "state begin event end one not cannot denied quiet dated since change ongoing".split()
)


@dataclass(frozen=True)
class Frame:
    """A way to state something.

    Attributes:
        before: What may stand between the verb and the value, the longest first.
        kind: What the value is, by the name of its check.
        attribute: What is said, in one form for all frames that say it.
        traits: How: see the module.
    """

    before: tuple[str, ...]
    kind: str
    attribute: str
    traits: frozenset[str]
    fact_type: FactType

    def has(self, trait: str) -> bool:
        """Whether the frame has a trait."""
        return trait in self.traits


@dataclass(frozen=True)
class Filled:
    """A frame with what stands in it: the words before the value, and the value."""

    frame: Frame
    before: str
    value: str


def _owned(rest: str) -> str | None:
    thing = phrases.as_thing(rest)
    return thing if thing and phrases.is_owned(thing) and phrases.is_worth_keeping(thing) else None


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
    found = re.fullmatch(r"(?:an? )([a-z][\w\-]*(?: [a-z][\w\-]*){0,3}?)(?: (?:at|for|in|with) .+)?", rest)
    if found is None or _NO_ROLE & set(found[1].split()):
        return None
    return found[1] if phrases.as_thing(found[1]) and phrases.is_worth_keeping(found[1]) else None


def _worth(rest: str) -> str | None:
    thing = phrases.as_thing(rest)
    return thing if thing and phrases.is_worth_keeping(thing) else None


def _liked(rest: str) -> str | None:
    thing = _worth(re.sub(r" (?:too|as well|very much|so much|a lot|a bit|the most)$", "", rest))
    if thing is None or thing.split()[0].lower() in {"a", "an", "to", "how", "in", "hearing"}:
        return None
    return thing if not thing.lower().startswith("the ") or _KNOWN_THE.fullmatch(thing) else None


def _language(rest: str) -> str | None:
    plain = re.sub(r" (?:at home|at school|fluently|well|at work|natively|with .{2,40})$", "", rest)
    names = re.split(r",? and |, ", re.sub(r"^(?:fluent|some|a little|a bit of|both) ", "", plain))
    return rest if all(re.fullmatch(r"[A-Z]\w+", one) for one in names) else None


def _body(rest: str) -> str | None:
    found = _PART.fullmatch(rest)
    return rest if found and found[1].lower() in BODY else None


def _theirs(rest: str) -> str | None:
    found = re.fullmatch(r"(?:my|our|the|an?|his|her|their) (.+)", rest)
    thing = phrases.as_thing(found[1]) if found else None
    return thing if thing and phrases.is_worth_keeping(thing) else None


def _group(rest: str) -> str | None:
    thing = phrases.as_thing(rest)
    is_group = thing is not None and re.match(r"(?:the|a|an|[A-Z])", thing) and _GROUP.search(thing)
    return thing if is_group else None


def _left(rest: str) -> str | None:
    return _group(rest) or phrases.as_place(rest)


def _carer(rest: str) -> str | None:
    found = re.fullmatch(rf"((?:an? |my )?[\w.]+)((?: called| named)? {phrases.NAME})?((?: (?:for|about) [\w\- ]{{2,30}})?)", rest)
    if found is None:
        return None
    first = found[1].split()[-1].lower()
    if first.rstrip(".") in {one.rstrip(".") for one in TITLES} and found[2]:
        return f"{found[1]}{found[2]}"
    is_carer = first in CARERS and (found[2] or found[1].startswith("a"))
    return f"{found[1]}{found[2] or ''}" if is_carer else None


def _matching(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
    """Return a check for a thing that has one of the words of a pattern."""

    def check(rest: str) -> str | None:
        thing = phrases.as_thing(rest) or _theirs(rest)
        return thing if thing and pattern.search(thing) else None

    return check


def _part_of(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
    """Return a check for what a pattern wholly matches: its first group, or all of it."""

    def check(rest: str) -> str | None:
        found = pattern.fullmatch(rest)
        return None if found is None else next((one for one in found.groups() if one), found.group())

    return check


def _diet(rest: str) -> str | None:
    plain = re.sub(r"^(?:strictly |a strict |an? )", "", rest.lower()).replace(" ", "-")
    is_intolerant = re.fullmatch(r"(?:lactose|gluten|fructose|histamine)-intolerant", plain)
    return rest if plain in _DIET or is_intolerant or plain == "wheelchair-user" else None


def _meal(rest: str) -> str | None:
    thing = _worth(rest)
    return None if thing is None or NO_MEAL & set(thing.lower().split()) else thing


def _allergen(rest: str) -> str | None:
    thing = phrases.as_thing(rest, NO_ALLERGEN | {"mondays"})
    return None if thing is None else thing


def _age(rest: str) -> str | None:
    found = _AGE.fullmatch(rest)
    is_number = found is not None and bool(phrases.as_quantity(found[1]))
    return rest if is_number and rest.endswith(" years old") else None


def _doing(rest: str) -> str | None:
    return _worth(rest) if phrases.is_doing(rest) else None


def _sport(rest: str) -> str | None:
    thing = _worth(rest)
    return thing if thing and len(thing.split()) <= 3 and "with" not in thing.split() else None  # noqa: PLR2004


def _years(rest: str) -> str | None:
    plain = rest.removesuffix(" years old")
    is_number = plain.isdigit() or plain.lower() in _NUMBERS
    return rest if is_number and len(plain.split()) == 1 else None


def _kin(rest: str) -> str | None:
    found = re.fullmatch(r"my ([\w\- ]{2,24}?)( [A-Z][\w\-]+)?", rest)
    return rest if found and kind_of(found[1]) else None


def _office(rest: str) -> str | None:
    found = re.fullmatch(r"(?:the )?([a-z\- ]{0,20}?)([a-z]+) (?:of|at|for|in) (.+)", rest)
    is_office = found is not None and found[2] in OFFICES
    return rest.removeprefix("the ") if is_office and phrases.as_thing(rest) else None


def _kept(rest: str) -> str | None:
    return _owned(rest) or (rest if kind_of(rest) in PETS and " " not in rest else None)


def _civil(rest: str) -> str | None:
    plain = re.sub(r"^an? ", "", rest.lower())
    return rest if plain in _CIVIL else None


def _fond(rest: str) -> str | None:
    thing = _worth(rest)
    return None if thing is None or thing.split()[0].lower() in {"the", "a", "an", "how"} else thing


def _lover(rest: str) -> str | None:
    found = re.fullmatch(rf"(?:(?:a|an) [\w ]{{2,24}} (?:called|named) )?({phrases.NAME})", rest)
    return phrases.as_name(found[1]) if found else None


def _change(rest: str) -> str | None:
    return rest if _CHANGE.fullmatch(rest) else None


_KINDS: dict[str, Callable[[str], str | None]] = {
    "place": phrases.as_place,
    "name": phrases.as_name,
    "own-place": _own_place,
    "firm": _firm,
    "role": _role,
    "thing": _worth,
    "subject": _worth,
    "habit": _matching(re.compile(r"\b(?:sugar|meat|alcohol|coffee|cigarettes|caffeine|gluten)\b")),
    "hobby": _worth,
    "sport": _sport,
    "owned": _owned,
    "pets": _owned,
    "theirs": _theirs,
    "illness": _part_of(_ILLNESS),
    "allergy": _part_of(_ALLERGY),
    "outgrown": _part_of(_OUTGROWN),
    "removed": _part_of(_REMOVED),
    "body": _body,
    "allergen": _allergen,
    "diet": _diet,
    "age": _age,
    "number": lambda rest: rest if rest.isdigit() and len(rest) <= 3 else None,  # noqa: PLR2004
    "from-to": _part_of(re.compile(rf"{phrases.NAME} to ({phrases.NAME})")),
    "wheelchair": _part_of(re.compile(r"(a wheelchair)")),
    "act": lambda rest: phrases.as_thing(rest) or phrases.as_thing(re.sub(r" (?:at|in|on|to|by) ", " ", rest)),
    "my-job": _part_of(re.compile(r"(my job)")),
    "given": _part_of(re.compile(r"(?:my|our) ([\w ]{2,24}) to .{2,40}")),
    "home": _matching(re.compile(r"^(?:a|an) (?:flat|house|apartment|room|home)\b")),
    "age-number": _years,
    "kin": _kin,
    "shift": _matching(re.compile(r"\b(?:shifts?|part-time|full-time|nights|freelance)\b")),
    "office": _office,
    "dated-occasion": _matching(
        re.compile(r"\b(?:appointment|interview|exam|surgery|operation|scan|check-up|audition|hearing)\b")
    ),
    "kept": _kept,
    "put-down": _part_of(re.compile(r"(?:my|our) ([\w ]{2,24}) (?:down|to sleep)")),
    "tickets": _matching(re.compile(r"^(?:\w+ )?tickets? (?:for|to) ")),
    "booked": _matching(re.compile(r"\b(?:trip|flights?|holiday|hotel|room|table|tickets?|cruise|cottage|tour|train)\b")),
    "medicine": _matching(_MEDICINE),
    "ear": _part_of(re.compile(r"((?:my|one|his|her|both) (?:left |right )?(?:ears?|eyes?))")),
    "worn": _matching(re.compile(r"\b(?:hearing aids?|glasses|contact lenses|contacts|braces|wig|pacemaker|prosthesis)\b")),
    "infection": _matching(
        re.compile(r"^(?:the |a |an )?(?:\w+ )?(?:flu|covid|cold|measles|pneumonia|bronchitis|chickenpox|malaria|infection|virus)$", re.IGNORECASE)
    ),
    "civil": _civil,
    "marital": lambda rest: rest.lower() if rest.lower() in _MARITAL else None,
    "fond": _fond,
    "taken": _part_of(re.compile(r"(my (?:coffee|tea|eggs|steak|curry|chocolate|food|pizza|toast) [a-z][\w ]{2,24})")),
    "languages": _part_of(re.compile(r"((?:two|three|four|five|six|\d) languages)")),
    "bilingual": _part_of(re.compile(r"((?:bilingual(?:ly)?|speaking \w+|with two languages).*)")),
    "year": _part_of(re.compile(r"((?:first|second|third|fourth|fifth|sixth|final|last) year (?:of|at) .+)")),
    "school": _matching(re.compile(r"\b(?:school|university|college|kindergarten|nursery|academy|uni)\b", re.IGNORECASE)),
    "lover": _lover,
    "commute": _matching(re.compile(r"^(?:work|school|the office|university|college|town|the (?:train )?station|the university)$")),
    "child": _matching(re.compile(r"\b(?:child|baby|twins|boy|girl|daughter|son|grandchild)\b")),
    "carer": _carer,
    "liked": _liked,
    "meal": _meal,
    "language": _language,
    "degree": _matching(_DEGREE),
    "class": _matching(re.compile(r"\b(?:class|classes|lessons|course|medication|tablets|insulin|pills)\b")),
    "exam": _matching(_EXAM),
    "begun": _matching(
        re.compile(rf"{_DEGREE.pattern}|{_BUSINESS.pattern}|\b(?:school|job|therapy|chemo|project)\b")
    ),
    "business": _matching(_BUSINESS),
    "group": _group,
    "left": _left,
    "doing": _doing,
    "change": _change,
    "nothing": lambda rest: "" if not rest else None,
}


def _read_table() -> dict[str, tuple[Frame, ...]]:
    found: dict[str, list[Frame]] = {}
    for line in _TABLE.strip().splitlines():
        lemma, before, kind, attribute, told = (part.strip() for part in line.split("|"))
        traits = frozenset(told.split())
        fact_type = next(iter(traits - _TRAITS), "world")
        choices = tuple(sorted(before.split("/"), key=len, reverse=True))
        frame = Frame(choices, kind, attribute, traits, cast("FactType", fact_type))
        found.setdefault(lemma, []).append(frame)
    return {lemma: tuple(frames) for lemma, frames in found.items()}


FRAMES = _read_table()


def filled(verbal: Verbal) -> Filled | None:
    """Return the first frame that what is said of a subject fills; ``None`` if none does."""
    for frame in FRAMES.get(verbal.lemma, ()):
        for before in frame.before:
            value = _value(frame, before, verbal.rest)
            if value is not None and _fits(frame, verbal):
                return Filled(frame, before, value)
    return None


def led(verbal: Verbal) -> str | None:
    """Return what somebody leads or answers for; ``None`` when that is not what is said."""
    if verbal.lemma in _LED and verbal.rest.startswith(("the ", "our ", "my ")):
        return phrases.as_thing(re.sub(r"^(?:our|my) ", "the ", verbal.rest))
    found = re.fullmatch(r"(?:responsible for|in charge of|the head of) (the .+)", verbal.rest)
    return phrases.as_thing(found[1]) if found and verbal.lemma == "be" else None


def changed(rest: str) -> tuple[str, str] | None:
    """Return from what to what somebody changed, by name."""
    found = _CHANGE.fullmatch(rest.removeprefix("from "))
    return (found[1], found[2]) if found else None


def _value(frame: Frame, before: str, rest: str) -> str | None:
    if frame.kind == "owned" and (kind_of(rest.partition(",")[0]) in PLURALS.values() and rest[0].islower() and not phrases.is_owned(rest) or rest in _FAMILY):
        return rest if phrases.as_thing(rest) else None
    if frame.kind in {"owned", "medicine"} and _NONE.match(rest):
        return _worth(_NONE.sub("", rest))
    if before and rest != before and not rest.startswith(f"{before} "):
        return None
    return _KINDS[frame.kind](rest[len(before) :].strip())


def _fits(frame: Frame, verbal: Verbal) -> bool:
    """Whether tense, denial and modal of a statement are such as the frame has them."""
    is_cannot = verbal.modal == "can" and verbal.sense == "not"
    if frame.has("cannot"):
        return is_cannot
    is_past_only = bool(frame.traits & {"event", "begin", "end"}) and not frame.has("ongoing")
    if is_past_only and verbal.tense == "present" and not verbal.is_progressive:
        return False
    if verbal.modal:
        return frame.has("denied") or (frame.kind in {"language", "languages"} and verbal.sense == "is")
    if frame.has("denied"):
        return verbal.sense in {"not", "never", "over"}
    if frame.has("ongoing"):
        return True
    is_ongoing = frame.has("state") and verbal.is_progressive and verbal.tense == "present"
    return not is_ongoing or verbal.lemma in _LASTING


_LASTING = frozenset("see live stay work suffer study learn teach rent host run take recover".split())


def told_words(value: str) -> list[str]:
    """Return the words of a value without its article."""
    return words(phrases.without_article(value))
