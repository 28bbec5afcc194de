"""What a statement brings up to date, word by word, where the grammar reads no claim of both. Pure.

``I shifted the warehouse backup, it kicks off at 04:30 now`` takes the place of ``the warehouse
backup starts at 02:00``: a word tells that something has changed, most of what the former one is
about is said again, and of the same sort there is another value: a time, a date, a number of the
same things, a version, a name. ``WX-311 is fixed`` ends what was told of the bug WX-311, and
``Tillmann don't want the export any more`` that they want it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from tiers.lexical import MONTHS, NUMBER_WORDS, STOP_WORDS, WEEKDAYS, words

from ..claims.forms import root
from .likeness import REMEMBERED_TEXTS
from .regexes import any_case, regex
from .states import BESIDE, GONE, PUT_AN_END_TO, SHUT_FOR_NOW

_CHANGE = any_case(
    r"\b(?:now|no longer|any ?more|instead|from now on|again|since|as of|from today|these days"
    r"|turns out|final|correction|changed?|changes|moved|moves|switched|shifted|raised|lowered"
    r"|increased|decreased|reduced|cut|doubled|halved|upgraded|updated|downgraded|bumped|extended"
    r"|postponed|pushed|brought forward|renamed|replaced|replaces|took over|taken over|takes over"
    r"|handed (?:over|to)|went (?:up|down)|gone (?:up|down)|is (?:up|down) to|put off|rescheduled"
    r"|(?:put|turned) (?:\w+ ){0,3}(?:up|down))\b"
)
"""That something is otherwise than before."""
_BESIDE = any_case(
    rf"\?|\b(?:{BESIDE}|might|may be|could|would|should|maybe|perhaps"
    r"|want(?:s|ed)? to|thinking|considering|plan(?:s|ned)? to|hope|hopes|if|asked|asks|suggested"
    r"|wish|almost|nearly|not yet|will|going to|propose[sd]?|rumou?r|apparently)\b"
)
"""What stands beside what was told, holds for a time, or is only wished, supposed or asked."""
_DENIES = any_case(
    r"\b(?:no longer|any ?more|any longer|not any ?more|no more|stopped|quit|gave up|given up)\b"
)
_MONTH = "|".join(one.capitalize() for one in MONTHS)
_WEEKDAY = "|".join(one.capitalize() for one in WEEKDAYS)
_COUNT = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_NO_NAME = "It|I|We|The|This|That|They|He|She|You|My|Our|There|No|New|Since|Now|On|In|At|From|All"
_SORTS = regex(
    rf"(?P<date>\b\d{{1,2}}(?:st|nd|rd|th)? (?:{_MONTH})\b(?:,? \d{{4}})?"
    rf"|\b(?:{_MONTH}) \d{{1,2}}\b(?:,? \d{{4}})?)"
    r"|(?P<time>\b\d{1,2}[:.]\d\d\b(?: ?[ap]m\b)?|\b\d{1,2} ?[ap]m\b)"
    rf"|(?P<day>\b(?:{_WEEKDAY})s?\b)"
    r"|(?P<version>\b[A-Z][\w+#]*(?: [A-Z][\w+#]*)? v?\d[\w.]*)"
    rf"|(?P<measure>\b(?:\d[\d.,]*%?|{_COUNT})[ -](?:[a-z]+\b))"
    r"|(?P<tag>#[\w-]+)"
    rf"|(?P<name>\b(?!(?:{_NO_NAME})\b)[A-Z][\w'&-]*(?: (?:[A-Z][\w'&-]*|\d+))*)"
)
"""The sorts of values that a statement may have."""
_NO_UNIT = frozenset("the of in on at to for and or by with from per is are was".split())
_GENERIC = frozenset(
    map(
        root,
        "be go run use keep have get do make work start begin take put set come service system app "
        "application team people thing one way place new now still again every each day night week "
        "month year morning evening".split(),
    )
)
"""Words that tell little of what a statement is about."""
_SHARE_MIN = 0.6


@dataclass(frozen=True)
class _Told:
    """A text as it is laid over another.

    Attributes:
        values: Its values by their sort; of a measure the sort is what is counted.
        topic: The roots of the words that tell what it is about, in order.
        before: The root right before each root.
    """

    values: dict[str, frozenset[str]]
    topic: tuple[str, ...]
    before: dict[str, frozenset[str]]


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _told(text: str) -> _Told:
    values: dict[str, set[str]] = {}
    rest, end = [], 0
    for found in _SORTS.finditer(text):
        sort, value = _sorted(found.lastgroup or "", found[0])
        if not sort or (sort == "name" and _is_word(text, found.start(), found[0])):
            continue
        values.setdefault(sort, set()).add(value.lower())
        rest.append(text[end : found.start()])
        end = found.end()
        if sort.startswith("version"):
            rest.append(found[0].split()[0])
    rest.append(text[end:])
    said = [root(word) for word in words(" | ".join(rest))]
    topic = [
        word
        for word, raw in zip(said, words(" | ".join(rest)), strict=True)
        if raw not in STOP_WORDS and word not in _GENERIC and raw not in {"user", "|"}
    ]
    before: dict[str, set[str]] = {}
    for one, two in pairwise(said):
        before.setdefault(two, set()).add(one)
    kept = {sort: frozenset(some) for sort, some in values.items()}
    return _Told(kept, tuple(dict.fromkeys(topic)), {w: frozenset(b) for w, b in before.items()})


def _sorted(sort: str, said: str) -> tuple[str, str]:
    """Return the sort of a value in full, and the value."""
    if sort == "measure":
        number, _, unit = said.replace("-", " ").partition(" ")
        number = str(NUMBER_WORDS.get(number.lower(), number))
        return (f"measure {root(unit)}", number) if unit not in _NO_UNIT else ("", "")
    if sort == "version":
        name, _, number = said.rpartition(" ")
        return f"version {name.lower()}", number
    return sort, said.removesuffix("'s")


def _is_word(text: str, at: int, name: str) -> bool:
    """Whether a capital only begins a sentence."""
    opens = at == 0 or text[:at].rstrip()[-1:] in ".!?:;"
    return opens and " " not in name and not any(map(str.isupper, name[1:]))


_WITH_NAMED = regex(r"\bwith [A-Z]")
_PARTICLES = frozenset("out up off over down".split())


def _particles(text: str) -> frozenset[str]:
    return frozenset(words(text)) & _PARTICLES


_SUBJECT = any_case(r"(.{1,80}?)\b(?:is|are|was|were|has|have)\b")


def is_other_value(older: Telling, newer: Telling) -> bool:
    """Whether of what was told before there is another value of one sort since a change."""
    if not _CHANGE.search(newer.text) or _DENIES.search(newer.text):
        return False
    one, two = _told(older.text), _told(newer.text)
    if not _is_of_same(one, two) or (older.is_own and not _is_of_own(older, newer)):
        return False
    differing = [
        sort
        for sort in one.values.keys() & two.values.keys()
        if not one.values[sort] & two.values[sort]
    ]
    lost = one.values.get("name", frozenset()) - _names_of_both(one, two)
    if "name" in one.values and "name" not in differing and len(lost) == 1:
        return bool(two.values.get("name", frozenset()) - one.values["name"])
    if len(differing) != 1 or len(one.values[differing[0]]) != 1 or len(lost) > 1:
        return False
    (value,) = one.values[differing[0]]
    subject = _SUBJECT.match(older.text)
    return subject is None or value not in words(subject[1])  # "the autoclave in room 1 is"


def _is_of_own(older: Telling, newer: Telling) -> bool:
    """Whether what somebody tells of themselves is all told again: who works out works as well.

    Who plays with Ben now may play with Anna still.
    """
    is_whole = set(_told(older.text).topic) <= set(_told(newer.text).topic)
    is_phrasal = _particles(older.text) != _particles(newer.text)
    return is_whole and not is_phrasal and _WITH_NAMED.search(older.text) is None


def _is_of_same(one: _Told, two: _Told) -> bool:
    """Whether most of what a text is about is said in another, and nothing else in its place."""
    shared = [word for word in one.topic if word in two.topic]
    names = _names_of_both(one, two)
    both = one.values.keys() & two.values.keys()
    counted = {sort for sort in both if sort.startswith("measure ")}
    count = len(shared) + len(names) + len(counted)
    if count < 2 or count < _SHARE_MIN * (len(one.topic) + len(names) + len(counted)):  # noqa: PLR2004
        return False
    return not any(_is_another(word, shared, one, two) for word in one.topic if word not in shared)


def _names_of_both(one: _Told, two: _Told) -> frozenset[str]:
    """Return the names of a text that another calls so, or by their first word."""
    called = {part for name in two.values.get("name", ()) for part in name.split()}
    return frozenset(
        name
        for name in one.values.get("name", ())
        if any(part in called or root(part) in two.topic for part in name.split())
    )


def _is_another(missing: str, shared: list[str], one: _Told, two: _Told) -> bool:
    """Whether another word stands where one is missing: ``users database``, ``orders database``."""
    return any(
        missing in one.before.get(word, ())
        and not {*two.before.get(word, ())} <= STOP_WORDS | {"|", *one.topic}
        for word in shared
    )


_NOTHING = any_case(
    r"^(?P<who>.+?) (?:(?:is|are) not|isn't|aren't|does not|do not|doesn't|don't) (?P<how>\w+ \w+)"
    r" (?:anything|anyone|anybody)\b"
)


def is_denied_of_all(older: str, newer: str) -> bool:
    """Whether what is told of one thing is denied of all: ``is not allergic to anything``."""
    found = _NOTHING.match(newer)
    return found is not None and older.lower().startswith(
        f"{found['who']} is {found['how']} ".lower()
    )


_CLAUSES = any_case(r"[,;:.]\s|\s(?:but|because|so|since|as)\s")


def is_told_over(older: str, newer: str) -> bool:
    """Whether most of what was told is said to be so no more: ``don't want it any more``."""
    clause = next((one for one in _CLAUSES.split(newer) if _DENIES.search(one)), "")
    if not clause or _DENIES.search(older):
        return False
    one, two = _told(older), _told(clause)
    is_all = set(two.topic) <= {*one.topic, *map(root, words(older))}
    return (
        is_all
        and _is_of_same(one, two)
        and all(some <= one.values.get(sort, frozenset()) for sort, some in two.values.items())
    )


