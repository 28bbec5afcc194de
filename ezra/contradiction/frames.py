"""Claims as frames that can be laid over each other: words in base form, numbers, denials. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tiers.lexical import sentences, words

from . import lexicon as lex
from .quantities import Quantity, scan, with_digits

CLAIM_CHARS_MAX = 400
"""A longer text is no claim that rules could compare."""

SENTENCES_MAX = 4
_TOKENS_MAX = 60
_LABEL_WORDS_MAX = 6
_FRONT_TOKENS_MAX = 8
_COMMA = ","

_CONTRACTIONS = [(re.compile(short, re.IGNORECASE), long) for short, long in lex.CONTRACTIONS]
_LABEL = re.compile(r"(?P<label>[^:=?!.,;]{1,80}?)\s*(?::\s|=)\s*(?P<value>.{1,200})")
_MAY = re.compile(
    r"\b(in|of|by|until|since|is|during|early|late|mid|next|last|on|for|from|starts?|ends?)\s+May\b"
    r"(?!\s+\d)"
)
_UNSAID = re.compile(r"[\"“”«»„;…]|(?<!\w)'[^']+'(?!\w)")
"""Quotations, and what joins two claims in one sentence."""

_FRONTS = frozenset("on in at for during by from after before over since under".split())
_DAYS = frozenset("today tomorrow yesterday tonight".split())
_SIGNS = frozenset(",#@&/*\\%")
_PLANNERS = frozenset(("we", "i"))


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a claim, or a quantity.

    Attributes:
        word: In the form in which it is compared; of a quantity, its kind.
        raw: As it was said, in lower case.
        quantity: What the number stands for.
        is_denied: A denial stands right before it.
    """

    word: str
    raw: str
    quantity: Quantity | None = None
    is_denied: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of a claim.

    Attributes:
        said: Everything in it, comparable: words in base form, numbers by value.
        tokens: The frame: without denials, articles, and adverbs that add nothing.
        denials: How often it is denied.
        is_open: It leaves open whether, when or by whom it is meant, or is too hard to read: it
            contradicts nothing.
        condition: Under which it is said; empty for none.
        begins: Its first word, which tells whether it is about one thing.
        no_at: Where in ``tokens`` a ``no`` stood.
    """

    said: tuple[str, ...]
    tokens: tuple[Token, ...]
    denials: int
    is_open: bool
    condition: tuple[str, ...]
    begins: str
    no_at: int | None

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the frame."""
        return tuple(token.word for token in self.tokens)

    def loosely(self) -> Statement:
        """Return it without words of degree, except those that are denied."""
        kept = tuple(
            token
            for token in self.tokens
            if token.is_denied or token.quantity is not None or token.word not in lex.DEGREES
        )
        return replace(self, tokens=kept, no_at=None)


@dataclass(frozen=True, slots=True)
class _Denied:
    """A frame with its denials taken out."""

    tokens: tuple[Token, ...]
    denials: int
    is_doubtful: bool
    no_at: int | None


def statements(claim: str) -> tuple[Statement, ...]:
    """Return the sentences of a claim as frames; none when it cannot be compared."""
    if len(claim) > CLAIM_CHARS_MAX:
        return ()
    found = sentences(unicodedata.normalize("NFKC", claim))
    if not 1 <= len(found) <= SENTENCES_MAX:
        return ()
    return tuple(_statement(sentence) for sentence in found)


def speaks_of_speaker(claim: str) -> bool:
    """Whether a claim is about whoever makes it, so that two agents mean two different things."""
    return not lex.SPEAKER.isdisjoint(words(claim))


def _statement(sentence: str) -> Statement:
    tokens = _tokens(_expanded(sentence))
    said = tuple(_comparable(token) for token in tokens if token.word != _COMMA)
    asks = "?" in sentence or not lex.QUESTION_STARTS.isdisjoint(said[:1])
    tokens, prefixes = _without_prefixes(_phrased(_without_answer(tokens)))
    main, condition, is_whole = _split(tokens)
    main = [token for token in _fronted_moved(main) if token.word != _COMMA]
    denied = _denied(main)
    is_open = (
        asks
        or not is_whole
        or denied.is_doubtful
        or denied.denials > 1
        or not 1 <= len(denied.tokens) <= _TOKENS_MAX
        or _UNSAID.search(sentence) is not None
        or _leaves_open(main)
    )
    return Statement(
        said=said,
        tokens=denied.tokens,
        denials=denied.denials + prefixes,
        is_open=is_open,
        condition=tuple(_comparable(token) for token in condition),
        begins=main[0].raw if main else "",
        no_at=denied.no_at,
    )


