"""Of which things somebody has one at a time: a version, a plan, a tool, a site. Pure."""

from __future__ import annotations

import re

from tiers.learning import spelled
from tiers.lexical import MONTHS, words

from .grammar.lexicon import REGION, TOOLS_OF_A_KIND
from .grammar.roles import RHYTHM
from .grammar.statement import HABIT, KIND, PLACE, Claim
from .regexes import regex

JOINING = frozenset("of for with from by in at on called named".split())
"""Words by which what follows says which one it is: a case for an iPhone is no iPhone."""
BY_NAME = r"[A-Z][\w.&+#-]*(?: [A-Z\d][\w.&+#-]*){0,3}"
"""A name, as part of a pattern."""
_PRICE = regex(
    r"(?:cost )?[\u20ac$\u00a3]?\d[\d.,]*(?: ?(?!an?\b)[A-Za-z\u20ac]+)??"
    r"(?P<each> (?:an?|per|each) \w+)?"
)
_GRADE = regex(r"(?:[a-z]+|\d+(?:st|nd|rd|th)) grade|[Yy]ear \d+")
_TO_ELSEWHERE = regex(
    rf"(?:(?:moved|migrated|relocated) )?(?:from [\w.-]+ )?to (?:the )?(?:{BY_NAME}|{REGION})"
)
_SOMEWHERE = regex(
    rf"(?:(?:hosted|deployed|located|based|kept|stored) )?(?:in|on) "
    rf"(?!(?i:\w+day|{'|'.join(MONTHS)})s?\b)(?:the )?(?:{BY_NAME}|{REGION})"
)
_HOSTED = regex(rf"(?:hosted|deployed) on {BY_NAME}$")
_IN = regex(rf"\bin |\b{REGION}$")
_ON_NAMED = regex(
    r"(?P<where>(?:(?:tracked|hosted|stored|deployed|written|built|kept|managed|handled|owned"
    r"|logged|rewritten) )?(?:on|in|at|to|by)) (?:the )?(?:team )?(?!\w+days?\b)(?:[A-Z#][\w.+#-]*"
    rf"(?: [A-Z\d][\w.+#-]*){{0,3}}(?: (?:team|squad|group|department|guild|tribe))?|{REGION}"
    r"|[a-z-]+ (?:agent|bot|service|desk))"
)
_VERSION = regex(r"(?:on |an? |the )?(?P<of>i?[A-Z][\w.+#-]*(?: [A-Z][\w.+#-]*)*) v?\d[\w.]*")
_RUNS = frozenset(("use", "uses", "be", "run", "runs", "place", KIND))
_OF_MANY_KINDS = regex(r"^(?:on )?(?:the |an? )?(?P<which>.*?) ?(?P<what>plan|tier|package)$")
_CODE = regex(r"(?P<of>[A-Z]{1,3})-?\d{1,3}")
_MEANS = regex(r"by (?!(?:the|a|an|my|our|his|her|their|day|night)\b|\w+sel)[a-z]+(?: [a-z]+)?")
_SITE = regex(r"the [\w-]+ (?:office|branch|plant|lab|warehouse|studio|team)")


def is_on_another(new: Claim, old: Claim) -> bool:
    """Whether a thing is on another of what it was on: ``our CI runs on Jenkins``."""
    is_thing = "'s " in new.subject or new.subject.startswith("the ")
    is_thing |= new.attribute in {"be", "is", "go"}
    places = [_ON_NAMED.fullmatch(one.value) for one in (new, old)]
    ours, theirs = (found["where"] if found else "" for found in places)
    return new.is_change and is_thing and bool(ours) and ours == theirs


def is_other_version(new: Claim, old: Claim) -> bool:
    """Whether another version of what is used is used now: ``on Terraform 1.7``."""
    if not (new.is_change and new.sense == old.sense == "is" and new.value != old.value):
        return False
    if not {new.attribute, old.attribute} <= _RUNS:
        return False
    one, two = (_VERSION.fullmatch(claim.value) for claim in (new, old))
    return one is not None and two is not None and one["of"] == two["of"]


def is_other_plan(new: Claim, old: Claim) -> bool:
    """Whether who is on one plan, or what is, is on another now: ``the basic plan``."""
    if not (new.is_change and new.attribute == old.attribute == "place"):
        return False
    one, two = (_OF_MANY_KINDS.fullmatch(claim.value) for claim in (new, old))
    if one is None or two is None or not new.sense == old.sense == "is":
        return False
    return one["what"] == two["what"] and one["which"] != two["which"]