_GONE_TOO = (
    "shut down|resolved|history|no more|archived|abandoned|written off|stopped|ended|revoked|repaid"
    "|paid off|called off|switched off|turned off"
)
_PUT_AN_END_TOO = (
    "stopped|shut down|got rid of|gave away|gave up|given up|threw out|let go of|handed back"
    "|returned|abandoned|ditched|fixed|revoked|paid off|called off|finished with|done with"
    "|turned off|switched off"
)
_TAIL = (
    r"(?=$|[,.;!:]| (?:now|since|for|last|yesterday|today|on|in|and|as|by|because|so|at|after|to"
    r"|with|from|but|this|a|an)\b)"
)
_WORD = r"(?!(?:is|are|was|were|has|have|got|and|off|down|in|for)\b)[\w'.-]*\w"
_THING = rf"(?:(?:the|my|our|that) )?(?P<thing>{_WORD}(?: {_WORD}){{0,3}})"
_ENDED_WAYS = (
    any_case(
        rf"(?:^|[,;:.!] |\band |\bbut |\bso ){_THING} (?:is|are|was|were|has been|have been"
        rf"|got|went|has gone)(?: (?:now|finally|all|officially|permanently))?"
        rf" (?:{GONE}|{_GONE_TOO}){_TAIL}"
    ),
    any_case(
        rf"\b(?:{PUT_AN_END_TO}|{_PUT_AN_END_TOO}) "
        rf"(?:the |my |our )?(?P<thing>{_WORD}(?: {_WORD}){{0,3}}){_TAIL}"
    ),
    any_case(
        rf"\b(?:turned|switched|shut|called) (?:the|my|our) (?P<thing>{_WORD}(?: {_WORD}){{0,3}})"
        r" (?:off|down)\b"
    ),
)
_DONE_WITH = any_case(
    r"\b(?:bought|sold|built|visited|read|watched|made|wrote|won|lost|found|was born|grew up|fixed"
    r"|closed|cancelled|gone|met|died)\b"
)
"""What was done once stays done."""
_STAYS = any_case(r"\b(?:lives?|favou?rite|fan|from|born|called|named|name|case|likes?|loves?)\b")
"""What is told of a thing whatever becomes of it."""
_KIND = frozenset(
    "space account subscription box server licence license contract membership plan machine bug "
    "issue ticket".split()
)
"""What a name may have behind it where it is told what became of the thing."""


