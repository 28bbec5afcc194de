"""Patterns of the grammar: compiled late, all of them good, and searched for by their marks."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from support.processes import succeeded

from ezra.evaluation import learning
from metaagents.learning import instructions, plain_speech, regexes, times
from metaagents.learning.grammar import clauses, subjects
from metaagents.learning.grammar.plainer import WAYS, in_plain_words
from metaagents.learning.marks import Likely, Sought, Way, Ways, marks_of, reworded
from metaagents.learning.regexes import any_case, compiled, regex
from tiers.lexical import sentences

# Patterns of the grammar: compiled late, and all of them good.


def test_a_pattern_is_what_re_has_compiled() -> None:
    """As far as searching goes."""
    late, now = (
        regex(r"(\w+) in (\w+)", re.IGNORECASE),
        re.compile(r"(\w+) in (\w+)", re.IGNORECASE),
    )
    text = "Anna IN Lisbon, Ben in Turin"
    assert (late.pattern, late.sub("-", text)) == (now.pattern, now.sub("-", text))
    assert [one.groups() for one in late.finditer(text)] == now.findall(text)
    assert late.groups == 2
    assert any_case(late.pattern).findall(text) == now.findall(text)


async def test_what_waits_is_compiled_once() -> None:
    """Who asks again has nothing to wait for."""
    regex(r"never asked (?P<before>)")
    await compiled()
    assert regexes._waiting == []
    await compiled()


def test_every_pattern_of_the_grammar_compiles_and_none_at_an_import() -> None:
    """In an interpreter of its own: here others have compiled what they needed."""
    asked = (
        "import ezra; ezra.Ezra\n"
        "from metaagents.learning import regexes\n"
        "late = len([one for one in regexes._waiting if 'search' not in vars(one)])\n"
        "regexes.compile_all()\n"
        "print(late)\n"
    )
    assert int(succeeded(sys.executable, "-c", asked).stdout) > 300


# A pattern is only searched for where what it cannot do without is there; that changes nothing.

SETS = Path(learning.__file__).parent / "sets"


def texts_in(value: object) -> Iterator[str]:
    """Yield the texts of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_in(one)


def searched_for_each(sentence: str) -> str:
    """Return what a sentence comes down to when each pattern is searched for."""
    for sought, put in zip(WAYS.patterns, WAYS.puts, strict=True):
        sentence = sought.pattern.sub(put, sentence)
    return sentence


@pytest.fixture(scope="module")
def told() -> list[str]:
    """A third of the texts of the open sets, each once: every third of them is a repetition."""
    files = [one for one in sorted(SETS.glob("*.json")) if "sealed" not in one.name]
    texts = [text for one in files for text in texts_in(json.loads(one.read_text()))]
    return [*dict.fromkeys(texts[::3])]


@pytest.mark.parametrize("written", [str, str.upper, str.lower])
def test_what_is_said_plainly_is_what_all_patterns_make_of_it(
    told: list[str], written: Callable[[str], str]
) -> None:
    """Of every sentence of the open sets, in capitals and in small letters too."""
    for text in told:
        for sentence in map(written, sentences(text)):
            assert in_plain_words(sentence) == searched_for_each(sentence)


@pytest.mark.parametrize("module", [clauses, subjects, instructions, plain_speech, times])
def test_what_is_sought_is_found_where_the_pattern_is(told: list[str], module: ModuleType) -> None:
    """Of every pattern that is only searched for where it may be, in every text of the sets."""
    sought = [one for one in vars(module).values() if isinstance(one, Sought)]
    assert sought
    for text in told:
        for one in sought:
            found, expected = one.search(text), one.pattern.search(text)
            assert (found and found.span()) == (expected and expected.span())


@pytest.mark.parametrize(
    ("pattern", "marks"),
    [
        (r"\bback in (?=\d{4}\b)", ("back in ",)),
        (r"(?:swapped|traded) my \w+", ("swapped", "traded")),
        (r"a (?:big )?lover of", ("lover of",)),
        (r"x(?:yes|(?=sir))+", ("yes", "sir")),
        (r"[ab]+\s*", ("a", "b")),
        (r"[a-z]+\s*", ()),
        (r"(?!never)\w+", ()),
        (r"Monday", ("monday",)),
        (r"[:;]-?", (":", ";")),
        (r"[\U0001F600-\U0001F64F]", ("\U0001f600",)),
    ],
)
def test_the_most_telling_of_what_a_pattern_needs_is_looked_for(
    pattern: str, marks: tuple[str, ...]
) -> None:
    """Alternatives each say what they need; what may be left out tells nothing."""
    assert marks_of(pattern) == marks


def test_letters_of_more_than_two_forms_are_always_searched() -> None:
    """A long s is an s, and a dotless i an i, where case does not matter."""
    sought = Sought("sister", re.IGNORECASE)
    assert [sought.sub("x", one) for one in ("my \u017fister", "my s\u0131ster")] == ["my x"] * 2


def test_what_one_way_makes_is_read_by_the_next() -> None:
    """Its marks are looked for in the text as it is by then."""
    ways = Ways([Way("kin", "folk"), Way("aunt", "kin"), Way("kin", "family")])
    assert reworded("my aunt", ways) == "my family"
    assert reworded("my kin", ways) == "my folk"
    assert reworded("m\u00fc aunt", ways) == "m\u00fc family"


def test_of_many_patterns_those_that_a_text_may_have_are_tried_in_their_order() -> None:
    """By their marks; those of two letters or none are looked at in every text."""
    likely = Likely(Sought(one) for one in ("aunt|uncle", "my", "[0-9]", "unclear", "aunts"))
    assert likely.places("my Aunt") == [0, 1, 2]
    assert likely.places("unclear") == [0, 2, 3]
    assert likely.places("") == [2]
    assert list(likely.places("\u00fc")) == [0, 1, 2, 3, 4]


def test_the_second_of_a_month_may_be_shouted() -> None:
    """Case does not matter there."""
    assert in_plain_words("IT IS DUE ON THE SECOND OF MAY") == "IT IS DUE ON the 2nd of MAY"
