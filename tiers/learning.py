"""Learning: comparing facts, keeping count of playbooks, and how far was read.

Two facts are of one identity bucket when they are of one graph and user, equally private (and then
of one writer), and whoever may see the old one may see the new one: the old one's topics are among
the new one's, or the new one has none.
"""

from __future__ import annotations

import unicodedata
from datetime import datetime
from functools import lru_cache
from typing import TypeAlias

from .errors import UsageError
from .lexical import UNSEEN, content_words, words
from .records import Fact, Moment, Record, Source, Superseded
from .terms import term_of

OUTCOMES_DENSE = 3
"""So many outcomes a rule needs before they count in its ranking: fewer are chance."""

OUTCOMES_SPAN = 0.25
"""What a rule gains that always works, or loses that never does, at most: a quarter of its score.

So one that has failed stays to be found, and a proven one passes what fits a little better.
"""

DENIAL_COSTS = 0.1
"""Confidence that a denied fact loses (Atlas: the same)."""


# Behind NFKC, which leaves no other hyphen that joins. Casefolding makes two letters of the last.
_AS_TYPED = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u0130": "i"}
)

REMEMBERED_TEXTS = 4_096
"""Texts of facts whose words are remembered: a turn looks at the same ones as the one before."""

ENDING_TERMS = frozenset(
    map(
        term_of,
        # Denials, as words are told apart: "doesn't" is one word.
        "not no never none nothing nobody neither nor without cannot cant dont doesnt didnt isnt "
        "arent wasnt werent wont wouldnt shouldnt couldnt hasnt havent hadnt aint untrue false "
        "wrong mistake mistaken incorrect joke joking kidding misheard misunderstood "
        # That something is over.
        "longer anymore formerly former ex ended end ends over off stopped stop stops quit quits "
        "finished gave given left leaves leaving sold died dead dies passed divorced separated "
        "split broke retired resigned fired cancelled canceled dropped ditched lost gone closed "
        "expired abandoned rid donated returned replaced scrapped recovered cured healed outgrew "
        "done out "
        # That it has changed.
        "now nowadays currently instead again these since moved moving switched switch changed "
        "became become turned upgraded renamed postponed rescheduled renewed extended started "
        "took taken rather correction new up down back went raised increased reduced cut lowered "
        "tightened scaled grown promoted graduated succeeded stepped laid migrated rewrote traded "
        "rebooked transferred delayed pushed stolen removed unsubscribed reassigned reached born "
        "reopened resolved married engaged adopted learned learnt".split(),
    )
)
"""Stems of which what denies an earlier statement, or says that it is over, has one at least."""

TWINS_MAX = 1_000
"""So many facts that say the same are forgotten together."""


def outcome_factor(successes: int, failures: int) -> float:
    """Return what a rule's outcomes make of its score: 1 below ``OUTCOMES_DENSE`` of them.

    ``1 + OUTCOMES_SPAN * (2 * rate - 1)`` with ``rate = (successes + 1) / (outcomes + 2)``, the
    mean of a Beta distribution that began as Beta(1, 1) (Laplace's rule of succession, 1774): three
    confirmations count for less than thirty, and as many of each for nothing.
    """
    outcomes = successes + failures
    if outcomes < OUTCOMES_DENSE:
        return 1.0
    rate = (successes + 1) / (outcomes + 2)
    return 1 + OUTCOMES_SPAN * (2 * rate - 1)


def fact_key(fact: Fact) -> tuple[str, str] | None:
    """Return the address of a keyed fact, subject and predicate in one spelling; else ``None``.

    Spelled as names are: see ``spelled``.
    """
    if fact.subject is None or fact.predicate is None:
        return None
    subject, predicate = spelled(fact.subject), spelled(fact.predicate)
    return (subject, predicate) if subject and predicate else None


