"""Words by which a text states nothing: doubt, play, report, quotation, taking back. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..marks import Sought
from ..regexes import any_case, regex

HEADING_WORDS_MAX = 3
MISTAKEN = (
    r"(?:i (?:got|had|put|wrote|said|told you) (?:(?:that|it|this) )?(?:all )?wrong|i misspoke"
    r"|i was (?:mistaken|wrong)|i mixed (?:(?:it|them|that|those) )?up|i misread|i misremembered"
    r"|my mistake|i made a mistake)"
)
"""Who speaks owns to a mistake of before."""
SUPPOSES = any_case(
    r"\s*(?:(?:and|but|so|now|just|please)\s+)*(?:if|suppose|supposing|imagine|assume|assuming|"
    r"let's (?:say|assume|imagine|suppose|pretend)|pretend|say\b|unless|whether|had i|were i|"
    r"what if|as if|(?:oh |yeah,? )?(?:sure|right|yeah),? and (?:i|we|my|our)\b|"
    r"(?:yeah|yes|oh),? (?:right|sure|of course)\s*$|"
    r"(?:provided|providing) (?:that|i|we|my|our|he|she|it|they|the|all|no|(?-i:[A-Z])\w+)"
    r"|(?:as )?per (?:the|our) (?:old )?(?:docs|documentation|readme|spec)"
    r"|with (?:any |some |a (?:bit|little) (?:of )?)?luck"
    r"|in (?!(?:my|our)\b)[\w']+ (?:opinion|view|eyes|mind)"
    r"|as an? (?:example|joke|placeholder|thought experiment)|on condition|depending on|subject to"
    r"|pending (?:[a-z]+ )?(?:approval|review|confirmation|sign-off)|when [a-z]+ed,?\s*$|"
    r"in my (?:head|mind|imagination)|last i (?:checked|heard|looked)|as i understand it|"
    r"chances are|"
    r"to (?:the best of )?my knowledge|given an? \w+|once(?! an?\b| every\b)|until|"
    r"(?:as|so) long as|for (?:the sake of argument|argument's sake)|"
    r"i wish|if only|should (?:i|we|my|our|he|she|it|they|the|(?-i:[A-Z])\w+)|in chapter|"
    r"in (?:the|a|this|my|an|our) (?:[\w-]+ )?(?:film|movie|book|docs|documentation|readme|tutorial"
    r"|example|sample|mock-?up"
    r"|show|game|dream|novel|song|play|story|tale|series|episode|chapter|comic|legend|scenario"
    r"|simulation))\b"
)
_SUPPOSED = any_case(
    r"(?:.*\b(?:hypothes[ie]s|proposals?|suggestions?|ideas?|assumptions?|guess|theory|myth"
    r"|fake news|to-?do|(?:option|variant|alternative|scenario|plan)(?: \w)?)"
    r"|(?:wish|draft|wip|un\w+ed\b|not |(?:expected|desired|wrong|false|incorrect|assertion|old"
    r"|former|previous|previously|before)\b)[\w ]*)\s*"
)
"""What heads something that nobody vouches for: ``option A:``, ``unconfirmed:``."""
UNMEANT = Sought(
    r"\b(?:(?:fell|falls) through|came to nothing|thought better of (?:it|that)"
    r"|decided against (?:it|that)|(?:gave|given) (?:it|that) up|gave up on (?:it|that)"
    r"|but didn't(?=\W*$)|(?:but|though) (?:no longer|not any ?more)(?=\W*$)"
    r"|(?:decided|chose|chosen|opted) not to(?=\W*$)"
    r"|(?:changed|change) (?:my|our) minds?|never happened"
    r"|(?:then|but|and|later|had to) (?:we |i )?(?:revert(?:ed)?|undo|undid|roll(?:ed)? back)"
    r" (?:it|that)"
    r"|(?:changed|switched|set|put|rolled|turned) (?:it|that) back"
    r"|in my (?:mind|head|imagination)(?=\W*$))\b"
    r"|^\s*(?:oh,? )?(?:great|fantastic|wonderful|lovely|brilliant|perfect|excellent|nice), i"
    r" (?:just|simply|do|so|really|absolutely) (?:love|enjoy|adore|like)\b"
)
"""What was dropped, and praise that says the opposite: ``great, I just love Mondays``."""
MOCKS = any_case(r"(?:(?:oh|yeah|yes),? )?(?:right|sure|great|of course)")
"""What agrees with a reason that nobody means: ``sure, because I own the bank``."""
AGREES = any_case(r"(?:(?:oh|ah|yeah|yes|well),? )*(?:sure|right|yeah|yes|of course|because)\b,? ")
"""What opens with agreement is often its opposite: ``sure, and I am the Queen of Denmark``."""
REPORTED = any_case(
    r"\b(?:says?|said|saying|tells|(?<!i )told|claims|claimed|(?:they|people) claim|heard"
    r"|reckons?|read that|wrote|write that|begins with|translate|for (?:example|instance)"
    r"|according to|rumou?r"
    r"|(?<!\w )word (?:is|has it)|i may|may be|supposed to|always wanted"
    r"|used to (?:think|believe|assume)|intended to"
    r"|(?:hoped|meant|wanted) to|can't believe|decided (?:whether|if)"
    r"|about to|hoping to|looking for|trying to"
    r"|the (?:hero|heroine|book(?! club)|film|novel|song|story|game|movie))\b"
    r"|^(?!.*\b(?:rule|policy|deal|agreement|decision|point|fact|truth|result|condition)"
    r"\b.* that\b)[^,;:]{2,40} (?:is|was) that\b"
    r"|\b(?:goes|reads|was|is|are|were|ran|went): |\bdear (?:\w+\.? ?){1,2},"
)
"""What somebody else says, is made up, or was only meant to be."""
WHATEVER = any_case(r"\bwhatever the \w+")
DEPENDS = any_case(
    r"(?:if|until|once|unless)\b"
    r"(?! (?:only|you ask|i (?:had|were|was)|we (?:had|were)|it (?:were|had))\b)"
)
"""What makes a sentence depend on what may well be, rather than suppose it."""
HEARSAY = Sought(
    r"\b(?:says?|said|saying|tells?|told|claim(?:s|ed)?|heard|asks?|asked"
    r"|(?:writes|wrote|write(?= that\b|:))(?! (?:the |an? |two |three |my |our |his |her )?"
    r"[a-z]+ (?:for|about|in|on|as)\b| (?:in |all )?(?:my|our|the) [a-z]+\b)|begins with|"
    r"translate|quote|for (?:example|instance)|e\.g\.|an example|according to|rumou?r"
    r"|(?<!\w )word (?:is|has it))\b"
)
INTRODUCES = any_case(
    r"\b(?:goes|sings?|sang|reads?|answers?|reply|replies|write|sentence|line|lines|caption|title|"
    r"tweet|post|with|like|this|following|text|words|note|sign|slogan|motto|chorus|verse"
    r"|in my head)\s*$"
)
IS_WORDS = any_case(
    r"\b(?:headline|title|line|message|subject|text|sentence|lyrics?|answer|quote|example|story|joke"
    r"|slogan|caption|clue|password|punchline|proverb|saying)\b[^:]{0,40} (?:is|was|were|are|ran"
    r"|went)\s*$"
)
"""Something made of words, of which the words follow: ``the headline was: I moved to Mars``."""
DOUBT = Sought(
    r"\b(?:would|could|might|maybe|perhaps|probably|possibly|hypothetical\w*|i wish|as if"
    r"|as though|"
    r"i guess|i think|i thought|i suppose|i believe|i assume|i feel like|almost|nearly|kind of|"
    r"sort of|apparently|allegedly|supposedly|literally|dream\w*|lie|lying|fake|"
    r"not really|sometimes|hopefully|potentially|practically|virtually|basically an?|so-called|"
    r"thinking (?:of|about)|consider(?:ing|ed)|iirc|afaik"
    r"|(?:is|are|was|were|be) either|not sure|in theory|technically|metaphorically|whatever"
    r"|(?:\w+n't|not) (?:yet |really )?decided?|tentative(?:ly)?|tbc|tbd)\b"
    r"|'d\b"
)
_JOKING = r"kidding|joking|just a joke"
UNDOES = any_case(
    rf"\b(?:{_JOKING}|said (?:nobody|no one)|not really|or not|or maybe|i think|"
    r"i guess|i believe|i suppose|i thought|i assume|i hope|i reckon|i imagine|hopefully|not sure|"
    r"don't quote me|(?:if|as far as) i (?:remember|recall|know)|(?:i'm|i am) (?:not )?mistaken|"
    r"maybe|perhaps|probably|apparently|supposedly|allegedly|they say|it seems|"
    r"last i (?:checked|heard|looked)|to (?:the best of )?my knowledge|"
    r"she says|he says|in my dreams?|but only|as if|sort of|kind of|right$|just like that)\b"
)
_SAYING = r"(?:says?|said|writes?|wrote|reports?|reported|claims?|claimed)"
ATTRIBUTED = any_case(
    r"(?:(?:the |my |our )?(?!(?:i|we|not|as|whatever|what)\b)[\w'-]+(?: (?!(?:i|we)\b)[\w'-]+)?"
    rf" (?:{_SAYING}|tells? (?:me|us)|told (?:me|us))|{_SAYING} [\w' -]{{1,40}}"
    r"|(?:i'm|i am|i was|we were) told|i(?:'ve)? (?:hear|heard|read)(?: say)?)[.! ]*$"
)
"""Who else says what a sentence says, at its end: ``, says Eve``, ``, the paper writes``."""
_TAKES_ALL_BACK = any_case(
    r"\s*(?:or\b[^?]*\?|(?:or )?(?:perhaps |maybe )?not(?: really)?[.! ]*$"
    r"|(?:(?:well|but|though|oh|ok|okay|no),? )*(?:or so (?:they|people|he|she|i) (?:say|says|hear"
    r"|heard|think|was told)|sort of|kind of|in theory|supposedly|allegedly|hypothetically|i wish"
    r"|not any ?more|no longer|i made (?:that|it|this) up"
    r"|(?:i'm |i am )?not (?:so |too |very )?sure"
    r"(?: (?:though|about (?:that|it|this)))?|i (?:might|may|could) be wrong"
    r"|(?:at least )?that's (?:what (?:i(?:'ve)? (?:heard|read)|i was told|(?:they|people) say"
    r"|[\w' ]{2,20} (?:says|said|thinks|claims|told me))|not (?:true|the case)(?: any ?more)?|a lie"
    r"|no longer (?:true|the case)|outdated|(?:just |only )?an? (?:guess|joke|rumou?r|example))"
    r"|in (?:an?|the|my) (?:[a-z]+ )?(?:game|dream|novel|story|movie|film|book|play)s?)[.! ]*$)"
)
"""A sentence that leaves nothing of the one before it: ``Or Monday?``, ``Not.``, ``I wish!``"""
BEYOND = Sought(
    r"^(?!.*\b(?:play(?:s|ed|ing)|acts?|sings?|stars?|roles?|part|cast|lead)\b).*\bin th(?:e|is|at)"
    r" (?:[\w-]+ )?(?:film|movie|play|novel|comic|story|sitcom)[.! ]*$"
    r"|^\W*the capital of (?-i:[A-Z])"
)
"""What is so in a play, or in every atlas: ``Ada lives in Rome in the play``."""
QUOTED = regex(r"[\"\u201c\u201d\u201e\u00ab*]|(?<!\w)'(?=\w)(?!\d\ds? )[^']{1,80}'(?!\w)|^'|'$")


_OF_SOME = any_case(
    r"\s*(?:unlike|except(?: for)?|apart from|other than|outside of) [\w' -]+$"
    r"|\s*(?:in|for|with|without|under|on|at) (?:an?|your) "
    r"(?!(?:way|nutshell|word|while|change|moment|minute|sense|hurry|nice|heavy|good|bit|few|lot"
    r"|year|month|week|day|couple|(?:[a-z]+ )?note|smile|side)\b)[\w' -]+$"
)
_THE_ONE = any_case(r"\s*(?:the|it|it's|our)\b")


def is_of_some(front: str, joint: str, rest: str) -> bool:
    """Whether what is said of the one thing is so for some only: ``for a team of five, the``."""
    is_front = joint == "comma" and _OF_SOME.match(front) is not None
    return is_front and _THE_ONE.match(rest) is not None


def takes_all_back(sentence: str) -> bool:
    """Whether a sentence leaves nothing of the one before it."""
    return _TAKES_ALL_BACK.fullmatch(sentence) is not None


_ONLY_JOKED = any_case(
    r"(?:(?:no|ha|haha|lol|oh|ok|nah|but|of course)[,.! ]+)*"
    r"(?:(?:i|we)(?:'m| was| am|'re| were)? )?"
    rf"(?:(?:just|only|totally|obviously) )*(?:{_JOKING})\b.*"
)


def only_joked(sentence: str) -> bool:
    """Whether a sentence says that the one before it was a joke: ``Just kidding, I did not.``"""
    return _ONLY_JOKED.fullmatch(sentence.strip()) is not None


def is_taken_back(told: Sequence[str], number: int) -> bool:
    """Whether the sentence after one of those that are told leaves nothing of it."""
    return number + 1 < len(told) and takes_all_back(told[number + 1])


_IN_THE_BEST_CASE = any_case(
    r"\s*(?:(?:in the )?(?:best|worst|ideal) case|ideally|at best|at worst|tentatively|presumably"
    r"|provisionally|unofficially|optimistically)\s*"
)


def is_supposed(heading: str, joint: str) -> bool:
    """Whether nobody vouches for what follows some words: ``option A:``, ``in theory,``."""
    if len(heading.split()) > HEADING_WORDS_MAX or joint not in {"colon", "comma"}:
        return False
    is_doubt = bool(DOUBT.search(heading) or _IN_THE_BEST_CASE.fullmatch(heading))
    return is_doubt or (joint == "colon" and _SUPPOSED.fullmatch(heading) is not None)
