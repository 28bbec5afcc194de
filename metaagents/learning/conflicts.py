"""Which claims cannot stand side by side: of one value at a time, or one ends the other. Pure."""

from __future__ import annotations

from tiers.learning import spelled
from tiers.lexical import words

from .alternatives import (
    BY_NAME,
    JOINING,
    is_at_other_site,
    is_by_first_words,
    is_by_last_word,
    is_by_other_means,
    is_in_other_grade,
    is_moved_elsewhere,
    is_of_other_rhythm,
    is_on_another,
    is_other_place,
    is_other_plan,
    is_other_price,
    is_other_tool,
    is_other_version,
)
from .amounts import (
    ON_DAYS,
    is_a_year_older,
    is_of_other_limit,
    is_on_other_days,
    is_other_count,
    is_other_dose,
    is_otherwise_now,
    units,
)
from .circumstances import (
    RELATIONS,
    WORKING,
    is_couple,
    is_of_another_life,
    is_other_trade,
    is_parted,
)
from .grammar.changes import DEPARTMENT, MONTH
from .grammar.lexicon import CARERS, DIETS, DWELLING, OFFICES
from .grammar.statement import (
    DIED,
    DOES,
    DONE,
    HABIT,
    HAS,
    KIND,
    LEFT,
    NAME,
    PLAN,
    RELATION,
    TIME,
    Claim,
)
from .habits import gives_up, is_taken_up, value_of
from .likeness import read
from .regexes import regex
from .states import is_handed_over, is_of_what_is_gone, is_other_measure, is_otherwise

MEMBERSHIPS = frozenset(
    "works at|works as|lives in|member of|sings in|plays for|place|volunteers at|goes to|stays in|"
    "works in|studied at".split("|")
)
"""What somebody leaves; the place of a thing is filed as such too."""
_AT_PLACES = MEMBERSHIPS | frozenset(("visited", "is from", "was born in", "grew up in"))
"""Of these the value is a name, and may be told with what stands behind its comma."""
USES = frozenset(("drives", "uses", "wears", "rents"))
"""What ends for who has the thing no more; who sold the piano may play on."""
ARRANGED = "plans"
_LASTING = frozenset(
    (NAME, KIND, "is a", "was born", "was born in", "grew up in", "is from", "age")
)
"""What stays true of who has died."""
_FOR_ONE = MEMBERSHIPS | RELATIONS | _LASTING
"""All else of which somebody has one ends with whom or what was dropped: ``our supplier is``."""
_SETS_OUT = frozenset("leaves departs starts begins".split())
_TO_A_DATE = frozenset("a an the my our have go to attend take do".split())
_WHO_IS = regex(
    r"^(?:[\w-]+'s (?:[a-z-]+ ){1,2}|(?:Customer|Client|Partner|Supplier|Vendor|Team) )"
    r"(?=[A-Z][\w'-]*$)"
)
"""Who somebody is who has a name: ``Ada's friend Rachel``, ``Customer Acme``."""
_CODED = regex(r"(?:the )?(?:[A-Za-z]+ )?([A-Z]{2,8}-\d+)")
"""What goes by a code, with or without what it is: ``the incident INC-42``."""
_AUNT = regex(r"(?:aunt|auntie|uncle|cousin|grandma|grandpa|granny) \w+")
_MOSTLY_ONE = frozenset("mentor tutor landlord landlady".split())
_WITH_NAMED = regex(rf"(?P<what>(?:[a-z]+ )?(?:with|at|to|from|for)) {BY_NAME}")
_FOR_PUPILS = frozenset("academy elementary high kindergarten preschool primary school".split())
_IN_ROOMS = regex(rf"in {DWELLING}\b")
_AGES = regex(r"\d{1,2}(?:, \d{1,2})*,? and \d{1,2}")
_AT_NAMED = regex(r" at (?:the )?[A-Z][\w'&. -]*$")
_ON_DATE = regex(rf"(?:on )?(?:\d{{1,2}} (?:{MONTH})|(?:{MONTH}) \d{{1,2}})(?:,? \d{{4}})?")
_DEPARTMENT = regex(DEPARTMENT)
_AT = ("at", "of", "in", "for", "with")
_SCALES = tuple(
    frozenset(line.split())
    for line in (
        "dark light", "morning afternoon evening night", "aisle window middle", "hot cold",
        "metric imperial", "part full", "short long", "early late", "spicy mild", "formal informal",
    )
)  # fmt: skip
"""Words of which one rules out the others, where they are said of the same."""
_OPPOSITE = {"is": {"not", "never", "over"}, "not": {"is"}, "never": {"is"}, "over": set()}


