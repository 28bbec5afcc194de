"""What begins a play and ends it, and what announces somebody else's text. Pure."""

from __future__ import annotations

from tiers.lexical import sentences

from .confidences import AFTER_REQUEST
from .grammar.doubts import QUOTED
from .marks import Sought
from .regexes import any_case

TEXT_BEFORE_CHARS_MAX = 200
"""What is longer, before a request to work on a text, is that text."""

REQUEST_CHARS_MAX = 240

# A play, a game or a rehearsal that who speaks proposes, for both.
_START = (
    r"(?:^|(?<=[.!?:;,] ))(?:(?:ok|okay|so|now|hey|hi|hello|and|please|alright|great|well|then"
    r"|today|just)[,!.]? ){0,3}"
    r"(?:let's|let us|shall we|can we|could we|may we|we (?:can|could|should)|how about we"
    r"|why don't we"
    r"|i(?:'d| would) (?:like|love) (?:us |you )?to|i want (?:us |you )?to|i(?:'ll| will)"
    r"|i need you to|can you|could you|will you"
    r"|would you|want to|wanna|ready to|time to|it's time to|help me(?: to)?|please|we(?:'ll"
    r"| will)|we(?:'re| are) going to|what about)"
    r" (?:(?:please|now|just|also|try to|try|do|have|start|begin|run|play|conduct|go for|continue"
    r"|practi[cs]e|hold|simulate|go on with|help me(?: to)?"
    r"|with|a|an|some|another|the|our|my|quick|little|short|bit of|round of|session of"
    r"|game of) ){0,4}"
)
_PLAYED = (
    r"(?:make[- ]believe|cops and robbers|dungeons (?:and|&) dragons|d&d|(?:20|twenty) questions"
    r"|two truths|truth or (?:dare|lie)|would you rather|never have i ever|murder mystery"
    r"|charades|pretend"
    r"|(?:text|word|guessing|text-based|fantasy|story|adventure|interactive|imagination|acting"
    r"|detective|mystery|improv)[\w -]{0,20}"
    r"(?:game|adventure|rpg)|rpg|game(?! (?:of|on|at|this|next|tomorrow|tonight|night|plan"
    r"|changer|together))|improv|text adventure)\b"
)
_FICTION = (
    r"(?:write|make up|invent|tell|create|improvise|spin|continue) (?:each other )?(?:an? |the "
    r"|our |some |another )?"
    r"(?![\w ]{0,20}user stor)(?:[\w-]+ ){0,2}(?:story|stories|fairy tale|tale|novel|scene"
    r"|screenplay|fiction|fan ?fiction)\b"
)
_REHEARSED = (
    r"(?:(?:mock|practi[cs]e|pretend|simulated|fake|trial) (?:[\w-]+ )?(?:interview|exam"
    r"|negotiation|viva|pitch|date)"
    r"|(?:practi[cs]e|rehearse|simulate|role[- ]?play|run through) (?:for )?(?:my|an?|the|our"
    r"|this) (?:[\w-]+ ){0,2}"
    r"(?:interview(?! skills)|negotiation|oral exam|conversation|date|dialogue|viva|pitch"
    r"|phone call|difficult talk|scene))\b"
)
_ROLE = r"(?:an? |the |my |your )(?:[\w'-]+ ){0,3}[\w'-]+|[A-Z][\w'-]+"
_PLAYS = Sought(
    rf"{_START}(?:role[- ]?play(?!ing games?\b)\w*|{_REHEARSED}"
    rf"|(?<=play )[^.!?:]{{0,20}}?{_PLAYED}"
    rf"|(?<=let's ){_FICTION}|(?<=let us ){_FICTION}|(?<=shall we ){_FICTION}"
    r"|(?:pretend|imagine|make believe|act as if)(?: that)? (?:i|you|we)(?:'m|'re| am| are| were"
    r"| was) (?:an? |the |in |on |at |my |your )"
    r"|(?:act|behave|speak|talk|answer) (?:as|like) (?:if )?(?:an?|my"
    r"|the) (?:[\w-]+ ){0,3}(?:interviewer|examiner|opponent|game master|dungeon master)"
    r"|be (?:an?|my|the) (?:[\w-]+ ){0,3}(?:interviewer|examiner|game master|dungeon master)"
    r"|interview me\b)"
    r"|^\W*(?:let's )?(?:role[- ]?play(?!ing games?\b)(?:ing)?(?:\W*$|:|[.!,] | (?:time|game"
    r"|scenario|exercise|with|as)\b)|interview me\b"
    r"|(?:act|behave|pose) as (?:an?|my|the) (?:[\w-]+ ){0,3}(?:interviewer|examiner|game master"
    r"|dungeon master))"
    rf"|\b(?:you(?:'ll| will)? (?:be|play)|you(?:'ll| will) be|you play) (?:the (?:role"
    rf"|part) of )?(?:{_ROLE})[,.;]?"
    rf" (?:and |while )?i(?:'ll| will)? ?(?:'m| am|be|play) (?:the (?:role|part) of )?(?:{_ROLE})"
    r"|\bi(?:'ll| will|'m going to| am going to) (?:play|take|take on) the (?:role|part) of\b"
    r"|\b(?:for the rest of|in|during) (?:this|our) (?:game|scene|role[- ]?play|play|simulation"
    r"|exercise),? (?:i|you|we)(?:'m| am|'re| are|'ll| will)\b"
    r"|\b(?:start|begin|enter|resume)(?:ing)? (?:the |a |an |our )?(?:role[- ]?play|scene"
    r"|text adventure|simulation|mock interview)\b"
)
_IS_OVER = Sought(
    r"\b(?:back to (?:reality|real life|the real world|business|being (?:me|myself|ourselves)"
    r"|normal)"
    r"|(?:end|ends?|stop|finish(?:ed)?|quit|exit|leave|leaving|pause|enough|done|no more|out|over"
    r"|through|that's it|that was it|drop|close|conclude)"
    r" (?:of |with |for )?(?:the |this |our |that |my |all )?(?:role[- ]?play\w*|game|scene"
    r"|playing|pretending|pretence|interview|mock interview"
    r"|practi[cs]e|simulation|story|adventure|exercise|rehearsal|character|act)\b"
    r"|(?:stop|finished|done|enough) (?:playing|pretending|acting)|game over|out of character"
    r"|ooc\b|end scene"
    r"|(?:the |this |our )?(?:role[- ]?play|game|scene|interview|simulation|story|adventure"
    r"|exercise|practi[cs]e) (?:is|was|has) (?:now )?(?:over|finished|done|ended)"
    r"|break(?:ing)? character|seriously now|now seriously|for real now|in real life"
    r"|let's (?:stop|end|leave it|finish) (?:here|now|this|there|it))"
)
# A text that is to follow, and work on a text that is not there yet.
_TEXT = (
    r"(?:(?:cover )?letters?|essay|text|paragraphs?|passage|article|short story|story|novel"
    r"|chapter|opening(?: lines?| chapter"
    r"| scene| paragraph)?|beginning|prologue|epilogue|poems?|lyrics|song|screenplay|script"
    r"|dialogue|monologue|scene|speech|blog ?post|tweet"
    r"|caption|blurb|bio|biography|cv|r[e\u00e9]sum[e\u00e9]|abstract|personal statement|draft"
    r"|excerpt|extract|quote|quotation"
    r"|transcript|manuscript|sentences?|(?:(?<!my )(?<!my new )(?<!our )e-?mail)|application"
    r"|eulogy|toast|vows|diary entry"
    r"|testimonial|press release|fan ?fiction|dating profile|profile text|cover note"
    r"|motivation letter)"
)
_STRONG = (
    r"(?:translate|proof-?read|rewrite|re-write|rephrase|paraphrase|reword|summari[sz]e|polish"
    r"|spell-?check|copy-?edit|shorten)"
)
_WEAK = (
    r"(?:edit|improve|correct|check|review|revise|fix|critique|work on|look (?:over|at|through)"
    r"|go over|read|finish|continue|tighten|format"
    r"|comment on|give me (?:some )?feedback on|tell me what you think (?:of|about)|grade|rate"
    r"|analy[sz]e|with)"
)
_POLITELY = (
    r"(?:(?:hi|hey|hello|ok|okay|so|now|and|please|just|kindly|next|great|thanks|also"
    r"|then)\b[,!.]? ?){0,4}"
    r"(?:(?:can|could|would|will) you (?:please |kindly |maybe |quickly )?(?:help me (?:to )?)?"
    r"|(?:please )?help me (?:to )?"
    r"|i(?:'d| would) like (?:you )?(?:to |help (?:to )?)|i (?:want|need) (?:you )?(?:to "
    r"|help (?:to )?)|i need help (?:to )?)?(?:please )?"
)
_WORK = any_case(
    rf"\W*{_POLITELY}(?:{_STRONG}(?: up)? (?:this|these|the following"
    rf"|the text below)\b[^.!?;:]{{0,60}}"
    rf"|(?:{_STRONG}|{_WEAK})(?: up| and \w+)? (?:this|these|the|my|our|the following"
    rf"|an?) (?:[\w'-]+ ){{0,3}}{_TEXT}\b[^.!?;:]{{0,60}})[.!?: ]*"
)
_THERE = any_case(
    r"\b(?:(?:first|second|third|last|next)\b|above|earlier|before|yesterday|last (?:week|night"
    r"|time)|attached|i (?:sent|gave|showed|shared|pasted|uploaded|wrote you)|you (?:wrote|made"
    r"|drafted|sent)"
    r"|we (?:wrote|have)|tomorrow|later|again|on (?:my|the) (?:disk|desktop|drive)|in (?:the"
    r"|my) (?:folder|file|repo))\b"
)
"""Of what is there already, or is not to be sent now."""
_TO_COME = any_case(
    rf"(?:.*\b(?:{_TEXT}|{_STRONG}|proofreading|translation)\b.*|\W*{_POLITELY}(?:{_STRONG}"
    rf"|{_WEAK})\b.*):\s*"
)
"""What announces a text: ``Here is the opening:``"""
_THANKS = any_case(
    r"\W*(?:thanks?(?: you)?(?: (?:so much|a lot|in advance|very much))?|please|cheers|ta)\W*"
)


def proposes_play(said: str) -> bool:
    """Whether a message begins a play, a game of words or the rehearsal of a talk."""
    return _PLAYS.search(said) is not None


def announces_text(said: str) -> bool:
    """Whether a message asks for work on a text that is not in it, or says that one follows."""
    told = sentences(said)
    while told and _THANKS.fullmatch(told[-1]):
        told = told[:-1]
    if not told or len(told[-1]) > REQUEST_CHARS_MAX:
        return False
    last, before = told[-1], sum(map(len, told[:-1]))
    if said.rstrip().endswith(":"):
        return _TO_COME.fullmatch(last) is not None
    is_there = _THERE.search(last) or QUOTED.search(last)
    is_request = _WORK.fullmatch(last) is not None and not is_there
    return is_request and before <= TEXT_BEFORE_CHARS_MAX


def after_play(said: str) -> str | None:
    """Return what a message says after it has ended a play; ``None`` if it does not end one."""
    over = _IS_OVER.search(said)
    if over is None:
        return None
    rest = AFTER_REQUEST.match(said, over.end())
    return said[rest.end() if rest else over.end() :]
