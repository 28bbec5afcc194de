"""What a message does to what its speaker said before: a word put right, or a statement taken back.

``It's Porto, not Lisbon``, ``1989, sorry``, ``make that 10``: the message is no statement itself;
the former one is read again with the right word in its place. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from tiers.lexical import STOP_WORDS, sentences, words
from tiers.records import Turn

from ..claims.forms import root
from .grammar.doubts import MISTAKEN
from .grammar.lexicon import EVALUATIVE
from .grammar.phrases import TIME, as_time
from .patterns import Stated, stated, subject_of
from .plain_speech import POINTING
from .regexes import any_case, regex

CORRECTION_CHARS_MAX = 200
"""A message that only puts something right is short; longer ones would be read in vain."""

SENTENCES_MAX = 20
"""Sentences of a message in which it may put itself right."""

State: TypeAlias = Callable[[str, Turn], list[Stated]]
"""Reads what words state that the user of a turn said then."""

_VALUE = r"\w[\w.'\u2019 -]{0,40}?"
_RIGHT = any_case(
    r"(?:(?:no|actually|sorry|correction|wait|oh|typo|my mistake)[,:.]? ){0,2}"
    r"(?:it['\u2019]?s|it is|it was|that['\u2019]?s|i meant?|make that|it should be"
    r"|(?:his|her|its|their) [a-z]+ (?:is|was)|(?:he|she)(?:['\u2019]s| is) (?:called|named)) "
    rf"(?P<right>{_VALUE}),? (?:and )?not (?P<wrong>{_VALUE})[.!]*"
)
"""A message that only puts a word of a former one right."""
_ONE = r"[\w.'\u2019-]+(?: [\w.'\u2019-]+){0,2}"
_BESIDE = any_case(
    r"(?:(?:no|actually|sorry|correction|wait|oh)[,:.]? ){0,2}"
    r"(?:(?P<how>with|at|on|in|to|for|from|by) )?"
    rf"(?P<right>{_ONE}), not (?:(?P=how) )?(?P<wrong>{_ONE})[.!]*"
)
"""The same without a verb: ``Tom, not Tim``, ``with Jo, not Bo``."""
_INSTEAD = any_case(
    rf"(?:(?:no|actually|sorry|correction|wait|oh)[,:.]? ){{0,2}}not (?P<wrong>{_ONE})[,;:.]+ "
    rf"(?:but |it['\u2019]?s |it is |rather )?(?P<right>{_ONE})[.!]*"
)
"""The other way round: ``Not MySQL, Postgres``."""
_NO = any_case(
    r"(?:(?:wait|oh|hm+|sorry|actually),? )?"
    r"(?:no|nope|wrong|not quite|correction|scratch that|scrap that|strike that)[,:.!]+ "
    r"(?:it['\u2019]?s |it is |that['\u2019]?s |i meant? |make that )?"
    r"(?:in |at |on )?(?P<right>[\u20ac$\u00a3]?\w[\w.,'\u2019-]*(?: [\w.'\u2019-]+){0,2}?)[.!]*"
)
"""A message that only denies, and says what is so instead: ``No, red.``"""
_MARK = r"(?:no|sorry|oops|wait|actually|correction|typo|my mistake|scratch that|strike that)"
_EXACT = (
    r"(?:on |at |in )?(?P<right>[\u20ac$\u00a3]?(?:\d[\d.,]*(?: [a-z-]+){3,6}"
    r"|\w[\w.,:'\u2019-]*(?: [\w.'\u2019-]+){0,2}?))"
)
_MEANT = (
    any_case(
        rf"(?:{_MARK}[,:.!]* ){{0,2}}"
        r"(?:i meant|make that|actually,? (?:it['\u2019]?s|it is|it was)) "
        rf"{_EXACT}[.!]*"
    ),
    any_case(rf"(?:{_MARK}[,:.!]* ){{1,3}}(?:it['\u2019]?s|it is|it was) {_EXACT}[.!]*"),
    any_case(rf"(?:correction|typo|scratch that|strike that)[,:.!]* {_EXACT}[.!]*"),
    any_case(rf"{_EXACT},? (?:i mean|i meant)[.!]*"),
)
"""A message that only says what was meant, a name or a number: ``Sorry, I meant 800 dollars.``"""
_SORRY = (
    any_case(rf"(?:{_MARK}[,:.!]* ){{1,3}}{_EXACT}[.!]*"),
    any_case(rf"{_EXACT},? (?:sorry|rather|my mistake|oops)[.!]*"),
)
"""One that says no more than that it is sorry: a name is whom it calls, ``Sorry, Claude``."""
_WRONG = any_case(
    r"(?:no[,.!]? )?(?:that(?:['\u2019]s| is| was)|it(?:['\u2019]s| is)) (?:wrong|not right"
    r"|not true|not correct|incorrect|a mistake|a typo)[,;.:!]+ (?P<so>.{5,})"
)
"""That the former message was wrong, and what is so: ``That's wrong, I'm a medic``."""
_LEAD = any_case(
    r"^(?:(?:or rather|well|oh|hm+|er+|uh+|ah|wait)[,.:]+ "
    r"|let me correct (?:that|this|myself)[,.:]+ )"
)
"""What only leads to a correction."""
_OWNS = any_case(rf"\b{MISTAKEN}\b|(?:^|[.!?] +)correction\b")
"""That the speaker was mistaken before."""
_CORRECTED_TURNS_MAX = 8
_BEFORE_VALUES = frozenset("a an the in on at with from by for to".split())
_JOKED = any_case(
    r"(?P<denied>[^,;.!?]{2,60}(?: not|n['\u2019]t) [^,;.!?]{1,60})[,;.!]+ (?:that was a joke"
    r"|(?:i|we)(?: was| were|['\u2019]m| am)(?: just| only)? (?:joking|kidding|teasing)"
    r"(?: before| earlier)?)[.!]*"
)
"""A denial, and that what it denies was a joke."""
_NUMBER = regex(r"[\u20ac$\u00a3]?\d+(?:[.,]\d+)*")
_TIMES = any_case(rf"(?<!\w)(?:{TIME.pattern})(?!\w)")
_NAMED = regex(r"\W?\d|[A-Z]")
_THE = regex(r"(?:the|an?) [a-z]")
_WHEN = regex(r"^(?:on|in|at) ")
_TAKES_UP = "noted right correct okay ok so still fine got understood good yes live"
"""What a reply says when it takes up what it was told."""
_NO_VALUE = POINTING | frozenset(
    "kidding joking seriously honestly absolutely definitely ok okay dear mate dude bro ever "
    "thanks thank sorry wait please cheers worries problem thing wonder way clue luck need of "
    "course stop don't can't won't let go do is are was has have had will would be to".split()
)
_NO_WORD = (
    _NO_VALUE
    | EVALUATIVE
    | frozenset(
        "i we he she they you my our your his her their me us him them mine maybe probably perhaps "
        "yes no sure really yet now today always necessarily all only just quite exactly much many "
        "often never because but and or if when the a an this that not true".split()
    )
)
"""What is no word in the place of another."""


def only_corrects(said: str) -> bool:
    """Whether a message only names a right word and a wrong one, or a number: ``1989, sorry``."""
    text = said.strip()
    if len(text) > CORRECTION_CHARS_MAX:
        return False
    amount = _match(_SORRY, text)
    is_number = amount is not None and _NUMBER.fullmatch(amount["right"].rstrip(".,")) is not None
    return is_number or _named_alone(text) is not None


def without_joke(said: str) -> str:
    """Return a message without that the former was a joke: ``I'm not vegan, I was joking``."""
    match = _JOKED.fullmatch(said.strip())
    return match["denied"] if match else said