_GIVES_UP = any_case(
    r"\b(?:dropped|quit|gave up|given up|giving up|axed|left|stopped|packed in|retired from)"
    rf" (?:the |my |our )?(?P<thing>{_WORD})(?=$|[,.;!:]| (?:now|since|last|yesterday|because|so"
    r"|and|but|as)\b)"
)
"""What somebody does no more, by one word."""
_SEVERAL = any_case(
    r",? and (?:the |my |our |her |his )?(?!I\b|we\b|it\b|they\b|she\b|he\b)[\w']+(?: \w+){0,2}? "
    r"(?:is|are|was|were|has|have|does|do|go(?:es)?|pays?|comes?|runs?|uses?|works?|belongs?)\b"
)
"""Two things told in one, of which one may be over and the other not."""


def is_of_ended(older: str, newer: str) -> bool:
    """Whether what was told is of a thing that is gone by what is told now."""
    if _DONE_WITH.search(older) or _STAYS.search(older) or SHUT_FOR_NOW.search(newer):
        return False
    if any(_speaks_of(older, thing) for thing in _ended_things(newer)):
        return True
    given_up = _GIVES_UP.search(newer)
    subject = older.partition(" ")[0]
    is_theirs = newer.startswith(f"{subject} ") and subject.lower() not in STOP_WORDS
    return given_up is not None and is_theirs and given_up["thing"].lower() in words(older)


