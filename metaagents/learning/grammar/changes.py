"""Changes put as what is so now: ``they moved my flight to 9`` as one of the flight. Pure."""

from __future__ import annotations

import re

from tiers.lexical import MONTHS, WEEKDAYS

from ..marks import Way
from .lexicon import CARERS, FULL_NAME, NUMBERS, ROOM

_SEVERAL = frozenset(("kids", "children"))
_DAILY = {"going to bed": "go to bed", "getting up": "get up", "waking up": "wake up"}
_NO_NOUN = (
    r"The|My|Our|Your|His|Her|Their|Its|This|That|These|Those|Some|Any|No|All|Every|Each|Both|Many"
    r"|Much|Most|More|Few|Which|What|Whose|One|Two|Three|Four|Five|Another|Such|Good|Great|Nice|Bad"
    r"|Part|Full|Last|First|Best|Real|Long|Short|Old|New|Own|Free|Same|Other|Either"
)
_MEASURED = (
    r"(?:limits?|order|fees?|prices?|rate|rent|budget|deadline|freeze|hours|times?|window|period"
    r"|target|quota|size|costs?|charge|capacity|threshold|timeout|interval|retention|deposit"
    r"|discount|headcount|terms)"
)
_POST = r"(?:lead|captain|chair|head|director|coordinator|manager|treasurer|secretary)"
"""What one person is at a time."""
DEPARTMENT = (
    r"(?:accounting|customer support|design|engineering|finance|HR|human resources|IT|legal"
    r"|logistics|marketing|operations|procurement|product|purchasing|QA|research|sales|support)"
)
"""Where in a firm somebody works, one at a time."""
CHANGED = (
    r"(?:raised|lowered|increased|decreased|reduced|cut|changed|bumped|set|lifted|dropped|switched"
    r"|updated|upgraded|downgraded|doubled|tripled|halved|tightened|relaxed|loosened|narrowed"
    r"|widened|shortened|lengthened|trimmed|slashed|boosted|adjusted)"
)
THING = r"(?:[\w'-]+ ){0,5}?[\w'-]+(?:(?<!s)|(?<=ss))"
VALUE = (
    r"(?:(?:[A-Z][A-Z\d.-]+|[\w.+-]+@[\w.-]+"
    r"|[a-z][\w.-]*[\d_][\w.-]*|[\u20ac$\u00a3+-]?\d(?:[\w.%]|,(?=\d))*"
    rf"|(?:{'|'.join(sorted(NUMBERS - {'one'}))})\b)"
    r"(?: (?!(?:this|last|today|yesterday|tonight|earlier|just|because|since|after|so|by|and|but|or"
    r"|when|while|then|until|in|for|if|which|it)\b)[\w%/]+){0,3}?)"
)
TO_VALUE = rf"(?: from [^,;]{{1,30}}?)? to (?P<value>{VALUE})\.?"
"""A number and its unit, a code or an address: what it is; else it may be what it is for."""
OWNED = r"(?:[Tt]he|[Oo]ur|[Mm]y|[A-Z][\w-]*'s)"
_CODE = r"[a-z][\w.]*[-_/.\d][\w./-]*\w"
"""What a thing is called in code: ``acme-core``."""
_TO_NAME = (
    rf"(?:from (?:{FULL_NAME}|{_CODE}) )?"
    rf"(?:(?:to |as )?(?=(?:{FULL_NAME}|{_CODE})[.!]?$)"
    r"|to (?=(?!(?:it|this|that|something|anything|match|what)\b)[a-z][a-z\d]+[.!]?$))"
)
NAMED = r"i?[A-Z][\w.+#-]*(?: [A-Z\d][\w.+#-]*){0,3}"
_WAS = r"(?:was|has been|got)"

DAY = rf"(?:{'|'.join(one.capitalize() for one in WEEKDAYS)})"
MONTH = rf"(?:{'|'.join(one.capitalize() for one in MONTHS)})"
HOUR = r"\d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?"
_CLOCK = rf"(?:{DAY}|{HOUR}|{MONTH}|noon|midnight)\b"

_WHEN = (
    rf"(?:this|next) (?:week|month|weekend|{DAY})|today|tomorrow|tonight|(?:on|until|from) {DAY}"
)


_SET = (
    r"(?:limit|code|price|deadline|address|number|e-?mail|url|port|version|budget|rate|fee|date|id"
    r"|channel|extension|threshold|quota|interval|room|path|host|region|endpoint|rent|quorum) "
)
"""What somebody sets, other than the weather and a score."""


