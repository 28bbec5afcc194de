"""How surely a clause says something, and of when, beside another one. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from tiers.lexical import CALENDAR

from .clause import AGENT, USER, Clause, Disagreement, Voice
from .forms import VERBS
from .lexicon import Mode

_ACQUIRING = frozenset("bought adopted got received inherited purchased acquired".split())
_NEEDS: Mapping[Mode, frozenset[Mode]] = {
    "maybe": frozenset(("maybe",)),
    "ask": frozenset(("ask",)),
    "if": frozenset(("if",)),
    "wish": frozenset(("wish", "maybe")),
    "plan": frozenset(("plan", "wish")),
    "ought": frozenset(("ought", "proposal")),
    "proposal": frozenset(("proposal", "ask")),
    "ended": frozenset(("ended",)),
    "agreed": frozenset(("agreed", "wish", "ask")),
}
"""What a claim has to be meant as, where its source is meant so."""
_ALLOWED: Mapping[Mode, frozenset[Mode]] = {
    "ask": frozenset(("agreed",)),
    "agreed": frozenset(),
    "if": frozenset(),
    "ought": frozenset(),
    "maybe": frozenset(("wish", "ask", "if")),
    "wish": frozenset(("plan", "agreed")),
    "proposal": frozenset(("proposal", "ought", "maybe", "ask", "plan", "can", "wish")),
}
"""What a claim may only be meant as where its source is meant as one of these."""
_SUGGESTED = frozenset(("proposal", "ought", "maybe", "ask", "plan", "can", "wish"))


def meant(claim: Clause, source: Clause, voice: Voice) -> Disagreement | None:
    """Return whether a claim is meant otherwise than its source: how sure, and when."""
    if claim.denied != source.denied and not _denies_by_end(claim, source):
        return "denied"
    own, modes = claim.modes, source.modes
    suggests = "proposal" in own and voice.kind == "agent"
    for mode in modes:
        allowed = _NEEDS.get(mode)
        if mode in ("plan", "ought") and "if" in own & modes:
            continue
        if mode in ("plan", "ought", "wish") and "maybe" in own & modes:
            continue
        if mode not in ("ask", "wish") and "ask" in own & modes and not source.frame:
            continue
        if allowed is None or (suggests and mode in _SUGGESTED):
            continue
        if mode == "ended" and (claim.past or claim.denied):
            continue
        if mode == "plan" and (claim.progressive or suggests):
            continue
        if not own & allowed:
            return "less sure"
    return None if suggests else _added_meaning(claim, source)


def _added_meaning(claim: Clause, source: Clause) -> Disagreement | None:
    """Return whether a claim is meant in a way in which its source is not."""
    added, modes = claim.modes - source.modes, source.modes
    if claim.frame and source.frame:
        added -= {"ask", "proposal"}  # who "told" somebody to do it has advised it
    unsure = {mode for mode, reasons in _ALLOWED.items() if mode in added and not modes & reasons}
    if unsure:
        return "less sure"
    is_planned = source.progressive or ("wish" in modes and "wish" in claim.modes)
    if source.present and not source.copular and _is_scheduled(claim, source):
        is_planned = True
    if ("plan" in added and not is_planned) or ("ended" in added and not source.past):
        return "another time"
    return timed(claim, source)


def _is_scheduled(claim: Clause, source: Clause) -> bool:
    """Whether the present tells what is to come: on a day, or of a thing, ``it costs 9 euros``."""
    is_dated = bool(claim.names & source.names & CALENDAR)
    return is_dated or not (claim.subjects & claim.names or {USER, AGENT} & claim.subjects)


def timed(claim: Clause, source: Clause) -> Disagreement | None:
    """Return whether what is over is told as if it lasted."""
    if claim.present and source.past and not source.modes & {"ask"} and not claim.frame:
        acquired = claim.possesses and not _ACQUIRING.isdisjoint(source.exact)
        return None if acquired else "another time"
    is_scheduled = source.progressive and source.present and bool(source.names & CALENDAR)
    if claim.past and is_scheduled and not claim.frame:
        return "another time"  # who gives a concert on 9 May has given none
    if source.present or not source.has_verb:
        return None
    for word, form in claim.words.items():
        if form == "s" and source.words.get(word) == "past" and word in VERBS and claim.present:
            return "another time"
    return None


def _denies_by_end(claim: Clause, source: Clause) -> bool:
    """Whether ``no longer`` meets ``used to`` or ``stopped``."""
    return "ended" in claim.modes and "ended" in source.modes
