"""Telling instructions from statements: what is read is data, whoever wrote it. Pure.

Three rules, which ``candidates`` applies:

1. A text that tries to change who gives orders ("ignore previous instructions", "system prompt")
   is no evidence for anything, whether the user pasted it or a tool returned it.
2. A sentence of a tool that tells its reader what to do ("remember that you must …", "always …",
   "the assistant should …") is no evidence. A tool has nobody to give orders to.
3. A statement that is itself put as an order to the agent needs the user's own words alone:
   people may say how they want to be answered, tools may not.
"""

from __future__ import annotations

import re

from tiers.lexical import sentences

from .marks import Sought
from .regexes import any_case

_OVERRIDE = Sought(
    r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass)\b[^.!?\n]{0,40}"
    r"\b(?:instructions?|prompts?|rules|directives?|guidelines?|guardrails?)\b"
    r"|\bsystem[ -](?:override|prompt|message|instructions?)\b|\bdeveloper (?:mode|message)\b"
    r"|\bnew instructions?\s{0,3}:|\bjailbreak|<\s*/?\s*system\s*>|^\s*system\s*:"
    r"|\byou are now (?:an?|the|in|free)\b",
    re.IGNORECASE | re.MULTILINE,
)
_LEAD = (
    r"^[\W_]{0,8}(?:(?:important|note|notice|attention|warning|reminder|todo|hint|user|admin|p\.?s)"
    r"\s{0,3}[:!\-]\s{0,3}){0,2}(?:(?:please|kindly|now|also|and|then|so|first)\b[ ,]{0,2}){0,3}"
)
_IMPERATIVE = any_case(
    _LEAD + r"(?:remember|note that|always|never|do not|don['\u2019]?t|ignore|disregard|forget|"
    r"make sure|ensure|be sure|keep in mind|save|store|memori[sz]e|record|tell|send|forward|reply|"
    r"respond|answer|say|write|act|pretend|call|visit|open|click|run|execute|delete|reveal|show|"
    r"from now on|you)\b"
)
_TO_THE_READER = any_case(
    r"\b(?:you|assistants?|agents?|ai|bots?|chatbots?|llms?|language models?)\b"
    r"(?:['\u2019]re| are| is)?\s{1,3}(?:(?:also|always|never|now|only|hereby)\s{1,3}){0,2}"
    r"(?:must|should|shall|have to|has to|ha(?:ve|s) got to|needs? to|ought to|to always|to never|"
    r"may not|can ?not|can['\u2019]t|will|required to|supposed to|instructed to|expected to|"
    r"obliged to|allowed to|answers?|obeys?|responds?|replies|reply)\b"
)


def is_override(text: str) -> bool:
    """Whether a text tries to change who gives orders."""
    return _OVERRIDE.search(text) is not None


def is_instruction(sentence: str) -> bool:
    """Whether a sentence tells its reader what to do."""
    return bool(_IMPERATIVE.search(sentence) or _TO_THE_READER.search(sentence))


def statements_of(output: str) -> str:
    """Return the sentences of a tool's output that tell, without those that order."""
    if is_override(output):
        return ""
    return "\n".join(one for one in sentences(output) if not is_instruction(one))


def words_of(said: str) -> str:
    """Return what a user said, or nothing where it tries to change who gives orders."""
    return "" if is_override(said) else said