_FIGURE = (
    r"(?!.*\b(?:alarm|oven|timer|thermostat|volume|brightness)\b)(?:[\w'-]+ ){0,3}?(?:"
    rf"{_MEASURED}|port|region|version|pool|ttl|TTL|count|level|replicas|duration|length|cap|ratio)"
    r"(?: (?:of|for) (?:the|our|my) (?:[\w-]+ ){0,2}?[\w-]+)?"
)
_TONGUE = (
    r"(?:Arabic|Cantonese|Catalan|Chinese|Czech|Danish|Dutch|English|Farsi|Finnish|French|German"
    r"|Greek|Hebrew|Hindi|Hungarian|Italian|Japanese|Korean|Mandarin|Norwegian|Polish|Portuguese"
    r"|Romanian|Russian|Spanish|Swahili|Swedish|Thai|Turkish|Ukrainian|Urdu|Vietnamese|Welsh)"
)
_SWITCH = r"(?:(?:the )?(?:feature )?(?:flag|toggle|setting|option) )?[a-z]\w*_\w+"
"""What is on or off in a program."""


def _halted(found: re.Match[str]) -> str:
    """Return what has been stopped for a time as what is so until then."""
    what, how = found[2], {"froze": "frozen"}.get(found[1], found[1])
    is_one = not what.endswith("s") or what.endswith("ss")
    return f"{what[:1].upper()}{what[1:]} {'is' if is_one else 'are'} {how} until "


def _after_each_other(found: re.Match[str]) -> str:
    """Return whose turn it is, and whose it will be then."""
    duty, when, who, later, other = found.groups()
    first = f"{who.rstrip('.')} is on {duty}{when or ''}"
    return f"{first}; {other.rstrip('.')} is on {duty} {later}" if other else first


