"""Which parts of a text are said plainly: cut at what joins clauses, doubt and play left out. Pure.

A part that supposes, asks, quotes, doubts or reports states nothing, and takes with it what hangs
on it: ``I live in Rome if I can``, ``suppose I live in Rome``, ``I live in Rome, I think``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tiers.lexical import MONTHS, WEEKDAYS, sentences

from ..marks import Sought
from ..regexes import any_case, regex
from . import doubts
from .asides import with_names_beside, without_aside
from .lexicon import FULL_NAME
from .namesakes import is_rest_of_name, tells_which
from .plainer import in_plain_words
from .shorthand import headings_spelled_out
from .subjects import is_name, opened
from .verbs import FORMS, is_verb

SENTENCE_CHARS_MAX, PARTS_MAX = 400, 16

_SUBJECTS = r"(?:i|we|my|our|he|she|i'?m|i'?ve|we're|we've)\b"
_JOIN = any_case(
    r"\s*;\s+|\s+[\u2013\u2014-]{1,2}\s+|\u2014|\s*(?P<colon>:)\s+"
    r"|,?\s+(?P<taint>if|unless|except|when|whenever|or rather|or|than|as long as)\s+"
    r"|,\s+(?P<word>and|but|so|because|which|who|though|although|while|since(?! (?:i|he|she"
    r"|we) was\b)|in case|until)\s+"
    r"|\s+(?P<bare>but|so|because|which|(?<!\bas )though|although|while|in case"
    r"|since(?= (?:i|he|she|we|my) (?!was |were )))\s+|\s+(?P<and>and)\s+|(?P<comma>,)\s+"
)
_NO = (  # "no orders are shipped" opens with whom nothing is said of
    r"no(?!\s+(?!(?:i|im|ive|we|my|our|he|she|its?|they|the|this|that|there|you|not?|actually|sorry"
    r"|wait|but|so|nope|never)\b)[\w])"
)
_LEAD = any_case(
    r"(?:(?:hi|hello|hey|well|so|also|and|oh|ah|ha|hmm|wow|btw|by the way|fyi|actually|okay|ok|yes|"
    rf"yeah|yep|{_NO}|nope|sure|sorry|oops|wait|pardon|(?:small |quick )?correction|i mean|rather|"
    r"but|my mistake|apologies|thanks|thank you|honestly|personally|just so you know|for the record"
    r"|as you know|as i said|for your information|to introduce myself|anyway|guess what|then|"
    r"good (?:morning|evening|afternoon)|morning|evening|unfortunately|luckily|sadly|fun fact|"
    r"(?:big|great|good|bad|sad) news|to be (?:honest|fair|frank)|in fact|in my case|frankly"
    r"|as it happens|believe it or not|truth be told|for what it's worth|at home|at work|still"
    r"|now|today|these days|nowadays|at the moment|currently|at present|in the end|eventually"
    r"|lately|after all that|long story short|as luck would have it|basically|"
    r"obviously|recently|i was wrong|"
    r"i got (?:that|it) wrong|i made a mistake|i misspoke|let me correct (?:that|this|myself)"
    r"|to be precise|just so [\w ]{2,24} knows?|(?:a |small )?typo(?: on my part)?|scratch that"
    r"|strike that|my bad|(?:it's |it is |that's |that is )?not (?:on |at )?\w+(?=,)"
    r"|the address was wrong|i gave you the wrong \w+|that's (?:wrong|not right|not true)"
    r"|fun fact)(?: there| everyone| all)?[\s,!:.\u2013\u2014-]{1,4})+"
)
_TELLING = any_case(
    r"(?:(?:please |also |just |do )*(?:remember|note|keep in mind|don't forget|bear in mind|know|"
    r"be aware) that\s+|(?:you (?:should|may want to|might want to|ought to|may like to) know"
    r"|(?:i|let me|may i|just) (?:(?:should|must|have to|ought to|may|want(?:ed)? to|can|just"
    r"|forgot to|need to|also) ){0,2}(?:admit|say|mention|add|note|confess|point out|report"
    r"|tell you|let you know)|(?:it )?turn(?:s|ed) out"
    r"|(?:it (?:is|was|has been)|we|we've|we have|i|i've|i can|just) (?:agreed|decided|settled"
    r"|learn(?:ed|t)|found(?: out)?|confirm(?:ed)?|discovered|verified)(?= that\b)"
    r"|the (?:truth|fact|thing|point|reason) is|fact is|i'm afraid"
    r"|(?:(?:i'm|i am|we're|so|very|just) )*(?:happy|glad|sad|sorry|proud|pleased|delighted) to"
    rf" (?:say|report|announce|tell you))(?: that\s+|,? (?={_SUBJECTS})))"
)
_NOT_TRUE = any_case(
    r"(?:(?:it is|it's|that is|it was|that's|it is simply) (?:not true|untrue|false|wrong|a mistake"
    r"|a lie)|it isn't true|it wasn't true) that\s+"
)
_DENIED = (
    r"(?!.*\bany ?(?:more|longer)\b)([^,;]{1,40}?)"
    r"(?:( is| are| am|'m|'s|'re)(?: not|n't)| (?:don't|do not)(?= \w+ \w)) ([^,;]{2,80}?)"
)
_IT_WAS = r"(?:that|it|this) was (?:never (?:true|so)|not true|wrong|a mistake|a misunderstanding)"
_I_NEVER = r"(?:\w+ )?(?:have )?never (?:did|was|were|have|had|said (?:that|so))(?: been| one)?"
_NEVER_SO = (
    any_case(rf"{_DENIED}(?:,| and) (?:{_IT_WAS}|{_I_NEVER})[.! ]*"),
    any_case(rf"(?:that's|that is|that was) (?:not true|wrong), {_DENIED}[.! ]*"),
)
"""A denial of what is, and a word beside it that it never was."""
_NEVER_WAS = any_case(rf"(?<=\w)\. (?={_IT_WAS}[.! ]*$)")
"""Between the two, where they are two sentences."""
_TRUE = any_case(r"(?:it is|it's|it was) (?:quite |perfectly )?true that\s+")
CORRECTS = Sought(
    rf"\b(?:correction|typo|strike that|my bad|{doubts.MISTAKEN}|i meant|scratch that"
    r"|let me correct|to be precise|wrong \w+|that's (?:wrong|not right"
    r"|not true))\b|^\s*i (?:said|wrote|told you|mentioned|put) [^.;!?]{2,40}, but\b"
    r"|^\s*(?:it's |it is |that's )?not (?:on |at )?\w+,|^\s*(?:actually|oops"
    r"|sorry(?! (?:for|about|to|i'm late|i am late)\b)|no(?! (?:longer|more)\b)|wait|rather)\b[ ,]",
)
_ASKED_IN_CASE = any_case(
    r"\s*(?:if|in case|when) (?:they|anyone|anybody|somebody|someone|he|she|you) (?:should )?"
    r"(?:ask|asks|wonder|wonders|need|needs)\b"
    r"|\s*(?:since |as )?you (?:asked|wanted to know|were wondering|mentioned) (?:me )?"
    r"(?:what|where|how|who|when|about|whether|if)\b"
    r"|\s*if (?:there's a choice|i (?:can|may|could) choose|possible)"
    r"|\s*if (?:you must know|(?:it|that|this) (?:helps|matters|is of (?:any )?(?:use"
    r"|interest))|you're"
    r" (?:asking|wondering|interested|curious)|you (?:recall|remember|care|ask me))[\s.!]*$"
)
_TAKING_BACK = (
    r"(?:(?:oh|uh|er|ah|ugh)[, ]+)*(?:no|sorry|wait|oops|i mean|i meant|make that|or rather"
    r"|rather|scratch that|correction|my mistake|pardon|actually|strike that)"
)
_TAKEN_BACK = any_case(rf"(?:(?:oh|no|uh|er|ah|ugh)[, ]+)*+{_TAKING_BACK}|(?:no[, ]+)*+no")
INSTEAD = any_case(
    rf"(?:{_TAKING_BACK}[,:.! ]+)+(?:it's |it is )?(?:(?:at|on|in|the) ){{0,2}}"
    r"(?:[\w.:'-]*\d[\w.:'-]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    rf"|{'|'.join((*WEEKDAYS, *MONTHS))})(?: [\w:.'-]+)?"
    r"|(?:i mean|i meant|make that|or rather|scratch that)[,:]? (?:\w+ )?[\w.'-]+"
)
"""What stands in the place of what was just said, without a verb of its own."""
_IS_LIST = any_case(r"\b(?:an?|so|very) [a-z-]+$")
_LISTED = regex(
    r"(?:and |or )?(?!(?:no|her|his|its|their|my|our|the|an?|it|he|she|they|which|who)\b)"
    r"[a-z-]+ [a-z-]+(?: (?:for|of|with|in|to|where|that) .{1,60})?[.! ]*"
)
_I_SAID = any_case(r"i (?:said|wrote|told you|claimed) ")
_ASKS = any_case(
    r"(?:do|does|did|is|are|was|were|can|could|will|would|should|has|have|had|may|what|who|where|"
    r"when|why|how|which|don't|isn't|aren't|can't|won't|any)\b"
)
_ASKS_BACK = any_case(
    r"(?:do|does|did|is|are|was|were|can|could|will|would|should|has|have|had|am|don't|isn't|"
    r"aren't|didn't|haven't)(?:n't)? (?:i|we|my|it|he|she|they)\s*\??$|(?:right|no|yes|correct"
    r"|eh)\??$"
)
_DONE = regex(r"[a-z]{2,}ed(?: (?:my|our|the|an?|it|him|her|them|at|in|for|to)\b|[ .!]*$)")
_CORRECTED = any_case(r"not (?:at |on |in |to |for )?[\w.:' ]{1,40}")
_ITEM = r"[\w$\u20ac\u00a3#][\w.'/&+-]*(?: [\w$\u20ac\u00a3#][\w.'/&+-]*){0,3}"
_MORE_OF_LIST = any_case(rf"(?:{_ITEM}, ){{0,8}}{_ITEM},? (?P<by>and|or) {_ITEM}[.!]?$")
_NEXT_ITEM = regex(r",? (?:and|or) |, ")
_NAMES = regex(rf"(?:{FULL_NAME}, ){{1,6}}{FULL_NAME},? and {FULL_NAME}(?= [a-z])")
"""Who is told of together: ``Tom, Ana and Eve live in Bonn``."""
_LIST_AND = "\ue000"
"""Stands for ``and`` until a sentence is cut into clauses; nobody types it."""
_COMMA = regex(r",\s+")
_YEAR = regex(r"(?:19|20)\d\d\b")
_NAMED_LAST = regex(r"\b[A-Z]\w*$|(?:'m|\b(?:am|is|are)) an? [\w -]+$")
_OTHER_WORDS = regex(r"(?:my|our|an?|the|his|her|their) ")
_NO_ITEM = frozenset(
    "i im ive we you he she it they this that there who which so then but because if when not just "
    "please thanks though too also maybe more etc".split()
)
"""With which no thing of a list begins."""
_DENIAL = any_case(r"(?:\W*\w+){0,3}? ?(?:\w+n't|do not|does not|never|no longer|have no|has no)\b")
_COMPARES = any_case(r"\b(?:[a-z]+er|more|less) than\s+$")
"""What is measured by something else is not doubted."""
_NEXT = regex(r"(\w[\w\-]*(?: \w[\w\-]*){0,3})[.!]?(?:$|,)")
_OPENS_CLAUSE = any_case(
    rf"(?:{_SUBJECTS}|(?:it|they|you|there|this|that|yes|no|then|now|so|neither|nor)\b"
    r"|(?:on|last|this|since|in|from) (?:\w+ ){1,2}(?:i|we)\b)"
)
_ADDED = any_case(r"(?:\w+ )?\w+ing\b|like\b")
"""What a comma adds to what was said, and does not say anew: ``starting on Monday``."""
_GOING_ON = frozenset("and but comma".split())
"""What joins two things that are said of the same: ``moved to Bonn but moved back``."""
_CONSEQUENCES = frozenset("so because which".split())
_FINITE = any_case(r"\b(?:is|are|was|were|has|have|had|will)\b")


_SAINT = regex(r"\bSt\.(?= [A-Z])")
"""Its full stop ends no sentence."""


@dataclass(frozen=True)
class Clause:
    """A part of a sentence that is said plainly.

    Attributes:
        text: Its words, without what only opens it.
        corrects: Somebody takes back what was said before.
        denied: Somebody says that it is not true.
        hangs: It follows from, or adds to, a clause of the same sentence: ``so I never run``.
        is_consequence: It says what follows from the clause before it, or why it is so.
        goes_on: It goes on about whom the part before it is about: ``and have lived there``.
        sentence: The number of its sentence.
        not_so: What is put right in so many words: ``not at 7:15``.
    """

    text: str
    corrects: bool = False
    denied: bool = False
    goes_on: bool = False
    hangs: bool = False
    is_consequence: bool = False
    sentence: int = 0
    not_so: str = ""


@dataclass(frozen=True)
class _Part:
    text: str
    joint: str


def clauses(text: str) -> Iterator[Clause]:
    """Yield the parts of a text that are said plainly, in order."""
    said = headings_spelled_out(plain_quotes(text))
    plain = _NEVER_WAS.sub(", ", with_names_beside(said))
    corrects = False
    ready: list[Clause] = []
    for number, sentence in enumerate(sentences(plain)):
        if len(sentence) > SENTENCE_CHARS_MAX or doubts.UNMEANT.search(sentence):
            continue
        has_correction = CORRECTS.search(sentence) is not None
        if doubts.takes_all_back(sentence):
            ready = []
        if INSTEAD.fullmatch(sentence.strip(" .!")):
            ready = ready[:-1]
        yield from ready
        ready = [
            replace(clause, corrects=clause.corrects or corrects or has_correction, sentence=number)
            for clause in _of_sentence(in_plain_words(_never_so(without_aside(sentence))))
        ]
        corrects = has_correction
    yield from ready


def _never_so(sentence: str) -> str:
    """Return ``I'm not from Rome, I never was`` as ``it's not true that I'm from Rome``."""
    for form in _NEVER_SO:
        if found := form.fullmatch(sentence.strip()):
            return f"It's not true that {found[1]}{found[2] or ''} {found[3]}."
    return sentence


