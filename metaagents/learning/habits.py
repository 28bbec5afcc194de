"""What somebody does as a rule, and what says that they gave it up. Pure."""

from __future__ import annotations

from tiers.lexical import NUMBER_WORDS, words

from .grammar.activity import BY_THEMSELVES
from .grammar.frames import OFTEN
from .grammar.lexicon import NUMBERS
from .grammar.statement import DOES, HABIT, Claim
from .grammar.verbs import FORMS
from .likeness import read
from .regexes import any_case, regex
from .rewording import in_24_hours

QUIT = "quit"
_TAKEN = frozenset("drink eat smoke take use have play learn study practise".split())
"""Verbs of what is given up by its name alone: ``coffee``."""
_CIRCUMSTANCE = regex(r"(?:with|at|in|on|from|for|before|after|by|near|along) ")
_STUDIES = regex(r"\bstud(?:y|ies|ying)\b")
_ARTICLE = any_case(r"\b(?:the|an?) ")
_HOW_MUCH = regex(
    rf"^(?:(?:an?|\d+|{'|'.join(sorted(NUMBERS))}|several|some|my) )?"
    r"(?:(?:cup|glass|pint|can|pack)s? of )?"
    r"|(?: (?:an?|each|every|per) (?:day|week|month|year|morning|evening|night))$"
)
"""Around what somebody takes, how much of it: ``two coffees a day``."""
_COUNT = any_case(rf"\d|(?:{'|'.join(sorted(NUMBER_WORDS))})\b")


def gives_up(new: Claim, old: Claim) -> bool:
    """Whether it is denied at all times what somebody does at some: ``every morning, at work``.

    A verb without its object is denied only where the habit has none either: who no longer runs
    may run a shop on Mondays.
    """
    if old.sense != "is":
        return False
    is_over = new.attribute == old.attribute and new.sense == "over" and bool(new.value)
    given_up, done = (new.value, old.value) if is_over else (new.given_up, done_by(old))
    verb, _, taken = done.partition(" ")
    is_some = _is_taken(done) and value_of(new) == read(_HOW_MUCH.sub("", taken)).content
    if new.attribute == QUIT and not given_up:
        given_up = done if is_some else f"{verb} {new.value}" if _is_taken(done) else ""
    elif is_some and new.given_up.startswith(f"{verb} ") and new.sense == "over":
        return True
    if not f"{done} ".startswith(f"{given_up} "):
        given_up, done = _ARTICLE.sub("", given_up), _ARTICLE.sub("", done)
    if not given_up or not f"{done} ".startswith(f"{given_up} "):
        return False
    rest = done[len(given_up) :].strip()
    is_alone = not is_over and " " not in given_up
    if is_alone and new.given_up not in BY_THEMSELVES:
        return False
    is_circumstance = _CIRCUMSTANCE.match(rest) or (is_alone and _COUNT.match(rest))
    return not rest or bool(is_circumstance or OFTEN.match(rest))


def is_taken_up(new: Claim, old: Claim) -> bool:
    """Whether somebody does again what they did at no time, or quit: ``I don't drink``."""
    given_up = old.given_up if old.sense in {"not", "never"} else _quit_by(old)
    is_again = new.is_change and new.sense == "is" and bool(given_up)
    return is_again and f"{done_by(new)} ".startswith(f"{given_up} ")


def _quit_by(claim: Claim) -> str:
    """Return what somebody has quit doing, by its verb; else ``""``: ``quit drinking coffee``."""
    doing, *what = claim.value.split() or [""]
    lemma, form = FORMS.get(doing, ("", ""))
    is_so = claim.attribute == QUIT and claim.sense == "is" and form == "ing"
    return " ".join((lemma, *what)) if is_so else ""


def done_by(claim: Claim) -> str:
    """Return what somebody does, by its verb: ``play tennis on Sundays``; else ``""``.

    An attribute may be a verb: ``plays``, ``is learning``.
    """
    if claim.attribute in {HABIT, DOES}:
        return claim.value
    if claim.attribute == "studied":  # of who studied nothing is said of now
        return f"study {claim.value}" if _STUDIES.search(claim.text) else ""
    verb, *more = claim.attribute.removeprefix("is ").split() or [""]
    lemma, form = FORMS.get(verb, ("", ""))
    is_doing = form in ({"ing"} if claim.attribute.startswith("is ") else {"present", "base"})
    return " ".join((lemma, *more, claim.value)).strip() if is_doing else ""


def _is_taken(done: str) -> bool:
    return done.partition(" ")[0] in _TAKEN


def value_of(claim: Claim) -> frozenset[str]:
    """Return the words of a value by which it is told from others."""
    value = in_24_hours(claim.value)
    return read(value).content or frozenset(words(value))
