"""What falls to the agents, teams and people of a firm, and to which team somebody belongs. Pure.

``The crawler agent owns the price feed``, ``Maria signs off the invoices``, ``I'm on the payments
team``, ``the db moved to eu-west-1``: told as they were said, for nothing takes their place.
"""

from __future__ import annotations

from ..regexes import any_case, regex
from .lexicon import AT_HAND, CAPITALS, EVALUATIVE, REGION
from .statement import Said

_WORKING = frozenset(
    "agent bot team squad crew desk department office service daemon worker scheduler".split()
)
_CHARGES = frozenset(
    "own approve assign write feed sign monitor watch publish deploy escalate triage process "
    "manage maintain review schedule route moderate produce supply operate coordinate "
    "oversee".split()
)
"""What falls to an agent or a team for long, if it does it at all."""
_CHARGED = any_case(
    r"(?:(?:off(?: on)?|to|into) )?(?:the|our|all|every|any|each) (?:[\w'-]+ ){0,5}[\w'-]+"
)
_SIGNS = any_case(r"off(?: on)? (?:the|our|my|all|every|any|each|[\w-]+s\b)")
_UNLESS = any_case(r",? (?:unless|except when) (?:he|she|they|it|\w+)(?:'s|'re| is| are) .*$")
_REQUIRED = any_case(
    rf"(?:(?:an?|one|two|three|\d+|at least \w+) (?:[\w-]+ )?|(?-i:[{CAPITALS}])[\w-]+'s )"
    r"(?:reviewers?|approvals?|sign-?offs?|tickets?|signatures?|code owners?|reviews?|permits?"
    r"|permission|consent|labels?|receipts?)(?: (?:from|of|by) (?:the )?[\w-]+(?: [\w-]+)?)?"
)
"""What somebody has to give before something may be done."""
_TO_REGION = regex(
    r"(?:over |across )?(?:from [\w.-]+ )?to (?:the )?"
    rf"(?:{REGION}|(?:rack|zone|host|node|cluster|vm|dc)-?\d[\w-]*)"
    r"(?: (?:region|cluster))?"
)
"""Where things run, as clouds and racks are called: ``eu-west-1``."""
_TEAM = regex(
    r"(?:on|in|part of) (?:the|our) (?!(?:same|other|wrong|right|winning|losing|opposite|best|new"
    r"|whole|first|second|next|dream|home|away)\b)(?:[\w-]+ ){1,3}(?:team|squad|department|crew"
    r"|committee|board)"
)


def falls_to(said: Said) -> bool:
    """Whether a clause tells what somebody or something answers for, or of which team they are."""
    verbal = said.verbal
    if verbal.aim or verbal.is_progressive or verbal.sense != "is":
        return False
    return _is_moved(said) if verbal.tense != "present" else _is_charged(said)


def _is_moved(said: Said) -> bool:
    is_thing = said.subject.sort in {"thing", "owned"} and not said.subject.kind
    is_moved = said.verbal.lemma in {"move", "migrate"} and is_thing
    return is_moved and _TO_REGION.fullmatch(said.verbal.rest) is not None


def _is_charged(said: Said) -> bool:
    verbal, subject = said.verbal, said.subject
    is_somebody = subject.sort in {"speaker", "named"} or bool(subject.kind)
    rest = _UNLESS.sub("", verbal.rest)
    if verbal.lemma == "sign":
        return (is_somebody or _is_at_work(said)) and _SIGNS.match(rest) is not None
    if said.times:
        return False
    if verbal.lemma == "be":
        return is_somebody and _TEAM.fullmatch(rest) is not None
    if verbal.lemma in {"need", "require"}:
        is_of_all = subject.sort == "thing" and subject.text.lower().endswith("s")
        return is_of_all and _REQUIRED.fullmatch(rest) is not None
    is_charge = verbal.lemma in _CHARGES and _CHARGED.fullmatch(rest) is not None
    return is_charge and _is_at_work(said) and _is_standing(rest)


def _is_at_work(said: Said) -> bool:
    """Whether a clause is about an agent or a team by what it is for: ``the billing agent``."""
    *which, what = said.subject.noun.lower().split() or [""]
    return what in _WORKING and bool(which) and said.subject.sort in {"thing", "owned"}


def _is_standing(rest: str) -> bool:
    """Whether what something falls to is there for long: no page that is read just now."""
    last = rest.lower().split()[-1]
    return last not in AT_HAND - {"tickets", "issues", "prs", "orders"} and last not in EVALUATIVE
