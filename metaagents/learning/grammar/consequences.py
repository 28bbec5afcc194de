"""What is so, or is over, since a change that somebody tells of. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..marks import Likely, Sought
from ..regexes import any_case, regex
from ..rewording import third_person
from ..times import at_end
from .changes import CHANGED, DAY, HOUR, MONTH, NAMED, OWNED, THING, TO_VALUE
from .lexicon import COMPANIONS, DIETS, DOCTOR, DRUG, DWELLING, FULL_NAME, TIER

_NOBODY = (
    r"(?!(?:Who|Whoever|What|Which|When|Where|Why|How|He|She|It|They|You|This|That|These|Those|One"
    r"|Some|Somebody|Someone|Anybody|Anyone|Everybody|Everyone|Nobody|None|No|Neither|Has|Have|Had"
    r"|Do|Does|Did|Is|Are|Was|Were|Will|Would|Could|Should|Can|If|Once|After|Before|Until|Unless"
    r"|Because|Since|While|Maybe|Perhaps|Not|\w+n't|Never|Always|Please|Simply|Kindly|Just|Only|Also"
    r"|Then|Now|Next|First|Second|Last|Let|Let's|And|But|So|Or|All|Both|Any|Each|Every|Many|Most"
    r"|Others|People|Users|Customers|Clients|Tests|Attackers|Developers|Today|Yesterday|Sometimes"
    r"|Usually|Often|Temporarily|Manually|Directly)\b)"
)
"""Capitals at the beginning of a sentence that are no name."""
_SO_MANY = {"second": "two", "third": "three", "fourth": "four"}
_PARTS = {
    "full_name": FULL_NAME,
    "changed": CHANGED,
    "who": rf"(?P<who>I|[Ww]e|{_NOBODY}{FULL_NAME}|{OWNED} [\w-]+)",
    "whose": r"(?P<whose>[Mm]y|[Oo]ur|[A-Z][\w-]*'s)",
    "did": r"(?: has| have|'ve)?(?: (?:just|finally|recently|now|already))?",
    "had": rf"{OWNED} {THING}",
    "things": rf"{OWNED} (?:[\w'-]+ ){{0,5}}?[\w'-]+",
    "name": rf"{_NOBODY}{NAMED}",
    "word": r"[a-z]+",
    "words": r"[a-z]+(?: [a-z]+)?",
    "anything": r".+?",
    "role": r"(?:[Tt]he|[Oo]ur) (?:[\w-]+ ){1,2}(?:agent|team|squad|bot|desk)",
    "code": rf"(?:the )?(?:{NAMED}|[a-z]\w*(?:-[\w.]+)+)",
    "token": r"(?!(?:it|this|that|them)\b)[\w.-]{3,}",
    "passed": r"(?:(?:was |been )?(?:handed(?: over)?|passed|transferred)|moved|went|gone)",
    "replaced": r"(?:replaced|succeeded|(?:taken|took) over from)",
    "of_whom": r"(?: (?P<whose>our|my|the))?",
    "laid_off": r"(?:laid(?: off)?|let(?: go)?|fired|sacked|dismissed|made redundant)",
    "stopped_using": r"(?:moved (?:away from|off)|got off|(?:got|gotten) rid of|ditched|phased out"
    r"|abandoned|dropped)",
    "path": r"\S*/\S+",
    "spot": rf"(?:(?:ward|room|bed|building|site|warehouse|dock|bay|floor|rack|zone) \w+"
    rf"|(?!(?:{DAY}|{MONTH})\b){NAMED})",
    "brought": r"(?:(?:was|has been|got) (?:moved|transferred|relocated) to|has arrived in)",
    "to_value": TO_VALUE,
    "from_to": rf" from (?P<old>{NAMED}) to (?P<new>{NAMED})(?: .{{1,40}})?",
    "with": rf" (?:with|for|by) (?:an? )?(?P<new>{NAMED})",
    "team": r"(?:[Tt]eam )?",
    "put_away": r"(?:moved|put|brought)(?: back| over)?",
    "out": r"(?: (?:up|down|out|back))?",
    "back": r"(?: back| over| down| up| out)?",
    "brace": r"(?:braces|cast|stitches|bandages|splint|retainer|crutches)",
    "dwelling": DWELLING,
    "and_more": r"(?:,? (?:in|on|last|this|an?|and)\b.*)?",
    "nth": rf"(?:{'|'.join(_SO_MANY)})",
    "handle": rf"{OWNED} (?:[\w-]+ )?(?:username|user name|handle|nickname|login|hostname|domain)",
    "put_off": r"(?:moved|pushed|postponed|shifted|rescheduled|rebooked|delayed)",
    "newborn": r"(?:baby(?: girl| boy)?|son|daughter|twins|little one)",
    "meat": r"(?:meat|chicken|beef|pork|steak)",
    "street": r"\d+\w? (?:[A-Z][\w'-]+ ){1,3}"
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Drive|Square|Way)",
    "journey": r"(?:trip|flight|visit|journey)",
    "given_up": r"(?:cut out|(?:given|gave) up(?: on)?)",
    "to": r"(?:to|until)",
    "moved": r"(?:went|gone|came|come|rose|risen|fell|fallen|grew|grown)",
    "paid_for": r"(?:subscription|membership)",
    "lessons": r"(?:[\w-]+ ){0,2}(?:lessons|classes)",
    "number": r"\d[\w.]*",
    "time": rf"(?:{DAY}s?(?:,? (?:at )?{HOUR})?|{HOUR}|\d{{1,2}}(?:st|nd|rd|th)? {MONTH}"
    rf"(?: \d{{4}})?|{MONTH} \d{{1,2}}(?:,? \d{{4}})?)",
    "bought": rf"(?:{NAMED}|(?:new )?(?:laptop|phone|tablet|camera|tv|television|monitor|car|bike"
    r"|couch|sofa|jacket|dress|coat|headphones|keyboard|chair|desk|watch|printer|router))",
    "ill": r"(?:cold|flu|cough|headache|fever|rash|infection|migraine|backache|sore throat"
    r"|toothache|bronchitis|hay fever|sinus infection|stomach bug)",
    "its": r"(?:the|my|our|his|her|its)",
    "mate": r"(?:boyfriend|girlfriend|partner|fianc\u00e9e?|husband|wife|flatmate|roommate|sister"
    r"|brother|mother|father|mum|mom|dad|friend)",
    "DAY": DAY,
    "course": r"(?:yoga|pilates|zumba|karate|judo|boxing|spinning|swimming|tennis|ballet|salsa"
    r"|piano|guitar|violin|pottery|painting|meditation|crossfit)",
    "cups": r"(?:\w+ (?:coffees?|teas?|beers?|sodas?)|(?:\w+ )?(?:cups?|glass(?:es)?|pints?|cans?)"
    r" of \w+)(?: an?| per| each| every) \w+",
    "money": r"[\u20ac$\u00a3]?\d[\d.,]*(?: ?(?:euros?|dollars|pounds|francs|\u20ac))?",
    "bill": r"(?:rent|insurance|electricity|internet|gym|tuition|childcare|broadband|heating)",
    "each": r"(?: (?:an?|per|every|each) (?:month|week|year))?",
    "lying": r"(?:in|on|under|behind|inside|beside|below) (?:the|my|our|an?) "
    r"(?!.*\b(?:too|also|as well|at the moment)$)(?!same\b).+",
    "stand": r"(?:the|my|our) (?!.*\b(?:weeks?|days?|months?|years?|weekend|morning|afternoon"
    r"|evening|night|side|end|beginning|front|back|top|bottom|next|cloud)\b)[a-z].*",
    "care": r"(?:(?:an?|the) )?(?:(?:care|nursing|retirement|old people's) home|assisted living"
    r"|hospice|(?:(?:(?:his|her|their) own )(?:place|flat|apartment|home|house)))(?: .+)?",
    "reached": r"(?:hit|reached|passed|crossed|gained|grown to|got to|am at|is at|are at)",
    "amount": r"\d[\d.,]*[kKmM]?",
    "fans": r"(?:followers|subscribers|listeners|readers|members|customers|users|patrons)",
    "paying": r"(?:[a-z]+ )?<fans>",
    "about": r"(?:(?:around|about|roughly|almost|nearly|over|more than|just over) )?",
    "tier": TIER,
    "carer": rf"(?:{DOCTOR}|dentist|vet|hairdresser|barber|therapist|optician|lawyer|notary)",
    "doctor": DOCTOR,
    "make": r"(?:Skoda|VW|Volkswagen|BMW|Audi|Mercedes|Toyota|Honda|Ford|Fiat|Renault"
    r"|Peugeot|Tesla|Volvo|Kia|Hyundai|Mazda|Nissan|Opel|Citro\u00ebn|Dacia|Subaru|Jeep|Chevrolet)"
    r"(?: [A-Z\d]\w*)?",
    "when": r"(?: (?:in|last|this) .+)?",
    "measured": r"(?:blood pressure|blood sugar|cholesterol)",
    "regime": r"(?:keto|paleo|low-carb|gluten-free|dairy-free|sugar-free|mediterranean|carnivore"
    rf"|fodmap|juice|{'|'.join(sorted(DIETS))})",
    "love": rf"(?:{'|'.join(sorted(COMPANIONS))})",
    "medicine": r"(?:medication|medicine|treatment|therapy|pills|tablets|antibiotics"
    rf"|{DRUG})",
    "paid": r"(?:the |an? )(?:[\w-]+ ){1,2}(?:plan|tier|package)",
    "numbered": r"(?:[Tt]icket|[Ii]ssue|[Cc]ase|[Tt]ask|[Bb]ug|[Oo]rder) #?\w*\d[\w-]*",
    "version": rf"{NAMED}(?<=\d)",
    "month": r"[A-Z][a-z]{2,8}(?: \d{4})?",
    "date": rf"{OWNED} (?:[\w-]+ )?(?:meeting|wedding|trip|party|interview|call)(?: with .+)?",
    "site": rf"{OWNED} (?:[\w-]+ )?(?:office|studio|clinic|school|shop|store|club|warehouse|lab)",
    "gone": r"(?:run away|ran away|burnt down|(?:(?:been|was|got) )?stolen)",
    "thing": r"[\w-]+",
    "limb": r"(?:leg|arm|foot|ankle|wrist|knee|hand|finger|nose|rib|toe|shoulder|hip|jaw)",
    "at_firm": r"(?: (?:at|with|as) .+)?",
    "leave": r"(?:[a-z]+ )?(?:holiday|vacation|leave|sabbatical|honeymoon)",
    "site_of": r"(?:[Pp]roduction|[Pp]rod|[Ss]taging)",
    "unit": rf"{OWNED} (?:[\w-]+ )?(?:team|project|department|service|group|office|shop|account)",
    "come_to": r"(?:come|came|grown|grew|started|begun|learned|learnt) to (?:like|love|enjoy)",
    "am": r"(?: am|'m| is|'s| are|'re)",
    "turned": r"(?: am|'m| is|'s| are|'re| became| become| turned| went)",
    "is_back": r"(?:(?: am|'m| is|'s| are|'re) back|<did> (?:come|came|got) back)",
    "upgraded": r"(?:upgraded|updated|downgraded|bumped)",
    "handed_in": r"(?:handed in|submitted|finished|completed|defended)",
    "writing": r"(?:thesis|dissertation|novel|book|paper)",
    "pet": r"(?:cat|dog|kitten|puppy|hamster|rabbit|horse|pony|bird|parrot|budgie|goldfish"
    r"|tortoise|snake|guinea pig)",
    "died": r"(?:died|passed away|(?:had to be|was) put (?:down|to sleep))",
}
_RESTATED = r"""
<who><did> <changed> <thing:had><to_value> -> {thing} is {value}
<who><did> scaled<out> <thing:had><out><to_value> -> {thing} has {value} now
<thing:had><did> <moved>(?: up| down)?<to_value> -> {thing} is {value}
(?P<thing>[A-Z][a-z]+ [a-z]+) (?:is|are|was) (?:down|up)<to_value> -> The {thing} is {value} now
(?!.* battery)<thing:had> (?:is|are|was) (?:down|up)<to_value> -> {thing} is {value}
<thing:had> (?:was|has been|got) extended (?:to|until) (?:next )?<end:month>
    -> {thing} ends in {end}. {thing} expires in {end}. {thing} runs until {end} now