def put_right_within(said: str, turn: Turn, state: State) -> str:
    """Return a message with what it puts right itself: ``I live in Rome. Sorry, I meant Bari.``

    Args:
        said: The message.
        turn: Of which it is.
        state: Reads what words state.
    """
    told = sentences(said)
    for place, sentence in enumerate(told[1:SENTENCES_MAX], 1):
        now = turn.model_copy(update={"input": _LEAD.sub(_as_mark, sentence)})
        former = turn.model_copy(update={"input": told[place - 1], "response": ""})
        exchange = _exchanged(now, [former], state)
        if exchange is None:
            continue
        wrong, right = exchange
        before, found, rest = told[place - 1].rpartition(wrong)
        put = f"{before}{right}{rest}" if found else told[place - 1]
        if put != told[place - 1]:
            return " ".join([*told[: place - 1], put, *told[place + 1 :]])
    return said


def _as_mark(found: re.Match[str]) -> str:
    return "Correction: " if "correct" in found[0].lower() else ""


def put_right(
    turn: Turn, before: Sequence[Turn], state: State
) -> Iterator[tuple[Stated, tuple[str, ...]]]:
    """Yield what a former message states with the word that a turn puts right in its place.

    ``It's Porto, not Lisbon.``: it is the last message of the same speaker that says Lisbon. Where
    both could be true side by side, it is denied what was said before.

    Args:
        turn: Of which the words may put something right.
        before: What the same speaker said before it, oldest first.
        state: Reads what words state.
    """
    yield from _taken_back(turn, before, state)
    yield from _mistaken(turn, before, state)
    exchange = _exchanged(turn, before, state)
    if exchange is None:
        return
    wrong = re.compile(rf"(?<!\w){re.escape(exchange[0])}(?!\w)", re.IGNORECASE)
    for former in reversed(before):
        if not wrong.search(former.input):
            continue
        for sentence in filter(wrong.search, sentences(former.input)):
            right = wrong.sub(lambda _: exchange[1], sentence)
            said = state(right, former)
            if said and not any(one.predicate for one in said):
                said += map(_denial, state(sentence, former))
            yield from ((one, (turn.id, former.id)) for one in said)
        return


