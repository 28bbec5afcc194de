"""What a message asks to keep from memory: secrets, and what is to be forgotten. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tiers.lexical import sentences

from .marks import Sought
from .regexes import any_case, regex

# Words that ask to keep something from memory, each where nothing else can be meant: "don't save
# files to the desktop" and "we keep secrets in Vault" ask nothing of the kind.
_OPENS = (
    r"(?:^|(?<=[,;:.!?(\u2013\u2014-] )|(?<=[,;:.!?(]))(?:(?:and|but|so|oh|ok|okay|hey|hi|well"
    r"|also|now|just|only"
    r"|please|kindly|pls|however|though|btw|by the way|psst|by the by)\b[,:.!]? ?){0,5}"
)
_IS_ALL = (
    r"(?=\W*$|[,;:.!?)\u2013\u2014]|\s+[\u2013\u2014-]|\s+(?:but|because|though|since|ok|okay)\b)"
)
_THIS = (
    r"(?:this|that|it|these|those|any of (?:this|that|it)|(?:any of )?what i(?:'m| am) (?:about to"
    r" say|going to say|saying|telling you)|what i (?:say|tell you|(?:just )?(?:said|told you))"
    r"(?: (?:here|next|now))?|anything (?:of this|i say)|the (?:following|next (?:bit|part|thing"
    r"|message|sentence)|last (?:bit|part|message|sentence)))"
)
_KEEP = r"(?:save|store|remember|memori[sz]e|record|log|keep|note|write down|learn|retain|file)"
_WHERE = (
    r"(?: (?:down|anywhere|in (?:your |the )?(?:memory|notes|logs?|records?|files?)"
    r"|to (?:your |the )?(?:memory|notes|logs?|records?)|on (?:the )?record|for (?:later|good"
    r"|the future)|about me|on file|please|though|ok|okay|either|again))*"
)
_SECRECY = (
    r"(?:(?:(?:strictly|absolutely|totally|highly|very|all|just|only|really|kind of|sort of|a bit)"
    r" )*(?:off the record|not for the record|confidential|(?:just |strictly )*between (?:us"
    r"|you and me|the two of"
    r" us|ourselves)|(?:a|our|my|top|your) (?:(?:little|big|huge|total|real) )?secret|top secret"
    r"|a confidence|for your (?:ears|eyes) only))"
)
_REQUESTS = (
    rf"(?:don't|do not|never|no need to|don't you(?: dare)?|you (?:mustn't|must not|shouldn't"
    rf"|needn't)"
    rf"|i(?:'d| would) (?:rather|prefer) you (?:didn't|not)|i don't want you to|you don't (?:need"
    rf"|have) to|(?:can|could|would) you (?:please )?not)"
    rf" (?:{_KEEP} {_THIS}|(?:write|jot) {_THIS} down){_WHERE}{_IS_ALL}"
    rf"|(?:strictly )?off the record{_IS_ALL}"
    rf"|not for the record{_IS_ALL}"
    rf"|(?:just |strictly )?between (?:us|you and me|the two of us)(?: only)?{_IS_ALL}"
    r"|(?:strictly |highly )?confidential(?:ly)?(?=\W*$|[:,]|\s+[\u2013\u2014-])"
    rf"|in (?:strict |strictest |full )?confidence{_IS_ALL}"
    rf"|for your (?:ears|eyes) only{_IS_ALL}"
    rf"|(?:i(?:'m| am) telling|i(?:'ll| will) tell|i(?:'m| am) going to tell) you (?:this "
    rf"|that )?in (?:strict |strictest )?confidence{_IS_ALL}"
    rf"|(?:{_THIS}|this (?:one|next (?:bit|part)|part))(?:'s| is| was| are| stays| remains"
    rf"| must stay| should stay| has to stay| needs to stay| must remain) {_SECRECY}{_IS_ALL}"
    rf"|(?:let's |let us |you must |you should |(?:can|could|would|will) you (?:please )?"
    rf"|try to )?keep"
    rf" {_THIS} (?:(?:strictly|just|all) )?(?:a secret|secret|quiet|private|confidential"
    rf"|to yourself|between us"
    rf"|between you and me|between ourselves|to ourselves|under your hat|off the record"
    rf"|out of (?:your|the) (?:memory|notes|records?|logs?)){_IS_ALL}"
    rf"|leave (?:this|that|it) out of (?:your|the) (?:memory|notes|records?|logs?){_IS_ALL}"
    rf"|(?:don't|do not|never) (?:you )?(?:tell|mention|repeat|share"
    rf"|say) (?:(?:{_THIS}) )?(?:to )?(?:a soul"
    rf"|any(?:one|body)(?: else)?)(?: about (?:this|that|it))?{_IS_ALL}"
    rf"|you (?:didn't|did not|never) hear (?:this|that|it) from me{_IS_ALL}"
    rf"|mum's the word{_IS_ALL}"
    r"|(?:can|could|will) you keep (?:a|my|our|this) secret\b"
)
_ASKED = Sought(rf"(?P<opening>{_OPENS})(?:{_REQUESTS})")
"""What asks that something be kept from memory."""
_AT_END = Sought(
    r"[ ,(\u2013\u2014-]+(?:but |and |so )?(?:please,? )?(?:(?:strictly |this is |that's "
    r"|it's )?off the record"
    r"|(?:just |strictly )?between (?:us|you and me)|not for the record|in (?:strict "
    r"|strictest )?confidence)(?:,? please)?\W*$"
)
"""The same behind a statement: ``I am leaving Siemens, off the record.``"""
_TOLD_SO = any_case(
    r"\b(?:spoke|speak|speaks|talk|talks|talked|said|says|told|tells|gave|give|comments?)\b[^,]*$"
)
"""Who tells what somebody else said off the record asks nothing."""
_BACKWARDS = Sought(
    rf"{_OPENS}(?:(?:can|could|would|will) you (?:please )?|i(?:'d| would) like you to "
    rf"|i want you to )?(?:"
    r"(?:forget|ignore|disregard|delete|erase|unlearn|drop) (?:(?:about )?(?:that|what|everything"
    r"|all(?: that)?|anything)"
    r" )?i(?:'ve| have)? (?:just |ever )?(?:said|told you|mentioned|wrote|typed|brought (?:that"
    r"|this|it) up)(?: (?:that|this|it|anything|something|so|just now|a moment ago|before|earlier"
    r"|about (?:that|this|it))){0,2}"
    r"|(?:forget|ignore|disregard|delete|erase|unlearn) (?:about )?(?:that(?: (?:last|previous))?"
    r"|(?:my|the) (?:last|previous|former)) (?:one|message|bit|part|remark|sentence|thing|turn)"
    r"|(?:forget|disregard|unlearn|erase) that(?: again| please| now)?"
    r"|(?:pretend|let's pretend|act as if|act like) (?:that )?i (?:never|didn't|hadn't"
    r"|did not) (?:say|said|mention(?:ed)?"
    rf"|told you|tell you)(?: (?:that|this|it|anything)){{0,2}}){_IS_ALL}"
)
"""What asks to forget what stands before it."""
_OF_BEFORE = any_case(
    rf"\W*{_OPENS}(?:(?:that(?:'s| was| is| stays| remains| must stay| should stay)|(?:don't"
    rf"|do not) (?:save|store"
    rf"|record|log|note|keep|write down|retain) that|please (?:don't|do not) (?:remember"
    rf"|memori[sz]e) that|keep that|leave that out)\b"
    r"|(?:(?:don't|do not) \w+ |keep )(?:what i (?:just )?(?:said|told you)|the last))"
)
"""A request that is of what was said before it."""
_OF_NEXT = any_case(
    r".*(?::|\bthe (?:following|next)\b.*|\bwhat i(?:'m| am) (?:about|going) to .*)\s*$"
)
"""One that is of what will be said."""

AFTER_REQUEST = any_case(r"[^.!?:;,\u2013\u2014]*[.!?:;,\u2013\u2014-]*\s*")
"""The rest of the words of a request, before what is said beside it."""
_WORD = regex(r"\w")
_COURTESY = any_case(r"\W*(?:(?:please|ok|okay|thanks|thank you|will you|all right|yes)\W*){0,2}")


def without_confidences(said: str) -> tuple[str, str]:
    """Return a message without what it asks to keep from memory, and which other one it asks so of.

    A request that opens a sentence and goes on covers the rest of the message; one that asks to
    forget covers what stands before it; any other the whole message. The other one is ``last``
    where a message is no more than a request of what was said, ``next`` where of what is to be
    said, else empty.
    """
    backwards = _BACKWARDS.search(said)
    if backwards is not None:
        is_first = not _WORD.search(said[: backwards.start()])
        rest = AFTER_REQUEST.match(said, backwards.end())
        return said[rest.end() if rest else backwards.end() :], "last" if is_first else ""
    asked = _ASKED.search(said)
    if asked is None:
        at_end = _AT_END.search(said)
        is_own = at_end is not None and not _TOLD_SO.search(said[: at_end.start()])
        return "" if is_own else said, ""
    told = sentences(said)
    is_first = not _WORD.search(said[: asked.start()])
    if is_first and _COURTESY.fullmatch(said, asked.end()):
        is_of_before = _OF_BEFORE.match(said) is not None
        is_of_next = _OF_NEXT.fullmatch(said) is not None
        return "", "next" if is_of_next else "last" if is_of_before else ""
    return _before_request(told), ""


def _before_request(told: Sequence[str]) -> str:
    """Return the sentences before the one that opens with a request and says what it is of."""
    for number, sentence in enumerate(told):
        asked = _ASKED.search(sentence)
        if asked is not None:
            is_opening = not _WORD.search(sentence[: asked.start()])
            goes_on = _WORD.search(sentence[asked.end() :]) is not None
            return " ".join(told[:number]) if is_opening and goes_on else ""
    return ""