<who><did> (?:renewed|extended) <thing:had> (?:until|to|through) (?:next )?<end:month>
    -> {thing} ends in {end}. {thing} expires in {end}. {thing} runs until {end} now
<who><did> (?:changed|switched) <thing:had>(?: from <name>)? to <new:code>
    -> {thing} is {new}. {thing} is with {new} now
<thing:had><did> (?:(?:been |was )?changed|switched) from (?:the )?<name> to <new:code>
    -> {thing} is {new}
<thing:had> (?:was|has been|is|got) (?:renamed|changed) to <new:path> -> {thing} is {new}
(?P<thing><had>|<name>) <brought> <place:spot> -> {thing} is in {place}
[Oo]wnership of <thing:had><did> <passed> to <team><owner:name> -> the owner of {thing} is {owner}
(?:<who>|[Tt]hey)<did> <put_off> <thing:had>(?: back| forward| out)? to (?P<day><DAY>s)
    -> {thing} is on {day} now
(?:<who>|[Tt]hey)<did> <put_off> <thing:had>(?: back| forward| out)? <to> <new:time>
    -> {thing} moved to {new}
<who><did> <upgraded> <tool:name>(?: from .+)? to v?<new:number> -> {who} {use} {tool} {new} now
<who><did> (?:<upgraded>|switched|moved|changed) to <plan:paid> -> {who} {be} on {plan} now
<who><did> (?:reassigned|handed(?: over)?) <thing:numbered> to <new:name>
    -> {thing} is assigned to {new} now