def _mistaken(
    turn: Turn, before: Sequence[Turn], state: State
) -> Iterator[tuple[Stated, tuple[str, ...]]]:
    """Yield denials of what was said likewise, where a turn owns to a mistake.

    Of what there may be several of: of what there is one, the right value is enough.

    ``I got that wrong, Noah is allergic to cashews``: he is not allergic to peanuts.
    """
    if _OWNS.search(turn.input) is None:
        return
    said = state(turn.input, turn)
    ways = {_way(one): one.text for one in said if one.object and one.predicate is None}
    for former in reversed(before[-_CORRECTED_TURNS_MAX:]):
        wrong = [
            one
            for one in state(former.input, former)
            if _way(one) in ways and one.text != ways[_way(one)]
        ]
        if wrong:
            yield from ((_denial(one), (former.id, turn.id)) for one in wrong)
            return


def _taken_back(
    turn: Turn, before: Sequence[Turn], state: State
) -> Iterator[tuple[Stated, tuple[str, ...]]]:
    """Yield denials of what the last message said likewise: ``That's wrong, I'm a medic``."""
    match = _WRONG.fullmatch(turn.input.strip()) if before else None
    if match is None or before[-1].response.endswith("?"):
        return
    former = before[-1]
    ways = {_way(one) for one in state(match["so"], turn)}
    for one in state(former.input, former):
        if _way(one) in ways:
            yield _denial(one), (turn.id, former.id)


def _way(one: Stated) -> tuple[str | None, str, str]:
    """Return of whom a statement is, how it tells of it, and of what: ``Ada is``, ``a``."""
    of = (one.object or "").partition(" ")[0]
    told = one.text.removesuffix(one.object or "").strip()
    return one.subject, told, of.replace("an", "a") if of in _BEFORE_VALUES else ""


def _denial(one: Stated) -> Stated:
    """Return that a statement is not true."""
    return replace(one, text=f"It is not true that {one.text}", predicate=None)


def roots_of(text: str) -> frozenset[str]:
    """Return the roots of the words that say something."""
    return frozenset(root(word) for word in words(text) if word not in STOP_WORDS)


def _named_alone(said: str) -> tuple[str, str] | None:
    """Return the wrong word and the right one, where a message is no more than both."""
    match = _BESIDE.fullmatch(said) or _INSTEAD.fullmatch(said)
    if match is None:
        return None
    wrong, right = (found.rstrip(".") for found in match.group("wrong", "right"))
    is_pair = _is_value(wrong) and _is_value(right) and _is_alike(wrong, right)
    return (wrong, right) if is_pair else None


def _match(ways: Iterable[re.Pattern[str]], text: str) -> re.Match[str] | None:
    return next((found for way in ways if (found := way.fullmatch(text))), None)


def _is_asked(reply: str, wrong: str, right: str) -> bool:
    """Whether a message answers the reply's question: ``Tea or coffee?`` ``Tea, not coffee``.

    One that says the wrong word alone has taken it up: "How old is Tim?"
    """
    said = set(words(reply))
    takes_up = said >= set(words(wrong)) and said.isdisjoint(words(right))
    return reply.rstrip().endswith("?") and not takes_up


def _is_amount(right: str, former: Turn) -> bool:
    """Whether it is a time, or a number of what was spoken of: no ``sorry, 2 minutes``."""
    first, *more = right.rstrip(".,").split()
    is_of_it = {*words(" ".join(more))} <= {*words(former.input)}
    return as_time(right) is not None or (_NUMBER.fullmatch(first) is not None and is_of_it)