def _leaves_open(tokens: Sequence[Token]) -> bool:
    """Whether a word leaves open how a claim is meant; "the report" is none that does."""
    return any(
        token.word in lex.OPEN and not (token.word in lex.NOUNS_TOO and before.word in lex.NAMING)
        for before, token in pairwise([Token("", ""), *tokens])
    )


def _expanded(sentence: str) -> str:
    """Return a sentence with long forms for short ones, digits for words, ``is`` for a colon."""
    text = sentence.replace("\u2019", "'")
    for short, long in _CONTRACTIONS:
        text = short.sub(long, text)
    label = _LABEL.fullmatch(text.rstrip(" ."))
    if label is not None and len(label["label"].split()) <= _LABEL_WORDS_MAX:
        text = f"{label['label']} is {label['value']}"
    text = _MAY.sub(rf"\1 {lex.MONTH_OF_MAY}", text)
    return with_digits(text)


def _tokens(text: str) -> list[Token]:
    """Return the words, numbers and commas of a text in order."""
    found: list[Token] = []
    for piece in scan(text):
        if isinstance(piece, Quantity):
            found.append(Token(piece.kind, piece.said, piece))
            continue
        start = 0
        for at, character in enumerate(piece):
            if _is_said(piece, at):
                found += [Token(lex.normal(word), word) for word in words(piece[start:at])]
                found.append(Token(character, character))
                start = at + 1
        found += [Token(lex.normal(word), word) for word in words(piece[start:])]
    return found


def _is_said(text: str, at: int) -> bool:
    """Whether a character that is no letter says something: "C++" is not "C", "A-" is not "A".

    Marks are vowels in some scripts, and symbols may be thumbs up or down.
    """
    character = text[at]
    if character == "-":
        return at > 0 and text[at - 1].isalnum() and not text[at + 1 : at + 2].isalnum()
    return character in _SIGNS or unicodedata.category(character)[0] in "SM"


def _comparable(token: Token) -> str:
    number = token.quantity
    if number is None:
        return token.word
    ends = f"{number.low:.12g} {number.high:.12g}"
    return f"{number.kind} {ends} {number.parts} {number.spelling}"


def _without_answer(tokens: list[Token]) -> list[Token]:
    """Return the tokens without a leading ``yes,`` or ``no,``."""
    answers = len(tokens) > 1 and tokens[0].word in lex.YES_NO and tokens[1].word == _COMMA
    return tokens[2:] if answers else tokens


def _phrased(tokens: list[Token]) -> list[Token]:
    """Return the tokens with phrases replaced by what they stand for."""
    for phrase, instead in lex.PHRASES:
        if not any(token.word == phrase[0] for token in tokens):
            continue
        at = 0
        while at + len(phrase) <= len(tokens):
            if _stands_at(tokens, at, phrase):
                tokens = [
                    *tokens[:at],
                    *(Token(word, word) for word in instead),
                    *tokens[at + len(phrase) :],
                ]
                at += len(instead)
            else:
                at += 1
    return tokens


def _without_prefixes(tokens: list[Token]) -> tuple[list[Token], int]:
    """Return the tokens without what denies the whole, and how often that is done: 0 or 1."""
    for prefix in lex.DENYING_PREFIXES:
        if _stands_at(tokens, 0, prefix):
            return tokens[len(prefix) :], 1
    return tokens, 0


def _stands_at(tokens: Sequence[Token], at: int, phrase: Sequence[str]) -> bool:
    return tuple(token.word for token in tokens[at : at + len(phrase)]) == tuple(phrase)