def spelled(text: str) -> str:
    """Return a name in the one spelling in which names are compared; empty if it has no letters.

    Case, compatibility forms, underscores, runs of white space, what is not shown, and whether
    apostrophes and hyphens are a keyboard's or a printer's make no difference.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", UNSEEN.sub("", text)).translate(_AS_TYPED)
    return " ".join(text.casefold().replace("_", " ").split())


def is_ahead(fact: Fact, now: datetime | None = None) -> bool:
    """Whether a fact is to hold later than now: it stands beside what holds until then.

    Without ``now``, later than it was said.
    """
    now = now or fact.said_at or fact.recorded_at
    return fact.valid_from is not None and fact.valid_from > now


def is_live(fact: Fact) -> bool:
    """Whether a fact is held to be true: not superseded, forgotten, retired or redacted."""
    ends = {fact.superseded_by, fact.forgotten_at, fact.retired_at, fact.redacted_at}
    return ends == {None}


def may_end_another(fact: Fact) -> bool:
    """Whether a fact has a word by which something is denied or over; most facts have none."""
    return _has_ending(fact.text)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _has_ending(text: str) -> bool:
    return not ENDING_TERMS.isdisjoint(map(term_of, words(text)))


def telling_terms(fact: Fact) -> frozenset[str]:
    """Return the stems of what a fact says, save for its user's name, which all of theirs have.

    What ends a fact has one of them, as a rule.
    """
    return _telling_terms(fact.text, fact.user_id or "")


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _telling_terms(text: str, user_id: str) -> frozenset[str]:
    about = {*words(user_id), USER}
    said = (term_of(one) for one in content_words(text) if one not in about)
    return frozenset(said) - ENDING_TERMS - {""}


def was_true(fact: Fact) -> bool:
    """Whether a fact was true until another took its place, and is still told as the past."""
    is_kept = {fact.forgotten_at, fact.retired_at, fact.redacted_at} == {None}
    return is_kept and fact.superseded_as == "natural"


def may_be_found(fact: Fact) -> bool:
    """Whether some question still finds a fact, as what holds or as what once did."""
    return is_live(fact) or was_true(fact)


def may_stand_again(fact: Fact) -> bool:
    """Whether a fact holds, or would if what it gave way to were rolled back.

    Also what was denied; not what gave way as a duplicate, since it says what would be gone.
    """
    is_kept = {fact.forgotten_at, fact.retired_at, fact.redacted_at} == {None}
    return is_kept and fact.superseded_as != "duplicate"


def held_until(fact: Fact, successor: Fact | None) -> datetime | None:
    """Return when a fact that has given way ceased to hold; ``None`` if it never began to.

    When somebody said so; else when what took its place began to hold, was said, or took it. An
    end before its beginning says nothing.

    Args:
        fact: What has given way.
        successor: What took its place, where that is known.
    """
    ends = [fact.valid_to, fact.superseded_at]
    if successor is not None:
        ends[1:1] = [successor.valid_from, successor.said_at]
    since = fact.valid_from
    return next((end for end in ends if end and (since is None or since < end)), None)


def may_give_way(old: Fact, new: Fact) -> bool:
    """Whether the two are of one identity bucket, so that ``old`` may give way to ``new``."""
    same_owner = (old.tenant, old.graph_id, old.user_id, old.private) == (
        new.tenant,
        new.graph_id,
        new.user_id,
        new.private,
    )
    if not same_owner or (old.private and old.agent_id != new.agent_id):
        return False
    return not new.topics or (bool(old.topics) and set(old.topics) <= set(new.topics))


def check_as_visible(old: Fact, *, is_private: bool, field: str, value: object) -> None:
    """Refuse to let what is private take the place of a fact that others see: they would see none.

    Raises:
        UsageError: It would; ``field`` and ``value`` say what was asked for.
    """
    if is_private and not old.private:
        raise UsageError(field, value, "no private fact in the place of one that others see")


SaidOrder: TypeAlias = tuple[datetime, int, int, datetime, str]


def said_order(fact: Fact) -> SaidOrder:
    """Return what facts are ordered by, to tell which of two statements is the later one.

    When it was said, the turn and the place in it; only then when it was recorded. Ids order
    nothing but what was said at one place.
    """
    said_at = fact.said_at or fact.recorded_at
    return (said_at, fact.said_seq, fact.said_place, fact.recorded_at, fact.id)


def said_again(fact: Fact, later: Fact) -> Fact | None:
    """Return a fact with the moment at which ``later`` said the same; ``None`` if that is no later.

    What was said again holds from then on: what was said in between does not take its place.
    """
    if said_order(later)[:3] <= said_order(fact)[:3]:
        return None
    said_at = later.said_at or later.recorded_at
    place = {"said_seq": later.said_seq, "said_place": later.said_place}
    return fact.model_copy(update={"said_at": said_at, **place})


INDEPENDENT: tuple[Source, ...] = ("user", "tool")
"""Whose words bear out what an agent wrote."""


def vouched(fact: Fact, other: Fact) -> Fact:
    """Return a fact that an agent wrote as one whose words bear it out, if ``other`` has them.

    ``other`` says the same. What it rests on becomes a source of the fact as well.
    """
    if fact.source != "agent" or other.source not in INDEPENDENT:
        return fact
    sources = tuple(dict.fromkeys((*fact.source_ids, *other.source_ids)))
    return fact.model_copy(update={"source": other.source, "source_ids": sources})


class Verdict(Record):
    """That one fact gives way to another.

    Attributes:
        fact_id: The one that gives way.
        by: The one that stands.
        how: ``natural`` (it was true), ``denial`` (it never was) or ``duplicate``.
        valid_to: When it stopped being true, if somebody said so.
    """

    fact_id: str
    by: str
    how: Superseded
    valid_to: Moment | None = None


USER = "user"
"""What facts call who speaks without a name."""


def name_of_speaker(speaker: str, agent_id: str, user_id: str | None) -> str:
    """Return what facts call somebody who speaks to an agent."""
    return known_speaker(speaker, agent_id) or user_id or USER


def known_speaker(speaker: str, agent_id: str) -> str:
    """Return the name of somebody who speaks to an agent, whose own id stands for no name.

    Empty where nobody is named.
    """
    speaker = speaker.strip()
    return "" if speaker == agent_id else speaker
