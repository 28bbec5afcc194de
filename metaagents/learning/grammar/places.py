"""Where somebody or something is, as far as it stays there. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..regexes import any_case, regex
from . import phrases
from .lexicon import CAPITALS, POSSESSIONS, ROOM
from .statement import PLACE, Claim, Said

_OWN = regex(r"^(?:my|our) ")
_ON_PLAN = regex(r"on (?:the|an?) (?!same\b|other\b)(?:[\w-]+ ){1,2}(?:plan|tier|package)")
_RECORDS = any_case(
    r"\b(?:docs|documentation|handbook|wiki|logs?|traces|metrics|dashboards?|alerts?|backups?"
    r"|tickets|issues|backlog|roadmap|code|repos?|repository|repositories|ci|builds|artifacts"
    r"|designs|mock-?ups|specs?|minutes|notes|files|photos|pictures|tasks|secrets|credentials"
    r"|invoices|contracts|timestamps|dates|prices|amounts|database|data|website|site|api|app"
    r"|newsletter|calendar|mailing list)$"
)
"""What a team keeps with some tool or in some form."""
_BY_NAME = regex(
    rf"(?:on|in) (?:(?:the |our )?(?:[\w-]+ )?[{CAPITALS}][\w.&-]*(?: [{CAPITALS}\d][\w.&-]*)*"
    r"|euros|dollars|pounds|francs|cents|metres|kilometres|miles|kilograms)"
)
_READ_TO = regex(r"on (?:page|chapter|lesson|level|season|episode) \d+ of [A-Z]")
_PUT_AWAY = any_case(
    r"\b(?:keys?|forms?|documents?|papers|passports?|certificates?|contracts?|invoices?|receipts"
    r"|files|folders?|manuals?|tools|medicine|spares?|supplies|batteries|adapters?|chargers?"
    r"|first[- ]aid kit|fuse ?box|meter|stopcock|extinguisher|torch|ladder|stamps?"
    r"|necklace|jewell?ery|rings?|earrings|heirlooms?|albums?|decorations|luggage"
    r"|suitcases?|tent|skis|sneakers|boots|coats?|jackets?)$"
)
_CONTAINER = any_case(
    r"(?:in|behind|under|inside|on) (?:the|my|our) (?:[\w-]+ ){0,3}?(?:drawer|cabinet|cupboard"
    r"|deposit box|rack|chest|trunk|loft|garage|bed(?=$)"
    r"|safe|locker|folder|binder|archive|vault|store ?room|storage(?: room)?|basement|cellar"
    r"|attic|shed|key box|glove (?:box|compartment)|shelf|closet|wardrobe)\b"
)
"""Where things are put that are to be found again."""
_ROOM = any_case(rf"\b{ROOM}$")
_IN_BUILDING = any_case(
    r"(?:on (?:the )?(?:[\w-]+ floor|floor \d+)|in (?:the )?(?:basement|cellar|attic"
    r"|building \w+|(?:east|west|north|south) wing|lobby|annexe?)"
    r"|next to (?:the )?(?:lifts?|elevators?|stairs|entrance|reception))"
)
"""Where rooms are, and what stands in a house for good."""


def place(said: Said, rest: str) -> Iterator[Claim]:
    """Yield where what a clause is about is: ``my office is on the third floor``."""
    found = re.fullmatch(r"(?:in|on|at|near|under|behind) (.+)", rest)
    thing = phrases.as_thing(_OWN.sub("the ", found[1])) and found[1] if found else None
    if thing is None or said.verbal.sense == "never":
        return
    noun = said.subject.noun.lower()
    if said.subject.sort == "owned" and noun in {"home", "place"} and phrases.as_place(thing):
        owner, is_news = said.subject.owner, said.verbal.is_so
        yield said.claim("lives in", thing, subject=owner, is_single=True, is_news=is_news)
    elif said.subject.sort == "owned" and noun == "home":
        yield said.claim("lives in", thing, subject=said.subject.owner, is_single=True)
    elif said.subject.sort == "owned" and noun in {"job", "work"}:
        yield said.claim("works at", thing, subject=said.subject.owner, is_single=True)
    else:
        is_known = (
            said.subject.sort == "owned" and noun.split()[-1] in POSSESSIONS and noun != "car"
        )
        is_news = is_known and said.verbal.is_so and phrases.is_worth_keeping(thing)
        is_news = is_news and re.search(r"[A-Z]|floor|street", thing) is not None
        yield said.claim(
            PLACE,
            thing,
            is_news=is_news or _is_kept(said, rest),
            is_single=said.subject.sort in {"owned", "thing"} and not said.subject.kind,
        )


def _is_kept(said: Said, rest: str) -> bool:
    """Whether it is where something is kept or stands, or on which plan: ``the logs are in S3``."""
    if not said.verbal.is_so:
        return False
    of = said.subject.noun or said.subject.text
    is_kept = _RECORDS.search(of) is not None and _BY_NAME.fullmatch(rest) is not None
    is_built = _ROOM.search(of) is not None and _IN_BUILDING.fullmatch(rest) is not None
    is_put = _PUT_AWAY.search(of) is not None and _CONTAINER.match(rest) is not None
    is_read = said.subject.sort == "speaker" and _READ_TO.match(rest) is not None
    return is_kept or is_built or is_put or is_read or _ON_PLAN.fullmatch(rest) is not None