def _ended_things(text: str) -> Iterator[str]:
    for way in _ENDED_WAYS:
        for found in way.finditer(text):
            yield found["thing"]


def _speaks_of(text: str, thing: str) -> bool:
    """Whether a text is of a thing, by its name or by all the words it goes by."""
    named = thing.split()
    if len(named) > 1 and named[-1].lower() in _KIND and named[0][:1].isupper():
        named = named[:-1]
    sought = words(" ".join(named))
    is_name = any(any(map(str.isdigit, one)) or any(map(str.isupper, one)) for one in named)
    if not sought or (len(sought) == 1 and not is_name):
        return False
    said = words(text)
    return any(said[at : at + len(sought)] == sought for at in range(len(said)))


def tells_of_change(said: str) -> bool:
    """Whether words tell that something is over, or otherwise than before."""
    return any(way.search(said) for way in (_CHANGE, _DENIES, _ENDS, *_ENDED_WAYS))


_ENDS = any_case(
    r"\b(?:left|leaving|over|off|out|gone|last|wrong|mistake|meant|actually|never|not|\w+n't|back"
    r"|broke up|split up|divorced|died|passed away|moved|finished|done|used to|only)\b"
)


@dataclass(frozen=True)
class Telling:
    """A text, and of whom or what it tells.

    Attributes:
        text: The text.
        about: Of whom or what; ``""`` where nobody can tell.
        is_own: It tells of who says it.
        is_others: It tells of somebody's whom it names, or who is of who says it: ``Ada's dad``.
    """

    text: str
    about: str = ""
    is_own: bool = False
    is_others: bool = False


def is_update(older: Telling, newer: Telling) -> bool:
    """Whether a later text says that what an earlier one tells is so no more."""
    if is_denied_of_all(older.text, newer.text):
        return True
    if _BESIDE.search(newer.text) or _SEVERAL.search(older.text):
        return False
    if _may_tell_of(older, newer) and is_of_ended(older.text, newer.text):
        return True
    is_it = _may_be_of(older, newer)
    return is_it and (is_other_value(older, newer) or is_told_over(older.text, newer.text))


def _may_tell_of(older: Telling, newer: Telling) -> bool:
    """Whether who tells of a thing may mean somebody's of an earlier text: ``sold the Golf``."""
    if older.is_others and {*words(newer.text)}.isdisjoint(words(older.about)):
        return False
    if newer.is_own or not newer.about:
        return True
    return not (older.is_own or older.is_others or newer.is_others)


def _may_be_of(older: Telling, newer: Telling) -> bool:
    """Whether a later text can be of whom or what an earlier one is.

    Of who speaks nobody tells but themselves; of a thing it has to be named, and another thing has
    to be spoken of before.
    """
    if older.is_own:
        return newer.is_own or not newer.about
    said, told = _told(newer.text), _told(older.text)
    known = {*said.topic, *(part for one in said.values.get("name", ()) for part in one.split())}
    of = [root(word) for word in words(older.about) if word not in STOP_WORDS]
    missing = [word for word in of if word not in known and word not in words(newer.text)]
    if of and len(missing) > len(of) // (3 if of[0] in missing else 2):
        return False
    if newer.is_own or not newer.about:
        return True
    head = words(newer.about.partition(" of ")[0].partition(" for ")[0])[-1:]
    return not head or root(head[0]) in told.topic or head[0] in words(older.text)