def plain_quotes(text: str) -> str:
    """Return a text with its apostrophes in one form, and no full stop that ends nothing."""
    return _SAINT.sub("St", text.replace("\u2019", "'").replace("\u2018", "'"))


def without_greeting(clause: str) -> str:
    """Return a clause without ``Hi, by the way``."""
    found = _LEAD.match(clause.strip())
    return clause.strip()[found.end() :] if found else clause.strip()


def without_lead(clause: str) -> str:
    """Return a clause without what only opens it: ``Oh, by the way,``."""
    rest = clause.strip()
    for opening in (_LEAD, _TELLING, _LEAD):
        found = opening.match(rest)
        rest = rest[found.end() :] if found else rest
    return rest


def is_play(sentence: str) -> bool:
    """Whether a sentence supposes, quotes or reports: nobody vouches for what is in it."""
    return bool(doubts.SUPPOSES.match(sentence) or doubts.QUOTED.search(sentence))


def is_plainly_said(sentence: str) -> bool:
    """Whether a whole sentence is said plainly: not asked, doubted, quoted, reported or played.

    What it makes depend on something is part of it: ``if the lift stops, call Schindler``.
    """
    plain = without_lead(sentence)
    is_play = doubts.SUPPOSES.match(plain) and not doubts.DEPENDS.match(plain)
    is_doubted = doubts.DOUBT.search(doubts.WHATEVER.sub("", sentence)) or doubts.QUOTED.search(
        sentence
    )
    is_else = (
        doubts.AGREES.match(sentence.strip())
        or doubts.REPORTED.search(sentence)
        or doubts.UNDOES.search(sentence)
        or doubts.BEYOND.search(sentence)
    )
    _, comma, last = sentence.rpartition(", ")
    is_told = bool(comma) and doubts.ATTRIBUTED.fullmatch(last) is not None
    heading, colon, _ = sentence.partition(": ")
    is_asked = "?" in sentence or (bool(colon) and doubts.is_supposed(heading, "colon"))
    return not (
        is_play or is_doubted or is_else or is_told or is_asked or doubts.UNMEANT.search(sentence)
    )