def _split(tokens: list[Token]) -> tuple[list[Token], list[Token], bool]:
    """Return the main clause, its condition, and whether the two could be told apart."""
    at = next((i for i, token in enumerate(tokens) if token.word in lex.CONDITIONS), None)
    if at is None:
        return tokens, [], True
    if at > 0:
        return tokens[:at], [t for t in tokens[at:] if t.word != _COMMA], True
    commas = [i for i, token in enumerate(tokens) if token.word == _COMMA]
    if len(commas) != 1:
        return tokens, [], False
    return tokens[commas[0] + 1 :], tokens[: commas[0]], True


def _fronted_moved(tokens: list[Token]) -> list[Token]:
    """Return the tokens with "on lap 20, …" moved from the beginning to the end."""
    if not tokens:
        return tokens
    if tokens[0].word in _DAYS:
        return [*tokens[1:], tokens[0]]
    if tokens[0].word not in _FRONTS:
        return tokens
    for at, token in enumerate(tokens[:_FRONT_TOKENS_MAX]):
        if token.word == _COMMA or (at > 1 and token.word in lex.PRONOUNS):
            return [*tokens[at:], *tokens[:at]]
    return tokens


def _denied(tokens: Sequence[Token]) -> _Denied:
    """Return a main clause without denials, and how many there were."""
    kept: list[Token] = []
    denials, is_doubtful, no_at = 0, False, None
    was_denied = past_follows = False
    for at, token in enumerate(tokens):
        if _denies(tokens, at):
            is_doubtful = is_doubtful or not _denies_the_claim(tokens, at)
            denials, was_denied = denials + 1, True
            if token.word == "no":
                no_at = len(kept)
            if kept and kept[-1].word in {"do", "did"}:
                past_follows = kept.pop().word == "did"
        elif _says_nothing(token, was_denied=was_denied) or _plans(tokens, at):
            continue
        else:
            read = token
            if past_follows and token.word not in lex.DEGREES:
                verb = lex.past(token.word)
                read, past_follows = Token(lex.normal(verb), verb), False
            kept.append(replace(read, is_denied=was_denied))
            was_denied = False
    return _Denied(tuple(kept), denials, is_doubtful, no_at)


def _says_nothing(token: Token, *, was_denied: bool) -> bool:
    """Whether a claim says the same without a word; with "not" before it "just" is what counts."""
    is_limit = was_denied and token.word in lex.LIMITING
    return token.word in lex.ARTICLES | lex.ASSERTIVE and not is_limit


def _denies(tokens: Sequence[Token], at: int) -> bool:
    """Whether a token is a denial; the ``no`` before a number is none."""
    if tokens[at].word == "no":
        return at + 1 < len(tokens) and tokens[at + 1].quantity is None
    return tokens[at].word in lex.NEGATORS


def _denies_the_claim(tokens: Sequence[Token], at: int) -> bool:
    """Whether a denial is about the main verb, and not about a part of the sentence."""
    before, after = tokens[:at], tokens[at + 1 :]
    if not lex.SUBORDINATORS.isdisjoint(token.word for token in before[1:]):
        return False
    if at == 0:
        return tokens[0].word != "not" or bool(after and after[0].word in {"all", "every"})
    # A second verb may have the denied one in a clause of its own: "the car we do not use is red".
    if not lex.FINITE.isdisjoint(token.word for token in after[1:]):
        return False
    verbs = [token for token in before if token.word not in lex.ASSERTIVE]
    last = verbs[-1].word if verbs else ""
    match tokens[at].word:
        case "not":
            to_follows = bool(after) and after[0].word == "to"
            return last in lex.AUXILIARIES or last == "to" or to_follows
        case "no":
            return last in lex.COMMON_VERBS | lex.VERBS_OF_NO
        case _:
            is_participle = bool(after) and after[0].raw.endswith("ed")
            return last in lex.AUXILIARIES | lex.PRONOUNS or not is_participle


def _plans(tokens: Sequence[Token], at: int) -> bool:
    """Whether a token is the ``will`` of a plan of ours, which the present says as well."""
    if tokens[at].word not in {"will", "shall"} or at == 0:
        return False
    subject = next((t.word for t in reversed(tokens[:at]) if t.word not in lex.ASSERTIVE), "")
    follows = next((t.word for t in tokens[at + 1 :] if t.word not in lex.NEGATORS), "")
    return subject in _PLANNERS and follows != "be"