<new:name> is (?:the|our) new <post:anything> -> the {post} is {new}
<old:name> (?:is not|isn't|is no longer) the <post:anything> -> the {post} is not {old}
<old:name><did> (?:handed|passed) <thing:had>(?: over)? to <new:name>
    -> {thing} is {new}. {old} no longer owns {thing}. {old} no longer leads {thing}
(?P<old>I|[Ww]e|<role>)<did> (?:handed|passed)(?: over)? <thing:had>(?: over)? to <new:role>
    -> {thing} is owned by {new}. {thing} is no longer owned by {old}
<thing:had> is owned by <team><owner:name>(?: now)? -> the owner of {thing} is {owner}
<team><owner:name> (?:now )?owns <thing:had>(?: now)? -> the owner of {thing} is {owner}
<who><did> <upgraded>(?: from .+)? to (?:an? |the )?<new:version> -> {who} {use} {new}
<who><did> <upgraded> (?P<thing><had>|<site_of>)(?: from .+)? to (?:an? |the )?<new:version>
    -> {thing} runs on {new} now. {who} {run} {new}
<thing:site><did> moved to <place:name> -> {thing} is in {place}
<who><did> (?:moved|relocated) <thing:site> to <place:name> -> {thing} is in {place}
<who><did> (?:switched|migrated|moved|changed|converted)(?: over)?(?: <had>)?<from_to>
    -> {who} switched from {old} to {new}
<who><did> (?:replaced|swapped)(?: out)? (?:(?:my|our) )?<old:name><with>
    -> {who} switched from {old} to {new}
<who><did> (?:replaced|swapped)(?: out)? <old:word> (?:with|for|by) .+ -> {who} quit {old}
<who><did> (?:switched|changed)(?: over)? from <old:word> to .+ -> {who} quit {old}
<who><did> (?:bought|got) (?:an? )?<new:name> to replace (?:my|our|the) <old:name>
    -> {who} switched from {old} to {new}
<who><did> (?:stopped|quit) seeing <old:name> -> {who} switched from {old} to Another
<who><did> (?:retired|dropped|fired|sacked) <old:name> as (?:our|my|the) <post:words>
    -> {old} is no longer my {post}
<old:name> (?:was|has been|got) <replaced> by <new:name> as<of_whom> <post:anything>
    -> {old} is no longer {post}. {whose} {post} is {new}.
<firm:name><did> <laid_off> (?P<who>me|us|<full_name>)(?: off| go)? -> {who} left {firm}
<who>(?: was| were| got|<did> been) <laid_off> (?:from|by|at) <firm:name> -> {who} left {firm}
<who><did> <stopped_using> <old:name>(?: for <name>)? -> {who} stopped using {old}
<who>(?:<did> traded| had to trade)(?: in)? (?:my|the|our) <thing:anything>(?: in)? for .+
    -> {who} sold my {thing}
<who>(?:<did> (?:gave|given)| had to give) <pet:name> (?:away|up) -> {who} no longer {have} {pet}
<who> (?:eats?|am eating|is eating) <meat> (?:again|now)
    -> {who} {be} no longer vegetarian. {who} {be} no longer vegan. {who} {eat} meat again.
<who><did> moved to <new:street> -> {theirs} address is {new}
<who><did> finished (?:my|the) <drug:medicine>
    -> {who} stopped taking {drug}. {who} {be} no longer on {drug}
<who><did> finished my <drug:word> -> {who} stopped taking {drug}
<who><did> (?:up|down)graded to <plan:name> -> {who} {be} on the {plan} plan now
<who><did> (?:<upgraded>|switched|moved) to (?:the )?<plan:tier>
    -> {who} {be} on {plan} now. {who} {be} on the {plan} plan now
<whose> <doctor><did> (?:stopped|discontinued|withdrawn|withdrew) (?:the|my) <drug:medicine>
    -> {who} stopped taking {drug}. {who} {be} no longer on {drug}
(?P<thing><had>|<word>) (?:was|has been|got) <upgraded> to <new:version>
    -> {thing} runs on {new} now
<who><did> (?:migrated|moved) <thing:had> to <new:name> -> {thing} has moved to {new}
<who><did> (?:unsubscribed from|cancelled)(?: my| our| the)? <to:name>(?: <paid_for>)?
    -> {who} cancelled my {to} subscription. {who} no longer {subscribe} to {to}. {who} stopped
    using {to}. {who} no longer {have} a membership at {to}
<who><did> (?:called off|cancelled) (?:<whose>|the) <what:journey> to <place:name>
    -> {whose} trip to {place} was cancelled. {who} stopped planning a trip to {place}.
    {whose} {what} to {place} was cancelled
(?!I\b|We\b)<whom:name><did> (?:called off|cancelled) (?:my|our) <event:words>
    -> {whom}'s {event} was cancelled. My {event} with {whom} was cancelled
<who><did> (?:called off|cancelled) (?:the|my|our) <event:words>
    -> {theirs} {event} was cancelled. The {event} was cancelled.
<who><did> (?:called off|cancelled) (?:the|my|our) <event:words> with <whom:name>
    -> {theirs} {event} with {whom} was cancelled
<who><did> had my <thing:words> (?:removed|taken out|taken off|pulled)
    -> {who} no longer {have} {thing}
<whose> <thing:thing><did> <gone> -> {who} no longer {have} a {thing}
<whose> <thing:pet><did> <died> -> {who} no longer {have} a {thing}
<thing:had> (?:moves|is moving) to <new:time> -> {thing} moved to {new}
<tool:name> (?:was|has been|got) <upgraded> to v?<new:number> -> We use {tool} {new}
<whose> <thing:word> (?:was|has been) (?:sold|written off|put down)
    -> {who} no longer {have} a {thing}
<whose> <part:limb><did> healed -> {who} no longer {have} a broken {part}
.+ (?:taken|took|taking) (?P<who>me|us|<full_name>) off (?!guard|duty)<drug:word>
    -> {who} stopped taking {drug}
(?P<who>[Ww]e|<full_name>)<did> renamed <old:token> (?:to|as) <new:token> -> {old} is called {new}
<who><did> (?:come|came) off (?!work|stage|shift|duty|air|course)<drug:word>
    -> {who} stopped taking {drug}
<who><did> (?:rewritten|rewrote|ported|rebuilt) <thing:had> (?:in|to) <new:name>
    -> {thing} is written in {new}
<who> (?:don't|doesn't|do not|does not) need (?:my |the |an? )?<thing:word> any ?(?:more|longer)
    -> {who} no longer {wear} {thing}. {who} no longer {use} a {thing}
<who><did> (?:went|gone) (?P<time>part|full)[ -]time -> {who} {work} {time}-time
<who><did> (?:started|begun|got|found|landed) (?:another|a|my) (?:new )?job<at_firm>
    -> {who} {be} no longer unemployed
<who><did> (?:gone|went) off (?!topic|script|track|course|air|duty)<thing:words>
    -> {who} no longer {like} {thing}
<who><did> <come_to> <thing:words> -> {who} no longer {hate} {thing}
<who>(?:<did> (?:come|came|gone|went)|<am>) off <its>(?P<diet> [\w-]+)? diet
    -> {who} {be} no longer on a{diet} diet
<who><did> (?:passed|got|received) my driving (?:test|licen[cs]e)(?: .+)?
    -> {who} {have} a driving licence. {who} stopped learning to drive
<who><did> (?:learned|learnt) (?:how )?to <skill:word> -> {who} can {skill}
<who><did> (?:stopped|quit) being (?:an? )?<what:words>
    -> {who} {be} no longer {what}. {who} {be} no longer a {what}
<who><did> (?:stopped|quit) going to <place:anything> -> {who} no longer {go} to {place}
<who><did> (?:graduated from|(?:finished|completed|got) my degree at) <place:name><when>
    -> {who} {be} no longer at university. {who} {be} no longer a student at {place}.
<who><did> graduated(?: from (?:university|uni|college))?(?: (?:and|with) .+)?
    -> {who} {be} no longer at university. {who} {be} no longer a student.
<who><did> graduated(?: .+)? -> {who} {be} no longer at university
<who><turned> (?:vegan|vegetarian)(?: now)? -> {who} no longer {eat} meat
<who><is_back> from <time:leave> -> {who} {be} no longer on {time}
<who><did> (?:got over|overcame|overcome|lost|conquered) my fear of <it:words>
    -> {who} {be} no longer afraid of {it}
<whose> <newborn> (?:was|were|is|has been) born(?: .+)?
    -> {who} {be} no longer pregnant. {who} stopped expecting a baby
<who><did> <handed_in> (?:my|our|the) <piece:writing> -> {who} stopped writing a {piece}
<who>(?: got|<did> been| was) promoted to <post:words> -> {who} {be} a {post} now
<new:name><did> (?:taken|took) over <task:words> from (?P<who>me|us|[A-Z][\w-]+)
    -> {who} {be} no longer responsible for {task}. The owner of {task} is {new}
<new:name><did> replaced <old:name> as (?:manager|head|lead|director) of <team:had>
    -> {new} leads {team}
<new:name><did> <replaced> <old:name> as<of_whom> <post:anything>
    -> {old} is no longer {post}. {whose} {post} is {new}.
<new:name><did> (?:taken|took) over <thing:had> from <old:name>
    -> the owner of {thing} is {new}. {new} leads {thing}
<who><did> (?:taken|took) over <team:unit> from <old:name> -> {who} leads {team}
<who><did> (?:stepped|stood) down as (?:the |our )?<post:word> -> {who} {be} no longer the {post}
<who><did> (?:stepped|stood) down as <post:anything> -> {who} {be} no longer {post}
<who><did> (?:(?:gave|given) birth|had (?:the|a|her|our|my) baby)(?: .+)?
    -> {who} {be} no longer pregnant
<who><did> (?:started|begun|gone back to) eating (?:meat|chicken|beef)(?: again)?
    -> {who} {be} no longer vegetarian. {who} {be} no longer vegan
(?P<thing><had>|<name>)<did> (?:gone|went) (?:bust|under|bankrupt|out of business)
    -> {thing} is closed
<who><did> (?:let go of|released|relinquished) (?:the|my|our) <thing:words>
    -> {who} no longer {have} the {thing}
<who><did> (?:closed|cancelled) (?:my|our|the) <account:name> accounts?(?: .+)?
    -> {who} no longer {bank} with {account}. {who} no longer {have} an account at {account}.
    {who} no longer {have} an account with {account}. The {account} account was closed
<who><did> <given_up> (?!hope|faith|every|any|my)(?:the )?<thing:word>(?<!ing) -> {who} quit {thing}
<who><did> (?:<given_up>|dropped|quit|stopped|cancelled) (?:my|our|the) <thing:lessons>
    -> {who} no longer {take} {thing}. {who} stopped taking {thing}
<who><did> moved out of <host:anything>(?:'s|') (?:place|house|home|flat|apartment)
    -> {who} no longer {live} with {host}
<who><did> dropped out of <what:word> school -> {who} stopped studying {what}
<who><did> had (?:my|our|her|his|an?) <nth:nth> (?:child|baby|kid)<and_more>
    -> {who} {have} {many} kids now. {who} {have} {many} children now.
<thing:had><did> <reached> <about><many:amount> <what:paying> -> {thing} has {many} {what} now
<who><did> (?:adopted|got|bought) (?:a|my|our|her|his) <nth:nth> <thing:word>
    -> {who} {have} {many} {thing}s now
<whose> <mate><did> moved in(?: with (?:me|us))? -> {who} no longer {live} alone
<new:name><did> moved in with (?P<who>me|us) -> {who} no longer {live} alone
<who><did> moved in with <mate:anything> -> {who} no longer {live} alone
<whose> <thing:ill><did> (?:gone|cleared up|passed) -> {who} no longer {have} a {thing}
<whose> <thing:ill> (?:is|has) gone(?: now)? -> {who} no longer {have} a {thing}
<old:name><did> moved out(?: (?:last|this|in|on|yesterday|today).*)?
    -> {old} is no longer my flatmate. I no longer live with {old}. {old} no longer lives with me.
<who><did> (?:got|had) my <thing:brace> (?:off|out|removed|taken off)
    -> {who} no longer {have} {thing}. {who} no longer {wear} {thing}
<who><did> started (?:working )?(?:at|with|for) <firm:name> -> {who} {be} no longer unemployed
<team:had><did> (?:switched|changed)(?: over)? to (?!<DAY>)<new:name> -> {team} uses {new} now
<who><did> (?:adopted|got|bought) an? (?:[a-z]+ )?<pet:pet> -> {who} {have} pets now
<who><did> started drinking (?:alcohol|wine|beer)(?: again)? -> {who} {drink} alcohol again
<who><am> off (?:the |my )?<drug:medicine>(?: now)?
    -> {who} {be} no longer on {drug}. {who} stopped taking {drug}
<who><am> done with (?:the|my) <drug:word>
    -> {who} {be} no longer on {drug}. {who} stopped taking {drug}
<who><did> moved into <home:dwelling> -> {who} {live} in {home} now
<who><did> changed <thing:handle> to <new:token> -> {thing} is {new}
<who>(?: always| usually)? (?:keep|store)s? <thing:things> <there:lying> -> {thing} {lie} {there}
(?:<who>|[Tt]hey)<did> <put_away> <thing:things><back> (?:to|into|in) <there:stand>
    -> {thing} {lie} in {there}
<who> pays? <much:money><each> (?:in|for) <bill:bill><each>(?: now)? -> {theirs} {bill} is {much}
<whose> goal is to save <much:money>(?: (?:by|before|until|this|in|for) .+)?
    -> {whose} savings goal is {much}
<who> (?:leads?|manages?|runs?) a team of <many:words>(?: now)? -> {theirs} team is {many}
<who><did> moved (?:in)?to <home:care> -> {who} no longer {live} with me
<who><did> <reached> <about><many:amount> <what:paying>(?P<where> on <name>)?
    -> {who} {have} {many} {what}{where}
<who>(?: have| has|'ve)? read <many:number> pages of <book:anything>(?: so far| now)?
    -> {who} {be} on page {many} of {book}
<thing:had><did>(?: been)? moved to (?P<day><DAY>)s -> {thing} moved to {day}
<who><did> (?:returned|sent back) (?:the|my|our) <thing:bought> -> {who} no longer {have} a {thing}
<who><did> (?:switched|changed|moved|gone|went)(?: over)? to an? <diet:thing> diet
    -> {who} {follow} a {diet} diet now
<who><did> cut (?:down|back) to <much:cups> -> {who} {drink} {much} now
(?P<thing><had>|<name>(?: \d+)?)<did> re-?opened(?: .+)? -> {thing} is open now
<who><did> (?:bought|got|leased) an? (?:[\w-]+ )?<car:make> -> {who} {have} a car now
[Tt]he <what:carer> (?:has |had to )?cancell?ed(?: (?:(?:on me|today|again|my|our|appointment) ?)+)?
    -> My {what} appointment was cancelled. My appointment with the {what} was cancelled
(?:[Tt]he|[Mm]y|[Oo]ur) <to:name> <what:journey> (?:was|got|has been|is) cancell?ed
    -> My {what} to {to} was cancelled
<whose> <what:measured> (?:is|are) (?:back to )?normal(?: again| now)?
    -> {who} no longer {have} high {what}
<who> (?:haven't|hasn't|have not|has not) smoked since .+ -> {who} {be} no longer a smoker
<whose> <thing:brace> (?:came|come|are|is) off -> {who} no longer {have} {thing}
<who><did> (?:stopped|quit)(?: (?:doing|taking|going to))? <thing:course>(?: classes| lessons)?
    -> {who} quit {thing}. {who} no longer {take} {thing} classes. {who} no longer {take} {thing}
    lessons. {who} no longer {do} {thing}
<thing:date> is (?:off|called off) -> {thing} was cancelled
<who><did> (?:quit|dropped|ditched|stopped|abandoned|given up|gave up)(?: (?:on|the|my))?
    <diet:regime>(?: diet)? -> {who} {be} no longer on a {diet} diet
<who> (?:have|has|<did> got) an? <love:love>(?: now|,? (?:called|named|since) .+)?
    -> {who} {be} no longer single
<who>(?:<am>|<did> been|<did> started) dating <new:name> -> {who} {be} no longer single
<who><did> bought (?:the|an?|our|my) (?:new )?<thing:thing>
    -> {who} {be} no longer saving for a {thing}. {who} {be} no longer looking for a {thing}
<who><did> got (?:an?|my|the) (?:spot|place|seat|slot) (?:in|on|at|for) (?:the )?<race:anything>
    -> {who} {be} no longer on the waitlist for {race}. {who} {be} no longer on the waiting list for
    {race}. {who} {be} no longer on the waitlist for the {race}
"""
"""Ways of telling of a change, and behind an arrow what else each says; what is indented goes on.

In brackets, what stands there and what it is called: ``<old:name>`` is a name, the old one. In
braces, what is called so, or a verb as it follows whom the text is about. ``Another`` is whoever
came after.
"""


def _spelled_out(way: str) -> str:
    """Return a way of telling as a pattern."""

    def part(found: re.Match[str]) -> str:
        pattern = _spelled_out(_PARTS[found[2] or found[1]])
        return f"(?P<{found[1]}>{pattern})" if found[2] else pattern

    return re.sub(r"(?<!P)<(\w+)(?::(\w+))?>", part, way)


def _read_table() -> Iterator[tuple[Sought, str]]:
    for line in _RESTATED.strip().replace("\n    ", " ").splitlines():
        way, implied = line.split(" -> ")
        yield Sought(_spelled_out(way), 0), implied


_TABLE = tuple(_read_table())
_LIKELY = Likely(way for way, _ in _TABLE)
_BOUNDED = any_case(r"(?:since|until|till|from|as of|by|for|ever)\b")
"""A time that lasts: what is so for it may be over, or not have begun."""
_DONE = {
    "cancel": "cancelled",
    "close": "closed",
    "drop": "dropped",
    "quit": "quit",
    "return": "returned",
    "stop": "stopped",
}
_HAD_TO = regex(rf"(?<= )(?:had|'ve had|have had) to ({'|'.join(_DONE)})\b")
"""What somebody had to do is done."""
_BORN_THEN = regex(r" born (?:in \d{4}|.* years ago)$")
"""Who was born in another year ends nobody's waiting for a child."""
_SENTENCE = regex(r"(?<=\. )[a-z]")
_SPEAKING = {"my": "I", "our": "We", "me": "I", "us": "We"}
_VERBS = "bank do drink eat follow go hate have like run subscribe live take use wear work".split()


def restated(text: str) -> str:
    """Return what is so, or is over, since a change; ``""`` where a text tells of none.

    ``We raised the retry limit from 3 to 5``: the retry limit is 5. ``I closed my ING account``: I
    no longer bank with ING.
    """
    said = _HAD_TO.sub(lambda found: _DONE[found[1]], text.rstrip(".!"))
    if _BORN_THEN.search(said):
        return ""
    undated, when = at_end(said)
    return _restated(said) or (_restated(undated) if when and not _BOUNDED.match(when) else "")


def _restated(said: str) -> str:
    for place in _LIKELY.places(said):
        way, implied = _TABLE[place]
        if found := way.pattern.fullmatch(said):
            parts = found.groupdict(default="")
            parts |= {"many": _SO_MANY[parts["nth"]]} if "nth" in parts else {}
            about = parts.get("who") or parts.get("whose") or ""
            who = _SPEAKING.get(about.lower(), about.removesuffix("'s"))
            whose = (parts.get("whose") or "the").capitalize()
            # "My old sneakers" are no former ones where it is told what has become of them.
            thing = re.sub(r"\bold (?=\w)", "old-", parts.get("thing") or "")
            is_many = thing.endswith("s") and not thing.endswith("ss")
            agreeing = {**_agreeing(who), "lie": "are" if is_many else "is"}
            told = implied.format(**{**parts, **agreeing, "thing": thing, "whose": whose})
            return _SENTENCE.sub(lambda start: start.group().upper(), told)
    return ""


def _agreeing(who: str) -> dict[str, str]:
    """Return whom a text is about, and verbs as they follow it."""
    is_one = who not in {"I", "We"}
    being = "is" if is_one else "am" if who == "I" else "are"
    verbs = {verb: third_person(verb) if is_one else verb for verb in _VERBS}
    theirs = f"{who}'s" if is_one else "my"
    return {**verbs, "who": who, "be": being, "theirs": theirs}