def _of_sentence(sentence: str) -> list[Clause]:
    """Return the plain clauses of a sentence; what is asked, supposed or reported is none."""
    parts = _cuts(sentence)
    if sentence.rstrip(" \"'").endswith("?") and not _asks_only_at_its_end(parts):
        return []
    found: list[Clause] = []
    before = ""
    for place, part in enumerate(parts):
        if _takes_back(part, is_last=place == len(parts) - 1):
            del found[-1:]
        if _undoes(part, found):
            if part.joint == "taint":
                break
        elif _stops(part, before):
            break
        elif not (_ASKED_IN_CASE.match(part.text) or _puts_right(part, found)):
            if _is_cut_off(part, found):
                found.pop()
            if is_clear(part.text):
                hangs = bool(found) and part.joint != "colon"
                follows = hangs and part.joint.lower() in _CONSEQUENCES
                found.append(replace(_clause(part), hangs=hangs, is_consequence=follows))
        before = part.text
    return found


def _asks_only_at_its_end(parts: list[_Part]) -> bool:
    """Take away the question that a sentence ends with; ``False`` when all of it is asked."""
    asked = parts.pop()
    if asked.joint == "taint":
        return False  # "Ben is allergic to nuts, or was it Jonas?"
    is_apart = bool(parts) and _ASKS.match(without_lead(asked.text)) is not None
    return is_apart and not _ASKS_BACK.fullmatch(asked.text.strip())


