"""What somebody asks of the assistant for good, and what must always be. Pure.

``Please always answer in German``, ``don't use emojis when you write to me``. A request for one
piece of work is none: something says that it stands, or it is of how answers look in general.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tiers.lexical import WEEKDAYS

from ...claims.forms import is_base_form
from ..regexes import any_case, regex
from ..rewording import in_third_person, third_person
from ..times import CLOCK
from .statement import Claim, of_speaker
from .verbs import Sense
from .wishes import asked_for_a_reason, asked_in_a_question, rather, wished

_ANSWERING = (
    r"(?:answer|reply|respond|write|talk|speak|explain|address|call|format|phrase|sign|quote|cite"
    r"|recommend|suggest|use|include|add|give|send|show|list|schedule|book|plan|remind|avoid|keep"
    r"|put|round|order|buy|offer|ask|propose|mention|start|begin|end|convert|measure|spell|deploy"
    r"|promise(?! any| me| you)|forward|copy|merge|commit|name|tag|ping|stick|assume|check|run"
    r"|leave|restart|reboot|delete|drop|disable|push|publish|contact|email|approve|edit|overwrite|expose"
    r"|store|share|reveal|disclose)"
)
_NOT_ANY_MORE = (
    r"(?:using|sending|calling|writing|adding|saying|asking|suggesting|recommending|including"
    r"|repeating|mentioning|offering|apologi[sz]ing)"
)
_AT_HAND = r"\b(?:this|that|these|those|it|them|now|today)\b"
_FOR_GOOD = (
    r"(?:from now on|in (?:the )?future|going forward|as a rule|in general|by default|every time"
    r"|each time|at all times|for all (?:my |your |of )\w+|in (?:all )?(?:your|my) \w+"
    r"|in (?:everything|anything|whatever) you \w+(?: (?:to|for|with) (?:me|us))?"
    r"|(?:when|whenever) (?:i|we) (?:ask|send|say|write|give|share|paste|talk|want)\b[^,]{0,40}"
    r"|(?:when|whenever) you (?!can|have|get|want|need|are|were|feel|like)\w+"
    r"(?: to| with| for)?(?: me| us)?"
    r"|(?:when|whenever) you (?!can|have|get|want|need|are|were|feel|like|see|meet|visit|go|come"
    r"|arrive|finish|reach|leave|hear)\w+ "
    rf"(?:(?!{_AT_HAND})[\w' -]){{2,40}}(?=,)"
    r"|when (?:answering|replying|writing|talking|explaining) ?(?:to me|to us|me)?)"
)
_HOUR = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_EACH = (
    r"(?:always|daily|(?:every|each) (?:day|morning|evening|night|week|month|weekday"
    rf"|{'|'.join(WEEKDAYS)}))"
)
_OPENING = (
    r"(?:(?:please|kindly|also|and|so|oh|hi|hello|hey|btw|by the way|one more thing|note)[,:]? )*"
)
_STANDING = any_case(
    rf"{_OPENING}(?P<front>{_FOR_GOOD}),? (?:please )?"
    rf"(?P<how>always |never |don't |do not |only )?(?P<act>(?:{_ANSWERING}|take|choose|pick) .+)"
    rf"|{_OPENING}(?P<always>always |never )(?P<then>{_ANSWERING} .+)"
    rf"|{_OPENING}(?P<not>don't |do not |only |try to )?"
    rf"(?P<what>{_ANSWERING} .+? {_FOR_GOOD})"
)
_WRITTEN = (
    r"(?:(?:code |doc )?comments|commit messages|docstrings|documentation|docs|variable names"
    r"|subject lines|titles|release notes|changelogs?|e-?mails|reports|minutes)"
)
_IN_FORM = (
    r"in (?:[a-z]+(?:ish|ese|ian|man|utch|ench|ic)|markdown|plain text"
    r"|(?:lower|upper|title|sentence) ?case|the (?:imperative|active voice"
    r"|(?:present|past) tense|(?:first|third) person))\b"
)
_STYLE = any_case(
    rf"{_OPENING}(?:"
    r"(?P<written>(?:write|leave|keep|put) (?:all |your |the |any )?"
    rf"{_WRITTEN} {_IN_FORM}.{{0,60}})"
    r"|(?P<keep>keep (?:your |all |the )?(?:answers|replies|responses|messages|summaries|it)"
    r"(?: to me)? (?:(?:short|brief|simple|concise|to the point)"
    r"(?:,? (?:no (?:more|longer) than|at most|under|below|up to) .+)?"
    r"|under .+|below .+|to .+|in .+))"
    rf"|(?P<stop>stop {_NOT_ANY_MORE}(?: .+)?)"
    r"|(?P<in>(?:(?:answer|reply|respond|write|talk|speak) (?:to me |to us |me )?"
    r"|(?:give|send|write) (?:me |us )?(?:your |all |all your )?(?:answers|replies|responses) )"
    r"(?:only )?in (?:[A-Z]\w+|short .+|plain .+|simple .+|bullet .+|full .+|complete .+))"
    rf"|(?P<each>(?:send|show|give|remind|text|email|message|ping) (?:me|us) (?:(?:of|about) )?"
    r"(?:the|my|our|an? (?:summary|report|digest|list|overview|recap|reminder)) "
    r"(?:(?!(?:to|for|who|that|which|how|like|as|than|i|you|if)\b)[\w'&%:-]+ ){0,6}?"
    rf"{_EACH})"
    r"|(?P<tongue>(?:speak|talk|write) [A-Z][a-z]+(?:ish|ese|ian|ch|an|ic)"
    r"(?: (?:to|with) (?:me|us)| only))"
    r"|(?P<late>(?:don't|do not) (?:call|ring|phone|text|message|email|wake|disturb|contact)"
    rf" (?:me|us) (?:before|after|on|during) (?:{CLOCK}|{_HOUR}|noon|lunch|work(?: hours)?"
    rf"|weekends?|{'|'.join(f'{day}s' for day in WEEKDAYS)}))"
    rf"|(?P<rule>(?:don't|dont|do not|never) {_ANSWERING} (?:(?!(?:this|that|it|them|today)\b)"
    rf"[\w' -]{{2,40}} )?on (?:weekends|{'|'.join(f'{day}s' for day in WEEKDAYS)}))"
    r"|(?P<use>use (?:the )?(?:metric|imperial|british|american|celsius|fahrenheit|24-hour|24 ?h"
    r"|kilomet\w+|miles|euros|dollars|pounds|simple|plain|short|formal|informal|bullet points"
    r"|bullets)\b.{0,40})"
    r"|(?P<call>(?:address|refer to) me (?:(?:as|by|with) .+|formally|informally|politely)"
    r"|sign (?:as|with) .+)"
    r"|(?P<no>(?:don't|do not|never) (?:use|suggest|recommend|include|propose|offer|send me|give me"
    r"|call me|book|schedule|mention|add) (?!(?:the|this|that|these|those|it|them|any of|my)\b).+))"
)
_RULE = any_case(
    r"(?P<who>(?!(?:i|you|we|he|she|it|they|this|that|there|\w+ing|someone|somebody|my|your|his|her)\b)"
    r"[\w'&./-]+(?: [\w'&./-]+){0,8}?) (?:must|ha(?:s|ve) to) (?P<act>(?:not |never |always )?"
    r"(?:be (?:[a-z]+(?:ed|en|un|pt|nt|ld|de)|made|run|set|read|kept) .+"
    r"|be (?:in|at|under|below|above|over|within) .+"
    r"|(?!(?:be|have|feel|look|seem|mean|love|know|think|come|go|taste|smell|sound)\b)[a-z]+ .+))"
)
"""``Customer data must never leave the EU``."""
_WISH = any_case(
    r"(?:i'd|i would|i) (?:(?:like|want|prefer|expect) you to|rather you)"
    r" (?P<act>(?:always |never )?.+)"
    r"|(?:i'd|i would) (?:rather|prefer to|like to) (?:have|get|see) (?P<style>.+? than .+)"
)
_FORM = regex(
    r"(?P<who>(?i:i|we|the (?:client|customer|user)|(?:my|our) [a-z]+)"
    r"|(?!(?:He|She|It|They|You|Every\w+|Some\w+|Any\w+|No\w*|Who|This|That)\b)[A-Z][\w-]+)"
    r" (?P<verb>want|prefer)s? (?P<what>(?:everything|(?:all|every|my|our|its|their|his|her)"
    r" [\w -]{2,30}?) in (?:[A-Z]{2,5}|Markdown|Excel|[A-Z][a-z]+(?:ish|ese|ian|ch|an)))"
)
"""In what language or form somebody wants things: ``the client wants everything in Dutch``."""
_ASKED = any_case(r"^(?:could|can|would|will) you (?:please )?(always|never|from now on,?|stop) ")
"""``Could you always give temperatures in Celsius?``: a question by its manners only."""
_NEVER = any_case(rf"^({_OPENING})(?:don't|do not) ever ")
_HEADING = any_case(r"^(?:constraint|rule|policy|requirement|important|security|reminder): ")
_DENIED = any_case(r"(?:don't|dont|do not|never) ")
_ONCE = any_case(
    r"\b(?:yet|now|today|tonight|tomorrow|until|till|again|this|that|these|those|it|them|here|there"
    r"|up|(?:above|below)(?! \d)|following|attached|instead|too|so|anymore|if)\b"
)
_YOURS = (
    (any_case(r"\byour\b"), "its"),
    (any_case(r"\byou (\w+)"), lambda found: f"it {_of_one(found[1])}"),
    (any_case(r"\byou\b"), "it"),
)
_REASON = any_case(
    r",? please, |, (?:please\b|(?:as )?i |as (?:my|our|the|we|they) |it's|it is|that's|thanks"
    r"|because|since|so |or |everything|even if|no (?!(?:more|longer) than))| because "
    r"| or (?:else|i) "
    r"|, (?:those|these|they|he|she|(?-i:[A-Z])[\w-]+)(?: [\w-]+)?"
    r"(?:'s| (?:is|are|belongs?|means?))\b"
)
_PLEASE = any_case(r",? please$")
_REPORTED = any_case(
    r", (?:he|she|they|people|(?:my|our|the|his|her) [\w-]+|(?-i:[A-Z])[\w-]+)"
    r" (?:(?:always|often|just|once|usually) )?(?:said|says?|asked|wrote|writes|insists|insisted"
    r"|whispered|shouted|yelled|(?:told|tells) \w+|(?:is|was|keeps|kept) saying)(?:\W*$|, )"
)
"""``Never call before nine, he said``: asked by somebody else, of somebody else."""
_GOOD = any_case(
    rf"{_FOR_GOOD}"
    r"|\b(?:in|for|of) this (?:repo(?:sitory)?|project|code ?base|team|company|workspace)\b"
)
"""What stands, and where it stands: neither is one occasion."""
_CONDITION = any_case(
    r" (?:before|until|unless|without) (?!(?:i|you|it|they|he|she)\b)[\w' ]{3,40}? (?:it|them)$"
)
"""On what an order hangs that names what it is of: ``a refund before Yolanda has approved it``."""
_LANGUAGE = regex(
    r"(?P<who>.+?) asks the assistant (?P<no>not |never )?(?:always )?to (?:always )?"
    r"(?:answer|reply|respond|write|talk|speak)(?: to [^ ]+| (?P=who))? (?:only )?in "
    r"(?P<language>[A-Z][a-z]+)"
    r"(?:,? (?:from now on|in (?:the )?future|going forward|by default|at all times))?\.?"
)
CHARS_MAX, WHOLE_CHARS_MAX = 160, 240


def requested(sentence: str, speaker: str) -> Iterator[Claim]:
    """Yield what somebody asks for good.

    Args:
        sentence: One sentence, its apostrophes in one form.
        speaker: Who asks: "me" is about them.
    """
    whole = sentence.strip(" .!") if len(sentence) <= WHOLE_CHARS_MAX else ""
    whole = asked_in_a_question(whole) or whole
    plain = _asked(whole or sentence)
    if len(plain) > CHARS_MAX or "?" in plain or _REPORTED.search(sentence):
        return
    wish = _WISH.fullmatch(plain)
    rule = _RULE.fullmatch(plain)
    form = _FORM.fullmatch(plain)
    if wish and wish["style"] and not _ONCE.search(plain):
        text = f"{speaker} would rather have {of_speaker(wish['style'], speaker)}"
        yield Claim(speaker, "prefers", wish["style"], text, "preference", is_news=True)
    elif form:
        plain = form["who"].lower()
        who = speaker if plain in {"i", "we"} else of_speaker(_small(form["who"]), speaker)
        text = f"{who} {third_person(form['verb'])} {of_speaker(form['what'], speaker)}"
        yield Claim(who, "prefers", form["what"], text, "preference", is_news=True)
    elif rule and _is_base(rule["act"]) and not _ONCE.search(plain):
        yield Claim(rule["who"], "must", rule["act"], _small(plain), "constraint", is_news=True)
    else:
        act = wish["act"] if wish and wish["act"] else ""
        orders = (act, rather(whole), plain, asked_for_a_reason(whole))
        wanted = next(filter(None, map(_wanted, filter(None, orders))), "")
        if not wanted:
            yield from wished(whole, speaker)
        elif not _ONCE.search(_CONDITION.sub("", _GOOD.sub("", wanted))):
            asked = in_third_person(_of_it(wanted), speaker)  # "when I ask" is when Ada asks
            text = f"{speaker} asks the assistant {of_speaker(asked, speaker)}"
            yield Claim(speaker, "asks for", wanted, text, "preference", is_news=True)


def language_asked(plain: str) -> Claim | None:
    """Return in which language somebody is to be answered, by a request as ``requested`` tells it.

    Of one for some occasions only, ``in French when I write to you in French``, nothing is said.
    """
    found = _LANGUAGE.fullmatch(plain)
    if found is None:
        return None
    who, language = found["who"], found["language"]
    sense: Sense = "not" if found["no"] else "is"
    return Claim(who, "is answered in", language, plain, "preference", sense, is_single=True)


def _asked(sentence: str) -> str:
    """Return what a sentence asks, without its reason and its manners."""
    plain = _HEADING.sub("", sentence.strip(" .!"))
    if _ASKED.match(plain):
        plain = _ASKED.sub(r"\1 ", plain).rstrip(" ?")
    plain = _NEVER.sub(r"\1never ", plain)
    return _PLEASE.sub("", _REASON.split(plain)[0]).strip()


def _wanted(plain: str) -> str:
    """Return what is asked for, as what is to be done: ``not to use emojis``; ``""`` if nothing."""
    found = _STANDING.fullmatch(plain)
    if found:
        return _of_standing(found)
    style = _STYLE.fullmatch(plain) or _STYLE.fullmatch(plain.split(", ", maxsplit=1)[0])
    return _of_style(style) if style else ""


def _of_standing(found: re.Match[str]) -> str:
    if found["front"]:
        how = (found["how"] or "").strip().lower()
        front = f"{found['front'][0].lower()}{found['front'][1:]}"
        return f"{_to(how, found['act'])} {front}"
    if found["always"]:
        return _to(found["always"].strip().lower(), found["then"])
    return _to((found["not"] or "").strip().lower(), found["what"])


def _of_style(found: re.Match[str]) -> str:
    denied = found["no"] or found["late"] or found["rule"]
    if denied:
        return f"not to {_DENIED.sub('', denied, count=1)}"
    kinds = ("written", "keep", "in", "tongue", "each", "use", "call", "stop")
    asked = next(found[one] for one in kinds if found[one])
    return f"to {asked[0].lower()}{asked[1:]}"


def _is_base(act: str) -> bool:
    """Whether what must be opens with a verb, rather than being one: ``a must for me``."""
    words = [word for word in act.split() if word not in {"not", "never", "always"}]
    return words[0] == "be" or is_base_form(words[0])


def _small(plain: str) -> str:
    """Return a sentence as it stands inside of another."""
    first = plain.split(maxsplit=1)[0]
    is_plain = first.lower() in {"the", "all", "each", "every", "any", "no"}
    return f"{plain[0].lower()}{plain[1:]}" if is_plain else plain


def _to(how: str, act: str) -> str:
    """Return ``never to answer``, ``not to use``, ``to write``."""
    plain = f"{act[0].lower()}{act[1:]}"
    if how in {"don't", "do not"}:
        return f"not to {plain}"
    return f"{how} to {plain}" if how in {"always", "never", "only"} else f"to {plain}"


def _of_one(verb: str) -> str:
    return third_person(verb) if is_base_form(verb) else verb


def _of_it(wanted: str) -> str:
    for yours, put in _YOURS:
        wanted = yours.sub(put, wanted)
    return wanted