CHANGES: tuple[Way, ...] = (
    Way(
        rf"^({FULL_NAME}) is (now )?the (?:new )?owner of (?=the [\w -]+[.!]?$)",
        lambda found: f"{found[1]} {found[2] or ''}owns ",
    ),
    Way(
        rf"^({FULL_NAME}) (?:(?:is|becomes|became) (?P<whose>the|our)"
        r"|(?:takes|took|has taken) over as(?: (?P<theirs>the|our))?) "
        rf"(?:new )?(?P<post>(?:[\w-]+ ){{0,3}}{_POST})(?: (?:now|from now on))?(?=$|[.!])",
        lambda found: (
            f"{found['whose'] or found['theirs'] or 'The'} {found['post']} is now {found[1]}"
        ),
    ),
    Way(
        rf"^([Tt]he|[Oo]ur) new ((?:[\w-]+ ){{0,3}}{_POST}) is (?!now)(?={FULL_NAME})",
        r"\1 \2 is now ",
    ),
    Way(
        r"\b([Tt]he|[Oo]ur) new (landlord|landlady|doctor|dentist|vet|cleaner|nanny|supplier"
        r"|caretaker) is (?!now)(?=[A-Z])",
        r"\1 \2 is now ",
    ),
    Way(
        r"^(?!No\b|Nothing\b|Everything\b)([A-Za-z][\w' -]{1,30}?) (?:is|are) (?P<now>now )?"
        rf"(handled|managed|approved|maintained|reviewed) by ({FULL_NAME})(?(now)| now)(?=[.!]?$)",
        lambda found: f"{found[4].rstrip('.')} now {found[3][:-1]}s {found[1]}",
    ),
    Way(
        rf"^([Tt]he|[Oo]ur|[Mm]y) ({THING}) (?:{_WAS} (?:just )?{CHANGED}|(?:has )?changed)"
        rf"{TO_VALUE}$",
        r"\1 \2 is now \g<value>",
    ),
    Way(
        rf"^([Tt]he|[Oo]ur|[Mm]y) ({THING}) (?:{_WAS} (?:just )?)?{CHANGED}(?: again)?,? "
        r"(?:so it|and it|so now it|and now it)(?:'s| is) "
        rf"(?:now )?(?P<value>{VALUE})(?: now)?[.!]?$",
        r"\1 \2 is now \g<value>",
    ),
    Way(
        rf"^(?:I|[Ww]e)(?:'ve| have)?(?: just| now)? set (the|our|my) ({_FIGURE}) to "
        rf"(?P<value>{VALUE})(?: (?:just now|today|yesterday|this (?:morning|afternoon)))?[.!]?$",
        r"\1 \2 is now \g<value>",
    ),
    Way(
        r"^(?:I|[Ww]e)(?:'ve| have)?(?: just| now)? (?:turned|switched|set) "
        rf"(?:(?P<on>on|off) )?(?P<what>{_SWITCH})(?(on)| (?P<then>on|off))(?: again| now)?"
        r"(?: (?:because|since|as) [^,;]+)?[.!]?$",
        lambda found: f"{found['what']} is {found['on'] or found['then']}",
    ),
    Way(
        r"^(?:I|[Ww]e)(?:'ve| have)?(?: just| now)? (?P<how>enabled|disabled) "
        rf"(?P<what>{_SWITCH})(?: again| now| today)?(?: (?:because|since|as) [^,;]+)?[.!]?$",
        r"\g<what> is \g<how>",
    ),
    Way(
        r"^(?:[Ff]rom now on|[Aa]s of (?:now|today)|[Ss]tarting (?:now|today)),? "
        rf"((?:I|[Ww]e|[Tt]he|[Oo]ur|[Mm]y|{FULL_NAME}(?= [a-z]+s ))(?: [^,;]+?))(?=[.!]?$|; )",
        lambda found: f"{found[1][:1].upper()}{found[1][1:]} from now on",
    ),
    Way(
        rf"^({FULL_NAME}|I)(?: has|'s|'ve| have)?(?: just| recently)? "
        rf"(?:moved|switched|transferred)(?: over)? to (?:the )?({DEPARTMENT})"
        r"(?: team| department)?(?=$|[.!])",
        lambda found: f"{found[1]} now {'work' if found[1] == 'I' else 'works'} in {found[2]}",
    ),
    Way(r"^([Mm]y favou?rite [\w-]+(?: (?!has\b)[\w-]+)?) (?:has )?changed to ", r"\1 is now "),
    Way(rf"^([Tt]he|[Oo]ur|[Mm]y) ({THING}) {_WAS} renamed {_TO_NAME}", r"\1 \2 is now called "),
    Way(
        rf"^(?:I|[Ww]e)(?: have|'ve)? renamed (the|our|my) ({THING}) {_TO_NAME}",
        r"\1 \2 is now called ",
    ),
    Way(
        rf"^(I|[Ww]e) left ({NAMED}) (?:and|to) join(?:ed)? (?={NAMED})",
        r"\1 no longer work at \2 and joined ",
    ),
    Way(
        rf"^([Tt]he(?= (?:[\w-]+ )?{_SET})|[Oo]ur|[Mm]y) ({THING}) "
        r"(?:has |have |was |were )?(?:just )?changed[,;:.]? "
        r"(?:and )?(?:it's|it is|now it's|now it is|they're) (?:now )?"
        rf"(?P<value>{VALUE}|\+?\d[\d ()/-]{{5,20}}\d)(?: now)?\.?$",
        r"\1 \2 is now \g<value>",
    ),
    Way(
        r"^(?:I|[Ww]e)(?:'ve| have)?(?: just| now)? (froze|frozen|paused|suspended|halted) "
        r"((?!it\b|this\b|that\b|them\b)(?:[\w'-]+ ){0,3}?[\w'-]+) (?:until|till|til) ",
        _halted,
    ),
    Way(
        rf"^[Oo]n[ -](call|duty|standby|support)( (?:{_WHEN}))? (?:is|will be) (?:now )?"
        rf"({FULL_NAME})(?:[,;] (?:and |but )?({_WHEN}) (?:it's |it is |it'll be )?({FULL_NAME}))?"
        r"(?=[.!]?$)",
        _after_each_other,
    ),
    Way(
        r"^(?:[Tt]he|[Oo]ur) on[ -]call (?:engineer|developer|person|dev|agent|SRE) "
        rf"({_WHEN}) (?:is|will be) ({FULL_NAME})(?=[.!]?$|[,;]|,? (?:and|but) )",
        lambda found: f"{found[2].rstrip('.')} is on call {found[1]}",
    ),
    Way(
        rf"^(I|[Ww]e)(?:'m|'re| am| are) (?:handing|passing) (over )?((?:the|our|my) {THING})"
        r"(?(2)| over) to ",
        r"\1 handed \3 over to ",
    ),
    Way(
        rf"\b(I|[Ww]e)(?:'m|'re| am| are) picking up (?={_TONGUE}(?:[.,!;]|$"
        r"| (?:because|since|from|at|in|on|so|and|now|with)\b))",
        lambda found: f"{found[1]}{' am' if found[1] == 'I' else ' are'} learning ",
    ),
    Way(
        r"\b(I|[Ww]e)(?:'m|'re| am| are) (?:saving|putting aside|setting aside) "
        r"(?=(?:about |around |roughly )?[\u20ac$\u00a3]?\d[\d.,]*(?: \w+)? (?:an?|per|every|each) "
        r"(?:week|month|year)\b)",
        r"\1 save ",
    ),
    Way(
        rf"^(I|[Ww]e) (?:don't use ({NAMED}) any ?more|no longer use ({NAMED}))[,;] "
        rf"everything(?:'s| is) (?:now )?(?:in|on) (?={NAMED}(?: now)?[.!]?$)",
        lambda found: f"{found[1]} don't use {found[2] or found[3]} any more, we use ",
    ),
    Way(
        rf"\b((?:the|our|my) (?:[\w-]+ )?{ROOM}) (?:has |have |was |were )?(?:been )?moved to "
        r"(?=(?:the )?[\w-]+ floor\b|floor \d)",
        r"\1 is now on ",
    ),
    Way(
        rf"\b((?:the|our|my) (?:[\w-]+ )?{ROOM}) (?:has |have |was |were )?(?:been )?moved to "
        r"(?=the (?:basement|cellar|attic|lobby|annexe?|[a-z]+ wing)\b)",
        r"\1 is now in ",
    ),
    Way(
        r"\b(?:i|we|they)(?:'ve| have)?(?: just| recently)? (?:moved|switched|changed)"
        r" ((?:the|our|my) [\w -]{2,30}?) to (?=(?:bi-?)?(?:weekly|monthly|daily|quarterly"
        r"|fortnightly)\b|every )",
        r"\1 is now ",
    ),
    Way(r"\bmoved back home to (?=[A-Z])", "moved back to "),
    Way(
        r"\b(i|we) let (?:the|our|my) (cleaner|nanny|gardener|babysitter|tutor|trainer|driver|cook"
        r"|maid|assistant|intern|accountant|lawyer|coach|agency|contractor) go(?=[.!, ]*$)",
        r"\1 no longer have a \2",
    ),
    Way(
        r"\b(?:i've|i have) been (going to bed|getting up|waking up) (at \d[\d:.]*(?: ?[ap]m)?)"
        r" (?:lately|recently|these days)",
        lambda found: f"I now {_DAILY[found[1].lower()]} {found[2]}",
    ),
    Way(
        r"\b(?:(?:[Mm]y|[Tt]he|[Oo]ur) (kids?|son|daughter|children)"
        rf"|(?!(?:I|We|You|He|She|They)\b)({FULL_NAME}))(?: has| have)? (?:changed"
        r"|switched) schools?,? (?:and )?(?:now )?(?:(?:they're|they are|he's|he is|she's"
        r"|she is) )?(?:now )?at (?=[A-Z])",
        lambda found: (
            f"{found[2] or 'My ' + found[1]} now {'go' if found[1] in _SEVERAL else 'goes'} to "
        ),
    ),
    Way(
        r"\b(?:i've|i have|i)(?: just| recently)? (?:started|begun) (going to bed"
        r"|getting up|waking up) (?=at \d)",
        lambda found: f"I now {_DAILY[found[1].lower()]} ",
    ),
    Way(
        r"\b(i|we)(?:'m| am|'re| are) back (?:on|to) (coffee|tea|alcohol|wine|beer|soda)\b",
        r"\1 drink \2 again",
    ),
    Way(
        rf"^({FULL_NAME}|[Mm]y (?:son|daughter)(?: [A-Z][\w-]+)?)(?: has| have)?(?: just)?"
        r" (?:started|begun|moved up (?:in)?to|gone into) (?=(?:[a-z]+|\d(?:st|nd|rd|th)) grade\b"
        r"|year \d|kindergarten\b)",
        r"\1 is now in ",
    ),
    Way(
        r"\b(?:I|[Ww]e)(?:'ve| have)? (?:switched|changed) banks?,? (?:and )?"
        r"(?:(?:I'm|I am|we're) )?(?:now )?(?:at|with) (?=[A-Z])",
        "I now bank with ",
    ),
    Way(
        r"\b(?:I|[Ww]e)(?:'ve| have)? (?:switched|changed) gyms?,? (?:and )?"
        r"(?:(?:I'm|I am|we're|I go|we go) )?(?:now )?(?:at|to) (?=[A-Z])",
        "My gym is now ",
    ),
    # What a note leaves its article out of: "Rate limit is 100 requests per minute".
    Way(
        rf"^(?!(?:{_NO_NOUN})\b)([A-Z])([a-z]+ {_MEASURED})(?= (?:is|are|was|were|has|have|went"
        r"|doubled|tripled|halved|moved|rose|fell|dropped|increased|decreased|grew|changed)\b)",
        lambda found: f"The {found[1].lower()}{found[2]}",
    ),
    Way(
        r"^((?:[Tt]he|[Oo]ur|[Mm]y) [a-z][\w -]{1,40}?) (?:has |have )?(?:(?:went|gone|came)"
        r" (?:up|down)|(?:rose|risen|doubled|tripled|halved|dropped|fell|fallen|increased|decreased"
        r"|grew|grown)(?: up| down)?) to (?=\W?\d)(?!\d+(?:st|nd|rd|th)\b)",
        lambda found: f"{found[1]} {'are' if found[1].endswith('s') else 'is'} now ",
    ),
    Way(r"^((?:[Tt]he|[Oo]ur|[Mm]y) .{2,40}?) (?:has )?slipped (?:to|until) ", r"\1 moved to "),
    Way(
        rf"^(?:[Tt]hey|[Tt]he [\w'-]+(?: [\w-]+)?)(?: have| has|'ve)?(?: just)? "
        r"(?:moved|changed|rescheduled|rebooked|postponed|pushed) (my|our) "
        rf"((?:[\w-]+ ){{0,3}}?[\w-]+?)(?: back| forward| out)?(?: from [^,;]{{1,30}})? "
        rf"(?:to|until) (?={_CLOCK})",
        lambda found: f"{found[1].capitalize()} {found[2]} was moved to ",
    ),
    Way(rf"^I(?:'m| am) no longer (?={_POST}(?:[.!]|$| of\b))", "I am no longer the "),
    Way(
        r"^(I|[Ww]e) (?:can't|cannot) (?:stand|bear) (.+?) (?:any ?more|any longer)(?=[.!]?$)",
        r"\1 no longer like \2",
    ),
    Way(r"^I(?:'m| am) (smoking|drinking) again\b", r"I've started \1 again"),
    Way(
        r"^I(?:'m| am) (?:down|up) to (?=\d[\d.,]* ?(?:kg|kilos|pounds|lbs?|stone)\b)",
        "I now weigh ",
    ),
    Way(
        r"^(I|[Ww]e)(?:'ve| have)? (?:got |changed to |switched to |have )?a new "
        r"((?:phone |mobile |cell )?number|e-?mail(?: address)?|address)[,;:.]? (?:and )?"
        r"(?:(?:it's|it is|that's) (?=\S+$)|(?=\+?\d[\d ()/-]{5,20}\d$|\S+@\S+$))",
        lambda found: f"{'My' if found[1] == 'I' else 'Our'} new {found[2]} is ".replace(
            "new number", "new phone number"
        ),
    ),
    Way(
        r"^(I|[Ww]e)(?:'ve| have)?(?: just)? (?:changed|switched) "
        rf"({'|'.join(sorted(CARERS))})s[,;:] (?:and )?(?:I|we)(?: now)? (?:see|go to) "
        rf"(?={FULL_NAME}(?: now)?\.?$)",
        lambda found: f"{'My' if found[1] == 'I' else 'Our'} new {found[2]} is ",
    ),
    Way(
        r"^(?:[Pp]lease )?(?:[Uu]se|[Ww]rite to) (?=\S+@\S+\w (?:instead|from now on))",
        "My new e-mail is ",
    ),
    Way(
        r"^(My|Our|The) (?!(?:score|temperature|weather|mood|traffic)\b)(.{2,40}?) "
        r"(?:used to be|was) [^,;]{1,40}[,;] (?:but |and )?"
        r"(?:now it's|now it is|it's now) (?=.)",
        r"\1 \2 is now ",
    ),
    Way(
        rf"^(I|[Ww]e)(?: have|'ve)?(?: just)? (?:got |bought )?a new ((?:[\w-]+ ){{0,2}}[a-z-]+),"
        rf" (?:called |named |it's )?(?=(?:an? )?{NAMED}\.?$)",
        lambda found: f"{'My' if found[1] == 'I' else 'Our'} new {found[2]} is ",
    ),
    Way(
        rf"^({FULL_NAME}) (?:isn't|is not|is no longer) (our|the|my) "
        r"((?:[\w-]+ ){0,3}[\w-]+?)(?: any ?more| any longer)?[,;]? (?:but )?"
        rf"({FULL_NAME}) is(?: now)?$",
        r"\2 \3 is now \4",
    ),
)
"""Ways of telling of a change, and what is so since."""