def _takes_back(part: _Part, *, is_last: bool) -> bool:
    """Whether a part puts something else in the place of what was just said: ``, sorry, 21``."""
    if part.joint != "comma":
        return False
    text = part.text.strip(" .!")
    return INSTEAD.fullmatch(text) is not None or (
        not is_last and _TAKEN_BACK.fullmatch(text) is not None
    )


def _undoes(part: _Part, found: list[Clause]) -> bool:
    """Take away the clause that a part makes depend, or doubts."""
    is_doubt = doubts.UNDOES.search(part.text) or doubts.ATTRIBUTED.match(part.text)
    if part.joint != "taint" and not (part.joint == "comma" and is_doubt):
        return False
    if found and not _ASKED_IN_CASE.match(f"if {part.text}"):
        found.pop()
    return True


def _stops(part: _Part, before: str) -> bool:
    """Whether from a part on nothing is said plainly: it supposes, reports or is read out."""
    if part.joint == "colon" and (
        doubts.INTRODUCES.search(before) or doubts.IS_WORDS.search(before)
    ):
        return True
    if doubts.is_supposed(before, part.joint) or doubts.is_of_some(before, part.joint, part.text):
        return True
    if part.joint == "because" and doubts.MOCKS.fullmatch(before.strip(" ,.!")):
        return True
    if _ASKED_IN_CASE.match(part.text):
        return False
    is_report = doubts.HEARSAY.search(part.text) and not _I_SAID.match(without_lead(part.text))
    return bool(doubts.SUPPOSES.match(part.text) or is_report)