def ends(new: Claim, old: Claim) -> bool:
    """Whether what a later claim says is not so beside what an earlier one said."""
    if old.sense == "over" and new.sense == "never" and is_of(new.subject, old.subject):
        return new.attribute == old.attribute and value_of(new) == value_of(old)
    is_off = _cancels(new, old) or is_of_what_is_gone(new, old)
    if old.sense == "over" or (new.is_ahead != old.is_ahead and not is_off):
        return False
    if is_of(new.subject, old.subject):
        if any(ended(new, old) for ended in _ENDINGS):
            return True
        if _verb(new) == _verb(old) or {new.attribute, old.attribute} == {"be", "is"}:
            return _replaces(new, old)
        return old.sense == "is" and (_leaves(new, old) or _is_given_away(new, old))
    is_over = (new.attribute == DIED and _is_named(new.subject, old)) or _is_kept_no_more(new, old)
    ways = (
        is_couple,
        is_parted,
        _is_upgraded,
        is_other_dose,
        is_handed_over,
        _is_of_ours,
        _is_of_the_one,
        _is_out_of_office,
        _is_renamed,
        _is_renewed,
        _is_held_by_another,
        is_of_other_limit,
        is_of_what_is_gone,
    )
    return old.sense == "is" and (is_over or any(ended(new, old) for ended in ways))


def _verb(claim: Claim) -> str:
    """Return an attribute as of several: ``gets`` is what they ``get``."""
    return claim.attribute.removesuffix("s")


def _is_of_ours(new: Claim, old: Claim) -> bool:
    """Whether what is told of "the price" or "the CEO" now was told of what is somebody's."""
    what = spelled(new.subject).removeprefix("the ")
    is_role = old.attribute == what and new.attribute in {KIND, "is"}
    is_thing = spelled(old.subject).endswith(f"'s {what}") and new.attribute == old.attribute
    is_other = new.sense == "is" and value_of(new) != value_of(old)
    is_now = new.is_change and old.is_single and new.subject.lower().startswith("the ")
    return is_now and is_other and (is_role or is_thing)


def _is_of_the_one(new: Claim, old: Claim) -> bool:
    """Whether what is told of "the deadline" now was told of, say, the project deadline."""
    is_told = new.is_change and new.attribute in {TIME, "be", "is"}
    is_it = is_told and is_by_last_word(new.subject, old.subject)
    is_it |= new.attribute in {TIME, "is due"} and is_by_first_words(new.subject, old.subject)
    return is_it and _verb(new) == _verb(old) and _replaces(new, old)


def _is_out_of_office(new: Claim, old: Claim) -> bool:
    """Whether who was somebody's or the CTO is it no more: ``Anna stepped down as CTO``."""
    post = spelled(new.value).removeprefix("the ")
    is_over = new.sense == "over" and new.attribute in {KIND, "is", "is a", "be"}
    return is_over and spelled(old.attribute) == post and spelled(old.value) == spelled(new.subject)


def _is_renamed(new: Claim, old: Claim) -> bool:
    """Whether what was called so is called otherwise now: ``we renamed master to main``."""
    is_other = new.is_change and new.value.startswith("called ") and new.value != old.value
    is_name = old.attribute in {NAME, "be", "is"}
    return is_other and is_name and is_of(old.value.removeprefix("called "), new.subject)


def _is_held_by_another(new: Claim, old: Claim) -> bool:
    """Whether an office that one holds is another's now: ``the treasurer of the club``."""
    post, of, _ = new.value.removeprefix("the ").partition(" of ")
    is_office = bool(of) and post in OFFICES and new.value == old.value
    is_one = new.attribute == old.attribute and new.attribute in {"is", "is a", KIND}
    return new.is_change and new.sense == "is" and is_office and is_one


def _is_renewed(new: Claim, old: Claim) -> bool:
    """Whether what would have expired was renewed since: ``I renewed my passport``."""
    return new.attribute == "renew" and old.attribute == "expires" and new.value == old.subject


def _is_called_otherwise(new: Claim, old: Claim) -> bool:
    """Whether it has another name now: ``the main branch is called main now``."""
    return new.is_change and all(one.value.startswith("called ") for one in (new, old))


def _is_kept_no_more(new: Claim, old: Claim) -> bool:
    """Whether somebody has no more what a thing of theirs was: ``my car is a Golf``."""
    if new.attribute in {"cancelled", TIME}:
        return _is_called_off(new, old)
    is_what = old.attribute in {KIND, "is a"} and is_theirs(old.subject, new.subject)
    is_gone = new.attribute in {HAS, "changed"} and new.sense == "over"
    own = spelled(old.subject).removeprefix(f"{spelled(new.subject)}'s ")
    thing = new.value.removeprefix("the ")
    is_it = value_of(new) == value_of(old) or own == thing
    is_it |= thing[:1].isupper() and _closes(old.value, thing)
    return is_what and is_gone and is_it and "'s " not in own