def _is_value(said: str) -> bool:
    """Whether it is one word that says something, or a name or number of several."""
    parts = said.split()
    is_name = len(parts) == 1 or all(_NAMED.match(one) for one in parts)
    is_adverb = said.islower() and said.endswith("ly")
    return is_name and not is_adverb and _NO_WORD.isdisjoint(words(said))


def _exchanged(turn: Turn, before: Sequence[Turn], state: State) -> tuple[str, str] | None:
    """Return which word of what somebody said before a turn puts right, and what is right."""
    text = turn.input.strip()
    if len(text) > CORRECTION_CHARS_MAX:
        return None
    if match := _RIGHT.fullmatch(text):
        return match["wrong"].strip(), match["right"].strip()
    if both := _named_alone(text):
        return None if before and _is_asked(before[-1].response, *both) else both
    meant = _match(_MEANT, text)
    is_meant = meant is not None and bool(
        _NAMED.match(meant["right"]) or as_time(meant["right"]) or _THE.match(meant["right"])
    )
    if not is_meant:
        meant = _match(_SORRY, text)
        is_meant = meant is not None and bool(before) and _is_amount(meant["right"], before[-1])
    if meant is not None and is_meant:
        exchange = _meant(_bare(meant["right"].rstrip(".,"), before), before, state)
        if exchange is not None:
            return exchange
    denied = _NO.fullmatch(text)
    if denied is None or not before or (_NO_VALUE | EVALUATIVE) & set(words(denied["right"])):
        return None
    return _denied(denied["right"], before, state)


def _denied(right: str, before: Sequence[Turn], state: State) -> tuple[str, str] | None:
    """Return what was said before that a message denies which only says what is so instead."""
    if as_time(right) is not None:
        return _meant(right, before, state)
    for former in reversed(before):
        said = stated(former.input, subject_of(former))  # with times as they were said
        values = [_WHEN.sub("", one.object) for one in said if one.predicate and one.object]
        # It denies what the reply took up; without that, the one thing that was just said.
        taken_up = [one for one in values if _only_takes_up(before[-1].response, one, former)]
        is_only = former is before[-1] and len(said) == 1 and not before[-1].response.endswith("?")
        only = [_WHEN.sub("", one.object) for one in said if is_only and one.object]
        wrong = taken_up or only
        if wrong:
            return (wrong[-1], right) if _is_alike(wrong[-1], right) else None
    return None


def _bare(right: str, before: Sequence[Turn]) -> str:
    """Return a number without the words that were said with the wrong one: ``950 a month``."""
    number, _, rest = right.partition(" ")
    said = {*words(before[-1].input)} if before and rest and _NUMBER.fullmatch(number) else set()
    return number if said and {*words(rest)} <= said else right


def _meant(right: str, before: Sequence[Turn], state: State) -> tuple[str, str] | None:
    """Return what the last message has where its speaker meant something else: a time, or a value.

    Of one that states one thing, and has one of them. "Make that 10" is of an hour where one was
    said.
    """
    if not before or before[-1].response.endswith("?"):
        return None
    former = before[-1]
    said = state(former.input, former)
    times = [_WHEN.sub("", one[0]) for one in _TIMES.finditer(former.input)]
    numbers = _NUMBER.findall(former.input)
    is_hour = right.isdigit() and len(times) == 1 and times[0].isdigit()
    if as_time(right) is not None or is_hour:
        found = times
    elif len(numbers) == 1 and _NUMBER.fullmatch(right):
        found = numbers
    else:
        found = [_WHEN.sub("", one.object) for one in said if one.object]
    is_clear = len(said) == len(found) == 1 and _is_alike(found[0], right)
    return (found[0], right) if is_clear else None


def _only_takes_up(reply: str, value: str, former: Turn) -> bool:
    """Whether a sentence of a reply says a value again and nothing that was not said with it."""
    known = roots_of(f"{former.input} {_TAKES_UP}")
    return any(
        roots_of(value) <= roots_of(sentence) <= known | roots_of(value)
        for sentence in sentences(reply)
    )


def _is_alike(one: str, other: str) -> bool:
    """Whether two values are written alike: both names, both numbers, both times, or neither."""
    if (as_time(one) is None) != (as_time(other) is None):
        return False
    return all(any(map(sort, one)) == any(map(sort, other)) for sort in (str.isdigit, str.isupper))