def _puts_right(part: _Part, found: list[Clause]) -> bool:
    """Take up what a part says was wrong: ``not at 7:15``."""
    text = part.text.strip(" .!")
    if part.joint != "comma" or not found or not _CORRECTED.fullmatch(text):
        return False
    found[-1] = replace(found[-1], corrects=True, not_so=text)
    return True


def _is_cut_off(part: _Part, found: list[Clause]) -> bool:
    """Whether a part belongs to what the last clause ends with: ``a safe, inclusive place``."""
    if found and part.joint in {"comma", ""} and tells_which(part.text, found[-1].text):
        return True
    is_list = part.joint == "comma" and bool(found) and _IS_LIST.search(found[-1].text)
    is_more = FORMS.get(part.text.split(" ", 1)[0].lower(), ("", ""))[1] not in {"past", "base"}
    return bool(is_list and is_more and _LISTED.fullmatch(part.text))


def is_clear(part: str) -> bool:
    """Whether words are said without doubt, question, quotation or report."""
    return not (
        doubts.DOUBT.search(part)
        or doubts.QUOTED.search(part)
        or doubts.HEARSAY.search(part)
        or doubts.BEYOND.search(part)
        or "?" in part
    )


def _clause(part: _Part) -> Clause:
    rest = without_lead(part.text)
    denied = _NOT_TRUE.match(rest)
    judged = denied or _TRUE.match(rest)
    rest = rest[judged.end() :] if judged else rest
    first = rest.split()[0] if rest.split() else ""
    is_said_of = part.joint != "comma" or not _ADDED.match(rest)
    goes_on = part.joint in _GOING_ON and is_verb(first) and is_said_of
    return Clause(rest.strip(), denied=denied is not None, goes_on=goes_on)


def _cuts(sentence: str) -> list[_Part]:
    """Cut a sentence where a clause, or what is no part of the one before it, begins."""
    sentence = _joined(sentence)
    found: list[_Part] = []
    start, joint = 0, ""
    for match in _JOIN.finditer(sentence):
        if len(found) == PARTS_MAX:
            break
        rest = sentence[match.end() :]
        kind = _kind_of(match)
        if kind in {"and", "comma"} and not _is_new(rest, kind):
            continue
        before = sentence[start : match.start()]
        if kind == "comma" and (is_rest_of_name(before, rest) or _is_denied_list(before, rest)):
            continue
        if kind == "taint" and _is_denied_both(match, sentence[start:], rest):
            continue
        if kind == "taint" and _COMPARES.search(sentence[: match.end()]):
            continue
        if kind == "and" and not any(map(is_verb, opened(sentence[start : match.start()]).split())):
            continue  # "Moira and I"
        if kind == "and" and sentence[start : match.start()].endswith(" born"):
            continue  # "born and raised in"
        found.append(_Part(sentence[start : match.start()], joint))
        start, joint = match.end(), kind
    found.append(_Part(sentence[start:], joint))
    read = [_Part(part.text.replace(_LIST_AND, "and"), part.joint) for part in found]
    return [part for part in read if part.text.strip(" .,!?")] or [_Part(sentence, "")]


