"""What somebody says who answers: by yes, by no, by a fragment, or by a verb alone. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from .clause import AGENT, Clause, Voice
from .forms import base
from .lexicon import ASSENTS, Mode
from .tokens import Sentence

_OFFERING: frozenset[Mode] = frozenset(("ask", "proposal", "ought", "maybe", "can"))
_CONDITION: frozenset[Mode] = frozenset(("if",))
_DISSENTS = frozenset("no not nope never".split())


def answered(
    sentence: Sentence, read: Sequence[Clause], before: Sequence[Clause], voice: Voice
) -> list[Clause]:
    """Return what somebody says who answers a question or a proposal: by yes, no or a fragment."""
    first_words = [one.word for one in sentence.tokens[:3]]
    if not first_words:
        return []
    answers: list[Clause] = []
    asked = [one for one in before if "ask" in one.modes]
    if first_words[0] in ASSENTS and "not" not in first_words:
        conditions = frozenset().union(*(one.modes & _CONDITION for one in read))
        offered = [one for one in before if one.modes & _OFFERING and not one.denied]
        answers += [_agreement(voice, one, conditions) for one in (Clause(), *offered)]
    if first_words[0] in ASSENTS or first_words[0] in _DISSENTS:
        for one in asked:
            if AGENT not in one.subjects:
                no = first_words[0] in _DISSENTS or "not" in first_words
                answers.append(replace(one, modes=one.modes - {"ask"}, denied=one.denied != no))
    if asked and first_words[0] not in _DISSENTS:
        fragments = list(itertools.takewhile(lambda one: not one.has_verb, read))
        answers += [_completed(_chosen_of(asked[-1], fragments), fragments)] if fragments else []
    return answers


def _chosen_of(asked: Clause, fragments: Sequence[Clause]) -> Clause:
    """Return a question without what it offers, where an answer takes one of it: ``A refund.``"""
    taken = {word for one in fragments for word in one.words}
    if "or" not in asked.exact or taken.isdisjoint(asked.words):
        return asked
    words = {word: form for word, form in asked.words.items() if word == asked.verb}
    return replace(asked, objects=frozenset(), words=words)


def _completed(asked: Clause, fragments: Sequence[Clause]) -> Clause:
    """Return a question with what a fragment says to it: ``When does he start? On 4 May.``"""
    parts = (asked, *fragments)
    return replace(
        asked,
        objects=frozenset().union(*(one.objects for one in parts)),
        company=frozenset().union(*(one.company for one in parts)),
        words={word: form for one in parts for word, form in one.words.items()},
        exact=frozenset().union(*(one.exact for one in parts)),
        names=frozenset().union(*(one.names for one in parts)),
        numbers={number: units for one in parts for number, units in one.numbers.items()},
        limits=frozenset().union(*(one.limits for one in parts)),
        modes=(asked.modes - {"ask"}).union(*(one.modes for one in fragments)),
        denied=asked.denied != fragments[0].denied,
        is_linked=False,
    )


def echoed(read: Sequence[Clause], before: Sequence[Clause]) -> list[Clause]:
    """Return what clauses say that leave out what they answer: ``I did``, ``I'd like to``."""
    told_before = [one for one in before if one.has_verb and not one.denied]
    return [
        replace(
            _completed(asked[-1], [one]),
            subjects=one.subjects | (asked[-1].subjects if one.is_linked else frozenset()),
            modes=one.modes,
            denied=one.denied,
            past=one.past,
            present=one.present,
        )
        for one in read
        if (asked := [other for other in told_before if _is_echo(one, other)])
    ]


def _is_echo(one: Clause, other: Clause) -> bool:
    """Whether a clause only repeats the verb of another, or has none at all."""
    own = one.words.keys() - {base(word) for word in (*one.subjects, *one.names)}
    return one.has_verb and own <= {one.verb} and one.verb in ("", other.verb)


def _agreement(voice: Voice, proposed: Clause, conditions: frozenset[Mode]) -> Clause:
    agreed: frozenset[Mode] = conditions | {"agreed"}
    words = {**proposed.words, base("agree"): ""}
    return replace(
        proposed,
        subjects=voice.selves,
        words=words,
        modes=agreed,
        has_verb=True,
        verb="",
        is_linked=False,
    )
