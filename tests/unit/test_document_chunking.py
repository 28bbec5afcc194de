"""Cutting documents into passages: nothing lost or too long, in time that grows with length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.document_files import sentences

from ezra.documents import html, markdown
from ezra.documents.chunking import CHARS_MAX, TARGET_CHARS, passages_of
from ezra.documents.markdown import read_text
from ezra.documents.parsed import Block, Parsed
from tiers.documents import PASSAGES_MAX, PassageDraft
from tiers.errors import UsageError

# Cutting documents into passages: nothing is lost, nothing too long, and changes stay local.

LINES = st.lists(st.text("ab .\n\té漢", min_size=1, max_size=3_000), max_size=12)
SECTIONS = st.lists(st.integers(1, 30), min_size=2, max_size=6)


def _texts(blocks: Sequence[Block]) -> list[str]:
    return [one.text for one in passages_of(blocks)]


def _letters(text: str) -> str:
    return "".join(text.split())


@given(texts=LINES, by_lines=st.booleans())
def test_every_letter_is_in_exactly_one_passage_in_order(
    texts: list[str], *, by_lines: bool
) -> None:
    """And each passage has 1 to 2,000 characters and is not blank."""
    blocks = [Block(text, ("One",), None, by_lines) for text in texts if text.strip()]
    found = _texts(blocks)
    assert _letters("".join(found)) == _letters("".join(texts))
    assert all(one.strip() and len(one) <= CHARS_MAX for one in found)


def test_passages_never_reach_beyond_a_heading_or_a_page() -> None:
    """However little there is in each."""
    blocks = [
        Block("First.", ("A",)),
        Block("Second.", ("A",)),
        Block("Third.", ("A", "B")),
        Block("Fourth.", ("C",), 1),
        Block("Fifth.", ("C",), 2),
    ]
    assert passages_of(blocks) == (
        PassageDraft("First.\n\nSecond.", ("A",)),
        PassageDraft("Third.", ("A", "B")),
        PassageDraft("Fourth.", ("C",), 1),
        PassageDraft("Fifth.", ("C",), 2),
    )


def test_passages_are_about_as_long_as_they_should_be() -> None:
    """Ordinary paragraphs come to between half the target and its half more, all but the last."""
    found = _texts([Block(sentences(str(n), 4)) for n in range(100)])
    assert all(TARGET_CHARS / 2 <= len(one) <= CHARS_MAX for one in found[:-1])
    assert 0.6 * TARGET_CHARS <= sum(map(len, found)) / len(found) <= 1.3 * TARGET_CHARS


def test_code_and_tables_stay_whole_where_they_fit() -> None:
    """What does not is cut between lines, with its indentation."""
    fits = "\n".join(f"    line {n}" for n in range(140))
    assert len(fits) < CHARS_MAX
    assert _texts([Block("Text.", by_lines=False), Block(fits, by_lines=True)]) == [
        f"Text.\n\n{fits}"
    ]
    long = "\n".join(f"    line {n}" for n in range(400))
    found = _texts([Block(long, by_lines=True)])
    assert len(found) > 1
    assert "\n".join(found) == long


def test_prose_is_cut_between_sentences_and_words_only_if_it_must() -> None:
    """A sentence is broken when it alone is too long, a word likewise."""
    found = _texts([Block(sentences("long", 60))])
    assert all(one.endswith(".") for one in found)
    assert all(one.endswith("word") for one in _texts([Block("word " * 1_000)]))
    assert [len(one) for one in _texts([Block("x" * 5_000)])] == [CHARS_MAX, CHARS_MAX, 1_000]


def test_a_crumb_at_the_end_of_a_section_goes_to_the_passage_before() -> None:
    """Where it fits."""
    found = _texts([Block(sentences("a", 30)), Block("Bye.")])
    assert found[-1].endswith("\n\nBye.")


@settings(max_examples=40)
@given(sections=SECTIONS, data=st.data())
def test_a_change_in_one_section_leaves_the_others_word_for_word(
    sections: list[int], data: st.DataObject
) -> None:
    """Whatever is changed, added or taken away there."""
    texts = {f"Part {n}": sentences(str(n), length * 3) for n, length in enumerate(sections)}
    changed = data.draw(st.sampled_from(sorted(texts)))
    other = texts | {changed: sentences("else", data.draw(st.integers(0, 60)))}
    before, after = (_by_section(one) for one in (texts, other))
    for name in texts.keys() - {changed}:
        assert before[name] == after[name]


def _by_section(texts: dict[str, str]) -> dict[str, list[str]]:
    said = "\n\n".join(f"# {name}\n\n{_paragraphs(text)}" for name, text in texts.items())
    found: dict[str, list[str]] = {name: [] for name in texts}
    for one in passages_of(read_text(said).blocks):
        found[one.headings[0]].append(one.text)
    return found


def _paragraphs(text: str) -> str:
    said = text.split(". ")
    return "\n\n".join(". ".join(said[n : n + 3]) for n in range(0, len(said), 3))


@pytest.mark.parametrize("place", [0, 60, 150])
def test_a_change_in_a_text_without_headings_stays_near(place: int) -> None:
    """Cuts go by what is said, so that behind a new paragraph the same ones are made again."""
    blocks = [Block(sentences(f"plain {n}", 4)) for n in range(200)]
    before = set(_texts(blocks))
    after = set(_texts([*blocks[:place], Block("Something new was said here."), *blocks[place:]]))
    assert len(before) > 40
    assert len(before - after) <= 6


def test_more_passages_than_a_document_may_have_are_refused() -> None:
    """Before they are stored."""
    with pytest.raises(UsageError, match="20,000 passages"):
        passages_of(Block("x", (str(n),)) for n in range(PASSAGES_MAX + 1))


# Reading a document takes time in proportion to its length, whatever it is made of.

SHORT, LONG = 4_000, 64_000
RATIO = LONG // SHORT

MADE: dict[str, tuple[Callable[[str], Parsed], Callable[[int], str]]] = {
    "dots of a table of contents": (markdown.read_text, lambda size: "." * size),
    "dots and closing quotes": (markdown.read_text, lambda size: '."' * (size // 2)),
    "blanks inside a heading": (markdown.read_text, lambda size: "# a" + " " * size + "b"),
    "underscores inside a heading": (markdown.read_text, lambda size: "# a" + "_" * size + "b"),
    "hashes inside a heading": (markdown.read_text, lambda size: "# a" + " #" * (size // 2) + "b"),
    "open marked sections": (html.read_text, lambda size: "<![CDATA[x>" * (size // 11)),
    "marked sections": (html.read_text, lambda size: "<![if x]>" * (size // 9)),
    "dots in a page": (html.read_text, lambda size: "<p>" + "." * size),
}


@pytest.mark.parametrize("what", MADE)
def test_r9_22_reading_is_linear(what: str) -> None:
    """Sixteen times the text costs no hundred times as much; of the square, it would be 256."""
    read, made = MADE[what]

    def cost(size: int) -> float:
        text, spent = made(size), []
        for _ in range(3):
            began = process_time()
            passages_of(read(text).blocks)
            spent.append(process_time() - began)
        return min(spent)

    cost(SHORT)
    assert cost(LONG) < max(cost(SHORT), 0.001) * RATIO * 6


def test_r9_22_cuts_and_headings_are_what_they_were() -> None:
    """Sentences end behind their marks and quotes; what decorates a heading is no part of it."""
    said = 'He said "stop." Then he went... and came back?! Yes.  ' * 60
    texts = [one.text for one in passages_of([Block(said)])]
    assert " ".join(texts).split() == said.split()
    assert all(one.endswith(('."', "...", "?!", ".")) for one in texts)
    read = markdown.read_text("# _One_ two_three __four__ {#five}  \n\na\n\n## *Six* ##\n\nb\n")
    assert [block.headings[-1] for block in read.blocks] == ["One two_three four", "Six"]


def test_r9_22_marked_sections_say_nothing() -> None:
    """With an end or without: what stands behind them is read."""
    page = "<p>a</p><![CDATA[ x > y ]]><p>b</p><![if IE]><p>c</p><![endif]><p>d</p><![CDATA[x>e"
    assert [block.text for block in html.read_text(page).blocks] == ["a", "b", "c", "d"]
