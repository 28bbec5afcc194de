"""Roundabout ways of stating something, put in the plain words that the frames know. Pure.

Each line is a way of speaking and what it comes down to. What is put differently says the same of
the same person: nothing here turns a wish, a question or a denial into a statement.
"""

from __future__ import annotations

import re

from tiers.lexical import WEEKDAYS

from ..marks import Way, Ways, reworded
from .changes import CHANGES
from .dates import NUMBER, TIMES
from .fronted import FRONTED
from .introductions import INTRODUCTIONS
from .lexicon import CAPITALS, CARERS, DOCTOR, FULL_NAME, PERSONS, PETS, TRADES
from .openings import OPENINGS
from .shorthand import SHORTHAND
from .verbs import FORMS, HABITUAL

_KIN = "|".join(sorted(PERSONS | PETS, key=len, reverse=True))
_CARER = "|".join(sorted(CARERS, key=len, reverse=True))
_TRADE = "|".join(sorted(TRADES, key=len, reverse=True))
_WHO = rf"[{CAPITALS}][\w'\-]{{1,30}}(?: [{CAPITALS}][\w'\-]{{1,30}}){{0,2}}"
"""A name that a sentence may end with."""
_LOVED = (
    r"(?:nuts about|wild about|big on|hooked on|a sucker for|an? (?:big |great |real )?lover of"
    r"|an? (?:big |avid |keen )?reader of)"
)
_PROJECT = r"(?:repo|repository|project|codebase|team|service|company|monorepo)"
_OPENS = r"(?:^|[,;:.!?\u2013\u2014-]\s|\b(?:and|but|so|because|that|since|while|as|well|hi) )\s*"
_OWN = rf"{_OPENS}(?:[Mm]y|[Oo]ur|[Tt]he) (?:[\w\-]{{2,20}} ){{0,2}}?[\w\-]{{2,20}}"
_SHORTENED = r"(?:[Hh]e|[Ss]he)"
_DONE_SO = (
    r"(?:got|had|been|become|moved|lived|worked|bought|sold|started|begun|finished|lost|passed|left"
    r"|joined|adopted|gone|broken|retired|quit|taken|given|changed|turned|just)"
)
"""After it ``'s`` is "has"."""
_BEING = (
    r"(?:an? |the |my |our |not |no longer |called |named |in |on |at |from |with |into |against "
    r"|due |(?:Dr|Mrs?|Ms|Prof)\b|living |working |studying |learning |getting |moving |expecting "
    r"|going |staying "
    r"|coming |visiting |starting |teaching |taking |doing |allergic |intolerant |fluent |married "
    rf"|engaged |diagnosed |(?:allergic|lactose intolerant|gluten intolerant|pregnant|vegan|retired"
    r"|vegetarian|diabetic|coeliac|celiac|asthmatic|divorced|single|widowed|deaf|blind|bilingual"
    r"|dyslexic|autistic|epileptic|self-employed|unemployed|colou?r[- ]blind|left-handed"
    rf"|{NUMBER}(?: years old| and a half)?)(?=$|[.,;!]| (?:and|but|so|now|since|in|to|at)\b))"
)
"""Before it ``'s`` is "is", and does not say whose what follows is."""
_DONE = "|".join(
    sorted(word for word, (lemma, form) in FORMS.items() if form == "past" and word != lemma)
)
_AFTER_DONE = r"(?:an?|to|at|from|my|our|as|in|for|with|the (?-i:[A-Z])|[A-Z0-9])"
_STATES = (
    r"allergic|married|divorced|widowed|engaged|retired|vegan|vegetarian|self-employed"
    r"|based(?= in (?-i:[A-Z]))"
)
_NOT_OF_THE_NEXT = (
    r"(?![^.;]*, (?:he|she|they|it|[A-Z][\w'-]+ (?:is|was|has|had|now|[a-z]+s|[a-z]+ed))\b)"
)
"""What is said so may be of whom the next clause is about: ``Trained as a nurse, Eve teaches``."""


def _intended(found: re.Match[str]) -> str:
    lemma, form = FORMS.get(found[1].lower(), ("", ""))
    return f"planning to {lemma}" if form == "ing" else found.group()


