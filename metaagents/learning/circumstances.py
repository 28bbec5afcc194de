"""Where somebody works and with whom they live: what is told of it that ends what was. Pure."""

from __future__ import annotations

from tiers.learning import spelled
from tiers.lexical import words

from .grammar.lexicon import TRADES
from .grammar.statement import HAS, KIND, LEFT, RELATION, Claim
from .habits import value_of

RELATIONS = frozenset(
    (
        "married to|engaged to|partner|girlfriend|boyfriend|fiance|fianc\u00e9|fianc\u00e9e|"
        "lives with"
    ).split("|")
)
COUPLED = RELATIONS - {"lives with"}
WORKING = frozenset(("is a", "works as"))
MARITAL = "state single"
_PARTED = frozenset("divorced separated single widowed".split())
_OUT_OF_WORK = frozenset(
    (
        ("lost job", "", "is"),
        ("lost", "job", "is"),
        (LEFT, "job", "over"),
        (HAS, "a job", "over"),
        ("is", "unemployed", "is"),
        ("is", "jobless", "is"),
        ("is", "out of work", "is"),
    )
)
"""What is said of who works nowhere: an attribute, its value and its sense."""
_GONE = frozenset((LEFT, f"the {where}", "over") for where in ("company", "firm", "organisation"))
_RETIRED = frozenset((("retired", "", "is"), ("is", "retired", "is")))
_PAIRED = frozenset(
    (HAS, f"a {one}", "is")
    for one in "boyfriend girlfriend partner fianc\u00e9 fianc\u00e9e".split()
)


def is_of_another_life(new: Claim, old: Claim) -> bool:
    """Whether what somebody is now, or has now, ends what they were: retired, married, alone."""
    held, said = old.attribute, (new.attribute, new.value, new.sense)
    is_paired = (new.attribute in COUPLED and new.sense == "is") or said in _PAIRED
    return (
        (new.attribute == MARITAL and _is_over_by(new, held))
        or (is_paired and (held, old.value) == (MARITAL, "single"))
        or (held.startswith("works ") and (said in _RETIRED or new.attribute == "retired at"))
        or (held == "works at" and said in _OUT_OF_WORK)
        or (held in {"leads", "works at", "works in"} and said in _GONE)
        or (held == "expects" and said == ("quit", "expecting a baby", "is"))
        or (held == "lives with" and said == ("live", "alone", "is"))
    )


def _is_over_by(new: Claim, held: str) -> bool:
    """Whether somebody lives without the one they had: divorced, not married any more."""
    is_parted = new.value in _PARTED and held in COUPLED
    is_denied = new.value == "married" and new.sense != "is"
    return is_parted or (is_denied and held == "married to")


def is_couple(new: Claim, old: Claim) -> bool:
    """Whether two are parted of whom one had the other: ``Tom and Ada got divorced``."""
    one, joint, other = new.subject.partition(" and ")
    if new.attribute == MARITAL and new.value == "married" and old.attribute == "engaged to":
        return {spelled(old.subject), spelled(old.value)} == {spelled(one), spelled(other)}
    is_parted = new.attribute == MARITAL and new.value in _PARTED and new.sense == "is"
    is_parted |= new.attribute == RELATION and new.sense == "over"
    if not joint or not is_parted or old.attribute not in COUPLED:
        return False
    return {spelled(old.subject), spelled(old.value)} == {spelled(one), spelled(other)}


def is_parted(new: Claim, old: Claim) -> bool:
    """Whether somebody has parted from whom they had by name: ``Ada's girlfriend is Hanna``."""
    is_over = new.attribute in RELATIONS and new.sense == "over" and old.sense == "is"
    owner, _, mate = spelled(old.subject).rpartition("'s ")
    is_mate = old.attribute in {KIND, "is", "be"} and mate in _MATES
    is_theirs = is_mate and owner == spelled(new.subject)
    is_hers = old.attribute in _MATES and spelled(old.subject) == spelled(new.subject)
    return is_over and (is_theirs or is_hers) and value_of(new) == value_of(old)


_MATES = COUPLED | {"wife", "husband", "spouse", "boyfriend", "girlfriend", "partner"}


def is_other_trade(new: Claim, old: Claim) -> bool:
    """Whether somebody is something else for a living now: ``a teacher now``."""
    is_now = new.is_change and new.sense == old.sense == "is" and value_of(new) != value_of(old)
    return is_now and all(one.attribute in WORKING and _is_trade(one) for one in (new, old))


def _is_trade(claim: Claim) -> bool:
    """Whether a claim is of what somebody does for a living."""
    return claim.attribute == "works as" or not TRADES.isdisjoint(words(claim.value)[-1:])
