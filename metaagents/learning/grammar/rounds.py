"""Whether the time of a clause is one day, or each of its name, or how long something takes. Pure.

``My exam is on Monday`` is of the next one; skiing is loved in every winter, bins are collected on
each Monday, and what is delivered in six weeks takes so long each time.
"""

from __future__ import annotations

from tiers.lexical import MONTHS, WEEKDAYS

from ...claims.forms import is_past
from ..regexes import any_case
from ..times import comes_round, is_season
from .frames import PLANNED
from .subjects import Subject
from .verbs import Verbal

AHEAD = frozenset("book sign plan order register enrol enroll apply expect".split())
"""What is done for a time to come: who signed up for a course in May means the next May."""
REGULAR = any_case(
    r"\b(?:weekly|fortnightly|biweekly|regular|annual|yearly"
    r"|(?:fiscal|financial|tax|school|academic) year)\b"
)
"""What says of itself that its day or month is each of that name: no date is made of it."""
_COMES = PLANNED | frozenset("be have end close expire go release ship move due happen die".split())
"""What is done once, at a time."""
_WITHIN = any_case(r"in (?!the )\w+ (?:minutes?|hours?|days?|weeks?|months?|years?)$")
_OWED = frozenset(
    "invoices bills payments books reports expenses refunds deposits returns fees claims "
    "applications submissions timesheets reviews replies orders".split()
)
"""What is due within a time each time, told of without an article."""
TASTES = frozenset("love like hate enjoy prefer adore dislike".split())
_SET_FOR_A_DAY = frozenset(
    "be have begin start end finish open close reopen resume arrive come go leave return move "
    "travel fly depart land meet visit play marry graduate retire die expire happen air release "
    "launch premiere ship drop vote announced published released launched held decided planned "
    "scheduled booked delivered expected moved invited opened closed shipped set".split()
)
"""What things do, or have done to them, on the one day that is set for it."""


_NAMED = "|".join((*WEEKDAYS, *MONTHS))
BEGAN = any_case(
    rf"(?:since|from|as of) (?:(?:early|late|mid|the|last|this) )?(?:{_NAMED}"
    r"|today|now|yesterday|week|month|first|1st)\b"
)
"""A beginning so near that something else was before."""
AT_SOME = any_case(
    r"\b(?:every|each|\w+days|weekends?|mornings|evenings|nights|spring|summer|autumn|fall|winter)\b"
)
"""Times of which somebody may be elsewhere at the others."""
AT_FIRST = any_case(r"\b(?:originally|initially|at first|previously|formerly)\b")
"""What was so first, and is told as that."""
_HAD = frozenset("have live work stay".split())


def _is_so_each_time(verbal: Verbal, time: str) -> bool:
    """Whether something is so whenever a time comes round: skiing is loved in every winter.

    What somebody does or has in a month or on a day may well be a plan; weekends come round.
    """
    if verbal.tense != "present" or verbal.is_progressive or verbal.lemma in AHEAD:
        return False
    is_lasting = verbal.lemma in TASTES or (verbal.lemma in _HAD and is_season(time))
    is_lasting |= time.lower() == "at the weekend" and verbal.lemma not in _COMES
    return bool(verbal.habit) or is_lasting


def is_done_each_day(subject: Subject, verbal: Verbal, time: str) -> bool:
    """Whether several things do something, or have it done, on each such day of the week.

    ``Backups run on Sunday``, ``bins are collected on Monday``; what begins, ends or comes on a
    Sunday may well do so once: ``exams start on Monday``.
    """
    day = time.lower().removeprefix("on ").partition(" ")[0]
    is_things = subject.sort != "speaker" and not subject.kind and subject.text.endswith("s")
    is_several = verbal.phrase.partition(" ")[0] in {"are", "aren't", "don't", verbal.lemma}
    is_so = verbal.tense == "present" and not verbal.is_progressive and verbal.lemma not in AHEAD
    what = verbal.rest.partition(" ")[0] if verbal.lemma == "be" else verbal.lemma
    is_done = (verbal.lemma != "be" or is_past(what)) and what not in _SET_FOR_A_DAY
    return day in WEEKDAYS and comes_round(time) and is_things and is_several and is_so and is_done


def _lasts(verbal: Verbal, time: str) -> bool:
    """Whether a time is how long something goes on: backups are kept for 90 days.

    Only what *has been* so for two years began two years ago.
    """
    return verbal.tense in {"present", "past"} and time.lower().startswith("for ")


def _is_how_long(verbal: Verbal, time: str) -> bool:
    """Whether a time is how long something takes each time: ``Kroll delivers in six weeks``.

    What begins, ends or comes in six weeks does so then.
    """
    is_rule = verbal.tense == "present" and not verbal.is_progressive
    return is_rule and _WITHIN.match(time) is not None and verbal.lemma not in _COMES


def _is_each_due(subject: Subject, verbal: Verbal, time: str) -> bool:
    """Whether it is the rule when things are due: ``invoices are due in 30 days``."""
    are_all = subject.text.lower() in _OWED
    is_due = verbal.lemma == "be" and verbal.rest.partition(" ")[0] in {"due", "paid", "payable"}
    return are_all and is_due and _WITHIN.match(time) is not None


def is_of_one_day(subject: Subject, verbal: Verbal, time: str) -> bool:
    """Whether a time is of one day, so that it is told with its date."""
    is_each = comes_round(time) and (
        is_done_each_day(subject, verbal, time)
        or REGULAR.search(subject.text) is not None
        or _is_so_each_time(verbal, time)
    )
    is_so_long = _lasts(verbal, time) or _is_how_long(verbal, time)
    return not (is_each or is_so_long or _is_each_due(subject, verbal, time))
