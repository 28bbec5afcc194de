"""How somebody wants to be answered and helped, told as a wish, a reason or a heading. Pure.

``I'd rather you never used emojis``, ``short answers, please``, ``metric units throughout``,
``what helps me is going step by step``, ``I learn best from examples``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tiers.lexical import WEEKDAYS

from ..regexes import any_case
from ..rewording import third_person
from .statement import Claim, of_speaker
from .verbs import FORMS, past_base

_RATHER = any_case(
    r"i(?:'d| would) (?:much )?(?:rather|(?:prefer|appreciate|like|love) it if|be (?:glad|happy"
    r"|pleased|grateful) if) you (?P<how>(?:would )?never |always |only |didn't |did not |don't )?"
    r"(?P<verb>[a-z]+)(?P<rest> .+)?"
)
_SO = any_case(
    r"(?P<why>(?:i|i'm|i've|my|we|our) [^?;]{3,80}?),? so (?:please,? |could you (?:please )?"
    r"|can you (?:please )?)?(?P<act>[a-z]+ .+)"
)
_THEM = any_case(r"^(?P<verb>keep|make|write|give me) (?:them|it)\b")
_YOURS = any_case(r"\byour (?:answers|replies|responses|messages|explanations|summaries)\b")
_COULD_YOU = any_case(
    r"(?:.*\b)?(?:could|can|would|will) you (?:please )?(?P<act>(?:stick to|use|speak|talk|write"
    r"|keep|answer|reply|respond|put|give|format|explain|quote|call|address|convert|list) .+?),? "
    r"(?P<good>from now on|going forward|in (?:the )?future|always|every time|each time"
    r"|by default|with me)\?(?: (?:like, )?(?:always|please|thanks)\W*)?"
)
_FORM = (
    r"(?:(?:short|shorter|brief|concise|long|longer|detailed|plain|simple|formal|informal)"
    r" (?:answers|replies|responses|sentences|messages|explanations))"
)
_STYLE = (
    r"(?:(?:american|british|uk|us) (?:spelling|english)|(?:metric|imperial) units|bullet points"
    r"|plain (?:text|english)|celsius|fahrenheit|kilomet(?:re|er)s|24-hour (?:clock|times?)"
    r"|(?:answers|replies|dates|amounts|times|prices|code examples) in [\w. -]{2,20}?)"
)
_THROUGHOUT = (
    r"(?:only|throughout|always|everywhere|every time|each time|from now on|at all times|by default"
    r"|in everything)"
)
_HEADED = any_case(
    rf"(?:only |just )?(?P<form>{_FORM}(?:,? {_THROUGHOUT})?)(?:,? please)?"
    rf"|(?P<style>{_STYLE}(?:(?:,? please)?,? {_THROUGHOUT})+)(?:,? please)?"
    r"(?: (?:we|you|i) [\w ]{2,20})?"
)
_HELPS = any_case(
    r"(?P<lead>what (?:really |always )?(?:helps|works)(?: (?:best|most))?(?: for)? me"
    r"(?: (?:best|most))? is) (?P<what>(?!(?:that|not|your|none|this|it|to know|you"
    r"|a (?:joke|mystery|drink))\b)[^;.!?]{6,80})(?:[;.].*)?"
)
_BEST = any_case(
    r"i (?P<verb>learn|understand things|remember things|work|focus|concentrate|sleep|think)"
    r" (?P<how>(?:way |much |far |a lot )?(?:better|best) (?:from|with|by|in|when|on)"
    r" (?!(?:you|this|that|it|them|these|those|here|today)\b)[^;.!?]{3,80}?)(?:,? so .+)?"
)
_UNWANTED = any_case(
    r"(?:i|we) (?:don't|do not) want (?P<what>(?!(?:to|you|any ?more|that|this|it|them|the|your|my"
    r"|our|an?|him|her|us|trouble)\b)[a-z][\w -]{2,30}? (?:in (?:an?|any|my|our|your) [\w -]{3,30}"
    rf"|(?:before|after) [\w: ]{{2,12}}|on (?:weekends|{'|'.join(f'{day}s' for day in WEEKDAYS)})"
    r"|ever))"
)
_AT_HAND = any_case(r"^ (?:the|this|that|these|those|it|them|my|him|her|so)\b")
_PLEASE = any_case(r",? please$")
_MANNERS = any_case(
    r",? if (?:it's all the same(?: to you)?|you don't mind|that's (?:all right|ok(?:ay)?|possible)"
    r"|possible|you can)$"
)


def rather(plain: str) -> str:
    """Return what somebody would rather the assistant did, as an order; ``""`` if nothing.

    Args:
        plain: A sentence without its end: ``I'd rather you never used emojis``.
    """
    found = _RATHER.fullmatch(_MANNERS.sub("", plain))
    if found is None:
        return ""
    verb, rest = found["verb"].lower(), found["rest"] or ""
    how = (found["how"] or "").strip().lower()
    lemma = FORMS.get(verb, ("", ""))[0] or past_base(verb) or verb
    if how in {"didn't", "did not", "don't"}:
        return "" if _AT_HAND.match(rest) else f"don't {lemma}{rest}"
    return f"{how.removeprefix('would ')} {lemma}{rest}".strip()


def asked_for_a_reason(plain: str) -> str:
    """Return what somebody asks because of what they said first; ``""`` if nothing.

    ``I read your answers on my phone, so keep them short``: them are the answers.
    """
    found = _SO.fullmatch(plain)
    if found is None:
        return ""
    of_what = _YOURS.search(found["why"])
    act = _PLEASE.sub("", found["act"])
    return _THEM.sub(rf"\g<verb> {of_what.group()}", act) if of_what else act


def asked_in_a_question(sentence: str) -> str:
    """Return what somebody asks for good in a question; ``""`` if nothing."""
    found = _COULD_YOU.fullmatch(sentence.strip())
    if found is None:
        return ""
    is_with = found["good"].lower() == "with me"
    return f"{'always ' if is_with else ''}{found['act']} {found['good'].lower()}"


def wished(plain: str, speaker: str) -> Iterator[Claim]:
    """Yield how somebody wants things, or is helped, without asking for it.

    Args:
        plain: A sentence without its end.
        speaker: Who says it.
    """
    headed, helps = _HEADED.fullmatch(plain), _HELPS.fullmatch(plain)
    best, unwanted = _BEST.fullmatch(plain), _UNWANTED.fullmatch(plain)
    if headed:
        what = re.sub(r",? please", "", headed["form"] or headed["style"], flags=re.IGNORECASE)
        text = f"{speaker} asks the assistant for {_small(what)}"
        yield Claim(speaker, "asks for", what, text, "preference", is_news=True)
    elif helps:
        what = of_speaker(helps["what"], speaker)
        text = f"{of_speaker(_small(helps['lead']), speaker)} {what}"
        yield Claim(speaker, "is helped by", what, text, "preference", is_news=True)
    elif best:
        verb, _, of_what = best["verb"].partition(" ")
        how = of_speaker(" ".join(filter(None, (of_what, best["how"]))), speaker)
        text = f"{speaker} {third_person(verb.lower())} {how}"
        yield Claim(speaker, f"{verb.lower()} best", how, text, "preference", is_news=True)
    elif unwanted:
        what = of_speaker(unwanted["what"], speaker)
        text = f"{speaker} doesn't want {what}"
        yield Claim(speaker, "wants", what, text, "preference", "not", is_news=True)


def _small(what: str) -> str:
    """Return a heading as it stands inside of a sentence; languages keep their capital."""
    is_language = any_case(r"american|british|uk\b|us\b|celsius|fahrenheit").match(what)
    return what if is_language else f"{what[0].lower()}{what[1:]}"
