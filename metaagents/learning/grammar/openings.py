"""What opens or ends a message and says nothing, and what it comes down to. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from tiers.lexical import MONTHS, WEEKDAYS

from ..marks import Way
from ..times import at_front, often_at_front
from . import doubts
from .lexicon import DRUG, FULL_NAME

_DAYS = "|".join(one.capitalize() for one in (*MONTHS, *WEEKDAYS))

_SAYS_WHERE = (
    r"(?:(?:above|below|beyond|over|under) (?=\d)"
    r"|(?:in|on|at|for|with|without|under|inside|outside|within|over|via|through|from|between|near"
    r"|above|below|beyond|per|during|across|behind) (?!(?:an?|this|that|these|those"
    r"|your|his|her|their|all|any|some|each|every|other|case|fact|general|total|short|brief|practice"
    r"|principle|theory|addition|particular|summary|contrast|comparison|hindsight|retrospect|sum"
    r"|average|top|time|now|once|sure|good|first|last|least|best|most|what|which|whom|regard"
    r"|respect|reference|context|completeness|clarity|example|instance|paper|purpose|balance"
    r"|course|second|third|closer|further|present|turn|effect|essence|starters|request|detail|luck"
    r"|fun|call|here|there|experience|scratch|memory|terms|spite|view|return|response|work|lunch"
    r"|dinner|breakfast|school|hours|months?|years?|weeks?|it|them|us|me|you|him|reality"
    r"|truth|my"
    r"|the (?:end|meantime|meanwhile|moment|past|future|beginning|long|short|other|one|same|whole"
    r"|record|contrary|bright|plus|first|last|best|worst|most|example|docs|documentation|readme"
    r"|spec|article|book|old|original|morning|evening|afternoon|summer|winter|spring|autumn|fall"
    r"|years?|weeks?|days|start|scenes|usual|interest|light|sake|face|event|course))\b|\d))"
)
"""Where or for whom something is so; no time, and nothing that only goes before a sentence."""
_WHERE = (
    rf"{_SAYS_WHERE}(?![\w' ]+ (?:opinions?|views?|eyes|mind|words|experience)\b)"
    rf"(?:(?:the|our) )?[\w'&./-]+(?: [\w'&./-]+){{0,3}}"
)
_THING = (
    r"(?!(?:it|this|that|these|those|they|the|there|what|who|which|you|his|her|its|nothing|no"
    r"|something|anything|everything|morning|evening|my|our)\b)"
    r"([a-z]{3,15}ing(?: [a-z]+)?|(?:[a-z]+ )?[a-z]{3,20}s|[a-z]+ music)"
)
"""What scares, bores or annoys somebody: ``swimming``, ``loud music``, ``spiders``."""

_DOSE = rf"(?:\d[\d.]* ?(?:mg|mcg|g|ml|units?) (?:of )?)?{DRUG}"


def _felt(feeling: str) -> Callable[[re.Match[str]], str]:
    return lambda found: f"I am {feeling} {found[1][0].lower()}{found[1][1:]}"


_IS_SO = (
    r"(?:is|are|has|have|runs?|costs?|starts?|ends?|begins?|needs?|uses?|takes?|opens?|closes?"
    r"|lasts?|must|can|may|goes|expires?|requires?|lives?|holds?|keeps?|retries|defaults?)"
)


def _with_where(found: re.Match[str]) -> str:
    """Return what is so somewhere as told of what is there: ``the timeout in staging is 30``."""
    whole = found.group()
    is_time = at_front(whole)[1] is not None or often_at_front(whole) != whole
    if is_time or doubts.SUPPOSES.match(whole):
        return whole
    where = found["where"]
    return f"The {found['what']} {where[:1].lower()}{where[1:]} "


OPENINGS: tuple[Way, ...] = (
    Way(r"\s*(?:<3|[\u2600-\u27bf\U0001F300-\U0001FAFF]\ufe0f?)+(?=[\s.!]*$)", ""),
    Way(
        r"^\s*(?:(?:since|now that|as|because) you(?:'re asking| ask| asked| mention it)|funny you"
        r" (?:should )?(?:ask|mention it)|like i said|as of (?:now|today)|sad to say"
        r"|believe it or not|just so you know"
        r"|in case (?:it (?:matters|helps)|you(?:'re wondering| wonder))"
        r"|(?:quick|small|side|brief|short|tiny|personal) note|(?:(?:i'm|i am|so|very|just) )*"
        r"(?:happy|glad|sad|sorry|proud|pleased) to say(?: that)?)[,:]? "
        r"(?=i\b|i'|we\b|we'|my\b|our\b)",
        "",
    ),
    Way(
        r"^\s*(?:(?:forget|ignore|never mind) what i said|(?:(?:an?|small|quick) )*(?:fix"
        r"|correction|update|amendment) to (?:what i (?:said|wrote)|my [a-z ]+?))"
        r"(?: above| before| earlier)?[,:]? ",
        "Correction: ",
    ),
    Way(
        r"^\s*((?!\w+est\b|only\b|last\b|first\b|other\b)(?:[\w-]+ )?(?:[a-z]+ person|night owl"
        r"|early (?:bird|riser)|(?:light|heavy) sleeper|(?:mother|father|mum|mom|dad) of \w+"
        r"|\w{3,}(?:er|ist|ian|nurse)|(?:post|fire|sales|police|handy)(?:wo)?man|chef|student))"
        r",? (?:here|me|myself)(?=[,.!]|$)",
        lambda found: f"I am a {found[1].lower()}",
    ),
    Way(
        r"^\s*(?:(?:i believe |i think |as )?i(?:'ve| have)?(?: already)? (?:told you|said"
        r"|mentioned)(?: (?:this|that|it|before|already|earlier))*[:,]|the thing is,|i'd"
        r" say(?: that)?) (?=i\b|i'|we\b|we'|my\b|our\b)",
        "",
    ),
    # What only stands beside a statement: ``belongs, strictly speaking, to``.
    Way(
        r"(?<=\w), (?:strictly speaking|of course|by the way|in fact|as it happens|mind you"
        r"|to be fair|believe it or not|for what it's worth|for \w+ reasons|so to speak|as it were"
        r"|if (?:one|you) can call it that|touch wood|god rest (?:(?:her|his) soul|her|him|them)), "
        r"(?=\w)",
        " ",
    ),
    Way(r"^((?:[^:.!?]{3,30}: )?(?:my|our) [\w ]{2,30}) = (?=\S)", r"\1 is "),
    Way(rf"^\s*{_THING} (?:scare|frighten|terrif(?:y|ie))s? me\b[^,.;!?]*", _felt("afraid of")),
    Way(rf"^\s*{_THING} bores? me\b[^,.;!?]*", _felt("bored by")),
    Way(rf"^\s*{_THING} (?:annoy|irritate)s? me\b[^,.;!?]*", _felt("annoyed by")),
    Way(
        r"\b((?:i|we) (?:carry|wear)|\w+ (?:carries|wears)) ((?:an?|my|our) [\w -]{2,30}?)"
        r" (?:everywhere(?: (?:i|we|he|she) goe?s?| because of (?:it|that))?|wherever (?:i|we) go"
        r"|at all times)\b",
        r"\1 \2",
    ),
    Way(
        r"\b(?:they|(?:my|the|our) (?:doctor|gp|cardiologist|psychiatrist|neurologist))"
        rf"(?: has|'s| have|'ve) (?:put|started) me on (?={_DOSE})",
        "I take ",
    ),
    Way(rf"\bi(?: have|'ve) been (?:put|started) on (?={_DOSE})", "I take "),
    Way(
        r"^\s*nothing beats (.{3,60}?)(?: in my (?:book|opinion|eyes))?(?=[.!,]|$)",
        r"I prefer \1",
    ),
    Way(
        r"^\s*(?!\w+days? )([a-z][\w ]{2,40}?) suits? me (?:far |much |a lot )?better than "
        r"(?=[a-z])",
        lambda found: f"I prefer {found[1][0].lower()}{found[1][1:]} to ",
    ),
    Way(r"\b(?:I'm|I am) driving (?=an? [\w ]{0,20}?[A-Z][\w ]+ now\b)", "I drive "),
    Way(
        r"^\s*(?:hang on, |sorry, |wait, |oops, )?(?:scrap|scratch|forget|ignore|disregard) what i"
        r" (?:said|told you)(?: (?:yesterday|earlier|before|just now|about [\w ]{2,30}))?"
        r"[,:;] (?=\S)",
        "",
    ),
    Way(r"\b(stand-?up|meeting|call|review|demo) happens (?=(?:at|on|every) )", r"\1 is "),
    Way(
        r"\b(i|we) (?:need to|must|(?:have|'ve) got to) "
        r"(?=\w+ .*\b(?:every (?!time\b)|daily\b|a (?:day|week)\b))",
        r"\1 have to ",
    ),
    Way(r"\bi always want (?!to\b|you\b|it\b|that\b)", "I prefer "),
    Way(r", (?:remember|you know|okay|ok)\?$", "."),
    Way(
        r"\b(ive|dont|cant|didnt|doesnt|isnt|wasnt|havent|hasnt|wont)\b",
        lambda found: f"{found[1][:-2]}'ve" if found[1].lower() == "ive" else f"{found[1][:-1]}'t",
    ),
    Way(
        r"^Grand(pa|ma) (?!Moses\b)(?=[A-Z][a-z]+ (?:is|was|has|lives|lived|turned|died)\b)",
        r"My grand\1 ",
    ),
    Way(r"\b(?:hes|shes) (?=[a-z\d])", lambda found: f"{found[0][:-2]}'s "),
    # A heading and what stands under it: "Owner of billing: Mia Chen", "Decision: use Kafka".
    Way(
        r"^\s*((?:Owner|Lead|Assignee|Budget|Root cause|Deadline|Due date|Venue|Launch date)"
        r"(?: (?:of|for) [\w' -]{2,40})?): (?=\S)",
        lambda found: f"The {found[1].lower()} {'was' if 'cause' in found[1] else 'is'} ",
    ),
    Way(
        r"^\s*(?:\w+ )?decision: (?:we(?:'ll| will)? )?(?=(?:use|adopt|keep|move|switch|drop)\b)",
        "We decided to ",
    ),
    # What there is one of where it is spoken of: "Standup is at 9:45", "rent's 900".
    Way(
        r"^\s*((?:stand-?up|retro|deadline|launch|release|go-live|rollout|demo|sprint"
        r"|kick-?off)(?:'s| (?:is|was|has|moved|slipped|got|starts|ends|runs)) )(?!an?\b)",
        lambda found: f"the {found[1].lower()}",
    ),
    Way(
        r"^\s*((?:rent|mortgage|salary)(?:'s| (?:is|was|has|went|costs)) )(?!an?\b)",
        lambda found: f"my {found[1].lower()}",
    ),
    Way(
        r"^\s*(the [a-z -]{3,20})'s (?=(?:now |still )?(?:at |on |in )?(?:the )?"
        r"(?:\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b))",
        r"\1 is ",
    ),
    Way(
        r"\b(my|our) (new )?number is (now )?(?=\+?\d[\d ()/-]{5,20}\d)", r"\1 \2phone number is \3"
    ),
    # Where, or in which book: without it something else is said.
    Way(
        rf"^\s*(?P<where>{_WHERE}),? the (?P<what>(?:[\w'-]+ ){{0,3}}?[\w'-]+) (?={_IS_SO}\b)",
        _with_where,
    ),
    Way(
        rf"^\s*([Ii]n|[Aa]t|[Oo]n) (?!(?:{_DAYS})\b)(?i:(the )?)({FULL_NAME}), "
        r"(?!I\b|[Ww]e\b)([^,;:!?]{6,80}?)(?=[.!]?$)",
        lambda found: f"{found[4]} {found[1].lower()} {found[2] or ''}{found[3]}",
    ),
    Way(
        r"^\s*(for|at|on|in|with|to|from|before|after) (?!(?:\w+ )?(?:film|movie|book|show|game"
        r"|dream|novel|song|play|end|meantime|future|past|moment|way|years|months|weeks)\b)"
        r"((?:my |our |the )?(?!(?:this|that|short|general|theory|fact|case|all|any|luck|first"
        r"|last|least|now|once|time|times|me|us|be)\b)(?:[a-z]+ )?[a-z]+),? (i|we) "
        r"(?!am\b|are\b|'|would|could|might|should)([^,;!?]{2,60}?)(?=[,;]|[.!]?$)",
        lambda found: f"{found[3]} {found[4]} {found[1].lower()} {found[2]}",
    ),
)
