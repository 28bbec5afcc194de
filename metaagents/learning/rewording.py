"""Putting what somebody says of themselves in the third person, in their own words. Pure."""

from __future__ import annotations

import re

_IRREGULAR = {"do": "does", "go": "goes", "have": "has", "don't": "doesn't", "haven't": "hasn't"}
_HISSING = ("s", "x", "z", "ch", "sh", "o")
# Base forms. The past tense looks the same in every person, so nothing else is changed.
_BASE = frozenset(
    "ask bring buy call come do drink drive eat enjoy fly get give go have hate keep know leave "
    "like live love meet move need own park pay play prefer run say see sell sleep speak start "
    "stay study take teach think travel try use wait wake walk want watch wear work write don't "
    "haven't".split()
)
_ADVERB = r"(?:(?:always|never|usually|often|only|also|still|just|really|currently|now) )?"
_I_VERB = re.compile(rf"\bi (?P<adverb>{_ADVERB})(?P<verb>[a-z']+)", re.IGNORECASE)
_MINE = (
    (re.compile(r"\b(?:i am|i'm|im)\b", re.IGNORECASE), " is"),
    (re.compile(r"\bi've\b", re.IGNORECASE), " has"),
    (re.compile(r"\bi'll\b", re.IGNORECASE), " will"),
    (re.compile(r"\b(?:my|mine)\b", re.IGNORECASE), "'s"),
    (re.compile(r"\b(?:myself|me)\b", re.IGNORECASE), ""),
)


def third_person(verb: str) -> str:
    """Return the form of a verb that goes with he or she; the base form is given."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(_HISSING) else f"{verb}s"


def in_third_person(said: str, subject: str) -> str:
    """Return what somebody says with "I", "me" and "my" replaced by who it is.

    Only verbs that are known to be base forms are changed; others stay as they were said.
    """
    told = _I_VERB.sub(lambda match: _conjugated(match, subject), _not_am(said, subject))
    for pattern, ending in _MINE[1:]:
        told = pattern.sub(_literal(f"{subject}{ending}"), told)
    return told


def _not_am(said: str, subject: str) -> str:
    pattern, ending = _MINE[0]
    return pattern.sub(_literal(f"{subject}{ending}"), said)


def _conjugated(match: re.Match[str], subject: str) -> str:
    verb = match["verb"].lower()
    put = third_person(verb) if verb in _BASE else match["verb"]
    return f"{subject} {match['adverb']}{put}"


def _literal(text: str) -> str:
    """Return a replacement that means itself, whatever somebody is called."""
    return text.replace("\\", "\\\\")
