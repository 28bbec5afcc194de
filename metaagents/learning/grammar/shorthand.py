"""What people type in short: headings, words left out, asides at the end. Pure.

``Allergies: nuts``, ``big fan of jazz``, ``my wifes name is Ana``, ``no eggs pls, i hate them``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tiers.lexical import NUMBER_WORDS, sentences

from ..marks import Way
from ..regexes import any_case, regex
from .lexicon import CAPITALS, DIETS, FULL_NAME, PERSONS, PETS, SOFTWARE, SWALLOWED

_KIN = "|".join(sorted(PERSONS | PETS, key=len, reverse=True))
_DIET = "|".join(sorted(DIETS))
STATE = (
    rf"(?:{_DIET}|(?:type (?:1|2|one|two) )?diabetic|coeliac|celiac|asthmatic|dyslexic|autistic"
    r"|epileptic|deaf|(?:left|right)[- ]handed|short[- ]sighted|pregnant"
    r"|colou?r[- ]?blind|hard of hearing"
    r"|(?:lactose|gluten)[- ]intolerant|allergic to [a-z]+(?: and [a-z]+)?)"
)
"""What somebody is for long, by which they ask for something."""
_ASKS = r"(?=(?:what|which|how|where|who|when|can|could|should|do|does|is|are|would|will|any)\b)"
_DONE_BY_THINGS = r"(?:working|coming|going|trying|loading|responding)\b"
_PHONE = {"number": "phone number"}
SHORTHAND: tuple[Way, ...] = (
    Way(r"(?<=\w),? (?:btw|fyi|lol|haha+|tho|tbh|imo|thx|by the way)[\s.!]*$", "."),
    Way(r"\b(?:pls|plz)\b", "please"),
    Way(r"\b(?:from today(?: on)?|as of (?:today|now)|starting today)(?=$|[.,!])", "now"),
    Way(r"\b(called|call) (the|my|our) ([a-z]+(?: [a-z]+)?) off\b", r"\1 off \2 \3"),
    Way(r"\b(last|next|this|every|per|a) yr\b", r"\1 year"),
    Way(r"\b(my|our) fave? (?=[a-z])", r"\1 favourite "),
    Way(r"\b(my|his|her) gf\b", r"\1 girlfriend"),
    Way(r"\b(my|his|her) bf\b", r"\1 boyfriend"),
    Way(
        r"^were (?=(?:moving to|getting (?:married|a (?:dog|cat|puppy|kitten))|having (?:a baby"
        r"|twins)|expecting|buying an?|selling (?:our|the)) [^?]*$)",
        "we're ",
    ),
    Way(r"(?<=\d )yrs\b", "years"),
    Way(r"\b(works?|working) pt\b", r"\1 part-time"),
    Way(r"\b(works?|working) ft\b", r"\1 full-time"),
    Way(r"\btil (?=\w)", "until "),
    Way(r"(?<=[a-z]) n (?=(?:an?|my|our|the|i|i'm|we)\b)", " and "),
    Way(r"(?<=\w) (?:bc|cuz|coz) (?=(?:i|i'm|my|we|our|the|he|she|they|it|it's)\b)", " because "),
    Way(r"\bbeen coding\b", "been programming"),
    Way(
        rf"\b(my|our) ({_KIN})s (?=(?:name|birthday|job|phone|number|email|address|school|car"
        r"|doctor|favou?rite)\b)",
        r"\1 \2's ",
    ),
    Way(
        r"^\s*no ([a-z]+(?: [a-z]+)?),? please,? (?:because |since |as )?"
        r"i (hate|can't stand|don't like|don't eat|can't eat) (?:it|them)\b",
        r"I \2 \1",
    ),
    Way(
        rf"\bi(?:'ve| have)?(?: just| recently)? (?:gone|went|became|become|turned) ({_DIET})\b",
        r"I am \1 now",
    ),
    Way(r"\b(i'm|i am) between jobs\b", r"\1 unemployed"),
    # By what they are somebody asks: "being vegan, I", "since I'm vegan, what".
    Way(rf"^\s*being ({STATE}), (?=i\b|i'|we\b|my\b)", r"I am \1, "),
    Way(
        r"^\s*(?:since|because|as|given that|considering(?: that)?|seeing (?:that|as)|now that) "
        rf"((?:i|my [a-z]+(?: [a-z]+)?)\b[^,?!.;]{{3,80}}), {_ASKS}",
        r"\1; ",
    ),
    # The reason that opens a statement is a statement, too.
    Way(
        r"^\s*(?:because|as|although|though|even though|given that|considering that) "
        r"(?=(?:i|my|our|we)\b)(?!i (?:said|say|see|told|mentioned|get|grow|was saying"
        r"|understand)\b|we (?:speak|know|all|said)\b)([^,?!.;]{6,80}), "
        r"(?=(?:i|my|our|we|none|all|both|the|every|each|no)\b[^?]*$)",
        lambda found: f"{found[1][0].upper()}{found[1][1:]}; ",
    ),
    Way(
        rf"^(?=[^?]*\?\s*$)([^,?]{{2,80}}?) (my|our) ((?:{_KIN})(?: [{CAPITALS}]\w+)?),? who"
        r"(?:'s| is) ([^,.?!]{3,60})",
        lambda found: f"{found[2].capitalize()} {found[3]} is {found[4]}, {_small(found[1])} them",
    ),
    # Who speaks is left out, or stands behind.
    Way(
        rf"^\s*({STATE})(?: person)?,? (?:here|me|myself)(?=[,.!]|$)",
        lambda found: f"I am {_small(found[1])}",
    ),
    Way(
        r"^\s*(pregnant|expecting)(?= (?:with|a|twins|in|our|my|again)\b|[.!]?$)",
        lambda found: f"I am {found[1].lower()}",
    ),
    Way(
        r"^\s*(passport|birthday|blood type|commute|shift|landlord|landlady|surname|star sign)"
        r"(?:'s| is) (?!an?\b|required|needed|gone|lost|hell)",
        lambda found: f"My {found[1].lower()} is ",
    ),
    Way(r"^\s*(?:big|huge|lifelong|long-?time) fan of (?=[a-z])", "I am a big fan of "),
    Way(r"^\s*born and raised in ", "I was born and raised in "),
    Way(
        r"^\s*(off|away|on (?:holiday|vacation|leave)) (?=(?:from \d|until [a-z]+ |till [a-z]+ ))",
        lambda found: f"I am {found[1].lower()} ",
    ),
    Way(r"^\s*never been (?=[a-z])", "I have never been "),
    Way(
        r"^\s*(?:currently )?working (?=(?:from home|nights|part[- ]time|full[- ]time)\b)",
        "I am working ",
    ),
    Way(r"^\s*(?:just|finally|recently) (?=(?:quit|cut|hit) [a-z])", "I "),
    Way(
        rf"^\s*(?=stopped (?!{_DONE_BY_THINGS})[a-z]+ing\b"
        r"|quit [a-z]+ing\b.* (?:ago|yesterday|today|last [a-z]+)\b)",
        "I ",
    ),
    Way(r"^\s*(?=gave up (?:on )?[a-z]|sold (?:the|my|our) )", "I "),
    Way(r"^\s*(?=(?:down|up) to \d)", "I am "),
    Way(
        r"^\s*(?:just |finally |recently )?got "
        r"(?=(?:married|divorced|engaged|promoted|fired|laid off|hired)\b)",
        "I got ",
    ),
    Way(
        rf"^\s*(?:no longer (?={STATE}\b)|not (?={STATE} any ?more\b))",
        "I am no longer ",
    ),
    Way(
        rf"^\s*no more ({'|'.join(sorted(SWALLOWED))}) for me\b.*$",
        r"I quit \1",
    ),
    Way(
        r"^\s*(?:[Nn]o longer|[Nn]ot) (?:at|with) ([A-Z][\w&.-]*)(?: any ?more)?,? (?:but |and )?"
        r"now (?:at|with) (?=[A-Z])",
        r"I left \1 and joined ",
    ),
    Way(
        r"^\s*new (manager|boss|doctor|dentist|therapist|landlord|address|e-?mail"
        r"|(?:phone )?number): (?=\S)",
        lambda found: f"My new {_PHONE.get(found[1].lower(), found[1].lower())} is ",
    ),
    Way(
        r"^\s*(flight|train|appointment|interview|exam|surgery|delivery) "
        r"(?=(?:got|was|has been|is) (?:moved|rescheduled|cancelled|canceled|postponed)\b)",
        lambda found: f"My {found[1].lower()} ",
    ),
    Way(r"(?<=\w)\s*[:;]'?-?[()DPp/]+\s*$", "."),
    Way(
        rf"^\s*[Oo]riginally from ({FULL_NAME}),? (?:but |and )?(?:now )?(?:living |based )?in "
        rf"(?={FULL_NAME})",
        r"I am originally from \1 and I live in ",
    ),
    Way(
        rf"^(I'm|I am) (an? [a-z -]{{3,40}}), (\d\d),? (?:and )?from (?={FULL_NAME})",
        r"\1 \2 and I am \3 years old and I am from ",
    ),
)

_I_AM = "I am {}"
_STATED = any_case(STATE)
_OWN_HEADINGS: Mapping[str, str] = {
    r"allerg(?:y|ies|ic to)": "I am allergic to {}",
    r"birthday|date of birth|dob": "My birthday is {}",
    r"blood (?:type|group)": "My blood type is {}",
    r"diet|dietary (?:needs|requirements|restrictions)": _I_AM,
    r"(?:my )?time ?zone": "My time zone is {}",
    r"(?:preferred|native) language": "My {heading} is {}",
    r"hobbies|interests": "My hobbies are {}",
    r"(?:gp|doctor|dentist|therapist)": "My {heading} is {}",
    r"pronouns": "My pronouns are {}",
    r"medications?|meds": "I take {}",
}
"""Headings of what people have for themselves alone, and the same in a sentence."""
_MORE_HEADINGS: Mapping[str, str] = {
    r"(?:home |postal |mailing )?address": "My address is {}",
    r"job|occupation|profession": "I am {a}{}",
    r"employer": "I work at {}",
    r"age": "I am {} years old",
    r"city|home ?town": "I live in {}",
    r"e-?mail(?: address)?": "My email is {}",
    r"(?:phone|mobile|cell)(?: number)?": "My phone number is {}",
    r"pets?|kids|children": "I have {}",
    r"nationality": _I_AM,
}
"""Headings of what a form or a letter may say of anybody, unless others stand beside them."""
_WHAT = r"(?!(?:i|we|my|our|none|no|not|n/a|tb[acd]|unknown)\b)[\w+(][^:\\{}<>=\n]{0,120}"
_HEADED = tuple(
    (any_case(rf"(?:[-*\u2022] )?(my )?({heading}): *({_WHAT})"), told)
    for headings in (_OWN_HEADINGS, _MORE_HEADINGS)
    for heading, told in headings.items()
)
_LISTS = ("are {}", "to {}", "take {}")
_LAST = re.compile(r",(?: and)? (?=[^,]+$)")
_ABOUT_ME = any_case(r"\s*(?:about me|me|my (?:profile|details|data)|profile)\s*:\s*")
_NAMES = any_case(r"(?:[-*\u2022] )?(?:(?:full |first |last )?name|patient|client|customer)\s*:")
_BETWEEN = re.compile(r"\n+|[;|] *|(?<![DM]r)(?<!Mrs)(?<!Prof)\.\s+|, +(?=[A-Z][a-z ]{2,20}: )")
_ITEMS_MAX = 20
_YEARS = re.compile(r"\d{1,2}(?: years old)?")
_COUNTED = any_case(rf"(?:\d+|an?|{'|'.join(sorted(NUMBER_WORDS))}) [a-z]")


_BEGINS = regex(r"(?<=\w[.!?] )(?=(?:i|im|i'm|ive|i've|my|we|our)\b)[a-z]")
_SO_CALLED = regex(
    r"\b((?:is|are|'s) (?:called|named) |name is )(?!(?:not|the|an?|on|in|too|off|so|out|for|my|up"
    r"|after|to|it|away|back|at|by|me|us|as)\b)([a-z]{2,20})(?=$|[.,!]| and\b)"
)
"""Who is so called, typed without capitals."""
_NO_NAMES = frozenset(
    "a an the my our his her their your this that these those it here there home work school "
    "church town bed uni university college prison jail hospital production staging prod dev "
    "marketing sales finance hr engineering support legal free fun peace fear hope tears forces "
    "hands people money pleasure one two three another somewhere remote part full night nights "
    "both all some any person silence shock love debt rehab agile scrum kanban them him us me "
    "you everyone someone nobody what which sync short long general theory practice risk ease "
    "least last best concert harmony done main master review progress todo limbo".split()
)
"""What people work for and live in that is no name."""
_BEFORE_NAME = (
    r"(?:moved|relocated|moving|move) (?:back )?to"
    r"|(?:live|lives|living|based|born|raised|grew up) in"
    r"|work(?:s|ed|ing)? (?:at|for)|(?:no longer|now|job) at|joined|(?:married|engaged) to"
)
_NAME_ENDS = (
    r"(?=$|[.,!?]"
    r"| (?:last|in|now|this|next|and|for|since|because|but|with|yesterday|today|when|as)\b)"
)
_SO_PLACED = regex(rf"\b((?:{_BEFORE_NAME}) )([a-z][a-z-]+){_NAME_ENDS}")
"""Where somebody lives or works, and to whom they are married, typed without capitals."""
_LANGUAGE = regex(
    r"\b(?:arabic|cantonese|catalan|chinese|croatian|czech|danish|dutch|english|finnish|french"
    r"|german|greek|hebrew|hindi|hungarian|indonesian|irish|italian|japanese|korean|mandarin|norwegian"
    r"|persian|polish|portuguese|romanian|russian|serbian|spanish|swahili|swedish|thai|turkish"
    r"|ukrainian|urdu|vietnamese|welsh)\b"
)
_TOOL = regex(
    r"\b((?:use|uses|using|used|to|from|for|on|with|ditched|dropped|left) )"
    rf"({'|'.join(sorted(map(re.escape, SOFTWARE), key=len, reverse=True))}){_NAME_ENDS[:-1]}|"
    r" (?:to|from|at)\b)"
)
_SWITCHED = regex(rf"\b((?:switched|moved|migrated) from \S*[A-Z]\S* to )([a-z]+){_NAME_ENDS}")
_SHORT_NAME_CHARS = 3
_SAID_AS_WORDS = frozenset("bun git vim zed".split())
_GOES_ON = regex(r"(?<=\w\w[.!?]) [a-z]")
"""A full stop behind which somebody typed on in small letters."""
_I = regex(r"\bI\b")


def with_capitals(said: str) -> str:
    """Return what was typed all in small letters with those that begin sentences and names.

    What has a capital keeps its names as they are: who typed that has told names by theirs. An
    "I" is none: many keyboards put it.
    """
    is_small = _I.sub("i", said).islower()
    said = _GOES_ON.sub(_begun, said)
    if not is_small:
        return said
    begun = _BEGINS.sub(lambda found: found.group().upper(), said)
    called = _SO_CALLED.sub(lambda found: f"{found[1]}{found[2].capitalize()}", begun)
    placed = _SO_PLACED.sub(
        lambda found: found[0] if found[2] in _NO_NAMES else f"{found[1]}{found[2].capitalize()}",
        called,
    )
    spoken = _LANGUAGE.sub(lambda found: found.group().capitalize(), placed)
    used = _TOOL.sub(lambda found: f"{found[1]}{_written(found[2])}", spoken)
    return _SWITCHED.sub(lambda found: f"{found[1]}{found[2].capitalize()}", used)


def _begun(found: re.Match[str]) -> str:
    """Return the small letter that begins a sentence as a capital; one behind ``e.g.`` stays."""
    before = found.string[: found.start()]
    return found[0].upper() if len(sentences(f"{before} A")) > len(sentences(before)) else found[0]


def _written(tool: str) -> str:
    """Return software as its name is written."""
    if tool in {"iphone", "ios", "macos"}:
        return tool.replace("ph", "Ph").replace("os", "OS")
    is_short = len(tool) <= _SHORT_NAME_CHARS and tool not in _SAID_AS_WORDS
    return tool.upper() if is_short else tool.title()


def headings_spelled_out(text: str) -> str:
    """Return what somebody lists of themselves in sentences: ``About me: 34, vegan, two cats``.

    Only where nothing else is said, and no other person is named: that is somebody's record.
    """
    opened = _ABOUT_ME.match(text)
    if ":" not in text or _NAMES.search(text):
        return text
    listed = text[opened.end() :] if opened else text
    items = [item.strip(" .!") for item in _BETWEEN.split(listed)]
    items = [item for item in items if item][: _ITEMS_MAX + 1]
    if opened and items and ":" not in listed:
        known = list(filter(None, map(_of_me, listed.strip(" .!").split(","))))
        return _sentences(known) if known else text
    told = [_headed(item, is_alone=len(items) == 1 and not opened) for item in items]
    return _sentences(told) if told and all(told) else text


def _sentences(told: Sequence[str]) -> str:
    return f"{'. '.join(told[:_ITEMS_MAX])}."


def _headed(item: str, *, is_alone: bool) -> str:
    """Return what stands under a heading as a sentence; ``""`` where that may be anybody's."""
    for place, (heading, told) in enumerate(_HEADED):
        found = heading.fullmatch(item)
        is_anybodys = is_alone and place >= len(_OWN_HEADINGS)
        if found and (found[1] or not is_anybodys):
            what = found[3].strip()
            is_other = told == _I_AM and not _STATED.fullmatch(what)
            way = "My {heading} is {}" if is_other else told
            is_list = told.endswith(_LISTS) and " and " not in what
            listed = _LAST.sub(" and ", what) if is_list else what
            return way.format(listed, a=article(what), heading=found[2].lower())
    return ""


def _of_me(listed: str) -> str:
    """Return one thing that somebody says they are or have."""
    item = listed.strip()
    if _YEARS.fullmatch(item):
        return f"I am {item.removesuffix(' years old')} years old"
    if _COUNTED.match(item):
        return f"I have {item}"
    return f"I am {item}" if _STATED.fullmatch(item) else ""


def article(what: str) -> str:
    """Return ``a`` or ``an``, and a space, for what has none."""
    if any_case(r"(?:an?|the) ").match(what):
        return ""
    return "an " if what[:1].lower() in "aeiou" else "a "


def _small(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"