def _is_given_away(new: Claim, old: Claim) -> bool:
    """Whether somebody has by name no more what they had: ``a dog called Rex``."""
    return new.attribute == "have" and new.sense == "over" and _is_named(new.value, old)


def _is_called_off(new: Claim, old: Claim) -> bool:
    """Whether what somebody had before them is off or moved: ``my appointment``.

    Of what has more of a name than that it may be another.
    """
    if new.attribute == TIME and not new.is_change:
        return False
    thing = spelled(new.subject).removeprefix("the ").removeprefix(f"{spelled(old.subject)}'s ")
    planned = ON_DAYS.sub("", spelled(old.value))
    is_on_days = old.attribute == HABIT and planned != spelled(old.value)
    is_planned = (old.attribute == ARRANGED or is_on_days) and thing != spelled(new.subject)
    return is_planned and frozenset(words(thing)) - _TO_A_DATE == (
        frozenset(words(planned)) - _TO_A_DATE
    )


def is_theirs(thing: str, owner: str) -> bool:
    """Whether a thing is told of as somebody's: ``Ada's budget``."""
    return spelled(thing).startswith(f"{spelled(owner)}'s ")


def is_of(one: str, other: str) -> bool:
    """Whether a subject is that of before, however written: ``Rachel`` as ``Ada's friend Rachel``.

    ``My aunt Emily`` may be another one than an ``Emily`` who was spoken of.
    """
    if one == _WHO_IS.sub("", other):
        return True
    codes = [_CODED.fullmatch(text) for text in (one, other)]
    if all(codes):
        return len({found and found[1] for found in codes}) == 1
    ours, theirs = (spelled(text).removeprefix("the ") for text in (one, other))
    is_aunt = any(_AUNT.fullmatch(who) for who in (ours, theirs))
    if is_aunt and (ours.endswith(f"'s {theirs}") or theirs.endswith(f"'s {ours}")):
        return True
    return ours == theirs or _bare(ours) == _bare(theirs)


def _bare(subject: str) -> str:
    """Return a subject with ``email`` for ``e-mail address``, ``number`` for that of a phone."""
    subject = subject.replace("e-mail", "email")
    subject = subject.replace("phone number", "number")
    return subject.removesuffix(" address") if subject.endswith("mail address") else subject


def _replaces(new: Claim, old: Claim) -> bool:
    """Whether two values of one attribute cannot stand side by side."""
    if is_on_other_days(new, old):
        return True
    is_gone = new.attribute == HAS and new.sense == "over" and _is_closed_by(old.value, new.value)
    if value_of(new) == value_of(old) or is_gone:
        is_otherwise = is_otherwise_now(new, old) or _is_on_another_way(new, old)
        return new.sense in _OPPOSITE[old.sense] or is_otherwise
    if new.sense != "is" or old.sense != "is":
        is_all = old.sense == "is" and _is_of_namesake(old.value, new.value)
        return is_all and new.attribute in _AT_PLACES
    if _is_of_namesake(new.value, old.value) or _is_of_namesake(old.value, new.value):
        return False  # "Lyon, France" may be the Lyon that was said
    if new.is_single and (old.is_single or new.corrects):
        return units(new) == units(old)
    ways = (
        _is_moved,
        _is_put_right,
        is_other_count,
        _is_other_kind,
        is_on_another,
        _is_with_another,
        _is_other_usual,
        _is_set_anew,
        _is_called_otherwise,
        is_a_year_older,
        _is_other_diet,
        _is_another_since,
        is_other_place,
        is_by_other_means,
        is_at_other_site,
        is_in_other_grade,
        is_of_other_rhythm,
    )
    return any(replaces(new, old) for replaces in ways)


def _is_moved(new: Claim, old: Claim) -> bool:
    """Whether who is at one place, of one sort, has gone to another, or drives one now."""
    if new.attribute == "goes to":
        heads = {_head(new), _head(old)}
        return new.is_change and (len(heads) == 1 or heads <= _FOR_PUPILS)
    if new.attribute == "is due":
        return new.is_change or all(_ON_DATE.fullmatch(one.value) for one in (new, old))
    if new.attribute == "live":
        return new.is_change and all(_IN_ROOMS.match(one.value) for one in (new, old))
    if new.attribute == "works in":  # who works in Rome works in sales as well
        return new.is_change and all(_DEPARTMENT.fullmatch(one.value) for one in (new, old))
    is_plain = new.attribute == "drives" and set(_AT).isdisjoint(words(new.value))
    return new.is_change and (is_plain or new.attribute == "lives in")


