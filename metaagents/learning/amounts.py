"""How much, how many, how often and when: what took the place of another number. Pure."""

from __future__ import annotations

from tiers.learning import spelled
from tiers.lexical import NUMBER_WORDS, WEEKDAYS, words

from .grammar.frames import OFTEN
from .grammar.phrases import as_time
from .grammar.statement import HAS, NAME, TIME, Claim
from .likeness import Reading, read
from .regexes import any_case, regex
from .rewording import in_24_hours

_NAMED_BESIDE = regex(r"(?<=[a-z]) (?:(?:Dr|Mrs?|Ms|Prof)\.? )?(?!\w+'s )[A-Z][\w'-]+(?= )")
_EACH = regex(r"\bevery \d+ [a-z]+")
_DAYS = "|".join(WEEKDAYS)
ON_DAYS = any_case(
    rf"\bon (?:{_DAYS})s\b(?:(?:, | and |, and )(?:{_DAYS})s\b)*(?: instead of \w+days)?"
    r"|\bat \d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?(?!\w)"
)
_HOW_OFTEN = frozenset(
    "time once twice day night week weekend month year morning evening afternoon daily weekly "
    "nightly summer winter spring autumn other second third fourth last few".split()
) | frozenset(WEEKDAYS)
_PARTICLES = frozenset("out up off over down".split())
_DIGITS = regex(r"\d+(?:\.\d+)?")
_LIMIT = any_case(r"\b(?:over|above|below|under|up to|more than|less than|at least) \D?\d")
_ONE_OF = regex(r"\bone (?=[a-z]+(?:$| (?:of|an?|per)\b))")
_DOSE = regex(
    r"(?P<much>\d[\d.,]* ?(?P<unit>mg|g|ml|mcg|units?)) (?:of )?(?P<what>\w+)"
    r"(?: (?:daily|nightly|(?:once |twice )?(?:a|per|every|each) (?:day|night|morning|evening)))?"
)


def is_on_other_days(new: Claim, old: Claim) -> bool:
    """Whether what was done on one day, at an hour or so often is done at another now."""
    one, two = (ON_DAYS.subn("", claim.value) for claim in (new, old))
    is_day = one == two and bool(one[1])
    rest, before = (OFTEN.sub("", claim.value) for claim in (new, old))
    is_same = rest in {before, _NAMED_BESIDE.sub("", before)} and _counted(new) == _counted(old)
    is_often = is_same and before != old.value and rest != new.value != old.value
    is_now = new.is_change and new.sense == old.sense == "is"
    return is_now and (is_day or is_often)


def _counted(claim: Claim) -> frozenset[str]:
    """Return what is so often in a value, and not how often: ``coffee``, of ``of coffee a day``."""
    said = read(" ".join(found.group() for found in OFTEN.finditer(claim.value)))
    return said.content - said.numbers - _HOW_OFTEN


def is_otherwise_now(new: Claim, old: Claim) -> bool:
    """Whether what is so now differs in a number only: ``logs are kept for 30 days``."""
    one, two = (read(in_24_hours(claim.text)) for claim in (new, old))
    is_told = bool(one.numbers and two.numbers) and one.numbers != two.numbers
    is_so = new.is_change and new.sense == old.sense == "is" and not ON_DAYS.search(new.text)
    return is_so and is_told and one.content - one.numbers == two.content - two.numbers


def is_of_other_limit(new: Claim, old: Claim) -> bool:
    """Whether a rule begins at another number now: ``orders over 500 euros need approval``."""
    has_limits = all(_LIMIT.search(one.subject) for one in (new, old))
    return has_limits and is_otherwise_now(new, old)


def is_a_year_older(new: Claim, old: Claim) -> bool:
    """Whether who was five turned six: another child of theirs hardly did."""
    ages = [_age(one) for one in (new, old)]
    return new.attribute == "age" and " turned " in new.text and ages[0] == ages[1] + 1 > 1


def _age(claim: Claim) -> int:
    number = claim.value.partition(" ")[0].lower()
    return int(number) if number.isdigit() else NUMBER_WORDS.get(number, -1)


def is_other_count(new: Claim, old: Claim) -> bool:
    """Whether both say how many of the same there are, or after how long it comes again."""
    is_weight = new.value.startswith("weigh ")
    is_done = new.attribute.startswith("has ")
    is_more = new.is_change or is_done
    is_many = new.attribute in {HAS, "uses", "use", "run"} or is_more or is_weight
    is_each = all(_EACH.search(one.value) is not None for one in (new, old))
    if not (is_many or is_each):
        return False
    one, two = (read(_ONE_OF.sub("1 ", claim.value)) for claim in (old, new))
    if {*words(new.value)} & _PARTICLES != {*words(old.value)} & _PARTICLES:
        return False  # who works out four days a week works three
    if is_done and not new.is_change and _most(two) <= _most(one):
        return False  # what one has tried grows
    rest = two.content - two.numbers
    is_same = one.content - one.numbers == rest or (is_more and _opens_with(one, rest))
    return bool(rest and one.numbers and two.numbers) and is_same


def _most(said: Reading) -> float:
    """Return the greatest number of a text that is told in digits or by a word; 0 without."""
    return max((float(one) for one in said.numbers if _DIGITS.fullmatch(one)), default=0)


def _opens_with(said: Reading, thing: frozenset[str]) -> bool:
    """Whether what is counted is told first, and more of it after that: ``bikes in the cellar``."""
    told = [word for word in said.order if not word.isdigit()]
    return frozenset(told[: len(thing)]) == thing


def is_other_dose(new: Claim, old: Claim) -> bool:
    """Whether of what somebody takes it is more or less now: ``my lisinopril is 20 mg now``."""
    dose = _DOSE.fullmatch(old.value) if old.attribute == "takes" else None
    if dose is None or new.attribute != "number" or not new.is_change:
        return False
    is_it = spelled(new.subject) == spelled(f"{old.subject}'s {dose['what']}")
    return is_it and new.value != dose["much"] and units(new) == frozenset((dose["unit"],))


def units(claim: Claim) -> frozenset[str]:
    """Return the words beside the number of a value: euros are no months."""
    known = read(claim.value.removesuffix(" each way"))
    if (
        claim.attribute in {TIME, NAME, "place", "address"}
        or not known.numbers
        or as_time(claim.value)
        or not known.content - known.numbers
    ):
        return frozenset()
    is_measure = claim.attribute != "is" and claim.attribute.endswith("s")
    is_measure |= claim.attribute == "number"
    return known.content - known.numbers if is_measure else frozenset()