def _joined(sentence: str) -> str:
    """Return a sentence with the same word between all things of a list: ``tea, ale and milk``.

    Nothing is cut at that word.
    """
    names = _NAMES.match(sentence)
    first = names[0].partition(",")[0].split() if names and not _LEAD.match(sentence) else []
    if names and first and all(map(is_name, first)):
        listed = _NEXT_ITEM.sub(f" {_LIST_AND} ", names[0])
        return f"{listed}{_joined(sentence[names.end() :])}"
    for comma in _COMMA.finditer(sentence):
        before, rest = sentence[: comma.start()], sentence[comma.end() :]
        if _is_list(before, rest):
            return f"{before} {_LIST_AND} {_NEXT_ITEM.sub(f' {_LIST_AND} ', rest)}"
        if _is_denied_list(before, rest):
            return f"{before}, {rest.replace(', or ', ' or ')}"
    return sentence


def _is_list(before: str, rest: str, by: str = "and") -> bool:
    """Whether a comma stands between things of a list, not behind what is said in other words."""
    listed = _MORE_OF_LIST.match(rest)
    if listed is None or listed["by"].lower() != by:
        return False
    if not any(map(is_verb, opened(before).split())):
        return False
    is_year = before[-1:].isdigit() and _YEAR.match(rest) is not None
    # Behind a name another two words for it may stand; three things and more are a list.
    is_aside = ", " not in rest and bool(_NAMED_LAST.search(before) and _OTHER_WORDS.match(rest))
    items = _NEXT_ITEM.split(rest.strip(" .!"))
    # Fish and water are verbs, too: "meat, fish and eggs" is a list, "work, study and sleep" none.
    is_of_things = all(map(_is_item, items)) and not all(map(is_verb, items))
    return is_of_things and not is_year and not is_aside


def _is_denied_list(before: str, rest: str) -> bool:
    """Whether all things of a list are denied: ``I don't eat pork, beef or lamb``."""
    return _DENIAL.match(before) is not None and _is_list(before, rest, "or")


def _is_item(text: str) -> bool:
    """Whether words name a thing, and say nothing of one."""
    first, *more = text.lower().split()
    if first in _NO_ITEM or (more and is_verb(first) and not first.endswith("ing")):
        return False
    is_said = any(FORMS.get(one, ("", ""))[1] in {"present", "past"} for one in more)
    return not is_said and _FINITE.search(text) is None


def _is_denied_both(joint: re.Match[str], part: str, rest: str) -> bool:
    """Whether ``or`` stands between two things that are both denied: ``no cats or dogs``."""
    is_or = joint["taint"].lower() == "or" and not joint.group().startswith(",")
    following = _NEXT.match(rest)
    return bool(is_or and _DENIAL.match(part) and following and _is_item(following[1]))


def _kind_of(joint: re.Match[str]) -> str:
    """Return by what two parts are joined."""
    for name in ("taint", "and", "comma", "colon"):
        if joint[name]:
            return name
    return joint["word"] or joint["bare"] or ""


def _is_new(rest: str, kind: str) -> bool:
    """Whether what follows a comma or ``and`` is more than the next of several things."""
    if _OPENS_CLAUSE.match(rest):
        return True
    first, second = [*(word.strip(",.!?") for word in rest.split(maxsplit=2)[:2]), "", ""][:2]
    if kind == "and" and first[:1].isupper() and FORMS.get(second, ("", ""))[1] == "present":
        return True  # "and Eve lives in Mainz"
    tail = re.split(r"[,;:]", rest, maxsplit=1)[0]
    if kind == "comma":
        # A name after a place is its country; all else is an aside.
        return not (first[:1].isupper() and len(tail.split()) <= 3 and not _FINITE.search(tail))  # noqa: PLR2004
    is_done = _DONE.match(rest) is not None or (is_verb(first) and not first.endswith("ing"))
    return is_done or _FINITE.search(tail) is not None