def _is_on_another_way(new: Claim, old: Claim) -> bool:
    """Whether who went to work in one way goes in another now: ``cycles to work now``."""
    is_on_some = any(ON_DAYS.search(one.text) for one in (new, old))
    is_otherwise = new.is_change and new.text != old.text and not is_on_some
    return new.attribute == "commutes" and is_otherwise


def _is_with_another(new: Claim, old: Claim) -> bool:
    """Whether what somebody does with one by name is done with another: ``bank with Nordea``."""
    one = _WITH_NAMED.fullmatch(new.value) if new.is_change else None
    two = _WITH_NAMED.fullmatch(old.value) if one else None
    return one is not None and two is not None and one["what"] == two["what"]


def _is_other_usual(new: Claim, old: Claim) -> bool:
    """Whether somebody does otherwise what they usually do somewhere: ``order at Nando's``."""
    places = [_AT_NAMED.search(one.value) for one in (new, old)]
    if not (new.is_change and new.attribute == HABIT and all(places)):
        return False
    ours, theirs = (found and found.group() for found in places)
    return ours == theirs and words(new.value)[:1] == words(old.value)[:1]


def _is_another_since(new: Claim, old: Claim) -> bool:
    """Whether who has one at a time, as a rule, has had another one since: ``my mentor``."""
    is_since = new.is_change or " since " in new.text
    return new.attribute in _MOSTLY_ONE and is_since and new.sense == old.sense == "is"


def _is_other_diet(new: Claim, old: Claim) -> bool:
    """Whether who ate in one way eats in another now: ``vegetarian``."""
    return new.is_change and new.attribute == "is" and {new.value, old.value} <= DIETS


def _is_put_right(new: Claim, old: Claim) -> bool:
    """Whether a claim names what the other has as wrong: ``called Felix, not Max``."""
    return bool(new.not_so and value_of(old)) and value_of(old) <= frozenset(words(new.not_so))


def _is_no_such(new: Claim, old: Claim) -> bool:
    """Whether whom somebody has as one is named as no such: ``my cousin, not my sister``."""
    is_one = old.sense == "is" and value_of(new) == value_of(old)
    return is_one and words(new.not_so)[-1:] == [old.attribute]


def _is_other_kind(new: Claim, old: Claim) -> bool:
    """Whether both are of the same things, of which somebody has one kind at a time."""
    if new.attribute not in {"prefers", "follow", "speaks", "use", "uses", "works"} or _head(
        new
    ) != _head(old):
        return False
    # "I prefer aisle seats now": of the same things another kind. Dark mode is no light mode.
    is_other = new.attribute in {"prefers", "follow", "speaks"} and new.is_change
    return is_other or any(_is_one_of_each(scale, new.value, old.value) for scale in _SCALES)


def _is_one_of_each(scale: frozenset[str], one: str, other: str) -> bool:
    """Whether two values differ in which of some words they have, and in nothing else."""
    ours, theirs = set(words(one)), set(words(other))
    return ours ^ theirs <= scale and bool(ours & scale) and bool(theirs & scale)


def _is_set_anew(new: Claim, old: Claim) -> bool:
    """Whether what is one word is another word now: ``I changed my username to sam2``."""
    are_words = all(" " not in one.value for one in (new, old))
    are_ages = all(_AGES.fullmatch(one.value) for one in (new, old))
    is_one = new.is_single or spelled(new.subject).endswith("'s pronouns")
    return new.attribute in {"be", "is"} and new.is_change and (are_ages or (is_one and are_words))


def _is_of_namesake(exact: str, name: str) -> bool:
    """Whether a place or firm is told by name and more: ``London, Ontario`` is a London."""
    return bool(name) and exact.lower().startswith(f"{name.lower()},")


def _is_upgraded(new: Claim, old: Claim) -> bool:
    """Whether a thing of somebody's ran on a version of what they use another of now.

    Of what but one of their things was upgraded to they are told to "run" it.
    """
    is_of_all = new.attribute in {"use", "uses"} and is_theirs(old.subject, new.subject)
    return is_of_all and is_other_version(new, old)


def _is_seen_no_more(new: Claim, old: Claim) -> bool:
    """Whether somebody sees no more whom they saw for their health: ``my therapist is``."""
    is_over = new.attribute == "sees" and new.sense == "over"
    return is_over and old.attribute in CARERS and value_of(new) == value_of(old)