def is_other_tool(new: Claim, old: Claim) -> bool:
    """Whether somebody has switched between tools of a kind: from VS Code to Zed."""
    is_use = {new.attribute, old.attribute} <= {"use", "uses"} and new.sense == old.sense == "is"
    used = {spelled(new.value), spelled(old.value)}
    is_one_kind = len(used) > 1 and any(used <= one for one in TOOLS_OF_A_KIND)
    return is_use and new.is_change and is_one_kind


def is_other_place(new: Claim, old: Claim) -> bool:
    """Whether who was third is second: of such codes one holds at a time."""
    one, two = (_CODE.fullmatch(claim.value) for claim in (new, old))
    if new.attribute not in {"be", "is"} or one is None or two is None:
        return False
    return one["of"] == two["of"]


def is_by_other_means(new: Claim, old: Claim) -> bool:
    """Whether what is done by one means is done by another now: ``pays by card now``."""
    return new.is_change and all(_MEANS.fullmatch(one.value) for one in (new, old))


def is_at_other_site(new: Claim, old: Claim) -> bool:
    """Whether who was at one of a firm's places is at another now: ``in the Munich office``."""
    one, two = (_SITE.fullmatch(claim.value) for claim in (new, old))
    is_now = new.attribute == "place" and new.is_change and one is not None and two is not None
    return is_now and words(new.value)[-1:] == words(old.value)[-1:]


def is_by_last_word(subject: str, whole: str) -> bool:
    """Whether a thing is called by the last word of what it was: ``the deadline``."""
    what = spelled(subject).removeprefix("the ")
    full = spelled(whole)
    more = full.removeprefix("the ").removesuffix(what).split()
    is_known = full.startswith("the ") or bool(more and more[0].endswith("'s"))
    is_short = subject.lower().startswith("the ") and full.endswith(f" {what}")
    return is_short and is_known and bool(more) and JOINING.isdisjoint(more)


def is_by_first_words(subject: str, whole: str) -> bool:
    """Whether a thing is called without what told which one it is: ``the grant application``."""
    what, full = spelled(subject), spelled(whole)
    more = full.removeprefix(what).split()
    return (
        what.startswith("the ") and full.startswith(f"{what} ") and more[0] in {"for", "of", "to"}
    )


def is_other_price(new: Claim, old: Claim) -> bool:
    """Whether what costs so much a month costs so much now."""
    prices = [_PRICE.fullmatch(one.value) for one in (new, old)]
    each = {found["each"] for found in prices if found and found["each"]}
    is_cost = new.is_change and {new.attribute, old.attribute} <= {"costs", HABIT} and all(prices)
    return is_cost and len(each) < len(prices)


def is_in_other_grade(new: Claim, old: Claim) -> bool:
    """Whether a child at school is in another grade: ``in second grade``."""
    return new.value != old.value and all(_GRADE.fullmatch(one.value) for one in (new, old))


def is_of_other_rhythm(new: Claim, old: Claim) -> bool:
    """Whether what comes round so often comes round otherwise now: ``our retro is monthly now``."""
    are_rhythms = all(RHYTHM.fullmatch(one.value) for one in (new, old))
    return new.is_change and new.value != old.value and are_rhythms


def is_moved_elsewhere(new: Claim, old: Claim) -> bool:
    """Whether a thing that was somewhere by name has moved: ``production runs in Frankfurt``."""
    place = new.value.rpartition(" ")[2]
    is_region = re.fullmatch(REGION, place) is not None
    is_on = new.attribute == PLACE and _HOSTED.match(old.value) is not None
    if is_on and new.is_change and new.sense == "is" and new.subject.startswith("the "):
        return new.value != old.value.rpartition(" on ")[2]
    is_moved = new.attribute in {"move", "be"} or new.value.startswith("moved ")
    is_gone = is_moved and new.sense == "is" and _TO_ELSEWHERE.fullmatch(new.value) is not None
    is_at = new.attribute == "lives in" or (is_region and place == new.value)
    is_gone |= is_at and new.is_change and new.subject.startswith("the ")
    # What runs on Postgres may do so in another region.
    is_there = not is_region or _IN.search(old.value) is not None
    return is_gone and is_there and _SOMEWHERE.fullmatch(old.value) is not None