def _was_done(found: re.Match[str]) -> str:
    lemma = FORMS.get(found[1].lower(), ("", ""))[0]
    return next((word for word, form in FORMS.items() if form == (lemma, "past")), found.group())


def _in_place(found: re.Match[str]) -> str:
    return f"{found[2]} {found[1].lower()}"


def _of_none(found: re.Match[str]) -> str:
    lemma, form = FORMS.get(found[1].lower(), ("", ""))
    return f"we don't {lemma}" if form == "present" else found.group()


def _turned(found: re.Match[str]) -> str:
    turns = "turn" if found[1].lower() in {"i", "we"} else "turns"
    return f"{found[1]} {turns} {found[2]}"


_WAYS: tuple[Way, ...] = (
    *INTRODUCTIONS,
    *OPENINGS,
    *FRONTED,
    *SHORTHAND,
    *TIMES,
    # "I'll be starting at Initech in June": it is arranged.
    Way(
        r"\b(i|we|my [a-z]+)(?:'ll| will) be (?=(?:start|mov|fly|travell?|visit|leav|join|study"
        r"|work|teach|retir|tak|gett|marry|open|stay|com|go)ing\b)",
        lambda found: found[1] + (
            " am " if found[1].lower() == "i" else " are " if found[1].lower() == "we" else " is "
        ),
    ),
    Way(
        r"\b(give|gave|given|throw|threw|thrown|trade|traded) ((?:my|our|the) [\w ]{2,24}?)"
        r" (away|out|in)\b(?! to)",
        r"\1 \3 \2",
    ),
    Way(
        r"\b(?:swapped|left|traded) (?:the (?:big )?city|city life|the countryside) for "
        r"(?=an? (?:[a-z]+ )?(?:village|town|farm|hamlet|city|island|suburb))",
        "moved to ",
    ),
    Way(r"\b(?:my|our) plan is to (?=[a-z])", "I plan to "),
    Way(r"\ba (?:single )?word of (?=[A-Z])", "any "),
    Way(rf"^\s*({'|'.join(sorted(HABITUAL))}),? (i|we) (?=[a-z])", r"\2 \1 "),
    # "My husband's a plumber", "my mum's got gout", "she's in Munich".
    Way(rf"({_OWN}|\b{_SHORTENED})'s (?={_DONE_SO}(?: [A-Za-z0-9]|[.,;!]|$))", r"\1 has "),
    Way(rf"({_OWN}|\b{_SHORTENED})'s (?={_BEING})", r"\1 is "),
    Way(
        rf"^({FULL_NAME})'s (?=(?:the (?:new|current)|my|our|allergic|married|no longer) )",
        r"\1 is ",
    ),
    Way(
        rf"(?<=[,;] )({FULL_NAME})'s (?=(?:my|our) (?:new )?[a-z-]+(?: now)?(?:$|[.,;!]))",
        r"\1 is ",
    ),
    Way(
        r"\b(haven't|have not|hasn't|has not) got (?!to\b|married|engaged|divorced|promoted|rid"
        r"|around|round|over|used|time|through|back|into|here|there)",
        lambda found: "don't have " if found[1].lower().startswith("have") else "doesn't have ",
    ),
    # What somebody likes more than something else is preferred to it.
    Way(
        r"\b(?:like|love|enjoy)(s?) (?!me\b|you\b|him\b|her\b|it\b|them\b|this\b|that\b|to\b)"
        r"([^,.;!?]{3,40}?) (?:(?:much|far|a lot|way|even) )?(?:more|better) than"
        r" (?=(?!any|every|words|life|you|i\b|we\b|he\b|she\b|my\b|it\b|the next)[a-z])",
        r"prefer\1 \2 to ",
    ),
    # Who will be sixty turns sixty.
    Way(
        rf"\b(I|[Ww]e|(?:[Mm]y|[Oo]ur) (?:{_KIN})(?: [A-Z][\w\-]+)?)(?:'ll| will| (?:am|is|are)"
        rf" going to) be ({NUMBER})(?= (?:next|in|on|this|tomorrow)\b|[.!]?$)",
        _turned,
    ),
    # Of a move, where somebody is now is where they live.
    Way(
        r"\b((?:used to live|moved house|moved away|left(?= [A-Z])) [^.;!?]{0,60}?),? (?:but "
        r"|and |so )?(?:now )?([Ii]|[Ww]e)(?:'m| am|'re| are) (?:now )?in (?=[A-Z])",
        lambda found: f"{found[1]}, {found[2]} live in ",
    ),
    # "Moved to Bonn and then back to Mainz": it is moved again.
    Way(
        r"\b((?:moved|relocated) to [A-Z][^.;!?]*?),?(?: and| but)?(?: then| later| soon)?"
        r" (?:(?:moved|came|went|returned) )?back to (?=[A-Z])",
        r"\1, then moved back to ",
    ),
    Way(
        r"\b((?:move|relocate|come)d?|came) (?:right |over |out |back |down |up )?here to ",
        r"\1 to ",
    ),
    Way(
        r"\b(?:make|made) (?:the|a|our|my) (?:big |final )?move (?:over |back |out )?to ",
        lambda found: f"{'moved' if found[0].startswith('made') else 'move'} to ",
    ),
    Way(rf"\bborn ((?:on|in) [^,.;!?]{{3,30}}?\d) in ({FULL_NAME})", r"born in \2 \1"),
    # "Two years ago after thirty years as a midwife": the years before say nothing of after.
    Way(
        r"(?<=\w) after (?:\w+ ){1,3}(?:years|months|decades) (?:as|at|with|of|in|on)"
        r" [^,.;!?]+?(?=[.!]?$)",
        "",
    ),
    Way(r"(?<=\w) back in (?=\d{4}\b)", " in "),
    # "On 9 June and not in July": what is put right, as after a comma.
    Way(r"(?<=\w) and (?=not (?:at |on |in |to |for )?[\w.:' ]{1,40}[.!]*$)", ", "),
    Way(r"\b([Mm]y|[Oo]ur) go-to (?=[a-z])", r"\1 favourite "),
    Way(r"\b(part|full) time\b", r"\1-time"),
    Way(
        rf"\b(have|has|got) (an? [^,.;!?]{{3,40}}?) (on (?:{'|'.join(WEEKDAYS)})|tomorrow|next"
        rf" week)"
        r" (at (?:\d[\d:.]*(?: ?[ap]m)?|noon|half past \w+|\w+ o'clock))",
        r"\1 \2 \4 \3",
    ),
    Way(
        rf"\bthe ({_CARER}) (?:who|that) (?:looks after|takes care of|treats|sees|cuts|works with)"
        r" (?:me|us|(?:my|our) [\w ]{2,24}?) is ",
        r"my \1 is ",
    ),
    # Who speaks is left out: "Been living in Graz since May", "Just moved to Graz".
    Way(
        r"^\s*(?:currently )?(?=(?:work|liv|study|train|teach)ing (?:as|at|in|for|to be) "
        r"(?![^.;!?]* (?:is|was|are|has|can|will|makes|takes)\b))",
        "I am ",
    ),
    Way(r"^\s*been (?=[a-z])", "I have been "),
    Way(
        r"^\s*not (?=(?:an?|the|into|keen|fond|allergic)\b(?! (?:bit|lot|problem|thing|chance)))",
        "I am not ",
    ),
    Way(r"^\s*having (?=[a-z]+(?:ed|en|wn|de|ne|lt|nt|ft) [^,;.!?]{2,60}, i\b)", "I have "),
    Way(r"^\s*(?=(?:can't|cannot) [a-z])", "I "),
    Way(
        rf"^\s*((?i:{_STATES}))(?= (?:to|in|since|from|for) ){_NOT_OF_THE_NEXT}",
        lambda found: f"I am {found[1].lower()}",
    ),
    Way(
        rf"^\s*(?:[Jj]ust |[Ff]inally |[Rr]ecently )?(?=(?i:{_DONE}) (?:(?:up|in|on|off|out"
        rf"|over|back|myself|ourselves) )?(?:{_AFTER_DONE})){_NOT_OF_THE_NEXT}",
        "I ",
    ),
    # What somebody would rather do, or could never bear.
    Way(
        r"\b(i|we)(?:'d| would) (?:much )?(?:rather|sooner) (?!die|not )([^,.;]{3,60}?)"
        r" than [^,.;]{2,60}",
        r"\1 prefer to \2",
    ),
    Way(
        r"\b(i|we)(?:'d| would) (?:much )?(?:rather|sooner) (?=(?:be|sit|have|take|go|stay|eat"
        r"|drink|walk|fly|travel|meet|work|get|read|talk|use|pay) [a-z])",
        r"\1 prefer to ",
    ),
    # It is X that ...: X does.
    Way(
        r"\b[Ii]t(?:'s| is| was) ((?:the|my|our) [a-z][\w ]{1,24}|[A-Z][\w\-]+) (?:that|who)"
        r" (?=[a-z]+s\b)",
        r"\1 ",
    ),
    # Who holds an office no more, and who does instead.
    Way(
        rf"\b({_WHO}) (?:isn't|is not|is no longer|was) ((?:the|our|my) [a-z][a-z ]{{2,30}}?)"
        r"(?: any ?more| any longer)?, (?:but )?(?:now )?(?:it's|it is|that's)(?: now)?"
        rf" ({_WHO})",
        r"\1 is no longer \2; \3 is \2",
    ),
    Way(
        rf"\b({_WHO}) (?:isn't|is not) "
        r"((?:the|our|my|in charge of|responsible for) [\w' -]{2,40}?)"
        r"(?: any ?more| any longer)[,;] "
        rf"(?:but )?(?:now )?(?:it's|it is|that's)(?: now)? ({_WHO})",
        r"\1 is no longer \2; \3 is \2",
    ),
    # "Isn't on Friday, it's on Saturday": what is put right, and not who it is now.
    Way(
        r"\b(is|was|are)(?:n't| not) (?!(?:the|our|my|an?|in|on|at|with|for) [^,.;!?]+ any ?(?:more"
        r"|longer), it(?:'s| is) [A-Z][\w'-]+(?: [A-Z][\w'-]+)?[.!]?$)([^,.;!?]{1,40}), "
        r"(?:it's|it is|they're|they are|she's"
        r"|he's|she is|he is) ([^,.;!?]{1,60})(?=[.!]?$)",
        r"\1 \3, not \2",
    ),
    Way(
        r"\b(?:somebody|someone|some \w+|thieves|they)(?:'s|'ve| has| have)? (?:stole|stolen"
        r"|nicked|pinched) (my [\w ]{2,24}?)(?= (?:on|last|from|yesterday|in)\b|[.,!]|$)",
        r"\1 was stolen",
    ),
    # Who does what as a notary is one.
    Way(
        r"^\s*as (an?) (?!(?:matter|number|reminder|starter|beginner|teenager|youngster"
        r"|newcomer|outsider|last|filler|gesture|former|answer|sister|brother)\b"
        r"|(?:mother|father)\b(?! of [a-z]+,)"
        r"|(?:[a-z]+ )?(?:restaurant|supplier|dealer|retailer|provider|manufacturer)\b)"
        rf"((?:[a-z]+ )?[a-z]+(?:er|or|ist|ian|ary|ant|eer)(?: of [a-z]+)?|(?:[a-z]+ )?(?:{_TRADE})"
        r"|single parent|vet|diabetic|coeliac|vegan|vegetarian)((?: in \w+)?)(?: myself)?,?"
        r" (?=i\b|i'|we\b|my\b)(?!i (?:want|can|need|should) )",
        r"I am \1 \2\3, and ",
    ),
    Way(r"\b(?:have|need) to see (?=(?:Dr|Mrs|Mr|Ms)\b.* (?:every|each|about my|for my) )", "see "),
    # Who treats somebody is whom they see.
    Way(
        r"\b((?:Dr|Prof|Mrs|Mr|Ms)\.? [A-Z][\w\-]+) (?:is the one who |is who )?(?:is"
        r" treating|treats|is looking after|looks after|takes care of"
        r"|has been treating|did|operated on) (?=my [a-z]+)",
        r"I see \1 for ",
    ),
    Way(
        r"\b((?:i|we) [a-z]+ [^,.;!?]{2,40}), (?:and |but )?now (?=[a-z]+ing )",
        r"\1, and I am now ",
    ),
    Way(r"\bhad (?:the|a|her|our|their) baby, (?=an? (?:girl|boy)\b)", "had "),
    Way(
        r"\b(?:i|we)(?:'ve| have)? (?:renewed|replaced) (my|our) ([a-z]+(?: card| licen[cs]e)?),"
        r" (?:and )?(?:the|its|my) new number is ",
        r"\1 new \2 number is ",
    ),
    # Who may be reached by what number.
    Way(
        r"\b(?:i|we)(?:'ve| have)?(?: just| finally)? (?:got|have|changed to) a new"
        r" (?:phone |mobile |cell )?number(?: now)?(?:[:,;.]| -)(?: (?:it's|it is|it:))?"
        r" (?=\+?\d[\d ()/-]{4})",
        "my new phone number is ",
    ),
    Way(r"\b(my|our) new ((?:phone |mobile |cell )?number)(?:'s|:) (?=\+?\d)", r"\1 new \2 is "),
    Way(
        r"\b(?:the )?best (?:way|number|place) to (?:reach|get|contact|call|text) me"
        r"(?: at| on)? is (?:on |at |by )?(?=\+?\d)",
        "my phone number is ",
    ),
    Way(
        r"\byou can (?:reach|get|call|text|ring|phone) me (?:on|at) (?=\+?\d[\d ()\-/]{5,20}\d)",
        "my phone number is ",
    ),
    Way(r"\byou can (?:reach|get|e-?mail) me (?:at|under|on) (?=\S+@\S)", "my e-mail is "),
    Way(r"\b(?:have|'ve) never been able to ", " can't "),
    Way(r"(?:\b(?:am|are|is)|'m|'re) (?:not able|unable) to ", " can't "),
    Way(r"\b(i|we)(?:'m| am| are|'re) no (fan|friend|lover) of ", r"\1 am not a fan of "),
    Way(rf"\b(i|we)(?:'m| am| are|'re) (?:also |really |totally )?{_LOVED} ", r"\1 am fond of "),
    Way(r"\bhave (?:a|an) (?:soft spot|weakness|real passion|great love) for ", "am fond of "),
    Way(r"\b(?:ended|wound) up (\w{2,20}ing)\b", _was_done),
    # What comes to somebody from others.
    Way(
        r"\b(?:they|the company|my (?:boss|company|manager))(?:'ve| have| has)?(?: just)? "
        r"(made|appointed|named|promoted|hired|elected|fired|sacked|put|laid) me\b",
        r"I was \1",
    ),
    Way(
        rf"\b(?:they|the (?:clinic|hospital)|my {DOCTOR})(?:'ve| have| has)?(?: just)?"
        r" put me (?:back )?on (?!hold\b)",
        "I am on ",
    ),
    Way(
        rf"\bmy {DOCTOR}(?:'ve| have| has)?(?: just)? prescribed (?:me )?(?!that\b|it\b)",
        "I was prescribed ",
    ),
    # Who answers for something, told of the task.
    Way(
        r"\b[Tt]he (?:one|person|agent|colleague) (?:(?:who|that)(?:'s| is) )?(?:to (?:talk to"
        r"|ask|call|contact|see)(?: about| for)?|responsible for|in charge of) "
        rf"([^,.;!?]{{2,40}}?) is ({_WHO})",
        r"\2 is responsible for \1",
    ),
    Way(
        r"\b(am|'m|is) the (?:one|person|agent|colleague) (?:(?:who|that)(?:'s| is) )?"
        r"(?=responsible for |in charge of )",
        r"\1 ",
    ),
    # "Nuria takes the importer, Otto the docs": the verb is said once.
    Way(
        rf"\b({_WHO} ([a-z]+s) (?:the|our|all) [^,.;!?]{{2,40}}?)(?:,| and|, and) ({_WHO})"
        r" (?=(?:the|our|all) )",
        r"\1; \3 \2 ",
    ),
    # "What we enjoy most is rowing".
    Way(
        r"\bwhat (i|we) (?:both |really |all )?(like|love|enjoy|prefer|hate|dislike)"
        r"(?: most| best)? is (?=[a-z])",
        r"\1 \2 ",
    ),
    Way(r"\btreated (?:myself|ourselves) to (?=an? )", "bought "),
    # What is so, and what is not: "340 people rather than 430".
    Way(r",? (?:rather than|instead of) (?=(?:(?!\w+ now\b)[a-z]+ )?[\w.:'-]+[.!]?$)", ", not "),
    Way(
        rf"\b(i've|i have|we've|we have) (?:now |already )?been to (?={NUMBER} (?:countries|cities"
        r"|states|continents|museums|parks|restaurants)\b)",
        r"\1 visited ",
    ),
    # What is done again and again now, as what is done.
    Way(
        r"\b(?:i'm|i am) ([a-z]+ing) (?=[^,;]* (?:an?|per|every|each)"
        r" (?:day|night|week|month)\b[^,;]*\b(?:now|these days)\b)",
        lambda found: f"I {FORMS.get(found[1].lower(), (found[1], ''))[0]} ",
    ),
    # What it comes of that something is so now.
    Way(r"(?<=\w) now that (?:the|my|our|i|we|i'm|we're|it's) [^,.;!?]{3,60}(?=$|[.;!])", " now"),
    Way(r"(?<=years|onths) come (?:next )?[a-z]+(?=[.,!]|$)", ""),
    Way(r"^\s*since (?:the|our) [a-z]+,? (?=i\b|i'|we\b|my\b)", ""),
    Way(
        r"^\s*([a-z][^,;!?]{4,60}), i(?:'ve| have) (signed up|registered|applied|enrolled)"
        r"(?= (?:already|now)\b|[.!]?$)",
        r"I have \2 for \1",
    ),
    Way(r"^\s*by (?:trade|training|profession|education),? (?=i\b|i'|my\b|s?he\b)", ""),
    # Where somebody lives, works or comes from, told of the place.
    Way(
        rf"\b({FULL_NAME}) is where (I|we) (live|work|grew up|was born|were born)\b",
        r"\2 \3 in \1",
    ),
    Way(
        rf"\b({FULL_NAME}) (?:has been|became) (?:my |our )?home"
        r"(?: now)?(?=$|[.,!;]| (?:since|for) )",
        r"I have lived in \1",
    ),
    Way(rf"\b({FULL_NAME}) is (?:my |our )?home(?: now)?(?=$|[.,!;])", r"I live in \1"),
    Way(rf"\b[Hh]ome (?:for (?:me|us) )?(?:is|has been) (?={FULL_NAME})", "I live in "),
    Way(
        r"\bhome (?:for (?:me|us) )?is (?=an? [a-z \-]*(?:flat|house|cottage|boat|farm|van"
        r"|cabin|bungalow|caravan|studio|apartment|loft|barn)\b)",
        "I live in ",
    ),
    Way(r"\b(i|we) (?:make|earn) (?:a|my|our) living (?:as|by being) ", r"\1 work as "),
    Way(
        r"((?:(?<= )(?:am|is|are)|(?<=\w)'(?:m|s|re))) (?:off|headed|heading) (?:to|for) (?=[A-Z])",
        r"\1 travelling to ",
    ),
    Way(rf"^this (?={_PROJECT} )", "the "),
    Way(rf"^(in (?:this|our|the) {_PROJECT}),? (?!i\b|we\b)([^,.;:]{{8,}})", _in_place),
    *CHANGES,
    Way(r"\b((?:mother|father|brother|sister|son|daughter)s?) in law\b", r"\1-in-law"),
    # What lives in the house is that of who speaks.
    Way(
        rf"^\s*(?:the |(?=(?:twins|baby) ))((?:new |little )?(?:twins|kids|children|baby"
        rf"|{'|'.join(sorted(PETS))}))"
        r"(?='s name is\b| (?:turns?|(?:is|are) (?:called|named|due)|answers? to|goes by)\b)",
        r"my \1",
    ),
    # Who somebody's people are.
    Way(
        r"\bthe ([a-z]+) (?:that |who |whom )?(?:i|we) (?:use|see|have|go to|visit|drive|own"
        r"|wear|take|rent|play|ride|(?:work|study) (?:for|at)|live in|bank with) (?=[a-z]+s\b)",
        r"my \1 ",
    ),
    Way(rf"\bthe name of my ({_KIN}) is ", r"my \1 is called "),
    Way(
        rf"\b([Mm]y (?:[a-z]+ )?(?:{_KIN})) (?:goes by|answers to)(?: the name(?: of)?)?"
        rf" (?={FULL_NAME})",
        r"\1 is called ",
    ),
    Way(
        r",? (?:whose name is|who is called|who's called|by the name of|that's called|which is"
        r" called|who goes by|and (?:her|his|its) name is)(?= [A-Z])",
        " called",
    ),
    Way(r"\bboth (?:(?:of )?(?=(?:my|our) )|(?=[\w\-]+ and ))", ""),
    Way(r"\ball but (?=[a-z])", "almost "),
    Way(r"\b(?:hardly|scarcely|barely) ever (?=[a-z])|\balmost never (?=[a-z])", "rarely "),
    Way(r"\b(i|we) know how to (?=[a-z])", r"\1 can "),
    # What a doctor has found of who speaks is so.
    Way(
        r"^(?:[Tt]he|[Mm]y) (?:doctor|GP|allergist|specialist) (?:says|said|told me|confirmed)"
        r"(?: that)? (?=I(?:'m| am) (?:not |no longer )?allergic |I (?:don't )?have (?!to ))",
        "",
    ),
    Way(r"\bno later than (?=\w)", "by "),
    Way(r"\bnone of us ([a-z]+s)\b", _of_none),
    Way(
        r"^\s*change of (address|name|phone number|e-mail)(?: for [^:]{2,30})?: (?=\S)",
        r"my \1 is ",
    ),
    # The first and the last day at a job begin and end it.
    Way(
        rf"\b[Mm]y last day (?:at|with) ({_WHO}) was (?:on )?(?=[A-Zty\d])",
        r"I left \1 on ",
    ),
    Way(
        rf"\b[Mm]y first day (?:at|with) ({_WHO}) (?:is|was|will be) (?:on )?(?=[A-Zty\d])",
        r"I am starting at \1 on ",
    ),
    # What has to be done by a day is due by then.
    Way(
        r"\b(?:(?:has|have|needs?) to|must) be (?:done|in|finished|filed|ready|submitted"
        r"|delivered|paid|sent|signed|completed) (?=by |before )",
        "is due ",
    ),
    Way(r"\b(i|we)(?:'m| am| are|'re) the (?:proud |happy |lucky )?owners? of ", r"\1 own "),
    Way(r"\b(favou?rite [\w ]{2,24}) (?:has|have) (?:got )?to be ", r"\1 is "),
    Way(
        r"((?:(?<= )(?:am|is|are)|(?<=\w)'(?:m|s|re))) (?:due|set|scheduled) to (?=(?-i:[a-z]))",
        r"\1 going to ",
    ),
    Way(r"\bplanning on (\w{2,20}ing)\b", _intended),
    Way(
        r"^there are (\w+ (?:people|persons|members)) (?:on|in) ((?:my|our) [\w -]+?)[.!]?$",
        r"\2 has \1",
    ),
    Way(
        r"^i (?:break|come) out in (hives|a rash|spots|blotches) (?:when|if|whenever) i"
        r" (?:eat|drink|touch|have|use) ([\w -]+?)[.!]?$",
        r"I break out in \1 from \2",
    ),
    Way(r"^my (?:main )?(?:hobbies|interests) (?:are|include) (?!also\b)(?=\w)", "I enjoy "),
    Way(
        r"\bi(?:'d| would)? (used to )?(?:describe|call|consider) myself (?:as )?(?=an? )",
        lambda found: "I used to be " if found[1] else "I am ",
    ),
    Way(r"^(the [\w -]{3,40}[^s\W]) should be (?=[^,;!?]{1,40} from now on[.!]?$)", r"\1 is "),
    Way(
        r"^((?:the|our) (?!future|past|world)[\w -]{3,40}) belongs to "
        r"(?=the [\w -]{2,30} (?:team|squad|department)\b)",
        r"\1 is owned by ",
    ),
    Way(
        r"\b(is|was|are)(?: not|n't) ([^,.;!?]{1,40}?),? but (?:rather |actually )?"
        r"([^,.;!?]{1,60})",
        r"\1 \3, not \2",
    ),
)  # fmt: skip
WAYS = Ways(_WAYS)


def in_plain_words(sentence: str) -> str:
    """Return a sentence with what it says in a roundabout way said plainly.

    Args:
        sentence: One sentence, its apostrophes in one form.
    """
    return reworded(sentence, WAYS)