def _leaves(new: Claim, old: Claim) -> bool:
    """Whether a claim says that what another attribute held is over."""
    if any(leaves(new, old) for leaves in (_is_past, is_moved_elsewhere, _is_seen_no_more)):
        return True
    is_there = old.attribute in {DOES, "run"} and _closes(old.value, new.value)
    is_post = new.attribute == LEFT and old.value.endswith(f" at {new.value}")
    is_it = (
        value_of(new) == value_of(old)
        or (new.attribute == "changed" and is_there)
        or _is_of_namesake(old.value, new.value)
        or (new.attribute == HAS and _is_closed_by(old.value, new.value))
        or (new.attribute == "changed" and old.value.startswith(f"{new.value} as "))
        or is_post
    )
    if not value_of(new) or not is_it or new.sense != "over":
        return _cancels(new, old)
    ended = {LEFT: MEMBERSHIPS, RELATION: RELATIONS, "married to": RELATIONS, HAS: USES}
    is_ended = new.attribute == "changed" and old.attribute not in _LASTING | {"visited", DONE}
    is_ended |= old.attribute in ended.get(new.attribute, frozenset())
    is_ended |= is_post and old.attribute in WORKING
    is_ended |= new.attribute == "likes" and old.attribute.startswith("favourite ")
    is_dropped = new.attribute in {"supports", "uses", "changed"}
    is_kept = old.attribute in _FOR_ONE or old.attribute.startswith("favourite ")
    is_ended |= is_dropped and old.is_single and not is_kept
    return is_ended or _cancels(new, old)


def _is_past(new: Claim, old: Claim) -> bool:
    """Whether what has come to pass ends what another attribute held, whatever that was."""
    held = old.attribute
    return (
        is_of_another_life(new, old)
        or (new.attribute == DIED and held not in _LASTING)
        or (new.attribute == "cancelled" and held in {TIME, *_SETS_OUT})
        or (new.attribute == TIME and new.is_change and held in _SETS_OUT)
        or (new.attribute == TIME and new.is_change and ON_DAYS.fullmatch(old.value) is not None)
        or (new.attribute == DONE and held == "is training for" and _is_of_it(new, old))
    )


def _is_of_it(new: Claim, old: Claim) -> bool:
    """Whether what was done is what another claim is about: ``ran the marathon``."""
    return read(new.value.partition(" ")[2]).content == value_of(old)


def _is_in_post_no_more(new: Claim, old: Claim) -> bool:
    """Whether somebody is no more what they were somewhere: ``the captain of the team``."""
    is_over = new.sense == "over" and old.sense == "is" and new.attribute == old.attribute == "is a"
    return is_over and old.value.startswith(tuple(f"{new.value} {at} " for at in _AT))


def _cancels(new: Claim, old: Claim) -> bool:
    """Whether a trip is off that was planned."""
    is_off = new.attribute in {PLAN, "visited"} and new.sense == "over" and old.is_ahead
    return is_off and bool(value_of(new)) and value_of(new) <= value_of(old)


def _is_named(name: str, old: Claim) -> bool:
    """Whether who has died is whom somebody had: ``a cat called Minka``."""
    is_so_called = not {"called", "named"}.isdisjoint(words(old.value))
    return old.attribute == HAS and is_so_called and _closes(old.value, name)


def _closes(text: str, name: str) -> bool:
    """Whether a text ends with a name: ``host on AWS``."""
    said, sought = words(text), words(name)
    return bool(sought) and said[-len(sought) :] == sought


def _is_closed_by(had: str, gone: str) -> bool:
    """Whether what is gone by name, or the new one, is what somebody had."""
    thing = gone.removeprefix("a ").removeprefix("the ")
    is_new = had.removeprefix("a ") in {f"new {thing}", f"brand new {thing}"}
    before = words(had)[: -len(words(thing)) or None]
    is_it = _closes(had, thing) and JOINING.isdisjoint(before)  # a case for an iPhone is none
    return is_new or (any(map(str.isupper, thing)) and is_it)


def _head(claim: Claim) -> str:
    return next(iter(words(claim.value)[-1:]), "")


_ENDINGS = (
    gives_up,
    is_other_trade,
    _is_in_post_no_more,
    is_taken_up,
    is_other_tool,
    is_other_plan,
    is_other_version,
    is_other_price,
    _is_no_such,
    is_otherwise,
    is_other_measure,
    is_of_what_is_gone,
)
"""Ways to end what is told of the same one, by whatever attribute."""
